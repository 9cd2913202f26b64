"""Polynomials that stand in for d^p between two cells of one width, and how wrong they are.

Two cells of width 1 whose left ends lie o apart hold points at distances o + t, t in [-1, 1]. For each o,

    f(t) = ((o + t) / (o + 1))^p

is expanded in Chebyshev polynomials; the sum of the coefficients left out bounds the error of every truncation.
Inside one cell (o = 0) f is |t|^p, or sign(t) |t|^p for the gradient: smooth but for t = 0, so its error falls slowly,
and that is enough where the cell hardly counts.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array
from .jit import exact

DEGREE = 30  # the highest degree in use: beyond it rounding errors win
NODES = 64

_angles = math.pi * (np.arange(NODES) + 0.5) / NODES
CHEBYSHEV_NODES = np.cos(_angles)
TO_COEFFICIENTS = np.cos(np.outer(np.arange(NODES), _angles)) * (2.0 / NODES)
TO_COEFFICIENTS[0] /= 2.0


def _chebyshev_in_powers() -> Array:
    """Row k: the coefficients of T_k(t) by powers of t."""
    table = np.zeros((DEGREE + 1, DEGREE + 1))
    table[0, 0] = table[1, 1] = 1.0
    for k in range(2, DEGREE + 1):
        table[k, 1:] = 2.0 * table[k - 1, :-1]
        table[k] -= table[k - 2]
    return table


IN_POWERS = _chebyshev_in_powers()
SIGNED_BINOMIALS = np.array([[(-1.0) ** k * math.comb(m, k) for k in range(DEGREE + 1)] for m in range(DEGREE + 1)])


@exact
def expand(offset: int, p: float, odd: bool, error: Array, coefficients: Array) -> None:
    """For every degree r: error[r], a bound of |f - truncation|, and coefficients[r, m] of (u_B - u_A)^m."""
    values = np.empty(NODES)
    for i in range(NODES):
        t = CHEBYSHEV_NODES[i]
        values[i] = (abs(offset + t) / (offset + 1.0)) ** p
        if odd and offset == 0 and t < 0.0:
            values[i] = -values[i]
    series = np.zeros(NODES)
    for k in range(NODES):
        if offset == 0 and (k & 1) != odd:  # zero by symmetry, but for rounding
            continue
        for i in range(NODES):
            series[k] += TO_COEFFICIENTS[k, i] * values[i]
    # at offsets 0 and 1 f is not smooth: its coefficients fall like a power of k, and go on beyond the last node
    tail = NODES * max(abs(series[NODES - 1]), abs(series[NODES - 2])) if offset <= 1 else 0.0
    for k in range(NODES - 1, DEGREE, -1):
        tail += abs(series[k])
    for k in range(DEGREE, -1, -1):
        error[k] = tail
        tail += abs(series[k])
    coefficients[:] = 0.0
    for r in range(DEGREE + 1):
        for m in range(r + 1):
            before = coefficients[r - 1, m] if r > m else 0.0
            coefficients[r, m] = before + series[r] * IN_POWERS[r, m] * 2.0**-m
