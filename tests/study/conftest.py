"""A small finished study that several tests read."""

import pytest

import sparsegauge as sg
from sparsegauge.study.summary import summarise

SMALL = sg.Study(
    n=12, distributions=["normal", "binomial"], nonzeros=[2, 3], measurements=[5, 8, 9], orders=[1, 2, 4],
    signs="random", solver=sg.SPSA(iterations=20), repeats=4, seed=1,
)  # fmt: skip


@pytest.fixture(scope="session")
def small_study():
    return SMALL


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("studies") / "store"
    sg.run_study(SMALL, path)
    return path


@pytest.fixture(scope="session")
def summary(store):
    return summarise(store)
