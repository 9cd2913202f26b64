r"""How far the non-zeros of a row lie apart, at any real order p: generalised entropies and power means.

With z = c/mean c, or z = c^2/mean c^2, over the non-zeros,

    Phi_p = mean phi_p(z),   phi_p(z) = (z^p - 1 - p (z - 1)) / (p (p - 1)) >= 0,

whose limits are phi_1 = z log z - z + 1 and phi_0 = z - 1 - log z. Everything else follows, since mean z = 1:
mean z^p = 1 + p (p - 1) Phi_p. Nothing cancels for nearly equal data, where Phi_p is tiny. The mean is known to
rounding only; about another number m, with w = z mean/m and 1 + e the mean of w,

    Phi_p = (mean phi_p(w) - phi_p(1 + e)) / (1 + e)^p.

Where instead mean z^p is tiny or overflows, it is added up on a logarithmic scale.
"""

from __future__ import annotations

import math

from ..._arrays import Array, Indices
from .elementary import any_log, exp_beyond, log_near, log_ratio, ratio
from .jit import exact, summing
from .rows import unit_scale
from .sums import BLOCK, WIDE, extremes, scaled, sum_powers

LARGEST_EXPONENT = 600.0


@exact
def _weights(p: float) -> tuple[float, float, float]:
    """The exponent of e^(k y), the factor of its remainder and the common factor in `_phi`."""
    k = p - 1.0 if p >= 0.5 else p
    factor = 0.0 if k == 0.0 else 1.0 / k
    return k, factor, 1.0 / p if p >= 0.5 else 1.0 / (1.0 - p)


@exact
def _phi(z: float, y: float, below: float, above: float, p: float, weights: tuple[float, float, float]) -> float:
    """phi_p(z), y = log z: two forms of the same, that with p - 1 for large p and that with p for small."""
    k, factor, common = weights
    upper = p >= 0.5
    return ((above if upper else below) + (z if upper else -1.0) * (exp_beyond(k * y) * factor)) * common


@summing
def _general(
    x: Array, once: float, twice: float, q: float, squared: bool, p: float, weights: tuple[float, float, float]
) -> tuple[float, float]:
    """Over the non-zeros: sum (w - 1), and sum phi_p(w)."""
    unit = 1.0 / q
    signed = total = 0.0
    for i in range(len(x)):
        z, d = ratio(scaled(x[i], once, twice), q, unit, squared)
        y, below, above = log_near(z, d)
        phi = _phi(z, y, below, above, p, weights)
        signed += d if x[i] != 0.0 else 0.0
        total += phi if x[i] != 0.0 else 0.0
    return signed, total


@summing
def _wide(
    x: Array, once: float, twice: float, q: float, squared: bool, p: float, weights: tuple[float, float, float]
) -> tuple[float, float]:
    """The same where some z underflow: their logarithms are taken from the unscaled values."""
    unit = 1.0 / q
    power = 2.0 if squared else 1.0
    level = any_log(q) - math.log(once) - math.log(twice)
    signed = total = 0.0
    for i in range(len(x)):
        c = abs(x[i])
        if c > 0.0:
            z, d = ratio(scaled(c, once, twice), q, unit, squared)
            y, below, above = log_near(z, d)
            if y < WIDE:
                y = power * (any_log(c) - level)
                below = d - y
                above = z * y - d
            signed += d
            total += _phi(z, y, below, above, p, weights)
    return signed, total


@summing
def _order_two(x: Array, once: float, twice: float, q: float) -> tuple[float, float]:
    """phi_2 = (z - 1)^2/2."""
    unit = 1.0 / q
    signed = total = 0.0
    for i in range(len(x)):
        _, d = ratio(scaled(x[i], once, twice), q, unit, False)
        d = d if x[i] != 0.0 else 0.0
        signed += d
        total += 0.5 * d * d
    return signed, total


@summing
def _order_half(x: Array, once: float, twice: float, q: float) -> tuple[float, float]:
    """phi_{1/2} = 2 (sqrt z - 1)^2."""
    unit = 1.0 / q
    signed = total = 0.0
    for i in range(len(x)):
        z, d = ratio(scaled(x[i], once, twice), q, unit, False)
        d = d if x[i] != 0.0 else 0.0
        root = d / (1.0 + math.sqrt(z))
        signed += d
        total += 2.0 * root * root
    return signed, total


@summing
def _sum(x: Array, once: float, twice: float, squared: bool) -> float:
    total = 0.0
    for i in range(len(x)):
        c = scaled(x[i], once, twice)
        total += c * c if squared else c
    return total


@exact
def _dispersion(row: Array, squared: bool, p: float) -> tuple[float, float]:
    """Phi_p, and log (mean z^p)^(1/p), of the non-zeros of a row."""
    top, bottom, count = extremes(row)
    if top == bottom or count == 0:
        return 0.0, 0.0
    once, twice = unit_scale(top)
    q = 0.0
    for start in range(0, len(row), BLOCK):
        q += _sum(row[start : start + BLOCK], once, twice, squared)
    q = math.sqrt(q / count) if squared else q / count
    power = 2.0 if squared else 1.0
    highest = power * log_ratio(scaled(top, once, twice), q)
    lowest = highest + power * log_ratio(bottom, top)
    weights = _weights(p)
    signed = total = 0.0
    for start in range(0, len(row), BLOCK):
        block = row[start : start + BLOCK]
        if p == 2.0 and not squared:
            sums = _order_two(block, once, twice, q)
        elif p == 0.5 and not squared:
            sums = _order_half(block, once, twice, q)
        elif lowest < WIDE:
            sums = _wide(block, once, twice, q, squared, p, weights)
        else:
            sums = _general(block, once, twice, q, squared, p, weights)
        signed += sums[0]
        total += sums[1]
    off = signed / count
    y, below, above = log_near(1.0 + off, off)
    phi = max(total / count - _phi(1.0 + off, y, below, above, p, weights), 0.0) * math.exp(-p * y)
    change = p * (p - 1.0) * phi
    if p == 0.0:
        return phi, -phi
    if p == 1.0:
        return phi, 0.0
    if change > -0.5 and p * highest < LARGEST_EXPONENT and p * lowest < LARGEST_EXPONENT:
        return phi, math.log1p(change) / p
    total = 0.0
    for start in range(0, len(row), BLOCK):
        block = row[start : start + BLOCK]
        total += sum_powers(block, top if p > 0.0 else bottom, p * power, lowest - highest < WIDE)
    level = (highest if p > 0.0 else lowest) - y + math.log(total / count) / p
    return math.expm1(p * level) / (p * (p - 1.0)), level


@exact
def dispersion_rows(x: Array, starts: Indices, squared: bool, p: float, first: int, last: int, out: Array) -> None:
    """Phi_p, and log (mean z^p)^(1/p), of the non-zeros of every row."""
    for r in range(first, last):
        out[r, 0], out[r, 1] = _dispersion(x[starts[r] : starts[r + 1]], squared, p)
