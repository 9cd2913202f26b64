"""Measure signals, the demos or one's own, in three representations: plain data for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .._arrays import Array
from ..metrics.gds import gds, gds_profile
from ..profiles import ORDERS, Decay, Intervals, compute_decay, compute_intervals
from ..signals import DEMOS, REPRESENTATIONS, demo

TABLE_ORDERS = (1, 2, 4)


@dataclass(frozen=True)
class MeasuredSignal:
    """What the page says of one signal; `profiles` and `decays` have one entry per representation.

    `intervals` are the confidence intervals of the samples' profile by order, where they were asked for.
    """

    name: str
    description: str
    values: Array
    profiles: dict[str, dict[float, float]]
    decays: dict[str, Decay]
    centred_samples: float  # S_2 of the samples less their mean: the effect of an offset
    intervals: Intervals = field(default_factory=dict)

    def sparsest(self, order: float) -> set[str]:
        """Return the representations of the largest S_p; more than one only if they are exactly equal."""
        largest = max(profile[order] for profile in self.profiles.values())
        return {name for name, profile in self.profiles.items() if profile[order] == largest}


def measure_demos(
    names: Iterable[str] = tuple(DEMOS), *, progress: Callable[[str], None] | None = None
) -> list[MeasuredSignal]:
    """Measure demo signals; `progress` is called with the name of each before it is measured."""
    results = []
    for name in names:
        if progress is not None:
            progress(name)
        results.append(measure(name))
    return results


def measure(name: str) -> MeasuredSignal:
    """Measure one demo signal in every representation."""
    return measure_values(name, DEMOS[name], demo(name))


def measure_values(name: str, description: str, values: Array, *, intervals: bool = False) -> MeasuredSignal:
    """Measure a signal in every representation; its sides can be halved.

    `intervals` asks for confidence intervals of the samples. A picture, with neighbours in two dimensions, has none.
    Nor have coefficients of a transform: each of them has a size of its own.
    """
    coefficients = {label: transform(values) for label, transform in REPRESENTATIONS.items()}
    return MeasuredSignal(
        name=name,
        description=description,
        values=values,
        profiles={label: _profile(c) for label, c in coefficients.items()},
        decays={label: compute_decay(c) for label, c in coefficients.items()},
        centred_samples=gds(values - values.mean(), 2, axis=None),
        intervals=compute_intervals(values) if intervals and values.ndim == 1 else {},
    )


def _profile(coefficients: Array) -> dict[float, float]:
    return dict(zip(ORDERS, gds_profile(coefficients, ORDERS, axis=None).tolist(), strict=True))
