"""Cells that are marked as failed, because they ended every worker that computed them.

The marks are in ``failed.json`` of the store, so that the next run leaves these cells out unless it is asked to try
them again. A cell that is computed after all loses its mark.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._platform.locks import read_regular
from ..errors import InvalidInput, NotRegularFile
from .axes import Cell
from .disk import write_to_store
from .units import Units

FAILED = "failed.json"


@dataclass
class Failures:
    """The marks of one store: why each failed cell has failed, by the number of its unit."""

    directory: Path
    units: Units
    reasons: dict[int, str] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path, units: Units) -> Failures:
        """Return the marks of a store; none if it has no such file."""
        found, path = cls(directory, units), directory / FAILED
        try:
            for entry in json.loads(read_regular(path)):
                found.reasons[found._number(entry)] = str(entry["reason"])
        except FileNotFoundError:
            return found
        except (NotRegularFile, ValueError, TypeError, LookupError, RecursionError) as error:
            reason = " ".join(str(error).split())[:100]
            raise InvalidInput(
                f"{path} is damaged ({type(error).__name__}: {reason}); delete it: the cells that it marked as failed "
                "are then tried again"
            ) from error
        return found

    def _number(self, entry: Any) -> int:
        cell = Cell(tuple(entry["values"]), int(entry["first_trial"]), int(entry["trials"]))
        number = self.units.number(cell)
        if self.units.cell(number) != cell:
            raise ValueError(f"{cell} is no cell of the study")
        return number

    def mark(self, number: int, reason: str) -> None:
        """Mark a cell as failed, on the disk at once."""
        self.reasons[number] = reason
        self._write()

    def clear(self, numbers: set[int]) -> None:
        """Take the marks of some cells back."""
        marked = numbers & self.reasons.keys()
        if marked:
            self.reasons = {number: reason for number, reason in self.reasons.items() if number not in marked}
            self._write()

    def _write(self) -> None:
        entries = []
        for number, reason in sorted(self.reasons.items()):
            cell = self.units.cell(number)
            entries.append({"values": cell.values, "first_trial": cell.first, "trials": cell.trials, "reason": reason})
        write_to_store(self.directory / FAILED, (json.dumps(entries, indent=1) + "\n").encode())

    def describe(self) -> tuple[str, ...]:
        """Return the marked cells in words, with the reasons."""
        grid = self.units.grid
        return tuple(f"{grid.describe(self.units.cell(n))}: {why}" for n, why in sorted(self.reasons.items()))
