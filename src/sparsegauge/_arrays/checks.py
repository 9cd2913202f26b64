"""Checks of single arguments: numbers in a range, words, counts, random generators."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidInput


@dataclass(frozen=True)
class Parameter:
    """A real parameter: its name, default (nan for none), range and meaning; `str` of it reads like "0 < p <= 1"."""

    name: str
    default: float
    low: float = -math.inf
    high: float = math.inf
    low_included: bool = False
    high_included: bool = False
    meaning: str = ""
    keyword_only: bool = True

    def __str__(self) -> str:
        """Return the range, as in "0 < p <= 1"."""
        if self.low == -math.inf and self.high == math.inf:
            return f"any finite {self.name}"
        below, above = "<=" if self.low_included else "<", "<=" if self.high_included else "<"
        if self.high == math.inf and not self.high_included:
            return f"{self.name} {below.replace('<', '>')} {self.low:g}"
        low = "" if self.low == -math.inf else f"{self.low:g} {below} "
        return f"{low}{self.name} {above} {self.high:g}"

    def __contains__(self, value: float) -> bool:
        """Return whether a number lies in the range."""
        low = value >= self.low if self.low_included else value > self.low
        return low and (value <= self.high if self.high_included else value < self.high)

    def check(self, value: Any) -> float:
        """Return one real number in the range."""
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        number = check_number(self.name, value)
        if number not in self:
            remedy = "" if math.isnan(self.default) else f"; the default is {self.name}={self.default:g}"
            raise InvalidInput(f"{self.name} must satisfy {self}, got {value!r}{remedy}")
        return number


class OrderParameter(Parameter):
    """The order of S_p, with messages of its own."""

    def check(self, value: Any) -> float:
        """Return a real order >= 1, or inf."""
        return check_order(value)


@dataclass(frozen=True)
class Choice:
    """An option that is one of a few words: its name, default, the allowed words and what they mean."""

    name: str
    default: str
    allowed: tuple[str, ...]
    meaning: str = ""

    @property
    def words(self) -> str:
        """The allowed words, as numpydoc writes them."""
        return "{" + ", ".join(f'"{word}"' for word in self.allowed) + "}"

    def check(self, value: Any) -> str:
        """Return one of the allowed words."""
        return check_choice(self.name, value, self.allowed)


@dataclass(frozen=True)
class Switch:
    """An option that is True or False: its name, default and meaning."""

    name: str
    default: bool
    meaning: str = ""
    words = "bool"

    def check(self, value: Any) -> bool:
        """Return True or False."""
        if not isinstance(value, bool | np.bool_):
            raise InvalidInput(f"{self.name} must be True or False, got {value!r}")
        return bool(value)


def check_order(order: Any) -> float:
    """Return a real order >= 1, or inf."""
    if type(order) not in (int, float):
        if isinstance(order, np.ndarray) and order.ndim == 0:
            order = order[()]
        if isinstance(order, np.ndarray | list | tuple):
            raise InvalidInput(f"order is one number, got {order!r}; for several orders use gds_profile(x, orders)")
        if isinstance(order, bool | np.bool_) or not isinstance(order, numbers.Real):
            raise InvalidInput(f"order must be a real number >= 1 or inf, got {order!r}; order=1 is the Gini index")
    value = _as_float("order", order)
    if not value >= 1:
        raise InvalidInput(f"order must be at least 1, got {order!r}; S_p is defined for 1 <= p <= inf")
    return value


def _as_float(name: str, value: Any) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidInput(f"{name} is beyond float64's range (1.8e308), got {value!r:.30}...; use math.inf") from error


def check_orders(orders: Any) -> list[float]:
    """Return several orders; an empty list is allowed."""
    if isinstance(orders, str | bytes) or not np.iterable(orders):
        raise InvalidInput(
            f"orders must be a sequence of numbers >= 1, got {orders!r}; for one order use gds(x, order)"
        )
    if any(np.ndim(order) for order in orders):
        raise InvalidInput(f"orders must be a flat sequence of numbers >= 1, got {orders!r}; flatten it")
    return [check_order(order) for order in orders]


def check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> str:
    """Return one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInput(f"{name} must be one of {', '.join(map(repr, allowed))}, got {value!r}")
    return value


def check_number(name: str, value: Any) -> float:
    """Return any real number, nan and infinities included."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInput(f"{name} must be a number, got {value!r}")
    return _as_float(name, value)


def check_count(name: str, value: Any, *, least: int) -> int:
    """Return a whole number of at least `least`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise InvalidInput(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def as_rng(rng: Any) -> np.random.Generator:
    """Return a generator; a new one where a seed or None is given."""
    if isinstance(rng, np.random.Generator):
        return rng
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, numbers.Integral) or int(rng) < 0):
        raise InvalidInput(f"rng must be None, a seed (a whole number >= 0) or a numpy Generator, got {rng!r}")
    return np.random.default_rng(None if rng is None else int(rng))
