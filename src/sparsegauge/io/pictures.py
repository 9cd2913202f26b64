"""PNG and JPEG, through Pillow: greyscale, one signal per picture."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, reading
from .png_strips import read_header, read_strips

DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")  # grey levels that 8 bits would cut off
MOST_PIXELS = 89_478_485  # as Pillow has it
DECODED_BYTES_PER_PIXEL = 5  # colours take four, and the grey level one more
STRIP_PIXELS = 1 << 18  # turned into grey levels at a time


def read_picture(request: FileRequest) -> list[Contents]:
    """Return grey levels (ITU-R 601 luma of colours, without transparency), rows by columns."""
    from PIL import Image

    if request.key is not None:
        raise InvalidInput(
            f"{request.name} is a picture and has no names; leave out --key {printable(', '.join(request.keys))}"
        )
    most = MOST_PIXELS if request.limit is None else min(MOST_PIXELS, request.limit // DECODED_BYTES_PER_PIXEL)
    with reading(request.path, "a PNG or JPEG picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(request.path, formats=("PNG", "JPEG")) as picture:
                if picture.width * picture.height <= most:
                    return [Contents(axis=None, values=_grey_levels(request.path, picture))]
        except Image.DecompressionBombError:  # more than twice as many as Pillow takes
            pass
    raise InvalidInput(f"{request.name} has more than {most:,} pixels; cut it into pieces, or make it smaller")


def _grey_levels(path: Path, picture: Any) -> NDArray[Any]:
    """Return the grey level of every pixel, without a second picture in memory where the format allows it."""
    width, height = picture.size
    rows = max(1, STRIP_PIXELS // width)
    levels: NDArray[Any] | None = None
    top = 0
    for strip in _strips(path, picture, rows):
        values = np.asarray(strip if strip.mode in DEEP else strip.convert("L"))
        if levels is None:
            levels = np.empty((height, width), values.dtype)
        levels[top : top + len(values)] = values
        top += len(values)
    assert levels is not None
    return levels


def _strips(path: Path, picture: Any, rows: int) -> Iterator[Any]:
    """Yield the picture in strips, decoded one at a time if possible, and otherwise cut from the whole."""
    header = read_header(path) if getattr(picture, "n_frames", 1) == 1 else None
    if header is not None:
        yield from read_strips(path, header, rows)
        return
    picture.draft("L", None)  # JPEG files are decoded into grey levels at once
    picture.load()
    for top in range(0, picture.height, rows):
        yield picture.crop((0, top, picture.width, min(picture.height, top + rows)))
