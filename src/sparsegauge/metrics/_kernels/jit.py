"""How every kernel is compiled: cached, without the GIL, with NumPy's division by zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered and fused, so that they vectorise; NaN, infinities and divisions keep their meaning.
REORDER = {"reassoc", "contract", "nsz"}


def _compile(function: Function, **options: Any) -> Function:
    options |= {"nogil": True, "error_model": "numpy"}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no writable place for a cache: work without one
        compiled = numba.njit(**options)(function)
    return compiled


def exact(function: Function) -> Function:
    """Compile a kernel whose operations are done as written (coordinates, exponents, differences)."""
    return _compile(function, fastmath=False)  # said aloud: a kernel called by a `summing` one would inherit its flags


def summing(function: Function) -> Function:
    """Compile a kernel whose sums may be reordered: for loops that only add terms up."""
    return _compile(function, fastmath=REORDER)
