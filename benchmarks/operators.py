"""Recovery by operators alone, against PyLops' FISTA and IRLS and SPGL1: pictures, convolutions, sampled sounds, tones.

`python -m benchmarks.operators` prints a Markdown table (about 30 minutes of processor time; `--quick` takes one
picture and small sizes, and `--results FILE` resumes an interrupted run), and at its end, where there are several
seeds, the means over these and the lead over the best baseline with its standard error. All get the same operator
and measurements, one thread, and for each parameter the processor time that `recover(A, y)` took, but not less than
0.1 s and not more than `--most` seconds. FISTA has the exact Lipschitz constant. FISTA, IRLS and SPGL1 run once for
each of several parameters, and the table has the best of these runs as judged by the true signal, which nobody knows
in practice.
`recover` is told neither the noise nor that there is any.

Of pictures, all minimise the l1 norm of wavelet coefficients, or something like it. `recover(A, y, transform=("db4",
shape))` uses the same wavelets at all shifts; the column "coefficients" shows `recover` without that.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import sparsegauge as sg

from .operator_problems import TONES, WAVELET, Case, Vector, cases, partial

LEAST_SECONDS = 0.1  # of each run of a baseline
FOUND = 1e-8  # relative error from which a signal counts as found: less is rounding, and leads over it mean nothing
FISTA_WEIGHTS = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4)  # of the l1 norm, in units of max |A^H y|
IRLS_DAMPINGS = (1e-1, 1e-2, 1e-3)  # in units of the largest singular value times the root of the largest entry of x
IRLS_INNER = 30
RESIDUALS = (0.0, 0.01, 0.03)  # of SPGL1, in units of |y|

Key = tuple[str, int, int]  # problem, seed, and side of a picture
Scores = dict[str, float]


# --- the solvers


def ours(case: Case) -> Vector:
    """`recover`, by products with A and A^H alone, told nothing else: the signal, with pictures by `transform`."""
    if case.of_pixels is None:
        x = sg.recover(sg.System(case.A).as_operator(), case.y).x
        return x if case.unit == "tones" else case.show(x)
    shape = case.show(case.x).shape
    return sg.recover(case.of_pixels, case.y, transform=(WAVELET, shape)).x.reshape(shape)


def fista(case: Case, weight: float, seconds: float) -> Vector:
    """PyLops' FISTA: its last iterate when the time is over."""
    import pylops
    from pylops.optimization.cls_sparsity import FISTA

    solver = FISTA(pylops.LinearOperator(case.A))
    pull = case.A.rmatvec(case.y)
    eps = 2 * weight * float(np.max(np.abs(pull)))
    start = time.process_time()
    x = solver.setup(case.y, np.zeros_like(pull), niter=10**6, eps=eps, alpha=1 / case.size, tol=0)
    z = x.copy()
    while time.process_time() - start < seconds:
        x, z, *_ = solver.step(x, z)
    return x


def irls(case: Case, damping: float, seconds: float) -> Vector:
    """PyLops' IRLS for sparse models: its last iterate when the time is over."""
    import pylops
    from pylops.optimization.cls_sparsity import IRLS

    pull = case.A.rmatvec(case.y) / case.size
    solver = IRLS(pylops.LinearOperator(case.A))
    size = damping * np.sqrt(case.size * float(np.max(np.abs(pull))))
    solver.setup(case.y, nouter=10**6, epsI=size, kind="model")
    x, start = np.zeros_like(pull), time.process_time()
    while time.process_time() - start < seconds:
        x = solver.step(x, iter_lim=IRLS_INNER)
    return x


def spgl1(case: Case, residual: float, seconds: float) -> Vector:
    """SPGL1 with at most as many steps as fit in the time, by the time that its first steps take."""
    import spgl1 as package

    size = residual * float(np.linalg.norm(case.y))
    start, first = time.process_time(), 10
    package.spgl1(case.A, case.y, sigma=size, iter_lim=first, verbosity=0)
    per_step = (time.process_time() - start) / first
    steps = max(first, int(seconds / per_step))
    return package.spgl1(case.A, case.y, sigma=size, iter_lim=steps, verbosity=0)[0]


BASELINES: dict[str, tuple[Callable[[Case, float, float], Vector], tuple[float, ...]]] = {
    "FISTA": (fista, FISTA_WEIGHTS),
    "IRLS": (irls, IRLS_DAMPINGS),
    "SPGL1": (spgl1, RESIDUALS),
}


def compare(case: Case, most: float) -> tuple[float, dict[str, float]]:
    """Return our seconds, and the scores: of `recover`, of coefficients alone, and the best one of each baseline.

    A run of a baseline gets at most the given number of seconds.
    """
    start = time.process_time()
    answer = ours(case)
    seconds = time.process_time() - start
    scores = {"recover": case.score_signal(answer), "coefficients": math.nan}
    if case.of_pixels is not None:
        scores["coefficients"] = case.score(sg.recover(sg.System(case.A).as_operator(), case.y).x)
    given = min(max(seconds, LEAST_SECONDS), most)
    for name, (run, parameters) in BASELINES.items():
        scores[name] = case.better([case.score(run(case, parameter, given)) for parameter in parameters])
    return seconds, scores


def shown(score: float, unit: str) -> str:
    """Return a score as the table shows it."""
    if math.isnan(score):
        return ""
    if unit == "tones":
        return f"{score:.0f} of {TONES}"
    return f"{score:.2f}" if unit == "dB" else f"{score:.1e}"


def main() -> None:
    """Print the table, from the results file where there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one picture and small sizes")
    parser.add_argument("--seeds", type=int, nargs="+", default=[2024], help="one run of all problems per seed")
    parser.add_argument("--side", type=int, default=128, help="of the pictures, in pixels: 64, 128, 256 or 512")
    parser.add_argument("--largest", type=int, default=1_000_000, help="number of unknowns of other problems")
    parser.add_argument("--most", type=float, default=10.0, help="seconds of each run of a baseline")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    parser.add_argument("--results", type=Path, help="one JSON row per problem: those in it are not run again")
    options = parser.parse_args()
    done = read_rows(options.results)
    shown_rows: dict[tuple[str, str], list[Scores]] = {}
    sg.recover(*_small())  # imports are not timed
    print(f"| problem | seed | in | s | recover | coefficients | {' | '.join(BASELINES)} |")
    print("|---|--:|---|--:|--:|--:|" + "--:|" * len(BASELINES))
    with threadpool_limits(1):
        for seed in options.seeds:
            for case in cases(seed, options.side, options.quick, options.largest):
                if options.only not in case.name:
                    continue
                key = (case.name, seed, options.side if case.unit == "dB" else 0)
                if key not in done:
                    done[key] = compare(case, options.most)
                    append_row(options.results, key, *done[key])
                shown_rows.setdefault((case.name, case.unit), []).append(done[key][1])
                print(markdown_row(case, seed, *done[key]), flush=True)
    if len(options.seeds) > 1:
        print_means(shown_rows)


def markdown_row(case: Case, seed: int, seconds: float, scores: dict[str, float]) -> str:
    """Return a row of the table, with the best scores in bold."""
    best = case.better([score for score in scores.values() if not math.isnan(score)])
    cells = [
        f"**{shown(score, case.unit)}**" if score == best else shown(score, case.unit) for score in scores.values()
    ]
    return f"| {case.name} | {seed} | {case.unit} | {seconds:.2f} | {' | '.join(cells)} |"


def print_means(rows: dict[tuple[str, str], list[Scores]]) -> None:
    """Print the means over the seeds of each problem, and the leads over the best baseline, with standard errors."""
    head = " | ".join(BASELINES)
    print(f"\n| problem | in | seeds | recover | coefficients | {head} | lead | lead of coefficients |")
    print("|---|---|--:|--:|--:|" + "--:|" * (len(BASELINES) + 2))
    for (name, unit), scores in rows.items():
        columns = ("recover", "coefficients", *BASELINES)
        cells = [shown(mean_score([row[column] for row in scores], unit), unit) for column in columns]
        leads = [
            mean_with_error([lead(row, column, unit) for row in scores]) if not math.isnan(scores[0][column]) else ""
            for column in columns[:2]
        ]
        print(f"| {name} | {unit} | {len(scores)} | {' | '.join(cells + leads)} |")


def mean_score(values: list[float], unit: str) -> float:
    """Return the mean of decibels or counts, and of errors the mean of their logarithms."""
    return float(np.exp(np.mean(np.log(values)))) if unit == "error" else float(np.mean(values))


def lead(scores: Scores, column: str, unit: str) -> float:
    """Return by how much a column is better than the best baseline on one problem, in dB, or in tones."""
    baselines = [scores[name] for name in BASELINES]
    if unit != "error":
        return scores[column] - max(baselines)
    return 20 * math.log10(max(min(baselines), FOUND) / max(scores[column], FOUND))


def mean_with_error(values: list[float]) -> str:
    """Return a mean with its standard error."""
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{np.mean(values):+.2f} ± {error:.2f}"


def read_rows(file: Path | None) -> dict[Key, tuple[float, dict[str, float]]]:
    """Return what earlier runs wrote."""
    if file is None or not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {tuple(row["key"]): (row["seconds"], row["scores"]) for row in rows}


def append_row(file: Path | None, key: Key, seconds: float, scores: dict[str, float]) -> None:
    """Write one row, so that an interrupted run can be resumed."""
    if file is not None:
        with file.open("a", encoding="utf-8") as table:
            table.write(json.dumps({"key": key, "seconds": seconds, "scores": scores}) + "\n")


def _small() -> tuple[sg.System, Vector]:
    case = partial("DCT", 512, 0)
    return sg.System(case.A).as_operator(), case.y


if __name__ == "__main__":
    main()
