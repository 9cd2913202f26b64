"""Parts: rows of the table as Parquet files whose names are checksums, and back to their places in the grid."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from .._platform.locks import read_regular
from ..errors import Damaged, NotRegularFile
from .axes import RECONSTRUCTIONS_PER_UNIT, Columns, Grid
from .units import Numbers, Units

MEASURED = {"mse": "float64", "relative_error": "float64", "success": "bool", "nit": "int64"}
NAMES = "part-*.parquet"

NEEDS = "a study"


@dataclass(frozen=True)
class Results:
    """What a store holds, laid out on the grid: arrays of the shape `grid.shape`, and which entries are there."""

    grid: Grid
    present: NDArray[np.bool_]
    values: Columns

    @classmethod
    def empty(cls, grid: Grid, measured: Iterable[str] = tuple(MEASURED)) -> Results:
        """Return results of which nothing is there yet; some of the measured columns, or all."""
        values = {name: np.zeros(grid.shape, MEASURED[name]) for name in measured}
        return cls(grid, np.zeros(grid.shape, bool), values)

    @property
    def done(self) -> int:
        """How many reconstructions are there."""
        return int(np.count_nonzero(self.present))

    def put(self, rows: Columns) -> None:
        """Put rows into their places, where a row that comes twice is there once."""
        place = self.grid.codes(rows)
        self.present[place] = True
        for name, array in self.values.items():
            array[place] = rows[name]


@dataclass(frozen=True)
class Facts:
    """What the footer of a part says about its content.

    Parameters
    ----------
    rows : int
        How many rows it has.
    about : mapping
        What the writer noted: the work units of results, the sessions and versions of timings, and which parts it
        replaces. Empty if it noted nothing.
    """

    rows: int
    about: Mapping[str, Any]

    @property
    def replaces(self) -> tuple[str, ...]:
        """The names of the parts whose rows this part has taken over."""
        return tuple(self.about.get("replaces", ()))

    def unit_numbers(self, units: Units) -> Numbers | None:
        """Return the units of a part of results in the order of its rows; None if it does not say."""
        if self.about.get("reconstructions_per_unit") != RECONSTRUCTIONS_PER_UNIT:
            return None
        runs = [np.arange(first, last) for first, last in self.about["units"]]
        numbers = np.concatenate(runs) if runs else np.zeros(0, np.intp)
        if not np.all((numbers >= 0) & (numbers < units.count)) or units.sizes(numbers).sum() != self.rows:
            return None
        return numbers


def note_units(numbers: Numbers) -> dict[str, Any]:
    """Return what the footer of a part says about its units; neighbours are one pair (first, last + 1)."""
    cuts = np.flatnonzero(np.diff(numbers) != 1) + 1
    runs = [[int(run[0]), int(run[-1]) + 1] for run in np.split(numbers, cuts) if len(run)]
    return {"reconstructions_per_unit": RECONSTRUCTIONS_PER_UNIT, "units": runs}


def result_columns(units: Units, numbers: Numbers, measured: Mapping[str, Any]) -> Columns:
    """Return the rows of some units as columns; `measured` holds one array per column, one unit after the other."""
    columns = units.columns(numbers)
    return columns | {name: np.asarray(measured[name], dtype) for name, dtype in MEASURED.items()}


def empty_results(units: Units) -> Columns:
    """Return the columns of results without rows."""
    return result_columns(units, np.zeros(0, np.intp), dict.fromkeys(MEASURED, ()))


@dataclass(frozen=True)
class Timings:
    """Some work units of one worker: how long each took, in which session, and when they came back."""

    numbers: Numbers
    seconds: NDArray[np.float64]
    worker: str
    versions: str
    session: float
    finished: float

    def columns(self, units: Units) -> Columns:
        """Return one row per unit."""
        count = len(self.numbers)
        words = {"worker": self.worker, "versions": self.versions}
        times = {"session": self.session, "finished": self.finished}
        return {
            **units.seeded_columns(self.numbers),
            "seconds": self.seconds,
            **{name: np.full(count, word, object) for name, word in words.items()},
            **{name: np.full(count, value) for name, value in times.items()},
        }


def empty_timings(units: Units) -> Columns:
    """Return the columns of timings without rows."""
    return Timings(np.zeros(0, np.intp), np.zeros(0), "", "", 0.0, 0.0).columns(units)


def join_columns(columns: list[Columns]) -> Columns:
    """Put columns one under the other."""
    return {name: np.concatenate([rows[name] for rows in columns]) for name in columns[0]}


def to_table(columns: Columns) -> Any:
    """Return columns as a pyarrow table."""
    arrow = import_extra("pyarrow", NEEDS)
    return arrow.table({name: _arrow_column(arrow, column) for name, column in columns.items()})


def _arrow_column(arrow: Any, column: NDArray[Any]) -> Any:
    return arrow.array(column.tolist(), arrow.string()) if column.dtype == object else arrow.array(column)


def encode_part(table: Any, fingerprint: str, about: Mapping[str, Any]) -> bytes:
    """Return a pyarrow table as the content of a part."""
    arrow, parquet = import_extra("pyarrow", NEEDS), import_extra("pyarrow.parquet", NEEDS)
    sink = arrow.BufferOutputStream()
    words = {"study": fingerprint, "about": json.dumps(about)}
    parquet.write_table(table.replace_schema_metadata(words), sink, compression="zstd")
    return bytes(sink.getvalue())


def part_name(data: bytes) -> str:
    """Return the name of a part, which is its checksum: the same rows are the same part."""
    return f"part-{hashlib.sha256(data).hexdigest()[:24]}.parquet"


@dataclass(frozen=True)
class PartReader:
    """Reads the parts of one place of a store, and knows what they must look like.

    Parameters
    ----------
    folder : Path
        Where the parts are.
    template : mapping
        Columns without rows, with the names and types that parts must have.
    fingerprint : str
        Of the study that they must belong to.
    """

    folder: Path
    template: Columns
    fingerprint: str

    def names(self) -> set[str]:
        """Return the names of all files that look like parts."""
        return {path.name for path in self.folder.glob(NAMES)}

    def facts(self, name: str) -> Facts:
        """Check a part's checksum, study and columns, and return what its footer says; the rows are not decoded."""
        file = self._open(name)
        words = (file.schema_arrow.metadata or {}).get(b"about", b"{}")
        return Facts(file.metadata.num_rows, json.loads(words))

    def table(self, name: str, columns: Iterable[str] | None = None) -> Any:
        """Check a part and return its rows as a pyarrow table; some of its columns, or all."""
        wanted = list(self.template) if columns is None else list(columns)
        table = self._open(name).read(columns=wanted, use_threads=False)  # parts are small
        if any(column.null_count for column in table.columns):
            raise Damaged("has empty entries")
        return table

    def columns(self, name: str, columns: Iterable[str] | None = None) -> Columns:
        """Check a part and return its rows as arrays."""
        table = self.table(name, columns)
        return {name: table[name].to_numpy() for name in table.column_names}

    def _open(self, name: str) -> Any:
        arrow, parquet = import_extra("pyarrow", NEEDS), import_extra("pyarrow.parquet", NEEDS)
        try:
            data = read_regular(self.folder / name)
        except NotRegularFile as error:
            raise Damaged(str(error)) from error
        if part_name(data) != name:
            raise Damaged("is damaged (its content does not have the checksum in its name)")
        try:
            file = parquet.ParquetFile(arrow.BufferReader(data))
            schema = file.schema_arrow
        except (arrow.ArrowException, OSError) as error:
            raise Damaged(f"is no Parquet file ({' '.join(str(error).split())[:100]})") from error
        if (schema.metadata or {}).get(b"study") != self.fingerprint.encode():
            raise Damaged("belongs to another study")
        expected = {name: str(_arrow_column(arrow, column).type) for name, column in self.template.items()}
        if {name: str(schema.field(name).type) for name in schema.names} != expected:
            raise Damaged(f"has the columns {schema.names} and not {list(expected)}, or of other types")
        return file
