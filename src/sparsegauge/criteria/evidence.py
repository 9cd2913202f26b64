"""What the paper's numbers are when they are worked out: the computations behind `audit_paper`."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..metrics.gds import exact_gds as gds_formula
from ..metrics.gds import gds
from .coefficients import Signal, signal
from .numbers import RATIONAL

SIGNALS = ([1, 2], [0, 1, 1, 5], [1, 1, 1, 1, 10], [3, 1, 4, 1, 5, 9, 2, 6], [0, 0, 7, 7, 8, 100])


def exact_gds(c: Any, order: int) -> Fraction:
    """Return S_p of a list of numbers, from the definition."""
    return Fraction(gds_formula(RATIONAL, signal((Fraction(v), 1) for v in c), order))


def gini_as_printed(c: Any) -> Fraction:
    """Return 1 - 2 sum c_i / |c|_1 (N - i + 1/2)/N (section V)."""
    n, total = len(c), sum(c)
    terms = (Fraction(v) / total * (n - i + Fraction(1, 2)) / n for i, v in enumerate(sorted(c), start=1))
    return 1 - 2 * sum(terms, start=Fraction(0))


def even_formula(c: Any, k: int) -> Fraction:
    """Return S_2k by the even formula of section VI."""
    norm = [sum(Fraction(v) ** w for v in c) for w in range(2 * k + 1)]
    bracket = sum((-1) ** w * math.comb(2 * k, w) * norm[w] * norm[2 * k - w] for w in range(1, k))
    bracket += Fraction((-1) ** k, 2) * math.comb(2 * k, k) * norm[k] ** 2
    return 1 + Fraction(bracket) / (len(c) * norm[2 * k])


def odd_formula(c: Any, k: int) -> Fraction:
    """Return S_{2k+1} by the odd formula of section VI."""
    c = sorted(Fraction(v) for v in c)
    p = 2 * k + 1

    def f(w: int, i: int) -> Fraction:
        return sum((v**w for v in c[: i + 1]), start=Fraction(0))

    gamma = sum(
        (-1) ** w * math.comb(p, w) * sum(v ** (p - w) * f(w, i) - v**w * f(p - w, i) for i, v in enumerate(c))
        for w in range(k + 1)
    )
    return Fraction(gamma) / Fraction(len(c) * sum(v**p for v in c))


def agree(one: Callable[[Any, int], Fraction], other: Callable[[Any, int], Fraction], orders: Any) -> bool:
    """Return whether two formulas give the same fractions."""
    return all(one(c, k) == other(c, k) for c in SIGNALS for k in orders)


def formula_error(data: str, order: int) -> float:
    """Return the relative error of the paper's formula in float64, on 100 coefficients."""
    u = np.random.default_rng(2016).random(100)
    x = u if data == "U(0,1)" else 1 + 0.001 * u
    truth = gds(x, order)
    return float(abs(gds(x, order, method="paper") - truth) / truth)


class Counts(NamedTuple):
    """Operations as the paper counts them (section VI)."""

    definition: int
    formula: int


def printed_counts(n: int, p: int) -> Counts:
    """Return the multiplications and additions of the definition and of the even or odd formula."""
    definition = (p - 1) * n * (n + 1) // 2 + n * n - 2
    k = p // 2
    if p % 2 == 0:
        return Counts(definition, k * k * (2 * n + 1) - k * n - k + 2 * k * n - k + 2)
    return Counts(definition, 4 * k * k * n + 6 * k * n + k * k - k + n - 2 + (2 * k + 5) * n - k - 4)


def crossover(p: int) -> int:
    """Return the least N from which the formula takes fewer operations, by the paper's own counts."""
    n = 2
    while printed_counts(n, p).definition <= printed_counts(n, p).formula:
        n += 1
    return n


class Counted:
    """A number that counts what is done with it."""

    multiplications = 0
    additions = 0

    def __mul__(self, other: Any) -> Counted:
        Counted.multiplications += 1
        return Counted()

    def __add__(self, other: Any) -> Counted:
        Counted.additions += 1
        return Counted()

    __sub__ = __add__

    def power(self, p: int) -> Counted:
        """Multiply p factors, one after the other."""
        result = self
        for _ in range(p - 1):
            result = result * self
        return result


def counted_definition(n: int, p: int) -> tuple[int, int]:
    """Count the multiplications and additions that the definition really takes: all pairs, powers factor by factor."""
    Counted.multiplications = Counted.additions = 0
    c = [Counted() for _ in range(n)]
    pairs = [(c[j] - c[i]).power(p) for j in range(n) for i in range(j)]
    for terms in (pairs, [v.power(p) for v in c]):
        total = terms[0]
        for term in terms[1:]:
            total = total + term
    return Counted.multiplications, Counted.additions


class Prototype(NamedTuple):
    """S_1 of the paper's prototypes: as printed, for many coefficients, and at N = 100 with its standard error."""

    name: str
    printed: float
    limit: float
    mean: float
    error: float


def prototypes(draws: int = 4000, n: int = 100, nonzeros: int = 40) -> list[Prototype]:
    """Return the four distributions at K = 40 %; the limit is 0.6 + 0.4 G with G the Gini index of the distribution."""
    rng = np.random.default_rng(2016)
    samples = {
        "binomial (ones)": (0.60, 0.0, np.ones((draws, nonzeros))),
        "uniform": (0.73, 1 / 3, rng.random((draws, nonzeros))),
        "normal": (0.76, math.sqrt(2) - 1, np.abs(rng.standard_normal((draws, nonzeros)))),
        "exponential": (0.79, 0.5, rng.exponential(size=(draws, nonzeros))),
    }
    found = []
    for name, (printed, index, values) in samples.items():
        x = np.concatenate([np.zeros((draws, n - nonzeros)), values], axis=1)
        s = gds(x, 1)
        limit = (n - nonzeros) / n + nonzeros / n * index
        found.append(Prototype(name, printed, limit, float(s.mean()), float(s.std(ddof=1) / math.sqrt(draws))))
    return found


def rising_pair(p: int, q: int) -> tuple[Signal, Fraction, Fraction]:
    """Return, for p > q, a signal with S_p > S_q: n = 2 d^-q times d and a 1, S_p = n (1-d)^p / ((n+1)(n d^p + 1))."""
    for denominator in range(3, 200):
        d = Fraction(1, denominator)
        c = signal([(d, 2 * denominator**q), (Fraction(1), 1)])
        values = [Fraction(gds_formula(RATIONAL, c, order)) for order in (p, q)]
        if values[0] > values[1]:
            return c, values[0], values[1]
    raise ArithmeticError(f"no signal with S_{p} > S_{q} found")


def _add_up(terms: list[Counted]) -> Counted:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def counted_even(n: int, k: int) -> tuple[int, int]:
    """Return the multiplications and additions of the even formula, with every power from scratch."""
    Counted.multiplications = Counted.additions = 0
    c = [Counted() for _ in range(n)]
    norms = {w: _add_up([v.power(w) for v in c]) for w in range(1, 2 * k + 1)}
    terms = [norms[w] * norms[2 * k - w] * 1 for w in range(1, k)] + [norms[k] * norms[k] * 1]
    bracket = _add_up(terms)
    (bracket * (norms[2 * k] * n)) + 1  # a division counts as a multiplication
    return Counted.multiplications, Counted.additions


def counted_odd(n: int, k: int) -> tuple[int, int]:
    """Return the multiplications and additions of the odd formula, with every power from scratch."""
    Counted.multiplications = Counted.additions = 0
    c = [Counted() for _ in range(n)]
    p = 2 * k + 1
    running: dict[int, list[Counted]] = {}
    for w in range(p + 1):
        sums = [c[0].power(w)]
        for v in c[1:]:
            sums.append(sums[-1] + v.power(w))
        running[w] = sums
    outer = []
    for w in range(k + 1):
        differences = [v.power(p - w) * running[w][i] - v.power(w) * running[p - w][i] for i, v in enumerate(c)]
        outer.append(_add_up(differences) * 1)
    _add_up(outer) * (running[p][-1] * n)
    return Counted.multiplications, Counted.additions


def signed_gds(c: Any, order: int) -> Fraction:
    """Return the definition on algebraic values instead of magnitudes."""
    c = sorted(Fraction(v) for v in c)
    pairs = sum(((b - a) ** order for j, b in enumerate(c) for a in c[:j]), start=Fraction(0))
    return pairs / (len(c) * sum((v**order for v in c), start=Fraction(0)))
