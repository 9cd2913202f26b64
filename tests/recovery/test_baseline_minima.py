"""What the baselines minimise is minimal, also within bounds."""

from __future__ import annotations

import numpy as np
import pytest
from baseline_problems import ANY_BOUNDS, NON_NEGATIVE, drawn, named, noisy, one_thread, solved  # noqa: F401 (fixtures)
from scipy.optimize import linprog, minimize

from sparsegauge.recovery.baselines import (
    LARS,
    OMP,
    BasisPursuit,
    DantzigSelector,
    Lasso,
    MinimumNorm,
    ReweightedL1,
)
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error
from sparsegauge.recovery.status import Status

# Minima are minima


def test_minimum_norm_is_the_pseudoinverse():
    A, _, y = drawn(m=30)
    assert relative_error(solved(MinimumNorm(), A, y).x, np.linalg.pinv(A) @ y) < 1e-12


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("bounds", [None, (-0.3, 0.4), (0, None)])
def test_minimum_norm_has_the_least_norm(noise, bounds):
    A, x, y = drawn("binomial" if bounds == (0, None) else "normal", n=12, nonzeros=3, m=5)
    if bounds == (-0.3, 0.4):
        x = np.clip(x, *bounds)
        y = A @ x
    problem = Problem.of(A, y, noise=noise, bounds=bounds)
    answer = MinimumNorm().solve(problem, np.random.default_rng(0))
    ball = {"type": "ineq", "fun": lambda v: problem.noise**2 - np.sum((A @ v - y) ** 2)}
    plane = {"type": "eq", "fun": lambda v: A @ v - y}
    low, high = bounds or (None, None)
    best = minimize(
        lambda v: v @ v,
        answer.x + 0.01,
        jac=lambda v: 2 * v,
        bounds=[(low, high)] * 12,
        constraints=ball if noise else plane,
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert best.success
    assert answer.x @ answer.x == pytest.approx(best.fun, rel=1e-3 if noise and bounds else 1e-6)


@pytest.mark.parametrize("bounds", [None, (0, None), (-0.5, 1.0)])
def test_basis_pursuit_has_the_least_l1_norm(bounds):
    A, _, y = drawn("binomial", nonzeros=30, m=40)
    answer = solved(BasisPursuit(), A, y, bounds=bounds)
    low, high = bounds or (None, None)
    # |x_i| <= t_i, another form of the same program
    eye, nothing = np.eye(100), np.zeros((40, 100))
    best = linprog(
        np.repeat([0.0, 1.0], 100),
        A_ub=np.block([[eye, -eye], [-eye, -eye]]),
        b_ub=np.zeros(200),
        A_eq=np.hstack([A, nothing]),
        b_eq=y,
        bounds=[(low, high)] * 100 + [(0, None)] * 100,
    )
    assert np.abs(answer.x).sum() == pytest.approx(best.fun, rel=1e-8)


def test_denoising_by_homotopy_and_by_coordinate_descent_agree():
    """Bounds that do not bind, but for which there is no homotopy."""
    A, _, y = drawn(nonzeros=15, m=50)
    y = noisy(y, 0.1)
    for solver in (BasisPursuit(), ReweightedL1()):
        path = solved(solver, A, y, noise=0.1).x
        descent = solved(solver, A, y, noise=0.1, bounds=(-100, 100)).x
        assert relative_error(descent, path) < 1e-2
        assert np.abs(descent).sum() == pytest.approx(np.abs(path).sum(), rel=1e-3)


def test_denoising_is_optimal():
    """At a minimum of |x|_1 on the sphere, A^T r is lambda sign(x) on the support and within lambda elsewhere."""
    A, _, y = drawn(nonzeros=15, m=50)
    y = noisy(y, 0.1)
    x = solved(BasisPursuit(), A, y, noise=0.1).x
    pull = A.T @ (y - A @ x)
    size = np.abs(pull).max()
    assert np.allclose(pull[x != 0], size * np.sign(x[x != 0]), rtol=1e-6)


def test_dantzig_selector_keeps_its_bound():
    A, _, y = drawn(nonzeros=15, m=50)
    y = noisy(y, 0.1)
    columns = A / np.linalg.norm(A, axis=0)
    for bound in (0.5, 0.01):
        x = solved(DantzigSelector(bound=bound), A, y, noise=0.1).x
        largest = np.abs(columns.T @ y).max()
        assert np.abs(columns.T @ (y - A @ x)).max() == pytest.approx(bound * largest, rel=1e-6)


def test_the_lasso_and_its_path_end_in_basis_pursuit():
    A, _, y = drawn(nonzeros=20, m=45)
    least = np.abs(solved(BasisPursuit(), A, y).x).sum()
    for solver in (LARS(), Lasso(), DantzigSelector()):
        assert np.abs(solved(solver, A, y).x).sum() == pytest.approx(least, rel=1e-3)


def test_reweighting_finds_more_than_basis_pursuit():
    pursuit, reweighted = 0, 0
    for seed in range(10):
        A, x, y = drawn(nonzeros=20, m=50, seed=seed)
        pursuit += relative_error(solved(BasisPursuit(), A, y).x, x) < 1e-3
        reweighted += relative_error(solved(ReweightedL1(), A, y).x, x) < 1e-3
    assert reweighted > pursuit


def test_omp_takes_so_many_columns():
    A, _, y = drawn(nonzeros=20, m=45)
    answer = solved(OMP(nonzeros=5), A, y)
    assert np.count_nonzero(answer.x) == 5
    assert not answer.success  # five columns do not explain y
    assert np.allclose(A[:, answer.x != 0].T @ (A @ answer.x - y), 0, atol=1e-10 * np.linalg.norm(y))


# Bounds


@named(NON_NEGATIVE)
@pytest.mark.parametrize("noise", [0.0, 0.02, 1e-7])
def test_non_negative_results(solver, noise):
    """Fewer measurements do when the sign is known."""
    A, x, y = drawn("exponential", nonzeros=20, m=45)
    problem = Problem.of(A, noisy(y, noise), noise=noise, bounds=(0, None))
    answer = solver.solve(problem, np.random.default_rng(0))
    assert answer.x.min() >= 0
    assert answer.success
    assert answer.residual <= problem.tolerance()
    if noise == 0 and not isinstance(solver, MinimumNorm):
        assert relative_error(answer.x, x) < 1e-3


@named(ANY_BOUNDS)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_results_in_a_box(solver, noise):
    """A different box for every coefficient, some of them without a way out."""
    A, x, y = drawn("uniform", "random", nonzeros=20, m=40)
    rng = np.random.default_rng(3)
    low, high = x - rng.uniform(0, 1, 100), x + rng.uniform(0, 1, 100)
    low[:5] = high[:5] = x[:5]
    high[5:10], low[10:15] = np.inf, -np.inf
    problem = Problem.of(A, noisy(y, noise), noise=noise, bounds=(low, high))
    answer = solver.solve(problem, np.random.default_rng(0))
    assert np.all(answer.x >= low)
    assert np.all(answer.x <= high)
    assert answer.residual <= problem.tolerance()
    assert answer.success


@named(NON_NEGATIVE)
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_bounds_that_nothing_fits(solver, noise):
    A, _, y = drawn("uniform")
    answer = solved(solver, A, -y, noise=noise, bounds=(0, None))
    assert answer.status == Status.INFEASIBLE
    assert not answer.success
    assert answer.x.min() >= 0
    assert answer.residual < np.linalg.norm(y)


@named([DantzigSelector(bound=0.2), Lasso(penalty=0.2)])
def test_what_does_not_aim_at_the_residual_is_not_called_infeasible(solver):
    """The shrunken x of a given penalty explains y badly, within bounds or not."""
    A, _, y = drawn("uniform")
    for bounds in (None, (0, None)):
        answer = solved(solver, A, noisy(y, 1e-3), noise=1e-3, bounds=bounds)
        assert answer.status == Status.INEXACT
        assert not answer.success
    assert solved(solver, A, -y, noise=1e-3, bounds=(0, None)).status == Status.INFEASIBLE


def test_the_box_is_worth_measurements():
    A, x, y = drawn("binomial", nonzeros=40, m=60)
    assert relative_error(solved(BasisPursuit(), A, y).x, x) > 0.1
    assert relative_error(solved(BasisPursuit(), A, y, bounds=(0, 1)).x, x) < 1e-9
