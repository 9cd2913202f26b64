"""Which certificates are false? `python -m benchmarks.false_certificates [COUNT] [FIRST_SEED] [--workers W]`.

2,000 problems by default whose signal is known and whose matrix, signal or measurements are made to deceive: tiny
columns, dependent columns, noise that nobody mentions, discrete and structured matrices. Families take turns, so that
34 or more cover all; `draw_problem(seed)` draws one from its seed alone, and COUNT = 1 with FIRST_SEED repeats it.

x is right if it is within 1e-6 of the largest true coefficient everywhere; a certificate for any other x is false,
also where noise or conditioning do not allow a better x. A right x without a certificate is a refusal: a price, no
fault. In the planted adversary, a second table, the signal was chosen after A such that a sparser one has the same
measurements. No method can see that, and what is certified there counts apart.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import argparse  # noqa: E402
import multiprocessing  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from functools import partial  # noqa: E402
from typing import Any, NamedTuple  # noqa: E402

import numpy as np  # noqa: E402
import scipy.fft  # noqa: E402
import scipy.linalg  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

import sparsegauge as sg  # noqa: E402

RIGHT = 1e-6  # error, in units of the largest true coefficient
DISTRIBUTIONS = ("binomial", "uniform", "normal", "exponential")
CONTINUOUS = DISTRIBUTIONS[1:]
PLANTED = "planted adversary"
Array = NDArray[Any]
Options = dict[str, Any]


class Problem(NamedTuple):
    A: Array
    x: Array  # the truth
    y: Array
    options: Options  # keywords of `recover`


class Trial(NamedTuple):
    seed: int
    family: str
    certified: bool
    error: float  # relative, of the largest coefficient
    seconds: float
    failure: str

    @property
    def right(self) -> bool:
        return self.error <= RIGHT

    @property
    def false(self) -> bool:
        return self.certified and not self.right


Family = Callable[[np.random.Generator], Problem]


def draw_size(rng: np.random.Generator) -> tuple[int, int]:
    """Return M < N."""
    N = int(rng.integers(20, 121))
    return int(rng.integers(8, max(9, min(N, 70)))), N


def draw_signal(rng: np.random.Generator, M: int, N: int, kinds: tuple[str, ...] = DISTRIBUTIONS) -> Array:
    """Return a signal sparse enough to be found mostly."""
    K = int(rng.integers(1, max(2, min(M // 3, N) + 1)))
    return sg.sparse_signal(N, K, str(rng.choice(kinds)), signs=str(rng.choice(["positive", "random"])), rng=rng)


def measure(A: Array, x: Array, options: Options | None = None) -> Problem:
    return Problem(A, x, A @ x, options or {})


def gaussian(rng: np.random.Generator, kinds: tuple[str, ...] = DISTRIBUTIONS) -> Problem:
    M, N = draw_size(rng)
    x = draw_signal(rng, M, N, kinds)
    return measure(sg.gaussian_matrix(M, N, rng=rng), x)


def from_matrix(draw: Callable[[np.random.Generator], Array]) -> Family:
    """Return the family of problems with such matrices; the signals have equal magnitudes half of the time."""

    def problem(rng: np.random.Generator) -> Problem:
        A = draw(rng)
        kinds = CONTINUOUS if rng.random() < 0.5 else ("binomial",)
        return measure(A, draw_signal(rng, *A.shape, kinds))

    return problem


def tiny_support_columns(rng: np.random.Generator) -> Problem:
    A, x, *_ = gaussian(rng)
    support = np.flatnonzero(x)
    few = rng.choice(support, int(rng.integers(1, max(2, len(support)))), replace=False)
    A[:, few] *= 10 ** rng.uniform(np.log10(3e-10), np.log10(3e-7), len(few))
    return measure(A, x)


def scaled_columns(rng: np.random.Generator) -> Array:
    A = rng.standard_normal(draw_size(rng))
    return A * 10 ** rng.uniform(-8, 0, A.shape[1])


def dependent(rng: np.random.Generator, ones: bool, exact: bool) -> Problem:
    """Return a problem in which one column is a combination of 2 to 6 others, exactly or nearly."""
    A, x, *_ = gaussian(rng, CONTINUOUS)
    M, N = A.shape
    count = int(rng.integers(2, 7))
    j, *members = rng.choice(N, count + 1, replace=False)
    weights = np.ones(count) if rng.random() < 0.5 else rng.standard_normal(count)
    A[:, j] = A[:, members] @ weights
    if not exact:
        bump = rng.standard_normal(M)
        A[:, j] += 10 ** rng.uniform(-10, -7) * np.linalg.norm(A[:, j]) * bump / np.linalg.norm(bump)
    if ones:
        x = np.sign(np.abs(x))
        x[members[: int(rng.integers(1, count + 1))]] = 1.0
        x[j] = 0.0
    return measure(A, x)


def total_column(rng: np.random.Generator) -> Problem:
    """Return ones on 10 or 20 columns, of which another column is the sum."""
    N, count = int(rng.integers(60, 121)), int(rng.choice([10, 20]))
    A = rng.standard_normal((int(rng.integers(count + 5, 56)), N))
    j, *members = rng.choice(N, count + 1, replace=False)
    A[:, j] = A[:, members].sum(axis=1)
    x = np.zeros(N)
    x[members] = 1.0
    return measure(A, x)


def wide_sum(rng: np.random.Generator) -> Problem:
    """Return N = 250, a column that is the sum of 2 to 7 others, and ones on some of these and elsewhere."""
    count = int(rng.integers(2, 8))
    A = rng.standard_normal((int(rng.integers(40, 91)), 250))
    j, *members = rng.choice(250, count + 1, replace=False)
    A[:, j] = A[:, members].sum(axis=1)
    x = sg.sparse_signal(250, int(rng.integers(1, 6)), "binomial", rng=rng)
    x[members[: int(rng.integers(1, count + 1))]] = 1.0
    x[j] = 0.0
    return measure(A, x)


def add_noise(rng: np.random.Generator, problem: Problem, low: float, high: float) -> Problem:
    """Add noise of a relative norm of 10**low to 10**high, and do not tell."""
    error = rng.standard_normal(problem.y.shape)
    size = 10 ** rng.uniform(low, high) * np.linalg.norm(problem.y) / np.linalg.norm(error)
    return problem._replace(y=problem.y + size * error)


def chance_fit(rng: np.random.Generator) -> Problem:
    x = sg.sparse_signal(120, int(rng.integers(1, 6)), str(rng.choice(DISTRIBUTIONS)), signs="random", rng=rng)
    return add_noise(rng, measure(rng.standard_normal((20, 120)), x), -7, -5)


def rounded(rng: np.random.Generator) -> Problem:
    problem = gaussian(rng)
    return problem._replace(y=problem.y.round(int(rng.integers(6, 11))))


def single_precision(rng: np.random.Generator) -> Problem:
    A, x, *_ = gaussian(rng)
    A = A.astype(np.float32)
    return Problem(A, x, (A @ x).astype(np.float32), {})


def duplicated_rows(rng: np.random.Generator) -> Array:
    M, N = draw_size(rng)
    rows = np.append(np.arange(M), rng.integers(0, M, int(rng.integers(1, M + 1))))
    return rng.standard_normal((M, N))[rng.permutation(rows)]


def scaled_rows(rng: np.random.Generator) -> Array:
    A = rng.standard_normal(draw_size(rng))
    return A * 10 ** rng.uniform(-8, 0, len(A))[:, None]


def some_rows(rng: np.random.Generator, A: Array) -> Array:
    return A[rng.choice(len(A), int(rng.integers(8, len(A) * 2 // 3)), replace=False)]


def dct(rng: np.random.Generator) -> Array:
    return some_rows(rng, scipy.fft.dct(np.eye(int(rng.integers(20, 121))), norm="ortho", axis=0))


def hadamard(rng: np.random.Generator) -> Array:
    return some_rows(rng, scipy.linalg.hadamard(int(rng.choice([32, 64, 128]))).astype(float))


def toeplitz(rng: np.random.Generator) -> Array:
    M, N = draw_size(rng)
    return np.asarray(scipy.linalg.toeplitz(rng.standard_normal(M), rng.standard_normal(N)))


def vandermonde(rng: np.random.Generator) -> Array:
    M, N = draw_size(rng)
    return np.vander(rng.uniform(-1, 1, N), M, increasing=True).T


def low_rank(rng: np.random.Generator) -> Array:
    M, N = draw_size(rng)
    rank = int(rng.integers(6, max(7, M)))
    return rng.standard_normal((M, rank)) @ rng.standard_normal((rank, N))


def block_diagonal(rng: np.random.Generator) -> Array:
    shapes = [(int(m), int(m + rng.integers(1, 25))) for m in rng.integers(5, 20, int(rng.integers(2, 5)))]
    return np.asarray(scipy.linalg.block_diag(*(rng.standard_normal(shape) for shape in shapes)))


def blocked_rows(rng: np.random.Generator) -> Array:
    """Return a Gaussian A of which some rows see some columns only."""
    A = rng.standard_normal(draw_size(rng))
    rows, columns = rng.random(len(A)) < rng.uniform(0.3, 0.9), rng.random(A.shape[1]) < rng.uniform(0.1, 0.5)
    A[np.ix_(rows, columns)] = 0.0
    return A


def sparse_gaussian(rng: np.random.Generator) -> Array:
    A = rng.standard_normal(draw_size(rng))
    return A * (rng.random(A.shape) < rng.uniform(0.1, 0.5))


def correlated(rng: np.random.Generator) -> Array:
    """Return Gaussian columns whose correlation falls as rho**|i - j|."""
    M, N = draw_size(rng)
    rho = rng.choice([0.5, 0.9, 0.99, 0.999])
    powers = rho ** np.abs(np.subtract.outer(np.arange(N), np.arange(N)))
    return rng.standard_normal((M, N)) @ np.linalg.cholesky(powers).T


def wide_range(rng: np.random.Generator) -> Problem:
    A, x, *_ = gaussian(rng)
    return measure(A, x * 10 ** rng.uniform(rng.uniform(-12, -1), 0, len(x)))


def one_small_coefficient(rng: np.random.Generator) -> Problem:
    A, x, *_ = gaussian(rng)
    largest = float(np.max(np.abs(x)))
    small, other = rng.choice(len(x), 2, replace=False)
    x[other] = largest  # where x had one coefficient only, that may become the small one
    x[small] = largest * 10 ** rng.uniform(-13, -6)
    return measure(A, x)


def too_dense(rng: np.random.Generator) -> Problem:
    M, N = int(rng.integers(8, 31)), int(rng.integers(40, 81))
    x = sg.sparse_signal(N, int(rng.integers(M, N + 1)), str(rng.choice(DISTRIBUTIONS)), signs="random", rng=rng)
    return measure(rng.standard_normal((M, N)), x)


def complex_gaussian(rng: np.random.Generator) -> Problem:
    A, x, *_ = gaussian(rng)
    return measure(A + 1j * rng.standard_normal(A.shape), x * np.exp(2j * np.pi * rng.random(len(x))))


def bounded(rng: np.random.Generator) -> Problem:
    """Return x >= 0, or 0 <= x <= 1 with coefficients at both ends; some with a tiny or a dependent column."""
    A, x, *_ = gaussian(rng)
    x = np.abs(x)
    box = rng.random() < 0.5
    j, *others = rng.choice(len(x), 4, replace=False)
    kind = rng.integers(3)
    A[:, j] = A[:, j] * 1e-9 if kind == 1 else A[:, others].sum(axis=1) if kind == 2 else A[:, j]
    return measure(A, np.minimum(x, 1.0) if box else x, {"bounds": (0, 1) if box else (0, None)})


def planted_adversary(rng: np.random.Generator) -> Problem:
    """Return a Gaussian A and a signal that depends on it: M + 1 columns depend, so few of them replace the others."""
    M, N = int(rng.integers(12, 41)), int(rng.integers(50, 101))
    A = rng.standard_normal((M, N))
    chosen = rng.choice(N, M + 1, replace=False)
    null = np.linalg.svd(A[:, chosen])[2][-1]
    kept = chosen[int(rng.integers(1, max(2, M // 4))) :]  # the columns before are the sparser alternative
    x = np.zeros(N)
    x[kept] = null[-len(kept) :]
    return measure(A, x)


FAMILIES: dict[str, Family] = {
    "Gaussian": gaussian,
    "Gaussian, equal magnitudes": partial(gaussian, kinds=("binomial",)),
    "columns of the support times 3e-10..3e-7": tiny_support_columns,
    "all columns times 1e-8..1": from_matrix(scaled_columns),
    "dependent to 1e-10..1e-7": partial(dependent, ones=False, exact=False),
    "dependent to 1e-10..1e-7, x0 = ones": partial(dependent, ones=True, exact=False),
    "dependent": partial(dependent, ones=False, exact=True),
    "dependent, x0 = ones": partial(dependent, ones=True, exact=True),
    "column = total of 10 or 20, x0 = ones": total_column,
    "N = 250, column = sum of 2..7, x0 = ones": wide_sum,
    "chance fits, noise 1e-7..1e-5": chance_fit,
    "noise 1e-9..1e-3": lambda rng: add_noise(rng, gaussian(rng), -9, -3),
    "y rounded to 6..10 decimals": rounded,
    "float32": single_precision,
    "duplicated rows": from_matrix(duplicated_rows),
    "row norms 1e-8..1": from_matrix(scaled_rows),
    "+-1": from_matrix(lambda rng: rng.choice([-1.0, 1.0], draw_size(rng))),
    "0/1": from_matrix(lambda rng: (rng.random(draw_size(rng)) < rng.uniform(0.1, 0.6)).astype(float)),
    "partial DCT": from_matrix(dct),
    "Hadamard": from_matrix(hadamard),
    "Toeplitz": from_matrix(toeplitz),
    "Vandermonde": from_matrix(vandermonde),
    "integers -3..3": from_matrix(lambda rng: rng.integers(-3, 4, draw_size(rng)).astype(float)),
    "low rank, A = B C": from_matrix(low_rank),
    "block-diagonal": from_matrix(block_diagonal),
    "rows that see some columns": from_matrix(blocked_rows),
    "sparse Gaussian stored dense": from_matrix(sparse_gaussian),
    "correlated Gaussian": from_matrix(correlated),
    "x0 range 1..1e-12": wide_range,
    "smallest of x0 1e-13..1e-6": one_small_coefficient,
    "K >= M": too_dense,
    "complex Gaussian": complex_gaussian,
    "bounds": bounded,
    PLANTED: planted_adversary,
}


def draw_problem(seed: int) -> tuple[str, Problem]:
    family = tuple(FAMILIES)[seed % len(FAMILIES)]
    return family, FAMILIES[family](np.random.default_rng([2032, seed]))


def attempt(seed: int) -> Trial:
    family, problem = draw_problem(seed)
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `benchmarks.hostile` counts them
            found = sg.recover(problem.A, problem.y, rng=seed, **problem.options)
    except Exception as failure:
        text = f"{type(failure).__name__}: {failure}"[:120]
        return Trial(seed, family, False, np.inf, time.perf_counter() - started, text)
    seconds = time.perf_counter() - started
    error = float(np.max(np.abs(found.x - problem.x)) / np.max(np.abs(problem.x)))
    return Trial(seed, family, bool(found.certified), error, seconds, "")


def row(heading: str, trials: list[Trial]) -> str:
    right, certified = sum(t.right for t in trials), sum(t.certified for t in trials)
    false, failed = sum(t.false for t in trials), sum(bool(t.failure) for t in trials)
    refused = sum(t.right and not t.certified for t in trials)
    counts = " | ".join(map(str, (len(trials), right, certified, false, refused, failed)))
    mean = 1e3 * sum(t.seconds for t in trials) / len(trials)
    return f"| {heading} | {counts} | {mean:.0f} |"


def table(trials: list[Trial], total: bool = True) -> list[str]:
    """Return one line per family, and one for all."""
    groups = {family: [t for t in trials if t.family == family] for family in FAMILIES}
    lines = ["| family | runs | right | certified | false | right, not certified | errors | mean ms |"]
    lines.append("|---|" + "--:|" * 7)
    lines += [row(family, group) for family, group in groups.items() if group]
    return lines + ([row("all", trials)] if total and trials else [])


def report(trials: list[Trial]) -> str:
    honest = [t for t in trials if t.family != PLANTED]
    planted = [t for t in trials if t.family == PLANTED]
    false = [f"- FALSE: seed {t.seed}, {t.family}: relative error {t.error:.2g}" for t in honest if t.false]
    failed = [f"- error: seed {t.seed}, {t.family}: {t.failure}" for t in trials if t.failure]
    apart = ["", "Undetectable:", "", *table(planted, total=False)] if planted else []
    return "\n".join([*table(honest), *apart, "", *false, *failed])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=2000)
    parser.add_argument("first_seed", type=int, nargs="?", default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started = time.monotonic()
    trials: list[Trial] = []
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        seeds = range(options.first_seed, options.first_seed + options.count)
        for trial in pool.imap_unordered(attempt, seeds):
            trials.append(trial)
            if len(trials) % 200 == 0:
                print(f"{len(trials)} problems, {time.monotonic() - started:.0f} s", flush=True)
    print(f"\n{len(trials)} problems from seed {options.first_seed}, {time.monotonic() - started:.0f} s\n")
    print(report(sorted(trials)))


if __name__ == "__main__":
    main()
