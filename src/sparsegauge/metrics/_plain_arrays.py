"""The quickest way to even orders: plain NumPy arrays go to the kernels of moments without the gate for arguments.

Whatever is not plain, or needs more care, is handed back to the caller, who takes the way with all checks.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np

from .._arrays import Array
from .._arrays.signal_rows import CONVERTED
from .._compiled import measure as kernels
from .._compiled.even import HAND_OVER, LARGEST_EVEN_ORDER, MOMENT_BLOCK, MOMENT_CHUNK, MOMENT_ROOM
from .._platform import threads
from ._dispatch import COEFFICIENTS_PER_TASK, LONG_ROW, even_binomials, long_by_moments

LARGEST_STRIDE = 64  # bytes from one number of a row to the next: rows with larger gaps are copied


def measure_plainly(x: Any, p: float) -> float:
    """Return S_p of one row at an even order without any detour, or HAND_OVER or nan for whatever else came.

    A short row has to be of float64 numbers; a long one is converted chunk by chunk, never as a whole.
    """
    if type(x) is not np.ndarray or x.ndim != 1 or p % 2 or p > LARGEST_EVEN_ORDER:
        return HAND_OVER
    if x.dtype == np.float64 and x.flags.c_contiguous and x.flags.aligned:
        if not 0 < x.size <= COEFFICIENTS_PER_TASK:
            return HAND_OVER
        return float(kernels.even_single(x, even_binomials(int(p)), np.empty((MOMENT_ROOM + 1, MOMENT_BLOCK))))
    if x.size < LONG_ROW or x.dtype.kind not in "biufc":
        return HAND_OVER
    chunk = functools.partial(_converted, x)
    return long_by_moments(chunk, x.size, x.size, even_binomials(int(p)), HAND_OVER)


def _converted(x: Any, first: int, last: int) -> Array:
    """Return some values of a row of another type, or with gaps in memory, as float64 numbers side by side."""
    out = _room_to_convert(MOMENT_CHUNK)[: last - first]
    _convert(x[first:last], out)
    return out


_rooms = threading.local()


def _room_to_convert(size: int) -> Array:
    """Return room of at least this size, the same for each call of a thread: new memory costs more than its use."""
    room: Array | None = getattr(_rooms, "converted", None)
    if room is None or len(room) < size:
        room = _rooms.converted = np.empty(size)
    return room


def measure_table_plainly(x: Any, p: float) -> Array | None:
    """Return S_p of the rows of a large table at an even order, or None for whatever else came.

    A table of other numbers than float64, or with gaps in memory, is converted block by block. The kernel itself
    notices rows that need more care: then all of them take the way with all checks.
    """
    if type(x) is not np.ndarray or x.ndim != 2 or x.dtype.kind not in "biufc" or x.size <= 2 * CONVERTED:
        return None
    rows, n = x.shape
    if p % 2 or p > LARGEST_EVEN_ORDER or n >= LONG_ROW:
        return None
    step = max(1, CONVERTED // n)
    starts, lengths, out = np.arange(0, (step + 1) * n, n), np.full(step, n), np.empty(rows)
    converted = x.dtype != np.float64 or not x.flags.carray

    direct = {np.dtype(np.float64): kernels.even_spread_rows, np.dtype(np.float32): kernels.even_float_rows}
    kernel: Any = direct.get(x.dtype) if converted and x.flags.aligned and abs(x.strides[1]) <= LARGEST_STRIDE else None

    def measure_block(span: tuple[int, int]) -> None:
        first, last = span
        if kernel is not None:  # which converts row by row
            row, room, moments = np.empty(n), np.empty((MOMENT_ROOM, MOMENT_BLOCK)), np.empty(int(p) + 2)
            kernel(x, even_binomials(int(p)), row, room, moments, first, last, out)
            return
        values = x[first:last]
        if converted:
            values = _room_to_convert(max(CONVERTED, n))[: (last - first) * n].reshape(last - first, n)
            _convert(x[first:last], values)
        both = np.empty((MOMENT_ROOM, MOMENT_BLOCK)), np.empty(int(p) + 2)
        arguments = values.reshape(-1), starts, lengths, even_binomials(int(p)), HAND_OVER
        kernels.even_rows(*arguments, *both, 0, last - first, out[first:last])

    threads.run(measure_block, threads.spans(rows, step))
    return out if bool((out >= 0.0).all()) else None


def _convert(values: Any, out: Array) -> None:
    """Write values, or the magnitudes of complex ones, as float64 numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype == np.complex128:
            np.abs(values, out=out)
        elif values.dtype.kind == "c":
            np.abs(values.astype(np.complex128), out=out)
        else:
            np.copyto(out, values)
