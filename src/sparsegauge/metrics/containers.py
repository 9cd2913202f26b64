"""Who measures arrays that are not NumPy's: chosen by type, never by trial.

| what comes | what measures it | what comes back |
|---|---|---|
| tensors of torch, JAX arrays, other arrays of the standard | `tensors` | the same kind, on the same device |
| dask arrays | `chunks` | a lazy dask array |
| xarray objects | `labels` | the same kind, with labels and attributes |
| pandas DataFrames | `labels` | a Series by row or column |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .._arrays import library_of
from ..errors import InvalidInput


class Reduction(NamedTuple):
    """One call of a metric: its name, its function, its checked arguments, and the options that all metrics share."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any]
    options: Mapping[str, Any]
    dim: Any = None

    @property
    def axis(self) -> Any:
        """The dimensions that hold the coefficients of a signal."""
        return self.options.get("axis", -1)

    @property
    def keepdims(self) -> bool:
        """Return whether these dimensions stay, with size 1."""
        return bool(self.options.get("keepdims", False))

    def measure(self, x: Any, **changes: Any) -> Any:
        """Return the metric of another array, with some options changed."""
        return self.function(x, **{**self.arguments, **self.options, **changes})


def measure_elsewhere(call: Reduction, x: Any) -> Any:
    """Return a metric of an array that is not one of NumPy."""
    library = library_of(x)
    if call.dim is not None and library != "xarray":
        raise InvalidInput(
            f"dim names dimensions of an xarray object, got dim={call.dim!r} for {type(x).__name__}; use axis="
        )
    if not isinstance(call.options.get("keepdims", False), bool | np.bool_):
        raise InvalidInput(f"keepdims must be True or False, got {call.options['keepdims']!r}")
    if library in ("xarray", "pandas"):
        from .labels import measure_labelled

        return measure_labelled(call, x)
    if library == "dask":
        from .chunks import measure_chunks

        return measure_chunks(call, x)
    from .tensors import measure_tensor

    return measure_tensor(call, x)
