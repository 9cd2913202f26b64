"""Powers of magnitudes, written so that loops over them vectorise.

`real_power` is exp(p log x) for x in [0, 1]. Its relative error grows with p |log x|, but a term x^p that is
much smaller than the largest one, 1, does not count in a sum: the error of a sum of such powers stays near eps.
"""

from __future__ import annotations

import math

from .bits import log2_part, near_one_part, times_power_of_two
from .lanes import LANES, join_lanes, total_of
from .vocabulary import Array, Lanes, Values, entry, inlined, kernel

LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
LOG2_E = 1.4426950408889634
ROUND = 6755399441055744.0  # 1.5 * 2^52: adding it rounds to an integer, kept in the lowest bits
LOWEST = -700.0  # exp of less is taken as 0
LOWEST_BITS, ZERO_BITS = -1010.0, -1022.25  # the same in powers of two, and what lies between those of 0 and of numbers
POWER_BLOCK = 256  # whole powers added up in one go
REAL_BLOCK = 4096


@inlined
def log(x: float) -> float:
    """Return log x for a normal x > 0; about -709 for zero and subnormal numbers."""
    f = near_one_part(x) - 1.0
    e = log2_part(x)
    s = f / (2.0 + f)
    z = s * s
    # log(1 + f) = 2 atanh(s) = s (2 + z R(z)), R being its Chebyshev fit of degree 5 (error 5e-14 z)
    fit = 0.2222286247684954062 + z * (0.1814018520249324636 + z * 0.1662194709017739949)
    fit = 0.6666666666666208044 + z * (0.4000000001121219952 + z * (0.2857142413651634836 + z * fit))
    return e * LN2_HIGH + (s * (2.0 + z * fit) + e * LN2_LOW)


@inlined
def exp(y: float) -> float:
    """Return exp y for LOWEST <= y <= 700."""
    rounded = y * LOG2_E + ROUND
    n = rounded - ROUND
    r = (y - n * LN2_HIGH) - n * LN2_LOW
    # e^r = 1 + r + r^2 E(r), E being its Chebyshev fit of degree 8 (error 7e-15)
    fit = 1.984120873253638312e-4 + r * (
        2.480153638869076781e-5 + r * (2.762511557828762934e-6 + r * 2.761380686153828809e-7)
    )
    fit = 0.04166666666665135503 + r * (0.008333333353729397152 + r * (0.00138888889058815425 + r * fit))
    fit = 0.5 + r * (0.1666666666664828815 + r * fit)
    return times_power_of_two(1.0 + (r + r * r * fit), rounded)


@inlined
def real_power(x: float, p: float) -> float:
    """Return x^p for x >= 0 and p >= 0, where that is below 2^1000; what is below 2^LOWEST_BITS is 0.

    2^(p log2 x), with the fits of `log` and `exp` in powers of two, which saves multiplications, and summed in
    pairs (Estrin), which shortens the chain of operations that wait for each other. The selections stand one
    by one: a compiler does not vectorise a loop over combined conditions.
    """
    f = near_one_part(x) - 1.0
    s = f / (2.0 + f)
    z = s * s
    zz = z * z
    fit = (0.9617966939259094396 + z * 0.5770780165173432094) + zz * (0.4121985191288736921 + z * 0.3206081348970825863)
    fit = fit + (zz * zz) * (0.26170755232444363 + z * 0.2398040063691766968)
    y = p * (log2_part(x) + s * (2.8853900817779268147 + z * fit))
    lowest = LOWEST_BITS if p >= 1.0 else ZERO_BITS * p  # log2_part(0) = -1023 lies below either
    bounded = y if y > lowest else lowest
    rounded = bounded + ROUND
    r = bounded - (rounded - ROUND)
    rr = r * r
    rrrr = rr * rr
    low = (0.6931471805599461591 + r * 0.2402265069591007614) + rr * (0.05550410866465164481 + r * 0.009618129107618664)
    high = (1.333355820080112089e-3 + r * 1.540353042478029713e-4) + rr * (
        1.525267291997623513e-5 + r * 1.321545163040680705e-6
    )
    top = 1.020590652794565914e-7 + r * 7.070978509853820536e-9
    value = times_power_of_two(1.0 + r * (low + rrrr * (high + rrrr * top)), rounded)
    return value if y >= lowest else 0.0


@inlined
def any_power(x: float, p: float) -> float:
    """Return x^p for x > 0 and any real p, where that is between exp(LOWEST) and exp(700)."""
    return exp(max(p * log(x), LOWEST))


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


# How a power of a distance is computed: half-integer orders need a square root only, a tenth of the work.
HALF, THREE_HALVES, FIVE_HALVES, SEVEN_HALVES, REAL = 0, 1, 2, 3, 4


@entry
def power_kind(p: float) -> int:
    """Return which of the kinds above an order p is."""
    if p == 0.5:
        return HALF
    if p == 1.5:
        return THREE_HALVES
    if p == 2.5:
        return FIVE_HALVES
    return SEVEN_HALVES if p == 3.5 else REAL


@inlined
def power_of(d: float, p: float, kind: int) -> float:
    """Return d^p for 0 <= d <= 1; with a literal `kind` the compiler keeps one of the formulas."""
    if kind == HALF:
        return math.sqrt(d)
    if kind == THREE_HALVES:
        return d * math.sqrt(d)
    if kind == FIVE_HALVES:
        return (d * d) * math.sqrt(d)
    if kind == SEVEN_HALVES:
        return (d * d) * (d * math.sqrt(d))
    return real_power(d, p)


@inlined
def sum_distances_of(c: Values, first: int, last: int, point: float, unit: float, p: float, kind: int) -> float:
    """Return sum (|point - c_i| unit)^p over c[first:last], for a literal kind."""
    lane: Lanes = [0.0] * LANES
    rest = 0.0
    i = first
    while i + LANES <= last:
        for k in range(LANES):
            lane[k] += power_of(abs(point - c[i + k]) * unit, p, kind)
        i += LANES
    while i < last:
        rest += power_of(abs(point - c[i]) * unit, p, kind)
        i += 1
    return join_lanes(lane) + rest


@inlined
def sum_distances(c: Values, first: int, last: int, point: float, unit: float, p: float, kind: int) -> float:
    """Return sum (|point - c_i| unit)^p over c[first:last]."""
    if kind == HALF:
        return sum_distances_of(c, first, last, point, unit, p, HALF)
    if kind == THREE_HALVES:
        return sum_distances_of(c, first, last, point, unit, p, THREE_HALVES)
    if kind == FIVE_HALVES:
        return sum_distances_of(c, first, last, point, unit, p, FIVE_HALVES)
    if kind == SEVEN_HALVES:
        return sum_distances_of(c, first, last, point, unit, p, SEVEN_HALVES)
    return sum_distances_of(c, first, last, point, unit, p, REAL)


@inlined
def sum_all_pairs_of(c: Values, n: int, unit: float, p: float, kind: int) -> float:
    """Return sum_{i<j} ((c_j - c_i) unit)^p, for a literal kind."""
    lane: Lanes = [0.0] * LANES
    for j in range(1, n):
        point = c[j]
        i = 0
        while i < j:  # beyond j the distances are negative, and count as 0
            for k in range(LANES):
                d = (point - c[i + k]) * unit
                lane[k] += power_of(d if d > 0.0 else 0.0, p, kind)
            i += LANES
    return join_lanes(lane)


@kernel
def sum_all_pairs(c: Values, n: int, unit: float, p: float, kind: int) -> float:
    """Return sum_{i<j} ((c_j - c_i) unit)^p over c[:n], sorted, after which c has LANES infinities."""
    if kind == THREE_HALVES:
        return sum_all_pairs_of(c, n, unit, p, THREE_HALVES)
    if kind == FIVE_HALVES:
        return sum_all_pairs_of(c, n, unit, p, FIVE_HALVES)
    if kind == SEVEN_HALVES:
        return sum_all_pairs_of(c, n, unit, p, SEVEN_HALVES)
    return sum_all_pairs_of(c, n, unit, p, REAL)


@kernel
def sum_real_powers(c: Values, first: int, last: int, p: float, unit: float) -> float:
    """Return sum (c_i unit)^p over c[first:last] for a real p, with c_i unit in [0, 1]."""
    kind = power_kind(p)
    total = 0.0
    for start in range(first, last, REAL_BLOCK):
        total += sum_distances(c, start, min(start + REAL_BLOCK, last), 0.0, unit, p, kind)
    return total
