"""MATLAB files: the same arrays as SciPy reads, without its crashes and its copies."""

from __future__ import annotations

import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.io.matlab
import scipy.sparse

from sparsegauge import InvalidInput
from sparsegauge.io import matlab_variables as format_
from sparsegauge.io import open_file

X = np.random.default_rng(0).standard_normal(40)
TABLE = X.reshape(10, 4)
MATLABS = Path(scipy.io.matlab.__file__).parent / "tests" / "data"  # written by MATLAB 4.2 to 8, on three systems
KINDS = ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "c16", "c8", "?"]


def read(path, **options):
    return {found.name: found.array() for found in open_file(Path(path), **options)}


def refuse(path, match, **options):
    with pytest.raises(InvalidInput, match=match) as caught:
        read(path, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("options", [{"format": "4"}, {"format": "5"}, {"do_compression": True}])
def test_plain_arrays_come_back_and_vectors_as_signals(tmp_path, options):
    scipy.io.savemat(tmp_path / "x.mat", {"row": X, "column": X[:, None], "table": TABLE, "z": X + 1j}, **options)
    found = read(tmp_path / "x.mat")
    np.testing.assert_array_equal(found["row"], X)
    np.testing.assert_array_equal(found["column"], X)
    np.testing.assert_array_equal(found["table"], TABLE)
    np.testing.assert_array_equal(found["z"], X + 1j)
    assert read(tmp_path / "x.mat", key=["z", "row"]).keys() == {"z", "row"}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (7, 1), (2, 3, 5), (1, 1, 3), (400, 333)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_class_and_shape(tmp_path, monkeypatch, kind, shape, packed):
    monkeypatch.setattr(format_, "PIECE_BYTES", 104)
    array = np.resize(100 * X, shape).astype(kind)
    scipy.io.savemat(tmp_path / "x.mat", {"before": X, "x": array, "after": "word"}, do_compression=packed)
    found = read(tmp_path / "x.mat")["x"]
    assert found.dtype == array.dtype
    expected = array.ravel() if len(shape) == 2 and 1 in shape else array
    np.testing.assert_array_equal(found, expected, strict=True)


def plain(path):
    """What SciPy finds of plain arrays."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scipy.io.loadmat(path)
    return {
        name: array
        for name, array in found.items()
        if not name.startswith("__") and isinstance(array, np.ndarray) and array.dtype.kind in "biufc" and array.size
    }


@pytest.mark.skipif(not MATLABS.is_dir(), reason="this SciPy comes without its tests")
def test_files_that_matlab_wrote():
    read_some = 0
    for path in sorted(MATLABS.glob("test*.mat")):
        if "hdf5" in path.name:  # version 7.3, by its mark and not by its words
            assert read(path)["testdouble"].shape == (9,)
            continue
        expected = plain(path)
        if not expected:
            refuse(path, "no plain array of numbers")
            continue
        found = read(path)
        assert found.keys() == expected.keys(), path.name
        for name, array in expected.items():
            squeezed = array.ravel() if array.ndim == 2 and 1 in array.shape else array
            np.testing.assert_array_equal(found[name], squeezed, err_msg=f"{path.name}, {name}")
            read_some += 1
    assert read_some > 25


@pytest.mark.skipif(not MATLABS.is_dir(), reason="this SciPy comes without its tests")
@pytest.mark.parametrize("name", ["corrupted_zlib_checksum", "corrupted_zlib_data", "malformed1", "debigged_m4"])
def test_files_that_are_known_to_be_damaged(name):
    refuse(MATLABS / f"{name}.mat", "not a MATLAB file that can be read")


def test_what_is_not_a_plain_array_is_left_out_and_named(tmp_path):
    notes = []
    others = {"s": {"f": 1.0}, "c": np.array([X, "t"], dtype=object), "w": "word", "sparse": scipy.sparse.eye_array(3)}
    scipy.io.savemat(tmp_path / "x.mat", {"x": X, "none": np.zeros((0, 3))} | others)
    assert list(read(tmp_path / "x.mat", note=notes.append)) == ["x"]
    assert [name for name in others if any(f"'{name}'" in note for note in notes)] == list(others)
    assert any("'none', which is empty" in note for note in notes)
    assert all(str(tmp_path / "x.mat") in note for note in notes)
    refuse(tmp_path / "x.mat", "it has 'x'", key="s")


def test_of_two_variables_of_one_name_the_later_counts(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"x": X})
    scipy.io.savemat(tmp_path / "b.mat", {"x": TABLE})
    both = (tmp_path / "a.mat").read_bytes() + (tmp_path / "b.mat").read_bytes()[128:]
    (tmp_path / "x.mat").write_bytes(both)
    np.testing.assert_array_equal(read(tmp_path / "x.mat")["x"], TABLE)


def element(kind, data, endian="<"):
    """Return an element; up to four bytes are held in its tag."""
    if 0 < len(data) <= 4:
        return struct.pack(endian + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")
    return struct.pack(endian + "II", kind, len(data)) + data + bytes(-len(data) % 8)


def variable(numbers, *, kind=9, sides=(1, 40), name=b"a", flags=6, endian="<"):
    body = element(6, struct.pack(endian + "II", flags, 0), endian)
    body += element(5, struct.pack(f"{endian}{len(sides)}i", *sides), endian) + element(1, name, endian)
    return element(14, body + element(kind, numbers, endian), endian)


def packed(data):
    return struct.pack("<II", 15, len(zlib.compress(data))) + zlib.compress(data)


def mat_file(path, *elements, endian="<"):
    mark = b"\x00\x01IM" if endian == "<" else b"\x01\x00MI"
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + mark + b"".join(elements))
    return path


@pytest.mark.parametrize("endian", ["<", ">"])
@pytest.mark.parametrize(("kind", "stored"), [(1, "i1"), (2, "u1"), (3, "i2"), (5, "i4"), (7, "f4"), (9, "f8")])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_doubles_that_matlab_stored_in_fewer_bytes(tmp_path, endian, kind, stored, count):
    numbers = np.arange(count).astype(endian + stored)
    path = mat_file(
        tmp_path / "x.mat", variable(numbers.tobytes(), kind=kind, sides=(1, count), endian=endian), endian=endian
    )
    found = read(path)["a"]
    np.testing.assert_array_equal(found, np.arange(count, dtype=np.float64), strict=True)
    np.testing.assert_array_equal(found, scipy.io.loadmat(path)["a"].ravel())


DOUBLES = X.tobytes()


@pytest.mark.parametrize(
    "damaged",
    [
        variable(DOUBLES, kind=127),
        variable(DOUBLES, kind=14),
        variable(DOUBLES, sides=(1, 41)),
        variable(DOUBLES, sides=(1, 39)),
        variable(DOUBLES, sides=(-1, -40)),
        variable(DOUBLES, sides=(40,)),
        variable(DOUBLES, sides=(1,) * 38 + (40, 1)),
        variable(DOUBLES, name=b"n" * 5000),
        variable(DOUBLES, flags=6 | 0x800),  # complex, without an imaginary part
        variable(DOUBLES)[:-8],
        packed(variable(DOUBLES))[:-6],
        packed(variable(DOUBLES)[:-8]),
        packed(variable(DOUBLES) + bytes(64)),
        packed(b"x" * 100),
        struct.pack("<II", 15, 100) + bytes(100),
        struct.pack("<II", 14, 0xFFFFFFF0),
        struct.pack("<II", 3, 8) + bytes(8),
    ],
)
def test_a_damaged_variable_is_one_sentence(tmp_path, damaged):
    mat_file(tmp_path / "good.mat", variable(DOUBLES))
    np.testing.assert_array_equal(read(tmp_path / "good.mat")["a"], X)
    refuse(mat_file(tmp_path / "x.mat", variable(DOUBLES, name=b"b"), damaged), "is not a MATLAB file that can be read")


def test_integers_that_their_class_does_not_have_give_no_warning(tmp_path):
    path = mat_file(tmp_path / "x.mat", variable(np.array([np.nan, 1e300, 5.0]).tobytes(), sides=(1, 3), flags=9))
    found = read(path)["a"]
    assert (found.dtype, found[2]) == (np.uint8, 5)


def test_numbers_that_unpack_into_more_than_the_array_holds(tmp_path):
    head = variable(DOUBLES)[: -len(DOUBLES) - 8]
    packer = zlib.compressobj(9)
    data = packer.compress(head + struct.pack("<2I", 9, 0xFFFFFFF0))
    data += b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    refuse(mat_file(tmp_path / "x.mat", struct.pack("<2I", 15, len(data)) + data), "40 numbers has 4,294,967,280 bytes")


@pytest.mark.parametrize(
    "head",
    [
        (0, 40, 1, 0, 0), (0, -40, -1, 0, 2), (0, 40, 1, 7, 2), (0, 1 << 30, 1 << 30, 0, 2), (60, 40, 1, 0, 2),
        (3000, 40, 1, 0, 2), (5, 40, 1, 0, 2), (0, 40, 1, 0, 1 << 30),
    ],
)  # fmt: skip
def test_a_damaged_head_of_version_4_is_one_sentence(tmp_path, head):
    (tmp_path / "good.mat").write_bytes(struct.pack("<5i", 0, 40, 1, 0, 2) + b"a\0" + DOUBLES)
    np.testing.assert_array_equal(read(tmp_path / "good.mat")["a"], X)
    (tmp_path / "x.mat").write_bytes(struct.pack("<5i", *head) + b"a\0" + DOUBLES)
    refuse(tmp_path / "x.mat", "is not a MATLAB file that can be read")
