"""MATLAB files: up to version 7 through SciPy, in a process of its own; version 7.3 is HDF5.

SciPy's reader trusts the file: a wrong byte in the wrong place ends the process that reads it, and a small compressed
file may ask for any amount of memory (its documentation warns of both). A process of its own, with a limit on its
memory, turns either into a sentence.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from .._platform.scratch import scratch_directory
from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest
from .hdf5 import read_hdf5

VERSION_7_3, HDF5 = b"MATLAB 7.3", b"\x89HDF"
CHILD = "from sparsegauge.io.matlab_child import main; main()"


def read_mat(request: FileRequest) -> list[Contents]:
    """Return every plain array of numbers, or the one that is asked for; row and column vectors become signals."""
    path = request.path
    if _is_hdf5(path):
        return read_hdf5(request)
    with scratch_directory() as directory:
        # -P: no module of the directory that the user happens to be in
        copy = directory / "arrays.npz"
        command = [
            sys.executable,
            "-P",
            "-c",
            CHILD,
            str(path.absolute()),
            str(copy),
            json.dumps([request.key, request.limit]),
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode != 0:
            raise InvalidInput(_why_ended(path, done))
        facts = json.loads(done.stdout)
        if facts["failed"]:
            number, words = facts["failed"]
            raise OSError(number, f"cannot be read by way of a copy in {directory} ({words})", str(path))
        for text in facts["notes"]:
            request.note(text.replace(printable(path.absolute()), printable(path)))
        if facts["error"]:
            raise InvalidInput(facts["error"].replace(printable(path.absolute()), printable(path)))
        with np.load(copy, allow_pickle=False) as archive:
            arrays = [archive[f"arr_{i}"] for i in range(len(facts["names"]))]
    return [Contents(axis=-1, values=array, name=name) for name, array in zip(facts["names"], arrays, strict=True)]


def _why_ended(path: Path, done: subprocess.CompletedProcess[bytes]) -> str:
    """Return what the child process said; Python ends with 1 after an error, and anything else is a crash."""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    if done.returncode == 1 and said:
        return f"{printable(path)} cannot be read: the process that reads it failed ({printable(said[-1])[:200]})"
    return f"{printable(path)} is damaged, or too large for memory: the process that read it has ended; save it again"


def _is_hdf5(path: Path) -> bool:
    """Return whether a file is HDF5, as MATLAB 7.3 writes it."""
    with path.open("rb") as file:
        return file.read(16).startswith((VERSION_7_3, HDF5))
