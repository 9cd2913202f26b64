"""The statistics that portable formulas are made of, along the last axis of an array of any library."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..statistics import Weights
from . import orders
from .numerics import centred, exp_minus_linear, log_minus_linear, magnitude, power, power_of_two, safe_log

LARGEST_EXPONENT = {64: 700.0, 32: 80.0}  # argument of exp, by bits of the type


class Ratios:
    """z = v / mean v along the last axis, with z - 1 and log z such that sums of them keep their digits.

    `rest` is v - mean v, and `scale` what both are divided by.
    """

    def __init__(self, xp: Any, values: Any, rest: Any, mean: Any) -> None:
        self._xp = xp
        self.zero = values == 0
        self.z = values / mean
        self.d = rest / mean
        near = xp.abs(self.d) < 0.5
        inside = xp.where(near, self.d, xp.zeros_like(self.d))
        self.log = xp.where(near, xp.log1p(inside), safe_log(xp, xp.where(near, xp.ones_like(self.z), self.z)))
        self._near = near
        self._log_less = log_minus_linear(xp, self.d, self.log)

    def mean_log_less(self) -> Any:
        """Return mean(log z), for rows without zeros."""
        return self._xp.mean(self._log_less, axis=-1)

    def theil(self) -> Any:
        """Return mean(z log z), as the mean of z log z - (z - 1), which is never negative."""
        xp = self._xp
        near = self.z * self._log_less + self.d * self.d
        terms = xp.where(self._near, near, self.z * self.log - self.d)
        return xp.mean(xp.where(self.zero, xp.ones_like(terms), terms), axis=-1)

    def log_power_mean(self, p: float) -> Any:
        """Return log (mean z^p)^(1/p), for rows without zeros where p <= 0; of the geometric mean at p = 0."""
        xp = self._xp
        if p == 0:
            return self.mean_log_less()
        y = p * self.log
        largest = xp.max(xp.where(self.zero, xp.full_like(y, -math.inf), y), axis=-1, keepdims=True)
        overflow = largest > LARGEST_EXPONENT.get(xp.finfo(y.dtype).bits, 80.0)
        shift = xp.where(overflow, largest, xp.zeros_like(largest))
        powers = xp.mean(xp.where(self.zero, xp.zeros_like(y), xp.exp(y - shift)), axis=-1)
        # z^p - 1 - p (z - 1) has one sign for all z; where z is about 1 both parts of it are of second order
        inside = xp.where(overflow, xp.zeros_like(y), y)
        close = exp_minus_linear(xp, inside) + p * self._log_less
        terms = xp.where(xp.abs(self.d) < 0.9, close, xp.expm1(inside) - p * self.d)
        less = xp.mean(xp.where(self.zero, xp.full_like(terms, p - 1.0), terms), axis=-1)
        near = ~overflow[..., 0] & (xp.abs(less) < 0.5)
        far = shift[..., 0] + xp.log(xp.where(near, xp.ones_like(powers), powers))
        return xp.where(near, xp.log1p(xp.where(near, less, xp.zeros_like(less))), far) / p


class Coefficients:
    """Statistics of c = |x| along the last axis, each computed on first use.

    `raw` are the original magnitudes and `c` the same in units of 1/`unit`, a power of two for each row. Rows that
    are all zero, or hold NaN or infinities, are replaced by ones, so that nothing on the way is undefined.
    """

    def __init__(self, xp: Any, x: Any) -> None:
        self.xp = xp
        self.N: int = x.shape[-1]
        magnitudes = magnitude(xp, x)
        top = xp.max(magnitudes, axis=-1, keepdims=True)
        self.finite = xp.isfinite(top[..., 0])
        self.defined = self.finite & (top[..., 0] > 0)
        defined = self.defined[..., None]
        self.raw = xp.where(defined, magnitudes, xp.ones_like(magnitudes))
        unit = power_of_two(xp, xp.where(defined, top, xp.ones_like(top)))
        self.c = self.raw * unit
        self.unit = unit[..., 0]

    def total(self, values: Any) -> Any:
        """Return the sum of each row."""
        return self.xp.sum(values, axis=-1)

    def count(self, chosen: Any) -> Any:
        """Return how many of each row are chosen."""
        return self.total(self.xp.astype(chosen, self.c.dtype))

    @functools.cached_property
    def any_zero(self) -> Any:
        """Return whether a row has a zero."""
        return self.xp.any(self.c == 0, axis=-1)

    @functools.cached_property
    def l1(self) -> Any:
        """Return sum c, scaled."""
        return self.total(self.c)

    @functools.cached_property
    def squares(self) -> Any:
        """Return sum c^2, scaled."""
        return self.total(self.c * self.c)

    @functools.cached_property
    def fourths(self) -> Any:
        """Return sum c^4, scaled."""
        return self.total(self.c * self.c * self.c * self.c)

    @functools.cached_property
    def top(self) -> Any:
        """Return max c, scaled."""
        return self.xp.max(self.c, axis=-1)

    @functools.cached_property
    def beside_top(self) -> Any:
        """Return sum c / max c - 1, which keeps its digits where one coefficient has nearly all of the sum."""
        ratios = self.c / self.top[..., None]
        below = ratios < 1
        return self.total(self.xp.where(below, ratios, self.xp.zeros_like(ratios))) + (self.count(~below) - 1.0)

    @functools.cached_property
    def sorted(self) -> Any:
        """Return c in ascending order, scaled."""
        return self.xp.sort(self.c, axis=-1)

    @functools.cached_property
    def ratios(self) -> Ratios:
        """Return c / mean c."""
        mean, rest = centred(self.xp, self.c)
        return Ratios(self.xp, self.c, rest, mean)

    @functools.cached_property
    def square_ratios(self) -> Ratios:
        """Return c^2 / mean c^2."""
        mean = self.xp.mean(self.c * self.c, axis=-1, keepdims=True)
        root = self.xp.sqrt(mean)
        return Ratios(self.xp, self.c * self.c, (self.c - root) * (self.c + root), mean)

    def gds(self, p: float) -> Any:
        """Return S_p."""
        return orders.gds(self.xp, self.c, float(p))

    def entropy_of_squares(self) -> Any:
        """Return Shannon's entropy of c^2/sum c^2: relative to the largest, so that no term is negative."""
        xp = self.xp
        q = (self.c / xp.max(self.c, axis=-1, keepdims=True)) ** 2
        index = xp.arange(self.N, device=orders.device_of(q))
        others = xp.where(index == xp.argmax(self.c, axis=-1, keepdims=True), xp.zeros_like(q), q)
        rest = self.total(others)
        return xp.log1p(rest) - self.total(q * safe_log(xp, q)) / (1.0 + rest)

    def weighted_by_rank(self, weights: Weights, p: float = 1.0) -> tuple[Any, Any]:
        """Return G = 1 - (w . c^p)/mean c^p for weights that fall with the rank and add up to 1; and log(1 - G)."""
        xp, c = self.xp, self.sorted
        u = weights(self.N, np.arange(self.N, 0.0, -1.0))[0]
        turn = min(int(np.searchsorted(1.0 - u, 0.0)), self.N - 1)
        u, v = (xp.asarray(w, dtype=c.dtype, device=orders.device_of(c)) for w in (u, 1.0 - u))
        powers = power(xp, c, p)
        total = self.total(powers)
        # 1 - N w adds up to 0, so any origin will do; where it changes sign no term is negative
        g = self.total(v * _power_differences(xp, c, powers, turn, p)) / total
        small = g < 0.5
        rest = xp.where(small, xp.ones_like(g), self.total(u * powers) / total)
        return g, xp.where(small, xp.log1p(-xp.where(small, g, xp.zeros_like(g))), xp.log(rest))


def _power_differences(xp: Any, c: Any, powers: Any, turn: int, p: float) -> Any:
    """Return c^p - r^p, r the coefficient at `turn`, without cancellation where c is close to r."""
    r = c[..., turn : turn + 1]
    if p == 1:
        return c - r
    near = (r > 0) & (xp.abs(c - r) < 0.5 * r)
    ratio = xp.where(near, c - r, xp.zeros_like(c)) / xp.where(r > 0, r, xp.ones_like(r))
    origin = powers[..., turn : turn + 1]
    return xp.where(near, origin * xp.expm1(p * xp.log1p(ratio)), powers - origin)
