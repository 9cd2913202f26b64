"""Arrays of signals: what may be passed, and what the rest of the package may rely on.

What the rest of the package may rely on is a `Signals`: clean float64 values, row by row. The policy for degenerate
input, for every metric:

- an empty signal, infinities, text, objects and ragged lists: `InvalidInput`;
- NaN: by `nan_policy`: "propagate" gives nan for that signal, "omit" measures the others (nan where there is none),
  "raise" is `InvalidInput`; masked entries are always omitted;
- all coefficients zero: what the caller passed as `zero`, nan by default;
- a signal of length 1 that is not zero: the formula's value, 0.0 where that is 0/0.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._platform import threads
from ..errors import InvalidInput
from .checks import check_choice
from .libraries import advise_on_conversion

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

NAN_POLICIES = ("propagate", "omit", "raise")
CONVERTED = (
    1 << 16
)  # coefficients that are converted to float64 in one go: they stay in the cache until they are measured
COEFFICIENTS_PER_CHECK = 1 << 17  # for NaN and infinities, by one thread


class Signals(NamedTuple):
    """Rows of finite float64 values, with their signs (complex ones as magnitudes), on contiguous memory.

    Row r holds values[starts[r]:starts[r + 1]], and its signal has lengths[r] coefficients: more than there are values
    where a sparse array leaves out zeros. Rows in `missing` give nan. `shape` is the result's; None is a float.
    `kept` says which entries (of the table of rows, or of a sparse array's data) are in `values`; None is all of them.
    `weights` has one number per value where the coefficients count differently, and `totals` the weight of each row.
    """

    rows: int
    values: Array
    starts: Indices
    lengths: Indices
    shape: tuple[int, ...] | None
    missing: NDArray[np.bool_] | None = None
    kept: NDArray[np.bool_] | None = None
    uniform: bool = True
    weights: Array | None = None
    totals: Array | None = None

    def restore(self, results: Array) -> Any:
        """Return one result per signal as a float, or as an array of the caller's shape without the axis."""
        if self.missing is not None:
            results[self.missing] = math.nan
        return float(results[0]) if self.shape is None else results.reshape(self.shape)

    def select(self, rows: Indices) -> Signals:
        """Return the signals of some rows alone."""
        lengths = (self.starts[1:] - self.starts[:-1])[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        values = np.concatenate([self.values[self.starts[r] : self.starts[r + 1]] for r in rows])
        return Signals(len(rows), _read_only(values), starts, self.lengths[rows], (len(rows),), uniform=self.uniform)

    def table(self, values: Array) -> Array:
        """Return one number per value as a (rows, n) table: 0 for what was omitted, nan for rows that are missing."""
        if self.kept is None:
            return values.reshape(self.rows, -1) if self.rows else values.reshape(0, 1)
        table = np.zeros(self.kept.shape)
        table[self.kept] = values
        table[self.missing] = math.nan
        return table


def is_sparse(x: Any) -> bool:
    """Return whether x is a SciPy sparse array or matrix (SciPy need not be loaded to know that it is not)."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def is_masked(x: Any) -> bool:
    """Return whether x is a masked array (numpy.ma need not be loaded to know that it is not)."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(x, masked.MaskedArray)


def as_signals(x: Any, *, axis: Any, nan_policy: str = "propagate") -> Signals:
    """Return the caller's array as clean rows along `axis`; the array itself is never changed."""
    check_choice("nan_policy", nan_policy, NAN_POLICIES)
    if is_sparse(x):
        return _sparse_signals(x, axis, nan_policy)
    mask = np.ma.getmaskarray(x) if is_masked(x) else None
    table, shape = _as_table(_as_real(x), axis)
    if mask is not None and mask.any():
        return clean_rows(table, _as_table(mask, axis)[0], shape, nan_policy)
    if _all_finite(table):
        return _uniform(table, shape)
    return clean_rows(table, np.zeros(table.shape, bool), shape, nan_policy)


def over_one_axis(x: Any, axis: Any, nan_policy: str, measure: Callable[[Signals], Array]) -> Any:
    """Return measure's results, one per signal, in the shape that the caller expects.

    A large array that is not float64 in one piece is converted block by block, several threads at a time, and never as
    a whole. Each block passes the same checks as a whole array.
    """
    table, shape = _table_to_convert(x, axis)
    if table is None:
        signals = as_signals(x, axis=axis, nan_policy=nan_policy)
        return signals.restore(measure(signals))
    check_choice("nan_policy", nan_policy, NAN_POLICIES)
    out = np.empty(len(table))

    def convert(span: tuple[int, int]) -> None:
        first, last = span
        signals = as_signals(table[first:last], axis=-1, nan_policy=nan_policy)
        out[first:last] = signals.restore(measure(signals))

    try:
        threads.run(convert, threads.spans(len(table), max(1, CONVERTED // table.shape[1])))
    except InvalidInput:
        as_signals(x, axis=axis, nan_policy=nan_policy)  # raises for the whole array, with its own counts
        raise
    return out.reshape(shape)


def _table_to_convert(x: Any, axis: Any) -> tuple[NDArray[Any] | None, tuple[int, ...]]:
    """Return a large array of several signals as rows, without a copy, if it has to be converted; else None."""
    if (
        type(x) is not np.ndarray
        or x.ndim < 2
        or axis is None
        or x.size <= 2 * CONVERTED
        or x.dtype.kind not in "biufc"
    ):
        return None, ()
    moved = np.moveaxis(x, check_axis(axis, x.ndim, x.shape) or 0, -1)
    if moved.dtype == np.float64 and moved.flags.carray:
        return None, ()
    if x.ndim > 2 and not moved.flags.c_contiguous:
        return None, ()  # such a table would be a copy already
    return moved.reshape(-1, moved.shape[-1]), moved.shape[:-1]


def check_axis(axis: Any, ndim: int, shape: tuple[int, ...]) -> int | None:
    """Return None, or a dimension 0 <= axis < ndim."""
    if axis is None:
        return None
    if type(axis) is not int and (isinstance(axis, bool) or not isinstance(axis, numbers.Integral)):
        several = "; name several dimensions in a tuple" if isinstance(axis, list | set | range) else ""
        raise InvalidInput(f"axis must be an integer, or None for the flattened array, got {axis!r}{several}")
    if not -ndim <= int(axis) < ndim:
        raise InvalidInput(
            f"axis {axis} is out of range for an array of shape {shape}: use {-ndim}..{ndim - 1} or None"
        )
    return int(axis) % ndim


def as_numbers(x: Any, name: str = "x") -> NDArray[Any]:
    """Return an argument as an array of numbers of at least one dimension."""
    if isinstance(x, list | tuple) and any(is_masked(row) for row in x):
        raise InvalidInput(f"{name} is a list of masked arrays, whose masks NumPy would drop; pass np.ma.stack({name})")
    try:
        array = np.asarray(x if type(x) is np.ndarray else from_pandas(x))
    except Exception as error:  # whatever the object's own conversion raises
        advice = "pass numbers in a list, an array or a table whose rows are of equal length"
        raise InvalidInput(
            f"{name} cannot be made into an array ({error}); {advise_on_conversion(x, name, advice)}"
        ) from error
    _check_dtype(array.dtype, name)
    if array.ndim == 0:
        raise InvalidInput(
            f"{name} must be an array of at least one dimension, got the single value {array[()]!r}; pass [{name}]"
        )
    return array


def _check_dtype(dtype: np.dtype[Any], name: str = "x") -> None:
    if dtype.kind not in "biufc":
        raise InvalidInput(
            f"{name} must hold real or complex numbers, got dtype {dtype}; convert it with "
            f"np.asarray({name}, dtype=float), nan standing for what is missing"
        )


def as_finite_array(x: Any) -> Array:
    """Return finite real values in the shape they came in: what a transform needs."""
    if is_sparse(x):
        raise InvalidInput(f"a transform needs a dense array, got {type(x).__name__}; use x.toarray()")
    if is_masked(x):
        raise InvalidInput("a transform needs every value, got a masked array; use x.filled(value)")
    array = as_numbers(x)
    if array.dtype.kind == "c":
        raise InvalidInput(f"a transform needs real values, got {array.dtype}; transform x.real and x.imag apart")
    if np.isinf(array).any():
        raise InvalidInput("a transform needs finite values, and x has infinite ones; cut the signal there")
    signals = as_signals(array, axis=None)
    if signals.kept is not None:
        raise InvalidInput("a transform needs every value, and x has NaN; fill them in, or cut the signal there")
    return signals.values.reshape(array.shape)


def from_pandas(x: Any) -> Any:
    """Return columns of numbers that are nullable (Int64, boolean) or of mixed kinds as floats; the rest unchanged."""
    if type(x).__module__.partition(".")[0] != "pandas" or not hasattr(x, "to_numpy"):
        return x
    dtypes = list(x.dtypes) if x.ndim == 2 else [x.dtype]
    numeric = all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)
    plain = len(set(dtypes)) == 1 and isinstance(dtypes[0], np.dtype)
    return x.to_numpy(dtype=np.float64, na_value=np.nan) if numeric and dtypes and not plain else x


def _as_real(x: Any) -> Array:
    """Return real float64 values, or the magnitudes of complex ones."""
    array = as_numbers(np.ma.getdata(x) if is_masked(x) else x)
    if array.dtype == np.float64:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind == "c":
            return np.abs(array.astype(np.complex128, copy=False))
        return array.astype(np.float64)  # before any absolute value: int8 has no +128


def _as_table(array: NDArray[Any], axis: Any) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Return rows along the last axis of a 2-D array, and the shape of the result."""
    axis = check_axis(axis, array.ndim, array.shape)
    shape: tuple[int, ...] | None
    if axis is None or array.ndim == 1:
        table = array.reshape(1, -1)
        shape = None
    else:
        moved = np.moveaxis(array, axis, -1)
        shape = moved.shape[:-1]
        table = moved.reshape(math.prod(shape), moved.shape[-1])
    if table.shape[1] == 0:
        raise InvalidInput(f"x has no coefficient to measure: shape {array.shape}, axis {axis}; pass at least one")
    if not table.flags.carray:  # contiguous and aligned; writeable too, which a read-only array need not be
        table = np.require(table, requirements=["C", "A"])
    return table, shape


def _all_finite(values: Array) -> bool:
    if values.size > 2 * COEFFICIENTS_PER_CHECK and values.flags.c_contiguous:
        flat = values.reshape(-1)
        return all(
            threads.run(lambda span: _all_finite(flat[slice(*span)]), threads.spans(flat.size, COEFFICIENTS_PER_CHECK))
        )
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.add.reduce(values, axis=None)
    # a finite sum has finite terms; an infinite one may be an overflow, so look again
    return math.isfinite(total) or bool(np.isfinite(values).all())


def _uniform(table: Array, shape: tuple[int, ...] | None) -> Signals:
    rows, n = table.shape
    starts = np.arange(0, rows * n + 1, n)
    return Signals(rows, _read_only(table.reshape(-1)), starts, starts[1:] - starts[:-1], shape)


def _read_only(values: Array) -> Array:
    view = values.view()
    view.flags.writeable = False  # the caller's memory; and kernels are compiled for one kind of array only
    return view


def _refuse_infinite(values: Array) -> None:
    if np.isinf(values).any():
        raise InvalidInput(
            "x has infinite values, or magnitudes beyond float64's range (1.8e308); remove them, or mark them as nan "
            "and use nan_policy='omit'"
        )


def _refuse_nan(count: int, nan_policy: str) -> None:
    if count and nan_policy == "raise":
        values, them = ("value", "it") if count == 1 else ("values", "them")
        raise InvalidInput(f"x has {count:,} NaN {values}; nan_policy='omit' leaves {them} out, 'propagate' gives nan")


def clean_rows(table: Array, mask: NDArray[np.bool_], shape: tuple[int, ...] | None, nan_policy: str) -> Signals:
    """Return rows of which some coefficients are masked or NaN."""
    nan = np.isnan(table) & ~mask
    _refuse_infinite(table[~mask])
    _refuse_nan(int(nan.sum()), nan_policy)
    keep = ~(mask | nan)
    missing: NDArray[np.bool_] = np.logical_not(keep.any(axis=1))
    if nan_policy == "propagate":
        missing |= nan.any(axis=1)
    lengths = keep.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Signals(len(table), _read_only(table[keep]), starts, lengths, shape, missing, keep, uniform=False)


def _sparse_signals(x: Any, axis: Any, nan_policy: str) -> Signals:
    """Return the stored values of every row; zeros that are not stored are only counted."""
    rows, shape, _ = sparse_rows(x, axis)
    values = _as_real(rows.data) if rows.nnz else np.empty(0)
    starts = rows.indptr.astype(np.int64)
    lengths = np.full(rows.shape[0], rows.shape[1], np.int64)
    missing = kept = None
    if not _all_finite(values):
        _refuse_infinite(values)
        nan = np.isnan(values)
        _refuse_nan(int(nan.sum()), nan_policy)
        holders = np.repeat(np.arange(len(lengths)), np.diff(starts))[nan]
        lengths = lengths - np.bincount(holders, minlength=len(lengths))
        missing = lengths == 0
        if nan_policy == "propagate":
            missing[holders] = True
        kept = ~nan
        values = values[kept]
        starts = starts - np.concatenate([[0], np.cumsum(nan)])[starts]
    return Signals(len(lengths), _read_only(values), starts, lengths, shape, missing, kept, uniform=False)


def sparse_rows(x: Any, axis: Any) -> tuple[Any, tuple[int, ...] | None, int | None]:
    """Return a sparse array as CSR whose rows are the signals, the shape of the result, and the checked axis."""
    axis = check_axis(axis, x.ndim, x.shape)
    if x.ndim > 2:
        raise InvalidInput(
            f"sparse input must have one or two dimensions, got shape {x.shape}; reshape it to (rows, n)"
        )
    _check_dtype(x.dtype)
    if math.prod(x.shape) >= 2**63 and axis is None:
        raise InvalidInput(f"x of shape {x.shape} has too many entries to flatten; measure its rows with axis=-1")
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)  # before duplicates are added up: int8 has no 200
    if x.ndim == 1 or axis is None:
        rows = x.reshape((1, -1)).tocsr()
        shape = None
    else:
        rows = x.tocsr() if axis == 1 else x.T.tocsr()
        shape = (rows.shape[0],)
    if rows.shape[1] == 0:
        raise InvalidInput(f"x has no coefficient to measure: shape {x.shape}, axis {axis}; pass at least one")
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows, shape, axis


def restore_like(x: Any, axis: Any, signals: Signals, slopes: Array) -> Any:
    """Return one real slope per value, times the value's direction x/|x|, in the shape (and sparsity) of x."""
    if is_sparse(x):
        return _restore_sparse(x, axis, signals, slopes)
    array = as_numbers(np.ma.getdata(x) if is_masked(x) else x)
    axis = check_axis(axis, array.ndim, array.shape)
    table = signals.table(slopes)
    if axis is None or array.ndim == 1:
        out = table.reshape(array.shape)
    else:
        out = np.moveaxis(table.reshape(np.moveaxis(array, axis, -1).shape), -1, axis)
    return _directed(array, out)


def _directed(array: NDArray[Any], slopes: Array) -> NDArray[Any]:
    """Return slopes x / |x|, and 0 at x = 0; where x is NaN or masked, the slope itself."""
    with np.errstate(all="ignore"):  # masked and missing entries may hold anything
        if array.dtype.kind != "c":
            return _times(np.sign(array.astype(np.float64)), slopes)
        array = array.astype(np.complex128)
        part = np.maximum(np.abs(array.real), np.abs(array.imag))
        real, imag = array.real / part, array.imag / part  # near 1, where |x| can neither over- nor underflow
        size = np.where(part == 0, np.inf, np.hypot(real, imag))
        real, imag = (np.where(part == 0, 0.0, x / size) for x in (real, imag))
        result = np.empty(array.shape, np.complex128)
        result.real, result.imag = _times(real, slopes), _times(imag, slopes)
        return result


def _times(direction: Array, slopes: Array) -> Array:
    direction = np.where(np.isnan(direction), 1.0, direction)
    return np.where((direction == 0) & np.isinf(slopes), 0.0, direction * slopes)


def _restore_sparse(x: Any, axis: Any, signals: Signals, slopes: Array) -> Any:
    rows, _, axis = sparse_rows(x, axis)
    rows = rows.copy()
    data = np.zeros(rows.nnz)
    data[slice(None) if signals.kept is None else signals.kept] = slopes
    if signals.missing is not None:
        data[np.repeat(signals.missing, np.diff(rows.indptr))] = math.nan
    rows.data = _directed(rows.data, data)
    restored = rows.T if axis == 0 and x.ndim == 2 else rows.reshape(x.shape)
    return restored.asformat(x.format)
