"""Labelled arrays: xarray objects keep their labels and attributes, a DataFrame gives a Series."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays import check_axis, library_of
from .._arrays.reductions import check_axes
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
    if not x.dims:
        raise InvalidInput(f"x must be an array of at least one dimension, got the single value {x.item()!r}")
    dims = _dimensions(call, tuple(x.dims), tuple(x.shape))
    call = _with_weights(call, _weights_by_dimension(call.options.get("weights"), x))

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
    call = _with_weights(call, _weights_by_label(call.options.get("weights"), x, call.axis))
    values = call.measure(np.asarray(from_pandas(x)))
    if x.ndim == 1 or call.keepdims or getattr(values, "ndim", 0) != 1:
        return values
    axis = call.axis[0] if isinstance(call.axis, tuple) else call.axis
    labels = x.columns if check_axis(axis, 2, x.shape) == 0 else x.index
    return x._constructor_sliced(values, index=labels, name=call.name)


def label_like(x: Any, values: Any) -> Any:
    """Return values in the shape of x with the labels of x, if x is an xarray or pandas object."""
    library = library_of(x)
    if library == "xarray":
        return x.copy(data=values)
    if library == "pandas" and x.ndim == 2:
        return x._constructor(values, index=x.index, columns=x.columns)
    if library == "pandas":
        return x._constructor(values, index=x.index, name=x.name)
    return values


def _with_weights(call: Reduction, weights: Any) -> Reduction:
    return call if weights is None else call._replace(options={**call.options, "weights": weights})


def _weights_by_dimension(weights: Any, x: Any) -> Any:
    """Return the weights of a DataArray in the shape of x: dimensions go by their names, not their order."""
    if not hasattr(weights, "dims"):
        return weights
    strangers = [name for name in weights.dims if name not in x.dims]
    if strangers:
        raise InvalidInput(
            f"weights have the dimension {strangers[0]!r}, which x has not; x has {', '.join(map(repr, x.dims))}"
        )
    for name in weights.dims:
        labelled = name in weights.coords and name in x.coords
        if labelled and not weights.indexes[name].equals(x.indexes[name]):
            if not _has_each_once(weights.indexes[name], x.indexes[name]):
                raise InvalidInput(
                    f"weights and x have other labels along {name!r}; align them first, as by weights.reindex_like(x), "
                    "or pass weights.to_numpy() to take them in their order"
                )
            weights = weights.reindex({name: x.indexes[name]})
        elif weights.sizes[name] != x.sizes[name]:
            raise InvalidInput(
                f"weights have {weights.sizes[name]} entries along {name!r}, and x has {x.sizes[name]}; pass as many"
            )
    return weights.broadcast_like(x).transpose(*x.dims).to_numpy()


def _has_each_once(labels: Any, wanted: Any) -> bool:
    """Tell whether an index has each of the labels of another one once."""
    return bool(labels.nlevels == wanted.nlevels and labels.is_unique and (labels.get_indexer(wanted) >= 0).all())


def _weights_by_label(weights: Any, x: Any, axis: Any) -> Any:
    """Return the weights of a Series or DataFrame in the order of x: they are matched by their labels."""
    if type(weights).__module__.partition(".")[0] != "pandas" or not hasattr(weights, "reindex"):
        return weights
    along = [x.index, *([x.columns] if x.ndim == 2 else [])]
    if weights.ndim < x.ndim:
        axes = check_axes(axis, x.ndim, x.shape)
        along = [along[axes[0]]] if len(axes) == 1 else along
    own = [weights.index, *([weights.columns] if weights.ndim == 2 else [])]
    if len(own) != len(along):
        return weights.to_numpy()
    for k, (theirs, wanted) in enumerate(zip(own, along, strict=True)):
        if theirs.equals(wanted):
            continue
        if not _has_each_once(theirs, wanted):
            raise InvalidInput(
                "weights and x have other labels; align them first, as by weights.reindex(x.index), or pass "
                "weights.to_numpy() to take them in their order"
            )
        weights = weights.reindex(wanted, axis=k)
    return from_pandas(weights)
