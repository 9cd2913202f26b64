"""Windows and macOS, as far as they can be simulated: locks, folders that cannot be synced, no /proc."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

import sparsegauge as sg
from sparsegauge._platform import locks, scratch, writing
from sparsegauge.errors import StoreInUse
from sparsegauge.study.disk import Lock, is_locked
from sparsegauge.study.store import study_status
from waiting import DEADLINE, read_line

STUDY = sg.Study(
    n=12, distributions=["normal"], nonzeros=[2, 3], measurements=[5, 8], orders=[2], signs="random",
    solver=sg.SPSA(iterations=5), repeats=4, seed=1,
)  # fmt: skip

# As msvcrt.locking does it: it locks bytes from the present position on, for a handle and not for a process, until the
# handle is closed; a byte that is locked is an EACCES, for the same process too.
FAKE = """
import errno, fcntl, os
LK_NBLCK = 2
def locking(handle, mode, count):
    assert (mode, count) == (LK_NBLCK, 1)
    assert os.lseek(handle, 0, os.SEEK_CUR) == 1 << 30, "the lock must be far behind the content, which others read"
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise OSError(errno.EACCES, "Permission denied") from None
"""


@pytest.fixture
def windows(monkeypatch):
    """The lock of Windows, and no folder that can be opened."""
    fake = SimpleNamespace()
    exec(FAKE, fake.__dict__)
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(locks, "fcntl", None)

    def refuse_folders(path, *arguments, **options):
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return os.open(path, *arguments, **options)

    class Windows:
        name, open = "nt", staticmethod(refuse_folders)

        def __getattr__(self, name):
            return getattr(os, name)

    monkeypatch.setattr(writing, "os", Windows())


def opened(path):
    return os.open(path, os.O_RDWR | os.O_CREAT)


def test_the_lock_of_windows_is_held_by_one_and_ends_with_its_handle(tmp_path, windows):
    one, other = opened(tmp_path / "lock"), opened(tmp_path / "lock")
    os.write(one, b"process 1")
    assert locks.try_lock(one)
    assert os.lseek(one, 0, os.SEEK_CUR) == 0
    assert not locks.try_lock(other)
    assert not locks.try_lock(other, shared=True)
    assert os.read(other, 20) == b"process 1"  # what is written there can be read while it is locked
    os.close(one)
    assert locks.try_lock(other)
    os.close(other)


def test_other_errors_of_windows_are_raised(tmp_path, windows, monkeypatch):
    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(sys.modules["msvcrt"], "locking", broken)
    handle = opened(tmp_path / "lock")
    with pytest.raises(OSError, match="Input/output error"):
        locks.try_lock(handle)
    os.close(handle)


def test_a_store_has_one_writer_on_windows(tmp_path, windows):
    with Lock(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(StoreInUse, match=f"process {os.getpid()} on"), Lock(tmp_path):
            pass
    assert not is_locked(tmp_path)


def test_the_lock_of_a_killed_process_is_free_on_windows(tmp_path, windows):
    code = (
        "import signal, sys, types; from pathlib import Path\n"
        f"fake = types.ModuleType('msvcrt'); exec({FAKE!r}, fake.__dict__); sys.modules['msvcrt'] = fake\n"
        "from sparsegauge._platform import locks; locks.fcntl = None\n"
        "from sparsegauge.study.disk import Lock\n"
        "with Lock(Path(sys.argv[1])): print('held', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert read_line(other) == "held\n"
        with pytest.raises(StoreInUse, match=f"process {other.pid} on"), Lock(tmp_path):
            pass
        other.kill()
        other.wait(DEADLINE)
    with Lock(tmp_path):
        pass


def test_a_study_runs_where_folders_cannot_be_opened(tmp_path, windows):
    assert sg.run_study(STUDY, tmp_path / "store").done == STUDY.total
    status = study_status(tmp_path / "store")
    assert (status.damaged, status.unlisted, status.running) == ((), (), False)
    assert len(sg.load_study(tmp_path / "store")) == STUDY.total


def test_a_part_that_another_program_has_open_is_an_error_and_the_next_run_goes_on(tmp_path, windows, monkeypatch):
    """Windows refuses to replace or delete a file that is open elsewhere."""
    sg.run_study(STUDY, tmp_path / "store")
    part = next((tmp_path / "store" / "results").glob("part-*"))
    part.unlink()

    def refuse(*_):
        raise PermissionError(errno.EACCES, "The process cannot access the file because it is being used")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(OSError, match=r"cannot be written.*what is stored is safe"):
            sg.run_study(STUDY, tmp_path / "store")
    assert not list((tmp_path / "store").rglob("*.tmp"))
    assert sg.run_study(STUDY, tmp_path / "store").done == STUDY.total


def test_scratch_folders_in_use_are_known_on_windows(tmp_path, windows, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "sparsegauge-left"
    left.mkdir()
    (left / scratch.LOCK).touch()
    with scratch.scratch_directory() as own:
        assert scratch.remove_abandoned_scratch() == [left]
        assert own.exists()


def test_a_lock_that_the_system_refuses_for_another_reason_is_an_error(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with pytest.raises(OSError, match="No locks available"):
        sg.run_study(STUDY, tmp_path / "store")
