"""The laws of the baselines: results explain y, capabilities are as declared, and callbacks and options work."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from scipy.optimize import linprog, minimize
from scipy.sparse.linalg import aslinearoperator
from threadpoolctl import threadpool_limits

from sparsegauge._arrays import equations
from sparsegauge.errors import InvalidInput
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
from sparsegauge.simulate import gaussian_matrix, sparse_signal

SPARSE = [
    BasisPursuit(),
    ReweightedL1(),
    DantzigSelector(),
    OMP(),
    Lasso(),
    LARS(),
    IRLS(),
    IRLS(p=0.0),
    SL0(),
    SBL(),
]
ALL = [MinimumNorm(), *SPARSE]
ANY_BOUNDS = [solver for solver in ALL if solver.supports.bounds == "any"]
NON_NEGATIVE = [solver for solver in ALL if solver.supports.bounds in ("any", "x >= 0")]
NO_BOUNDS = [solver for solver in ALL if solver.supports.bounds == "none"]
COMPLEX = [solver for solver in ALL if solver.supports.complex]
REAL_ONLY = [solver for solver in ALL if not solver.supports.complex]
MATRIX_FREE = [solver for solver in ALL if solver.supports.operators]
MATRIX_ONLY = [solver for solver in ALL if not solver.supports.operators]
SIGNALS = [
    ("binomial", "natural"),
    ("binomial", "random"),
    ("uniform", "natural"),
    ("normal", "natural"),
    ("exponential", "natural"),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The systems are small: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def name_of(solver):
    changed = [f"{value}" for key, value in vars(solver).items() if value != getattr(type(solver), key)]
    return "-".join([type(solver).__name__, *changed])


def named(solvers):
    return pytest.mark.parametrize("solver", solvers, ids=name_of)


def drawn(distribution="normal", signs="natural", *, n=100, nonzeros=8, m=60, seed=0):
    """A, x and y = A x."""
    rng = np.random.default_rng([seed, n, nonzeros, m])
    x = sparse_signal(n, nonzeros, distribution, signs=signs, rng=rng)
    A = gaussian_matrix(m, n, rng=rng)
    return A, x, A @ x


def drawn_complex(seed=0, m=40):
    rng = np.random.default_rng(seed)
    A = gaussian_matrix(m, 100, rng=rng) + 1j * gaussian_matrix(m, 100, rng=rng)
    x = sparse_signal(100, 8, rng=rng) * np.exp(2j * np.pi * rng.random(100))
    return A, x, A @ x


def solved(solver, A, y, *, callback=None, **options):
    return solver.solve(Problem.of(A, y, **options), np.random.default_rng(0), callback)


def noisy(y, deviation, seed=1):
    return y + deviation * np.random.default_rng(seed).standard_normal(len(y))


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
