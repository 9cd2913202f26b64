"""A user's own metric: any function of one array, and how far its values can be trusted.

It is tried on fractions, whose values are exact; then on numbers of 50 digits and more; then on float64. There only a
difference far above its own noise counts. The noise is measured: it is the part of the second difference
f(x + h) - 2 f(x + 2 h) + f(x + 3 h) that does not shrink with h. f(x) itself is not in it: a function that jumps at x,
where coefficients are equal for example, is not noisy for that, and its value at x counts.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from .._arrays import Array
from ..errors import InvalidInput, Undefined
from ..metrics.exact import Pairs, length
from .audit_tolerances import ABSOLUTE, PRECISIONS, RELATIVE, REPEATABLE, SHRINKING, TIMES_NOISE
from .coefficients import Signal
from .constants import numbers_in
from .numbers import DIGITS, Bounds, as_fraction, exactly, fraction_of
from .precise import Precise, maker

LONGEST_ARRAY = 10**5  # coefficients
SAMPLE = (3.0, 1.0, 2.0, 5.0, 0.5)
STEPS = [10.0**-k for k in (2, 4, 5, 6, 7, 8, 10, 12, 14)]
DIRECTIONS = 3
PRECISION_SAMPLES = 6  # signals whose values tell whether a function computes in float32 or less
FEWEST_BITS, MOST_BITS = 6, 24  # fewer are counts and the like, which are exact
SMALLEST_THRESHOLD, LARGEST_THRESHOLD = 1e-6, 1e6  # parameters between them may be thresholds of coefficients
REMEMBERED_CALLS = 40
REMEMBERED_INTERVAL = 997  # further calls that are remembered, up to as many again


class CallableSubject:
    """Any function of one array that returns a number."""

    precisions: Sequence[int] = DIGITS[:2]
    arrays_only = True

    def __init__(self, function: Callable[..., Any], parameters: dict[str, Any]) -> None:
        self.name = getattr(function, "__qualname__", type(function).__name__)
        self.parameters = dict(parameters)
        self._function = function
        self.thresholds: list[Fraction] | None = None
        self._calls = 0
        self._remembered: list[tuple[Array, float]] = []
        self._check_on_a_sample()

    def _check_on_a_sample(self) -> None:
        sample = np.array(SAMPLE)
        try:
            once, again = (float(self._call(sample.copy())) for _ in range(2))
        except Exception as error:  # whatever the callable raises
            raise InvalidInput(
                f"the metric {self.name!r} failed on {sample.tolist()} ({type(error).__name__}: {error}); it is called "
                "with one 1-D float array and must return one number (functools.partial sets other arguments)"
            ) from error
        self.scale = abs(once) if math.isfinite(once) else 0.0
        if once != again and not (math.isnan(once) and math.isnan(again)):
            raise InvalidInput(
                f"the metric {self.name!r} is no function: two calls on {sample.tolist()} gave {once} and {again}"
            )

    def plant(self, plant: Callable[[Any, Fraction], Any], strength: Fraction) -> CallableSubject:
        """Return the function with a lie planted in it."""
        planted = CallableSubject(plant(self._call, strength), {})
        planted.thresholds = self.special_values()
        planted.constants = self.constants  # a planted lie must be found without reading it
        return planted

    @functools.cached_property
    def constants(self) -> list[Fraction]:
        """The numbers in the function's own code."""
        return numbers_in((self._function, self.parameters))

    def lengths(self, longest: int) -> list[int]:
        """Return the numbers in the function's code that may be lengths, and those beside them."""
        whole = {int(t) for t in self.constants if t.denominator == 1 and 2 <= t < longest}
        return sorted({m for n in whole for m in (n - 1, n, n + 1) if m >= 2})

    def check_repeatable(self) -> None:
        """Call the function again with arrays it was called with; raise `InvalidInput` where the value is another."""
        for row, value in self._remembered:
            try:
                again = float(self._call(row.copy()))
            except Exception:
                again = math.nan
            if not abs(again - value) <= REPEATABLE * max(abs(value), self.scale):
                raise InvalidInput(
                    f"the metric {self.name!r} is no function: two calls on {_brief(row)} gave {value} and {again}"
                )

    def _call(self, array: Any) -> Any:
        with np.errstate(all="ignore"):  # extreme signals overflow; what has no finite value is not judged
            return self._function(array, **self.parameters)

    def enclose(self, signals: Sequence[Signal], digits: int) -> tuple[list[Bounds], str]:
        """Return bounds of the values of some signals, and the arithmetic that gave them."""
        if any(length(c) > LONGEST_ARRAY for c in signals):
            raise Undefined
        for attempt in (self._rational, self._precise):
            found = [attempt(c, digits) for c in signals]
            if None not in found:
                return [b for b in found if b is not None], attempt.__name__[1:]
        return [self._floating(c) for c in signals], "float64"

    def _rational(self, c: Signal, digits: int) -> Bounds | None:
        value = self._attempt(c, lambda x: x)
        if isinstance(value, bool | np.bool_) or not isinstance(value, Fraction | int | np.integer):
            return None
        return exactly(int(value) if isinstance(value, np.integer) else value)

    def _precise(self, c: Signal, digits: int) -> Bounds | None:
        values = []
        for working in (digits + 10, digits + 40):
            value = self._attempt(c, maker(working))
            if not isinstance(value, Precise) or value.tainted:
                return None
            values.append(fraction_of(value.number._mpf_))
        margin = max(abs(values[1]), Fraction(1)) / 10 ** (digits - 5)
        if abs(values[0] - values[1]) > margin / 10:
            return None  # it does not settle: the callable loses digits that it should have
        return Bounds(values[1] - margin, values[1] + margin)

    def _attempt(self, c: Signal, convert: Callable[[Fraction], Any]) -> Any:
        array = np.empty(length(c), dtype=object)
        array[:] = [convert(value) for value, count in c for _ in range(count)]
        try:
            return self._call(array)
        except Exception:
            return None  # it was not written for such numbers; float64 is next

    def _floating(self, c: Signal) -> Bounds:
        row = laid_out(c)
        value = self._number(row)
        noise = (TIMES_NOISE + len(row)) * self.noise(c)
        margin = Fraction(noise + RELATIVE * abs(value) + ABSOLUTE * self.scale)
        return Bounds(Fraction(value) - margin, Fraction(value) + margin)

    def noise(self, c: Signal) -> float:
        """Return how much float64 values scatter about a signal; `Undefined` where there is none."""
        row = laid_out(c)
        value = self._number(row)
        rng = np.random.default_rng(0)
        seen = [self._noise_along(row, rng.uniform(-1, 1, len(row))) for _ in range(DIRECTIONS)]
        return max([self._rounding(value), *seen])

    def _rounding(self, value: float) -> float:
        """Return the rounding error of a function whose values are float32, float16 or bfloat16 numbers, else zero."""
        return self._spacing * max(abs(value), self.scale)

    @functools.cached_property
    def _spacing(self) -> float:
        """The relative spacing of the values on fixed signals, so that audit and `verify` agree; 0 for float64."""
        rng, values = np.random.default_rng(1), []
        for row in rng.uniform(0.1, 3.0, (PRECISION_SAMPLES, 5)):
            with contextlib.suppress(Exception):  # a function may refuse such signals; others tell as well
                values.append(float(self._call(row)))
        found = {value for value in values if math.isfinite(value)}
        bits = max((_significant_bits(value) for value in found), default=0)
        is_coarse = len(found) > 1 and FEWEST_BITS <= bits <= MOST_BITS
        return 2.0 ** (1 - min(width for width in PRECISIONS if width >= bits)) if is_coarse else 0.0

    def _noise_along(self, row: Array, direction: Array) -> float:
        """Return the part of the second differences along a direction that does not shrink with the step."""
        seconds = []
        for step in STEPS:
            one, two, three = (self._number(row * (1 + times * step * direction)) for times in (1, 2, 3))
            seconds.append(abs(one - 2 * two + three))
        return max([0.0, *(small - SHRINKING * large for large, small in pairwise(seconds))])

    def _number(self, row: Array) -> float:
        """Return the value in float64; an input that the callable refuses has none."""
        try:
            value = float(self._call(row.copy()))
        except Exception as error:
            raise Undefined from error
        if not math.isfinite(value):
            raise Undefined
        self._remember(row, value)
        return value

    def _remember(self, row: Array, value: float) -> None:
        self._calls += 1
        limit = REMEMBERED_CALLS if self._calls % REMEMBERED_INTERVAL else 2 * REMEMBERED_CALLS
        if len(self._remembered) < limit:
            self._remembered.append((row.copy(), value))

    def same(self, one: Signal, other: Signal) -> bool:
        """Return False: no formula is known of a callable."""
        return False

    def screen(self, signals: Sequence[Signal]) -> Array:
        """Return the float64 values of several signals; nan where there is none."""
        return np.array([self.weighted(c) for c in signals])

    def weighted(self, c: Pairs) -> float:
        """Return the float64 value, with all coefficients laid out."""
        if length(c) > LONGEST_ARRAY:
            return math.nan
        try:
            return self._number(laid_out(c))
        except Undefined:
            return math.nan

    def special_values(self) -> list[Fraction]:
        """Return the numbers among the parameters, which may be thresholds."""
        if self.thresholds is not None:
            return self.thresholds
        numbers = [float(x) for x in self.parameters.values() if isinstance(x, int | float | np.number)]
        return [as_fraction(x) for x in numbers if SMALLEST_THRESHOLD < x < LARGEST_THRESHOLD]


def _significant_bits(value: float) -> int:
    numerator = abs(value.as_integer_ratio()[0])
    return (numerator // (numerator & -numerator)).bit_length() if numerator else 0


def _brief(row: Array) -> str:
    return str(row.tolist()) if len(row) <= 8 else f"{str(row[:8].tolist())[:-1]}, ...] of {len(row)} numbers"


def laid_out(c: Pairs) -> Array:
    """Return all coefficients, one by one."""
    return np.repeat([float(value) for value, _ in c], [count for _, count in c])
