"""S_p over any array library: the sums of |c_i - c_j|^p over all pairs, without a loop over coefficients.

| order | sum over pairs |
|---|---|
| 1 | distances from the median, weighted by rank |
| 2, 4, 6, 8 | central moments |
| other integers | sorted halves merged level by level, every term positive |
| any other real | all pairs, block by block |
| inf | the fraction of zeros |

The kernels of `sparsegauge._compiled` do the same for NumPy arrays, faster; tests compare the two.
"""

from __future__ import annotations

import math
from typing import Any

from .numerics import centred, constant, power, power_of_two

LARGEST_MOMENT_ORDER = 8  # the alternating sum of central moments cancels 20-fold here, 100-fold from 10 on
LARGEST_MERGED_ORDER = {64: 128, 32: 32}  # by bits: beyond, powers underflow that their binomials would bring back
PAIRS_PER_BLOCK = 1 << 22


def is_made_of_moments(p: float) -> bool:
    """Return whether S_p is a formula of central moments, or of the number of zeros: sums that chunks can add up."""
    return math.isinf(p) or p in range(2, LARGEST_MOMENT_ORDER + 1, 2)


def gds(xp: Any, c: Any, p: float) -> Any:
    """Return S_p along the last axis of magnitudes c, scaled to about 1 and not all zero in any row."""
    n = c.shape[-1]
    if n == 1:
        return xp.sum(c * 0.0, axis=-1)
    if math.isinf(p):
        return xp.sum(xp.astype(c == 0, c.dtype), axis=-1) / n
    if p == 1:
        return _by_ranks(xp, c)
    top, bottom = xp.max(c, axis=-1, keepdims=True), xp.min(c, axis=-1, keepdims=True)
    if not p.is_integer() or p > LARGEST_MERGED_ORDER.get(xp.finfo(c.dtype).bits, 32):
        return _by_pairs(xp, c, p, constant(top), constant(top - bottom))
    unit = power_of_two(xp, xp.where(top > bottom, top - bottom, xp.ones_like(top)))
    spread = c * unit  # differences of about 1 at most: their powers cannot underflow together
    pairs = _by_moments(xp, spread, int(p)) if is_made_of_moments(p) else _merged(xp, spread, int(p))
    scale = xp.squeeze(unit, axis=-1) ** -p
    return pairs * scale / (n * xp.sum(_whole_power(c, int(p)), axis=-1))


def _whole_power(c: Any, p: int) -> Any:
    """Return c^p by products alone."""
    result = None
    while p:
        if p & 1:
            result = c if result is None else result * c
        c, p = c * c if p > 1 else c, p >> 1
    return result


def _by_ranks(xp: Any, c: Any) -> Any:
    """Return S_1: with ranks that are equal for ties, so that these have equal gradients."""
    n = c.shape[-1]
    c = xp.sort(c, axis=-1)
    slope = (_shared_ranks(xp, constant(c)) * 2.0 - (n - 1.0)) / n  # from 1/n - 1 to 1 - 1/n
    middle = constant(c[..., n // 2 : n // 2 + 1])
    # the slopes add up to 0, so any origin will do; at the median no term is negative
    return xp.sum(slope * (c - middle), axis=-1) / xp.sum(c, axis=-1)


def _shared_ranks(xp: Any, c: Any) -> Any:
    """Return the mean rank, from 0, of all that are equal, for each value of sorted rows."""
    index = xp.broadcast_to(xp.arange(c.shape[-1], dtype=c.dtype, device=device_of(c)), c.shape)
    steps = c[..., 1:] != c[..., :-1]
    edge = xp.ones_like(c[..., :1], dtype=xp.bool)
    first = xp.where(xp.concat([edge, steps], axis=-1), index, xp.zeros_like(c))
    last = xp.where(xp.concat([steps, edge], axis=-1), index, xp.full_like(c, float(c.shape[-1])))
    shift = 1
    while shift < c.shape[-1]:  # running maximum and minimum, by doubling
        first = xp.concat([first[..., :shift], xp.maximum(first[..., shift:], first[..., :-shift])], axis=-1)
        last = xp.concat([xp.minimum(last[..., :-shift], last[..., shift:]), last[..., -shift:]], axis=-1)
        shift *= 2
    return 0.5 * (first + last)


def device_of(x: Any) -> Any:
    """Return the device on which an array lies, as its library names it."""
    from array_api_compat import device

    return device(x)


def _by_moments(xp: Any, c: Any, p: int) -> Any:
    """Return half the sum over all (i, j) of (c_i - c_j)^p, p even: binomials times products of central moments."""
    _, rest = centred(xp, c)
    powers, moments = rest, [float(c.shape[-1]), 0.0]
    for _ in range(2, p + 1):
        powers = powers * rest
        moments.append(xp.sum(powers, axis=-1))
    total = moments[0] * moments[p]
    for m in range(2, p // 2 + 1):
        share = 0.5 if 2 * m == p else 1.0
        total = total + (-1) ** m * share * math.comb(p, m) * moments[m] * moments[p - m]
    return total


def _merged(xp: Any, c: Any, p: int) -> Any:
    """Return the sum over pairs of (c_j - c_i)^p.

    Blocks of sorted values are halved at s: sum (b - a)^p = sum_m C(p, m) sum (b - s)^m sum (s - a)^(p - m), in which
    nothing is negative. Each level of blocks is one step for all of them. Rows are filled up to a power of two by
    values that do not count.
    """
    c = xp.sort(c, axis=-1)
    n, shape = c.shape[-1], tuple(c.shape[:-1])
    size = 1 << (n - 1).bit_length()
    counts = xp.ones_like(c)
    if size > n:
        fill = (*shape, size - n)
        c = xp.concat([xp.broadcast_to(constant(c[..., :1]), fill), c], axis=-1)
        counts = xp.concat([xp.zeros(fill, dtype=c.dtype, device=device_of(c)), counts], axis=-1)
    total = None
    half = 1
    while half < size:
        blocks, weights = (xp.reshape(v, (*shape, size // (2 * half), 2, half)) for v in (c, counts))
        split = constant(blocks[..., 1, :1])  # the sum does not depend on it, nor does the gradient
        below = _power_sums(xp, split - blocks[..., 0, :], weights[..., 0, :], p)
        above = _power_sums(xp, blocks[..., 1, :] - split, weights[..., 1, :], p)
        across = sum(math.comb(p, m) * above[m] * below[p - m] for m in range(p + 1))
        level = xp.sum(across, axis=-1)
        total = level if total is None else total + level
        half *= 2
    return total


def _power_sums(xp: Any, d: Any, counts: Any, p: int) -> list[Any]:
    """Return the sums of d^0, ..., d^p along the last axis."""
    sums, powers = [xp.sum(counts, axis=-1)], counts
    for _ in range(p):
        powers = powers * d
        sums.append(xp.sum(powers, axis=-1))
    return sums


def _by_pairs(xp: Any, c: Any, p: float, top: Any, spread: Any) -> Any:
    """Return S_p from all pairs, block by block, in units of the spread and of the largest coefficient."""
    n = c.shape[-1]
    unit = xp.where(spread > 0, spread, xp.ones_like(spread))
    block = max(1, min(n, PAIRS_PER_BLOCK // max(1, math.prod(c.shape))))
    total = None
    for first in range(0, n, block):
        part = c[..., first : first + block, None]
        inside = _distance_powers(xp, part, c[..., None, first : first + block], unit, p) * 0.5
        term = inside + _distance_powers(xp, part, c[..., None, first + block :], unit, p)
        total = term if total is None else total + term
    ratio = power(xp, xp.squeeze(spread / top, axis=-1), p)
    return total * ratio / (n * xp.sum(power(xp, c / top, p), axis=-1))


def _distance_powers(xp: Any, a: Any, b: Any, unit: Any, p: float) -> Any:
    """Return the sum of |a - b|^p over the last two axes."""
    return xp.sum(power(xp, xp.abs(a - b) / unit[..., None], p), axis=(-2, -1))
