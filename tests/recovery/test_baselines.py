"""The laws of the baselines: results explain y and do not depend on scale, and callbacks work."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from baseline_problems import ALL, NON_NEGATIVE, SIGNALS, SPARSE, drawn, named, noisy, one_thread, solved  # noqa: F401 (fixtures)
from scipy.sparse.linalg import aslinearoperator

from sparsegauge.recovery.baselines import (
    IRLS,
    LARS,
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

# What comes out explains y


@named(ALL)
@pytest.mark.parametrize(("nonzeros", "m"), [(8, 60), (30, 50), (60, 20)])
def test_every_result_is_feasible(solver, nonzeros, m):
    """Also where the signal is far out of reach."""
    A, _, y = drawn(nonzeros=nonzeros, m=m)
    answer = solved(solver, A, y)
    assert answer.residual <= 1e-9 * np.linalg.norm(y)
    assert answer.residual == pytest.approx(np.linalg.norm(A @ answer.x - y), abs=1e-12 * np.linalg.norm(y))
    assert answer.status in (Status.CONVERGED, Status.ITERATION_LIMIT)
    assert answer.success == (answer.status == Status.CONVERGED)


@named(SPARSE)
@pytest.mark.parametrize(("distribution", "signs"), SIGNALS)
def test_easy_problems_are_recovered(solver, distribution, signs):
    for seed in range(2):
        A, x, y = drawn(distribution, signs, seed=seed)
        answer = solved(solver, A, y)
        assert relative_error(answer.x, x) < 1e-3
        assert answer.success


@named(ALL)
@pytest.mark.parametrize("deviation", [0.3, 0.01, 1e-6])
def test_noise_aware_forms_stay_within_the_noise(solver, deviation):
    A, x, y = drawn()
    problem = Problem.of(A, noisy(y, deviation), noise=deviation)
    answer = solver.solve(problem, np.random.default_rng(0))
    assert answer.residual <= problem.noise
    assert answer.success
    if not isinstance(solver, MinimumNorm):
        assert relative_error(answer.x, x) < 1.5 * deviation + 1e-4


@named([MinimumNorm(), BasisPursuit(), ReweightedL1(), DantzigSelector(), Lasso(), LARS(), IRLS()])
def test_all_of_the_noise_is_used(solver):
    """Minima lie on the sphere, to 0.01 % where each trial is a whole solve."""
    A, _, y = drawn()
    problem = Problem.of(A, noisy(y, 0.1), noise=0.1)
    assert solver.solve(problem, np.random.default_rng(0)).residual >= 0.9999 * problem.noise


@named(ALL)
def test_noise_louder_than_y_leaves_nothing(solver):
    A, _, y = drawn()
    answer = solved(solver, A, y, noise=("residual", 2 * np.linalg.norm(y)))
    assert not answer.x.any()
    assert answer.status == Status.NO_SIGNAL
    assert answer.success


@named(ALL)
def test_dependent_rows_and_inconsistent_measurements(solver):
    A, _, y = drawn(m=40)
    twice, both = np.vstack([A, 2 * A[:20]]), np.concatenate([y, 2 * y[:20]])
    answer = solved(solver, twice, both)
    assert answer.residual <= 1e-9 * np.linalg.norm(both)
    wrong = noisy(both, 0.1)
    problem = Problem.of(twice, wrong)
    answer = solver.solve(problem, np.random.default_rng(0))
    least = np.linalg.norm(twice @ np.linalg.lstsq(twice, wrong)[0] - wrong)
    assert least <= answer.residual * (1 + 1e-9)
    assert answer.residual <= least * (1 + 1e-6)
    assert answer.status in (Status.INCONSISTENT, Status.ITERATION_LIMIT)


@named(ALL)
def test_a_column_of_zeros_stays_unused(solver):
    A, _, y = drawn()
    A = np.insert(A, 3, 0.0, axis=1)
    for noise in (0.0, 1e-3):
        x = solved(solver, A, y, noise=noise).x
        assert abs(x[3]) <= 1e-14 * np.abs(x).max()  # no more than rounding in a projection


# Invariance and reproducibility


@named(ALL)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_scaling_the_system_scales_the_solution(solver, noise):
    A, _, y = drawn(nonzeros=15, m=50)
    y = noisy(y, noise)
    x = solved(solver, A, y, noise=noise).x
    for a, b in [(1.0, 2.0**20), (2.0**30, 2.0**-30)]:
        scaled = solved(solver, a * A, b * y, noise=b * noise).x * (a / b)
        assert relative_error(scaled, x) < 1e-5


@named(NON_NEGATIVE)
@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_scaling_with_bounds(solver, noise):
    A, _, y = drawn("uniform", nonzeros=15, m=50)
    y = noisy(y, noise)
    x = solved(solver, A, y, noise=noise, bounds=(0, None)).x
    scaled = solved(solver, 2.0**9 * A, 2.0**-11 * y, noise=2.0**-11 * noise, bounds=(0, None)).x * 2.0**20
    assert relative_error(scaled, x) < 1e-5


@named(ALL)
def test_the_same_again_and_nothing_changed(solver):
    A, _, y = drawn(nonzeros=20, m=45)
    copies = A.copy(), y.copy()
    first = solver.solve(Problem.of(A, y), np.random.default_rng(1))
    second = solver.solve(Problem.of(A, y), np.random.default_rng(2))
    assert np.array_equal(first.x, second.x)
    assert (first.nit, first.status) == (second.nit, second.status)
    assert np.array_equal(A, copies[0])
    assert np.array_equal(y, copies[1])


@named(ALL)
def test_dense_sparse_and_operator_agree(solver):
    A, _, y = drawn(m=50)
    A[np.abs(A) < 0.5] = 0.0
    want = solved(solver, A, y).x
    for form in (scipy.sparse.csr_array(A), aslinearoperator(A)):
        assert np.array_equal(solved(solver, form, y).x, want)


# Callbacks


SEVERAL_ITERATES = [ReweightedL1(), OMP(), Lasso(), LARS(), IRLS(), SL0(), SBL()]


@named(SEVERAL_ITERATES)
@pytest.mark.parametrize("truth", [True, 1, np.True_])
def test_a_callback_sees_and_stops(solver, truth):
    A, _, y = drawn(nonzeros=30, m=50)
    seen = []
    answer = solved(
        solver, A, y, callback=lambda iteration, x: seen.append((iteration, x)) or (len(seen) == 2 and truth)
    )
    assert len(seen) == 2
    assert answer.nit == seen[1][0]
    assert seen[0][1].shape == (100,)
    assert answer.status == Status.STOPPED_BY_CALLBACK
    assert not answer.success
    if isinstance(solver, OMP):  # what it has chosen so far
        assert np.count_nonzero(answer.x) == 2
    else:
        assert answer.residual <= 1e-9 * np.linalg.norm(y)


@named([Lasso(), DantzigSelector(), LARS(), IRLS(), SL0(), SBL()])
def test_a_callback_sees_noisy_iterates_too(solver):
    A, x, y = drawn(nonzeros=10, m=50)
    seen = []
    answer = solved(solver, A, noisy(y, 0.05), noise=0.05, callback=lambda _, x: seen.append(x) or len(seen) == 3)
    assert len(seen) == 3
    assert answer.status == Status.STOPPED_BY_CALLBACK
    assert all(np.linalg.norm(one) < 10 * np.linalg.norm(x) for one in seen)  # in the units of x


@named(ALL)
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_a_callback_counts_upwards_and_changes_nothing(solver, noise):
    A, _, y = drawn(nonzeros=20, m=50)
    y = noisy(y, noise)
    counts = []

    def spoil(k, x):
        counts.append(k)
        x[:] = np.nan  # a copy

    watched, alone = solved(solver, A, y, noise=noise, callback=spoil), solved(solver, A, y, noise=noise)
    assert counts[0] >= 1
    assert counts == sorted(set(counts))
    assert counts[-1] == watched.nit
    assert np.array_equal(watched.x, alone.x)
    assert (watched.status, watched.nit, watched.nfev) == (alone.status, alone.nit, alone.nfev)


@named(ALL)
def test_every_solver_can_be_stopped_at_its_first_iterate(solver):
    A, _, y = drawn()
    for noise in (0.0, 0.05):
        answer = solved(solver, A, y, noise=noise, callback=lambda *_: True)
        assert answer.status == Status.STOPPED_BY_CALLBACK
        assert not answer.success
        assert np.isfinite(answer.x).all()


@named([OMP(), LARS(), IRLS(), SBL()])
def test_iterates_come_one_by_one(solver):
    A, _, y = drawn()
    counts = []
    answer = solved(solver, A, y, callback=lambda k, _: counts.append(k))
    assert counts == list(range(1, answer.nit + 1))
