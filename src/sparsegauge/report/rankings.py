"""Rank the demo signals by every metric of the catalogue: plain data for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import kendalltau, rankdata

from .._arrays import Array
from ..criteria.shipped_audits import stored_audit
from ..metrics.catalogue import METRICS
from ..metrics.metric import Metric
from ..signals import REPRESENTATIONS
from .measured_signals import MeasuredSignal

REFERENCE_METRIC = "gds"  # S_2, with whose ranks those of the others are compared
DEPENDENCE_BY_BROKEN_LAW = {"P4": "scale", "P6": "length"}


@dataclass(frozen=True)
class Row:
    """One metric: the rank that it gives each signal (1 is the sparsest, None has no value), and how to take that.

    `agreement` is Kendall's rank correlation with S_2; `enters` says which of scale and length change the value,
    and `lawful` whether the metric obeys all laws (Bill Gates as Hurley and Rickard state it).
    """

    metric: str
    parameters: str
    formula: str
    ranks: tuple[int | None, ...]
    agreement: float
    enters: tuple[str, ...]
    lawful: bool = False

    @property
    def comparable(self) -> bool:
        """Return whether signals of different scale and length can be compared at all."""
        return not self.enters


@dataclass(frozen=True)
class Ranking:
    """All metrics on the signals in one representation, those that agree most with S_2 first."""

    representation: str
    signals: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def lawful(self) -> tuple[Row, ...]:
        """The metrics that obey all laws."""
        return tuple(row for row in self.rows if row.lawful)

    @property
    def comparable(self) -> tuple[Row, ...]:
        """The metrics that see neither scale nor length."""
        return tuple(row for row in self.rows if row.comparable)

    @property
    def others(self) -> tuple[Row, ...]:
        """The metrics that see one of them."""
        return tuple(row for row in self.rows if not row.comparable)

    def sparsest(self, rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
        """Return which of these metrics call which signal, and no other, the sparsest; the most chosen first."""
        alone = [row for row in rows if row.ranks.count(1) == 1]
        found = {signal: tuple(r.metric for r in alone if r.ranks[k] == 1) for k, signal in enumerate(self.signals)}
        return dict(sorted(((s, m) for s, m in found.items() if m), key=lambda item: -len(item[1])))

    def tied(self, rows: Sequence[Row]) -> tuple[str, ...]:
        """Return the metrics that give several signals the first rank, or none."""
        return tuple(row.metric for row in rows if row.ranks.count(1) != 1)


def rank_signals(signals: Sequence[MeasuredSignal]) -> tuple[Ranking, ...]:
    """Rank the signals by all metrics at their default parameters, in each representation."""
    return tuple(_ranking(label, signals) for label in REPRESENTATIONS)


def _ranking(representation: str, signals: Sequence[MeasuredSignal]) -> Ranking:
    coefficients = [REPRESENTATIONS[representation](signal.values) for signal in signals]
    values = {name: _sparsities(metric, coefficients) for name, metric in METRICS.items()}
    rows = [_row(metric, values[name], values[REFERENCE_METRIC]) for name, metric in METRICS.items()]
    rows.sort(key=lambda row: -row.agreement if math.isfinite(row.agreement) else math.inf)
    return Ranking(representation, tuple(signal.name for signal in signals), tuple(rows))


def _sparsities(metric: Metric, coefficients: Sequence[Array]) -> Array:
    """Return values that are larger for sparser signals."""
    sign = 1.0 if metric.sparser == "larger" else -1.0
    return np.array([sign * metric.function(c, axis=None) for c in coefficients])


def _row(metric: Metric, values: Array, reference: Array) -> Row:
    ranks = rankdata(-values, method="min", nan_policy="omit")
    audit = stored_audit(metric.name)
    return Row(
        metric=metric.name,
        parameters=", ".join(f"{name} = {parameter.default:g}" for name, parameter in metric.parameters.items()),
        formula=metric.formula,
        ranks=tuple(int(rank) if math.isfinite(rank) else None for rank in ranks),
        agreement=_agreement(values, reference),
        lawful=all(verdict.status == "holds" for verdict in audit.laws.values()),
        enters=tuple(word for key, word in DEPENDENCE_BY_BROKEN_LAW.items() if audit[key].status == "violated"),
    )


def _agreement(values: Array, reference: Array) -> float:
    """Return Kendall's tau; NaN where there is nothing to compare."""
    both = ~np.isnan(values) & ~np.isnan(reference)
    a, b = rankdata(values[both]), rankdata(reference[both])  # ranks, because infinities have no differences
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return math.nan
    return float(kendalltau(a, b).statistic)
