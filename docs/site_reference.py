"""The reference: the directive `public`, which documents every public name of some rooms from its docstring.

A name that is exported later turns up by itself, as long as a page has its room.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import sparsegauge as sg

_QUOTED = re.compile(r"(``.*?``|:\w+:`.*?`|`.*?`)")  # literals and formulas, which stay as they are
_MARKUP = re.compile(r"\||(?<=\w)_(?!\w)")  # |x| is a norm to us and a substitution to docutils; coef_ is no link


class Public(SphinxDirective):
    """`.. public:: metrics.gds normalise`: all names of these modules, and of those below them."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        lines = [".. currentmodule:: sparsegauge", ""]
        for name in names_of(self.arguments[0].split()):
            lines += [f".. auto{kind_of(name)}:: {name}", *options_of(name), "", *keys_of(name), ""]
        box = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.get_source_info()[0]), self.content_offset, box)
        return box.children


def names_of(rooms: list[str]) -> list[str]:
    """Public names by module and then as listed; a room without any is a mistake of the page."""
    found = [name for room in rooms for name in sg.__all__ if f"{sg._WHERE.get(name)}.".startswith(f"{room}.")]
    if not found:
        raise ValueError(f"no public name lives in {', '.join(rooms)}")
    return found


def kind_of(name: str) -> str:
    """Of autodoc's directives the one for a public name."""
    value = getattr(sg, name)
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    return "function" if callable(value) else "data"


def keys_of(name: str) -> list[str]:
    """What a mapping holds, which a docstring cannot say."""
    value = getattr(sg, name)
    if not isinstance(value, Mapping):
        return []
    first = next(iter(value.values()))
    kind = "class" if isinstance(first, type) else f"``{type(first).__name__}``"
    return [f"   The keys, each with its {kind}: {', '.join(f'``{key}``' for key in value)}."]


def options_of(name: str) -> list[str]:
    """Methods too, but for those that scikit-learn adds to every estimator."""
    members = ["   :members:", "   :exclude-members: set_score_request"]
    return {"class": members, "data": ["   :no-value:"]}.get(kind_of(name), [])


def escape(app: Any, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Keep docutils from reading formulas in plain text as markup; directives and doctests are meant as they stand."""
    inside = -1  # the indentation of the directive that we are in
    for i, line in enumerate(lines):
        indentation = len(line) - len(line.lstrip())
        if line.strip() and indentation <= inside:
            inside = -1
        if inside < 0 and line.lstrip().startswith(".. "):
            inside = indentation
        if inside < 0 and not line.lstrip().startswith((">>>", "...")):
            lines[i] = _escaped(line)


def _escaped(line: str) -> str:
    pieces = _QUOTED.split(line)
    return "".join(piece if i % 2 else _MARKUP.sub(r"\\\g<0>", piece) for i, piece in enumerate(pieces))


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
