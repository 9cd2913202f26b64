"""Slow, obvious oracles of S_p, each straight from a definition and independent of the library.

S_p = sum_{i<j} (c_j - c_i)^p / (N sum_i c_i^p), c = |x| sorted ascending.

Three kinds of arithmetic: Fractions and Python integers (no rounding at all, integer orders), mpmath (50 digits, any
order, few coefficients) and np.longdouble (64 bits, eps 1e-19, any order, thousands of coefficients).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import mpmath
import numpy as np

LEAF = 12  # values whose pairs are taken one by one


def magnitudes(x: Iterable[float]) -> list[Fraction]:
    """|x| sorted, exactly."""
    return sorted(abs(Fraction(float(v))) for v in x)


def gds_pairs(x: Iterable[float], p: int) -> Fraction:
    """The definition as it stands: a double loop over Fractions."""
    c = magnitudes(x)
    numerator = sum((c[j] - c[i]) ** p for j in range(len(c)) for i in range(j))
    return Fraction(numerator) / (len(c) * sum(v**p for v in c))


def gini(x: Iterable[float]) -> Fraction:
    """Hurley and Rickard's Gini index, 1 - 2 sum_k (c_(k) / |c|_1) (N - k + 1/2) / N."""
    c = magnitudes(x)
    n = len(c)
    return 1 - 2 * sum((v / sum(c)) * (n - k + Fraction(1, 2)) / n for k, v in enumerate(c, start=1))


def as_integers(x: Iterable[float]) -> tuple[list[int], int]:
    """Integers k_i and one exponent e with |x_i| = k_i 2^e exactly, in the order of x."""
    ratios = [abs(float(v)).as_integer_ratio() for v in x]
    common = max(denominator for _, denominator in ratios)  # denominators of floats are powers of two
    k = [numerator * (common // denominator) for numerator, denominator in ratios]
    spare = min(((v & -v).bit_length() - 1 for v in k if v), default=0)
    return [v >> spare for v in k], spare - (common.bit_length() - 1)


def _distinct(values: Iterable[int]) -> tuple[list[int], list[int]]:
    counts: dict[int, int] = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    keys = sorted(counts)
    return keys, [counts[v] for v in keys]


def _power_sums(values: Sequence[int], counts: Sequence[int], top: int) -> list[int]:
    """sum n v^k for k = 0..top."""
    sums = []
    terms = list(counts)
    for _ in range(top + 1):
        sums.append(sum(terms))
        terms = [t * v for t, v in zip(terms, values, strict=True)]
    return sums


def _pair_sums(values: Sequence[int], counts: Sequence[int], orders: Sequence[int]) -> tuple[list[int], list[int]]:
    """Power sums up to the largest order, and sum_{i<j} (v_j - v_i)^p for every order p, of sorted values.

    The pairs across the middle follow from the binomial theorem, sum (b - a)^p = sum_k C(p, k) (-1)^k A_k B_{p-k};
    those on either side in the same way. It cancels, which does no harm to integers.
    """
    if len(values) <= LEAF:
        pairs = [(values[j] - values[i], counts[i] * counts[j]) for j in range(len(values)) for i in range(j)]
        return _power_sums(values, counts, max(orders)), [sum(n * d**p for d, n in pairs) for p in orders]
    half = len(values) // 2
    a, left = _pair_sums(values[:half], counts[:half], orders)
    b, right = _pair_sums(values[half:], counts[half:], orders)
    across = [sum((-1) ** k * math.comb(p, k) * a[k] * b[p - k] for k in range(p + 1)) for p in orders]
    return [u + v for u, v in zip(a, b, strict=True)], [sum(t) for t in zip(left, right, across, strict=True)]


def gds_exact_profile(x: Iterable[float], orders: Sequence[int]) -> list[Fraction]:
    """S_p at several integer orders, without any rounding: O(N p) products of Python integers."""
    k, _ = as_integers(x)
    values, counts = _distinct(k)
    bottom = values[0]  # differences do not see a shift, and smaller integers are faster
    _, numerators = _pair_sums([v - bottom for v in values], counts, orders)
    denominators = _power_sums(values, counts, max(orders))
    return [Fraction(n, len(k) * denominators[p]) for n, p in zip(numerators, orders, strict=True)]


def gds_exact(x: Iterable[float], p: int) -> Fraction:
    """S_p at one integer order, without any rounding."""
    return gds_exact_profile(x, [p])[0]


def gradient_pairs(x: Sequence[float], p: int) -> list[Fraction]:
    """dS_p/dx by the quotient rule over Fractions; ties and zeros count 0."""
    c = [abs(Fraction(float(v))) for v in x]
    denominator = sum(v**p for v in c)
    numerator = gds_pairs(x, p) * len(c) * denominator
    slopes = []
    for value, v in zip(x, c, strict=True):
        rise = p * sum((v - w) ** (p - 1) for w in c if w < v) - p * sum((w - v) ** (p - 1) for w in c if w > v)
        growth = p * v ** (p - 1)
        slope = (rise * denominator - numerator * growth) / (len(c) * denominator**2)
        slopes.append(slope * int(np.sign(value)))
    return slopes


def gradient_exact(x: Sequence[float], p: int) -> np.ndarray:
    """dS_p/dx at an integer order p >= 2 in integers, rounded once at the end; O(N p).

    sum_{i<k} (c_k - c_i)^q from the power sums of what lies below c_k, and likewise from above; ties count 0 by
    themselves, since q = p - 1 >= 1.
    """
    k, exponent = as_integers(x)
    values, counts = _distinct(k)
    q = p - 1
    _, (numerator,) = _pair_sums(values, counts, [p])
    denominator = _power_sums(values, counts, p)[p]
    below, above = [0] * p, _power_sums(values, counts, q)
    slopes = {}
    for v, n in zip(values, counts, strict=True):
        powers = [v**m for m in range(p)]
        below = [s + n * w for s, w in zip(below, powers, strict=True)]
        above = [s - n * w for s, w in zip(above, powers, strict=True)]
        rise = sum(
            (-1) ** m * math.comb(q, m) * powers[q - m] * (below[m] - (-1) ** q * above[m]) for m in range(p)
        )  # (above - v)^q = (-1)^q (v - above)^q
        slopes[v] = _ratio(p * (rise * denominator - numerator * powers[q]), len(k) * denominator**2, -exponent)
    return np.sign(np.asarray(x)) * np.array([slopes[v] for v in k])


def _ratio(a: int, b: int, exponent: int) -> float:
    """a 2^exponent / b, rounded once; infinite where float64 ends."""
    a, b = (a << exponent, b) if exponent >= 0 else (a, b << -exponent)
    try:
        return a / b
    except OverflowError:
        return math.copysign(math.inf, a)


def gds_mpmath(x: Iterable[float], p: float) -> mpmath.mpf:
    """The definition at 50 digits, for any real order and few coefficients."""
    with mpmath.workdps(50):
        c = sorted(abs(mpmath.mpf(float(v))) for v in x)
        order = mpmath.mpf(p)
        numerator = mpmath.fsum((c[j] - c[i]) ** order for j in range(len(c)) for i in range(j))
        return numerator / (len(c) * mpmath.fsum(v**order for v in c))


def as_mpmath(value: np.longdouble) -> mpmath.mpf:
    """The same number at 50 digits: mpmath would round it to a float."""
    numerator, denominator = value.as_integer_ratio()
    with mpmath.workdps(50):
        return mpmath.mpf(numerator) / denominator


class LongPairs:
    """All pairs in np.longdouble: S_p and its gradient at any real order.

    d^p = exp(p log d) with d in units of the largest distance: wrong by 1e-19 p |log d|, and a term for which that is
    large is a small one. Equal values are one value with a weight, so that no distance is zero.
    """

    def __init__(self, x: Iterable[float]) -> None:
        self.x = np.asarray(x, dtype=np.float64)
        values, self.place, counts = np.unique(np.abs(self.x), return_inverse=True, return_counts=True)
        self.c = values.astype(np.longdouble)
        self.counts = counts.astype(np.longdouble)
        self.width = self.c[-1] - self.c[0]
        self.ratio = self.width / self.c[-1]

    def _lags(self) -> Iterable[tuple[int, np.ndarray, np.ndarray]]:
        """Every distance once, in units of the largest: the lag, c[lag:] - c[:-lag], and its logarithm."""
        for lag in range(1, len(self.c)):
            distance = (self.c[lag:] - self.c[:-lag]) / self.width
            yield lag, distance, np.log(distance)

    def _denominator(self, p: float) -> np.longdouble:
        """sum (c / max c)^p."""
        positive = self.c > 0
        powers = np.exp(np.longdouble(p) * np.log(self.c[positive] / self.c[-1]))
        return np.sum(self.counts[positive] * powers)

    def sparsity(self, orders: Sequence[float]) -> list[np.longdouble]:
        """S_p at several orders."""
        totals = [np.longdouble(0)] * len(orders)
        for lag, _, log_distance in self._lags():
            weights = self.counts[lag:] * self.counts[:-lag]
            for k, p in enumerate(orders):
                totals[k] += np.sum(weights * np.exp(np.longdouble(p) * log_distance))
        scales = [self.ratio ** np.longdouble(p) / (len(self.x) * self._denominator(p)) for p in orders]
        return [total * scale for total, scale in zip(totals, scales, strict=True)]

    def gradient(self, p: float) -> np.ndarray:
        """dS_p/dx in np.longdouble, whose range is wide enough for every scale; ties and zeros count 0.

        Zeros are left out, S_p = z/N + (n/N) S_p(the n others), since their share z/N would hide a small gradient.
        """
        if self.c[0] == 0:
            slope = np.zeros(len(self.x), np.longdouble)
            others = self.x != 0
            slope[others] = LongPairs(self.x[others]).gradient(p) * np.count_nonzero(others) / len(self.x)
            return slope
        q = np.longdouble(p) - 1
        slope = np.zeros(len(self.c), np.longdouble)
        total = np.longdouble(0)
        for lag, distance, log_distance in self._lags():
            power = np.exp(q * log_distance)
            slope[lag:] += self.counts[:-lag] * power
            slope[:-lag] -= self.counts[lag:] * power
            total += np.sum(self.counts[lag:] * self.counts[:-lag] * power * distance)
        denominator = self._denominator(p)
        level = total * self.ratio ** np.longdouble(p) / denominator  # N S_p
        growth = (self.c / self.c[-1]) ** q
        slope = (self.ratio**q * slope - level * growth) * np.longdouble(p) / (len(self.x) * denominator * self.c[-1])
        return np.sign(self.x) * slope[self.place]


def gds_lattice(k: np.ndarray, orders: Sequence[float], offset: int = 0) -> list[np.longdouble]:
    """S_p of the integers offset + k, k >= 0, at any order and for millions of them.

    Pairs at distance d are counted by the autocorrelation of the histogram: integers, so its FFT rounds to the truth.
    """
    histogram = np.bincount(k)
    size = 2 << (len(histogram) - 1).bit_length()  # a power of two, twice as long as needed: nothing wraps around
    spectrum = np.abs(np.fft.rfft(histogram, size)) ** 2
    pairs = np.rint(np.fft.irfft(spectrum, size)[: len(histogram)]).astype(np.int64)
    assert pairs[0] + 2 * pairs[1:].sum() == len(k) ** 2
    top = np.longdouble(offset + len(histogram) - 1)
    distances = np.flatnonzero(pairs[1:]) + 1
    values = offset + np.flatnonzero(histogram)
    values = values[values > 0]
    numerators = _weighted_powers(pairs[distances], distances / top, orders)
    denominators = _weighted_powers(histogram[values - offset], values / top, orders)
    return [n / (len(k) * d) for n, d in zip(numerators, denominators, strict=True)]


def gradient_lattice(k: np.ndarray, places: Sequence[int], p: float, offset: int = 1) -> np.ndarray:
    """dS_p/dx of the integers offset + k > 0, at a few places only."""
    histogram = np.bincount(k)
    values = (offset + np.flatnonzero(histogram)).astype(np.longdouble)
    counts = histogram[histogram > 0]
    top, q = values[-1], np.longdouble(p) - 1
    level = len(k) * gds_lattice(k, [p], offset)[0]
    denominator = np.sum(counts * (values / top) ** (q + 1))
    slopes = []
    for v in (offset + k[places]).astype(np.longdouble):
        others = values != v
        distance = (v - values[others]) / top
        rise = np.sum(counts[others] * np.sign(distance) * np.exp(q * np.log(np.abs(distance))))
        slopes.append((rise - level * (v / top) ** q) * (q + 1) / (len(k) * denominator * top))
    return np.array(slopes)


def _weighted_powers(weights: np.ndarray, x: np.ndarray, orders: Sequence[float]) -> list[np.longdouble]:
    logarithm = np.log(x)
    return [np.sum(weights * np.exp(np.longdouble(p) * logarithm)) for p in orders]
