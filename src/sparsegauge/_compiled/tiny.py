"""Rows of a few coefficients: S_p by all pairs, eight rows side by side, which takes less time than a sort.

Every row is computed in its own lane, so its bits do not depend on the rows beside it.
"""

from __future__ import annotations

from .lanes import LANES
from .powers import FIVE_HALVES, REAL, SEVEN_HALVES, THREE_HALVES, power_kind, power_of
from .rows import unit_scale, with_zeros
from .vocabulary import Array, Indices, Lanes, Values, entry, inlined, kernel

TINY_ROW = 16  # the longest row that goes this way
ORDER_ONE, ORDER_THREE = 10, 11  # beside the kinds of `powers`


@inlined
def tiny_power(d: float, p: float, kind: int) -> float:
    """Return d^p for 0 <= d <= 1, for a literal kind."""
    if kind == ORDER_ONE:
        return d
    if kind == ORDER_THREE:
        return d * d * d
    return power_of(d, p, kind)


@inlined
def write_tiny_sums(room: Array, n: int, p: float, kind: int, unit: Lanes, inverse: Lanes, sums: Array) -> None:
    """Write sum (|c_i - c_j| unit)^p over pairs into sums[:8], and sum (c_i inverse)^p into sums[8:]; a literal kind."""
    numerator: Lanes = [0.0] * LANES
    denominator: Lanes = [0.0] * LANES
    for j in range(n):
        for i in range(j):
            for k in range(LANES):
                d = abs(room[j * LANES + k] - room[i * LANES + k])
                numerator[k] += tiny_power(d * unit[k] if kind == REAL else d, p, kind)
        for k in range(LANES):
            c = room[j * LANES + k]
            denominator[k] += tiny_power(c * inverse[k] if kind == REAL else c, p, kind)
    for k in range(LANES):
        sums[k] = numerator[k]
        sums[LANES + k] = denominator[k]


@kernel
def choose_tiny_sums(room: Array, n: int, p: float, unit: Lanes, inverse: Lanes, sums: Array) -> None:
    """Write the same at any order that `tiny_rows` takes."""
    if p == 1.0:
        write_tiny_sums(room, n, p, ORDER_ONE, unit, inverse, sums)
    elif p == 3.0:
        write_tiny_sums(room, n, p, ORDER_THREE, unit, inverse, sums)
    elif power_kind(p) == THREE_HALVES:
        write_tiny_sums(room, n, p, THREE_HALVES, unit, inverse, sums)
    elif power_kind(p) == FIVE_HALVES:
        write_tiny_sums(room, n, p, FIVE_HALVES, unit, inverse, sums)
    elif power_kind(p) == SEVEN_HALVES:
        write_tiny_sums(room, n, p, SEVEN_HALVES, unit, inverse, sums)
    else:
        write_tiny_sums(room, n, p, REAL, unit, inverse, sums)


@entry
def tiny_rows(
    x: Values, starts: Indices, lengths: Indices, p: float, zero: float, room: Array, sums: Array, first: int, last: int,
    out: Array,
) -> None:  # fmt: skip
    """Write S_p of rows of up to TINY_ROW values, in any order and signed; p is 1, 3 or any order that is not whole.

    Room: TINY_ROW LANES numbers, and 2 LANES for `sums`.
    """
    start = first
    while start < last:
        n = starts[start + 1] - starts[start]
        rows = 1
        while rows < LANES and start + rows < last and starts[start + rows + 1] - starts[start + rows] == n:
            rows += 1
        top: Lanes = [0.0] * LANES
        bottom: Lanes = [0.0] * LANES
        unit: Lanes = [0.0] * LANES
        inverse: Lanes = [0.0] * LANES
        for i in range(n * LANES):
            room[i] = 0.0
        for side in range(rows):
            low = starts[start + side]
            highest = 0.0
            for i in range(n):
                highest = max(highest, abs(x[low + i]))
            once, twice = unit_scale(highest)
            least = 1.0
            for i in range(n):
                c = abs(x[low + i]) * once * twice
                room[i * LANES + side] = c
                least = min(least, c)
            top[side] = highest * once * twice
            bottom[side] = least
        for side in range(rows):
            unit[side] = 1.0 / (top[side] - bottom[side]) if top[side] > bottom[side] else 0.0
            inverse[side] = 1.0 / top[side] if top[side] > 0.0 else 0.0
        choose_tiny_sums(room, n, p, unit, inverse, sums)
        for side in range(rows):
            if top[side] == 0.0:
                out[start + side] = zero
            else:
                value = sums[side] / (n * sums[LANES + side])
                if power_kind(p) == REAL and p != 1.0 and p != 3.0:
                    value *= ((top[side] - bottom[side]) / top[side]) ** p
                out[start + side] = with_zeros(value, n, lengths[start + side])
        start += rows
