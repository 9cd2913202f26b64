"""The work units of a grid by their numbers: a million cells are an array, and a cell is made when it is needed."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .axes import Axis, Cell, Columns, Grid

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Units:
    """The work units of a grid, numbered from 0 in the order of ``grid.cells()``."""

    grid: Grid

    @functools.cached_property
    def _trials(self) -> Numbers:
        """How many trials each piece of a combination of seeded values has."""
        return np.diff(self.grid.edges)

    @functools.cached_property
    def settings(self) -> int:
        """How many combinations of the shared axes each trial meets."""
        return math.prod(self.grid.shared_shape)

    @property
    def pieces(self) -> int:
        """How many units the trials of one combination of seeded values are cut into."""
        return len(self._trials)

    @property
    def count(self) -> int:
        """How many units there are."""
        return math.prod(self.grid.seeded_shape) * self.pieces

    def cell(self, number: int) -> Cell:
        """Return a unit as a cell."""
        combination, piece = divmod(number, self.pieces)
        codes = np.unravel_index(combination, self.grid.seeded_shape)
        values = tuple(axis.values[code] for axis, code in zip(self.grid.seeded, codes, strict=True))
        return Cell(values, int(self.grid.edges[piece]), int(self._trials[piece]))

    def number(self, cell: Cell) -> int:
        """Return the number of a cell; the inverse of `cell`."""
        codes = [axis.position(value) for axis, value in zip(self.grid.seeded, cell.values, strict=True)]
        piece = int(np.searchsorted(self.grid.edges, cell.first))
        return int(np.ravel_multi_index(codes, self.grid.seeded_shape)) * self.pieces + piece

    def sizes(self, numbers: Numbers) -> Numbers:
        """Return how many rows each unit has."""
        return self.settings * self._trials[numbers % self.pieces]

    def columns(self, numbers: Numbers) -> Columns:
        """Return the columns of the axes for the rows of some units, one unit after the other.

        The rows of a unit are in the order of an array of the shape (shared axes, trial).
        """
        sizes = self.sizes(numbers)
        combinations, pieces = np.divmod(np.repeat(numbers, sizes), self.pieces)
        within = np.arange(len(pieces)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        settings, trials = np.divmod(within, self._trials[pieces])
        held = _columns_of(self.grid.seeded, combinations) | _columns_of(self.grid.shared, settings)
        return {axis.name: held[axis.name] for axis in self.grid.axes} | {"trial": trials + self.grid.edges[pieces]}

    def seeded_columns(self, numbers: Numbers) -> Columns:
        """Return one row per unit: the values of the seeded axes, `first_trial` and `trials`."""
        combinations, pieces = np.divmod(numbers, self.pieces)
        held = _columns_of(self.grid.seeded, combinations)
        return held | {"first_trial": self.grid.edges[pieces], "trials": self._trials[pieces]}

    def locate(self, rows: Columns) -> tuple[Numbers, Numbers]:
        """Return the unit of each row, and where in the unit it is."""
        *codes, trial = self.grid.codes(rows)
        held = dict(zip((axis.name for axis in self.grid.axes), codes, strict=True))
        combinations, settings = (_number(axes, held, len(trial)) for axes in (self.grid.seeded, self.grid.shared))
        pieces = np.searchsorted(self.grid.edges, trial, side="right") - 1
        within = settings * self._trials[pieces] + trial - self.grid.edges[pieces]
        return combinations * self.pieces + pieces, within


def _columns_of(axes: tuple[Axis, ...], combinations: Numbers) -> Columns:
    """Return the values of some axes at combinations that are numbered in the order of the table."""
    if not axes:
        return {}
    codes = np.unravel_index(combinations, tuple(len(axis.values) for axis in axes))
    return {axis.name: axis.column(code) for axis, code in zip(axes, codes, strict=True)}


def _number(axes: tuple[Axis, ...], codes: dict[str, Numbers], count: int) -> Numbers:
    """Return the numbers of such combinations, from the positions of their values."""
    if not axes:
        return np.zeros(count, np.intp)
    shape = tuple(len(axis.values) for axis in axes)
    return np.asarray(np.ravel_multi_index([codes[axis.name] for axis in axes], shape))
