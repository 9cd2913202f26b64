"""How large the noise may be: evidence against sums over all supports, and estimates where y leaves it open."""

import dataclasses
import itertools

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.recovery import climbs, noise_sizes
from sparsegauge.recovery.ep import EP, in_units
from sparsegauge.recovery.noise_sizes import NoiseSizes, slope_of_evidence, weigh_noise_sizes
from sparsegauge.recovery.problem import Problem


def draw(seed, ratio, nonzeros=20, m=50, n=100):
    """A, x, y and the standard deviation of the noise, at a signal to noise ratio in dB."""
    rng = np.random.default_rng([14, seed, nonzeros])
    x, A = sg.sparse_signal(n, nonzeros, "normal", rng=rng), sg.gaussian_matrix(m, n, rng=rng)
    deviation = np.linalg.norm(A @ x) / np.sqrt(m) * 10 ** (-ratio / 20)
    return A, x, A @ x + deviation * rng.standard_normal(m), deviation


def log_normal(y, C):
    return -0.5 * (np.linalg.slogdet(C)[1] + y @ np.linalg.solve(C, y))


def test_the_slope_is_that_of_a_gaussian_model_written_out():
    A, _, y, deviation = draw(1, 10, nonzeros=4, m=12, n=20)
    scaled = in_units(Problem.of(A, y, noise=deviation))
    run = EP().start(scaled, "bernoulli-gauss", np.zeros(20))
    run.sites[:2] = np.random.default_rng(0).uniform(0.5, 3, (2, 20))
    spread = 1 / run.sites[0]

    def log_evidence(variance):
        C = variance * np.eye(12) + (scaled.B * spread) @ scaled.B.T
        return log_normal(scaled.b - scaled.B @ (run.sites[1] * spread), C)

    step, variance = 1e-5, 0.3
    slope = (log_evidence(variance * np.exp(step)) - log_evidence(variance * np.exp(-step))) / (2 * step)
    assert slope_of_evidence(run, scaled.B, scaled.b, variance) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_sizes_are_weighed_as_by_all_supports(monkeypatch, seed):
    """With the prior held fixed: the middle of the posterior against that from all 2^10 supports."""
    monkeypatch.setattr(noise_sizes, "EM_RATE", 0.0)
    A, _, y, _ = draw(seed, 10, nonzeros=3, m=30, n=10)
    problem = Problem.of(A, y, noise=0)
    sizes, scaled, rho = weigh_noise_sizes(problem), in_units(problem.with_sigma(1.0)), noise_sizes.FIRST_DENSITY
    exact = [
        np.logaddexp.reduce([
            log_normal(scaled.b, variance * np.eye(30) + (scaled.B * np.array(z) / rho) @ scaled.B.T)
            + sum(z) * np.log(rho / (1 - rho))
            for z in itertools.product([0, 1], repeat=10)
        ])
        for variance in sizes.variances
    ]  # fmt: skip
    by_all = NoiseSizes(sizes.variances, sizes.means, np.array(exact))
    for (found, _), (right, _) in zip(sizes.quantiles(3), by_all.quantiles(3), strict=True):
        assert found == pytest.approx(right, rel=0.25)


def test_quantiles_split_the_probability_evenly():
    variances = np.geomspace(0.9, 1e-3, 400)
    evidence = -0.5 * (np.log(variances / 0.05) / 0.5) ** 2
    sizes = NoiseSizes(variances, np.zeros((400, 3)), evidence)
    for k, (variance, _) in enumerate(sizes.quantiles(5)):
        above = float(sizes.weights[variances > variance].sum())
        assert above == pytest.approx((k + 0.5) / 5, abs=0.02)
    assert sizes.weights.sum() == pytest.approx(1)


def test_noise_that_cannot_be_larger_than_y_has_no_weight_above_it():
    A, _, y, _ = draw(3, 0)
    sizes = weigh_noise_sizes(Problem.of(A, y, noise=0))
    assert sizes.weights[sizes.variances >= 1].sum() < 1e-12


@pytest.mark.parametrize("ratio", [10, 20])
def test_weak_coefficients_are_not_taken_for_noise(ratio):
    """Not knowing the noise costs little, where one support with much noise is likelier than any other."""
    told, not_told, sizes = [], [], []
    for seed in range(24):
        A, x, y, deviation = draw(seed, ratio)
        solver = sg.Portfolio(restarts=0, propagations=0, lattice=False)
        found = sg.recover(A, y, solver=solver, rng=0)
        told.append(np.linalg.norm(sg.recover(A, y, noise=deviation, rng=0).x - x) / np.linalg.norm(x))
        not_told.append(np.linalg.norm(found.x - x) / np.linalg.norm(x))
        sizes.append(found.noise / deviation)
    assert np.mean(not_told) < 1.2 * np.mean(told)
    assert 0.5 < np.median(sizes) < 1.5


@pytest.mark.parametrize("bounds", [None, (0, None)])
def test_large_systems_do_without(monkeypatch, bounds):
    A, x, y, deviation = draw(5, 15, nonzeros=8)
    y = y if bounds is None else A @ np.abs(x) + (y - A @ x)
    with_sizes = sg.recover(A, y, bounds=bounds, rng=0)
    monkeypatch.setattr(climbs, "SMALL_SYSTEM", 0)
    without = sg.recover(A, y, bounds=bounds, rng=0)
    for found in (with_sizes, without):
        assert np.isfinite(found.x).all()
        assert 0.3 < found.noise / deviation < 3
        assert bounds is None or found.x.min() >= 0


def test_a_zero_column_and_dependent_rows_are_no_obstacle():
    A, _, y, _ = draw(6, 10)
    A[:, 3] = 0
    A[:20] = A[20:40]
    sizes = weigh_noise_sizes(Problem.of(A, y, noise=0))
    assert np.isfinite(sizes.evidence).all()
    assert np.isfinite(sizes.means).all()


def test_a_wrong_state_is_left_by_guesses_under_less_noise():
    """A state that explains little takes the rest of y for noise."""
    left = 0
    for seed in range(4):
        A, x, y, deviation = draw(seed, 30, nonzeros=15)
        states = climbs.Climbs(Problem.of(A, y))
        states._take(states.model.climb(np.zeros(100), alike=False))
        states.states = [dataclasses.replace(states.states[0], noise=(6 * deviation / states.model.scale) ** 2)]
        list(sg.Portfolio._guess_under_less_noise(states.problem, states, np.random.default_rng(0)))
        left += bool(np.linalg.norm(states.best_x - x) < 0.1 * np.linalg.norm(x))
    assert left >= 3


@pytest.mark.parametrize("is_clear", [False, True])
def test_guesses_that_agree_end_the_search_only_on_a_clear_state(monkeypatch, is_clear):
    """Many guesses may lead to the same few columns, with the rest of y taken for noise."""
    called = []
    monkeypatch.setattr(sg.Portfolio, "_guess_under_less_noise", lambda *_: called.append(True) or ())
    for name, value in {"agree": True, "is_clear": is_clear, "is_overwhelming": False, "needs_noise": False}.items():
        monkeypatch.setattr(climbs.Climbs, name, value)
    A, _, y, _ = draw(3, 20)
    sg.recover(A, y, rng=0)
    assert len(called) == (0 if is_clear else 1)


def test_solutions_that_a_falling_noise_misses_are_found_by_a_rising_one():
    """Below some size of the noise there are two solutions; the sparse x leads to its own, which takes the weight."""
    errors = []
    for seed in range(6):
        A, x, y, deviation = draw(seed, 35, nonzeros=22)
        problem = Problem.of(A, y, noise=0)
        falling = weigh_noise_sizes(problem)
        both = falling.with_solutions_from(problem, x, deviation**2 * 50 / problem.scale**2)
        assert (np.diff(both.variances) <= 0).all()
        estimates = [sizes.weights @ sizes.means for sizes in (falling, both)]
        errors.append([np.linalg.norm(estimate - x) / np.linalg.norm(x) for estimate in estimates])
    missed, found = np.max(errors, axis=0)
    assert found < 0.1
    assert missed > 3 * found


def test_a_rising_noise_adds_nothing_where_there_is_one_solution():
    A, x, y, deviation = draw(2, 15, nonzeros=3)
    problem = Problem.of(A, y, noise=0)
    falling = weigh_noise_sizes(problem)
    both = falling.with_solutions_from(problem, x, deviation**2 * 50 / problem.scale**2)
    assert len(both.variances) <= len(falling.variances) + 6  # but for some under which x is nearly zero
    np.testing.assert_allclose(both.weights @ both.means, falling.weights @ falling.means, atol=0.02 * abs(x).max())


def test_a_rise_speaks_for_noise():
    A, _, y, _ = draw(2, 10, nonzeros=5)
    assert weigh_noise_sizes(Problem.of(A, y, noise=0)).rise > 10
    A, x, _, _ = draw(2, 10, nonzeros=20)
    assert weigh_noise_sizes(Problem.of(A, A @ x, noise=0)).rise < 1
