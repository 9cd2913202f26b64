"""What runs in the process that reads a MATLAB file: plain arrays go to an .npz file, the rest is told as JSON."""

from __future__ import annotations

import contextlib
import errno
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import FileRequest, choose, numbers, reading, refuse_expansion

PLAIN = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}

WORKSPACE_PER_BYTE = (
    6  # complex numbers take two bytes per byte of the estimate, and three copies while they are joined
)
SPARE_BYTES = 1 << 28


def main() -> None:
    """Read the file named first into the archive named second; the third is the key and the limit, as JSON."""
    path, copy, (key, limit) = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    facts: dict[str, Any] = {"names": [], "notes": [], "error": None, "failed": None}
    try:
        found = _arrays(FileRequest(path, key, facts["notes"].append, limit))
        # not np.save: it leaves the end of an array to C, and does not notice that the disk is full
        np.savez(copy, *(array for _, array in found))
        facts["names"] = [printable(name) for name, _ in found]
    except InvalidInput as error:
        facts["error"] = str(error)
    except OSError as error:
        facts["failed"] = [error.errno or errno.EIO, printable(error.strerror or error)]
    sys.stdout.write(json.dumps(facts))


def _arrays(request: FileRequest) -> list[tuple[str, np.ndarray[Any, Any]]]:
    import scipy.io

    path = request.path
    with reading(path, "a MATLAB file"):
        sizes = {}
        for name, shape, kind in scipy.io.whosmat(path, appendmat=False):
            if kind in PLAIN and math.prod(shape) > 0:
                sizes[name] = 8 * math.prod(shape)
            else:
                what = "empty" if kind in PLAIN else f"of class {kind}, not a plain array of numbers"
                request.note(f"{printable(path)}: left out {printable(name)!r}, which is {what}")
        names = list(sizes)
        chosen = [names[i] for i in choose(request, names, "array")]
        if not chosen:
            raise InvalidInput(
                f"{printable(path)} has no plain array of numbers; structs, cells, text and objects are not read"
            )
        expected = sum(sizes[name] for name in chosen)
        refuse_expansion(request, expected)
        _limit_memory(WORKSPACE_PER_BYTE * expected + SPARE_BYTES)
        loaded = scipy.io.loadmat(path, appendmat=False, variable_names=chosen)
        return [(name, _plain(name, loaded[name])) for name in chosen]


def _plain(name: str, array: object) -> np.ndarray[Any, Any]:
    if not isinstance(array, np.ndarray) or not numbers(array) or array.size == 0:
        raise ValueError(f"{name!r} is not a plain array of numbers")
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array  # MATLAB has no one-dimensional arrays


def _limit_memory(more: int) -> None:
    """Allow this process so many bytes beyond those in use, where the system has a limit to set."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
