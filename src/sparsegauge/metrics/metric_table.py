"""Several metrics of the same signals, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import Array, library_of
from .metric import Values

if TYPE_CHECKING:
    from pandas import DataFrame


class MetricTable(Mapping[str, Values]):
    """The values of several metrics of the same signals, by the name of the metric.

    `str` of it is a text table. ``to_array()`` stacks the values along a first axis, and ``to_frame()`` gives a pandas
    DataFrame with one row per signal and one column per metric. Rows have the labels of x, where it had any.
    """

    def __init__(self, values: Mapping[str, Values]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> Values:
        """Return the values of one metric."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._values)

    def __str__(self) -> str:
        """Return a text table: one row per signal, one column per metric."""
        columns = [
            [name, *(f"{value:.6g}" for value in np.ravel(_plain(values)))] for name, values in self._values.items()
        ]
        if (labels := self._labels()) is not None:
            names = (", ".join(map(str, label)) if isinstance(label, tuple) else str(label) for label in labels)
            columns.insert(0, ["", *names])
        widths = [max(map(len, column)) for column in columns]
        rows = zip(*columns, strict=True)
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)

    __repr__ = __str__

    def to_array(self) -> Array:
        """Return the values in one array, whose first axis runs over the metrics."""
        return np.array([_plain(values) for values in self._values.values()], dtype=np.float64)

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per signal and one column per metric."""
        from .._platform.extras import import_extra

        pandas = import_extra("pandas", "to_frame()")
        columns = {name: np.ravel(_plain(values)) for name, values in self._values.items()}
        return pandas.DataFrame(columns, index=self._labels())

    def _labels(self) -> Any:
        """Return the pandas index of the signals; None if they have no labels."""
        values: Any = next(iter(self._values.values()), None)
        if getattr(values, "ndim", 0) == 0:
            return None
        library = library_of(values)
        if library == "xarray":
            return values.to_series().index
        return values.index if library == "pandas" else None


def _plain(values: Any) -> Any:
    """Return the values of a tensor without its gradient, from whatever device, and others as they are."""
    return values.detach().cpu() if hasattr(values, "detach") else values
