"""Sums over the coefficients of a row in any order: powers, logarithms, entropies, and what lies above the mean.

A row's values lie in x[starts[r]:starts[r + 1]], in any order and signed. Rows of zeros alone give zeros. Powers are
those of the magnitudes scaled by a power of two to a maximum in [1/2, 1), which rounds nothing.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from .elementary import any_log, exp_any, expm1, log1p, log_ratio
from .jit import exact, summing
from .powers import LOWEST, exp, log
from .rows import unit_scale

BLOCK = 4096  # coefficients added up in one go; the blocks' sums are added in turn, so long rows round less
WIDE = -660.0  # the logarithm of a ratio below which the ratio may have underflowed


@summing
def extremes(x: Array) -> tuple[float, float, int]:
    """The largest magnitude, the smallest that is not zero (inf if there is none), and how many are not zero."""
    top = 0.0
    bottom = np.inf
    count = 0
    for i in range(len(x)):
        c = abs(x[i])
        top = max(top, c)
        bottom = min(bottom, c if c > 0.0 else np.inf)
        count += c > 0.0
    return top, bottom, count


@exact
def scaled(x: float, once: float, twice: float) -> float:
    """|x| times both factors, one after the other: their product may overflow."""
    return abs(x) * once * twice


@summing
def _powers(x: Array, once: float, twice: float) -> tuple[float, float, float]:
    first = second = fourth = 0.0
    for i in range(len(x)):
        c = scaled(x[i], once, twice)
        square = c * c
        first += c
        second += square
        fourth += square * square
    return first, second, fourth


@exact
def power_rows(x: Array, starts: Indices, first: int, last: int, out: Array) -> None:
    """The exponent of the scale, the scaled maximum, and the sums of c, c^2 and c^4."""
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        out[r] = 0.0
        top, _, count = extremes(row)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        out[r, 0] = math.frexp(top)[1]
        out[r, 1] = top * once * twice
        for start in range(0, len(row), BLOCK):
            sums = _powers(row[start : start + BLOCK], once, twice)
            out[r, 2] += sums[0]
            out[r, 3] += sums[1]
            out[r, 4] += sums[2]


@summing
def _at_most(x: Array, bound: float) -> int:
    count = 0
    for i in range(len(x)):
        count += abs(x[i]) <= bound
    return count


@exact
def small_rows(x: Array, starts: Indices, bound: float, first: int, last: int, out: Array) -> None:
    """How many stored magnitudes are at most `bound`."""
    for r in range(first, last):
        out[r] = _at_most(x[starts[r] : starts[r + 1]], bound)


@exact
def _log_one_plus_square(c: float) -> float:
    large = c > 1.0
    inner = 1.0 / c if large else c
    return log1p(inner * inner) + (2.0 * log(c) if large else 0.0)


@summing
def _sum_log_one_plus_square(x: Array) -> float:
    total = 0.0
    for i in range(len(x)):
        total += _log_one_plus_square(abs(x[i]))
    return total


@exact
def log_one_plus_square_rows(x: Array, starts: Indices, first: int, last: int, out: Array) -> None:
    """Sum log(1 + c^2), no square overflowing."""
    for r in range(first, last):
        out[r] = 0.0
        for start in range(starts[r], starts[r + 1], BLOCK):
            out[r] += _sum_log_one_plus_square(x[start : min(start + BLOCK, starts[r + 1])])


@exact
def _tanh(t: float) -> float:
    e = expm1(-2.0 * t)
    return -e / (2.0 + e)


@summing
def _sum_tanh(x: Array, a: float, b: float) -> float:
    total = 0.0
    if b == 1.0:
        for i in range(len(x)):
            total += _tanh(abs(x[i]) * a)
    else:
        log_a = any_log(a)
        for i in range(len(x)):
            c = abs(x[i])
            value = _tanh(exp_any(b * (log_a + any_log(c))))
            total += value if c > 0.0 else 0.0
    return total


@exact
def tanh_rows(x: Array, starts: Indices, a: float, b: float, first: int, last: int, out: Array) -> None:
    """Sum tanh((a c)^b)."""
    for r in range(first, last):
        out[r] = 0.0
        for start in range(starts[r], starts[r + 1], BLOCK):
            out[r] += _sum_tanh(x[start : min(start + BLOCK, starts[r + 1])], a, b)


@summing
def _sum_logs(x: Array, once: float, twice: float) -> tuple[float, float]:
    logs = weighted = 0.0
    for i in range(len(x)):
        c = abs(x[i])
        y = any_log(c) if c > 0.0 else 0.0
        logs += y
        weighted += scaled(x[i], once, twice) * y
    return logs, weighted


@exact
def log_rows(x: Array, starts: Indices, first: int, last: int, out: Array) -> None:
    """Over the non-zeros: sum log c, and sum c log c in units of the scale."""
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        out[r] = 0.0
        top, _, count = extremes(row)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        for start in range(0, len(row), BLOCK):
            sums = _sum_logs(row[start : start + BLOCK], once, twice)
            out[r, 0] += sums[0]
            out[r, 1] += sums[1]


@summing
def sum_powers(x: Array, extreme: float, p: float, wide: bool) -> float:
    """Sum (c/extreme)^p over the non-zeros; no term is above 1."""
    total = 0.0
    if wide:
        for i in range(len(x)):
            c = abs(x[i])
            if c > 0.0:
                total += exp(max(p * log_ratio(c, extreme), LOWEST))
    else:
        for i in range(len(x)):
            value = exp(min(max(p * log(abs(x[i]) / extreme), LOWEST), 0.0))
            total += value if x[i] != 0.0 else 0.0
    return total


@summing
def _sum_inverses(x: Array, bottom: float) -> float:
    total = 0.0
    for i in range(len(x)):
        c = abs(x[i])
        total += bottom / c if c > 0.0 else 0.0
    return total


@exact
def negative_power_rows(x: Array, starts: Indices, p: float, first: int, last: int, out: Array) -> None:
    """The smallest non-zero magnitude b, and sum (c/b)^p, p < 0, over the non-zeros."""
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        top, bottom, count = extremes(row)
        out[r, 0], out[r, 1] = bottom, 0.0
        wide = count > 0 and log_ratio(bottom, top) < WIDE
        for start in range(0, len(row), BLOCK):
            block = row[start : start + BLOCK]
            out[r, 1] += _sum_inverses(block, bottom) if p == -1.0 else sum_powers(block, bottom, p, wide)


@summing
def _entropy_sums(x: Array, once: float, twice: float, top: float, unit: float) -> tuple[float, float, int]:
    below = entropy = 0.0
    ties = 0
    for i in range(len(x)):
        c = abs(x[i])
        w = scaled(x[i], once, twice) * unit
        u = w * w if c < top else 0.0
        below += u
        entropy -= u * log(w) if u > 0.0 else 0.0
        ties += c == top
    return below, entropy, ties


@exact
def entropy_rows(x: Array, starts: Indices, first: int, last: int, out: Array) -> None:
    """Shannon's entropy of t = c^2/sum c^2.

    With u = (c/max c)^2 it is log(sum u) - sum u log u / sum u; the maximum itself adds nothing to the second sum and
    1 to the first, so both terms are sums of positive numbers and nothing cancels where one coefficient prevails.
    """
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        out[r] = 0.0
        top, _, count = extremes(row)
        if count == 0:
            continue
        once, twice = unit_scale(top)
        unit = 1.0 / (top * once * twice)
        below = entropy = 0.0
        ties = 0
        for start in range(0, len(row), BLOCK):
            sums = _entropy_sums(row[start : start + BLOCK], once, twice, top, unit)
            below += sums[0]
            entropy += sums[1]
            ties += sums[2]
        others = below + (ties - 1)
        out[r] = math.log1p(others) + 2.0 * entropy / (1.0 + others)


@summing
def _distances(x: Array, once: float, twice: float, mean: float) -> tuple[float, float, int, int]:
    away = signed = 0.0
    above = below = 0
    for i in range(len(x)):
        d = _less(scaled(x[i], once, twice), mean)
        signed += d
        away += abs(d)
        above += d > 0.0
        below += d < 0.0
    return away, signed, above, below


@exact
def _less(c: float, mean: float) -> float:
    return c - mean


@exact
def _distances_of(row: Array, zeros: int, once: float, twice: float, mean: float) -> tuple[float, float, int, int]:
    """Sum |c - mean|, sum (c - mean), and how many lie above and below; `zeros` are those not stored."""
    away, signed, above, below = zeros * mean, -zeros * mean, 0, zeros
    for start in range(0, len(row), BLOCK):
        sums = _distances(row[start : start + BLOCK], once, twice, mean)
        away += sums[0]
        signed += sums[1]
        above += sums[2]
        below += sums[3]
    return away, signed, above, below


@exact
def deviation_rows(x: Array, starts: Indices, lengths: Indices, first: int, last: int, out: Array) -> None:
    """Sum |c - mean| / sum c.

    The mean m is known to rounding only, but then also by how much: the rest of sum (c - m) corrects it. What it is
    still off by, less than the distance of two float64 numbers, brings those above nearer and takes those below away,
    or the other way round, and takes those at m away in any case.
    """
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        out[r] = 0.0
        top, bottom, count = extremes(row)
        if count == 0 or (top == bottom and count == lengths[r]):
            continue
        n = lengths[r]
        once, twice = unit_scale(top)
        total = 0.0
        for start in range(0, len(row), BLOCK):
            total += _powers(row[start : start + BLOCK], once, twice)[0]
        mean = total / n
        mean += _distances_of(row, n - len(row), once, twice, mean)[1] / n
        away, signed, above, below = _distances_of(row, n - len(row), once, twice, mean)
        off = signed / n
        out[r] = max(away - off * (above - below) + abs(off) * (n - above - below), 0.0) / (n * mean)
