"""Even integer orders without a sort, from central moments.

The numerator is shift invariant, so for even p and any shift m

    num_p = 1/2 sum_k (-1)^k C(p, k) M_k M_{p-k},   M_k = sum_i (c_i - m)^k.

About the mean the terms hardly cancel, but nothing forbids it: the kernel bounds its own rounding error, and hands
the row over to the sorted route (`HAND_OVER`) where the bound is too large.
"""

from __future__ import annotations

import math

import numpy as np

from ..._arrays import Array, Indices
from .jit import exact, summing

LARGEST_ORDER = 64
CHUNK = 1 << 16  # coefficients summed up by one task; fixed, so that results do not depend on the threads
BLOCK = 256  # coefficients whose powers stay in the fastest cache
HAND_OVER = -1.0
TRUSTED = 2e-13  # the largest bound of the relative error that is let through


@summing
def largest(x: Array) -> float:
    """max |x_i|."""
    value = 0.0
    for i in range(len(x)):
        value = max(value, abs(x[i]))
    return value


@exact
def unit_scale(value: float) -> tuple[float, float]:
    """Two powers of two whose product brings `value` into [1/2, 1): one alone may overflow."""
    exponent = -math.frexp(value)[1]
    half = exponent // 2
    return math.ldexp(1.0, half), math.ldexp(1.0, exponent - half)


@summing
def scaled_sum(x: Array, scale: tuple[float, float]) -> float:
    """sum |x_i| scaled."""
    total = 0.0
    for i in range(len(x)):
        total += abs(x[i]) * scale[0] * scale[1]
    return total


@summing
def _block_moments(x: Array, scale: tuple[float, float], shift: float, p: int, room: Array, out: Array) -> None:
    n = len(x)
    u = room[0]
    power = room[1]
    top = 0.0
    for i in range(n):
        c = abs(x[i]) * scale[0] * scale[1]
        u[i] = c - shift
        power[i] = u[i]
        top += u[i]
    out[1] += top
    for k in range(2, p + 1):
        part = 0.0
        for i in range(n):
            power[i] *= u[i]
            part += power[i]
        out[k] += part


@summing
def _block_denominator(x: Array, scale: tuple[float, float], p: int, room: Array) -> float:
    n = len(x)
    square = room[0]
    power = room[1]
    total = 0.0
    for i in range(n):
        c = abs(x[i]) * scale[0] * scale[1]
        square[i] = c * c
        power[i] = square[i]
    for _ in range(p // 2 - 1):
        for i in range(n):
            power[i] *= square[i]
    for i in range(n):
        total += power[i]
    return total


@exact
def chunk_moments(x: Array, scale: tuple[float, float], shift: float, p: int, room: Array, out: Array) -> None:
    """out[k] = M_k for k = 0..p and out[p + 1] = sum c^p, of one chunk."""
    out[:] = 0.0
    out[0] = len(x)
    for start in range(0, len(x), BLOCK):
        block = x[start : start + BLOCK]
        _block_moments(block, scale, shift, p, room, out)
        out[p + 1] += _block_denominator(block, scale, p, room)


@exact
def combine(moments: Array, length: int, binomials: Array) -> float:
    """S_p of a row of `length` coefficients from its moments (zeros may be left out of them), or HAND_OVER."""
    p = len(moments) - 2
    if length > moments[0]:  # zeros that were not stored
        return HAND_OVER
    numerator = 0.0
    bound = 0.0
    for k in range(p + 1):
        sign = 1.0 - 2.0 * (k & 1)
        numerator += sign * binomials[k] * moments[k] * moments[p - k]
        size = moments[k] * moments[p - k]
        if k & 1:  # an odd moment is known only to eps times its absolute twin; Cauchy and Schwarz bound that
            size = math.sqrt(moments[k - 1] * moments[k + 1] * moments[p - k - 1] * moments[p - k + 1])
        bound += binomials[k] * size
    rounding = (p + 8) * 2.2e-16
    if numerator <= 0.0 or rounding * bound > TRUSTED * numerator:
        return HAND_OVER
    return 0.5 * numerator / (length * moments[p + 1])


@exact
def rows(
    x: Array, starts: Indices, lengths: Indices, binomials: Array, zero: float, first: int, last: int, out: Array
) -> int:
    """S_p of the rows first..last-1, each no longer than one chunk; HAND_OVER, and how many, for the sorted route."""
    p = len(binomials) - 1
    handed_over = 0
    room = np.empty((2, BLOCK))
    moments = np.empty(p + 2)
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        top = largest(row)
        if top == 0.0:
            out[r] = zero
            continue
        scale = unit_scale(top)
        shift = scaled_sum(row, scale) / len(row)
        chunk_moments(row, scale, shift, p, room, moments)
        out[r] = combine(moments, lengths[r], binomials)
        handed_over += out[r] == HAND_OVER
    return handed_over
