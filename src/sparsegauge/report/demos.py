"""The demo signals measured in three representations: plain data for the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from .._arrays import Array
from ..metrics.gds import gds, gds_profile
from ..signals import DEMOS, dct, demo, wavelet

ORDERS = (
    1,
    1.2,
    1.4,
    1.6,
    1.8,
    2,
    2.25,
    2.5,
    2.75,
    3,
    3.5,
    4,
    5,
    6,
    8,
    10,
    12,
    14,
    16,
    18,
    20,
)  # denser where profiles bend
TABLE_ORDERS = (1, 2, 4)
CURVE_POINTS = 150  # enough for a smooth line, however many coefficients there are

REPRESENTATIONS: dict[str, Callable[[Array], Array]] = {"samples": np.asarray, "DCT": dct, "wavelet": wavelet}


@dataclass(frozen=True)
class Decay:
    """Magnitudes relative to the largest, from the largest down, against the share of coefficients so far."""

    shares: Array
    magnitudes: Array


@dataclass(frozen=True)
class Measured:
    """What the page says of one signal; `profiles` and `decays` have one entry a representation."""

    name: str
    description: str
    values: Array
    profiles: dict[str, dict[float, float]]
    decays: dict[str, Decay]
    centred_samples: float  # S_2 of the samples after taking off their mean: what an offset does

    def sparsest(self, order: float) -> set[str]:
        """The representations of the largest S_p; more than one only if they are exactly equal."""
        largest = max(profile[order] for profile in self.profiles.values())
        return {name for name, profile in self.profiles.items() if profile[order] == largest}


def measure_demos(
    names: Iterable[str] = tuple(DEMOS), *, progress: Callable[[str], None] | None = None
) -> list[Measured]:
    """Measure demo signals; `progress` is called with the name of each before it is measured."""
    results = []
    for name in names:
        if progress is not None:
            progress(name)
        results.append(measure(name))
    return results


def measure(name: str) -> Measured:
    """Measure one demo signal in every representation."""
    values = demo(name)
    coefficients = {label: transform(values) for label, transform in REPRESENTATIONS.items()}
    return Measured(
        name=name,
        description=DEMOS[name],
        values=values,
        profiles={label: _profile(c) for label, c in coefficients.items()},
        decays={label: _decay(c) for label, c in coefficients.items()},
        centred_samples=gds(values - values.mean(), 2, axis=None),
    )


def _profile(coefficients: Array) -> dict[float, float]:
    return dict(zip(ORDERS, gds_profile(coefficients, ORDERS, axis=None).tolist(), strict=True))


def _decay(coefficients: Array) -> Decay:
    descending = np.sort(np.abs(coefficients), axis=None)[::-1]
    ranks = np.unique(np.geomspace(1, descending.size, CURVE_POINTS).round().astype(np.int64))
    return Decay(shares=ranks / descending.size, magnitudes=descending[ranks - 1] / descending[0])
