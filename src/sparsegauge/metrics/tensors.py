"""Tensors in, tensors out: arrays of other libraries, measured on their own device by the portable formulas.

A tensor is not inspected, since that would wait for its device, and cannot be done while a function is traced: signals
with NaN or infinite coefficients give nan. The result has the tensor's own precision (float16 and bfloat16 are
measured in float32). One signal gives a tensor without dimensions.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from .._arrays import check_axes, check_choice, library_of
from .._arrays.reductions import CENTERS
from .._arrays.signal_rows import NAN_POLICIES
from ..errors import InvalidInput
from .containers import Reduction
from .portable import FORMULAS, Coefficients
from .portable.orders import is_made_of_moments

HALVES = ("float16", "bfloat16")


def measure_tensor(call: Reduction, x: Any) -> Any:
    """Return a metric of the signals along some axes, as an array of the same library on the same device."""
    from array_api_compat import array_namespace

    arguments = _portable_arguments(call, x)
    _check_layout(x)
    xp = array_namespace(x)
    numbers = as_floats(xp, x)
    axes = _check_shape(call, x)
    _check_nan(xp, x, call.options.get("nan_policy", "propagate"))
    with np.errstate(all="ignore"):  # of libraries built on NumPy: infinite results are results
        row = Coefficients(xp, _centred(xp, _signals_last(xp, numbers, axes), call))
        values = _measure(row, call.name, arguments)
        undefined = xp.where(
            row.finite, xp.full_like(values, call.options.get("zero", math.nan)), xp.full_like(values, math.nan)
        )
        values = xp.where(row.defined, values, undefined)
    if call.keepdims:
        values = xp.reshape(values, tuple(1 if k in axes else n for k, n in enumerate(x.shape)))
    return xp.astype(values, x.dtype) if _is_half(x.dtype) else values


def _portable_arguments(call: Reduction, x: Any) -> dict[str, Any]:
    """Return the parameters of the portable formula."""
    if call.name not in FORMULAS:
        raise InvalidInput(
            f"{call.name} has no formula for {_describe(x)}; pass a NumPy array, or measure by one of "
            f"{', '.join(FORMULAS)}"
        )
    if call.options.get("weights") is not None:
        raise InvalidInput(f"weights are for NumPy arrays, got {_describe(x)}; pass a NumPy array, or leave them out")
    arguments = dict(call.arguments)
    method = arguments.pop("method", "auto")
    if method != "auto":
        raise InvalidInput(f"method={method!r} is for NumPy arrays, got {_describe(x)}; use method='auto'")
    return arguments


def _measure(row: Coefficients, name: str, parameters: dict[str, Any]) -> Any:
    if name == "gds" and _has_fast_gradient(row.c, parameters["order"]):
        from .autograd import exact_gds

        return exact_gds(row.c, parameters["order"])
    return FORMULAS[name](row, **parameters)


def _has_fast_gradient(c: Any, order: float) -> bool:
    """Return whether the compiled kernels measure a tensor faster than its own library does."""
    if library_of(c) != "torch" or is_made_of_moments(order):
        return False
    torch = sys.modules["torch"]
    return c.device.type == "cpu" and not torch.compiler.is_compiling()


def as_floats(xp: Any, x: Any) -> Any:
    """Return real or complex floating-point numbers of at least single precision."""
    if _is_half(x.dtype):
        return xp.astype(x, xp.float32)
    if xp.isdtype(x.dtype, ("real floating", "complex floating")):
        return x
    if xp.isdtype(x.dtype, ("bool", "integral")):
        return xp.astype(x, xp.__array_namespace_info__().default_dtypes()["real floating"])
    raise InvalidInput(
        f"x must hold real or complex numbers, got {_describe(x)} of dtype {x.dtype}; convert it to float32"
    )


def _is_half(dtype: Any) -> bool:
    return str(dtype).rpartition(".")[2] in HALVES


def _check_shape(call: Reduction, x: Any) -> tuple[int, ...]:
    """Return the axes of a signal, of which there must be one, with at least one coefficient."""
    shape = tuple(x.shape)
    if not shape:
        raise InvalidInput(f"x must be an array of at least one dimension, got a single {_describe(x)}; pass x[None]")
    axes = check_axes(call.axis, len(shape), shape)
    if math.prod(shape[k] for k in axes) == 0:
        raise InvalidInput(f"x has no coefficient to measure: shape {shape}, axis {call.axis}; pass at least one")
    return axes


def _centred(xp: Any, rows: Any, call: Reduction) -> Any:
    """Return rows less their mean or median, if that is asked for."""
    center = call.options.get("center")
    if center is None:
        return rows
    if check_choice("center", center, CENTERS) == "mean":
        return rows - xp.mean(rows, axis=-1, keepdims=True)
    if library_of(rows) == "dask" or xp.isdtype(rows.dtype, "complex floating"):
        raise InvalidInput(f"center='median' sorts signals of real numbers, got {_describe(rows)}; use center='mean'")
    n = rows.shape[-1]
    ordered = xp.sort(rows, axis=-1)[..., (n - 1) // 2 : n // 2 + 1]
    return rows - xp.mean(ordered, axis=-1, keepdims=True)


def _signals_last(xp: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return x with all coefficients of a signal along one last dimension."""
    others = tuple(k for k in range(x.ndim) if k not in axes)
    if (*others, *axes) != tuple(range(x.ndim)):
        x = xp.permute_dims(x, (*others, *sorted(axes)))
    if len(axes) == 1:
        return x
    return xp.reshape(x, (*x.shape[: len(others)], math.prod(x.shape[len(others) :])))


def _check_layout(x: Any) -> None:
    layout = str(getattr(x, "layout", "strided"))
    if library_of(x) == "torch" and not layout.endswith("strided"):
        raise InvalidInput(f"x is a torch tensor of layout {layout}, only dense ones are measured; pass x.to_dense()")


def _check_nan(xp: Any, x: Any, nan_policy: str) -> None:
    if check_choice("nan_policy", nan_policy, NAN_POLICIES) == "propagate":
        return
    if nan_policy == "omit":
        raise InvalidInput(
            f"nan_policy='omit' makes signals of different lengths, which {_describe(x)} cannot be; pass a NumPy array"
        )
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(x, jax.core.Tracer):
        raise InvalidInput("nan_policy='raise' needs values, and JAX traces x without any; use nan_policy='propagate'")
    if bool(xp.any(xp.isnan(x))):
        count = int(xp.sum(xp.astype(xp.isnan(x), xp.int64)))
        values, their = ("value", "its signal") if count == 1 else ("values", "their signals")
        raise InvalidInput(f"x has {count:,} NaN {values}; nan_policy='propagate' gives nan for {their}")


def _describe(x: Any) -> str:
    kind = type(x)
    return f"{kind.__module__.partition('.')[0]} {kind.__name__}"
