"""Parts: rows of the table as Parquet files whose names are checksums, and back to their places in the grid."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.locks import read_regular
from ..errors import Damaged, NotRegularFile
from .axes import Cell, Columns, Grid

MEASURED = {"mse": "float64", "relative_error": "float64", "success": "bool", "nit": "int64"}

NEEDS = "a study"


@dataclass(frozen=True)
class Results:
    """What a store holds, laid out on the grid: arrays of the shape `grid.shape`, and which entries are there."""

    grid: Grid
    present: NDArray[np.bool_]
    values: Columns

    @classmethod
    def empty(cls, grid: Grid) -> Results:
        """Return results of which nothing is there yet."""
        values = {name: np.zeros(grid.shape, dtype) for name, dtype in MEASURED.items()}
        return cls(grid, np.zeros(grid.shape, bool), values)

    @property
    def done(self) -> int:
        """How many reconstructions are there."""
        return int(np.count_nonzero(self.present))

    def missing(self) -> list[Cell]:
        """Return the work units of which anything is missing, in the order of `grid.cells()`.

        All cells share their trials out alike, so that the grid is looked at once and not once per cell.
        """
        cells, axes = list(self.grid.cells()), self.grid.axes
        per_combination = len(cells) // math.prod(len(axis.values) for axis in self.grid.seeded)
        starts = [cell.first for cell in cells[:per_combination]]
        complete = self.present.all(axis=tuple(i for i, axis in enumerate(axes) if not axis.kind.is_seeded))
        finished = np.logical_and.reduceat(complete, starts, axis=-1).ravel()
        return [cells[i] for i in np.flatnonzero(~finished).tolist()]

    def template(self) -> Columns:
        """Return rows with the names and types that rows must have."""
        first = next(self.grid.cells())
        shape = (*self.grid.shared_shape, first.trials)
        return rows_of(self.grid, first, {name: np.zeros(shape, dtype) for name, dtype in MEASURED.items()})

    def put(self, rows: Columns) -> int:
        """Put rows into their places, where a row that comes twice is there once; return how many are new."""
        place = self.grid.codes(rows)
        new = int(np.count_nonzero(~self.present[place]))
        self.present[place] = True
        for name, array in self.values.items():
            array[place] = rows[name]
        return new


def rows_of(grid: Grid, cell: Cell, measured: Columns) -> Columns:
    """Return a work unit's arrays of the shape (shared axes, trial) as columns."""
    axes = grid.columns(cell)
    count = len(axes["trial"])
    return axes | {name: np.asarray(measured[name], dtype).reshape(count) for name, dtype in MEASURED.items()}


def timing_of(
    grid: Grid, cell: Cell, seconds: float, worker: str, session: float, versions: Mapping[str, str]
) -> Columns:
    """Return one row for a work unit: who computed it, with which versions, and how long it took.

    `session` is when the run began, `finished` when the unit came back.
    """
    zero = np.zeros(1, np.intp)
    where = zip(grid.seeded, cell.values, strict=True)
    return {
        **{axis.name: axis.column(zero + axis.position(value)) for axis, value in where},
        "first_trial": np.array([cell.first]),
        "trials": np.array([cell.trials]),
        "seconds": np.array([seconds]),
        "worker": np.array([worker], object),
        "versions": np.array([", ".join(f"{name} {value}" for name, value in versions.items())], object),
        "session": np.array([session]),
        "finished": np.array([time.time()]),
    }


def empty_timings(grid: Grid) -> Columns:
    """Return the columns of timings without rows."""
    return {name: column[:0] for name, column in timing_of(grid, next(grid.cells()), 0.0, "", 0.0, {}).items()}


def join_columns(columns: list[Columns]) -> Columns:
    """Put columns one under the other."""
    return {name: np.concatenate([rows[name] for rows in columns]) for name in columns[0]}


def encode_part(columns: Columns, fingerprint: str) -> bytes:
    """Return columns as the content of a part."""
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
    """Call `take` with the columns of every part that can be trusted; return the others, with the reason."""
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
    """Return a part's columns, with the names and types of the template."""
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
