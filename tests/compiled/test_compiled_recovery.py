"""The compiled kernels of recovery: dense linear algebra against NumPy, and all variants against each other."""

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sparsegauge import _compiled
from sparsegauge._compiled import recover as kernels

SHAPES = [(1, 1), (1, 6), (2, 3), (7, 16), (8, 8), (9, 30), (17, 33), (50, 100)]
WELLS = [
    (4.0, 0.03, 0.3, 6.0, 1.0, 0.0),
    (2.0, 0.001, 0.1, 6.0, 0.5, 0.0),
    (3.5, 0.03, 0.0, 6.0, 1.0, 1.0),
    (20.0, 0.03, 0.3, 2.5, 0.7, -1.0),
]
STAGES = (1.0, 0.1, 0.001)  # widths of the wells, one after the other


def aligned(A: np.ndarray, rows: int = 0) -> np.ndarray:
    """A with zeros behind its rows, as many as the kernels want, and below them."""
    width = 8 * ((A.shape[1] + 7) // 8 | 1)
    out = np.zeros((max(rows, len(A)), width))
    out[: len(A), : A.shape[1]] = A
    return out


def square(m: int) -> np.ndarray:
    width = 8 * ((m + 7) // 8 | 1)
    return np.full((width, width), np.nan)  # whatever is read before it is written shows


def covariance(m: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((2 * m + 1, m))
    K = square(m)
    kernels.multiply_halves(aligned(X), aligned(X), len(X), m, K)
    return X.T @ X, K


def variants() -> dict[str, object]:
    found = {name: _compiled._uncompiled() for name in ["python"]}
    for name in _compiled.available_variants():
        if name != "python":
            found[name] = import_module(f"sparsegauge._compiled.recover_{name}")
    return found


def system(m: int, n: int, k: int, seed: int) -> SimpleNamespace:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n))
    x = np.zeros(n)
    x[rng.choice(n, k, replace=False)] = rng.standard_normal(k)
    B = np.ascontiguousarray(np.linalg.qr(A.T)[0].T)
    return SimpleNamespace(A=A / np.sqrt(m), B=B, x=x, b=B @ x, start=B.T @ (B @ x), jitter=np.ones(n), m=m, n=n)


@pytest.mark.parametrize("m", [1, 2, 7, 8, 9, 50])
@pytest.mark.parametrize("count", [0, 1, 5, 127, 129, 300])
def test_products_are_those_of_numpy(m, count):
    rng = np.random.default_rng(m)
    A, w, K = rng.standard_normal((count, m)), rng.random(count), square(m)
    scaled = np.empty_like(aligned(A))
    kernels.scale_rows(aligned(A), w, count, scaled)
    kernels.multiply_halves(scaled, aligned(A), count, m, K)
    np.testing.assert_allclose(np.triu(K[:m, :m]), np.triu((A.T * w) @ A), rtol=0, atol=1e-13 * max(count, 1))
    x, out = rng.standard_normal(m), np.empty(count)
    kernels.multiply_vector(aligned(A), count, x, m, out)
    np.testing.assert_allclose(out, A @ x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1.0, 1e-120, 1e120])
@pytest.mark.parametrize("m", [1, 2, 7, 8, 9, 16, 50])
def test_cholesky_and_its_solutions_are_those_of_numpy(m, scale):
    rng = np.random.default_rng(m)
    C, K = covariance(m, rng)
    C, K, R = C * scale, K * scale, square(m)
    assert kernels.factor_cholesky(K, 0.5 * scale, m, R)
    C += 0.5 * scale * np.eye(m)
    expected = np.linalg.cholesky(C).T
    np.testing.assert_allclose(np.triu(R[:m, :m]), expected, rtol=0, atol=1e-13 * np.abs(expected).max())
    right = rng.standard_normal((m, 11))
    solution = np.linalg.solve(C, right)
    for column, x in zip(right.T, solution.T, strict=True):
        u = column.copy()
        kernels.solve_lower(R, m, u)
        kernels.solve_upper(R, m, u)
        np.testing.assert_allclose(u, x, rtol=0, atol=1e-12 * np.abs(x).max())
    X = aligned(right, rows=len(R))
    kernels.solve_many(R, m, square(m), X)
    np.testing.assert_allclose(X[:m, :11], solution, rtol=0, atol=1e-12 * np.abs(solution).max())


@pytest.mark.parametrize("m", [2, 8, 9, 50])
def test_cholesky_says_where_a_matrix_is_not_positive_definite(m):
    rng = np.random.default_rng(m)
    X = rng.standard_normal((2 * m, m))
    X[:, -1] = X[:, 0]
    K, R = square(m), square(m)
    kernels.multiply_halves(aligned(X), aligned(X), len(X), m, K)
    assert not kernels.factor_cholesky(K, 0.0, m, R)
    added = kernels.factor_with_jitter(K, 0.0, m, R)
    unit = np.trace(X.T @ X) / m
    assert 0.0 < added <= 1e-12 * unit
    factor = np.triu(R[:m, :m])
    np.testing.assert_allclose(factor.T @ factor, X.T @ X + added * np.eye(m), rtol=0, atol=1e-12 * unit)
    indefinite = K.copy()
    indefinite[m - 1, m - 1] = -1.0
    assert kernels.factor_with_jitter(indefinite, 0.0, m, R) < 0.0
    indefinite[m - 1, m - 1] = np.nan
    assert kernels.factor_with_jitter(indefinite, 0.0, m, R) < 0.0
    assert kernels.factor_with_jitter(np.zeros_like(K), 0.0, m, R) < 0.0


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize(("m", "count"), [(1, 1), (2, 1), (5, 5), (9, 4), (50, 45)])
def test_qr_is_that_of_numpy(m, count, scale):
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, count)) * scale
    b = rng.standard_normal(m)
    Q = np.ascontiguousarray(np.vstack([A.T, b]))
    diagonal, tau, complement = np.empty(count), np.empty(count), np.empty((m - count, m))
    kernels.factor_qr(Q, count, count + 1, m, diagonal, tau)
    R = np.triu(Q[:count, :count].T, 1) + np.diag(diagonal)
    expected = np.linalg.qr(A)[1]
    signs = np.sign(np.diag(expected)) * np.sign(diagonal)
    np.testing.assert_allclose(signs[:, None] * R, expected, rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(np.linalg.norm(Q[count]), np.linalg.norm(b), rtol=1e-13)
    kernels.write_complement(Q, count, m, tau, complement)
    np.testing.assert_allclose(complement @ complement.T, np.eye(m - count), rtol=0, atol=1e-13)
    np.testing.assert_allclose(complement @ A / scale, 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["zero column", "equal columns", "zeros", "subnormal"])
def test_qr_of_hostile_columns_keeps_an_orthonormal_complement(kind):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((9, 6))
    if kind == "zero column":
        A[:, 2] = 0.0
    elif kind == "equal columns":
        A[:, 3:] = A[:, :3]
    else:
        A *= 0.0 if kind == "zeros" else 1e-310
    Q, diagonal, tau, complement = np.ascontiguousarray(A.T), np.empty(6), np.empty(6), np.empty((3, 9))
    kernels.factor_qr(Q, 6, 6, 9, diagonal, tau)
    kernels.write_complement(Q, 6, 9, tau, complement)
    np.testing.assert_allclose(complement @ complement.T, np.eye(3), rtol=0, atol=1e-13)
    np.testing.assert_allclose(complement @ A, 0.0, rtol=0, atol=1e-12 * max(np.abs(A).max(), 1e-300))


def test_order_is_that_of_a_stable_sort():
    rng = np.random.default_rng(0)
    for n in [1, 2, 3, 17, 64, 100]:
        for x in (rng.standard_normal(n), rng.integers(0, 3, n).astype(float)):
            order, room = np.empty((2, n), np.int64)
            kernels.order_descending(x, order, room)
            assert np.array_equal(order, np.argsort(-x, kind="stable"))
            x[n // 2] = np.nan
            kernels.order_descending(x, order, room)
            assert sorted(order) == list(range(n))


def test_refit_is_least_squares_and_refuses_dependent_columns():
    s = system(20, 40, 8, seed=1)
    columns, room, x = np.ascontiguousarray(s.B.T), kernels.SearchRoom(20, 40), np.empty(40)
    chosen = np.array([3, 30, 7, 12])
    residual = kernels.refit(columns, s.b, chosen, 4, room, x)
    expected, left = np.linalg.lstsq(s.B[:, chosen], s.b, rcond=None)[:2]
    np.testing.assert_allclose(x[chosen], expected, rtol=1e-11)
    assert np.count_nonzero(x) == 4
    assert residual == pytest.approx(np.sqrt(left[0]) / np.linalg.norm(s.b), rel=1e-11)
    assert kernels.refit(columns, s.b, np.flatnonzero(s.x), 8, room, x) < 1e-14
    np.testing.assert_allclose(x, s.x, atol=1e-13)
    columns[7] = columns[3] + columns[30]
    assert kernels.refit(columns, s.b, chosen, 4, room, x) == np.inf
    columns[chosen] = 0.0
    assert kernels.refit(columns, s.b, chosen, 4, room, x) == np.inf
    assert kernels.refit(columns, 0 * s.b, chosen, 4, room, x) == np.inf


@pytest.mark.parametrize("outside", [0, 1, 2, 3])
def test_the_search_finds_up_to_three_members_outside_the_likely_ones(outside):
    s = system(30, 60, 15, seed=outside)
    likely = np.where(s.x != 0, 1.0, 0.01 * np.random.default_rng(0).random(60))
    likely[np.flatnonzero(s.x)[:outside]] = 1e-4
    found = np.empty(60)
    columns, room = np.ascontiguousarray(s.B.T), kernels.SearchRoom(30, 60)
    for _ in range(2):  # the room of one search serves the next
        assert kernels.find_support(columns, s.b, likely, room, found)
        np.testing.assert_allclose(found, s.x, rtol=0, atol=1e-12)
    likely[np.flatnonzero(s.x)[:4]] = 1e-4
    assert not kernels.find_support(columns, s.b, likely, room, found)


@pytest.mark.parametrize(("m", "n"), SHAPES)
def test_weighted_least_squares_is_exact_at_weights_of_all_sizes(m, n):
    s = system(m, n, min(m, 3), seed=m)
    rng = np.random.default_rng(n)
    for spread in (0.0, 1.0, 3.0):
        weight, target, x = 10 ** (spread * rng.uniform(-1, 1, n)), rng.standard_normal(n), np.empty(n)
        kernels.solve_weighted(kernels.DescentRoom(s.B), s.b, weight, target, x)
        assert np.linalg.norm(s.B @ x - s.b) <= 1e-9 * np.linalg.norm(s.b)
        # the gradient is a combination of the rows of B
        gradient = weight * (x - target)
        off = gradient - s.B.T @ (s.B @ gradient)
        assert np.linalg.norm(off) <= 1e-6 * np.linalg.norm(gradient)


def test_weighted_least_squares_survives_equations_that_depend_on_each_other():
    s = system(10, 30, 3, seed=0)
    A, b = np.vstack([s.B, s.B[:2]]), np.concatenate([s.b, s.b[:2]])
    x = np.empty(30)
    kernels.solve_weighted(kernels.DescentRoom(A), b, np.ones(30), np.zeros(30), x)
    np.testing.assert_allclose(x, s.start, rtol=0, atol=1e-6)


@pytest.mark.parametrize("radius", [1e-3, 0.1, 1.0])
def test_with_noise_the_residual_is_the_radius(radius):
    s = system(20, 50, 5, seed=3)
    rng = np.random.default_rng(4)
    y, weight, target, x = s.A @ s.x, 10 ** rng.uniform(-2, 2, 50), 0.1 * rng.standard_normal(50), np.empty(50)
    damping = kernels.solve_within(kernels.DescentRoom(s.A), y, radius, weight, target, 1.0, 1e-6, x)
    assert np.linalg.norm(s.A @ x - y) == pytest.approx(radius, rel=1e-4)
    G = (s.A / weight) @ s.A.T
    dual = np.linalg.solve(G + damping * np.trace(G) / 20 * np.eye(20), y - s.A @ target)
    np.testing.assert_allclose(x, target + (s.A.T @ dual) / weight, rtol=0, atol=1e-9)


def test_the_evidence_is_that_of_a_gaussian():
    s = system(12, 30, 4, seed=5)
    rng = np.random.default_rng(6)
    y, noise, rho, slabs = (
        s.A @ s.x + 0.1 * rng.standard_normal(12),
        0.01,
        0.2,
        np.array([[0.3, 0.5, 0.1], [0.7, -1.0, 2.0]]),
    )
    z = np.zeros(30, np.int64)
    z[:5] = [1, 2, 2, 1, 2]
    mean, variance = np.r_[0.0, slabs[:, 1]][z], np.r_[0.0, slabs[:, 2]][z]
    C, r = noise * np.eye(12) + (s.A * variance) @ s.A.T, y - s.A @ mean
    expected = -0.5 * r @ np.linalg.solve(C, r) - 0.5 * np.linalg.slogdet(C)[1]
    expected += 25 * np.log(1 - rho) + 2 * np.log(rho * 0.3) + 3 * np.log(rho * 0.7)
    columns = np.ascontiguousarray(s.A.T)
    value = kernels.set_up_evidence(kernels.EvidenceRoom(columns, 2), y, noise, rho, slabs, z)
    assert value == pytest.approx(expected, rel=1e-12)
    # after any changes of z, what was kept is what a fresh start computes
    x, spread = np.empty((2, 30))
    climbed = kernels.climb(kernels.EvidenceRoom(columns, 2), y, noise, rho, slabs, z, x, spread)
    assert climbed >= value
    assert climbed == pytest.approx(
        kernels.set_up_evidence(kernels.EvidenceRoom(columns, 2), y, noise, rho, slabs, z), rel=1e-9
    )


def test_sampling_averages_over_what_a_coefficient_may_be():
    """One column alone: inclusion, mean and mean square have closed forms, and sampling need not wait for them."""
    a, y, noise, rho = np.array([0.6, -0.3, 0.9]), np.array([0.5, 0.1, 0.4]), 0.05, 0.3
    slabs = np.array([[0.4, 0.5, 0.1], [0.6, -1.0, 2.0]])
    density = [multivariate_normal(mu * a, noise * np.eye(3) + tau * np.outer(a, a)).pdf(y) for _, mu, tau in slabs]
    weights = np.array([(1 - rho) * multivariate_normal(0 * a, noise * np.eye(3)).pdf(y), *rho * slabs[:, 0] * density])
    weights /= weights.sum()
    spread = 1 / (1 / slabs[:, 2] + a @ a / noise)
    mean = spread * (slabs[:, 1] / slabs[:, 2] + a @ y / noise)
    expected = weights[1:] @ mean, weights[1:] @ (mean**2 + spread), weights[1:].sum()
    for z in (0, 1, 2):  # where it starts does not matter
        x, variance, average, square, inclusion = np.empty((5, 1))
        settings = (y, noise, rho, slabs, np.array([z]), np.full((4, 1), 0.5), 100)
        room = kernels.EvidenceRoom(a[None], 2)
        kernels.sample(room, *settings, x, variance, average, square, inclusion)
        np.testing.assert_allclose([average[0], square[0], inclusion[0]], expected, rtol=1e-10)


def run_dense(k, s):
    K, R, L, X = square(s.m), square(s.m), square(s.m), aligned(s.B, rows=len(square(s.m)))
    columns = aligned(np.ascontiguousarray(s.B.T))
    scaled = np.empty_like(columns)
    k.scale_rows(columns, np.linspace(0.1, 2.0, s.n), s.n, scaled)
    k.multiply_halves(scaled, columns, s.n, s.m, K)
    added = k.factor_with_jitter(K, 1e-3, s.m, R)
    k.solve_many(R, s.m, L, X)
    u = s.b.copy()
    k.solve_lower(R, s.m, u)
    k.solve_upper(R, s.m, u)
    Q, diagonal, tau = np.ascontiguousarray(s.B.T)[: s.m - 2].copy(), *np.empty((2, s.m - 2))
    k.factor_qr(Q, s.m - 2, s.m - 2, s.m, diagonal, tau)
    complement = np.empty((2, s.m))
    k.write_complement(Q, s.m - 2, s.m, tau, complement)
    return np.triu(K[: s.m, : s.m]), np.triu(R[: s.m, : s.m]), X[: s.m], u, Q, diagonal, tau, complement, added


def run_slopes(k, s):
    out = []
    for wells in WELLS:
        weight, target, w = np.empty((3, s.n))
        k.weigh(s.start, 0.01, k.Wells(*wells), s.jitter, k.SlopesRoom(s.n), weight, target)
        k.slopes(np.abs(s.start), wells[0], w, k.SlopesRoom(s.n))
        out += [weight, target, w]
    return out


def run_descent(k, s):
    out = []
    for wells in WELLS:
        x, rooms = s.start.copy(), (k.DescentRoom(s.B), k.SlopesRoom(s.n))
        for eps in STAGES:
            out += [k.descend(*rooms, s.b, k.Wells(*wells), s.jitter, eps, 0.03, 4, x), x.copy()]
    return out


def run_noisy_descent(k, s):
    out = []
    for wells in WELLS:
        x, damping, rooms = s.start.copy(), 1.0, (k.DescentRoom(s.A), k.SlopesRoom(s.n))
        for eps in STAGES:
            settings = (s.A @ s.x, 0.1, k.Wells(*wells), s.jitter, eps, 0.03, 2, damping, x)
            taken, damping = k.descend_within(*rooms, *settings)
            out += [taken, damping, x.copy()]
    return out


def run_search(k, s):
    x = np.zeros(s.n)
    likely = np.abs(s.x) + 0.01 * np.cos(np.arange(s.n)) ** 2
    return k.find_support(np.ascontiguousarray(s.B.T), s.b, likely, k.SearchRoom(s.m, s.n), x), x


def run_evidence(k, s):
    columns, y, slabs = np.ascontiguousarray(s.A.T), s.A @ s.x, np.array([[0.5, 0.4, 0.1], [0.5, -0.4, 0.1]])
    z, (x, variance) = (np.arange(s.n) % 3 == 0).astype(np.int64), np.empty((2, s.n))
    sampled, moments = z.copy(), np.empty((5, s.n))
    value = k.climb(k.EvidenceRoom(columns, 2), y, 0.01, 0.2, slabs, z, x, variance)
    tosses = np.random.default_rng(0).random((2, s.n))
    changes = k.sample(k.EvidenceRoom(columns, 2), y, 0.01, 0.2, slabs, sampled, tosses, 100, *moments)
    return value, changes, z, x, variance, sampled, moments


def run_lattice(k, s):
    F = s.B[:3, :9] - np.outer(s.B[:3, :9].sum(axis=1), np.ones(9)) / 9  # F of equal numbers is 0
    z = np.zeros(9)
    return k.kernel_vector(np.ascontiguousarray(F), 4.0, 12, 400, k.LatticeRoom(3, 9), z), z


def run_lasso(k, s):
    x, low, high = np.zeros(s.n), np.full(s.n, -0.2), np.full(s.n, 0.5)
    columns, y = np.ascontiguousarray(s.A.T), s.A @ s.x
    rooms = np.empty(s.n), np.empty(s.m)
    return k.descend_coordinates(columns, y, np.full(s.n, 0.05), low, high, 1e-9, 50, x, *rooms), x


@pytest.mark.parametrize(
    "run",
    [run_dense, run_slopes, run_descent, run_noisy_descent, run_search, run_evidence, run_lattice, run_lasso],
)
@pytest.mark.parametrize(("m", "n"), [(9, 20), (12, 19)])
def test_all_variants_give_the_same_bits(run, m, n):
    s = system(m, n, 4, seed=m)
    results = {name: run(variant, s) for name, variant in variants().items()}
    assert len(results) >= 2
    expected = results.pop("python")
    for name, result in results.items():
        for one, other in zip(result, expected, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other)), name


def test_what_is_no_number_ends_every_kernel():
    s = system(9, 20, 4, seed=0)
    x, variance, moments = np.empty(20), np.empty(20), np.empty((3, 20))
    for place in ("b", "start", "B"):
        bad = SimpleNamespace(**{**vars(s), place: getattr(s, place).copy()})
        getattr(bad, place).flat[3] = np.nan
        rooms = kernels.DescentRoom(bad.B), kernels.SlopesRoom(20)
        for options in WELLS:
            wells, exact, noisy = kernels.Wells(*options), bad.start.copy(), bad.start.copy()
            assert kernels.descend(*rooms, bad.b, wells, s.jitter, 0.1, 0.03, 10, exact) <= 10
            taken, _ = kernels.descend_within(*rooms, bad.b, 0.1, wells, s.jitter, 0.1, 0.03, 10, 1.0, noisy)
            assert taken <= 10
            if place != "start":
                assert not (np.isfinite(exact).all() and np.isfinite(noisy).all())  # which ends the stages
        columns, slabs, z = np.ascontiguousarray(bad.B.T), np.array([[1.0, 0.0, 1.0]]), np.ones(20, np.int64)
        found = kernels.find_support(columns, bad.b, np.abs(bad.start), kernels.SearchRoom(9, 20), x)
        assert not found or np.isfinite(x).all()
        kernels.climb(kernels.EvidenceRoom(columns, 1), bad.b, 0.01, 0.2, slabs, z, x, variance)
        settings = (bad.b, 0.01, 0.2, slabs, z, np.full((3, 20), 0.5), 100, x, variance, *moments)
        kernels.sample(kernels.EvidenceRoom(columns, 1), *settings)
        penalties, low, high = np.full(20, 0.1), np.full(20, -1.0), np.full(20, 1.0)
        rooms = np.zeros(20), np.empty(20), np.empty(9)
        assert kernels.descend_coordinates(columns, bad.b, penalties, low, high, 1e-9, 50, *rooms) <= 50
    F = np.full((3, 9), np.nan)
    assert not kernels.kernel_vector(F, 4.0, 20, 1000, kernels.LatticeRoom(3, 9), np.zeros(9))
