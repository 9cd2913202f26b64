"""Where a signal stands among the demo signals, by every metric of the catalogue.

Metrics have different scales, so what is shown is a rank: the share of reference signals that a metric calls less
sparse. References are the demo signals as samples, DCT and wavelet coefficients; of an image it is the middle, 32 x 32
pixels, so that nearly all have 1,024 coefficients. All are scaled to a mean square of 1, since some metrics ask how
loud a signal is.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .._arrays import Array
from ..metrics.catalogue import METRICS
from ..metrics.gds import gds
from ..metrics.metric import Metric
from ..rounding import TIED
from ..signals import DEMOS, REPRESENTATIONS, demo
from .model import coefficients, shown_demo

PATCH = 32


@functools.cache
def references() -> dict[tuple[str, str], Array]:
    """Return the coefficients by (demo signal, representation)."""
    return {(name, kind): _scaled(coefficients(_patch(demo(name)), kind)) for name in DEMOS for kind in REPRESENTATIONS}


def _patch(values: Array) -> Array:
    if values.ndim == 1:
        return values
    top, left = ((length - PATCH) // 2 for length in values.shape)
    return values[top : top + PATCH, left : left + PATCH]


def _scaled(c: Array) -> Array:
    top = np.abs(c).max()
    return np.asarray(c / top / np.sqrt(np.mean((c / top) ** 2)))


@functools.cache
def _reference_values(metric: Metric) -> dict[tuple[str, str], float]:
    return {key: _sparser(metric, c) for key, c in references().items()}


def _sparser(metric: Metric, c: Array) -> float:
    """Return the metric, with its sign turned where smaller is sparser."""
    value = float(metric.function(c))
    return value if metric.sparser == "larger" else -value


def standings(c: Array, this: tuple[str, str] | None = None) -> dict[str, float]:
    """Return, for each metric but GDS, the percentage of references that it calls less sparse than c; ties count half.

    `this` is the reference that c itself is, which is left out.
    """
    scaled = _scaled(c)
    others = {name: metric for name, metric in METRICS.items() if name != "gds"}
    return {
        name: _standing(_sparser(metric, scaled), _reference_values(metric), this) for name, metric in others.items()
    }


@functools.lru_cache(maxsize=2 * len(DEMOS))
def demo_standings(name: str, representation: str) -> dict[str, float]:
    """Return the standings of a demo signal, which all visitors share."""
    return standings(shown_demo(name, representation).values, (name, representation))


@functools.lru_cache(maxsize=512)
def _reference_sparsities(order: float) -> dict[tuple[str, str], float]:
    """Return S_p of every reference."""
    return {key: float(gds(c, order)) for key, c in references().items()}


def gds_standing(c: Array, order: float, this: tuple[str, str] | None = None) -> float:
    """Return the percentage of references that are less sparse than c by S_p; ties count half."""
    return sparsity_standing(float(gds(c, order)), order, this)


def sparsity_standing(sparsity: float, order: float, this: tuple[str, str] | None = None) -> float:
    """Return the same for a sparsity that is known."""
    return _standing(sparsity, _reference_sparsities(order), this)


def _standing(value: float, known: dict[tuple[str, str], float], this: tuple[str, str] | None) -> float:
    if math.isnan(value):
        return math.nan
    others = np.array([other for key, other in known.items() if key != this and not math.isnan(other)])
    tied = np.isclose(others, value, rtol=TIED, atol=0.0)
    below = np.count_nonzero((others < value) & ~tied) + 0.5 * np.count_nonzero(tied)
    return 100.0 * float(below) / len(others)
