"""Powers of magnitudes, written so that loops over them vectorise.

`real_power` is exp(p log x) for x in [0, 1]. Its relative error grows with p |log x|, but a term x^p that is
much smaller than the largest one, 1, does not count in a sum: the error of a sum of such powers stays near eps.
"""

from __future__ import annotations

from .bits import log2_part, near_one_part, times_power_of_two
from .lanes import LANES, join_lanes, total_of
from .vocabulary import Array, Lanes, Values, inlined, kernel

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the lowest bits
LOWEST = -700.0  # exp of less is taken as 0
POWER_BLOCK = 256  # whole powers added up in one go
REAL_BLOCK = 4096


@inlined
def log(x: float) -> float:
    """Return log x for a normal x > 0; about -709 for zero and subnormal numbers."""
    f = near_one_part(x) - 1.0
    e = log2_part(x)
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    # 2 atanh(s) = log(1 + f): the minimax coefficients that mathematical libraries share; two sums side by side, as
    # each operation of one sum would have to wait for the one before
    odd = 2.222219843214978396e-01 + w * 1.531383769920937332e-01
    odd = w * (3.999999999940941908e-01 + w * odd)
    even = 2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)
    tail = odd + z * (6.666666666666735130e-01 + w * even)
    half = 0.5 * f * f
    return e * LN2_HIGH - ((half - (s * (half + tail) + e * LN2_LOW)) - f)


@inlined
def exp(y: float) -> float:
    """Return exp y for LOWEST <= y <= 700."""
    rounded = y * LOG2_E + ROUND
    n = rounded - ROUND
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    z = r * r
    low = (1 / 24 + r * (1 / 120)) + z * (1 / 720 + r * (1 / 5040))
    high = (1 / 40320 + r * (1 / 362880)) + z * ((1 / 3628800 + r * (1 / 39916800)) + z * (1 / 479001600))
    q = 1.0 + (r + z * ((1 / 2 + r * (1 / 6)) + z * (low + (z * z) * high)))
    return times_power_of_two(q, rounded)


@inlined
def real_power(x: float, p: float) -> float:
    """Return x^p for 0 <= x <= 1 (or little more) and p > 0; what is below exp(-700) is 0."""
    y = p * log(x)
    value = exp(y if y > LOWEST else LOWEST)
    return value if (y > LOWEST) & (x > 0.0) else 0.0


@kernel
def sum_raised(x: Array, power: Array, n: int, p: int) -> float:
    """Return sum x[:n]^p for an integer p >= 1, by repeated squaring of the whole array; x and power are used up."""
    for i in range(n):
        power[i] = x[i] if p & 1 else 1.0
    p >>= 1
    while p > 0:
        for i in range(n):
            x[i] *= x[i]
        if p & 1:
            for i in range(n):
                power[i] *= x[i]
        p >>= 1
    return total_of(power, 0, n)


@kernel
def sum_integer_powers(c: Values, first: int, last: int, p: int, base: Array, power: Array) -> float:
    """Return sum c[first:last]^p for an integer p >= 2; `base` and `power` are POWER_BLOCK of room each."""
    total = 0.0
    for start in range(first, last, POWER_BLOCK):
        n = min(POWER_BLOCK, last - start)
        for i in range(n):
            base[i] = c[start + i]
        if p <= 8:  # one factor after the other is quicker than squaring
            for _ in range(p - 1):
                for i in range(n):
                    base[i] *= c[start + i]
            total += total_of(base, 0, n)
        else:
            total += sum_raised(base, power, n, p)
    return total


@kernel
def sum_real_powers(c: Values, first: int, last: int, p: float, unit: float) -> float:
    """Return sum (c_i unit)^p over c[first:last] for a real p, with c_i unit in [0, 1]."""
    total = 0.0
    for start in range(first, last, REAL_BLOCK):
        end = min(start + REAL_BLOCK, last)
        lane: Lanes = [0.0] * LANES
        rest = 0.0
        i = start
        while i + LANES <= end:
            for k in range(LANES):
                lane[k] += real_power(c[i + k] * unit, p)
            i += LANES
        while i < end:
            rest += real_power(c[i] * unit, p)
            i += 1
        total += join_lanes(lane) + rest
    return total
