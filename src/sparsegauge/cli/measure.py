"""`sparsegauge measure`: how sparse the signals in files are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

import typer

from .._platform.terminal import printable
from .console import progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..measurements.file_signals import Measurement
    from ..measurements.request import Request

Found = TypeVar("Found")

EPILOG = "\n\n".join(  # empty lines keep them apart in the help
    [
        "Examples:",
        "sparsegauge measure ecg.csv --order 1,2,4",
        "sparsegauge measure 'runs/*.npy' --metric hoyer --metric gini --csv",
        "sparsegauge measure patients.csv --axis 1 --normalise",
        "sparsegauge measure song.wav --transform dct --window 1024 --hop 512 --plot map.png",
        "sparsegauge measure - --all --json < table.csv",
    ]
)


def measure(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files of arrays, text, tables, sound or pictures, also packed by gzip; folders; a pattern in quotes; "
            "- for standard input.",
            show_default=False,
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric of the catalogue, gds by default; may be repeated."),
    ] = None,
    order: Annotated[
        str | None,
        typer.Option("--order", "--orders", metavar="P,P,...", help="The orders of gds: 1 or more, or inf. [1,2,4]"),
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
            help="Measure windows of this length, in samples, or in seconds such as 0.5s, even of huge files.",
        ),
    ] = None,
    hop: Annotated[
        str | None,
        typer.Option(
            "--hop", metavar="LENGTH", help="Samples or seconds from one window to the next; half a window by default."
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="NAME", help="The array, column or channel to measure; may be repeated."),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=VALUE",
            help="A parameter of the metrics that have it, such as q=3; may be repeated.",
        ),
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", help="Samples per second, for times in seconds; WAV files contain it.")
    ] = None,
    nan_policy: Annotated[
        str,
        typer.Option("--nan-policy", help="raise: NaN is an error; omit: leave it out; propagate: the result is NaN."),
    ] = "raise",
    interval: Annotated[
        bool,
        typer.Option("--interval", help="Add 95 % confidence intervals; neighbouring samples may be dependent."),
    ] = False,
    center: Annotated[
        str | None,
        typer.Option(
            "--center",
            metavar="[mean|median]",
            help="Subtract the mean, or the median, from each signal, or window, first.",
        ),
    ] = None,
    normalise: Annotated[
        bool,
        typer.Option(
            "--normalise",
            "--normalize",
            help="Give each coefficient mean 0 and deviation 1 over all signals of all files first (section VII).",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every digit.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV, every digit.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw into this .png, .svg or .html: sparsity over the order, or over time with --window."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write .csv, .json or .parquet instead, every digit."),
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first file that cannot be measured.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="The results alone: no notes and no progress.")] = False,
) -> None:
    """Measure how sparse the signals in files are.

    Exit codes: 0 all files were measured, 1 some could not be (the others are printed), 2 bad usage, or none could be.
    """
    from ..errors import InvalidInput
    from ..measurements.request import Request
    from .measure_options import parse_axis, parse_length, parse_measures

    if as_json + as_csv + (output is not None) > 1:
        raise InvalidInput("--json, --csv and --output are ways to give the same; choose one")
    if hop is not None and window is None:
        raise InvalidInput("--hop is the distance from one window to the next; add --window")
    if plot is not None:
        check_plot(plot)
    if output is not None:
        check_output(output)
    with telling(quiet) as (show, note):
        measures = parse_measures(metric, order, every, parameter)
        request = Request(
            measures=measures,
            axis=parse_axis(axis),
            transform=transform,
            window=None if window is None else parse_length("--window", window),
            hop=None if hop is None else parse_length("--hop", hop),
            rate=rate,
            nan_policy=nan_policy,
            key=key or None,
            curves=plot is not None,
            interval=interval,
            center=cast(Literal["mean", "median"] | None, center),  # `check` refuses any other
            normalise=normalise,
        )
        request.check()
        notes_offsets = not (as_json or as_csv or output)
        results, failures = _measure_files(files, request, show, note, strict=strict, offsets=notes_offsets)
        if plot is not None:
            show("drawing")
            _draw(plot, results, note)
    if output is not None:
        from .measure_output import write_output

        write_output(output.absolute(), results)
    else:
        _print(results, as_json, as_csv)
    if failures:
        print(f"sparsegauge: {count_failures(failures)}", file=sys.stderr)
        raise typer.Exit(1)


def count_failures(failures: list[str]) -> str:
    """Return how many files were left out, in words."""
    return f"{len(failures)} {'file was' if len(failures) == 1 else 'files were'} left out"


def check_output(output: Path) -> None:
    """Refuse a destination of --output that cannot be written, before anything is computed."""
    from .._platform.extras import import_extra
    from .._platform.writing import check_destination
    from ..errors import InvalidInput

    if output.suffix.lower() not in (".csv", ".json", ".parquet"):
        raise InvalidInput(f"--output writes .csv, .json and .parquet, got {output.name!r}")
    if output.suffix.lower() == ".parquet":
        import_extra("pyarrow.parquet", "writing Parquet")
    check_destination(output.absolute())


def _measure_files(
    files: list[str],
    request: Request,
    show: Callable[[str], None],
    note: Callable[[str], None],
    *,
    strict: bool,
    offsets: bool,
) -> tuple[list[Measurement], list[str]]:
    """Return what was measured, and the files that could not be; a single file that cannot be is an error."""
    from ..measurements.dataset import load_file, measure_dataset
    from ..measurements.file_signals import measure_file

    if request.normalise:
        loaded, failures = each_file(files, lambda path: load_file(path, request, show, note), show, note, strict)
        return measure_dataset(loaded, request, show, note), failures
    return each_file(files, lambda path: measure_file(path, request, show, note, offsets=offsets), show, note, strict)


def each_file(
    files: list[str],
    read: Callable[[str], list[Found]],
    show: Callable[[str], None],
    note: Callable[[str], None],
    strict: bool,
    *,
    without: tuple[str, ...] = (),
) -> tuple[list[Found], list[str]]:
    """Return what `read` finds in the files, one after another, and the files that it could not read.

    A single file that cannot be read is an error. Files in folders that end in one of `without` are passed over.
    """
    from ..errors import InvalidInput
    from ..io import expand

    found: list[Found] = []
    failures: list[str] = []
    paths = expand(files, without=without)
    for i, path in enumerate(paths):
        show(f"{path} ({i + 1} of {len(paths)})" if len(paths) > 1 else path)
        try:
            found += read(path)
        except (InvalidInput, OSError) as error:
            if strict or (len(failures) == len(paths) - 1):
                raise
            failures.append(path)
            reason = error.strerror if isinstance(error, OSError) else None
            note(
                f"left out: {error}" if reason is None and path in str(error) else f"left out {path}: {reason or error}"
            )
    return found, failures


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
