"""Which kernel measures which rows, and on how many threads.

A row's route depends on the row itself and on the order, never on what else is in the array or on the number of
threads: so a batch equals its rows one by one, bit for bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, Indices, Signals
from .._compiled import measure as kernels
from .._compiled.even import HAND_OVER, LARGEST_EVEN_ORDER, MOMENT_BLOCK, MOMENT_CHUNK, MOMENT_ROOM
from .._compiled.integer import BLOCK_PAIRS, FOLDED, LARGEST_INTEGER_ORDER, SHORT_ORDER, SHORT_ROW, SIDE_BY_SIDE
from .._compiled.kernel_tolerances import HUGE, TINY
from .._compiled.lanes import LANES
from .._compiled.powers import POWER_BLOCK
from .._compiled.tiny import TINY_ROW
from .._compiled.tree import JOB, LARGEST_OPENING, LEVELS
from .._platform import threads

COEFFICIENTS_PER_TASK = 1 << 15  # with fewer, another thread does not pay
LONG_ROW = 1 << 16  # from this length on, several threads measure one row
TREE_TASKS = 16  # among which near interactions are shared out


class Magnitudes(NamedTuple):
    """Magnitudes sorted row by row and scaled by powers of two to maxima in [1/2, 1); zeros end at `nonzero`."""

    values: Array
    nonzero: Indices


def measure(signals: Signals, p: float, zero: float, sort: Callable[[], Magnitudes] | None = None) -> Array:
    """Return S_p of every signal; `sort` returns the sorted magnitudes if they are needed."""
    out = np.empty(signals.rows)
    if signals.rows == 0:
        return out
    sort = sort or (lambda: sorted_magnitudes(signals))
    if math.isinf(p):
        arguments = signals.values, signals.starts, signals.lengths, zero
        over_rows(signals, functools.partial(kernels.zero_fraction_rows, *arguments), out)
    elif p % 2 == 0 and p <= LARGEST_EVEN_ORDER:
        if _by_moments(signals, int(p), zero, out):
            _measure_some(signals, out == HAND_OVER, p, zero, sort, _by_sorting, out)
    elif p in (1, 3) or not (p.is_integer() and p <= LARGEST_INTEGER_ORDER):
        if signals.uniform:
            (_tiny if signals.starts[1] <= TINY_ROW else _by_sorting)(signals, sort, p, zero, out)
            return out
        tiny = np.diff(signals.starts) <= TINY_ROW
        _measure_some(signals, tiny, p, zero, sort, _tiny, out)
        _measure_some(signals, ~tiny, p, zero, sort, _by_sorting, out)
    else:
        _by_sorting(signals, sort, p, zero, out)
    return out


def _measure_some(
    signals: Signals, chosen: Any, p: float, zero: float, sort: Callable[[], Magnitudes], way: Callable[..., Any],
    out: Array,
) -> None:  # fmt: skip
    """Measure the chosen rows one way."""
    if chosen.all():
        way(signals, sort, p, zero, out)
    elif chosen.any():
        few = signals.select(np.flatnonzero(chosen))
        results = np.empty(few.rows)
        way(few, lambda: sorted_magnitudes(few), p, zero, results)
        out[chosen] = results


def over_rows(signals: Signals, kernel: Callable[..., Any], out: Array | Indices, but: Sequence[int] = ()) -> list[Any]:
    """Call kernel(first, last, out) over all rows but some, on several threads where it pays."""
    if len(signals.values) <= COEFFICIENTS_PER_TASK:
        return [kernel(0, signals.rows, out)]
    # rows are independent, so here the cut may follow the number of threads
    size = max(
        1, COEFFICIENTS_PER_TASK * signals.rows // len(signals.values), -(-signals.rows // (2 * threads.thread_count()))
    )
    edges = [-1, *but, signals.rows]
    spans = [
        (low + 1 + a, low + 1 + b) for low, high in pairwise(edges) for a, b in threads.spans(high - low - 1, size)
    ]
    return threads.run(lambda span: kernel(*span, out), spans)


def with_room(kernel: Callable[..., Any], arguments: Sequence[Any], *shapes: Any) -> Callable[..., Any]:
    """Return kernel(*arguments, *room, first, last, out), with room of these shapes for each call of it."""

    def call(first: int, last: int, out: Array) -> Any:
        return kernel(*arguments, *(np.empty(shape) for shape in shapes), first, last, out)

    return call


def long_rows(signals: Signals) -> list[int]:
    """Return the rows that are worth several threads each."""
    if len(signals.values) < LONG_ROW:
        return []
    return [int(r) for r in np.flatnonzero(np.diff(signals.starts) >= LONG_ROW)]


def longest_row(signals: Signals) -> int:
    """Return how many values the longest row holds."""
    return int(signals.starts[1]) if signals.uniform else int(np.diff(signals.starts).max())


@functools.cache
def even_binomials(p: int) -> Array:
    """Return the binomials of an even order, as the kernels of moments read them."""
    return np.asarray(binomials(p)[p])


@functools.cache
def binomials(p: int) -> Array:
    """Return C(n, k) for n, k = 0..p."""
    return np.array([[math.comb(n, k) for k in range(p + 1)] for n in range(p + 1)], dtype=np.float64)


@functools.cache
def _tables() -> Any:
    from .._compiled.chebyshev import chebyshev_tables

    return chebyshev_tables()


def workspace(tree: bool = True) -> Any:
    """Return what a walk through the tree of real orders remembers."""
    return kernels.Workspace(_tables(), LEVELS if tree else 0)


def _tiny(signals: Signals, _: Any, p: float, zero: float, out: Array) -> None:
    arguments = signals.values, signals.starts, signals.lengths, p, zero
    over_rows(signals, with_room(kernels.tiny_rows, arguments, TINY_ROW * LANES, 2 * LANES), out)


def _by_moments(signals: Signals, p: int, zero: float, out: Array) -> bool:
    """Write S_p from central moments; return whether any row was handed over to the sorted route."""
    row_binomials = binomials(p)[p]
    arguments = signals.values, signals.starts, signals.lengths, row_binomials, zero
    long = long_rows(signals)
    kernel = with_room(kernels.even_rows, arguments, (MOMENT_ROOM, MOMENT_BLOCK), p + 2)
    handed_over = any(over_rows(signals, kernel, out, long))
    for r in long:
        row = signals.values[signals.starts[r] : signals.starts[r + 1]]
        chunk = functools.partial(_chunk, row)
        out[r] = long_by_moments(chunk, len(row), int(signals.lengths[r]), row_binomials, zero)
        handed_over |= bool(out[r] == HAND_OVER)
    return handed_over


def _chunk(row: Array, first: int, last: int) -> Array:
    return row[first:last]


def long_by_moments(
    chunk: Callable[[int, int], Array], n: int, length: int, row_binomials: Array, zero: float
) -> float:
    """Return S_p of a row of which chunk(first, last) gives n values, on several threads."""
    spans = threads.spans(n, MOMENT_CHUNK)

    def extremes(span: tuple[int, int]) -> tuple[float, float]:
        part = chunk(*span)
        top, total = kernels.top_and_sum(part, 0, len(part))
        return (top, total) if math.isfinite(total) else (math.inf, 0.0)

    tops, sums = zip(*threads.run(extremes, spans), strict=True)
    top = max(tops)
    if top == 0.0:
        return zero
    if not TINY < top < HUGE or length > n:
        return HAND_OVER
    scale = kernels.scale_of(top)
    shift = sum(sums) * scale / n
    moments = np.empty((len(spans), len(row_binomials) + 1))

    def task(k: int) -> None:
        part = chunk(*spans[k])
        room = np.empty((MOMENT_ROOM, MOMENT_BLOCK))
        kernels.chunk_moments(part, 0, len(part), scale, shift, len(row_binomials) - 1, room, moments[k])

    threads.run(task, range(len(spans)))
    return float(kernels.combine_moments(moments.sum(axis=0), length, row_binomials))


def sorted_magnitudes(signals: Signals) -> Magnitudes:
    """Return a sorted copy of the magnitudes; at most twice the size of the signals while one long row is merged."""
    values = np.empty(len(signals.values))
    nonzero = np.empty(signals.rows, np.int64)

    def prepare(first: int, last: int, nonzero: Indices) -> None:
        step = max(
            1, COEFFICIENTS_PER_TASK * signals.rows // max(1, len(values))
        )  # what stays in the cache from one line to the next
        for start, end in ((first + a, first + b) for a, b in threads.spans(last - first, step)):
            span = slice(signals.starts[start], signals.starts[end])
            np.abs(signals.values[span], out=values[span])
            if signals.uniform:
                values[span].reshape(end - start, -1).sort(axis=-1)
            else:
                for r in range(start, end):
                    values[signals.starts[r] : signals.starts[r + 1]].sort()
            kernels.settle_rows(values, signals.starts, start, end, nonzero)

    long = long_rows(signals)
    over_rows(signals, prepare, nonzero, long)
    for r in long:
        span = slice(signals.starts[r], signals.starts[r + 1])
        row = _sort_long(np.abs(signals.values[span], out=values[span]))
        if signals.rows == 1:
            values = row
        else:
            values[span] = row
        kernels.settle_rows(values, signals.starts, r, r + 1, nonzero)
    return Magnitudes(values, nonzero)


def _sort_long(row: Array) -> Array:
    """Return a long row sorted, by halves, two threads at a time."""
    if threads.thread_count() == 1:
        row.sort()
        return row
    half = len(row) // 2
    threads.run(np.ndarray.sort, [row[:half], row[half:]])
    merged = np.empty_like(row)
    threads.run(lambda merge: merge(row, half, merged), [kernels.merge_from_below, kernels.merge_from_above])
    return merged


def _by_sorting(signals: Signals, sort: Callable[[], Magnitudes], p: float, zero: float, out: Array) -> None:
    magnitudes = sort()
    long = long_rows(signals) if p > 1 else []
    over_rows(signals, _sorted_kernel(signals, magnitudes, p, zero), out, long)
    for r in long:
        low, high = int(magnitudes.nonzero[r]), int(signals.starts[r + 1])
        if low == high:
            out[r] = zero
        elif is_whole(p):
            numerator = long_integer(magnitudes.values, low, high, binomials(int(p)))
            room = np.empty((2, POWER_BLOCK))
            sparsity = kernels.finish_integer(magnitudes.values, low, high, int(p), numerator, *room)
            out[r] = kernels.with_zeros(sparsity, high - low, int(signals.lengths[r]))
        else:
            sparsity = kernels.finish_real(magnitudes.values, low, high, p, long_real(magnitudes.values, low, high, p))
            out[r] = kernels.with_zeros(sparsity, high - low, int(signals.lengths[r]))


def is_whole(p: float) -> bool:
    """Return whether the recurrence of integer orders serves p."""
    return p.is_integer() and p <= LARGEST_INTEGER_ORDER


def _sorted_kernel(signals: Signals, magnitudes: Magnitudes, p: float, zero: float) -> Callable[..., Any]:
    """Return the kernel that measures sorted rows, as kernel(first, last, out)."""
    arguments = magnitudes.values, magnitudes.nonzero, signals.starts, signals.lengths
    if p == 1:
        return functools.partial(kernels.gini_rows, *arguments, zero)
    if is_whole(p):
        short = signals.uniform and signals.lengths[0] <= SHORT_ROW and p <= SHORT_ORDER
        return _short_kernel(signals, magnitudes, int(p), zero) if short else _integer_kernel(arguments, int(p), zero)
    longest = longest_row(signals)

    def real(first: int, last: int, out: Array) -> None:
        work = workspace(tree=not kernels.by_all_pairs(longest, p))
        kernels.real_rows(*arguments, p, zero, work, np.empty(longest + LANES), first, last, out)

    return real


def _short_kernel(signals: Signals, magnitudes: Magnitudes, p: int, zero: float) -> Callable[..., Any]:
    n = int(signals.lengths[0])

    def short(first: int, last: int, out: Array) -> None:
        room = np.zeros(n * SIDE_BY_SIDE), np.empty((p + 2) * SIDE_BY_SIDE + 2 * POWER_BLOCK)
        kernels.short_rows(magnitudes.values, n, p, zero, *room, np.empty(SIDE_BY_SIDE, np.int64), first, last, out)

    return short


def _integer_kernel(arguments: tuple[Array, Indices, Indices, Indices], p: int, zero: float) -> Callable[..., Any]:
    longest = int(np.diff(arguments[2]).max())

    def integer(first: int, last: int, out: Array) -> None:
        room = integer_room(longest, p)
        short = np.zeros(SHORT_ROW * SIDE_BY_SIDE), np.empty((p + 2) * SIDE_BY_SIDE + 2 * POWER_BLOCK)
        exponents = np.empty(SIDE_BY_SIDE, np.int64)
        kernels.integer_rows(*arguments, binomials(p), zero, *room, *short, exponents, first, last, out)

    return integer


def integer_room(longest: int, p: int) -> tuple[Array, Array, Array]:
    """Return room for pairs, power sums and states of the chunks of a row."""
    return np.empty((2, BLOCK_PAIRS)), np.empty((5, p + 1)), np.empty((max(1, -(-longest // FOLDED)), 3, p + 1))


def long_integer(c: Array, low: int, high: int, table: Array) -> float:
    """Return num_p of the sorted c[low:high] by chunks, on several threads."""
    _, sums, states = integer_room(high - low, len(table) - 1)
    scale = math.ldexp(1.0, -kernels.range_exponent(c, low, high))

    def task(span: tuple[int, int]) -> None:
        room = np.empty((2, BLOCK_PAIRS)), np.empty((5, len(table)))
        kernels.fold_chunks(c, low, high, scale, table, *room, *span, states)

    threads.run(task, threads.spans(len(states), 2))
    return float(kernels.join_chunks(c, low, high, states, scale, table, sums))


def long_real(c: Array, low: int, high: int, p: float) -> float:
    """Return num_p of the sorted c[low:high], in units of its range, on several threads."""
    if c[low] == c[high - 1]:
        return 0.0
    points, unit = points_of(c, low, high)
    budget = kernels.real_budget(points, high - low, p, unit, np.empty(64))
    tasks = tree_tasks(points, high - low)
    run = functools.partial(_sum_task, points, p, unit, budget)
    return float(sum(threads.run(run, tasks)))


def _sum_task(points: Array, p: float, unit: float, budget: float, jobs: Indices) -> float:
    return float(kernels.sum_jobs(workspace(), points, p, unit, budget, jobs, 0, len(jobs)))


def points_of(c: Array, low: int, high: int) -> tuple[Array, float]:
    """Return the points of a row in the form that the tree needs, and the factor that makes their range 1."""
    points = np.empty(high - low + LANES)
    kernels.load_points(c, low, high, points)
    return points, 1.0 / float(points[high - low - 1] - points[0])


def tree_tasks(points: Array, n: int) -> list[Indices]:
    """Return the tree's opening interactions: far cells, which share moments, in one task; near ones in many."""
    jobs = np.empty((LARGEST_OPENING * (LARGEST_OPENING + 1) // 2, JOB), np.int64)
    jobs = jobs[: kernels.opening_jobs(points, n, np.empty((LARGEST_OPENING, 3), np.int64), jobs)]
    near = jobs[:, 5] - jobs[:, 4] <= 1
    return [task for task in (jobs[~near], *np.array_split(jobs[near], TREE_TASKS)) if len(task)]


def measure_slowly(signals: Signals, p: float, zero: float, method: str) -> Array:
    """Return the pairwise sum, or the paper's formulas, to compare with."""
    from . import _paper_formulas

    magnitudes = sorted_magnitudes(signals)
    formula = _paper_formulas.pairwise if method == "definition" else _paper_formulas.paper
    out = np.empty(signals.rows)
    for r in range(signals.rows):
        c = magnitudes.values[magnitudes.nonzero[r] : signals.starts[r + 1]]
        out[r] = formula(c, int(signals.lengths[r]), p) if len(c) > 0 else zero
    return out
