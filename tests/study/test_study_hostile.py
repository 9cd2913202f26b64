"""Stores that somebody has tampered with, and clusters that fall apart."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import time
import warnings
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsegauge as sg
from sparsegauge.cli import main
from sparsegauge.errors import ClusterLost, StudyWarning
from sparsegauge.study import dispatch
from sparsegauge.study import run as run_module
from sparsegauge.study.journal import listed_parts
from sparsegauge.study.parts import part_name
from sparsegauge.study.store import Store, study_status
from sparsegauge.study.tables import timings

STUDY = sg.Study(
    n=12, distributions=["normal"], nonzeros=[2, 3], measurements=[5, 8], orders=[2], signs="random",
    solver=sg.SPSA(iterations=5), repeats=4, seed=1,
)  # fmt: skip


@pytest.fixture
def finished(tmp_path):
    sg.run_study(STUDY, tmp_path / "store")
    return tmp_path / "store"


def part_of(path):
    return min((path / "results").glob("part-*.parquet"))


@pytest.mark.parametrize("name", ["lock", "manifest.json", "failed.json", "results", "timings", "journal"])
def test_a_link_in_a_store_is_refused_and_what_it_leads_to_stays(finished, tmp_path, name):
    precious = tmp_path / "precious"
    if (finished / name).is_dir():
        shutil.copytree(finished / name, precious)
        (precious / ".draft.tmp").write_text("not a draft of ours", encoding="utf-8")
        shutil.rmtree(finished / name)
    else:
        precious.write_text("precious", encoding="utf-8")
        (finished / name).unlink(missing_ok=True)
    (finished / name).symlink_to(precious)
    before = sorted(path.name for path in precious.iterdir()) if precious.is_dir() else precious.read_bytes()
    with pytest.raises(sg.InvalidInput, match="is a link"):
        sg.run_study(STUDY, finished)
    after = sorted(path.name for path in precious.iterdir()) if precious.is_dir() else precious.read_bytes()
    assert after == before


@pytest.mark.parametrize("kind", ["pipe", "link", "directory"])
def test_a_part_that_is_no_regular_file_is_set_aside(finished, tmp_path, kind):
    table = sg.load_study(finished)
    part = part_of(finished)
    if kind == "link":
        part.rename(tmp_path / "elsewhere")
        part.symlink_to(tmp_path / "elsewhere")
    else:
        part.unlink()
        (os.mkfifo if kind == "pipe" else os.mkdir)(part)
    assert "not a regular file" in study_status(finished).damaged[0]
    with pytest.warns(StudyWarning, match="not a regular file"):
        sg.run_study(STUDY, finished)
    assert sg.load_study(finished).equals(table)
    assert study_status(finished).damaged == ()


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_a_lock_that_is_no_regular_file_is_refused(finished, kind):
    (finished / "lock").unlink()
    (os.mkfifo if kind == "pipe" else os.mkdir)(finished / "lock")
    with pytest.raises(sg.InvalidInput, match="not a regular file"):
        sg.run_study(STUDY, finished)
    assert not study_status(finished).running


def forge(path):
    """A part with other values, whose name is its checksum."""
    part = part_of(path)
    table = pq.read_table(part)
    changed = table.set_column(table.column_names.index("mse"), "mse", pa.array([0.0] * len(table)))
    part.unlink()
    pq.write_table(changed, part)
    return part.rename(part.with_name(part_name(part.read_bytes())))


def test_a_forged_part_with_a_matching_name_is_noticed(finished):
    assert study_status(finished).unlisted == ()
    forged = forge(finished)
    status = study_status(finished)
    assert status.damaged == ()
    assert status.unlisted == (f"results/{forged.name}",)


def test_a_journal_that_was_altered_lists_nothing_after_the_alteration(finished):
    (journal,) = (finished / "journal").iterdir()
    lines = journal.read_text(encoding="ascii").splitlines()
    fingerprint = json.loads((finished / "manifest.json").read_text(encoding="utf-8"))["fingerprint"]
    assert len(listed_parts(finished, fingerprint)) == len(lines)
    name, checksum, chain = lines[0].split()
    journal.write_text("\n".join([f"{name} {checksum[::-1]} {chain}", *lines[1:]]) + "\n", encoding="ascii")
    assert listed_parts(finished, fingerprint) == set()
    journal.write_text("\n".join(lines)[:-3], encoding="ascii")  # cut off by a crash
    assert len(listed_parts(finished, fingerprint)) == len(lines) - 1


def test_stores_that_are_copied_together_with_their_journals_list_all_parts(tmp_path):
    for name in ("one", "two"):
        sg.run_study(STUDY, tmp_path / name)
    shutil.copytree(tmp_path / "two", tmp_path / "one", dirs_exist_ok=True)
    assert study_status(tmp_path / "one").unlisted == ()


def test_an_interrupt_in_the_middle_of_a_line_breaks_no_chain(tmp_path, monkeypatch):
    with Store.opened(tmp_path / "store", STUDY) as store:
        store.journal.note("results/a", b"a")
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                store.journal.note("results/b", b"b")
        store.journal.note("results/b", b"b")
        store.journal.note("results/c", b"c")
        assert listed_parts(tmp_path / "store", store.manifest.fingerprint) == {"results/a", "results/b", "results/c"}


class Cluster:
    """An executor of a cluster that does as it is told with the second cell."""

    _client = SimpleNamespace(status="running", run=lambda function, on_error: {"tcp://a:1": function()})

    def __init__(self, outcome):
        self.outcome, self.count = outcome, 0

    def submit(self, function, *arguments):
        self.count += 1
        future = Future()
        if self.count == 2:
            self.outcome(future)
        else:
            future.set_result(function(*arguments))
        return future


class KilledWorker(Exception):
    """Named as Dask's."""


def raising(error):
    return lambda future: future.set_exception(error)


def cancelled(future):
    future.cancel()
    future.set_running_or_notify_cancel()


def closed(_):
    raise RuntimeError("Client is closed")


@pytest.mark.parametrize(
    "outcome",
    [cancelled, raising(CancelledError()), raising(OSError("Timed out")), raising(BrokenExecutor("gone")), closed],
    ids=["cancelled", "cancelled by Dask", "connection", "broken pool", "closed"],
)
def test_a_scheduler_that_ends_is_a_sentence_about_the_scheduler(tmp_path, outcome):
    with pytest.raises(ClusterLost, match="scheduler or the pool of workers has ended") as caught:
        sg.run_study(STUDY, tmp_path / "store", executor=Cluster(outcome))
    assert "nonzeros" not in str(caught.value)
    assert study_status(tmp_path / "store").done > 0
    assert sg.run_study(STUDY, tmp_path / "store").done == STUDY.total


class Deadly(Executor):
    """A cluster whose workers die of some cells, and which blames other batches for it the first time."""

    def __init__(self, deadly, *, blamed=()):
        self.deadly, self.blamed, self.batches = set(deadly), list(blamed), []

    def submit(self, function, study, cells):
        future = Future()
        numbers = [STUDY_CELLS.index(cell) for cell in cells]
        self.batches.append(numbers)
        if self.deadly & {*numbers}:
            future.set_exception(KilledWorker("x"))
        elif {*self.blamed} & {*numbers}:
            self.blamed = [number for number in self.blamed if number not in numbers]
            future.set_exception(KilledWorker("x"))
        else:
            future.set_result(function(study, cells))
        return future


STUDY_CELLS = list(STUDY.cells())


def test_a_cell_that_kills_its_workers_is_marked_and_the_study_goes_on(tmp_path):
    store, cluster = tmp_path / "store", Deadly([2], blamed=[0, 3])
    with pytest.warns(StudyWarning, match="nonzeros 3, measurements 5.*every worker that computed it died"):
        status = sg.run_study(STUDY, store, executor=cluster)
    assert status.done == STUDY.total - 4
    assert sorted(cluster.batches[-3:]) == [[0], [2], [3]]  # the suspects, each alone
    assert len(status.failed) == 1
    assert study_status(store).failed == status.failed


def test_a_failed_cell_is_left_out_until_it_is_asked_for(tmp_path):
    store = tmp_path / "store"
    with pytest.warns(StudyWarning, match="marked as failed"):
        sg.run_study(STUDY, store, executor=Deadly([1, 2]))
    again = Deadly([])
    with pytest.warns(StudyWarning, match=r"2 cells are marked as failed and left out.*retry_failed=True"):
        status = sg.run_study(STUDY, store, executor=again)
    assert again.batches == []
    assert len(status.failed) == 2
    with pytest.warns(StudyWarning, match="marked as failed"):
        status = sg.run_study(STUDY, store, executor=Deadly([2]), retry_failed=True)
    assert [words.partition(",")[0] for words in status.failed] == ["distributions normal"]
    assert "nonzeros 3, measurements 5" in status.failed[0]
    assert sg.run_study(STUDY, store, retry_failed=True).failed == ()
    assert study_status(store).done == STUDY.total
    assert json.loads((store / "failed.json").read_text(encoding="utf-8")) == []
    sg.run_study(STUDY, tmp_path / "whole")
    assert sg.load_study(store).equals(sg.load_study(tmp_path / "whole"))


def test_a_mark_survives_a_driver_that_is_killed_after_it(tmp_path):
    def stop(status):
        if status.failed:
            raise KeyboardInterrupt

    store = tmp_path / "store"
    with pytest.warns(StudyWarning, match="marked as failed"), pytest.raises(KeyboardInterrupt):
        sg.run_study(STUDY, store, executor=Deadly([0], blamed=[1]), progress=stop)
    assert len(study_status(store).failed) == 1


def test_the_command_line_names_failed_cells_and_tries_them_again(tmp_path, capsys, monkeypatch):
    toml = tmp_path / "study.toml"
    toml.write_text(
        'n = 12\ndistributions = ["normal"]\nnonzeros = [2, 3]\nmeasurements = [5, 8]\norders = [2]\n'
        'signs = "random"\nrepeats = 4\nseed = 1\nsolver = { name = "SPSA", iterations = 5 }\n',
        encoding="utf-8",
    )
    store = str(tmp_path / "store")
    with pytest.warns(StudyWarning, match="marked as failed"):
        sg.run_study(sg.Study.from_toml(toml), store, executor=Deadly([1]))
    for arguments, code, words in [
        (["status", store], 0, "nonzeros 2, measurements 8, trials 0..3: every worker that computed it died"),
        (["run", str(toml), "--store", store], 1, "12 of 16 (75 %), not running, 1 cell failed"),
        (["run", str(toml), "--store", store, "--retry-failed"], 0, "16 of 16 (100 %)\n"),
    ]:
        with pytest.raises(SystemExit) as caught:
            main(["study", *arguments])
        assert (caught.value.code or 0) == code
        assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "5", "[5]", "[{}]", "[" * 100_000),
        '[{"values": ["normal", 2, 5], "first_trial": 1, "trials": 4, "reason": ""}]',
        '[{"values": ["normal", 2, 99], "first_trial": 0, "trials": 4, "reason": ""}]',
    ],
)
def test_damaged_marks_are_a_sentence(finished, text):
    (finished / "failed.json").write_text(text, encoding="utf-8")
    for action in (lambda: sg.run_study(STUDY, finished), lambda: study_status(finished)):
        with pytest.raises(sg.InvalidInput, match=r"failed.json is damaged .* delete it"):
            action()
    assert len(sg.load_study(finished)) == STUDY.total


class Idle:
    """A Dask client without workers."""

    status = "running"

    def run(self, function, on_error):
        return {}

    def scheduler_info(self):
        return {"workers": {}}


def test_a_cluster_without_workers_is_said_once(tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "SECONDS_BEFORE_WORKER_CHECK", 0.05)
    with ThreadPoolExecutor(1) as pool, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        pool._client = Idle()
        pool.submit(time.sleep, 0.5)
        sg.run_study(STUDY, tmp_path / "store", executor=pool)
    assert ["no workers" in str(one.message) for one in caught if one.category is StudyWarning] == [True]


OTHER = {"numpy": "1.0"}


def test_a_cluster_that_mixes_versions_is_named(tmp_path):
    cluster = Cluster(raising(KilledWorker("x")))
    cluster.count = 2  # which does nothing wrong then
    cluster._client = SimpleNamespace(
        run=lambda function, on_error: {"tcp://a:1": function(), "tcp://b:2": function() | OTHER}
    )
    with pytest.warns(StudyWarning, match=r"worker tcp://b:2 has other versions.*numpy 1.0 there"):
        sg.run_study(STUDY, tmp_path / "store", executor=cluster)


def test_every_cell_records_the_versions_of_its_worker(tmp_path, monkeypatch):
    here = run_module.versions_here()
    sets = iter([here, here | OTHER] * 9)
    monkeypatch.setattr(run_module, "versions_here", lambda: next(sets))
    with pytest.warns(StudyWarning, match="numpy 1.0"):
        sg.run_study(STUDY, tmp_path / "store", executor=ThreadPoolExecutor(1))
    found = set(timings(tmp_path / "store")["versions"])
    assert len(found) == 2
    assert any("numpy 1.0" in one for one in found)
    assert set(study_status(tmp_path / "store").versions) == found
    assert main_prints(["study", "status", str(tmp_path / "store")]).count("numpy") == 2


def main_prints(arguments):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        main(arguments)
    return out.getvalue()
