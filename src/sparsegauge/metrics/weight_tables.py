"""Magnitudes with weights, one signal per row of a table, and the sums of distances between them."""

from __future__ import annotations

import copy
import functools

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices, Signals
from . import _slopes

PAIRS_AT_ONCE = 1 << 20
CACHED = ("total", "positive", "raw", "descending")


class WeightTable:
    """Magnitudes of signals in units of 2^exponent, one signal per row, and their weights.

    Where `implied` is set, the last column is a zero that stands for those that a sparse array does not store. `whole`
    says that no weights were given: then that column alone may have a weight other than 1.
    """

    def __init__(self, signals: Signals, first: int, last: int) -> None:
        """Take the rows first:last; several at once must be of one length and have no weights."""
        span = slice(signals.starts[first], signals.starts[last])
        c = np.abs(signals.values[span])
        self.whole = signals.weights is None
        self.implied = False
        if signals.uniform:
            c = c.reshape(last - first, -1)
            w = np.ones(c.shape)
        else:
            w = np.ones(len(c)) if signals.weights is None else signals.weights[span]
            total = signals.lengths[first] if signals.totals is None else signals.totals[first]
            rest = float(total - w.sum()) if signals.lengths[first] > len(c) else 0.0
            self.implied = rest > 0.0
            c, w = (np.append(part, more)[None] if self.implied else part[None] for part, more in ((c, 0.0), (w, rest)))
        self.exponents: Indices = np.frexp(c.max(axis=1, initial=0.0))[1].astype(np.int64)
        self.c: Array = np.ldexp(c, -self.exponents[:, None])
        self.w: Array = w

    @functools.cached_property
    def total(self) -> Array:
        """The total weight of each signal, to the same bits as that of its non-zeros where there are no others."""
        return self.add_up(np.ones(self.c.shape))

    @functools.cached_property
    def positive(self) -> NDArray[np.bool_]:
        """Which coefficients are not zero."""
        return self.c > 0.0

    @functools.cached_property
    def raw(self) -> Array:
        """The magnitudes in their own unit."""
        return np.ldexp(self.c, self.exponents[:, None])

    @functools.cached_property
    def descending(self) -> Indices:
        """Where to find the k-th largest coefficient of each signal."""
        return np.argsort(-self.c, axis=1, kind="stable")

    @property
    def largest(self) -> tuple[Indices, Indices]:
        """Where to find the largest coefficient of each signal."""
        return np.arange(len(self.c)), self.c.argmax(axis=1)

    def without_largest(self) -> WeightTable:
        """Return the same signals without their largest coefficient, whose weight is one."""
        kept = np.ones(self.c.shape, dtype=bool)
        kept[self.largest] = False
        c, w = (part[kept].reshape(len(self.c), -1) for part in (self.c, self.w))
        rest = copy.copy(self)
        for name in CACHED:
            vars(rest).pop(name, None)
        shift = np.frexp(c.max(axis=1, initial=0.0))[1].astype(np.int64)
        rest.exponents, rest.c, rest.w = self.exponents + shift, np.ldexp(c, -shift[:, None]), w
        return rest

    def sort(self, values: Array) -> Array:
        """Return one value per coefficient in the order of falling magnitudes."""
        return np.take_along_axis(values, self.descending, axis=1)

    def unsort(self, values: Array) -> Array:
        """Return values in the order of falling magnitudes in the order of the coefficients."""
        out = np.empty_like(values)
        np.put_along_axis(out, self.descending, values, axis=1)
        return out

    def add_up(self, terms: Array) -> Array:
        """Return the weighted sum of one term per coefficient."""
        sums: Array = np.einsum("rk,rk->r", self.w, terms)
        return sums

    def distance_sums(self, p: float, powers: Array) -> Array:
        """Return sum_j w_j |c_k - c_j|^p for every coefficient; `powers` are c^p."""
        if p == 1:
            return self._first_order_sums()
        if p in (2, 4):
            return self._even_order_sums(int(p))
        sums = np.empty_like(self.c)
        for r, positive in enumerate(self.positive):
            c, w = self.c[r, positive], self.w[r, positive]
            zeros = float(self.w[r, ~positive].sum())
            apart = _ordered_sums(c, p) if self.whole else _weighted_sums(c, w, p)
            sums[r, positive] = apart + zeros * powers[r, positive]
            sums[r, ~positive] = w @ powers[r, positive]
        return sums

    def _first_order_sums(self) -> Array:
        c, w = self.sort(self.c), self.sort(self.w)
        reached = np.cumsum(w, axis=1)[:, :-1]
        steps = -np.diff(c, axis=1) * (2.0 * reached - self.total[:, None])
        first = (w * (c[:, :1] - c)).sum(axis=1, keepdims=True)
        return self.unsort(np.cumsum(np.concatenate([first, steps], axis=1), axis=1))

    def _even_order_sums(self, p: int) -> Array:
        """Return the sums from central moments: at orders 2 and 4 the terms hardly cancel."""
        total = self.total[:, None]
        d = self.c - self.add_up(self.c)[:, None] / total
        squares = d * d
        second = self.add_up(squares)[:, None]
        if p == 2:
            return total * squares + second
        third, fourth = self.add_up(squares * d)[:, None], self.add_up(squares * squares)[:, None]
        return total * squares**2 + 6.0 * squares * second - 4.0 * d * third + fourth


def _ordered_sums(c: Array, p: float) -> Array:
    order = np.argsort(c)
    sums = np.empty_like(c)
    sums[order] = _slopes.distance_sums(c[order], p)
    return sums


def _weighted_sums(c: Array, w: Array, p: float) -> Array:
    """Return sum_j w_j |c_k - c_j|^p pair by pair, some rows of pairs at a time."""
    step = max(1, PAIRS_AT_ONCE // max(1, len(c)))
    parts = [np.abs(c[k : k + step, None] - c) ** p @ w for k in range(0, len(c), step)]
    return np.concatenate([np.empty(0), *parts])
