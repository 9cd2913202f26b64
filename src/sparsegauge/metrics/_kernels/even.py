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

LARGEST_ORDER = 128
CHUNK = 1 << 16  # coefficients summed up by one task; fixed, so that results do not depend on the threads
BLOCK = 256  # coefficients whose powers stay in the fastest cache
ROOM = 3  # blocks of working memory
HAND_OVER = -1.0
TINY, HUGE = 1e-290, 1e290  # rows whose maximum lies outside are handed over: their scale or sum may overflow
TRUSTED = 2e-13  # the largest bound of the relative error that is let through
SMALLEST = 1e-280  # a numerator below lost digits to underflow


@summing
def top_and_sum(x: Array) -> tuple[float, float]:
    """max |x_i| and sum |x_i|."""
    top = 0.0
    total = 0.0
    for i in range(len(x)):
        c = abs(x[i])
        top = max(top, c)
        total += c
    return top, total


@exact
def scale_of(value: float) -> float:
    """The power of two that brings a `value` between TINY and HUGE into [1/2, 1)."""
    return math.ldexp(1.0, -math.frexp(value)[1])


@summing
def _first_pass(
    x: Array, scale: float, shift: float, c: Array, power: Array, high: Array
) -> tuple[float, float, float]:
    """The block's c, u^2 and c^2 for u = c - shift, and the sums of u, u^2 and c^2."""
    odd_sum = even_sum = denominator = 0.0
    for i in range(len(x)):
        value = abs(x[i]) * scale
        u = value - shift
        c[i] = value
        power[i] = u * u
        high[i] = value * value
        odd_sum += u
        even_sum += u * u
        denominator += value * value
    return odd_sum, even_sum, denominator


@summing
def _next_pass(n: int, shift: float, c: Array, power: Array, high: Array) -> tuple[float, float, float]:
    """The block's powers two higher, and the sums of the next two powers of u and of the next even one of c."""
    odd_sum = even_sum = denominator = 0.0
    for i in range(n):
        u = c[i] - shift
        odd = power[i] * u
        even = odd * u
        above = high[i] * c[i] * c[i]
        power[i] = even
        high[i] = above
        odd_sum += odd
        even_sum += even
        denominator += above
    return odd_sum, even_sum, denominator


@summing
def _low_moments(x: Array, scale: float, shift: float, out: Array) -> None:
    """Both passes for orders 2 and 4 at once, without intermediate memory: these are the orders asked for most."""
    first = second = third = fourth = squares = fourth_powers = 0.0
    for i in range(len(x)):
        c = abs(x[i]) * scale
        u = c - shift
        first += u
        second += u * u
        third += u * u * u
        fourth += (u * u) * (u * u)
        squares += c * c
        fourth_powers += (c * c) * (c * c)
    out[1] += first
    out[2] += second
    if len(out) == 4:
        out[3] += squares
    else:
        out[3] += third
        out[4] += fourth
        out[5] += fourth_powers


@exact
def chunk_moments(x: Array, scale: float, shift: float, p: int, room: Array, out: Array) -> None:
    """out[k] = M_k for k = 0..p and out[p + 1] = sum c^p, of one chunk."""
    out[:] = 0.0
    out[0] = len(x)
    c, power, high = room[0], room[1], room[2]
    for start in range(0, len(x), BLOCK):
        block = x[start : start + BLOCK]
        if p <= 4:
            _low_moments(block, scale, shift, out)
            continue
        odd_sum, even_sum, denominator = _first_pass(block, scale, shift, c, power, high)
        out[1] += odd_sum
        out[2] += even_sum
        for k in range(3, p, 2):
            odd_sum, even_sum, denominator = _next_pass(len(block), shift, c, power, high)
            out[k] += odd_sum
            out[k + 1] += even_sum
        out[p + 1] += denominator


@exact
def combine(moments: Array, length: int, binomials: Array) -> float:
    """S_p of a row of `length` coefficients from its moments, or HAND_OVER."""
    p = len(moments) - 2
    numerator = 0.0
    bound = 0.0
    for k in range(p + 1):
        sign = 1.0 - 2.0 * (k & 1)
        numerator += sign * binomials[k] * moments[k] * moments[p - k]
        size = moments[k] * moments[p - k]
        if k & 1:  # an odd moment is known only to eps times its absolute twin; Cauchy and Schwarz bound that
            # paired so that both products are of degree p, like the numerator: then neither underflows before it does
            size = math.sqrt(moments[k - 1] * moments[p - k + 1]) * math.sqrt(moments[k + 1] * moments[p - k - 1])
        bound += binomials[k] * size
    rounding = (p + 8) * 2.2e-16
    if numerator < SMALLEST or rounding * bound > TRUSTED * numerator:
        return HAND_OVER
    return min(0.5 * numerator / (length * moments[p + 1]), (length - 1) / length)


@exact
def rows(
    x: Array, starts: Indices, lengths: Indices, binomials: Array, zero: float, first: int, last: int, out: Array
) -> int:
    """S_p of the rows first..last-1, each taken as one chunk; HAND_OVER, and how many, for the sorted route."""
    p = len(binomials) - 1
    handed_over = 0
    room = np.empty((ROOM, BLOCK))
    moments = np.empty(p + 2)
    for r in range(first, last):
        row = x[starts[r] : starts[r + 1]]
        top, total = top_and_sum(row)
        if top == 0.0:
            out[r] = zero
            continue
        if not TINY < top < HUGE or lengths[r] > len(row):  # zeros that are not stored
            out[r] = HAND_OVER
            handed_over += 1
            continue
        scale = scale_of(top)
        shift = total * scale / len(row)
        chunk_moments(row, scale, shift, p, room, moments)
        out[r] = combine(moments, lengths[r], binomials)
        handed_over += out[r] == HAND_OVER
    return handed_over
