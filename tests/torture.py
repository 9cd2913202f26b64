"""Try faults on purpose, and count what survives them: ``make torture`` prints the table of docs/reliability.md.

Every fault is seeded. Each file is read in a process of its own, with limits on its time and its memory, so that a hang
or a crash is one fault that was not survived, and not the end of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import sparsegauge as sg
from sparsegauge.errors import SparsegaugeError
from sparsegauge.study.store import study_status

SECONDS, MEMORY = 20, 1 << 30  # for one file, beyond what the process has when it begins
STUDY = {
    "n": 16, "distributions": ["normal", "uniform"], "nonzeros": [2, 3], "measurements": [6, 9], "orders": [1, 2],
    "signs": "random", "repeats": 4, "seed": 3, "solver": {"name": "SPSA", "iterations": 10},
}  # fmt: skip


@dataclass
class Score:
    """How many faults of one kind were tried, and what did not survive."""

    kind: str
    tried: int = 0
    failures: list[str] = field(default_factory=list)

    def count(self, failure: str | None, what: str) -> None:
        """Add one fault; None if it was survived."""
        self.tried += 1
        if failure is not None:
            self.failures.append(f"{what}: {failure}")

    def row(self) -> str:
        """Return a row of the table."""
        return f"| {self.kind} | {self.tried:,} | {self.tried - len(self.failures):,} |"


def in_a_child(action: Callable[[], object]) -> str | None:
    """Run an action in a forked process with limits; return None for success or a sentence, else what went wrong."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = 0
        try:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            limit = pages * resource.getpagesize() + MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(SECONDS)
            action()
        except (SparsegaugeError, OSError) as error:
            code = int("\n" in str(error))
        except BaseException:
            os.write(writer, traceback.format_exc().encode()[-2000:])
            code = 1
        finally:
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if status == 0 else f"exit {status} {said.strip().splitlines()[-1:]}"


def mutations(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield damaged copies: changed bytes, cuts, repeated and exchanged pieces, huge numbers in the place of small."""
    dice = random.Random(seed)
    for _ in range(count):
        data = bytearray(content)
        for _ in range(dice.randint(1, 6)):
            place = dice.randrange(max(1, len(data)))
            kind = dice.randrange(5)
            if kind == 0:
                data[place : place + 1] = bytes([dice.choice([0, 1, 127, 128, 255, dice.randrange(256)])])
            elif kind == 1:
                del data[place : place + dice.randrange(1, 64)]
            elif kind == 2:
                data[place:place] = data[max(0, place - dice.randrange(1, 64)) : place]
            elif kind == 3:
                data[place : place + 4] = dice.choice([b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"9e99", b"[[[["])
            else:
                data = data[: max(1, place)] if dice.random() < 0.3 else data
        yield bytes(data)


def fuzz(kind: str, content: bytes, name: str, read: Callable[[Path], object], count: int, seed: int) -> Score:
    """Read damaged copies of one file."""
    score = Score(kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        for i, data in enumerate(mutations(content, count, seed)):
            path.write_bytes(data)
            score.count(in_a_child(lambda: read(path)), f"{name}, seed {seed}, number {i}")
    return score


def fuzz_readers(count: int, seed: int) -> Iterator[Score]:
    """Read damaged copies of a file of every kind."""
    from io_samples import SAMPLES
    from sparsegauge.io import open_file

    def read(path: Path) -> object:
        return [np.asarray(found.array()).sum() for found in open_file(path, limit=1 << 26)]

    for ending, content in SAMPLES.items():
        yield fuzz(f"damaged {ending} files", content, f"x{ending}", read, count, seed)


def fuzz_texts(count: int, seed: int) -> Iterator[Score]:
    """Read damaged counterexamples, manifests and study files."""
    evidence = sg.audit("l0", criteria=["P4"], budget=5)["P4"].counterexample
    text = json.dumps(evidence).encode()
    yield fuzz("damaged counterexamples", text, "x.json", lambda p: sg.verify(p.read_bytes()), count, seed)
    with tempfile.TemporaryDirectory() as folder:
        study = sg.Study.from_dict(STUDY)
        sg.run_study(study, Path(folder) / "store")
        manifest = (Path(folder) / "store" / "manifest.json").read_bytes()
    yield fuzz("damaged manifests", manifest, "manifest.json", lambda p: study_status(p.parent), count, seed)
    toml = (Path(__file__).parents[1] / "studies" / "smoke.toml").read_bytes()
    yield fuzz("damaged study files", toml, "x.toml", sg.Study.from_toml, count, seed)


# Writes of a driver take long, so that a kill hits the middle of one and not the time between two by luck.
SLOW_DRIVER = """
import io, json, os, sys, time
import sparsegauge as sg
from sparsegauge._platform import writing
from sparsegauge.study import store
store.SHORTEST_PART_SECONDS = store.SHARE_OF_RUN_PER_PART = 0.0
jump = float(sys.argv[3])
if jump:
    real, began = time.time, time.monotonic()
    time.time = lambda: real() + jump * (int((time.monotonic() - began) * 50) % 3 - 1)
delay = float(sys.argv[4])
if delay:
    sync = writing._sync
    def slowly(path):
        if path.is_file():
            data = path.read_bytes()
            with path.open("wb") as file:
                for start in range(0, len(data), max(1, len(data) // 8)):
                    file.write(data[start : start + max(1, len(data) // 8)])
                    file.flush()
                    time.sleep(delay)
        sync(path)
    writing._sync = slowly
print("ready", flush=True)
sg.run_study(sg.Study.from_dict(json.loads(sys.argv[1])), sys.argv[2])
"""


def drive(store: Path, *, jump: float = 0.0, delay: float = 0.0) -> subprocess.Popen[str]:
    """Start a driver in a process of its own."""
    arguments = [sys.executable, "-c", SLOW_DRIVER, json.dumps(STUDY), str(store), repr(jump), repr(delay)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def is_writing(store: Path) -> bool:
    """Whether a draft is on the disk: a write is under way."""
    return any(True for place in (store, store / "results", store / "timings") for _ in place.glob(".*.tmp"))


def undisturbed(study: sg.Study, folder: Path) -> Any:
    """Return the table of the study when nothing goes wrong."""
    sg.run_study(study, folder / "whole")
    return sg.load_study(folder / "whole")


def kill_inside_writes(count: int, seed: int) -> Score:
    """Kill a driver in the middle of a write, some of them again and again; the table has to come out the same."""
    score, dice = Score("kill -9 of a driver inside a write"), random.Random(seed)
    study = sg.Study.from_dict(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        table = undisturbed(study, Path(folder))
        for i in range(count):
            store, hit = Path(folder) / f"store {i // 3}", False
            with drive(store, delay=0.02) as driver:
                skipped, writing = dice.randrange(6), False
                while driver.poll() is None and not hit:
                    now = is_writing(store)
                    skipped -= now and not writing
                    writing = now
                    if writing and skipped < 0:
                        time.sleep(dice.random() * 0.1)
                        driver.kill()
                        hit = True
                    time.sleep(0.001)
                driver.communicate()
            sg.run_study(study, store)
            same = sg.load_study(store).equals(table) and not study_status(store).damaged and not is_writing(store)
            score.count(None if same else "the table differs", f"seed {seed}, number {i}")
            if i % 3 != 2:  # what was stored is removed in part, for the next driver to go on from
                for part in sorted((store / "results").glob("part-*"))[:: dice.choice([1, 2])]:
                    part.unlink()
    return score


def change_the_clock(count: int, seed: int) -> Score:
    """Run studies while the clock jumps back and forth by up to ten years."""
    score, dice = Score("clocks that jump while a study runs"), random.Random(seed)
    study = sg.Study.from_dict(STUDY)
    with tempfile.TemporaryDirectory() as folder:
        table = undisturbed(study, Path(folder))
        for i in range(count):
            store = Path(folder) / f"store {i}"
            with drive(store, jump=dice.choice([1.0, 3600.0, 3.2e8])) as driver:
                _, said = driver.communicate(timeout=300)
            same = driver.returncode == 0 and sg.load_study(store).equals(table)
            status = study_status(store)
            failure = None if same and status.done == study.total else f"{said[-200:]} {status}"
            score.count(failure, f"seed {seed}, number {i}")
    return score


def kill_workers(count: int, seed: int) -> Score:
    """Kill a worker of a Dask cluster while it computes."""
    from distributed import Client, LocalCluster

    score, dice = Score("kill -9 of a Dask worker"), random.Random(seed)
    study = sg.Study.from_dict(STUDY | {"repeats": 40, "solver": {"name": "SPSA", "iterations": 300}})
    with tempfile.TemporaryDirectory() as folder:
        table = undisturbed(study, Path(folder))
        for i in range(count):
            with (
                LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster, set_as_default=False) as client,
            ):
                victims = list(client.run(os.getpid).values())
                killed: list[int] = []

                def kill(status: object, victims: list[int] = victims, killed: list[int] = killed) -> None:
                    if not killed and dice.random() < 0.2:
                        killed.append(victims[0])
                        os.kill(victims[0], signal.SIGKILL)

                sg.run_study(study, Path(folder) / f"{i}", executor=client.get_executor(), progress=kill)
            same = sg.load_study(Path(folder) / f"{i}").equals(table)
            score.count(None if same else "the table differs", f"seed {seed}, number {i}")
    return score


def all_scores(count: int, seed: int) -> Iterator[Score]:
    """Try everything; `count` is the number of damaged files of each kind."""
    yield from fuzz_readers(count, seed)
    yield from fuzz_texts(count, seed)
    yield kill_inside_writes(max(1, count // 20), seed)
    yield change_the_clock(max(1, count // 100), seed)
    yield kill_workers(max(1, count // 100), seed)


def main() -> None:
    """Print the table, and exit with 1 if anything was not survived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400, help="damaged files of each kind; other faults in proportion")
    parser.add_argument("--seed", type=int, default=2026)
    options = parser.parse_args()
    failures: list[str] = []
    sys.stdout.write("| fault | tried | survived |\n|---|---|---|\n")
    for score in all_scores(options.count, options.seed):
        sys.stdout.write(score.row() + "\n")
        sys.stdout.flush()
        failures += score.failures
    sys.stderr.write("".join(f"{failure}\n" for failure in failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
