"""Does a matrix look generic, or is it discrete or structured? Matrices of the second kind are not covered by a proof.

Entries of a generic matrix are all different, and so are the ratios of neighbouring entries. The latter survive a
scaling of rows and columns, so that Toeplitz, Vandermonde and Kronecker matrices and matrices of signs are seen even
then. Of large matrices a random sample is looked at, which is large enough to hold many equal pairs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .system import norms
from .tolerances import NEARLY_MULTIPLE, ROUNDING_OF_DATA, SAME_MAGNITUDE

SHARE_OF_DIFFERENT_VALUES = 0.9  # with fewer different entries, or ratios of neighbours, a matrix is structured
MOST_ENTRIES_COMPARED = 1 << 14  # of larger matrices a sample is compared
EXPECTED_EQUAL_PAIRS = 25  # in a sample of a matrix that is just structured


def describe_structure(A: NDArray[Any]) -> str:
    """Return what is discrete or structured about A, apart from rows that repeat others; empty if nothing is."""
    rows = _different_rows(A)
    size = len(rows) * A.shape[1]
    if size <= MOST_ENTRIES_COMPARED or 1 in (len(rows), A.shape[1]):
        here = np.abs(A[rows])
        ratios = {"rows": (here[1:], here[:-1]), "columns": (here[:, 1:], here[:, :-1])}
        size = 0
    else:
        here, below, right = _sample(A, rows, size)
        ratios = {"rows": (below, here), "columns": (right, here)}
    if _are_repeated(here, size, ROUNDING_OF_DATA * float(here.max())):
        return "many entries of A have the same magnitude, so it is structured"
    for name, (above, beside) in ratios.items():
        with np.errstate(over="ignore"):
            quotients = above / np.maximum(beside, np.finfo(float).tiny)
        if _are_repeated(np.minimum(quotients, np.finfo(float).max), size):
            return f"many ratios of entries in neighbouring {name} of A are the same, so it is structured"
    return ""


def _sample(A: NDArray[Any], rows: Indices, size: int) -> tuple[Array, Array, Array]:
    """Return magnitudes at random places, and those of the entries below and to the right of them."""
    count = math.ceil(math.sqrt(EXPECTED_EQUAL_PAIRS / (1 - SHARE_OF_DIFFERENT_VALUES) * size))
    inner = len(rows) - 1, A.shape[1] - 1
    places = np.unique(np.random.default_rng(0).integers(inner[0] * inner[1], size=count))
    i, j = np.divmod(places, inner[1])
    return np.abs(A[rows[i], j]), np.abs(A[rows[i + 1], j]), np.abs(A[rows[i], j + 1])


def _different_rows(A: NDArray[Any]) -> Indices:
    """Return which rows are not multiples of others: the ratios of two random sums of a row tell them."""
    sums = A @ np.random.default_rng(0).standard_normal((A.shape[1], 2))
    ratios = sums[:, 0] / np.where(sums[:, 1] == 0, 1.0, sums[:, 1])
    order = np.argsort(ratios)
    lengths = norms(A, axis=1)
    kept = lengths > 0
    close = np.abs(np.diff(ratios[order])) <= NEARLY_MULTIPLE * np.abs(ratios[order[1:]])
    for place in np.flatnonzero(close):
        one, other = (A[k] / max(lengths[k], np.finfo(float).tiny) for k in order[place : place + 2])
        if np.linalg.norm(other - np.vdot(one, other) * one) <= ROUNDING_OF_DATA:
            kept[order[place + 1]] = False
    return np.flatnonzero(kept) if kept.any() else np.arange(len(A))


def _are_repeated(values: Array, size: int, rounding: float = 0.0) -> bool:
    """Return whether too many values are the same, of all (`size` is 0), or of so many of which they are a sample."""
    ordered = np.sort(values, axis=None)
    equal = len(ordered) - 1 - int(np.count_nonzero(np.diff(ordered) > SAME_MAGNITUDE * ordered[1:] + rounding))
    if size == 0:
        return equal > (1 - SHARE_OF_DIFFERENT_VALUES) * len(ordered)
    return equal > 0.5 * (1 - SHARE_OF_DIFFERENT_VALUES) * len(ordered) ** 2 / size
