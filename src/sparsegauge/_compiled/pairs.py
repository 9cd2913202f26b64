"""S_p of a short signal by all pairs, at odd and real orders, where a sort would cost more than the pairs do.

One sum serves every order. The power is chosen by a constant, `kind`, that the compiler sees: it writes the loops once
for each power, without a choice inside.
"""

from __future__ import annotations

import math

from .bits import exponent
from .even import top_and_sum
from .lanes import LANES, join_lanes, total_of
from .powers import real_power
from .vocabulary import Array, Lanes, Values, entry, inlined, kernel

LARGER = 0  # the larger one of the two, instead of a power of their distance
FIRST_POWER, POWER_THREE_HALVES, CUBE, FIFTH_POWER, SEVENTH_POWER, NINTH_POWER, REAL_POWER = 1, 2, 3, 5, 7, 9, 10
LARGEST_SHIFT = 1022  # 2^1023 is the largest power of two
LEAST_BY_LARGER = 0.125  # S_1 below this loses digits to the difference of two sums


@inlined
def pair_term(a: float, b: float, kind: int, p: float) -> float:
    """Return |a - b|^p of one pair, or max(a, b)."""
    if kind == LARGER:
        return a if a > b else b
    size = abs(a - b)
    square = size * size
    if kind == FIRST_POWER:
        return size
    if kind == POWER_THREE_HALVES:
        return size * math.sqrt(size)
    if kind == CUBE:
        return size * square
    if kind == FIFTH_POWER:
        return size * (square * square)
    if kind == SEVENTH_POWER:
        return size * (square * (square * square))
    if kind == NINTH_POWER:
        return (size * square) * (size * square) * (size * square)
    return real_power(size, p)


@inlined
def sum_pair_terms(c: Values, n: int, kind: int, p: float) -> float:
    """Return the sum of the terms of all pairs i < j of c[:n], where c holds its n values twice.

    Around a circle the offsets 1..(n-1)/2 meet every pair once, except for opposite points of an even n, which meet at
    the offset n/2. Four terms are added before they go to a lane: each lane would else wait for its last addition.
    """
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    end = (n + 1) // 2
    i = 0
    while i + LANES <= n:
        j = i + 1
        while j + 4 <= i + end:
            for k in range(LANES):
                x = c[i + k]
                first = pair_term(x, c[j + k], kind, p) + pair_term(x, c[j + k + 1], kind, p)
                second = pair_term(x, c[j + k + 2], kind, p) + pair_term(x, c[j + k + 3], kind, p)
                lane[k] += first + second
            j += 4
        while j < i + end:
            for k in range(LANES):
                lane[k] += pair_term(c[i + k], c[j + k], kind, p)
            j += 1
        i += LANES
    while i < n:
        j = i + 1
        while j + LANES <= i + end:
            for k in range(LANES):
                lane[k] += pair_term(c[i], c[j + k], kind, p)
            j += LANES
        while j < i + end:
            rest += pair_term(c[i], c[j], kind, p)
            j += 1
        i += 1
    if n % 2 == 0:
        i = 0
        while i + LANES <= n // 2:
            for k in range(LANES):
                lane[k] += pair_term(c[i + k], c[n // 2 + i + k], kind, p)
            i += LANES
        while i < n // 2:
            rest += pair_term(c[i], c[n // 2 + i], kind, p)
            i += 1
    return join_lanes(lane) + rest


@inlined
def sum_terms(c: Values, n: int, kind: int, p: float) -> float:
    """Return the sum of the terms of c[:n] paired with zero: of their powers."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            lane[k] += pair_term(c[i + k], 0.0, kind, p)
        i += LANES
    while i < n:
        rest += pair_term(c[i], 0.0, kind, p)
        i += 1
    return join_lanes(lane) + rest


@inlined
def pair_ratio(c: Values, n: int, kind: int, p: float) -> float:
    """Return the sum over all pairs in units of n times the sum of the powers."""
    below = n * sum_terms(c, n, kind, p)
    return sum_pair_terms(c, n, kind, p) / below if below > 0.0 else math.nan


@kernel
def first_order(c: Values, n: int) -> float:
    """Return S_1 of magnitudes: |a - b| = 2 max(a, b) - a - b, which needs one operation less than |a - b|."""
    total = total_of(c, 0, n)
    if not (total > 0.0):
        return math.nan
    value = (2.0 * sum_pair_terms(c, n, LARGER, 1.0) - (n - 1) * total) / (n * total)
    return value if value >= LEAST_BY_LARGER else pair_ratio(c, n, FIRST_POWER, 1.0)


@entry
def sparsity_by_pairs(x: Values, p: float, c: Array) -> float:
    """Return S_p of x at any finite order, nan if all are zero; `c` is room for its magnitudes, twice."""
    n = len(x)
    top, _ = top_and_sum(x, 0, n)
    scale = math.ldexp(1.0, min(-exponent(top), LARGEST_SHIFT))
    for i in range(n):
        c[i] = abs(x[i]) * scale
        c[n + i] = c[i]
    if p == 1.0:
        return first_order(c, n)
    if p == 1.5:
        return pair_ratio(c, n, POWER_THREE_HALVES, p)
    if p == 3.0:
        return pair_ratio(c, n, CUBE, p)
    if p == 5.0:
        return pair_ratio(c, n, FIFTH_POWER, p)
    if p == 7.0:
        return pair_ratio(c, n, SEVENTH_POWER, p)
    if p == 9.0:
        return pair_ratio(c, n, NINTH_POWER, p)
    return pair_ratio(c, n, REAL_POWER, p)
