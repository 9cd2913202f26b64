"""The default on data that are nearly exact, told nothing: `python -m benchmarks.inexact [COUNT] [FIRST_SEED]`.

500 problems by default, from seed 0 on: N = 60 to 100, M = 30 to 60, K mostly below M / 3 and for one in five up to
M / 2; ones, uniform, normal and exponential non-zeros with natural or random signs. In turns, A and y are stored as
float32, y is rounded to 3 to 12 decimals, or y gets normal noise of 1e-12 to 1e-2 of its norm. The error of the
default, told nothing, is divided by the least error of five solvers that take y as exact, as users would: `noise=0`.
Errors are relative to the norm of x, and floored at 1e-12 before that: two at the level of rounding count as equal.
Solvers run in turns, on one thread; times are the processor's. Prints Markdown tables; progress goes to stderr.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core; set before NumPy is loaded

import numpy as np  # noqa: E402

import sparsegauge as sg  # noqa: E402

FLOOR, LIMIT, WORST = 1e-12, 1.5, 5
QUANTILES = (0.5, 0.9, 0.99, 1.0)
PERTURBATIONS = ("float32", "decimals", "noise")
DISTRIBUTIONS = ("binomial", "uniform", "normal", "exponential")
DEFAULT = "default"
BASELINES = {
    "BasisPursuit": sg.BasisPursuit(),
    "OMP": sg.OMP(),
    "EP": sg.EP(),
    "SBL": sg.SBL(),
    "IRLS": sg.IRLS(),
}

Array = np.ndarray


@dataclass(frozen=True)
class Problem:
    """What is to be solved, the answer, and how it was drawn."""

    A: Array
    y: Array
    x: Array
    perturbation: str
    level: str
    look: str


@dataclass(frozen=True)
class Outcome:
    """Errors relative to the norm of x, floored, and seconds, by solver."""

    seed: int
    problem: Problem
    errors: dict[str, float]
    seconds: dict[str, float]
    status: int

    @property
    def best(self) -> str:
        """The baseline with the least error."""
        return min(BASELINES, key=self.errors.__getitem__)

    @property
    def ratio(self) -> float:
        return self.errors[DEFAULT] / self.errors[self.best]


def perturbed(A: Array, y: Array, perturbation: str, rng: np.random.Generator) -> tuple[Array, Array, str]:
    """A and y as users have them, and how much was changed, in words."""
    if perturbation == "float32":
        return A.astype(np.float32), y.astype(np.float32), "float32"
    if perturbation == "decimals":
        decimals = int(rng.integers(3, 13))
        return A, np.round(y, decimals), f"{decimals} decimals"
    level = 10 ** rng.uniform(-12, -2)
    noise = rng.standard_normal(len(y))
    return A, y + level * np.linalg.norm(y) / np.linalg.norm(noise) * noise, f"noise {level:.1e}"


def draw(seed: int) -> Problem:
    rng = np.random.default_rng([2016, 17, seed])
    M = int(rng.integers(30, 61))
    N = int(rng.integers(max(60, M + 1), 101))
    few = rng.random() < 0.8
    K = int(rng.integers(1, -(-M // 3))) if few else int(rng.integers(-(-M // 3), M // 2 + 1))
    distribution, signs = str(rng.choice(DISTRIBUTIONS)), str(rng.choice(["natural", "random"]))
    x = sg.sparse_signal(N, K, distribution, signs=signs, rng=rng)
    A = sg.gaussian_matrix(M, N, rng=rng)
    perturbation = PERTURBATIONS[seed % len(PERTURBATIONS)]
    measured, y, level = perturbed(A, A @ x, perturbation, rng)
    called = "ones" if distribution == "binomial" else distribution
    return Problem(measured, y, x, perturbation, level, f"{M} x {N}, K = {K}, {called}, {signs} signs")


def solved(seed: int) -> Outcome:
    """All solvers on one problem, beginning with another one each time."""
    problem = draw(seed)
    names = [DEFAULT, *BASELINES]
    first = seed // len(PERTURBATIONS) % len(names)
    errors, seconds, status = {}, {}, 0
    for name in names[first:] + names[:first]:
        started = time.process_time()
        if name == DEFAULT:
            found = sg.recover(problem.A, problem.y, rng=0)
            status = found.status
        else:
            found = sg.recover(problem.A, problem.y, solver=BASELINES[name], noise=0.0, rng=0)
        seconds[name] = time.process_time() - started
        error = np.linalg.norm(found.x.astype(float) - problem.x) / np.linalg.norm(problem.x)
        errors[name] = max(float(error), FLOOR)
    return Outcome(seed, problem, errors, seconds, status)


def ratio_table(outcomes: list[Outcome]) -> list[str]:
    titles = [*(f"{100 * q:g} %" for q in QUANTILES), f"above {LIMIT}", f"below 1 / {LIMIT}"]
    lines = ["", "## The default's error over the least of the others", ""]
    lines += ["| perturbation | problems | " + " | ".join(titles) + " |", "|---|" + "--:|" * (len(titles) + 1)]
    for perturbation in (*PERTURBATIONS, "all"):
        chosen = [o.ratio for o in outcomes if perturbation in ("all", o.problem.perturbation)]
        if chosen:
            ratios = np.array(chosen)
            cells = [f"{r:.3g}" for r in np.quantile(ratios, QUANTILES)]
            shares = [f"{100 * np.mean(s):.1f} %" for s in (ratios > LIMIT, ratios < 1 / LIMIT)]
            lines.append(f"| {perturbation} | {len(ratios)} | " + " | ".join(cells + shares) + " |")
    return lines


def worst_table(outcomes: list[Outcome]) -> list[str]:
    """The seeds with the largest ratios, by perturbation."""
    lines = ["", "## The worst seeds", ""]
    lines += ["| seed | perturbation | problem | ratio | error | least error | whose | status |"]
    lines += ["|--:|---|---|--:|--:|--:|---|--:|"]
    for perturbation in PERTURBATIONS:
        chosen = [o for o in outcomes if o.problem.perturbation == perturbation]
        for o in sorted(chosen, key=lambda o: -o.ratio)[:WORST]:
            numbers = f"{o.ratio:.3g} | {o.errors[DEFAULT]:.1e} | {o.errors[o.best]:.1e}"
            lines.append(f"| {o.seed} | {o.problem.level} | {o.problem.look} | {numbers} | {o.best} | {o.status} |")
    return lines


def solver_table(outcomes: list[Outcome]) -> list[str]:
    """Each solver's times, and how often it is near the best of all."""
    lines = ["", "## Each solver by itself", ""]
    lines += ["| solver | mean ms | median ms | largest ms | median error | within 1.5 of the least of all |"]
    lines += ["|---|--:|--:|--:|--:|--:|"]
    least = np.array([min(o.errors.values()) for o in outcomes])
    for name in (DEFAULT, *BASELINES):
        spent = 1e3 * np.array([o.seconds[name] for o in outcomes])
        errors = np.array([o.errors[name] for o in outcomes])
        times = f"{spent.mean():.1f} | {np.median(spent):.1f} | {spent.max():.0f}"
        near = 100 * np.mean(errors <= LIMIT * least)
        lines.append(f"| {name} | {times} | {np.median(errors):.1e} | {near:.1f} % |")
    return lines


def report(outcomes: list[Outcome]) -> str:
    lines = [
        "# Data that are nearly exact",
        "",
        f"{len(outcomes)} problems from seed {outcomes[0].seed} on, sparsegauge {sg.__version__}; relative errors",
        f"floored at {FLOOR:g}. The default is told nothing, the others that there is no noise.",
    ]
    lines += ratio_table(outcomes) + worst_table(outcomes) + solver_table(outcomes)
    return "\n".join([*lines, ""])


def main(count: int, first: int) -> None:
    solved(first)  # loads and compiles
    outcomes = []
    for seed in range(first, first + count):
        outcomes.append(solved(seed))
        if len(outcomes) % 25 == 0:
            print(f"{len(outcomes)} of {count}", file=sys.stderr, flush=True)
    print(report(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
