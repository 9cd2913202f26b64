"""Sums in eight lanes: fast on every processor, and the same to the last bit on all of them.

A processor adds several pairs of numbers at once, but only where the program allows another order of addition. Here the
order is fixed, term i going to lane i % 8, and is one that suits wide registers: no compiler has to be allowed to
reorder anything. Ranges are given as first and last + 1, as in Python's slices; nothing is copied.
"""

from __future__ import annotations

from .vocabulary import Array, Lanes, Matrix, Values, inlined, kernel

LANES = 8


@inlined
def join_lanes(lane: Lanes) -> float:
    """Return the sum of the eight lanes."""
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))


@kernel
def total_of(x: Values, first: int, last: int) -> float:
    """Return sum x[first:last]."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            lane[k] += x[i + k]
        i += LANES
    while i < last:
        rest += x[i]
        i += 1
    return join_lanes(lane) + rest


@kernel
def dot(x: Values, y: Values, n: int) -> float:
    """Return sum x_i y_i of the first n."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            lane[k] += x[i + k] * y[i + k]
        i += LANES
    while i < n:
        rest += x[i] * y[i]
        i += 1
    return join_lanes(lane) + rest


@kernel
def row_dot(A: Matrix, r: int, B: Matrix, s: int, first: int, last: int) -> float:
    """Return the inner product of A[r, first:last] and B[s, first:last]."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            lane[k] += A[r, i + k] * B[s, i + k]
        i += LANES
    while i < last:
        rest += A[r, i] * B[s, i]
        i += 1
    return join_lanes(lane) + rest


@kernel
def row_times(A: Matrix, r: int, x: Values, n: int) -> float:
    """Return the inner product of A[r, :n] and x[:n]."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            lane[k] += A[r, i + k] * x[i + k]
        i += LANES
    while i < n:
        rest += A[r, i] * x[i]
        i += 1
    return join_lanes(lane) + rest


@kernel
def add_row(A: Matrix, r: int, factor: float, n: int, out: Array) -> None:
    """Add factor * A[r, :n] to out[:n]."""
    for i in range(n):
        out[i] += factor * A[r, i]


@kernel
def fill(x: Array, first: int, last: int, value: float) -> None:
    """Write one number into x[first:last]."""
    for i in range(first, last):
        x[i] = value


@kernel
def next_power_sum(room: Matrix, n: int) -> float:
    """Multiply room[1] by room[0], and return the sum of the first n products."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = 0
    while i + LANES <= n:
        for k in range(LANES):
            power = room[1, i + k] * room[0, i + k]
            room[1, i + k] = power
            lane[k] += power
        i += LANES
    while i < n:
        room[1, i] *= room[0, i]
        rest += room[1, i]
        i += 1
    return join_lanes(lane) + rest
