"""JPEG pictures: decoded into the array that is returned, as Pillow has them, with limits on what libjpeg holds."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from sparsegauge import InvalidInput
from sparsegauge.io import open_file, pictures

PIXELS = np.random.default_rng(0).integers(0, 256, (9, 12, 4), dtype=np.uint8).repeat(7, 0).repeat(5, 1)
MODES = {"L": PIXELS[..., 0], "RGB": PIXELS[..., :3], "CMYK": PIXELS}


def jpeg(mode="RGB", **options):
    held = io.BytesIO()
    Image.fromarray(MODES[mode], mode).save(held, "JPEG", **options)
    return held.getvalue()


def levels(tmp_path, data, **options):
    (tmp_path / "x.jpg").write_bytes(data)
    (found,) = open_file(tmp_path / "x.jpg", **options)
    return found.array()


def in_three_scans():
    """Return a picture whose three channels, all the same, come in one scan each, and the grey levels of a channel."""
    data = jpeg("L")
    scan = data.index(b"\xff\xda")
    frame = data.index(b"\xff\xc0")
    size = int.from_bytes(data[frame + 2 : frame + 4], "big")
    channels = b"".join(bytes([number, 0x11, 0]) for number in (1, 2, 3))
    wide = b"\xff\xc0" + (size + 6).to_bytes(2, "big") + data[frame + 4 : frame + 9] + b"\x03" + channels
    pixels = data[scan + 10 : -2]
    scans = b"".join(b"\xff\xda\x00\x08\x01" + bytes([number]) + b"\x00\x00\x3f\x00" + pixels for number in (1, 2, 3))
    return data[:frame] + wide + data[frame + 2 + size : scan] + scans + b"\xff\xd9", levels_of(data)


def levels_of(data):
    with Image.open(io.BytesIO(data)) as picture:
        picture.draft("L", None)
        return np.asarray(picture.convert("L"))


@pytest.mark.filterwarnings("ignore:'mode' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}, {"quality": 20, "optimize": True}])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("strip", [1, 500, 10**6])
def test_the_levels_are_those_of_pillow(tmp_path, monkeypatch, mode, options, strip):
    monkeypatch.setattr(pictures, "STRIP_PIXELS", strip)
    data = jpeg(mode, **options)
    np.testing.assert_array_equal(levels(tmp_path, data), levels_of(data), strict=True)


def test_a_pillow_that_brings_its_own_memory_gives_the_same(tmp_path, monkeypatch):
    from PIL import JpegImagePlugin

    def prepare(self):
        self.im = Image.core.new(self.mode, self.size)

    monkeypatch.setattr(JpegImagePlugin.JpegImageFile, "load_prepare", prepare)
    np.testing.assert_array_equal(levels(tmp_path, jpeg()), levels_of(jpeg()))


def test_several_pictures_in_one_file_are_the_first(tmp_path):
    held = io.BytesIO()
    frames = [Image.fromarray(MODES["RGB"]), Image.new("RGB", (60, 63))]
    frames[0].save(held, "MPO", save_all=True, append_images=frames[1:])
    np.testing.assert_array_equal(levels(tmp_path, held.getvalue()), levels_of(held.getvalue()))


def test_channels_in_scans_of_their_own(tmp_path):
    data, expected = in_three_scans()
    np.testing.assert_array_equal(levels(tmp_path, data), expected)


def needed(kind):
    """A picture, and what libjpeg needs for it beside the grey levels, in bytes per pixel."""
    return {
        "progressive grey": (jpeg("L", progressive=True), 2),
        "progressive": (jpeg(progressive=True), 3),
        "progressive, full colours": (jpeg(progressive=True, subsampling=0), 6),
        "three scans": (in_three_scans()[0], 6),
        "for printing": (jpeg("CMYK"), 4),
        "for printing, progressive": (jpeg("CMYK", progressive=True, subsampling=0), 12),
    }[kind]


@pytest.mark.filterwarnings("ignore:'mode' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "kind",
    [
        "progressive grey", "progressive", "progressive, full colours", "three scans", "for printing",
        "for printing, progressive",
    ],
)  # fmt: skip
def test_what_libjpeg_needs_beside_is_limited(tmp_path, monkeypatch, kind):
    data, per_pixel = needed(kind)
    pixels = levels_of(data).size
    monkeypatch.setattr(pictures, "MOST_DECODER_BYTES", per_pixel * pixels)
    assert levels(tmp_path, data).size == pixels
    assert levels(tmp_path, data, limit=(1 + per_pixel) * pixels).size == pixels
    with pytest.raises(InvalidInput, match="in several scans or for printing"):
        levels(tmp_path, data, limit=(1 + per_pixel) * pixels - 1)
    monkeypatch.setattr(pictures, "MOST_DECODER_BYTES", per_pixel * pixels - 1)
    with pytest.raises(InvalidInput, match="in several scans or for printing"):
        levels(tmp_path, data)
    monkeypatch.setattr(pictures, "MOST_DECODER_BYTES", 0)
    assert levels(tmp_path, jpeg()).size == pixels
