"""Thresholds by the slopes of S_p whose shape is chosen by Stein's estimate of the risk.

`matrix_free.py` explains them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _compiled
from .._arrays import Array
from .._compiled.thresholds import SLOPE_NODES, SLOPE_ROOM
from .._compiled.wells import PENALTY
from .descent import WellOptions
from .tolerances import NO_DIVISOR

LAGS = 16
DEVIATIONS_BEYOND_CHANCE = 8.0  # of a correlation
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
EXPONENTS_BELOW_Q = (0.0, 0.5, 1.0, 1.5, 2.0)  # values of exponent - q
MOST_ROUNDS = 6  # over the parameters
SCALES, FACTORS = tuple(np.geomspace(0.5, 64, 15).tolist()), (0.8, 1.0, 1.25)
LEAST_GAIN = 1e-3  # in risk: a smaller one is chance

Slopes = tuple[Array, float, float]


def tabulate_slopes(c: Array, order: float) -> Slopes:
    """Return the slopes of S_p at the nodes of a table, the largest magnitude, and the common level."""
    table = np.empty(SLOPE_NODES + 1)
    top, level = _compiled.recover.tabulate_slopes(c, order, table, np.empty((SLOPE_ROOM, SLOPE_NODES + 1)))
    return table, top, level


@dataclass(frozen=True)
class Shape:
    """What Stein's estimate chooses: t = scale max(w, floor) c^(q-1), c = (1-share) |r| + share s, and the well."""

    share: float = 0.0
    q: float = 1.0
    scale: float = 2.0
    floor: float = 1.0
    well: float = 0.0


@dataclass
class Shrinkage:
    """The thresholds: from r and the size of its noise to e and the mean derivative."""

    options: WellOptions
    jitter: Array | None  # factors on the thresholds
    is_complex: bool
    bounds: tuple[Array, Array] | None
    sample: NDArray[np.intp]
    shape: Shape = field(default_factory=Shape)
    risk: float = 1.0
    chosen: bool = False

    def __call__(self, r: NDArray[Any], tau: float) -> tuple[NDArray[Any], float]:
        """Return e and d; `risk` is the mean square error of e that Stein's formula expects, in units of tau^2."""
        options = self.options
        a = np.abs(r) / tau
        s, learnt = neighbours(a)
        mixed = s if self.shape.share > 0.5 and learnt else a
        slopes = tabulate_slopes(np.maximum(mixed - 1, 0), float(options.order))
        limits = self._limits(r, tau)
        charge = self._charge(r)
        self._choose(a, s, learnt, slopes, charge, limits)
        m = np.empty(len(a))
        self.risk, d = self._shrink(self.shape, a, s, slopes, charge, limits, m)
        return _along(r, a, m), min(d, 0.95)

    def _limits(self, r: NDArray[Any], tau: float) -> tuple[Array, Array]:
        """Return the bounds as bounds on the magnitude, counted along the sign of r."""
        if self.bounds is None:
            return np.empty(0), np.empty(0)
        low, high = self.bounds
        return np.where(r >= 0, low, -high) / tau, np.where(r >= 0, high, -low) / tau

    def _charge(self, r: NDArray[Any]) -> Array:
        """Return factors on the thresholds: of the caller, and for what is on the side that is not expected."""
        charge = self.jitter
        if self.options.side and not self.is_complex:
            wrong = np.where(self.options.side * r < 0, PENALTY, 1.0)
            charge = wrong if charge is None else wrong * charge
        return np.empty(0) if charge is None else charge

    def _shrink(
        self, shape: Shape, a: Array, s: Array, slopes: Slopes, charge: Array,
        limits: tuple[Array, Array], out: Array,
    ) -> tuple[float, float]:  # fmt: skip
        table, top, level = slopes
        parameters = np.array([shape.share, shape.q, shape.scale, shape.floor, shape.well, self.options.sharpness])
        thresholds = _compiled.recover.ThresholdShape(parameters, table, top, level + 1, self.is_complex)
        risk, derivative = _compiled.recover.shrink(a, s, thresholds, charge, *limits, out)
        return risk, derivative

    def _choose(
        self, a: Array, s: Array, learnt: bool, slopes: Slopes, charge: Array,
        limits: tuple[Array, Array],
    ) -> None:  # fmt: skip
        """Choose the parameters on a sample, in rounds: each the value of least risk, with the scale that suits it."""
        some = self.sample
        a, s, charge = a[some], s[some], charge[some] if len(charge) else charge
        limits = (limits[0][some], limits[1][some]) if len(limits[0]) else limits
        out = np.empty(len(a))

        def risk(shape: Shape) -> float:
            return self._shrink(shape, a, s, slopes, charge, limits, out)[0]

        best = self.shape if learnt else replace(self.shape, share=0.0)
        if not self.chosen:
            best, self.chosen = min(self._first(), key=risk), True
        least = risk(best)
        for _ in range(MOST_ROUNDS):
            last = least
            for candidate in self._variants(best, learnt):
                for factor in FACTORS:
                    shape = replace(candidate, scale=candidate.scale * factor)
                    if (value := risk(shape)) < least - LEAST_GAIN * abs(last):
                        best, least = shape, value
            if least == last:
                break
        self.shape = best

    def _first(self) -> list[Shape]:
        """Return a coarse choice."""
        powers = [self.options.exponent - k for k in EXPONENTS_BELOW_Q[::2]]
        return [Shape(0.0, q, scale, floor) for q in powers for floor in self._floors() for scale in SCALES]

    def _floors(self) -> list[float]:
        """Return the caller's floor of the slopes, none at all, and one between."""
        return [self.options.floor, math.sqrt(self.options.floor), 1.0]

    def _variants(self, shape: Shape, learnt: bool) -> list[Shape]:
        """Return the choices that differ in one parameter."""
        shares = [replace(shape, share=share) for share in _beside(SHARES, shape.share)] if learnt else []
        powers = [self.options.exponent - k for k in EXPONENTS_BELOW_Q]
        reweighted = [replace(shape, q=q) for q in _beside(powers, shape.q)]
        floors = [replace(shape, floor=floor) for floor in _beside(self._floors(), shape.floor)]
        others = [replace(shape, well=self.options.well - shape.well)] if self.options.well else []
        return [shape, *shares, *reweighted, *floors, *others]


def _along(r: NDArray[Any], a: Array, m: Array) -> NDArray[Any]:
    """Return magnitudes m in place of a, in the direction of r."""
    return np.asarray(r * (m / np.maximum(a, np.finfo(float).tiny)))


def _beside(values: Sequence[float], value: float) -> list[float]:
    """Return the values next to this one."""
    ordered = sorted(values)
    k = int(np.argmin(np.abs(np.asarray(ordered) - value)))
    return [v for v in ordered[max(k - 1, 0) : k + 2] if v != value]


def neighbours(a: Array) -> tuple[Array, bool]:
    """Return the mean magnitude of the coefficients at lags that correlate, and whether there are any."""
    import scipy.fft

    n = len(a)
    z = np.log1p(np.minimum(a, 10.0) ** 2)
    z -= z.mean()
    power = float(z @ z)
    if power == 0 or n < 64:
        return a, False
    spectrum = scipy.fft.rfft(z, scipy.fft.next_fast_len(2 * n, real=True))
    correlations = scipy.fft.irfft(np.abs(spectrum) ** 2)[1 : n // 2] / power
    lags = np.argpartition(-correlations, min(LAGS, len(correlations) - 1))[:LAGS]
    lags = lags[correlations[lags] > DEVIATIONS_BEYOND_CHANCE / math.sqrt(n)]
    if len(lags) == 0:
        return a, False
    total = np.zeros(n)
    weight = np.zeros(n)
    for k in lags:
        lag, h = int(k) + 1, float(correlations[k])
        total[lag:] += h * a[:-lag]
        total[:-lag] += h * a[lag:]
        weight[lag:] += h
        weight[:-lag] += h
    return np.where(weight > 0, total / np.maximum(weight, NO_DIVISOR), a), True
