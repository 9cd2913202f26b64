"""MATLAB files up to version 7, through SciPy; only plain arrays of numbers are taken."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from ..errors import InvalidInput
from .contents import Contents, choose, numbers, reading, refuse_bomb, shown

PLAIN = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
VERSION_7_3 = b"MATLAB 7.3"
HDF5 = b"\x89HDF"


def read_mat(path: Path, key: str | None, note: Callable[[str], None]) -> list[Contents]:
    """Every plain array of numbers, or the one called `key`; row and column vectors become signals."""
    import scipy.io

    _refuse_hdf5(path)
    with reading(path, "a MATLAB file"):
        names, largest = [], 0
        for name, shape, kind in scipy.io.whosmat(path, appendmat=False):
            if kind in PLAIN and math.prod(shape) > 0:
                names.append(name)
                largest += 8 * math.prod(shape)
            else:
                what = "empty" if kind in PLAIN else f"of class {kind}, not a plain array of numbers"
                note(f"{shown(path)}: left out {shown(name)!r}, which is {what}")
        chosen = [names[i] for i in choose(path, key, names, "array")]
        if not chosen:
            raise InvalidInput(
                f"{shown(path)} has no plain array of numbers; structs, cells, text and objects are not read"
            )
        refuse_bomb(path, largest)
        loaded = scipy.io.loadmat(path, appendmat=False, variable_names=chosen, squeeze_me=False)
        arrays = {name: loaded[name] for name in chosen}
    return [_contents(path, name, array) for name, array in arrays.items()]


def _refuse_hdf5(path: Path) -> None:
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith((VERSION_7_3, HDF5)):
        raise InvalidInput(
            f"{shown(path)} is a MATLAB 7.3 file, which is HDF5; save it in MATLAB with save(file, 'x', '-v7'), or "
            "turn it into an .npy file with h5py"
        )


def _contents(path: Path, name: str, array: object) -> Contents:
    import numpy as np

    if not isinstance(array, np.ndarray) or not numbers(array) or array.size == 0:
        raise InvalidInput(f"{shown(path)}: {shown(name)!r} is not a plain array of numbers")
    vector = array.ndim == 2 and 1 in array.shape  # MATLAB knows no one-dimensional arrays
    return Contents(axis=-1, values=array.ravel() if vector else array, name=shown(name))
