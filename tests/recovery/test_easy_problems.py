"""Easy problems: the kernels against slow twins, what the pursuit knows of other columns, what it leaves to others."""

import itertools
from importlib import import_module

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge import _compiled
from sparsegauge._compiled import recover as kernels
from sparsegauge.recovery import easy_problems
from sparsegauge.recovery.complex_pursuit import choose_columns
from sparsegauge.recovery.plain_solutions import certify
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.structure import describe_structure


def draw(m, n, k, kind="normal", seed=0):
    rng = np.random.default_rng([seed, m, n])
    A = rng.standard_normal((m, n)) * rng.uniform(0.5, 2, n)
    return A, sg.sparse_signal(n, k, kind, signs="random", rng=rng)


def greedy(A, y, steps):
    """Orthogonal least squares, as in its definition: always the column with which least squares leaves the least."""
    chosen = []
    for _ in range(steps):
        left = {
            j: np.linalg.norm(y - A[:, [*chosen, j]] @ np.linalg.lstsq(A[:, [*chosen, j]], y, rcond=None)[0])
            for j in range(A.shape[1])
            if j not in chosen
        }
        chosen.append(min(left, key=left.get))
    return chosen


def run_kernel(module, A, y, most, enough=0.0, sketches=9):
    unit = np.ascontiguousarray(A.T / np.linalg.norm(A, axis=0)[:, None])
    sketch = np.random.default_rng(0).standard_normal((sketches, len(y))) @ unit.T
    chosen, (x, distance) = np.empty(most, np.int64), np.empty((2, most))
    out = np.empty(A.shape[1]), np.empty((sketches, A.shape[1]))
    room = module.PursuitRoom(len(y), chosen, x, distance, *out)
    count = module.pursue(unit @ unit.T, unit @ y, np.ones(A.shape[1]), sketch, float(y @ y), enough, 0.0, room)
    residual = module.fit_chosen(np.ascontiguousarray(unit[chosen]), y, room)
    module.write_distances(np.empty((most, most)), room)
    return count, chosen, x, distance, *out, residual


@pytest.mark.parametrize("seed", range(5))
def test_the_kernel_chooses_as_its_twin_and_knows_all_distances(seed):
    A, _ = draw(12, 30, 3, seed=seed)
    y = np.random.default_rng(seed).standard_normal(12)
    count, chosen, x, distance, square, sketch, residual = run_kernel(kernels, A, y, 6)
    assert count == -1  # never explained
    assert chosen.tolist() == greedy(A, y, 6)
    unit = A / np.linalg.norm(A, axis=0)
    best = np.linalg.lstsq(unit[:, chosen], y, rcond=None)[0]
    np.testing.assert_allclose(x, best, rtol=1e-12)
    assert residual == pytest.approx(np.linalg.norm(y - unit[:, chosen] @ best), rel=1e-12)
    Q = np.linalg.qr(unit[:, chosen])[0]
    away = unit - Q @ (Q.T @ unit)
    outside = np.setdiff1d(np.arange(30), chosen)
    np.testing.assert_allclose(square[outside], np.sum(away**2, axis=0)[outside], rtol=1e-10)
    random = np.random.default_rng(0).standard_normal((9, 12))
    np.testing.assert_allclose(sketch[:, outside], (random @ away)[:, outside], atol=1e-12)
    for i, j in enumerate(chosen):
        others = np.linalg.qr(unit[:, np.delete(chosen, i)])[0]
        assert distance[i] == pytest.approx(np.linalg.norm(unit[:, j] - others @ (others.T @ unit[:, j])), rel=1e-10)


def test_all_variants_agree_to_the_last_bit():
    A, x = draw(20, 50, 4)
    names = [name for name in _compiled.available_variants() if name != _compiled.PYTHON]
    modules = [import_module(f"sparsegauge._compiled.recover_{name}") for name in names]
    results = [run_kernel(module, A, A @ x, 8) for module in [*modules, _compiled._uncompiled()]]
    for result in results[1:]:
        for one, other in zip(result, results[0], strict=True):
            np.testing.assert_array_equal(one, other)


def naive_dependent(vectors, near):
    """The smallest number of vectors that depend on each other: 2 or 3, or 0; by all determinants of all groups."""
    groups = [vectors[g : g + 3] / np.linalg.norm(vectors[g : g + 3], axis=0) for g in range(0, len(vectors), 3)]
    n = vectors.shape[1]
    for i, j in itertools.combinations(range(n), 2):
        if all(np.linalg.norm(np.cross(g[:, i], g[:, j])) <= near for g in groups):
            return 2
    for triple in itertools.combinations(range(n), 3):
        if all(abs(np.linalg.det(g[:, triple])) <= near for g in groups):
            return 3
    return 0


@pytest.mark.parametrize("size", [3, 6, 20, 33])
@pytest.mark.parametrize("planted", [0, 2, 3])
def test_dependent_vectors_are_found_among_many(planted, size):
    found = set()
    for seed in range(10):
        rng = np.random.default_rng([seed, size])
        vectors = rng.standard_normal((9, size))
        if planted:
            a, b, c = rng.choice(size, 3, replace=False)
            vectors[:, a] = -2 * vectors[:, b] + (vectors[:, c] if planted == 3 else 0)
        places = np.arange(size)
        room = kernels.CoplanarRoom(size, 9)
        found.add(kernels.find_dependent(vectors, places, 1e-8, 1e-8, room))
        assert naive_dependent(vectors, 1e-9) == planted
    assert found == {planted}


@pytest.mark.parametrize(
    ("values", "simple"),
    [
        ([1.0, 1.0], True),
        ([0.3, -0.6], True),
        ([5.0, 7.0], True),
        ([1.0, 9.0], False),
        ([np.pi, np.e, 1.0], False),
        ([1e-3, 3.14159, 8e-3], True),
        ([1.0, 1.0 + 1e-6], False),
    ],
)
def test_simple_ratios(values, simple):
    assert kernels.has_simple_ratio(np.array(values), 8, 1e-9) == simple


@pytest.mark.parametrize("route", ["least squares", "message passing"])
@pytest.mark.parametrize(("m", "n", "k"), [(50, 100, 8), (120, 300, 12), (250, 500, 50)])
def test_easy_problems_are_solved_and_certified_at_once(route, m, n, k, monkeypatch):
    if route == "message passing":
        monkeypatch.setattr(easy_problems, "MOST_GRAM_COLUMNS", 0)
    solved = 0
    for seed in range(8):
        A, x = draw(m, n, k, seed=seed)
        problem = Problem.of(A, A @ x)
        found = easy_problems.pursue(problem)
        if found is not None:
            solved += 1
            np.testing.assert_allclose(found.x, x, atol=1e-12)
            assert found.support.tolist() == np.flatnonzero(x).tolist()
            assert certify(problem, found, assume_generic=False) is not None
    assert solved >= (8 if route == "least squares" or n >= 300 else 4)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda A, x, rng: (A, A @ x + 1e-6 * rng.standard_normal(len(A))),
        lambda A, x, rng: (A, (A @ x).round(6)),
        lambda A, x, rng: (A, rng.standard_normal(len(A))),
        lambda A, x, rng: (A, A @ rng.standard_normal(A.shape[1])),
    ],
    ids=["noise", "rounded", "only noise", "dense"],
)
def test_what_is_not_exact_and_sparse_is_left_to_others(spoil):
    for seed in range(5):
        A, x = draw(30, 60, 4, seed=seed)
        assert easy_problems.pursue(Problem.of(*spoil(A, x, np.random.default_rng(seed)))) is None


def test_bounds_are_kept_or_the_answer_is_left_to_others():
    A, x = draw(30, 60, 4)
    assert easy_problems.pursue(Problem.of(A, A @ x, bounds=(0, None))) is None
    np.testing.assert_allclose(easy_problems.pursue(Problem.of(A, A @ abs(x), bounds=(0, None))).x, abs(x), atol=1e-12)


def draw_complex(m, n, k, seed=0):
    A, x = draw(m, n, k, seed=seed)
    turned, _ = draw(m, n, k, seed=seed + 1000)
    return A + 1j * turned, x * np.exp(1j * np.random.default_rng(seed).uniform(0, 6, n))


@pytest.mark.parametrize("is_real", [False, True], ids=["complex A", "real A, complex y"])
@pytest.mark.parametrize("seed", range(3))
def test_complex_columns_are_chosen_as_by_the_twin(seed, is_real):
    A, x = draw_complex(14, 30, 4, seed=seed)
    A = A.real.copy() if is_real else A
    y = A @ x
    chosen = choose_columns(A, y, 8)
    if chosen is None:  # eight columns explain fourteen complex numbers only if they are the right ones
        assert not set(np.flatnonzero(x)) <= set(greedy(A, y, 8))
    else:
        assert chosen.tolist() == greedy(A, y, len(chosen))
        assert set(np.flatnonzero(x)) <= set(chosen.tolist())
    zero = A.copy()
    zero[:, 3] = 0
    assert choose_columns(zero, np.zeros(14, complex), 8) is None


@pytest.mark.parametrize(("m", "n", "k"), [(50, 100, 8), (120, 300, 12), (250, 500, 50)])
def test_easy_complex_problems_are_solved_and_certified_at_once(m, n, k):
    for seed in range(3):
        A, x = draw_complex(m, n, k, seed=seed)
        problem = Problem.of(A, A @ x)
        found = easy_problems.pursue(problem)
        np.testing.assert_allclose(found.x, x, atol=1e-12)
        assert found.is_plain
        assert found.support.tolist() == np.flatnonzero(x).tolist()
        away = np.delete(A, found.support, axis=1)
        Q = np.linalg.qr(A[:, found.support])[0]
        nearest = np.linalg.norm(away - Q @ (Q.conj().T @ away), axis=0).min()
        assert found.shortest == pytest.approx(nearest, rel=1e-9)
        assert certify(problem, found, assume_generic=False).support.tolist() == found.support.tolist()
        assert sg.recover(A, A @ x).certified


def dependent(kind, rng, m=30, n=60, *, is_complex=False):
    A = rng.standard_normal((m, n))
    if is_complex:
        A = A + 1j * rng.standard_normal((m, n))
    if kind == "a sum of five others":
        A[:, 20] = A[:, :5].sum(axis=1)
        x = np.isin(np.arange(n), [0, 1, 2, 3, 4, 30, 31]) * 1.0
    elif kind == "parallel columns":
        A[:, 20] = -3 * A[:, 0]
        x = np.isin(np.arange(n), [0, 9, 12]) * rng.standard_normal(n)
    elif kind == "three in a plane":
        A[:, 20] = A[:, 0] + A[:, 1]
        x = np.isin(np.arange(n), [0, 1, 9, 12]) * np.where(np.arange(n) > 8, rng.standard_normal(n), 1.7)
    else:  # a pair that depends on each other and on the support of what is found
        A[:, 20] = A[:, 0] + A[:, 1] + A[:, 2] * 0.3
        x = np.isin(np.arange(n), [0, 1, 9, 12]) * np.where(np.arange(n) > 8, rng.standard_normal(n), 1.7)
    return A, x


@pytest.mark.parametrize(("n", "is_complex"), [(60, False), (60, True), (240, True)])
@pytest.mark.parametrize("kind", ["a sum of five others", "parallel columns", "three in a plane", "a pair"])
def test_dependent_columns_are_not_certified_wrongly(kind, n, is_complex):
    for seed in range(1 if n == 240 else 5 if is_complex else 10):
        A, x = dependent(kind, np.random.default_rng(seed), n // 2, n, is_complex=is_complex)
        found = sg.recover(A, A @ x)
        assert not found.certified or np.abs(found.x - x).max() < 1e-6, seed


@pytest.mark.parametrize("m", [20, 300])
def test_structure_is_seen_in_samples_too(m):
    rng = np.random.default_rng(0)
    n = 2 * m
    generic = rng.standard_normal((m, n))
    toeplitz = np.lib.stride_tricks.sliding_window_view(rng.standard_normal(m + n - 1), n)[:m]
    scaled = rng.uniform(1, 2, (m, 1)) * toeplitz * rng.uniform(1, 2, n)
    assert describe_structure(generic) == describe_structure(np.vstack([generic, 2 * generic[:3]])) == ""
    assert describe_structure(rng.exponential(size=(m, n))) == ""
    for structured in (toeplitz, rng.choice([-1.0, 1.0], (m, n)), generic.round(1), np.tile(generic[:, : n // 2], 2)):
        assert describe_structure(structured)
    assert describe_structure(scaled) == "" or "ratios" in describe_structure(scaled)
    vandermonde = np.abs(rng.uniform(0.9, 1.1, n)) ** np.arange(m)[:, None]
    assert describe_structure(vandermonde)
