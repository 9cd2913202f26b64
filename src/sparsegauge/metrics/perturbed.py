"""Row statistics that know what each coefficient contributes, for the influence on a metric and its jackknife.

The statistics are those of `Rows`, so that the formula of a metric holds as it stands, in two ways:

- as `Dual`s, which carry the derivative with respect to the weight of each coefficient: the formula then returns the
  metric's own derivatives, its influence function;
- with one coefficient deleted: one value for each coefficient of each signal, and the formula returns what the metric
  would be without it, exactly. The others then weigh N/(N - 1) each, so that the length stays: metrics that grow with
  the length would else change for that reason alone.

A weighted sum, and a sum over pairs too, is linear in each single weight: its derivative is also what a deletion takes
away. What needs a sort takes O(N log N) per signal, all else O(N).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..rounding import EQUAL_TO_MEAN
from .duals import Dual
from .metric import COUNT, MAXIMUM
from .statistics import Rows, TailPowers, Weights, power_less_one
from .weight_tables import WeightTable

LARGEST_LOGARITHM = 600.0  # beyond, a power may overflow


class PerturbedRows(Rows):
    """The statistics of `Rows` with their derivatives, or with each coefficient deleted in turn.

    `total` is the total weight to which all statistics are scaled, if it is not that of the table.
    """

    def __init__(self, table: WeightTable, *, delete: bool = False, total: Array | None = None) -> None:
        self._table = table
        self._delete = delete
        self._total = table.total if total is None else total

    def _statistic(self, value: Array, slopes: Array, deleted: Array | None = None, *, degree: float = 1.0) -> Any:
        """Return a statistic that grows with all weights to the power `degree`.

        `deleted` are its values without each coefficient; None if it is linear in each single weight.
        """
        if not self._delete:
            scale = (self._total / self._table.total) ** degree
            return Dual(value * scale, slopes * scale[:, None])
        total = self._table.total[:, None]
        left = value[:, None] - slopes if deleted is None else deleted
        return (left * (total / (total - 1.0)) ** degree).reshape(-1)

    def _sum(self, terms: Array) -> Any:
        """Return the weighted sum of one term per coefficient."""
        return self._statistic(self._table.add_up(terms), terms)

    def _sum_of_nonzeros(self, function: Callable[[Array], Array]) -> Any:
        """Return the weighted sum of a function of the magnitudes, in their own unit, over the non-zeros."""
        positive = self._table.positive
        return self._sum(np.where(positive, function(np.where(positive, self._table.raw, 1.0)), 0.0))

    def _spread(self, values: Any) -> Any:
        """Return one number per signal as one per value of a statistic."""
        return np.repeat(values, self._table.c.shape[1]) if self._delete else values

    @functools.cached_property
    def N(self) -> Array:  # noqa: N802 (the formulas' name)
        """The total weight, which stays."""
        total: Array = self._spread(self._total)
        return total

    @functools.cached_property
    def n(self) -> Any:
        """The weight of the coefficients that are not zero."""
        return self._sum(self._table.positive.astype(np.float64))

    @functools.cached_property
    def all_zero(self) -> NDArray[np.bool_]:
        """Return whether all coefficients are zero."""
        return np.asarray(self._spread(~self._table.positive.any(axis=1)))

    @property
    def top(self) -> NoReturn:
        """Refuse: the largest coefficient is no mean over coefficients."""
        raise InvalidInput(f"this metric has no standard error: it {MAXIMUM}")

    @functools.cached_property
    def l1(self) -> Any:
        """The sum of c, scaled."""
        return self._sum(self._table.c)

    @functools.cached_property
    def squares(self) -> Any:
        """The sum of c^2, scaled."""
        return self._sum(self._table.c**2)

    @functools.cached_property
    def fourths(self) -> Any:
        """The sum of c^4, scaled."""
        return self._sum(self._table.c**4)

    def unscaled(self, values: Any) -> Any:
        """Return a scaled statistic in the signal's own unit."""
        return np.ldexp(values, self._spread(self._table.exponents))

    def at_most(self, bound: float) -> NoReturn:
        """Refuse: a count jumps."""
        raise InvalidInput(f"this metric has no standard error: it {COUNT}")

    def beside_top(self) -> NoReturn:
        """Refuse: the largest coefficient is no mean over coefficients."""
        raise InvalidInput(f"this metric has no standard error: it {MAXIMUM}")

    def narrowest(self, share: Fraction) -> NoReturn:
        """Refuse: neither the range nor the narrowest window is a mean over coefficients."""
        raise InvalidInput(f"this metric has no standard error: it {MAXIMUM}")

    def entropy_of_squares(self) -> Any:
        """Return Shannon's entropy of c^2/sum c^2, in nats."""
        table = self._table
        squares = table.c**2
        t = squares / np.where(self._any_positive, table.add_up(squares), 1.0)[:, None]
        total = self._sum(t)
        return np.log(total) - self._sum(t * np.log(np.where(table.positive, t, 1.0))) / total

    @property
    def _any_positive(self) -> NDArray[np.bool_]:
        return np.asarray(self._table.positive.any(axis=1))

    def sum_log(self) -> Any:
        """Return sum log c over the non-zeros."""
        return self._sum_of_nonzeros(np.log)

    def sum_c_log(self) -> Any:
        """Return sum c log c, scaled (the logarithm is not)."""
        table = self._table
        log = np.log(np.where(table.positive, table.c, 1.0)) + table.exponents[:, None] * math.log(2.0)
        return self._sum(table.c * log)

    def sum_log_one_plus_square(self) -> Any:
        """Return sum log(1 + c^2)."""
        return self._sum_of_nonzeros(lambda c: np.where(c > 1e150, 2.0 * np.log(c), np.log1p(c * c)))

    def sum_tanh(self, a: float, b: float) -> Any:
        """Return sum tanh((a c)^b)."""
        return self._sum_of_nonzeros(lambda c: np.tanh((a * c) ** b))

    def sum_negative_powers(self, p: float) -> Any:
        """Return sum c^p over the non-zeros, p < 0."""
        return self._sum_of_nonzeros(lambda c: c**p)

    def deviation(self) -> Any:
        """Return sum |c - mean c| / sum c, which is twice what the coefficients above the mean m have beyond it.

        That is U - m V, with U and V the sum and the weight of the coefficients above m. Those that equal m up to
        rounding count half: the slope at a kink is the mean of those on either side.
        """
        mean = self.l1 / self.N
        if self._delete:
            above, count = self._above(mean.reshape(self._table.c.shape))
        else:
            excess = self._table.c / np.where(mean.value > 0.0, mean.value, 1.0)[:, None] - 1.0
            higher = np.where(np.abs(excess) <= EQUAL_TO_MEAN, 0.5, excess > 0.0)
            above, count = self._sum(higher * self._table.c), self._sum(higher)
        return 2.0 * (above - mean * count) / self.l1

    def _above(self, bounds: Array) -> tuple[Array, Array]:
        """Return the sum and the weight of the coefficients above one bound for each of them, which is left out."""
        table = self._table
        c, w = table.sort(table.c), table.sort(table.w)
        sums, weights = (np.cumsum(np.insert(part, 0, 0.0, axis=1), axis=1) for part in (w * c, w))
        places = np.array([np.searchsorted(-row, -bound) for row, bound in zip(c, bounds, strict=True)])
        higher = table.c > bounds
        above = np.take_along_axis(sums, places, axis=1) - np.where(higher, table.c, 0.0)
        count = np.take_along_axis(weights, places, axis=1) - higher
        return self._statistic(table.total, above, above), self._statistic(table.total, count, count)

    def _ratios(self, squared: bool) -> Array:
        """Return z = c/mean c or c^2/mean c^2 over the non-zeros, less 1; 0 where c is."""
        table = self._table
        w = np.where(table.positive, table.w, 0.0)
        weight = np.where(self._any_positive, w.sum(axis=1), 1.0)[:, None]
        mean = np.where(self._any_positive[:, None], (w * table.c).sum(axis=1, keepdims=True) / weight, 1.0)
        d = (table.c - mean) / mean
        if squared:
            spread = (w * d * d).sum(axis=1, keepdims=True) / weight
            d = (d * (2.0 + d) - spread) / (1.0 + spread)
        return np.where(table.positive, np.maximum(d, np.nextafter(-1.0, 0.0)), 0.0)

    def theil(self, squared: bool = False) -> Any:
        """Return mean(z log z), z = c/mean c or c^2/mean c^2, over the non-zeros.

        The ratios d + 1 are to the mean of all; D = sum d is zero until a weight changes.
        """
        d = self._ratios(squared)
        D = self._sum(d)
        return (self._sum((1.0 + d) * np.log1p(d) - d) + D) / (self.n + D) - np.log1p(D / self.n)

    def log_power_mean(self, p: float, squared: bool = False) -> Any:
        """Return log (mean z^p)^(1/p), z and D as in `theil`; of the geometric mean at p = 0."""
        if p == 1:
            return 0.0 * self.n
        d = self._ratios(squared)
        D, log = self._sum(d), np.log1p(d)
        if p == 0:
            return (self._sum(log - d) + D) / self.n - np.log1p(D / self.n)
        largest = (p * log).max(axis=1)
        large = largest > LARGEST_LOGARITHM
        inside = np.where(large[:, None], 0.0, p * log)
        close = np.log1p((self._sum(np.expm1(inside) - p * d) + p * D) / self.n)
        powers = self._sum(np.where(self._table.positive, np.exp(p * log - largest[:, None]), 0.0))
        logarithm = np.where(self._spread(large), np.log(powers / self.n) + self._spread(largest), close)
        return logarithm / p - np.log1p(D / self.n)

    def relative_to_top(self, q: float) -> tuple[Any, Any]:
        """Return R = sum r - 1 and sum r (r^(q-1) - 1), r = c/max c, where the unit max c drops out of the metric.

        At q = 1 the second is sum r log r.
        """
        table = self._table
        r = table.c / np.where(self._any_positive, table.c.max(axis=1), 1.0)[:, None]
        terms = r * np.where(table.positive, power_less_one(np.log(np.where(table.positive, r, 1.0)), q), 0.0)
        return self._sum(r) - 1.0, self._sum(terms)

    def weighted_by_rank(self, weights: Weights, p: float = 1.0) -> tuple[Any, Any]:
        """Return G = 1 - (w . c^p)/mean c^p for weights that fall with the rank and add up to 1; and log(1 - G)."""
        powers = self._table.c if p == 1 else self._table.c**p
        if isinstance(weights, TailPowers):
            mean = self._tail_sum(powers, weights.power) * self.N ** (1.0 - weights.power)
        else:
            mean = self._rank_mean(powers, weights)
        rest = mean / self._sum(powers)
        return 1.0 - rest, np.log(rest)

    def _tail_sum(self, y: Array, v: float) -> Any:
        """Return sum_j (B_j^v - B_(j-1)^v) y_j = sum_j B_j^v (y_j - y_(j+1)), B_j the weight of the j largest."""
        table = self._table
        steps = -np.diff(table.sort(y), axis=1, append=0.0)
        reached = np.cumsum(table.sort(table.w), axis=1)
        terms = reached**v * steps
        slopes = _sums_from_here(v * reached ** (v - 1.0) * steps)
        deleted = np.cumsum(terms, axis=1) - terms + _sums_from_here(np.maximum(reached - 1.0, 0.0) ** v * steps)
        return self._statistic(terms.sum(axis=1), table.unsort(slopes), table.unsort(deleted), degree=v)

    def _rank_mean(self, y: Array, weights: Weights) -> Any:
        """Return N w . y for weights of whole ranks, whose derivatives are differences by deletion."""
        table = self._table
        if not table.whole:
            raise InvalidInput(
                "this metric weighs coefficients by whole ranks and cannot take weights that are not whole; use a=1, "
                "gini or s_gini"
            )
        ranks = np.arange(1.0, y.shape[1] + 1.0)
        y = table.sort(y)
        value, deleted = np.empty(len(y)), np.zeros_like(y)
        for r, N in enumerate(table.total.astype(int).tolist()):
            value[r] = y[r] @ weights(N, ranks)[0]
            if N > 1:
                u = weights(N - 1, ranks)[0]
                later = np.append(y[r, 1:] * u[:-1], 0.0)  # each of them moves up by one rank
                deleted[r] = np.cumsum(y[r] * u) - y[r] * u + _sums_from_here(later[None])[0]
        deleted = table.unsort(deleted)
        return self._statistic(value, value[:, None] - deleted, deleted)

    def each(self, function: Callable[[Array], float]) -> Any:
        """Return a function of the magnitudes of each signal; the derivatives are differences by deletion."""
        table = self._table
        if not table.whole:
            raise InvalidInput("this metric is a function of the magnitudes and cannot take weights that are not whole")
        value, deleted = np.empty(len(table.c)), np.full(table.c.shape, math.nan)
        for r, raw in enumerate(table.raw):
            ordered = np.sort(np.repeat(raw, table.w[r].astype(np.int64)))
            value[r] = function(ordered)
            for one in np.unique(raw) if len(ordered) > 1 else ():
                deleted[r, raw == one] = function(np.delete(ordered, np.searchsorted(ordered, one)))
        slopes = (1.0 - 1.0 / table.total[:, None]) * (value[:, None] - deleted)
        return self._statistic(value, slopes, deleted, degree=0.0)

    def gds(self, p: float, method: str = "auto") -> Any:
        """Return the generalised differential sparsity S_p."""
        if math.isinf(p):
            raise InvalidInput(f"this metric has no standard error: it {COUNT}")
        table = self._table
        powers = table.c if p == 1 else table.c**p
        sums = table.distance_sums(p, powers)
        numerator = self._statistic(0.5 * table.add_up(sums), sums, degree=2.0)
        return numerator / (self._sum(powers) * self.N)


def _sums_from_here(terms: Array) -> Array:
    """Return the sum of each term and all later ones."""
    return np.cumsum(terms[:, ::-1], axis=1)[:, ::-1]
