"""Signals as (value, count) pairs of exact fractions, and the changes between two of them."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from ..errors import Illegal
from ..metrics.exact import length, zeros

Signal: TypeAlias = tuple[tuple[Fraction, int], ...]
Step: TypeAlias = tuple[Signal, Signal]
Move: TypeAlias = tuple[Any, ...]


class Case(NamedTuple):
    """A signal and what is done to it."""

    start: Signal
    move: Move


def require(condition: bool, reason: str) -> None:
    """Raise `Illegal` with the reason unless the condition holds."""
    if not condition:
        raise Illegal(reason)


def signal(pairs: Iterable[tuple[Any, int]]) -> Signal:
    """Return a signal with equal values joined and sorted."""
    counts: dict[Fraction, int] = {}
    for value, count in pairs:
        key = value if type(value) is Fraction else Fraction(value)
        counts[key] = counts.get(key, 0) + count
    return tuple(sorted((value, count) for value, count in counts.items() if count))


def nonzeros(c: Signal) -> int:
    """Return the number of coefficients that are not zero."""
    return length(c) - zeros(c)


def replace_one(c: Signal, index: int, value: Fraction) -> Signal:
    """Return the signal with one coefficient of group `index` changed to `value`."""
    return signal([*((v, n - (k == index)) for k, (v, n) in enumerate(c)), (value, 1)])


def difference(before: Signal, after: Signal) -> tuple[list[Fraction], list[Fraction]]:
    """Return the values that were removed and those that were added, each as often as that happened (at most twice)."""
    old, new = dict(before), dict(after)
    removed: list[Fraction] = []
    added: list[Fraction] = []
    for value in sorted(old.keys() | new.keys()):
        change = new.get(value, 0) - old.get(value, 0)
        require(abs(change) <= 2, "more than two coefficients changed")
        (added if change > 0 else removed).extend([value] * abs(change))
    return removed, added


def find_growth(before: Signal, after: Signal) -> tuple[Fraction, Fraction]:
    """Return the old and the new value of the one coefficient that grows between two signals."""
    removed, added = difference(before, after)
    require(len(removed) == len(added) == 1 and added[0] > removed[0], "one coefficient grows")
    return removed[0], added[0]


def spike(n: int) -> Signal:
    """Return 0_{n-1} || 1, the sparsest signal of length n."""
    return signal([(Fraction(0), n - 1), (Fraction(1), 1)])


def ones(n: int) -> Signal:
    """Return 1_n, the least sparse signal of length n."""
    return signal([(Fraction(1), n)])
