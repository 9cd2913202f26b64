"""Scales without bounds, on which the error of a metric is closer to symmetric, and its interval stays inside.

| the metric's values | its scale |
|---|---|
| between a and b | log u, u = -log(1 - s), s = (T - a)/(b - a): the complementary log-log |
| above a | log(T - a) |
| below b | -log(b - T) |
| anything | T itself |

Metrics of high moments have errors that grow faster than in proportion: about as u (1 + g u)^2, with u as above, or
log(1 + T - a) where there is no b. Their scale is the one on which such errors are equal, the integral of the inverse:

    log(u/(1 + g u)) + 1/(1 + g u).

It ends at -log g. An interval that reaches beyond ends at the metric's own bound: the signal says nothing about
coefficients so rare that it has none.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import Array


class Scale(NamedTuple):
    """The scale for values between two bounds, either of which may be infinite, and errors that grow with them."""

    low: float
    high: float
    growth: float = 0.0

    def forward(self, values: Array) -> Array:
        """Return values on the scale; infinite at the bounds, and where rounding errors led beyond them."""
        values = np.clip(values, self.low, self.high)
        if self.growth > 0.0:
            u = self._distance(values)
            return np.asarray(np.log(u) - np.log1p(self.growth * u) + 1.0 / (1.0 + self.growth * u))
        if math.isinf(self.low) and math.isinf(self.high):
            return values
        if math.isinf(self.high):
            return np.log(values - self.low)
        if math.isinf(self.low):
            return -np.log(self.high - values)
        return np.log(self._distance(values))

    def slope(self, values: Array) -> Array:
        """Return the derivative of `forward`."""
        if self.growth > 0.0:
            u = self._distance(values)
            within = 1.0 + values - self.low if math.isinf(self.high) else self.high - values
            return np.asarray(1.0 / (u * (1.0 + self.growth * u) ** 2 * within))
        if math.isinf(self.low) and math.isinf(self.high):
            return np.ones_like(values)
        if math.isinf(self.high):
            return 1.0 / (values - self.low)
        if math.isinf(self.low):
            return 1.0 / (self.high - values)
        return 1.0 / ((self.high - values) * self._distance(values))

    def backward(self, places: Array) -> Array:
        """Return values from their places on the scale."""
        if self.growth > 0.0:
            return self._value(self._distance_at(places))
        if math.isinf(self.low) and math.isinf(self.high):
            return places
        if math.isinf(self.high):
            return self.low + np.exp(places)
        if math.isinf(self.low):
            return self.high - np.exp(-places)
        return self._value(np.exp(places))

    def _distance(self, values: Array) -> Array:
        """Return how far values are from the lower bound, in units that have no end."""
        if math.isinf(self.high):
            return np.log1p(values - self.low)
        return np.asarray(-np.log1p(-(values - self.low) / (self.high - self.low)))

    def _value(self, distances: Array) -> Array:
        if math.isinf(self.high):
            return np.asarray(self.low + np.expm1(distances))
        return np.asarray(self.low - (self.high - self.low) * np.expm1(-distances))

    def _distance_at(self, places: Array) -> Array:
        """Return the distances at places of a scale with growth: with v = g u/(1 + g u), v exp(-v) is known there."""
        from scipy.special import lambertw

        known = np.exp(np.minimum(places + math.log(self.growth) - 1.0, -1.0))
        v = np.where(known < math.exp(-1.0), -lambertw(-known).real, 1.0)
        with np.errstate(divide="ignore"):
            return np.asarray(v / (self.growth * (1.0 - v)))


LINEAR = Scale(-math.inf, math.inf)
