"""Robin Hood for transfers of energy: what kurtosis, negentropy and the Box-Cox measures obey (Wang et al., 2021)."""

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.criteria.definitions.robin_hood import RobinHoodInEnergy


@pytest.fixture
def energy():
    yield sg.CRITERIA.add(RobinHoodInEnergy())
    del sg.CRITERIA["P3_energy"]


@pytest.mark.usefixtures("energy")
@pytest.mark.parametrize("name", ["kappa4", "kurtosis", "negentropy", "neg_h_s", "box_cox"])
def test_they_obey_robin_hood_in_energy_and_not_in_magnitude(name):
    verdict = sg.audit(name, criteria=["P3_energy"], budget=200)["P3_energy"]
    assert verdict.status == "holds"
    assert verdict.reason.startswith("proved: the sum of a strictly convex function of the shares of energy")
    assert verdict.searched > 1000  # the search looks for a counterexample to what is proved, too
    assert sg.audit(name, criteria=["P3"], budget=50)["P3"].status == "violated"


@pytest.mark.usefixtures("energy")
def test_what_breaks_it_is_found_and_verified():
    broken = sg.audit("l0", criteria=["P3_energy"], budget=20)["P3_energy"]
    assert broken.status == "violated"
    assert sg.verify(broken.counterexample)


def test_no_violation_among_many_random_transfers():
    rng = np.random.default_rng(0)
    x = rng.exponential(size=(20_000, 6))
    i, j = np.argsort(x, axis=1)[:, [0, -1]].T
    rows = np.arange(len(x))
    moved = x.copy()
    a = rng.random(len(x)) * 0.49 * (x[rows, j] ** 2 - x[rows, i] ** 2)
    moved[rows, i], moved[rows, j] = np.sqrt(x[rows, i] ** 2 + a), np.sqrt(x[rows, j] ** 2 - a)
    for metric in (sg.kurtosis, sg.negentropy, sg.box_cox):
        assert np.all(metric(moved) <= metric(x) * (1 + 1e-12))
