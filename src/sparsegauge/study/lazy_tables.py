"""Tables that are read part by part: some axes, some columns, and never more than one part in memory at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._platform.extras import import_extra
from ..errors import Damaged, InvalidInput, StudyWarning
from .axes import Columns, Grid
from .coverage import Coverage
from .inventory import begin_again, inspect_parts
from .manifest import Manifest
from .parts import MEASURED, NEEDS, Facts, PartReader
from .units import Numbers, Units

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RowsOfGrid:
    """Which rows belong to a part of a study's grid."""

    units: Units
    part: Grid
    wanted: NDArray[np.bool_]  # per combination of seeded values

    @classmethod
    def of(cls, whole: Grid, part: Grid) -> RowsOfGrid:
        """Compare the values of the axes."""
        wanted = np.ones((), bool)
        for axis, kept in zip(whole.seeded, part.seeded, strict=True):
            wanted = np.multiply.outer(wanted, np.isin(np.arange(len(axis.values)), [*map(axis.position, kept.values)]))
        return cls(Units(whole), part, wanted.ravel())

    def of_units(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Return whether each unit has any rows that are wanted."""
        return self.wanted[numbers // self.units.pieces]

    def may_hold(self, facts: Facts) -> bool:
        """Return whether a part holds rows that are wanted, as far as its footer says."""
        numbers = facts.unit_numbers(self.units)
        return numbers is None or bool(self.of_units(numbers).any())

    def mask(self, rows: Columns) -> NDArray[np.bool_] | None:
        """Return which rows are wanted; None for all. Rows with values that the study has not are `Damaged`."""
        cut = [
            (axis, kept)
            for axis, kept in zip(self.units.grid.axes, self.part.axes, strict=True)
            if axis.values != kept.values
        ]
        if not cut:
            return None
        mask = np.ones(len(rows["trial"]), bool)
        for axis, kept in cut:
            mask &= np.isin(axis.codes(rows[axis.name]), [*map(axis.position, kept.values)])
        return mask

    def picked(self, take: Callable[[Columns], object]) -> Callable[[Columns], None]:
        """Return a function that calls `take` with the rows that are wanted."""

        def pick(rows: Columns) -> None:
            mask = self.mask(rows)
            take(rows if mask is None else {name: column[mask] for name, column in rows.items()})

        return pick


def frame_of(grid: Grid, codes: tuple[NDArray[np.intp], ...], measured: Mapping[str, NDArray[Any]]) -> pd.DataFrame:
    """Return rows as a data frame, from their places in the grid; the last code is the trial."""
    pandas = import_extra("pandas", NEEDS)
    columns: dict[str, Any] = {}
    for axis, places in zip(grid.axes, codes[:-1], strict=True):
        is_named = axis.kind.dtype is object  # words keep the order of the study
        categories = [str(value) for value in axis.values]
        columns[axis.name] = (
            pandas.Categorical.from_codes(places, categories=categories) if is_named else axis.column(places)
        )
    return pandas.DataFrame({**columns, "trial": codes[-1], **measured})


def warn_of_damage(directory: Path, damaged: Mapping[str, str]) -> None:
    """Warn of the parts that cannot be trusted."""
    for name, reason in damaged.items():
        warnings.warn(f"{directory / name} {reason}; run the study again to repair it", StudyWarning, stacklevel=4)


@dataclass(frozen=True)
class TablePiece:
    """One part of a store as a piece of a lazy table: which of its units count, in the order of its rows."""

    reader: PartReader
    name: str
    numbers: Numbers
    counts: NDArray[np.bool_]

    def read(self, rows: RowsOfGrid, columns: list[str]) -> pd.DataFrame:
        """Return the rows as a data frame."""
        measured = [name for name in MEASURED if name in columns]
        try:
            held = self.reader.columns(self.name, [*rows.part.coordinates, *measured])
        except FileNotFoundError as error:
            raise InvalidInput(
                f"{self.reader.folder / self.name} is not there any more: the study went on meanwhile; load it again"
            ) from error
        except Damaged as error:
            raise InvalidInput(f"{self.reader.folder / self.name} {error}; run the study again to repair it") from error
        mask = np.repeat(self.counts, rows.units.sizes(self.numbers))
        wanted = rows.mask(held)
        mask = mask if wanted is None else mask & wanted
        held = {name: column[mask] for name, column in held.items()}
        return frame_of(rows.part, rows.part.codes(held), {name: held[name] for name in measured})[columns]


def scan_study(directory: Path, manifest: Manifest, grid: Grid, columns: list[str]) -> Any:
    """Return the lazy table of a part of a study's grid: a Dask data frame with one partition per part of the store."""
    frames = import_extra("dask.dataframe", "lazy=True", extra="dask")
    rows = RowsOfGrid.of(manifest.grid, grid)
    pieces, coverage = begin_again(lambda: _find_pieces(directory, manifest, rows))
    wanted = rows.of_units(np.arange(rows.units.count))
    missing = int(np.count_nonzero(wanted & ~coverage.complete))
    if missing:
        text = f"{directory} is not finished: {missing:,} of {np.count_nonzero(wanted):,} cells are not complete"
        warnings.warn(text, StudyWarning, stacklevel=3)
    empty = np.zeros(0, np.intp)
    nothing = frame_of(grid, (empty,) * len(grid.shape), {name: np.zeros(0, kind) for name, kind in MEASURED.items()})
    if not pieces:
        return frames.from_pandas(nothing[columns], npartitions=1)
    return frames.from_map(TablePiece.read, pieces, rows=rows, columns=columns, meta=nothing[columns])


def _find_pieces(directory: Path, manifest: Manifest, rows: RowsOfGrid) -> tuple[list[TablePiece], Coverage]:
    """Return the parts that hold something wanted, in the order of the grid; each unit counts in one of them."""
    found = inspect_parts(directory, manifest, "results")
    coverage, pieces = Coverage.empty(manifest.grid), []
    damaged = dict(found.damaged)
    known = {name: facts.unit_numbers(rows.units) for name, facts in found.own.items()}
    for name in [*found.others, *(name for name, numbers in known.items() if numbers is None)]:
        try:
            known[name] = _whole_units(rows.units, found.reader.columns(name))
        except Damaged as error:
            damaged[name] = str(error)
    warn_of_damage(directory, {f"results/{name}": why for name, why in damaged.items()})
    for name, numbers in sorted(known.items(), key=lambda item: _first(item[1])):
        if numbers is None or name in damaged:
            continue
        first = np.zeros(len(numbers), bool)
        first[np.unique(numbers, return_index=True)[1]] = True
        counts = first & ~coverage.complete[numbers] & rows.of_units(numbers)
        coverage.add_units(np.unique(numbers))
        if counts.any():
            pieces.append(TablePiece(found.reader, name, numbers, counts))
    return pieces, coverage


def _first(numbers: Numbers | None) -> int:
    return int(numbers.min()) if numbers is not None and len(numbers) else -1


def _whole_units(units: Units, columns: Columns) -> Numbers:
    """Return the units of a part that was made elsewhere, whose rows must be those of whole units, one by one."""
    numbers, within = units.locate(columns)
    starts = np.flatnonzero(within == 0)
    found = numbers[starts]
    expected = units.columns(found)
    if len(expected["trial"]) != len(numbers) or any(np.any(expected[name] != columns[name]) for name in expected):
        raise Damaged("holds rows of cells that are not complete, or in another order; load it without lazy=True")
    return found
