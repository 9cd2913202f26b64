"""Gradients of S_p, and sums of distances to every coefficient: which kernel, and on how many threads."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._arrays import Array, Indices, Signals
from .._compiled import measure as kernels
from .._compiled.integer import BLOCK_PAIRS
from .._compiled.lanes import LANES
from .._platform import threads
from . import _dispatch


def slopes(signals: Signals, p: float) -> Array:
    """Return dS_p/d|x| at every value of every signal."""
    if signals.rows == 0:
        return np.empty(0)
    magnitudes = np.abs(signals.values)
    order = _argsort(signals, magnitudes)
    ordered = magnitudes[order]
    unscaled = ordered.copy()
    nonzero = np.empty(signals.rows, np.int64)
    _dispatch.over_rows(signals, functools.partial(kernels.settle_rows, ordered, signals.starts), nonzero)
    results = np.empty(len(ordered))
    arguments = ordered, unscaled, nonzero, signals.starts, signals.lengths
    long = _dispatch.long_rows(signals) if p > 1 else []
    kernel = _integer_kernel if _dispatch.is_whole(p) else _real_kernel
    _dispatch.over_rows(signals, kernel(arguments, _dispatch.longest_row(signals), p), results, long)
    for r in long:
        _write_long(ordered, unscaled, int(nonzero[r]), signals, r, p, results)
    out = np.empty(len(ordered))
    out[order] = results
    return out


def _integer_kernel(arguments: Any, longest: int, p: float) -> Callable[..., Any]:
    tables = _dispatch.binomials(int(p)), _dispatch.binomials(int(p) - 1)

    def integer(first: int, last: int, out: Array) -> None:
        room = *_dispatch.integer_room(longest, int(p)), *np.empty((3, longest))
        kernels.integer_gradient_rows(*arguments, *tables, *room, first, last, out)

    return integer


def _real_kernel(arguments: Any, longest: int, p: float) -> Callable[..., Any]:
    def real(first: int, last: int, out: Array) -> None:
        spaces = _dispatch.workspace(), _dispatch.workspace()  # the second one's polynomials are those of p - 1
        room = np.empty(longest + LANES), np.empty(longest)
        kernels.real_gradient_rows(*arguments, p, *spaces, *room, first, last, out)

    return real


def _write_long(c: Array, unscaled: Array, low: int, signals: Signals, r: int, p: float, out: Array) -> None:
    """Write the slopes of a row that is worth several threads."""
    high = int(signals.starts[r + 1])
    out[signals.starts[r] : high] = 0.0 if low < high else math.nan
    if low == high:
        return
    if _dispatch.is_whole(p):
        numerator = _dispatch.long_integer(c, low, high, _dispatch.binomials(int(p)))
        sums, unit = _one_sided_sums(c, low, high, _dispatch.binomials(int(p) - 1))
        kernels.subtract_mirrored(sums[0], sums[1], high - low)
        slope = sums[0]
    else:
        numerator = _dispatch.long_real(c, low, high, p)
        slope, unit = _real_sums(c, low, high, p - 1, -1.0)
    scale = kernels.unit_scale(unscaled[high - 1])
    kernels.assemble_slopes(c, low, high, p, int(signals.lengths[r]), numerator, unit, slope, *scale, out)


def distance_sums(c: Array, p: float) -> Array:
    """Return sum_j |c_k - c_j|^p for every k of one sorted row, in [0, 1)."""
    n = len(c)
    if n == 1 or c[0] == c[-1]:
        return np.zeros(n)
    if _dispatch.is_whole(p):
        sums, unit = _one_sided_sums(c, 0, n, _dispatch.binomials(int(p)))
        total = sums[0] + sums[1, ::-1]
    else:
        total, unit = _real_sums(c, 0, n, p, 1.0)
    with np.errstate(under="ignore"):
        return np.asarray(total * unit**p)


def distance_slopes(c: Array, p: float) -> Array:
    """Return sum_{i<k} (c_k - c_i)^p - sum_{j>k} (c_j - c_k)^p for every k of one sorted row, in [0, 1).

    At p = 0 ties count for neither sum.
    """
    n = len(c)
    if p == 0:
        return np.asarray(np.searchsorted(c, c, side="left") + np.searchsorted(c, c, side="right") - n, np.float64)
    if n == 1 or c[0] == c[-1]:
        return np.zeros(n)
    if _dispatch.is_whole(p):
        sums, unit = _one_sided_sums(c, 0, n, _dispatch.binomials(int(p)))
        total = sums[0] - sums[1, ::-1]
    else:
        total, unit = _real_sums(c, 0, n, p, -1.0)
    with np.errstate(under="ignore"):
        return np.asarray(total * unit**p)


def _one_sided_sums(c: Array, low: int, high: int, table: Array) -> tuple[Array, float]:
    """Return the sums of distances to the left, and those to the right in reverse, and the unit of the distances."""
    unit = math.ldexp(1.0, kernels.range_exponent(c, low, high))
    sums = np.empty((2, high - low))

    def side(k: int) -> None:
        points = np.empty(high - low)
        (kernels.mirror if k else kernels.in_units)(c, low, high, unit, points)
        kernels.left_sums(points, table, np.empty((2, BLOCK_PAIRS)), np.empty((5, len(table))), sums[k])

    threads.run(side, range(2))
    return sums, unit


def _real_sums(c: Array, low: int, high: int, q: float, side: float) -> tuple[Array, float]:
    """Return the sums of distances to the left plus `side` times those to the right, and the unit of the distances."""
    n = high - low
    out = np.zeros(n)
    width = float(c[high - 1] - c[low])
    if width == 0.0:
        return out, 1.0
    points, _ = _dispatch.points_of(c, low, high)
    budget = kernels.slopes_budget(points, n, q, 1.0 / width)

    def work(jobs: Indices) -> tuple[int, Array]:
        start, end = int(jobs[:, 0].min()), int(jobs[:, 3].max())
        part = np.zeros(end - start)
        space = _dispatch.workspace()
        kernels.add_job_slopes(space, points, q, side, 1.0 / width, budget, jobs, 0, len(jobs), start, part)
        return start, part

    for start, part in threads.run(work, _dispatch.tree_tasks(points, n)):
        out[start : start + len(part)] += part
    return out, width


def _argsort(signals: Signals, magnitudes: Array) -> Indices:
    """Return where to find the k-th smallest magnitude of every row."""
    order = np.empty(len(magnitudes), np.int64)

    def task(first: int, last: int, order: Indices) -> None:
        for r in range(first, last):
            low, high = signals.starts[r], signals.starts[r + 1]
            order[low:high] = np.argsort(magnitudes[low:high])
            order[low:high] += low

    _dispatch.over_rows(signals, task, order)
    return order
