"""Even integer orders without a sort, from central moments.

The numerator is shift invariant, so for even p and any shift m

    num_p = 1/2 sum_k (-1)^k C(p, k) M_k M_{p-k},   M_k = sum_i (c_i - m)^k.

About the mean the terms hardly cancel, but they can: the kernel bounds its own rounding error, and hands
the row over to the sorted route (`HAND_OVER`) where the bound is too large.
"""

from __future__ import annotations

import math

from .bits import scale_to_unit
from .kernel_tolerances import HUGE, ROUNDING, SMALLEST_NUMERATOR, TINY, TRUSTED
from .lanes import LANES, join_lanes
from .vocabulary import Array, FloatTable, Indices, Lanes, Matrix, Table, Values, entry, inlined, kernel

LARGEST_EVEN_ORDER = 128
MOMENT_CHUNK = 65536  # coefficients summed up by one task; fixed, so that results do not depend on the threads
MOMENT_BLOCK = 256  # coefficients whose powers stay in the fastest cache
MOMENT_ROOM = 3  # blocks of working memory
HAND_OVER = -1.0


@entry
@inlined
def top_and_sum(x: Values, first: int, last: int) -> tuple[float, float]:
    """Return max |x_i| and sum |x_i| of x[first:last]."""
    top: Lanes = [0.0] * LANES
    lane: Lanes = [0.0] * LANES
    highest = 0.0
    rest = 0.0
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            c = abs(x[i + k])
            lane[k] += c
            top[k] = c if c > top[k] else top[k]
        i += LANES
    while i < last:
        c = abs(x[i])
        rest += c
        highest = max(highest, c)
        i += 1
    for k in range(LANES):
        highest = max(highest, top[k])
    return highest, join_lanes(lane) + rest


@entry
@inlined
def scale_of(value: float) -> float:
    """Return the power of two that brings a `value` between TINY and HUGE into [1/2, 1)."""
    return scale_to_unit(value)


@inlined
def add_second_moments(x: Values, first: int, last: int, scale: float, shift: float, out: Array) -> None:
    """Add to out[1:4] the sums of u, u^2 and c^2 for u = c - shift: all that order 2 needs."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    square: Lanes = [0.0] * LANES
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            c = abs(x[i + k]) * scale
            u = c - shift
            one[k] += u
            two[k] += u * u
            square[k] += c * c
        i += LANES
    while i < last:
        c = abs(x[i]) * scale
        u = c - shift
        one[0] += u
        two[0] += u * u
        square[0] += c * c
        i += 1
    out[1] += join_lanes(one)
    out[2] += join_lanes(two)
    out[3] += join_lanes(square)


@kernel
def add_fourth_moments(x: Values, first: int, last: int, scale: float, shift: float, out: Array) -> None:
    """Add to out[1:6] the sums of u, u^2, u^3, u^4 and c^4: all that order 4 needs."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    three: Lanes = [0.0] * LANES
    four: Lanes = [0.0] * LANES
    fourth: Lanes = [0.0] * LANES
    half = LANES // 2  # so many accumulators of eight lanes would not fit the registers
    i = first
    while i + half <= last:
        for k in range(half):
            c = abs(x[i + k]) * scale
            u = c - shift
            one[k] += u
            two[k] += u * u
            three[k] += u * u * u
            four[k] += (u * u) * (u * u)
            fourth[k] += (c * c) * (c * c)
        i += half
    while i < last:
        c = abs(x[i]) * scale
        u = c - shift
        one[0] += u
        two[0] += u * u
        three[0] += u * u * u
        four[0] += (u * u) * (u * u)
        fourth[0] += (c * c) * (c * c)
        i += 1
    out[1] += join_lanes(one)
    out[2] += join_lanes(two)
    out[3] += join_lanes(three)
    out[4] += join_lanes(four)
    out[5] += join_lanes(fourth)


@kernel
def next_powers(n: int, shift: float, room: Matrix) -> tuple[float, float, float]:
    """Raise the powers of u and of c by two; return the sums of the next two powers of u and of the new one of c.

    room[0] holds c, room[1] the even power of u = c - shift, room[2] the even power of c.
    """
    odd_lane: Lanes = [0.0] * LANES
    even_lane: Lanes = [0.0] * LANES
    high_lane: Lanes = [0.0] * LANES
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            c = room[0, i + k]
            u = c - shift
            odd = room[1, i + k] * u
            even = odd * u
            high = room[2, i + k] * (c * c)
            room[1, i + k] = even
            room[2, i + k] = high
            odd_lane[k] += odd
            even_lane[k] += even
            high_lane[k] += high
        i += LANES
    while i < n:
        c = room[0, i]
        u = c - shift
        odd = room[1, i] * u
        even = odd * u
        high = room[2, i] * (c * c)
        room[1, i] = even
        room[2, i] = high
        odd_lane[0] += odd
        even_lane[0] += even
        high_lane[0] += high
        i += 1
    return join_lanes(odd_lane), join_lanes(even_lane), join_lanes(high_lane)


@kernel
def load_powers(x: Values, first: int, last: int, scale: float, shift: float, room: Matrix) -> tuple[float, float]:
    """Write c, u^2 and c^2 for u = c - shift into the rows of room; return the sums of u and u^2."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    n = last - first
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            c = abs(x[first + i + k]) * scale
            u = c - shift
            room[0, i + k] = c
            room[1, i + k] = u * u
            room[2, i + k] = c * c
            one[k] += u
            two[k] += u * u
        i += LANES
    while i < n:
        c = abs(x[first + i]) * scale
        u = c - shift
        room[0, i] = c
        room[1, i] = u * u
        room[2, i] = c * c
        one[0] += u
        two[0] += u * u
        i += 1
    return join_lanes(one), join_lanes(two)


@entry
@inlined
def chunk_moments(
    x: Values, first: int, last: int, scale: float, shift: float, p: int, room: Matrix, out: Array
) -> None:
    """Write out[k] = M_k for k = 0..p and out[p + 1] = sum c^p of the chunk x[first:last]."""
    for k in range(p + 2):
        out[k] = 0.0
    out[0] = last - first
    for start in range(first, last, MOMENT_BLOCK):
        end = min(start + MOMENT_BLOCK, last)
        if p == 2:
            add_second_moments(x, start, end, scale, shift, out)
        elif p == 4:
            add_fourth_moments(x, start, end, scale, shift, out)
        else:
            odd_sum, even_sum = load_powers(x, start, end, scale, shift, room)
            out[1] += odd_sum
            out[2] += even_sum
            denominator = 0.0
            for k in range(3, p, 2):
                odd_sum, even_sum, denominator = next_powers(end - start, shift, room)
                out[k] += odd_sum
                out[k + 1] += even_sum
            out[p + 1] += denominator


@entry
@inlined
def combine_moments(moments: Array, length: int, binomials: Values) -> float:
    """Return S_p of a row of `length` coefficients from its moments, or HAND_OVER."""
    p = len(binomials) - 1
    numerator = 0.0
    bound = 0.0
    for k in range(p + 1):
        sign = 1.0 - 2.0 * (k & 1)
        numerator += sign * binomials[k] * moments[k] * moments[p - k]
        size = moments[k] * moments[p - k] if p > 2 else moments[0] * moments[2]  # which bounds M_1^2, too
        if k & 1 and p > 2:  # an odd moment is known only to eps times its absolute twin; Cauchy and Schwarz bound that
            # paired so that both products are of degree p, like the numerator: then neither underflows before it does
            size = math.sqrt(moments[k - 1] * moments[p - k + 1]) * math.sqrt(moments[k + 1] * moments[p - k - 1])
        bound += binomials[k] * size
    rounding = (p + 8) * ROUNDING
    if numerator < SMALLEST_NUMERATOR or rounding * bound > TRUSTED * numerator:
        return HAND_OVER
    return min(0.5 * numerator / (length * moments[p + 1]), (length - 1) / length)


@inlined
def even_row(
    x: Values, first: int, last: int, length: int, binomials: Values, zero: float, room: Matrix, moments: Array
) -> float:
    """Return S_p of one row taken as one chunk, or HAND_OVER; `zero` where all its values are zero."""
    top, total = top_and_sum(x, first, last)
    if top == 0.0:
        return zero
    if not (TINY < top < HUGE) or length > last - first:  # zeros that are not stored
        return HAND_OVER
    scale = scale_of(top)
    shift = total * scale / (last - first)
    chunk_moments(x, first, last, scale, shift, len(binomials) - 1, room, moments)
    return combine_moments(moments, length, binomials)


@entry
def even_single(x: Values, binomials: Values, room: Matrix) -> float:
    """Return S_p of one short row, or HAND_OVER also where it holds zeros alone, NaN or infinities.

    `room` is (MOMENT_ROOM + 1, MOMENT_BLOCK).
    """
    return even_row(x, 0, len(x), len(x), binomials, HAND_OVER, room, room[MOMENT_ROOM])


@entry
def even_rows(
    x: Values, starts: Indices, lengths: Indices, binomials: Values, zero: float, room: Matrix, moments: Array,
    first: int, last: int, out: Array,
) -> int:  # fmt: skip
    """Write S_p of the rows first..last-1; return how many are handed over to the sorted route.

    `room` is (MOMENT_ROOM, MOMENT_BLOCK), `moments` as long as binomials and one more.
    """
    handed_over = 0
    for r in range(first, last):
        out[r] = even_row(x, starts[r], starts[r + 1], lengths[r], binomials, zero, room, moments)
        handed_over += out[r] == HAND_OVER
    return handed_over


@entry
def even_spread_rows(
    x: Table, binomials: Values, row: Array, room: Matrix, moments: Array, first: int, last: int, out: Array
) -> None:
    """Write S_p of rows whose numbers have gaps between them, as `even_single` would; `row` has room for one of them."""
    n = x.shape[1]
    for r in range(first, last):
        for i in range(n):
            row[i] = x[r, i]
        out[r] = even_row(row, 0, n, n, binomials, HAND_OVER, room, moments)


@entry
def even_float_rows(
    x: FloatTable, binomials: Values, row: Array, room: Matrix, moments: Array, first: int, last: int, out: Array
) -> None:
    """Write the same for rows of single precision."""
    n = x.shape[1]
    for r in range(first, last):
        for i in range(n):
            row[i] = x[r, i]
        out[r] = even_row(row, 0, n, n, binomials, HAND_OVER, room, moments)
