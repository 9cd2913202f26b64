"""What each coefficient contributes to a metric of its signal: the influence, or what its deletion changes.

The variance of the metric is that of the sum of the contributions. `error_bars` makes standard errors and confidence
intervals of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Signals, check_choice, is_sparse
from ..errors import InvalidInput
from .catalogue import METRICS
from .duals import Dual
from .metric import Axis, Metric, measure_signals
from .perturbed import PerturbedRows
from .scales import Scale
from .signal_blocks import block_sums, block_variance, choose_block_length, longest_block
from .weight_tables import WeightTable

Method = Literal["infinitesimal", "jackknife"]
Blocks = int | Literal["auto"] | None

METHODS = ("infinitesimal", "jackknife")
COEFFICIENTS_PER_BATCH = 1 << 17  # of several signals
OFFSET_STEP = 2.0**-17  # of a numerical derivative, in units of the largest magnitude


class Contributions(NamedTuple):
    """One signal: its metric on some scale, and what each coefficient contributes to it.

    `terms` add up to zero, each counted `weights` times; `bias` is what the metric exceeds its limit by, on average.
    """

    value: float
    terms: Array
    weights: Array
    bias: float

    @property
    def N(self) -> float:  # noqa: N802 (the formulas' name)
        """The total weight."""
        return float(self.weights.sum())


class Spread(NamedTuple):
    """The variance of a metric, its degrees of freedom, and how much larger it is than without dependence."""

    variance: float
    freedom: float
    inflation: float


class ErrorEstimator:
    """What to estimate: the error of which metric with which arguments, by which method, with which blocks."""

    def __init__(
        self, metric: Any, method: str, blocks: Any, weights: Any, center: Any, parameters: Mapping[str, Any]
    ) -> None:
        self.metric = find_metric(metric)
        self.arguments = check_arguments(self.metric, parameters)
        self.deletes = check_choice("method", method, METHODS) == "jackknife"
        self.blocks = _check_blocks(blocks)
        self.center = center
        reason = self.metric.why_no_standard_error(**self.arguments)
        if reason:
            raise InvalidInput(f"{self.metric.name} has no standard error: it {reason}")
        if center == "median":
            raise InvalidInput(
                "center='median' has no standard error; use center='mean', or subtract the median from x yourself, "
                "which takes it to be known"
            )
        if blocks is not None and weights is not None:
            raise InvalidInput("blocks are runs of neighbouring coefficients, which cannot have weights; leave one out")

    def check_signals(self, x: Any, axis: Axis, signals: Signals) -> None:
        """Refuse blocks where coefficients have no order, or are too few."""
        if self.center is not None and getattr(x, "dtype", np.dtype(float)).kind == "c":
            raise InvalidInput("center='mean' of complex numbers has no standard error; subtract the mean yourself")
        if self.blocks is None:
            return
        if is_sparse(x):
            raise InvalidInput("blocks need every coefficient in its place, got a sparse array; pass x.toarray()")
        if np.ndim(x) > 1 and (axis is None or (isinstance(axis, tuple) and len(axis) > 1)):
            raise InvalidInput(f"blocks are runs along one dimension, got axis={axis!r}; name one dimension")
        shortest = int(signals.lengths.min(initial=np.iinfo(np.int64).max))
        if isinstance(self.blocks, int) and self.blocks > longest_block(shortest):
            raise InvalidInput(
                f"blocks of {self.blocks} are too long for a signal of {shortest} coefficients; use at most "
                f"{longest_block(shortest)}, a quarter of it"
            )

    def contributions(self, signals: Signals, scale: Scale) -> Iterator[Contributions]:
        """Yield what the coefficients of each signal contribute to the metric, on a scale."""
        step = (
            max(1, COEFFICIENTS_PER_BATCH // max(1, int(signals.lengths[0]))) if signals.uniform and signals.rows else 1
        )
        moved = _slopes_by_offset(self.metric, self.arguments, signals) if self.center else None
        for first in range(0, signals.rows, step):
            last = min(first + step, signals.rows)
            table = WeightTable(signals, first, last)
            with np.errstate(all="ignore"):  # signals of zeros come to 0/0
                value, terms = _influences(self.metric, self.arguments, table)
                places, slope = scale.forward(value), scale.slope(value)[:, None]
                raw = np.where(terms == 0.0, 0.0, slope * terms)
                if self.deletes and table.whole:
                    without = _without_each(self.metric, self.arguments, table)
                    raw = _deletions(places, scale.forward(without), raw, table)
                if moved is not None:
                    offsets = signals.values[signals.starts[first] : signals.starts[last]].reshape(last - first, -1)
                    raw = raw + slope * moved[first:last, None] * offsets / table.total[:, None]
                sums = table.add_up(raw)
                terms = raw - (sums / table.total)[:, None]
            yield from map(Contributions, places.tolist(), terms, table.w, (-sums).tolist())

    def spread(self, one: Contributions) -> Spread:
        """Return the variance of the sum of the contributions, and its degrees of freedom."""
        N = one.N
        if not N > 1.0:
            return Spread(math.nan, math.nan, 1.0)
        squares = float(one.weights @ one.terms**2)
        alone = N / (N - 1.0) * squares
        length = 1
        if self.blocks is not None:
            length = choose_block_length(one.terms) if self.blocks == "auto" else self.blocks
        if length == 1:
            return Spread(alone, _freedom(one.terms, one.weights, N), 1.0)
        sums = block_sums(one.terms, length)
        effective = 1.5 * N / length  # overlapping blocks are worth half as many again
        variance = block_variance(one.terms, length)
        return Spread(variance, _freedom(sums, np.ones(len(sums)), effective), variance / alone if alone else 1.0)


def find_metric(metric: Any) -> Metric:
    """Return a metric from its name, its object or its function."""
    found = getattr(metric, "metric", metric)
    return found if isinstance(found, Metric) else METRICS.find(metric)


def check_arguments(metric: Metric, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters and options of a metric: those given, checked, and the defaults of the others."""
    own = {name: value for name, value in given.items() if name not in metric.options}
    options = {name: option.check(given.get(name, option.default)) for name, option in metric.options.items()}
    return {**metric.check(own), **options}


def _check_blocks(blocks: Any) -> Blocks:
    if blocks is None:
        return None
    if isinstance(blocks, str) and blocks == "auto":
        return "auto"
    if isinstance(blocks, bool | np.bool_) or not isinstance(blocks, int | np.integer) or blocks < 1:
        raise InvalidInput(f"blocks is a number of coefficients of at least 1, 'auto' or None, got {blocks!r}")
    return int(blocks)


def _influences(metric: Metric, arguments: Mapping[str, Any], table: WeightTable) -> tuple[Array, Array]:
    """Return the metric of each signal, and its derivative with respect to each weight at a fixed total."""
    found: Any = metric.kernel(PerturbedRows(table), **arguments)
    if not isinstance(found, Dual):  # a constant
        found = Dual(np.broadcast_to(np.asarray(found, np.float64), (len(table.c),)), np.zeros(table.c.shape))
    value = np.where(table.positive.any(axis=1), found.value, math.nan)
    terms = found.slopes - table.add_up(found.slopes)[:, None] / table.total[:, None]
    equal = table.c.max(axis=1, initial=0.0) == table.c.min(axis=1, initial=math.inf)  # all of them change it alike
    terms = np.where(equal[:, None], 0.0, terms)
    return value, np.where(np.isfinite(value)[:, None], terms, math.nan)


def _without_each(metric: Metric, arguments: Mapping[str, Any], table: WeightTable) -> Array:
    """Return the metric without each coefficient in turn, from sums that are less by one term.

    Without the largest one, such sums may be differences of nearly equals: there they are added up anew.
    """
    without: Array = metric.kernel(PerturbedRows(table, delete=True), **arguments).reshape(table.c.shape)
    if table.c.shape[1] > 1:
        rest: Any = metric.kernel(PerturbedRows(table.without_largest(), total=table.total), **arguments)
        without[table.largest] = rest.value if isinstance(rest, Dual) else rest
    return without


def _deletions(places: Array, without: Array, terms: Array, table: WeightTable) -> Array:
    """Return the jackknife's contributions; the infinitesimal ones where a deletion leaves nothing but equal ones.

    They do not add up to zero: minus their sum is the bias.
    """
    differences = (1.0 - 1.0 / table.total)[:, None] * (places[:, None] - without)
    return np.where(np.isfinite(differences) & ~_leaves_equals(table), differences, terms)


def _leaves_equals(table: WeightTable) -> NDArray[np.bool_]:
    """Return which coefficients are the only one that differs from all others."""
    ends = (table.c == end(table.c, axis=1, keepdims=True) for end in (np.max, np.min))
    largest, smallest = ((which, table.add_up(which.astype(np.float64))) for which in ends)
    two = largest[1] + smallest[1] == table.total
    only = [which & (two & (count == 1.0))[:, None] for which, count in (largest, smallest)]
    return np.asarray(only[0] | only[1])


def _slopes_by_offset(metric: Metric, arguments: dict[str, Any], signals: Signals) -> Array:
    """Return the derivative of each signal's metric with respect to the mean that was subtracted from it."""
    rows = np.diff(signals.starts)
    largest = np.array([np.abs(signals.values[a:b]).max(initial=0.0) for a, b in _spans(signals)])
    step = OFFSET_STEP * largest
    above, below = (
        measure_signals(metric, signals._replace(values=values), math.nan, arguments)
        for values in (signals.values - np.repeat(step, rows), signals.values + np.repeat(step, rows))
    )
    with np.errstate(all="ignore"):
        return np.asarray(np.where(step > 0.0, (above - below) / (2.0 * step), 0.0))


def _spans(signals: Signals) -> Iterator[tuple[int, int]]:
    return zip(signals.starts[:-1].tolist(), signals.starts[1:].tolist(), strict=True)


def _freedom(terms: Array, weights: Array, count: float) -> float:
    """Return the degrees of freedom of a variance from `count` terms: 2 count/(kurtosis - 1), after Satterthwaite."""
    squares = terms * terms
    total = float(weights @ squares)
    if not total > 0.0:
        return count - 1.0
    kurtosis = float(weights.sum()) * float(weights @ (squares * squares)) / total**2
    return max(1.0, min(count - 1.0, 2.0 * count / (kurtosis - 1.0) if kurtosis > 1.0 else math.inf))
