"""What all verbs share: where words and progress go, and how numbers are written.

Results go to stdout, progress and errors to stderr. Colours and bars are for terminals; rich leaves them out in a pipe
and where NO_COLOR is set.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._platform.terminal import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

PIPE_WIDTH = 120  # columns where there is no terminal to ask

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing unless something fails.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def printer() -> Console:
    """Return the console for results; brackets are printed as they are, not as markup."""
    from rich.console import Console

    forgive_narrow_encodings()
    console = Console(markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def forgive_narrow_encodings() -> None:
    """Replace characters that the encoding of stdout does not have by question marks."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


@contextlib.contextmanager
def progress(*, quiet: bool) -> Iterator[Progress]:
    """Show a progress bar on stderr that vanishes at the end; none in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        yield bar


def print_json(value: Any) -> None:
    """Print strict JSON: NaN is null, and infinities are words."""
    print(json.dumps(plain(value), indent=1, allow_nan=False))


def plain(value: Any) -> Any:
    """Return the value with nan replaced by None and infinities by "inf" and "-inf"."""
    if isinstance(value, dict):
        return {str(plain(key)): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def print_facts(facts: dict[str, str]) -> None:
    """Print one fact per line, in two columns."""
    forgive_narrow_encodings()
    width = max(map(len, facts))
    for name, fact in facts.items():
        print(f"{name:<{width}}  {printable(fact)}")
