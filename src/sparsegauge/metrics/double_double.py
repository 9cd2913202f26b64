"""Numbers of twice the digits of float64, each the sum of two: for sums of many terms, and differences of large ones.

T. J. Dekker (1971), A floating-point technique for extending the available precision, Numer. Math. 18, 224-242.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array

SPLITTER = 134217729.0  # 2^27 + 1: cuts 53 bits into 26 and 27


class Pair(NamedTuple):
    """Arrays of numbers, high + low, of which high is the nearest float64."""

    high: Array
    low: Array

    @property
    def value(self) -> Array:
        """The nearest float64."""
        total: Array = self.high + self.low
        return total

    def plus(self, other: Pair) -> Pair:
        """Return the sum."""
        total, rest = _sum_exactly(self.high, other.high)
        return _settled(total, rest + (self.low + other.low))

    def times(self, other: Pair) -> Pair:
        """Return the product."""
        product, rest = _multiply_exactly(self.high, other.high)
        return _settled(product, rest + (self.high * other.low + self.low * other.high))

    def over(self, other: Pair) -> Pair:
        """Return the quotient; the divisor must not be zero."""
        quotient = self.high / other.high
        rest = self.plus(of(-quotient).times(other))
        return _settled(quotient, rest.value / other.high)

    def scaled(self, exponents: Any) -> Pair:
        """Return the product with a power of two."""
        return Pair(np.ldexp(self.high, exponents), np.ldexp(self.low, exponents))


def of(values: Any) -> Pair:
    """Return float64 numbers as pairs."""
    high = np.asarray(values, np.float64)
    return Pair(high, np.zeros_like(high))


def difference(a: Array, b: Array) -> Pair:
    """Return a - b exactly."""
    return Pair(*_sum_exactly(a, -b))


def _sum_exactly(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _settled(high: Array, low: Array) -> Pair:
    total = high + low
    return Pair(total, low - (total - high))


def _split(a: Array) -> tuple[Array, Array]:
    wide = SPLITTER * a
    high = wide - (wide - a)
    return high, a - high


def _multiply_exactly(a: Array, b: Array) -> tuple[Array, Array]:
    product = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
