"""Powers of magnitudes, written so that loops over them vectorise.

`real_power` is exp(p log x) for x in [0, 1]. Its relative error grows with p |log x|, but a term x^p that is
much smaller than the largest one, 1, does not count in a sum: the error of a sum of such powers stays near eps.
"""

from __future__ import annotations

import numpy as np

from ..._arrays import Array
from .jit import exact, summing

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the lowest bits
SQRT_HALF = 0x3FE6A09E667F3BCD
LOWEST = -700.0  # exp of less is taken as 0


@exact
def log(x: float) -> float:
    """log x for a normal x > 0; about -710 for zero and subnormal numbers."""
    bits = np.float64(x).view(np.int64)
    k = (bits - SQRT_HALF) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    # 2 atanh(s) = log(1 + f): the minimax coefficients that mathematical libraries share
    tail = 1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01)
    tail = 2.857142874366239149e-01 + z * (2.222219843214978396e-01 + z * tail)
    tail = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * tail))
    half = 0.5 * f * f
    e = np.float64(k)
    return e * LN2_HIGH - ((half - (s * (half + tail) + e * LN2_LOW)) - f)


@exact
def exp(y: float) -> float:
    """exp y for LOWEST <= y <= 700."""
    rounded = y * LOG2_E + ROUND
    n = rounded - ROUND
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    q = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
    q = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * q))))))
    return np.int64(np.float64(q).view(np.int64) + (np.float64(rounded).view(np.int64) << 52)).view(np.float64)


@exact
def real_power(x: float, p: float) -> float:
    """x^p for 0 <= x <= 1 (or little more) and p > 0; what is below exp(-700) is 0."""
    y = p * log(x)
    value = exp(max(y, LOWEST))
    return value if y > LOWEST and x > 0.0 else 0.0


# The loops below stand alone because a compiler that sees few arrays at a time can prove that they do not overlap.


@summing
def _multiply(x: Array, y: Array, n: int) -> None:
    for i in range(n):
        x[i] *= y[i]


@summing
def _sum(x: Array, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i]
    return total


@summing
def _sum_product(x: Array, y: Array, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x[i] * y[i]
    return total


@exact
def sum_raised(x: Array, power: Array, n: int, p: int) -> float:
    """sum x[:n]^p for an integer p >= 1, by repeated squaring of the whole array; x and power are used up."""
    power[:n] = 1.0
    if p & 1:
        _multiply(power, x, n)
    p >>= 1
    while p > 0:
        _multiply(x, x, n)
        if p & 1:
            _multiply(power, x, n)
        p >>= 1
    return _sum(power, n)


@exact
def sum_integer_powers(c: Array, p: int, scratch: Array) -> float:
    """sum_i c_i^p for an integer p >= 2; scratch is (2, block) of room."""
    block = scratch.shape[1]
    total = 0.0
    for start in range(0, len(c), block):
        part = c[start : start + block]
        scratch[0, : len(part)] = part
        if p <= 8:  # one factor after the other is quicker than squaring
            for _ in range(p - 2):
                _multiply(scratch[0], part, len(part))
            total += _sum_product(scratch[0], part, len(part))
        else:
            total += sum_raised(scratch[0], scratch[1], len(part), p)
    return total


@summing
def sum_real_powers(c: Array, p: float, unit: float) -> float:
    """sum_i (c_i unit)^p for a real p, with c_i unit in [0, 1]."""
    block = 4096
    total = 0.0
    for start in range(0, len(c), block):
        part = 0.0
        for i in range(start, min(start + block, len(c))):
            part += real_power(c[i] * unit, p)
        total += part
    return total
