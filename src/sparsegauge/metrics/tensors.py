"""Tensors in, tensors out: arrays of other libraries, measured on their own device by the portable formulas.

A tensor is not inspected, since that would wait for its device, and cannot be done while a function is traced: signals
with NaN or infinite coefficients give nan. The result has the tensor's own precision (float16 and bfloat16 are
measured in float32). One signal gives a tensor without dimensions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._arrays import library_of
from ..errors import InvalidInput
from .portable import FORMULAS, Coefficients
from .portable.orders import LARGEST_MOMENT_ORDER

HALVES = ("float16", "bfloat16")


def measure_tensor(
    name: str,
    x: Any,
    parameters: Mapping[str, Any],
    *,
    axis: Any = -1,
    keepdims: bool = False,
    nan_policy: str = "propagate",
    zero: float = math.nan,
) -> Any:
    """Return a metric of the signals along `axis`, as an array of the same library on the same device."""
    from array_api_compat import array_namespace

    if name not in FORMULAS:
        raise InvalidInput(
            f"{name} has no formula for {_describe(x)}; pass a NumPy array, or measure by one of {', '.join(FORMULAS)}"
        )
    _check_layout(x)
    xp = array_namespace(x)
    numbers = as_floats(xp, x)
    axes = signal_axes(axis, tuple(x.shape), _describe(x))
    _check_nan(xp, x, nan_policy)
    with np.errstate(all="ignore"):  # of libraries built on NumPy: infinite results are results
        row = Coefficients(xp, _signals_last(xp, numbers, axes))
        values = _measure(row, name, parameters)
    values = xp.where(row.defined, values, xp.where(row.finite, _full(xp, values, zero), _full(xp, values, math.nan)))
    if keepdims:
        values = xp.reshape(values, tuple(1 if k in axes else n for k, n in enumerate(x.shape)))
    return xp.astype(values, x.dtype) if _is_half(x.dtype) else values


def _full(xp: Any, like: Any, value: float) -> Any:
    return xp.full_like(like, value)


def _measure(row: Coefficients, name: str, parameters: Mapping[str, Any]) -> Any:
    if name == "gds" and _has_fast_gradient(row.c, parameters["order"]):
        from .autograd import exact_gds

        return exact_gds(row.c, parameters["order"])
    return FORMULAS[name](row, **parameters)


def _has_fast_gradient(c: Any, order: float) -> bool:
    """Return whether the compiled kernels measure a tensor faster than its own library does."""
    if library_of(c) != "torch" or math.isinf(order) or order in range(2, LARGEST_MOMENT_ORDER + 1, 2):
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


def signal_axes(axis: Any, shape: tuple[int, ...], kind: str) -> tuple[int, ...]:
    """Return the dimensions that hold the coefficients of a signal, each from 0 on; None is all of them."""
    if not shape:
        raise InvalidInput(f"x must be an array of at least one dimension, got a single number ({kind}); pass x[None]")
    from .._arrays import check_axis

    given = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(check_axis(k, len(shape), shape) or 0 for k in given)
    if len(set(axes)) < len(axes) or not axes:
        raise InvalidInput(
            f"axis must name each dimension once, and at least one, got {axis!r}; None takes all of them"
        )
    if math.prod(shape[k] for k in axes) == 0:
        raise InvalidInput(f"x has no coefficient to measure: shape {shape}, axis {axis}; pass at least one")
    return axes


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
    from .._arrays import check_choice
    from .._arrays.signals import NAN_POLICIES

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
        raise InvalidInput(f"x has {count} NaN values; nan_policy='propagate' gives nan for their signals")


def _describe(x: Any) -> str:
    kind = type(x)
    return f"{kind.__module__.partition('.')[0]} {kind.__name__}"
