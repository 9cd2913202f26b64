"""`sparsegauge --version --verbose`: what a bug report should contain."""

from __future__ import annotations

import importlib
import platform


def environment() -> dict[str, str]:
    """Return the versions of what computes the results, the compiled variant in use and the number of threads."""
    from .. import _compiled
    from .._platform.threads import thread_count

    modules = {name: str(importlib.import_module(name).__version__) for name in ("numpy", "scipy")}
    return {
        "python": f"{platform.python_version()} ({platform.system()}, {platform.machine()})",
        **modules,
        "variant": f"{_compiled.variant} (possible: {', '.join(_compiled.available_variants())})",
        "threads": str(thread_count()),
    }
