"""Small parts are put together: nothing lost, nothing twice, whatever happens in between."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import sparsegauge as sg
from sparsegauge.errors import StudyWarning
from sparsegauge.study import compaction, store
from sparsegauge.study.parts import PartReader, encode_part, note_units, part_name
from sparsegauge.study.run import run_cell
from sparsegauge.study.store import Store, study_status
from sparsegauge.study.tables import timings

STUDY = sg.Study(
    n=12, distributions=["normal", "binomial"], nonzeros=[2, 3], measurements=[5, 8, 9], orders=[1, 2], signs="random",
    solver=sg.SPSA(iterations=5), repeats=4, seed=1,
)  # fmt: skip
CELLS = list(STUDY.cells())


@pytest.fixture(scope="module")
def measured():
    return [{name: values.ravel() for name, values in run_cell(STUDY, cell).items()} for cell in CELLS]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "store"
    sg.run_study(STUDY, path)
    return sg.load_study(path)


@pytest.fixture
def few(monkeypatch):
    """Four small parts are many, and a part that is put together holds up to five cells."""
    monkeypatch.setattr(compaction, "SMALL_PARTS_BEFORE_MERGING", 4)
    monkeypatch.setattr(compaction, "MOST_ROWS_PER_MERGED_PART", 5 * 8)


def add(opened, number, measured):
    opened.add(np.array([number]), measured[number], np.array([0.1]), "here:1")
    opened.flush()


EVERY = range(len(CELLS))


def fill(path, measured, numbers=EVERY):
    with Store.opened(path, STUDY) as opened:
        for number in numbers:
            add(opened, number, measured)


def names(path, place="results"):
    return {part.name for part in (path / place).glob("part-*.parquet")}


def check(path, table, *, parts):
    pd.testing.assert_frame_equal(sg.load_study(path), table, check_exact=True)
    rows = pd.concat([pq.read_table(part).to_pandas() for part in (path / "results").glob("part-*.parquet")])
    assert len(rows) == STUDY.total
    status = study_status(path)
    assert (status.done, status.damaged, status.unlisted) == (STUDY.total, (), ())
    assert len(timings(path)) == len(CELLS)
    assert len(names(path)) <= parts
    assert not list(path.rglob("*.tmp"))


def test_many_small_parts_become_few_and_the_table_stays(tmp_path, table, measured, few):
    fill(tmp_path / "store", measured)
    check(tmp_path / "store", table, parts=6)
    fill(tmp_path / "backwards", measured, reversed(range(len(CELLS))))
    check(tmp_path / "backwards", table, parts=6)
    for part in (tmp_path / "backwards" / "results").glob("part-*.parquet"):
        rows = pq.read_table(part).to_pandas()
        codes = rows.assign(distributions=rows["distributions"].map({"normal": 0, "binomial": 1}))
        axes = ["distributions", "nonzeros", "measurements", "orders", "trial"]
        assert codes[axes].to_numpy().tolist() == sorted(codes[axes].to_numpy().tolist())


def test_few_small_parts_stay_as_they_are(tmp_path, table, measured):
    fill(tmp_path / "store", measured)
    assert len(names(tmp_path / "store")) == len(CELLS)
    check(tmp_path / "store", table, parts=len(CELLS))


def test_a_unit_that_is_there_twice_is_put_together_once(tmp_path, table, measured, few, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(compaction, "SMALL_PARTS_BEFORE_MERGING", 99)
        fill(tmp_path / "store", measured, [0, 1, 0, 2])
        with Store.opened(tmp_path / "store", STUDY) as opened:
            opened.add(np.array([1, 2, 3]), _joined(measured, [1, 2, 3]), np.full(3, 0.1), "here:2")
    monkeypatch.setattr(compaction, "MOST_ROWS_PER_MERGED_PART", 1000)
    fill(tmp_path / "store", measured, range(4, len(CELLS)))
    pd.testing.assert_frame_equal(sg.load_study(tmp_path / "store"), table, check_exact=True)
    rows = [pq.read_table(part).num_rows for part in (tmp_path / "store" / "results").glob("part-*.parquet")]
    assert sum(rows) == STUDY.total


def _joined(measured, numbers):
    return {name: np.concatenate([measured[number][name] for number in numbers]) for name in measured[0]}


class Killed(BaseException):
    """In the place of kill -9: nothing of this run is done afterwards."""


STEPS = [step if step % 3 == 0 else pytest.param(step, marks=pytest.mark.slow) for step in range(40)]


@pytest.mark.parametrize("step", STEPS)
def test_a_run_killed_at_any_step_of_putting_together_loses_nothing(tmp_path, table, measured, few, step, monkeypatch):
    path, count = tmp_path / "store", [0]

    def dying(real):
        def call(*arguments, **options):
            count[0] += 1
            if count[0] > step:
                raise Killed
            return real(*arguments, **options)

        return call

    fill(path, measured, range(3))
    before = study_status(path).done
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", dying(os.fsync))
        patch.setattr(os, "replace", dying(os.replace))
        patch.setattr(Path, "unlink", dying(Path.unlink))
        patch.setattr(store, "_delete", dying(store._delete))
        with pytest.raises(Killed):
            fill(path, measured, range(3, len(CELLS)))
    status = study_status(path)
    assert status.done >= before
    assert status.damaged == status.unlisted == ()
    assert len(timings(path)) >= status.done // 8 - 1  # killed between the rows of a cell and its timing
    assert len(timings(path)) <= len(CELLS)
    with Store.opened(path, STUDY) as opened:
        for number in opened.coverage.missing().tolist():
            add(opened, number, measured)
    pd.testing.assert_frame_equal(sg.load_study(path), table, check_exact=True)
    rows = [pq.read_table(part).num_rows for part in (path / "results").glob("part-*.parquet")]
    assert sum(rows) == STUDY.total
    assert len(names(path)) <= 6


def test_what_was_put_together_counts_once_until_the_old_parts_are_deleted(tmp_path, table, measured, few, monkeypatch):
    path = tmp_path / "store"
    with monkeypatch.context() as patch:
        patch.setattr(store, "_delete", lambda folder, names: None)
        fill(path, measured)
    assert len(names(path)) > len(CELLS)
    pd.testing.assert_frame_equal(sg.load_study(path), table, check_exact=True)
    assert len(timings(path)) == len(CELLS)
    assert study_status(path).done == STUDY.total
    sg.run_study(STUDY, path)
    check(path, table, parts=6)


def test_a_part_that_was_put_together_and_is_damaged_is_computed_again(tmp_path, table, measured, few):
    path = tmp_path / "store"
    fill(path, measured)
    large = max((path / "results").glob("part-*.parquet"), key=lambda part: part.stat().st_size)
    os.truncate(large, 200)
    with pytest.warns(StudyWarning, match="computed again"):
        sg.run_study(STUDY, path)
    pd.testing.assert_frame_equal(sg.load_study(path), table, check_exact=True)


@pytest.mark.parametrize(("read", "count"), [(sg.load_study, STUDY.total), (timings, len(CELLS))])
def test_a_reader_begins_again_when_parts_are_put_together_meanwhile(tmp_path, measured, few, monkeypatch, read, count):
    path = tmp_path / "store"
    real, once = PartReader.columns, []

    def columns(self, *arguments):
        if not once:
            once.append(1)
            fill(path, measured, range(3, len(CELLS)))
        return real(self, *arguments)

    fill(path, measured, range(3))
    monkeypatch.setattr(PartReader, "columns", columns)
    assert len(read(path)) == count
    assert once


def test_a_forged_part_replaces_nothing(tmp_path, measured):
    """Only what the journal lists may say that other parts are to be deleted."""
    path = tmp_path / "store"
    fill(path, measured)
    victims = sorted(names(path))
    content = pq.read_table(path / "results" / victims[0])
    fingerprint = content.schema.metadata[b"study"].decode()
    data = encode_part(content, fingerprint, note_units(np.array([0])) | {"replaces": victims})
    (path / "results" / part_name(data)).write_bytes(data)
    sg.run_study(STUDY, path)
    assert set(victims) <= names(path)
