"""Locks on files that end with the process that holds them, on every system; files that are opened only if regular."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from ..errors import NotRegularFile

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCKED_BYTE = 1 << 30  # of a file on Windows, far behind its content: a locked byte there cannot be read by others


def try_lock(handle: int, *, shared: bool = False) -> bool:
    """Lock a file that is open, unless another process has locked it; return whether it is locked now.

    Windows knows no shared locks for this, and takes an exclusive one. On network file systems a lock holds between
    machines only if the server supports it.
    """
    if fcntl is None:
        return _try_lock_on_windows(handle)
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _try_lock_on_windows(handle: int) -> bool:
    import msvcrt

    windows: Any = msvcrt  # its functions are unknown to type checkers on other systems
    os.lseek(handle, LOCKED_BYTE, os.SEEK_SET)
    try:
        windows.locking(handle, windows.LK_NBLCK, 1)
    except PermissionError:  # what Windows says of a byte that is locked
        return False
    finally:
        os.lseek(handle, 0, os.SEEK_SET)
    return True


def open_regular(path: Path, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
    """Open a regular file and return its handle; refuse links, and never wait for a pipe.

    Raises
    ------
    NotRegularFile
        If `path` is a link, a pipe, a directory or a device.
    OSError
        If it cannot be opened for another reason.
    """
    if path.is_symlink():
        raise NotRegularFile("is a link and not a regular file")
    guarded = flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise NotRegularFile("is not a regular file")
    handle = os.open(path, guarded, mode)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # it was replaced meanwhile
        os.close(handle)
        raise NotRegularFile("is not a regular file")
    return handle


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file; see `open_regular`."""
    with os.fdopen(open_regular(path), "rb") as file:
        return file.read()
