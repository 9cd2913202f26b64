"""What a study costs besides its recoveries, at a million cells and a hundred million rows.

``python -m benchmarks.study_scale --store DIRECTORY [--cells 1000000]`` prints the tables. DIRECTORY must have 3 GB
free; a store that is there already is used again. The store is real: every part is encoded, synced and journalled, with
random numbers in the place of results, which no compression makes smaller. Only the workers are simulated, by an
executor that has its answer ready. Each line is measured in a process of its own; times are its processor time.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

import sparsegauge as sg
from sparsegauge._platform.blas import one_blas_thread
from sparsegauge.study.dispatch import Finished
from sparsegauge.study.manifest import versions_here
from sparsegauge.study.run import run_cell
from sparsegauge.study.store import Store, study_status

NONZEROS, ORDERS, REPEATS = 250, 10, 10
ROUNDS = 5


class Simulated(Executor):
    """Workers that have random numbers ready for every cell."""

    _max_workers = 2

    def __init__(self) -> None:
        self.rng, self.versions, self.computed = np.random.default_rng(0), versions_here(), 0

    def submit(self, function, study, cells) -> Future:
        rows = len(cells) * ORDERS * REPEATS
        self.computed += len(cells)
        measured = {name: self.rng.random(rows) for name in ("mse", "relative_error")}
        measured |= {"success": measured["mse"] < 0.5, "nit": self.rng.integers(1, 1000, rows)}
        future: Future = Future()
        future.set_result(Finished(measured, np.full(len(cells), 1e-3), "simulated:1", self.versions))
        return future


def wide_study(cells: int) -> sg.Study:
    measurements = max(1, cells // (4 * NONZEROS))
    return sg.Study(
        n=max(measurements, NONZEROS) + 1, distributions=["binomial", "uniform", "normal", "exponential"],
        nonzeros=range(1, NONZEROS + 1), measurements=range(1, measurements + 1), orders=range(1, ORDERS + 1),
        signs="random", solver=sg.SPSA(iterations=1), repeats=REPEATS, seed=1,
    )  # fmt: skip


def plan(cells: int, store: Path) -> dict:
    study = wide_study(cells)
    with tempfile.TemporaryDirectory() as folder, Store.opened(Path(folder) / "store", study) as opened:
        return {"found": f"{len(opened.coverage.missing()):,} cells to compute"}


def fill(cells: int, store: Path) -> dict:
    done = sg.run_study(wide_study(cells), store, executor=Simulated()).done
    return {"found": f"{done:,} rows", "per": cells}


def resume(cells: int, store: Path) -> dict:
    workers = Simulated()
    sg.run_study(wide_study(cells), store, executor=workers)
    return {"found": f"{workers.computed:,} cells computed"}


def resume_half(cells: int, store: Path) -> dict:
    """As after a crash: every second part is gone; until the first cell would be computed."""
    parts = sorted((store / "results").glob("part-*"))[::2]
    for part in parts:
        part.rename(part.with_suffix(".away"))
    try:
        with Store.opened(store, wide_study(cells)) as opened:
            return {"found": f"{len(opened.coverage.missing()):,} cells to compute"}
    finally:
        for part in parts:
            part.with_suffix(".away").rename(part)


def status(cells: int, store: Path) -> dict:
    return {"found": f"{study_status(store).done:,} rows"}


def load_some(cells: int, store: Path) -> dict:
    where = {"distributions": "normal", "nonzeros": [10, 20], "orders": 2}
    return {"found": f"{len(sg.load_study(store, where=where, columns=['measurements', 'mse'])):,} rows"}


def load_lazily(cells: int, store: Path) -> dict:
    import dask

    with dask.config.set(scheduler="threads", num_workers=2):
        table = sg.load_study(store, columns=["orders", "mse"], lazy=True)
        means = table.groupby("orders")["mse"].mean().compute()
    return {"found": f"{len(means)} means over {cells * ORDERS * REPEATS:,} rows"}


def parts(cells: int, store: Path) -> dict:
    files = list(store.rglob("part-*.parquet"))
    size = sum(part.stat().st_size for part in files)
    return {"found": f"{len(files):,} files, {size / 1e9:.2f} GB"}


STEPS = {
    "plan": plan,
    "run with simulated workers": fill,
    "files": parts,
    "resume a finished study": resume,
    "resume with half the parts gone": resume_half,
    "study status": status,
    "load 2 columns at 4 values of 3 axes": load_some,
    "mean over all rows, lazily": load_lazily,
}


def small_study() -> sg.Study:
    """3,120 cells of one trial, which take a fraction of a millisecond each."""
    return sg.Study(
        n=40, distributions=["binomial", "uniform", "normal", "exponential"], nonzeros=range(1, 21),
        measurements=range(1, 40), signs="random", solver=sg.MinimumNorm(), repeats=1, seed=1,
    )  # fmt: skip


def without_a_study() -> float:
    """Milliseconds per cell of the recoveries alone."""
    study = small_study()
    cells = list(study.cells())
    with one_blas_thread:
        begun = time.process_time()
        for cell in cells:
            run_cell(study, cell)
        return 1e3 * (time.process_time() - begun) / len(cells)


def on_an_executor(executor: Executor, others: Callable[[], float]) -> float:
    """Milliseconds of processor time per cell of a run, here and in the processes of others."""
    study = small_study()
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time() + others()
        sg.run_study(study, Path(folder) / "store", executor=executor)
        return 1e3 * (time.process_time() + others() - begun) / len(list(study.cells()))


def overhead() -> str:
    """What a cell costs besides its recoveries, in the median over some rounds."""
    from distributed import Client, LocalCluster

    times: dict[str, list[float]] = {"threads": [], "Dask": []}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        for _ in range(ROUNDS + 1):
            alone = without_a_study()
            with ThreadPoolExecutor(2) as pool:
                times["threads"].append(on_an_executor(pool, lambda: 0.0) - alone)
            worked = lambda: sum(client.run(time.process_time).values())  # noqa: E731
            times["Dask"].append(on_an_executor(client.get_executor(), worked) - alone)
    lines = ["| executor | processor time per cell besides the recovery | asked for |", "|---|--:|--:|"]
    for name, limit in (("threads", 0.3), ("Dask", 2.0)):
        kept = times[name][1:]  # the first round imports
        lines.append(f"| {name} | {np.median(kept):.2f} ms ({min(kept):.2f} to {max(kept):.2f}) | {limit:g} ms |")
    return "\n".join(lines)


def processor_time() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def peak_memory() -> float:
    """Megabytes; the figure of `getrusage` would be that of the parent process, if it is larger."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1.024e-3


def measure(step: str, cells: int, store: Path) -> dict:
    """One step in a process of its own."""
    code = (
        "import json, sys, time; from pathlib import Path; from benchmarks import study_scale as s\n"
        "wall, begun = time.perf_counter(), s.processor_time()\n"
        "found = s.STEPS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))\n"
        "found['seconds'] = s.processor_time() - begun; found['wall'] = time.perf_counter() - wall\n"
        "found['memory'] = s.peak_memory()\n"
        "print(json.dumps(found))"
    )
    command = [sys.executable, "-c", code, step, str(cells), str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def scale(cells: int, store: Path) -> str:
    lines = ["| step | processor time | peak memory | |", "|---|--:|--:|---|"]
    for step in STEPS:
        found = measure(step, cells, store)
        each = f", {1e3 * found['seconds'] / found['per']:.3f} ms per cell" if "per" in found else ""
        line = f"| {step} | {found['seconds']:.1f} s | {found['memory']:,.0f} MB | {found['found']}{each} |"
        print(line, f"(wall {found['wall']:.1f} s)", file=sys.stderr, flush=True)
        lines.append(line)
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--cells", type=int, default=10**6)
    options = parser.parse_args()
    print(overhead(), scale(options.cells, options.store), sep="\n\n")
