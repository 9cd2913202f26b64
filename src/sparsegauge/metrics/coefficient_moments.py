"""Mean and standard deviation of every coefficient of a dataset, merged block by block.

After Chan, Golub and LeVeque, "Algorithms for computing the sample variance", The American Statistician 37(3), 1983,
with three additions that keep the result independent of the blocks and right over all of float64's range:

- each coefficient is measured in a power of two near its largest magnitude, so that no square over- or underflows;
- mean and sum of squares are unevaluated sums of two floats, so that rounding does not pile up from merge to merge,
  and 1e9 + noise is centred to the digits of the noise;
- the smallest and the largest value are kept, so that "constant" is a fact and not a guess from a small variance.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices

BLOCK_COLUMNS = 1024  # of more, too few rows are in a block for a merge to be cheap next to its sums
BLOCK_VALUES = 2**16  # half a MB: what is made of a block stays in the cache
LARGEST_EXPONENT = 1000  # 2^-1000 and 2^1000 are both float64, and so are the squares of what is measured in them


class CoefficientMoments(NamedTuple):
    """What is known of every coefficient; `mean` and `squares` are in units of `unit`.

    `mean` and `squares` (the sum of squared distances from the mean) have two rows, whose sum is the value.
    """

    seen: Indices
    low: Array
    high: Array
    unit: Array
    mean: Array
    squares: Array


def moments_of(x: Array) -> CoefficientMoments:
    """Return the moments of x, computed in blocks that depend on its shape alone."""
    tiles = []
    for left in range(0, x.shape[1], BLOCK_COLUMNS):
        columns = x[:, left : left + BLOCK_COLUMNS]
        height = BLOCK_VALUES // columns.shape[1]
        blocks = (_moments_of_block(columns[top : top + height]) for top in range(0, len(x), height))
        tiles.append(functools.reduce(merge, blocks))
    return CoefficientMoments(*(np.concatenate(field, axis=-1) for field in zip(*tiles, strict=True)))


@np.errstate(under="ignore")
def _moments_of_block(x: Array) -> CoefficientMoments:
    """Return the moments of a block, in three passes: a rough mean, its correction, and squares about the mean."""
    x = np.ascontiguousarray(x.T)  # NumPy adds up in pairs along contiguous memory only
    present = ~np.isnan(x)
    seen = present.sum(axis=1)
    low = np.fmin.reduce(x, axis=1, initial=math.inf)
    high = np.fmax.reduce(x, axis=1, initial=-math.inf)
    unit = _unit(low, high)
    x = np.where(present, x * (1 / unit[:, None]), 0.0)
    n = np.maximum(seen, 1)
    rough = x.sum(axis=1) / n
    distances = np.where(present, x - rough[:, None], 0.0)
    lack = distances.sum(axis=1) / n
    distances = np.where(present, distances - lack[:, None], 0.0)
    squares = np.square(distances).sum(axis=1)
    return CoefficientMoments(seen, low, high, unit, _two_sum(rough, lack), np.stack([squares, np.zeros_like(squares)]))


@np.errstate(under="ignore")
def merge(a: CoefficientMoments, b: CoefficientMoments) -> CoefficientMoments:
    """Return the moments of two datasets together.

    mean = mean_a + (mean_b - mean_a) n_b / n, squares = squares_a + squares_b + (mean_b - mean_a)^2 n_a n_b / n.
    """
    seen = a.seen + b.seen
    low, high = np.minimum(a.low, b.low), np.maximum(a.high, b.high)
    unit = _unit(low, high)
    a, b = _measured_in(unit, a), _measured_in(unit, b)
    # from the side that has seen more: the step is the shorter one, and nothing from a side that has seen nothing
    more = a.seen >= b.seen
    start, end = np.where(more, a.mean, b.mean), np.where(more, b.mean, a.mean)
    step = (end[0] - start[0]) + (end[1] - start[1])
    share = np.minimum(a.seen, b.seen) / np.maximum(seen, 1)
    mean = _two_sum(start[0], start[1] + step * share)
    between = step**2 * share * np.maximum(a.seen, b.seen)
    squares = _two_sum(a.squares[0], b.squares[0] + between)
    squares[1] += a.squares[1] + b.squares[1]
    return CoefficientMoments(seen, low, high, unit, mean, squares)


def _unit(low: Array, high: Array) -> Array:
    """Return a power of two near the largest magnitude; 1 where nothing or only zeros were seen."""
    largest = np.maximum(np.maximum(-low, high), 0.0)  # nothing seen: low = inf, high = -inf
    exponent = np.clip(np.frexp(largest)[1], -LARGEST_EXPONENT, LARGEST_EXPONENT)
    unit: Array = np.ldexp(1.0, exponent)
    return unit


def _measured_in(unit: Array, moments: CoefficientMoments) -> CoefficientMoments:
    """Return the moments in a unit that is at least as large; what underflows is negligible in that unit."""
    ratio = moments.unit / unit
    return moments._replace(unit=unit, mean=moments.mean * ratio, squares=moments.squares * ratio * ratio)


def _two_sum(a: Array, b: Array) -> Array:
    """Return a + b rounded, and the rounding error (Knuth)."""
    total = a + b
    part = total - a
    return np.stack([total, (a - (total - part)) + (b - part)])


def is_constant(moments: CoefficientMoments) -> NDArray[np.bool_]:
    """Return which coefficients have had a single value so far."""
    constant: NDArray[np.bool_] = (moments.low == moments.high) & (moments.seen >= 2)
    return constant


def affine(moments: CoefficientMoments) -> tuple[Array, Array, Array]:
    """Return (mean, deviation, unit) of z = (x / unit - mean) / deviation; deviation is nan before two values."""
    constant = is_constant(moments)
    mean = np.where(constant, np.stack([moments.low, np.zeros_like(moments.low)]), moments.mean)
    freedom = np.where(moments.seen >= 2, moments.seen - 1.0, math.nan)
    deviation = np.where(constant, 1.0, np.sqrt(moments.squares.sum(axis=0) / freedom))
    return mean, deviation, np.where(constant, 1.0, moments.unit)
