"""HDF5 files, MATLAB 7.3 files among them, through h5py: the arrays of all groups, by their paths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._platform.extras import import_extra
from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, choose, reading, refuse_expansion

LARGEST_CHUNK = 1 << 28  # bytes: HDF5 unpacks a chunk as a whole, beside the array that is returned


def read_hdf5(request: FileRequest) -> list[Contents]:
    """Return every dataset of numbers, or the one that is asked for; row and column vectors become signals."""
    h5py = import_extra("h5py", "reading HDF5", extra="files")
    with reading(request.path, "an HDF5 file"), h5py.File(request.path, "r") as file:
        found: dict[str, Any] = {}

        def visit(name: str, entry: Any) -> None:
            if not isinstance(entry, h5py.Dataset):
                return
            if entry.dtype.kind in "biufc" and (entry.shape or request.singles) and entry.size:
                found[name] = entry
            else:
                what = f"of type {entry.dtype} and shape {entry.shape}"
                request.note(f"{request.name}: left out {printable(name)!r}, which is {what}")

        file.visititems(visit)
        names = list(found)
        chosen = [names[i] for i in choose(request, names, "array")]
        if not chosen:
            raise InvalidInput(f"{request.name} has no array of numbers")
        refuse_expansion(request, sum(math.prod(found[name].shape) * found[name].dtype.itemsize for name in chosen))
        for name in chosen:
            _refuse_large_chunks(request, found[name])
        arrays = [np.atleast_1d(found[name][()]) for name in chosen]
    return [
        Contents(axis=-1, values=array.ravel() if array.ndim == 2 and 1 in array.shape else array, name=printable(name))
        for name, array in zip(chosen, arrays, strict=True)
    ]


def _refuse_large_chunks(request: FileRequest, dataset: Any) -> None:
    """Refuse a dataset in chunks that take much memory to unpack."""
    size = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if dataset.chunks is not None and size > LARGEST_CHUNK:
        raise InvalidInput(
            f"{request.name} has chunks of {size:,} bytes in {printable(dataset.name)!r}, and {LARGEST_CHUNK:,} are "
            "read; save it in smaller chunks"
        )
