"""PNG and JPEG, through Pillow: greyscale, one signal a picture."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

from ..errors import InvalidInput
from .contents import Contents, reading, shown

DEEP = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")  # grey levels that 8 bits would cut off


def read_picture(path: Path, key: str | None, note: Callable[[str], None]) -> list[Contents]:
    """Grey levels (ITU-R 601 luma of colours, without transparency), rows by columns."""
    import numpy as np
    from PIL import Image

    if key is not None:
        raise InvalidInput(f"{shown(path)} is a picture and has no names; leave out --key {key}")
    with reading(path, "a PNG or JPEG picture"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        try:
            with Image.open(path, formats=("PNG", "JPEG")) as picture:
                grey = picture if picture.mode in DEEP else picture.convert("L")
                values = np.array(grey)
        except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
            raise InvalidInput(
                f"{shown(path)} has more than {Image.MAX_IMAGE_PIXELS:,} pixels; cut it into pieces, or make it smaller"
            ) from error
    return [Contents(axis=None, values=values)]
