"""Slow, obvious twins of every metric in the catalogue, at 50 digits, straight from the formulas; and values by hand.

Each twin takes a list of numbers and the metric's parameters. Its body sees c = |x| sorted ascending and the
parameters, all of them as mpf, exactly as they came. Signals that are all zero have no value, and are not handled.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from math import inf, log, sqrt
from typing import Any

import mpmath
from mpmath import fsum, mpf

DIGITS = 50

Twin = Callable[..., mpf]
TWINS: dict[str, Twin] = {}


def twin(formula: Callable[..., Any]) -> Twin:
    """The formula of sorted magnitudes as a function of any numbers, entered in TWINS."""
    defaults = {name: p.default for name, p in list(inspect.signature(formula).parameters.items())[1:]}

    @functools.wraps(formula)
    def function(x: Iterable[float], **parameters: float) -> mpf:
        with mpmath.workdps(DIGITS):
            c = sorted(abs(mpf(float(v))) for v in x)
            return mpf(formula(c, **{name: mpf(float(value)) for name, value in {**defaults, **parameters}.items()}))

    TWINS[formula.__name__] = function
    return function


# Parts of several formulas


def mean(values: Iterable[mpf]) -> mpf:
    terms = list(values)
    return fsum(terms) / len(terms)


def norm(c: Sequence[mpf], p: float) -> mpf:
    return fsum(v**p for v in c) ** (1 / mpf(p))


def power_mean(c: Sequence[mpf], p: mpf) -> mpf:
    """(mean c^p)^(1/p), and its limit 0 where zeros have a negative power."""
    if p < 0 and c[0] == 0:
        return mpf(0)
    return mean(v**p for v in c) ** (1 / p)


def geometric_mean(c: Sequence[mpf]) -> mpf:
    return mpf(0) if c[0] == 0 else mpmath.exp(mean(mpmath.log(v) for v in c))


def z_log_z(values: Sequence[mpf]) -> mpf:
    """The mean of z ln z, z = v / mean v, where 0 ln 0 = 0."""
    middle = mean(values)
    return mean(v / middle * mpmath.log(v / middle) if v else v for v in values)


def dot(weights: Sequence[mpf], c: Sequence[mpf]) -> mpf:
    return fsum(w * v for w, v in zip(weights, c, strict=True))


def falling(n: int) -> list[mpf]:
    """2N-1, 2N-3, ..., 1."""
    return [mpf(2 * (n - k) + 1) for k in range(1, n + 1)]


# Hurley and Rickard's table


@twin
def gds(c, order=2):
    pairs = fsum((c[j] - c[i]) ** order for j in range(len(c)) for i in range(j))
    return pairs / (len(c) * fsum(v**order for v in c))


@twin
def l0(c):
    return sum(v == 0 for v in c)


@twin
def l0_eps(c, eps=1e-3):
    return sum(v <= eps for v in c)


@twin
def neg_l1(c):
    return -fsum(c)


@twin
def neg_lp(c, p=0.5):
    return -norm(c, p)


@twin
def l2_l1(c):
    return norm(c, 2) / norm(c, 1)


@twin
def neg_tanh(c, a=1, b=1):
    return -fsum(mpmath.tanh((a * v) ** b) for v in c)


@twin
def neg_log(c):
    return -fsum(mpmath.log1p(v**2) for v in c)


@twin
def kappa4(c):
    return fsum(v**4 for v in c) / fsum(v**2 for v in c) ** 2


@twin
def u_theta(c, theta=0.5):
    if c[0] == c[-1]:
        return 0
    m = math.ceil(Fraction(repr(float(theta))) * len(c))  # theta as it is written: 0.55 of 100 is 55
    return 1 - min(c[i + m - 1] - c[i] for i in range(len(c) - m + 1)) / (c[-1] - c[0])


@twin
def neg_lp_neg(c, p=-1):
    return -fsum(v**p for v in c if v)


@twin
def h_g(c):
    return mpmath.inf if c[0] == 0 else -fsum(mpmath.log(v**2) for v in c)


@twin
def neg_h_s(c):
    energy = fsum(v**2 for v in c)
    t = [v**2 / energy for v in c]
    return fsum(v * mpmath.log(v**2) for v in t if v)


@twin
def h_s(c):
    energy = fsum(v**2 for v in c)
    t = [v**2 / energy for v in c]
    return -fsum(v * mpmath.log(v**2) for v in t if v)


@twin
def neg_h_s_prime(c):
    return fsum(v * mpmath.log(v**2) for v in c if v)


@twin
def h_s_prime(c):
    return -fsum(v * mpmath.log(v**2) for v in c if v)


@twin
def hoyer(c):
    root = mpmath.sqrt(len(c))
    return 0 if len(c) == 1 else (root - norm(c, 1) / norm(c, 2)) / (root - 1)


@twin
def pq_mean(c, p=1, q=2):
    return -power_mean(c, p) / power_mean(c, q)


@twin
def gini(c):
    n, total = len(c), fsum(c)
    return 1 - 2 * fsum(v / total * (n - k + mpf(1) / 2) / n for k, v in enumerate(c, start=1))


# Kurtosis, and Pastor's inner product


@twin
def kurtosis(c):
    return len(c) * fsum(v**4 for v in c) / fsum(v**2 for v in c) ** 2 - 3


@twin
def pastor(c):
    return 1 - norm(c, 1) / (mpmath.sqrt(len(c)) * norm(c, 2))


@twin
def pastor_entropy(c):
    return norm(c, 1) / (mpmath.sqrt(len(c)) * norm(c, 2))


# The Gini index generalised


@twin
def gi2(c):
    return 2 * gini(c) / (1 + gini(c))


@twin
def gi3(c):
    return gini(c) / (1 + gini(c))


@twin
def ggi(c, a=2):
    w = [v**a for v in falling(len(c))]
    return 1 - dot(w, c) / fsum(w) / mean(c)


@twin
def fggi(c, a=2, p=2):
    w = [v**a for v in falling(len(c))]
    powers = [v**p for v in c]
    return 1 - (dot(w, powers) / fsum(w) / mean(powers)) ** (1 / p)


@twin
def pfgi1(c, p=2):
    powers = [v**p for v in c]
    u = [v / mpf(len(c)) ** 2 for v in falling(len(c))]
    return 1 - (dot(u, powers) / mean(powers)) ** (1 / p)


@twin
def pfgi2(c, p=2):
    powers = [v**p for v in c]
    u = [v / mpf(len(c)) ** 2 for v in falling(len(c))]
    return 1 - (dot(u, powers) / dot(u[::-1], powers)) ** (1 / p)


@twin
def pfgi3(c, p=2):
    powers = [v**p for v in c]
    u = [v / mpf(len(c)) ** 2 for v in falling(len(c))]
    return 1 - (mean(powers) / dot(u[::-1], powers)) ** (1 / p)


@twin
def s_gini(c, v=3):
    n = mpf(len(c))
    w = [((n - i + 1) / n) ** v - ((n - i) / n) ** v for i in range(1, len(c) + 1)]
    return 1 - dot(w, c) / mean(c)


# Entropies and means


@twin
def negentropy(c):
    return z_log_z([v**2 for v in c])


@twin
def box_cox(c, l=0.5):  # noqa: E741 (the catalogue's name)
    if l == 0:
        return negentropy(c)
    power = mean(v**2 for v in c)
    z = [v**2 / power for v in c]
    return mean((v ** (1 + l) - v) / l for v in z)


@twin
def gm_am(c):
    return 1 - geometric_mean(c) / mean(c)


@twin
def d_norm(c):
    return c[-1] / norm(c, 2)


@twin
def pq_index(c, p=0.5, q=1):
    return 1 - mpf(len(c)) ** (1 / q - 1 / p) * norm(c, p) / norm(c, q)


@twin
def neg_numerical_sparsity(c):
    return -(norm(c, 1) ** 2) / norm(c, 2) ** 2


# From neuroscience and economics


@twin
def treves_rolls(c):
    n = len(c)
    return 0 if n == 1 else (1 - mean(c) ** 2 / mean(v**2 for v in c)) / (1 - mpf(1) / n)


@twin
def hoover(c):
    middle = mean(c)
    return fsum(abs(v - middle) for v in c) / (2 * fsum(c))


@twin
def atkinson(c, epsilon=0.5):
    if epsilon == 1:
        return gm_am(c)
    return 1 - power_mean(c, 1 - epsilon) / mean(c)


@twin
def theil(c):
    return z_log_z(c)


@twin
def generalised_entropy(c, alpha=2):
    z = [v / mean(c) for v in c]
    if alpha == 1:
        return z_log_z(c)
    if alpha <= 0 and c[0] == 0:
        return mpf(inf)
    if alpha == 0:
        return -mean(mpmath.log(v) for v in z)
    return mean(v**alpha - 1 for v in z) / (alpha * (alpha - 1))


@twin
def mean_log_deviation(c):
    return generalised_entropy(c, alpha=0)


@twin
def coefficient_of_variation(c):
    middle = mean(c)
    return mpmath.sqrt(mean((v - middle) ** 2 for v in c)) / middle


@twin
def spectral_flatness(c):
    return geometric_mean(c) / mean(c)


@twin
def crest_factor(c):
    return c[-1] / mpmath.sqrt(mean(v**2 for v in c))


# From ecology and physics


def shares(c):
    return [v / fsum(c) for v in c if v]


@twin
def hill(c, q=1):
    t = shares(c)
    if q == 1:
        return mpmath.exp(-fsum(v * mpmath.log(v) for v in t))
    return 1 / max(t) if q == inf else fsum(v**q for v in t) ** (1 / (1 - q))


@twin
def renyi(c, q=2):
    return mpmath.log(hill(c, q=q))


@twin
def tsallis(c, q=2):
    return renyi(c, q=1) if q == 1 else (1 - fsum(v**q for v in shares(c))) / (q - 1)


@twin
def participation_ratio(c):
    return fsum(v**2 for v in c) ** 2 / fsum(v**4 for v in c)


@twin
def herfindahl(c):
    return fsum(v**2 for v in shares(c))


@twin
def berger_parker(c):
    return max(shares(c))


# By hand: metric, parameters, signal, value. Mostly of [0, 0, 3, 4] (N = 4, |c|_1 = 7, |c|_2 = 5), of four equal ones
# and of a single spike


QUAD, EQUAL, SPIKE = [0, 0, 3, -4], [2, -2, 2, 2], [0, -5, 0, 0]

BY_HAND: list[tuple[str, dict[str, float], list[float], Any]] = [
    ("generalised_entropy", {}, QUAD, Fraction(4 * 25, 49) / 2 - Fraction(1, 2)),
    ("generalised_entropy", {"alpha": 1.0}, SPIKE, log(4)),
    ("generalised_entropy", {"alpha": 0.5}, SPIKE, (Fraction(1, 2) - 1) / Fraction(-1, 4)),
    ("generalised_entropy", {"alpha": -1.0}, [1, 3], (mpf(2) / 1 + mpf(2) / 3) / 4 - mpf(1) / 2),
    ("generalised_entropy", {"alpha": 0.0}, QUAD, inf),
    ("mean_log_deviation", {}, [1, 3], log(2) - log(3) / 2),
    ("mean_log_deviation", {}, EQUAL, 0),
    ("mean_log_deviation", {}, SPIKE, inf),
    ("coefficient_of_variation", {}, [1, 3], Fraction(1, 2)),
    ("coefficient_of_variation", {}, EQUAL, 0),
    ("coefficient_of_variation", {}, SPIKE, sqrt(3)),
    ("spectral_flatness", {}, [1, -4], Fraction(4, 5)),
    ("spectral_flatness", {}, EQUAL, 1),
    ("spectral_flatness", {}, SPIKE, 0),
    ("crest_factor", {}, QUAD, Fraction(4 * 2, 5)),
    ("crest_factor", {}, EQUAL, 1),
    ("crest_factor", {}, SPIKE, 2),
    ("hill", {}, EQUAL, 4),
    ("hill", {"q": 2.0}, QUAD, Fraction(49, 25)),
    ("hill", {"q": 0.0}, QUAD, 2),
    ("hill", {"q": inf}, QUAD, Fraction(7, 4)),
    ("renyi", {}, QUAD, log(Fraction(49, 25))),
    ("renyi", {"q": 1.0}, EQUAL, log(4)),
    ("renyi", {}, SPIKE, 0),
    ("tsallis", {}, QUAD, 1 - Fraction(25, 49)),
    ("tsallis", {"q": 0.0}, QUAD, 1),
    ("tsallis", {"q": 1.0}, EQUAL, log(4)),
    ("participation_ratio", {}, QUAD, Fraction(625, 337)),
    ("participation_ratio", {}, EQUAL, 4),
    ("participation_ratio", {}, SPIKE, 1),
    ("herfindahl", {}, QUAD, Fraction(25, 49)),
    ("herfindahl", {}, EQUAL, Fraction(1, 4)),
    ("herfindahl", {}, SPIKE, 1),
    ("berger_parker", {}, QUAD, Fraction(4, 7)),
    ("berger_parker", {}, EQUAL, Fraction(1, 4)),
    ("berger_parker", {}, SPIKE, 1),
    ("gds", {}, QUAD, 1 - Fraction(49, 4 * 25)),
    ("gds", {"order": 1}, [1, 3], Fraction(3 - 1, 2 * 4)),
    ("gds", {"order": 3}, [1, 3], Fraction(2**3, 2 * (1 + 27))),
    ("l0", {}, QUAD, 2),
    ("l0", {}, SPIKE, 3),
    ("l0", {}, [1e-300, 1], 0),
    ("l0_eps", {}, [1e-3, -5e-4, 2e-3, 0], 3),
    ("l0_eps", {"eps": 0.0}, [0, 5e-324], 1),
    ("l0_eps", {"eps": 1.0}, [0, 0.5, -1, 2], 3),
    ("neg_l1", {}, QUAD, -7),
    ("neg_l1", {}, EQUAL, -8),
    ("neg_l1", {}, [0.5, -0.25], Fraction(-3, 4)),
    ("neg_lp", {}, [1, 4], -((1 + 2) ** 2)),
    ("neg_lp", {}, [0, 4, -9], -((2 + 3) ** 2)),
    ("neg_lp", {"p": 0.25}, [1, 16], -((1 + 2) ** 4)),
    ("neg_lp", {"p": 2.0}, [3, -4], -5),
    ("neg_lp", {"p": 1.0}, [3, -4], -7),
    ("l2_l1", {}, QUAD, Fraction(5, 7)),
    ("l2_l1", {}, EQUAL, Fraction(1, 2)),
    ("l2_l1", {}, SPIKE, 1),
    # tanh(log s) = (s^2 - 1)/(s^2 + 1)
    ("neg_tanh", {}, [0, log(2), -log(3)], -Fraction(3, 5) - Fraction(8, 10)),
    ("neg_tanh", {"a": 2.0}, [log(2)], -Fraction(15, 17)),
    ("neg_tanh", {"a": 3.0, "b": 0.5}, [log(2) ** 2 / 3, 0], -Fraction(3, 5)),
    ("neg_log", {}, [1, -1], -2 * log(2)),
    ("neg_log", {}, [0, 0, 3], -log(10)),
    ("neg_log", {}, [2, 3], -log(50)),
    ("kappa4", {}, QUAD, Fraction(81 + 256, 25**2)),
    ("kappa4", {}, EQUAL, Fraction(1, 4)),
    ("kappa4", {}, SPIKE, 1),
    ("u_theta", {}, [1, -2, 4, 8], 1 - Fraction(2 - 1, 8 - 1)),
    ("u_theta", {}, [1, 1, 5], 1),
    ("u_theta", {}, EQUAL, 0),
    ("u_theta", {"theta": 0.75}, [10, 0, 3, 4], 1 - Fraction(4 - 0, 10)),
    ("neg_lp_neg", {}, [1, 2, -4, 0], -1 - Fraction(1, 2) - Fraction(1, 4)),
    ("neg_lp_neg", {"p": -2.0}, [1, 2, 0], -1 - Fraction(1, 4)),
    ("neg_lp_neg", {"p": -0.5}, [4, Fraction(1, 4)], -Fraction(1, 2) - 2),
    ("h_g", {}, [1, -2, 4], -6 * log(2)),
    ("h_g", {}, [0.5], 2 * log(2)),
    ("h_g", {}, [0, 3], inf),
    ("neg_h_s", {}, QUAD, Fraction(9, 25) * log(Fraction(9, 25) ** 2) + Fraction(16, 25) * log(Fraction(16, 25) ** 2)),
    ("neg_h_s", {}, EQUAL, -2 * log(4)),
    ("neg_h_s", {}, SPIKE, 0),
    ("h_s", {}, QUAD, Fraction(18, 25) * log(Fraction(25, 9)) + Fraction(32, 25) * log(Fraction(25, 16))),
    ("h_s", {}, EQUAL, 2 * log(4)),
    ("h_s", {}, SPIKE, 0),
    ("neg_h_s_prime", {}, [1, -2], 4 * log(2)),
    ("neg_h_s_prime", {}, [0, 0.5, 4], (16 - 1) * log(2)),
    ("neg_h_s_prime", {}, EQUAL, 16 * log(2)),
    ("h_s_prime", {}, [1, -2], -4 * log(2)),
    ("h_s_prime", {}, [0, 0.5], log(2)),
    ("h_s_prime", {}, EQUAL, -16 * log(2)),
    ("hoyer", {}, QUAD, (2 - Fraction(7, 5)) / (2 - 1)),
    ("hoyer", {}, EQUAL, 0),
    ("hoyer", {}, SPIKE, 1),
    ("pq_mean", {}, QUAD, -Fraction(7, 4) / Fraction(5, 2)),
    ("pq_mean", {}, SPIKE, -Fraction(1, 2)),
    ("pq_mean", {"p": 0.5, "q": 2.0}, [1, 4], -Fraction(9, 4) / sqrt(Fraction(17, 2))),
    ("gini", {}, QUAD, Fraction(3 + 4 + 3 + 4 + 1, 4 * 7)),
    ("gini", {}, SPIKE, Fraction(3, 4)),
    ("gini", {}, [3, -1], Fraction(1, 4)),
    ("kurtosis", {}, QUAD, 4 * Fraction(337, 625) - 3),
    ("kurtosis", {}, EQUAL, -2),
    ("kurtosis", {}, SPIKE, 1),
    ("pastor", {}, QUAD, 1 - Fraction(7, 2 * 5)),
    ("pastor_entropy", {}, QUAD, Fraction(7, 2 * 5)),
    ("pastor_entropy", {}, EQUAL, 1),
    ("pastor_entropy", {}, SPIKE, Fraction(1, 2)),
    ("pastor", {}, EQUAL, 0),
    ("pastor", {}, SPIKE, Fraction(1, 2)),
    ("gi2", {}, QUAD, 2 * Fraction(15, 28) / Fraction(43, 28)),
    ("gi2", {}, SPIKE, Fraction(6, 7)),
    ("gi2", {}, [3, -1], Fraction(2, 5)),
    ("gi3", {}, QUAD, Fraction(15, 43)),
    ("gi3", {}, SPIKE, Fraction(3, 7)),
    ("gi3", {}, [3, -1], Fraction(1, 5)),
    # the weights are (49, 25, 9, 1)/84 for N = 4 and (9, 1)/10 for N = 2
    ("ggi", {}, QUAD, 1 - Fraction(27 + 4, 84) / Fraction(7, 4)),
    ("ggi", {}, [3, -1], 1 - Fraction(9 + 3, 10) / 2),
    ("ggi", {"a": 1.0}, QUAD, Fraction(15, 28)),
    ("fggi", {}, QUAD, 1 - sqrt(Fraction(81 + 16, 84) / Fraction(25, 4))),
    ("fggi", {}, [3, -1], 1 - Fraction(3, 5)),
    ("fggi", {"p": 1.0}, QUAD, Fraction(116, 147)),
    # G_2 = 57/100 for [0, 0, 9, 16] and 2/5 for [1, 9]
    ("pfgi1", {}, QUAD, 1 - sqrt(Fraction(43, 100))),
    ("pfgi1", {}, [3, -1], 1 - sqrt(Fraction(3, 5))),
    ("pfgi1", {"p": 1.0}, [3, -1], Fraction(1, 4)),
    ("pfgi2", {}, QUAD, 1 - sqrt(Fraction(43, 157))),
    ("pfgi2", {}, [3, -1], 1 - sqrt(Fraction(3, 7))),
    ("pfgi2", {"p": 1.0}, [3, -1], Fraction(2, 5)),
    ("pfgi3", {}, QUAD, 1 - sqrt(Fraction(100, 157))),
    ("pfgi3", {}, [3, -1], 1 - sqrt(Fraction(5, 7))),
    ("pfgi3", {"p": 1.0}, [3, -1], Fraction(1, 5)),
    ("s_gini", {}, QUAD, 1 - Fraction(7 * 3 + 1 * 4, 64) / Fraction(7, 4)),
    ("s_gini", {}, SPIKE, Fraction(15, 16)),
    ("s_gini", {"v": 2.0}, QUAD, Fraction(15, 28)),
    ("negentropy", {}, QUAD, Fraction(9, 25) * log(Fraction(36, 25)) + Fraction(16, 25) * log(Fraction(64, 25))),
    ("negentropy", {}, EQUAL, 0),
    ("negentropy", {}, SPIKE, log(4)),
    ("box_cox", {}, SPIKE, Fraction(1, 4) * 4 * (2 - 1) * 2),
    ("box_cox", {"l": 1.0}, QUAD, 4 * Fraction(337, 625) - 1),
    ("box_cox", {"l": 2.0}, SPIKE, Fraction(4**2 - 1, 2)),
    ("box_cox", {"l": -0.5}, SPIKE, 2 * (1 - Fraction(1, 2))),
    ("box_cox", {"l": 0.0}, SPIKE, log(4)),
    ("gm_am", {}, [1, -4], 1 - 2 / Fraction(5, 2)),
    ("gm_am", {}, [1, 2, 4], 1 - 2 / Fraction(7, 3)),
    ("gm_am", {}, QUAD, 1),
    ("d_norm", {}, QUAD, Fraction(4, 5)),
    ("d_norm", {}, EQUAL, Fraction(1, 2)),
    ("d_norm", {}, SPIKE, 1),
    ("pq_index", {}, [1, -4], 1 - Fraction(9, 4) / Fraction(5, 2)),
    ("pq_index", {}, SPIKE, 1 - Fraction(1, 4)),
    ("pq_index", {"p": 1.0, "q": 2.0}, QUAD, Fraction(3, 10)),
    ("neg_numerical_sparsity", {}, QUAD, -Fraction(49, 25)),
    ("neg_numerical_sparsity", {}, EQUAL, -4),
    ("neg_numerical_sparsity", {}, SPIKE, -1),
    ("treves_rolls", {}, QUAD, Fraction(51, 100) / Fraction(3, 4)),
    ("treves_rolls", {}, EQUAL, 0),
    ("treves_rolls", {}, SPIKE, 1),
    ("hoover", {}, QUAD, (2 * Fraction(7, 4) + Fraction(5, 4) + Fraction(9, 4)) / (2 * 7)),
    ("hoover", {}, SPIKE, Fraction(3, 4)),
    ("hoover", {}, [3, -1], Fraction(1, 4)),
    ("atkinson", {}, [1, -4], 1 - Fraction(9, 4) / Fraction(5, 2)),
    ("atkinson", {"epsilon": 2.0}, [1, -4], 1 - Fraction(8, 5) / Fraction(5, 2)),
    ("atkinson", {"epsilon": 1.0}, [1, -4], Fraction(1, 5)),
    ("atkinson", {"epsilon": 2.0}, QUAD, 1),
    ("theil", {}, [3, -1], (Fraction(1, 2) * log(Fraction(1, 2)) + Fraction(3, 2) * log(Fraction(3, 2))) / 2),
    ("theil", {}, EQUAL, 0),
    ("theil", {}, SPIKE, log(4)),
]
