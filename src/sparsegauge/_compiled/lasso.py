"""The Lasso within bounds, by coordinate descent."""

from __future__ import annotations

import math

from .lanes import add_row, row_dot, row_times
from .vocabulary import Array, Matrix, Values, entry


@entry
def descend_coordinates(
    columns: Matrix, y: Values, penalties: Values, low: Values, high: Values, tolerance: float, sweeps: int, x: Array,
    squares: Array, residual: Array,
) -> int:  # fmt: skip
    """Move x to argmin |A x - y|^2 / 2 + sum penalty_i |x_i| within bounds, one x_i after the other; return the sweeps.

    Row i of `columns` is column i of A. It ends where no x_i moves A x by more than `tolerance`, or after `sweeps`;
    `squares` and `residual` are as long as x and y, and are written.
    """
    n = len(x)
    m = len(y)
    for t in range(m):
        residual[t] = y[t]
    for i in range(n):
        squares[i] = row_dot(columns, i, columns, i, 0, m)
        add_row(columns, i, -x[i], m, residual)
    for sweep in range(sweeps):
        moved = 0.0
        for i in range(n):
            square = squares[i]
            pull = row_times(columns, i, residual, m) + square * x[i]
            size = max(abs(pull) - penalties[i], 0.0) / square if square > 0.0 else 0.0
            new = min(max(math.copysign(size, pull), low[i]), high[i])
            if new != x[i]:
                add_row(columns, i, x[i] - new, m, residual)
                moved = max(moved, abs(new - x[i]) * math.sqrt(square))
                x[i] = new
        if moved <= tolerance:
            return sweep + 1
    return sweeps
