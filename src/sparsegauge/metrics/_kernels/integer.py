"""Integer orders by a recurrence in which every term is positive, so that nothing cancels.

For sorted c, P_j(t) = sum_{i<j} (c_j + t - c_i)^p is a polynomial in t with positive coefficients
a_q = C(p, q) g_q(j), g_q(j) = sum_{i<j} (c_j - c_i)^q. Going from c_j to c_{j+1} shifts t by the gap: a Taylor
shift with a positive step. num_p = sum_j a_p(j).

Short rows walk from coefficient to coefficient, `LANES` rows side by side. Long ones walk from block to block:
between two runs split at s, sum (b - a)^p = sum_m C(p, m) sum (b - s)^m sum (s - a)^(p-m), again all positive.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from .jit import exact, summing
from .powers import sum_integer_powers, sum_raised

LARGEST_ORDER = 128
SHORT = 256  # rows up to this length, and orders up to SHORT_ORDER, walk coefficient by coefficient
SHORT_ORDER = 16
LANES = 64
CHUNK = 8192  # coefficients folded by one task; fixed, so that results do not depend on the threads


@exact
def range_exponent(c: Array) -> int:
    """e with (max - min) 2^-e in [1/2, 1)."""
    return math.frexp(c[-1] - c[0])[1]


@exact
def finish(numerator: float, denominator: float, length: int, exponent: int) -> float:
    """numerator 2^exponent / (length denominator), without an overflow on the way."""
    return math.ldexp(numerator / (length * denominator), exponent)


@exact
def _load_gaps(c: Array, gaps: Array, exponents: Indices) -> None:
    """The gaps of sorted rows as columns, each row scaled to a range in [1/2, 1)."""
    for lane in range(len(c)):
        row = c[lane]
        exponents[lane] = range_exponent(row)
        scale = math.ldexp(1.0, -exponents[lane])
        for j in range(1, len(row)):
            gaps[j, lane] = (row[j] - row[j - 1]) * scale


@exact
def _add_product(sums: Array, gaps: Array, lower: Array) -> None:
    for lane in range(len(sums)):
        sums[lane] += gaps[lane] * lower[lane]


@exact
def _walk(gaps: Array, p: int, a: Array, total: Array) -> None:
    """num_p of all lanes at once. Exact order of operations: a lane's bits do not depend on the lanes beside it."""
    a[:] = 0.0
    total[:] = 0.0
    for j in range(1, len(gaps)):
        for lane in range(len(total)):
            a[0, lane] += 1.0
        for k in range(p):  # the Taylor shift, by Horner's scheme
            for q in range(1, p - k + 1):
                _add_product(a[q], gaps[j], a[q - 1])
        for lane in range(len(total)):
            total[lane] += a[p, lane]


@exact
def short_rows(c: Array, p: int, zero: float, first: int, last: int, out: Array) -> None:
    """S_p of the rows first..last-1 of a 2-D array, sorted and scaled to a maximum in [1/2, 1)."""
    n = c.shape[1]
    width = min(LANES, last - first)
    gaps = np.zeros((n, width))
    a = np.empty((p + 1, width))
    total = np.empty(width)
    exponents = np.empty(width, np.int64)
    room = np.empty((2, SHORT))
    for start in range(first, last, width):
        lanes = min(width, last - start)
        _load_gaps(c[start : start + lanes], gaps, exponents)
        _walk(gaps, p, a, total)
        for lane in range(lanes):
            row = c[start + lane]
            if row[-1] == 0.0:
                out[start + lane] = zero
            else:
                denominator = sum_integer_powers(row, p, room)
                out[start + lane] = min(finish(total[lane], denominator, n, p * exponents[lane]), (n - 1) / n)


@exact
def block_size(p: int) -> int:
    """The fastest block: pairs inside a block cost its length, the shift between blocks p^2 over it."""
    if p <= 24:
        return 16
    return 32 if p <= 64 else 64


@summing
def _power_sums(c: Array, origin: float, scale: float, p: int, room: Array, out: Array) -> None:
    """out[m] = sum ((c - origin) scale)^m for m = 0..p; a negative scale measures downwards."""
    n = len(c)
    u = room[0]
    power = room[1]
    for i in range(n):
        u[i] = (c[i] - origin) * scale
        power[i] = 1.0
    out[0] = n
    for m in range(1, p + 1):
        part = 0.0
        for i in range(n):
            power[i] *= u[i]
            part += power[i]
        out[m] = part


@summing
def _pairs_inside(c: Array, scale: float, p: int, room: Array) -> float:
    """sum_{i<j} ((c_j - c_i) scale)^p of one block."""
    pairs = 0
    difference = room[0]
    for lag in range(1, len(c)):
        count = len(c) - lag
        for i in range(count):
            difference[pairs + i] = (c[i + lag] - c[i]) * scale
        pairs += count
    return sum_raised(difference, room[1], pairs, p)


@summing
def _shift(below: Array, step: float, binomials: Array, power: Array) -> None:
    """below[k] = sum_a (s - a)^k moved from s to s + step: sum_j C(k, j) step^(k-j) below[j]."""
    p = len(below) - 1
    power[0] = 1.0
    for k in range(1, p + 1):
        power[k] = power[k - 1] * step
    for k in range(p, 0, -1):
        total = 0.0
        for j in range(k + 1):
            total += binomials[k, j] * power[k - j] * below[j]
        below[k] = total


@summing
def _between(above: Array, below: Array, binomials: Array) -> float:
    """sum (b - a)^p over two runs split at s, from above[m] = sum (b - s)^m and below[m] = sum (s - a)^m."""
    p = len(above) - 1
    total = 0.0
    for m in range(p + 1):
        total += binomials[p, m] * above[m] * below[p - m]
    return total


@exact
def chunk_state(c: Array, scale: float, binomials: Array, out: Array) -> None:
    """One chunk folded: out[0, 0] its own pairs, out[1] its power sums above its minimum, out[2] below its maximum."""
    p = len(binomials) - 1
    block = block_size(p)
    room = np.empty((2, block * (block + 1) // 2))
    above = np.empty(p + 1)
    inside = np.empty(p + 1)
    power = np.empty(p + 1)
    below = out[2]
    out[:] = 0.0
    last = c[0]
    for start in range(0, len(c), block):
        run = c[start : start + block]
        _power_sums(run, run[0], scale, p, room, above)
        _shift(below, (run[0] - last) * scale, binomials, power)
        out[0, 0] += _between(above, below, binomials) + _pairs_inside(run, scale, p, room)
        _shift(below, (run[-1] - run[0]) * scale, binomials, power)
        _power_sums(run, run[-1], -scale, p, room, inside)
        for m in range(p + 1):
            below[m] += inside[m]
        last = run[-1]
    for start in range(0, len(c), block):
        _power_sums(c[start : start + block], c[0], scale, p, room, above)
        for m in range(p + 1):
            out[1, m] += above[m]


@exact
def fold(c: Array, states: Array, scale: float, binomials: Array) -> float:
    """num_p of a whole row from the states of its chunks."""
    below = states[0, 2].copy()
    power = np.empty(len(below))
    numerator = states[0, 0, 0]
    for k in range(1, len(states)):
        chunk = c[k * CHUNK : (k + 1) * CHUNK]
        _shift(below, (chunk[0] - c[k * CHUNK - 1]) * scale, binomials, power)
        numerator += states[k, 0, 0] + _between(states[k, 1], below, binomials)
        _shift(below, (chunk[-1] - chunk[0]) * scale, binomials, power)
        for m in range(len(below)):
            below[m] += states[k, 2, m]
    return numerator


@exact
def chunk_states(c: Array, scale: float, binomials: Array, first: int, last: int, states: Array) -> None:
    """The states of the chunks first..last-1."""
    for k in range(first, last):
        chunk_state(c[k * CHUNK : (k + 1) * CHUNK], scale, binomials, states[k])


@exact
def left_sums(c: Array, binomials: Array, out: Array) -> None:
    """out[k] = sum_{i<k} (c_k - c_i)^q for an integer q >= 1 and every k; c is sorted, with a range in [1/2, 1)."""
    q = len(binomials) - 1
    block = block_size(q)
    below = np.zeros(q + 1)
    inside = np.empty(q + 1)
    power = np.empty(q + 1)
    room = np.empty((2, block))
    last = c[0]
    for start in range(0, len(c), block):
        run = c[start : start + block]
        _shift(below, run[0] - last, binomials, power)
        for k in range(len(run)):
            for i in range(k):
                room[0, i] = run[k] - run[i]
            total = sum_raised(room[0], room[1], k, q)
            t = run[k] - run[0]
            value = 0.0
            for m in range(q, -1, -1):  # Horner: sum_m C(q, m) t^m below[q - m]
                value = value * t + binomials[q, m] * below[q - m]
            out[start + k] = total + value
        _shift(below, run[-1] - run[0], binomials, power)
        _power_sums(run, run[-1], -1.0, q, room, inside)
        for m in range(q + 1):
            below[m] += inside[m]
        last = run[-1]
