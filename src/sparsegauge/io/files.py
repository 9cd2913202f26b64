"""Find the reader for a path; expand patterns and folders; open files, packed files, pipes and standard input."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from .._platform.scratch import scratch_directory
from .._platform.terminal import printable
from ..errors import InvalidInput
from .arrays import read_npy, read_npz
from .file_contents import (
    BLOCK_BYTES,
    LARGEST_EXPANSION,
    LARGEST_EXPANSION_RATIO,
    Contents,
    FileRequest,
    Key,
    Note,
    ignore_note,
    reading,
)
from .hdf5 import read_hdf5
from .matlab import read_mat
from .parquet import read_parquet
from .pictures import read_picture
from .sound import read_wav
from .text import read_text

Reader = Callable[[FileRequest], list[Contents]]

FORMATS: dict[str, Reader] = {
    ".npy": read_npy,
    ".npz": read_npz,
    ".csv": read_text,
    ".tsv": read_text,
    ".txt": read_text,
    ".parquet": read_parquet,
    ".mat": read_mat,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
    ".wav": read_wav,
    ".png": read_picture,
    ".jpg": read_picture,
    ".jpeg": read_picture,
}

GZIP_ENDING = ".gz"
STANDARD_INPUT = "standard input"

_BEGINNINGS = (
    (b"\x93NUMPY", ".npy"),
    (b"PK\x03\x04", ".npz"),
    (b"PK\x05\x06", ".npz"),
    (b"RIFF", ".wav"),
    (b"RIFX", ".wav"),
    (b"RF64", ".wav"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".jpg"),
    (b"PAR1", ".parquet"),
    (b"MATLAB ", ".mat"),
    (b"\x89HDF\r\n\x1a\n", ".h5"),
)


def open_file(
    path: Path, *, key: Key = None, note: Note = ignore_note, limit: int | None = None, singles: bool = False
) -> list[Contents]:
    """Return the arrays of a file, read by its ending, or by its first bytes where that says nothing.

    Parameters
    ----------
    path : Path
        A regular file; large .npy, .csv, .tsv, .txt, .wav and .parquet files are not loaded before they are used.
    key : str or sequence of str, optional
        The arrays, columns or channels to read; all of them by default.
    note : callable
        Called with a sentence about each thing that is left out, such as a column of text.
    limit : int, optional
        The number of bytes that a packed file may unpack into. By default a file may unpack into 1 GiB, or 100 times
        its own size if that is more.
    singles : bool
        Read numbers without a dimension, such as a sampling rate beside a record, as arrays of one.

    Returns
    -------
    list of Contents
        At least one, with at least one number each.

    Raises
    ------
    InvalidInput
        If the file is not what its name says, is damaged, or holds no numbers.
    OSError
        If there is no such file, or it cannot be read.
    """
    check_regular(path)
    return FORMATS[_format(path)](FileRequest(path, key, note, limit, singles))


def check_regular(path: Path) -> None:
    """Refuse what is not a file with something in it, such as a directory, a pipe or an empty file."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "is a directory; name files in it, or a pattern such as '*.csv'", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "is not a regular file; copy what it holds into one", str(path))
    if path.stat().st_size == 0:
        raise InvalidInput(f"{printable(path)} is empty; there is nothing to measure")


def _format(path: Path) -> str:
    ending = path.suffix.lower()
    if ending in FORMATS:
        return ending
    with path.open("rb") as file:
        head = file.read(16)
    found = next((kind for magic, kind in _BEGINNINGS if head.startswith(magic)), None)
    if ending and found in (None, ".npz"):  # documents and many others are zip archives too
        raise InvalidInput(
            f"{printable(path)} is of no known kind: the endings are {', '.join(FORMATS)}; numbers as text may come "
            "through a pipe, as '-'"
        )
    return found or ".txt"


def expand(arguments: Sequence[str], *, without: Sequence[str] = ()) -> list[str]:
    """Return the paths that were typed, sorted where one argument stands for several; '-' stays as it is.

    A pattern stands for the files that it matches, and a folder for the files in it whose ending is known and is not
    one of `without`.
    """
    paths: list[str] = []
    for argument in arguments:
        if os.path.isdir(argument):
            paths += _files_in(argument, without)
        elif argument == "-" or os.path.lexists(argument) or not glob.has_magic(argument):
            paths.append(argument)
        else:
            found = sorted(path for path in glob.glob(argument, recursive=True) if not os.path.isdir(path))
            if not found:
                raise InvalidInput(f"no file matches the pattern {argument!r}")
            paths += found
    return paths


def has_known_ending(name: str) -> bool:
    """Return whether the name of a file ends as those of a known kind do, packed by gzip or not."""
    return Path(name.lower().removesuffix(GZIP_ENDING)).suffix in FORMATS


def _files_in(folder: str, without: Sequence[str]) -> list[str]:
    endings = [ending for ending in FORMATS if ending not in without]
    known = [path for path in Path(folder).iterdir() if not path.name.startswith(".") and path.is_file()]
    found = sorted(str(path) for path in known if Path(path.name.lower().removesuffix(GZIP_ENDING)).suffix in endings)
    if not found:
        raise InvalidInput(
            f"the directory {printable(folder)} has no file of a known kind; the endings are {', '.join(endings)}"
        )
    return found


def name_argument(argument: str) -> str:
    """Return what messages call a file that a user typed."""
    return STANDARD_INPUT if argument == "-" else argument


class OpenedFile(NamedTuple):
    """A file that was opened: its name in messages, its arrays, and the file that holds them unpacked."""

    label: str
    contents: list[Contents]
    path: Path


@contextmanager
def opened(
    argument: str, *, label: str | None = None, key: Key = None, note: Note = ignore_note, singles: bool = False
) -> Iterator[OpenedFile]:
    """Open what a user typed: a path, also of a file packed by gzip or of a pipe, or '-' for standard input.

    The options are those of `open_file`; without `singles` and `key`, named single numbers beside an array, such as a
    sampling rate, are left out with a note. Notes, and every `InvalidInput` that is raised before the file is closed,
    name the file as the user typed it, or as `label` says.
    """
    label = label or name_argument(argument)
    with spooled(argument, lambda: sys.stdin.buffer) as path:
        try:
            found = open_file(path, key=key, note=lambda text: note(text.replace(str(path), label)), singles=singles)
            kept = found if singles or key is not None else _without_single_numbers(found, label, note)
            yield OpenedFile(label, kept, path)
        except InvalidInput as error:
            message = str(error).replace(str(path), label)
            raise InvalidInput(message if label in message else f"{label}: {message}") from error


def _without_single_numbers(found: list[Contents], name: str, note: Note) -> list[Contents]:
    """Leave out named numbers, such as a sampling rate, that stand beside arrays."""
    kept = [contents for contents in found if not _is_named_number(contents)]
    if not kept:
        return found
    for contents in filter(_is_named_number, found):
        note(f"{name}: left out {printable(str(contents.name))!r}, a single number")
    return kept


def _is_named_number(contents: Contents) -> bool:
    return contents.name is not None and contents.values is not None and contents.values.size == 1


@contextmanager
def spooled(argument: str, stdin: Callable[[], IO[bytes]]) -> Iterator[Path]:
    """Yield a regular file with what `argument` names: itself, or a copy of standard input ('-'), a pipe, or a .gz.

    A pipe can be read only once, and forwards only; on disk it can be mapped and be larger than memory.
    """
    if argument == "-":
        with _copied(stdin()) as path:
            yield path
    elif stat.S_ISFIFO(os.stat(argument).st_mode):
        with open(argument, "rb") as pipe, _copied(pipe) as path:
            yield path
    elif argument.lower().endswith(GZIP_ENDING):
        with _unpacked(Path(argument)) as path:
            yield path
    else:
        yield Path(argument)


@contextmanager
def _unpacked(packed: Path) -> Iterator[Path]:
    """Yield a copy of a file without its gzip packing, under its name without .gz."""
    most = max(LARGEST_EXPANSION, LARGEST_EXPANSION_RATIO * packed.stat().st_size)
    with scratch_directory() as directory:
        path = directory / (packed.stem or "unpacked")
        with reading(packed, "a gzip file"), gzip.open(packed, "rb") as file, path.open("wb") as copy:
            while block := file.read(BLOCK_BYTES):
                copy.write(block)
                if copy.tell() > most:
                    raise InvalidInput(
                        f"{printable(packed)} unpacks into more than {most:,} bytes; if that is right, unpack it first"
                    )
        yield path


@contextmanager
def _copied(stream: IO[bytes]) -> Iterator[Path]:
    with scratch_directory() as directory:
        path = directory / "standard input"
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file)
        yield path
