"""Metrics and signals whose error bars are tried."""

from __future__ import annotations

import numpy as np

import sparsegauge as sg
from sparsegauge._arrays import as_signals
from sparsegauge.metrics.catalogue import METRICS
from sparsegauge.metrics.contributions import ErrorEstimator
from sparsegauge.metrics.scales import LINEAR

REFUSED = {"l0", "l0_eps", "d_norm", "crest_factor", "berger_parker", "u_theta"}
SMOOTH = [name for name in METRICS if name not in REFUSED]
WHOLE_RANKS = {"ggi", "fggi"}  # weights that are not whole are refused, unless a = 1
OTHER_PARAMETERS = [
    ("gds", {"order": 1.0}), ("gds", {"order": 1.5}), ("gds", {"order": 3.0}), ("gds", {"order": 4.0}),
    ("gds", {"order": 7.0}), ("gds", {"order": 9.3}), ("ggi", {"a": 1.0}), ("hill", {"q": 0.5}), ("hill", {"q": 2.0}),
    ("renyi", {"q": 1.0}), ("tsallis", {"q": 1.0}), ("tsallis", {"q": 3.5}), ("atkinson", {"epsilon": 1.7}),
    ("generalised_entropy", {"alpha": 1.0}), ("generalised_entropy", {"alpha": -0.5}), ("box_cox", {"l": 0.0}),
    ("s_gini", {"v": 1.3}), ("pq_mean", {"p": 0.5, "q": 3.0}), ("neg_tanh", {"a": 2.0, "b": 0.5}),
]  # fmt: skip
EVERY = [(name, {}) for name in SMOOTH] + OTHER_PARAMETERS


def influence_by_weights(x, name, parameters, step=1e-4):
    """Return the derivative with respect to each weight at a fixed total, by central differences of the metric."""
    n = len(x)
    found = np.empty(n)
    for k in range(n):
        change = -np.full(n, step / n)
        change[k] += step
        above, below = (sg.measure(x, name, weights=1.0 + side * change, **parameters) for side in (1, -1))
        found[k] = (above - below) / (2 * step)
    return found


def influence(x, name, **parameters):
    """Return the contributions of the coefficients as the library has them, which add up to zero."""
    signals = as_signals(x, axis=-1)
    (one,) = ErrorEstimator(name, "infinitesimal", None, None, None, parameters).contributions(signals, LINEAR)
    return one.terms


def signal(n=23, seed=0, zeros=True):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    x[3:6] = 1.5  # ties
    if zeros:
        x[10:14] = 0.0
    return x
