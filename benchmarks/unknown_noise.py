"""Errors where nobody says how large the noise is: `python -m benchmarks.unknown_noise [TRIALS] [FIRST_TRIAL]`.

N = 100, M = 50; K = 10 and 20 normal non-zeros of random signs (`--distribution` for others); Gaussian noise with a
signal to noise ratio of 10 to 40 dB; 20 trials per cell from trial 2000 on, the same problems for all. Beside the
default, told nothing and told the standard deviation, stand solvers that are told it, and others that find out by
themselves: abess (`pip install abess==0.4.11`), LassoCV and `trade_off`. Prints Markdown tables; progress goes to
stderr. All run in one process, on one thread and in turns, each problem beginning with another solver; times are the
processor's, so that their ratios survive a busy machine. `--only NAME` (repeatable) picks the rows whose names begin
so; the yardstick always stays.

abess by itself tries fewer than int(M / (log(log M) log N)) = 7 non-zeros, which is too few here, so that it is given
a range: 0 to 30. Its default criterion, EBIC, is the yardstick. GIC takes all 30 nearly always; searched by golden
section over 0 to 25 it does better where K = 20, and worse where K = 10. That was seen on other problems than these.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core for everybody; set before NumPy is loaded

import abess  # noqa: E402
import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.linear_model import LassoCV  # noqa: E402

import sparsegauge as sg  # noqa: E402

N, M, FIRST_TRIAL = 100, 50, 2000
RATIOS = (10, 15, 20, 30, 40)
NONZEROS = (10, 20)
CELLS = [(K, ratio) for K in NONZEROS for ratio in RATIOS]
DISTRIBUTIONS = {"normal": "normal", "ones": "binomial", "uniform": "uniform", "exponential": "exponential"}
RESAMPLES = 2000
NOT_TOLD, TOLD, YARDSTICK = "default, told nothing", "default, told", "abess, EBIC"
ORACLE = "least squares on the true support"

Array = np.ndarray
Method = Callable[[Array, Array, float], tuple[Array, float]]  # A, y, the noise -> x and the noise found, if any


@dataclass(frozen=True)
class Cell:
    """What came out of one K and signal to noise ratio: relative errors, seconds and noise found over true noise."""

    errors: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    noises: dict[str, list[float]] = field(default_factory=dict)


def draw(distribution: str, K: int, ratio: int, trial: int) -> tuple[Array, Array, Array, float]:
    """A, x, y and the standard deviation of the noise."""
    rng = np.random.default_rng([2016, 11, K, ratio, trial, list(DISTRIBUTIONS).index(distribution)])
    x = sg.sparse_signal(N, K, DISTRIBUTIONS[distribution], signs="random", rng=rng)
    A = sg.gaussian_matrix(M, N, rng=rng)
    deviation = float(np.linalg.norm(A @ x)) / np.sqrt(M) * 10 ** (-ratio / 20)
    return A, x, A @ x + deviation * rng.standard_normal(M), deviation


def not_told(A: Array, y: Array, deviation: float) -> tuple[Array, float]:
    """The default as it comes: before `noise="auto"`, that meant no noise at all."""
    found = sg.recover(A, y, rng=0)
    return found.x, getattr(found, "noise", np.nan)


def told(solver: object = None) -> Method:
    def run(A: Array, y: Array, deviation: float) -> tuple[Array, float]:
        return sg.recover(A, y, solver=solver, noise=deviation, rng=0).x, np.nan

    return run


def by_abess(**options: object) -> Method:
    def run(A: Array, y: Array, deviation: float) -> tuple[Array, float]:
        return abess.LinearRegression(fit_intercept=False, thread=1, **options).fit(A, y).coef_, np.nan

    return run


def by_lasso(A: Array, y: Array, deviation: float) -> tuple[Array, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LassoCV(fit_intercept=False, cv=5, n_jobs=1).fit(A, y).coef_, np.nan


def by_trade_off(A: Array, y: Array, deviation: float) -> tuple[Array, float]:
    found = sg.trade_off(A, y, rng=0)
    return found.x, found.noise


def methods(only: list[str]) -> dict[str, Method]:
    """All of them, or those whose names begin with one of `only`."""
    every: dict[str, Method] = {
        NOT_TOLD: not_told,
        TOLD: told(),
        YARDSTICK: by_abess(ic_type="ebic", support_size=range(31)),
        "abess, GIC": by_abess(ic_type="gic", support_size=range(31)),
        "abess, GIC, golden section": by_abess(ic_type="gic", path_type="gs", s_min=0, s_max=25),
        "LassoCV": by_lasso,
    }
    if hasattr(sg, "trade_off"):
        every["trade_off"] = by_trade_off
    every |= {"EP, told": told(sg.EP()), "SBL, told": told(sg.SBL()), "OMP, told": told(sg.OMP())}
    chosen = tuple(only) or ("",)
    return {name: method for name, method in every.items() if name == YARDSTICK or name.startswith(chosen)}


def oracle(A: Array, x: Array, y: Array) -> Array:
    found = np.zeros(N)
    support = np.flatnonzero(x)
    found[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return found


def relative_error(found: Array, x: Array) -> float:
    return float(np.linalg.norm(found - x) / np.linalg.norm(x))


def measured(chosen: dict[str, Method], problems: list[tuple[Array, Array, Array, float]]) -> Cell:
    """Every method on every problem, in turns."""
    cell = Cell({name: [] for name in (*chosen, ORACLE)}, {name: [] for name in chosen}, {name: [] for name in chosen})
    names = list(chosen)
    for number, (A, x, y, deviation) in enumerate(problems):
        cell.errors[ORACLE].append(relative_error(oracle(A, x, y), x))
        first = number % len(names)
        for name in names[first:] + names[:first]:
            started = time.process_time()
            found, noise = chosen[name](A, y, deviation)
            cell.seconds[name].append(time.process_time() - started)
            cell.errors[name].append(relative_error(found, x))
            cell.noises[name].append(noise / deviation)
    return cell


def decibels(errors: list[float], reference: list[float]) -> tuple[float, float]:
    """The mean error over the reference's in dB, and its standard error from resampling the problems of both alike."""
    ours, theirs = np.array(errors), np.array(reference)
    picks = np.random.default_rng(0).integers(len(ours), size=(RESAMPLES, len(ours)))
    resampled = 20 * np.log10(ours[picks].mean(axis=1) / theirs[picks].mean(axis=1))
    return 20 * float(np.log10(ours.mean() / theirs.mean())), float(resampled.std())


def averaged(values: list[tuple[float, float]]) -> tuple[float, float]:
    """The mean of independent values, and its standard error."""
    return float(np.mean([v for v, _ in values])), float(np.linalg.norm([s for _, s in values])) / len(values)


def shown(value: tuple[float, float]) -> str:
    return f"{value[0]:.1f} ± {value[1]:.1f}"


def row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def header(*titles: str) -> list[str]:
    return [row(*titles), "|---|" + "--:|" * (len(titles) - 1)]


def error_table(results: dict[tuple[int, int], Cell], K: int) -> list[str]:
    """The dB above the oracle, and ms, of all methods for one K."""
    lines = ["", f"## K = {K}: dB above {ORACLE}", ""]
    lines += header("solver", *(f"{ratio} dB" for ratio in RATIOS), "mean", "ms")
    for name in results[CELLS[0]].seconds:
        cells = [results[K, ratio] for ratio in RATIOS]
        values = [decibels(cell.errors[name], cell.errors[ORACLE]) for cell in cells]
        cost = 1e3 * float(np.mean([cell.seconds[name] for cell in cells]))
        lines.append(row(name, *map(shown, values), shown(averaged(values)), f"{cost:.1f}"))
    own = [f"{20 * np.log10(np.mean(results[K, ratio].errors[ORACLE])):.1f}" for ratio in RATIOS]
    return [*lines, row("(the oracle's own error in dB)", *own, "", "")]


def paired_table(results: dict[tuple[int, int], Cell]) -> list[str]:
    """The default that is told nothing over each other method, on the same problems."""
    lines = ["", f"## {NOT_TOLD}: dB above each other method, paired", ""]
    lines += header("over", *(f"K = {K}, {ratio} dB" for K, ratio in results))
    for name in results[CELLS[0]].seconds:
        if name != NOT_TOLD:
            gaps = (decibels(cell.errors[NOT_TOLD], cell.errors[name]) for cell in results.values())
            lines.append(row(name, *(f"{value:.2f} ± {error:.2f}" for value, error in gaps)))
    return lines


def time_table(results: dict[tuple[int, int], Cell]) -> list[str]:
    """Mean times, and ratios over the yardstick on the same problem."""
    lines = ["", f"## Times, and how many times that of {YARDSTICK}", ""]
    lines += header("solver", "mean ms", "median ms", "ratio of means", "median ratio", "largest ratio")
    base = np.concatenate([cell.seconds[YARDSTICK] for cell in results.values()])
    for name in results[CELLS[0]].seconds:
        spent = np.concatenate([cell.seconds[name] for cell in results.values()])
        ratios = spent / base
        milliseconds = f"{1e3 * spent.mean():.1f}", f"{1e3 * np.median(spent):.1f}"
        quotients = spent.mean() / base.mean(), np.median(ratios), ratios.max()
        lines.append(row(name, *milliseconds, *(f"{q:.3g}" for q in quotients)))
    return lines


def ignorance_table(results: dict[tuple[int, int], Cell]) -> list[str]:
    """What not knowing the noise costs, and the noise found."""
    lines = ["", "## What not knowing costs: the default told nothing over the default told", ""]
    lines += header("K", "SNR", "dB", "mean time", "noise found / true: median", "10 % to 90 %")
    gaps = []
    for (K, ratio), cell in results.items():
        gaps.append(decibels(cell.errors[NOT_TOLD], cell.errors[TOLD]))
        quotient = np.sum(cell.seconds[NOT_TOLD]) / np.sum(cell.seconds[TOLD])
        noises = np.array(cell.noises[NOT_TOLD])
        found = ["", ""]
        if np.isfinite(noises).all():
            low, middle, high = np.quantile(noises, [0.1, 0.5, 0.9])
            found = [f"{middle:.2f}", f"{low:.2f} to {high:.2f}"]
        lines.append(row(str(K), f"{ratio} dB", shown(gaps[-1]), f"{quotient:.2f}", *found))
    sums = [np.sum([np.sum(cell.seconds[name]) for cell in results.values()]) for name in (NOT_TOLD, TOLD)]
    return [*lines, row("all", "", shown(averaged(gaps)), f"{sums[0] / sums[1]:.2f}", "", "")]


def report(results: dict[tuple[int, int], Cell], distribution: str, trials: int, first: int) -> str:
    lines = [
        "# Recovery where the noise is not known",
        "",
        f"20 log10 of the mean relative error over that of {ORACLE}, and its standard error from",
        f"resampling problems; N = {N}, M = {M}, non-zeros ({distribution}) of random signs, {trials} trials per",
        f"cell from trial {first} on, the same problems for all. Only what is called told knows the noise.",
        f"sparsegauge {sg.__version__}, abess {abess.__version__}; one thread, processor time.",
    ]
    for K in NONZEROS:
        lines += error_table(results, K)
    if NOT_TOLD in results[CELLS[0]].seconds:
        lines += paired_table(results)
    lines += time_table(results)
    if {NOT_TOLD, TOLD} <= set(results[CELLS[0]].seconds):
        lines += ignorance_table(results)
    return "\n".join([*lines, ""])


def main(distribution: str, trials: int, first: int, only: list[str]) -> None:
    chosen = methods(only)
    measured(chosen, [draw(distribution, 5, 20, 0)])  # loads and compiles
    results = {}
    for K, ratio in CELLS:
        results[K, ratio] = measured(chosen, [draw(distribution, K, ratio, first + t) for t in range(trials)])
        print(f"K = {K}, {ratio} dB", file=sys.stderr, flush=True)
    print(report(results, distribution, trials, first))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unknown_noise")
    parser.add_argument("trials", type=int, nargs="?", default=20)
    parser.add_argument("first_trial", type=int, nargs="?", default=FIRST_TRIAL)
    parser.add_argument("--distribution", choices=list(DISTRIBUTIONS), default="normal")
    parser.add_argument("--only", action="append", default=[], metavar="NAME")
    given = parser.parse_args()
    main(given.distribution, given.trials, given.first_trial, given.only)
