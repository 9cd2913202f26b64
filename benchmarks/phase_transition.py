"""How many measurements are needed: `python -m benchmarks.phase_transition [TRIALS] [--measure PICTURE]`.

Prints the thresholds M/N for large N and a Gaussian A by state evolution, then how many of TRIALS signals at N = 1000
`MessagePassing` finds at .03 above them, told neither the distribution nor the sign, with its median and longest time.

With `--measure`, instead, the least M/N at N = 100 and 1000 where the default, the l1 norm and orthogonal matching
pursuit find most of TRIALS signals of normal values, by bisection, as a table and a picture.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one core; set before NumPy is loaded

import numpy as np
from scipy.stats import norm

import sparsegauge as sg
from sparsegauge._arrays import Array
from sparsegauge.recovery.message_passing import Slab, denoise
from sparsegauge.recovery.problem import Problem

N, ABOVE, FIRST_TRIAL = 1000, 0.03, 5000
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
BINS, NODES, REACH = 160, 801, 8.0  # bins of a density, nodes of an integral, and its ends in standard deviations
VARIANCES = np.geomspace(1e-3, 3, 30)  # at which mmse(v)/v is computed, in units of the slab's mean square
SIZES, STEP, RIGHT = (100, 1000), 0.01, 1e-3  # N, the resolution in M/N, and the relative error of a success
L1 = (0.329, 0.511, 0.646, 0.750, 0.831, 0.894)  # thresholds of the l1 norm at SHARES
LARGEST_PROGRAM, SPGL1_OPTIONS = 100, {"opt_tol": 1e-6, "bp_tol": 1e-6, "iter_lim": 5000}
SOLVER_SECONDS = 10.0  # after which the default starts no further member
Measured = dict[str, list[float]]  # per solver the least M/N at each of SHARES


def histogram(density: Callable[[Array], Array], low: float, high: float) -> Slab:
    """Return a density as a slab of one component."""
    edges = np.linspace(low, high, BINS + 1)
    heights = density((edges[1:] + edges[:-1]) / 2)
    return Slab(edges, (heights / (heights @ np.diff(edges)))[None, :], np.ones(1))


def normal(x: Array) -> Array:
    """Return the standard normal density, up to a factor."""
    return np.exp(-0.5 * x * x)


SIGNALS = {
    ("normal", "natural"): histogram(normal, -5.0, 5.0),
    ("uniform", "positive"): histogram(np.ones_like, 0.0, 1.0),
    ("uniform", "random"): histogram(np.ones_like, -1.0, 1.0),
    ("exponential", "positive"): histogram(lambda x: np.exp(-x), 0.0, 12.0),
}


def threshold(slab: Slab, rho: float) -> float:
    """Return the least M/N at which state evolution, v <- mmse(v) N/M, ends at 0: the largest mmse(v)/v."""
    power = float(slab.heights @ np.diff(slab.edges**3)) / 3
    return max(mean_squared_error(slab, rho, v) / v for v in power * VARIANCES)


def mean_squared_error(slab: Slab, rho: float, variance: float) -> float:
    """Return the mean variance of x given r = x + N(0, variance), over all r."""
    deviation = variance**0.5
    near = np.linspace(-REACH * deviation, REACH * deviation, NODES)
    wide = np.linspace(slab.edges[0] - REACH * deviation, slab.edges[-1] + REACH * deviation, NODES)
    r = np.unique(np.concatenate([near, wide]))
    posterior = denoise(r, variance, rho, slab)
    spike = (1 - rho) * np.exp(-0.5 * r * r / variance) / np.sqrt(2 * np.pi * variance)
    in_slab = rho * slab.heights @ posterior_mass(r, deviation, slab)
    return float(np.trapezoid((spike + in_slab) * posterior.variance, r))


def posterior_mass(r: Array, deviation: float, slab: Slab) -> Array:
    """Return the probability that r + N(0, deviation^2) lies in each bin."""
    return np.diff(norm.cdf((slab.edges[:, None] - r) / deviation), axis=0)


def success(distribution: str, signs: str, rho: float, m: int, trials: int) -> str:
    """Return how many signals are found, with the median and the longest time."""
    found, seconds = 0, []
    for trial in range(FIRST_TRIAL, FIRST_TRIAL + trials):
        rng = np.random.default_rng(trial)
        x = sg.sparse_signal(N, round(rho * N), distribution, signs=signs, rng=rng)
        A = sg.gaussian_matrix(m, N, rng=rng)
        start = time.process_time()
        answer = sg.MessagePassing().solve(Problem.of(A, A @ x), 0)
        seconds.append(time.process_time() - start)
        found += bool(np.linalg.norm(answer.x - x) < 1e-6 * np.linalg.norm(x))
    return f"{found}/{trials} ({np.median(seconds):.1f} s, {max(seconds):.1f} s)"


def by_default(A: Array, y: Array, k: int) -> Array:
    """Return x by the default, told that y is exact."""
    return sg.recover(A, y, noise=0, solver=sg.Portfolio(time_limit=SOLVER_SECONDS)).x


def by_l1(A: Array, y: Array, k: int) -> Array:
    """Return x of the least l1 norm: by linear programming, or by SPGL1 where that would take minutes."""
    import spgl1

    if A.shape[1] <= LARGEST_PROGRAM:
        return sg.BasisPursuit().solve(Problem.of(A, y), 0).x
    return np.asarray(spgl1.spg_bp(A, y, **SPGL1_OPTIONS)[0])


def by_pursuit(A: Array, y: Array, k: int) -> Array:
    """Return x by scikit-learn's orthogonal matching pursuit, told the number of non-zeros."""
    from sklearn.linear_model import orthogonal_mp

    lengths = np.linalg.norm(A, axis=0)
    return np.asarray(orthogonal_mp(A / lengths, y, n_nonzero_coefs=k) / lengths)


SOLVERS: dict[str, Callable[[Array, Array, int], Array]] = {
    "default": by_default,
    "l1 norm": by_l1,
    "OMP, told K": by_pursuit,
}


def finds_most(solve: Callable[[Array, Array, int], Array], n: int, k: int, m: int, trials: int) -> bool:
    """Return whether more than half of the signals are found, as soon as that is clear."""
    found = missed = 0
    while max(found, missed) <= trials // 2:
        rng = np.random.default_rng([FIRST_TRIAL + found + missed, n, k, m])
        x = sg.sparse_signal(n, k, "normal", rng=rng)
        A = sg.gaussian_matrix(m, n, rng=rng)
        right = bool(np.linalg.norm(solve(A, A @ x, k) - x) < RIGHT * np.linalg.norm(x))
        found, missed = found + right, missed + (not right)
    return found > missed


def least_share(solve: Callable[[Array, Array, int], Array], n: int, rho: float, trials: int) -> float:
    """Return the least M/N, of those that bisection between K/N and 1 tries, at which most signals are found."""
    low, high = round(rho / STEP), round(1 / STEP)  # in units of STEP: K = M is never enough, M = N always
    while high - low > 1:
        middle = (low + high) // 2
        if finds_most(solve, n, round(rho * n), round(middle * STEP * n), trials):
            high = middle
        else:
            low = middle
    return high * STEP


def measure(trials: int, picture: Path) -> None:
    """Print the least M/N of all solvers, and draw them beside the thresholds."""
    measured: dict[int, Measured] = {}
    for n in SIZES:
        measured[n] = {}
        for label, solve in SOLVERS.items():
            start = time.process_time()
            row = measured[n][label] = [least_share(solve, n, rho, trials) for rho in SHARES]
            cells = " | ".join(f"{value:.2f}".lstrip("0") for value in row)
            print(f"| {n} | {label} | {cells} |  {time.process_time() - start:.0f} s", flush=True)
    draw(measured, picture)


def draw(measured: dict[int, Measured], picture: Path) -> None:
    """Write the picture: one panel per N, with the thresholds for large N as lines."""
    from matplotlib.figure import Figure

    thresholds = [threshold(SIGNALS["normal", "natural"], rho) for rho in SHARES]
    figure = Figure(figsize=(8.4, 4.3), layout="constrained")
    panels = figure.subplots(1, len(measured), sharey=True)
    for axes, (n, rows) in zip(panels, measured.items(), strict=True):
        axes.plot(SHARES, L1, color="#d55e00", dashes=(5, 2), label="l1 norm, large N")
        axes.plot(SHARES, thresholds, color="#0072b2", label="message passing that knows the prior, large N")
        axes.plot(SHARES, SHARES, color="#777777", dashes=(1, 1.5), label="M = K, the information limit")
        for (label, row), marker, colour in zip(rows.items(), "osD", ("#0072b2", "#d55e00", "#009e73"), strict=True):
            axes.plot(SHARES, row, marker, color=colour, markersize=6, markeredgecolor="white", label=label)
        axes.set(title=f"N = {n}", xlabel="non-zeros K/N", xlim=(0.07, 0.63), ylim=(0.05, 1.02), xticks=SHARES)
        axes.grid(color="#e3e3e3", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("measurements needed M/N")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(picture, dpi=120, metadata={"Software": "sparsegauge"})


def print_thresholds(trials: int) -> None:
    """Print the thresholds, and what message passing finds a little above them."""
    rows = {kind: [threshold(slab, rho) for rho in SHARES] for kind, slab in SIGNALS.items()}
    for kind, row in rows.items():
        print(f"| {', '.join(kind)} | {' | '.join(f'{value:.3f}' for value in row)} |", flush=True)
    for kind, row in rows.items() if trials else ():
        cells = [
            success(*kind, rho, round((value + ABOVE) * N), trials) for rho, value in zip(SHARES, row, strict=True)
        ]
        print(f"| {', '.join(kind)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(description="How many measurements are needed to recover a sparse signal.")
    parser.add_argument("trials", nargs="?", type=int, default=None, help="signals per cell; 10, or 5 with --measure")
    parser.add_argument("--measure", type=Path, metavar="PICTURE", help="measure the phase transition and draw it")
    options = parser.parse_args()
    if options.measure is not None:
        measure(5 if options.trials is None else options.trials, options.measure)
    else:
        print_thresholds(10 if options.trials is None else options.trials)


if __name__ == "__main__":
    main()
