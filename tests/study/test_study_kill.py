"""kill -9 at any moment, then run again: nothing lost, nothing twice, and the same table."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparsegauge as sg
from sparsegauge.errors import StudyWarning
from sparsegauge.study.store import study_status
from sparsegauge.study.tables import timings
from waiting import DEADLINE, read_line, wait_until

STUDY = sg.Study(
    n=24, distributions=["normal", "uniform"], nonzeros=[3, 6], measurements=[8, 16], orders=[1, 2, 3],
    signs="positive", solver=sg.SPSA(iterations=60), repeats=6, seed=5,
)  # fmt: skip

# Loads everything once, then forks a driver for each line "KILL_AT STORE": KILL_AT = k kills it, by its own hand, just
# before (k even) or just after (k odd) the (k // 2)-th of the steps that make a part safe; -1 lets it be.
NURSERY = """
import json, os, pathlib, signal, sys, time
import sparsegauge as sg
from sparsegauge.errors import StudyWarning
from concurrent.futures import ThreadPoolExecutor
from sparsegauge.study import disk, store
from sparsegauge.study.run import run_cell, run_study
study = sg.Study.from_dict(json.loads(sys.argv[1]))
store.SHORTEST_PART_SECONDS = 0.0
store.SHARE_OF_RUN_PER_PART = float(sys.argv[2])
run_cell(study, next(study.cells()))

def dying(step, counter, at):
    def call(*arguments, **options):
        counter[0] += 1
        if 2 * counter[0] == at: os.kill(os.getpid(), signal.SIGKILL)
        result = step(*arguments, **options)
        if 2 * counter[0] + 1 == at: os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

def drive(at, path):
    counter = [-1]
    for owner, name in ((os, "fsync"), (os, "replace"), (pathlib.Path, "mkdir")):
        if at >= 0: setattr(owner, name, dying(getattr(owner, name), counter, at))
    with ThreadPoolExecutor(2) as pool: run_study(study, path, executor=pool)

for line in sys.stdin:
    at, path = line.split(maxsplit=1)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            drive(int(at), path.strip())
            code = 0
        finally:
            os._exit(code)
    print(child, flush=True)
    sys.stdin.readline()  # until then the child's number is its own, dead or alive
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Nursery:
    def __init__(self, process):
        self.process = process

    def start(self, store, *, kill_at=-1):
        self.process.stdin.write(f"{kill_at} {store}\n")
        self.process.stdin.flush()
        return int(read_line(self.process))

    def exit_code(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(read_line(self.process))


@contextmanager
def nursery(share):
    command = [sys.executable, "-c", NURSERY, json.dumps(STUDY.to_dict()), str(share)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        yield Nursery(process)
        process.stdin.close()


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    store = tmp_path_factory.mktemp("uninterrupted")
    sg.run_study(STUDY, store)
    return sg.load_study(store)


def check(store, table):
    """All there, once, the same values, and no litter."""
    pd.testing.assert_frame_equal(sg.load_study(store), table, check_exact=True)
    rows = pd.concat([pd.read_parquet(part) for part in (store / "results").glob("part-*.parquet")])
    assert len(rows) == STUDY.total
    assert not list(store.rglob("*.tmp"))
    assert study_status(store).damaged == ()


def count_parts(store):
    return len(list((store / "results").glob("part-*.parquet")))


def has_ended(child):
    """Whether a process of the nursery is over; it stays a zombie until the nursery is told to look."""
    return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_driver_killed_at_every_step_of_writing(tmp_path, table):
    with nursery(share=0.0) as drivers:
        kills, at, done = 0, 0, 0
        while True:
            drivers.start(tmp_path / "store", kill_at=at)
            code = drivers.exit_code()
            if code == 0:
                break
            assert code == -signal.SIGKILL
            kills, at = kills + 1, at + 1 if at < 34 else 8  # the first steps, of making directories, once
            if (tmp_path / "store" / "manifest.json").exists():
                now = study_status(tmp_path / "store")
                assert now.done >= done, "something was lost"
                assert now.damaged == ()
                assert not now.running
                done = now.done
    assert kills > 20
    check(tmp_path / "store", table)


def test_a_driver_killed_at_random_moments(tmp_path, table):
    rng = np.random.default_rng(int(time.time()))
    kills, done = 0, 0
    with nursery(share=0.0) as drivers:
        for _ in range(8):
            wanted = count_parts(tmp_path / "store") + rng.integers(0, 4)
            driver = drivers.start(tmp_path / "store")
            # a random number of parts, and some moment after that: it goes on while this process looks and polls
            wait_until(
                lambda wanted=wanted, driver=driver: count_parts(tmp_path / "store") >= wanted or has_ended(driver),
                "parts of the study, or its end",
            )
            os.kill(driver, signal.SIGKILL)
            kills += drivers.exit_code() == -signal.SIGKILL
            if (tmp_path / "store" / "manifest.json").exists():
                now = study_status(tmp_path / "store")
                assert now.done >= done, "something was lost"
                done = now.done
        drivers.start(tmp_path / "store")
        assert drivers.exit_code() == 0
    assert kills > 0
    check(tmp_path / "store", table)


LONG = """
n = 60
distributions = ["normal", "exponential"]
nonzeros = [6, 12]
measurements = { from = 10, to = 50, step = 10 }
orders = [1, 2, 3, 4]
signs = "natural"
repeats = 12
seed = 7

[solver]
name = "SPSA"
iterations = 1500
"""


@contextmanager
def command_line(tmp_path, *options):
    """In a process group of its own, as in a terminal."""
    (tmp_path / "study.toml").write_text(LONG)
    command = [sys.executable, "-m", "sparsegauge", "study", "run", str(tmp_path / "study.toml"), *options]
    command += ["--store", str(tmp_path / "store")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        yield process


def wait_for_parts(store, more_than, process):
    wait_until(
        lambda: count_parts(store) > more_than or process.poll() is not None, f"more than {more_than} parts in {store}"
    )
    assert process.poll() is None, process.stderr.read()


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    place = tmp_path_factory.mktemp("uninterrupted")
    (place / "study.toml").write_text(LONG)
    sg.run_study(sg.Study.from_toml(place / "study.toml"), place / "store")
    return sg.load_study(place / "store")


def test_the_command_is_interrupted_killed_and_goes_on(tmp_path, long_table):
    store = tmp_path / "store"
    with command_line(tmp_path, "--workers", "2") as process:
        wait_for_parts(store, 0, process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (1, "")
    assert err == f"sparsegauge: stopped; the same command goes on from what is in {store}\n"
    stopped = study_status(store)
    assert 0 < stopped.done < stopped.total
    assert not stopped.running

    with command_line(tmp_path, "--workers", "1") as process:
        wait_for_parts(store, count_parts(store), process)
        assert study_status(store).running
        process.kill()
        process.wait(DEADLINE)
    killed = study_status(store)
    assert stopped.done < killed.done <= killed.total
    assert not killed.running

    sg.run_study(sg.Study.from_toml(tmp_path / "study.toml"), store)
    pd.testing.assert_frame_equal(sg.load_study(store), long_table, check_exact=True)


@pytest.mark.filterwarnings("default")
def test_a_dask_worker_is_killed_in_the_middle_of_its_work(tmp_path, long_table):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "study.toml").write_text(LONG)
    study = sg.Study.from_toml(tmp_path / "study.toml")
    killed = []

    def kill_one(status):
        if status.done > 0 and len(killed) < 1:
            pids = client.run(os.getpid)
            victim = pids[min(pids)]
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        sg.run_study(study, tmp_path / "store", executor=client.get_executor(), progress=kill_one)
    assert len(killed) == 1
    workers = {int(worker.rpartition(":")[2]) for worker in timings(tmp_path / "store")["worker"]}
    assert len(workers - set(killed)) >= 1
    pd.testing.assert_frame_equal(sg.load_study(tmp_path / "store"), long_table, check_exact=True)


@pytest.mark.slow
def test_ctrl_c_stops_a_local_cluster(tmp_path, long_table):
    pytest.importorskip("distributed")
    store = tmp_path / "store"
    with command_line(tmp_path, "--dask", "local", "--workers", "2") as process:
        wait_for_parts(store, 0, process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=DEADLINE)
    assert (process.returncode, out) == (1, "")
    assert err.startswith(f"sparsegauge: stopped; the same command goes on from what is in {store}\n")
    assert study_status(store).done > 0
    with command_line(tmp_path, "--dask", "local", "--workers", "1") as process:
        out, _ = process.communicate(timeout=DEADLINE)
    assert out == "960 of 960 (100 %)\n"
    pd.testing.assert_frame_equal(sg.load_study(store), long_table, check_exact=True)


DEADLY = """
import os
from sparsegauge import gaussian_matrix

def draw(m, n, rng):
    if m == 8 and os.environ.get("SPARSEGAUGE_TEST_DRIVER") != str(os.getpid()):
        os._exit(1)
    return gaussian_matrix(m, n, rng=rng)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cell_that_kills_every_dask_worker_is_marked_and_the_others_are_computed(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "deadly_matrix.py").write_text(DEADLY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SPARSEGAUGE_TEST_DRIVER", str(os.getpid()))
    study = sg.Study(
        n=16, distributions=["normal"], nonzeros=[2], measurements=[4, 6, 8, 10, 12], signs="random", solver=sg.OMP(),
        matrix="deadly_matrix:draw", repeats=2, seed=1,
    )  # fmt: skip
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        pytest.warns(StudyWarning, match="measurements 8.*every worker that computed it died"),
    ):
        status = sg.run_study(study, tmp_path / "store", executor=client.get_executor())
    assert status.done == study.total - 2
    (failed,) = study_status(tmp_path / "store").failed
    assert "measurements 8" in failed
    assert sg.run_study(study, tmp_path / "store", retry_failed=True).done == study.total  # here it kills nobody
