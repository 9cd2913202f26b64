"""PNG and JPEG, through Pillow: greyscale, one signal per picture."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, reading
from .png_strips import read_header, read_strips

DEEP_MODES = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")  # grey levels of more than 8 bits
MOST_PIXELS = 89_478_485  # the limit of Pillow
MOST_COLUMNS = 1 << 19  # a row is in memory as a whole, several times; libpng takes 1,000,000, JPEG has 65,535
MOST_DECODER_BYTES = 1 << 28  # of libjpeg, besides the grey levels
COEFFICIENT_BYTES = 2  # of libjpeg, which holds those of a whole progressive picture
START_OF_SCAN = 0xDA
STRIP_PIXELS = 1 << 18  # turned into grey levels at a time


def read_picture(request: FileRequest) -> list[Contents]:
    """Return grey levels (ITU-R 601 luma of colours, without transparency), rows by columns."""
    from PIL import Image

    if request.key is not None:
        raise InvalidInput(
            f"{request.name} is a picture and has no names; leave out --key {printable(', '.join(request.keys))}"
        )
    most = MOST_PIXELS if request.limit is None else min(MOST_PIXELS, request.limit)
    with reading(request.path, "a PNG or JPEG picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(request.path, formats=("PNG", "JPEG")) as picture:
                if picture.width * picture.height <= most and picture.width <= MOST_COLUMNS:
                    return [Contents(axis=None, values=_grey_levels(request, picture))]
        except Image.DecompressionBombError:  # more than twice as many as Pillow takes
            pass
    raise InvalidInput(
        f"{request.name} has more than {most:,} pixels, or more than {MOST_COLUMNS:,} columns; cut it into pieces, or "
        "make it smaller"
    )


def _grey_levels(request: FileRequest, picture: Any) -> NDArray[Any]:
    """Return the grey level of every pixel."""
    if picture.format == "PNG":
        return _from_strips(request.path, picture)
    picture.draft("L", None)  # JPEG files are decoded into grey levels at once, if their colours have one
    _refuse_much_beside(request, picture)
    if picture.mode == "L":
        return _decoded_in_place(picture)
    levels = np.empty((picture.height, picture.width), np.uint8)
    picture.load()
    rows = _strip_rows(picture)
    for top in range(0, picture.height, rows):
        bottom = min(picture.height, top + rows)
        levels[top:bottom] = np.asarray(picture.crop((0, top, picture.width, bottom)).convert("L"))
    return levels


def _strip_rows(picture: Any) -> int:
    return max(1, STRIP_PIXELS // int(picture.width))


def _from_strips(path: Path, picture: Any) -> NDArray[Any]:
    """Return the grey levels of a PNG picture, of which only a strip is decoded at a time."""
    header = read_header(path)
    if header is None:
        raise ValueError("its header is wrong")
    levels = np.empty(
        (header.height, header.width), np.uint16 if header.depth == 16 and header.colour == 0 else np.uint8
    )
    for place, strip in read_strips(path, header, _strip_rows(picture)):
        levels[place] = np.asarray(strip if strip.mode in DEEP_MODES else strip.convert("L"))
    return levels


def _decoded_in_place(picture: Any) -> NDArray[Any]:
    """Return the grey levels of a picture, decoded into the array and not into memory of Pillow's own."""
    from PIL import Image

    levels = np.empty((picture.height, picture.width), np.uint8)
    view = Image.frombuffer("L", picture.size, levels, "raw", "L", 0, 1).im
    picture.im = view
    picture.load()
    if picture.im is not view:  # a Pillow that brings memory of its own
        levels[...] = np.asarray(picture)
    return levels


def _refuse_much_beside(request: FileRequest, picture: Any) -> None:
    """Refuse a JPEG picture for which libjpeg needs much memory beside the grey levels, before it is decoded.

    It holds the coefficients of a whole picture that comes in several scans, and four colours of every pixel of one for
    printing (CMYK).
    """
    sides = [(across, down) for _, across, down, _ in picture.layer]
    per_pixel = 0 if picture.mode == "L" else 4
    if picture.info.get("progressive") or _channels_of_first_scan(request.path) < len(sides):
        full = max(across for across, _ in sides) * max(down for _, down in sides)
        per_pixel += math.ceil(COEFFICIENT_BYTES * sum(across * down for across, down in sides) / full)
    pixels = picture.width * picture.height
    most = MOST_DECODER_BYTES if request.limit is None else min(MOST_DECODER_BYTES, request.limit - pixels)
    if per_pixel * pixels > most:
        raise InvalidInput(
            f"{request.name} is a JPEG picture in several scans or for printing: to decode it takes "
            f"{per_pixel * pixels:,} bytes beside its grey levels, and {most:,} are allowed; save it as PNG, or smaller"
        )


def _channels_of_first_scan(path: Path) -> int:
    """Return how many channels come together in the first scan of a JPEG picture."""
    with path.open("rb") as file:
        file.seek(2)
        while len(head := file.read(2)) == 2 and head[0] == 0xFF:
            if head[1] == 0xFF:  # fill bytes
                file.seek(-1, 1)
                continue
            size = int.from_bytes(file.read(2), "big")
            if head[1] == START_OF_SCAN:
                return int.from_bytes(file.read(1), "big")
            file.seek(max(0, size - 2), 1)
    raise ValueError("it has no scan")
