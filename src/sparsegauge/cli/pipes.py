"""Standard streams that were closed before the command began, and output that cannot be written."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any


class ClosedStream(io.TextIOBase):
    """A stand-in for a standard stream that was closed: any use raises an OSError that names the stream."""

    def __init__(self, title: str) -> None:
        self.title = title

    def _refuse(self) -> OSError:
        return OSError(errno.EBADF, "is closed; redirect it to or from a file", self.title)

    @property
    def buffer(self) -> Any:
        """Refuse to give the bytes behind the text."""
        raise self._refuse()

    def read(self, size: int | None = -1) -> str:
        """Refuse to read."""
        raise self._refuse()

    def write(self, text: str) -> int:
        """Refuse to write."""
        raise self._refuse()


def replace_closed_streams() -> None:
    """Replace closed streams by stand-ins, so that no file that is opened later takes their descriptors.

    Messages of a command whose stderr is closed are lost; `print` would send them to stdout.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest descriptor that is free, which is this one
    if sys.stdin is None:
        sys.stdin = ClosedStream("standard input")
    if sys.stdout is None:
        sys.stdout = ClosedStream("standard output")
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115


def flush_output() -> None:
    """Flush stdout while a failure can still be reported."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has left early, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
