"""What `sparsegauge measure` prints: a table for people, JSON and CSV for programs."""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._platform.terminal import printable
from .console import plain

if TYPE_CHECKING:
    from rich.table import Table

    from ..measurements.file_signals import Measurement
    from ..measurements.request import Measure

WIDEST = 10_000
SMALLEST_FIXED, LARGEST_FIXED = 1e-4, 1e6
MOST_MEASURES_SIDE_BY_SIDE = 6  # more are printed one per line


def print_json(results: list[Measurement]) -> None:
    """Print a list of objects, one per line; null for what is not defined."""
    separator = "["
    for record in _records(results):
        print(separator, json.dumps(plain(record), allow_nan=False), sep="\n", end="")
        separator = ","
    print("\n]")


def write_output(path: Path, results: list[Measurement]) -> None:
    """Write the values as CSV, JSON or Parquet, by the ending of the path."""
    from .._platform.writing import draft_of

    with draft_of(path) as draft:
        if path.suffix.lower() == ".parquet":
            _write_parquet(draft, results)
            return
        with draft.open("x", encoding="utf-8", newline="") as file, contextlib.redirect_stdout(file):
            (print_json if path.suffix.lower() == ".json" else print_csv)(results)


def _write_parquet(path: Path, results: list[Measurement]) -> None:
    from .._platform.extras import import_extra

    arrow, parquet = (import_extra(name, "writing Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    records = [record | {"parameters": _words(record)} for record in _records(results)]
    names = list(dict.fromkeys(name for record in records for name in record))
    table = arrow.table({name: [record.get(name) for record in records] for name in names})
    parquet.write_table(table, str(path))


def _words(record: dict[str, Any]) -> str:
    return " ".join(f"{name}={value:g}" for name, value in record["parameters"].items())


def print_csv(results: list[Measurement]) -> None:
    """Print one line per value, with all digits; nan for what is not defined."""
    windowed = any(result.starts is not None for result in results)
    limits = ["low", "high"] if any(result.intervals is not None for result in results) else []
    fields = ["file", "signal", "metric", "parameters", "value", *limits, "n", *(["start"] if windowed else [])]
    if windowed and any(result.rate is not None for result in results):
        fields.append("seconds")
    writer = csv.DictWriter(sys.stdout, fields, lineterminator="\n")
    writer.writeheader()
    for record in _records(results):
        names = {name: printable(record[name] or "") for name in ("file", "signal")}
        writer.writerow(record | names | {"parameters": _words(record)})


def _records(results: list[Measurement]) -> Iterator[dict[str, Any]]:
    for result in results:
        for i, signal in enumerate(result.signals):
            for j, measure in enumerate(result.measures):
                record = {"file": result.file, "signal": signal, "metric": measure.metric}
                values = result.values[j, i]
                if result.starts is None:
                    yield record | _tail(measure, float(values), result, (j, i))
                    continue
                for k, (start, value) in enumerate(zip(result.starts.tolist(), values.tolist(), strict=True)):
                    time = {} if result.rate is None else {"seconds": start / result.rate}
                    yield record | _tail(measure, value, result, (j, i, k)) | {"start": start} | time


def _tail(measure: Measure, value: float, result: Measurement, place: tuple[int, ...]) -> dict[str, Any]:
    limits = {} if result.intervals is None else {"low": result.intervals[0][place], "high": result.intervals[1][place]}
    return {"parameters": dict(measure.parameters), "value": value, **limits, "n": result.n}


def print_table(results: list[Measurement]) -> None:
    """Print a table with one line per signal, or per measure if there are many, or windows."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    room = Console().width if terminal else WIDEST
    console = Console(width=WIDEST, highlight=False)  # nothing is cut: half a number is worse than a long line
    if any(result.starts is not None for result in results):
        table = _filled(_fill_windowed, results, terminal)
    else:
        table = _filled(_fill_wide, results, terminal)
        if len(results[0].measures) > MOST_MEASURES_SIDE_BY_SIDE or console.measure(table).maximum > room:
            table = _filled(_fill_long, results, terminal)
    console.print(table, soft_wrap=True)


def _filled(fill: Callable[[Table, list[Measurement]], None], results: list[Measurement], terminal: bool) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if terminal else None, pad_edge=False)
    fill(table, results)
    return table


def _fill_wide(table: Table, results: list[Measurement]) -> None:
    _head(table, ["file", "signal"], ["n", *map(str, results[0].measures)])
    for result in results:
        for i, signal in enumerate(result.signals):
            figures = [_with_limits(result, (j, i)) for j in range(len(result.measures))]
            _line(table, [result.file, signal or ""], [f"{result.n}", *figures])


def _fill_long(table: Table, results: list[Measurement]) -> None:
    _head(table, ["file", "signal", "metric"], ["n", "value"])
    for result in results:
        for i, signal in enumerate(result.signals):
            for j, measure in enumerate(result.measures):
                _line(table, [result.file, signal or "", str(measure)], [f"{result.n}", _with_limits(result, (j, i))])


def _fill_windowed(table: Table, results: list[Measurement]) -> None:
    """Fill in a summary of the windows, which --csv and --json list one by one."""
    _head(table, ["file", "signal", "metric"], ["windows", "least", "median", "most", "sparsest at"])
    for result in results:
        for i, signal in enumerate(result.signals):
            for j, measure in enumerate(result.measures):
                _line(table, [result.file, signal or "", str(measure)], _summary(result, measure, result.values[j, i]))


def _summary(result: Measurement, measure: Measure, values: Any) -> list[str]:
    import numpy as np

    from ..metrics.catalogue import METRICS

    defined = np.flatnonzero(~np.isnan(values))
    if not len(defined):
        return [f"{len(values)}", "nan", "nan", "nan", ""]
    kept = values[defined]
    assert result.starts is not None
    best = np.argmax(kept) if METRICS[measure.metric].sparser == "larger" else np.argmin(kept)
    sparsest = result.starts[defined[best]]
    where = f"{sparsest}" if result.rate is None else f"{sparsest / result.rate:.6g} s"
    return [f"{len(values)}", *map(_digits, (kept.min(), np.median(kept), kept.max())), where]


def _head(table: Table, words: list[str], figures: list[str]) -> None:
    for word in words:
        table.add_column(word)
    for figure in figures:
        table.add_column(figure, justify="right")


def _line(table: Table, words: list[str], figures: list[str]) -> None:
    from rich.text import Text

    table.add_row(*(Text(printable(word)) for word in words), *map(Text, figures))


def _with_limits(result: Measurement, place: tuple[int, int]) -> str:
    """Return a value, and its confidence interval if there is one, such as "0.25 [0.21, 0.3]"."""
    value = _digits(result.values[place])
    if result.intervals is None or result.intervals[0][place] != result.intervals[0][place]:
        return value
    low, high = (f"{float(limit[place]):.4g}" for limit in result.intervals)
    return f"{value} [{low}, {high}]"


def _digits(value: Any) -> str:
    """Return six decimals, so that columns align; six digits of what is too small or too large for that."""
    number = float(value)
    return f"{number:.6f}" if number == 0 or SMALLEST_FIXED <= abs(number) < LARGEST_FIXED else f"{number:.6g}"
