"""Measurements that are not exact, and nobody said so: rounded, in single precision, with a little noise."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from threadpoolctl import threadpool_limits

import sparsegauge as sg
from sparsegauge.recovery.explanation import Explanation, is_coincidence
from sparsegauge.recovery.problem import CALLED_OFF, CONVERGED, INCONSISTENT, INEXACT, INFEASIBLE, Problem, finished

KINDS = [
    (distribution, signs)
    for distribution in ("normal", "uniform", "exponential", "binomial")
    for signs in ("natural", "random")
]
ROUNDED = ["3 decimals", "6 decimals", "8 decimals", "float32"]
NOISY = ["noise 1e-10", "noise 1e-8", "noise 1e-6", "noise 1e-4", "noise 1e-3", "noise 1e-2"]
BASELINES = [sg.GDSReweighted(), sg.BasisPursuit(), sg.OMP()]
PROBLEMS = 30
QUICK = 4  # problems per perturbation that are tested every time


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The systems are small: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def problem(seed, perturbation):
    """A, y, x: half of the problems are easy, half near the edge of what can be recovered."""
    rng = np.random.default_rng([2024, seed])
    n = int(rng.choice([60, 80, 100]))
    m = int(n * rng.uniform(0.35, 0.7))
    nonzeros = max(2, int(m * (rng.uniform(0.1, 0.4) if seed % 2 else rng.uniform(0.3, 0.65))))
    distribution, signs = KINDS[seed // 2 % len(KINDS)]
    x = sg.sparse_signal(n, nonzeros, distribution, signs=signs, rng=rng)
    A = sg.gaussian_matrix(m, n, rng=rng)
    return *perturbed(A, A @ x, perturbation, rng), x


def perturbed(A, y, perturbation, rng):
    if perturbation == "float32":
        return A.astype(np.float32), y.astype(np.float32)
    if perturbation.endswith("decimals"):
        return A, y.round(int(perturbation[0]))
    noise = rng.standard_normal(len(y))
    return A, y + float(perturbation.split()[1]) * np.linalg.norm(y) * noise / np.linalg.norm(noise)


def error(x, truth):
    return np.linalg.norm(x - truth) / np.linalg.norm(truth)


def noisy_problem(seed=0, nonzeros=8, m=40, n=80, noise=1e-4):
    rng = np.random.default_rng(seed)
    x = sg.sparse_signal(n, nonzeros, "normal", rng=rng)
    A = sg.gaussian_matrix(m, n, rng=rng)
    return A, perturbed(A, A @ x, f"noise {noise}", rng)[1], x


def check_against_baselines(seed, perturbation):
    A, y, x = problem(seed, perturbation)
    found = sg.recover(A, y, rng=0)
    best = min(error(sg.recover(A, y, solver=solver, rng=0).x, x) for solver in BASELINES)
    assert error(found.x, x) <= 2 * best
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)
    assert found.status == (CONVERGED if found.success else INEXACT)
    assert error(found.x, x) < 1e-6 or not found.certified


@pytest.mark.parametrize("seed", range(QUICK))
@pytest.mark.parametrize("perturbation", ROUNDED + NOISY)
def test_never_worse_than_twice_the_best_baseline(perturbation, seed):
    check_against_baselines(seed, perturbation)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, PROBLEMS))
@pytest.mark.parametrize("perturbation", ROUNDED + NOISY)
def test_never_worse_than_twice_the_best_baseline_on_more_problems(perturbation, seed):
    check_against_baselines(seed, perturbation)


def test_the_status_says_that_y_looks_noisy_and_what_to_do():
    A, x = sg.gaussian_matrix(45, 100, rng=1), sg.sparse_signal(100, 12, "normal", rng=0)
    found = sg.recover(A, (A @ x).round(3), rng=0)
    assert (found.status, found.success, found.certified) == (INEXACT, False, False)
    assert found.message.startswith("y looks noisy: 12 columns of A")
    assert "Pass noise=0.0003, or look at trade_off(A, y)" in found.message  # 1e-3 / sqrt(12)
    assert error(found.x, x) < 4e-4


def test_too_few_measurements_are_not_called_noise():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 60))
    y = A @ rng.standard_normal(60)
    found = sg.recover(A, y, solver=sg.Portfolio(restarts=1, propagations=1), rng=0)
    assert (found.status, found.success) == (INEXACT, False)
    assert "too few measurements, or y is noisy" in found.message
    assert "trade_off(A, y)" in found.message
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_hardly_any_measurements(m):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, 9))
    y = A @ rng.standard_normal(9)
    found = sg.recover(A, y, rng=0)
    assert found.status == INEXACT
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)


@pytest.mark.parametrize("bounds", [(0, None), (0, 5), (-5, 5)])
def test_bounds(bounds):
    A, y, x = noisy_problem(seed=1)
    y, x = A @ np.abs(x) + (y - A @ x), np.abs(x)
    found = sg.recover(A, y, bounds=bounds, rng=0)
    assert found.status == INEXACT
    assert found.x.min() >= bounds[0]
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)
    assert error(found.x, x) < 1e-3


def test_bounds_within_which_nothing_explains_y():
    A, y, _ = noisy_problem(seed=1)
    found = sg.recover(np.abs(A), -np.abs(y), bounds=(0, None), rng=0)
    assert (found.status, found.success) == (INFEASIBLE, False)
    assert found.x.min() >= 0


def test_complex_systems():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 80)) + 1j * rng.standard_normal((40, 80))
    x = sg.sparse_signal(80, 8, "normal", rng=rng) * np.exp(2j * np.pi * rng.random(80))
    found = sg.recover(A, (A @ x).round(3), rng=0)
    assert found.status == INEXACT
    assert "y looks noisy: 8 columns" in found.message
    assert found.residual <= 1.001e-9 * np.linalg.norm(A @ x)
    assert error(found.x, x) < 1e-3


def test_operators_and_large_matrices():
    A, y, x = noisy_problem(seed=4)
    as_operator = sg.recover(aslinearoperator(A), y, rng=0)
    assert as_operator.status == INEXACT
    assert error(as_operator.x, x) < 1e-3
    A, y, x = noisy_problem(seed=5, nonzeros=20, m=201, n=1000)
    large = sg.recover(A, y, solver=sg.Portfolio(restarts=0, lattice=False), rng=0)
    assert large.status == INEXACT
    assert large.residual <= 1.001e-9 * np.linalg.norm(y)
    assert error(large.x, x) < 1e-3


def test_a_callback_sees_and_stops_at_what_explains_y():
    A, y, x = noisy_problem(seed=6, noise=1e-3)
    seen = []

    def stop_at_the_third(_, x):
        seen.append(x)
        return len(seen) == 3

    found = sg.recover(A, y, callback=stop_at_the_third, rng=0)
    assert found.status == CALLED_OFF
    assert np.array_equal(found.x, seen[-1])
    assert all(np.linalg.norm(A @ x - y) <= 1.001e-9 * np.linalg.norm(y) for x in seen)
    assert error(found.x, x) < 1e-2


def test_an_inconsistent_system_keeps_its_status():
    A, y, x = noisy_problem(seed=7)
    found = sg.recover(np.vstack([A, A[0]]), np.append(y, y[0] * (1 + 1e-3)), rng=0)
    assert found.status == INCONSISTENT
    assert error(found.x, x) < 1e-2


def test_the_search_ends_early_where_y_is_clearly_noisy():
    A, y, _ = noisy_problem(seed=8)
    found = sg.recover(A, y, rng=0)
    longer = sg.recover(A, y, solver=sg.Portfolio(propagations=48, restarts=24), rng=0)
    assert found.nit == longer.nit


@pytest.mark.parametrize("baseline", [sg.BasisPursuit, sg.OMP])
def test_basis_pursuit_and_matching_pursuit_are_asked_where_the_others_fail(baseline, monkeypatch):
    A, y, x = noisy_problem(seed=11, nonzeros=14, m=20, n=60, noise=1e-3)
    solver = sg.Portfolio(restarts=0, propagations=0, lattice=False)
    assert error(sg.recover(A, y, solver=solver, rng=0).x, x) > 0.1
    monkeypatch.setattr(baseline, "solve", lambda self, problem, rng: finished(problem, x))
    assert error(sg.recover(A, y, solver=solver, rng=0).x, x) < 0.05


def test_part_of_an_exact_signal_does_not_end_the_search():
    """Four columns explain y better than chance would, but leave 40 % of it: the right ones are found later."""
    rng = np.random.default_rng(0)
    A, x = sg.gaussian_matrix(38, 100, rng=rng), sg.sparse_signal(100, 3, "normal", rng=rng)
    y = A @ x
    large = Explanation.of(Problem.of(A, y + 0.1 * np.linalg.norm(y) * unit(rng, 38)), x)
    small = Explanation.of(Problem.of(A, y + 0.01 * np.linalg.norm(y) * unit(rng, 38)), x)
    assert np.count_nonzero(large.x) == np.count_nonzero(small.x) == 3
    assert (large.is_clear, small.is_clear) == (False, True)


def test_many_nonzeros_are_not_too_many_for_the_criterion():
    """A criterion that also charges for the choice of columns keeps hardly any of 21 non-zeros, of 34 measurements."""
    A, y, x = noisy_problem(seed=12, nonzeros=21, m=34, n=60, noise=1e-2)
    assert np.count_nonzero(Explanation.of(Problem.of(A, y), x).x) > 14


def unit(rng, m):
    noise = rng.standard_normal(m)
    return noise / np.linalg.norm(noise)


def test_columns_that_fit_the_noise_by_chance_are_no_exact_solution():
    A, y, x = noisy_problem(seed=9, noise=1e-7)
    problem = Problem.of(A, y)
    columns = np.argsort(-np.abs(x), kind="stable")[: problem.m - 2]
    fit = np.zeros(problem.n)
    fit[columns] = np.linalg.lstsq(A[:, columns], y, rcond=None)[0]
    exact = dataclasses.replace(problem, system=problem.system._replace(y=A @ fit))
    assert is_coincidence(exact, fit)
    honest = dataclasses.replace(problem, system=problem.system._replace(y=A @ x))
    assert not is_coincidence(honest, x)


def test_the_search_does_not_certify_what_fits_the_noise():
    """Rare: found among hundreds of problems. 46 columns fit y to 1e-9, but 35 of them fit what rounding left."""
    rng = np.random.default_rng([77, 24])
    n, m = int(rng.choice([60, 80, 100])), int(100 * rng.uniform(0.35, 0.7))
    nonzeros = int(m * rng.uniform(0.1, 0.4))
    x = sg.sparse_signal(n, nonzeros, "binomial", rng=rng)
    A = sg.gaussian_matrix(m, n, rng=rng)
    found = sg.recover(A, (A @ x).round(6), rng=0)
    assert (n, m, nonzeros) == (100, 48, 11)
    assert not found.certified
    assert error(found.x, x) < 1e-6


def test_an_exact_signal_of_two_scales_is_no_coincidence():
    rng = np.random.default_rng(10)
    x = sg.sparse_signal(80, 16, "binomial", signs="random", rng=rng)
    x[np.flatnonzero(x)[::2]] *= 1e-4
    A = sg.gaussian_matrix(40, 80, rng=rng)
    found = sg.recover(A, A @ x, rng=0)
    assert found.certified
    assert error(found.x, x) < 1e-9
