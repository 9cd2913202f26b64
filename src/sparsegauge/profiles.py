"""What is drawn of a signal, as plain data: S_p over the order, sorted magnitudes, and sparsity over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ._arrays import Array
from .metrics.error_bars import confidence_interval
from .metrics.gds import gds, gds_profile

# denser where profiles bend
ORDERS = (1, 1.2, 1.4, 1.6, 1.8, 2, 2.25, 2.5, 2.75, 3, 3.5, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20)
INTERVAL_ORDERS = (1, 2, 4)  # higher ones depend on a few coefficients, whose error a signal does not show
MAP_ORDERS = (1, 2, 3, 4, 6, 8, 12, 16, 20)
MOST_LINES_PER_PLOT = 8
WINDOWS_PER_SIGNAL = 100  # about
SHORTEST_WINDOW = 32
FEWEST_WINDOWS = 8
INSIGNIFICANT_RANGE_OF_S2 = 5e-4  # over time
POINTS_PER_CURVE = 150  # enough for a smooth line, however many coefficients there are


@dataclass(frozen=True)
class Decay:
    """Magnitudes relative to the largest, from the largest down, against the share of coefficients so far."""

    shares: Array
    magnitudes: Array


Intervals = dict[float, tuple[float, float]]


@dataclass(frozen=True)
class Curves:
    """One signal: S_p at `ORDERS`, and the decay of its coefficients; no decay if all are zero or missing.

    `intervals` are the 95 % confidence intervals of S_p by order, where they were asked for.
    """

    title: str
    profile: Array
    decay: Decay | None
    intervals: Intervals = field(default_factory=dict)


@dataclass(frozen=True)
class Map:
    """One signal in windows: their middles in samples, and S_p at `MAP_ORDERS` as values[order, window]."""

    title: str
    middles: Array
    values: Array
    rate: float | None = None


@dataclass(frozen=True)
class Trace:
    """One metric of several signals in windows: their middles in samples, and values[signal, window]."""

    title: str
    signals: Sequence[str]
    middles: Array
    values: Array
    rate: float | None = None


@dataclass(frozen=True)
class OverTime:
    """S_2 of windows: their middles in samples or seconds, the values, and where the sparsest window begins."""

    name: str
    middles: Array
    values: Array
    unit: str
    window: float
    sparsest_at: float

    @property
    def is_flat(self) -> bool:
        """Return whether all windows are about equally sparse."""
        return bool(np.nanmax(self.values) - np.nanmin(self.values) < INSIGNIFICANT_RANGE_OF_S2)

    @property
    def where(self) -> str:
        """Say which window is the sparsest, such as "sparsest from 4.8 to 5 s"."""
        if self.is_flat:
            return "the same throughout"
        first, last = self.sparsest_at, self.sparsest_at + self.window
        if self.unit == "s":
            return f"sparsest from {first:.4g} to {last:.4g} s"
        return f"sparsest from sample {first:,.0f} to {last:,.0f}"


Drawing = Curves | Map | Trace


def compute_curves(title: str, coefficients: NDArray[Any], *, intervals: bool = False) -> Curves:
    """Return the curves of one signal, with confidence intervals if asked for; NaN is left out."""
    magnitudes = np.abs(coefficients.astype(np.complex128 if coefficients.dtype.kind == "c" else np.float64))
    magnitudes = magnitudes[~np.isnan(magnitudes)]
    if not magnitudes.any():
        return Curves(title, np.full(len(ORDERS), np.nan), None)
    limits = compute_intervals(magnitudes) if intervals else {}
    return Curves(title, gds_profile(magnitudes, ORDERS), compute_decay(magnitudes), limits)


def compute_intervals(samples: Array) -> Intervals:
    """Return the 95 % confidence interval of S_p at `INTERVAL_ORDERS`; neighbouring samples may be dependent."""
    found = {p: confidence_interval(samples, "gds", order=p, blocks="auto") for p in INTERVAL_ORDERS}
    return {p: (limits.low, limits.high) for p, limits in found.items()}


def compute_decay(coefficients: Array) -> Decay:
    """Return the sorted magnitudes of coefficients that are not all zero, at `POINTS_PER_CURVE` places or fewer."""
    descending = np.sort(np.abs(coefficients), axis=None)[::-1]
    ranks = np.unique(np.geomspace(1, descending.size, POINTS_PER_CURVE).round().astype(np.int64))
    return Decay(shares=ranks / descending.size, magnitudes=descending[ranks - 1] / descending[0])


def measure_over_time(name: str, values: Array, rate: float | None) -> OverTime | None:
    """Return S_2 over time, or None where the signal is a picture or too short."""
    if values.ndim != 1 or values.size < FEWEST_WINDOWS * SHORTEST_WINDOW:
        return None
    length = max(values.size // WINDOWS_PER_SIGNAL * 2, SHORTEST_WINDOW)
    hop = max(length // 2, 1)
    sparsity = gds(sliding_window_view(values, length)[::hop], 2)
    if not np.isfinite(sparsity).any():
        return None
    starts = hop * np.arange(len(sparsity))
    scale = 1.0 if rate is None else 1.0 / rate
    return OverTime(
        name=name,
        middles=np.asarray((starts + length / 2) * scale, np.float64),
        values=sparsity,
        unit="sample" if rate is None else "s",
        window=length * scale,
        sparsest_at=float(starts[np.nanargmax(sparsity)] * scale),
    )
