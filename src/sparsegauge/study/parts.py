"""Parts: rows of the table as a Parquet file whose name is its checksum, and back to their places in the grid."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.locks import NotRegularFile, read_regular
from ..errors import Damaged
from .plan import AXES, Cell, Study

MEASURED = {"mse": "float64", "relative_error": "float64", "success": "bool", "nit": "int64"}

NEEDS = "a study"

Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Results:
    """What a store holds, laid out on the grid: arrays of the shape `study.shape`, and which entries are there."""

    study: Study
    present: NDArray[np.bool_]
    values: Columns

    @classmethod
    def empty(cls, study: Study) -> Results:
        """Nothing yet."""
        values = {name: np.zeros(study.shape, dtype) for name, dtype in MEASURED.items()}
        return cls(study, np.zeros(study.shape, bool), values)

    @property
    def done(self) -> int:
        """How many reconstructions are there."""
        return int(np.count_nonzero(self.present))

    def missing(self) -> list[Cell]:
        """The work units of which anything is missing."""
        return [cell for cell in self.study.cells() if not self.present[_place(self.study, cell)].all()]

    def template(self) -> Columns:
        """Rows as they have to be, by name and type."""
        first = next(self.study.cells())
        shape = (*self.study.shape[3:5], first.trials)
        return rows_of(self.study, first, {name: np.zeros(shape, dtype) for name, dtype in MEASURED.items()})

    def put(self, rows: Columns) -> int:
        """Put rows into their places, where a row that is there twice is there once; return how many are new."""
        place = tuple(_codes(self.study, axis, rows) for axis in (*AXES, "trial"))
        new = int(np.count_nonzero(~self.present[place]))
        self.present[place] = True
        for name, array in self.values.items():
            array[place] = rows[name]
        return new


def _place(study: Study, cell: Cell) -> tuple[Any, ...]:
    """Where a work unit lies in the grid."""
    trials = slice(cell.first, cell.first + cell.trials)
    first = study.distributions.index(cell.distribution)
    second, third = study.nonzeros.index(cell.nonzeros), study.measurements.index(cell.measurements)
    return first, second, third, slice(None), slice(None), trials


def rows_of(study: Study, cell: Cell, measured: Columns) -> Columns:
    """A work unit's arrays of (noise, order, trial) as columns."""
    shape = (*study.shape[3:5], cell.trials)
    noise, order, trial = (index.ravel() for index in np.indices(shape))
    count = len(trial)
    rows: Columns = {
        "distributions": np.full(count, cell.distribution, object),
        "nonzeros": np.full(count, cell.nonzeros, np.int64),
        "measurements": np.full(count, cell.measurements, np.int64),
        "trial": trial + cell.first,
    }
    rows |= {"noise_db": np.asarray(study.noise_db, float)[noise]} if study.noise_db else {}
    rows |= {"orders": np.asarray(study.orders, float)[order]} if study.orders else {}
    return rows | {name: np.asarray(measured[name], dtype).reshape(count) for name, dtype in MEASURED.items()}


def timing_of(cell: Cell, seconds: float, worker: str, session: float, versions: Mapping[str, str]) -> Columns:
    """Return one row for a work unit: who computed it, with which versions, and how long it took.

    `session` is when the run began, `finished` when the unit came back.
    """
    return {
        "distributions": np.array([cell.distribution], object),
        "nonzeros": np.array([cell.nonzeros]),
        "measurements": np.array([cell.measurements]),
        "first_trial": np.array([cell.first]),
        "trials": np.array([cell.trials]),
        "seconds": np.array([seconds]),
        "worker": np.array([worker], object),
        "versions": np.array([", ".join(f"{name} {value}" for name, value in versions.items())], object),
        "session": np.array([session]),
        "finished": np.array([time.time()]),
    }


def empty_timings() -> Columns:
    """No rows, but columns and types."""
    return {name: column[:0] for name, column in timing_of(Cell("", 0, 0, 0, 0), 0.0, "", 0.0, {}).items()}


def joined(columns: list[Columns]) -> Columns:
    """One under the other."""
    return {name: np.concatenate([rows[name] for rows in columns]) for name in columns[0]}


def _codes(study: Study, axis: str, rows: Columns) -> NDArray[np.intp]:
    """The index of each row along an axis."""
    values = study.axes.get(axis)
    if values is None:
        return np.zeros(len(rows["trial"]), np.intp)
    column = rows[axis]
    sorted_codes = np.argsort(values)
    ordered = np.asarray(values, column.dtype)[sorted_codes]
    codes = np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)
    strange = np.flatnonzero(ordered[codes] != column)
    if len(strange):
        raise Damaged(f"has {axis} = {column[strange[0]]}, which the study has not")
    return sorted_codes[codes]


def encoded(columns: Columns, fingerprint: str) -> bytes:
    """Columns as the content of a part."""
    arrow, parquet = import_extra("pyarrow", NEEDS), import_extra("pyarrow.parquet", NEEDS)
    table = arrow.table({name: _arrow_column(arrow, column) for name, column in columns.items()})
    sink = arrow.BufferOutputStream()
    parquet.write_table(table.replace_schema_metadata({"study": fingerprint}), sink, compression="zstd")
    return bytes(sink.getvalue())


def _arrow_column(arrow: Any, column: NDArray[Any]) -> Any:
    return arrow.array(column.tolist(), arrow.string()) if column.dtype == object else arrow.array(column)


def read_parts(
    directory: Path, place: str, template: Columns, fingerprint: str, take: Callable[[Columns], Any]
) -> dict[str, str]:
    """Hand over the columns of every part that can be trusted; return those that cannot, with the reason."""
    damaged = {}
    for path in sorted((directory / place).glob("part-*.parquet")):
        try:
            take(_read_part(path, template, fingerprint))
        except FileNotFoundError:
            continue  # a writer set it aside meanwhile
        except Damaged as error:
            damaged[f"{place}/{path.name}"] = str(error)
    return damaged


def _read_part(path: Path, template: Columns, fingerprint: str) -> Columns:
    """A part's columns, with the names and types of the template."""
    arrow, parquet = import_extra("pyarrow", NEEDS), import_extra("pyarrow.parquet", NEEDS)
    try:
        data = read_regular(path)
    except NotRegularFile as error:
        raise Damaged(str(error)) from error
    if part_name(data) != path.name:
        raise Damaged("is damaged (its content does not have the checksum in its name)")
    try:
        table = parquet.ParquetFile(arrow.BufferReader(data)).read(use_threads=False)  # parts are small
    except (arrow.ArrowException, OSError) as error:
        raise Damaged(f"is no Parquet file ({' '.join(str(error).split())[:100]})") from error
    if (table.schema.metadata or {}).get(b"study") != fingerprint.encode():
        raise Damaged("belongs to another study")
    expected = {name: str(_arrow_column(arrow, column).type) for name, column in template.items()}
    if {name: str(table.schema.field(name).type) for name in table.column_names} != expected:
        raise Damaged(f"has the columns {table.column_names} and not {list(expected)}, or of other types")
    if any(column.null_count for column in table.columns):
        raise Damaged("has empty entries")
    return {name: table[name].to_numpy() for name in expected}


def part_name(data: bytes) -> str:
    """Return the name of a part, which is its checksum: the same rows are the same part."""
    return f"part-{hashlib.sha256(data).hexdigest()[:24]}.parquet"
