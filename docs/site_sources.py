"""Where each function and class of the package stands in its file: what links from the reference to the source need.

Sphinx reads the files with a parser of its own, which fails where a parameter before the slash has a default.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Tags = dict[str, tuple[str, int, int]]


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx where to ask."""
    app.connect("viewcode-find-source", find_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def find_source(app: Any, module: str) -> tuple[str, Tags] | None:
    """Return the text of a module of the package, with the lines of what it defines; None for other modules."""
    spec = importlib.util.find_spec(module) if module.split(".")[0] == "sparsegauge" else None
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    text = Path(spec.origin).read_text(encoding="utf-8")
    return text, dict(_definitions(ast.parse(text).body, ""))


def _definitions(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, tuple[str, int, int]]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            kind = "class" if isinstance(node, ast.ClassDef) else "def"
            yield prefix + node.name, (kind, first, node.end_lineno or node.lineno)
            if kind == "class":
                yield from _definitions(node.body, f"{prefix}{node.name}.")
