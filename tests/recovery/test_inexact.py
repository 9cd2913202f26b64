"""Measurements that are not exact, and nobody said so: rounded, in single precision, with a little noise or much."""

import dataclasses

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator
from threadpoolctl import threadpool_limits

import sparsegauge as sg
from sparsegauge.recovery.exact_search import ExactSearch, find_exact
from sparsegauge.recovery.explanation import Explanation, is_coincidence
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.status import Status

KINDS = [
    (distribution, signs)
    for distribution in ("normal", "uniform", "exponential", "binomial")
    for signs in ("natural", "random")
]
PERTURBATIONS = [
    *(f"{decimals} decimals" for decimals in (3, 6, 8, 9, 10, 12)),
    "float32",
    *(f"noise {level}" for level in ("1e-12", "1e-10", "1e-9", "1e-8", "1e-6", "1e-4", "1e-3", "1e-2")),
]
BASELINES = [sg.GDSReweighted(), sg.BasisPursuit(), sg.OMP(), sg.EP(), sg.SBL(), sg.IRLS()]
WORST_RATIO = 1.5
PROBLEMS = 30
QUICK = 3  # problems per perturbation that are tested every time


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
        return A, y.round(int(perturbation.split()[0]))
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
    best = min(error(sg.recover(A, y, solver=solver, noise=0, rng=0).x, x) for solver in BASELINES)
    assert error(found.x, x) <= WORST_RATIO * max(best, 1e-12)
    assert found.success or found.status == Status.NOT_SPARSE
    assert found.residual <= max(1e-9 * np.linalg.norm(y), 2 * found.noise * np.sqrt(len(y)))
    assert error(found.x, x) < 1e-6 or not found.certified


@pytest.mark.parametrize("seed", range(QUICK))
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_as_good_as_the_best_baseline(perturbation, seed):
    check_against_baselines(seed, perturbation)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(QUICK, PROBLEMS))
@pytest.mark.parametrize("perturbation", PERTURBATIONS)
def test_as_good_as_the_best_baseline_on_more_problems(perturbation, seed):
    check_against_baselines(seed, perturbation)


def test_the_message_says_how_large_the_noise_is():
    A, x = sg.gaussian_matrix(45, 100, rng=1), sg.sparse_signal(100, 12, "normal", rng=0)
    found = sg.recover(A, (A @ x).round(3), rng=0)
    assert (found.status, found.success, found.certified) == (Status.CONVERGED, True, False)
    assert found.message.startswith("y is noisy: 12 columns of A")
    assert found.noise == pytest.approx(1e-3 / np.sqrt(12), rel=0.3)
    assert error(found.x, x) < 1e-4


@pytest.mark.parametrize("decibels", [15, 20, 30, 40, 60])
def test_the_size_of_the_noise_is_found(decibels):
    ratios = []
    for seed in range(6):
        A, y, x = noisy_problem(seed=seed, nonzeros=8, m=50, n=100, noise=10 ** (-decibels / 20))
        found = sg.recover(A, y, rng=0)
        ratios.append(found.noise / (np.linalg.norm(y - A @ x) / np.sqrt(len(y))))
        assert found.success
    assert 0.8 < np.median(ratios) < 1.25


def test_told_or_not_the_error_is_about_the_same():
    """Within 1 dB of each other from 15 dB on, on average."""
    told, not_told = [], []
    for seed in range(12):
        A, y, x = noisy_problem(seed=100 + seed, nonzeros=10, m=50, n=100, noise=10 ** (-(15 + 2 * seed) / 20))
        sigma = np.linalg.norm(y - A @ x) / np.sqrt(len(y))
        told.append(np.log10(error(sg.recover(A, y, noise=sigma, rng=0).x, x)))
        not_told.append(np.log10(error(sg.recover(A, y, rng=0).x, x)))
    assert abs(20 * (np.mean(told) - np.mean(not_told))) < 1


@pytest.mark.parametrize("noise", [None, "auto"])
def test_none_is_auto(noise):
    A, y, _ = noisy_problem(noise=1e-3)
    assert sg.recover(A, y, noise=noise, rng=0) == sg.recover(A, y, rng=0)


def test_zero_insists_on_exact_measurements():
    A, y, _ = noisy_problem(noise=1e-3)
    found = sg.recover(A, y, noise=0, rng=0)
    assert (found.status, found.success, found.noise) == (Status.INEXACT, False, 0.0)
    assert 'noise="auto"' in found.message
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)


def test_too_few_measurements_are_no_success():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 60))
    y = A @ rng.standard_normal(60)
    found = sg.recover(A, y, solver=sg.Portfolio(restarts=1, propagations=1), rng=0)
    assert (found.status, found.success) == (Status.NOT_SPARSE, False)
    assert "too few measurements" in found.message


@pytest.mark.parametrize("m", [1, 2, 3])
def test_hardly_any_measurements(m):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, 9))
    y = A @ rng.standard_normal(9)
    found = sg.recover(A, y, rng=0)
    assert not found.success
    assert found.residual <= 1.001e-9 * np.linalg.norm(y)


@pytest.mark.parametrize("bounds", [(0, None), (0, 5), (-5, 5)])
def test_bounds(bounds):
    A, y, x = noisy_problem(seed=1)
    x = np.abs(x) if bounds[0] == 0 else x
    y = A @ x + 1e-4 * np.linalg.norm(A @ x) * unit(np.random.default_rng(1), len(y))
    found = sg.recover(A, y, bounds=bounds, rng=0)
    assert found.success
    assert np.all(found.x >= bounds[0])
    assert bounds[1] is None or np.all(found.x <= bounds[1])
    assert error(found.x, x) < 1e-3


def test_complex_systems():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((40, 80)) + 1j * rng.standard_normal((40, 80))
    x = sg.sparse_signal(80, 8, "normal", rng=rng) * np.exp(2j * np.pi * rng.random(80))
    found = sg.recover(A, (A @ x).round(3), rng=0)
    assert found.success
    assert "8 columns" in found.message
    assert error(found.x, x) < 1e-3
    assert np.array_equal(np.flatnonzero(found.inclusion > 0.5), np.flatnonzero(x))


def test_operators_and_large_matrices():
    A, y, x = noisy_problem(seed=4)
    as_operator = sg.recover(aslinearoperator(A), y, rng=0)
    assert as_operator.success
    assert error(as_operator.x, x) < 1e-3
    A, y, x = noisy_problem(seed=5, nonzeros=20, m=201, n=1000)
    large = sg.recover(A, y, solver=sg.Portfolio(restarts=0, lattice=False), rng=0)
    assert large.success
    assert error(large.x, x) < 1e-3


def test_an_inconsistent_system_is_noisy():
    """More equations than unknowns, or repeated ones that disagree: no exact solution need be looked for."""
    A, y, x = noisy_problem(seed=7)
    found = sg.recover(np.vstack([A, A[0]]), np.append(y, y[0] * (1 + 1e-3)), rng=0)
    assert found.success
    assert found.noise > 0
    assert error(found.x, x) < 1e-2
    rng = np.random.default_rng(0)
    A, x = rng.standard_normal((120, 30)), sg.sparse_signal(30, 5, "normal", rng=1)
    found = sg.recover(A, A @ x + 0.1 * rng.standard_normal(120), rng=0)
    assert found.success
    assert found.noise == pytest.approx(0.1, rel=0.3)
    assert set(np.flatnonzero(found.inclusion > 0.9)) <= set(np.flatnonzero(x))
    strict = sg.recover(A, A @ x + 0.1 * rng.standard_normal(120), noise=0, rng=0)
    assert strict.status in (Status.INCONSISTENT, Status.DETERMINED)


def test_the_search_ends_early_where_y_is_clearly_noisy():
    A, y, _ = noisy_problem(seed=8)
    found = sg.recover(A, y, rng=0)
    longer = sg.recover(A, y, solver=sg.Portfolio(propagations=48, restarts=24), rng=0)
    assert found.nit == longer.nit


def test_part_of_an_exact_signal_does_not_end_the_search():
    """Few large coefficients explain most of y, as if the rest were noise; the exact solution is found all the same."""
    for seed in range(4):
        rng = np.random.default_rng([7, seed])
        A, x = sg.gaussian_matrix(70, 100, rng=rng), sg.sparse_signal(100, 40, "exponential", signs="random", rng=rng)
        found = sg.recover(A, A @ x, rng=0)
        assert found.certified
        assert error(found.x, x) < 1e-9


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
    exact = dataclasses.replace(problem, y=A @ fit)
    assert is_coincidence(exact, fit)
    honest = dataclasses.replace(problem, y=A @ x)
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


def test_a_repeated_search_finds_what_every_search_would() -> None:
    found = 0
    for seed in range(12):
        rng = np.random.default_rng([14, seed])
        A, x = sg.gaussian_matrix(30, 60, rng=rng), sg.sparse_signal(60, 8 + seed, "normal", signs="random", rng=rng)
        problem = Problem.of(A, A @ x, noise=0, bounds=None, x0=None)
        search = ExactSearch(problem)
        for blur in (3.0, 3.0, 1.0, 0.3, 0.1):
            likely = np.abs(x) + blur * np.abs(rng.standard_normal(60))
            for guess in (likely, likely**2):  # the same columns are taken for granted
                once, anew = search.find(guess), find_exact(problem, guess)
                assert (once is None) == (anew is None)
                assert once is None or np.allclose(once, anew, atol=1e-9)
                found += once is not None
    assert 10 < found < 110


@pytest.mark.parametrize("ratio", [30, 40])
def test_clear_noise_ends_the_search_for_an_exact_solution_early(ratio: int) -> None:
    steps = []
    for seed in range(6):
        rng = np.random.default_rng([14, ratio, seed])
        A, x = sg.gaussian_matrix(50, 100, rng=rng), sg.sparse_signal(100, 15, "normal", signs="random", rng=rng)
        sigma = np.linalg.norm(A @ x) / np.sqrt(50) * 10 ** (-ratio / 20)
        y = A @ x + sigma * rng.standard_normal(50)
        found = sg.recover(A, y, rng=0)
        assert 0.5 < found.noise / sigma < 2
        steps.append(found.nit)
    assert np.median(steps) < sg.recover(A, y, noise=0, rng=0).nit / 10


@pytest.mark.parametrize("perturb", [lambda v: v.astype(np.float32), lambda v: v.round(5)], ids=["float32", "rounded"])
def test_what_expectation_propagation_finds_is_not_lost_where_y_is_not_exact(perturb):
    """Signs among many zeros: wells miss them, and an exact search does not see them through the rounding."""
    found_by_ep = found = 0
    for seed in range(10):
        A = sg.gaussian_matrix(52, 90, rng=500 + seed)
        x = sg.sparse_signal(90, 21, "binomial", signs="random", rng=seed)
        y = perturb(A @ x)
        alone = sg.recover(A, y, solver=sg.EP(), noise=0, rng=0).x
        if np.linalg.norm(alone - x) < 1e-3 * np.linalg.norm(x):
            found_by_ep += 1
            found += bool(np.linalg.norm(sg.recover(A, y).x - x) < 1e-3 * np.linalg.norm(x))
    assert found == found_by_ep >= 4
