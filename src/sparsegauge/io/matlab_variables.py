"""The variables of a MATLAB file of version 4, 5, 6 or 7: what they are, and the numbers of those that are arrays.

The formats are those of MathWorks' "MAT-File Format". No size that a file states is believed before it is compared with
the file, and numbers are read in pieces straight into the array that is returned, so that a file needs little more
memory than its arrays.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

import numpy as np
from numpy.typing import NDArray

PIECE_BYTES = 1 << 20
HEADER_BYTES, TAG_BYTES = 128, 8
LONGEST_NAME, MOST_DIMENSIONS = 4096, 32
MATRIX, COMPRESSED = 14, 15  # types of elements
INTEGERS, TEXTS = (5, 6), (1, 2, 16)  # types that may hold the lengths of the sides, and the name
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CLASSES = {
    1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single", 8: "int8", 9: "uint8",
    10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64", 15: "uint64", 16: "function", 17: "opaque",
}  # fmt: skip
DTYPES = {"double": "f8", "single": "f4", "logical": "?"} | {
    f"{sign}int{8 * size}": f"{sign or 'i'}{size}" for sign in ("", "u") for size in (1, 2, 4, 8)
}
LOGICAL, COMPLEX, OPAQUE = 0x200, 0x800, 17  # flags, and the class that has no sides
STORED_4 = ("f8", "f4", "i4", "i2", "u2", "u1")
CLASSES_4 = ("double", "char", "sparse")


@dataclass(frozen=True)
class Variable:
    """One variable: its name, its class as MATLAB calls it, and if it is an array of numbers how to read it."""

    name: str
    kind: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any] | None
    read: Callable[[], NDArray[Any]]

    @property
    def is_plain(self) -> bool:
        """Whether it is an array of numbers."""
        return self.dtype is not None

    @property
    def size(self) -> int:
        """The number of its entries."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """What its numbers take of memory."""
        return 0 if self.dtype is None else self.size * self.dtype.itemsize


class ByteSource(Protocol):
    """Bytes in their order, from a file or unpacked."""

    def take(self, count: int) -> bytes:
        """Return the next bytes, all of them or an error."""
        ...

    def finish(self) -> None:
        """Check what comes after the last number."""
        ...


class Stored:
    """Bytes as they are in the file, as far as the element goes."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self.file, self.left = file, left

    def take(self, count: int) -> bytes:
        """Return the next bytes of the element."""
        self.left -= count
        found = self.file.read(count) if self.left >= 0 else b""
        if len(found) < count:
            raise ValueError("a variable ends in the middle")
        return found

    def finish(self) -> None:
        """Accept whatever follows: it has no checksum."""


class Unpacked:
    """Bytes of a packed element, unpacked as they are asked for."""

    def __init__(self, file: BinaryIO, left: int) -> None:
        self.packed, self.unpacker, self.rest = Stored(file, left), zlib.decompressobj(), b""

    def take(self, count: int) -> bytes:
        """Return the next unpacked bytes."""
        pieces, missing = [], count
        while missing:
            piece = self._next(missing)
            if not piece:
                raise ValueError("a packed variable ends in the middle")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def finish(self) -> None:
        """Unpack the padding, at whose end zlib compares the checksum."""
        padding = 0
        while (piece := self._next(2 * TAG_BYTES)) and padding < TAG_BYTES:
            padding += len(piece)
        if padding >= TAG_BYTES or not self.unpacker.eof:
            raise ValueError("a packed variable does not end where its array does")

    def _next(self, most: int) -> bytes:
        """Return some of the next bytes; none at the end."""
        while not self.unpacker.eof:
            if not self.rest:
                self.rest = self.packed.take(min(PIECE_BYTES, self.packed.left))
            piece = self.unpacker.decompress(self.rest, most)
            self.rest, ended = self.unpacker.unconsumed_tail, not self.rest
            if piece or ended:
                return piece
        return b""


def variables(file: BinaryIO) -> list[Variable]:
    """Return all variables of an open file, in their order, without reading their numbers."""
    head = file.read(HEADER_BYTES)
    end = file.seek(0, 2)
    if 0 in head[:4]:  # version 4 has no text at its beginning
        return list(_variables_4(file, end))
    mark = head[126:128]
    if mark not in (b"IM", b"MI"):
        raise ValueError("it does not begin as a MATLAB file does")
    return list(_variables_5(file, end, "<" if mark == b"IM" else ">"))


def _variables_5(file: BinaryIO, end: int, endian: str) -> Iterator[Variable]:
    place = HEADER_BYTES
    while place + TAG_BYTES <= end:
        file.seek(place)
        kind, size = struct.unpack(endian + "II", file.read(TAG_BYTES))
        start, place = place + TAG_BYTES, place + TAG_BYTES + size
        if place > end:
            raise ValueError("the file ends in the middle of a variable")
        if kind not in (MATRIX, COMPRESSED):
            raise ValueError(f"there is an element of type {kind} where a variable should be")

        def opened(start: int = start, size: int = size, packed: bool = kind == COMPRESSED) -> ByteSource:
            file.seek(start)
            if not packed:
                return Stored(file, size)
            source = Unpacked(file, size)
            if struct.unpack(endian + "II", source.take(TAG_BYTES))[0] != MATRIX:
                raise ValueError("a packed element is no variable")
            return source

        variable = _variable_5(opened, endian)
        if variable.name:  # the one without a name holds what MATLAB keeps for itself
            yield variable


def _variable_5(opened: Callable[[], ByteSource], endian: str) -> Variable:
    source = opened()
    name, flags, shape = _head(source, endian)
    kind = CLASSES.get(flags & 0xFF, "unknown")
    if flags & LOGICAL and kind in DTYPES:
        kind = "logical"
    is_complex = bool(flags & COMPLEX)
    dtype = np.dtype(DTYPES[kind]) if kind in DTYPES else None
    if dtype is not None and is_complex:
        dtype = np.result_type(dtype, np.complex64)

    def read() -> NDArray[Any]:
        source = opened()
        _head(source, endian)
        assert dtype is not None
        array = np.empty(math.prod(shape), dtype)
        padding = 0
        for part in (array.real, array.imag) if is_complex else (array,):
            source.take(padding)  # after the last part it may be missing
            padding = _fill(part, source, endian)
        source.finish()
        return array.reshape(shape, order="F")

    return Variable(name, kind, shape, dtype, read)


def _head(source: ByteSource, endian: str) -> tuple[str, int, tuple[int, ...]]:
    """Return the name, the flags with the class, and the lengths of the sides, which come before the numbers."""
    flags: int = struct.unpack(endian + "II", _element(source, endian, INTEGERS, 2 * 4))[0]
    if flags & 0xFF == OPAQUE:
        return _text(_element(source, endian, TEXTS, LONGEST_NAME)), flags, (1, 1)
    sides = np.frombuffer(_element(source, endian, INTEGERS, 4 * MOST_DIMENSIONS), endian + "i4")
    if len(sides) < 2 or (sides < 0).any():
        raise ValueError("a variable has impossible sides")
    name = _text(_element(source, endian, TEXTS, LONGEST_NAME))
    return name, flags, tuple(sides.tolist())


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


def _tag(source: ByteSource, endian: str) -> tuple[int, int, ByteSource]:
    """Return the type and the size of the next element, and where its bytes come from: up to four are in its tag."""
    first = source.take(4)
    kind: int = struct.unpack(endian + "I", first)[0]
    if kind >> 16:
        held = source.take(4)
        if kind >> 16 > len(held):
            raise ValueError("an element says that its tag holds more than it can")
        return kind & 0xFFFF, kind >> 16, _Held(held)
    size: int = struct.unpack(endian + "I", source.take(4))[0]
    return kind, size, source


class _Held:
    """The bytes of an element that is held in its tag."""

    def __init__(self, held: bytes) -> None:
        self.held = held

    def take(self, count: int) -> bytes:
        found, self.held = self.held[:count], self.held[count:]
        return found

    def finish(self) -> None:
        """Leave out the padding."""


def _element(source: ByteSource, endian: str, kinds: tuple[int, ...], most: int) -> bytes:
    """Return the bytes of a small element of one of these types."""
    kind, size, place = _tag(source, endian)
    if kind not in kinds or size > most:
        raise ValueError(f"an element of type {kind} and {size:,} bytes is where the head of a variable should be")
    found = place.take(size)
    if place is source:
        source.take(-size % TAG_BYTES)
    return found


def _fill(part: NDArray[Any], source: ByteSource, endian: str) -> int:
    """Read the numbers of the next element, and return how many bytes of padding follow it.

    They may be of a smaller type than the array's: MATLAB saves space so.
    """
    kind, size, place = _tag(source, endian)
    if kind not in STORED:
        raise ValueError(f"numbers are stored as type {kind}, which is none")
    _copy(part, place, np.dtype(endian + STORED[kind]), size)
    return -size % TAG_BYTES if place is source else 0


def _copy(part: NDArray[Any], source: ByteSource, stored: np.dtype[Any], size: int) -> None:
    if size != len(part) * stored.itemsize:
        raise ValueError(f"a variable of {len(part):,} numbers has {size:,} bytes of type {stored}")
    step = PIECE_BYTES // stored.itemsize
    with np.errstate(all="ignore"):  # numbers that the type of the array does not have
        for start in range(0, len(part), step):
            stop = min(start + step, len(part))
            part[start:stop] = np.frombuffer(source.take((stop - start) * stored.itemsize), stored)


def _variables_4(file: BinaryIO, end: int) -> Iterator[Variable]:
    place = 0
    while place + 20 <= end:
        file.seek(place)
        head = file.read(20)
        endian = "<" if 0 <= struct.unpack("<i", head[:4])[0] < 5000 else ">"
        what, rows, columns, is_complex, name_bytes = struct.unpack(endian + "5i", head)
        machine, zero, number, kind = what // 1000, what // 100 % 10, what // 10 % 10, what % 10
        if machine not in (0, 1) or zero or number >= len(STORED_4) or kind >= len(CLASSES_4):
            raise ValueError("a variable has an unknown type")
        if min(rows, columns) < 0 or is_complex not in (0, 1) or not 0 < name_bytes <= LONGEST_NAME:
            raise ValueError("a variable has an impossible head")
        stored = np.dtype(endian + STORED_4[number])
        start = place + 20 + name_bytes
        place = start + rows * columns * stored.itemsize * (1 + is_complex)
        if place > end:
            raise ValueError("the file ends in the middle of a variable")
        name = _text(file.read(name_bytes).split(b"\0")[0])
        yield _variable_4(file, start, name, CLASSES_4[kind], (rows, columns), stored, bool(is_complex))


def _variable_4(
    file: BinaryIO,
    start: int,
    name: str,
    kind: str,
    shape: tuple[int, int],
    stored: np.dtype[Any],
    is_complex: bool,
) -> Variable:
    dtype = np.result_type(stored, np.complex64) if is_complex else stored.newbyteorder("=")

    def read() -> NDArray[Any]:
        file.seek(start)
        array = np.empty(math.prod(shape), dtype)
        size = len(array) * stored.itemsize
        for part in (array.real, array.imag) if is_complex else (array,):
            _copy(part, Stored(file, size), stored, size)
        return array.reshape(shape, order="F")

    return Variable(name, kind, shape, dtype if kind == "double" else None, read)
