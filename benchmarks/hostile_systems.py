"""Hostile systems for `benchmarks.hostile`: `hostile_system(seed)` draws one from its seed alone.

M and N are at most 500 and mostly far smaller. A family either names a matrix, with which a sparse signal is measured
(`MATRICES`), or what is wrong with a whole system (`SYSTEMS`). Families take turns with the seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import aslinearoperator

import sparsegauge as sg

DISTRIBUTIONS = ("binomial", "uniform", "normal", "exponential")
NOISES = ("0", "right", "far too small", "far too large", "residual")
Array = NDArray[Any]
Options = dict[str, Any]
System = tuple[Any, Any, Options, Array | None]  # A, y, keywords of `recover`, truth


def draw_size(rng: np.random.Generator) -> tuple[int, int]:
    """Return M < N, mostly small."""
    if rng.random() < 0.04:
        M = int(rng.integers(80, 251))
        return M, int(rng.integers(M + 1, 501))
    M = int(rng.integers(8, 81))
    return M, int(rng.integers(max(10, M + 1), 201))


def draw_signal(rng: np.random.Generator, M: int, N: int, signs: str = "random") -> Array:
    K = int(rng.integers(1, max(2, min(M // 3, N) + 1)))
    return sg.sparse_signal(N, K, str(rng.choice(DISTRIBUTIONS)), signs=signs, rng=rng)


def gaussian(rng: np.random.Generator) -> Array:
    return rng.standard_normal(draw_size(rng))


def measure(rng: np.random.Generator, A: Array, share_with_noise: float = 0.3) -> System:
    """Measure a sparse signal: without options mostly, sometimes with `noise` or bounds."""
    M, N = A.shape
    bounded = not np.iscomplexobj(A) and rng.random() < 0.15
    x = draw_signal(rng, M, N, "positive" if bounded else "random")
    options: Options = {"bounds": (0, None)} if bounded else {}
    if rng.random() < share_with_noise:
        return tell_noise(rng, A, x, options, str(rng.choice(NOISES)))
    return A, A @ x, options, x


def tell_noise(rng: np.random.Generator, A: Array, x: Array, options: Options, kind: str) -> System:
    """Return noisy measurements and a `noise` that is right or wrong; with kind "0" they are exact."""
    y = A @ x
    deviation = (float(np.sqrt(np.mean(np.abs(y) ** 2))) or 1.0) * 10 ** rng.uniform(-8, -0.5)
    if kind == "0":
        return A, y, options | {"noise": 0}, x
    error = deviation * rng.standard_normal(len(y))
    factor = {"right": 1.0, "residual": 1.0, "far too small": 1e-6, "far too large": 1e4}[kind]
    noise: Any = ("residual", float(np.linalg.norm(error))) if kind == "residual" else factor * deviation
    return A, y + error, options | {"noise": noise}, x


def toeplitz(rng: np.random.Generator, kernel: Callable[[Array, float], Array], low: float, high: float) -> Array:
    """Return a square convolution with `kernel(lag, width)`."""
    N, width = int(rng.integers(16, 121 if rng.random() < 0.9 else 301)), rng.uniform(low, high)
    lags = np.subtract.outer(np.arange(N), np.arange(N)).astype(float)
    return kernel(lags, width)


def blur(rng: np.random.Generator) -> Array:
    return toeplitz(rng, lambda t, sd: np.exp(-(t**2) / (2 * sd**2)), 1, 4)


def ricker(rng: np.random.Generator) -> Array:
    return toeplitz(rng, lambda t, sd: (1 - (t / sd) ** 2) * np.exp(-(t**2) / (2 * sd**2)), 1, 4)


def decay(rng: np.random.Generator) -> Array:
    return toeplitz(rng, lambda t, tau: np.where(t >= 0, np.exp(-np.maximum(t, 0) / tau), 0.0), 1, 30)


def falling_singular_values(rng: np.random.Generator) -> Array:
    U, s, Vh = np.linalg.svd(gaussian(rng), full_matrices=False)
    return (U * np.geomspace(1, 10 ** -rng.uniform(4, 16), len(s))) @ Vh


def scaled_rows(rng: np.random.Generator) -> Array:
    A = rng.standard_normal((59, 174)) if rng.random() < 0.5 else gaussian(rng)
    return A * rng.permutation(np.geomspace(1, 1e-8, len(A)))[:, None]


def scaled_columns(rng: np.random.Generator) -> Array:
    A = gaussian(rng)
    return A * rng.permutation(np.geomspace(1, 1e-10, A.shape[1]))


def change_columns(rng: np.random.Generator, change: Callable[[Array, Array], Array], few: int = 1) -> Array:
    """Return a Gaussian A of which some columns are `change(A, the others)`."""
    A = gaussian(rng)
    for j in rng.choice(A.shape[1], few, replace=False):
        A[:, j] = change(A, rng.permutation(np.delete(np.arange(A.shape[1]), j)))
    return A


def near_duplicates(rng: np.random.Generator) -> Array:
    size = 10 ** rng.uniform(-12, -6)
    return change_columns(rng, lambda A, others: A[:, others[0]] + size * rng.standard_normal(len(A)), 3)


def sum_column(rng: np.random.Generator) -> Array:
    count = int(rng.integers(2, 21))
    return change_columns(rng, lambda A, others: A[:, others[:count]].sum(axis=1))


def duplicated_rows(rng: np.random.Generator) -> Array:
    A = gaussian(rng)
    return A[rng.integers(0, max(1, len(A) * 2 // 3), len(A))]


def zero_lines(rng: np.random.Generator, axis: int) -> Array:
    A = gaussian(rng)
    lines = rng.choice(A.shape[axis], int(rng.integers(1, A.shape[axis] // 2 + 1)), replace=False)
    (A if axis == 0 else A.T)[lines] = 0
    return A


def low_rank(rng: np.random.Generator, rank: int) -> Array:
    M, N = draw_size(rng)
    return rng.standard_normal((M, rank)) @ rng.standard_normal((rank, N))


def some_rows(rng: np.random.Generator, A: Array) -> Array:
    return A[rng.choice(len(A), int(rng.integers(4, max(5, len(A) * 2 // 3))), replace=False)]


def vandermonde(rng: np.random.Generator) -> Array:
    M, N = draw_size(rng)
    return np.vander(rng.uniform(-1, 1, N), M, increasing=True).T


def complex_gaussian(rng: np.random.Generator) -> Array:
    A = gaussian(rng)
    return A + 1j * rng.standard_normal(A.shape)


CONVOLUTIONS = ("Gaussian blur", "Ricker convolution", "exponential decay")  # in practice mostly noisy
MATRICES: dict[str, Callable[[np.random.Generator], Array]] = {
    "Gaussian blur": blur,
    "Ricker convolution": ricker,
    "exponential decay": decay,
    "falling singular values": falling_singular_values,
    "row norms 1..1e-8": scaled_rows,
    "column norms 1..1e-10": scaled_columns,
    "duplicated rows": duplicated_rows,
    "duplicated columns": lambda rng: change_columns(rng, lambda A, others: A[:, others[0]], 3),
    "nearly duplicated columns": near_duplicates,
    "column = sum of others": sum_column,
    "all-zero A": lambda rng: np.zeros(draw_size(rng)),
    "zero columns": lambda rng: zero_lines(rng, 1),
    "zero rows": lambda rng: zero_lines(rng, 0),
    "rank 1": lambda rng: low_rank(rng, 1),
    "rank 2": lambda rng: low_rank(rng, 2),
    "+-1": lambda rng: np.sign(gaussian(rng)),
    "Hadamard rows": lambda rng: some_rows(rng, scipy.linalg.hadamard(2 ** int(rng.integers(4, 8))).astype(float)),
    "integers -3..3": lambda rng: rng.integers(-3, 4, draw_size(rng)).astype(float),
    "sparse 0/1": lambda rng: (rng.random(draw_size(rng)) < rng.uniform(0.02, 0.3)).astype(float),
    "Vandermonde": vandermonde,
    "partial DCT": lambda rng: some_rows(rng, scipy.fft.dct(np.eye(int(rng.integers(10, 201))), norm="ortho", axis=0)),
    "partial Fourier": lambda rng: some_rows(rng, np.fft.fft(np.eye(int(rng.integers(10, 151))), axis=0)),
    "complex Gaussian": complex_gaussian,
    "tall": lambda rng: np.ascontiguousarray(gaussian(rng).T),
    "square": lambda rng: rng.standard_normal((int(rng.integers(2, 81)),) * 2),
    "1 x N": lambda rng: rng.standard_normal((1, int(rng.integers(1, 201)))),
    "M x 1": lambda rng: rng.standard_normal((int(rng.integers(1, 81)), 1)),
    "2 x 2": lambda rng: rng.standard_normal((2, 2)),
}


def extreme_scale(rng: np.random.Generator) -> System:
    A, y, options, x = measure(rng, gaussian(rng))
    factor = float(rng.choice([1e-200, 1e-30, 1e30, 1e200]))
    of_A, of_y = [(factor, 1.0), (1.0, factor), (factor, factor)][rng.integers(3)]
    noise = options.get("noise")
    if isinstance(noise, tuple):
        options["noise"] = ("residual", noise[1] * of_y)
    elif noise is not None:
        options["noise"] = noise * of_y
    return A * of_A, y * of_y, options, None if x is None else x * (of_y / of_A)


def change_y(rng: np.random.Generator, change: Callable[[Array], Array], signal: bool = True) -> System:
    """Return a Gaussian A and a changed y, without a word to `recover`; `signal`: whether y still tells of x."""
    A = gaussian(rng)
    x = draw_signal(rng, *A.shape)
    return A, change(A @ x), {}, x if signal else None


def outlier(rng: np.random.Generator) -> System:
    def spoil(y: Array) -> Array:
        y[rng.integers(len(y))] *= 1e6
        return y

    return change_y(rng, spoil)


def hidden_noise(rng: np.random.Generator) -> System:
    size = 10 ** rng.uniform(-12, 0)
    return change_y(rng, lambda y: y + size * np.linalg.norm(y) / np.sqrt(len(y)) * rng.standard_normal(len(y)))


def float32(rng: np.random.Generator) -> System:
    A = gaussian(rng).astype(np.float32)
    x = draw_signal(rng, *A.shape)
    return A, (A @ x).astype(np.float32), {}, x


def integers(rng: np.random.Generator) -> System:
    A = np.rint(20 * gaussian(rng)).astype(str(rng.choice(["int64", "int32", "int16"])))
    x = np.rint(3 * draw_signal(rng, *A.shape))
    return A, (A @ x).astype(np.int64), {}, x


def outside_range(rng: np.random.Generator) -> System:
    A = low_rank(rng, int(rng.integers(1, 7)))
    return A, A @ draw_signal(rng, *A.shape) + 10 ** rng.uniform(-6, 1) * rng.standard_normal(len(A)), {}, None


def change_x(rng: np.random.Generator, change: Callable[[Array], Array]) -> System:
    """Return a Gaussian A and the exact measurements of a changed signal."""
    A = gaussian(rng)
    x = change(draw_signal(rng, *A.shape))
    return A, A @ x, {}, x


def collinear_regression(rng: np.random.Generator) -> System:
    M, N = int(rng.integers(60, 301)), int(rng.integers(10, 41))
    A = rng.standard_normal((M, 4)) @ rng.standard_normal((4, N)) + 10 ** rng.uniform(-6, 0) * rng.normal(size=(M, N))
    A[:, -1] = A[:, 0] - 2 * A[:, 1]
    x = draw_signal(rng, 12, N)
    options: Options = {"noise": 0.5} if rng.random() < 0.5 else {}
    return A, A @ x + 0.5 * rng.standard_normal(M), options, x


def bounded(rng: np.random.Generator, low: float | None, high: float | None, tall: bool = False) -> System:
    """Return a system with bounds, three of four times one whose signal is within them."""
    A = gaussian(rng).T.copy() if tall else gaussian(rng)
    x = 2 * draw_signal(rng, *A.shape)
    if rng.random() < 0.25:
        return A, A @ x, {"bounds": (low, high)}, None
    x = np.clip(np.abs(x) if low == 0 else -np.abs(x) if high == 0 else x, low, high)
    return A, A @ x, {"bounds": (low, high)}, x


def fixed(rng: np.random.Generator) -> System:
    """Return a system with low == high for some coefficients or all, rightly or wrongly."""
    A = gaussian(rng)
    x = draw_signal(rng, *A.shape)
    held = rng.random(len(x)) < rng.choice([0.2, 1.0])
    value = x if rng.random() < 0.7 else np.ones(len(x))
    return A, A @ x, {"bounds": (np.where(held, value, -9.0), np.where(held, value, 9.0))}, x


def sparse_matrix(rng: np.random.Generator) -> System:
    A = gaussian(rng)
    A, y, options, x = measure(rng, A * (rng.random(A.shape) < rng.uniform(0.02, 0.6)))
    return scipy.sparse.csr_array(A).asformat(str(rng.choice(["csr", "csc", "coo"]))), y, options, x


def linear_operator(rng: np.random.Generator) -> System:
    A, y, options, x = measure(rng, gaussian(rng))
    return aslinearoperator(A), y, options, x


def known_noise(kind: str) -> Callable[[np.random.Generator], System]:
    def system(rng: np.random.Generator) -> System:
        A = gaussian(rng)
        return tell_noise(rng, A, draw_signal(rng, *A.shape), {}, kind)

    return system


SYSTEMS: dict[str, Callable[[np.random.Generator], System]] = {
    "extreme scale": extreme_scale,
    "y = pure noise": lambda rng: change_y(rng, lambda y: rng.standard_normal(len(y)), signal=False),
    "y = 0": lambda rng: change_y(rng, np.zeros_like, signal=False),
    "y constant": lambda rng: change_y(rng, np.ones_like, signal=False),
    "y rounded": lambda rng: change_y(rng, lambda y: y.round(int(rng.integers(0, 9)))),
    "float32": float32,
    "integer dtypes": integers,
    "noise not told": hidden_noise,
    "one huge outlier": outlier,
    "y outside the range of A": outside_range,
    "x0 range 1..1e-12": lambda rng: change_x(rng, lambda x: x * 10 ** rng.uniform(-12, 0, len(x))),
    "x0 equal magnitudes": lambda rng: change_x(rng, np.sign),
    "x0 dense": lambda rng: change_x(rng, lambda x: rng.standard_normal(len(x))),
    "collinear regression": collinear_regression,
    "bounds (0, None)": lambda rng: bounded(rng, 0, None),
    "bounds (None, 0)": lambda rng: bounded(rng, None, 0),
    "bounds (0, 1)": lambda rng: bounded(rng, 0, 1),
    "bounds (-1, 1)": lambda rng: bounded(rng, -1, 1),
    "bounds low == high": fixed,
    "bounds, M > N": lambda rng: bounded(rng, 0, 1 if rng.random() < 0.5 else None, tall=True),
    **{f"noise = {kind}": known_noise(kind) for kind in NOISES},
    "scipy sparse A": sparse_matrix,
    "LinearOperator A": linear_operator,
}
FAMILIES = (*MATRICES, *SYSTEMS)


def hostile_system(seed: int) -> tuple[str, Any, Any, Options, Array | None]:
    """Return the name of the family, A, y, the keywords for `recover`, and the signal where there is one."""
    family = FAMILIES[seed % len(FAMILIES)]
    rng = np.random.default_rng([2031, seed])
    if family in SYSTEMS:
        return family, *SYSTEMS[family](rng)
    return family, *measure(rng, MATRICES[family](rng), 0.6 if family in CONVOLUTIONS else 0.3)
