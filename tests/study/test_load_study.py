"""`load_study` with columns, with filters, and lazily: always the rows of the whole table."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparsegauge as sg
from sparsegauge.errors import StudyWarning
from sparsegauge.study.parts import PartReader
from sparsegauge.study.run import run_cell
from sparsegauge.study.store import Store

pytest.importorskip("dask.dataframe")

OLD = Path(__file__).parent / "store_0_1"
STUDY = sg.Study(
    n=12, distributions=["normal", "binomial"], nonzeros=[2, 3], measurements=[5, 8], orders=[1, 2, 3.5],
    signs="random", solver=sg.SPSA(iterations=5), repeats=100, seed=1, noise_db=[20, np.inf],
)  # fmt: skip
CELLS = list(STUDY.cells())


@pytest.fixture(scope="module")
def measured():
    return [{name: values.ravel() for name, values in run_cell(STUDY, cell).items()} for cell in CELLS]


def fill(path, measured, order):
    with Store.opened(path, STUDY) as opened:
        for number in order:
            opened.add(np.array([number]), measured[number], np.array([0.1]), "here:1")
            opened.flush()


@pytest.fixture(scope="module")
def path(tmp_path_factory, measured):
    """One part per cell, of which there are three per combination of seeded values."""
    found = tmp_path_factory.mktemp("lazy") / "store"
    fill(found, measured, np.random.default_rng(0).permutation(len(CELLS)).tolist())
    return found


@pytest.fixture(scope="module")
def table(path):
    return sg.load_study(path)


def plain(frame):
    """Sorted, with words as they are: categories differ where values are left out."""
    words = frame.assign(distributions=frame["distributions"].astype(str)) if "distributions" in frame else frame
    return words.sort_values(list(words.columns), ignore_index=True)


FILTERS = {
    "nothing": {},
    "one word": {"distributions": "binomial"},
    "several": {"distributions": ["normal"], "measurements": [8, 5], "orders": [1, 3.5], "noise_db": np.inf},
    "one row per trial": {"distributions": "normal", "nonzeros": 2, "measurements": 5, "orders": 2, "noise_db": 20},
    "another type": {"orders": np.float32(2), "nonzeros": np.array([3])},
}


@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("lazy", [False, True])
def test_filters_leave_the_rows_of_the_whole_table(path, table, where, lazy):
    expected = table
    for name, values in where.items():
        expected = expected[expected[name].isin(np.atleast_1d(values).tolist())]
    found = sg.load_study(path, where=where, lazy=lazy)
    found = found.compute() if lazy else found
    assert list(found.columns) == list(table.columns)
    pd.testing.assert_frame_equal(plain(found), plain(expected), check_exact=True)
    if not lazy:
        rows = expected.reset_index(drop=True).drop(columns="distributions")
        pd.testing.assert_frame_equal(found.drop(columns="distributions"), rows, check_exact=True)


@pytest.mark.parametrize("columns", [["mse"], ["nit", "orders"], ["success", "distributions", "trial"]])
@pytest.mark.parametrize("lazy", [False, True])
def test_columns_are_those_asked_for_in_their_order(path, table, columns, lazy):
    found = sg.load_study(path, columns=columns, lazy=lazy)
    if lazy:
        assert list(found.dtypes) == list(table[columns].dtypes)
        found = found.compute()
    assert list(found.columns) == columns
    pd.testing.assert_frame_equal(plain(found), plain(table[columns]), check_exact=True)


def test_parts_without_a_wanted_row_are_not_decoded(path, monkeypatch):
    decoded, real = [], PartReader.table
    monkeypatch.setattr(PartReader, "table", lambda self, name, *more: decoded.append(name) or real(self, name, *more))
    sg.load_study(path, where={"distributions": "normal", "nonzeros": 2, "measurements": 5})
    assert len(decoded) == 3
    lazy = sg.load_study(path, where={"distributions": "normal"}, lazy=True)
    assert lazy.npartitions == 12
    assert len(decoded) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["colour"]}, "columns must be some of distributions, nonzeros"),
        ({"columns": []}, "each once, got"),
        ({"columns": ["mse", "mse"]}, "each once"),
        ({"where": {"colour": 1}}, "no axis 'colour'; the axes are distributions, nonzeros, measurements"),
        ({"where": {"trial": 1}}, "no axis 'trial'"),
        ({"where": {"nonzeros": [2, 7]}}, "nonzeros has no 7; it has 2, 3"),
        ({"where": {"nonzeros": []}}, "nonzeros must keep at least one value"),
    ],
)
@pytest.mark.parametrize("lazy", [False, True])
def test_wrong_arguments_are_refused(path, options, words, lazy):
    with pytest.raises(sg.InvalidInput, match=words):
        sg.load_study(path, lazy=lazy, **options)


def test_a_column_may_stand_without_brackets(path, table):
    assert sg.load_study(path, columns="mse")["mse"].equals(table["mse"])


def test_rows_that_are_there_twice_count_once(tmp_path, measured, table):
    fill(tmp_path / "one", measured, range(15))
    fill(tmp_path / "two", measured, range(10, len(CELLS)))
    with Store.opened(tmp_path / "two", STUDY) as opened:  # in one part with a unit that is not there twice
        both = {name: np.concatenate([measured[12][name], measured[0][name]]) for name in measured[0]}
        opened.add(np.array([12, 0]), both, np.full(2, 0.1), "here:1")
    for journals in (False, True):  # parts that no journal lists are decoded
        together = tmp_path / f"together {journals}"
        shutil.copytree(tmp_path / "one", together)
        for place in ("results", "timings", *(["journal"] if journals else [])):
            shutil.copytree(tmp_path / "two" / place, together / place, dirs_exist_ok=True)
        found = sg.load_study(together, lazy=True).compute()
        pd.testing.assert_frame_equal(plain(found), plain(table), check_exact=True)


def test_an_unfinished_study_says_so(tmp_path, measured, table):
    fill(tmp_path / "store", measured, range(3, len(CELLS)))
    with pytest.warns(StudyWarning, match="not finished: 3 of 24 cells are not complete"):
        lazy = sg.load_study(tmp_path / "store", lazy=True)
    assert len(lazy) == len(table) - sum(len(measured[number]["mse"]) for number in range(3))
    complete = sg.load_study(tmp_path / "store", where={"distributions": "binomial"})  # no warning: it is all there
    assert len(complete) == len(table) // 2
    with pytest.warns(StudyWarning, match="not finished: it has 0 of 600 rows"):
        assert len(sg.load_study(tmp_path / "store", where=dict(zip(STUDY_AXES, CELLS[0].values, strict=True)))) == 0


STUDY_AXES = ("distributions", "nonzeros", "measurements")


def test_an_empty_store_is_an_empty_table(tmp_path, table):
    fill(tmp_path / "store", [], [])
    with pytest.warns(StudyWarning, match="not finished"):
        lazy = sg.load_study(tmp_path / "store", lazy=True)
    assert len(lazy) == 0
    assert list(lazy.columns) == list(table.columns)


def test_damage_is_said_when_it_is_met(tmp_path, measured):
    fill(tmp_path / "store", measured, range(len(CELLS)))
    first, second = sorted((tmp_path / "store" / "results").glob("part-*.parquet"))[:2]
    first.write_bytes(b"x")
    with pytest.warns(StudyWarning, match=first.name), pytest.warns(StudyWarning, match="not finished"):
        lazy = sg.load_study(tmp_path / "store", lazy=True)
    content = second.read_bytes()
    second.write_bytes(content[:-1])
    with pytest.raises(sg.InvalidInput, match="checksum"):
        lazy.compute()
    second.unlink()
    with pytest.raises(sg.InvalidInput, match="load it again"):
        lazy.compute()


def test_stores_of_the_first_version_load_lazily(tmp_path):
    whole = sg.load_study(OLD)
    assert "study" in json.loads((OLD / "manifest.json").read_text(encoding="utf-8"))
    pd.testing.assert_frame_equal(plain(sg.load_study(OLD, lazy=True).compute()), plain(whole), check_exact=True)


def test_dask_is_an_extra(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(sg.MissingExtra, match=r"pip install 'sparsegauge\[dask\]'"):
        sg.load_study(path, lazy=True)
