"""`sparsegauge report`: one page about signals in files, the demo signals, a study, or the paper."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._platform.terminal import printable
from ..errors import InvalidInput
from .console import Quiet, progress

HINT = "For your own signals: sparsegauge report FILE... (.csv, .npy, .wav, .mat, .png, ...)"

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..report.sections import Sections


def report(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE|FOLDER|STORE]...",
            help="Files with signals, or folders of them; or the store of one study. Without any, the demo signals.",
        ),
    ] = None,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="Show the paper's claims and experiment, and the laws of every metric."),
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write the page to; an existing file is replaced.")
    ] = Path("report.html"),
    rate: Annotated[
        float | None,
        typer.Option("--rate", help="Samples per second of files that do not say it, for times and band maps."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="NAME", help="The array, column or channel to report on.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write one HTML page that opens offline, about your signals, a study, the paper, or the demo signals.

    Example: sparsegauge report recordings/*.wav -o recordings.html
    """
    from .._platform.writing import check_destination, replace_file
    from ..vibration.record import check_rate

    if paper and paths:
        raise InvalidInput("--paper is a page of its own; leave out the files, or --paper")
    if not paths and (rate is not None or key is not None):
        raise InvalidInput("--rate and --key are about files; name some")
    rate = None if rate is None else check_rate(rate)
    page = output.absolute()
    check_destination(page)  # before the work, not after it
    with progress(quiet=quiet) as bar:
        sections = _gather(paths or [], paper, rate, key, bar)
        replace_file(page, _draw(sections, bar))
    for note in sections.notes:
        print(f"note: {printable(note)}", file=sys.stderr)
    if not quiet:
        print(printable(page))
        if not paths and not paper:
            print(HINT, file=sys.stderr)


def _gather(paths: list[str], paper: bool, rate: float | None, key: str | None, bar: Progress) -> Sections:
    task = bar.add_task("loading", total=None)
    from ..report.sections import STEPS, gather_demos, gather_files, gather_paper, gather_study
    from ..study.manifest import MANIFEST

    def step(name: str) -> None:
        bar.update(task, description=STEPS[name], advance=1)

    bar.update(task, total=len(STEPS))
    if paper:
        return gather_paper(progress=step)
    if not paths:
        return gather_demos(progress=step)
    if len(paths) == 1 and (Path(paths[0]) / MANIFEST).exists():
        return gather_study(paths[0], progress=step)
    return gather_files(paths, rate=rate, key=key, progress=step)


def _draw(sections: Sections, bar: Progress) -> str:
    bar.add_task("drawing", total=None)
    from ..report.page import render

    return render(sections)
