"""What the page shows of a signal, as numbers: its sparsity at every order, and what each coefficient does to it."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..errors import InvalidInput
from ..metrics._slopes import distance_slopes
from ..metrics.gds import gds, gds_profile
from ..signals import DEMOS, REPRESENTATIONS, demo

ORDERS = np.unique(np.concatenate([np.arange(1, 3, 0.25), np.arange(3, 8, 0.5), np.arange(8, 20.5)]))
FEW_ORDERS = np.array([1, 1.5, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 18, 20.0])  # mostly whole ones, which are quick
LONG_SIGNAL = 1 << 15  # samples: with more, the profile has fewer orders
LONGEST_SIGNAL = 1 << 18  # samples: with more, the slider would lag
MOST_POINTS_PER_LINE = 512  # about as many as there are pixels
MOST_BARS = 40


@dataclass(frozen=True)
class Signal:
    """One signal or image that can be measured; `note` says what was done to make it so."""

    name: str
    values: Array
    note: str = ""


def demo_signal(name: str) -> Signal:
    """Return a demo signal, and what it is."""
    return Signal(name, demo(name), DEMOS[name])


def checked(name: str, values: NDArray[Any]) -> Signal:
    """Return a signal from outside, or why it cannot be measured."""
    values = np.asarray(values)
    notes = []
    if values.size < 2:
        raise InvalidInput(f"{name} has {values.size} numbers, and sparsity needs two or more")
    if np.iscomplexobj(values):
        values = np.abs(values)
        notes.append("complex numbers: shown are their magnitudes")
    values = values.astype(np.float64)
    wrong = int(np.count_nonzero(~np.isfinite(values)))
    if wrong:
        which = "none of its" if wrong == values.size else f"{wrong:,} of its"
        verb = "are finite" if wrong == values.size else "are NaN or infinite"
        raise InvalidInput(f"{name} cannot be measured: {which} {values.size:,} numbers {verb}; clean the file first")
    if not values.any():
        raise InvalidInput(f"{name} is zero everywhere, and the sparsity of nothing is not defined")
    if values.ndim != 2:
        values = values.ravel()
    if values.size > LONGEST_SIGNAL:
        values = _cut(values)
        shape = " × ".join(f"{length:,}" for length in values.shape)
        part = f"the middle {shape} pixels" if values.ndim == 2 else f"the first {shape} numbers"
        notes.append(f"only {part} are used")
        if not values.any():
            raise InvalidInput(f"{part} of {name} are all zero; cut the file to the part you want")
    return Signal(name, values, "; ".join(notes))


def _cut(values: Array) -> Array:
    """Return as much as the page shows: the beginning of a signal, the middle of a picture."""
    if values.ndim == 1:
        return values[:LONGEST_SIGNAL]
    rows, columns = values.shape
    side = math.isqrt(LONGEST_SIGNAL)
    height = min(rows, max(side, LONGEST_SIGNAL // columns))
    width = min(columns, LONGEST_SIGNAL // height)
    top, left = (rows - height) // 2, (columns - width) // 2
    return values[top : top + height, left : left + width]


def coefficients(values: Array, representation: str) -> Array:
    """Return the coefficients of a signal or image in one of `REPRESENTATIONS`, as a flat vector.

    A wavelet transform needs even lengths; an odd one loses its last sample, or row and column.
    """
    if representation == "wavelet":
        values = values[tuple(slice(length - length % 2) for length in values.shape)]
        if not values.any():
            raise InvalidInput("without its last sample the signal is zero; pad it to an even length")
    return np.asarray(REPRESENTATIONS[representation](values)).ravel()


def contributions(c: Array, order: float) -> Array:
    r"""Return what each of these magnitudes, in ascending order, contributes to S_p; they add up to S_p.

    .. math:: s_k = \frac{c_k}{N \sum c^p} \left( \sum_{i: c_i < c_k} (c_k - c_i)^{p-1}
              - \sum_{j: c_j > c_k} (c_j - c_k)^{p-1} \right)

    It is (c_j - c_i)^p = c_j (c_j - c_i)^(p-1) - c_i (c_j - c_i)^(p-1), summed over all pairs and sorted by
    coefficient: a coefficient gains by those below it and loses by those above.
    """
    zeros = int(np.searchsorted(c, 0.0, side="right"))
    x = c[zeros:] / (2 * c[-1])  # powers of the largest could overflow
    slopes = zeros * x ** (order - 1) + distance_slopes(x, order - 1)
    shares = np.zeros(c.size)
    shares[zeros:] = x * slopes / (c.size * (x**order).sum())
    return shares


@dataclass(frozen=True)
class Bars:
    """Contributions added up over ranges of ranks, from the largest magnitude (rank 1) down; right ends excluded."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    total: Array


@functools.lru_cache(maxsize=2 * len(DEMOS))
def shown_demo(name: str, representation: str) -> ShownCoefficients:
    """Return the coefficients of a demo signal, which all visitors share."""
    return ShownCoefficients(demo(name), representation)


class ShownCoefficients:
    """The coefficients of a signal in one representation, and what does not depend on the order, worked out once."""

    def __init__(self, values: Array, representation: str) -> None:
        self.values = coefficients(values, representation)

    @property
    def orders(self) -> Array:
        """Return the orders of the profile: fewer for long signals."""
        return FEW_ORDERS if self.values.size > LONG_SIGNAL else ORDERS

    @functools.cached_property
    def profile(self) -> Array:
        """Return S_p at each of `orders`."""
        return gds_profile(self.values, self.orders)

    @functools.cached_property
    def by_rank(self) -> NDArray[np.int64]:
        """Return the positions from the largest magnitude down."""
        return np.argsort(-np.abs(self.values), kind="stable")

    @functools.cached_property
    def peaks(self) -> NDArray[np.int64]:
        """Return the positions to draw: all of them, or the largest magnitude of each stretch."""
        n = self.values.size
        if n <= MOST_POINTS_PER_LINE:
            return np.arange(n)
        edges = np.linspace(0, n, MOST_POINTS_PER_LINE + 1).round().astype(np.int64)
        magnitudes = np.abs(self.values)
        return np.array([a + int(np.argmax(magnitudes[a:b])) for a, b in itertools.pairwise(edges)])

    @functools.cached_property
    def peak_ranks(self) -> NDArray[np.int64]:
        """Return the rank of each of `peaks`, from 0 for the largest magnitude."""
        ranks = np.empty(self.values.size, np.int64)
        ranks[self.by_rank] = np.arange(self.values.size)
        return ranks[self.peaks]

    @functools.cached_property
    def ascending(self) -> Array:
        """Return the magnitudes, sorted."""
        return np.asarray(np.abs(self.values)[self.by_rank[::-1]])

    def sparsity(self, order: float) -> float:
        """Return S_p, as `sparsegauge.gds` gives it."""
        return float(gds(self.values, order))

    def shares(self, order: float) -> Array:
        """Return `contributions` by rank, from the largest magnitude down."""
        return contributions(self.ascending, order)[::-1]


def bars(shares: Array) -> Bars:
    """Return contributions by rank: the largest coefficients one by one, then more and more of them together."""
    edges = np.unique(np.geomspace(1, shares.size + 1, MOST_BARS + 1).round().astype(np.int64))
    return Bars(edges[:-1], edges[1:], np.add.reduceat(shares, edges[:-1] - 1))
