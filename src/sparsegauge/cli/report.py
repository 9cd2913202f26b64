"""`sparsegauge report`: the demo signals measured, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.progress import Progress


def report(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the page goes; an old page there is replaced.")
    ] = Path("report.html"),
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing unless something fails.")] = False,
) -> None:
    """Measure the demo signals and write one HTML page that opens offline."""
    from rich.console import Console
    from rich.progress import Progress

    from ..report.destination import check_destination, replace_file

    page = output.absolute()
    check_destination(page)  # before the work, not after it
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        replace_file(page, _make_page(bar))
    if not quiet:
        print(page)


def _make_page(bar: Progress) -> str:
    task = bar.add_task("loading", total=None)
    from ..report.demos import measure_demos
    from ..report.page import render
    from ..signals import DEMOS

    bar.update(task, total=len(DEMOS) + 1)
    first = next(iter(DEMOS))

    def announce(name: str) -> None:
        note = " (compiling, the first time)" if name == first else ""
        bar.update(task, description=f"measuring {name}{note}", advance=1)

    results = measure_demos(progress=announce)
    bar.update(task, description="drawing", advance=1)
    return render(results)
