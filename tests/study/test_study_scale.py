"""Studies of many cells: units have numbers, what is there is a flag per unit, and small cells travel in batches."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

import sparsegauge as sg
from sparsegauge._platform import blas
from sparsegauge.errors import CellFailed
from sparsegauge.study import dispatch
from sparsegauge.study.coverage import Coverage
from sparsegauge.study.store import Store, study_status
from sparsegauge.study.units import Units


def study_of(measurements, repeats, **more):
    keys = {
        "n": measurements + 2, "distributions": ["normal", "uniform"], "nonzeros": [2, 3],
        "orders": [1, 2], "measurements": list(range(1, measurements + 1)), "signs": "random",
        "solver": sg.SPSA(iterations=5), "repeats": repeats, "seed": 1, "noise_db": [20, 40],
    }  # fmt: skip
    return sg.Study(**keys | more)


PLAIN = {"orders": (), "noise_db": (), "solver": sg.OMP()}  # no axis is shared
STUDIES = [study_of(5, 1), study_of(5, 7), study_of(2, 300), study_of(3, 7, **PLAIN), study_of(2, 600, **PLAIN)]


# --- units


@pytest.mark.parametrize("study", STUDIES)
def test_units_are_the_cells_by_number(study):
    units, cells = Units(study.grid), list(study.cells())
    assert units.count == len(cells)
    assert [units.cell(number) for number in range(units.count)] == cells
    assert [units.number(cell) for cell in cells] == list(range(units.count))


def columns_of_cell(grid, cell):
    """Return the columns of the axes for a cell's rows, whose arrays have the shape (shared axes, trial)."""
    rows = []
    for values in itertools.product(*(axis.values for axis in grid.shared)):
        named = dict(zip((axis.name for axis in grid.shared), values, strict=True))
        named |= dict(zip((axis.name for axis in grid.seeded), cell.values, strict=True))
        rows += [named | {"trial": cell.first + trial} for trial in range(cell.trials)]
    kinds = {axis.name: axis.kind.dtype for axis in grid.axes} | {"trial": np.int64}
    return {name: np.array([row[name] for row in rows], kind) for name, kind in kinds.items()}


@pytest.mark.parametrize("study", STUDIES)
def test_rows_of_units_are_the_rows_of_their_cells_and_know_where_they_belong(study):
    units = Units(study.grid)
    numbers = np.random.default_rng(0).permutation(units.count)[:9]
    columns = units.columns(numbers)
    one_by_one = [columns_of_cell(study.grid, units.cell(number)) for number in numbers.tolist()]
    for name, column in columns.items():
        expected = np.concatenate([rows[name] for rows in one_by_one])
        assert column.dtype == expected.dtype
        np.testing.assert_array_equal(column, expected)
    sizes = units.sizes(numbers)
    assert sizes.tolist() == [len(rows["trial"]) for rows in one_by_one]
    found, within = units.locate(columns)
    np.testing.assert_array_equal(found, np.repeat(numbers, sizes))
    np.testing.assert_array_equal(within, np.concatenate([np.arange(size) for size in sizes]))


# --- what is there


def missing_slowly(study, present):
    """Cell by cell, row by row."""
    rows = {tuple(row) for row in present.itertuples(index=False)}
    found = []
    for number, cell in enumerate(study.cells()):
        columns = pd.DataFrame(columns_of_cell(study.grid, cell))
        if not all(tuple(row) in rows for row in columns.itertuples(index=False)):
            found.append(number)
    return found


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1.0])
def test_what_is_missing_is_what_a_slow_search_finds(study, share):
    rng = np.random.default_rng(0)
    units = Units(study.grid)
    every = pd.DataFrame(units.columns(np.arange(units.count)))
    present = every[rng.random(len(every)) < share]
    coverage, new = Coverage.empty(study.grid), 0
    order = rng.permutation(np.r_[np.arange(len(present)), np.arange(len(present) // 3)])  # a third of them twice
    for chunk in np.array_split(order, 5):
        rows = {name: column.to_numpy() for name, column in present.iloc[chunk].items()}
        new += coverage.add_rows(rows)
    assert coverage.missing().tolist() == missing_slowly(study, present)
    assert coverage.done == new == len(present)
    whole = rng.permutation(units.count)[: units.count // 2]
    expected = len(pd.concat([present, pd.DataFrame(units.columns(whole))]).drop_duplicates())
    assert coverage.add_units(whole) == expected - len(present)
    assert coverage.done == expected
    assert coverage.add_units(whole) == 0


def test_a_million_cells_are_planned_in_little_time_and_memory(tmp_path):
    study = study_of(250_000, 10, orders=[1, 2, 3, 4, 5])
    assert study.total == 100_000_000
    tracemalloc.start()
    start = time.process_time()
    with Store.opened(tmp_path / "store", study) as opened:
        opened.coverage.add_units(np.arange(0, 10**6, 2))
        assert len(opened.coverage.missing()) == 500_000
        assert opened.coverage.done == 50_000_000
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 5
    assert peak < 200e6


# --- batches


class Recorded(Executor):
    """Runs batches when they are handed in, and says that each cell took so long."""

    _max_workers = 2

    def __init__(self, seconds):
        self.seconds, self.batches = seconds, []

    def submit(self, function, study, cells):
        self.batches.append(cells)
        future = Future()
        try:
            done = function(study, cells)
        except ZeroDivisionError as error:
            future.set_exception(error)
        else:
            future.set_result(done._replace(seconds=np.full(len(done.seconds), self.seconds)))
        return future


SMALL = study_of(40, 1, **PLAIN)


def test_small_cells_travel_in_batches_and_large_cells_alone(tmp_path):
    for seconds, least, most in ((1e-4, 10, 20), (0.05, 2, 4), (0.3, 1, 1)):
        executor = Recorded(seconds)
        sg.run_study(SMALL, tmp_path / f"{seconds}", executor=executor)
        assert list(itertools.chain(*executor.batches)) == list(SMALL.cells())
        assert least <= max(map(len, executor.batches)) <= most
        assert len(executor.batches[0]) == len(executor.batches[-1]) == 1  # nothing is known yet; all end together
    tables = [sg.load_study(tmp_path / f"{seconds}") for seconds in (1e-4, 0.05, 0.3)]
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_a_batch_takes_no_more_cells_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(dispatch, "MOST_CELLS_PER_BATCH", 5)
    executor = Recorded(1e-9)
    sg.run_study(SMALL, tmp_path / "store", executor=executor)
    assert max(map(len, executor.batches)) == 5


def test_a_cell_that_raises_in_the_middle_of_a_batch_costs_no_finished_cell(tmp_path, monkeypatch):
    from sparsegauge.study import run

    bad, real = list(SMALL.cells())[60], run.run_cell

    def failing(study, cell):
        return 1 / 0 if cell == bad else real(study, cell)

    executor = Recorded(1e-4)
    with monkeypatch.context() as patch:
        patch.setattr(run, "run_cell", failing)
        with pytest.raises(CellFailed, match=r"trials 0\.\.0: ZeroDivisionError") as caught:
            sg.run_study(SMALL, tmp_path / "store", executor=executor)
    assert SMALL.grid.describe(bad) in str(caught.value)
    handed_in = {cell for batch in executor.batches for cell in batch}
    (broken,) = [batch for batch in executor.batches if bad in batch and batch[0] != bad]
    lost = {*broken[broken.index(bad) :]}
    assert study_status(tmp_path / "store").done >= len(handed_in - lost) - max(map(len, executor.batches))
    sg.run_study(SMALL, tmp_path / "store")
    sg.run_study(SMALL, tmp_path / "whole")
    assert sg.load_study(tmp_path / "store").equals(sg.load_study(tmp_path / "whole"))


def test_progress_in_batches_counts_up_to_all_of_it(tmp_path):
    seen = []
    with ThreadPoolExecutor(2) as pool:
        sg.run_study(SMALL, tmp_path / "store", executor=pool, progress=lambda status: seen.append(status.done))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0, SMALL.total)


def test_libraries_are_looked_for_once_and_again_after_imports(monkeypatch):
    looks = []
    real = blas.threadpoolctl.ThreadpoolController
    monkeypatch.setattr(blas.threadpoolctl, "ThreadpoolController", lambda: looks.append(1) or real())
    limit = blas._OneBlasThread()
    for _ in range(5):
        with limit:
            pass
    assert len(looks) == 1
    monkeypatch.setitem(blas.sys.modules, "a_module_with_a_library", blas)
    with limit:
        pass
    assert len(looks) == 2
