"""Temporary directories that are removed when they are no longer needed, even after a process was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .locks import try_lock

PREFIX = "sparsegauge-"
LOCK = ".in-use"


@contextlib.contextmanager
def scratch_directory() -> Iterator[Path]:
    """Yield a new directory that is removed at the end; its lock tells other processes that it is in use."""
    with tempfile.TemporaryDirectory(prefix=PREFIX) as name:
        directory = Path(name)
        handle = os.open(directory / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try_lock(handle)
            yield directory
        finally:
            os.close(handle)


def remove_abandoned_scratch() -> list[Path]:
    """Remove the directories that killed processes of this user left behind, and return them.

    A directory is abandoned if no process holds its lock: the system releases the locks of a process that ends.
    """
    removed = []
    for directory in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_own_directory(directory) and _is_abandoned(directory):
            shutil.rmtree(directory, ignore_errors=True)
            removed.append(directory)
    return removed


def _is_own_directory(path: Path) -> bool:
    try:
        facts = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and (not hasattr(os, "getuid") or facts.st_uid == os.getuid())


def _is_abandoned(directory: Path) -> bool:
    try:
        handle = os.open(directory / LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False  # being made, or not ours
    try:
        return try_lock(handle)
    finally:
        os.close(handle)
