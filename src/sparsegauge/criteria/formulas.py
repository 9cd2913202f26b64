"""Every metric of the catalogue as a formula over exact numbers: what counterexamples are recomputed with.

A signal is a list of (value, count) pairs, sorted, so that ten thousand equal coefficients cost as much as one. Each
formula is f(k, c, **parameters) with k an arithmetic of `numbers.py`; it shares no code with the library's own metrics.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from .numbers import Arithmetic, Undefined

Pairs: TypeAlias = Sequence[tuple[Any, int]]
Formula: TypeAlias = Callable[..., Any]

LONGEST_SUM = 5000  # terms that are added up one by one


def length(c: Pairs) -> int:
    """N."""
    return sum(n for _, n in c)


def zeros(c: Pairs) -> int:
    """How many coefficients are zero."""
    return sum(n for v, n in c if v == 0)


def total(k: Arithmetic, c: Pairs, f: Callable[[Any], Any]) -> Any:
    """sum_i f(c_i)."""
    return sum((n * f(v) for v, n in c), start=k.of(0))


def power_sum(k: Arithmetic, c: Pairs, p: Any) -> Any:
    """sum_i c_i^p over the non-zeros."""
    return total(k, [pair for pair in c if pair[0] != 0], lambda v: k.power(v, p))


def _plain_sum(c: Pairs) -> Any:
    return sum(n * v for v, n in c)


def gds(k: Arithmetic, c: Pairs, order: Any) -> Any:
    if order == math.inf:
        return k.of(Fraction(zeros(c), length(c)))
    numerator = k.of(0)
    for j, (high, n) in enumerate(c):
        for low, m in c[:j]:
            numerator += m * n * k.power(high - low, order)
    return numerator / (length(c) * power_sum(k, c, order))


def l0(k: Arithmetic, c: Pairs) -> Any:
    return k.of(zeros(c))


def l0_eps(k: Arithmetic, c: Pairs, eps: Any) -> Any:
    return k.of(sum(n for v, n in c if v <= eps))


def neg_l1(k: Arithmetic, c: Pairs) -> Any:
    return -k.of(_plain_sum(c))


def neg_lp(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return -k.power(power_sum(k, c, p), 1 / p)


def l2_l1(k: Arithmetic, c: Pairs) -> Any:
    return k.sqrt(power_sum(k, c, 2)) / k.of(_plain_sum(c))


def neg_tanh(k: Arithmetic, c: Pairs, a: Any, b: Any) -> Any:
    return -total(k, c, lambda v: k.tanh(k.power(a * v, b)))


def neg_log(k: Arithmetic, c: Pairs) -> Any:
    return -total(k, c, lambda v: k.log(1 + v * v))


def kappa4(k: Arithmetic, c: Pairs) -> Any:
    return power_sum(k, c, 4) / power_sum(k, c, 2) ** 2


def u_theta(k: Arithmetic, c: Pairs, theta: Any) -> Any:
    spread = c[-1][0] - c[0][0]
    if spread == 0:
        return k.of(0)
    m = math.ceil(theta * length(c))
    return 1 - k.of(min(_windows(c, m))) / k.of(spread)


def _windows(c: Pairs, m: int) -> list[Any]:
    """c_(i+m-1) - c_(i) where i is the first of its equals: later ones only reach further up."""
    ends: list[int] = []
    for _, n in c:
        ends.append(n + (ends[-1] if ends else 0))
    windows = []
    for (value, n), end in zip(c, ends, strict=True):
        top = end - n + m
        if top <= ends[-1]:
            windows.append(next(v for (v, _), e in zip(c, ends, strict=True) if e >= top) - value)
    return windows


def neg_lp_neg(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return -power_sum(k, c, p)


def h_g(k: Arithmetic, c: Pairs) -> Any:
    if c[0][0] == 0:
        raise Undefined
    return -total(k, c, lambda v: k.log(v * v))


def neg_h_s(k: Arithmetic, c: Pairs) -> Any:
    energy = power_sum(k, c, 2)
    shares = [(k.of(v * v) / energy, n) for v, n in c if v != 0]
    return total(k, shares, lambda t: 2 * t * k.log(t))


def neg_h_s_prime(k: Arithmetic, c: Pairs) -> Any:
    return total(k, [pair for pair in c if pair[0] != 0], lambda v: k.of(v) * k.log(v * v))


def hoyer(k: Arithmetic, c: Pairs) -> Any:
    root = k.sqrt(length(c))
    if length(c) == 1:
        return k.of(0)
    return (root - 1 / l2_l1(k, c)) / (root - 1)


def pq_mean(k: Arithmetic, c: Pairs, p: Any, q: Any) -> Any:
    n = length(c)
    return -k.power(power_sum(k, c, p) / n, 1 / p) / k.power(power_sum(k, c, q) / n, 1 / q)


def gini(k: Arithmetic, c: Pairs) -> Any:
    return gds(k, c, 1)


def kurtosis(k: Arithmetic, c: Pairs) -> Any:
    return length(c) * kappa4(k, c) - 3


def pastor(k: Arithmetic, c: Pairs) -> Any:
    return 1 - 1 / (k.sqrt(length(c)) * l2_l1(k, c))


def gi2(k: Arithmetic, c: Pairs) -> Any:
    g = gini(k, c)
    return 2 * g / (1 + g)


def gi3(k: Arithmetic, c: Pairs) -> Any:
    g = gini(k, c)
    return g / (1 + g)


def _odd_powers(k: Arithmetic, first: int, last: int, a: Any) -> Any:
    """The sum over i = first..last of (2 i - 1)^a: by Faulhaber's sums where a is small and whole."""
    if a == 1:
        return k.of(last**2 - (first - 1) ** 2)
    if a == 2:
        return k.of(Fraction(last * (4 * last**2 - 1) - (first - 1) * (4 * (first - 1) ** 2 - 1), 3))
    if last - first >= LONGEST_SUM:
        raise Undefined
    return sum((k.power(2 * i - 1, a) for i in range(first, last + 1)), start=k.of(0))


def _weighted(k: Arithmetic, c: Pairs, a: Any, p: Any) -> Any:
    """(w . c^p) / mean c^p with w ~ (2N-1, ..., 3, 1)^a normalised."""
    n = length(c)
    below = 0
    weighted = k.of(0)
    for value, count in c:
        weighted += _odd_powers(k, n - below - count + 1, n - below, a) * k.power(value, p)
        below += count
    return weighted / _odd_powers(k, 1, n, a) * n / power_sum(k, c, p)


def ggi(k: Arithmetic, c: Pairs, a: Any) -> Any:
    return 1 - _weighted(k, c, a, 1)


def fggi(k: Arithmetic, c: Pairs, a: Any, p: Any) -> Any:
    return 1 - k.power(_weighted(k, c, a, p), 1 / p)


def _gini_of_powers(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - _weighted(k, c, 1, p)


def pfgi1(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - k.power(1 - _gini_of_powers(k, c, p), 1 / p)


def pfgi2(k: Arithmetic, c: Pairs, p: Any) -> Any:
    g = _gini_of_powers(k, c, p)
    return 1 - k.power((1 - g) / (1 + g), 1 / p)


def pfgi3(k: Arithmetic, c: Pairs, p: Any) -> Any:
    return 1 - k.power(1 + _gini_of_powers(k, c, p), -1 / p)


def s_gini(k: Arithmetic, c: Pairs, v: Any) -> Any:
    n = length(c)
    above = n
    weighted = k.of(0)
    for value, count in c:
        share = k.power(Fraction(above, n), v) - k.power(Fraction(above - count, n), v)
        weighted += share * value if isinstance(share, Fraction | float) else share * k.of(value)
        above -= count
    return 1 - weighted * n / k.of(_plain_sum(c))


def _mean_log(k: Arithmetic, c: Pairs, p: int) -> Any:
    """mean(z ln z), z = c^p / mean c^p."""
    n = length(c)
    energy = power_sum(k, c, p)
    shares = [(k.of(v**p) * n / energy, count) for v, count in c if v != 0]
    return total(k, shares, lambda z: z * k.log(z)) / n


def negentropy(k: Arithmetic, c: Pairs) -> Any:
    return _mean_log(k, c, 2)


def box_cox(k: Arithmetic, c: Pairs, l: Any) -> Any:  # noqa: E741
    if l == 0:
        return negentropy(k, c)
    n = length(c)
    # mean z^(l+1) = n^l sum c^(2l+2) / (sum c^2)^(l+1)
    ratio = k.power(n, l) * power_sum(k, c, 2 * l + 2) / k.power(power_sum(k, c, 2), l + 1)
    return (ratio - 1) / k.of(l)


def gm_am(k: Arithmetic, c: Pairs) -> Any:
    n = length(c)
    if c[0][0] == 0:
        return k.of(1)
    product = k.of(1)
    for v, count in c:
        product *= k.power(v, Fraction(count, n))
    return 1 - product * n / k.of(_plain_sum(c))


def d_norm(k: Arithmetic, c: Pairs) -> Any:
    return k.of(c[-1][0]) / k.sqrt(power_sum(k, c, 2))


def pq_index(k: Arithmetic, c: Pairs, p: Any, q: Any) -> Any:
    norm_p = k.power(power_sum(k, c, p), 1 / p)
    norm_q = k.power(power_sum(k, c, q), 1 / q)
    return 1 - k.power(length(c), 1 / q - 1 / p) * norm_p / norm_q


def neg_numerical_sparsity(k: Arithmetic, c: Pairs) -> Any:
    return -(k.of(_plain_sum(c)) ** 2) / power_sum(k, c, 2)


def treves_rolls(k: Arithmetic, c: Pairs) -> Any:
    n = length(c)
    return k.of(0) if n == 1 else (n + neg_numerical_sparsity(k, c)) / (n - 1)


def hoover(k: Arithmetic, c: Pairs) -> Any:
    mean = _plain_sum(c) / length(c)
    return k.of(sum(n * abs(v - mean) for v, n in c)) / k.of(2 * _plain_sum(c))


def atkinson(k: Arithmetic, c: Pairs, epsilon: Any) -> Any:
    if epsilon == 1:
        return gm_am(k, c)
    if epsilon > 1 and c[0][0] == 0:
        return k.of(1)
    n = length(c)
    power = 1 - epsilon
    return 1 - k.power(power_sum(k, c, power) / n, 1 / power) * n / k.of(_plain_sum(c))


def theil(k: Arithmetic, c: Pairs) -> Any:
    return _mean_log(k, c, 1)


def h_s(k: Arithmetic, c: Pairs) -> Any:
    return -neg_h_s(k, c)


def h_s_prime(k: Arithmetic, c: Pairs) -> Any:
    return -neg_h_s_prime(k, c)


FORMULAS: dict[str, Formula] = {
    f.__name__: f
    for f in (
        gds, l0, l0_eps, neg_l1, neg_lp, l2_l1, neg_tanh, neg_log, kappa4, u_theta, neg_lp_neg, h_g, neg_h_s, h_s,
        neg_h_s_prime, h_s_prime, hoyer, pq_mean, gini, kurtosis, pastor, gi2, gi3, ggi, fggi, pfgi1, pfgi2, pfgi3,
        s_gini, negentropy, box_cox, gm_am, d_norm, pq_index, neg_numerical_sparsity, treves_rolls, hoover, atkinson,
        theil,
    )
}  # fmt: skip
