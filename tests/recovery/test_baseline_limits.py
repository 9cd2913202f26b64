"""Complex, large, degenerate and unsupported systems: the baselines solve them, or say what they cannot do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from baseline_problems import (  # noqa: F401 (fixtures)
    ALL,
    ANY_BOUNDS,
    COMPLEX,
    MATRIX_FREE,
    MATRIX_ONLY,
    NO_BOUNDS,
    NON_NEGATIVE,
    REAL_ONLY,
    drawn,
    drawn_complex,
    named,
    noisy,
    one_thread,
    solved,
)
from scipy.sparse.linalg import aslinearoperator

from sparsegauge._arrays import equations
from sparsegauge.errors import InvalidInput
from sparsegauge.recovery.baselines import (
    IRLS,
    OMP,
    SBL,
    SL0,
    BasisPursuit,
    DantzigSelector,
    Lasso,
    MinimumNorm,
    ReweightedL1,
)
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import relative_error
from sparsegauge.recovery.status import Status
from sparsegauge.simulate import gaussian_matrix, sparse_signal

# Complex and matrix-free


@named(COMPLEX)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_complex_systems(solver, noise):
    A, x, y = drawn_complex()
    problem = Problem.of(A, noisy(y, noise), noise=noise)
    answer = solver.solve(problem, np.random.default_rng(0))
    assert answer.residual <= problem.tolerance()
    assert answer.success
    if not isinstance(solver, MinimumNorm):
        assert relative_error(answer.x, x) < 1e-4 + noise


@named(COMPLEX)
def test_turning_y_turns_x(solver):
    A, _, y = drawn_complex(m=20)
    x = solved(solver, A, y).x
    assert relative_error(solved(solver, A, 1j * y).x, 1j * x) < 1e-6


@named(COMPLEX)
def test_a_real_system_in_complex_clothes(solver):
    A, _, y = drawn()
    answer = solved(solver, A.astype(complex), y.astype(complex))
    assert relative_error(answer.x, solved(solver, A, y).x) < 1e-6


@named(MATRIX_FREE)
@pytest.mark.parametrize("noise", [0.0, 0.02])
@pytest.mark.parametrize("kind", ["real", "complex"])
def test_matrix_free_systems(solver, noise, kind, monkeypatch):
    A, _, y = drawn() if kind == "real" else drawn_complex()
    y = noisy(y, noise)
    want = solved(solver, A, y, noise=noise)
    monkeypatch.setattr(equations, "LARGEST_MATRIX", 10)
    problem = Problem.of(aslinearoperator(A), y, noise=noise)
    assert problem.system.matrix is None
    answer = solver.solve(problem, np.random.default_rng(0))
    assert answer.residual <= problem.tolerance()
    assert answer.success
    assert relative_error(answer.x, want.x) < (1e-3 if noise else 1e-6)


@named(MATRIX_FREE)
def test_a_large_sparse_system(solver):
    """1,500 x 4,000 with one entry in a hundred: too large to be written out."""
    rng = np.random.default_rng(0)
    A = scipy.sparse.random_array((1500, 4000), density=0.01, rng=rng, data_sampler=rng.standard_normal, format="csr")
    x = sparse_signal(4000, 100, rng=rng)
    problem = Problem.of(A, A @ x)
    assert problem.system.matrix is None
    answer = solver.solve(problem, rng)
    assert answer.residual <= 1e-9 * problem.scale
    if isinstance(solver, IRLS):
        assert relative_error(answer.x, x) < 1e-4


# What they cannot do, they say


def refusal(solver, A, y, **options):
    """The message of a refusal; the solvers that it names can solve the problem."""
    with pytest.raises(InvalidInput, match=f"^{type(solver).__name__} cannot ") as caught:
        solved(solver, A, y, **options)
    message = str(caught.value)
    problem = Problem.of(A, y, **options)
    named_solvers = [other for other in ALL if f" {type(other).__name__}" in message.replace(",", "")]
    assert named_solvers
    for other in named_solvers:
        other.check(problem)
    return message


@named(REAL_ONLY)
def test_complex_systems_are_refused(solver):
    A, _, y = drawn_complex()
    for noise in (0.0, 0.1):
        assert "complex systems" in refusal(solver, A, y, noise=noise)


@named(MATRIX_ONLY)
def test_systems_too_large_to_write_out_are_refused(solver, monkeypatch):
    monkeypatch.setattr(equations, "LARGEST_MATRIX", 10)
    A, _, y = drawn()
    for noise in (0.0, 0.1):
        assert "too large to write out" in refusal(solver, aslinearoperator(A), y, noise=noise)


@named(NO_BOUNDS)
def test_bounds_are_refused(solver):
    A, _, y = drawn()
    assert "BasisPursuit" in refusal(solver, A, y, bounds=(0, None))


def test_half_kept_bounds_are_refused(monkeypatch):
    A, _, y = drawn()
    assert "BasisPursuit" in refusal(Lasso(), A, y, bounds=(-1, 1))
    monkeypatch.setattr(equations, "LARGEST_MATRIX", 10)
    with pytest.raises(InvalidInput, match="where A is an operator"):
        solved(MinimumNorm(), aslinearoperator(A), y, bounds=(0, None))


@named(ALL)
def test_unknown_noise_is_taken_as_none(solver):
    A, _, y = drawn()
    assert not solver.supports.unknown_noise
    assert np.array_equal(solved(solver, A, y, noise="auto").x, solved(solver, A, y).x)


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        (MinimumNorm, {"max_iterations": 0}),
        (MinimumNorm, {"assume_generic": 1}),
        (BasisPursuit, {"check_dependence": "yes"}),
        (ReweightedL1, {"epsilon": 0.0}),
        (ReweightedL1, {"iterations": 0}),
        (DantzigSelector, {"bound": 1.5}),
        (DantzigSelector, {"bound": np.nan}),
        (OMP, {"nonzeros": 0}),
        (OMP, {"nonzeros": 2.5}),
        (Lasso, {"penalty": 0.0}),
        (Lasso, {"max_iterations": True}),
        (IRLS, {"p": 1.5}),
        (IRLS, {"smoothing": -1}),
        (IRLS, {"max_iterations": None}),
        (SL0, {"factor": 1.0}),
        (SL0, {"steps": 0}),
        (SL0, {"step": np.inf}),
        (SL0, {"last": 0.0}),
        (SBL, {"max_iterations": 1.5}),
        (SBL, {"tolerance": "small"}),
    ],
)
def test_options_out_of_range_are_refused(solver, options):
    with pytest.raises(InvalidInput, match=next(iter(options))):
        solver(**options)


@pytest.mark.parametrize("solver", dict.fromkeys(map(type, ALL)), ids=lambda solver: solver.__name__)
def test_every_option_is_checked(solver):
    for option in dataclasses.fields(solver):
        with pytest.raises(InvalidInput, match=option.name):
            solver(**{option.name: "nonsense"})


@pytest.mark.parametrize(
    ("solver", "options"),
    [(DantzigSelector, {"bound": 0}), (IRLS, {"p": 0}), (IRLS, {"p": 1}), (Lasso, {"penalty": None}), (OMP, {})],
)
def test_ends_of_ranges_and_defaults_are_allowed(solver, options):
    assert vars(solver(**options)).items() >= options.items()


# Ill-conditioned and degenerate systems have a status, too


def hilbert(m, n):
    return 1 / (np.arange(m)[:, None] + np.arange(n) + 1.0)


def rank_three(m, n):
    rng = np.random.default_rng(3)
    return rng.standard_normal((m, 3)) @ rng.standard_normal((3, n))


DEGENERATE = {
    "hilbert": hilbert(12, 30),
    "square": hilbert(12, 12),
    "vandermonde": np.vander(np.linspace(0, 1, 15), 30),
    "rank 3": rank_three(12, 30),
    "ones": np.ones((12, 30)),
    "zero": np.zeros((12, 30)),
    "row": np.ones((1, 30)),
    "column": np.ones((12, 1)),
    "uneven": np.geomspace(1, 1e-12, 12)[:, None] * gaussian_matrix(12, 30, rng=np.random.default_rng(2)),
}


@named(ALL)
@pytest.mark.parametrize("matrix", DEGENERATE)
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_degenerate_systems_end_with_a_status(solver, matrix, noise):
    A = DEGENERATE[matrix]
    m, n = A.shape
    x = np.zeros(n)
    x[: min(3, n)] = 1.0
    for y in (A @ x, np.cos(np.arange(m))):  # consistent, and most likely not
        for bounds in (None, (0, None)) if solver in NON_NEGATIVE else (None,):
            answer = solved(solver, A, y, noise=noise, bounds=bounds)
            assert np.isfinite(answer.x).all()
            assert bounds is None or answer.x.min() >= 0


@named(ANY_BOUNDS)
def test_bounds_that_exclude_zero(solver):
    """Also where y = 0, which has no scale."""
    A = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    for noise in (0.0, 1e-3):
        answer = solved(solver, A, np.zeros(2), noise=noise, bounds=(1, 2))
        assert np.allclose(answer.x, 1.0, atol=1e-2)
        assert answer.success
        assert solved(solver, A, np.ones(2), noise=noise, bounds=(0, 0)).status == Status.INFEASIBLE


@named(MATRIX_FREE)
def test_an_operator_of_zeros(solver, monkeypatch):
    monkeypatch.setattr(equations, "LARGEST_MATRIX", 0)
    for noise in (0.0, 1e-3):
        answer = solved(solver, aslinearoperator(np.zeros((5, 9))), np.ones(5), noise=noise)
        assert not answer.x.any()
        assert not answer.success


def test_singular_weights_are_no_obstacle(monkeypatch):
    """Cholesky's factorisation fails, and the spectral one takes its place."""
    A, x, y = drawn()

    def fail(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(scipy.linalg, "cho_factor", fail)
    monkeypatch.setattr(np.linalg, "cholesky", fail)
    for solver in (IRLS(), SBL()):
        answer = solved(solver, A, y)
        assert answer.success
        assert relative_error(answer.x, x) < 1e-3


@named([IRLS(max_iterations=1), SBL(max_iterations=3), Lasso(max_iterations=2)])
def test_not_converging_is_a_status(solver):
    A, _, y = drawn(nonzeros=30, m=50)
    answer = solved(solver, A, y)
    assert answer.status == Status.ITERATION_LIMIT
    assert not answer.success
    assert answer.residual <= 1e-9 * np.linalg.norm(y)
