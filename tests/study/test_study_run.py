"""Whoever does the work, and in whatever order, the table is the same; and what goes wrong is said with its cell."""

import concurrent.futures
import os
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import threadpoolctl

import sparsegauge as sg
from sparsegauge._platform.blas import one_blas_thread
from sparsegauge.cli import main
from sparsegauge.errors import CellFailed
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.registry import SOLVERS
from sparsegauge.study import dispatch, run
from sparsegauge.study.axes import Cell
from sparsegauge.study.run import draw_trial, run_cell
from sparsegauge.study.store import study_status

KEYS = {
    "n": 16,
    "distributions": ["normal", "uniform"],
    "nonzeros": [2, 4],
    "measurements": [6, 10, 14],
    "orders": [1, 2, 3.5],
    "signs": "random",
    "solver": sg.SPSA(iterations=40),
    "repeats": 5,
    "seed": 11,
}
STUDY = sg.Study(**KEYS)
SMOKE = Path(__file__).parents[2] / "studies" / "smoke.toml"


class InOrder(Executor):
    """Runs a cell when it is handed in, and keeps count."""

    def __init__(self, fail=None):
        self.cells, self.fail = [], fail

    def submit(self, function, study, cells):
        future = Future()
        self.cells += cells
        if self.fail is not None and any(map(self.fail, cells)):
            future.set_exception(ZeroDivisionError("on purpose"))
        else:
            future.set_result(function(study, cells))
        return future


class Backwards(Executor):
    """Finishes first what was handed in last, once nothing more comes; knows how many were in flight."""

    def __init__(self):
        self.waiting, self.most = [], 0
        self.lock = threading.Condition()
        threading.Thread(target=self.work, daemon=True).start()

    def submit(self, *task):
        future = Future()
        with self.lock:
            self.waiting.append((future, task))
            self.most = max(self.most, len(self.waiting))
            self.lock.notify()
        return future

    def work(self):
        while True:
            with self.lock:
                while not self.waiting:
                    self.lock.wait()
                self.lock.wait(0.02)
                future, (function, *arguments) = self.waiting.pop()
            future.set_result(function(*arguments))


def same(one, other):
    pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    store = tmp_path_factory.mktemp("reference")
    sg.run_study(STUDY, store, executor=InOrder())
    return sg.load_study(store)


# --- one cell


def test_a_cell_is_what_the_solver_finds_in_its_trials():
    cell = Cell(("uniform", 4, 10), 2, 3)
    measured = run_cell(STUDY, cell)
    for j, order in enumerate(STUDY.orders):
        for t in range(3):
            trial = draw_trial(STUDY, cell, 2 + t)
            problem = Problem.of(trial.A, trial.A @ trial.x)
            found = sg.SPSA(order=order, iterations=40).solve(problem, np.random.default_rng(trial.seed))
            error = found.x - trial.x
            assert measured["mse"][j, t] == pytest.approx(np.mean(error**2), rel=1e-12)
            relative = np.linalg.norm(error) / np.linalg.norm(trial.x)
            assert measured["relative_error"][j, t] == pytest.approx(relative, rel=1e-12)
            assert measured["nit"][j, t] == 40
    assert not measured["success"].any()


def test_a_trial_does_not_depend_on_what_else_is_asked_for():
    whole = run_cell(STUDY, Cell(("normal", 2, 14), 0, 5))
    part = run_cell(sg.Study(**KEYS | {"orders": [2], "noise_db": [np.inf]}), Cell(("normal", 2, 14), 3, 1))
    for name in whole:
        np.testing.assert_array_equal(whole[name][1:2, 3:4], part[name][0])


def test_success_is_a_small_relative_error():
    keys = KEYS | {"solver": sg.OMP(), "orders": ()}
    easy = run_cell(sg.Study(**keys), Cell(("normal", 2, 14), 0, 5))
    assert easy["success"].all()
    noisy = keys | {"noise_db": [20]}
    assert not run_cell(sg.Study(**noisy), Cell(("normal", 2, 14), 0, 5))["success"].any()
    assert run_cell(sg.Study(**noisy | {"success_below": 0.5}), Cell(("normal", 2, 14), 0, 5))["success"].all()


def test_the_noise_has_the_ratio_that_was_asked_for():
    cell = Cell(("normal", 4, 14), 0, 400)
    ratios = []
    for t in range(cell.trials):
        trial = draw_trial(STUDY, cell, t)
        noise = trial.problem(20.0).y - trial.A @ trial.x
        ratios.append(np.linalg.norm(trial.A @ trial.x) ** 2 / np.linalg.norm(noise) ** 2)
    assert 10 * np.log10(1 / np.mean(1 / np.array(ratios))) == pytest.approx(20, abs=0.2)
    assert draw_trial(STUDY, cell, 0).problem(np.inf).noise == 0.0


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_can_be_run(name):
    orders = [2] if "order" in SOLVERS[name].__dataclass_fields__ else ()
    study = sg.Study(**KEYS | {"solver": SOLVERS[name](), "orders": orders, "noise_db": [30, np.inf]})
    measured = run_cell(study, Cell(("normal", 2, 10), 0, 1))
    assert measured["mse"].shape == (2, *((1,) if study.orders else ()), 1)
    assert np.isfinite(measured["mse"]).all()


def test_blas_has_its_threads_back_after_a_run_on_threads(tmp_path):
    def threads():
        return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with ThreadPoolExecutor(2) as pool:
        sg.run_study(STUDY, tmp_path / "store", executor=pool)
        assert threads() == before  # while the threads that had set limits of their own still live


def test_blas_has_one_thread_while_any_cell_runs():
    def threads():
        return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}

    before = threads()
    with one_blas_thread:
        with one_blas_thread:
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


# --- executors


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_threads_give_the_same_table(tmp_path, table, workers):
    if workers is None:
        sg.run_study(STUDY, tmp_path)
    else:
        with ThreadPoolExecutor(workers) as pool:
            sg.run_study(STUDY, tmp_path, executor=pool)
    same(sg.load_study(tmp_path), table)


def test_processes_give_the_same_table(tmp_path, table):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sg.run_study(STUDY, tmp_path, executor=pool)
    same(sg.load_study(tmp_path), table)


@pytest.mark.filterwarnings("default")
def test_dask_gives_the_same_table(tmp_path, table):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        sg.run_study(STUDY, tmp_path, executor=client.get_executor())
    same(sg.load_study(tmp_path), table)


def test_the_order_of_completion_does_not_matter_and_futures_are_bounded(tmp_path, table, monkeypatch):
    monkeypatch.setattr(dispatch, "MOST_BATCHES_IN_FLIGHT", 5)
    backwards = Backwards()
    sg.run_study(STUDY, tmp_path, executor=backwards)
    assert 2 <= backwards.most <= 5
    same(sg.load_study(tmp_path), table)


def test_a_finished_study_is_not_computed_again(tmp_path, table):
    first, second = InOrder(), InOrder()
    sg.run_study(STUDY, tmp_path, executor=first)
    assert first.cells == list(STUDY.cells())
    before = sorted((tmp_path / "results").iterdir())
    assert sg.run_study(STUDY, tmp_path, executor=second).done == STUDY.total
    assert second.cells == []
    assert sorted((tmp_path / "results").iterdir()) == before


# --- progress, and what stops a run


def test_progress_counts_up_to_all_of_it(tmp_path):
    seen = []
    status = sg.run_study(STUDY, tmp_path, executor=InOrder(), progress=seen.append)
    done = [status.done for status in seen]
    assert done == sorted(set(done))
    assert (done[0], done[-1], len(done)) == (0, STUDY.total, len(list(STUDY.cells())) + 1)
    assert {status.total for status in seen} == {STUDY.total}
    assert seen[3].rate > 0
    assert seen[3].seconds_left > 0
    assert (status.done, status.seconds_left, status.running) == (STUDY.total, 0.0, False)


def test_a_failing_cell_is_named_and_the_others_are_kept(tmp_path, table):
    fail = InOrder(lambda cell: cell.values == ("uniform", 2, 10))
    words = r"uniform, nonzeros 2, measurements 10, trials 0\.\.4: ZeroDivisionError: on purpose"
    with pytest.raises(CellFailed, match=words) as e:
        sg.run_study(STUDY, tmp_path, executor=fail)
    assert isinstance(e.value.__cause__, ZeroDivisionError)
    done = study_status(tmp_path).done
    assert done == STUDY.total - 15  # the others had been handed in
    again = InOrder()
    sg.run_study(STUDY, tmp_path, executor=again)
    assert len(again.cells) * 15 == STUDY.total - done
    same(sg.load_study(tmp_path), table)


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_interrupt_leaves_what_is_done(tmp_path, table, error):
    def stop(status):
        if status.done >= 60:
            raise error

    with pytest.raises(error), ThreadPoolExecutor(2) as pool:
        sg.run_study(STUDY, tmp_path, executor=pool, progress=stop)
    assert 60 <= study_status(tmp_path).done < STUDY.total
    sg.run_study(STUDY, tmp_path)
    same(sg.load_study(tmp_path), table)


class Stuck(InOrder):
    """As Dask does it: what was called off is never reported so, and what has begun looks as if it had not."""

    def submit(self, function, study, cells):
        return super().submit(function, study, cells) if len(self.cells) < 4 else Future()


def test_an_interrupt_does_not_wait_for_what_was_called_off(tmp_path, monkeypatch):
    def stop(status):
        if status.done >= 30:
            raise KeyboardInterrupt

    waited_for = []

    def wait(futures, **options):
        waited_for.append((list(futures), options))
        return concurrent.futures.wait(futures, **options)

    monkeypatch.setattr(dispatch, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        sg.run_study(STUDY, tmp_path, executor=Stuck(), progress=stop)
    futures, options = waited_for[-1]
    assert options == {"timeout": dispatch.SECONDS_FOR_LAST_CELLS}
    assert all(future.done() for future in futures)  # so that there was nothing to wait for
    assert study_status(tmp_path).done == 4 * 15


def test_a_worker_of_another_version_is_refused(tmp_path, monkeypatch):
    work = run._work
    other = run.versions_here() | {"sparsegauge": "0.0.1"}
    monkeypatch.setattr(run, "_work", lambda *task: work(*task)._replace(versions=other))
    with pytest.raises(sg.StaleStudy, match=r"has sparsegauge 0\.0\.1"):
        sg.run_study(STUDY, tmp_path, executor=InOrder())
    assert study_status(tmp_path).done == 0


def test_wrong_arguments_are_refused(tmp_path):
    with pytest.raises(sg.InvalidInput, match=r"Study\.from_toml"):
        sg.run_study("study.toml", tmp_path)
    with pytest.raises(sg.InvalidInput, match="executor"):
        sg.run_study(STUDY, tmp_path, executor=4)
    assert not list(tmp_path.iterdir())


# --- the command line


@pytest.fixture
def command(capsys):
    def run_command(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["study", *map(str, arguments)])
        return caught.value.code or 0, *capsys.readouterr()

    return run_command


def test_run_status_export(command, tmp_path):
    store, total = tmp_path / "store", sg.Study.from_toml(SMOKE).total
    assert command("run", SMOKE, "--store", store, "--workers", 1) == (0, f"{total} of {total} (100 %)\n", "")
    assert command("run", SMOKE, "--store", store, "--quiet") == (0, "", "")
    assert command("status", store) == (0, f"{total} of {total} (100 %)\n", "")
    assert command("export", store, "-o", tmp_path / "table.csv") == (0, f"{tmp_path / 'table.csv'}\n", "")
    assert len(pd.read_csv(tmp_path / "table.csv")) == total
    part = min((store / "results").glob("part-*"))
    os.truncate(part, 99)
    code, out, _ = command("status", store)
    assert code == 0
    assert f"results/{part.name} is damaged" in out
    assert "not running" in out
    assert " per second, " in out
    code, _, err = command("run", SMOKE, "--store", store)
    assert code == 0
    assert part.name in err
    assert err.count("\n") == 1


def test_a_stopped_run_has_exit_code_1(command, tmp_path, monkeypatch):
    """Ctrl-C while the driver waits for its workers; tests/test_study_kill.py sends real signals to real processes."""
    really_wait, interrupts = dispatch.wait, iter([KeyboardInterrupt])

    def wait(*arguments, **options):
        for interrupt in interrupts:
            raise interrupt
        return really_wait(*arguments, **options)

    monkeypatch.setattr(dispatch, "wait", wait)
    code, out, err = command("run", SMOKE, "--store", tmp_path / "store")
    assert (code, out) == (1, "")
    assert err == f"sparsegauge: stopped; the same command goes on from what is in {tmp_path / 'store'}\n"
    monkeypatch.undo()
    assert command("run", SMOKE, "--store", tmp_path / "store", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "missing.toml", "--store", "DIR"], "missing.toml: No such file"),
        (["run", "BAD", "--store", "DIR"], "signs is missing"),
        (["run", SMOKE, "--store", "BAD"], "cannot be a directory to write to"),
        (["run", SMOKE, "--store", "DIR", "--dask", "tcp://127.0.0.1:1", "--workers", 2], "a cluster has its own"),
        (["run", SMOKE, "--store", "DIR", "--dask", "nonsense://1"], "no scheduler answers"),
        (["status", "DIR"], "no store of a study"),
        (["export", "DIR", "-o", "table.xlsx"], "must end in .parquet, .csv or .nc"),
        (["export", "DIR", "-o", "missing/table.csv"], "is not a directory"),
        (["export", "DIR", "-o", "table.csv"], "no store of a study"),
    ],
)
def test_errors_are_one_line(command, tmp_path, arguments, words):
    (tmp_path / "bad.toml").write_text(SMOKE.read_text().replace("signs", "# signs"))
    places = {"DIR": tmp_path / "store", "BAD": tmp_path / "bad.toml"}
    code, out, err = command(*(places.get(word, word) for word in arguments))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("sparsegauge: ")
    assert words in err


def test_dask_is_an_extra(command, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = command("run", SMOKE, "--store", tmp_path, "--dask", "local")
    assert code == 2
    assert "pip install 'sparsegauge[dask]'" in err


def test_a_cluster_that_does_not_answer_leaves_no_client_behind(command, tmp_path):
    """xarray would take its locks from it, wherever it writes next."""
    distributed = pytest.importorskip("distributed")
    assert command("run", SMOKE, "--store", tmp_path / "store", "--dask", "nonsense://1")[0] == 2
    with pytest.raises(ValueError, match="No clients found"):
        distributed.default_client()
