"""Dask arrays in, lazy dask arrays out.

Where each signal lies in one chunk, the exact kernels measure chunk by chunk. Where a signal is spread over several,
its chunks are merged: metrics that are made of sums need no more than the sums of each chunk.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import check_axes
from ..errors import InvalidInput
from .containers import Reduction
from .portable.formulas import SORTED
from .portable.orders import is_made_of_moments


def measure_chunks(call: Reduction, x: Any) -> Any:
    """Return a metric of a dask array, lazily."""
    if any(math.isnan(n) for n in x.shape):
        raise InvalidInput(f"x has chunks of unknown size, shape {x.shape}; call x.compute_chunk_sizes() first")
    axes = check_axes(call.axis, x.ndim, x.shape)
    split = [k for k in axes if x.numblocks[k] > 1]
    weights = call.options.get("weights")
    if weights is not None and np.ndim(weights) > 1:
        raise InvalidInput("weights of a dask array are one number per coefficient of a signal; pass one row of them")
    if not split:
        return _by_blocks(call, x, axes)
    if not _is_made_of_sums(call):
        order = f" of order {call.arguments['order']:g}" if call.name == "gds" else ""
        raise InvalidInput(
            f"{call.name}{order} sorts each signal, which must lie in one chunk, and axis {split[0]} has "
            f"{x.numblocks[split[0]]}; use x.rechunk({{{', '.join(f'{k}: -1' for k in split)}}})"
        )
    from .tensors import measure_tensor

    return measure_tensor(call, x)


def _is_made_of_sums(call: Reduction) -> bool:
    if call.name == "gds":
        return is_made_of_moments(call.arguments["order"])
    return call.name not in SORTED


def _by_blocks(call: Reduction, x: Any, axes: tuple[int, ...]) -> Any:
    def measure(block: Any) -> Any:
        values = call.measure(block, axis=axes)
        return np.asarray(values) if isinstance(values, float) else values

    if call.keepdims:
        chunks = tuple((1,) if k in axes else sizes for k, sizes in enumerate(x.chunks))
        return x.map_blocks(measure, chunks=chunks, dtype=np.float64, meta=np.empty((0,) * x.ndim))
    left = x.ndim - len(axes)
    return x.map_blocks(measure, drop_axis=list(axes), dtype=np.float64, meta=np.empty((0,) * left))
