"""Files of text in pieces of whole lines, as UTF-8 with one kind of line end."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .._platform.terminal import printable
from ..errors import InvalidInput

UTF_8, UTF_16 = "utf-8", "utf-16"
ENCODING_SAMPLE_BYTES = 1 << 16
TEXT_BLOCK_BYTES = 1 << 20  # which take up to sixteen times as much memory while they are parsed


def find_encoding(path: Path) -> str:
    """Return UTF-16 for files that say so, else UTF-8; refuse what is not text."""
    with path.open("rb") as file:
        head = file.read(ENCODING_SAMPLE_BYTES)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    if b"\0" in head:
        raise InvalidInput(f"{printable(path)} is not text but binary data; give it the ending of what it is")
    return UTF_8


def read_pieces(path: Path, encoding: str, *, skip: int = 0, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield (number of its first line, whole lines) without the first `skip` lines; a line is never cut."""
    line = 1
    with path.open("rb") as file:
        for piece in _whole_lines(_utf_8(file, encoding), size or TEXT_BLOCK_BYTES):
            start = 0
            while line <= skip and start < len(piece):
                start = (piece.find(b"\n", start) + 1) or len(piece)
                line += 1
            rest = piece[start:] if start else piece
            if rest:
                yield line, rest
                line += rest.count(b"\n")


def _utf_8(file: IO[bytes], encoding: str) -> IO[bytes]:
    if encoding == UTF_16:
        return codecs.EncodedFile(file, UTF_8, UTF_16, "replace")
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
    return file


def _whole_lines(file: IO[bytes], size: int) -> Iterator[bytes]:
    waiting: list[bytes] = []  # the beginning of a line that goes on
    while block := file.read(size):
        end = block.rfind(b"\n") + 1
        if end:
            yield _one_line_end(b"".join([*waiting, block[:end]]))
            waiting = [block[end:]] if end < len(block) else []
        else:
            waiting.append(block)
    if waiting:
        yield _one_line_end(b"".join(waiting))


def _one_line_end(piece: bytes) -> bytes:
    return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece
