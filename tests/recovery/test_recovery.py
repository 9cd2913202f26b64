"""Recovery: laws that hold for the default solver and for our own, and what is refused."""

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsegauge as sg
from sparsegauge.recovery.exact_search import find_exact
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.status import Status

SOLVERS = [sg.Portfolio(), sg.GDSReweighted(), sg.GDSReweighted(order=10, well=0.0, floor=0.001)]
DISTRIBUTIONS = ["binomial", "uniform", "normal", "exponential"]


def system(distribution="normal", nonzeros=12, m=50, n=100, seed=0, signs="random"):
    rng = np.random.default_rng(seed)
    x = sg.sparse_signal(n, nonzeros, distribution, signs=signs, rng=rng)
    A = sg.gaussian_matrix(m, n, rng=rng)
    return A, A @ x, x


def close(x, truth, tolerance=1e-6):
    return np.linalg.norm(x - truth) <= tolerance * np.linalg.norm(truth)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_easy_problems_are_recovered_and_certified(solver, distribution):
    A, y, x = system(distribution)
    found = sg.recover(A, y, solver=solver, rng=0)
    assert found.success
    assert found.certified, found.certificate_reason
    assert close(found.x, x)
    assert found.residual <= 1e-9 * np.linalg.norm(y)


@pytest.mark.parametrize("signs", ["positive", "random"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_hard_problems_for_every_rival_are_easy_for_the_default(distribution, signs):
    A, y, x = system(distribution, nonzeros=30, m=58, seed=3, signs=signs)
    found = sg.recover(A, y, rng=0)
    assert found.certified
    assert close(found.x, x)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_the_scale_of_the_system_does_not_matter(solver):
    A, y, _ = system(seed=5)
    found = sg.recover(A, y, solver=solver, rng=0).x
    for factor in (1e-6, 3.0, 1e6):
        assert close(sg.recover(factor * A, y, solver=solver, rng=0).x * factor, found)
        assert close(sg.recover(A, factor * y, solver=solver, rng=0).x / factor, found)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_dense_sparse_and_operator_are_one(solver):
    A, y, _ = system(seed=6)
    found = sg.recover(A, y, solver=solver, rng=0).x
    for form in (scipy.sparse.csr_array(A), aslinearoperator(A), A.tolist(), np.asfortranarray(A)):
        assert close(sg.recover(form, y, solver=solver, rng=0).x, found)


def test_a_large_operator_is_never_written_out():
    rng = np.random.default_rng(0)
    x = sg.sparse_signal(4000, 40, "normal", rng=rng)
    A = scipy.sparse.coo_array(np.where(rng.random((1500, 4000)) < 0.02, rng.standard_normal((1500, 4000)), 0.0))
    found = sg.recover(aslinearoperator(A.tocsr()), A @ x, solver=sg.GDSReweighted(stages=24), rng=0)
    assert close(found.x, x, 1e-3)
    assert not found.certified
    assert "too large" in sg.recover(aslinearoperator(A.tocsr()), A @ x, rng=0).certificate_reason


def test_complex_systems():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((40, 80)) + 1j * rng.standard_normal((40, 80))
    x = sg.sparse_signal(80, 8, "normal", rng=rng) * np.exp(2j * np.pi * rng.random(80))
    assert close(sg.recover(A, A @ x, solver=sg.GDSReweighted(), rng=0).x, x, 1e-4)
    assert close(sg.recover(A, A @ x, rng=0).x, x, 1e-4)


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_the_same_seed_gives_the_same_result(solver):
    A, y, _ = system("binomial", nonzeros=35, m=50, seed=9)
    one, two = (sg.recover(A, y, solver=solver, rng=4) for _ in range(2))
    assert np.array_equal(one.x, two.x)
    assert (one.nit, one.certified) == (two.nit, two.certified)


def test_nothing_of_the_caller_is_changed():
    A, y, _ = system(seed=2)
    kept = A.copy(), y.copy()
    sg.recover(A, y, rng=0)
    assert np.array_equal(A, kept[0])
    assert np.array_equal(y, kept[1])


@pytest.mark.parametrize("bounds", [(0, None), (0, 1)])
def test_bounds_are_kept_and_help(bounds):
    A, y, x = system("binomial", nonzeros=45, m=60, seed=1, signs="positive")
    found = sg.recover(A, y, bounds=bounds, rng=0)
    assert close(found.x, x)
    assert found.x.min() >= -1e-9
    one = sg.recover(A, y, bounds=bounds, solver=sg.GDSReweighted(), rng=0).x
    assert one.min() >= -1e-6


def test_noise():
    A, y, x = system("normal", nonzeros=10, seed=3)
    sigma = 0.05
    noisy = y + sigma * np.random.default_rng(0).standard_normal(len(y))
    for solver in (sg.Portfolio(), sg.GDSReweighted()):
        found = sg.recover(A, noisy, noise=sigma, solver=solver, rng=0)
        assert found.residual <= sigma * np.sqrt(len(y) + 2 * np.sqrt(2 * len(y))) * 1.01
        assert np.linalg.norm(found.x - x) < 0.15 * np.linalg.norm(x)
        assert not found.certified
        assert "noisy" in found.certificate_reason


# ---- degenerate systems are solved, with a status that says so


def test_as_many_equations_as_unknowns():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 20))
    x = rng.standard_normal(20)
    found = sg.recover(A, A @ x)
    assert found.status == Status.DETERMINED
    assert close(found.x, x)


def test_a_rank_deficient_matrix():
    A, y, x = system(m=40, nonzeros=8)
    found = sg.recover(np.vstack([A, A[:5] + A[5:10]]), np.append(y, y[:5] + y[5:10]), rng=0)
    assert found.success
    assert close(found.x, x)


def test_an_inconsistent_system():
    """Two measurements of the same sum differ: noise, unless y is said to be exact."""
    A, y, x = system(m=40, nonzeros=8)
    A, y = np.vstack([A, A[0]]), np.append(y, y[0] + 1.0)
    noisy = sg.recover(A, y, rng=0)
    assert (noisy.status, noisy.success) == (Status.CONVERGED, True)
    assert 0.05 < noisy.noise < 0.5  # two errors of 1/2 among 41 measurements: 0.11
    assert close(noisy.x, x, 0.1)
    exact = sg.recover(A, y, noise=0, rng=0)
    assert exact.status == Status.INCONSISTENT
    assert exact.residual == pytest.approx(np.sqrt(0.5))
    assert not exact.certified
    assert "no exact" in exact.certificate_reason


def test_zero_measurements():
    found = sg.recover(np.ones((2, 5)), np.zeros(2))
    assert found.status == Status.NO_SIGNAL
    assert not found.x.any()


@pytest.mark.parametrize(
    ("match", "A", "y", "options"),
    [
        ("two-dimensional", np.ones(5), [1.0], {}),
        ("3 entries", np.ones((3, 5)), [1.0], {}),
        ("one column per signal", np.ones((3, 5)), np.ones((3, 1, 1)), {}),
        ("NaN", np.full((3, 5), np.nan), np.ones(3), {}),
        ("NaN", np.ones((3, 5)), [1, np.inf, 1], {}),
        ("at least one row", np.ones((0, 5)), [], {}),
        ("numbers", [["a", "b"]], [1.0], {}),
        ("pair", np.ones((3, 5)), np.ones(3), {"bounds": 0}),
        ("exceed", np.ones((3, 5)), np.ones(3), {"bounds": (1, 0)}),
        ("noise", np.ones((3, 5)), np.ones(3), {"noise": -1}),
        ("x0", np.ones((3, 5)), np.ones(3), {"x0": [1.0]}),
        ("solver", np.ones((3, 5)), np.ones(3), {"solver": "lasso"}),
        ("rng", np.ones((3, 5)), np.ones(3), {"rng": "seed"}),
    ],
)
def test_bad_systems_get_a_reason(match, A, y, options):
    with pytest.raises(sg.InvalidInput, match=match):
        sg.recover(A, y, **options)


# ---- certificates


def test_no_certificate_for_matrices_that_look_discrete_or_structured():
    rng = np.random.default_rng(0)
    x = sg.sparse_signal(60, 6, "normal", rng=rng)
    gaussian = rng.standard_normal((30, 60))
    duplicated = gaussian.copy()
    duplicated[:, 7] = -2 * duplicated[:, 3]
    cases = {
        "the same magnitude": rng.choice([-1.0, 1.0], (30, 60)),
        "depend on each other": duplicated,
        "sparse array or an operator": scipy.sparse.csr_array(gaussian),
    }
    for reason, A in cases.items():
        found = sg.recover(A, A @ x, rng=0)
        assert not found.certified
        assert reason in found.certificate_reason
    vouched = sg.recover(
        cases["sparse array or an operator"], gaussian @ x, solver=sg.Portfolio(assume_generic=True), rng=0
    )
    assert vouched.certified


@pytest.mark.parametrize("solver", [sg.GDSReweighted(), sg.Portfolio(restarts=0, propagations=1)], ids=["one", "many"])
@pytest.mark.parametrize("noise", ["auto", 0])
def test_bounds_are_kept_where_no_sparse_solution_does(solver, noise):
    """y is noisy and x is dense: what fits y exactly would leave the bounds."""
    rng = np.random.default_rng(0)
    A = np.abs(system("uniform", nonzeros=6, m=20, n=40, seed=3)[0])
    y = A @ np.abs(rng.standard_normal(40)) + 0.1 * rng.standard_normal(20)
    found = sg.recover(A, y, solver=solver, noise=noise, bounds=(0, None), rng=0)
    assert found.x.min() >= 0
    assert found.residual == pytest.approx(np.linalg.norm(A @ found.x - y), abs=1e-12 * np.linalg.norm(y))
    if noise == 0:
        assert found.residual <= 1e-6 * np.linalg.norm(y)
        assert (found.status == Status.INEXACT) == isinstance(solver, sg.Portfolio)
        assert found.success == (found.status != Status.INEXACT)
    else:
        assert found.status in (Status.CONVERGED, Status.NOT_SPARSE)
        assert found.success == (found.status == Status.CONVERGED)


@pytest.mark.parametrize("signs", ["random", "positive"])
def test_what_is_not_sparse_is_not_called_a_success(signs):
    """As many non-zeros as unknowns, and twice as many as measurements: no sparse x explains y."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        A, x = rng.standard_normal((20, 40)), rng.standard_normal(40)
        if signs == "positive":
            A, x = np.abs(A), np.abs(x)
        solver = sg.Portfolio(restarts=1, propagations=1)
        found = sg.recover(A, A @ x, solver=solver, rng=0)
        assert (found.status, found.success) == (Status.NOT_SPARSE, False)
        exact = sg.recover(A, A @ x, solver=solver, noise=0, rng=0)
        assert (exact.status, exact.success) == (Status.INEXACT, False)
        assert exact.residual <= 1.001e-9 * np.linalg.norm(A @ x)


def test_no_false_certificate_where_there_is_too_little_to_know():
    """M <= K: a certificate would be wrong, whatever it says."""
    for seed in range(40):
        A, y, _ = system("binomial", nonzeros=20, m=16, n=40, seed=seed)
        assert not sg.recover(A, y, solver=sg.Portfolio(restarts=2, propagations=1), rng=0).certified


def test_the_search_finds_a_support_that_is_nearly_right():
    A, y, x = system(nonzeros=20, m=40, seed=8)
    problem = Problem.of(A, y)
    likely = np.abs(x) + 1e-3 * np.random.default_rng(0).random(100)
    lost = np.flatnonzero(x)[:3]
    likely[lost] = 0.0
    assert close(find_exact(problem, likely), x)
    likely[np.flatnonzero(x)[3]] = 0.0
    assert find_exact(problem, likely) is None


# ---- signals and matrices


def test_sparse_signals():
    for distribution in DISTRIBUTIONS:
        x = sg.sparse_signal(200, 50, distribution, rng=1)
        assert np.count_nonzero(x) == 50
        assert (sg.sparse_signal(200, 50, distribution, signs="positive", rng=1) >= 0).all()
        assert np.array_equal(x, sg.sparse_signal(200, 50, distribution, rng=1))
    assert set(np.unique(sg.sparse_signal(50, 40, "binomial", signs="random", rng=0))) == {-1.0, 0.0, 1.0}
    with pytest.raises(sg.InvalidInput, match="at most n = 5"):
        sg.sparse_signal(5, 6, rng=0)
    with pytest.raises(sg.InvalidInput, match="distribution"):
        sg.sparse_signal(5, 2, "cauchy")
    with pytest.raises(sg.InvalidInput, match="whole number"):
        sg.gaussian_matrix(0, 3)


@parametrize_with_checks([sg.SparseRecovery()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("order", [8, 10])
@pytest.mark.parametrize("noise_db", [np.inf, 50.0])
def test_wells_that_run_away_are_called_back(noise_db, order):
    """At high orders each step may raise the common level, and with it the largest coefficients."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = sg.sparse_signal(100, 10, "normal", rng=rng)
        A = sg.gaussian_matrix(60, 100, rng=rng)
        noise = np.linalg.norm(A @ x) / np.sqrt(60) * 10 ** (-noise_db / 20)
        problem = Problem.of(A, A @ x + noise * rng.standard_normal(60), noise=noise)
        found = sg.GDSReweighted(order=order).solve(problem, np.random.default_rng(0))
        assert np.linalg.norm(found.x) <= 10 * np.linalg.norm(x)
        if noise > 0:
            assert close(found.x, x, 0.01)
        if found.status == Status.DIVERGED:
            assert not found.success
            assert "`order`" in found.message  # says what to change
            np.testing.assert_allclose(found.x, problem.start())
