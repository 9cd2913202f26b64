"""Which rows of a study are there: one flag per work unit, so that a million cells need a megabyte and no search."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .axes import Columns, Grid
from .units import Numbers, Units


@dataclass
class Coverage:
    """Which work units are complete, and what is there of others.

    Runs add whole units. Single rows of a unit come only from parts that were made elsewhere; they count as rows that
    are there, and the unit is computed again as a whole.
    """

    units: Units
    complete: NDArray[np.bool_]
    partial: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    done: int = 0

    @classmethod
    def empty(cls, grid: Grid) -> Coverage:
        """Return the coverage of a study of which nothing is there yet."""
        units = Units(grid)
        return cls(units, np.zeros(units.count, bool))

    def add_units(self, numbers: Numbers) -> int:
        """Note that some units are complete, each named once; return how many rows were not there before."""
        fresh = numbers[~self.complete[numbers]]
        new = int(self.units.sizes(fresh).sum())
        for number in self.partial.keys() & set(fresh.tolist()) if self.partial else ():
            new -= int(np.count_nonzero(self.partial.pop(number)))
        self.complete[fresh] = True
        self.done += new
        return new

    def add_rows(self, rows: Columns) -> int:
        """Note single rows, where a row that comes twice is there once; return how many were not there before."""
        places = np.unique(np.stack(self.units.locate(rows), axis=1), axis=0)
        numbers, starts, counts = np.unique(places[:, 0], return_index=True, return_counts=True)
        whole = counts == self.units.sizes(numbers)
        new = self.add_units(numbers[whole])
        for number, start, count in zip(numbers[~whole], starts[~whole], counts[~whole], strict=True):
            new += self._add_to_unit(int(number), places[start : start + count, 1])
        return new

    def _add_to_unit(self, number: int, within: Numbers) -> int:
        if self.complete[number]:
            return 0
        held = self.partial.setdefault(number, np.zeros(int(self.units.sizes(np.array(number))), bool))
        new = int(np.count_nonzero(~held[within]))
        held[within] = True
        self.done += new
        if held.all():
            del self.partial[number]
            self.complete[number] = True
        return new

    def missing(self) -> Numbers:
        """Return the numbers of the units of which anything is missing, in order."""
        return np.flatnonzero(~self.complete)
