"""What a reduction may ask for beyond one axis: several axes, `keepdims`, `weights` and `center`.

Each becomes a table with one signal per row, which `signal_rows.py` then checks like any other array.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput
from ..rounding import LARGEST_WEIGHT, LEAST_WEIGHT
from .checks import check_choice
from .signal_rows import (
    NAN_POLICIES,
    Array,
    Signals,
    as_numbers,
    as_signals,
    check_axis,
    clean_rows,
    is_masked,
    is_sparse,
    over_one_axis,
    sparse_rows,
)

CENTERS = ("mean", "median")
LARGEST_REPETITION = 1 << 22  # coefficients: whole weights of a larger total are not written out

Measure = Callable[[Signals], Array]


def over_signals(
    x: Any,
    axis: Any,
    nan_policy: str,
    measure: Measure,
    keepdims: bool = False,
    weights: Any = None,
    center: str | None = None,
) -> Any:
    """Return the results of `measure`, one per signal, in the shape that the caller expects."""
    if weights is None and center is None and keepdims is False and type(axis) is not tuple:
        return over_one_axis(x, axis, nan_policy, measure)
    if weights is not None or center is not None:
        signals, finish = gather_signals(x, axis, nan_policy, keepdims, weights, center)
        return finish(measure(signals))
    if not isinstance(keepdims, bool | np.bool_):
        raise InvalidInput(f"keepdims must be True or False, got {keepdims!r}")
    array = x if is_sparse(x) or is_masked(x) else as_numbers(x)
    axes = check_axes(axis, array.ndim, array.shape)
    results = over_one_axis(*merge_axes(array, axes), nan_policy, measure)
    if not keepdims:
        return results
    return np.reshape(results, tuple(1 if k in axes else n for k, n in enumerate(array.shape)))


def gather_signals(
    x: Any, axis: Any, nan_policy: str, keepdims: bool = False, weights: Any = None, center: str | None = None
) -> tuple[Signals, Callable[[Array], Any]]:
    """Return the signals of x, and what puts one result per signal into the shape that the caller expects."""
    check_choice("nan_policy", nan_policy, NAN_POLICIES)
    if not isinstance(keepdims, bool | np.bool_):
        raise InvalidInput(f"keepdims must be True or False, got {keepdims!r}")
    array = x if is_sparse(x) or is_masked(x) else as_numbers(x)
    axes = check_axes(axis, array.ndim, array.shape)
    merged, along = merge_axes(array, axes)
    if weights is None and center is None:
        signals = as_signals(merged, axis=along, nan_policy=nan_policy)
    else:
        signals = _prepare(array, merged, along, axes, weights, center, nan_policy)
    shape = tuple(1 if k in axes else n for k, n in enumerate(array.shape))

    def finish(results: Array) -> Any:
        restored = signals.restore(results)
        return np.reshape(restored, shape) if keepdims else restored

    return signals, finish


def check_axes(axis: Any, ndim: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dimensions that hold the coefficients of a signal, each from 0 on; None is all of them."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(check_axis(k, ndim, shape) for k in given)
    if None in axes or len(set(axes)) < len(axes) or not axes:
        raise InvalidInput(
            f"axis must name each dimension once, and at least one, got {axis!r}; None takes all of them"
        )
    return tuple(k for k in axes if k is not None)


def merge_axes(array: Any, axes: tuple[int, ...]) -> tuple[Any, int | None]:
    """Return the array with all coefficients of a signal along one axis, and that axis; None for the whole array."""
    if len(axes) == array.ndim:
        return array, None
    if len(axes) == 1:
        return array, axes[0]
    others = [k for k in range(array.ndim) if k not in axes]
    moved = array.transpose((*others, *sorted(axes)))
    return moved.reshape((*moved.shape[: len(others)], math.prod(moved.shape[len(others) :]))), len(others)


def _prepare(
    array: Any, merged: Any, along: int | None, axes: tuple[int, ...], weights: Any, center: str | None, nan_policy: str
) -> Signals:
    """Return the signals centred, with their weights."""
    if center is not None:
        check_choice("center", center, CENTERS)
    if is_sparse(merged):
        if center is None:
            return _sparse_weighted(merged, along, weights, nan_policy)
        merged = merged.toarray()  # centred, its zeros are none
    table, keep, shape = _as_rows(merged, along)
    w = None if weights is None else _weight_table(weights, array.shape, axes, table.shape)
    if w is not None:
        keep &= w > 0.0
    if center is not None:
        table = _centred(table, keep & ~np.isnan(table), w, center)
    if w is None:
        return clean_rows(_magnitudes(table), ~keep, shape, nan_policy)
    return _weighted(_magnitudes(table), keep, w, shape, nan_policy)


def _as_rows(merged: Any, along: int | None) -> tuple[NDArray[Any], NDArray[np.bool_], tuple[int, ...] | None]:
    """Return one signal per row as float64 or complex128, which entries are not masked, and the shape of the result."""
    mask = np.ma.getmaskarray(merged) if is_masked(merged) else None
    data = as_numbers(np.ma.getdata(merged) if is_masked(merged) else merged)
    data = data.astype(np.complex128 if data.dtype.kind == "c" else np.float64)

    def rows(values: NDArray[Any]) -> NDArray[Any]:
        if along is None:
            return values.reshape(1, -1)
        moved = np.moveaxis(values, along, -1)
        return moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])

    table = rows(data)
    if table.shape[1] == 0:
        raise InvalidInput(f"x has no coefficient to measure: shape {data.shape}; pass at least one")
    shape = None if along is None else tuple(n for k, n in enumerate(data.shape) if k != along)
    return table, np.ones(table.shape, bool) if mask is None else ~rows(mask), shape


def _magnitudes(table: NDArray[Any]) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(table) if table.dtype.kind == "c" else table


def _weight_table(weights: Any, shape: tuple[int, ...], axes: tuple[int, ...], rows: tuple[int, int]) -> Array:
    """Return one weight per coefficient, in rows as the signals are."""
    w = _check_weights(weights)
    if w.shape == shape:
        return _as_rows(*merge_axes(w, axes))[0]
    of_signal = tuple(shape[k] for k in sorted(axes))
    if w.shape in ((rows[1],), of_signal):
        return np.broadcast_to(w.reshape(-1), rows)
    raise InvalidInput(
        f"weights must have the shape of x, {shape}, or one number per coefficient of a signal, {of_signal}; "
        f"got shape {w.shape}"
    )


def _check_weights(weights: Any) -> Array:
    w = as_numbers(weights, "weights")
    if w.dtype.kind == "c":
        raise InvalidInput(f"weights must be real, got {w.dtype}")
    w = w.astype(np.float64)
    if not np.isfinite(w).all() or (w < 0).any():
        wrong = w[~np.isfinite(w) | (w < 0)][0]
        raise InvalidInput(f"weights must be finite and not negative, got {wrong}; 0 leaves a coefficient out")
    largest = float(w.max(initial=0.0))
    if not (largest == 0.0 or LEAST_WEIGHT <= largest <= LARGEST_WEIGHT):
        raise InvalidInput(
            f"the largest weight must be between {LEAST_WEIGHT:g} and {LARGEST_WEIGHT:g}, got {largest:g}, whose sums "
            "and products leave float64's range; divide all weights by it"
        )
    return w


def _centred(table: NDArray[Any], known: NDArray[np.bool_], w: Array | None, center: str) -> NDArray[Any]:
    """Return each row less its mean or median, which entries that are not known do not enter."""
    if center == "median":
        if table.dtype.kind == "c":
            raise InvalidInput("center='median' needs real numbers, got complex ones; use center='mean'")
        middle = np.array([[_median(row, k, v)] for row, k, v in zip(table, known, _rows_of(w, table), strict=True)])
        return np.asarray(table - middle)
    counts = known.astype(np.float64) if w is None else np.where(known, w, 0.0)
    totals = np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    for _ in range(2):  # the second time removes the rounding error of the first
        with np.errstate(all="ignore"):
            terms = np.where(known, table, 0.0)
            table = table - (counts / totals * terms).sum(axis=1, keepdims=True)
    return table


def _rows_of(w: Array | None, table: NDArray[Any]) -> Any:
    return [None] * len(table) if w is None else w


def _median(row: Array, known: NDArray[np.bool_], w: Array | None) -> float:
    """Return the middle value; with weights, the middle of the values at which half of the weight is reached."""
    values = row[known]
    if not len(values):
        return math.nan
    if w is None:
        return float(np.median(values))
    order = np.argsort(values)
    reached = np.cumsum(w[known][order])
    half = reached[-1] / 2
    low, high = np.searchsorted(reached, half), np.searchsorted(reached, half, side="right")
    return float((values[order[low]] + values[order[min(high, len(order) - 1)]]) / 2)


def _weighted(
    table: Array, keep: NDArray[np.bool_], w: Array, shape: tuple[int, ...] | None, nan_policy: str
) -> Signals:
    """Return rows with weights; whole ones are written out, so that they equal repetition bit for bit."""
    signals = clean_rows(table, ~keep, shape, nan_policy)
    values = w[signals.kept] if signals.kept is not None else np.ascontiguousarray(w).reshape(-1)
    rows = np.repeat(np.arange(signals.rows), np.diff(signals.starts))
    totals: Array = np.bincount(rows, weights=values, minlength=signals.rows).astype(np.float64)
    return _repeated(signals, values, totals)


def _repeated(signals: Signals, weights: Array, totals: Array) -> Signals:
    """Return signals with their values written out as often as they count, where that is a whole number of times."""
    if not np.equal(np.floor(weights), weights).all() or totals.sum() > LARGEST_REPETITION:
        return signals._replace(weights=weights, totals=totals, uniform=False)
    counts = weights.astype(np.int64)
    reached = np.concatenate([[0], np.cumsum(counts)])
    values = np.repeat(signals.values, counts)
    values.flags.writeable = False
    lengths = totals.astype(np.int64)
    return signals._replace(values=values, starts=reached[signals.starts], lengths=lengths, uniform=False)


def _sparse_weighted(x: Any, along: int | None, weights: Any, nan_policy: str) -> Signals:
    """Return the stored values of every row with their weights; zeros that are not stored only weigh."""
    rows = sparse_rows(x, along)[0]
    w = _check_weights(weights.toarray() if is_sparse(weights) else weights)
    if along is None and w.shape == x.shape:
        w = w.reshape(-1)
    if w.shape != (rows.shape[1],):
        raise InvalidInput(
            f"weights of a sparse array are one number per coefficient of a signal, ({rows.shape[1]},), "
            f"got shape {w.shape}"
        )
    signals = as_signals(x, axis=along, nan_policy=nan_policy)
    stored = w[rows.indices]
    holders = np.repeat(np.arange(signals.rows), np.diff(rows.indptr))
    totals = np.full(signals.rows, w.sum())
    if signals.kept is not None:
        totals -= np.bincount(holders[~signals.kept], weights=stored[~signals.kept], minlength=signals.rows)
        stored = stored[signals.kept]
    if not np.equal(np.floor(w), w).all():
        return signals._replace(weights=stored, totals=totals, uniform=False)
    return _repeated(signals, stored, totals)
