"""`sparsegauge bands`: the band in which a fault stands out, and which fault it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .console import plain, print_json, printer
from .measure import check_plot, count_failures, each_file, telling

if TYPE_CHECKING:
    from rich.table import Table

    from ..surveys import Survey
    from ..vibration.bearings import BearingOrders
    from ..vibration.diagnosis import Diagnosis

EPILOG = "\n\n".join(
    [
        "Examples:",
        "sparsegauge bands pump.wav --rpm 1480 --bearing 6205 --plot map.html",
        "sparsegauge bands 105.npy --rate 12000 --rpm 1797 --orders 3.585,5.415",
        "sparsegauge bands records/ --rate 12000 --metric kurtosis --on envelope --json",
    ]
)

WIDEST = 10_000
LARGEST_FIXED = 1e4  # values beyond have no four decimals
SMALLEST_CHANCE = 1e-4


def bands(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files of sound, text, tables or arrays, also packed by gzip; folders; a pattern in quotes; - for "
            "standard input.",
            show_default=False,
        ),
    ],
    rate: Annotated[
        float | None,
        typer.Option(
            "--rate",
            help="Samples per second; by default from the WAV header, a column of times, or a number named rate.",
        ),
    ] = None,
    metric: Annotated[str, typer.Option("--metric", "-m", help="A metric of the catalogue.")] = "gini",
    order: Annotated[float | None, typer.Option("--order", help="The order of S_p, instead of a metric.")] = None,
    on: Annotated[
        str,
        typer.Option(
            "--on", help="What to measure: spectrum (of the squared envelope), envelope, squared (envelope) or samples."
        ),
    ] = "spectrum",
    rpm: Annotated[
        float | None, typer.Option("--rpm", help="Revolutions per minute; by default from a number named rpm, if any.")
    ] = None,
    bearing: Annotated[
        str | None, typer.Option("--bearing", help="Diagnose faults of this bearing, such as 6205.")
    ] = None,
    orders: Annotated[
        str | None,
        typer.Option(
            "--orders",
            help="Diagnose by fault frequencies per turn instead: outer, inner, ball, cage, such as 3.585,5.415.",
        ),
    ] = None,
    levels: Annotated[
        int | None,
        typer.Option("--levels", min=0, help="Depth of the tree: the narrowest band is 2^-levels of the range."),
    ] = None,
    frequencies: Annotated[
        str | None, typer.Option("--frequencies", metavar="LOW,HIGH", help="Range of the envelope spectrum in hertz.")
    ] = None,
    level: Annotated[
        float, typer.Option("--level", help="False-alarm level of the best band; 0 leaves the threshold out.")
    ] = 0.01,
    key: Annotated[str | None, typer.Option("--key", help="The name of the array, column or channel to read.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, every digit.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw into this .png, .svg or .html.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first file that cannot be surveyed.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="The results alone: no notes and no progress.")] = False,
) -> None:
    """Find the band in which a vibration record is sparsest, and the fault of a bearing.

    Exit codes: 0 all files were surveyed, 1 some could not be (the others are printed), 2 bad usage, or none could be.
    """
    from ..errors import InvalidInput
    from ..metrics.catalogue import METRICS
    from ..surveys import PICTURES, QUANTITY_NAMES, SurveyRequest, parse_range, survey_facts, survey_file
    from ..vibration.record import check_rate, check_rpm

    if plot is not None:
        check_plot(plot)
    with telling(quiet) as (show, note):
        if on not in QUANTITY_NAMES:
            raise InvalidInput(f"--on is spectrum, envelope, squared or samples, got {on!r}")
        request = SurveyRequest(
            rate=None if rate is None else check_rate(rate),
            rpm=None if rpm is None else check_rpm(rpm),
            orders=_parse_fault_orders(bearing, orders),
            metric=METRICS.find(metric).name,
            order=order,
            on=QUANTITY_NAMES[on],
            levels=levels,
            frequencies=None if frequencies is None else parse_range(frequencies),
            level=None if level == 0 else level,
            key=key,
        )
        surveys, failures = each_file(
            files, lambda path: survey_file(path, request, show, note), show, note, strict, without=PICTURES
        )
        for survey in surveys:
            for warning in survey.warnings:
                note(f"{survey.title}: {warning}")
        if plot is not None:
            from ..report.bands_page import write_bands

            show("drawing")
            write_bands(plot.absolute(), surveys, note=note)
    if as_json:
        print_json(plain([survey_facts(survey) for survey in surveys]))
    else:
        console = printer()
        console.width = WIDEST  # nothing is cut: half a number is worse than a long line
        console.print(_table(surveys), soft_wrap=True)
    if failures:
        print(f"sparsegauge: {count_failures(failures)}", file=sys.stderr)
        raise typer.Exit(1)


def _parse_fault_orders(bearing: str | None, orders: str | None) -> BearingOrders | None:
    """Return the fault frequencies per turn that --bearing or --orders gives, if any."""
    from ..errors import InvalidInput
    from ..surveys import parse_orders
    from ..vibration.bearings import find_orders

    if bearing is not None and orders is not None:
        raise InvalidInput("--bearing and --orders both give the fault frequencies; choose one")
    return find_orders(bearing) if bearing is not None else None if orders is None else parse_orders(orders)


def _evidence(diagnosis: Diagnosis) -> str:
    strongest = diagnosis.findings[0]
    found = f"{strongest.prominent} of {len(strongest.harmonics)} harmonics of {strongest.frequency:.2f} Hz"
    return f"{found} in {strongest.band}"


def _fixed(value: float) -> str:
    """Return four decimals, so that columns align; five digits of what is large."""
    return f"{value:.4f}" if abs(value) < LARGEST_FIXED else f"{value:.5g}"


def _chance(p_value: float) -> str:
    """Return a probability with four decimals, or that it is below the least of these."""
    return f"{p_value:.4f}" if p_value >= SMALLEST_CHANCE else f"below {SMALLEST_CHANCE:g}"


def _table(surveys: list[Survey]) -> Table:
    from rich.table import Table
    from rich.text import Text

    from .._platform.terminal import printable

    table = Table(box=None, pad_edge=False)
    signals = any(survey.signal is not None for survey in surveys)
    diagnoses = any(survey.diagnosis is not None for survey in surveys)
    for name in ["file", *(["signal"] if signals else []), "best band (Hz)"]:
        table.add_column(name)
    for name in ("value", "by chance", "p"):
        table.add_column(name, justify="right")
    for name in ["band", *(["fault", "evidence"] if diagnoses else [])]:
        table.add_column(name)
    for survey in surveys:
        best, threshold, diagnosis = survey.map.best, survey.threshold, survey.diagnosis
        row = [survey.file, *([survey.signal or ""] if signals else []), best.limits]
        row.append(_fixed(survey.map.best_value))
        row += ["", "", ""] if threshold is None else [_fixed(threshold.value), _chance(threshold.p_value), ""]
        if threshold is not None:
            row[-1] = "stands out" if threshold.exceeded else "does not stand out"
        if diagnoses:
            row += ["", ""] if diagnosis is None else [diagnosis.fault or "nothing found", _evidence(diagnosis)]
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table
