"""Logarithms and exponentials that vectorise and keep their digits near 1 and near 0.

`powers.log` and `powers.exp` lose the digits of what differs little from 1; here that difference is an argument.
"""

from __future__ import annotations

from .bits import log2_part, near_one_part, power_of_two
from .powers import LN2_HIGH, LN2_LOW, LOG2_E, LOWEST, ROUND, exp, log
from .vocabulary import inlined

HIGHEST = 700.0  # exponents are cut there, and at LOWEST
SMALLEST_NORMAL = 2.2250738585072014e-308
SUBNORMAL_UNIT = 18014398509481984.0  # 2^54
LOG_SUBNORMAL_UNIT = 37.42994775023705


@inlined
def any_log(x: float) -> float:
    """Return log x for every x > 0, subnormal ones too."""
    tiny = x < SMALLEST_NORMAL
    return log(x * SUBNORMAL_UNIT if tiny else x) - (LOG_SUBNORMAL_UNIT if tiny else 0.0)


@inlined
def log_ratio(c: float, other: float) -> float:
    """Return log(c/other) for any c and other > 0; exactly the same when both are scaled by a power of two."""
    quotient = c / other
    return any_log(quotient) if 1e-300 < quotient < 1e300 else any_log(c) - any_log(other)


@inlined
def log1p(u: float) -> float:
    """Return log(1 + u) for u >= 0."""
    w = 1.0 + u
    return log(w) + (u - (w - 1.0)) / w


@inlined
def ratio_less_one(c: float, q: float, unit: float, squared: bool) -> float:
    """Return z - 1 for z = c/q or c^2/q^2, and unit = 1/q."""
    d = (c - q) * unit
    return d * (2.0 + d) if squared else d


@inlined
def ratio(c: float, unit: float, squared: bool) -> float:
    """Return z = c/q or c^2/q^2 for unit = 1/q."""
    z = c * unit
    return z * z if squared else z


@inlined
def atanh_tail(t: float) -> float:
    """Return log((1 + s)/(1 - s))/s - 2 for t = s^2: the fit of powers.log."""
    fit = 0.2222286247684954062 + t * (0.1814018520249324636 + t * 0.1662194709017739949)
    return t * (0.6666666666666208044 + t * (0.4000000001121219952 + t * (0.2857142413651634836 + t * fit)))


@inlined
def log_near(z: float, d: float) -> float:
    """Return log z from z >= 0 and d = z - 1, with all digits near z = 1."""
    k = log2_part(z)
    f = d if k == 0.0 else near_one_part(z) - 1.0
    s = f / (2.0 + f)
    half = 0.5 * f * f
    tail = atanh_tail(s * s)
    return k * LN2_HIGH - ((half - (s * (half + tail) + k * LN2_LOW)) - f)


@inlined
def below_log(z: float, d: float, y: float) -> float:
    """Return z - 1 - log z for y = log z, without cancelling near z = 1.

    With s = d/(2 + d) and the even series R(s), log(1 + d) = d - s (d - R): so this is s (d - R).
    """
    s = d / (2.0 + d)
    near = s * (d - atanh_tail(s * s))
    return near if log2_part(z) == 0.0 else d - y


@inlined
def above_log(z: float, d: float, y: float) -> float:
    """Return z log z - z + 1 for y = log z, without cancelling near z = 1: s (d + z R)."""
    s = d / (2.0 + d)
    near = s * (d + z * atanh_tail(s * s))
    return near if log2_part(z) == 0.0 else z * y - d


@inlined
def exp_rest(r: float) -> float:
    """Return e^r - 1 - r for |r| <= log(2)/2."""
    q = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600)))))
    return r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * q)))))


@inlined
def cut_exponent(t: float) -> float:
    """Return t cut at LOWEST and HIGHEST."""
    t = t if t > LOWEST else LOWEST
    return t if t < HIGHEST else HIGHEST


@inlined
def expm1(t: float) -> float:
    """Return e^t - 1, t cut at LOWEST and HIGHEST."""
    t = cut_exponent(t)
    rounded = t * LOG2_E + ROUND
    n = rounded - ROUND
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    power = power_of_two(rounded)
    return power * (r + exp_rest(r)) + (power - 1.0)


@inlined
def exp_beyond(t: float) -> float:
    """Return e^t - 1 - t >= 0, t cut at LOWEST and HIGHEST."""
    t = cut_exponent(t)
    rounded = t * LOG2_E + ROUND
    n = rounded - ROUND
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    q = exp_rest(r)
    power = power_of_two(rounded)
    far = power * (1.0 + (r + q)) - 1.0 - t
    return q if power == 1.0 else far


@inlined
def exp_any(t: float) -> float:
    """Return e^t for every t, by way of e^(t/2): so that subnormal numbers, 0 and inf come out too."""
    half = exp(cut_exponent(0.5 * t))
    return half * half
