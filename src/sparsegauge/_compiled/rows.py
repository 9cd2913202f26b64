"""Whole rows: from sorted magnitudes to S_p, zeros factored out.

S_p = z/N + (1 - z/N) S_p(c without its zeros), so that stored zeros and zeros that a sparse array leaves out cost
nothing. A row's values lie in x[starts[r]:starts[r + 1]]; its signal has lengths[r] >= that many coefficients.
"""

from __future__ import annotations

import math

from .bits import exponent, ldexp, scale_to_unit
from .gradient import (
    assemble_slopes,
    in_units,
    mirror,
    rank_slopes,
    real_slopes,
    subtract_mirrored,
)
from .integer import (
    FOLDED,
    SHORT_ORDER,
    SHORT_ROW,
    finish_fraction,
    fold_chunks,
    join_chunks,
    left_sums,
    range_exponent,
    short_rows,
)
from .kernel_tolerances import HUGE, TINY
from .lanes import LANES, join_lanes, total_of
from .powers import sum_integer_powers, sum_real_powers
from .real import real_numerator
from .tree import Workspace, first_at_least
from .vocabulary import Array, Cube, Indices, Lanes, Matrix, Values, entry, inlined, kernel

SMALLEST = 5e-324


@entry
@inlined
def unit_scale(value: float) -> tuple[float, float]:
    """Return two powers of two whose product brings `value` into [1/2, 1): for a subnormal one would overflow."""
    if TINY < value < HUGE:
        return scale_to_unit(value), 1.0
    power = -exponent(value)
    half = power >> 1
    return ldexp(1.0, half), ldexp(1.0, power - half)


@entry
def settle_rows(x: Array, starts: Indices, first: int, last: int, nonzero: Indices) -> None:
    """Scale sorted rows in place by powers of two to maxima in [1/2, 1); nonzero[r] is where the zeros end."""
    for r in range(first, last):
        low, high = starts[r], starts[r + 1]
        nonzero[r] = low
        if low < high and x[low] == 0.0:
            nonzero[r] = first_at_least(x, low, high, SMALLEST)
        if nonzero[r] < high:
            once, twice = unit_scale(x[high - 1])
            for i in range(nonzero[r], high):
                x[i] = x[i] * once * twice


@entry
@inlined
def with_zeros(sparsity: float, nonzeros: int, length: int) -> float:
    """Return S_p of a signal of `length` from S_p of its non-zeros; rounding does not take it beyond 1 - 1/N."""
    if nonzeros < length:
        sparsity = (length - nonzeros + nonzeros * sparsity) / length
    return min(sparsity, (length - 1) / length)


@kernel
def gini_numerator(c: Values, first: int, last: int) -> float:
    """Return num_1 = sum_j (c_{j+1} - c_j) j (N - j): positive terms only."""
    n = last - first
    lane: Lanes = [0.0] * LANES
    weight: Lanes = [0.0] * LANES  # j of each lane, as a float: whole numbers do not vectorise
    rest = 0.0
    total = float(n)
    for k in range(LANES):
        weight[k] = k + 1.0
    j = 1
    while j + LANES <= n:
        for k in range(LANES):
            lane[k] += (c[first + j + k] - c[first + j + k - 1]) * (weight[k] * (total - weight[k]))
            weight[k] += 8.0
        j += LANES
    while j < n:
        rest += (c[first + j] - c[first + j - 1]) * (j * (total - j))
        j += 1
    return join_lanes(lane) + rest


@entry
def gini_rows(
    x: Values, nonzero: Indices, starts: Indices, lengths: Indices, zero: float, first: int, last: int, out: Array
) -> None:
    """Write S_1 of sorted rows."""
    for r in range(first, last):
        low, high = nonzero[r], starts[r + 1]
        out[r] = zero
        if low < high:
            gini = gini_numerator(x, low, high) / ((high - low) * total_of(x, low, high))
            out[r] = with_zeros(gini, high - low, lengths[r])


@entry
def finish_integer(c: Values, first: int, last: int, p: int, numerator: float, base: Array, power: Array) -> float:
    """Return S_p of a sorted row without zeros from its numerator in units of 2^(p range_exponent)."""
    denominator = sum_integer_powers(c, first, last, p, base, power)
    return finish_fraction(numerator, denominator, last - first, p * range_exponent(c, first, last))


@kernel
def integer_numerator(
    c: Values, first: int, last: int, binomials: Matrix, room: Matrix, sums: Matrix, states: Cube
) -> float:
    """Return num_p, p = len(binomials) - 1, of a sorted row, in units of 2^(p range_exponent)."""
    scale = ldexp(1.0, -range_exponent(c, first, last))
    chunks = (last - first + FOLDED - 1) // FOLDED
    fold_chunks(c, first, last, scale, binomials, room, sums, 0, chunks, states)
    return join_chunks(c, first, last, states[:chunks], scale, binomials, sums)


@entry
def integer_rows(
    x: Values, nonzero: Indices, starts: Indices, lengths: Indices, binomials: Matrix, zero: float, room: Matrix,
    sums: Matrix, states: Cube, gaps: Array, a: Array, exponents: Indices, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """Write S_p, p = len(binomials) - 1, of sorted rows; short ones go the way of `short_rows`, one by one.

    Room: that of `fold_chunks`, states for the chunks of the longest row, and that of `short_rows`.
    """
    p = len(binomials) - 1
    for r in range(first, last):
        low, high = nonzero[r], starts[r + 1]
        stored = high - starts[r]
        if low == high:
            out[r] = zero
        elif stored <= SHORT_ROW and p <= SHORT_ORDER:
            short_rows(x[starts[r] :], stored, p, zero, gaps, a, exponents, 0, 1, out[r:])
            out[r] = with_zeros(out[r], stored, lengths[r])
        else:
            numerator = integer_numerator(x, low, high, binomials, room, sums, states)
            sparsity = finish_integer(x, low, high, p, numerator, room[0], room[1])
            out[r] = with_zeros(sparsity, high - low, lengths[r])


@entry
def finish_real(c: Values, first: int, last: int, p: float, numerator: float) -> float:
    """Return S_p of a sorted row without zeros from its numerator in units of its range."""
    top = c[last - 1]
    share = numerator / ((last - first) * sum_real_powers(c, first, last, p, 1.0 / top))
    return share * ((top - c[first]) / top) ** p


@entry
def real_rows(
    x: Values, nonzero: Indices, starts: Indices, lengths: Indices, p: float, zero: float, work: Workspace,
    points: Array, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """Write S_p at a real order of sorted rows; `points` has room for the longest and LANES more."""
    for r in range(first, last):
        low, high = nonzero[r], starts[r + 1]
        out[r] = zero
        if low < high:
            sparsity = finish_real(x, low, high, p, real_numerator(work, x, low, high, p, points))
            out[r] = with_zeros(sparsity, high - low, lengths[r])


@entry
def zero_fraction_rows(
    x: Values, starts: Indices, lengths: Indices, zero: float, first: int, last: int, out: Array
) -> None:
    """Write S_inf, the limit of large orders: the share of zeros, stored or not."""
    for r in range(first, last):
        nonzeros = 0
        for i in range(starts[r], starts[r + 1]):
            nonzeros += x[i] != 0.0
        out[r] = (lengths[r] - nonzeros) / lengths[r] if nonzeros > 0 else zero


@kernel
def start_gradient(out: Array, first: int, last: int, nonzeros: int) -> None:
    """Write 0 for zeros, or nan where all are zero."""
    for i in range(first, last):
        out[i] = 0.0 if nonzeros > 0 else math.nan


@entry
def integer_gradient_rows(
    x: Values, unscaled: Values, nonzero: Indices, starts: Indices, lengths: Indices, binomials: Matrix, fewer: Matrix,
    room: Matrix, sums: Matrix, states: Cube, slope: Array, scaled: Array, right: Array, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """Write dS_p/dc at every magnitude of sorted, scaled rows: 0 at zeros, nan where all are zero.

    `unscaled` are the same rows before the scaling, `binomials` is the table of p and `fewer` that of p - 1. Room: that
    of `integer_rows`, and `slope`, `scaled`, `right` of the length of the longest row.
    """
    p = len(binomials) - 1
    for r in range(first, last):
        low, high = nonzero[r], starts[r + 1]
        n = high - low
        start_gradient(out, starts[r], high, n)
        if n == 0:
            continue
        if p == 1:
            numerator = gini_numerator(x, low, high)
            unit = 1.0
            rank_slopes(unscaled, low, high, slope)  # scaling may make ties of tiny values
        else:
            numerator = integer_numerator(x, low, high, binomials, room, sums, states)
            unit = ldexp(1.0, range_exponent(x, low, high))
            in_units(x, low, high, unit, scaled)
            left_sums(scaled[:n], fewer, room, sums, slope)
            mirror(x, low, high, unit, scaled)
            left_sums(scaled[:n], fewer, room, sums, right)
            subtract_mirrored(slope, right, n)
        once, twice = unit_scale(unscaled[high - 1])
        assemble_slopes(x, low, high, p, lengths[r], numerator, unit, slope, once, twice, out)


@entry
def real_gradient_rows(
    x: Values, unscaled: Values, nonzero: Indices, starts: Indices, lengths: Indices, p: float, work: Workspace,
    lower: Workspace, points: Array, slope: Array, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """Write the same at a real order p > 1; `lower` is the workspace of p - 1."""
    for r in range(first, last):
        low, high = nonzero[r], starts[r + 1]
        start_gradient(out, starts[r], high, high - low)
        if low < high:
            numerator = real_numerator(work, x, low, high, p, points)
            unit = real_slopes(lower, x, low, high, p - 1.0, points, slope)
            once, twice = unit_scale(unscaled[high - 1])
            assemble_slopes(x, low, high, p, lengths[r], numerator, unit, slope, once, twice, out)
