"""PNG pictures in strips: Pillow decodes a whole picture at once, at four bytes per pixel for colours.

A strip is handed to Pillow as a small PNG picture of its own: the filtered rows as they are in the file, after the last
row of the strip before, to which their filters refer.
"""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the colour type of the header
PIECE_BYTES = 1 << 16
KEPT = (b"PLTE", b"tRNS")  # chunks that decide which colours the pixels have


@dataclass(frozen=True)
class Header:
    """What the first chunk of a PNG picture says."""

    width: int
    height: int
    depth: int
    colour: int
    interlaced: bool

    @property
    def row_bytes(self) -> int:
        """The bytes of a row, with that of its filter."""
        return 1 + self.width * CHANNELS[self.colour] * self.depth // 8


def read_header(path: Path) -> Header | None:
    """Return the header of a PNG picture that can be read in strips, else None.

    Pillow must give the bytes of a row back as they are: 8 bits per channel, or 16 for grey levels; not interlaced.
    """
    with path.open("rb") as file:
        head = file.read(29)
    if len(head) < 29 or not head.startswith(SIGNATURE) or head[12:16] != b"IHDR":
        return None
    width, height, depth, colour, packing, filters, interlaced = struct.unpack(">IIBBBBB", head[16:29])
    header = Header(width, height, depth, colour, bool(interlaced))
    is_exact = (depth == 8 and colour in CHANNELS) or (depth, colour) == (16, 0)
    is_plain = is_exact and not (packing or filters or interlaced)
    return header if is_plain and width and height else None


def read_strips(path: Path, header: Header, rows: int) -> Iterator[Any]:
    """Yield Pillow pictures of so many rows each, from the top; the last may have fewer."""
    from PIL import Image

    with path.open("rb") as file:
        file.seek(len(SIGNATURE))
        kept: list[bytes] = []
        before = b""
        for raw in _unpack(_image_data(file, kept), header, rows):
            count = len(raw) // header.row_bytes
            extra = 1 if before else 0
            small = _small_picture(header, count + extra, kept, (b"\0" + before if before else b"") + raw)
            with Image.open(io.BytesIO(small), formats=("PNG",)) as picture:
                picture.load()
                before = _row_bytes(picture.crop((0, count + extra - 1, header.width, count + extra)), header)
                yield picture.crop((0, extra, header.width, count + extra))


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
            elif kind in KEPT:
                pieces.append(piece)
        if file.read(4) != struct.pack(">I", checksum):
            raise ValueError("a chunk does not have its checksum")
        if kind in KEPT:
            kept.append(_chunk(kind, b"".join(pieces)))


def _unpack(pieces: Iterator[bytes], header: Header, rows: int) -> Iterator[bytes]:
    """Yield the filtered rows, so many at a time, and never more in memory than that."""
    unpacker, raw, left = zlib.decompressobj(), bytearray(), header.height
    for piece in pieces:
        packed = piece
        while True:
            wanted = min(rows, left) * header.row_bytes
            raw += unpacker.decompress(packed, wanted - len(raw))
            packed = unpacker.unconsumed_tail
            if len(raw) == wanted:
                yield bytes(raw)
                left -= min(rows, left)
                raw.clear()
                if not left:
                    _finish(pieces)
                    return
            elif not packed:
                break
    raise OSError("the file ends before its last row")


def _finish(pieces: Iterator[bytes]) -> None:
    """Read the rest of the file, so that the checksums of all chunks are compared."""
    for _ in pieces:
        pass


def _small_picture(header: Header, height: int, kept: list[bytes], rows: bytes) -> bytes:
    facts = struct.pack(">IIBBBBB", header.width, height, header.depth, header.colour, 0, 0, 0)
    return b"".join(
        [SIGNATURE, _chunk(b"IHDR", facts), *kept, _chunk(b"IDAT", zlib.compress(rows, 0)), _chunk(b"IEND", b"")]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
