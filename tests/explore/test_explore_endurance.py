"""The page's server over time: memory, uploads that are too large, sessions beside each other, files left behind."""

from __future__ import annotations

import asyncio
import gc
import http.client
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar
from urllib.parse import urlsplit

import numpy as np
import pytest

pn = pytest.importorskip("panel")
pytest.importorskip("panel_material_ui")

import sparsegauge as sg  # noqa: E402
from explore_server import MOST_KEPT, resident, serving_process  # noqa: E402
from sparsegauge._platform import scratch  # noqa: E402
from sparsegauge.explore import experiment, recovery_run, server  # noqa: E402
from sparsegauge.explore.dropper import ALREADY_TAKEN, LimitedDropper  # noqa: E402
from sparsegauge.explore.signal_panel import SignalPanel  # noqa: E402
from sparsegauge.explore.view import make_page  # noqa: E402
from waiting import read_line, wait_until  # noqa: E402


def watchers_of_the_process():
    """How many objects the process-wide state of Panel keeps alive because they watch it."""
    return sum(len(found) for found in pn.state._param__private.watchers.get("busy", {}).values())


def test_a_page_is_not_kept_by_the_state_of_the_process():
    before = watchers_of_the_process()
    pages = [make_page(1.0) for _ in range(3)]
    assert watchers_of_the_process() == before
    del pages
    gc.collect()


class Cycle:
    def __init__(self):
        self.own = self


def test_memory_is_given_back_once_for_all_sessions_that_end_together(monkeypatch):
    """Also that of objects that refer to themselves, which Python looks for rarely."""
    given = []
    real = server.give_memory_back
    monkeypatch.setattr(server, "give_memory_back", lambda: given.append(real()))
    monkeypatch.setattr(server, "TIDYING", 0.01)

    async def end_sessions():
        tidying = server.Tidying()
        for _ in range(2):
            for _ in range(3):
                tidying.soon()
            assert not given[1:]
            await asyncio.sleep(0.1)

    gc.disable()
    try:
        garbage = weakref.ref(Cycle())
        asyncio.run(end_sessions())
    finally:
        gc.enable()
    assert len(given) == 2
    assert garbage() is None


def piece(name, data, number, total):
    return SimpleNamespace(
        event_name="upload_event",
        data={"name": name, "data": data, "chunk": number, "total_chunks": total, "type": "application/octet-stream"},
    )


def held(dropper):
    return sum(len(data) for pieces in dropper._file_buffer.values() for data in pieces)


def test_pieces_of_a_file_that_is_too_large_are_thrown_away_as_they_arrive():
    dropper = LimitedDropper(limit=1000)
    for number in range(1, 101):
        dropper._process_event(piece("x.npy", bytes(100), number, 100))
        assert held(dropper) <= 1000
    assert dropper.value == {}
    assert "refused" in dropper.complaint
    dropper._process_event(piece("y.npy", bytes(1000), 1, 1))
    assert dropper.complaint == ""
    assert len(dropper.value["y.npy"]) == 1000


def test_files_on_their_way_count_together():
    dropper = LimitedDropper(limit=1000)
    for number in (1, 2):
        for name in range(500):
            dropper._process_event(piece(f"{name}.npy", bytes(10), number, 3))
            assert held(dropper) <= 1000
    for name in range(5000):
        dropper._process_event(piece(f"empty {name}.npy", b"", 1, 3))
    assert len(dropper._file_buffer) <= 101


@pytest.mark.parametrize("data", [{}, {"name": 5}, {"name": "x", "data": None, "chunk": 1}, {"name": "x", "chunk": 7}])
def test_events_that_no_page_sends_are_ignored(data):
    dropper = LimitedDropper(limit=1000)
    dropper._process_event(SimpleNamespace(event_name="upload_event", data=data))
    assert (dropper.value, held(dropper)) == ({}, 0)


def test_the_page_says_that_a_file_was_refused_and_keeps_no_bytes():
    panel = SignalPanel(max_upload_mb=0.001, on_signal=lambda *_: None)
    for number in (1, 2):
        panel.file._process_event(piece("x.csv", b"1\n" * 300, number, 3))
    assert panel.message.visible
    assert "0.001 MB" in panel.message.object
    panel.file._process_event(piece("x.csv", b"1\n2\n4\n", 1, 1))
    assert not panel.message.visible
    assert panel.which.value == "x.csv"
    assert panel.file.value == {"x.csv": ALREADY_TAKEN}


class _Forever(sg.Solver):
    """Never ends by itself."""

    supports: ClassVar[sg.Capabilities] = sg.Capabilities()

    def iterates(self, problem, rng):
        while True:
            yield sg.Iterate(np.ones(problem.n))


class _Stuck(_Forever):
    """Never comes to its first iterate."""

    def iterates(self, problem, rng):
        while problem.n:
            time.sleep(0.01)
        yield sg.Iterate(np.ones(problem.n))


class _Killed(_Forever):
    """Is killed after its first iterate, as by a system without memory."""

    def iterates(self, problem, rng):
        yield sg.Iterate(np.ones(problem.n))
        os.kill(os.getpid(), signal.SIGKILL)


def trial(solver=None, seed=0):
    x = sg.sparse_signal(64, 4, rng=seed)
    first = next(iter(experiment.SOLVERS))
    return experiment.set_up(x, kept=4, measurements=32, snr=None, solver=solver or first, seed=seed)


@pytest.fixture
def hostile(monkeypatch):
    """Offer solvers that do not end."""
    for solver in (_Forever, _Stuck, _Killed):
        monkeypatch.setitem(experiment.SOLVERS, solver.__name__[1:], solver)


def started(solver):
    run = recovery_run.RecoveryRun(trial(solver))
    run.start()
    wait_until(lambda: run.frames or solver == "Stuck", "the first iterate")
    return run


def test_an_endless_recovery_does_not_stop_another_and_ends_when_it_is_told(hostile):
    endless, other = started("Forever"), recovery_run.RecoveryRun(trial(seed=2))
    other.start()
    other.join(120)
    assert other.result is not None
    assert other.result.success
    assert not endless.over
    assert len(endless.frames) <= recovery_run.MOST_FRAMES_KEPT
    endless.stop()
    endless.join(120)
    assert endless.over


def test_a_recovery_that_does_not_listen_is_killed(hostile, monkeypatch):
    monkeypatch.setattr(recovery_run, "GRACE_SECONDS", 0.2)
    run = started("Stuck")
    run.stop()
    run.join(120)
    assert (run.result, run.failure) == (None, "it was stopped before it had a result")
    assert not multiprocessing.active_children()


def test_a_recovery_is_stopped_after_its_time(hostile, monkeypatch):
    monkeypatch.setattr(recovery_run, "MOST_SECONDS_PER_RUN", 0.5)
    monkeypatch.setattr(recovery_run, "GRACE_SECONDS", 0.2)
    run = started("Stuck")
    run.join(120)
    assert run.failure == "it was stopped before it had a result"
    run = recovery_run.RecoveryRun(trial("Forever"))
    run.work()
    assert run.over


def test_a_recovery_whose_process_dies_is_a_sentence(hostile):
    run = started("Killed")
    run.join(120)
    assert run.failure.startswith("its process ended (exit code -9)")
    assert len(run.frames) == 1


def test_recoveries_end_with_a_server_that_was_killed(tmp_path):
    """Also one that is stuck in an iterate."""
    code = (
        "import sys, time\nsys.path[:0] = sys.argv[1:]\n"
        "import test_explore_endurance as t\nfrom sparsegauge.explore import experiment, recovery_run\n"
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    experiment.SOLVERS['Stuck'] = t._Stuck\n"
        "    run = recovery_run.RecoveryRun(t.trial('Stuck')); run.start()\n"
        "    while not multiprocessing.active_children(): time.sleep(0.01)\n"
        "    print(multiprocessing.active_children()[0].pid, flush=True)\n    time.sleep(600)\n"
    )
    (tmp_path / "server.py").write_text(code)
    here = Path(__file__).parent
    command = [sys.executable, str(tmp_path / "server.py"), str(here), str(here.parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        child = int(read_line(process))
        os.kill(child, 0)
        process.kill()
        process.wait()
    wait_until(lambda: not is_alive(child), "the end of the recovery")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def seconds_of_a_recovery():
    run = recovery_run.RecoveryRun(trial(seed=2))
    began = time.perf_counter()
    run.start()
    run.join(120)
    assert run.result is not None
    return time.perf_counter() - began


@pytest.mark.slow
def test_an_endless_recovery_does_not_slow_another(hostile, monkeypatch):
    """On two processors or more; on one, a lower priority leaves the endless one a tenth."""
    seconds_of_a_recovery()
    ratios = []
    for _ in range(9):
        alone = seconds_of_a_recovery()
        endless = started("Forever")
        time.sleep(1.5 * recovery_run.SECONDS_AT_FULL_PRIORITY)  # from then on it gives way
        ratios.append(seconds_of_a_recovery() / alone)
        endless.stop()
        endless.join(60)
        assert endless.over
    assert np.median(ratios) < 1.25


def test_scratch_directories_of_killed_processes_are_removed_and_others_stay(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = (
        "import sys, time\nfrom sparsegauge._platform.scratch import scratch_directory\n"
        "with scratch_directory() as d:\n    (d / 'upload').write_bytes(b'x'); print(d, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", code]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        left = Path(process.stdout.readline().strip())
        (tmp_path / "sparsegauge-link").symlink_to(tmp_path)
        (tmp_path / "sparsegauge-other").mkdir()
        assert scratch.remove_abandoned_scratch() == []  # it is in use
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert left.exists()
    with scratch.scratch_directory() as own:
        assert scratch.remove_abandoned_scratch() == [left]
        assert own.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sparsegauge-link", "sparsegauge-other"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("loads", [500])
def test_memory_returns_after_many_page_loads(loads):
    with serving_process() as (url, process):
        parts = urlsplit(url)
        connection = http.client.HTTPConnection(parts.netloc, timeout=120)
        connection.request("GET", f"/?{parts.query}")
        response = connection.getresponse()
        response.read()
        cookie = response.getheader("Set-Cookie").partition(";")[0]

        def load(times):
            for _ in range(times):
                connection.request("GET", "/", headers={"Cookie": cookie})
                answer = connection.getresponse()
                assert answer.status == 200
                answer.read()

        load(20)  # what the first pages load stays, and is shared
        before = resident(process.pid)
        load(loads)
        deadline = time.monotonic() + 180
        while resident(process.pid) > before + MOST_KEPT and time.monotonic() < deadline:
            time.sleep(5)
            load(1)  # sessions are looked at when there is something to do
        assert resident(process.pid) <= before + MOST_KEPT
