"""The gallery's scripts as Jupyter notebooks: written beside their pages when the site is built."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
LEFT_OUT = ('plt.switch_backend("Agg")', "figure.savefig(output, dpi=100)")  # a notebook shows its figures by itself


def make_notebook(source: str) -> dict[str, Any]:
    """Return a script of the gallery as a notebook: its docstring as text, the body of `main` as cells of its own."""
    lines, tree = source.splitlines(), ast.parse(source)
    title, _, about = (ast.get_docstring(tree) or "").partition("\n")
    cells = [_cell("markdown", f"# {title}\n{about}\n\n`pip install sparsegauge` first, if you have not.")]
    top: list[str] = []
    for node, first, last in _statements(tree.body[1:], lines):
        text = "\n".join(lines[first:last])
        if isinstance(node, ast.If) or text.strip() == "import argparse":
            continue
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            cells += _flush(top)
            is_main = node.name == "main"
            cells += _body_cells(node, lines) if is_main else [_cell("code", text.strip("\n"))]
        else:
            top.append(text)
    return {
        "cells": cells + _flush(top),
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }


def _statements(nodes: list[Any], lines: list[str]) -> list[tuple[Any, int, int]]:
    """Return statements with their first line and the one after their last, comments above them included."""
    found, end = [], nodes[0].lineno - 1
    for node in nodes:
        decorators = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
        first = min([node.lineno, *decorators]) - 1
        while first > end and lines[first - 1].strip():
            first -= 1
        found.append((node, max(first, end), node.end_lineno))
        end = node.end_lineno
    return found


def _body_cells(main: ast.FunctionDef, lines: list[str]) -> list[dict[str, Any]]:
    """Return one cell per paragraph of a function's body."""
    if any(isinstance(node, ast.Return) for node in ast.walk(main)):
        raise ValueError("main returns, and the cells of a notebook cannot")
    cells: list[dict[str, Any]] = []
    paragraph: list[str] = []
    for _, first, last in _statements(main.body[1:], lines):
        if paragraph and not lines[first - 1].strip():
            cells += _flush(paragraph)
        text = "\n".join(line[4:] for line in lines[first:last])
        if text.strip() not in LEFT_OUT:
            paragraph.append(text)
    return cells + _flush(paragraph)


def _flush(paragraph: list[str]) -> list[dict[str, Any]]:
    cells = [_cell("code", "\n".join(paragraph).strip("\n"))] if "".join(paragraph).strip() else []
    paragraph.clear()
    return cells


def _cell(kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
    return cell if kind == "markdown" else cell | {"execution_count": None, "outputs": []}


def write_notebooks(app: Any, error: Exception | None) -> None:
    """Write the notebooks into the site that was built."""
    if error is None and app.builder.format == "html":
        for script in sorted(EXAMPLES.glob("*.py")):
            notebook = make_notebook(script.read_text(encoding="utf-8"))
            target = Path(app.outdir) / "gallery" / f"{script.stem}.ipynb"
            target.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
