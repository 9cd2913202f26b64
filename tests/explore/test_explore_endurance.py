"""The page's server over time: memory, uploads that are too large, sessions beside each other, files left behind."""

from __future__ import annotations

import gc
import http.client
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest

pn = pytest.importorskip("panel")
pytest.importorskip("panel_material_ui")

import sparsegauge as sg  # noqa: E402
from explore_server import MOST_KEPT, resident, serving_process  # noqa: E402
from sparsegauge._platform import scratch  # noqa: E402
from sparsegauge.explore import experiment  # noqa: E402
from sparsegauge.explore.dropper import ALREADY_TAKEN, LimitedDropper  # noqa: E402
from sparsegauge.explore.signal_panel import SignalPanel  # noqa: E402
from sparsegauge.explore.view import make_page  # noqa: E402


def watchers_of_the_process():
    """How many objects the process-wide state of Panel keeps alive because they watch it."""
    return sum(len(found) for found in pn.state._param__private.watchers.get("busy", {}).values())


def test_a_page_is_not_kept_by_the_state_of_the_process():
    before = watchers_of_the_process()
    pages = [make_page(1.0) for _ in range(3)]
    assert watchers_of_the_process() == before
    del pages
    gc.collect()


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


def trial(seed=0):
    x = sg.sparse_signal(64, 4, rng=seed)
    return experiment.set_up(x, kept=4, measurements=32, snr=None, solver=next(iter(experiment.SOLVERS)), seed=seed)


def test_an_endless_recovery_does_not_stop_another_and_ends_when_it_is_told(monkeypatch):
    real = experiment.recover_signal
    endless = threading.Event()

    def recover(A, y, *, callback, rng, **options):
        if rng == 1:  # the session that never ends
            count = 0
            while not callback(count, np.ones(A.shape[1])):
                count += 1
                endless.set()
        return real(A, y, callback=callback, rng=rng, **options)

    monkeypatch.setattr(experiment, "recover_signal", recover)
    stuck, other = experiment.Run(trial(1)), experiment.Run(trial(2))
    stuck.start()
    assert endless.wait(60)
    other.start()
    other.join(120)
    assert other.result is not None
    assert other.result.success
    assert not stuck.over
    assert len(stuck.frames) <= experiment.MOST_FRAMES
    stuck.stop()
    stuck.join(120)
    assert stuck.over


def test_a_recovery_is_stopped_after_its_time(monkeypatch):
    monkeypatch.setattr(experiment, "LONGEST_RUN", -1.0)
    run = experiment.Run(trial())
    assert run._collect(1, np.ones(64)) is True


def seconds_of_a_recovery():
    run = experiment.Run(trial(2))
    began = time.perf_counter()
    run.start()
    run.join(120)
    assert run.result is not None
    return time.perf_counter() - began


@pytest.mark.slow
def test_an_endless_recovery_hardly_slows_another(monkeypatch):
    """Python runs one thread at a time: a run that lasts gives way."""
    real, age = experiment.recover_signal, time.monotonic() - experiment.LONGEST_RUN / 2

    def recover(A, y, *, callback, rng, **options):
        while rng == 1 and not callback(0, np.ones(A.shape[1])):
            pass
        return real(A, y, callback=callback, rng=rng, **options)

    monkeypatch.setattr(experiment, "recover_signal", recover)
    seconds_of_a_recovery()
    ratios = []
    for _ in range(9):
        alone = seconds_of_a_recovery()
        endless = experiment.Run(trial(1), _deadline=age + experiment.LONGEST_RUN)  # long under way
        endless.start()
        ratios.append(seconds_of_a_recovery() / alone)
        endless.stop()
        endless.join(60)
        assert endless.over
    assert np.median(ratios) < 1.5
    assert not experiment._under_way


def test_a_run_that_fails_does_not_count_as_under_way(monkeypatch):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(experiment, "recover_signal", fail)
    run = experiment.Run(trial())
    run.work()
    assert run.failure == "MemoryError"
    assert not experiment._under_way


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
