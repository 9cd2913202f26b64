"""What is broken is one sentence; nothing is unpickled or believed blindly."""

from __future__ import annotations

import io
import os
import pickle
import struct
import sys
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.io.wavfile
import scipy.sparse
from reading import only, refuse

import sparsegauge.io.file_contents as contents_module
from io_samples import WRITERS, X, write_parquet
from sparsegauge import MissingExtra
from sparsegauge.io import FORMATS, open_file

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
