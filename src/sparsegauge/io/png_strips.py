"""PNG pictures in strips: Pillow decodes a whole picture at once, at four bytes per pixel for colours.

A strip is handed to Pillow as a small PNG picture of its own: the filtered rows as they are in the file, after the last
row of the strip before, to which their filters refer. A filter takes each byte together with those of the same place in
the pixel before and in the row before. So the filters of rows of less than 8 bits per pixel are undone as if these were
8-bit grey levels. Of 16-bit colours Pillow shows the higher bytes; the lower ones are left out before.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the colour type of the header
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
GREY, PALETTE = 0, 3
PIECE_BYTES = 1 << 16
COLOUR_CHUNKS = (b"PLTE", b"tRNS")  # which decide what colours the pixels have
INTERLACING = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
# left, top, and the steps across and down of the seven pictures that an interlaced one consists of

Place = tuple[slice, slice]


@dataclass(frozen=True)
class Header:
    """What the first chunk of a PNG picture says."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool = False

    @property
    def row_bytes(self) -> int:
        """The bytes of a row, with that of its filter."""
        return 1 + (self.width * CHANNELS[self.colour] * self.depth + 7) // 8

    @property
    def is_packed(self) -> bool:
        """Whether a byte holds several pixels."""
        return self.depth < 8

    @property
    def has_deep_colours(self) -> bool:
        """Whether Pillow shows half of the bits."""
        return self.depth == 16 and self.colour != GREY

    def unfiltered(self) -> Header:
        """Return the header of the pictures by which the filters are undone."""
        if self.is_packed:
            return Header(self.row_bytes - 1, self.height, 8, GREY)
        return replace(self, depth=8) if self.has_deep_colours else self


def read_header(path: Path) -> Header | None:
    """Return the header of a PNG picture, or None if it is none that can be read."""
    with path.open("rb") as file:
        head = file.read(29)
    if len(head) < 29 or not head.startswith(SIGNATURE) or head[12:16] != b"IHDR":
        return None
    width, height, depth, colour, packing, filters, interlaced = struct.unpack(">IIBBBBB", head[16:29])
    is_legal = depth in DEPTHS.get(colour, ()) and not (packing or filters) and interlaced in (0, 1)
    return Header(width, height, depth, colour, bool(interlaced)) if is_legal and width and height else None


def read_strips(path: Path, header: Header, rows: int) -> Iterator[tuple[Place, Any]]:
    """Yield Pillow pictures of at most this many rows each, and the rows and columns of the whole that they cover."""
    parts = [(part, place) for part, place in _parts(header) if part.width and part.height]
    sizes = [
        (part, place, top, min(rows, part.height - top)) for part, place in parts for top in range(0, part.height, rows)
    ]
    with path.open("rb") as file:
        file.seek(len(SIGNATURE))
        kept: list[bytes] = []
        before = b""
        raws = _unpack(_image_data(file, kept), [count * part.row_bytes for part, _, _, count in sizes])
        for (part, (down, across), top, count), raw in zip(sizes, raws, strict=True):
            strip, before = _decode(part, count, kept, before if top else b"", raw)
            yield (
                (slice(down.start + top * down.step, down.start + (top + count) * down.step, down.step), across),
                strip,
            )


def _parts(header: Header) -> Iterator[tuple[Header, Place]]:
    """Yield the pictures of which the whole consists, one after the other in the file, and where their pixels are."""
    if not header.interlaced:
        yield header, (slice(0, None, 1), slice(0, None, 1))
        return
    for left, top, across, down in INTERLACING:
        width, height = -((left - header.width) // across), -((top - header.height) // down)
        part = Header(max(0, width), max(0, height), header.depth, header.colour)
        yield part, (slice(top, None, down), slice(left, None, across))


def _decode(part: Header, count: int, kept: list[bytes], before: bytes, raw: bytes) -> tuple[Any, bytes]:
    """Return a strip as a picture, and its last row without its filter, to which the next strip refers."""
    plain = part.unfiltered()
    if part.has_deep_colours:
        filtered = np.frombuffer(raw, np.uint8).reshape(count, part.row_bytes)
        raw = np.delete(filtered, np.s_[2::2], axis=1).tobytes()
    extra = 1 if before else 0
    chunks = [] if part.is_packed or part.has_deep_colours else kept
    picture = _picture(plain, count + extra, chunks, (b"\0" + before if before else b"") + raw)
    last = _row_bytes(picture.crop((0, count + extra - 1, plain.width, count + extra)), plain)
    strip = picture.crop((0, extra, plain.width, count + extra))
    if part.is_packed:
        unfiltered = np.insert(np.asarray(strip), 0, 0, axis=1)
        strip = _picture(part, count, kept, unfiltered.tobytes())
    return strip, last


def _picture(header: Header, height: int, kept: list[bytes], rows: bytes) -> Any:
    """Return a picture that Pillow has decoded."""
    from PIL import Image

    facts = struct.pack(">IIBBBBB", header.width, height, header.depth, header.colour, 0, 0, 0)
    chunks = [_chunk(b"IHDR", facts), *kept, _chunk(b"IDAT", zlib.compress(rows, 0)), _chunk(b"IEND", b"")]
    with Image.open(io.BytesIO(b"".join([SIGNATURE, *chunks])), formats=("PNG",)) as picture:
        picture.load()
        return picture


def _row_bytes(row: Any, header: Header) -> bytes:
    """Return a decoded row as the file has it: deep grey levels with the higher byte first."""
    held: bytes = row.tobytes()
    if header.depth == 8:
        return held
    swapped = bytearray(held)
    swapped[0::2], swapped[1::2] = held[1::2], held[0::2]
    return bytes(swapped)


def _image_data(file: BinaryIO, kept: list[bytes]) -> Iterator[bytes]:
    """Yield the compressed pixels in pieces, and put the chunks that come before them and matter into `kept`."""
    while len(head := file.read(8)) == 8:
        length, kind = struct.unpack(">I4s", head)
        if kind == b"IEND":
            return
        checksum, pieces = zlib.crc32(kind), []
        while length:
            piece = file.read(min(length, PIECE_BYTES))
            if not piece:
                raise OSError("the file ends in the middle of a chunk")
            checksum, length = zlib.crc32(piece, checksum), length - len(piece)
            if kind == b"IDAT":
                yield piece
            elif kind in COLOUR_CHUNKS:
                pieces.append(piece)
        if file.read(4) != struct.pack(">I", checksum):
            raise ValueError("a chunk does not have its checksum")
        if kind in COLOUR_CHUNKS:
            kept.append(_chunk(kind, b"".join(pieces)))


def _unpack(pieces: Iterator[bytes], sizes: list[int]) -> Iterator[bytes]:
    """Yield the filtered rows, this many bytes at a time, and never hold more than that in memory."""
    unpacker, packed, raw = zlib.decompressobj(), b"", bytearray()
    for size in sizes:
        while len(raw) < size:
            if not packed:
                packed = next(pieces, b"")
                if not packed:
                    raise OSError("the file ends before its last row")
            raw += unpacker.decompress(packed, size - len(raw))
            packed = unpacker.unconsumed_tail
        yield bytes(raw)
        raw.clear()
    _finish(pieces)


def _finish(pieces: Iterator[bytes]) -> None:
    """Read the rest of the file, so that the checksums of all chunks are compared."""
    for _ in pieces:
        pass


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
