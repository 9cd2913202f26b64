"""Sums of one piece of a long signal: moments about a shift, powers, the largest coefficient and the non-zeros.

The pieces of a stream are added up one after the other, millions of them, so each sum is a pair of float64 numbers, the
second of which holds what the first rounds away. In a row of `out`, with c = |x| scale and u = c - shift:

    sum u, sum u^2, sum u^3, sum u^4, sum c^2, sum c^4 (two columns each), max c, how many c are not zero.

A value that is not finite makes sum u not finite; so does one whose powers overflow.
"""

from __future__ import annotations

from .even import MOMENT_BLOCK
from .lanes import LANES, join_lanes
from .vocabulary import Array, Floats, Indices, Lanes, Matrix, Values, entry, inlined, kernel

STREAMED = 14  # columns
HALF_LANES = LANES // 2  # so many accumulators of eight lanes would not fit the registers


@inlined
def add_pair(out: Matrix, r: int, k: int, value: float) -> None:
    """Add a value to the pair of columns k and k + 1."""
    old = out[r, k]
    new = old + value
    part = new - old
    out[r, k] = new
    out[r, k + 1] += (old - (new - part)) + (value - part)


@kernel
def add_piece(x: Values, first: int, last: int, scale: float, shift: float, out: Matrix, r: int) -> None:
    """Add the sums of x[first:last], which is short, to row r of out."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    three: Lanes = [0.0] * LANES
    four: Lanes = [0.0] * LANES
    square: Lanes = [0.0] * LANES
    fourth: Lanes = [0.0] * LANES
    top: Lanes = [0.0] * LANES
    count: Lanes = [0.0] * LANES
    i = first
    while i + HALF_LANES <= last:
        for k in range(HALF_LANES):
            c = abs(x[i + k]) * scale
            u = c - shift
            uu = u * u
            cc = c * c
            one[k] += u
            two[k] += uu
            three[k] += uu * u
            four[k] += uu * uu
            square[k] += cc
            fourth[k] += cc * cc
            top[k] = c if c > top[k] else top[k]
            count[k] += 1.0 if x[i + k] != 0.0 else 0.0
        i += HALF_LANES
    while i < last:
        c = abs(x[i]) * scale
        u = c - shift
        uu = u * u
        cc = c * c
        one[0] += u
        two[0] += uu
        three[0] += uu * u
        four[0] += uu * uu
        square[0] += cc
        fourth[0] += cc * cc
        top[0] = c if c > top[0] else top[0]
        count[0] += 1.0 if x[i] != 0.0 else 0.0
        i += 1
    add_pair(out, r, 0, join_lanes(one))
    add_pair(out, r, 2, join_lanes(two))
    add_pair(out, r, 4, join_lanes(three))
    add_pair(out, r, 6, join_lanes(four))
    add_pair(out, r, 8, join_lanes(square))
    add_pair(out, r, 10, join_lanes(fourth))
    for k in range(HALF_LANES):
        out[r, 12] = max(out[r, 12], top[k])
    out[r, 13] += join_lanes(count)


@entry
def streamed_rows(
    x: Values, starts: Indices, scales: Values, shifts: Values, first: int, last: int, out: Matrix
) -> None:  # fmt: skip
    """Write the sums of rows, each with its own scale and shift."""
    for r in range(first, last):
        for k in range(STREAMED):
            out[r, k] = 0.0
        for start in range(starts[r], starts[r + 1], MOMENT_BLOCK):
            add_piece(x, start, min(start + MOMENT_BLOCK, starts[r + 1]), scales[r], shifts[r], out, r)


@kernel
def add_moments(x: Values, first: int, last: int, shift: float, out: Matrix) -> None:
    """Add the sums of u, u^2, u^3 and u^4 of x[first:last], which is short, u = |x| - shift, to the first row of out."""
    one: Lanes = [0.0] * LANES
    two: Lanes = [0.0] * LANES
    three: Lanes = [0.0] * LANES
    four: Lanes = [0.0] * LANES
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            u = abs(x[i + k]) - shift
            uu = u * u
            one[k] += u
            two[k] += uu
            three[k] += uu * u
            four[k] += uu * uu
        i += LANES
    while i < last:
        u = abs(x[i]) - shift
        uu = u * u
        one[0] += u
        two[0] += uu
        three[0] += uu * u
        four[0] += uu * uu
        i += 1
    add_pair(out, 0, 0, join_lanes(one))
    add_pair(out, 0, 2, join_lanes(two))
    add_pair(out, 0, 4, join_lanes(three))
    add_pair(out, 0, 6, join_lanes(four))


@entry
def streamed_moments(x: Values, shift: float, out: Matrix) -> None:
    """Write the first four sums alone, of one row, unscaled."""
    for k in range(STREAMED):
        out[0, k] = 0.0
    for start in range(0, len(x), MOMENT_BLOCK):
        add_moments(x, start, min(start + MOMENT_BLOCK, len(x)), shift, out)


@entry
def streamed_moments_of_floats(x: Floats, shift: float, room: Array, out: Matrix) -> None:
    """Write the same for one row of single precision; `room` holds MOMENT_BLOCK values."""
    for k in range(STREAMED):
        out[0, k] = 0.0
    for start in range(0, len(x), MOMENT_BLOCK):
        n = min(MOMENT_BLOCK, len(x) - start)
        for i in range(n):
            room[i] = x[start + i]
        add_moments(room, 0, n, shift, out)
