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

from ..errors import InvalidInput
from .contents import LARGEST_SURPRISE, choose, numbers, reading, refuse_bomb, shown

PLAIN = {"double", "single", "logical"} | {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def main() -> None:
    """Read the file named first into the archive named second; the third is the key, as JSON."""
    path, copy, key = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    facts: dict[str, Any] = {"names": [], "notes": [], "error": None, "failed": None}
    try:
        found = _arrays(path, key, facts["notes"])
        # not np.save: it leaves the end of an array to C, and does not notice that the disk is full
        np.savez(copy, *(array for _, array in found))
        facts["names"] = [shown(name) for name, _ in found]
    except InvalidInput as error:
        facts["error"] = str(error)
    except OSError as error:
        facts["failed"] = [error.errno or errno.EIO, shown(error.strerror or error)]
    sys.stdout.write(json.dumps(facts))


def _arrays(path: Path, key: str | None, notes: list[str]) -> list[tuple[str, np.ndarray[Any, Any]]]:
    import scipy.io

    with reading(path, "a MATLAB file"):
        sizes = {}
        for name, shape, kind in scipy.io.whosmat(path, appendmat=False):
            if kind in PLAIN and math.prod(shape) > 0:
                sizes[name] = 8 * math.prod(shape)
            else:
                what = "empty" if kind in PLAIN else f"of class {kind}, not a plain array of numbers"
                notes.append(f"{shown(path)}: left out {shown(name)!r}, which is {what}")
        names = list(sizes)
        chosen = [names[i] for i in choose(path, key, names, "array")]
        if not chosen:
            raise InvalidInput(
                f"{shown(path)} has no plain array of numbers; structs, cells, text and objects are not read"
            )
        expected = sum(sizes[name] for name in chosen)
        refuse_bomb(path, expected)
        _limit_memory(3 * expected + LARGEST_SURPRISE)
        loaded = scipy.io.loadmat(path, appendmat=False, variable_names=chosen)
        return [(name, _plain(name, loaded[name])) for name in chosen]


def _plain(name: str, array: object) -> np.ndarray[Any, Any]:
    if not isinstance(array, np.ndarray) or not numbers(array) or array.size == 0:
        raise ValueError(f"{name!r} is not a plain array of numbers")
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array  # MATLAB has no one-dimensional arrays


def _limit_memory(more: int) -> None:
    """At most so many bytes beyond those in use, where the system has a limit to set."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
