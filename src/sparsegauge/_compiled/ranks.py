"""Sums over sorted rows: coefficients weighted by their ranks, and windows of neighbours.

The rows are those of `sorted_magnitudes` in `metrics/_dispatch.py`: ascending and scaled to maxima in [1/2, 1). A row of fewer values
than coefficients has that many zeros more, at its lower end. What is more than 300 decades below the maximum has become
zero by that scaling, which shows only in powers p far below 1.
"""

from __future__ import annotations

import math

from .dispersion import LARGEST_EXPONENT
from .elementary import any_log, exp_any, expm1, log_near
from .kernel_tolerances import SMALLEST_CENTRE, SMALLEST_REST
from .lanes import total_of
from .sums import BLOCK
from .vocabulary import Array, Indices, Matrix, Values, entry, inlined, kernel

PLAIN, SQUARES, ABOUT_CENTRE, UNCENTRED = 0, 1, 2, 3


@inlined
def write_ranked(
    c: Values, start: int, n: int, v: Values, at: int, q: float, p: float, term: Array, other: Array, way: int
) -> None:
    """Write the terms of sum (c^p - q^p) v and of sum c^p of one block, in the units of a literal `way`."""
    unit = 1.0 / q if q > 0.0 else 0.0  # not needed where q may be 0
    for i in range(n):
        x = c[start + i]
        if way == PLAIN:
            term[i] = (x - q) * v[at + i]
            other[i] = x
        elif way == SQUARES:
            term[i] = (x - q) * (x + q) * v[at + i]
            other[i] = x * x
        elif way == ABOUT_CENTRE:
            power = expm1(p * log_near(x * unit, (x - q) * unit))
            power = power if x > 0.0 else -1.0
            term[i] = power * v[at + i]
            other[i] = 1.0 + power
        else:
            power = exp_any(p * any_log(x * unit))
            power = power if x > 0.0 else 0.0
            term[i] = power * v[at + i]
            other[i] = power


@kernel
def ranked_sums(
    c: Values, first: int, last: int, v: Values, at: int, q: float, p: float, way: int, term: Array, other: Array
) -> tuple[float, float]:
    """Return both sums over c[first:last], whose weights start at v[at]; `q` is max c where nothing is subtracted."""
    numerator = 0.0
    denominator = 0.0
    for start in range(first, last, BLOCK):
        n = min(BLOCK, last - start)
        here = at + start - first
        if way == PLAIN:
            write_ranked(c, start, n, v, here, q, p, term, other, PLAIN)
        elif way == SQUARES:
            write_ranked(c, start, n, v, here, q, p, term, other, SQUARES)
        elif way == ABOUT_CENTRE:
            write_ranked(c, start, n, v, here, q, p, term, other, ABOUT_CENTRE)
        else:
            write_ranked(c, start, n, v, here, q, p, term, other, UNCENTRED)
        numerator += total_of(term, 0, n)
        denominator += total_of(other, 0, n)
    return numerator, denominator


@kernel
def weighted_share(
    c: Values, first: int, last: int, v: Values, at: int, q: float, rest: float, p: float, term: Array, other: Array
) -> float:
    """Return sum c^p v / sum c^p, where the v of all ranks add up to 0 and those of zeros not stored to `rest`.

    q is the coefficient at which v changes its sign: in sum (c^p - q^p) v no term is negative.
    """
    top = c[last - 1]
    if p == 1.0:
        numerator, denominator = ranked_sums(c, first, last, v, at, q, p, PLAIN, term, other)
        return (numerator - q * rest) / denominator
    if p == 2.0:
        numerator, denominator = ranked_sums(c, first, last, v, at, q, p, SQUARES, term, other)
        return (numerator - q * q * rest) / denominator
    if q > SMALLEST_CENTRE and p * math.log(top / q) < LARGEST_EXPONENT:
        numerator, denominator = ranked_sums(c, first, last, v, at, q, p, ABOUT_CENTRE, term, other)
        return (numerator - rest) / denominator
    numerator, denominator = ranked_sums(c, first, last, v, at, top, p, UNCENTRED, term, other)
    return numerator / denominator


@kernel
def log_rest(
    c: Values, first: int, last: int, u: Values, log_u: Values, at: int, p: float, term: Array, other: Array
) -> float:
    """Return log(sum c^p u / sum c^p); on a logarithmic scale where the weights may underflow."""
    rest = weighted_share(c, first, last, u, at, 0.0, 0.0, p, term, other)
    if rest > SMALLEST_REST:
        return math.log(rest)
    top = c[last - 1]
    largest = -math.inf
    for i in range(first, last):
        if c[i] > 0.0:
            largest = max(largest, log_u[at + i - first] + p * math.log(c[i] / top))
    total = 0.0
    for i in range(first, last):
        if c[i] > 0.0:
            total += math.exp(log_u[at + i - first] + p * math.log(c[i] / top) - largest)
    _, denominator = ranked_sums(c, first, last, u, at, top, p, UNCENTRED, term, other)
    return largest + math.log(total / denominator)


@entry
def weighted_rows(
    x: Values, starts: Indices, chosen: Indices, u: Values, log_u: Values, v: Values, change: int, rests: Values, p: float,
    term: Array, other: Array, first: int, last: int, out: Matrix,
) -> None:  # fmt: skip
    """Write G = sum c^p v / sum c^p, and log(1 - G), 1 - G = sum c^p u / sum c^p, of the chosen rows, for u = 1 - v.

    u[-k] and v[-k] belong to the k-th largest coefficient. v is negative before v[change], or nowhere (change < 0).
    rests[k] is the sum of all v but the last k; it is looked up only where the change lies among these.
    """
    for index in range(first, last):
        r = chosen[index]
        low, high = starts[r], starts[r + 1]
        out[r, 0] = 0.0
        out[r, 1] = 0.0
        if low == high or x[high - 1] == 0.0:
            continue
        at = len(v) - (high - low)
        if change < at:
            g = weighted_share(x, low, high, v, at, 0.0, 0.0, p, term, other)
        else:
            g = weighted_share(x, low, high, v, at, x[low + change - at], rests[high - low], p, term, other)
        out[r, 0] = min(g, 1.0)
        if g < 0.5:
            out[r, 1] = math.log1p(-out[r, 0])
        else:
            out[r, 1] = log_rest(x, low, high, u, log_u, at, p, term, other)


@entry
def window_rows(
    x: Values, starts: Indices, lengths: Indices, windows: Indices, first: int, last: int, out: Array
) -> None:
    """Write the share of the range that the narrowest window of windows[r] coefficients leaves out; 0 of no range."""
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        n = high - low
        zeros = lengths[r] - n
        out[r] = 0.0
        if n == 0:
            continue
        span = x[high - 1] - (0.0 if zeros > 0 else x[low])
        if span == 0.0:
            continue
        m = windows[r]
        width = 0.0
        if m > zeros:  # else there is a window of zeros alone
            width = x[low + m - zeros - 1] if zeros > 0 else span
            if m <= n:
                for i in range(low, high - m + 1):
                    width = min(width, x[i + m - 1] - x[i])
        out[r] = (span - width) / span
