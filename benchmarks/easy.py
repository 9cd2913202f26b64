"""Easy problems, one signal and many: `python -m benchmarks.easy [TRIALS] [FIRST_TRIAL] [--largest N]`.

Gaussian A, M = N / 2, K = N / 10 normal non-zeros, exact y. One signal: the default beside SPGL1 (basis pursuit, its
own tolerances) and scikit-learn's orthogonal matching pursuit, which is told K. Many: L = 200 signals beside the same
pursuit with a Gram matrix, told K. All run in one process, with one thread for BLAS, in turns; times are the
processor's and include everything, checks and certificates too. `solved` counts errors below 1e-6 of the largest
coefficient, and memory is the peak that NumPy allocates during the call, in units of A.
"""

from __future__ import annotations

import argparse
import os
import time
import tracemalloc
from collections.abc import Callable

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core for everybody; set before NumPy is loaded

import numpy as np  # noqa: E402
import spgl1  # noqa: E402
from sklearn.linear_model import orthogonal_mp  # noqa: E402

import sparsegauge as sg  # noqa: E402

ONE, MANY, SIGNALS = (500, 1000, 2000, 5000), (100, 500, 1000), 200
OURS, SPGL1, OMP = "default", "SPGL1", "OMP, told K"
LIMITS = {SPGL1: 0.8, OMP: 4.0}
LIMIT_MANY = 3.0
Array = np.ndarray


def draw(N: int, L: int, trial: int) -> tuple[Array, Array]:
    """A and X, with one signal per column."""
    rng = np.random.default_rng([2019, N, L, trial])
    X = np.zeros((N, L))
    for column in X.T:
        column[rng.choice(N, N // 10, replace=False)] = rng.standard_normal(N // 10)
    return rng.standard_normal((N // 2, N)), X


def pursue(A: Array, Y: Array, *, gram: bool = False) -> Array:
    """Scikit-learn's pursuit on columns of length 1."""
    lengths = np.linalg.norm(A, axis=0)
    found = orthogonal_mp(A / lengths, Y, n_nonzero_coefs=A.shape[1] // 10, precompute=gram)
    return (found.T / lengths).T


def timed(solve: Callable[[], Array]) -> tuple[float, Array]:
    start = time.process_time()
    x = solve()
    return time.process_time() - start, x


def peak_memory(A: Array, y: Array) -> float:
    tracemalloc.start()
    sg.recover(A, y)
    peak = tracemalloc.get_traced_memory()[1] / A.nbytes
    tracemalloc.stop()
    return peak


def one_signal(N: int, trials: range) -> str:
    seconds: dict[str, list[float]] = {OURS: [], SPGL1: [], OMP: []}
    errors: dict[str, list[float]] = {name: [] for name in seconds}
    certified = 0
    for trial in trials:
        A, X = draw(N, 1, trial)
        x = X[:, 0]
        y = A @ x
        methods = {
            OURS: lambda A=A, y=y: sg.recover(A, y),
            SPGL1: lambda A=A, y=y: spgl1.spg_bp(A, y)[0],
            OMP: lambda A=A, y=y: pursue(A, y),
        }
        for name, method in methods.items():
            spent, found = timed(method)
            if name == OURS:
                certified += found.certified
                found = found.x
            seconds[name].append(spent)
            errors[name].append(float(np.abs(found - x).max() / np.abs(x).max()))
    ratios = " | ".join(
        f"{np.sum(seconds[OURS]) / np.sum(seconds[peer]):.2f} (at most {limit:g})" for peer, limit in LIMITS.items()
    )
    worst = " | ".join(f"{np.median(errors[name]):.0e}" for name in seconds)
    return (
        f"| {N} | {1e3 * np.mean(seconds[OURS]):.0f} | {ratios} | {worst} | {certified} of {len(trials)} "
        f"| {peak_memory(A, y):.1f} |"
    )


def many_signals(N: int, trials: range) -> str:
    spent, solved, certified = {OURS: 0.0, OMP: 0.0}, {OURS: 0, OMP: 0}, 0
    for trial in trials:
        A, X = draw(N, SIGNALS, trial)
        Y = A @ X
        methods = {OURS: lambda A=A, Y=Y: sg.recover(A, Y), OMP: lambda A=A, Y=Y: pursue(A, Y, gram=True)}
        for name, method in methods.items():
            seconds, found = timed(method)
            if name == OURS:
                certified += int(found.certified.sum())
                found = found.x
            spent[name] += seconds
            solved[name] += int(np.sum(np.abs(found - X).max(axis=0) < 1e-6 * np.abs(X).max(axis=0)))
    signals = SIGNALS * len(trials)
    return (
        f"| {N} | {1e3 * spent[OURS] / signals:.2f} | {spent[OURS] / spent[OMP]:.2f} (at most {LIMIT_MANY:g}) "
        f"| {solved[OURS]} | {solved[OMP]} | {certified} | {signals} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trials", type=int, nargs="?", default=5)
    parser.add_argument("first", type=int, nargs="?", default=3000)
    parser.add_argument("--largest", type=int, default=max(ONE))
    options = parser.parse_args()
    trials = range(options.first, options.first + options.trials)
    A, X = draw(60, 2, 0)
    sg.recover(A, A @ X)  # so that loading is not timed
    print(f"One signal, {options.trials} trials from {options.first}\n")
    print(f"| N | ms | over {SPGL1} | over {OMP} | error | of {SPGL1} | of {OMP} | certified | memory |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    for N in ONE:
        if options.largest >= N:
            print(one_signal(N, trials), flush=True)
    print(f"\n{SIGNALS} signals at once, {options.trials} trials\n")
    print(f"| N | ms per signal | over {OMP} | solved | by {OMP} | certified | of |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for N in MANY:
        print(many_signals(N, trials), flush=True)


if __name__ == "__main__":
    main()
