"""`sparsegauge report`: signals, laws, recoveries and a study, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._platform.terminal import printable
from .console import Quiet, progress

if TYPE_CHECKING:
    from rich.progress import Progress


def report(
    store: Annotated[
        Path | None,
        typer.Argument(help="The store of the study to show; without one, the study that comes with the package."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where the page goes; an old page there is replaced.")
    ] = Path("report.html"),
    quiet: Quiet = False,
) -> None:
    """Write one HTML page that opens offline: signals measured and ranked, laws, recoveries, and a study."""
    from .._platform.files import check_destination, replace_file

    page = output.absolute()
    check_destination(page)  # before the work, not after it
    with progress(quiet=quiet) as bar:
        replace_file(page, _make_page(store, bar))
    if not quiet:
        print(printable(page))


def _make_page(store: Path | None, bar: Progress) -> str:
    task = bar.add_task("loading", total=None)
    from ..report.page import render
    from ..report.sections import STEPS, gather

    bar.update(task, total=len(STEPS) + 2)
    contents = gather(store, progress=lambda step: bar.update(task, description=STEPS[step], advance=1))
    bar.update(task, description="drawing", advance=1)
    return render(contents)
