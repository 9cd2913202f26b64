"""What the compiled iterations of SPSA need: how to project a direction, and room that they share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _compiled
from .._arrays import Array
from .._compiled.even import LARGEST_EVEN_ORDER, MOMENT_BLOCK, MOMENT_ROOM
from .._compiled.spsa_walk import ROWS_PER_PASS, SIGN_PATTERNS, SIGNS_PER_GROUP

LARGEST_TABLE = 1 << 19  # numbers: signals of up to about 310 coefficients
NUMBERS_PER_CACHE_LINE = 8
LONGEST_BY_PAIRS = 256  # coefficients: the sum over all pairs is then quicker than a sort

Reports = NDArray[np.int64]


def by_moments(order: float) -> bool:
    """Return whether S_p needs neither a sort nor the pairs."""
    return order % 2 == 0 and order <= LARGEST_EVEN_ORDER


def worth_compiling(n: int, order: float) -> bool:
    """Return whether the compiled walk is the quick way; else the metric's own kernels are, which sort."""
    return by_moments(order) or (n <= LONGEST_BY_PAIRS and order < math.inf)


class Projector(NamedTuple):
    """How to project signs onto the null space of B: the part of a workspace that depends on B alone."""

    table: Array
    factors: Array
    factors_span_null_space: bool


def projector(B: Array) -> Projector:
    """Return the table, or the fewer of the rows that span the row space and those that span the null space."""
    rank, n = B.shape
    groups = -(-n // SIGNS_PER_GROUP)
    nothing = np.empty((0, n))
    if groups * SIGN_PATTERNS * n <= LARGEST_TABLE:
        projection = np.zeros((groups * SIGNS_PER_GROUP, n))  # the columns that fill up the last group are zero
        projection[:n] = np.eye(n) - B.T @ B
        columns = projection.reshape(groups, SIGNS_PER_GROUP, n)
        patterns = np.arange(SIGN_PATTERNS)[:, None] >> np.arange(SIGNS_PER_GROUP - 1) & 1
        table = (2.0 * patterns - 1.0) @ columns[:, :-1] + columns[:, -1:]
        return Projector(aligned(np.asarray(table.reshape(-1, n), np.float64)), nothing, False)
    if 2 * rank <= n:
        return Projector(nothing, writable(B), False)
    return Projector(nothing, np.ascontiguousarray(np.linalg.qr(B.T, mode="complete")[0][:, rank:].T), True)


def writable(matrix: Array) -> Array:
    """Return the matrix as the kernels take it; a copy if it is read-only."""
    return np.require(matrix, np.float64, ["C", "W"])


def aligned(matrix: Array) -> Array:
    """Return a copy that begins where a line of the cache does: rows are then spread over fewer lines."""
    room = np.empty(matrix.size + NUMBERS_PER_CACHE_LINE)
    first = -(room.ctypes.data // room.itemsize) % NUMBERS_PER_CACHE_LINE
    copy = room[first : first + matrix.size].reshape(matrix.shape)
    copy[:] = matrix
    return copy


class SpsaWorkspace:
    """The arrays of one problem B x = b with orthonormal rows; `projection` is that of B, if it is known already."""

    def __init__(
        self, B: Array, b: Array, bounds: tuple[Array, Array] | None, order: float, projection: Projector | None = None
    ) -> None:
        n = B.shape[1]
        p = int(order) if by_moments(order) else -1
        binomials = np.array([math.comb(p, k) for k in range(p + 1)], np.float64)
        self.direction, self.plus, self.minus = np.empty(n), np.empty(n), np.empty(n)
        self.signs = np.empty(n)
        rows = -(-n // (SIGNS_PER_GROUP * ROWS_PER_PASS)) * ROWS_PER_PASS
        drawn = (self.signs, np.zeros(rows, np.int64), np.zeros(rows))
        room = (np.empty(2 * n), np.empty(n), np.empty((MOMENT_ROOM, MOMENT_BLOCK)), np.empty(p + 2))
        self._arguments = (
            projection or projector(B), (writable(B), b), bounds or (np.empty(0), np.empty(0)), (order, binomials),
            (self.direction, self.plus, self.minus), drawn, room,
        )  # fmt: skip
        self.walk = self.walk_of(_compiled.recover)

    def walk_of(self, kernels: Any) -> Any:
        """Return the record that the kernels of one variant take."""
        return kernels.Walk(*self._arguments)
