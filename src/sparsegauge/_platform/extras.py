"""Optional dependencies: import one, or raise the error that names the pip command."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable
from typing import Any

from ..errors import MissingExtra


def import_extra(module: str, purpose: str, *, extra: str = "study") -> Any:
    """Import an optional module.

    Parameters
    ----------
    module : str
        Such as "pandas" or "pyarrow.parquet".
    purpose : str
        What needs it, as the subject of a sentence: "a study", "reading Parquet".
    extra : str
        The extra of sparsegauge that installs it.

    Raises
    ------
    MissingExtra
        If the module is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise _missing(module, purpose, extra) from error


def check_extras(modules: Iterable[str], purpose: str, *, extra: str) -> None:
    """Raise `MissingExtra` unless all the modules are installed; imports none of them."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise _missing(module, purpose, extra)


def _missing(module: str, purpose: str, extra: str) -> MissingExtra:
    return MissingExtra(f"{purpose} needs {module}; pip install 'sparsegauge[{extra}]'")
