"""Uploaded files: signals, refusals, and nothing left behind."""

from __future__ import annotations

import errno
import io
import os
import tempfile

import numpy as np
import pytest
import scipy.io
from page_numbers import random_signal

import sparsegauge as sg
from sparsegauge.explore import upload


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def read(data, name, max_mb=1.0):
    return upload.read_upload(data, name, max_mb=max_mb)


def test_uploads_become_signals():
    x = random_signal(0)
    (signal,) = read(npy(x), "x.npy")
    assert signal.name == "x.npy"
    assert (signal.values == x).all()
    table = read(b"a,b\n1,2\n0,3\n5,4\n", "t.csv")
    assert [signal.name for signal in table] == ["t.csv, a", "t.csv, b"]
    assert table[1].values.tolist() == [2, 3, 4]


def test_a_single_number_beside_the_signal_is_no_obstacle(tmp_path):
    x = random_signal(0)
    scipy.io.savemat(tmp_path / "x.mat", {"X105_DE_time": x[:, None], "X105RPM": np.array([[1797]])})
    (signal,) = read((tmp_path / "x.mat").read_bytes(), "x.mat")
    assert signal.values.tolist() == x.tolist()
    scipy.io.savemat(tmp_path / "y.mat", {"X105RPM": np.array([[1797]])})
    with pytest.raises(sg.InvalidInput, match="1 numbers"):
        read((tmp_path / "y.mat").read_bytes(), "y.mat")


def test_a_column_that_cannot_be_measured_does_not_hide_the_others():
    (signal,) = read(b"a,b\n0,2\n0,3\n0,4\n", "t.csv")
    assert signal.values.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x00\x01junk", "x.npy"),
        (b"hello", "x.csv"),
        (b"", "x.csv"),
        (b"\x7fELF", "x.exe"),
        (npy(np.zeros(9)), "z.npy"),
    ],
)
def test_junk_is_refused_without_a_word_about_the_temporary_directory(data, name):
    with pytest.raises(sg.InvalidInput) as caught:
        read(data, name)
    assert tempfile.gettempdir() not in str(caught.value)
    assert name in str(caught.value)


class Trap:
    sprung = False

    def __reduce__(self):
        return (setattr, (Trap, "sprung", True))


def test_nothing_is_unpickled():
    with pytest.raises(sg.InvalidInput):
        read(npy(np.array([Trap()], dtype=object), allow_pickle=True), "x.npy")
    assert not Trap.sprung


def test_a_file_that_is_too_large_is_refused_before_it_is_written(monkeypatch):
    monkeypatch.setattr(tempfile, "TemporaryDirectory", lambda **_: pytest.fail("written before it was checked"))
    with pytest.raises(sg.InvalidInput, match=r"has 1\.5 MB and the page takes up to 1"):
        read(b"0" * 1_500_000, "x.csv")


@pytest.mark.parametrize("name", ["../../x.npy", "/etc/x.npy", "..\\..\\x.npy", "C:\\x.npy"])
def test_a_name_leads_nowhere_else_and_nothing_is_left(tmp_path, monkeypatch, name):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (signal,) = read(npy(random_signal(0)), name)
    assert signal.name == "x.npy"
    assert os.listdir(tmp_path) == []


def test_a_name_too_long_for_a_file_system_is_cut_and_keeps_its_end():
    (signal,) = read(npy(random_signal(0)), "\N{GRINNING FACE}" * 80 + ".npy")
    assert signal.name.endswith("\N{GRINNING FACE}.npy")
    assert len(signal.name.encode()) <= upload.LONGEST_NAME


def test_a_full_disk_is_no_word_about_the_temporary_directory(monkeypatch):
    def full(path, data):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(upload.Path, "write_bytes", full)
    with pytest.raises(sg.InvalidInput, match=r"No space left on device: 'x\.npy'"):
        read(npy(random_signal(0)), "x.npy")


@pytest.mark.parametrize("name", ["", "..", ".", "a\nb"])
def test_strange_names_are_made_harmless(name):
    base = upload._base(name)
    assert base not in ("", ".", "..")
    assert base.isprintable()
