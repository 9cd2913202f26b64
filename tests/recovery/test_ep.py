"""Expectation propagation: the moments of its slabs, and the laws of a solver."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm

import sparsegauge as sg
from sparsegauge._compiled import recover as kernels
from sparsegauge._compiled.expectation import EXPONENTIALS, GAUSSIANS
from sparsegauge.errors import InvalidInput
from sparsegauge.recovery.ep import EP, SLABS, legendre_rule
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error
from sparsegauge.recovery.status import Status
from strategies import law

N, M, K = 60, 36, 8
RULE = kernels.Quadrature(*legendre_rule())
law = settings(law, max_examples=60)  # each needs a quadrature
places = st.floats(-30, 30)
sizes = st.floats(0.05, 20)
ends = st.sampled_from([(-math.inf, math.inf), (0.0, math.inf), (-math.inf, 0.5), (0.0, 1.0), (-2.0, 3.0), (1.0, 1.25)])


def integrals(log_density, peaks, low, high, r, c):
    """log of the integral of density(x) N(x; r, c) over [low, high], and the mean and variance of x there.

    Gauss-Legendre on panels that shrink towards every place where the product can have a peak or an edge.
    """
    steps = np.concatenate([-np.logspace(3.5, -8, 90), [0.0], np.logspace(-8, 3.5, 90)])
    cuts = np.unique(np.clip(np.add.outer([*peaks, 0.0], steps), low, high))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = np.diff(cuts) / 2
    x = (cuts[:-1] + half)[:, None] + half[:, None] * nodes
    logs = log_density(x) - (x - r) ** 2 / (2 * c)
    w = half[:, None] * weights * np.exp(logs - logs.max())
    mean = (w * x).sum() / w.sum()
    log_z = math.log(w.sum()) + logs.max() - 0.5 * math.log(2 * math.pi * c)
    return log_z, mean, (w * (x - mean) ** 2).sum() / w.sum()


def agree(got, expected, *, rel):
    assert got[0] == pytest.approx(expected[0], rel=rel, abs=rel)
    assert got[1] == pytest.approx(expected[1], rel=rel, abs=rel * math.sqrt(expected[2]))
    assert got[2] == pytest.approx(expected[2], rel=rel)


@law
@given(st.floats(-20, 1e6))
def test_tail_of_a_normal(a):
    with mpmath.workdps(60):
        x = mpmath.mpf(a)
        tail = mpmath.erfc(x / mpmath.sqrt(2)) / 2
        mean = mpmath.npdf(x) / tail
        expected = float(mpmath.log(tail)), float(mean), float(1 + x * mean - mean**2)
    agree(kernels.upper_tail(a), expected, rel=1e-9)


@law
@given(places, sizes, ends)
def test_normal_in_an_interval(mean, s, interval):
    low, high = interval
    got = kernels.truncated_moments(mean, s**2, low, high, RULE)
    agree(got, integrals(np.zeros_like, [np.clip(mean, low, high)], low, high, mean, s**2), rel=1e-8)


def agree_tilted(kind, log_odds, slabs, log_density, peaks, r, c, interval):
    """Against one quadrature: x is 0, or has that density."""
    low, high = interval
    slabs = np.array(slabs)
    got = kernels.tilted_moments(kind, log_odds, slabs, r, c, low, high, np.zeros((len(slabs), 3)), RULE)
    log_z, mean, variance = integrals(log_density, np.clip(peaks, low, high), low, high, r, c)
    log_spike = -0.5 * r * r / c - 0.5 * math.log(2 * math.pi * c) if low <= 0 <= high else -math.inf
    inclusion = expit(log_odds + log_z - log_spike)
    expected = inclusion, inclusion * mean, inclusion * (variance + (1 - inclusion) * mean**2)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9)


@law
@given(st.floats(-5, 5), places, sizes, st.floats(-3, 3), st.floats(0.05, 5), ends)
def test_moments_of_gaussian_slabs(log_odds, r, s, location, spread, interval):
    slabs = [(0.3, location, spread), (0.7, -location / 2, 2 * spread)]
    masses = [np.diff(norm.cdf(interval, m, math.sqrt(v))).item() for _, m, v in slabs]
    assume(min(masses) > 1e-6)  # what `norm.cdf` gives accurately

    def log_density(x):
        terms = [math.log(w / p) + norm.logpdf(x, m, math.sqrt(v)) for (w, m, v), p in zip(slabs, masses, strict=True)]
        return np.logaddexp(*terms)

    peaks = [(r * v + m * s**2) / (v + s**2) for _, m, v in slabs]
    agree_tilted(GAUSSIANS, log_odds, slabs, log_density, peaks, r, s**2, interval)


@law
@given(st.floats(-5, 5), places, sizes, st.floats(0.05, 5), st.sampled_from([(-math.inf, math.inf), (0.0, 1.0)]))
def test_moments_of_exponential_slabs(log_odds, r, s, scale, interval):
    both = interval[0] < 0
    slabs = [(0.4, 1.0, scale), (0.6, -1.0, scale / 2)] if both else [(1.0, 1.0, scale)]
    mass = -math.expm1(-interval[1] / scale)

    def log_density(x):
        right = math.log(slabs[0][0] / scale / mass) - x / scale
        return np.where(x > 0, right, math.log(0.6 * 2 / scale) + 2 * x / scale) if both else right

    peaks = [r - s**2 / scale, r + 2 * s**2 / scale]
    agree_tilted(EXPONENTIALS, log_odds, slabs, log_density, peaks, r, s**2, interval)


def drawn(distribution, *, n=N, m=M, k=K, signs="natural", seed=0):
    rng = np.random.default_rng(seed)
    x = sg.sparse_signal(n, k, distribution, signs=signs, rng=rng)
    return sg.gaussian_matrix(m, n, rng=rng), x


def solved(A, y, *, seed=0, solver=None, callback=None, **options):
    return (solver or EP()).solve(Problem.of(A, y, **options), np.random.default_rng(seed), callback)


@pytest.mark.parametrize("signs", ["positive", "random"])
@pytest.mark.parametrize("distribution", ["binomial", "uniform", "normal", "exponential"])
@pytest.mark.parametrize("slab", SLABS)
def test_easy_problems(slab, distribution, signs):
    A, x = drawn(distribution, signs=signs)
    found = solved(A, A @ x, solver=EP(slabs=(slab,), restarts=0))
    assert found.success
    assert relative_error(found.x, x) < 1e-9
    assert np.count_nonzero(found.x) == K


def test_equal_magnitudes_where_one_gaussian_fails():
    A, x = drawn("binomial", n=100, m=40, k=20)
    y = A @ x
    assert relative_error(solved(A, y, solver=EP(slabs=("two-gaussians",), restarts=0)).x, x) < 1e-9
    assert relative_error(solved(A, y, solver=EP(slabs=("bernoulli-gauss",), restarts=0)).x, x) > 0.1


@pytest.mark.parametrize("m", [6, 12, 40])
def test_every_result_is_feasible(m):
    A, x = drawn("normal", m=m, k=20, seed=1)
    y = A @ x
    found = solved(A, y, solver=EP(restarts=1, sweeps=50))
    assert found.residual <= 1e-9 * np.linalg.norm(y)


def test_dependent_rows_and_one_equation():
    A, x = drawn("normal", m=20, k=4)
    twice = np.vstack([A, A[:7]])
    assert relative_error(solved(twice, twice @ x).x, x) < 1e-9
    one = solved(A[:1], A[:1] @ x, solver=EP(restarts=0, sweeps=20))
    assert one.residual <= 1e-9 * abs(A[0] @ x)


@pytest.mark.parametrize("m", [12, M])
@pytest.mark.parametrize(("a", "b"), [(2.0**-30, 2.0**10), (2.0**40, 2.0**-40)])
def test_scaling_changes_nothing(a, b, m):
    A, x = drawn("normal", m=m)
    solver = EP(restarts=1, sweeps=40)
    plain = solved(A, A @ x, solver=solver)
    scaled = solved(a * A, b * (A @ x), solver=solver)
    np.testing.assert_allclose(scaled.x * (a / b), plain.x, rtol=1e-6, atol=1e-6 * np.abs(plain.x).max())
    assert scaled.nit == plain.nit


def test_same_seed_same_result_and_inputs_untouched():
    A, x = drawn("normal", m=14, k=30)
    y = A @ x
    kept = A.copy(), y.copy()
    solver = EP(restarts=2, sweeps=30)
    one, two, other = (solved(A, y, seed=seed, solver=solver) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.x, two.x)
    assert one == two
    assert one != other
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(y, kept[1])


def test_a_run_leads_to_the_support():
    A, x = drawn("normal")
    problem = Problem.of(A, A @ x)
    solver = EP(slabs=("bernoulli-gauss",), restarts=0)
    sweeps = list(solver.runs(problem, np.random.default_rng(0)))
    last = sweeps[-1]
    assert last.ended
    assert last.converged
    assert not any(sweep.ended for sweep in sweeps[:-1])
    assert set(np.flatnonzero(last.inclusion > 0.5)) == set(np.flatnonzero(x)) == set(last.likeliest(K))
    assert relative_error(last.x, x) < 1e-2


def test_every_run_ends_once_and_offers_its_answer():
    A, x = drawn("normal", m=12, k=20)
    problem, solver = Problem.of(A, A @ x), EP(restarts=2, sweeps=20)
    ends = [sweep for sweep in solver.runs(problem, np.random.default_rng(0)) if sweep.ended]
    offered = [iterate for iterate in solver.iterates(problem, np.random.default_rng(0)) if iterate.status is not None]
    assert len(ends) == len(offered) == len(SLABS) + 2
    for end, answer in zip(ends, offered, strict=True):
        np.testing.assert_array_equal(end.x, answer.x)
        assert (answer.status == Status.CONVERGED) == end.converged


@pytest.mark.parametrize("slab", SLABS)
@pytest.mark.parametrize("bounds", [(0, None), (0, 1)])
def test_bounds_help_and_hold(slab, bounds):
    A, x = drawn("uniform", m=26, k=16, seed=5)
    y = A @ x
    found = solved(A, y, bounds=bounds, solver=EP(slabs=(slab,), restarts=0))
    assert relative_error(found.x, x) < 1e-9
    assert found.x.min() >= 0


def test_bounds_hold_where_nothing_is_found():
    A, x = drawn("uniform", m=12, k=20)
    y = A @ x
    found = solved(A, y, bounds=(0, 1), solver=EP(restarts=0, sweeps=30))
    assert found.x.min() >= 0
    assert found.x.max() <= 1
    assert found.residual <= 1e-6 * np.linalg.norm(y)


def test_coefficients_that_are_known():
    A, x = drawn("uniform", m=20)
    low = np.where(x > 0.5, x, 0.0)
    high = np.where(x > 0.5, x, 1.0)  # some are fixed, and may not be 0
    found = solved(A, A @ x, bounds=(low, high), solver=EP(restarts=0))
    assert relative_error(found.x, x) < 1e-9


@pytest.mark.parametrize("slab", SLABS)
def test_noise(slab):
    A, x = drawn("normal")
    deviation = 1e-3 * np.linalg.norm(A @ x) / math.sqrt(M)
    y = A @ x + deviation * np.random.default_rng(9).standard_normal(M)
    problem = Problem.of(A, y, noise=deviation)
    found = EP(slabs=(slab,), restarts=0).solve(problem, np.random.default_rng(0))
    assert found.success
    assert found.residual <= problem.noise
    oracle = np.linalg.lstsq(A[:, x != 0], y, rcond=None)[0]
    assert np.linalg.norm(found.x - x) < 2 * np.linalg.norm(oracle - x[x != 0])


def test_stopping_early_is_said():
    A, x = drawn("normal", m=12, k=11)
    assert solved(A, A @ x, solver=EP(restarts=0, sweeps=5)).status == Status.ITERATION_LIMIT
    calls = []
    found = solved(A, A @ x, callback=lambda nit, x: calls.append(nit) or len(calls) == 3)
    assert found.status == Status.STOPPED_BY_CALLBACK
    assert calls == [5, 10, 15]


@pytest.mark.parametrize(
    "options",
    [
        {"slabs": ()},
        {"slabs": "exponential"},
        {"slabs": ("cauchy",)},
        {"restarts": -1},
        {"sweeps": 0},
        {"damping": 0.0},
        {"damping": 1.5},
        {"em_rate": -0.1},
        {"bias": -1.0},
        {"density": 1.5},
        {"tolerance": 0.0},
    ],
)
def test_options_are_checked(options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        EP(**options)


def test_complex_systems_are_refused():
    A, x = drawn("normal")
    with pytest.raises(InvalidInput, match=r"EP cannot solve complex systems; .*GDSReweighted.* can"):
        solved(A + 1j * A[::-1], A @ x)
