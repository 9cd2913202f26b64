"""Polynomials that stand in for d^p between two cells of one width, and how wrong they are.

Two cells of width 1 whose left ends lie o apart hold points at distances o + t, t in [-1, 1]. For each o,

    f(t) = ((o + t) / (o + 1))^p

is expanded in Chebyshev polynomials; the sum of the coefficients left out bounds the error of every truncation.
Inside one cell (o = 0) f is |t|^p, or sign(t) |t|^p for the gradient: smooth except at t = 0, so its error falls slowly,
and that is enough where the cell hardly counts.
"""

from __future__ import annotations

from .bits import ldexp
from .vocabulary import Array, Matrix, kernel

DEGREE = 30  # the highest degree in use: beyond it rounding errors win
CHEBYSHEV_NODES = 64


@kernel
def expand(
    offset: int, p: float, odd: bool, nodes: Matrix, to_coefficients: Matrix, in_powers: Matrix, series: Matrix,
    error: Array, coefficients: Matrix,
) -> None:  # fmt: skip
    """For every degree r: error[r], a bound of |f - truncation|, and coefficients[r, m] of (u_B - u_A)^m.

    `series` is (2, CHEBYSHEV_NODES) of room: the values of f, and its Chebyshev coefficients.
    """
    for i in range(CHEBYSHEV_NODES):
        t = nodes[0, i]
        value = (abs(offset + t) / (offset + 1.0)) ** p
        series[0, i] = -value if odd and offset == 0 and t < 0.0 else value
    for k in range(CHEBYSHEV_NODES):
        series[1, k] = 0.0
        if offset == 0 and (k & 1) != odd:  # zero by symmetry, up to rounding
            continue
        for i in range(CHEBYSHEV_NODES):
            series[1, k] += to_coefficients[k, i] * series[0, i]
    tail = 0.0
    if offset <= 1:  # f is not smooth: its coefficients fall like a power of k, and go on beyond the last node
        tail = CHEBYSHEV_NODES * max(abs(series[1, CHEBYSHEV_NODES - 1]), abs(series[1, CHEBYSHEV_NODES - 2]))
    for k in range(CHEBYSHEV_NODES - 1, DEGREE, -1):
        tail += abs(series[1, k])
    for k in range(DEGREE, -1, -1):
        error[k] = tail
        tail += abs(series[1, k])
    for r in range(DEGREE + 1):
        for m in range(DEGREE + 1):
            before = coefficients[r - 1, m] if r > m else 0.0
            coefficients[r, m] = before + series[1, r] * in_powers[r, m] * ldexp(1.0, -m) if m <= r else 0.0
