"""No certificate is false: small systems where wrong sparse fits abound, A of every structure we could think of."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft
import scipy.linalg

import sparsegauge as sg
from sparsegauge.recovery import certificate
from sparsegauge.recovery.problem import Problem

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


def exact_fits(draw, seeds=8):
    """Exact sparse solutions, right and wrong: the search around guesses, bad ones and some that are nearly right."""
    for rng, A, x in problems(draw, seeds):
        problem = Problem.of(A, A @ x)
        objection = certificate.objection(problem, False)
        for likely in (rng.random(N), np.abs(x) * (rng.random(N) < 0.6) + 0.1 * rng.random(N)):
            found = certificate.certify(problem, likely, rng)
            if found is not None:
                yield certificate.verdict(problem, found, objection)[0], is_right(found, x)


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
    """`recover` refuses, and says why."""
    of_one_size = kind.startswith(("Kronecker", "blocks", "small blocks", "Vandermonde"))
    for m, n in [(M, N)] if of_one_size else [(M, N), (32, 60)]:
        monkeypatch.setattr(f"{__name__}.M", m)
        monkeypatch.setattr(f"{__name__}.N", n)
        rng = np.random.default_rng(0)
        A = STRUCTURED[kind](rng)
        found = sg.recover(A, A @ sg.sparse_signal(n, 3, rng=rng), solver=sg.MinimumNorm())
        assert not found.certified
        assert any(word in found.certificate_reason for word in ("structured", "parallel", "is zero"))


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
        found = certificate.certify(problem, likely, rng)
        assert (found is not None and is_right(found, x)) == (lost <= 3)


def test_a_column_that_could_stand_in_is_named():
    rng = np.random.default_rng(0)
    A = with_a_sum(rng, 2)
    x = np.zeros(N)
    x[[0, 1, 7]] = 1.5, -0.7, 0.4
    assert "column 2 of A is a combination" in certificate.ambiguity(Problem.of(A, A @ x), x)
    x = np.zeros(N)
    x[[2, 7]] = 1.0, 2.0
    assert "columns 0, 1 of A depend" in certificate.ambiguity(Problem.of(A, A @ x), x)
    x = np.zeros(N)
    x[[5, 7]] = 1.0, 2.0
    assert "columns 0, 1, 2 of A depend" in certificate.ambiguity(Problem.of(A, A @ x), x)


def test_too_many_nonzeros_are_refused():
    """Whole multiples of one number too; but the reason says what speaks for them."""
    rng = np.random.default_rng(0)
    A = normal(rng)
    for values, whole in ((np.ones(M - 1), True), (rng.standard_normal(M - 1), False)):
        x = np.concatenate([values, np.zeros(N - M + 1)])
        certified, reason = certificate.verdict(Problem.of(A, A @ x), x, "")
        assert not certified
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
    problem = Problem.of(A, A @ x0)
    assert not certificate.objection(problem, False)
    for one in (x, x0):
        assert certificate.accepted(problem, one)
        assert certificate.verdict(problem, one, "")[0]


def test_large_gaussian_systems_are_certified_in_seconds():
    """A million entries have neighbours that are nearly equal; and the default takes A as an operator first."""
    x = sg.sparse_signal(2000, 100, "normal", rng=0)
    A = sg.gaussian_matrix(500, 2000, rng=1)
    found = sg.recover(A, A @ x, rng=0)
    np.testing.assert_allclose(found.x, x, atol=1e-9)
    assert found.certified, found.certificate_reason
    assert found.nit < 100
