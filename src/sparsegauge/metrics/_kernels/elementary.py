"""Logarithms and exponentials that vectorise and keep their digits near 1 and near 0.

`powers.log` and `powers.exp` lose the digits of what differs little from 1; here that difference is an argument. Loops
call these functions directly: through one function more the compiler no longer puts them into the loop, which then does
not vectorise.
"""

from __future__ import annotations

import numpy as np

from .jit import exact
from .powers import LN2_HIGH, LN2_LOW, LOG2_E, LOWEST, ROUND, SQRT_HALF, exp, log

HIGHEST = 700.0  # exponents are cut there, and at LOWEST
SMALLEST_NORMAL = 2.2250738585072014e-308
SUBNORMAL_UNIT = 18014398509481984.0  # 2^54
LOG_SUBNORMAL_UNIT = 37.42994775023705


@exact
def any_log(x: float) -> float:
    """log x for every x > 0, subnormal ones too."""
    tiny = x < SMALLEST_NORMAL
    return log(x * SUBNORMAL_UNIT if tiny else x) - (LOG_SUBNORMAL_UNIT if tiny else 0.0)


@exact
def log_ratio(c: float, other: float) -> float:
    """log(c/other) for any c and other > 0; exactly the same when both are scaled by a power of two."""
    quotient = c / other
    return any_log(quotient) if 1e-300 < quotient < 1e300 else any_log(c) - any_log(other)


@exact
def log1p(u: float) -> float:
    """log(1 + u) for u >= 0."""
    w = 1.0 + u
    return log(w) + (u - (w - 1.0)) / w


@exact
def ratio(c: float, q: float, unit: float, squared: bool) -> tuple[float, float]:
    """z = c/q or c^2/q^2, and z - 1, for unit = 1/q."""
    z = c * unit
    d = (c - q) * unit
    return (z * z, d * (2.0 + d)) if squared else (z, d)


@exact
def log_near(z: float, d: float) -> tuple[float, float, float]:
    """log z, z - 1 - log z and z log z - z + 1 from z >= 0 and d = z - 1; the last two without cancelling near z = 1.

    With s = d/(2 + d) and the even series R(s), log(1 + d) = d - s (d - R): the other two are s (d - R) and
    s (d + z R).
    """
    bits = np.float64(z).view(np.int64)
    k = (bits - SQRT_HALF) >> 52
    f = np.int64(bits - (k << 52)).view(np.float64) - 1.0
    f = np.float64(d) if k == 0 else f
    s = f / (2.0 + f)
    t = s * s
    # the minimax coefficients of powers.log
    tail = 1.818357216161805012e-01 + t * (1.531383769920937332e-01 + t * 1.479819860511658591e-01)
    tail = 2.857142874366239149e-01 + t * (2.222219843214978396e-01 + t * tail)
    tail = t * (6.666666666666735130e-01 + t * (3.999999999940941908e-01 + t * tail))
    half = 0.5 * f * f
    e = np.float64(k)
    y = e * LN2_HIGH - ((half - (s * (half + tail) + e * LN2_LOW)) - f)
    below = s * (d - tail) if k == 0 else d - y
    above = s * (d + z * tail) if k == 0 else z * y - d
    return y, below, above


@exact
def _reduced(t: float) -> tuple[float, float, float]:
    """r, e^r - 1 - r and 2^n of e^t = 2^n e^r."""
    rounded = t * LOG2_E + ROUND
    n = rounded - ROUND
    r = (t - n * LN2_HIGH) - n * LN2_LOW
    q = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
    q = r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * q)))))
    power = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52).view(np.float64)
    return r, q, power


@exact
def expm1(t: float) -> float:
    """e^t - 1, t cut at LOWEST and HIGHEST."""
    r, q, power = _reduced(min(max(t, LOWEST), HIGHEST))
    return power * (r + q) + (power - 1.0)


@exact
def exp_beyond(t: float) -> float:
    """e^t - 1 - t >= 0, t cut at LOWEST and HIGHEST."""
    t = min(max(t, LOWEST), HIGHEST)
    r, q, power = _reduced(t)
    return q if power == 1.0 else power * (1.0 + (r + q)) - 1.0 - t


@exact
def exp_any(t: float) -> float:
    """e^t for every t, by way of e^(t/2): so that subnormal numbers, 0 and inf come out too."""
    half = exp(min(max(0.5 * t, LOWEST), HIGHEST))
    return half * half
