"""The statistics of signals whose pieces were added up: what the formulas of metrics see of a stream.

The formulas are those of whole signals. To find out what a metric needs, its formula runs once on a signal of one
coefficient, and notes what it asks for.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, as_signals
from ..errors import NotMadeOfSums
from .catalogue import METRICS
from .ingredients import Additive, BesideTop, CentralMoments, Dispersion, EnergyEntropy, NegativePowers, sparsity
from .metric import Metric
from .pieces import HIGHEST_MOMENT, Ingredient, Piece, collect
from .portable.orders import is_made_of_moments
from .statistics import Rows, Weights


class StreamedRows(Rows):
    """The statistics of `Rows` from the sums of all pieces."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece

    def _find(self, ingredient: Any) -> Any:
        """Return an ingredient whose sums are there."""
        return ingredient

    @property
    def N(self) -> Array:  # noqa: N802 (the formulas' name)
        """The number of coefficients."""
        return self._piece.N

    @property
    def n(self) -> Array:
        """The number of coefficients that are not zero."""
        return self._piece.n

    @functools.cached_property
    def _powers(self) -> Array:
        piece = self._piece
        sums = piece.sums.total.value, piece.squares.value, piece.fourths.value
        return np.column_stack([piece.exponent, piece.top, *sums])

    def at_most(self, bound: float) -> Array:
        """Return the number of coefficients c <= bound, for a bound >= 0."""
        values: Array = self._find(Additive("at_most", (bound,))).value(self._piece)
        return values

    def gds(self, p: float, method: str = "auto") -> Array:
        """Return the generalised differential sparsity S_p; nan where all coefficients are zero."""
        if method != "auto" or not is_made_of_moments(p):
            raise NotMadeOfSums
        piece = self._piece
        if math.isinf(p):
            return (self.N - self.n) / self.N
        if p > HIGHEST_MOMENT:
            values: Array = self._find(CentralMoments(int(p))).value(self._piece)
            return values
        return sparsity(piece.sums, piece.squares if p == 2 else piece.fourths, int(p))

    def each(self, function: Callable[[Array], float]) -> Array:
        """Refuse: the coefficients are not kept."""
        raise NotMadeOfSums

    def entropy_of_squares(self) -> Array:
        """Return Shannon's entropy of c^2/sum c^2, in nats."""
        values: Array = self._find(EnergyEntropy()).value(self._piece)
        return values

    def sum_log(self) -> Array:
        """Return sum log c over the non-zeros."""
        values: Array = self._find(Additive("sum_log")).value(self._piece)
        return values

    def sum_c_log(self) -> Array:
        """Return sum c log c, scaled (the logarithm is not)."""
        values: Array = self._find(Additive("sum_c_log", (), 1)).value(self._piece)
        return values

    def sum_log_one_plus_square(self) -> Array:
        """Return sum log(1 + c^2)."""
        values: Array = self._find(Additive("sum_log_one_plus_square")).value(self._piece)
        return values

    def sum_tanh(self, a: float, b: float) -> Array:
        """Return sum tanh((a c)^b)."""
        values: Array = self._find(Additive("sum_tanh", (a, b))).value(self._piece)
        return values

    def sum_negative_powers(self, p: float) -> Array:
        """Return sum c^p over the non-zeros, p < 0."""
        values: Array = self._find(NegativePowers(p)).value(self._piece)
        return values

    def deviation(self) -> Array:
        """Refuse: the mean is not known before the last piece."""
        raise NotMadeOfSums

    def theil(self, squared: bool = False) -> Array:
        """Return mean(z log z), z = c/mean c or c^2/mean c^2, over the non-zeros."""
        values: Array = self._find(Dispersion(1.0, squared)).spread(self._piece)
        return values

    def log_power_mean(self, p: float, squared: bool = False) -> Array:
        """Return log (mean z^p)^(1/p), z as in `theil`; of the geometric mean at p = 0."""
        if p == 1:
            return np.zeros(len(self.N))
        values: Array = self._find(Dispersion(float(p), squared)).log_mean(self._piece)
        return values

    def narrowest(self, share: Fraction) -> Array:
        """Refuse: windows of sorted coefficients are no sums."""
        raise NotMadeOfSums

    def relative_to_top(self, q: float) -> tuple[Array, Array]:
        """Return R = sum r - 1 and sum r (r^(q-1) - 1), r = c/max c; at q = 1 sum r log r."""
        values: tuple[Array, Array] = self._find(BesideTop(q)).value(self._piece)
        return values

    def weighted_by_rank(self, weights: Weights, p: float = 1.0) -> tuple[Array, Array]:
        """Refuse: ranks need all coefficients."""
        raise NotMadeOfSums


class Needs(NamedTuple):
    """What a metric needs beside moments: other sums; and whether counts of non-zeros, or the largest coefficient."""

    ingredients: list[Ingredient]
    counts: bool


class _NotingRows(StreamedRows):
    """One signal of one coefficient, which notes what a formula asks for."""

    def __init__(self) -> None:
        self._signals = as_signals(np.ones(1), axis=-1)
        self.noted: dict[Ingredient, None] = {}
        self.counts = False
        super().__init__(collect(self._signals, ()))

    def _find(self, ingredient: Any) -> Any:
        if ingredient not in self.noted:
            self.noted[ingredient] = None
            self._piece = collect(self._signals, self.noted)
        return ingredient

    @property
    def n(self) -> Array:
        """The number of coefficients that are not zero."""
        self.counts = True
        return self._piece.n

    @property
    def top(self) -> Array:
        """The largest c, scaled."""
        self.counts = True
        return self._piece.top


def all_arguments(metric: Metric, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the formula of a metric is called with: its parameters, and the defaults of its options."""
    return {**parameters, **{name: option.default for name, option in metric.options.items()}}


def find_needs(metric: Metric, parameters: Mapping[str, Any]) -> Needs | None:
    """Return what a metric needs; None if it is not made of sums."""
    row = _NotingRows()
    try:
        with np.errstate(all="ignore"):
            metric.kernel(row, **all_arguments(metric, parameters))
    except NotMadeOfSums:
        return None
    return Needs(list(row.noted), row.counts)


def metrics_made_of_sums() -> list[str]:
    """Return the names of the metrics that streams can be measured by, at their default parameters."""
    return [metric.name for metric in METRICS.values() if find_needs(metric, metric.defaults) is not None]
