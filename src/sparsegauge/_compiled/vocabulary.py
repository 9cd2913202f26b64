"""The words that kernels are written with: types of arguments, and marks for the translator.

Uncompiled they mean nothing but themselves. `tools/kernels_to_cython.py` gives them their C types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Values: TypeAlias = "NDArray[np.float64]"  # numbers that are only read, so that read-only arrays will do
Table: TypeAlias = "NDArray[np.float64]"  # rows that are only read, perhaps with gaps between their numbers
FloatTable: TypeAlias = "NDArray[np.float32]"  # the same in single precision
Floats: TypeAlias = "NDArray[np.float32]"  # numbers of single precision that are only read
Array: TypeAlias = "NDArray[np.float64]"
Matrix: TypeAlias = "NDArray[np.float64]"
Cube: TypeAlias = "NDArray[np.float64]"
Indices: TypeAlias = "NDArray[np.int64]"
IndexTable: TypeAlias = "NDArray[np.int64]"
Word: TypeAlias = Any  # 64 bits, wrapping around
Words: TypeAlias = "NDArray[np.uint64]"
Lanes: TypeAlias = list[float]  # eight partial sums side by side, which a processor adds to at once

Function = TypeVar("Function", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def kernel(function: Function) -> Function:
    """Mark a function for other kernels to call."""
    return function


def inlined(function: Function) -> Function:
    """Mark a small kernel that is to be written out where it is called, so that loops over it vectorise."""
    return function


def entry(function: Function) -> Function:
    """Mark a kernel that Python calls too; it runs without the GIL."""
    return function


def record(class_: Class) -> Class:
    """Mark a class that bundles arrays and numbers; only its `__init__` runs in Python."""
    return class_
