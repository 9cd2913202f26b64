"""PNG and JPEG, through Pillow: greyscale, one signal per picture."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._platform.terminal import printable
from ..errors import InvalidInput
from .file_contents import Contents, FileRequest, reading

DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")  # grey levels that 8 bits would cut off
MOST_PIXELS = 89_478_485  # as Pillow has it
DECODED_BYTES_PER_PIXEL = 5  # colours take four, and the grey level one more
STRIP_PIXELS = 1 << 20  # turned into grey levels at a time


def read_picture(request: FileRequest) -> list[Contents]:
    """Return grey levels (ITU-R 601 luma of colours, without transparency), rows by columns."""
    from PIL import Image

    if request.key is not None:
        raise InvalidInput(f"{request.name} is a picture and has no names; leave out --key {printable(request.key)}")
    most = MOST_PIXELS if request.limit is None else min(MOST_PIXELS, request.limit // DECODED_BYTES_PER_PIXEL)
    with reading(request.path, "a PNG or JPEG picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(request.path, formats=("PNG", "JPEG")) as picture:
                if picture.width * picture.height <= most:
                    return [Contents(axis=None, values=_grey_levels(picture))]
        except Image.DecompressionBombError:  # more than twice as many as Pillow takes
            pass
    raise InvalidInput(f"{request.name} has more than {most:,} pixels; cut it into pieces, or make it smaller")


def _grey_levels(picture: Any) -> NDArray[Any]:
    """Return the grey level of every pixel, without a second picture in memory."""
    picture.draft("L", None)  # JPEG files are decoded into grey levels at once
    picture.load()
    rows = max(1, STRIP_PIXELS // picture.width)
    levels: NDArray[Any] | None = None
    for top in range(0, picture.height, rows):
        bottom = min(picture.height, top + rows)
        strip = picture.crop((0, top, picture.width, bottom))
        values = np.asarray(strip if picture.mode in DEEP else strip.convert("L"))
        if levels is None:
            levels = np.empty((picture.height, picture.width), values.dtype)
        levels[top:bottom] = values
    assert levels is not None
    return levels
