"""Groups of coefficients that are zero or not as one: a label per coefficient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from ..errors import InvalidInput


class Groups:
    """A partition of N coefficients; `of` is the number of each coefficient's group, from 0 on."""

    def __init__(self, of: Indices) -> None:
        self.of = of
        self.sizes = np.bincount(of)
        order = np.argsort(of, kind="stable")
        self.members: list[Indices] = np.split(order, np.cumsum(self.sizes)[:-1])

    @classmethod
    def single(cls, n: int) -> Groups:
        """Return groups of one coefficient each."""
        return cls(np.arange(n, dtype=np.int64))

    @classmethod
    def from_labels(cls, labels: Any, n: int) -> Groups:
        """Check labels, one per coefficient, and return their groups."""
        array = _as_array(labels)
        if array.ndim != 1 or array.dtype.kind not in "biuUS" or len(array) != n:
            raise InvalidInput(
                f"groups must be {n} labels, one whole number or string per column of A, such as "
                f"np.repeat(np.arange(number of groups), size), got shape {array.shape} and dtype {array.dtype}"
            )
        return cls(np.unique(array, return_inverse=True)[1])

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def are_single(self) -> bool:
        """Whether each group has one coefficient."""
        return bool(self.sizes.max() == 1)

    def total(self, values: Array) -> Array:
        """Return the sum of one value per coefficient over each group."""
        return values if self.are_single else np.asarray(np.bincount(self.of, weights=values), np.float64)

    def columns(self, chosen: Indices) -> Indices:
        """Return the coefficients of some groups."""
        if len(chosen) == 0:
            return np.zeros(0, np.int64)
        return np.concatenate([self.members[group] for group in chosen])

    def leading(self, order: Indices, most: int) -> Indices:
        """Return the first groups of an order that together have at most the given number of coefficients."""
        return order[: int(np.searchsorted(np.cumsum(self.sizes[order]), most, side="right"))]

    def of_columns(self, columns: Indices) -> Indices:
        """Return the groups that some coefficients belong to."""
        return np.unique(self.of[columns])


def _as_array(labels: Any) -> NDArray[Any]:
    """Return labels as an array, of strings or whole numbers where all of a table's column are that."""
    try:
        array = np.asarray(labels)
    except ValueError:  # lists of different lengths
        return np.asarray(list(labels), dtype=object)
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        return array.astype(str)
    if array.dtype.kind == "O" and all(isinstance(label, int | np.integer) for label in array.flat):
        return array.astype(np.int64)
    return array


def row_sizes(X: NDArray[Any]) -> Array:
    """Return the Euclidean norm of each row."""
    return np.asarray(np.linalg.norm(X, axis=1))
