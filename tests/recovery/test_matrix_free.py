"""GDSReweighted by the operator alone: exact where x is sparse; what noise, bounds and callbacks ask for."""

import numpy as np
import pytest
import pywt
import scipy.fft
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

import sparsegauge as sg
from sparsegauge._compiled import recover as kernels
from sparsegauge._compiled.thresholds import SLOPE_NODES, node_magnitude
from sparsegauge.recovery.problem import Problem
from sparsegauge.recovery.quality import psnr
from sparsegauge.recovery.shrinkage import Shape, tabulate_slopes
from sparsegauge.recovery.status import Status

N, M = 8_192, 2_048  # beyond what is written out
OURS = sg.GDSReweighted()


def partial_dct(rng, n=N, m=M, columns=1.0, rows=1.0):
    kept = np.sort(rng.choice(n, m, replace=False))

    def adjoint(r):
        whole = np.zeros(n)
        whole[kept] = rows * r.ravel()
        return columns * scipy.fft.idct(whole, norm="ortho")

    def forward(x):
        return rows * scipy.fft.dct(columns * x.ravel(), norm="ortho")[kept]

    return LinearOperator((m, n), matvec=forward, rmatvec=adjoint, dtype=float)


def partial_fft(rng, n=N, m=M):
    kept = np.sort(rng.choice(n, m, replace=False))

    def adjoint(r):
        whole = np.zeros(n, complex)
        whole[kept] = r.ravel()
        return np.fft.ifft(whole, norm="ortho")

    return LinearOperator(
        (m, n), matvec=lambda x: np.fft.fft(x.ravel(), norm="ortho")[kept], rmatvec=adjoint, dtype=complex
    )


def sparse_gaussian(rng):
    B = scipy.sparse.random_array((M, N), density=0.01, rng=rng, data_sampler=lambda size: rng.standard_normal(size))
    B = B.tocsr()
    rows, columns = np.exp(rng.standard_normal(M)), np.exp(0.7 * rng.standard_normal(N))
    return LinearOperator(
        (M, N),
        matvec=lambda x: rows * (B @ (columns * x.ravel())),
        rmatvec=lambda r: columns * (B.T @ (rows * r.ravel())),
        dtype=float,
    )


def spikes(rng, kind="normal", nonzeros=300):
    return sg.sparse_signal(N, nonzeros, kind, signs="random", rng=rng)


def error(x, truth):
    return np.linalg.norm(x - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize("kind", ["binomial", "uniform", "normal", "exponential"])
def test_sparse_signals_are_exact(kind):
    rng = np.random.default_rng(11)
    nonzeros = 640 if kind in ("normal", "exponential") else 475  # the reach of l1 at this M is about 545
    x = spikes(rng, kind, nonzeros)
    A = partial_dct(rng)
    found = sg.recover(A, A.matvec(x), solver=OURS)
    assert Problem.of(A, A.matvec(x)).system.matrix is None
    assert found.success, found.message
    assert error(found.x, x) < 1e-9
    assert np.count_nonzero(found.x) == nonzeros


@pytest.mark.parametrize("rows", [1.0, "uneven"])
def test_columns_and_rows_of_uneven_size_do_no_harm(rows):
    rng = np.random.default_rng(12)
    rows = np.geomspace(1, 1e-3, M) if rows == "uneven" else rows
    A = partial_dct(rng, columns=np.exp(rng.standard_normal(N)), rows=rows)
    x = spikes(rng)
    assert error(sg.recover(A, A.matvec(x), solver=OURS).x, x) < 1e-6


def test_an_operator_without_orthonormal_rows():
    rng = np.random.default_rng(13)
    A, x = sparse_gaussian(rng), spikes(rng)
    assert error(sg.recover(A, A.matvec(x), solver=OURS).x, x) < 1e-6


def test_rows_that_are_not_random_fall_back_on_descent():
    """The lowest frequencies alone: the errors are anything but white, and have to be seen to be."""
    rng = np.random.default_rng(14)
    m = N // 3
    A = LinearOperator(
        (m, N),
        matvec=lambda x: scipy.fft.dct(x.ravel(), norm="ortho")[:m],
        rmatvec=lambda r: scipy.fft.idct(np.concatenate([r.ravel(), np.zeros(N - m)]), norm="ortho"),
        dtype=float,
    )
    x = np.zeros(N)
    x[16 * rng.choice(N // 16, 100, replace=False)] = rng.standard_normal(100)
    found = sg.recover(A, A.matvec(x), solver=OURS)
    assert error(found.x, x) < 1e-6


def test_complex_spikes_and_pylops():
    pylops = pytest.importorskip("pylops")
    rng = np.random.default_rng(15)
    x = spikes(rng) * np.exp(2j * np.pi * rng.random(N))
    A = partial_fft(rng)
    assert error(sg.recover(A, A.matvec(x), solver=OURS).x, x) < 1e-9
    kept = np.sort(rng.choice(N, M, replace=False))
    transform = pylops.signalprocessing.FFT(dims=N, norm="ortho", dtype=complex)
    B = pylops.Restriction(N, kept, dtype=complex) @ transform
    assert error(sg.recover(B, B @ x, solver=OURS).x, x) < 1e-9


@pytest.mark.parametrize("bounds", [None, (0, None)])
def test_noise_is_respected_and_mostly_removed(bounds):
    rng = np.random.default_rng(16)
    x = np.abs(spikes(rng)) if bounds else spikes(rng)
    A, sigma = partial_dct(rng), 0.02
    y = A.matvec(x) + sigma * rng.standard_normal(M)
    found = sg.recover(A, y, solver=OURS, noise=sigma, bounds=bounds)
    limit = Problem.of(A, y, noise=sigma).noise
    assert found.success
    assert found.residual <= limit
    support = np.flatnonzero(x)
    oracle = sigma * np.sqrt(len(support) * N / M) / np.linalg.norm(x)  # least squares, the support being known
    assert error(found.x, x) < 2 * oracle
    if bounds:
        assert found.x.min() >= 0


def test_noise_without_orthonormal_rows():
    rng = np.random.default_rng(17)
    A, x = sparse_gaussian(rng), spikes(rng)
    clean = A.matvec(x)
    sigma = 0.01 * np.linalg.norm(clean) / np.sqrt(M)
    found = sg.recover(A, clean + sigma * rng.standard_normal(M), solver=OURS, noise=sigma)
    assert found.residual <= Problem.of(A, clean, noise=sigma).noise * (1 + 1e-9)
    assert found.success


def test_bounds_hold_and_help():
    rng = np.random.default_rng(18)
    x = sg.sparse_signal(N, 725, "binomial", signs="positive", rng=rng)
    A = partial_dct(rng)
    y = A.matvec(x)
    boxed = sg.recover(A, y, solver=OURS, bounds=(0, 1))
    assert boxed.x.min() >= 0
    assert boxed.x.max() <= 1
    assert error(boxed.x, x) < 1e-6
    assert error(sg.recover(A, y, solver=OURS).x, x) > 0.1, "too easy: nothing is shown"


@pytest.mark.parametrize(("a", "b"), [(1e-6, 1.0), (1.0, 1e6), (3.0, -0.5)])
def test_scales_do_not_matter(a, b):
    rng = np.random.default_rng(19)
    A = partial_dct(rng)
    x = spikes(rng) + 1e-2 * rng.standard_normal(N)  # not sparse: no exact fit hides a difference
    scaled = LinearOperator(A.shape, matvec=lambda v: a * A.matvec(v), rmatvec=lambda r: a * A.rmatvec(r), dtype=float)
    found = sg.recover(A, A.matvec(x), solver=OURS).x
    assert error(found, x) > 1e-3
    assert error(sg.recover(scaled, b * A.matvec(x), solver=OURS).x * a / b, found) < 1e-6


def test_the_callback_sees_every_step_and_stops_it():
    rng = np.random.default_rng(20)
    A, x, seen = partial_dct(rng), spikes(rng), []

    def callback(step, iterate):
        seen.append((step, error(iterate, x)))
        return step == 4

    found = sg.recover(A, A.matvec(x), solver=OURS, callback=callback)
    assert found.status == Status.STOPPED_BY_CALLBACK
    assert [step for step, _ in seen] == [1, 2, 3, 4]
    assert seen[-1][1] < seen[0][1]


def test_a_good_start_saves_steps():
    rng = np.random.default_rng(21)
    A, x = partial_dct(rng), spikes(rng)
    y = A.matvec(x)
    cold = sg.recover(A, y, solver=OURS)
    warm = sg.recover(A, y, solver=OURS, x0=x + 1e-3 * rng.standard_normal(N))
    assert error(warm.x, x) < 1e-9
    assert warm.nit < cold.nit


def picture():
    crop = pywt.data.ascent()[128:256, 128:256].astype(float)
    rng = np.random.default_rng(22)
    signs = rng.choice([-1.0, 1.0], crop.shape)
    rows = np.sort(rng.choice(crop.size, int(0.3 * crop.size), replace=False))
    x, places = pywt.coeffs_to_array(pywt.wavedec2(crop, "db4", "periodization", level=4))

    def show(z):
        parts = pywt.array_to_coeffs(z.reshape(crop.shape), places, "wavedec2")
        return pywt.waverec2(parts, "db4", "periodization")

    def adjoint(r):
        whole = np.zeros(crop.size)
        whole[rows] = r.ravel()
        pixels = scipy.fft.idctn(whole.reshape(crop.shape), norm="ortho") * signs
        return pywt.coeffs_to_array(pywt.wavedec2(pixels, "db4", "periodization", level=4))[0].ravel()

    def forward(z):
        return scipy.fft.dctn(show(z) * signs, norm="ortho").ravel()[rows]

    A = LinearOperator((len(rows), crop.size), matvec=forward, rmatvec=adjoint, dtype=float)
    return A, x.ravel(), show


def fista(A, y, weight, steps=150):
    """Beck and Teboulle, as printed; A has orthonormal rows."""
    x = z = np.zeros(A.shape[1])
    t = 1.0
    for _ in range(steps):
        r = z + A.rmatvec(y - A.matvec(z))
        new = np.sign(r) * np.maximum(np.abs(r) - weight, 0)
        after = (1 + np.sqrt(1 + 4 * t * t)) / 2
        z = new + (t - 1) / after * (new - x)
        x, t = new, after
    return x


def test_a_picture_is_recovered_better_than_by_l1():
    A, x, show = picture()
    y = A.matvec(x)
    found = sg.recover(A, y, solver=OURS)
    top = np.max(np.abs(A.rmatvec(y)))
    baselines = [psnr(show(fista(A, y, part * top)), show(x), peak=255) for part in (1e-3, 3e-4, 1e-4)]
    assert psnr(show(found.x), show(x), peak=255) > max(baselines) + 1
    assert found.residual <= 1e-6 * np.linalg.norm(y)


def test_the_picture_without_its_order_loses_what_was_learnt_and_no_more():
    """Shuffled coefficients have no neighbours: the gain is gone, and it is still no worse than l1."""
    A, x, show = picture()
    order = np.random.default_rng(23).permutation(len(x))
    back = np.argsort(order)
    shuffled = LinearOperator(
        A.shape, matvec=lambda z: A.matvec(z.ravel()[back]), rmatvec=lambda r: A.rmatvec(r)[order], dtype=float
    )
    y = A.matvec(x)
    top = np.max(np.abs(A.rmatvec(y)))
    ours = psnr(show(sg.recover(shuffled, y, solver=OURS).x[back]), show(x), peak=255)
    in_order = psnr(show(sg.recover(A, y, solver=OURS).x), show(x), peak=255)
    baselines = [psnr(show(fista(A, y, part * top)), show(x), peak=255) for part in (1e-3, 3e-4, 1e-4)]
    assert max(baselines) < ours < in_order


def test_the_table_of_slopes_is_the_slopes():
    c = np.abs(np.random.default_rng(24).standard_normal(3_000))
    for order in (2.0, 4.0, 1.5):
        w = np.empty(len(c))
        table, top, level = tabulate_slopes(c, order)
        kernels.slopes(c, order, w, kernels.SlopesRoom(len(c)))
        nodes = np.array([node_magnitude(j, top) for j in range(SLOPE_NODES + 1)])
        assert np.allclose(np.interp(c, nodes, table), w / w.max(), atol=5e-3)
        assert np.isclose(level, np.sum(c**order) / np.sum(c ** (order - 1)), rtol=1e-2)


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        Shape(0.0, 0.0, 3.0, 1.0, 0.0),
        Shape(0.0, 1.0, 6.0, 0.03, 0.3),
        Shape(0.5, -1.0, 2.0, 0.2, 0.0),
    ],
    ids=str,
)
def test_steins_estimate_is_the_risk(shape, is_complex):
    """On a known signal with known noise: the estimate needs neither the signal nor luck."""
    rng = np.random.default_rng(25)
    n = 100_000
    x = 6.0 * (rng.random(n) < 0.1) * (1j**is_complex)
    noise = rng.standard_normal(n)
    if is_complex:
        noise = (noise + 1j * rng.standard_normal(n)) / np.sqrt(2)
    r = x + noise
    a, s = np.abs(r), np.abs(np.roll(x, 1) + np.roll(noise, 7))
    m = np.empty(n)
    table, top, level = tabulate_slopes(np.maximum(a - 1, 0), 4.0)
    empty = np.empty(0)
    parameters = np.array([shape.share, shape.q, shape.scale, shape.floor, shape.well, 6.0])
    thresholds = kernels.ThresholdShape(parameters, table, top, level + 1, is_complex)
    risk, _ = kernels.shrink(a, s, thresholds, empty, empty, empty, m)
    assert np.isclose(risk, np.mean(np.abs(r * m / a - x) ** 2), atol=0.02)
