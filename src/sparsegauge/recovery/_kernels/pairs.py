"""S_p of a short signal by all pairs, at odd and real orders, where a sort would cost more than the pairs do.

They are added up offset by offset around a circle, which needs no order and meets each pair once.
"""

from __future__ import annotations

import math

from ..._arrays import Array
from ...metrics._kernels import even
from ...metrics._kernels.jit import exact, summing
from ...metrics._kernels.powers import real_power


@exact
def _power_half(d: float) -> float:
    return abs(d) * math.sqrt(abs(d))


@exact
def _cube(d: float) -> float:
    return abs(d) * (d * d)


@exact
def _fifth(d: float) -> float:
    square = d * d
    return abs(d) * (square * square)


@exact
def _seventh(d: float) -> float:
    square = d * d
    return abs(d) * (square * (square * square))


@exact
def _ninth(d: float) -> float:
    cube = abs(d) * (d * d)
    return cube * cube * cube


# sum_i sum_{k<8} |near_(i+k) - c_i|^p: eight offsets a pass, written out, as a short loop inside would not vectorise.


@summing
def _eight_1(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += abs(near[i] - x) + abs(near[i + 1] - x)
        total += abs(near[i + 2] - x) + abs(near[i + 3] - x)
        total += abs(near[i + 4] - x) + abs(near[i + 5] - x)
        total += abs(near[i + 6] - x) + abs(near[i + 7] - x)
    return total


@summing
def _eight_half(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += _power_half(near[i] - x) + _power_half(near[i + 1] - x)
        total += _power_half(near[i + 2] - x) + _power_half(near[i + 3] - x)
        total += _power_half(near[i + 4] - x) + _power_half(near[i + 5] - x)
        total += _power_half(near[i + 6] - x) + _power_half(near[i + 7] - x)
    return total


@summing
def _eight_3(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += _cube(near[i] - x) + _cube(near[i + 1] - x)
        total += _cube(near[i + 2] - x) + _cube(near[i + 3] - x)
        total += _cube(near[i + 4] - x) + _cube(near[i + 5] - x)
        total += _cube(near[i + 6] - x) + _cube(near[i + 7] - x)
    return total


@summing
def _eight_5(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += _fifth(near[i] - x) + _fifth(near[i + 1] - x)
        total += _fifth(near[i + 2] - x) + _fifth(near[i + 3] - x)
        total += _fifth(near[i + 4] - x) + _fifth(near[i + 5] - x)
        total += _fifth(near[i + 6] - x) + _fifth(near[i + 7] - x)
    return total


@summing
def _eight_7(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += _seventh(near[i] - x) + _seventh(near[i + 1] - x)
        total += _seventh(near[i + 2] - x) + _seventh(near[i + 3] - x)
        total += _seventh(near[i + 4] - x) + _seventh(near[i + 5] - x)
        total += _seventh(near[i + 6] - x) + _seventh(near[i + 7] - x)
    return total


@summing
def _eight_9(c: Array, near: Array) -> float:
    total = 0.0
    for i in range(len(c)):
        x = c[i]
        total += _ninth(near[i] - x) + _ninth(near[i + 1] - x)
        total += _ninth(near[i + 2] - x) + _ninth(near[i + 3] - x)
        total += _ninth(near[i + 4] - x) + _ninth(near[i + 5] - x)
        total += _ninth(near[i + 6] - x) + _ninth(near[i + 7] - x)
    return total


@summing
def _sum_powers(c: Array, d: Array, p: float) -> float:
    """sum_i |c_i - d_i|^p."""
    total = 0.0
    if p == 1.0:
        for i in range(len(c)):
            total += abs(c[i] - d[i])
    elif p == 1.5:
        for i in range(len(c)):
            total += _power_half(c[i] - d[i])
    elif p == 3.0:
        for i in range(len(c)):
            total += _cube(c[i] - d[i])
    elif p == 5.0:
        for i in range(len(c)):
            total += _fifth(c[i] - d[i])
    elif p == 7.0:
        for i in range(len(c)):
            total += _seventh(c[i] - d[i])
    elif p == 9.0:
        for i in range(len(c)):
            total += _ninth(c[i] - d[i])
    else:
        for i in range(len(c)):
            total += real_power(abs(c[i] - d[i]), p)
    return total


@exact
def sum_of_pairs(circle: Array, p: float) -> float:
    """sum_{i<j} |c_i - c_j|^p, where `circle` is c, c again, and zeros: each offset is one straight loop.

    The offsets 1..(n-1)/2 meet every pair once, but for opposite points of an even n, which meet at offset n/2.
    """
    n = len(circle) // 3
    c = circle[:n]
    last = (n - 1) // 2
    total = 0.0
    offset = 1
    if p == 1.0 or p == 1.5 or p == 3.0 or p == 5.0 or p == 7.0 or p == 9.0:
        while offset + 7 <= last:
            near = circle[offset : offset + n + 7]
            if p == 1.0:
                total += _eight_1(c, near)
            elif p == 1.5:
                total += _eight_half(c, near)
            elif p == 3.0:
                total += _eight_3(c, near)
            elif p == 5.0:
                total += _eight_5(c, near)
            elif p == 7.0:
                total += _eight_7(c, near)
            else:
                total += _eight_9(c, near)
            offset += 8
    for rest in range(offset, last + 1):
        total += _sum_powers(c, circle[rest : rest + n], p)
    if n % 2 == 0:
        total += _sum_powers(c[: n // 2], c[n // 2 :], p)
    return total


@summing
def _load_circle(x: Array, scale: float, circle: Array) -> None:
    n = len(x)
    for i in range(n):
        c = abs(x[i]) * scale
        circle[i] = c
        circle[n + i] = c


@exact
def by_pairs(x: Array, p: float, circle: Array) -> float:
    """S_p of one point at an odd or real order."""
    n = len(x)
    top, _ = even.top_and_sum(x)
    _load_circle(x, even.scale_of(top), circle)
    return sum_of_pairs(circle, p) / (n * _sum_powers(circle[:n], circle[2 * n :], p))
