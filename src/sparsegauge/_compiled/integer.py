"""Integer orders by a recurrence in which every term is positive, so that nothing cancels.

For sorted c, P_j(t) = sum_{i<j} (c_j + t - c_i)^p is a polynomial in t with positive coefficients
a_q = C(p, q) g_q(j), g_q(j) = sum_{i<j} (c_j - c_i)^q. Going from c_j to c_{j+1} shifts t by the gap: a Taylor
shift with a positive step. num_p = sum_j a_p(j).

Short rows walk from coefficient to coefficient, `SIDE_BY_SIDE` rows at once. Long ones walk from block to block:
between two runs split at s, sum (b - a)^p = sum_m C(p, m) sum (b - s)^m sum (s - a)^(p-m), again all positive.
"""

from __future__ import annotations

from .bits import exponent, ldexp
from .lanes import LANES, join_lanes, next_power_sum
from .powers import POWER_BLOCK, sum_integer_powers, sum_raised
from .vocabulary import Array, Cube, Indices, Lanes, Matrix, Values, entry, kernel

LARGEST_INTEGER_ORDER = 128
SHORT_ROW = 256  # rows up to this length, and orders up to SHORT_ORDER, walk coefficient by coefficient
SHORT_ORDER = 16
SIDE_BY_SIDE = 32
FOLDED = 8192  # coefficients folded by one task; fixed, so that results do not depend on the threads
LARGEST_BLOCK = 64
BLOCK_PAIRS = 2080  # LARGEST_BLOCK (LARGEST_BLOCK + 1) / 2


@entry
def range_exponent(c: Values, first: int, last: int) -> int:
    """Return e with (max - min) 2^-e in [1/2, 1) for the sorted c[first:last]."""
    return exponent(c[last - 1] - c[first])


@entry
def finish_fraction(numerator: float, denominator: float, length: int, power: int) -> float:
    """Return numerator 2^power / (length denominator), without an overflow on the way."""
    return ldexp(numerator / (length * denominator), power)


@kernel
def load_gaps(c: Values, n: int, start: int, rows: int, gaps: Array, exponents: Indices) -> None:
    """Write the gaps of `rows` sorted rows of n as columns, each row scaled to a range in [1/2, 1)."""
    for side in range(rows):
        low = (start + side) * n
        exponents[side] = range_exponent(c, low, low + n)
        scale = ldexp(1.0, -exponents[side])
        for j in range(1, n):
            gaps[j * SIDE_BY_SIDE + side] = (c[low + j] - c[low + j - 1]) * scale


@kernel
def walk(gaps: Array, n: int, p: int, a: Array, total: Array) -> None:
    """Write num_p of all columns of gaps; a column's bits do not depend on the columns beside it."""
    for i in range((p + 1) * SIDE_BY_SIDE):
        a[i] = 0.0
    for side in range(SIDE_BY_SIDE):
        total[side] = 0.0
    for j in range(1, n):
        gap = j * SIDE_BY_SIDE
        for side in range(SIDE_BY_SIDE):
            a[side] += 1.0
        for k in range(p):  # the Taylor shift, by Horner's scheme
            for q in range(1, p - k + 1):
                here = q * SIDE_BY_SIDE
                for side in range(SIDE_BY_SIDE):
                    a[here + side] += gaps[gap + side] * a[here - SIDE_BY_SIDE + side]
        for side in range(SIDE_BY_SIDE):
            total[side] += a[p * SIDE_BY_SIDE + side]


@kernel
def walk_cubes(gaps: Array, n: int, a: Array, total: Array) -> None:
    """The same for p = 3, the odd order that is asked for most, with the three sums of a column in registers."""
    for side in range(3 * SIDE_BY_SIDE):
        a[side] = 0.0
    for side in range(SIDE_BY_SIDE):
        total[side] = 0.0
    for j in range(1, n):
        gap = j * SIDE_BY_SIDE
        for side in range(SIDE_BY_SIDE):
            g = gaps[gap + side]
            step = g * j
            one = a[side] + step
            two = a[SIDE_BY_SIDE + side] + g * one
            three = a[2 * SIDE_BY_SIDE + side] + g * two
            one = one + step
            two = two + g * one
            a[side] = one + step
            a[SIDE_BY_SIDE + side] = two
            a[2 * SIDE_BY_SIDE + side] = three
            total[side] += three


@entry
def short_rows(
    c: Values, n: int, p: int, zero: float, gaps: Array, a: Array, exponents: Indices, first: int, last: int, out: Array
) -> None:
    """Write S_p of the rows first..last-1 of length n, sorted and scaled to a maximum in [1/2, 1).

    Room: n SIDE_BY_SIDE for `gaps`, which has to be filled with numbers, (p + 2) SIDE_BY_SIDE + 2 POWER_BLOCK for `a`.
    """
    numerators = (p + 1) * SIDE_BY_SIDE
    total = a[numerators : numerators + SIDE_BY_SIDE]
    base = a[numerators + SIDE_BY_SIDE :]
    power = a[numerators + SIDE_BY_SIDE + POWER_BLOCK :]
    for start in range(first, last, SIDE_BY_SIDE):
        rows = min(SIDE_BY_SIDE, last - start)
        load_gaps(c, n, start, rows, gaps, exponents)
        if p == 3:
            walk_cubes(gaps, n, a, total)
        else:
            walk(gaps, n, p, a, total)
        for side in range(rows):
            low = (start + side) * n
            if c[low + n - 1] == 0.0:
                out[start + side] = zero
            else:
                denominator = sum_integer_powers(c, low, low + n, p, base, power)
                value = finish_fraction(total[side], denominator, n, p * exponents[side])
                out[start + side] = min(value, (n - 1) / n)


@kernel
def block_size(p: int) -> int:
    """Return the fastest block: pairs inside a block cost its length, the shift between blocks p^2 over it."""
    if p <= 24:
        return 16
    return 32 if p <= 64 else LARGEST_BLOCK


@kernel
def power_sums(c: Values, first: int, last: int, origin: float, scale: float, p: int, room: Matrix, out: Array) -> None:
    """Write out[m] = sum ((c - origin) scale)^m for m = 0..p over c[first:last]; a negative scale measures downwards."""
    n = last - first
    for i in range(n):
        room[0, i] = (c[first + i] - origin) * scale
        room[1, i] = 1.0
    out[0] = n
    for m in range(1, p + 1):
        out[m] = next_power_sum(room, n)


@kernel
def pairs_inside(c: Values, first: int, last: int, scale: float, p: int, difference: Array, power: Array) -> float:
    """Return sum_{i<j} ((c_j - c_i) scale)^p of one block."""
    pairs = 0
    for lag in range(1, last - first):
        count = last - first - lag
        for i in range(count):
            difference[pairs + i] = (c[first + i + lag] - c[first + i]) * scale
        pairs += count
    return sum_raised(difference, power, pairs, p)


@kernel
def shift_sums(below: Array, step: float, binomials: Matrix, power: Array) -> None:
    """Move below[k] = sum_a (s - a)^k from s to s + step: sum_j C(k, j) step^(k-j) below[j]."""
    p = len(binomials) - 1
    power[p] = 1.0  # power[p - k] = step^k, so that both factors below run upwards
    for k in range(1, p + 1):
        power[p - k] = power[p - k + 1] * step
    for k in range(p, 0, -1):
        lane: Lanes = [0.0] * LANES
        rest = 0.0
        j = 0
        while j + LANES <= k + 1:
            for t in range(LANES):
                lane[t] += binomials[k, j + t] * power[p - k + j + t] * below[j + t]
            j += LANES
        while j <= k:
            rest += binomials[k, j] * power[p - k + j] * below[j]
            j += 1
        below[k] = join_lanes(lane) + rest


@kernel
def sums_between(above: Array, below: Array, binomials: Matrix) -> float:
    """Return sum (b - a)^p over two runs split at s, from above[m] = sum (b - s)^m and below[m] = sum (s - a)^m."""
    p = len(binomials) - 1
    total = 0.0
    for m in range(p + 1):
        total += binomials[p, m] * above[m] * below[p - m]
    return total


@kernel
def fold_chunk(c: Values, first: int, last: int, scale: float, binomials: Matrix, room: Matrix, sums: Matrix) -> float:
    """Return the sum over the pairs of one chunk; sums[0] and sums[1] are its power sums above its minimum and below its maximum.

    Room: (2, BLOCK_PAIRS) for pairs; sums is (5, p + 1), whose other rows are room.
    """
    p = len(binomials) - 1
    block = block_size(p)
    for m in range(p + 1):
        sums[0, m] = 0.0
        sums[1, m] = 0.0
    below, above, inside, power = sums[1], sums[2], sums[3], sums[4]
    difference, raised = room[0], room[1]
    pairs = 0.0
    before = c[first]
    start = first
    while start < last:
        end = min(start + block, last)
        power_sums(c, start, end, c[start], scale, p, room, above)
        shift_sums(below, (c[start] - before) * scale, binomials, power)
        pairs += sums_between(above, below, binomials) + pairs_inside(c, start, end, scale, p, difference, raised)
        shift_sums(below, (c[end - 1] - c[start]) * scale, binomials, power)
        power_sums(c, start, end, c[end - 1], -scale, p, room, inside)
        for m in range(p + 1):
            below[m] += inside[m]
        before = c[end - 1]
        start = end
    start = first
    while start < last:
        end = min(start + block, last)
        power_sums(c, start, end, c[first], scale, p, room, above)
        for m in range(p + 1):
            sums[0, m] += above[m]
        start = end
    return pairs


@entry
def fold_chunks(
    c: Values, low: int, high: int, scale: float, binomials: Matrix, room: Matrix, sums: Matrix, first: int, last: int,
    states: Cube,
) -> None:  # fmt: skip
    """Write the states of the chunks first..last-1 of c[low:high]: pairs in [k, 0, 0], power sums in [k, 1] and [k, 2]."""
    for k in range(first, last):
        start = low + k * FOLDED
        states[k, 0, 0] = fold_chunk(c, start, min(start + FOLDED, high), scale, binomials, room, sums)
        for m in range(len(binomials)):
            states[k, 1, m] = sums[0, m]
            states[k, 2, m] = sums[1, m]


@entry
def join_chunks(c: Values, low: int, high: int, states: Cube, scale: float, binomials: Matrix, sums: Matrix) -> float:
    """Return num_p of the row c[low:high] from the states of its chunks; `sums` is (5, p + 1) of room."""
    below, power, above = sums[0], sums[1], sums[2]
    for m in range(len(binomials)):
        below[m] = states[0, 2, m]
    numerator = states[0, 0, 0]
    for k in range(1, len(states)):
        start = low + k * FOLDED
        end = min(start + FOLDED, high)
        for m in range(len(binomials)):
            above[m] = states[k, 1, m]
        shift_sums(below, (c[start] - c[start - 1]) * scale, binomials, power)
        numerator += states[k, 0, 0] + sums_between(above, below, binomials)
        shift_sums(below, (c[end - 1] - c[start]) * scale, binomials, power)
        for m in range(len(binomials)):
            below[m] += states[k, 2, m]
    return numerator


@entry
def left_sums(c: Values, binomials: Matrix, room: Matrix, sums: Matrix, out: Array) -> None:
    """Write out[k] = sum_{i<k} (c_k - c_i)^q for an integer q >= 1; c is sorted, with a range in [1/2, 1).

    q = len(binomials) - 1. Room: (2, BLOCK_PAIRS) and (5, q + 1).
    """
    q = len(binomials) - 1
    block = block_size(q)
    below, inside, power = sums[0], sums[1], sums[2]
    difference, raised = room[0], room[1]
    for m in range(q + 1):
        below[m] = 0.0
    before = c[0]
    start = 0
    while start < len(c):
        end = min(start + block, len(c))
        shift_sums(below, c[start] - before, binomials, power)
        for k in range(end - start):
            for i in range(k):
                difference[i] = c[start + k] - c[start + i]
            total = sum_raised(difference, raised, k, q)
            t = c[start + k] - c[start]
            value = 0.0
            for m in range(q, -1, -1):  # Horner: sum_m C(q, m) t^m below[q - m]
                value = value * t + binomials[q, m] * below[q - m]
            out[start + k] = total + value
        shift_sums(below, c[end - 1] - c[start], binomials, power)
        power_sums(c, start, end, c[end - 1], -1.0, q, room, inside)
        for m in range(q + 1):
            below[m] += inside[m]
        before = c[end - 1]
        start = end
