"""Which kernel measures which rows, and on how many threads.

A row's route depends on its own length and on the order alone, never on what else is in the array or on the number of
threads: so a batch equals its rows one by one, bit for bit.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, Indices, Signals
from ._kernels import even, formulas, integer, real, rows, threads, tree

TASK = 1 << 15  # coefficients that make a task worth another thread


class Magnitudes(NamedTuple):
    """Magnitudes sorted row by row and scaled by powers of two to maxima in [1/2, 1); zeros end at `nonzero`."""

    values: Array
    nonzero: Indices


def measure(signals: Signals, p: float, zero: float, sort: Callable[[], Magnitudes] | None = None) -> Array:
    """S_p of every signal; `sort` gives the sorted magnitudes to whoever needs them."""
    sort = sort or (lambda: sorted_magnitudes(signals))
    out = np.empty(signals.rows)
    if math.isinf(p):
        kernel = functools.partial(rows.zero_fraction_rows, signals.values, signals.starts, signals.lengths, zero)
        _over_rows(signals, kernel, out)
    elif p % 2 == 0 and p <= even.LARGEST_ORDER:
        if _by_moments(signals, int(p), zero, out):
            rest = np.empty_like(out)
            _by_sorting(signals, sort(), p, zero, rest)
            np.copyto(out, rest, where=out == even.HAND_OVER)
    else:
        _by_sorting(signals, sort(), p, zero, out)
    return out


def _over_rows(signals: Signals, kernel: Callable[..., Any], out: Array | Indices) -> list[Any]:
    """kernel(first, last, out) over all rows, several threads at a time where there are enough coefficients."""
    if len(signals.values) <= TASK:
        return [kernel(0, signals.rows, out)]
    size = max(1, TASK * signals.rows // len(signals.values))
    return threads.run(lambda span: kernel(*span, out), threads.spans(signals.rows, size))


def _long_rows(signals: Signals) -> list[int]:
    """Rows that are worth several threads each; they are never mixed with others, whatever else there is."""
    if len(signals.values) < threads.LONG:
        return []
    return [int(r) for r in np.flatnonzero(np.diff(signals.starts) >= threads.LONG)]


@functools.cache
def _binomials(p: int) -> Array:
    return np.array([[math.comb(n, k) for k in range(p + 1)] for n in range(p + 1)], dtype=np.float64)


def _by_moments(signals: Signals, p: int, zero: float, out: Array) -> bool:
    """S_p from central moments; whether any row was handed over to the sorted route."""
    binomials = _binomials(p)[p]
    long = _long_rows(signals)
    handed_over = False
    if signals.rows > len(long):
        arguments = signals.values, signals.starts, signals.lengths, binomials, zero
        handed_over = any(_over_rows(signals, functools.partial(even.rows, *arguments), out))
    for r in long:
        row = signals.values[signals.starts[r] : signals.starts[r + 1]]
        out[r] = _long_by_moments(row, int(signals.lengths[r]), binomials, zero)
        handed_over |= bool(out[r] == even.HAND_OVER)
    return handed_over


def _long_by_moments(row: Array, length: int, binomials: Array, zero: float) -> float:
    parts = [row[first:last] for first, last in threads.spans(len(row), even.CHUNK)]
    top = max(threads.run(even.largest, parts))
    if top == 0.0:
        return zero
    scale = even.unit_scale(top)
    shift = sum(threads.run(lambda part: even.scaled_sum(part, scale), parts)) / len(row)
    moments = np.empty((len(parts), len(binomials) + 1))

    def task(k: int) -> None:
        room = np.empty((2, even.BLOCK))
        even.chunk_moments(parts[k], scale, shift, len(binomials) - 1, room, moments[k])

    threads.run(task, range(len(parts)))
    return even.combine(moments.sum(axis=0), length, binomials)


def sorted_magnitudes(signals: Signals) -> Magnitudes:
    values = np.abs(signals.values)
    starts = signals.starts
    nonzero = np.empty(signals.rows, np.int64)
    long = _long_rows(signals)
    if signals.rows > len(long):
        if signals.uniform:
            table = values.reshape(signals.rows, -1)
            _over_rows(signals, lambda first, last, _: table[first:last].sort(axis=-1), nonzero)
        else:
            _over_rows(signals, lambda first, last, _: rows.sort_rows(values, starts, first, last), nonzero)
    elif signals.rows == 1:
        values = threads.sort(values)
    else:
        for r in long:
            row = values[starts[r] : starts[r + 1]]
            row[:] = threads.sort(row)
    _over_rows(signals, functools.partial(rows.settle_rows, values, starts), nonzero)
    return Magnitudes(values, nonzero)


def _by_sorting(signals: Signals, magnitudes: Magnitudes, p: float, zero: float, out: Array) -> None:
    arguments = magnitudes.values, magnitudes.nonzero, signals.starts, signals.lengths
    whole = p.is_integer() and p <= integer.LARGEST_ORDER
    long = _long_rows(signals) if p > 1 else []
    if signals.rows > len(long):
        if p == 1:
            kernel: Callable[..., Any] = functools.partial(rows.gini_rows, *arguments, zero)
        elif whole and p <= integer.SHORT_ORDER and signals.uniform and signals.lengths[0] <= integer.SHORT:
            table = magnitudes.values.reshape(signals.rows, -1)
            kernel = functools.partial(integer.short_rows, table, int(p), zero)
        elif whole:
            kernel = functools.partial(rows.integer_rows, *arguments, _binomials(int(p)), zero)
        else:
            kernel = functools.partial(rows.real_rows, *arguments, p, zero)
        _over_rows(signals, kernel, out)
    for r in long:
        c = magnitudes.values[magnitudes.nonzero[r] : signals.starts[r + 1]]
        if len(c) == 0:
            out[r] = zero
            continue
        sparsity = _long_integer(c, _binomials(int(p))) if whole else _long_real(c, p)
        out[r] = rows.with_zeros(sparsity, len(c), int(signals.lengths[r]))


def _long_integer(c: Array, binomials: Array) -> float:
    chunks = -(-len(c) // integer.CHUNK)
    states = np.empty((chunks, 3, len(binomials)))
    scale = math.ldexp(1.0, -integer.range_exponent(c))
    threads.run(lambda span: integer.chunk_states(c, scale, binomials, *span, states), threads.spans(chunks, 8))
    return rows.finish_integer(c, states, scale, binomials)


def _long_real(c: Array, p: float) -> float:
    if c[0] == c[-1]:
        return 0.0
    unit = 1.0 / (c[-1] - c[0])
    budget = real.budget_for(c, p, unit)
    jobs = tree.opening_jobs(c)
    near = jobs[:, 5] - jobs[:, 4] <= 1
    # far cells share their moments, so they make one task
    tasks = [jobs[~near], *np.array_split(jobs[near], 16)]
    return rows.finish_real(c, p, sum(threads.run(lambda task: real.sum_jobs(c, p, unit, budget, task), tasks)))


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
    magnitudes = np.abs(signals.values)
    order = _argsort(signals, magnitudes)
    ordered = magnitudes[order]
    nonzero = np.empty(signals.rows, np.int64)
    _over_rows(signals, functools.partial(rows.settle_rows, ordered, signals.starts), nonzero)
    whole = 1 < p <= integer.LARGEST_ORDER and p.is_integer()
    binomials, fewer = (_binomials(int(p)), _binomials(int(p) - 1)) if whole else (np.empty((0, 0)),) * 2
    results = np.empty(len(ordered))
    arguments = ordered, nonzero, signals.starts, signals.lengths, p, binomials, fewer
    _over_rows(signals, functools.partial(rows.gradient_rows, *arguments), results)
    out = np.empty(len(ordered))
    out[order] = results
    rows.unsettle_rows(magnitudes, signals.starts, out)
    return out


def _argsort(signals: Signals, magnitudes: Array) -> Indices:
    """Where to find the k-th smallest magnitude of every row."""
    order = np.empty(len(magnitudes), np.int64)

    def task(first: int, last: int, order: Indices) -> None:
        for r in range(first, last):
            low, high = signals.starts[r], signals.starts[r + 1]
            order[low:high] = np.argsort(magnitudes[low:high])
            order[low:high] += low

    _over_rows(signals, task, order)
    return order
