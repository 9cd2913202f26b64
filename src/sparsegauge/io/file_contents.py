"""What a file holds, what is asked of a reader, and what may go wrong while a file is read."""

from __future__ import annotations

import errno
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput, SparsegaugeError

BLOCK_BYTES = 1 << 23  # in memory of a file that is read in pieces
LARGEST_EXPANSION = 1 << 30  # bytes that any file may unpack into, however small it is
LARGEST_EXPANSION_RATIO = 100  # what a larger file may unpack into, in units of its own size
BUFFER_GROWTH = 1.1  # of the memory for a table of unknown length

Note = Callable[[str], None]
Key = str | Sequence[str] | None


def ignore_note(_: str) -> None:
    """Take a note and do nothing with it."""


@dataclass(frozen=True)
class FileRequest:
    """What a reader is asked for.

    `key` names the arrays, columns or channels to read, None for all of them; `note` is called with a sentence about
    each thing that is left out. `limit` is the number of bytes that the file may unpack into; None stands for the usual
    rule, which lets large files unpack into more than small ones. With `singles`, numbers without a dimension, such as
    a sampling rate, are read as arrays of one.
    """

    path: Path
    key: Key = None
    note: Note = ignore_note
    limit: int | None = None
    singles: bool = False

    @property
    def name(self) -> str:
        """The path as it may be printed."""
        return printable(self.path)

    @property
    def keys(self) -> list[str]:
        """The names that are asked for, each once; none for all."""
        return list(dict.fromkeys([self.key] if isinstance(self.key, str) else self.key or []))


@dataclass(frozen=True)
class Contents:
    """One array of a file.

    `values` is the array, in memory or mapped into it; a table that is read in pieces has `stream` instead, which
    yields its rows from the first on, as often as it is called, and `length`, the number of its rows, if that is known.
    `axis` is the one along which signals run in this kind of file: 0 for columns and channels, None for an image, which
    is one signal. `name` is the array's name in the file, if it has any, `labels` are those of the columns, `rate` is
    in samples per second.
    """

    axis: int | None
    values: NDArray[Any] | None = None
    stream: Callable[[], Iterator[NDArray[Any]]] | None = None
    length: int | None = None
    name: str | None = None
    labels: tuple[str, ...] = ()
    rate: float | None = None

    def array(self, most: int | None = None) -> NDArray[Any]:
        """Return all rows; of a table that is read in pieces, at most the first `most`."""
        if self.values is not None:
            return self.values
        assert self.stream is not None
        table = _joined(self.stream(), self.length, most)
        if not len(table):
            raise InvalidInput("there are no numbers in it, though its header says so; save it again")
        return table

    def blocks(self, axis: int | None) -> Iterator[NDArray[Any]]:
        """Yield pieces of a few megabytes along an axis, which comes last; joined, they are the array.

        None goes through the whole array, as if it were flat.
        """
        if self.stream is not None and axis in (0, None):
            yield from (rows.reshape(-1) if axis is None else np.moveaxis(rows, 0, -1) for rows in self.stream())
            return
        array = self.array()
        moved = array.reshape(-1) if axis is None else np.moveaxis(array, axis, -1)
        others = max(1, moved.itemsize * (moved.size // max(1, moved.shape[-1])))
        step = max(1, BLOCK_BYTES // others)
        for start in range(0, moved.shape[-1], step):
            yield _mapped_anew(array, start, moved[..., start : start + step])


def _mapped_anew(array: NDArray[Any], start: int, piece: NDArray[Any]) -> NDArray[Any]:
    """Return a piece of a flat array with a mapping of its own, whose memory is given back when the piece goes."""
    if not isinstance(array, np.memmap) or piece.ndim > 1 or not array.flags.c_contiguous or array.filename is None:
        return piece
    return np.memmap(array.filename, array.dtype, "r", array.offset + start * array.itemsize, piece.shape)


def _joined(pieces: Iterator[NDArray[Any]], length: int | None, most: int | None) -> NDArray[Any]:
    """Return the pieces as one array, without a second copy of all of them."""
    table, filled = np.empty(0), 0
    for piece in pieces:
        part = piece if most is None else piece[: most - filled]
        needed = filled + len(part)
        if filled == 0:
            table = np.empty((needed, *part.shape[1:]), part.dtype)
        if needed > len(table):
            known = length if most is None or length is None else min(length, most)
            room = known if known is not None and known >= needed else max(needed, int(BUFFER_GROWTH * len(table)))
            table.resize((room, *table.shape[1:]), refcheck=False)
        table[filled:needed] = part
        filled = needed
        if filled == most:
            break
    table.resize((filled, *table.shape[1:]), refcheck=False)
    return table


@contextmanager
def reading(path: Path, kind: str) -> Iterator[None]:
    """Turn any error of a parser into one sentence about the file."""
    try:
        yield
    except SparsegaugeError:
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # which parsers use for a file that ends too early
            raise
        raise InvalidInput(_unreadable(path, kind, error)) from error
    except MemoryError as error:
        raise InvalidInput(f"{printable(path)} does not fit into memory; cut it into pieces") from error
    except Exception as error:  # parsers raise errors of any kind: struct.error, KeyError, SyntaxError, ...
        raise InvalidInput(_unreadable(path, kind, error)) from error


def _unreadable(path: Path, kind: str, error: Exception) -> str:
    too_short = isinstance(error, struct.error | EOFError) or str(error).startswith("EOF")
    reason = "it ends too early" if too_short else " ".join(str(error).split()) or type(error).__name__
    return f"{printable(path)} is not {kind} that can be read ({printable(reason)[:200]})"


def refuse_expansion(request: FileRequest, expanded: int) -> None:
    """Refuse a file that unpacks into more than is allowed, before it is unpacked."""
    if request.limit is not None:
        if expanded > request.limit:
            raise InvalidInput(
                f"{request.name} would unpack into {expanded:,} bytes, and {request.limit:,} are allowed here; cut it "
                "into pieces, or use the command line"
            )
        return
    packed = request.path.stat().st_size
    if expanded > LARGEST_EXPANSION and expanded > LARGEST_EXPANSION_RATIO * packed:
        raise InvalidInput(
            f"{request.name} has {packed:,} bytes and would unpack into {expanded:,}, more than "
            f"{LARGEST_EXPANSION_RATIO} times as many; if that is right, unpack it into an .npy file, which is read "
            "without loading it"
        )


def numbers(array: NDArray[Any]) -> bool:
    """Return whether the entries are real or complex numbers, or booleans."""
    return array.dtype.kind in "biufc"


def choose(request: FileRequest, names: list[str], what: str) -> list[int]:
    """Return the positions of the arrays or columns to read: all of them, or those that are asked for."""
    if request.key is None:
        return list(range(len(names)))
    for key in request.keys:
        if key in names:
            continue
        known = ", ".join(map(repr, names[:20])) + (", ..." if len(names) > 20 else "")
        raise InvalidInput(f"{request.name} has no {what} of numbers called {key!r}; it has {known or 'none'}")
    return [names.index(key) for key in request.keys]
