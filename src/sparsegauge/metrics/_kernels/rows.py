"""Whole rows: from sorted magnitudes to S_p, zeros factored out.

S_p = z/N + (1 - z/N) S_p(c without its zeros), so that stored zeros and zeros that a sparse array leaves out cost
nothing. A row's values lie in x[starts[r]:starts[r + 1]]; its signal has lengths[r] >= that many coefficients.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from . import gradient, integer, real
from .even import largest, unit_scale
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
def settle_rows(x: Array, starts: Indices, first: int, last: int, nonzero: Indices) -> None:
    """Scale sorted rows in place by powers of two to maxima in [1/2, 1); nonzero[r] is where the zeros end."""
    for r in range(first, last):
        nonzero[r] = first_at_least(x, starts[r], starts[r + 1], SMALLEST)
        if nonzero[r] < starts[r + 1]:
            once, twice = unit_scale(x[starts[r + 1] - 1])
            for i in range(nonzero[r], starts[r + 1]):
                x[i] = x[i] * once * twice


@exact
def unsettle_rows(magnitudes: Array, starts: Indices, slope: Array) -> None:
    """The gradient of scaled rows in place as that of the rows themselves: S_p(s c) = S_p(c), so it scales by s."""
    for r in range(len(starts) - 1):
        top = largest(magnitudes[starts[r] : starts[r + 1]])
        if top > 0.0:
            once, twice = unit_scale(top)
            for i in range(starts[r], starts[r + 1]):
                slope[i] = slope[i] * once * twice


@exact
def with_zeros(sparsity: float, nonzeros: int, length: int) -> float:
    """S_p of a signal of `length` from S_p of its non-zeros."""
    return (length - nonzeros + nonzeros * sparsity) / length


@summing
def gini(c: Array) -> float:
    """sum_j (c_{j+1} - c_j) j (N - j) / (N sum c): positive terms only."""
    n = len(c)
    numerator = 0.0
    total = 0.0
    for j in range(1, n):
        numerator += (c[j] - c[j - 1]) * (j * float(n - j))
    for j in range(n):
        total += c[j]
    return numerator / (n * total)


@exact
def gini_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, zero: float, first: int, last: int, out: Array
) -> None:
    """S_1 of sorted rows."""
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[r] = with_zeros(gini(c), len(c), lengths[r]) if len(c) > 0 else zero


@exact
def finish_integer(c: Array, states: Array, scale: float, binomials: Array) -> float:
    """S_p of a sorted row without zeros from the states of its chunks."""
    p = len(binomials) - 1
    numerator = integer.fold(c, states, scale, binomials)
    denominator = sum_integer_powers(c, p, np.empty((2, integer.SHORT)))
    return integer.finish(numerator, denominator, len(c), p * integer.range_exponent(c))


@exact
def integer_sparsity(c: Array, binomials: Array) -> float:
    """S_p, p = len(binomials) - 1, of a sorted row without zeros."""
    scale = math.ldexp(1.0, -integer.range_exponent(c))
    chunks = (len(c) + integer.CHUNK - 1) // integer.CHUNK
    states = np.empty((chunks, 3, len(binomials)))
    integer.chunk_states(c, scale, binomials, 0, chunks, states)
    return finish_integer(c, states, scale, binomials)


@exact
def integer_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, binomials: Array,
    zero: float, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """S_p, p = len(binomials) - 1, of sorted rows."""
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[r] = with_zeros(integer_sparsity(c, binomials), len(c), lengths[r]) if len(c) > 0 else zero


@exact
def finish_real(c: Array, p: float, numerator: float) -> float:
    """S_p of a sorted row without zeros from its numerator in units of its range."""
    width = c[-1] - c[0]
    if width == 0.0:
        return 0.0
    return numerator / (len(c) * sum_real_powers(c, p, 1.0 / c[-1])) * (width / c[-1]) ** p


@exact
def real_sparsity(c: Array, p: float) -> float:
    """S_p at a real order of a sorted row without zeros."""
    if c[0] == c[-1]:
        return 0.0
    return finish_real(c, p, real.numerator(c, p))


@exact
def real_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, p: float,
    zero: float, first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """S_p at a real order of sorted rows."""
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[r] = with_zeros(real_sparsity(c, p), len(c), lengths[r]) if len(c) > 0 else zero


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
def gradient_rows(
    x: Array, nonzero: Indices, starts: Indices, lengths: Indices, p: float, binomials: Array, fewer: Array,
    first: int, last: int, out: Array,
) -> None:  # fmt: skip
    """dS_p/dc at every magnitude of sorted, scaled rows: 0 at zeros, nan where all are zero.

    `binomials` is the table of p and `fewer` that of p - 1, both empty for a real order.
    """
    for r in range(first, last):
        c = x[nonzero[r] : starts[r + 1]]
        out[starts[r] : starts[r + 1]] = 0.0 if len(c) > 0 else np.nan
        if len(c) == 0:
            continue
        if p == 1.0:
            sparsity = gini(c)
        elif len(binomials) > 0:
            sparsity = integer_sparsity(c, binomials)
        else:
            sparsity = real_sparsity(c, p)
        slope = np.empty(len(c))
        unit = gradient.slopes(c, p, fewer, slope)
        gradient.assemble(c, p, lengths[r], sparsity, unit, slope, out[nonzero[r] : starts[r + 1]])
