"""Studies of many cells: what is missing is found in one pass over the grid."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.study.parts import Results


def study_of(measurements, repeats, orders=2):
    return sg.Study(
        n=measurements + 2, distributions=["normal", "uniform"], nonzeros=[2, 3], orders=list(range(1, orders + 1)),
        measurements=list(range(1, measurements + 1)), signs="random", solver=sg.SPSA(iterations=5), repeats=repeats,
        seed=1, noise_db=[20, 40],
    )  # fmt: skip


def missing_slowly(results):
    """Cell by cell, row by row."""
    grid, found = results.grid, []
    shared = list(itertools.product(*(axis.values for axis in grid.shared)))
    for cell in grid.cells():
        held = dict(zip((axis.name for axis in grid.seeded), cell.values, strict=True))
        for values in shared:
            held |= dict(zip((axis.name for axis in grid.shared), values, strict=True))
            place = tuple(axis.values.index(held[axis.name]) for axis in grid.axes)
            if not all(results.present[(*place, t)] for t in range(cell.first, cell.first + cell.trials)):
                found.append(cell)
                break
    return found


@pytest.mark.parametrize("repeats", [1, 7, 300])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1.0])
def test_what_is_missing_is_what_a_slow_search_finds(repeats, share):
    results = Results.empty(study_of(5, repeats).grid)
    results.present[...] = np.random.default_rng(0).random(results.present.shape) < share
    assert results.missing() == missing_slowly(results)


def test_a_hundred_thousand_cells_are_searched_in_seconds():
    results = Results.empty(study_of(25_000, 1, orders=1).grid)
    results.present[0] = True
    start = time.process_time()
    assert len(results.missing()) == 50_000
    assert time.process_time() - start < 2.0  # a search cell by cell exceeds this
