"""Labelled arrays: xarray objects keep their labels and attributes, a DataFrame gives a Series."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import check_axis
from .._arrays.signal_rows import from_pandas
from ..errors import InvalidInput
from .containers import Reduction


def measure_labelled(call: Reduction, x: Any) -> Any:
    """Return a metric of an xarray or pandas object."""
    if type(x).__module__.partition(".")[0] == "pandas":
        return _measure_frame(call, x)
    if hasattr(x, "data_vars"):
        return _measure_dataset(call, x)
    if not hasattr(x, "shape"):
        raise InvalidInput(f"x must be a DataArray or a Dataset, got xarray's {type(x).__name__}; reduce it first")
    dims = _dimensions(call, tuple(x.dims), tuple(x.shape))

    def measure(data: Any, axis: Any = None) -> Any:
        return call.measure(data, axis=axis, keepdims=False)

    return x.reduce(measure, dim=dims, keepdims=call.keepdims, keep_attrs=True)


def _dimensions(call: Reduction, dims: tuple[Any, ...], shape: tuple[int, ...]) -> list[Any]:
    """Return the names of the dimensions that hold the coefficients of a signal."""
    if call.dim is None:
        axes = call.axis if isinstance(call.axis, tuple) else (call.axis,)
        return list(dims) if call.axis is None else [dims[check_axis(k, len(dims), shape) or 0] for k in axes]
    if not (type(call.axis) is int and call.axis == -1):
        raise InvalidInput(f"got both dim={call.dim!r} and axis={call.axis!r}; pass one of them")
    if call.dim is ...:
        return list(dims)
    wanted = list(call.dim) if isinstance(call.dim, list | tuple | set) and call.dim not in dims else [call.dim]
    for name in wanted:
        if name not in dims:
            raise InvalidInput(f"there is no dimension {name!r}; x has {', '.join(map(repr, dims))}")
    return wanted


def _measure_dataset(call: Reduction, x: Any) -> Any:
    """Return a Dataset of every variable that has the dimension; the others are left as they are."""
    if call.dim is None:
        raise InvalidInput(
            f"a Dataset has no last dimension; pass dim=, one or more of {', '.join(map(repr, x.sizes))}, or ... (all)"
        )
    wanted = _dimensions(call, tuple(x.sizes), tuple(x.sizes.values()))

    def measure(variable: Any) -> Any:
        dims = [name for name in wanted if name in variable.dims]
        return measure_labelled(call._replace(dim=dims), variable) if dims else variable

    return x.map(measure, keep_attrs=True)


def _measure_frame(call: Reduction, x: Any) -> Any:
    """Return a float for a Series, or a Series of one value per row or per column of a DataFrame."""
    if getattr(x, "ndim", 0) not in (1, 2) or not hasattr(x, "to_numpy"):
        raise InvalidInput(
            f"x must be a Series or a DataFrame, got pandas {type(x).__name__}; of groups use .agg(metric)"
        )
    values = call.measure(np.asarray(from_pandas(x)))
    if x.ndim == 1 or call.keepdims or getattr(values, "ndim", 0) != 1:
        return values
    axis = call.axis[0] if isinstance(call.axis, tuple) else call.axis
    labels = x.columns if check_axis(axis, 2, x.shape) == 0 else x.index
    return x._constructor_sliced(values, index=labels, name=call.name)
