"""Return unused memory to the operating system, for processes that run for hours."""

from __future__ import annotations

import contextlib
import ctypes
import gc


def keep_what_is_there() -> None:
    """Take all objects of this moment for permanent, so that looking for garbage later passes over them."""
    gc.collect()
    gc.freeze()


def forget_what_was_kept() -> None:
    """Look for garbage among all objects again."""
    gc.unfreeze()


def give_memory_back() -> None:
    """Delete objects that only refer to each other, and return the free pages of the heap where glibc can do that."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # another C library: it keeps pages as it likes
        ctypes.CDLL(None).malloc_trim(0)
