"""Weights that fall with the rank, of which generalised Gini indices are made.

Ranks k are counted from the largest coefficient, which has k = 1. Each function of N and k gives N w and log(N w) for
weights w that add up to 1.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from .._arrays import Array
from .statistics import TailPowers, Weights

GINI_WEIGHTS = TailPowers(2.0)
LONGEST_EXPLICIT_SUM = 1_000_000  # of weights; longer ones use a series


def odd_powers(a: float) -> Weights:
    """Return the function that gives N w and log(N w), w ~ (2k - 1)^a."""
    if a == 1.0:
        return GINI_WEIGHTS

    def weights(N: int, k: Array) -> tuple[Array, Array]:
        ratio, mean = (k - 0.5) / (N - 0.5), _mean_odd_power(a, N)
        return ratio**a / mean, a * np.log(ratio) - math.log(mean)

    return weights


@functools.lru_cache(64)
def _mean_odd_power(a: float, N: int) -> float:
    """Return the mean of ((k - 1/2)/(N - 1/2))^a over k = 1..N; long sums by Euler and Maclaurin."""
    first = min(N, LONGEST_EXPLICIT_SUM)
    total = float((((np.arange(first) + 0.5) / (N - 0.5)) ** a).sum())
    if first < N:
        start = first / N
        further = N * (1.0 - start ** (a + 1.0)) / (a + 1.0) - a * (1.0 - start ** (a - 1.0)) / (24.0 * N)
        total += further * (N / (N - 0.5)) ** a
    return total / N
