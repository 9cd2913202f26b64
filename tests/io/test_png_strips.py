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
from sparsegauge.io.png_strips import DEPTHS, PALETTE, SIGNATURE, Header, _chunk, _parts, read_header

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
        return np.asarray(found if found.mode in pictures.DEEP_MODES else found.convert("L"))


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
    np.testing.assert_array_equal(levels(tmp_path / "x.png"), whole(tmp_path / "x.png"), strict=True)


def write_rows(path, depth, colour, *, filters=None, shape=(31, 17), interlaced=False, chunks=(), seed=0):
    """Write a picture of random bytes, with chosen filters or a random one per row."""
    dice = np.random.default_rng(seed)
    header = Header(shape[1], shape[0], depth, colour, interlaced)
    data = b""
    for part, _ in _parts(header):
        if part.width and part.height:
            rows = dice.integers(0, 256, (part.height, part.row_bytes), dtype=np.uint8)
            rows[:, 0] = dice.integers(0, 5, part.height) if filters is None else filters
            data += rows.tobytes()
    facts = struct.pack(">IIBBBBB", shape[1], shape[0], depth, colour, 0, 0, int(interlaced))
    packed = zlib.compress(data)
    pieces = [_chunk(b"IDAT", packed[i : i + 7]) for i in range(0, len(packed), 7)]
    palette = [_chunk(b"PLTE", dice.bytes(3 << depth))] if colour == PALETTE else []
    path.write_bytes(b"".join([SIGNATURE, _chunk(b"IHDR", facts), *palette, *chunks, *pieces, _chunk(b"IEND", b"")]))


KINDS = [(depth, colour) for colour, depths in DEPTHS.items() for depth in depths]


@pytest.mark.parametrize("filters", [0, 1, 2, 3, 4, None], ids=str)
@pytest.mark.parametrize(("depth", "colour"), KINDS)
def test_every_filter_is_undone_across_strips(tmp_path, monkeypatch, filters, depth, colour):
    path = tmp_path / "x.png"
    write_rows(path, depth, colour, filters=filters)
    for rows in (1, 4, 31):
        monkeypatch.setattr(pictures, "STRIP_PIXELS", rows * 17)
        np.testing.assert_array_equal(levels(path), whole(path), strict=True)


@pytest.mark.parametrize("shape", [(31, 17), (8, 8), (1, 1), (1, 9), (5, 1), (3, 2), (2, 40)])
@pytest.mark.parametrize(("depth", "colour"), KINDS)
def test_interlaced_pictures_are_put_together(tmp_path, monkeypatch, depth, colour, shape):
    path = tmp_path / "x.png"
    write_rows(path, depth, colour, shape=shape, interlaced=True, seed=1)
    for rows in (1, 3, 100):
        monkeypatch.setattr(pictures, "STRIP_PIXELS", rows * shape[1])
        np.testing.assert_array_equal(levels(path), whole(path), strict=True)


def test_of_an_animation_the_first_picture_is_read(tmp_path):
    frames = [Image.fromarray(NOISY[..., :3].astype(np.uint8)), Image.new("RGB", (23, 37))]
    for first in (True, False):
        frames[0].save(tmp_path / "x.png", save_all=True, append_images=frames[1:] * 2, default_image=first)
        with Image.open(tmp_path / "x.png") as found:
            assert found.n_frames > 1
        np.testing.assert_array_equal(levels(tmp_path / "x.png"), whole(tmp_path / "x.png"), strict=True)


@pytest.mark.parametrize("bad", [(3, 0), (16, 3), (4, 2), (8, 5)])
def test_impossible_depths_are_a_sentence(tmp_path, bad):
    facts = struct.pack(">IIBBBBB", 5, 5, *bad, 0, 0, 0)
    (tmp_path / "x.png").write_bytes(SIGNATURE + _chunk(b"IHDR", facts) + _chunk(b"IDAT", zlib.compress(bytes(999))))
    assert read_header(tmp_path / "x.png") is None
    with pytest.raises(sg.InvalidInput, match=r"x\.png"):
        levels(tmp_path / "x.png")


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
