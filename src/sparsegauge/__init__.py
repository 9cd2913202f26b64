"""Measure how sparse a signal is, at any order, exactly; and use it to recover sparse signals."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> the module that holds it. Loaded on first use: `import sparsegauge` loads neither Numba nor matplotlib.
_WHERE = {
    "InvalidInput": "errors",
    "MissingExtra": "errors",
    "SparsegaugeError": "errors",
    "StaleStudy": "errors",
    "demo": "signals",
    "gds": "metrics.gds",
    "gds_gradient": "metrics.gds",
    "gds_profile": "metrics.gds",
}

__all__ = [
    "InvalidInput",
    "MissingExtra",
    "SparsegaugeError",
    "StaleStudy",
    "__version__",
    "demo",
    "gds",
    "gds_gradient",
    "gds_profile",
]

if TYPE_CHECKING:
    from .errors import InvalidInput, MissingExtra, SparsegaugeError, StaleStudy
    from .metrics.gds import gds, gds_gradient, gds_profile
    from .signals import demo


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'sparsegauge' has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_WHERE[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
