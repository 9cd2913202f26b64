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

from .elementary import above_log, any_log, below_log, exp_beyond, log_near, log_ratio, ratio, ratio_less_one
from .lanes import total_of
from .rows import unit_scale
from .sums import BLOCK, WIDE, extremes, scaled, sum_powers
from .vocabulary import Array, Indices, Matrix, Values, entry, inlined, kernel

LARGEST_EXPONENT = 600.0


@inlined
def phi_upper(z: float, d: float, y: float, k: float, factor: float, common: float) -> float:
    """Return phi_p(z) for y = log z and p >= 1/2, from k = p - 1, 1/k (0 for k = 0) and 1/p."""
    return (above_log(z, d, y) + z * (exp_beyond(k * y) * factor)) * common


@inlined
def phi_lower(z: float, d: float, y: float, k: float, factor: float, common: float) -> float:
    """Return the same for p < 1/2, from k = p, 1/k (0 for k = 0) and 1/(1 - p)."""
    return (below_log(z, d, y) - exp_beyond(k * y) * factor) * common


@entry
def phi(z: float, d: float, y: float, p: float) -> float:
    """Return phi_p(z) for y = log z: two forms of the same, that with p - 1 for large p and that with p for small."""
    if p >= 0.5:
        return phi_upper(z, d, y, p - 1.0, 0.0 if p == 1.0 else 1.0 / (p - 1.0), 1.0 / p)
    return phi_lower(z, d, y, p, 0.0 if p == 0.0 else 1.0 / p, 1.0 / (1.0 - p))


@inlined
def write_phi_of(
    x: Values, first: int, last: int, once: float, twice: float, q: float, squared: bool, k: float, common: float,
    upper: bool, term: Array, other: Array,
) -> None:  # fmt: skip
    """Write w - 1 and phi_p(w) of one block, for literal `squared` and `upper`; zeros give anything but numbers > 0."""
    unit = 1.0 / q
    factor = 0.0 if k == 0.0 else 1.0 / k
    for i in range(last - first):
        c = scaled(x[first + i], once, twice)
        z = ratio(c, unit, squared)
        d = ratio_less_one(c, q, unit, squared)
        y = log_near(z, d)
        term[i] = d
        if upper:
            other[i] = phi_upper(z, d, y, k, factor, common)
        else:
            other[i] = phi_lower(z, d, y, k, factor, common)
    for i in range(last - first):
        term[i] = term[i] if x[first + i] != 0.0 else 0.0
        other[i] = other[i] if x[first + i] != 0.0 else 0.0


@kernel
def write_phi(
    x: Values, first: int, last: int, once: float, twice: float, q: float, squared: bool, p: float, term: Array,
    other: Array,
) -> None:  # fmt: skip
    """Write w - 1 and phi_p(w) of the non-zeros of one block, 0 for zeros."""
    if p >= 0.5 and squared:
        write_phi_of(x, first, last, once, twice, q, True, p - 1.0, 1.0 / p, True, term, other)
    elif p >= 0.5:
        write_phi_of(x, first, last, once, twice, q, False, p - 1.0, 1.0 / p, True, term, other)
    elif squared:
        write_phi_of(x, first, last, once, twice, q, True, p, 1.0 / (1.0 - p), False, term, other)
    else:
        write_phi_of(x, first, last, once, twice, q, False, p, 1.0 / (1.0 - p), False, term, other)


@kernel
def write_phi_with_underflow(
    x: Values, first: int, last: int, once: float, twice: float, q: float, squared: bool, p: float, term: Array,
    other: Array,
) -> None:  # fmt: skip
    """The same where some z underflow: their logarithms are taken from the unscaled values."""
    unit = 1.0 / q
    power = 2.0 if squared else 1.0
    level = any_log(q) - math.log(once) - math.log(twice)
    for i in range(last - first):
        c = abs(x[first + i])
        term[i] = 0.0
        other[i] = 0.0
        if c > 0.0:
            z = ratio(scaled(c, once, twice), unit, squared)
            d = ratio_less_one(scaled(c, once, twice), q, unit, squared)
            y = log_near(z, d)
            if y < WIDE:
                y = power * (any_log(c) - level)
            term[i] = d
            other[i] = phi(z, d, y, p)


@kernel
def write_simple_phi(
    x: Values, first: int, last: int, once: float, twice: float, q: float, squares: bool, term: Array, other: Array
) -> None:
    """The same for order 2, phi = (z - 1)^2/2, or order 1/2, phi = 2 (sqrt z - 1)^2."""
    unit = 1.0 / q
    for i in range(last - first):
        c = scaled(x[first + i], once, twice)
        d = (c - q) * unit
        d = d if x[first + i] != 0.0 else 0.0
        term[i] = d
        root = d / (1.0 + math.sqrt(c * unit))
        other[i] = 0.5 * d * d if squares else 2.0 * root * root


@kernel
def centre_of(
    x: Values, first: int, last: int, count: int, once: float, twice: float, squared: bool, term: Array
) -> float:
    """Return the mean of the non-zeros, or the root of their mean square."""
    total = 0.0
    for start in range(first, last, BLOCK):
        n = min(BLOCK, last - start)
        for i in range(n):
            c = scaled(x[start + i], once, twice)
            term[i] = c * c if squared else c
        total += total_of(term, 0, n)
    return math.sqrt(total / count) if squared else total / count


@kernel
def dispersion_of(
    x: Values, first: int, last: int, squared: bool, p: float, term: Array, other: Array
) -> tuple[float, float]:
    """Return Phi_p, and log (mean z^p)^(1/p), of the non-zeros of a row."""
    top, bottom, count = extremes(x, first, last)
    if top == bottom or count == 0:
        return 0.0, 0.0
    once, twice = unit_scale(top)
    q = centre_of(x, first, last, count, once, twice, squared, term)
    power = 2.0 if squared else 1.0
    highest = power * log_ratio(scaled(top, once, twice), q)
    lowest = highest + power * log_ratio(bottom, top)
    signed = 0.0
    total = 0.0
    for start in range(first, last, BLOCK):
        end = min(start + BLOCK, last)
        if (p == 2.0 or p == 0.5) and not squared:
            write_simple_phi(x, start, end, once, twice, q, p == 2.0, term, other)
        elif lowest < WIDE:
            write_phi_with_underflow(x, start, end, once, twice, q, squared, p, term, other)
        else:
            write_phi(x, start, end, once, twice, q, squared, p, term, other)
        signed += total_of(term, 0, end - start)
        total += total_of(other, 0, end - start)
    off = signed / count
    y = log_near(1.0 + off, off)
    value = max(total / count - phi(1.0 + off, off, y, p), 0.0) * math.exp(-p * y)
    change = p * (p - 1.0) * value
    if p == 0.0:
        return value, -value
    if p == 1.0:
        return value, 0.0
    if change > -0.5 and p * highest < LARGEST_EXPONENT and p * lowest < LARGEST_EXPONENT:
        return value, math.log1p(change) / p
    total = 0.0
    for start in range(first, last, BLOCK):
        end = min(start + BLOCK, last)
        extreme = top if p > 0.0 else bottom
        total += sum_powers(x, start, end, extreme, p * power, lowest - highest < WIDE, term)
    level = (highest if p > 0.0 else lowest) - y + math.log(total / count) / p
    return math.expm1(p * level) / (p * (p - 1.0)), level


@entry
def dispersion_rows(
    x: Values, starts: Indices, squared: bool, p: float, term: Array, other: Array, first: int, last: int, out: Matrix
) -> None:
    """Write Phi_p, and log (mean z^p)^(1/p), of the non-zeros of every row."""
    for r in range(first, last):
        out[r, 0], out[r, 1] = dispersion_of(x, starts[r], starts[r + 1], squared, p, term, other)
