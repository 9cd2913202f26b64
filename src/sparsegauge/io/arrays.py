"""NumPy's own files: .npy is mapped, not loaded; .npz is checked before it is unpacked."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, numbers, reading, refuse_expansion

LONGEST_HEADER = 1 << 16  # in bytes; those that NumPy writes for plain arrays have about a hundred
SPARSE_MEMBERS = {"data.npy", "format.npy", "shape.npy"}  # what scipy.sparse.save_npz writes


def read_npy(request: FileRequest) -> list[Contents]:
    """Return the array, mapped into memory: its size does not matter."""
    path = request.path
    if request.key is not None:
        raise InvalidInput(
            f"{request.name} has one array and no names; leave out --key {printable(', '.join(request.keys))}"
        )
    with reading(path, "a NumPy array"):
        with path.open("rb") as file:
            shape, dtype = _header(file)
        _check(path, shape, dtype)
        array = npy.open_memmap(path, mode="r")
    return [Contents(axis=-1, values=array)]


def read_npz(request: FileRequest) -> list[Contents]:
    """Return every array of numbers in the archive, or the one that is asked for."""
    path = request.path
    with reading(path, "an .npz archive"), zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        if {info.filename for info in members} >= SPARSE_MEMBERS:
            raise InvalidInput(
                f"{printable(path)} holds a SciPy sparse array; measure it in Python, with scipy.sparse.load_npz"
            )
        found = {}
        for info in members:
            name = info.filename.removesuffix(".npy")
            reason = _why_not(archive, info, request.singles)
            if reason is None:
                found[name] = info
            else:
                request.note(f"{printable(path)}: left out {printable(name)!r}, which is {reason}")
        names = list(found)
        chosen = [names[i] for i in choose(request, names, "array")]
        if not chosen:
            raise InvalidInput(f"{printable(path)} has no array of numbers")
        refuse_expansion(request, sum(found[name].file_size for name in chosen))
        return [Contents(axis=-1, values=_member(archive, found[name]), name=printable(name)) for name in chosen]


def _why_not(archive: zipfile.ZipFile, info: zipfile.ZipInfo, singles: bool) -> str | None:
    """Return why a member is not an array to measure; None if it is one."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "packed in a way that NumPy does not use"
    with archive.open(info) as file:
        shape, dtype = _header(file)
    if dtype.kind not in "biufc":
        return f"of dtype {dtype}"
    if 0 in shape or not (shape or singles):
        return f"of shape {shape}"
    if math.prod(shape) * dtype.itemsize > info.file_size:
        raise ValueError(f"{info.filename} promises shape {shape} of {dtype}, and has {info.file_size:,} bytes")
    return None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    with archive.open(info) as file:
        array = npy.read_array(file, allow_pickle=False)
    assert numbers(array)
    return np.atleast_1d(array)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy.read_magic(file)
    if version != (1, 0):
        _refuse_long_header(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if any(length < 0 for length in shape):
        raise ValueError(f"shape {shape} is negative")
    return shape, dtype


def _refuse_long_header(file: IO[bytes]) -> None:
    """Refuse a long header ahead of NumPy, which reads, and unpacks, all of a header before it looks at its length."""
    size = file.read(4)
    file.seek(-len(size), os.SEEK_CUR)
    length = int.from_bytes(size, "little")
    if length > LONGEST_HEADER:
        raise ValueError(f"it has a header of {length:,} bytes; at most {LONGEST_HEADER:,} are read")


def _check(path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "biufc":
        raise InvalidInput(f"{printable(path)} holds {dtype}, not numbers; save np.asarray(x, dtype=float)")
    if not shape or 0 in shape:
        raise InvalidInput(f"{printable(path)} has nothing to measure: its shape is {shape}")
    expected = math.prod(shape) * dtype.itemsize
    if expected > path.stat().st_size:
        raise InvalidInput(
            f"{printable(path)} is cut off: its header promises {expected:,} bytes of shape {shape}, the file has "
            f"{path.stat().st_size:,}; save it again"
        )
