"""What readers take of memory: little more than what they return, and a limit for small files that unpack into much."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from PIL import Image

from sparsegauge import InvalidInput
from sparsegauge.io import open_file

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

MOST_TIMES_RETURNED = 1.5
NUMBERS = 25_000_000  # 200 MB: what a process needs otherwise is small beside it
PROBE = """
import json, resource, sys
from pathlib import Path
import numpy, pyarrow.parquet, scipy.io, PIL.Image, PIL.PngImagePlugin, PIL.JpegImagePlugin
from sparsegauge.io import open_file
def peak():
    own = int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1]) << 10
    return own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
before = peak()[0]
arrays = [found.array() for found in open_file(Path(sys.argv[1]))]
own, child = peak()
print(json.dumps([sum(a.nbytes for a in arrays), own - before, child]))
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")


def peaks(path):
    """Bytes returned, peak of this process beyond its start, peak of a child process."""
    done = subprocess.run([sys.executable, "-c", PROBE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write_npz(path):
    np.savez_compressed(path, x=np.zeros(NUMBERS // 2), y=np.zeros(NUMBERS // 2))


def write_parquet(path):
    pq.write_table(pa.table({"x": np.zeros(NUMBERS)}), path)


def write_wide_parquet(path):
    pq.write_table(pa.table({f"x{i}": np.zeros(NUMBERS // 20) for i in range(20)}), path)


def write_csv(path):
    with path.open("w", encoding="utf-8") as file:
        for _ in range(100):
            file.write("0,0\n" * (NUMBERS // 200))


def write_grey(path):
    Image.fromarray(np.zeros((9000, 9000), np.uint8)).save(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "write"),
    [(".npz", write_npz), (".parquet", write_parquet), (".parquet", write_wide_parquet), (".csv", write_csv)],
    ids=["npz", "parquet", "wide parquet", "csv"],
)
def test_the_peak_is_at_most_half_more_than_what_is_returned(tmp_path, ending, write):
    write(tmp_path / f"x{ending}")
    returned, own, _ = peaks(tmp_path / f"x{ending}")
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


@pytest.fixture
def matlab_file(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"x": np.zeros(NUMBERS)}, do_compression=True)
    return tmp_path / "x.mat"


@pytest.mark.slow
def test_a_matlab_file_needs_its_numbers_once_in_this_process(matlab_file):
    returned, own, _ = peaks(matlab_file)
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


@pytest.mark.slow
@pytest.mark.xfail(reason="SciPy holds what it unpacks about 1.8 times", strict=True)
def test_a_matlab_file_needs_its_numbers_once_in_the_process_that_reads_it(matlab_file):
    returned, _, child = peaks(matlab_file)
    assert child < MOST_TIMES_RETURNED * returned + (1 << 27)  # and an interpreter with SciPy


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "I;16"])
def test_a_picture_is_decoded_in_strips(tmp_path, mode):
    Image.new(mode, (9000, 9000)).save(tmp_path / "x.png")
    returned, own, _ = peaks(tmp_path / "x.png")
    assert returned == 81_000_000 * (2 if mode == "I;16" else 1)
    assert own < MOST_TIMES_RETURNED * returned + (1 << 25)


@pytest.mark.slow
def test_a_jpeg_picture_needs_what_pillow_decodes_and_its_grey_levels(tmp_path):
    Image.new("RGB", (9000, 9000)).save(tmp_path / "x.jpg")
    returned, own, _ = peaks(tmp_path / "x.jpg")
    assert returned == 81_000_000
    assert own < 2.2 * returned + (1 << 25)


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
        Image.fromarray(np.zeros((1 << 9, 1 << 9), np.uint8)).save(path)
    assert path.stat().st_size < 1 << 16
    with pytest.raises(InvalidInput, match=r"are allowed here|more than 209,715 pixels"):
        open_file(path, limit=(1 << 20) - 1)
    (found,) = open_file(path, limit=1 << 21)
    assert found.array().size in (1 << 17, 1 << 18)


def test_only_the_first_rows_are_read_where_no_more_are_wanted(tmp_path):
    table = np.arange(60.0).reshape(20, 3)
    np.savetxt(tmp_path / "x.csv", table, delimiter=",")
    (found,) = open_file(tmp_path / "x.csv")
    np.testing.assert_array_equal(found.array(most=7), table[:7])
    np.testing.assert_array_equal(found.array(most=50), table)
