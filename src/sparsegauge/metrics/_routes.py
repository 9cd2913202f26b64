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
from ._kernels import even, formulas, gradient, integer, real, rows, threads, tree

TASK = 1 << 15  # coefficients that make a task worth another thread


class Magnitudes(NamedTuple):
    """Magnitudes sorted row by row and scaled by powers of two to maxima in [1/2, 1); zeros end at `nonzero`."""

    values: Array
    nonzero: Indices


def measure(signals: Signals, p: float, zero: float, sort: Callable[[], Magnitudes] | None = None) -> Array:
    """S_p of every signal; `sort` gives the sorted magnitudes to whoever needs them."""
    sort = sort or (lambda: sorted_magnitudes(signals))
    out = np.empty(signals.rows)
    if signals.rows == 0:
        return out
    if math.isinf(p):
        arguments = signals.values, signals.starts, signals.lengths, zero
        over_rows(signals, functools.partial(rows.zero_fraction_rows, *arguments), out)
    elif p % 2 == 0 and p <= even.LARGEST_ORDER:
        if _by_moments(signals, int(p), zero, out):
            handed_over = np.flatnonzero(out == even.HAND_OVER)
            if len(handed_over) == signals.rows:
                _by_sorting(signals, sort(), p, zero, out)
            else:
                few = signals.select(handed_over)
                out[handed_over] = _by_sorting(few, sorted_magnitudes(few), p, zero, np.empty(few.rows))
    else:
        _by_sorting(signals, sort(), p, zero, out)
    return out


def over_rows(signals: Signals, kernel: Callable[..., Any], out: Array | Indices, but: Sequence[int] = ()) -> list[Any]:
    """kernel(first, last, out) over all rows but some, on several threads where it pays."""
    if len(signals.values) <= TASK:
        return [kernel(0, signals.rows, out)]
    # rows are independent, so here the cut may follow the number of threads
    size = max(1, TASK * signals.rows // len(signals.values), -(-signals.rows // (2 * threads.thread_count())))
    edges = [-1, *but, signals.rows]
    spans = [
        (low + 1 + a, low + 1 + b) for low, high in pairwise(edges) for a, b in threads.spans(high - low - 1, size)
    ]
    return threads.run(lambda span: kernel(*span, out), spans)


def _long_rows(signals: Signals) -> list[int]:
    """Rows that are worth several threads each."""
    if len(signals.values) < threads.LONG:
        return []
    return [int(r) for r in np.flatnonzero(np.diff(signals.starts) >= threads.LONG)]


@functools.cache
def _binomials(p: int) -> Array:
    return np.array([[math.comb(n, k) for k in range(p + 1)] for n in range(p + 1)], dtype=np.float64)


def _by_moments(signals: Signals, p: int, zero: float, out: Array) -> bool:
    """S_p from central moments; whether any row was handed over to the sorted route."""
    binomials = _binomials(p)[p]
    arguments = signals.values, signals.starts, signals.lengths, binomials, zero
    long = _long_rows(signals)
    handed_over = any(over_rows(signals, functools.partial(even.rows, *arguments), out, long))
    for r in long:
        row = signals.values[signals.starts[r] : signals.starts[r + 1]]
        out[r] = _long_by_moments(row, int(signals.lengths[r]), binomials, zero)
        handed_over |= bool(out[r] == even.HAND_OVER)
    return handed_over


def _long_by_moments(row: Array, length: int, binomials: Array, zero: float) -> float:
    parts = [row[first:last] for first, last in threads.spans(len(row), even.CHUNK)]
    tops, sums = zip(*threads.run(even.top_and_sum, parts), strict=True)
    top = max(tops)
    if top == 0.0:
        return zero
    if not even.TINY < top < even.HUGE or length > len(row):
        return even.HAND_OVER
    scale = even.scale_of(top)
    shift = sum(sums) * scale / len(row)
    moments = np.empty((len(parts), len(binomials) + 1))

    def task(k: int) -> None:
        room = np.empty((even.ROOM, even.BLOCK))
        even.chunk_moments(parts[k], scale, shift, len(binomials) - 1, room, moments[k])

    threads.run(task, range(len(parts)))
    return even.combine(moments.sum(axis=0), length, binomials)


def sorted_magnitudes(signals: Signals) -> Magnitudes:
    """A sorted copy of the magnitudes; at most twice the size of the signals while one long row is merged."""
    values = np.empty(len(signals.values))
    nonzero = np.empty(signals.rows, np.int64)

    def prepare(first: int, last: int, nonzero: Indices) -> None:
        step = max(1, TASK * signals.rows // max(1, len(values)))  # what stays in the cache from one line to the next
        for start, end in ((first + a, first + b) for a, b in threads.spans(last - first, step)):
            span = slice(signals.starts[start], signals.starts[end])
            np.abs(signals.values[span], out=values[span])
            if signals.uniform:
                values[span].reshape(end - start, -1).sort(axis=-1)
            else:
                rows.sort_rows(values, signals.starts, start, end)
            rows.settle_rows(values, signals.starts, start, end, nonzero)

    long = _long_rows(signals)
    over_rows(signals, prepare, nonzero, long)
    for r in long:
        span = slice(signals.starts[r], signals.starts[r + 1])
        row = threads.sort(np.abs(signals.values[span], out=values[span]))
        if signals.rows == 1:
            values = row
        else:
            values[span] = row
        rows.settle_rows(values, signals.starts, r, r + 1, nonzero)
    return Magnitudes(values, nonzero)


def _by_sorting(signals: Signals, magnitudes: Magnitudes, p: float, zero: float, out: Array) -> Array:
    arguments = magnitudes.values, magnitudes.nonzero, signals.starts, signals.lengths
    whole = p.is_integer() and p <= integer.LARGEST_ORDER
    if p == 1:
        kernel: Callable[..., Any] = functools.partial(rows.gini_rows, *arguments, zero)
    elif whole and p <= integer.SHORT_ORDER and signals.uniform and signals.lengths[0] <= integer.SHORT:
        table = magnitudes.values.reshape(signals.rows, -1)
        kernel = functools.partial(integer.short_rows, table, int(p), zero)
    elif whole:
        kernel = functools.partial(rows.integer_rows, *arguments, _binomials(int(p)), zero)
    else:
        kernel = functools.partial(rows.real_rows, *arguments, p, zero)
    long = _long_rows(signals) if p > 1 else []
    over_rows(signals, kernel, out, long)
    for r in long:
        c = magnitudes.values[magnitudes.nonzero[r] : signals.starts[r + 1]]
        if len(c) == 0:
            out[r] = zero
        else:
            if whole:
                sparsity = rows.finish_integer(c, int(p), _long_integer(c, _binomials(int(p))))
            else:
                sparsity = rows.finish_real(c, p, _long_real(c, p))
            out[r] = rows.with_zeros(sparsity, len(c), int(signals.lengths[r]))
    return out


def _long_integer(c: Array, binomials: Array) -> float:
    """rows.integer_numerator on several threads."""
    chunks = -(-len(c) // integer.CHUNK)
    states = np.empty((chunks, 3, len(binomials)))
    scale = math.ldexp(1.0, -integer.range_exponent(c))
    threads.run(lambda span: integer.chunk_states(c, scale, binomials, *span, states), threads.spans(chunks, 8))
    return integer.fold(c, states, scale, binomials)


def _long_real(c: Array, p: float) -> float:
    """real.numerator on several threads."""
    if c[0] == c[-1]:
        return 0.0
    c = tree.shifted(c)
    unit = 1.0 / (c[-1] - c[0])
    budget = real.budget_for(c, p, unit)
    tasks = _tree_tasks(c)
    return sum(threads.run(lambda task: real.sum_jobs(tree.workspace(), c, p, unit, budget, task), tasks))


def _tree_tasks(c: Array) -> list[Indices]:
    """The tree's opening interactions: those of far cells, which share moments, in one; those of near ones in many."""
    jobs = tree.opening_jobs(c)
    near = jobs[:, 5] - jobs[:, 4] <= 1
    return [task for task in (jobs[~near], *np.array_split(jobs[near], 16)) if len(task)]


def measure_slowly(signals: Signals, p: float, zero: float, method: str) -> Array:
    """The pairwise sum, or the paper's formulas, to compare with."""
    magnitudes = sorted_magnitudes(signals)
    formula = formulas.pairwise if method == "definition" else formulas.paper
    out = np.empty(signals.rows)
    for r in range(signals.rows):
        c = magnitudes.values[magnitudes.nonzero[r] : signals.starts[r + 1]]
        out[r] = formula(c, int(signals.lengths[r]), p) if len(c) > 0 else zero
    return out


def slopes(signals: Signals, p: float) -> Array:
    """dS_p/d|x| at every value of every signal."""
    if signals.rows == 0:
        return np.empty(0)
    magnitudes = np.abs(signals.values)
    order = _argsort(signals, magnitudes)
    ordered = magnitudes[order]
    unscaled = ordered.copy()
    nonzero = np.empty(signals.rows, np.int64)
    over_rows(signals, functools.partial(rows.settle_rows, ordered, signals.starts), nonzero)
    results = np.empty(len(ordered))
    arguments = ordered, unscaled, nonzero, signals.starts, signals.lengths
    whole = p.is_integer() and p <= integer.LARGEST_ORDER
    if whole:
        binomials, fewer = _binomials(int(p)), _binomials(int(p) - 1)
        kernel: Callable[..., Any] = functools.partial(rows.integer_gradient_rows, *arguments, binomials, fewer)
    else:
        kernel = functools.partial(rows.real_gradient_rows, *arguments, p)
    long = _long_rows(signals) if p > 1 else []
    over_rows(signals, kernel, results, long)
    for r in long:
        c = ordered[nonzero[r] : signals.starts[r + 1]]
        results[signals.starts[r] : signals.starts[r + 1]] = 0.0 if len(c) else math.nan
        if len(c):
            numerator = _long_integer(c, binomials) if whole else _long_real(c, p)
            slope, unit = _long_integer_slopes(c, fewer) if whole else _long_real_slopes(c, p - 1)
            here = results[nonzero[r] : signals.starts[r + 1]]
            scale = rows.unit_scale(unscaled[signals.starts[r + 1] - 1])
            gradient.assemble(c, p, int(signals.lengths[r]), numerator, unit, slope, scale, here)
    out = np.empty(len(ordered))
    out[order] = results
    return out


def _long_integer_slopes(c: Array, binomials: Array) -> tuple[Array, float]:
    unit = math.ldexp(1.0, integer.range_exponent(c))
    sides = [c / unit, gradient.mirrored(c / unit)]
    sums = np.empty((2, len(c)))
    threads.run(lambda k: integer.left_sums(sides[k], binomials, sums[k]), range(2))
    gradient.left_less_right(sums[0], sums[1], sums[0])
    return sums[0], unit


def _long_real_slopes(c: Array, q: float) -> tuple[Array, float]:
    out = np.zeros(len(c))
    width = float(c[-1] - c[0])
    if width == 0.0:
        return out, 1.0
    c = tree.shifted(c)
    budget = gradient.budget_for(c, q, 1.0 / width)

    def work(task: Indices) -> tuple[int, Array]:
        low, high = int(task[:, 0].min()), int(task[:, 3].max())
        part = np.zeros(high - low)
        gradient.add_jobs(tree.workspace(), c, q, 1.0 / width, budget, task, low, part)
        return low, part

    for low, part in threads.run(work, _tree_tasks(c)):
        out[low : low + len(part)] += part
    return out, width


def _argsort(signals: Signals, magnitudes: Array) -> Indices:
    """Where to find the k-th smallest magnitude of every row."""
    order = np.empty(len(magnitudes), np.int64)

    def task(first: int, last: int, order: Indices) -> None:
        for r in range(first, last):
            low, high = signals.starts[r], signals.starts[r + 1]
            order[low:high] = np.argsort(magnitudes[low:high])
            order[low:high] += low

    over_rows(signals, task, order)
    return order
