"""Readers: what was written comes back, numbers as text too."""

from __future__ import annotations

import importlib
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.io.wavfile
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from reading import only, read, refuse, write_24_bit

from io_samples import GREY, SOUND, TABLE, WRITERS, X, write_parquet
from sparsegauge import MissingExtra
from sparsegauge.io import FORMATS
from strategies import law

# What was written comes back


def test_there_is_a_writer_for_every_format():
    assert WRITERS.keys() == FORMATS.keys()


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", ">f8", "i1", "u2", "i8", "?", "c16", "c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_numbers_in_any_order(tmp_path, dtype, order):
    x = np.array(10 * TABLE, dtype=dtype, order=order)
    np.save(tmp_path / "x.npy", x)
    found = only(tmp_path / "x.npy")
    np.testing.assert_array_equal(found.array(), x)
    assert (found.axis, found.array().dtype) == (-1, x.dtype)


def test_npz_gives_every_array_of_numbers_or_the_one_named(tmp_path, notes):
    np.savez(tmp_path / "x.npz", a=X, words=np.array(["u", "v"]), empty=np.empty(0), b=TABLE)
    found = read(tmp_path / "x.npz", note=notes.append)
    assert list(found) == ["a", "b"]
    np.testing.assert_array_equal(found["b"], TABLE)
    assert [("words" in note, "empty" in note) for note in notes] == [(True, False), (False, True)]
    assert list(read(tmp_path / "x.npz", key="b")) == ["b"]
    assert "it has 'a', 'b'" in refuse(tmp_path / "x.npz", "no array of numbers called 'words'", key="words")


@pytest.mark.parametrize(
    ("dtype", "scale"), [("u1", 2.0**7), ("<i2", 2.0**15), ("<i4", 2.0**31), ("<f4", 1.0), ("<f8", 1.0)]
)
def test_wav_is_scaled_to_one(tmp_path, dtype, scale):
    samples = np.array([[0.5, -0.25], [-1, 0], [0, 0.75]])
    stored = samples * scale + 128 if dtype == "u1" else samples * scale
    scipy.io.wavfile.write(tmp_path / "x.wav", 44100, stored.astype(dtype))
    found = only(tmp_path / "x.wav")
    np.testing.assert_array_equal(found.array(), samples)
    assert (found.axis, found.rate, found.labels) == (0, 44100, ("channel 1", "channel 2"))


def test_wav_of_24_bits_and_of_one_channel(tmp_path):
    samples = np.array([[0.5], [-1], [-0.25], [2.0**-23]])
    write_24_bit(tmp_path / "x.wav", samples * 2.0**31)
    found = only(tmp_path / "x.wav")
    np.testing.assert_array_equal(found.array(), samples[:, 0])
    assert found.labels == ()


def test_wav_with_an_extensible_header_and_chunks_of_editors(tmp_path):
    data = bytes(range(36))
    tail = struct.pack("<HIH", 24, 3, 1) + bytes.fromhex("000000001000800000aa00389b71")
    form = struct.pack("<HHIIHHH", 0xFFFE, 2, 8000, 48000, 6, 24, 22) + tail
    parts = [(b"fmt ", form), (b"note", b"abcd"), (b"data", data)]
    chunks = b"".join(name + struct.pack("<I", len(body)) + body for name, body in parts)
    (tmp_path / "x.wav").write_bytes(b"RIFF" + struct.pack("<I", len(chunks) + 4) + b"WAVE" + chunks)
    expected = np.array([int.from_bytes(data[i : i + 3], "little", signed=True) for i in range(0, 36, 3)])
    np.testing.assert_allclose(only(tmp_path / "x.wav").array().ravel(), expected / 2.0**23, rtol=1e-12)


def test_a_channel_can_be_chosen(tmp_path):
    scipy.io.wavfile.write(tmp_path / "x.wav", 8000, SOUND)
    found = only(tmp_path / "x.wav", key="channel 2")
    np.testing.assert_array_equal(found.array()[:, 0], SOUND[:, 1] / 2.0**15)
    assert found.labels == ("channel 2",)


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "P", "1", "LA"])
def test_pictures_become_grey(tmp_path, mode):
    grey = np.where(GREY % 2, 255, 0).astype(np.uint8)
    Image.fromarray(grey).convert(mode).save(tmp_path / "x.png")
    found = only(tmp_path / "x.png")
    np.testing.assert_array_equal(found.array(), grey)
    assert found.axis is None


def test_deep_pictures_keep_their_grey_levels(tmp_path):
    deep = (800 * np.arange(80)).astype(np.uint16).reshape(8, 10)
    Image.fromarray(deep).save(tmp_path / "x.png")
    np.testing.assert_array_equal(only(tmp_path / "x.png").array(), deep)


def test_parquet_gives_numbers_with_nan_for_nulls(tmp_path, notes):
    write_parquet(tmp_path / "x.parquet", f=[1.5, None, 3.0], i=[1, None, 3], b=[True, False, None], s=["a", "b", "c"])
    found = only(tmp_path / "x.parquet", note=notes.append)
    nan = np.nan
    np.testing.assert_array_equal(found.array(), [[1.5, 1, 1], [nan, nan, 0], [3, 3, nan]])
    assert (found.labels, found.axis) == (("f", "i", "b"), 0)
    assert len(notes) == 1
    assert "'s'" in notes[0]


def test_parquet_without_pyarrow_names_the_pip_command(tmp_path, monkeypatch):
    write_parquet(tmp_path / "x.parquet", a=X)

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    refuse(tmp_path / "x.parquet", r"pip install 'sparsegauge\[study\]'", MissingExtra)


# Text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", "   ", ", "])
@pytest.mark.parametrize("header", [None, ["a", "b", "c", "d"]])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".txt"])
def test_text_with_any_delimiter_with_or_without_a_header(tmp_path, delimiter, header, ending):
    lines = [delimiter.join(map(repr, row)) for row in TABLE.tolist()]
    lines = [delimiter.join(header), *lines] if header else lines
    path = tmp_path / f"x{ending}"
    path.write_text("\n".join(lines), encoding="utf-8")
    found = only(path)
    np.testing.assert_array_equal(found.array(), TABLE)
    assert found.labels == tuple(header or [f"column {i}" for i in (1, 2, 3, 4)])


def text(path, written, **options):
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    return only(path, **options)


@pytest.mark.parametrize(
    ("written", "values", "labels"),
    [
        ("1\n2\n3\n", [1, 2, 3], ()),
        ("x\n1\n2\n", [[1], [2]], ("x",)),
        ("1,2,3\n", [1, 2, 3], ()),
        ("1 2 3", [1, 2, 3], ()),
        ("a,b\n1,2\n", [[1, 2]], ("a", "b")),
        ("# a b\n1 2\n3 4\n", [[1, 2], [3, 4]], ("a", "b")),
        ("# made by hand\n\n1,2\n# a remark\n\n3,4\n", [[1, 2], [3, 4]], ("column 1", "column 2")),
        ("Zeit;Größe\n0,5;1,5\n1;-2,25\n", [[0.5, 1.5], [1, -2.25]], ("Zeit", "Größe")),
        ("\ufeffa,b\r\n1,2\r\n3,4\r\n", [[1, 2], [3, 4]], ("a", "b")),
        ('"a,1","b"\n"1","2.5"\n"3","4"\n', [[1, 2.5], [3, 4]], ("a,1", "b")),
        ("a,b\n1,\nNA,4\n", [[1, np.nan], [np.nan, 4]], ("a", "b")),
        ("a,b,\n1,2,\n3,4,\n", [[1, 2], [3, 4]], ("a", "b")),
        ("1e3,-.5\n+2,1E-2\n", [[1000, -0.5], [2, 0.01]], ("column 1", "column 2")),
        ("2020,2021\n1,2\n", [[2020, 2021], [1, 2]], ("column 1", "column 2")),
        ("a\x1b[31m,b\n1,2\n3,4\n", [[1, 2], [3, 4]], ("a�[31m", "b")),
        ("a,b\n1,2\n".encode("utf-16"), [[1, 2]], ("a", "b")),
        ("Größe,b\n1,2\n3,4\n".encode("latin-1"), [[1, 2], [3, 4]], ("Gr��e", "b")),
        ("nan\n1\n2\n5\n", [np.nan, 1, 2, 5], ()),
        ("-\n1\n2", [np.nan, 1, 2], ()),
        ("NA,?\n1,2\n", [[np.nan, np.nan], [1, 2]], ("column 1", "column 2")),
        ("NA,b\n1,2\n", [[1, 2]], ("NA", "b")),
        ("1 2 nan 4", [1, 2, np.nan, 4], ()),
        ("-,2,,NA\n", [np.nan, 2, np.nan, np.nan], ()),
        ("1,2,3,\n", [1, 2, 3], ()),
        ("1 2 # a remark\n3 4\n", [[1, 2], [3, 4]], ("column 1", "column 2")),
        ("u 1 2\nv 3 4 # a remark\n", [[1, 2], [3, 4]], ("column 2", "column 3")),
    ],
)
def test_text_as_people_write_it(tmp_path, written, values, labels):
    found = text(tmp_path / "x.csv", written)
    np.testing.assert_array_equal(found.array(), values)
    assert found.labels == labels


def test_columns_of_text_are_left_out_and_named(tmp_path, notes):
    rows = "".join(f"2024-01-{day:02d} 10:00,{day},north,{day / 2}\n" for day in range(1, 30))
    found = text(tmp_path / "x.csv", "date,a,place #1,b\n" + rows, note=notes.append)
    np.testing.assert_array_equal(found.array(), [[day, day / 2] for day in range(1, 30)])
    assert found.labels == ("a", "b")
    assert len(notes) == 1
    assert "'date', 'place #1'" in notes[0]
    assert text(tmp_path / "x.csv", "date,a,p,b\n" + rows, key="b").labels == ("b",)


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("a,b\n1,2\n3\n", "line 3: 1 fields where the first lines have 2"),
        ("1,2\n3,4,5\n", "line 2: 3 fields"),
        ("d,a\nx,1\ny,2,3\n", "line 3: 3 fields"),
        ("a 1 2\nb 3 4 99\n", "line 2: 4 fields where the first lines have 3"),
        ("time (s) value\n0 1\n1 2\n", "line 2: 2 fields where the first lines have 3"),
        ("nan -\n", "no column of numbers"),
        ("a,b\n1,2\n\n# no\n3,oops\n", "line 5, b: 'oops' is not a number"),
        ("1\n2\n3_0\n", "line 3, column 1: '3_0' is not a number"),
        ("name,place\nx,y\n", "no column of numbers"),
        ("only words here\n", "no column of numbers"),
        ("\n\n# nothing\n", "no numbers in its first 3 lines"),
        (b"\x00\x01\x02\x03junk", "not text but binary"),
        (bytes(range(1, 256)) * 4, "x.csv"),
    ],
)
def test_text_that_is_no_table_is_one_sentence(tmp_path, written, says):
    (tmp_path / "x.csv").write_bytes(written if isinstance(written, bytes) else written.encode())
    refuse(tmp_path / "x.csv", says)


def test_the_line_of_a_late_mistake_is_right(tmp_path, monkeypatch):
    monkeypatch.setattr("sparsegauge.io.text_pieces.TEXT_BLOCK_BYTES", 100)
    rows = [f"{i},{i}" for i in range(5000)]
    rows[4321] = "1,x"
    (tmp_path / "x.csv").write_text("a,b\n" + "\n".join(rows), encoding="utf-8")
    refuse(tmp_path / "x.csv", "line 4323, b: 'x'")


@law
@given(
    table=st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(st.floats(), min_size=width, max_size=width), min_size=2, max_size=12)
    ),
    delimiter=st.sampled_from([",", ";", "\t", " "]),
    block=st.sampled_from([1, 30, 10**6]),
)
def test_every_number_survives_the_way_through_text(table, delimiter, block):
    table[0] = [float(i) for i in range(len(table[0]))]  # a first row of numbers, so that no column looks empty
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparsegauge.io.text_pieces.TEXT_BLOCK_BYTES", block)
        path = Path(directory) / "x.csv"
        path.write_text("\n".join(delimiter.join(map(repr, row)) for row in table), encoding="utf-8")
        np.testing.assert_array_equal(only(path).array(), table)
