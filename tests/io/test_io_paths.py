"""Paths, pipes and packed files, files larger than memory, and any bytes."""

from __future__ import annotations

import gzip
import io
import os
import re
import tempfile
import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.io.wavfile
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import only, read, refuse

from io_samples import SAMPLES, WRITERS, X, write_parquet
from sparsegauge import InvalidInput
from sparsegauge.io import FORMATS, expand, opened
from sparsegauge.io.file_contents import BLOCK_BYTES
from sparsegauge.io.files import spooled
from strategies import law

# Paths


def test_paths_that_are_no_files(tmp_path):
    refuse(tmp_path, "is a directory", OSError)
    refuse(tmp_path / "missing.npy", "No such file", FileNotFoundError)
    refuse("/dev/null", "is not a regular file", OSError)
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", "is not a regular file; copy what it holds into one", OSError)
    (tmp_path / "x.docx").write_bytes(b"word")
    refuse(tmp_path / "x.docx", "no known kind: the endings are .npy")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").chmod(0)
    refuse(tmp_path / "x.npy", "Permission denied", PermissionError)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_without_an_ending_is_known_by_its_beginning(tmp_path, ending):
    WRITERS[ending](tmp_path / f"x{ending}")
    expected = read(tmp_path / f"x{ending}")
    (tmp_path / f"x{ending}").rename(tmp_path / "x")
    found = read(tmp_path / "x")
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


def test_endings_may_be_written_in_capitals(tmp_path):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").rename(tmp_path / "X.NPY")
    np.testing.assert_array_equal(only(tmp_path / "X.NPY").array(), X)


def test_patterns_are_expanded_in_order_and_names_with_brackets_are_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.npy").mkdir()
    for name in ("b.npy", "a.npy", "x[1].npy", "c.csv"):
        (tmp_path / name).touch()
    assert expand(["*.npy", "-", "x[1].npy", "nothere"]) == ["a.npy", "b.npy", "x[1].npy", "-", "x[1].npy", "nothere"]
    with pytest.raises(InvalidInput, match="no file matches"):
        expand(["*.wav"])


def test_pipes_are_copied_and_the_copy_goes_away(tmp_path):
    with spooled("-", lambda: io.BytesIO(b"1\n2\n")) as path:
        np.testing.assert_array_equal(only(path).array(), [1, 2])
    assert not path.exists()
    (tmp_path / "x.csv").touch()
    with spooled(str(tmp_path / "x.csv"), io.BytesIO) as path:
        assert path == tmp_path / "x.csv"


def test_a_named_pipe_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[SAMPLES[".npy"]])
    writer.start()
    with spooled(str(tmp_path / "pipe"), io.BytesIO) as path:
        writer.join()
        np.testing.assert_array_equal(only(path).array(), X)


# Files larger than what may be held of them


@pytest.mark.parametrize("packed", [False, True])
def test_opened_files_are_named_as_the_user_typed_them(tmp_path, packed):
    path = tmp_path / ("x.csv" + ".gz" * packed)
    path.write_bytes(gzip.compress(b"a,b\n1,u\n2,v\n") if packed else b"a,b\n1,u\n2,v\n")
    notes = []
    with opened(str(path), note=notes.append) as file:
        assert file.label == str(path)
        assert [contents.array().ravel().tolist() for contents in file.contents] == [[1.0, 2.0]]
    assert len(notes) == 1
    with (
        pytest.raises(InvalidInput, match=rf"^{re.escape(str(path))}: too short$"),
        opened(str(path)),
    ):
        raise InvalidInput("too short")
    path.write_bytes(gzip.compress(b"only\nwords\n") if packed else b"only\nwords\n")
    with pytest.raises(InvalidInput) as caught, opened(str(path), label="mine"):
        pass
    assert "mine" in str(caught.value)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize("ending", [".npy", ".csv", ".wav", ".parquet"])
def test_a_file_is_read_in_pieces(tmp_path, monkeypatch, ending):
    for name in ("file_contents.BLOCK_BYTES", "text_pieces.TEXT_BLOCK_BYTES", "sound.BLOCK_BYTES"):
        monkeypatch.setattr(f"sparsegauge.io.{name}", 1 << 16)
    monkeypatch.setattr("sparsegauge.io.parquet.BATCH_BYTES", 1 << 16)
    path = tmp_path / f"x{ending}"
    table = np.random.default_rng(1).integers(-99, 99, (200_000, 2)).astype(np.int16)
    if ending == ".npy":
        np.save(path, table)
    elif ending == ".csv":
        np.savetxt(path, table, delimiter=",", fmt="%d")
    elif ending == ".wav":
        scipy.io.wavfile.write(path, 8000, table)
    else:
        write_parquet(path, a=table[:, 0], b=table[:, 1])
    assert path.stat().st_size > 400_000
    found = only(path)
    total, pieces = np.zeros(2), 0
    tracemalloc.start()
    for block in found.blocks(0):
        total += block.sum(axis=-1)
        pieces += 1
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(total, table.sum(axis=0) / (2**15 if ending == ".wav" else 1))
    assert pieces >= 5
    assert peak < 8 * table.size / 2, "half of the numbers, as float64"


def test_blocks_joined_are_the_array(tmp_path):
    x = np.random.default_rng(2).standard_normal((3, 50, 4))
    np.save(tmp_path / "x.npy", x)
    found = only(tmp_path / "x.npy")
    for axis in (0, 1, 2, -1):
        joined = np.concatenate(list(found.blocks(axis)), axis=-1)
        np.testing.assert_array_equal(joined, np.moveaxis(x, axis, -1))
    assert BLOCK_BYTES < 1 << 25


# Whatever the bytes


def survives(path):
    """Arrays of numbers, or a sentence in an InvalidInput; never anything else."""
    try:
        arrays = list(read(path).values())
    except InvalidInput as error:
        return "\n" not in str(error)
    return all(array.size > 0 and array.dtype.kind in "biufc" for array in arrays)


def tried(ending, content):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"x{ending}"
        path.write_bytes(content)
        assert survives(path)


def mutated(ending, changes, cut):
    content = bytearray(SAMPLES[ending])
    for place, value in changes:
        content[int(place * len(content))] = value
    return bytes(content[: int(cut * len(content))])


BYTES = st.sampled_from([0, 1, 127, 128, 255]) | st.integers(0, 255)
CHANGES = st.lists(st.tuples(st.floats(0, 0.999), BYTES), max_size=6)
CUT = st.just(1.0) | st.floats(0, 1)


@settings(law, max_examples=60)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(content=st.binary(max_size=200))
def test_random_bytes_are_an_array_or_a_sentence(ending, content):
    tried(ending, content)


@settings(law, max_examples=80)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(changes=CHANGES, cut=CUT)
def test_damaged_files_are_an_array_or_a_sentence(ending, changes, cut):
    tried(ending, mutated(ending, changes, cut))


@pytest.mark.slow
@settings(law, max_examples=3000)
@pytest.mark.parametrize("ending", sorted(FORMATS))
@given(changes=CHANGES, cut=CUT)
def test_many_damaged_files_are_an_array_or_a_sentence(ending, changes, cut):
    tried(ending, mutated(ending, changes, cut))
