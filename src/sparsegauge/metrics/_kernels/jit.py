"""How every kernel is compiled: cached, without the GIL, with NumPy's division by zero."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums and maxima may be reordered and fused, so that they vectorise (a maximum only where there is no NaN).
REORDER = {"reassoc", "contract", "nsz", "nnan"}


def _compile(function: Function, **options: Any) -> Any:
    # Inlined wherever they are called: else a process that has just compiled them runs other copies than one that loads
    # them from the cache, optimised once and not twice, and sums that may be reordered differ in their last digits.
    options |= {"nogil": True, "error_model": "numpy", "forceinline": True}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no writable place for a cache: work without one
        compiled = numba.njit(**options)(function)
    return _stamped(compiled)


def _newest_change() -> tuple[float, int]:
    package = Path(__file__).parents[2]  # kernels of other rooms call those of this one
    states = [path.stat() for path in package.glob("*/_kernels/*.py")]
    return max(state.st_mtime for state in states), sum(state.st_size for state in states)


STAMP = _newest_change()


def _stamped(compiled: Any) -> Any:
    """Make a cached kernel stale when any kernel's file changes: Numba looks only at the file of the kernel itself.

    Kernels are compiled into their callers, so a caller would go on with the old code of what it calls. Numba has no
    public way to say so; where its inside looks different, only that protection is lost.
    """
    cache_file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        cache_file._source_stamp = STAMP
    return compiled


def exact(function: Function) -> Function:
    """Compile a kernel whose operations are done as written (coordinates, exponents, differences)."""
    # said aloud, since a kernel that is called by a `summing` one would inherit its flags
    return cast(Function, _compile(function, fastmath=False))


def summing(function: Function) -> Function:
    """Compile a kernel whose sums may be reordered: for loops that only add terms up."""
    return cast(Function, _compile(function, fastmath=REORDER))
