"""What is audited: a metric of the catalogue, or a callable of the user's own, behind one face.

`enclose` gives bounds that hold the metric's true values; `screen` gives quick float64 values, which never decide
anything. For a callable, "true" means: as the callable computes it on fractions; else on numbers of 50 digits and more;
else in float64, give or take a hundred times the spread that it shows when its input moves by 1e-11 and less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np

from .._arrays import Array
from ..errors import InvalidInput
from ..metrics.catalogue import METRICS, check_parameters, find_metric
from .formulas import FORMULAS, Pairs, length
from .numbers import (
    DIGITS,
    FLOATING,
    FORMAL,
    RATIONAL,
    Bounds,
    Irrational,
    Undefined,
    as_fraction,
    bounds_of,
    exactly,
    interval,
)
from .table import Signal

LONGEST = 10**5  # coefficients that are laid out in an array
WOBBLES = range(36, 52)  # relative changes of 1e-11 and less, by which float64's noise shows itself


class CatalogueSubject:
    """A metric of the catalogue: fractions where it is rational, else intervals."""

    precisions: Sequence[int] = DIGITS
    arrays_only = False

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        metric = find_metric(name)
        self.name = metric.name
        self.parameters = check_parameters(metric, parameters)
        self._function = metric.function
        self._formula = FORMULAS[metric.name]
        self._exact = {
            key: value if value == math.inf else as_fraction(value) for key, value in self.parameters.items()
        }

    def enclose(self, signals: Sequence[Signal], digits: int) -> tuple[list[Bounds], str]:
        """Bounds of the values of some signals, and the arithmetic that gave them."""
        try:
            return [bounds_of(self._formula(RATIONAL, c, **self._exact)) for c in signals], "rational"
        except Irrational:
            k = interval(digits)
            values = [bounds_of(self._formula(k, c, **self._exact)) for c in signals]
            return values, f"intervals of {digits} digits"

    def same(self, one: Signal, other: Signal) -> bool:
        """Whether both values are one and the same sum of logarithms and the like, which intervals cannot tell."""
        try:
            return bool(self._formula(FORMAL, one, **self._exact) == self._formula(FORMAL, other, **self._exact))
        except Irrational:
            return False

    def screen(self, signals: Sequence[Signal]) -> Array:
        """float64 values, many at a time; nan where the metric has none."""
        values = np.full(len(signals), np.nan)
        by_length: dict[int, list[int]] = {}
        for index, c in enumerate(signals):
            by_length.setdefault(length(c), []).append(index)
        for n, indices in by_length.items():
            if n <= LONGEST:
                rows = np.array([_laid_out(signals[index]) for index in indices])
                values[indices] = self._function(rows, **self.parameters)
        return values

    def weighted(self, c: Pairs) -> float:
        """The float64 value of (value, count) pairs, however many they stand for."""
        try:
            return float(self._formula(FLOATING, c, **self._exact))
        except (Undefined, OverflowError, ZeroDivisionError):
            return math.nan

    def special_values(self) -> list[Fraction]:
        """Numbers at which something may happen: the metric's own thresholds."""
        return [value for value in self._exact.values() if isinstance(value, Fraction) and 0 < value < 1000]


class CallableSubject:
    """Any function of one array that returns a number."""

    precisions: Sequence[int] = DIGITS[:2]
    arrays_only = True

    def __init__(self, function: Callable[..., Any], parameters: dict[str, Any]) -> None:
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self.parameters = dict(parameters)
        self._function = function

    def _call(self, array: Any) -> Any:
        return self._function(array, **self.parameters)

    def enclose(self, signals: Sequence[Signal], digits: int) -> tuple[list[Bounds], str]:
        """Bounds of the values of some signals, and the arithmetic that gave them."""
        if any(length(c) > LONGEST for c in signals):
            raise Undefined
        for attempt in (self._rational, self._precise):
            found = [attempt(c, digits) for c in signals]
            if None not in found:
                return [b for b in found if b is not None], attempt.__name__[1:]
        return [self._floating(c) for c in signals], "float64"

    def _rational(self, c: Signal, digits: int) -> Bounds | None:
        value = self._attempt(np.array(_repeated(c, lambda v: v), dtype=object))
        return exactly(value) if isinstance(value, Fraction | int | np.integer) and value is not True else None

    def _precise(self, c: Signal, digits: int) -> Bounds | None:
        values = []
        for working in (digits + 10, digits + 40):
            with mpmath.workdps(working):
                value = self._attempt(np.array(_repeated(c, Precise.of), dtype=object))
                if not isinstance(value, Precise) or not mpmath.isfinite(value.number):
                    return None
                values.append(_as_fraction(value.number))
        margin = max(abs(values[1]), Fraction(1)) / 10 ** (digits - 5)
        if abs(values[0] - values[1]) > margin / 10:
            return None  # it does not settle: the callable loses digits that it should have
        return Bounds(values[1] - margin, values[1] + margin)

    def _attempt(self, array: Any) -> Any:
        try:
            return self._call(array)
        except Exception:
            return None  # it was not written for such numbers; float64 is next

    def _floating(self, c: Signal) -> Bounds:
        row = _laid_out(c)
        value = self._number(row)
        rng = np.random.default_rng(0)
        wobbles = (2.0**-size * rng.uniform(-1, 1, len(row)) for size in WOBBLES)
        spread = max(abs(self._number(row * (1 + wobble)) - value) for wobble in wobbles)
        noise = Fraction(100 * spread) + Fraction(max(abs(value), 2.0**-1000)) / 10**9
        return Bounds(Fraction(value) - noise, Fraction(value) + noise)

    def _number(self, row: Array) -> float:
        try:
            value = float(self._call(row))
        except Exception as error:
            raise InvalidInput(
                f"the metric {self.name!r} failed on {row[:8].tolist()} ({type(error).__name__}: {error}); it is "
                "called with one 1-D float array and must return one number"
            ) from error
        if not math.isfinite(value):
            raise Undefined
        return value

    def same(self, one: Signal, other: Signal) -> bool:
        """Nothing formal is known of a callable."""
        return False

    def screen(self, signals: Sequence[Signal]) -> Array:
        """float64 values, one by one; nan where there is none."""
        return np.array([self.weighted(c) for c in signals])

    def weighted(self, c: Pairs) -> float:
        """The float64 value, with all coefficients laid out."""
        if length(c) > LONGEST:
            return math.nan
        try:
            return self._number(_laid_out(c))
        except Undefined:
            return math.nan

    def special_values(self) -> list[Fraction]:
        """Numbers among the parameters, which may be thresholds."""
        numbers = [value for value in self.parameters.values() if isinstance(value, int | float)]
        return [as_fraction(value) for value in numbers if 0 < value < 1000]


Subject = CatalogueSubject | CallableSubject


def as_subject(metric: Any, parameters: dict[str, Any]) -> Subject:
    """A name, a function of the catalogue, or any other callable."""
    if isinstance(metric, str):
        return CatalogueSubject(metric, parameters)
    for entry in METRICS.values():
        if metric is entry or metric is entry.function:
            return CatalogueSubject(entry.name, parameters)
    if not callable(metric):
        raise InvalidInput(
            f"metric must be a name of the catalogue or a callable, got {metric!r}; the names: {', '.join(METRICS)}"
        )
    return CallableSubject(metric, parameters)


def _repeated(c: Pairs, convert: Callable[[Any], Any]) -> list[Any]:
    return [convert(value) for value, count in c for _ in range(count)]


def _laid_out(c: Pairs) -> Array:
    return np.repeat([float(value) for value, _ in c], [count for _, count in c])


def _as_fraction(number: Any) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    value = Fraction(int(mantissa)) * Fraction(Fraction(2) ** exponent)
    return -value if sign else value


class Precise:
    """A number of many digits that NumPy's functions can work with: np.sqrt(array) calls the method sqrt."""

    __slots__ = ("number",)

    def __init__(self, number: Any) -> None:
        self.number = number

    @classmethod
    def of(cls, x: Fraction) -> Precise:
        """A fraction at the working precision."""
        return cls(mpmath.mpf(x.numerator) / x.denominator)

    def __hash__(self) -> int:
        return hash(self.number)

    def __abs__(self) -> Precise:
        return Precise(abs(self.number))

    def __neg__(self) -> Precise:
        return Precise(-self.number)

    def __bool__(self) -> bool:
        return bool(self.number)


def _number_of(x: Any) -> Any:
    if isinstance(x, Precise):
        return x.number
    if isinstance(x, Fraction):
        return mpmath.mpf(x.numerator) / x.denominator
    return mpmath.mpf(int(x)) if isinstance(x, int | np.integer) else mpmath.mpf(float(x))


def _binary(name: str, wrap: bool) -> Callable[[Precise, Any], Any]:
    def method(self: Precise, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        result = getattr(self.number, name)(_number_of(other))
        return Precise(result) if wrap and result is not NotImplemented else result

    return method


def _unary(function: Callable[[Any], Any]) -> Callable[[Precise], Precise]:
    return lambda self: Precise(function(self.number))


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"):
    setattr(Precise, f"__{_name}__", _binary(f"__{_name}__", wrap=True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Precise, f"__{_name}__", _binary(f"__{_name}__", wrap=False))
for _name, _function in {
    "sqrt": mpmath.sqrt, "log": mpmath.log, "exp": mpmath.exp, "tanh": mpmath.tanh, "log1p": mpmath.log1p,
    "expm1": mpmath.expm1, "log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "fabs": abs,
    "conjugate": lambda x: x, "square": lambda x: x * x, "cbrt": mpmath.cbrt, "sin": mpmath.sin, "cos": mpmath.cos,
    "arctan": mpmath.atan,
}.items():  # fmt: skip
    setattr(Precise, _name, _unary(_function))
