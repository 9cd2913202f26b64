"""Two sorted halves of a long row, merged by two threads: one from below, one from above."""

from __future__ import annotations

from .vocabulary import Array, Values, entry


@entry
def merge_from_below(x: Values, half: int, out: Array) -> None:
    """Write the first `half` numbers of the merged x[:half] and x[half:]."""
    i = 0
    j = half
    n = len(x)
    for k in range(half):
        take = j >= n or x[i] <= x[j]
        out[k] = x[i] if take else x[j]
        i += take
        j += 1 - take


@entry
def merge_from_above(x: Values, half: int, out: Array) -> None:
    """Write the others, from the largest down."""
    i = half - 1
    j = len(x) - 1
    for k in range(len(x) - 1, half - 1, -1):
        take = i >= 0 and x[i] > x[j]
        out[k] = x[i] if take else x[j]
        i -= take
        j -= 1 - take
