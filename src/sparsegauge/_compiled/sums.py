"""Sums over the coefficients of a row in any order: powers, logarithms, entropies, and what lies above the mean.

A row's values lie in x[starts[r]:starts[r + 1]], in any order and signed. Rows of zeros alone give zeros. Powers are
those of the magnitudes scaled by a power of two to a maximum in [1/2, 1), which rounds nothing.

Terms are written into a block and then added up in lanes (`total_of`): so each loop vectorises, and the blocks' sums are
added in turn, so that long rows round less. `term` and `other` are BLOCK of room each.
"""

from __future__ import annotations

import math

from .bits import exponent
from .elementary import any_log, exp_any, expm1, log1p, log_ratio
from .lanes import total_of
from .powers import LOWEST, exp, log
from .rows import unit_scale
from .vocabulary import Array, Indices, Matrix, Values, entry, inlined, kernel

BLOCK = 1024
WIDE = -660.0  # the logarithm of a ratio below which the ratio may have underflowed


@kernel
def extremes(x: Values, first: int, last: int) -> tuple[float, float, int]:
    """Return the largest magnitude, the smallest that is not zero (inf if there is none), and how many are not zero."""
    top = 0.0
    bottom = math.inf
    count = 0
    for i in range(first, last):
        c = abs(x[i])
        top = c if c > top else top
        low = c if c > 0.0 else math.inf
        bottom = low if low < bottom else bottom
        count += c > 0.0
    return top, bottom, count


@inlined
def scaled(x: float, once: float, twice: float) -> float:
    """Return |x| times both factors, one after the other: their product may overflow."""
    return abs(x) * once * twice


@entry
def power_rows(x: Values, starts: Indices, term: Array, other: Array, first: int, last: int, out: Matrix) -> None:
    """Write the exponent of the scale, the scaled maximum, and the sums of c, c^2 and c^4."""
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        for k in range(5):
            out[r, k] = 0.0
        top, _, count = extremes(x, low, high)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        out[r, 0] = exponent(top)
        out[r, 1] = top * once * twice
        for start in range(low, high, BLOCK):
            n = min(BLOCK, high - start)
            for i in range(n):
                c = scaled(x[start + i], once, twice)
                term[i] = c
                other[i] = c * c
            out[r, 2] += total_of(term, 0, n)
            out[r, 3] += total_of(other, 0, n)
            for i in range(n):
                term[i] = other[i] * other[i]
            out[r, 4] += total_of(term, 0, n)


@entry
def small_rows(x: Values, starts: Indices, bound: float, first: int, last: int, out: Array) -> None:
    """Write how many stored magnitudes are at most `bound`."""
    for r in range(first, last):
        count = 0
        for i in range(starts[r], starts[r + 1]):
            count += abs(x[i]) <= bound
        out[r] = count


@inlined
def log_one_plus_square(c: float) -> float:
    """Return log(1 + c^2) without an overflow."""
    large = c > 1.0
    inner = 1.0 / c if large else c
    return log1p(inner * inner) + (2.0 * log(c) if large else 0.0)


@entry
def log_one_plus_square_rows(x: Values, starts: Indices, term: Array, first: int, last: int, out: Array) -> None:
    """Write sum log(1 + c^2)."""
    for r in range(first, last):
        out[r] = 0.0
        for start in range(starts[r], starts[r + 1], BLOCK):
            n = min(BLOCK, starts[r + 1] - start)
            for i in range(n):
                term[i] = log_one_plus_square(abs(x[start + i]))
            out[r] += total_of(term, 0, n)


@inlined
def tanh_of(t: float) -> float:
    """Return tanh t for t >= 0."""
    e = expm1(-2.0 * t)
    return -e / (2.0 + e)


@entry
def tanh_rows(x: Values, starts: Indices, a: float, b: float, term: Array, first: int, last: int, out: Array) -> None:
    """Write sum tanh((a c)^b)."""
    log_a = any_log(a)
    for r in range(first, last):
        out[r] = 0.0
        for start in range(starts[r], starts[r + 1], BLOCK):
            n = min(BLOCK, starts[r + 1] - start)
            if b == 1.0:
                for i in range(n):
                    term[i] = tanh_of(abs(x[start + i]) * a)
            else:
                for i in range(n):
                    c = abs(x[start + i])
                    value = tanh_of(exp_any(b * (log_a + any_log(c))))
                    term[i] = value if c > 0.0 else 0.0
            out[r] += total_of(term, 0, n)


@entry
def log_rows(x: Values, starts: Indices, term: Array, other: Array, first: int, last: int, out: Matrix) -> None:
    """Write over the non-zeros: sum log c, and sum c log c in units of the scale."""
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        out[r, 0] = 0.0
        out[r, 1] = 0.0
        top, _, count = extremes(x, low, high)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        for start in range(low, high, BLOCK):
            n = min(BLOCK, high - start)
            for i in range(n):
                c = abs(x[start + i])
                y = any_log(c)
                y = y if c > 0.0 else 0.0
                term[i] = y
                other[i] = scaled(x[start + i], once, twice) * y
            out[r, 0] += total_of(term, 0, n)
            out[r, 1] += total_of(other, 0, n)


@kernel
def sum_powers(x: Values, first: int, last: int, extreme: float, p: float, wide: bool, term: Array) -> float:
    """Return sum (c/extreme)^p over the non-zeros of one block; no term is above 1."""
    n = last - first
    if wide:
        for i in range(n):
            c = abs(x[first + i])
            term[i] = exp(max(p * log_ratio(c, extreme), LOWEST)) if c > 0.0 else 0.0
    else:
        for i in range(n):
            y = p * log(abs(x[first + i]) / extreme)
            y = y if y > LOWEST else LOWEST
            value = exp(y if y < 0.0 else 0.0)
            term[i] = value if x[first + i] != 0.0 else 0.0
    return total_of(term, 0, n)


@entry
def negative_power_rows(x: Values, starts: Indices, p: float, term: Array, first: int, last: int, out: Matrix) -> None:
    """Write the smallest non-zero magnitude b, and sum (c/b)^p, p < 0, over the non-zeros."""
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        top, bottom, count = extremes(x, low, high)
        out[r, 0] = bottom
        out[r, 1] = 0.0
        wide = count > 0 and log_ratio(bottom, top) < WIDE
        for start in range(low, high, BLOCK):
            end = min(start + BLOCK, high)
            if p == -1.0:
                for i in range(end - start):
                    c = abs(x[start + i])
                    value = bottom / c
                    term[i] = value if c > 0.0 else 0.0
                out[r, 1] += total_of(term, 0, end - start)
            else:
                out[r, 1] += sum_powers(x, start, end, bottom, p, wide, term)


@entry
def entropy_rows(x: Values, starts: Indices, term: Array, other: Array, first: int, last: int, out: Array) -> None:
    """Write Shannon's entropy of t = c^2/sum c^2.

    With u = (c/max c)^2 it is log(sum u) - sum u log u / sum u; the maximum itself adds nothing to the second sum and
    1 to the first, so both terms are sums of positive numbers and nothing cancels where one coefficient prevails.
    """
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        out[r] = 0.0
        top, _, count = extremes(x, low, high)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        unit = 1.0 / (top * once * twice)
        below = 0.0
        entropy = 0.0
        ties = 0
        for start in range(low, high, BLOCK):
            n = min(BLOCK, high - start)
            for i in range(n):
                c = abs(x[start + i])
                w = scaled(x[start + i], once, twice) * unit
                u = w * w if c < top else 0.0
                y = u * log(w)
                term[i] = u
                other[i] = -y if u > 0.0 else 0.0
            for i in range(n):
                ties += abs(x[start + i]) == top
            below += total_of(term, 0, n)
            entropy += total_of(other, 0, n)
        others = below + (ties - 1)
        out[r] = math.log1p(others) + 2.0 * entropy / (1.0 + others)


@kernel
def distances_to(
    x: Values, first: int, last: int, zeros: int, once: float, twice: float, mean: float, term: Array, other: Array
) -> tuple[float, float, int, int]:
    """Return sum |c - mean|, sum (c - mean), and how many lie above and below; `zeros` are those not stored."""
    away = zeros * mean
    signed = -zeros * mean
    above = 0
    below = zeros
    for start in range(first, last, BLOCK):
        n = min(BLOCK, last - start)
        for i in range(n):
            d = scaled(x[start + i], once, twice) - mean
            term[i] = d
            other[i] = abs(d)
        for i in range(n):
            above += term[i] > 0.0
            below += term[i] < 0.0
        away += total_of(other, 0, n)
        signed += total_of(term, 0, n)
    return away, signed, above, below


@entry
def deviation_rows(
    x: Values, starts: Indices, lengths: Indices, term: Array, other: Array, first: int, last: int, out: Array
) -> None:
    """Write sum |c - mean| / sum c.

    The mean m is known to rounding only, but then also by how much: the rest of sum (c - m) corrects it. What it is
    still off by, less than the distance of two float64 numbers, brings those above nearer and takes those below away,
    or the other way round, and takes those at m away in any case.
    """
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        out[r] = 0.0
        top, bottom, count = extremes(x, low, high)
        n = lengths[r]
        if count == 0 or (top == bottom and count == n):
            continue
        zeros = n - (high - low)
        once, twice = unit_scale(top)
        away, signed, above, below = distances_to(x, low, high, 0, once, twice, 0.0, term, other)
        mean = signed / n
        away, signed, above, below = distances_to(x, low, high, zeros, once, twice, mean, term, other)
        mean += signed / n
        away, signed, above, below = distances_to(x, low, high, zeros, once, twice, mean, term, other)
        off = signed / n
        out[r] = max(away - off * (above - below) + abs(off) * (n - above - below), 0.0) / (n * mean)
