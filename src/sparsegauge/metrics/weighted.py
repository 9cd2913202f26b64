"""Row statistics of signals whose coefficients have weights: a weight of 3 counts as three equal coefficients.

Weights that are not whole extend this: every sum over coefficients is a weighted sum, and ranks are shares of the total
weight. The statistics are those of `Rows`, so that every formula of a metric holds for weights as it stands.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..rounding import EQUAL_SHARES
from .statistics import Rows, TailPowers, Weights, power_less_one

LARGEST_RECURRENCE_ORDER = 128
PAIRS_AT_ONCE = 1 << 20


class WeightedRow(NamedTuple):
    """The non-zeros of one signal, sorted and scaled to a maximum in [1/2, 1), and the weight of its zeros."""

    c: Array
    w: Array
    zeros: float
    exponent: int

    @property
    def unscaled(self) -> Array:
        """The magnitudes in their own unit."""
        return np.ldexp(self.c, self.exponent)

    def deviations(self, squared: bool) -> Array:
        """Return c/mean - 1 over the non-zeros, or c^2/mean - 1."""
        mean = float(self.w @ self.c) / float(self.w.sum())
        d = (self.c - mean) / mean
        if not squared:
            return d
        spread = float(self.w @ (d * d)) / float(self.w.sum())  # mean c^2 = mean^2 (1 + spread)
        return (d * (2.0 + d) - spread) / (1.0 + spread)


class WeightedRows(Rows):
    """The statistics of `Rows` for coefficients with weights."""

    @functools.cached_property
    def _rows(self) -> list[WeightedRow]:
        signals = self._signals
        weights, totals = signals.weights, signals.totals
        assert weights is not None
        assert totals is not None
        rows = []
        for r in range(signals.rows):
            span = slice(signals.starts[r], signals.starts[r + 1])
            c, w = np.abs(signals.values[span]), weights[span]
            order = np.argsort(c, kind="stable")
            c, w = c[order], w[order]
            first = int(np.searchsorted(c, 0.0, side="right"))
            implied = max(0.0, float(totals[r] - w.sum())) if signals.lengths[r] > len(c) else 0.0
            exponent = int(np.frexp(c[-1])[1]) if first < len(c) else 0
            rows.append(
                WeightedRow(np.ldexp(c[first:], -exponent), w[first:], float(w[:first].sum()) + implied, exponent)
            )
        return rows

    def _of_each(self, statistic: Callable[[WeightedRow], float]) -> Array:
        """Return a statistic of each signal; nan of signals without a non-zero."""
        return np.array([statistic(row) if len(row.c) else math.nan for row in self._rows], dtype=np.float64)

    @functools.cached_property
    def N(self) -> Array:  # noqa: N802 (the formulas' name)
        """The total weight."""
        return np.array([float(row.w.sum()) + row.zeros for row in self._rows])

    @functools.cached_property
    def n(self) -> Array:
        """The weight of the coefficients that are not zero."""
        return np.array([float(row.w.sum()) for row in self._rows])

    @functools.cached_property
    def all_zero(self) -> NDArray[np.bool_]:
        """Return whether all coefficients are zero."""
        return np.array([len(row.c) == 0 for row in self._rows], dtype=bool)

    @functools.cached_property
    def _powers(self) -> Array:
        def powers(row: WeightedRow) -> list[float]:
            if not len(row.c):
                return [0.0] * 5
            sums = [float(row.w @ row.c**p) for p in (1, 2, 4)]
            return [row.exponent, row.c[-1], *sums]

        return np.array([powers(row) for row in self._rows])

    @functools.cached_property
    def _logs(self) -> Array:
        def logs(row: WeightedRow) -> list[float]:
            log = np.log(row.c) + row.exponent * math.log(2.0)
            return [float(row.w @ log), float(row.w @ (row.c * log))]

        return np.array([logs(row) for row in self._rows])

    def at_most(self, bound: float) -> Array:
        """Return the weight of the coefficients c <= bound, for a bound >= 0."""
        return np.array([row.zeros + float(row.w[row.unscaled <= bound].sum()) for row in self._rows])

    def each(self, function: Callable[[Array], float]) -> Array:
        """Refuse: a function of the magnitudes knows no weights."""
        raise InvalidInput("this metric is a function of the magnitudes and cannot take weights that are not whole")

    def entropy_of_squares(self) -> Array:
        """Return Shannon's entropy of c^2/sum c^2, in nats."""

        def entropy(row: WeightedRow) -> float:
            t = row.c**2 / float(row.w @ row.c**2)
            return -float(row.w @ (t * np.log(t)))

        return self._of_each(entropy)

    def sum_log_one_plus_square(self) -> Array:
        """Return sum log(1 + c^2)."""

        def total(row: WeightedRow) -> float:
            c = row.unscaled
            return float(row.w @ np.where(c > 1e150, 2.0 * np.log(c), np.log1p(c * c)))

        return self._of_each(total)

    def sum_tanh(self, a: float, b: float) -> Array:
        """Return sum tanh((a c)^b)."""
        return self._of_each(lambda row: float(row.w @ np.tanh((a * row.unscaled) ** b)))

    def sum_negative_powers(self, p: float) -> Array:
        """Return sum c^p over the non-zeros, p < 0."""
        return self._of_each(lambda row: float(row.w @ row.unscaled**p))

    def deviation(self) -> Array:
        """Return sum |c - mean c| / sum c."""

        def deviation(row: WeightedRow) -> float:
            total = float(row.w @ row.c)
            mean = total / (float(row.w.sum()) + row.zeros)
            return (float(row.w @ np.abs(row.c - mean)) + row.zeros * mean) / total

        return self._of_each(deviation)

    def theil(self, squared: bool = False) -> Array:
        """Return mean(z log z), z = c/mean c or c^2/mean c^2, over the non-zeros."""

        def theil(row: WeightedRow) -> float:
            d = row.deviations(squared)
            terms = np.where(d > -1.0, (1.0 + d) * np.log1p(np.maximum(d, -1.0)), 0.0) - d
            return float(row.w @ terms) / float(row.w.sum())

        return self._of_each(theil)

    def log_power_mean(self, p: float, squared: bool = False) -> Array:
        """Return log (mean z^p)^(1/p), z as in `theil`; of the geometric mean at p = 0."""

        def log_mean(row: WeightedRow) -> float:
            d, total = row.deviations(squared), float(row.w.sum())
            log = np.log1p(d)
            if p == 0:
                return float(row.w @ (log - d)) / total
            return math.log1p(float(row.w @ (np.expm1(p * log) - p * d)) / total) / p

        return self._of_each(log_mean)

    def narrowest(self, share: Fraction) -> Array:
        """Return the share of the range of c that its narrowest window with this share of the weight leaves out."""

        def narrowest(row: WeightedRow) -> float:
            c, w = _with_zeros(row)
            if c[0] == c[-1]:
                return 0.0
            reached = np.cumsum(w)
            before = reached - w
            ends = np.searchsorted(reached, before + float(share) * reached[-1] * EQUAL_SHARES)
            fits = ends < len(c)
            return 1.0 - float((c[ends[fits]] - c[fits]).min() / (c[-1] - c[0]))

        return self._of_each(narrowest)

    def relative_to_top(self, q: float) -> tuple[Array, Array]:
        """Return R = sum r - 1 and sum r (r^(q-1) - 1), r = c/max c; at q = 1 sum r log r."""

        def beside(row: WeightedRow) -> float:
            return float(row.w[-1] - 1.0) + float(row.w[:-1] @ (row.c[:-1] / row.c[-1]))

        def terms(row: WeightedRow) -> float:
            r = row.c / row.c[-1]
            return float(row.w @ (r * power_less_one(np.log(r), q)))

        return self._of_each(beside), self._of_each(terms)

    def weighted_by_rank(self, weights: Weights, p: float = 1.0) -> tuple[Array, Array]:
        """Return G = 1 - (w . c^p)/mean c^p for weights that fall with the rank and add up to 1; and log(1 - G)."""
        if not isinstance(weights, TailPowers):
            raise InvalidInput(
                "this metric weighs coefficients by whole ranks and cannot take weights that are not whole; use a=1, "
                "gini or s_gini"
            )

        def rest(row: WeightedRow) -> float:
            total = float(row.w.sum()) + row.zeros
            above = np.concatenate([[0.0], np.cumsum(row.w[::-1])]) / total  # shares, from the largest on
            shares = np.diff(above**weights.power)[::-1]
            powers = row.c**p
            return float(shares @ powers) * total / float(row.w @ powers)

        rests = self._of_each(rest)
        return 1.0 - rests, np.log(rests)

    def gds(self, p: float, method: str = "auto") -> Array:
        """Return the generalised differential sparsity S_p; nan where all coefficients are zero."""
        if method == "paper":
            raise InvalidInput("method='paper' has no formulas for weights; use method='auto'")
        if math.isinf(p):
            return self._of_each(lambda row: row.zeros / (float(row.w.sum()) + row.zeros))
        return self._of_each(lambda row: _sparsity(row, p, by_pairs=method == "definition"))


def _with_zeros(row: WeightedRow) -> tuple[Array, Array]:
    if row.zeros == 0.0:
        return row.c, row.w
    return np.concatenate([[0.0], row.c]), np.concatenate([[row.zeros], row.w])


def _sparsity(row: WeightedRow, p: float, by_pairs: bool) -> float:
    """Return sum_{i<j} w_i w_j (c_j - c_i)^p / (sum w  sum w c^p)."""
    c, w = _with_zeros(row)
    total, powers = float(w.sum()), float(w @ c**p)
    if p == 2 and not by_pairs:
        mean = float(w @ c) / total
        return float(w @ (c - mean) ** 2) / powers
    if p == 1 and not by_pairs:
        below = np.cumsum(w)[:-1]
        return float(np.diff(c) @ (below * (total - below))) / (total * powers)
    if p.is_integer() and p <= LARGEST_RECURRENCE_ORDER and not by_pairs:
        return _by_recurrence(c, w, int(p)) / (total * powers)
    return _by_pairs(c, w, p) / (total * powers)


def _by_recurrence(c: Array, w: Array, p: int) -> float:
    """Return sum_{i<j} w_i w_j (c_j - c_i)^p of sorted values: all terms are positive, so that nothing cancels.

    sums[q] is sum_{i<=k} w_i (c_k - c_i)^q, which a step to c_k + gap turns into sum_r C(q, r) gap^(q-r) sums[r].
    """
    binomials = np.array([[math.comb(q, r) for r in range(p + 1)] for q in range(p + 1)], dtype=np.float64)
    exponents = np.maximum(np.subtract.outer(np.arange(p + 1), np.arange(p + 1)), 0)
    sums = np.zeros(p + 1)
    sums[0] = w[0]
    total = 0.0
    for gap, weight in zip(np.diff(c), w[1:], strict=True):
        if gap > 0.0:
            sums = (binomials * (gap ** np.arange(p + 1))[exponents]) @ sums
        total += weight * sums[p]
        sums[0] += weight
    return float(total)


def _by_pairs(c: Array, w: Array, p: float) -> float:
    """Return the same for any real order, pair by pair, some rows of pairs at a time."""
    rows = max(1, PAIRS_AT_ONCE // len(c))
    parts = []
    for first in range(0, len(c), rows):
        last = min(first + rows, len(c))
        gaps = np.maximum(c[first:last, None] - c[None, :last], 0.0)
        parts.append(float(w[first:last] @ (gaps**p @ w[:last])))
    return math.fsum(parts)
