"""Lies to plant in a function: small effects that break one law, by which a search shows what it can find.

A lie is planted as g(x) = f(x) + strength * lie(x), or by changing what f is called with. The planted function must
still work on fractions and on numbers of many digits, where f does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .precise import as_floats

Function: TypeAlias = Callable[[Any], Any]

CEILING = 10**6  # how far above the second value the largest may be before a planted ceiling hides its growth
COMPOUND = Fraction(101, 100)
LONGEST_COMPOUND = 10_000
WAVES_PER_OCTAVE = 8


class Lie(NamedTuple):
    """What is planted, in words, and the function that plants it: plant(f, strength) returns the lying function."""

    description: str
    plant: Callable[[Function, Fraction], Function]


def add_lie(description: str, lie: Callable[[Any], Any]) -> Lie:
    """Return a lie that is added to the value; `lie` is called with the array as it is."""

    def plant(f: Function, strength: Fraction) -> Function:
        def lying(x: Any) -> Any:
            extra = strength * Fraction(lie(x.copy()))
            value = f(x)
            return float(value) + float(extra) if isinstance(value, float | np.floating) else value + extra

        return lying

    return Lie(description, plant)


def add_float_lie(description: str, lie: Callable[[Any], Any]) -> Lie:
    """Return a lie that is added to the value; `lie` is called with a float64 array."""
    return add_lie(description, lambda x: lie(as_floats(x)))


def wave(t: float) -> int:
    """Return a square wave of log t: 0 or 1."""
    return math.floor(WAVES_PER_OCTAVE * math.log2(t)) % 2 if 0 < t < math.inf else 0


def count_above(x: Any, threshold: float) -> int:
    """Return how many coefficients exceed a threshold, in the array's own arithmetic."""
    return int(np.count_nonzero(x > threshold)) if x.dtype == float else sum(bool(v > threshold) for v in x)


def reverse_growth() -> Lie:
    """Return a lie by which the largest coefficient lowers the value once it is far above the second."""

    def plant(f: Function, strength: Fraction) -> Function:
        def lying(x: Any) -> Any:
            x = x.copy()
            *_, second, largest = sorted(x) if len(x) > 1 else (0, 0)
            excess = Fraction(0)
            if 0 < CEILING * second < largest:
                x[x > CEILING * second] = CEILING * second
                excess = Fraction(math.log10(as_floats([largest])[0]) - math.log10(as_floats([CEILING * second])[0]))
            value = f(x)
            loss = strength * excess
            return float(value) - float(loss) if isinstance(value, float | np.floating) else value - loss

        return lying

    return Lie(f"growth lowers the value beyond {CEILING:,} times the second coefficient", plant)


def compound_with_length() -> Lie:
    """Return a lie that multiplies the value by 1.01 for every coefficient."""

    def plant(f: Function, strength: Fraction) -> Function:
        def lying(x: Any) -> Any:
            factor = COMPOUND ** min(len(x), LONGEST_COMPOUND)
            value = f(x)
            return float(value) * float(factor) if isinstance(value, float | np.floating) else value * factor

        return lying

    return Lie("1 % more for every coefficient", plant)
