"""The reference: one page per public name, written into docs/reference/api when the site is built.

The directive `public` lists every public name of some packages, and links to its page: signature and examples from the
docstring, a picture, and for a metric the laws that it obeys. A name that is exported later turns up by itself, as long
as a page has its package.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import reference_pictures as pictures
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import sparsegauge as sg
from sparsegauge.criteria.auditor import Audit

PAGES = Path(__file__).parent / "reference" / "api"
PACKAGE = Path(sg.__file__).parent
_QUOTED = re.compile(r"(``.*?``|:\w+:`.*?`|`.*?`)")  # literals and formulas, which stay as they are
_MARKUP = re.compile(r"\||(?<=\w)_(?!\w)")  # |x| is a norm to us and a substitution to docutils; coef_ is no link


class Public(SphinxDirective):
    """`.. public:: metrics.gds normalise`: all names of these modules, and of those below them."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(__file__)
        names = names_of(self.arguments[0].split())
        lines = [".. list-table::", "   :widths: 30 70", "   :class: names", ""]
        for name in names:
            lines += [f"   * - :doc:`{name} <api/{page_of(name)}>`", f"     - {summary_of(name)}"]
        lines += ["", ".. toctree::", "   :hidden:", "", *(f"   api/{page_of(name)}" for name in names), ""]
        box = nodes.container()
        self.state.nested_parse(StringList(lines, source=self.get_source_info()[0]), self.content_offset, box)
        return box.children


def page_of(name: str) -> str:
    """Return the name of a page; some file systems do not tell `Metric` from `metric`."""
    return f"{name}-class" if name[0].isupper() and name.lower() in sg.__all__ else name


def summary_of(name: str) -> str:
    """Return the first sentence of a docstring."""
    first = (inspect.getdoc(getattr(sg, name)) or "").split("\n\n")[0]
    return re.sub(r"(?<!\\)\*", r"\\*", _escaped(" ".join(first.split())))


def write_pages(app: Any) -> None:
    """Write a page for each public name, with its picture, and remove those of names that are gone."""
    PAGES.mkdir(exist_ok=True)
    written = set()
    for name in sg.__all__:
        if name == "__version__":
            continue
        page = page_of(name)
        _write(PAGES / f"{page}.rst", "\n".join(lines_of(name)).encode())
        written.add(f"{page}.rst")
        if pictures.has_picture(name):
            written.add(f"{page}.svg")
            if _is_older(PAGES / f"{page}.svg"):
                _write(PAGES / f"{page}.svg", pictures.draw(name) or b"")
    for path in PAGES.iterdir():
        if path.name not in written and not path.name.startswith("."):
            path.unlink(missing_ok=True)


def _is_older(picture: Path) -> bool:
    """Return whether anything that a picture may depend on is newer."""
    sources = [Path(pictures.__file__), *PACKAGE.rglob("*.py")]
    return not picture.exists() or picture.stat().st_mtime < max(path.stat().st_mtime for path in sources)


def _write(path: Path, content: bytes) -> None:
    """Write a file as a whole, as several builds may run at once; one that has not changed is not read again."""
    if path.exists() and path.read_bytes() == content:
        path.touch()
        return
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_bytes(content)
    part.replace(path)


def lines_of(name: str) -> list[str]:
    """Return the page of a public name."""
    directive = [f".. auto{kind_of(name)}:: {name}", *options_of(name), "", *keys_of(name)]
    lines = [name, "=" * len(name), "", ".. currentmodule:: sparsegauge", "", *directive, ""]
    if name in sg.METRICS:
        lines += laws_of(name)
    if name in sg.SOLVERS:
        lines += example_of(name)
    if pictures.has_picture(name):
        lines += [f".. image:: {page_of(name)}.svg", f"   :alt: Picture of {name}", "   :class: reference", ""]
        lines += [pictures.describe(name), ""]
    return lines


def laws_of(name: str) -> list[str]:
    """Return which laws a metric obeys at the default of its parameters."""
    stored = {audit.metric: audit for audit in reversed(sg.stored_audits())}  # the first is that of the defaults
    audit: Audit = stored[name]
    groups: dict[str, list[str]] = {}
    for key, verdict in audit.verdicts.items():
        groups.setdefault(verdict.status, []).append(f"{sg.CRITERIA[key].name} ({key})")
    words = {"holds": "Obeyed", "violated": "Broken", "undecided": "Undecided", "not applicable": "Not applicable"}
    found = [f":{words[status]}: {', '.join(groups[status])}" for status in words if status in groups]
    title = "Laws, at the default parameters" if sg.METRICS[name].parameters else "Laws"
    return [f".. rubric:: {title}", "", *found, "", ":doc:`../../choosing` has the proofs and counterexamples.", ""]


def example_of(name: str) -> list[str]:
    """Return an example that a solver was run on, with what it printed."""
    _, printed = pictures.solve_example(name)
    code = textwrap.indent(pictures.solver_example(name), "   ").splitlines()
    shown = textwrap.indent(printed, "   ").splitlines()
    head = [".. rubric:: Example", "", ".. code-block:: python", ""]
    return [*head, *code, "", ".. code-block:: text", "", *shown, ""]


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


def setup(app: Any) -> dict[str, Any]:
    app.add_directive("public", Public)
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc
    # the version of what pages are read into: those read by another one are read again
    return {"parallel_read_safe": True, "parallel_write_safe": True, "env_version": 1}
