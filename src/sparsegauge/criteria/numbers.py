"""Arithmetic that cannot lie: fractions where a formula is rational, intervals that hold the true value elsewhere.

The exact formula of a metric is written once, over an arithmetic `k`: k.of(x) makes a number of its kind, k.power,
k.sqrt, k.log and k.tanh do what fractions cannot. `Rational` raises `Irrational` for those, unless the result is a
fraction.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any, NamedTuple

from mpmath import libmp
from mpmath.ctx_iv import MPIntervalContext

from ..errors import Irrational, Undefined

DIGITS = (50, 100, 200, 400, 1000)  # tried in turn, until two intervals are disjoint
WIDTH_SHOWN_AS_ZERO = Fraction(1, 10**30)  # of bounds that contain zero
LONGEST_FRACTION_TEXT = 40  # characters; longer fractions are shown as decimal numbers
BITS_OF_A_LONG_TEXT = 140
LARGEST_BINARY_EXPONENT = 10**7
MOST_BITS_OF_A_POWER = 10**5  # that is still computed as a fraction


def as_fraction(x: Any) -> Fraction:
    """Return the number as it is written: 0.1 is 1/10, and "3/7" is 3/7."""
    return Fraction(repr(float(x))) if isinstance(x, float) else Fraction(x)


class Rational:
    """Fractions."""

    def of(self, x: Any) -> Fraction:
        """Return x itself."""
        return Fraction(x)

    def power(self, x: Any, p: Any) -> Fraction:
        """Return x^p for an integer p, or where the roots are whole."""
        p, x = Fraction(p), Fraction(x)
        if p.denominator != 1:
            x = Fraction(_whole_root(x.numerator, p.denominator), _whole_root(x.denominator, p.denominator))
        if x == 0 and p < 0:
            raise Undefined
        if abs(p.numerator) * (x.numerator.bit_length() + x.denominator.bit_length()) > MOST_BITS_OF_A_POWER:
            raise Irrational
        return Fraction(x**p.numerator)

    def sqrt(self, x: Any) -> Fraction:
        """Return the root of a square."""
        return self.power(x, Fraction(1, 2))

    def log(self, x: Any) -> Fraction:
        """Return log 1 = 0."""
        if x != 1:
            raise Irrational
        return Fraction(0)

    def tanh(self, x: Any) -> Fraction:
        """Return tanh 0 = 0."""
        if x != 0:
            raise Irrational
        return Fraction(0)


def _whole_root(n: int, k: int) -> int:
    if k > 64:
        raise Irrational
    root = math.isqrt(n) if k == 2 else _integer_root(n, k)
    if root**k != n:
        raise Irrational
    return root


def _integer_root(n: int, k: int) -> int:
    """Return the largest integer whose k-th power is at most n: Newton from above."""
    if n < 2:
        return n
    x = 1 << -(-n.bit_length() // k)
    while True:
        y = ((k - 1) * x + n // x ** (k - 1)) // k
        if y >= x:
            return x
        x = y


class Interval:
    """Intervals that hold the true value, at a number of decimal digits."""

    def __init__(self, digits: int) -> None:
        self.context = MPIntervalContext()
        self.context.dps = digits + 10

    def of(self, x: Any) -> Any:
        """Return the narrowest interval about x."""
        if isinstance(x, int | float):
            return self.context.mpf(x)
        if isinstance(x, Fraction):
            return self.context.mpf(x.numerator) / self.context.mpf(x.denominator)
        return x

    def power(self, x: Any, p: Any) -> Any:
        """Return x^p for x >= 0."""
        p = Fraction(p)
        if x == 0:
            if p < 0:
                raise Undefined
            return self.of(int(p == 0))
        if p.denominator == 1 and abs(p.numerator) <= 4096:
            return self.of(x) ** p.numerator
        return self.context.exp(self.of(p) * self.log(x))

    def sqrt(self, x: Any) -> Any:
        """Return the square root."""
        return self.context.sqrt(self.of(x))

    def log(self, x: Any) -> Any:
        """Return the natural logarithm."""
        if x == 0:
            raise Undefined
        return self.context.log(self.of(x))

    def tanh(self, x: Any) -> Any:
        """Return 1 - 2 / (exp(2 x) + 1)."""
        if x == 0:
            return self.of(0)
        if self.lower(x) > 10**6:  # exp of more would not end; tanh is within 10^-(800000) of 1
            return self.of(1) - self.context.mpf([0, self.context.mpf(10) ** -800000])
        return 1 - 2 / (self.context.exp(2 * self.of(x)) + 1)

    def lower(self, x: Any) -> float:
        """Return the lower end, as a float."""
        return float(self.of(x).a)


class Sum:
    """A formal sum of symbols with rational coefficients: 3 log 2 - 1/2 log 5 + 7. The symbol () is 1."""

    def __init__(self, terms: dict[tuple[Any, ...], Fraction]) -> None:
        self.terms = {symbol: x for symbol, x in terms.items() if x}

    def rational(self) -> Fraction:
        """Return the sum, if it has no symbol."""
        if self.terms.keys() - {()}:
            raise Irrational
        return self.terms.get((), Fraction(0))

    def __add__(self, other: Any) -> Sum:
        terms = dict(self.terms)
        for symbol, x in FORMAL.of(other).terms.items():
            terms[symbol] = terms.get(symbol, Fraction(0)) + x
        return Sum(terms)

    def __mul__(self, other: Any) -> Sum:
        factor = FORMAL.of(other)
        if factor.terms.keys() - {()}:
            self, factor = factor, self
        scale = factor.rational()
        return Sum({symbol: x * scale for symbol, x in self.terms.items()})

    def __neg__(self) -> Sum:
        return self * -1

    def __sub__(self, other: Any) -> Sum:
        return self + -FORMAL.of(other)

    def __rsub__(self, other: Any) -> Sum:
        return FORMAL.of(other) - self

    def __truediv__(self, other: Any) -> Sum:
        return self * (1 / FORMAL.of(other).rational())

    def __rtruediv__(self, other: Any) -> Sum:
        return FORMAL.of(other) / self

    def __pow__(self, exponent: int) -> Sum:
        return FORMAL.of(self.rational() ** exponent)

    def __eq__(self, other: object) -> bool:
        return self.terms == FORMAL.of(other).terms

    __radd__ = __add__
    __rmul__ = __mul__
    __hash__ = None  # type: ignore[assignment]


class Formal:
    """Sums of symbols such as log 3: equal as sums, equal as numbers. It proves equalities that intervals cannot."""

    def of(self, x: Any) -> Sum:
        """Return x as a sum."""
        return x if isinstance(x, Sum) else Sum({(): Fraction(x)})

    def _symbol(self, name: str, *arguments: Fraction) -> Sum:
        return Sum({(name, *arguments): Fraction(1)})

    def power(self, x: Any, p: Any) -> Sum:
        """Return x^p, a symbol where it is not a fraction."""
        base = self.of(x).rational()
        try:
            return self.of(RATIONAL.power(base, p))
        except Irrational:
            return self._symbol("power", base, Fraction(p))

    def sqrt(self, x: Any) -> Sum:
        """Return the root, a symbol where it is not a fraction."""
        return self.power(x, Fraction(1, 2))

    def log(self, x: Any) -> Sum:
        """Return log x, a symbol unless x = 1."""
        base = self.of(x).rational()
        return self.of(0) if base == 1 else self._symbol("log", base)

    def tanh(self, x: Any) -> Sum:
        """Return tanh x, a symbol unless x = 0."""
        base = self.of(x).rational()
        return self.of(0) if base == 0 else self._symbol("tanh", base)


class Floating:
    """float64, for a search that exact arithmetic will judge."""

    def of(self, x: Any) -> float:
        """Return x as a float."""
        return float(x)

    def power(self, x: Any, p: Any) -> float:
        """Return x^p for x >= 0."""
        if x == 0 and p < 0:
            raise Undefined
        return math.pow(x, p)

    def sqrt(self, x: Any) -> float:
        """Return the square root."""
        return math.sqrt(x)

    def log(self, x: Any) -> float:
        """Return the natural logarithm."""
        if x == 0:
            raise Undefined
        return math.log(x)

    def tanh(self, x: Any) -> float:
        """Return the hyperbolic tangent."""
        return math.tanh(x)


RATIONAL = Rational()
FORMAL = Formal()
FLOATING = Floating()


@functools.cache
def interval(digits: int) -> Interval:
    """Return the interval context of a precision; there is one per precision."""
    return Interval(digits)


class Bounds(NamedTuple):
    """Two fractions between which a value lies; equal where it is known exactly."""

    low: Fraction
    high: Fraction


def exactly(x: Any) -> Bounds:
    """Return a value known exactly."""
    return Bounds(Fraction(x), Fraction(x))


def bounds_of(value: Any) -> Bounds:
    """Return the ends of an interval, or a fraction twice."""
    if isinstance(value, Fraction | int):
        return exactly(value)
    low, high = value._mpi_
    return Bounds(fraction_of(low), fraction_of(high))


def fraction_of(raw: Any) -> Fraction:
    """Return mpmath's representation of a number as a fraction."""
    sign, mantissa, exponent, _ = raw
    if (not mantissa and exponent) or abs(exponent) > LARGEST_BINARY_EXPONENT:  # inf, nan, or beyond all use
        raise Undefined
    value = Fraction(int(mantissa) << exponent) if exponent >= 0 else Fraction(int(mantissa), 1 << -exponent)
    return -value if sign else value


def order(before: Bounds, after: Bounds) -> int | None:
    """Return the sign of after - before, or None where the bounds overlap."""
    if after.low > before.high:
        return 1
    if after.high < before.low:
        return -1
    return 0 if before.low == before.high == after.low == after.high else None


def gap(before: Bounds, after: Bounds) -> Fraction:
    """Return how far apart the two values are at least."""
    return max(after.low - before.high, before.low - after.high, Fraction(0))


def shown(value: Fraction | Bounds, digits: int = 20) -> str:
    """Return a fraction as text: exactly if it is short, else as a decimal number; for bounds, their middle or 0."""
    if isinstance(value, Bounds):
        if value.low <= 0 <= value.high and value.high - value.low <= WIDTH_SHOWN_AS_ZERO:
            return "0"
        if value.low != value.high:
            return decimals((value.low + value.high) / 2, digits)
        value = value.low
    if value.numerator.bit_length() + value.denominator.bit_length() > BITS_OF_A_LONG_TEXT:
        return decimals(value, digits)  # Python refuses to write whole numbers of more than 4,300 digits
    text = str(value)
    return text if len(text) <= LONGEST_FRACTION_TEXT else decimals(value, digits)


def decimals(value: Fraction, digits: int) -> str:
    """Return a fraction of any size as a decimal number."""
    raw = libmp.from_rational(value.numerator, value.denominator, 4 * digits + 16, libmp.round_nearest)
    return str(libmp.to_str(raw, digits))
