"""Which library an array belongs to, by its type alone: nothing is converted, imported or tried."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

Library: TypeAlias = Literal["torch", "jax", "array_api", "dask", "xarray", "pandas"]

# by the first part of the name of the module that defines a type or one of its bases
ROOTS: dict[str, Library] = {"torch": "torch", "jax": "jax", "jaxlib": "jax", "xarray": "xarray", "pandas": "pandas"}
CONVERTED_BY_NUMPY = {"numpy", "scipy", "sparse", "dask"}  # although some of their arrays have a namespace

_known: dict[type, Library | None] = {}


def library_of(x: Any) -> Library | None:
    """Return the library that measures an array where it is; None for all that NumPy converts."""
    kind = type(x)
    try:
        return _known[kind]
    except KeyError:
        return _known.setdefault(kind, _find_library(kind))


def _find_library(kind: type) -> Library | None:
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "pandas" and not hasattr(kind, "groupby") and not kind.__name__.endswith("GroupBy"):
            return None  # such as an Index or a single NA
        if root in ROOTS:
            return ROOTS[root]
        if base.__module__.startswith("dask.array"):
            return "dask"
        if root in CONVERTED_BY_NUMPY:
            return None
    return "array_api" if hasattr(kind, "__array_namespace__") else None


def advise_on_conversion(x: Any, name: str, otherwise: str) -> str:
    """Return what to do where NumPy could not convert an argument."""
    if getattr(x, "requires_grad", False) is True:
        return f"pass {name}.detach(), as the result carries no gradient"
    if getattr(x, "is_cuda", False) is True:
        return f"pass {name}.cpu()"
    return otherwise
