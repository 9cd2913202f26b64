"""What a study takes from outside the package: functions and classes by import path, and data files.

An import path is "package.module:name". A store notes what stands behind each: the version of the package if it has
one, else the SHA-256 of the file that defines the name; of a data file, its SHA-256.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import sys
from pathlib import Path
from typing import Any

from .._arrays import Array
from ..errors import InvalidInput


def is_import_path(name: Any) -> bool:
    """Return whether a word has the form "package.module:name"."""
    module, _, attribute = name.partition(":") if isinstance(name, str) else ("", "", "")
    parts = [*module.split("."), *attribute.split(".")]
    return bool(module and attribute) and all(part.isidentifier() for part in parts)


def import_path_of(thing: Any) -> str | None:
    """Return the import path of a function or class; None if it cannot be imported by one."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    if module in (None, "__main__") or "<" in name:
        return None
    found: Any = sys.modules.get(str(module))
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is thing else None


def import_by_path(key: str, path: str) -> Any:
    """Import what a path names.

    Parameters
    ----------
    key : str
        The key of the study that names it, for messages.
    path : str
        Such as "mypackage.solvers:Mine". Modules beside the study's file, or in the current directory, are found too.
    """
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise InvalidInput(
            f"{key}: {module} cannot be imported ({error}); install it, or put it beside the study's file"
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InvalidInput(f"{key}: {module} has no {name}; check the name after the colon of {path!r}")
        found = getattr(found, part)
    return found


def describe_import(path: str) -> dict[str, str]:
    """Return what a store notes about an import path: the version of its package, or the hash of its file."""
    module = path.partition(":")[0]
    package = importlib.import_module(module.partition(".")[0])
    version = getattr(package, "__version__", None)
    if version is not None:
        return {"version": str(version)}
    file = inspect.getsourcefile(importlib.import_module(module))
    if file is None:
        raise InvalidInput(f"{path}: neither a version nor a source file says which code it is; set __version__")
    return {"sha256": file_hash(Path(file))}


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_data_file(name: str) -> bool:
    """Return whether a distribution is a data file: a path, and optionally a transform after a space."""
    from ..io import has_known_ending

    return has_known_ending(split_data_file(name)[0].name)


def split_data_file(name: str) -> tuple[Path, str]:
    """Return the path and the transform of a data file such as "recordings/heart.npy db4"."""
    from ..io import has_known_ending

    path, _, transform = name.rpartition(" ")
    if has_known_ending(path):
        return Path(path), transform
    return Path(name), "none"


@functools.lru_cache(maxsize=16)
def load_data(path: Path) -> Array:
    """Return the numbers of a data file as (pieces, samples), or (pieces, rows, columns) of pictures.

    A one-dimensional array is one piece; of a table each column is one, of a two-dimensional array each row, of a
    picture all of it.
    """
    import numpy as np

    from ..io import opened

    if not path.is_file():
        raise InvalidInput(
            f"distributions: {path} is not there; give the path from the study's file, or an absolute one"
        )
    pieces = []
    with opened(str(path)) as file:
        for contents in file.contents:
            values = np.asarray(contents.array(), np.float64)
            is_picture = contents.axis is None and values.ndim >= 2
            values = np.moveaxis(values, contents.axis, -1) if contents.axis is not None and values.ndim > 1 else values
            pieces += [values] if is_picture else list(values.reshape(-1, values.shape[-1]))
    if not pieces or len({piece.shape for piece in pieces}) != 1 or pieces[0].ndim > 2:
        raise InvalidInput(f"distributions: {path} must hold signals of one length, or one grey picture")
    data: Array = np.stack(pieces)
    if not np.isfinite(data).all():
        raise InvalidInput(f"distributions: {path} holds nan or infinite numbers; leave them out first")
    return data
