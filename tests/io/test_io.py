"""Readers: what was written comes back; what is broken is one sentence; nothing is unpickled or believed blindly."""

from __future__ import annotations

import gzip
import importlib
import io
import os
import pickle
import re
import struct
import sys
import tempfile
import threading
import tracemalloc
import wave
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.io.wavfile
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import sparsegauge.io.file_contents as contents_module
from io_samples import GREY, SAMPLES, SOUND, TABLE, WRITERS, X, write_parquet
from sparsegauge import InvalidInput, MissingExtra
from sparsegauge.io import FORMATS, expand, open_file, opened
from sparsegauge.io.file_contents import BLOCK_BYTES
from sparsegauge.io.files import spooled
from strategies import law

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def write_24_bit(path, samples, rate=8000):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(3)
        file.setframerate(rate)
        file.writeframes(np.ascontiguousarray(samples.astype("<i4")).view(np.uint8).reshape(-1, 4)[:, 1:].tobytes())


def read(path, **options):
    return {found.name: found.array() for found in open_file(Path(path), **options)}


def only(path, **options):
    (found,) = open_file(Path(path), **options)
    return found


def refuse(path, match, error=InvalidInput, **options):
    with pytest.raises(error, match=match) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return str(caught.value)


@pytest.fixture
def notes():
    return []


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


# Broken files


def header(shape, dtype="<f8"):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path, member, *, method=zipfile.ZIP_DEFLATED, name="x.npy"):
    with zipfile.ZipFile(path, "w", method) as file:
        file.writestr(name, member)


@pytest.mark.parametrize("ending", FORMATS)
def test_cut_off_files_are_refused_or_shorter(tmp_path, ending):
    WRITERS[ending](tmp_path / f"whole{ending}")
    whole = (tmp_path / f"whole{ending}").read_bytes()
    path = tmp_path / f"cut{ending}"
    path.write_bytes(whole[: len(whole) // 2])
    if ending in (".csv", ".tsv", ".txt"):
        return  # half a text is a text, or ends in the middle of a row
    refuse(path, "cut")


@pytest.mark.parametrize("ending", FORMATS)
def test_empty_and_mistaken_files_are_one_sentence(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"")
    refuse(path, "is empty")
    path.write_bytes(b"this is a letter, and no data\x00\x00\x01" * 9)
    refuse(path, "x" + ending)


def test_a_header_that_promises_ten_gigabytes(tmp_path):
    (tmp_path / "x.npy").write_bytes(header((10 * 2**27,)) + b"1234")
    refuse(tmp_path / "x.npy", "cut off: its header promises 10,737,418,240 bytes")
    archive(tmp_path / "x.npz", header((10 * 2**27,)) + b"1234")
    refuse(tmp_path / "x.npz", "promises shape")
    (tmp_path / "n.npy").write_bytes(header((-4,)) + bytes(32))
    refuse(tmp_path / "n.npy", "negative")


@pytest.mark.parametrize("version", [(2, 0), (3, 0)])
def test_a_header_of_megabytes_is_not_read(tmp_path, version):
    long = np.lib.format.magic(*version) + struct.pack("<I", 1 << 24) + b" " * (1 << 24)
    (tmp_path / "x.npy").write_bytes(long)
    archive(tmp_path / "x.npz", long)
    for name in ("x.npy", "x.npz"):
        tracemalloc.start()
        refuse(tmp_path / name, "header of 16,777,216 bytes")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1 << 20


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_header_is_read(tmp_path, version):
    with (tmp_path / "x.npy").open("wb") as file:
        np.lib.format.write_array(file, X, version=version)
    archive(tmp_path / "x.npz", (tmp_path / "x.npy").read_bytes())
    for name in ("x.npy", "x.npz"):
        np.testing.assert_array_equal(only(tmp_path / name).array(), X)


def test_an_archive_that_unpacks_into_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr(contents_module, "LARGEST_EXPANSION", 1 << 20)
    np.savez_compressed(tmp_path / "x.npz", x=np.zeros(1 << 20))
    refuse(tmp_path / "x.npz", "would unpack into 8,388,736")
    write_parquet(tmp_path / "x.parquet", a=np.zeros(1 << 20))
    refuse(tmp_path / "x.parquet", "would unpack into 8,388,608")
    np.savez_compressed(tmp_path / "fine.npz", x=np.random.default_rng(0).standard_normal(1 << 18))
    assert only(tmp_path / "fine.npz").array().size == 1 << 18


def test_an_archive_packed_in_another_way_is_not_unpacked(tmp_path, notes):
    archive(tmp_path / "x.npz", header((2,)) + bytes(16), method=zipfile.ZIP_BZIP2)
    refuse(tmp_path / "x.npz", "no array of numbers", note=notes.append)
    assert "NumPy does not use" in notes[0]


class Trap:
    """Unpickling it makes a directory."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_nothing_is_unpickled(tmp_path, notes):
    trap = np.array([Trap(tmp_path / "sprung")], dtype=object)
    np.save(tmp_path / "x.npy", trap, allow_pickle=True)
    refuse(tmp_path / "x.npy", "holds object, not numbers")
    np.savez(tmp_path / "x.npz", x=trap)
    refuse(tmp_path / "x.npz", "no array of numbers", note=notes.append)
    assert "dtype object" in notes[0]
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    refuse(tmp_path / "raw.npy", "not a NumPy array")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("x", [np.empty(0), np.empty((3, 0)), np.float64(3)])
def test_arrays_without_a_signal_are_refused(tmp_path, x):
    np.save(tmp_path / "x.npy", x)
    refuse(tmp_path / "x.npy", "nothing to measure")


def test_a_sparse_archive_is_not_taken_for_three_signals(tmp_path):
    scipy.sparse.save_npz(tmp_path / "x.npz", scipy.sparse.eye_array(5).tocsr())
    refuse(tmp_path / "x.npz", r"scipy\.sparse\.load_npz")


@pytest.mark.parametrize("name", ["x.h5", "x.hdf5", "x.mat", "x"])
def test_hdf5_arrays_have_their_paths_as_names(tmp_path, name):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / name, "w") as file:
        file["vibration/drive"] = X
        file["column"] = X[:, None]
        file["words"] = ["a", "b"]
        file["empty"] = np.empty(0)
    notes = []
    found = open_file(tmp_path / name, note=notes.append)
    assert [contents.name for contents in found] == ["column", "vibration/drive"]
    for contents in found:
        np.testing.assert_array_equal(contents.array(), X)
    assert len(notes) == 2
    (one,) = open_file(tmp_path / name, key="vibration/drive")
    np.testing.assert_array_equal(one.array(), X)


def test_hdf5_without_h5py_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n".ljust(64, b"\0"))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"sparsegauge\[files\]"):
        open_file(tmp_path / "x.h5")


def test_a_damaged_hdf5_file_is_one_sentence(tmp_path):
    pytest.importorskip("h5py")
    (tmp_path / "x.mat").write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n")
    refuse(tmp_path / "x.mat", "is not an HDF5 file that can be read")


def png(width, height):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    start = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", start) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [10_000, 60_000])
def test_a_picture_of_billions_of_pixels(tmp_path, side):
    (tmp_path / "x.png").write_bytes(png(side, side))
    refuse(tmp_path / "x.png", "more than 89,478,485 pixels")


@pytest.mark.parametrize("ending", [".npy", ".png", ".jpg"])
def test_files_without_names_refuse_a_key(tmp_path, ending):
    WRITERS[ending](tmp_path / f"x{ending}")
    refuse(tmp_path / f"x{ending}", "leave out --key a", key="a")


# Paths


def test_paths_that_are_no_files(tmp_path):
    refuse(tmp_path, "is a directory", OSError)
    refuse(tmp_path / "missing.npy", "No such file", FileNotFoundError)
    refuse("/dev/null", "is not a regular file", OSError)
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "is not a regular file; copy what it holds into one", OSError)
    (tmp_path / "x.docx").write_bytes(b"word")
    refuse(tmp_path / "x.docx", "no known kind: the endings are .npy")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").chmod(0)
    refuse(tmp_path / "x.npy", "Permission denied", PermissionError)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_without_an_ending_is_known_by_its_beginning(tmp_path, ending):
    WRITERS[ending](tmp_path / f"x{ending}")
    expected = read(tmp_path / f"x{ending}")
    (tmp_path / f"x{ending}").rename(tmp_path / "x")
    found = read(tmp_path / "x")
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


def test_endings_may_be_written_in_capitals(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    np.testing.assert_array_equal(only(tmp_path / "X.NPY").array(), X)


def test_patterns_are_expanded_in_order_and_names_with_brackets_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.npy").mkdir()
    for name in ("b.npy", "a.npy", "x[1].npy", "c.csv"):
        (tmp_path / name).touch()
    assert expand(["*.npy", "-", "x[1].npy", "nothere"]) == ["a.npy", "b.npy", "x[1].npy", "-", "x[1].npy", "nothere"]
    with pytest.raises(InvalidInput, match="no file matches"):
        expand(["*.wav"])


def test_pipes_are_copied_and_the_copy_goes_away(tmp_path):
    with spooled("-", lambda: io.BytesIO(b"1\n2\n")) as path:
        np.testing.assert_array_equal(only(path).array(), [1, 2])
    assert not path.exists()
    (tmp_path / "x.csv").touch()
    with spooled(str(tmp_path / "x.csv"), io.BytesIO) as path:
        assert path == tmp_path / "x.csv"


def test_a_named_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[SAMPLES[".npy"]])
    writer.start()
    with spooled(str(tmp_path / "pipe"), io.BytesIO) as path:
        writer.join()
        np.testing.assert_array_equal(only(path).array(), X)


# Files larger than what may be held of them


@pytest.mark.parametrize("packed", [False, True])
def test_opened_files_are_named_as_the_user_typed_them(tmp_path, packed):
    path = tmp_path / ("x.csv" + ".gz" * packed)
    path.write_bytes(gzip.compress(b"a,b\n1,u\n2,v\n") if packed else b"a,b\n1,u\n2,v\n")
    notes = []
    with opened(str(path), note=notes.append) as file:
        assert file.label == str(path)
        assert [contents.array().ravel().tolist() for contents in file.contents] == [[1.0, 2.0]]
    assert len(notes) == 1
    with (
        pytest.raises(InvalidInput, match=rf"^{re.escape(str(path))}: too short$"),
        opened(str(path)),
    ):
        raise InvalidInput("too short")
    path.write_bytes(gzip.compress(b"only\nwords\n") if packed else b"only\nwords\n")
    with pytest.raises(InvalidInput) as caught, opened(str(path), label="mine"):
        pass
    assert "mine" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("ending", [".npy", ".csv", ".wav", ".parquet"])
def test_a_file_is_read_in_pieces(tmp_path, monkeypatch, ending):
    for name in ("file_contents.BLOCK_BYTES", "text_pieces.TEXT_BLOCK_BYTES", "sound.BLOCK_BYTES"):
        monkeypatch.setattr(f"sparsegauge.io.{name}", 1 << 16)
    monkeypatch.setattr("sparsegauge.io.parquet.BATCH_BYTES", 1 << 16)
    path = tmp_path / f"x{ending}"
    table = np.random.default_rng(1).integers(-99, 99, (200_000, 2)).astype(np.int16)
    if ending == ".npy":
        np.save(path, table)
    elif ending == ".csv":
        np.savetxt(path, table, delimiter=",", fmt="%d")
    elif ending == ".wav":
        scipy.io.wavfile.write(path, 8000, table)
    else:
        write_parquet(path, a=table[:, 0], b=table[:, 1])
    assert path.stat().st_size > 400_000
    found = only(path)
    total, pieces = np.zeros(2), 0
    tracemalloc.start()
    for block in found.blocks(0):
        total += block.sum(axis=-1)
        pieces += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(total, table.sum(axis=0) / (2**15 if ending == ".wav" else 1))
    assert pieces >= 5
    assert peak < 8 * table.size / 2, "half of the numbers, as float64"


def test_blocks_joined_are_the_array(tmp_path):
    x = np.random.default_rng(2).standard_normal((3, 50, 4))
    np.save(tmp_path / "x.npy", x)
    found = only(tmp_path / "x.npy")
    for axis in (0, 1, 2, -1):
        joined = np.concatenate(list(found.blocks(axis)), axis=-1)
        np.testing.assert_array_equal(joined, np.moveaxis(x, axis, -1))
    assert BLOCK_BYTES < 1 << 25


# Whatever the bytes


def survives(path):
    """Arrays of numbers, or a sentence in an InvalidInput; never anything else."""
    try:
        arrays = list(read(path).values())
    except InvalidInput as error:
        return "\n" not in str(error)
    return all(array.size > 0 and array.dtype.kind in "biufc" for array in arrays)


def tried(ending, content):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"x{ending}"
        path.write_bytes(content)
        assert survives(path)


def mutated(ending, changes, cut):
    content = bytearray(SAMPLES[ending])
    for place, value in changes:
        content[int(place * len(content))] = value
    return bytes(content[: int(cut * len(content))])


BYTES = st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255)
CHANGES = st.lists(st.tuples(st.floats(0, 0.999), BYTES), max_size=6)
CUT = st.just(1.0) | st.floats(0, 1)


@settings(law, max_examples=60)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(content=st.binary(max_size=200))
def test_random_bytes_are_an_array_or_a_sentence(ending, content):
    tried(ending, content)


@settings(law, max_examples=80)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(changes=CHANGES, cut=CUT)
def test_damaged_files_are_an_array_or_a_sentence(ending, changes, cut):
    tried(ending, mutated(ending, changes, cut))


@pytest.mark.slow
@settings(law, max_examples=3000)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(changes=CHANGES, cut=CUT)
def test_many_damaged_files_are_an_array_or_a_sentence(ending, changes, cut):
    tried(ending, mutated(ending, changes, cut))
