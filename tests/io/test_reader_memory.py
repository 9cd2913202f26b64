"""What readers take of memory: little more than what they return, and a limit for small files that unpack into much."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from PIL import Image

from sparsegauge import InvalidInput
from sparsegauge.io import hdf5, open_file, parquet
from sparsegauge.io.pictures import MOST_COLUMNS, MOST_DECODER_BYTES, MOST_PIXELS
from sparsegauge.io.png_strips import SIGNATURE, Header, _chunk, _parts

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MOST_TIMES_RETURNED = 1.5
NUMBERS = 25_000_000  # 200 MB: what a process needs otherwise is small beside it
PROBE = """
import json, sys
from pathlib import Path
import numpy, pyarrow.parquet, scipy.io, PIL.Image, PIL.PngImagePlugin, PIL.JpegImagePlugin
from sparsegauge.io import open_file
def peak():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]) << 10
before = peak()
arrays = [found.array() for found in open_file(Path(sys.argv[1]))]
print(json.dumps([sum(a.nbytes for a in arrays), peak() - before]))
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


def peaks(path):
    """Bytes returned, and the peak of a process beyond its start."""
    done = subprocess.run([sys.executable, "-c", PROBE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_npz(path):
    np.savez_compressed(path, x=np.zeros(NUMBERS // 2), y=np.zeros(NUMBERS // 2))


def write_parquet(path):
    pq.write_table(pa.table({"x": np.zeros(NUMBERS)}), path)


def write_wide_parquet(path):
    pq.write_table(pa.table({f"x{i}": np.zeros(NUMBERS // 20) for i in range(20)}), path)


def write_mat(path):
    scipy.io.savemat(path, {"x": np.zeros(NUMBERS)}, do_compression=True)


def write_complex_mat(path):
    scipy.io.savemat(path, {"x": np.zeros((1000, NUMBERS // 2000), complex)}, do_compression=True)


def write_csv(path):
    with path.open("w", encoding="utf-8") as file:
        for _ in range(100):
            file.write("0,0\n" * (NUMBERS // 200))


def write_grey(path):
    Image.fromarray(np.zeros((9000, 9000), np.uint8)).save(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "write"),
    [
        (".npz", write_npz),
        (".parquet", write_parquet),
        (".parquet", write_wide_parquet),
        (".csv", write_csv),
        (".mat", write_mat),
        (".mat", write_complex_mat),
    ],
    ids=["npz", "parquet", "wide parquet", "csv", "mat", "complex mat"],
)
def test_the_peak_is_at_most_half_more_than_what_is_returned(tmp_path, ending, write):
    write(tmp_path / f"x{ending}")
    returned, own = peaks(tmp_path / f"x{ending}")
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


def write_png(path, depth, colour, *, interlaced=False, shape=(9000, 9000)):
    """Write a black picture of any kind, a few hundred kilobytes of it."""
    packer = zlib.compressobj(1)
    pieces = []
    for part, _ in _parts(Header(shape[1], shape[0], depth, colour, interlaced)):
        pieces += [packer.compress(bytes(part.row_bytes)) for _ in range(part.height)]
    facts = struct.pack(">IIBBBBB", shape[1], shape[0], depth, colour, 0, 0, int(interlaced))
    chunks = [(b"IHDR", facts), (b"PLTE", bytes(3 << min(depth, 8))), (b"IDAT", b"".join(pieces) + packer.flush())]
    path.write_bytes(SIGNATURE + b"".join(_chunk(*chunk) for chunk in [*chunks, (b"IEND", b"")]))


@pytest.mark.slow
@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize(("depth", "colour"), [(8, 0), (8, 2), (8, 6), (16, 0), (1, 0), (2, 3), (16, 2), (16, 6)])
def test_a_png_picture_is_decoded_in_strips(tmp_path, depth, colour, interlaced):
    write_png(tmp_path / "x.png", depth, colour, interlaced=interlaced)
    returned, own = peaks(tmp_path / "x.png")
    assert returned == 81_000_000 * (2 if (depth, colour) == (16, 0) else 1)
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


@pytest.mark.slow
@pytest.mark.parametrize("interlaced", [False, True])
def test_a_png_picture_of_very_long_rows(tmp_path, interlaced):
    write_png(tmp_path / "x.png", 16, 6, interlaced=interlaced, shape=(MOST_PIXELS // MOST_COLUMNS, MOST_COLUMNS))
    returned, own = peaks(tmp_path / "x.png")
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)
    write_png(tmp_path / "y.png", 8, 0, shape=(2, MOST_COLUMNS + 1))
    with pytest.raises(InvalidInput, match="more than 524,288 columns"):
        open_file(tmp_path / "y.png")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_a_jpeg_picture_is_decoded_in_place(tmp_path, mode):
    Image.new(mode, (9000, 9000)).save(tmp_path / "x.jpg")
    returned, own = peaks(tmp_path / "x.jpg")
    assert returned == 81_000_000
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


@pytest.mark.slow
def test_a_jpeg_picture_in_several_scans_needs_at_most_what_is_stated(tmp_path):
    Image.new("RGB", (9000, 9000)).save(tmp_path / "x.jpg", progressive=True)
    returned, own = peaks(tmp_path / "x.jpg")
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25) + MOST_DECODER_BYTES


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".mat", ".png"])
def test_a_limit_holds_before_anything_is_unpacked(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    if ending == ".npz":
        np.savez_compressed(path, x=np.zeros(1 << 17))
    elif ending == ".parquet":
        pq.write_table(pa.table({"x": np.zeros(1 << 17)}), path)
    elif ending == ".mat":
        scipy.io.savemat(path, {"x": np.zeros(1 << 17)}, do_compression=True)
    else:
        Image.fromarray(np.zeros((1 << 10, 1 << 10), np.uint8)).save(path)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(InvalidInput, match=r"are allowed here|more than 1,048,575 pixels"):
        open_file(path, limit=(1 << 20) - 1)
    (found,) = open_file(path, limit=1 << 21)
    assert found.array().size in (1 << 17, 1 << 20)


def test_a_table_with_a_large_dictionary_is_refused(tmp_path, monkeypatch):
    """pyarrow keeps its distinct values several times, however small the file is."""
    values = {"x": np.arange(5000.0), "y": np.zeros(5000)}
    pq.write_table(pa.table(values), tmp_path / "x.parquet", dictionary_pagesize_limit=1 << 20, compression="zstd")
    monkeypatch.setattr(parquet, "LARGEST_DICTIONARY", 40_000)
    (found,) = open_file(tmp_path / "x.parquet")
    np.testing.assert_array_equal(found.array(), np.column_stack(list(values.values())))
    monkeypatch.setattr(parquet, "LARGEST_DICTIONARY", 39_999)
    with pytest.raises(InvalidInput, match="dictionary of 40,000 bytes in column 'x'"):
        open_file(tmp_path / "x.parquet")
    assert open_file(tmp_path / "x.parquet", key="y")[0].array().size == 5000


def test_a_dataset_in_one_large_chunk_is_refused(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("x", data=np.zeros(5000), chunks=(5000,), compression="gzip")
        file.create_dataset("y", data=np.zeros(5000), chunks=(100,), compression="gzip")
        file.create_dataset("z", data=np.zeros(5000))
    monkeypatch.setattr(hdf5, "LARGEST_CHUNK", 40_000)
    assert len(open_file(tmp_path / "x.h5")) == 3
    monkeypatch.setattr(hdf5, "LARGEST_CHUNK", 39_999)
    with pytest.raises(InvalidInput, match="chunks of 40,000 bytes in '/x'"):
        open_file(tmp_path / "x.h5")
    assert len(open_file(tmp_path / "x.h5", key=["y", "z"])) == 2


def test_only_the_first_rows_are_read_where_no_more_are_wanted(tmp_path):
    table = np.arange(60.0).reshape(20, 3)
    np.savetxt(tmp_path / "x.csv", table, delimiter=",")
    (found,) = open_file(tmp_path / "x.csv")
    np.testing.assert_array_equal(found.array(most=7), table[:7])
    np.testing.assert_array_equal(found.array(most=50), table)
