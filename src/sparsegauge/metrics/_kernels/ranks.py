"""Sums over sorted rows: coefficients weighted by their ranks, and windows of neighbours.

The rows are those of `_routes.sorted_magnitudes`: ascending and scaled to maxima in [1/2, 1). A row of fewer values
than coefficients has that many zeros more, at its lower end. What is more than 300 decades below the maximum has become
zero by that scaling, which shows only in powers p far below 1.
"""

from __future__ import annotations

import math

from ..._arrays import Array, Indices
from .elementary import any_log, exp_any, expm1, log_near, ratio
from .jit import exact, summing

LARGEST_EXPONENT = 600.0
SMALLEST_REST = 1e-200
SMALLEST_CENTRE = 1e-290  # below, its inverse may overflow, and nothing can cancel


@exact
def _difference(c: float, q: float) -> float:
    return c - q


@summing
def _plain(c: Array, v: Array, q: float) -> tuple[float, float]:
    """Sum (c - q) v and sum c."""
    numerator = denominator = 0.0
    for i in range(len(c)):
        numerator += _difference(c[i], q) * v[i]
        denominator += c[i]
    return numerator, denominator


@summing
def _squares(c: Array, v: Array, q: float) -> tuple[float, float]:
    """Sum (c^2 - q^2) v and sum c^2."""
    numerator = denominator = 0.0
    for i in range(len(c)):
        numerator += _difference(c[i], q) * (c[i] + q) * v[i]
        denominator += c[i] * c[i]
    return numerator, denominator


@summing
def _powers_about(c: Array, v: Array, q: float, p: float) -> tuple[float, float]:
    """Sum ((c/q)^p - 1) v and sum (c/q)^p."""
    unit = 1.0 / q
    numerator = denominator = 0.0
    for i in range(len(c)):
        z, d = ratio(c[i], q, unit, False)
        y, _, _ = log_near(z, d)
        x = expm1(p * y)
        x = x if c[i] > 0.0 else -1.0
        numerator += x * v[i]
        denominator += 1.0 + x
    return numerator, denominator


@summing
def _powers(c: Array, v: Array, p: float) -> tuple[float, float]:
    """Sum (c/max c)^p v and sum (c/max c)^p."""
    unit = 1.0 / c[-1]
    numerator = denominator = 0.0
    for i in range(len(c)):
        x = exp_any(p * any_log(c[i] * unit))
        x = x if c[i] > 0.0 else 0.0
        numerator += x * v[i]
        denominator += x
    return numerator, denominator


@exact
def _weighted(c: Array, v: Array, q: float, rest: float, p: float) -> float:
    """Sum c^p v / sum c^p, where the v of all ranks add up to 0 and those of zeros not stored to `rest`.

    q is the coefficient at which v changes its sign: in sum (c^p - q^p) v no term is negative.
    """
    if p == 1.0:
        numerator, denominator = _plain(c, v, q)
        return (numerator - q * rest) / denominator
    if p == 2.0:
        numerator, denominator = _squares(c, v, q)
        return (numerator - q * q * rest) / denominator
    if q > SMALLEST_CENTRE and p * math.log(c[-1] / q) < LARGEST_EXPONENT:
        numerator, denominator = _powers_about(c, v, q, p)
        return (numerator - rest) / denominator
    numerator, denominator = _powers(c, v, p)
    return numerator / denominator


@exact
def _log_rest(c: Array, u: Array, log_u: Array, p: float) -> float:
    """log(sum c^p u / sum c^p); on a logarithmic scale where the weights may underflow."""
    rest = _weighted(c, u, 0.0, 0.0, p)
    if rest > SMALLEST_REST:
        return math.log(rest)
    largest = -math.inf
    for i in range(len(c)):
        if c[i] > 0.0:
            largest = max(largest, log_u[i] + p * math.log(c[i] / c[-1]))
    total = 0.0
    for i in range(len(c)):
        if c[i] > 0.0:
            total += math.exp(log_u[i] + p * math.log(c[i] / c[-1]) - largest)
    return largest + math.log(total / _powers(c, u, p)[1])


@exact
def weighted_rows(
    x: Array, starts: Indices, chosen: Indices, u: Array, log_u: Array, v: Array, change: int, rests: Array, p: float,
    first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """G = sum c^p v / sum c^p, and log(1 - G), 1 - G = sum c^p u / sum c^p, of the chosen rows, for weights u = 1 - v.

    u[-k] and v[-k] belong to the k-th largest coefficient. v is negative before v[change], or nowhere (change < 0).
    rests[k] is the sum of all v but the last k; it is looked up only where the change lies among these.
    """
    for r in chosen[first:last]:
        c = x[starts[r] : starts[r + 1]]
        out[r] = 0.0
        if len(c) == 0 or c[-1] == 0.0:
            continue
        start = len(v) - len(c)
        if change < start:
            g = _weighted(c, v[start:], 0.0, 0.0, p)
        else:
            g = _weighted(c, v[start:], c[change - start], rests[len(c)], p)
        out[r, 0] = min(g, 1.0)
        out[r, 1] = math.log1p(-out[r, 0]) if g < 0.5 else _log_rest(c, u[start:], log_u[start:], p)


@summing
def _narrowest(c: Array, m: int) -> float:
    width = c[m - 1] - c[0]
    for i in range(len(c) - m + 1):
        width = min(width, c[i + m - 1] - c[i])
    return width


@exact
def window_rows(
    x: Array, starts: Indices, lengths: Indices, windows: Indices, first: int, last: int, out: Array
) -> None:
    """The share of the range that the narrowest window of windows[r] coefficients leaves out; 0 of no range."""
    for r in range(first, last):
        c = x[starts[r] : starts[r + 1]]
        zeros = lengths[r] - len(c)
        out[r] = 0.0
        if len(c) == 0:
            continue
        span = c[-1] - (0.0 if zeros > 0 else c[0])
        if span == 0.0:
            continue
        m = windows[r]
        width = 0.0
        if m > zeros:  # else there is a window of zeros alone
            width = span
            if zeros > 0:
                width = c[m - zeros - 1]
            if m <= len(c):
                width = min(width, _narrowest(c, m))
        out[r] = (span - width) / span
