"""`sparsegauge measure`: how sparse the signals in files are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._platform.terminal import printable
from .console import progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..measurements import Measurement, Request

EPILOG = "\n\n".join(  # empty lines keep them apart in the help
    [
        "Examples:",
        "sparsegauge measure ecg.csv --order 1,2,4",
        "sparsegauge measure 'runs/*.npy' --metric hoyer --metric gini --csv",
        "sparsegauge measure song.wav --transform dct --window 1024 --hop 512 --plot map.png",
        "sparsegauge measure - --all --json < table.csv",
    ]
)


def measure(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help=".npy, .npz, .csv, .tsv, .txt, .parquet, .mat, .wav, .png or .jpg; a pattern in quotes; "
            "- for standard input.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric of the catalogue, gds by default; may be repeated."),
    ] = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="P,P,...", help="The orders of gds: 1 or more, or inf. [1,2,4]")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every metric of the catalogue.")] = False,
    axis: Annotated[
        str | None,
        typer.Option(
            "--axis",
            metavar="AXIS|none",
            help="The dimension along which signals run, none to flatten; by default columns of tables, channels, the "
            "last one of arrays, and none of pictures.",
        ),
    ] = None,
    transform: Annotated[
        str, typer.Option("--transform", "-t", help="none, dct, or an orthogonal wavelet such as db4.")
    ] = "none",
    window: Annotated[
        str | None,
        typer.Option(
            "--window",
            metavar="LENGTH",
            help="Measure windows of so many samples, or of so many seconds, such as 0.5s; files may be huge.",
        ),
    ] = None,
    hop: Annotated[
        str | None,
        typer.Option(
            "--hop", metavar="LENGTH", help="Samples or seconds from a window to the next; half a window by default."
        ),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", help="The one array, column or channel to measure, by its name.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Samples per second, for times in seconds; WAV files say it.")
    ] = None,
    nan_policy: Annotated[
        str,
        typer.Option("--nan-policy", help="raise: NaN is an error; omit: leave it out; propagate: the result is NaN."),
    ] = "raise",
    interval: Annotated[
        bool,
        typer.Option("--interval", help="Add 95 % confidence intervals; neighbouring samples may be dependent."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every digit.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, every digit.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw into this .png, .svg or .html: sparsity over the order, or over time with --window."
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="The results alone: no notes and no progress.")] = False,
) -> None:
    """Measure how sparse the signals in files are."""
    from ..errors import InvalidInput

    if as_json and as_csv:
        raise InvalidInput("--json and --csv are two ways to print the same; choose one")
    if plot is not None:
        check_plot(plot)
    with telling(quiet) as (show, note):
        request = _request(metric, order, every, axis, transform, window, hop, rate, nan_policy, key, plot is not None)
        request = replace(request, interval=interval)
        results = _measure_files(files, request, show, note)
        if plot is not None:
            show("drawing")
            _draw(plot, results, note)
    _print(results, as_json, as_csv)


def _request(
    metric: list[str] | None,
    order: str | None,
    every: bool,
    axis: str | None,
    transform: str,
    window: str | None,
    hop: str | None,
    rate: float | None,
    nan_policy: str,
    key: str | None,
    curves: bool,
) -> Request:
    from ..errors import InvalidInput
    from ..measurements import Request, parse_axis, parse_length, parse_measures

    if hop is not None and window is None:
        raise InvalidInput("--hop is the way from a window to the next; add --window")
    request = Request(
        measures=parse_measures(metric, order, every),
        axis=parse_axis(axis),
        transform=transform,
        window=None if window is None else parse_length("--window", window),
        hop=None if hop is None else parse_length("--hop", hop),
        rate=rate,
        nan_policy=nan_policy,
        key=key,
        curves=curves,
    )
    request.check()
    return request


def _measure_files(
    files: list[str], request: Request, show: Callable[[str], None], note: Callable[[str], None]
) -> list[Measurement]:
    from ..io import expand
    from ..measurements import measure_file

    results: list[Measurement] = []
    paths = expand(files)
    for i, path in enumerate(paths):
        show(f"{path} ({i + 1} of {len(paths)})" if len(paths) > 1 else path)
        results += measure_file(path, request, show, note)
    return results


def check_plot(plot: Path) -> None:
    """Refuse a destination of --plot that cannot be written, before anything is computed."""
    from .._platform.writing import check_destination
    from ..errors import InvalidInput

    if plot.suffix.lower() not in (".png", ".svg", ".html"):
        raise InvalidInput(f"--plot writes .png, .svg and .html, got {plot.name!r}")
    check_destination(plot.absolute())


def _draw(plot: Path, results: list[Measurement], note: Callable[[str], None]) -> None:
    from ..report.measurement_page import write_plot

    write_plot(plot.absolute(), [drawing for result in results for drawing in result.drawings], note=note)


@contextmanager
def telling(quiet: bool) -> Iterator[tuple[Callable[[str], None], Callable[[str], None]]]:
    """Return two ways to tell the user something: what is being done, and what was left out."""
    with progress(quiet=quiet) as bar:
        task = bar.add_task("loading", total=None)

        def note(text: str) -> None:
            if not quiet:
                bar.console.print(f"sparsegauge: {printable(text)}", markup=False, highlight=False, soft_wrap=True)

        yield lambda text: bar.update(task, description=printable(text)), note


def _print(results: list[Measurement], as_json: bool, as_csv: bool) -> None:
    from .measure_output import print_csv, print_json, print_table

    show: Any = print_json if as_json else print_csv if as_csv else print_table
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")  # names of files may hold what the terminal's encoding has not
    show(results)
