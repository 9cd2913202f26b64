"""Systems and signals made to break recovery: the families of two benchmarks, a few seeds of each."""

import pytest
from benchmarks import false_certificates, hostile
from benchmarks.hostile_systems import FAMILIES as SYSTEMS
from threadpoolctl import threadpool_limits

FIRST_SYSTEM, FIRST_PROBLEM = 30_000, 40_000  # nothing was tuned on these
PROBLEMS_PER_FAMILY = 6
FAULTS = ("errors", "NaN", "false success", "false certificate", "warnings")
PROBLEMS = list(false_certificates.FAMILIES)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("family", range(len(SYSTEMS)), ids=list(SYSTEMS))
def test_no_system_breaks_recovery(family):
    first = FIRST_SYSTEM - FIRST_SYSTEM % len(SYSTEMS) + family
    outcome = hostile.attempt(first)
    assert outcome.family == list(SYSTEMS)[family]
    assert not {fault: outcome.marks[fault] for fault in FAULTS if fault in outcome.marks}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FIRST_SYSTEM + 1000, FIRST_SYSTEM + 1000 + 6 * len(SYSTEMS)))
def test_no_system_of_many_breaks_recovery(seed):
    outcome = hostile.attempt(seed)
    assert not {fault: outcome.marks[fault] for fault in FAULTS if fault in outcome.marks}


@pytest.mark.parametrize("family", range(len(PROBLEMS)), ids=PROBLEMS)
def test_no_certificate_is_false(family):
    first = FIRST_PROBLEM - FIRST_PROBLEM % len(PROBLEMS) + family
    trials = [false_certificates.attempt(first + k * len(PROBLEMS)) for k in range(PROBLEMS_PER_FAMILY)]
    assert {trial.family for trial in trials} == {PROBLEMS[family]}
    assert not [trial.failure for trial in trials if trial.failure]
    if PROBLEMS[family] != false_certificates.PLANTED:
        assert not [trial.seed for trial in trials if trial.certified and not trial.right]


@pytest.mark.parametrize("name", ["Gaussian", "duplicated rows", "correlated Gaussian", "complex Gaussian"])
def test_right_answers_to_generic_systems_are_certified(name):
    first = FIRST_PROBLEM - FIRST_PROBLEM % len(PROBLEMS) + PROBLEMS.index(name)
    trials = [false_certificates.attempt(first + k * len(PROBLEMS)) for k in range(PROBLEMS_PER_FAMILY)]
    assert all(trial.certified for trial in trials if trial.right)
    assert sum(trial.right for trial in trials) >= PROBLEMS_PER_FAMILY - 2
