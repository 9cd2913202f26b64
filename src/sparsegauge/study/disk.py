"""What a store needs of the operating system: a lock that dies with its owner, and files written in one step."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterable
from pathlib import Path

from .._platform.locks import open_regular, try_lock
from .._platform.writing import replace_file
from ..errors import InvalidInput, NotRegularFile, StoreInUse

LOCK_TRIES = 5  # a process that only asks whether a store is locked holds the lock for a moment
SECONDS_BETWEEN_TRIES = 0.1

_held: set[int] = set()


def _forget_in_child() -> None:
    """Forget the lock in a forked worker, which must not keep that of a driver that was killed."""
    for handle in _held:
        os.close(handle)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


class Lock:
    """``with Lock(directory)``: held by this process, or an error that names the process that holds it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __enter__(self) -> None:
        path = self.directory / "lock"
        try:
            self.handle = open_regular(path, os.O_RDWR | os.O_CREAT)
        except NotRegularFile as error:
            raise InvalidInput(f"{path} {error}; this store was tampered with: do not use it") from error
        except OSError as error:
            raise OSError(error.errno, f"cannot be written ({error.strerror})", str(path)) from error
        for attempt in range(LOCK_TRIES):
            if try_lock(self.handle):
                break
            if attempt == LOCK_TRIES - 1:
                owner = os.read(self.handle, 200).decode(errors="replace").strip() or "another process"
                os.close(self.handle)
                raise StoreInUse(f"{self.directory} is being written to by {owner}; wait for it, or stop it")
            time.sleep(SECONDS_BETWEEN_TRIES)
        _held.add(self.handle)
        with contextlib.suppress(OSError):  # a full disk is reported where it matters
            os.ftruncate(self.handle, 0)
            os.lseek(self.handle, 0, os.SEEK_SET)
            os.write(self.handle, f"process {os.getpid()} on {socket.gethostname()}\n".encode())

    def __exit__(self, *_: object) -> None:
        if self.handle in _held:  # not in a forked child
            _held.discard(self.handle)
            os.close(self.handle)


def is_locked(directory: Path) -> bool:
    """Return whether a process is writing to the store."""
    try:
        handle = open_regular(directory / "lock", os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    except (OSError, NotRegularFile):
        return False
    try:
        return not try_lock(handle, shared=True)
    finally:
        os.close(handle)


def refuse_links(directory: Path, names: Iterable[str]) -> None:
    """Raise `InvalidInput` if anything of a store is a link: writing through it would change files elsewhere."""
    for name in names:
        if (directory / name).is_symlink():
            raise InvalidInput(f"{directory / name} is a link; this store was tampered with: do not use it")


def write_to_store(path: Path, data: bytes) -> None:
    """Write a file of a store in one step; an error says that what was stored before is safe."""
    try:
        if path.is_symlink():
            path.unlink()  # else the file that the link leads to would be replaced
        replace_file(path, data)
    except OSError as error:
        reason = f"cannot be written ({error.strerror}); what is stored is safe: solve this and run again"
        raise OSError(error.errno, reason, str(path)) from error
