"""Turn an uploaded file into signals: limited in size, without pickle, removed from the disk before this returns."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._platform.scratch import scratch_directory
from ..errors import InvalidInput
from ..io import Contents, open_file
from ..surveys import FoundRecord, find_records
from .model import LONGEST_SIGNAL, Signal, checked

MOST_SIGNALS_PER_FILE = 200  # so that the list stays short
MEGABYTE = 1_000_000
LARGEST_UNPACKED = 1 << 28  # bytes of a packed file
LONGEST_NAME = 120  # bytes, of the 255 that a file system allows
LONGEST_RECORD = 1 << 19  # samples of a vibration record: 11 s at 48 kHz

Read = TypeVar("Read")


def read_upload(data: bytes, name: str, *, max_mb: float) -> list[Signal]:
    """Read the signals of an uploaded file: the columns of a table, the rows of an array, an image as a whole.

    Raises
    ------
    InvalidInput
        If the file is too large, cannot be read, or holds nothing that can be measured.
    """
    return _unpack(data, name, max_mb, _signals)


def read_vibration(data: bytes, name: str, *, max_mb: float) -> list[FoundRecord]:
    """Return the vibration records of an uploaded file, with the rate and the speed where the file says them.

    Raises
    ------
    InvalidInput
        If the file is too large, cannot be read, or has no record.
    """
    return _unpack(data, name, max_mb, _records)


def _unpack(data: bytes, name: str, max_mb: float, read: Callable[[Path], list[Read]]) -> list[Read]:
    """Read a file that is there for as long as that takes.

    The readers need a path, since some of them map files into memory; it is in a temporary directory, which is removed
    when all is read.
    """
    if len(data) > max_mb * MEGABYTE:
        raise InvalidInput(
            f"{_base(name)} has {len(data) / MEGABYTE:.1f} MB and the page takes up to {max_mb:g}; cut it, or start "
            "the page with a larger --max-upload-mb"
        )
    with scratch_directory() as directory:
        path = directory / _base(name)
        try:
            path.write_bytes(data)
            return read(path)
        except (InvalidInput, OSError) as error:  # the directory is of no interest to the reader
            raise InvalidInput(str(error).replace(f"{directory}/", "")) from error


def _records(path: Path) -> list[FoundRecord]:
    found = find_records(path.name, open_file(path, limit=LARGEST_UNPACKED, singles=True))
    return [
        record._replace(samples=np.array(record.samples[:LONGEST_RECORD], dtype=np.float64))
        for record in itertools.islice(found, MOST_SIGNALS_PER_FILE)
    ]


def _base(name: str) -> str:
    """Return the last part of a file name from outside, and nothing that could lead elsewhere."""
    last = PurePosixPath(PureWindowsPath(name).name).name
    printable = "".join(c if c.isprintable() else "_" for c in last)
    end = printable.encode()[-LONGEST_NAME:].decode(errors="ignore")  # the end, which says what kind of file it is
    return end.strip(". ") or "upload"


def _signals(path: Path) -> list[Signal]:
    """Return those signals that can be measured; if none can, raise the complaint about the first."""
    found: list[Signal] = []
    complaint: InvalidInput | None = None
    for contents in open_file(path, limit=LARGEST_UNPACKED):
        try:
            found += _of_contents(contents, path.name)
        except InvalidInput as error:  # a single number, such as the speed of a shaft, beside the signal
            complaint = complaint or error
        if len(found) >= MOST_SIGNALS_PER_FILE:
            break
    if not found and complaint is not None:
        raise complaint
    return found[:MOST_SIGNALS_PER_FILE]


def _of_contents(contents: Contents, name: str) -> list[Signal]:
    array = np.asarray(contents.array(most=LONGEST_SIGNAL + 1))  # one more, for the note that the rest is not used
    title = f"{name}, {contents.name}" if contents.name else name
    if contents.axis is None or array.ndim <= 1:
        return [checked(title, array)]
    rows = np.moveaxis(array, contents.axis, -1)
    rows = rows.reshape(-1, rows.shape[-1])[:MOST_SIGNALS_PER_FILE]
    labels = contents.labels if len(contents.labels) == len(rows) else [str(k) for k in range(1, len(rows) + 1)]
    return _measurable(title, rows, [str(label) for label in labels])


def _measurable(title: str, rows: NDArray[Any], labels: list[str]) -> list[Signal]:
    """Return those rows that can be measured; if none can, raise the complaint about the first."""
    if len(rows) == 1:
        return [checked(title, rows[0])]
    found, complaint = [], None
    for label, row in zip(labels, rows, strict=True):
        try:
            found.append(checked(f"{title}, {label}", row))
        except InvalidInput as error:
            complaint = complaint or error
    if not found and complaint is not None:
        raise complaint
    return found
