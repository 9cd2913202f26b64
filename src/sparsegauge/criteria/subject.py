"""What is audited: a metric of the catalogue, or a callable of the user, behind one interface.

`enclose` gives bounds that hold the metric's true values; `screen` gives quick float64 values, which never decide
anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import Array
from ..errors import InvalidInput, Irrational, Undefined
from ..metrics.catalogue import METRICS
from ..metrics.exact import Formula, Pairs, length
from ..metrics.metric import Metric
from .callables import LONGEST_ARRAY, CallableSubject, laid_out
from .coefficients import Signal, signal
from .numbers import (
    DIGITS,
    FLOATING,
    FORMAL,
    RATIONAL,
    Bounds,
    as_fraction,
    bounds_of,
    interval,
)

SMALLEST_PARAMETER, LARGEST_PARAMETER = Fraction(1, 10**6), 10**6  # what exact powers can reach


class CatalogueSubject:
    """A metric of the catalogue: fractions where it is rational, else intervals."""

    precisions: Sequence[int] = DIGITS
    arrays_only = False

    def __init__(self, metric: Metric, formula: Formula, parameters: dict[str, Any]) -> None:
        self.name = metric.name
        self.parameters = metric.check(parameters)
        self._function = metric.function
        self._formula = formula
        self._exact = {key: _within_reach(key, value) for key, value in self.parameters.items()}

    def enclose(self, signals: Sequence[Signal], digits: int) -> tuple[list[Bounds], str]:
        """Return bounds of the values of some signals, and the arithmetic that gave them."""
        signals = [signal(c) for c in signals]
        try:
            return [bounds_of(self._formula(RATIONAL, c, **self._exact)) for c in signals], "rational"
        except Irrational:
            k = interval(digits)
            values = [bounds_of(self._formula(k, c, **self._exact)) for c in signals]
            return values, f"intervals of {digits} digits"

    def same(self, one: Signal, other: Signal) -> bool:
        """Return whether both values are the same formal sum of logarithms, which intervals cannot show."""
        try:
            first, second = (self._formula(FORMAL, signal(c), **self._exact) for c in (one, other))
            return bool(first == second)
        except Irrational:
            return False

    def screen(self, signals: Sequence[Signal]) -> Array:
        """Return float64 values of many signals; nan where the metric has none."""
        values = np.full(len(signals), np.nan)
        by_length: dict[int, list[int]] = {}
        for index, c in enumerate(signals):
            by_length.setdefault(length(c), []).append(index)
        for n, indices in by_length.items():
            if n <= LONGEST_ARRAY:
                rows = np.array([laid_out(signals[index]) for index in indices])
                values[indices] = self._function(rows, **self.parameters)
        return values

    def weighted(self, c: Pairs) -> float:
        """Return the float64 value of (value, count) pairs, however many coefficients they stand for."""
        try:
            return float(self._formula(FLOATING, c, **self._exact))
        except (Undefined, OverflowError, ZeroDivisionError):
            return math.nan

    def special_values(self) -> list[Fraction]:
        """Return the metric's own thresholds, near which counterexamples are likely."""
        values = [value for value in self._exact.values() if isinstance(value, Fraction) and value > 0]
        return [number for value in values for number in (value, 2 * value, 1 / value)]


def _within_reach(name: str, value: float) -> Any:
    if value in (0, math.inf):
        return value if value else Fraction(0)
    exact = as_fraction(value)
    if not SMALLEST_PARAMETER <= abs(exact) <= LARGEST_PARAMETER:
        raise InvalidInput(f"exact arithmetic reaches parameters from 1e-6 to 1e6, and inf: got {name}={value!r}")
    return exact


Subject = CatalogueSubject | CallableSubject


def as_subject(metric: Any, parameters: dict[str, Any]) -> Subject:
    """Return the subject of an audit: a metric by name, a metric or its public function, or any other callable."""
    found = METRICS.find(metric) if isinstance(metric, str) else getattr(metric, "metric", metric)
    if isinstance(found, Metric):
        if found.exact is not None:
            return CatalogueSubject(found, found.exact, parameters)
        return CallableSubject(found.function, found.check(parameters))
    if not callable(metric):
        raise InvalidInput(
            f"metric must be a name of the catalogue or a callable, got {metric!r}; the names: {', '.join(METRICS)}"
        )
    return CallableSubject(metric, parameters)
