"""No certificate is false: systems that are made to deceive, and small ones where wrong sparse fits abound."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.sparse

import sparsegauge as sg
from sparsegauge.recovery.exact_search import find_exact
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.uniqueness import judge_uniqueness

M, N = 8, 12


def normal(rng, m=None, n=None):
    return rng.standard_normal((m or M, n or N))


def some_rows(matrix, rng):
    return matrix[np.sort(rng.choice(len(matrix), M, replace=False))]


def with_a_sum(rng, terms):
    """One column is the sum of a few others."""
    A = normal(rng)
    A[:, terms] = A[:, :terms].sum(axis=1)
    return A


def twice(rng, factors):
    half = normal(rng, n=N // 2)
    return np.hstack([half, half * factors])


def unit_columns(A):
    return A / np.linalg.norm(A, axis=0)


STRUCTURED = {
    "signs": lambda rng: rng.choice([-1.0, 1.0], (M, N)),
    "signs, scaled": lambda rng: rng.choice([-1.0, 1.0], (M, N)) * normal(rng, n=1) * normal(rng, m=1),
    "zeros and ones": lambda rng: rng.choice([0.0, 1.0], (M, N)),
    "integers": lambda rng: rng.integers(-9, 10, (M, N)),
    "rounded": lambda rng: np.round(normal(rng), 1),
    "duplicate columns": lambda rng: twice(rng, np.ones(N // 2)),
    "parallel columns": lambda rng: twice(rng, rng.standard_normal(N // 2)),
    "a zero column": lambda rng: np.where(np.arange(N) == 3, 0.0, normal(rng)),
    "partial DCT": lambda rng: some_rows(scipy.fft.dct(np.eye(N), norm="ortho", axis=0), rng),
    "partial DCT, scaled": lambda rng: unit_columns(some_rows(scipy.fft.dct(np.eye(N), norm="ortho", axis=0), rng)),
    "partial Fourier": lambda rng: some_rows(np.fft.fft(np.eye(N)), rng),
    "Toeplitz": lambda rng: scipy.linalg.toeplitz(rng.standard_normal(M), rng.standard_normal(N)),
    "circulant": lambda rng: some_rows(scipy.linalg.circulant(rng.standard_normal(N)), rng),
    "circulant, scaled": lambda rng: unit_columns(scipy.linalg.circulant(rng.standard_normal(N))[:M]),
    "blocks": lambda rng: scipy.linalg.block_diag(normal(rng, 4, 6), normal(rng, 4, 6)),
    "small blocks": lambda rng: scipy.linalg.block_diag(normal(rng, 3, 4), normal(rng, 3, 4), normal(rng, 2, 4)),
    "Vandermonde": lambda rng: np.vander(rng.uniform(-1, 1, N), M).T,
    "Vandermonde, whole": lambda rng: np.vander(np.arange(N) - 5.5, M).T,
    "Kronecker": lambda rng: np.kron(normal(rng, 2, 3), normal(rng, 4, 4)),
    "Kronecker, shuffled": lambda rng: np.kron(normal(rng, 2, 3), normal(rng, 4, 4))[rng.permutation(M)],
}
DEPENDENT = {f"a sum of {k}": lambda rng, k=k: with_a_sum(rng, k) for k in (2, 3, 4, 5)}
GENERIC = {
    "Gaussian": normal,
    "complex Gaussian": lambda rng: normal(rng) + 1j * normal(rng),
    "uniform": lambda rng: rng.uniform(0, 1, (M, N)),
    "of low rank": lambda rng: normal(rng, 10, M) @ normal(rng, M, N),
    "with dependent rows": lambda rng: np.vstack([B := normal(rng), B[0] + B[1], 2 * B[2]]),
}
FALSE_WITHOUT_CHECKS = {  # where wrong exact fits are so many that a test cannot be vacuous
    *("signs", "signs, scaled", "zeros and ones", "duplicate columns", "parallel columns", "a zero column"),
    *("partial DCT", "partial Fourier", "blocks", "small blocks", "Kronecker", "Kronecker, shuffled", *DEPENDENT),
}


def signals(rng, nonzeros):
    """Equal magnitudes, signs, small whole numbers, anything; on random columns and on the first ones."""
    values = [np.ones(nonzeros), rng.choice([-1.0, 1.0], nonzeros), rng.choice([1.0, 2.0, 3.0], nonzeros)]
    for value in (*values, rng.standard_normal(nonzeros)):
        for support in (rng.choice(N, nonzeros, replace=False), np.arange(nonzeros)):
            x = np.zeros(N)
            x[support] = value
            yield x


def problems(draw, seeds, sizes=(2, 4, 6)):
    for seed in range(seeds):
        rng = np.random.default_rng([seed, 7])
        A = draw(rng)
        for nonzeros in sizes:
            for x in signals(rng, nonzeros):
                if np.linalg.norm(A @ x) > 1e-9:
                    yield rng, A, x


def is_right(found, x):
    return np.linalg.norm(found - x) < 1e-6 * np.linalg.norm(x)


def fit_on(A, y, support):
    x = np.zeros(A.shape[1], np.result_type(A, y))
    x[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return x


def is_certified(A, y, x, **options):
    return judge_uniqueness(Problem.of(A, y), x, **options)[0] is not None


def exact_fits(draw, seeds=8):
    """Exact sparse solutions, right and wrong: the search around guesses, bad ones and some that are nearly right."""
    for rng, A, x in problems(draw, seeds):
        problem = Problem.of(A, A @ x)
        for likely in (rng.random(N), np.abs(x) * (rng.random(N) < 0.6) + 0.1 * rng.random(N)):
            found = find_exact(problem, likely)
            if found is not None:
                yield judge_uniqueness(problem, found)[0] is not None, is_right(found, x)


@pytest.mark.parametrize("kind", [*STRUCTURED, *DEPENDENT])
def test_no_wrong_fit_is_certified(kind):
    fits = list(exact_fits((STRUCTURED | DEPENDENT)[kind]))
    assert len(fits) > 100
    assert not any(certified and not right for certified, right in fits)
    if kind in FALSE_WITHOUT_CHECKS:
        assert sum(not right for _, right in fits) >= 5


@pytest.mark.parametrize("kind", GENERIC)
def test_generic_matrices_are_certified_and_rightly(kind):
    fits = list(exact_fits(GENERIC[kind]))
    assert len(fits) > 200
    assert all(certified and right for certified, right in fits)


@pytest.mark.parametrize("kind", STRUCTURED)
def test_structure_is_seen_whatever_the_size(kind, monkeypatch):
    """And the reason says what it is."""
    of_one_size = kind.startswith(("Kronecker", "blocks", "small blocks", "Vandermonde"))
    for m, n in [(M, N)] if of_one_size else [(M, N), (32, 60)]:
        monkeypatch.setattr(f"{__name__}.M", m)
        monkeypatch.setattr(f"{__name__}.N", n)
        rng = np.random.default_rng(0)
        A = STRUCTURED[kind](rng)
        x = sg.sparse_signal(n, 3, rng=rng)
        certificate, reason = judge_uniqueness(Problem.of(A, A @ x), x)
        assert certificate is None
        assert any(word in reason for word in ("structured", "depend", "combination", "is zero"))


def gaussian_problem(rng, m, n, nonzeros, kind="normal"):
    return rng.standard_normal((m, n)), sg.sparse_signal(n, nonzeros, kind, signs="random", rng=rng)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("length", [3e-10, 3e-9, 3e-8, 3e-7])
def test_a_coefficient_of_a_short_column_is_not_lost_unseen(length, seed):
    """The fit without that column may be exact to 1e-9; the fit with it is right, and certified where y shows it."""
    rng = np.random.default_rng([seed, 20])
    A, x = gaussian_problem(rng, 30, 60, 5)
    support = np.flatnonzero(x)
    A[:, support[0]] *= length
    x[support[0]] = 1.0
    assert not is_certified(A, A @ x, fit_on(A, A @ x, support[1:]))
    if length >= 3e-8:
        assert is_certified(A, A @ x, fit_on(A, A @ x, support))


@pytest.mark.parametrize(("m", "n"), [(30, 60), (10, 50), (45, 250)])
@pytest.mark.parametrize("apart", [0.0, 1e-10, 1e-9])
@pytest.mark.parametrize("terms", [2, 3, 5, 7])
def test_what_stands_in_for_dependent_columns_is_refused(m, n, apart, terms):
    """A column is the sum of others, nearly or exactly, and x0 = 1 on these, or on all of them but one."""
    for seed in range(4):
        rng = np.random.default_rng([seed, terms, 21])
        A, x = gaussian_problem(rng, m, n, 2)
        total, *others = rng.choice(np.flatnonzero(x == 0), terms + 1, replace=False)
        A[:, total] = A[:, others].sum(axis=1)
        A[:, total] += apart * rng.standard_normal(m)
        for values in (np.ones(terms), np.append(np.ones(terms - 1), 0.0)):
            x[others] = values
            support = np.flatnonzero(np.where(np.isin(np.arange(n), others), x - 1, x) * (np.arange(n) != total))
            wrong = fit_on(A, A @ x, np.append(support, total))
            if Problem.of(A, A @ x).residual(wrong) <= 1e-9 * np.linalg.norm(A @ x):
                assert not is_certified(A, A @ x, wrong)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize(("m", "n", "terms"), [(25, 60, 10), (40, 100, 10), (30, 60, 20), (40, 100, 20), (26, 110, 20)])
def test_a_total_does_not_stand_in_for_its_terms(m, n, terms, unit):
    """y is one column of A, perhaps scaled, and x0 = 1 on ten or twenty others: the 1-sparse solution is wrong."""
    for seed in range(2):
        rng = np.random.default_rng([seed, terms, 22])
        A = rng.standard_normal((m, n))
        A = unit_columns(A) if unit else A
        total, *others = rng.choice(n, terms + 1, replace=False)
        y = A[:, others].sum(axis=1)
        A[:, total] = y / np.linalg.norm(y) if unit else y
        assert not is_certified(A, y, fit_on(A, y, [total]))


def chance_fit(A, y, likely, rng):
    """Return the best fit on M - 2 columns: the likely ones, some at random, and any three others."""
    m, n = A.shape
    others = rng.permutation(np.setdiff1d(np.arange(n), likely))
    spare = m - 5 - len(likely)
    chosen, rest = np.concatenate([likely, others[:spare]]), others[spare:]
    Q = np.linalg.qr(A[:, chosen], mode="complete")[0][:, m - 5 :]
    C, left = Q.T @ A[:, rest], Q.T @ y
    triples = np.array(list(itertools.combinations(range(len(rest)), 3)))
    bases = np.linalg.qr(C[:, triples].transpose(1, 0, 2))[0]
    along = np.einsum("tds,d->ts", bases, left)
    best = triples[np.argmax(np.sum(along**2, axis=1))]
    return fit_on(A, y, np.concatenate([chosen, rest[best]]))


@pytest.mark.parametrize("noise", [1e-9, 1e-8, 1e-7, 1e-6])
def test_noise_that_is_fitted_by_chance_is_refused(noise):
    """Nobody said that y is noisy, and M - 2 columns explain it exactly: those of x0, and some that fit the noise."""
    exact = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, 23])
        A, x = gaussian_problem(rng, 16, 60, 4)
        error = rng.standard_normal(16)
        y = A @ x
        y += noise * np.linalg.norm(y) * error / np.linalg.norm(error)
        fit = chance_fit(A, y, np.flatnonzero(x), rng)
        exact += np.linalg.norm(A @ fit - y) <= 1e-9 * np.linalg.norm(y)
        assert not is_certified(A, y, fit)
    assert exact or noise > 1e-7


@pytest.mark.parametrize("kind", ["normal", "binomial"])
@pytest.mark.parametrize("factor", [1.0, -0.3])
def test_rows_that_repeat_others_are_no_structure(kind, factor):
    rng = np.random.default_rng(24)
    A, x = gaussian_problem(rng, 20, 40, 5, kind)
    A = np.vstack([A, factor * A[rng.integers(0, 20, 15)]])[rng.permutation(35)]
    assert is_certified(A, A @ x, fit_on(A, A @ x, np.flatnonzero(x)))


@pytest.mark.parametrize("kind", ["normal", "binomial", "exponential"])
@pytest.mark.parametrize(("m", "n"), [(50, 100), (20, 120), (100, 200)])
def test_the_signal_is_certified_up_to_two_nonzeros_fewer_than_equations(m, n, kind):
    for seed, nonzeros in enumerate((2, m // 4, m // 2, m - 2)):
        A, x = gaussian_problem(np.random.default_rng([seed, 25]), m, n, nonzeros, kind)
        certificate, reason = judge_uniqueness(Problem.of(A, A @ x), fit_on(A, A @ x, np.flatnonzero(x)))
        assert certificate is not None, reason
        assert reason == str(certificate)
        assert certificate.support.tolist() == np.flatnonzero(x).tolist()
        assert certificate.margin == m - nonzeros
        assert certificate.smallest_visible < 1e-8 * np.abs(x).max()
        assert certificate.chance <= 1e-6


def test_units_do_not_matter():
    """Rows and y may have any units, A and y any scale: what is certified stays so."""
    rng = np.random.default_rng(26)
    A, x = gaussian_problem(rng, 20, 40, 5)
    for rows in (np.full(20, 1e-150), 10.0 ** rng.uniform(-8, 0, 20)):
        B = rows[:, None] * A
        assert is_certified(B, B @ x, x)
    assert is_certified(A, A @ (1e100 * x), 1e100 * x)


def test_large_systems_are_searched_for_dependent_sets_on_request():
    rng = np.random.default_rng(27)
    A, x = gaussian_problem(rng, 40, 2100, 3)
    zero = np.flatnonzero(x == 0)
    A[:, zero[0]] = A[:, zero[1:6]] @ rng.standard_normal(5)
    problem = Problem.of(A, A @ x)
    certificate, _ = judge_uniqueness(problem, x)
    assert certificate is not None
    assert "check_dependence=True" in certificate.assumptions[1]
    assert judge_uniqueness(problem, x, check_dependence=True)[0] is None


def test_what_cannot_be_certified_is_said():
    rng = np.random.default_rng(28)
    A, x = gaussian_problem(rng, 12, 30, 3)
    for problem, candidate, words in (
        (Problem.of(A, A @ x, noise=0.1), x, "noisy"),
        (Problem.of(A, A @ x), 1.001 * x, "does not explain y"),
        (Problem.of(A, np.zeros(12)), 0 * x, "x is zero"),
        (Problem.of(A[:2], A[:2] @ x), x, "fewer than three"),
        (Problem.of(scipy.sparse.csr_array(A), A @ x), x, "assume_generic=True"),
    ):
        certificate, reason = judge_uniqueness(problem, candidate)
        assert certificate is None
        assert words in reason
    assert judge_uniqueness(Problem.of(scipy.sparse.csr_array(A), A @ x), x, assume_generic=True)[0] is not None


@pytest.mark.parametrize("solver", [sg.GDSReweighted(), sg.OMP(), sg.Portfolio(restarts=1, propagations=0)], ids=str)
@pytest.mark.parametrize(
    "kind", ["Gaussian", "of low rank", "signs", "partial DCT", "blocks", "Kronecker", "a zero column", *DEPENDENT]
)
def test_recover_never_certifies_what_is_wrong(kind, solver):
    certified = 0
    for rng, A, x in problems((STRUCTURED | GENERIC | DEPENDENT)[kind], 2, (3, 5)):
        found = sg.recover(A, A @ x, solver=solver, rng=rng)
        certified += found.certified
        assert not found.certified or is_right(found.x, x)
    if kind not in DEPENDENT:  # there, x of different magnitudes is certified by Theorem 2
        assert (certified > 0) == (kind in GENERIC)


@pytest.mark.parametrize("bounds", [None, (0, None)])
def test_gaussian_systems_of_all_sizes(bounds):
    """M <= K too, where hardly anything can be known."""
    solver, certified = sg.Portfolio(restarts=1, propagations=1), 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 3])
        n = int(rng.integers(12, 50))
        m, nonzeros = int(rng.integers(4, n)), int(rng.integers(1, n))
        x = np.abs(sg.sparse_signal(n, nonzeros, ["binomial", "normal"][seed % 2], rng=rng))
        A = rng.standard_normal((m, n))
        found = sg.recover(A, A @ x, solver=solver, bounds=bounds, rng=rng)
        certified += found.certified
        assert not found.certified or is_right(found.x, x)
    assert certified >= 15


def test_the_search_in_complex_systems():
    """Three members of the support may be lost, as in real ones, and no more."""
    rng = np.random.default_rng(2)
    A = normal(rng, 20, 50) + 1j * normal(rng, 20, 50)
    x = sg.sparse_signal(50, 12, rng=rng) * np.exp(2j * np.pi * rng.random(50))
    problem = Problem.of(A, A @ x)
    support = np.flatnonzero(x)
    for lost in range(5):
        likely = np.abs(x) + 1e-3 * rng.random(50)
        likely[support[:lost]] = 0.0
        found = find_exact(problem, likely)
        assert (found is not None and is_right(found, x)) == (lost <= 3)


def test_a_column_that_could_stand_in_is_named():
    rng = np.random.default_rng(0)
    A = with_a_sum(rng, 2)
    x = np.zeros(N)
    x[[0, 1, 7]] = 1.5, -0.7, 0.4
    assert "column 2 of A is a combination" in judge_uniqueness(Problem.of(A, A @ x), x)[1]
    x = np.zeros(N)
    x[[2, 7]] = 1.0, 2.0
    assert "columns 0, 1 of A depend" in judge_uniqueness(Problem.of(A, A @ x), x)[1]
    x = np.zeros(N)
    x[[5, 7]] = 1.0, 2.0
    assert "columns 0, 1, 2 of A depend" in judge_uniqueness(Problem.of(A, A @ x), x)[1]


def test_too_many_nonzeros_are_refused():
    """Whole multiples of one number too; but the reason says what speaks for them."""
    rng = np.random.default_rng(0)
    A = normal(rng)
    for values, whole in ((np.ones(M - 1), True), (rng.standard_normal(M - 1), False)):
        x = np.concatenate([values, np.zeros(N - M + 1)])
        certificate, reason = judge_uniqueness(Problem.of(A, A @ x), x)
        assert certificate is None
        assert "too many" in reason
        assert ("whole multiples" in reason) == whole


def test_a_signal_made_to_deceive_is_beyond_the_theorem():
    """x0 = x + z with z in the null space: it knows A, and no one could tell it from x: both would be certified."""
    rng = np.random.default_rng(0)
    A = normal(rng)
    columns = rng.choice(N, M + 1, replace=False)
    z = np.zeros(N)
    z[columns] = np.linalg.svd(A[:, columns])[2][-1]
    x, x0 = np.zeros(N), np.zeros(N)
    x[columns[:4]], x0[columns[4:]] = -z[columns[:4]], z[columns[4:]]
    assert np.allclose(A @ x, A @ x0)
    for one in (x, x0):
        assert is_certified(A, A @ x0, one)


def test_large_gaussian_systems_are_certified_in_seconds():
    """A million entries have neighbours that are nearly equal; and the default takes A as an operator first."""
    x = sg.sparse_signal(2000, 100, "normal", rng=0)
    A = sg.gaussian_matrix(500, 2000, rng=1)
    found = sg.recover(A, A @ x, rng=0)
    np.testing.assert_allclose(found.x, x, atol=1e-9)
    assert found.certified, found.certificate_reason
    assert found.nit < 100
