"""Is any certificate false? `python -m benchmarks.certificates 10000 [--output docs/certificates.md]`.

Random Gaussian problems of all kinds (real, x >= 0, complex), sizes N = 12..200 and 3 <= M < N, K = 1..N/2, so that
M <= K too, where sparsity says nothing. Solvers take turns. Every problem is drawn from its own number.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import argparse  # noqa: E402
import time  # noqa: E402
from collections import Counter  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.recovery.solver import Solver  # noqa: E402

RIGHT = 1e-6  # relative error of what a certificate may be given to
DISTRIBUTIONS = ("binomial", "uniform", "normal", "exponential")
PORTFOLIO = sg.Portfolio(restarts=2, propagations=2)
SOLVERS: dict[str, tuple[Solver, ...]] = {
    "real": (
        *(PORTFOLIO, sg.GDSReweighted(), PORTFOLIO, sg.ReweightedL1(), PORTFOLIO, sg.IRLS()),
        *(PORTFOLIO, sg.EP(restarts=0), PORTFOLIO, sg.MinimumNorm(), PORTFOLIO, sg.SBL(max_iterations=200)),
    ),
    "x >= 0": (PORTFOLIO, sg.BasisPursuit(), PORTFOLIO, sg.GDSReweighted(), PORTFOLIO, sg.EP(restarts=0)),
    "complex": (PORTFOLIO, sg.GDSReweighted(), PORTFOLIO, sg.IRLS(), PORTFOLIO, sg.SL0()),
}
TURNS = ("real", "x >= 0", "real", "complex")


class Trial(NamedTuple):
    kind: str
    solver: str
    distribution: str
    N: int
    M: int
    K: int
    certified: bool
    right: bool


def tried(number: int) -> Trial:
    rng = np.random.default_rng([2017, number])
    kind = TURNS[number % len(TURNS)]
    solvers = SOLVERS[kind]
    solver = solvers[number // len(TURNS) % len(solvers)]
    N = round(12 * (200 / 12) ** (rng.random() ** 2))  # small ones are cheap, and as easily deceived
    M, K = int(rng.integers(3, N)), int(rng.integers(1, N // 2 + 1))
    distribution = str(rng.choice(DISTRIBUTIONS))
    signs = "positive" if kind == "x >= 0" else str(rng.choice(["positive", "random"]))
    x = sg.sparse_signal(N, K, distribution, signs=signs, rng=rng) * 10 ** rng.uniform(-3, 3)
    A = rng.standard_normal((M, N))
    if kind == "complex":
        A = A + 1j * rng.standard_normal((M, N))
        x = x * np.exp(2j * np.pi * rng.random(N))
    found = sg.recover(A, A @ x, solver=solver, bounds=(0, None) if kind == "x >= 0" else None, rng=rng)
    right = bool(np.linalg.norm(found.x - x) <= RIGHT * np.linalg.norm(x))
    return Trial(kind, type(solver).__name__, distribution, N, M, K, found.certified, right)


def table(trials: list[Trial], key: str, heading: str) -> list[str]:
    """One line per value of `key`; what is certified and not right would be false."""
    counts = {str(getattr(t, key)): Counter[str]() for t in trials}
    for t in trials:
        count = counts[str(getattr(t, key))]
        count.update({"problems": 1, "right": t.right, "certified": t.certified, "false": t.certified and not t.right})
        if t.M <= t.K:
            count.update({"few": 1, "few certified": t.certified})
    lines = [
        f"| {heading} | problems | right | certified | false | M <= K: problems | certified |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    counts = dict(sorted(counts.items())) | {"all": sum(counts.values(), Counter())}
    columns = ("problems", "right", "certified", "false", "few", "few certified")
    return lines + [f"| {value} | {' | '.join(str(c[k]) for k in columns)} |" for value, c in counts.items()]


def page(trials: list[Trial]) -> str:
    certified = sum(t.certified for t in trials)
    false = sum(t.certified and not t.right for t in trials)
    bound = 3 / certified if certified else 1.0  # 95 %: (1 - p)^n = 0.05
    return "\n".join(
        [
            "# Certificates: are any false?",
            "",
            f"{len(trials):,} random Gaussian problems, N = 12..200, 3 <= M < N, K = 1..N/2, magnitudes binomial,",
            f"uniform, normal or exponential; a false certificate is one with a relative error above {RIGHT:g}.",
            f"{certified:,} certificates were given and {false} of them {'was' if false == 1 else 'were'} false"
            + (f", so that with 95 % confidence fewer than one in {1 / bound:,.0f} is." if false == 0 else "."),
            "The Portfolio had a small budget (restarts=2, propagations=2). Where M <= K, a",
            f"certificate must never come. `python -m benchmarks.certificates {len(trials)}` measures it again;",
            "`tests/recovery/test_certificates.py` has the matrices that are discrete or structured.",
            "",
            *table(trials, "kind", "system"),
            "",
            *table(trials, "solver", "solver"),
            "",
            *table(trials, "distribution", "magnitudes"),
            "",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certificates", description=__doc__.splitlines()[0])
    parser.add_argument("problems", type=int)
    parser.add_argument("--output", type=Path, default=Path("docs/certificates.md"))
    options = parser.parse_args()
    trials: list[Trial] = []
    started = time.monotonic()
    for number in range(options.problems):
        trials.append(tried(number))
        if trials[-1].certified and not trials[-1].right:
            print(f"FALSE: problem {number}: {trials[-1]}", flush=True)
        if number % 500 == 499:
            print(f"{number + 1} problems, {time.monotonic() - started:.0f} s", flush=True)
            options.output.write_text(page(trials), encoding="utf-8")
    options.output.write_text(page(trials), encoding="utf-8")


if __name__ == "__main__":
    main()
