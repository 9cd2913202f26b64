"""Find jumps of a function of one number, with a limited number of evaluations.

Intervals are bisected in the order of how far the value at the midpoint lies from the chord. At a jump this distance
stays half the jump or more however short the interval is; at a kink it is halved with each bisection, and where the
function is smooth it is quartered. So small jumps are found among much larger changes.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class Jump(NamedTuple):
    """Two neighbouring floats, and the values there."""

    low: float
    high: float
    at_low: float
    at_high: float


class _Interval(NamedTuple):
    """An interval, the values at its ends and in the middle, and minus how far the last one lies from the chord."""

    order: float  # so that a heap gives the largest distance first
    low: float
    high: float
    at_low: float
    at_high: float
    at_middle: float


def find_jumps(
    at: Callable[[float], float], grid: Sequence[float], *, smallest: float, evaluations: int
) -> Iterator[Jump]:
    """Yield pairs of neighbouring floats between which the value changes by more than `smallest` of its size.

    Nothing is yielded where the function has no value on the grid. The function is evaluated on the grid, in the middle
    of each interval, and then until about `evaluations` values are known.
    """
    values = [at(t) for t in grid]
    if not all(map(math.isfinite, values)):
        return
    size = max(map(abs, values))

    def interval(low: float, high: float, at_low: float, at_high: float) -> _Interval:
        at_middle = at(_middle(low, high))
        bend = abs(at_middle - (at_low + at_high) / 2) if math.isfinite(at_middle) else 0.0
        return _Interval(-bend, low, high, at_low, at_high, at_middle)

    heap = [interval(*edges) for edges in zip(grid, grid[1:], values, values[1:], strict=False)]
    heapq.heapify(heap)
    calls = len(grid) + len(heap)
    while heap and calls < evaluations and -heap[0].order > smallest * size / 4:
        _, low, high, at_low, at_high, at_middle = heapq.heappop(heap)
        middle = _middle(low, high)
        if low < middle < high:
            heapq.heappush(heap, interval(low, middle, at_low, at_middle))
            heapq.heappush(heap, interval(middle, high, at_middle, at_high))
            calls += 2
        elif abs(at_high - at_low) > smallest * max(abs(at_low), abs(at_high)):
            yield Jump(low, high, at_low, at_high)


def _middle(low: float, high: float) -> float:
    return low + (high - low) / 2
