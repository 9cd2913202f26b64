"""Whole rows: from sorted magnitudes to S_p, zeros factored out.

S_p = z/N + (1 - z/N) S_p(c without its zeros), so that stored zeros and zeros that a sparse array leaves out cost
nothing. A row's values lie in x[starts[r]:starts[r + 1]]; its signal has lengths[r] >= that many coefficients.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from . import gradient, integer, real
from .jit import exact, summing
from .powers import sum_integer_powers, sum_real_powers
from .tree import first_at_least

SMALLEST = 5e-324


@exact
def sort_rows(x: Array, starts: Indices, first: int, last: int) -> None:
    """Sort every row in place: for rows of different lengths."""
    for r in range(first, last):
        x[starts[r] : starts[r + 1]].sort()


@exact
def unit_scale(value: float) -> tuple[float, float]:
    """Two powers of two whose product brings `value` into [1/2, 1): of a subnormal one alone would overflow."""
    exponent = -math.frexp(value)[1]
    half = exponent // 2
    return math.ldexp(1.0, half), math.ldexp(1.0, exponent - half)


@exact
def settle_rows(x: Array, starts: Indices, first: int, last: int, nonzero: Indices) -> None:
    """Scale sorted rows in place by powers of two to maxima in [1/2, 1); nonzero[r] is where the zeros end."""
    for r in range(first, last):
        nonzero[r] = starts[r]
        if starts[r] < starts[r + 1] and x[starts[r]] == 0.0:
            nonzero[r] = first_at_least(x, starts[r], starts[r + 1], SMALLEST)
        if nonzero[r] < starts[r + 1]:
            once, twice = unit_scale(x[starts[r + 1] - 1])
            for i in range(nonzero[r], starts[r + 1]):
                x[i] = x[i] * once * twice


@exact
def with_zeros(sparsity: float, nonzeros: int, length: int) -> float:
    """S_p of a signal of `length` from S_p of its non-zeros; rounding does not take it beyond 1 - 1/N."""
    if nonzeros < length:
        sparsity = (length - nonzeros + nonzeros * sparsity) / length
    return min(sparsity, (length - 1) / length)


@summing
def gini_numerator(c: Array) -> float:
    """num_1 = sum_j (c_{j+1} - c_j) j (N - j): positive terms only."""
    n = len(c)
    total = 0.0
    for j in range(1, n):
        total += (c[j] - c[j - 1]) * (j * float(n - j))
    return total


@summing
def gini(c: Array) -> float:
    """S_1 of a sorted row without zeros."""
    total = 0.0
    for j in range(len(c)):
        total += c[j]
    return gini_numerator(c) / (len(c) * total)


@exact
def gini_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, zero: float, first: int, last: int, out: Array
) -> None:
    """S_1 of sorted rows."""
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[r] = with_zeros(gini(c), len(c), lengths[r]) if len(c) > 0 else zero


@exact
def integer_numerator(c: Array, binomials: Array) -> float:
    """num_p, p = len(binomials) - 1, of a sorted row, in units of 2^(p range_exponent)."""
    scale = math.ldexp(1.0, -integer.range_exponent(c))
    chunks = (len(c) + integer.CHUNK - 1) // integer.CHUNK
    states = np.empty((chunks, 3, len(binomials)))
    integer.chunk_states(c, scale, binomials, 0, chunks, states)
    return integer.fold(c, states, scale, binomials)


@exact
def finish_integer(c: Array, p: int, numerator: float) -> float:
    """S_p of a sorted row without zeros from its numerator in units of 2^(p range_exponent)."""
    denominator = sum_integer_powers(c, p, np.empty((2, integer.SHORT)))
    return integer.finish(numerator, denominator, len(c), p * integer.range_exponent(c))


@exact
def integer_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, binomials: Array,
    zero: float, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """S_p, p = len(binomials) - 1, of sorted rows; short ones go the way of `integer.short_rows`, one by one."""
    p = len(binomials) - 1
    alone = np.empty(1)
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        stored = starts[r + 1] - starts[r]
        if len(c) == 0:
            out[r] = zero
        elif stored <= integer.SHORT and p <= integer.SHORT_ORDER:
            integer.short_rows(x[starts[r] : starts[r + 1]].reshape((1, stored)), p, zero, 0, 1, alone)
            out[r] = with_zeros(alone[0], stored, lengths[r])
        else:
            out[r] = with_zeros(finish_integer(c, p, integer_numerator(c, binomials)), len(c), lengths[r])


@exact
def finish_real(c: Array, p: float, numerator: float) -> float:
    """S_p of a sorted row without zeros from its numerator in units of its range."""
    return numerator / (len(c) * sum_real_powers(c, p, 1.0 / c[-1])) * ((c[-1] - c[0]) / c[-1]) ** p


@exact
def _longest(starts: Indices, first: int, last: int) -> int:
    longest = 0
    for r in range(first, last):
        longest = max(longest, starts[r + 1] - starts[r])
    return longest


@exact
def real_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, p: float,
    zero: float, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """S_p at a real order of sorted rows."""
    work = real.workspace_for(_longest(starts, first, last))
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[r] = with_zeros(finish_real(c, p, real.numerator(work, c, p)), len(c), lengths[r]) if len(c) > 0 else zero


@exact
def zero_fraction_rows(
    x: Array, starts: Indices, lengths: Indices, zero: float, first: int, last: int, out: Array
) -> None:
    """S_inf, the limit of large orders: the share of zeros, stored or not."""
    for r in range(first, last):
        nonzeros = 0
        for i in range(starts[r], starts[r + 1]):
            nonzeros += x[i] != 0.0
        out[r] = (lengths[r] - nonzeros) / lengths[r] if nonzeros > 0 else zero


@exact
def _start_gradient(row: Array, nonzeros: int) -> None:
    row[:] = 0.0 if nonzeros > 0 else np.nan


@exact
def integer_gradient_rows(
    x: Array, unscaled: Array, nonzero: Indices, starts: Indices, lengths: Indices, binomials: Array, fewer: Array,
    first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """dS_p/dc at every magnitude of sorted, scaled rows: 0 at zeros, nan where all are zero.

    `unscaled` are the same rows before the scaling, `binomials` is the table of p and `fewer` that of p - 1.
    """
    p = len(binomials) - 1
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        _start_gradient(out[starts[r] : starts[r + 1]], len(c))
        if len(c) == 0:
            continue
        slope = np.empty(len(c))
        if p == 1:
            numerator = gini_numerator(c)
            unit = 1.0
            gradient.rank_slopes(unscaled[nonzero[r] : starts[r + 1]], slope)  # scaling may make ties of tiny values
        else:
            numerator = integer_numerator(c, binomials)
            unit = gradient.integer_slopes(c, fewer, slope)
        scale = unit_scale(unscaled[starts[r + 1] - 1])
        gradient.assemble(c, p, lengths[r], numerator, unit, slope, scale, out[nonzero[r] : starts[r + 1]])


@exact
def real_gradient_rows(
    x: Array, unscaled: Array, nonzero: Indices, starts: Indices, lengths: Indices, p: float,
    first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """The same at a real order p > 1."""
    sums = real.workspace_for(_longest(starts, first, last))
    slopes = real.workspace_for(_longest(starts, first, last))  # its polynomials are those of p - 1
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        _start_gradient(out[starts[r] : starts[r + 1]], len(c))
        if len(c) == 0:
            continue
        slope = np.empty(len(c))
        numerator = real.numerator(sums, c, p)
        unit = gradient.real_slopes(slopes, c, p - 1.0, slope)
        scale = unit_scale(unscaled[starts[r + 1] - 1])
        gradient.assemble(c, p, lengths[r], numerator, unit, slope, scale, out[nonzero[r] : starts[r + 1]])
