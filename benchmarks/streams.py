"""`python -m benchmarks.streams [SAMPLES]`: S_2 and S_4 of a mapped file over summing it with NumPy, block by block.

Writes a float32 file of SAMPLES (10^9 by default, 4 GB) into the temporary directory, and deletes it. Both read the
same blocks of the same file, in turns; the summing is NumPy's own of float32, on one core. The memory is that of a
process that runs the command `sparsegauge measure` on the file, mapped pages included.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import sparsegauge as sg
from sparsegauge.io import open_file

from .timing import fresh_process

SAMPLES = 10**9
WRITTEN = 1 << 24  # samples at a time
REPEATS = 5
MOST_TIME, MOST_MEGABYTES = 1.3, 200
MEASURE = r"""
import contextlib, io, pathlib, re
from sparsegauge.cli import main
with contextlib.redirect_stdout(io.StringIO()):
    try:
        main(["measure", {path!r}, "--orders", "2,4"])
    except SystemExit as ended:
        assert not ended.code, ended
# ru_maxrss begins with what the parent process had; this begins with the process
print(int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024)
"""


def write(path: Path, samples: int) -> None:
    rng = np.random.default_rng(0)
    noise = rng.laplace(size=WRITTEN).astype(np.float32)
    file = np.lib.format.open_memmap(path, "w+", np.float32, (samples,))
    for start in range(0, samples, WRITTEN):
        file[start : start + WRITTEN] = noise[: samples - start]
    file.flush()


def sum_blocks(path: Path) -> float:
    (contents,) = open_file(path)
    return float(sum(float(block.sum()) for block in contents.blocks(-1)))


def accumulate(path: Path) -> sg.MetricTable:
    (contents,) = open_file(path)
    sums = sg.Accumulator(orders=[2, 4])
    for block in contents.blocks(-1):
        sums.update(block)
    return sums.value()


def seconds(function: object, path: Path) -> tuple[float, float]:
    """The time that passed, and the processor time of all threads."""
    start, processor = time.perf_counter(), time.process_time()
    function(path)  # type: ignore[operator]
    return time.perf_counter() - start, time.process_time() - processor


def main() -> None:
    samples = int(float(sys.argv[1])) if len(sys.argv) > 1 else SAMPLES
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "x.npy"
        write(path, samples)
        sum_blocks(path)  # so that both find the file in the same state
        times = np.array([(seconds(accumulate, path), seconds(sum_blocks, path)) for _ in range(REPEATS)])
        (ours, ours_processor), (base, base_processor) = times.min(axis=0)
        print(f"{samples:,} samples of float32, best of {REPEATS}")
        print(f"S_2 and S_4: {ours:.2f} s; sum: {base:.2f} s; ratio {ours / base:.2f} (at most {MOST_TIME})")
        print(f"processor time: {ours_processor:.2f} s and {base_processor:.2f} s; {accumulate(path)}")
        megabytes = float(fresh_process(MEASURE.format(path=str(path))))
        print(f"memory of sparsegauge measure: {megabytes:.0f} MB (at most {MOST_MEGABYTES})")


if __name__ == "__main__":
    main()
