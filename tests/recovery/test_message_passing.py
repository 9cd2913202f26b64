"""Message passing: the moments of its prior, its slabs, and what it recovers near the thresholds of state evolution."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import phase_transition
from scipy.integrate import simpson
from scipy.stats import norm

import sparsegauge as sg
from sparsegauge.errors import InvalidInput
from sparsegauge.recovery import portfolio
from sparsegauge.recovery.message_passing import (
    PROMISING_RUNS,
    SLABS,
    STEPS_BETWEEN_CHECKS,
    STEPS_OF_EVERY_RUN,
    denoise,
    first_slab,
    likely_sides,
)
from sparsegauge.recovery.problem import Problem

SIDES = (-1, 0, 1)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", SLABS)
def test_a_slab_has_the_power_that_was_asked_for(name, side):
    slab = first_slab(name, 1.7, side)
    assert np.isclose(slab.heights @ np.diff(slab.edges), 1)
    assert np.isclose(slab.heights @ np.diff(slab.edges**3) / 3, 1.7**2)
    assert (slab.edges[0] < 0) == (side <= 0)
    assert (slab.edges[-1] > 0) == (side >= 0)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", SLABS)
@pytest.mark.parametrize("variance", [0.01, 0.5, 10.0])
def test_moments_are_those_of_quadrature(name, side, variance):
    slab, rho, points = first_slab(name, 1.0, side), 0.3, np.array([-2.5, -0.7, 0.0, 0.2, 1.1, 3.0])
    found = denoise(points, variance, rho, slab)
    for i, r in enumerate(points):
        nodes = np.linspace(slab.edges[:-1], slab.edges[1:], 4001)  # per bin
        density = rho * slab.heights * norm.pdf(nodes, r, variance**0.5)
        moments = [float(simpson(nodes**power * density, x=nodes, axis=0).sum()) for power in range(3)]
        total = moments[0] + (1 - rho) * norm.pdf(0, r, variance**0.5)
        mean = moments[1] / total
        assert np.isclose(found.inclusion[i], moments[0] / total, rtol=1e-6, atol=1e-9)
        assert np.isclose(found.mean[i], mean, rtol=1e-6, atol=1e-9)
        assert np.isclose(found.variance[i], moments[2] / total - mean**2, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize(
    ("distribution", "signs", "threshold"),
    [
        ("normal", "natural", 0.480),
        ("uniform", "positive", 0.400),
        ("uniform", "random", 0.483),
        ("exponential", "positive", 0.402),
        ("exponential", "random", 0.480),
    ],
)
def test_signals_are_found_a_little_above_the_threshold(distribution, signs, threshold):
    n, found = 500, 0
    for seed in range(4):
        x = sg.sparse_signal(n, round(0.3 * n), distribution, signs=signs, rng=seed)
        A = sg.gaussian_matrix(round((threshold + 0.06) * n), n, rng=100 + seed)
        answer = sg.MessagePassing().solve(Problem.of(A, A @ x), 0)
        found += bool(np.linalg.norm(answer.x - x) < 1e-6 * np.linalg.norm(x)) and answer.success
    assert found >= 3


@pytest.mark.parametrize(("rho", "known"), [(0.1, 0.208), (0.5, 0.686)])
def test_state_evolution_gives_the_thresholds_of_bernoulli_gauss(rho, known):
    slab = phase_transition.SIGNALS["normal", "natural"]
    assert phase_transition.threshold(slab, rho) == pytest.approx(known, abs=0.01)


@pytest.mark.parametrize("needed", [31, 64, 99])
def test_bisection_ends_at_the_least_share_that_suffices(monkeypatch, needed):
    monkeypatch.setattr(phase_transition, "finds_most", lambda solve, n, k, m, trials: m >= needed)
    assert phase_transition.least_share(phase_transition.by_default, 100, 0.3, 3) == pytest.approx(needed / 100)


def test_most_means_more_than_half():
    turns = []

    def solve(A, y, k):
        turns.append(len(turns))
        return np.linalg.solve(A, y) if len(turns) % 2 else np.zeros(8)

    assert phase_transition.finds_most(solve, 8, 3, 8, 3)  # right, wrong, right
    assert len(turns) == 3


def test_negative_signals_and_bounds():
    x = -sg.sparse_signal(400, 120, "uniform", rng=3)
    A = sg.gaussian_matrix(190, 400, rng=4)
    for bounds in (None, (None, 0)):
        found = sg.MessagePassing().solve(Problem.of(A, A @ x, bounds=bounds), 0)
        assert np.allclose(found.x, x, atol=1e-8)


def test_coefficients_below_the_last_error_are_searched_for():
    rng = np.random.default_rng([0, 240])
    x = sg.sparse_signal(700, 240, "exponential", rng=rng)
    assert np.min(x[x > 0]) < 2e-5 * np.max(x)
    A = sg.gaussian_matrix(350, 700, rng=rng)
    found = sg.MessagePassing().solve(Problem.of(A, A @ x), 0)
    assert np.allclose(found.x, x, rtol=0, atol=1e-8)
    assert np.count_nonzero(found.x) == 240


def test_the_default_ends_it_where_y_is_noisy(monkeypatch):
    ends, passed = [], portfolio.explain
    monkeypatch.setattr(portfolio, "explain", lambda problem, run: ends.append(run.ended) or passed(problem, run))
    x, A = sg.sparse_signal(500, 80, "normal", rng=11), sg.gaussian_matrix(250, 500, rng=12)
    y = A @ x + 0.05 * np.random.default_rng(13).standard_normal(250)
    found = sg.recover(A, y)
    assert sum(ends) == portfolio.MOST_INEXACT_ENDS
    assert np.linalg.norm(found.x - x) < 0.02 * np.linalg.norm(x)


def test_the_default_uses_it_where_systems_are_large():
    x = sg.sparse_signal(600, 180, "normal", rng=5)
    A = sg.gaussian_matrix(325, 600, rng=6)
    found = sg.recover(A, A @ x)
    assert np.allclose(found.x, x, atol=1e-8)
    assert found.certified


def test_only_promising_runs_go_on_where_no_sparse_signal_is_found():
    rng = np.random.default_rng(8)
    A, y = sg.gaussian_matrix(120, 240, rng=rng), rng.standard_normal(120)
    estimates = list(sg.MessagePassing(tolerance=1e-12).runs(Problem.of(A, y)))
    runs = len(SLABS) * 2 * len(likely_sides(Problem.of(A, y)))
    checks = (
        runs * STEPS_OF_EVERY_RUN // STEPS_BETWEEN_CHECKS
        + PROMISING_RUNS * (300 - STEPS_OF_EVERY_RUN) // STEPS_BETWEEN_CHECKS
    )
    assert len(estimates) <= checks
    assert 1 <= sum(estimate.ended for estimate in estimates) <= runs
    errors = [estimate.error for estimate in estimates[: runs * STEPS_OF_EVERY_RUN // STEPS_BETWEEN_CHECKS]]
    assert min(estimate.error for estimate in estimates) <= min(errors)


@pytest.mark.parametrize(("m", "n"), [(350, 700), (20, 100)])
def test_one_sign_is_left_out_only_where_the_least_norm_solution_tells(m, n):
    system, seen = sg.System(sg.gaussian_matrix(m, n, rng=0)), set()
    for seed in range(30):
        x = sg.sparse_signal(n, m // 2, "normal", rng=seed)
        seen.add(likely_sides(Problem.of(system, system.forward(x))))
        assert 1 in likely_sides(Problem.of(system, system.forward(np.abs(x)))) or n == 100
    assert ((0,) in seen) == (n == 700)  # in small systems a sum near 0 says little


@pytest.mark.parametrize("shape", [(1, 5), (4, 5), (5, 5), (30, 60)])
def test_small_and_dense_problems_end_with_a_solution(shape):
    rng = np.random.default_rng(7)
    A, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    found = sg.MessagePassing(steps=20).solve(Problem.of(A, y), 0)
    assert np.isfinite(found.x).all()
    assert found.residual <= 1e-6 * np.linalg.norm(y)


def test_noise_of_a_known_size_is_allowed_for():
    x, A = sg.sparse_signal(300, 60, "normal", rng=8), sg.gaussian_matrix(180, 300, rng=9)
    y = A @ x + 0.1 * np.random.default_rng(10).standard_normal(180)
    found = sg.MessagePassing(slabs=("normal",)).solve(Problem.of(A, y, noise=0.1), 0)
    assert np.linalg.norm(found.x - x) < 0.03 * np.linalg.norm(x)


def test_boxes_are_refused():
    A, y = np.ones((2, 3)) + np.eye(2, 3), np.ones(2)
    with pytest.raises(InvalidInput, match="MessagePassing cannot keep to bounds on both sides"):
        sg.recover(A, y, bounds=(-1, 1), solver=sg.MessagePassing())
