"""What a file holds, and what may go wrong while it is read."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidInput, SparsegaugeError

BLOCK_BYTES = 1 << 23  # what is held of a file that is read in pieces
LARGEST_SURPRISE, LARGEST_RATIO = 1 << 30, 100  # a file may grow past the first, or past the second, but not both


@dataclass(frozen=True)
class Contents:
    """One array of a file.

    `values` is the array, in memory or mapped into it; a table that is read in pieces has `stream` instead, which gives
    its rows from the first on, as often as it is called. `axis` is the one along which signals run in this kind of
    file: 0 for columns and channels, None for an image, which is one signal. `name` is the array's name in the file,
    if it has any, `labels` are those of the columns, `rate` is in samples a second.
    """

    axis: int | None
    values: NDArray[Any] | None = None
    stream: Callable[[], Iterator[NDArray[Any]]] | None = None
    name: str | None = None
    labels: tuple[str, ...] = ()
    rate: float | None = None

    def array(self) -> NDArray[Any]:
        """All of it."""
        if self.values is not None:
            return self.values
        assert self.stream is not None
        blocks = list(self.stream())
        if not blocks:
            raise InvalidInput("there are no numbers in it, though its header says so; save it again")
        return np.concatenate(blocks)

    def blocks(self, axis: int) -> Iterator[NDArray[Any]]:
        """Pieces of a few megabytes along an axis, which comes last; joined, they are the array."""
        if self.stream is not None and axis == 0:
            yield from (np.moveaxis(rows, 0, -1) for rows in self.stream())
            return
        moved = np.moveaxis(self.array(), axis, -1)
        others = max(1, moved.itemsize * (moved.size // max(1, moved.shape[-1])))
        step = max(1, BLOCK_BYTES // others)
        for start in range(0, moved.shape[-1], step):
            yield moved[..., start : start + step]


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Whatever a parser makes of a broken file becomes one sentence about that file."""
    try:
        yield
    except SparsegaugeError:
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # which parsers use for a file that ends too early
            raise
        raise InvalidInput(_unreadable(path, kind, error)) from error
    except MemoryError as error:
        raise InvalidInput(f"{shown(path)} does not fit into memory; cut it into pieces") from error
    except Exception as error:  # parsers raise anything: struct.error, KeyError, SyntaxError, ...
        raise InvalidInput(_unreadable(path, kind, error)) from error


def _unreadable(path: Path, kind: str, error: Exception) -> str:
    reason = " ".join(str(error).split()) or type(error).__name__
    return f"{shown(path)} is not {kind} that can be read ({shown(reason)[:200]})"


def refuse_bomb(path: Path, expanded: int) -> None:
    """A small file that unpacks into gigabytes is broken, or meant to hurt."""
    packed = path.stat().st_size
    if expanded > LARGEST_SURPRISE and expanded > LARGEST_RATIO * packed:
        raise InvalidInput(
            f"{shown(path)} has {packed:,} bytes and would unpack into {expanded:,}, more than {LARGEST_RATIO} times "
            "as many; if that is right, unpack it into an .npy file, which is read without loading it"
        )


def numbers(array: NDArray[Any]) -> bool:
    """Whether the entries are real or complex numbers, or booleans."""
    return array.dtype.kind in "biufc"


def shown(text: object) -> str:
    """A name from outside, as it may be printed: without control characters or broken bytes."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))


def choose(path: Path, key: str | None, names: list[str], what: str) -> list[int]:
    """The positions of the arrays or columns to read: all of them, or the one called `key`."""
    if key is None:
        return list(range(len(names)))
    if key not in names:
        known = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise InvalidInput(f"{shown(path)} has no {what} of numbers called {key!r}; it has {known or 'none'}")
    return [names.index(key)]
