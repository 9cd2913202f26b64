"""MATLAB files: up to version 7 by `matlab_variables`; version 7.3 is HDF5.

SciPy's reader is not used: it trusts the file, so that a wrong byte can end the process, and holds arrays almost twice.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, reading, refuse_expansion
from .hdf5 import read_hdf5
from .matlab_variables import HEADER_BYTES, Variable, variables

VERSION_7_3, HDF5 = b"MATLAB 7.3", b"\x89HDF"
MARK_7_3 = (b"\x00\x02IM", b"\x02\x00MI")  # at the end of the first 128 bytes


def read_mat(request: FileRequest) -> list[Contents]:
    """Return every plain array of numbers, or the one that is asked for; row and column vectors become signals."""
    path = request.path
    if _is_hdf5(path):
        return read_hdf5(request)
    with reading(path, "a MATLAB file"), path.open("rb") as file:
        found = _plain(request, file)
        chosen = [found[i] for i in choose(request, [variable.name for variable in found], "array")]
        if not chosen:
            raise InvalidInput(
                f"{request.name} has no plain array of numbers; structs, cells, text and objects are not read"
            )
        refuse_expansion(request, sum(variable.bytes for variable in chosen))
        return [_contents(variable) for variable in chosen]


def _plain(request: FileRequest, file: BinaryIO) -> list[Variable]:
    """Return the variables that are arrays of numbers; of two that have the same name the later one."""
    found: dict[str, Variable] = {}
    for variable in variables(file):
        if variable.is_plain and variable.size:
            found[variable.name] = variable
        else:
            what = "empty" if variable.is_plain else f"of class {variable.kind}, not a plain array of numbers"
            request.note(f"{request.name}: left out {printable(variable.name)!r}, which is {what}")
    return list(found.values())


def _contents(variable: Variable) -> Contents:
    array = variable.read()  # at least two-dimensional: MATLAB has no one-dimensional arrays
    is_vector = array.ndim == 2 and 1 in array.shape
    return Contents(axis=-1, values=array.ravel() if is_vector else array, name=printable(variable.name))


def _is_hdf5(path: Path) -> bool:
    """Return whether a file is HDF5, as MATLAB 7.3 writes it."""
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
    return head.startswith((VERSION_7_3, HDF5)) or head.endswith(MARK_7_3)
