"""All compiled code: one copy for each kind of processor, of which one is chosen when the first is needed.

`measure` and `recover` are the two compiled modules. The kernels in this folder are plain Python; `meson.build` says
which of them make up which module. SPARSEGAUGE_VARIANT chooses by hand: "base" (every processor of a family), "v3" and
"v4" (x86-64 with AVX2 and AVX-512) or "python" (the kernels uncompiled: slow, for debugging and for measuring coverage).
All of them give the same results, to the last bit.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput, MissingKernels

if TYPE_CHECKING:
    measure: Any
    recover: Any
    variant: str

UNITS = ("measure", "recover")
LEVELS = {"v4": 4, "v3": 3, "base": 1}  # variants, best first, and the level of the processor that they need
PYTHON = "python"
ENVIRONMENT = "SPARSEGAUGE_VARIANT"


def available_variants() -> list[str]:
    """Return the variants that were built and that this processor can run, best first."""
    built = [name for name in LEVELS if find_spec(f"{__name__}.measure_{name}") is not None]
    level = import_module(f"{__name__}.processor_base").level() if built else 0
    return [*(name for name in built if LEVELS[name] <= level), PYTHON]


def _choose() -> str:
    forced = os.environ.get(ENVIRONMENT)
    if forced == PYTHON:
        return forced
    possible = available_variants()
    if forced and forced not in possible:
        raise InvalidInput(f"{ENVIRONMENT} must be one of {', '.join(possible)} on this machine, got {forced!r}")
    if possible == [PYTHON]:
        raise MissingKernels(
            "sparsegauge was not compiled: install it with pip, which needs a C compiler if there is no wheel for this "
            "machine, or set SPARSEGAUGE_VARIANT=python to run without compiled code, which is very slow"
        )
    return forced or possible[0]


def _uncompiled() -> Any:
    """Return all kernels as Python functions."""
    from pathlib import Path
    from types import SimpleNamespace

    names = (path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    merged: dict[str, Any] = {}
    for name in sorted(names):
        merged |= vars(import_module(f"{__name__}.{name}"))
    return SimpleNamespace(**merged)


def __getattr__(name: str) -> Any:
    if name == "variant":
        value: Any = _choose()
    elif name in UNITS:
        chosen = __getattr__("variant") if "variant" not in globals() else globals()["variant"]
        value = _uncompiled() if chosen == PYTHON else import_module(f"{__name__}.{name}_{chosen}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
