"""PNG pictures in strips give what Pillow makes of the whole picture."""

from __future__ import annotations

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image

import sparsegauge as sg
from sparsegauge.io import open_file, pictures
from sparsegauge.io.png_strips import SIGNATURE, _chunk, read_header, read_strips

RNG = np.random.default_rng(0)
SMOOTH = np.add.outer(np.arange(37), np.arange(23))[..., None] * [3, 5, 7, 2] % 256  # so that filters of all kinds pay
NOISY = RNG.integers(0, 256, (37, 23, 4))


def picture(mode, pixels):
    if mode == "I;16":
        return Image.fromarray((pixels[..., 0] * 257 + pixels[..., 1]).astype(np.uint16))
    return Image.fromarray(pixels.astype(np.uint8), "RGBA").convert(mode)


def whole(path):
    with Image.open(path) as found, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of palettes with transparency, which grey levels have not
        return np.asarray(found if found.mode in pictures.DEEP else found.convert("L"))


def levels(path):
    (found,) = open_file(path)
    return found.array()


@pytest.mark.filterwarnings("ignore:'mode' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA", "I;16", "1"])
@pytest.mark.parametrize("pixels", [SMOOTH, NOISY], ids=["smooth", "noisy"])
@pytest.mark.parametrize("strip", [1, 23, 50, 300, 10**6])
def test_strips_are_the_whole_picture(tmp_path, monkeypatch, mode, pixels, strip):
    monkeypatch.setattr(pictures, "STRIP_PIXELS", strip)
    picture(mode, pixels).save(tmp_path / "x.png", optimize=True)
    np.testing.assert_array_equal(levels(tmp_path / "x.png"), whole(tmp_path / "x.png"))
    assert (read_header(tmp_path / "x.png") is None) == (mode == "1")


@pytest.mark.parametrize("filters", [0, 1, 2, 3, 4, None], ids=str)
@pytest.mark.parametrize("colour", [0, 2, 4, 6])
def test_every_filter_is_undone_across_strips(tmp_path, filters, colour):
    """The filters of rows are chosen here; None takes a random one per row."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    rows = RNG.integers(0, 256, (31, 17 * channels), dtype=np.uint8)
    kinds = RNG.integers(0, 5, 31) if filters is None else np.full(31, filters)
    data = b"".join(bytes([kind]) + row.tobytes() for kind, row in zip(kinds.tolist(), rows, strict=True))
    facts = struct.pack(">IIBBBBB", 17, 31, 8, colour, 0, 0, 0)
    packed = zlib.compress(data)
    pieces = [_chunk(b"IDAT", packed[i : i + 7]) for i in range(0, len(packed), 7)]
    path = tmp_path / "x.png"
    path.write_bytes(b"".join([SIGNATURE, _chunk(b"IHDR", facts), *pieces, _chunk(b"IEND", b"")]))
    expected = np.asarray(Image.open(path))
    for count in (1, 4, 31):
        found = np.concatenate([np.asarray(strip) for strip in read_strips(path, read_header(path), count)])
        np.testing.assert_array_equal(found, expected)


def test_transparency_of_colours_and_palettes_is_that_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "STRIP_PIXELS", 50)
    rgb = Image.fromarray(NOISY[..., :3].astype(np.uint8))
    for name, made, transparency in (("rgb", rgb, (1, 2, 3)), ("p", rgb.convert("P"), 5)):
        made.save(tmp_path / f"{name}.png", transparency=transparency)
        np.testing.assert_array_equal(levels(tmp_path / f"{name}.png"), whole(tmp_path / f"{name}.png"))


def damaged(change):
    held = io.BytesIO()
    Image.fromarray(NOISY[..., :3].astype(np.uint8)).save(held, "PNG")
    return change(bytearray(held.getvalue()))


def taller(data):
    facts = struct.pack(">IIBBBBB", 23, 99, 8, 2, 0, 0, 0)
    return data[:8] + _chunk(b"IHDR", facts) + data[33:]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-20],
        lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
        taller,
        lambda data: data[:33] + data[-12:],
        lambda data: data[:33],
        lambda data: data[:20],
    ],
    ids=["half", "a few bytes less", "one bit", "rows missing", "no pixels", "header alone", "half a header"],
)
def test_a_damaged_picture_is_a_sentence(tmp_path, change):
    (tmp_path / "x.png").write_bytes(damaged(change))
    with pytest.raises(sg.InvalidInput, match=r"x\.png"):
        levels(tmp_path / "x.png")


def test_an_interlaced_picture_is_left_to_pillow(tmp_path):
    facts = struct.pack(">IIBBBBB", 5, 5, 8, 0, 0, 0, 1)
    (tmp_path / "x.png").write_bytes(SIGNATURE + _chunk(b"IHDR", facts))
    assert read_header(tmp_path / "x.png") is None
