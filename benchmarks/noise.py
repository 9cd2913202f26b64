"""Errors of all solvers on identical noisy problems: `python -m benchmarks.noise [TRIALS]`, 20 by default.

N = 100, M = 50; K = 10 and 20 non-zeros of random signs, all of magnitude one or normal; Gaussian noise with a signal
to noise ratio of 10 to 60 dB, of which the solvers are told the standard deviation; trials 2000 and up, on which
nothing was tuned. Writes docs/noise.md, docs/recovery_noise.png and docs/trade_off.png.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # one core per problem; set before NumPy is loaded

import matplotlib as mpl  # noqa: E402
import numpy as np  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from PIL import Image  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.recovery.problem import Problem  # noqa: E402
from sparsegauge.recovery.solver import Solver  # noqa: E402
from sparsegauge.recovery.trade_off import trade_off  # noqa: E402

DOCS = Path(__file__).parents[1] / "docs"
N, M, FIRST_TRIAL = 100, 50, 2000
RATIOS = range(10, 61, 10)
CELLS = [(distribution, K) for distribution in ("ones", "normal") for K in (10, 20)]
SPSA_ITERATIONS = 10_000
SOLVERS: dict[str, Solver] = {
    "MinimumNorm": sg.MinimumNorm(),
    "BasisPursuit": sg.BasisPursuit(),
    "ReweightedL1": sg.ReweightedL1(),
    "OMP": sg.OMP(),
    "Lasso": sg.Lasso(),
    "LARS": sg.LARS(),
    "DantzigSelector": sg.DantzigSelector(),
    "IRLS": sg.IRLS(),
    "SL0": sg.SL0(),
    "SBL": sg.SBL(),
    "EP": sg.EP(),
    "SPSA": sg.SPSA(iterations=SPSA_ITERATIONS),
    "GDSAscent": sg.GDSAscent(),
    "GDSReweighted": sg.GDSReweighted(),
    "Portfolio": sg.Portfolio(),
}
ORACLE = "least squares on the true support"
COLOURS = {
    "Portfolio": ("C3", "-", 2.4),
    "GDSReweighted": ("C1", "-", 2.0),
    "EP": ("C0", "-", 1.4),
    "SBL": ("C2", "-", 1.4),
    "OMP": ("C4", "-", 1.4),
    "BasisPursuit": ("C5", "-", 1.4),
    ORACLE: ("black", "--", 1.2),
}
Errors = dict[tuple[str, str, int, int], np.ndarray]  # by solver, distribution, K and signal to noise ratio


def draw(distribution: str, K: int, ratio: int, trial: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A, x, y and the standard deviation of the noise."""
    rng = np.random.default_rng([2016, 7, K, ratio, trial, len(distribution)])
    x = sg.sparse_signal(N, K, {"ones": "binomial"}.get(distribution, distribution), signs="random", rng=rng)
    A = sg.gaussian_matrix(M, N, rng=rng)
    deviation = float(np.linalg.norm(A @ x)) / np.sqrt(M) * 10 ** (-ratio / 20)
    return A, x, A @ x + deviation * rng.standard_normal(M), deviation


def relative_error(found: np.ndarray, x: np.ndarray) -> float:
    return float(np.linalg.norm(found - x) / np.linalg.norm(x))


def oracle(A: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    found = np.zeros(N)
    support = np.flatnonzero(x)
    found[support] = np.linalg.lstsq(A[:, support], y, rcond=None)[0]
    return found


def measure(trials: int) -> tuple[Errors, dict[str, float]]:
    """Relative errors, and seconds per problem."""
    errors: Errors = {}
    seconds = dict.fromkeys(SOLVERS, 0.0)
    warm = Problem.of(*draw("normal", 10, 20, 0)[::2], noise=0.1)
    for solver in SOLVERS.values():
        solver.solve(warm, np.random.default_rng(0))
    for distribution, K in CELLS:
        for ratio in RATIOS:
            problems = [draw(distribution, K, ratio, FIRST_TRIAL + t) for t in range(trials)]
            errors[ORACLE, distribution, K, ratio] = np.array(
                [relative_error(oracle(A, x, y), x) for A, x, y, _ in problems]
            )
            for name, solver in SOLVERS.items():
                started = time.perf_counter()
                found = [
                    solver.solve(Problem.of(A, y, noise=deviation), np.random.default_rng(0)).x
                    for A, _, y, deviation in problems
                ]
                seconds[name] += (time.perf_counter() - started) / (trials * len(RATIOS) * len(CELLS))
                errors[name, distribution, K, ratio] = np.array(
                    [relative_error(z, x) for z, (_, x, _, _) in zip(found, problems, strict=True)]
                )
            print(f"{distribution}, K = {K}, {ratio} dB", flush=True)
    return errors, seconds


def decibels(errors: np.ndarray) -> tuple[float, float]:
    """The mean error in dB, and its standard error."""
    mean = float(np.mean(errors))
    spread = float(np.std(errors, ddof=1)) / np.sqrt(len(errors)) if len(errors) > 1 else 0.0
    return 20 * np.log10(mean), 20 / np.log(10) * spread / mean


def table(errors: Errors, seconds: dict[str, float], trials: int) -> str:
    lines = [
        "# Recovery from noisy measurements",
        "",
        f"Mean relative error |x - x0| / |x0| in dB, and its standard error; N = {N}, M = {M}, random signs, {trials}",
        f"trials per cell from trial {FIRST_TRIAL} on, the same problems for all. The columns are signal-to-noise",
        "ratios in dB; the solvers are told the standard deviation of the noise. Bold: within a standard error of",
        f"the best. SPSA runs {SPSA_ITERATIONS:,} iterations, not its 50,000. `python -m benchmarks.noise` runs it.",
        "",
        "![Errors over the signal to noise ratio](recovery_noise.png)",
    ]
    for distribution, K in CELLS:
        lines += ["", f"## {distribution.capitalize()}, K = {K}", ""]
        lines += ["| solver | " + " | ".join(str(ratio) for ratio in RATIOS) + " | ms |"]
        lines += ["|---|" + "--:|" * (len(RATIOS) + 1)]
        best = {r: min(decibels(errors[n, distribution, K, r])[0] for n in SOLVERS) for r in RATIOS}
        for name in (*SOLVERS, ORACLE):
            cells = []
            for ratio in RATIOS:
                value, spread = decibels(errors[name, distribution, K, ratio])
                bold = "**" if name in SOLVERS and value <= best[ratio] + spread else ""
                cells.append(f"{bold}{value:.1f}{bold} ± {spread:.1f}")
            cost = f"{1e3 * seconds[name]:.0f}" if name in seconds else ""
            lines.append(f"| {name} | " + " | ".join(cells) + f" | {cost} |")
    lines += ["", "![The trade-off between sparsity and residual](trade_off.png)", ""]
    return "\n".join(lines)


def saved(figure: Figure, path: Path) -> None:
    """Lines need few colours, and pages load faster."""
    figure.savefig(path, dpi=130)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def draw_errors(errors: Errors, path: Path) -> None:
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5), sharex=True, sharey=True, layout="constrained")
    grey = [name for name in SOLVERS if name not in COLOURS]
    for ax, (distribution, K) in zip(axes.flat, CELLS, strict=True):
        for name in (*grey, *reversed(COLOURS)):
            colour, style, width = COLOURS.get(name, ("0.8", "-", 0.9))
            values = [decibels(errors[name, distribution, K, ratio])[0] for ratio in RATIOS]
            label = name if name in COLOURS else "the others" if name == grey[0] else None
            ax.plot(RATIOS, values, style, color=colour, linewidth=width, label=label)
        magnitudes = "all of magnitude 1" if distribution == "ones" else "normal"
        ax.set_title(f"{K} non-zeros, {magnitudes}", fontsize=11)
        ax.grid(alpha=0.3)
    for ax in axes[-1]:
        ax.set_xlabel("signal to noise ratio (dB)")
    for ax in axes[:, 0]:
        ax.set_ylabel("mean relative error (dB)")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    order = [labels.index(name) for name in (*COLOURS, "the others")]
    figure.legend(
        [handles[i] for i in order], [labels[i] for i in order], loc="outside lower center", ncols=4, frameon=False
    )
    saved(figure, path)
    plt.close(figure)


def draw_trade_off(path: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for ax, ratio in zip(axes, (20, 40), strict=True):
        A, x, y, _ = draw("normal", 10, ratio, FIRST_TRIAL)
        trade_off(A, y, least=1e-4, rng=0).plot(ax)
        noise = float(np.linalg.norm(A @ x - y) / np.linalg.norm(y))
        ax.axvline(noise, color="black", linestyle="--", linewidth=1)
        ax.annotate("true noise", (noise, 0.97), xytext=(-4, 0), textcoords="offset points", ha="right")
        ax.set_title(f"10 normal non-zeros, {ratio} dB", fontsize=11)
    axes[1].set_ylabel("")
    saved(figure, path)
    plt.close(figure)


def main(trials: int) -> None:
    draw_trade_off(DOCS / "trade_off.png")
    errors, seconds = measure(trials)
    (DOCS / "noise.md").write_text(table(errors, seconds, trials), encoding="utf-8")
    draw_errors(errors, DOCS / "recovery_noise.png")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
