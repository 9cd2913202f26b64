"""Signals that share one support: found, estimated under noise, certified, and refused where the input is bad."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.fft

import sparsegauge as sg
from sparsegauge.recovery.joint_uniqueness import chance_of_joint_fit, judge_joint_uniqueness
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.uniqueness import MOST_CHANCE


def draw(seed: int, M: int, N: int, K: int, L: int, kind: str = "normal") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, M, N, K, L])
    A = rng.standard_normal((M, N))
    X = np.zeros((N, L))
    rows = rng.choice(N, K, replace=False)
    if kind == "rank 1":
        X[rows] = rng.standard_normal((K, 1)) * rng.standard_normal(L)
    elif kind == "rank 2":
        X[rows] = rng.standard_normal((K, 2)) @ rng.standard_normal((2, L))
    elif kind == "signs":
        X[rows] = rng.choice([-1.0, 1.0], (K, L))
    elif kind == "positive":
        X[rows] = rng.random((K, L))
    elif kind == "correlated":
        X[rows] = rng.standard_normal((K, 1)) + 0.1 * rng.standard_normal((K, L))
    elif kind == "complex":
        A = A + 1j * rng.standard_normal((M, N))
        X = X.astype(complex)
        X[rows] = rng.standard_normal((K, L)) + 1j * rng.standard_normal((K, L))
    else:
        X[rows] = rng.standard_normal((K, L))
    return A, X


def rows_of(X: np.ndarray) -> list[int]:
    return np.flatnonzero(X.any(axis=1)).tolist()


@pytest.mark.parametrize(
    ("M", "K", "L", "kind", "least"),
    [
        (20, 12, 8, "normal", 20),
        (20, 19, 8, "normal", 19),
        (20, 15, 16, "normal", 20),
        (20, 12, 3, "correlated", 19),
        (20, 10, 8, "signs", 20),
        (20, 12, 3, "positive", 19),
        (20, 10, 8, "rank 2", 20),
        (20, 6, 5, "rank 1", 20),
        (12, 9, 6, "complex", 20),
    ],
)
def test_exact_signals_are_found_and_certified(M: int, K: int, L: int, kind: str, least: int) -> None:
    right = certified = 0
    for seed in range(20):
        A, X = draw(seed, M, 60, K, L, kind)
        found = sg.recover(A, A @ X, joint=True)
        is_right = np.allclose(found.x, X, atol=1e-6)
        assert is_right or not found.certified.any()
        right += is_right
        certified += found.certified.all()
        assert found.success.all() or not is_right
    assert right >= least
    assert certified >= least - 1


@pytest.mark.parametrize(("told", "decibels"), [(True, 20), (False, 20), (False, 30)])
def test_noise_comes_near_to_least_squares_on_the_support(told: bool, decibels: float) -> None:
    errors, best, noises = [], [], []
    for seed in range(15):
        A, X = draw(seed, 24, 60, 7, 6)
        rng = np.random.default_rng([seed, 1])
        sigma = float(np.sqrt(np.mean((A @ X) ** 2))) * 10 ** (-decibels / 20)
        Y = A @ X + sigma * rng.standard_normal((24, 6))
        found = sg.recover(A, Y, joint=True, noise=sigma if told else "auto")
        rows = rows_of(X)
        errors.append(np.sum((found.x - X) ** 2))
        best.append(np.sum((np.linalg.lstsq(A[:, rows], Y, rcond=None)[0] - X[rows]) ** 2))
        noises.append(found.noise[0] / sigma)
        assert not found.certified.any()
        assert found.success.all()
        assert found.inclusion is not None
        assert np.all(found.inclusion[rows_of(found.x)] > 0.5)
    assert sum(errors) < 1.3 * sum(best)
    assert 0.9 < np.mean(noises) < 1.1


def test_error_bars_cover_the_truth() -> None:
    within = []
    for seed in range(20):
        A, X = draw(seed, 24, 60, 7, 6)
        Y = A @ X + 0.3 * np.random.default_rng(seed).standard_normal((24, 6))
        found = sg.recover(A, Y, joint=True)
        assert found.std is not None
        rows = rows_of(X)
        within.append(np.abs(found.x - X)[rows] <= 1.645 * found.std[rows])
    assert 0.85 < np.mean(within) < 0.95


def test_noise_without_a_signal_is_not_a_success() -> None:
    rng = np.random.default_rng(3)
    found = sg.recover(rng.standard_normal((20, 60)), rng.standard_normal((20, 4)), joint=True)
    assert not found.success.any()
    assert found[0].status == sg.Status.NOT_SPARSE


def test_exact_measurements_of_a_dense_signal_are_inexact() -> None:
    A, X = draw(0, 20, 60, 50, 4)
    found = sg.recover(A, A @ X, joint=True, noise=0)
    assert not found.success.any()
    assert not found.certified.any()
    assert (found.status == sg.Status.INEXACT).all()


def test_bounds_hold() -> None:
    A, X = draw(1, 20, 60, 8, 5, "positive")
    exact = sg.recover(A, A @ X, joint=True, bounds=(0, None))
    assert np.allclose(exact.x, X)
    assert (exact.x >= 0).all()
    noisy = sg.recover(
        A, A @ X + 0.05 * np.random.default_rng(0).standard_normal((20, 5)), joint=True, bounds=(0, None)
    )
    assert (noisy.x >= 0).all()
    assert np.abs(noisy.x - X).max() < 0.2
    with pytest.raises(sg.InvalidInput, match="bounds that allow 0"):
        sg.recover(A, A @ X, joint=True, bounds=(0.5, 1))


def test_the_same_in_other_units_and_with_zero_columns() -> None:
    A, X = draw(2, 20, 60, 8, 4)
    X[:, 2] = 0.0
    found = sg.recover(A, A @ X, joint=True)
    assert np.allclose(found.x, X)
    large = sg.recover(A * 1e200, A @ X * 1e-100, joint=True)
    assert np.allclose(large.x * 1e300, X)
    nothing = sg.recover(A, np.zeros((20, 3)), joint=True)
    assert not nothing.x.any()
    assert (nothing.status == sg.Status.NO_SIGNAL).all()


def test_rows_of_very_different_lengths() -> None:
    A, X = draw(4, 20, 60, 8, 4)
    A *= 10.0 ** np.linspace(-6, 0, 20)[:, None]
    assert np.allclose(sg.recover(A, A @ X, joint=True).x, X)


def test_one_signal_is_the_ordinary_problem() -> None:
    A, X = draw(5, 30, 60, 8, 1)
    assert sg.recover(A, A @ X, joint=True)[0] == sg.recover(A, (A @ X)[:, 0])
    assert sg.recover(A, (A @ X)[:, 0], joint=True).certified


def test_full_rank_certifies_a_structured_matrix() -> None:
    """Theorem 3: a DCT gets no certificate by one signal, but does where signals fill the span of their columns."""
    rng = np.random.default_rng(0)
    A = scipy.fft.dct(np.eye(50), norm="ortho")[rng.choice(50, 20, replace=False)]
    X = np.zeros((50, 8))
    X[rng.choice(50, 5, replace=False)] = rng.standard_normal((5, 8))
    found = sg.recover(A, A @ X, joint=True)
    assert found.certified.all()
    assert "fill the span" in found[0].certificate_reason
    assert not sg.recover(A, (A @ X)[:, :3], joint=True).certified.any()


def test_chance_falls_with_the_rank() -> None:
    """One equation to spare: too few for one signal, enough for eight."""
    A, X = draw(6, 20, 60, 19, 8)
    chances = []
    for rank in (1, 8):
        Z = X[:, :rank]
        problem = Problem.of(A, A @ Z[:, 0])
        chances.append(chance_of_joint_fit(problem, A @ Z, Z, np.flatnonzero(X.any(axis=1))))
    assert chances[0] > MOST_CHANCE > chances[1] > 0


@pytest.mark.parametrize("trick", ["duplicated", "sum of others", "tiny column", "tiny noise"])
def test_deceptive_problems_get_no_false_certificate(trick: str) -> None:
    for seed in range(15):
        A, X = draw(seed, 16, 40, 5, 4)
        rows, rng = rows_of(X), np.random.default_rng([seed, 2])
        outside = np.setdiff1d(np.arange(40), rows)[0]
        if trick == "duplicated":
            A[:, outside] = A[:, rows[0]]
        elif trick == "sum of others":
            X[rows[:3]] = X[rows[0]]
            A[:, outside] = A[:, rows[:3]].sum(axis=1)
        elif trick == "tiny column":
            A[:, rows[0]] *= 1e-12
        Y = A @ X + (1e-9 * rng.standard_normal((16, 4)) if trick == "tiny noise" else 0.0)
        found = sg.recover(A, Y, joint=True)
        is_right = np.all(np.abs(found.x - X).max(axis=0) <= 1e-6 * np.abs(X).max(axis=0))
        assert is_right or not found.certified.any()


def test_the_judge_refuses_what_is_not_exact_or_not_sparse() -> None:
    A, X = draw(7, 10, 30, 4, 3)
    problem = Problem.of(A, (A @ X)[:, 0])
    for Z, reason in ((X + 1e-3 * (X != 0), "exactly"), (np.zeros_like(X), "zero")):
        certificate, said = judge_joint_uniqueness(problem, A @ X, Z)
        assert certificate is None
        assert reason in said
    dense = np.linalg.lstsq(A, A @ X, rcond=None)[0]
    assert "too many" in judge_joint_uniqueness(problem, A @ X, dense)[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solver": sg.BasisPursuit()}, "a solver of their own"),
        ({"callback": lambda k, x: None}, "do not use callback"),
        ({"x0": np.zeros(60)}, "do not use x0"),
        ({"joint": "yes"}, "True or False"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    A, X = draw(8, 20, 60, 4, 3)
    with pytest.raises(sg.InvalidInput, match=message):
        sg.recover(A, A @ X, **({"joint": True} | options))
