"""Are the error bars of metrics true? `python -m benchmarks.error_bars [TRIALS] [PLOT.png]`.

TRIALS signals, 4000 by default, of N independent coefficients each, from four distributions. Counted is how often the
95 % interval of `confidence_interval` holds the metric's true value, which is that of a million quantiles. Beside it,
at N = 50, the standard errors over the true spread between signals, and how often other intervals are right: the value
plus and minus 1.96 standard errors, and the bootstrap's percentiles (400 resamples of an eighth of the signals); five
distributions that nothing was chosen on; and which signals have intervals that miss. Last, an eighth as many signals
whose neighbouring samples depend on each other. Seeds are fixed; standard errors are those of
a share.
Prints Markdown tables, and draws the shares over N if told where to.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core; set before NumPy is loaded

import matplotlib as mpl  # noqa: E402
import numpy as np  # noqa: E402
import scipy.stats  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import sparsegauge as sg  # noqa: E402

Array = np.ndarray

QUANTILES = (np.arange(1_000_000) + 0.5) / 1_000_000
SIZES = (25, 50, 100, 400)
SHORT = 50
RESAMPLES = 400
METHODS = "infinitesimal", "jackknife"
HARD = (
    ("S_2", "normal"),
    ("S_2", "40 % normal, 60 % zeros"),
    ("S_2", "exponential"),
    ("coefficient_of_variation", "exponential"),
    ("S_4", "normal"),
    ("S_4", "exponential"),
    ("kurtosis", "normal"),
    ("kurtosis", "exponential"),
)
UNSEEN = {
    "Weibull, shape 1.3": scipy.stats.weibull_min(1.3),
    "logistic": scipy.stats.logistic(),
    "Rayleigh": scipy.stats.rayleigh(),
    "chi-square, 3 degrees of freedom": scipy.stats.chi2(3),
    "triangular": scipy.stats.triang(0.3),
}
DENSITY = 0.4  # of the sparse signals
METRICS: dict[str, tuple[str, dict[str, float]]] = {
    "S_1 (Gini)": ("gds", {"order": 1}),
    "S_2": ("gds", {"order": 2}),
    "S_4": ("gds", {"order": 4}),
    "hoyer": ("hoyer", {}),
    "pq_index": ("pq_index", {}),
    "theil": ("theil", {}),
    "coefficient_of_variation": ("coefficient_of_variation", {}),
    "kurtosis": ("kurtosis", {}),
}
DISTRIBUTIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "normal": lambda rng, size: rng.standard_normal(size),
    "uniform": lambda rng, size: rng.random(size),
    "exponential": lambda rng, size: rng.standard_exponential(size),
    "40 % normal, 60 % zeros": lambda rng, size: rng.standard_normal(size) * (rng.random(size) < DENSITY),
}


def quantiles(distribution: str) -> tuple[Array, Array]:
    """Return magnitudes and their weights."""
    c = {
        "uniform": QUANTILES,
        "exponential": scipy.stats.expon.ppf(QUANTILES),
    }.get(distribution, scipy.stats.halfnorm.ppf(QUANTILES))
    if "zeros" not in distribution:
        return c, np.ones(len(c))
    return np.append(c, 0.0), np.append(np.full(len(c), DENSITY), (1.0 - DENSITY) * len(c))


def truth(label: str, distribution: str, N: int) -> float:
    """Return the value that signals of length N have in the limit of many coefficients."""
    if label == "hoyer":  # it depends on the length
        return limit("pastor", distribution) * math.sqrt(N) / (math.sqrt(N) - 1.0)
    return limit(label, distribution)


@functools.cache
def limit(label: str, distribution: str) -> float:
    """Return the value of the distribution itself."""
    name, parameters = METRICS.get(label, (label, {}))
    c, w = quantiles(distribution)
    return sg.measure(c, name, weights=None if (w == 1).all() else w, **parameters)


def draw(distribution: str, N: int, trials: int) -> Array:
    return DISTRIBUTIONS[distribution](np.random.default_rng([18, N, len(distribution)]), (trials, N))


def share(inside: Array) -> str:
    """Return a percentage with its standard error."""
    p = float(np.mean(inside))
    return f"{100 * p:.1f} ± {100 * math.sqrt(p * (1 - p) / len(inside)):.1f}"


def coverage(x: Array, label: str, value: float, **options: Any) -> Array:
    name, parameters = METRICS[label]
    low, high = sg.confidence_interval(x, name, **options, **parameters)
    return (low <= value) & (value <= high)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def print_coverage(trials: int) -> dict[tuple[str, str, int], float]:
    found: dict[tuple[str, str, int], float] = {}
    for N in SIZES:
        rows = []
        for label in METRICS:
            cells = []
            for distribution in DISTRIBUTIONS:
                inside = coverage(draw(distribution, N, trials), label, truth(label, distribution, N))
                found[label, distribution, N] = float(inside.mean())
                cells.append(share(inside))
            rows.append([label, *cells])
        print(f"N = {N}, {trials} signals per cell, 95 % intervals that hold the true value, in %\n")
        print(table(["metric", *DISTRIBUTIONS], rows), flush=True)
    return found


def print_thirds(trials: int) -> None:
    """Print coverage by the largest coefficient that a signal happens to have, and what wider intervals would do."""
    rows = []
    for label, distribution in HARD:
        name, parameters = METRICS[label]
        x, value = draw(distribution, SHORT, trials), truth(label, distribution, SHORT)
        low, high = sg.confidence_interval(x, name, **parameters)
        inside = (low <= value) & (value <= high)
        by_largest = np.array_split(np.argsort(np.abs(x).max(axis=1)), 3)
        cells = [
            share(high < value),
            share(value < low),
            *(f"{100 * inside[third].mean():.0f}" for third in by_largest),
        ]
        rows.append([label, distribution, *cells, f"{100 * np.mean(high >= sg.METRICS[name].bounds[1]):.0f}"])
    head = ["metric", "distribution", "interval below the truth", "above", "least third", "middle", "largest third"]
    print(f"N = {SHORT}: which intervals miss, coverage by the largest coefficient, and no upper limit, in %\n")
    print(table([*head, "no upper limit"], rows), flush=True)


def print_unseen(trials: int) -> None:
    """Print coverage on distributions that were not looked at while the scales were chosen."""
    rows = []
    for label in METRICS:
        name, parameters = METRICS[label]
        cells = []
        for k, distribution in enumerate(UNSEEN.values()):
            c = np.abs(distribution.ppf(QUANTILES))
            value = sg.measure(c, "pastor" if label == "hoyer" else name, **parameters)
            value *= math.sqrt(SHORT) / (math.sqrt(SHORT) - 1.0) if label == "hoyer" else 1.0
            x = distribution.rvs((trials, SHORT), random_state=np.random.default_rng([183, k]))
            cells.append(share(coverage(x, label, value)))
        rows.append([label, *cells])
    print(f"N = {SHORT}, {trials} signals per cell, 95 % intervals that hold the true value, in %\n")
    print(table(["metric", *UNSEEN], rows), flush=True)


def print_others(trials: int) -> None:
    rows = []
    for label in ("S_1 (Gini)", "S_2", "S_4"):
        name, parameters = METRICS[label]
        for distribution in DISTRIBUTIONS:
            x = draw(distribution, SHORT, trials)
            values, value = sg.measure(x, name, **parameters), truth(label, distribution, SHORT)
            errors = [sg.standard_error(x, name, method=method, **parameters) for method in METHODS]
            plain = np.abs(values - value) <= 1.96 * errors[0]
            spread, low, high = bootstrap(x[: trials // 8], name, parameters)
            ratios = [float(np.mean(error)) / values.std() for error in (*errors, spread)]
            own = coverage(x, label, value)
            rows.append([
                label, distribution, *(f"{ratio:.2f}" for ratio in ratios), share(plain),
                share((low <= value) & (value <= high)), share(own),
            ])  # fmt: skip
    head = ["metric", "distribution", *METHODS, "bootstrap", "value ± 1.96 se", "percentiles", "interval"]
    print(f"N = {SHORT}: standard errors over the true spread, and intervals that hold the true value, in %\n")
    print(table(head, rows), flush=True)


def bootstrap(x: Array, name: str, parameters: dict[str, float]) -> tuple[Array, Array, Array]:
    """Return the standard error and the percentiles of each signal."""
    rng = np.random.default_rng(181)
    results = []
    for row in x:
        values = sg.measure(row[rng.integers(0, len(row), (RESAMPLES, len(row)))], name, **parameters)
        results.append((np.nanstd(values), *np.nanquantile(values, [0.025, 0.975])))
    spread, low, high = np.array(results).T
    return spread, low, high


def autoregressive(correlation: float, N: int, trials: int) -> Array:
    rng = np.random.default_rng([182, N])
    noise = rng.standard_normal((trials, N)) * math.sqrt(1 - correlation**2)
    x = np.empty_like(noise)
    x[:, 0] = rng.standard_normal(trials)
    for k in range(1, N):
        x[:, k] = correlation * x[:, k - 1] + noise[:, k]
    return x


def print_dependent(trials: int) -> None:
    rows = []
    for correlation, N in ((0.5, 200), (0.5, 1000), (0.9, 200), (0.9, 1000), (0.9, 4000)):
        x = autoregressive(correlation, N, trials)
        for label in ("S_1 (Gini)", "S_2"):
            value = truth(label, "normal", N)
            cells = [share(coverage(x, label, value, blocks=blocks)) for blocks in (None, "auto")]
            rows.append([f"{correlation:g}", str(N), label, *cells])
    print(f"Gaussian signals whose neighbours are correlated, {trials} signals per cell\n")
    print(table(["correlation", "N", "metric", "independent", 'blocks="auto"'], rows), flush=True)


def draw_plot(found: dict[tuple[str, str, int], float], path: Path) -> None:
    labels = ("S_1 (Gini)", "S_2", "S_4")
    figure, panels = plt.subplots(1, len(labels), figsize=(10, 3.6), sharey=True, layout="constrained")
    styles = zip(DISTRIBUTIONS, ("o-", "s--", "^-.", "d:"), ("#1f77b4", "#2a9d4a", "#d9660b", "#8a63c7"), strict=True)
    for distribution, marker, colour in styles:
        for axes, label in zip(panels, labels, strict=True):
            values = [100 * found[label, distribution, N] for N in SIZES]
            axes.plot(SIZES, values, marker, color=colour, label=distribution, markersize=5)
    for axes, title in zip(panels, ("$S_1$, the Gini index", "$S_2$", "$S_4$"), strict=True):
        axes.axhspan(92, 97, color="0.9", zorder=0)
        axes.axhline(95, color="0.6", linewidth=1, zorder=1)
        axes.set(xscale="log", xlabel="coefficients N", title=title, ylim=(60, 100))
        axes.set_xticks(SIZES, labels=[str(N) for N in SIZES])
        axes.minorticks_off()
    panels[0].set_ylabel("intervals that hold the true value (%)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    found = print_coverage(trials)
    if len(sys.argv) > 2:
        draw_plot(found, Path(sys.argv[2]))
    print_unseen(trials)
    print_thirds(trials)
    print_others(trials)
    print_dependent(max(1, trials // 8))


if __name__ == "__main__":
    main()
