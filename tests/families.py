"""Families of signals on which S_p is hard in different ways, each a function of (N, seed).

Signals come unsorted and with random signs. `SCALED` holds the same ones near both ends of float64's range.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

Family = Callable[[int, int], np.ndarray]


def uniform(n: int, seed: int) -> np.ndarray:
    return _signed(_rng(seed).random(n), seed)


def exponential(n: int, seed: int) -> np.ndarray:
    return _signed(_rng(seed).exponential(size=n), seed)


def nearly_equal(n: int, seed: int) -> np.ndarray:
    """1 + 1e-3 u: the power sums of the paper's formulas cancel."""
    return _signed(1.0 + 1e-3 * _rng(seed).random(n), seed)


def almost_equal(n: int, seed: int) -> np.ndarray:
    """1 + 1e-9 u: a rounding error of the inputs would show."""
    return _signed(1.0 + 1e-9 * _rng(seed).random(n), seed)


def thirty_decades(n: int, seed: int) -> np.ndarray:
    return _signed(10.0 ** _rng(seed).uniform(-15.0, 15.0, n), seed)


def ties(n: int, seed: int) -> np.ndarray:
    """Five different values only."""
    return _signed(0.1 * _rng(seed).integers(1, 6, n), seed)


def mostly_zeros(n: int, seed: int) -> np.ndarray:
    """90 % zeros, and never zeros alone."""
    x = np.zeros(n)
    x[: -(-n // 10)] = _rng(seed).standard_exponential(-(-n // 10)) + 0.01
    return _signed(_rng(seed + 1).permutation(x), seed)


def spike(n: int, seed: int) -> np.ndarray:
    """One spike over a flat floor."""
    x = np.full(n, 0.3)
    x[_rng(seed).integers(n)] = 7.0
    return _signed(x, seed)


def clusters(n: int, seed: int) -> np.ndarray:
    """Two tight clusters, about 1 and about 2."""
    rng = _rng(seed)
    return _signed(1.0 + np.arange(n) % 2 + 1e-7 * rng.random(n), seed)


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 20])


def _signed(c: np.ndarray, seed: int) -> np.ndarray:
    return c * np.random.default_rng([seed, 21]).choice([-1.0, 1.0], len(c))


def _scaled(family: Family, factor: float, n: int, seed: int) -> np.ndarray:
    return factor * family(n, seed)


FAMILIES: dict[str, Family] = {
    "uniform": uniform,
    "exponential": exponential,
    "1+1e-3u": nearly_equal,
    "1+1e-9u": almost_equal,
    "30-decades": thirty_decades,
    "ties": ties,
    "90%-zeros": mostly_zeros,
    "spike": spike,
    "clusters": clusters,
}

SCALED: dict[str, Family] = {
    f"{name}*{factor:.0e}": functools.partial(_scaled, family, factor)
    for name, family in FAMILIES.items()
    for factor in ((1e-280, 1e280) if family is thirty_decades else (1e-300, 1e300))
}
