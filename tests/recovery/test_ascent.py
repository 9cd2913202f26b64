"""Projected gradient ascent: feasible, invariant, right on easy problems, and clear about bad options."""

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

import sparsegauge as sg
from sparsegauge.recovery.ascent import Feasible, GDSAscent
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error
from sparsegauge.recovery.solver import Capabilities
from sparsegauge.recovery.status import Status
from sparsegauge.simulate import gaussian_matrix, sparse_signal


def draw(distribution="normal", nonzeros=10, m=60, n=100, seed=0):
    rng = np.random.default_rng(seed)
    x = sparse_signal(n, nonzeros, distribution, rng=rng)
    A = gaussian_matrix(m, n, rng=rng)
    return A, A @ x, x


def solved(A, y, solver=None, callback=None, **options):
    return (solver or GDSAscent()).solve(Problem.of(A, y, **options), np.random.default_rng(0), callback)


def without_matrix(A):
    """An operator that is never written out, like one too large for it."""
    operator = LinearOperator(A.shape, matvec=lambda x: A @ x, rmatvec=lambda r: A.conj().T @ r, dtype=A.dtype)
    return lambda y, **options: _unwritten(Problem.of(operator, y, **options))


def _unwritten(problem):
    return Problem(problem.system.as_operator(), problem.y, problem.noise, problem.bounds, problem.x0)


@pytest.mark.parametrize("distribution", ["uniform", "normal", "exponential"])
def test_easy_problems_are_recovered(distribution):
    for seed in range(3):
        A, y, x = draw(distribution, seed=seed)
        found = solved(A, y)
        assert relative_error(found.x, x) < 1e-3
        assert found.status == Status.CONVERGED
        assert found.success


@pytest.mark.parametrize("order", [1, 1.5, 2, 4])
def test_results_are_feasible_and_sparser_than_the_start(order):
    A, y, _ = draw(nonzeros=30, m=50)
    found = solved(A, y, GDSAscent(order=order))
    assert found.residual <= 1e-9 * np.linalg.norm(y)
    assert found.fun > sg.gds(np.linalg.pinv(A) @ y, order)
    assert found.fun == pytest.approx(found.history[-1], abs=1e-12)


@pytest.mark.parametrize(("scale", "digits"), [(2.0**-10, 1e-12), (2.0**10, 1e-12), (1e-3, 1e-3), (1e3, 1e-3)])
def test_scaling_the_system_scales_the_result(scale, digits):
    # a power of two rounds nothing; else rounding decides on which side of a kink a step of the last length ends
    A, y, _ = draw()
    plain = solved(A, y).x
    assert relative_error(solved(A, scale * y).x / scale, plain) < digits
    assert relative_error(solved(scale * A, y).x * scale, plain) < digits


@pytest.mark.parametrize("order", [1.5, 2, 3.7])
def test_the_direction_is_the_gradient_along_the_constraints(order):
    A, y, _ = draw(nonzeros=30, m=50)
    feasible = Feasible(Problem.of(A, y))
    x = feasible.start()
    direction = feasible.tangent(sg.gds_gradient(x, order))
    assert np.linalg.norm(A @ direction) <= 1e-10 * np.linalg.norm(A) * np.linalg.norm(direction)
    along = np.linalg.svd(A)[2][50:]  # the null space
    h = 1e-6 * np.linalg.norm(x)
    slopes = [(sg.gds(x + h * v, order) - sg.gds(x - h * v, order)) / (2 * h) for v in along]
    np.testing.assert_allclose(along @ direction, slopes, rtol=1e-5, atol=1e-5 * np.linalg.norm(slopes))


def test_an_operator_gives_what_its_matrix_gives():
    A, y, x = draw()
    found = GDSAscent().solve(without_matrix(A)(y), np.random.default_rng(0))
    assert relative_error(found.x, x) < 1e-3
    assert found.residual <= 1e-9 * np.linalg.norm(y)
    again = GDSAscent().solve(without_matrix(A)(y, x0=x), np.random.default_rng(0))
    assert again.residual <= 1e-9 * np.linalg.norm(y)


def test_complex_signals_are_recovered():
    rng = np.random.default_rng(1)
    x = sparse_signal(100, 10, rng=rng) * np.exp(2j * np.pi * rng.random(100))
    A = rng.standard_normal((60, 100)) + 1j * rng.standard_normal((60, 100))
    assert relative_error(solved(A, A @ x).x, x) < 1e-3


def test_bounds_hold_and_help():
    A, y, x = draw("exponential", nonzeros=20, m=40, seed=3)
    found = solved(A, y, bounds=(0, None))
    assert (found.x >= 0).all()
    assert found.residual <= 1e-6 * np.linalg.norm(y)
    assert relative_error(found.x, x) <= relative_error(solved(A, y).x, x)


def test_bounds_that_no_solution_meets_are_reported():
    A, y, _ = draw()
    found = solved(A, y, GDSAscent(iterations=20, tolerance=10), bounds=(0, 1e-3))
    assert found.status == Status.INFEASIBLE
    assert not found.success


def test_the_order_goes_over_to_the_final_one():
    A, y, x = draw("uniform")
    found = solved(A, y, GDSAscent(order=1, final_order=2))
    assert found.fun == sg.gds(found.x, 2)
    assert relative_error(found.x, x) < 3e-3


def test_a_callback_sees_feasible_points_and_can_stop():
    A, y, _ = draw()
    seen = []

    def watch(k, x):
        seen.append((k, np.linalg.norm(A @ x - y)))
        return k == 7

    found = solved(A, y, callback=watch)
    assert [k for k, _ in seen] == list(range(1, 8))
    assert max(residual for _, residual in seen) < 1e-9 * np.linalg.norm(y)
    assert (found.status, found.nit, found.success) == (Status.STOPPED_BY_CALLBACK, 7, False)


def test_a_callback_changes_nothing():
    A, y, _ = draw()

    def spoil(k, x):
        x[:] = np.nan  # a copy

    watched, alone = solved(A, y, callback=spoil), solved(A, y)
    np.testing.assert_array_equal(watched.x, alone.x)
    assert watched.history == alone.history
    assert len(alone.history) == 51  # every eighth step, and the last
    assert (watched.status, watched.nit, watched.nfev) == (alone.status, 400, 400)


def test_all_that_is_declared_works():
    assert GDSAscent.supports == Capabilities(bounds="any", complex=True, operators=True, bounds_with_operator=True)
    A, y, x = draw("exponential", nonzeros=5)
    found = GDSAscent().solve(without_matrix(A)(y, bounds=(0, None)), np.random.default_rng(0))
    assert (found.x >= 0).all()
    assert relative_error(found.x, x) < 1e-2
    sigma = 0.01
    noisy = y + sigma * np.random.default_rng(1).standard_normal(len(y))
    problem = Problem.of(A, noisy, noise=sigma)
    assert GDSAscent().solve(problem, np.random.default_rng(0)).residual <= problem.noise


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_operators_without_full_rank(rank):
    """Conjugate gradients run away there, LSMR does not."""
    rng = np.random.default_rng(rank)
    A = rng.standard_normal((12, rank)) @ rng.standard_normal((rank, 30))
    y = A @ rng.standard_normal(30) if rank else np.ones(12)
    found = GDSAscent(iterations=20).solve(without_matrix(A)(y), np.random.default_rng(0))
    assert np.isfinite(found.x).all()
    assert found.residual <= (1e-9 if rank else 1.0) * np.linalg.norm(y)


def test_nothing_to_explain_is_the_zero_vector():
    A = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    found = solved(A, np.array([2.0, -1.0]))  # across the range of A
    np.testing.assert_allclose(found.x, 0, atol=1e-15)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 0.5}, "at least 1"),
        ({"order": np.inf}, "has no gradient"),
        ({"final_order": np.inf}, "has no gradient"),
        ({"final_order": "2"}, "real number"),
        ({"iterations": 1}, "at least 2"),
        ({"step": 0.0}, "step > 0"),
        ({"decay": 2.0}, "decay"),
        ({"tolerance": -1.0}, "tolerance"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(sg.InvalidInput, match=words):
        GDSAscent(**options)
