"""Scales without bounds, on which the error of a metric is closer to symmetric, and its interval stays inside.

| the metric's values | its scale |
|---|---|
| between a and b | log(-log(1 - s)), s = (T - a)/(b - a): the complementary log-log |
| above a | log(T - a) |
| below b | -log(b - T) |
| anything | T itself |
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .._arrays import Array


class Scale(NamedTuple):
    """The scale for values between two bounds, either of which may be infinite."""

    low: float
    high: float

    def forward(self, values: Array) -> Array:
        """Return values on the scale; infinite at the bounds, and where rounding errors led beyond them."""
        values = np.clip(values, self.low, self.high)
        if math.isinf(self.low) and math.isinf(self.high):
            return values
        if math.isinf(self.high):
            return np.log(values - self.low)
        if math.isinf(self.low):
            return -np.log(self.high - values)
        return np.log(-np.log1p(-(values - self.low) / (self.high - self.low)))

    def slope(self, values: Array) -> Array:
        """Return the derivative of `forward`."""
        if math.isinf(self.low) and math.isinf(self.high):
            return np.ones_like(values)
        if math.isinf(self.high):
            return 1.0 / (values - self.low)
        if math.isinf(self.low):
            return 1.0 / (self.high - values)
        return -1.0 / ((self.high - values) * np.log1p(-(values - self.low) / (self.high - self.low)))

    def backward(self, places: Array) -> Array:
        """Return values from their places on the scale."""
        if math.isinf(self.low) and math.isinf(self.high):
            return places
        if math.isinf(self.high):
            return self.low + np.exp(places)
        if math.isinf(self.low):
            return self.high - np.exp(-places)
        return self.low - (self.high - self.low) * np.expm1(-np.exp(places))


LINEAR = Scale(-math.inf, math.inf)
