"""Every metric of the catalogue as a formula of `Coefficients`: what tensors and JAX arrays are measured by.

Each has the name and the parameters of its metric, whose values are checked already, and gives one number per signal.
Tests compare them with the exact kernels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from ..rank_weights import GINI_WEIGHTS, odd_powers
from ..statistics import CLOSE_TO_A_SPIKE, TailPowers
from .numerics import magnitude, power, safe_log
from .row_statistics import Coefficients

Formula = Callable[..., Any]
FORMULAS: dict[str, Formula] = {}
# what needs each signal in order, at any parameters
SORTED = {"gini", "gi2", "gi3", "ggi", "fggi", "pfgi1", "pfgi2", "pfgi3", "s_gini", "u_theta"}
LARGEST_TANH_ARGUMENT = 50.0  # from 20 on tanh is 1


def _portable(formula: Formula) -> Formula:
    FORMULAS[formula.__name__] = formula
    return formula


@_portable
def gds(row: Coefficients, order: float) -> Any:
    return row.gds(order)


# Norms, counts and powers


@_portable
def l0(row: Coefficients) -> Any:
    return row.count(row.raw == 0)


@_portable
def l0_eps(row: Coefficients, eps: float) -> Any:
    bound = np.asarray(eps, _precision(row))
    if float(bound) > eps:  # rounded up, where a coefficient that equals it is larger than eps
        bound = np.nextafter(bound, np.asarray(0.0, bound.dtype))
    return row.count(row.raw <= float(bound))


def _precision(row: Coefficients) -> Any:
    return np.float64 if row.xp.finfo(row.raw.dtype).bits == 64 else np.float32


@_portable
def neg_l1(row: Coefficients) -> Any:
    return -row.l1 / row.unit


@_portable
def neg_lp(row: Coefficients, p: float) -> Any:
    return -row.l1 / row.unit * row.xp.exp(row.ratios.log_power_mean(p) + (1 / p - 1.0) * math.log(row.N))


@_portable
def l2_l1(row: Coefficients) -> Any:
    return row.xp.sqrt(row.squares) / row.l1


@_portable
def neg_tanh(row: Coefficients, a: float, b: float) -> Any:
    xp = row.xp
    bound = LARGEST_TANH_ARGUMENT ** (1 / b) / a
    small = xp.where(row.raw < bound, row.raw, xp.full_like(row.raw, bound)) if bound < _largest(row) else row.raw
    return -row.total(xp.tanh(power(xp, a * small, b)))


def _largest(row: Coefficients) -> float:
    return float(row.xp.finfo(row.raw.dtype).max)


@_portable
def neg_log(row: Coefficients) -> Any:
    xp = row.xp
    large = row.raw > 1
    one = xp.ones_like(row.raw)
    above, below = xp.where(large, row.raw, one), xp.where(large, one, row.raw)
    terms = xp.where(large, 2.0 * xp.log(above) + xp.log1p((1.0 / above) ** 2), xp.log1p(below * below))
    return -row.total(terms)


@_portable
def kappa4(row: Coefficients) -> Any:
    return row.fourths / row.squares**2


@_portable
def kurtosis(row: Coefficients, bias: bool = True) -> Any:
    share = kappa4(row)
    return (row.N * share if bias else (row.N - 1.0) * share / (1.0 - share)) - 3.0


@_portable
def neg_lp_neg(row: Coefficients, p: float) -> Any:
    xp = row.xp
    positive = row.raw > 0
    bottom = xp.min(xp.where(positive, row.raw, xp.full_like(row.raw, _largest(row))), axis=-1, keepdims=True)
    ratios = xp.where(positive, row.raw / bottom, xp.ones_like(row.raw))
    return -row.total(xp.where(positive, ratios**p, xp.zeros_like(ratios))) * bottom[..., 0] ** p


@_portable
def hoyer(row: Coefficients) -> Any:
    root = math.sqrt(row.N)
    return pastor(row) * (root / (root - 1.0) if row.N > 1 else 0.0)


@_portable
def pastor(row: Coefficients) -> Any:
    s = row.gds(2)
    return s / (1.0 + row.xp.sqrt(1.0 - s))


@_portable
def pastor_entropy(row: Coefficients) -> Any:
    return row.l1 / row.xp.sqrt(row.N * row.squares)


@_portable
def treves_rolls(row: Coefficients) -> Any:
    return row.gds(2) * (row.N / (row.N - 1.0) if row.N > 1 else 0.0)


@_portable
def neg_numerical_sparsity(row: Coefficients) -> Any:
    return -(row.l1**2) / row.squares


@_portable
def d_norm(row: Coefficients) -> Any:
    return row.top / row.xp.sqrt(row.squares)


@_portable
def pq_mean(row: Coefficients, p: float, q: float) -> Any:
    return -row.xp.exp(row.ratios.log_power_mean(p) - row.ratios.log_power_mean(q))


@_portable
def pq_index(row: Coefficients, p: float, q: float) -> Any:
    return -row.xp.expm1(row.ratios.log_power_mean(p) - row.ratios.log_power_mean(q))


# Entropies


@_portable
def h_g(row: Coefficients) -> Any:
    logs = -2.0 * row.total(safe_log(row.xp, row.raw))
    return row.xp.where(row.any_zero, row.xp.full_like(logs, math.inf), logs)


@_portable
def h_s(row: Coefficients) -> Any:
    return 2.0 * row.entropy_of_squares()


@_portable
def neg_h_s(row: Coefficients) -> Any:
    return -h_s(row)


@_portable
def neg_h_s_prime(row: Coefficients) -> Any:
    return 2.0 * row.total(row.c * safe_log(row.xp, row.raw)) / row.unit


@_portable
def h_s_prime(row: Coefficients) -> Any:
    return -neg_h_s_prime(row)


@_portable
def negentropy(row: Coefficients) -> Any:
    return row.square_ratios.theil()


@_portable
def box_cox(row: Coefficients, l: float) -> Any:  # noqa: E741 (the formula's name)
    p = 1.0 + l
    if p == 1.0:
        return negentropy(row)
    return row.xp.expm1(p * row.square_ratios.log_power_mean(p)) / (p - 1.0)


# The Gini index and its generalisations


@_portable
def gini(row: Coefficients, bias: bool = True) -> Any:
    return row.gds(1) * (1.0 if bias else row.N / max(row.N - 1, 1))


@_portable
def gi2(row: Coefficients) -> Any:
    return 2.0 * gi3(row)


@_portable
def gi3(row: Coefficients) -> Any:
    g = row.gds(1)
    return g / (1.0 + g)


@_portable
def ggi(row: Coefficients, a: float) -> Any:
    return row.weighted_by_rank(odd_powers(a))[0]


@_portable
def fggi(row: Coefficients, a: float, p: float) -> Any:
    return -row.xp.expm1(row.weighted_by_rank(odd_powers(a), p)[1] / p)


@_portable
def pfgi1(row: Coefficients, p: float) -> Any:
    return -row.xp.expm1(row.weighted_by_rank(GINI_WEIGHTS, p)[1] / p)


@_portable
def pfgi2(row: Coefficients, p: float) -> Any:
    g, log_rest = row.weighted_by_rank(GINI_WEIGHTS, p)
    return -row.xp.expm1((log_rest - row.xp.log1p(g)) / p)


@_portable
def pfgi3(row: Coefficients, p: float) -> Any:
    return -row.xp.expm1(-row.xp.log1p(row.weighted_by_rank(GINI_WEIGHTS, p)[0]) / p)


@_portable
def s_gini(row: Coefficients, v: float) -> Any:
    return row.weighted_by_rank(TailPowers(v))[0]


@_portable
def u_theta(row: Coefficients, theta: float) -> Any:
    xp, c = row.xp, row.sorted
    m = math.ceil(Fraction(repr(theta)) * row.N)
    spread = c[..., -1] - c[..., 0]
    narrowest = xp.min(c[..., m - 1 :] - c[..., : row.N - m + 1], axis=-1)
    spread = xp.where(spread > 0, spread, xp.ones_like(spread))
    return xp.where(c[..., -1] > c[..., 0], 1.0 - narrowest / spread, xp.zeros_like(spread))


# From the study of incomes


@_portable
def hoover(row: Coefficients) -> Any:
    return 0.5 * row.xp.mean(magnitude(row.xp, row.ratios.d), axis=-1)


@_portable
def gm_am(row: Coefficients) -> Any:
    return atkinson(row, 1.0)


@_portable
def atkinson(row: Coefficients, epsilon: float) -> Any:
    p = 1.0 - epsilon
    values = -row.xp.expm1(row.ratios.log_power_mean(p))
    return row.xp.where(row.any_zero, row.xp.ones_like(values), values) if p <= 0 else values


@_portable
def theil(row: Coefficients) -> Any:
    return row.ratios.theil()


@_portable
def generalised_entropy(row: Coefficients, alpha: float) -> Any:
    if alpha == 1:
        return theil(row)
    mean = row.ratios.log_power_mean(alpha)
    values = -mean if alpha == 0 else row.xp.expm1(alpha * mean) / (alpha * (alpha - 1.0))
    return row.xp.where(row.any_zero, row.xp.full_like(values, math.inf), values) if alpha <= 0 else values


@_portable
def mean_log_deviation(row: Coefficients) -> Any:
    return generalised_entropy(row, 0.0)


@_portable
def coefficient_of_variation(row: Coefficients, bias: bool = True) -> Any:
    values = row.xp.sqrt(2.0 * generalised_entropy(row, 2.0))
    return values if bias else values * math.sqrt(row.N / max(row.N - 1, 1))


@_portable
def spectral_flatness(row: Coefficients) -> Any:
    values = row.xp.exp(row.ratios.log_power_mean(0.0))
    return row.xp.where(row.any_zero, row.xp.zeros_like(values), values)


# From ecology and physics


def _log_hill(row: Coefficients, q: float) -> Any:
    if q == 0:
        return safe_log(row.xp, row.count(row.raw != 0))
    if math.isinf(q):
        return row.xp.log(row.l1 / row.top)
    rest = -row.ratios.theil() if q == 1 else q / (1.0 - q) * row.ratios.log_power_mean(q)
    return math.log(row.N) + rest


@_portable
def hill(row: Coefficients, q: float) -> Any:
    return row.xp.exp(_log_hill(row, q))


def _entropies(row: Coefficients, q: float) -> tuple[Any, Any]:
    """Return the entropies of Renyi and of Tsallis, from what is beside the spike for what is nearly one."""
    xp, far = row.xp, _log_hill(row, q)
    if q == 0:
        return far, xp.expm1(far)
    if math.isinf(q):
        near = xp.log1p(row.beside_top)
        return near, xp.zeros_like(near)
    near = _tsallis_of_a_spike(row, q)
    if q == 1:
        values = xp.where(far > CLOSE_TO_A_SPIKE, far, near)
        return values, values
    is_far = far > CLOSE_TO_A_SPIKE
    safe = xp.where(is_far, xp.zeros_like(near), near)
    tsallis_values = xp.where(is_far, xp.expm1((1.0 - q) * far) / (1.0 - q), near)
    return xp.where(is_far, far, xp.log1p((1.0 - q) * safe) / (1.0 - q)), tsallis_values


def _tsallis_of_a_spike(row: Coefficients, q: float) -> Any:
    """Return the entropy as a sum of terms of one sign: with 1 + R = sum c / max c, sum t^q = sum r^q / (1 + R)^q."""
    xp = row.xp
    ratios = row.c / row.top[..., None]
    logs, spread = safe_log(xp, ratios), xp.log1p(row.beside_top)
    if q == 1:
        return spread - row.total(ratios * logs) / (1.0 + row.beside_top)
    terms = row.total(ratios * xp.expm1((q - 1.0) * logs)) / (1.0 + row.beside_top)
    return (xp.expm1((q - 1.0) * spread) - terms) * xp.exp((1.0 - q) * spread) / (q - 1.0)


@_portable
def renyi(row: Coefficients, q: float) -> Any:
    return _entropies(row, q)[0]


@_portable
def tsallis(row: Coefficients, q: float) -> Any:
    return _entropies(row, q)[1]


@_portable
def participation_ratio(row: Coefficients) -> Any:
    return row.squares**2 / row.fourths


@_portable
def herfindahl(row: Coefficients, bias: bool = True) -> Any:
    if bias:
        return row.squares / row.l1**2
    return (row.squares - row.unit * row.l1) / (row.l1 * (row.l1 - row.unit))


@_portable
def berger_parker(row: Coefficients) -> Any:
    return row.top / row.l1


@_portable
def crest_factor(row: Coefficients) -> Any:
    return row.top * row.xp.sqrt(row.N / row.squares)
