"""What exact formulas of metrics are written with.

The exact formula of a metric is a function f(k, c, **parameters). It shares no code with the metric's kernel: audits
and their counterexamples are recomputed with it.

- c is the signal: (value, count) pairs sorted by value, so that ten thousand equal coefficients cost as much as one.
- k is an arithmetic: fractions, intervals, formal sums or floats. `k.of(x)` makes a number of its kind; `k.power`,
  `k.sqrt`, `k.log` and `k.tanh` do what fractions cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

Pairs: TypeAlias = Sequence[tuple[Any, int]]
Formula: TypeAlias = Callable[..., Any]


class Arithmetic(Protocol):
    """The operations that an exact formula may use."""

    def of(self, x: Any) -> Any: ...  # noqa: D102
    def power(self, x: Any, p: Any) -> Any: ...  # noqa: D102
    def sqrt(self, x: Any) -> Any: ...  # noqa: D102
    def log(self, x: Any) -> Any: ...  # noqa: D102
    def tanh(self, x: Any) -> Any: ...  # noqa: D102


def length(c: Pairs) -> int:
    """Return N, the number of coefficients."""
    return sum(n for _, n in c)


def zeros(c: Pairs) -> int:
    """Return how many coefficients are zero."""
    return sum(n for v, n in c if v == 0)


def nonzero(c: Pairs) -> list[tuple[Any, int]]:
    """Return the pairs whose value is not zero."""
    return [pair for pair in c if pair[0] != 0]


def total(k: Arithmetic, c: Pairs, f: Callable[[Any], Any]) -> Any:
    """Return sum_i f(c_i)."""
    return sum((n * f(v) for v, n in c), start=k.of(0))


def power_sum(k: Arithmetic, c: Pairs, p: Any) -> Any:
    """Return sum_i c_i^p over the non-zeros."""
    return total(k, nonzero(c), lambda v: k.power(v, p))


def plain_sum(c: Pairs) -> Any:
    """Return sum_i c_i."""
    return sum(n * v for v, n in c)


def mean_log(k: Arithmetic, c: Pairs, p: int) -> Any:
    """Return mean(z ln z), z = c^p / mean c^p."""
    n = length(c)
    energy = power_sum(k, c, p)
    shares = [(k.of(v**p) * n / energy, count) for v, count in nonzero(c)]
    return total(k, shares, lambda z: z * k.log(z)) / n
