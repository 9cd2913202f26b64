"""Are error bars and inclusion probabilities true? `python -m benchmarks.calibration [TRIALS] [PLOT.png] [FIRST]`.

N = 100, M = 40 to 60; K = 5, 10, 15 and 20 non-zeros of random signs, normal, uniform, exponential or ones in turns;
Gaussian noise with a signal to noise ratio of 15 to 40 dB; TRIALS problems, 20 by default, for each K and ratio, from
number FIRST on; the default is told the standard deviation of the noise, and then not told. Counted are

- the non-zeros within 1.6449 standard deviations (`std`) of `x`, and the same for the coefficients whose `inclusion` is
  above one half, be they zero or not: 90 % of them where the error bars are true;
- the calibration error of `inclusion`: its N values a problem are put into ten bins of equal width, and in each bin
  the mean is held against the share that is not zero; the differences are averaged by the bins' members. The largest
  difference is over bins of at least 50 members.

Standard errors come from resampling whole problems, since the coefficients of one are not independent. Few members make
calibration errors look larger than they are. Prints Markdown tables, and draws the bins if told where to.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "SPARSEGAUGE_NUM_THREADS"):
    os.environ[name] = "1"  # one core; set before NumPy is loaded

import matplotlib as mpl  # noqa: E402
import numpy as np  # noqa: E402

mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402

import sparsegauge as sg  # noqa: E402

N, MEASUREMENTS, FIRST_TRIAL = 100, (40, 60), 2000
RATIOS = (15, 20, 25, 30, 35, 40)
NONZEROS = (5, 10, 15, 20)
DISTRIBUTIONS = ("normal", "uniform", "exponential", "binomial")
HALF_WIDTH = 1.6449  # standard deviations on each side of 90 % of a normal distribution
BINS, FEWEST, RESAMPLES = 10, 50, 1000
KNOWLEDGE = {True: "told", False: "not told"}

Array = np.ndarray


@dataclass(frozen=True)
class Counts:
    """One problem: how many coefficients there are of each kind, and how many of them lie within their error bars."""

    told: bool
    ratio: int
    K: int
    nonzeros: tuple[int, int]  # all, and those within
    likely: tuple[int, int]
    bins: Array  # BINS x 3: members, the sum of their inclusion, how many are not zero

    @property
    def row(self) -> Array:
        return np.array([*self.nonzeros, *self.likely, *self.bins.T.ravel()], float)


def draw(ratio: int, K: int, trial: int) -> tuple[Array, Array, Array, float]:
    """A, x, y and the standard deviation of the noise."""
    rng = np.random.default_rng([2016, 13, K, ratio, trial])
    M = int(rng.integers(MEASUREMENTS[0], MEASUREMENTS[1] + 1))
    x = sg.sparse_signal(N, K, DISTRIBUTIONS[trial % len(DISTRIBUTIONS)], signs="random", rng=rng)
    A = sg.gaussian_matrix(M, N, rng=rng)
    deviation = float(np.linalg.norm(A @ x)) / np.sqrt(M) * 10 ** (-ratio / 20)
    return A, x, A @ x + deviation * rng.standard_normal(M), deviation


def binned(inclusion: Array, present: Array) -> Array:
    """Members, their summed inclusion and how many are present, for each bin."""
    which = np.clip((BINS * inclusion).astype(int), 0, BINS - 1)
    sums = [np.bincount(which, weights, minlength=BINS) for weights in (np.ones(len(which)), inclusion, present)]
    return np.transpose(sums)


def counted(told: bool, ratio: int, K: int, trial: int) -> Counts | None:
    """None where the default gives no error bars."""
    A, x, y, deviation = draw(ratio, K, trial)
    found = sg.recover(A, y, noise=deviation, rng=0) if told else sg.recover(A, y, rng=0)
    std, inclusion = getattr(found, "std", None), getattr(found, "inclusion", None)
    if std is None or inclusion is None:
        return None
    within = np.abs(found.x - x) <= HALF_WIDTH * std
    present, likely = x != 0, inclusion > 0.5
    return Counts(
        told,
        ratio,
        K,
        (int(present.sum()), int(within[present].sum())),
        (int(likely.sum()), int(within[likely].sum())),
        binned(inclusion, present),
    )


def share(all_and_within: Array) -> Array:
    """The share within; nan where there is nothing to count."""
    with np.errstate(invalid="ignore"):
        return np.asarray(all_and_within[..., 1] / all_and_within[..., 0])


def differences(sums: Array) -> tuple[Array, Array]:
    """Members of the bins, and how far the mean inclusion is from the share present."""
    members, predicted, actual = np.moveaxis(sums[..., 4:].reshape(*sums.shape[:-1], 3, BINS), -2, 0)
    return members, np.abs(predicted - actual) / np.maximum(members, 1)


def calibration_error(sums: Array) -> Array:
    members, gaps = differences(sums)
    return np.asarray((members * gaps).sum(axis=-1) / members.sum(axis=-1))


def largest_gap(sums: Array) -> Array:
    members, gaps = differences(sums)
    return np.asarray(np.where(members >= FEWEST, gaps, 0.0).max(axis=-1))


STATISTICS: dict[str, Callable[[Array], Array]] = {
    "non-zeros within": lambda sums: share(sums[..., 0:2]),
    "inclusion > ½ within": lambda sums: share(sums[..., 2:4]),
    "calibration error": calibration_error,
    "largest in a bin": largest_gap,
}


def estimates(chosen: list[Counts]) -> list[tuple[float, float]]:
    """Each statistic in per cent, and its standard error from resampling problems."""
    rows = np.array([counts.row for counts in chosen])
    weights = np.random.default_rng(0).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=RESAMPLES)
    total, resampled = rows.sum(axis=0), weights @ rows
    return [(100 * float(f(total)), 100 * float(np.nanstd(f(resampled)))) for f in STATISTICS.values()]


def line(title: str, chosen: list[Counts]) -> str:
    cells = [f"{value:.1f} ± {error:.1f}" for value, error in estimates(chosen)]
    return f"| {title} | {len(chosen)} | " + " | ".join(cells) + " |"


def table(every: list[Counts], told: bool) -> list[str]:
    """One line in all, and one for each signal to noise ratio and each K."""
    chosen = [counts for counts in every if counts.told == told]
    lines = ["", f"## Noise {KNOWLEDGE[told]}", "", "| problems | number | " + " | ".join(STATISTICS) + " |"]
    lines += ["|---|" + "--:|" * (len(STATISTICS) + 1)]
    if not chosen:
        return [*lines[:2], "", "No error bars: `std` and `inclusion` are not there."]
    lines += [line(f"{r} dB", group) for r in RATIOS if (group := [c for c in chosen if c.ratio == r])]
    lines += [line(f"K = {K}", group) for K in NONZEROS if (group := [c for c in chosen if c.K == K])]
    return [*lines, line("all", chosen)]


def bin_table(every: list[Counts]) -> list[str]:
    """What the plot shows, in numbers."""
    lines = ["", "## Bins of inclusion", ""]
    lines += ["| noise | members | mean inclusion, % | not zero, % |", "|---|--:|--:|--:|"]
    for told, called in KNOWLEDGE.items():
        for members, predicted, actual in sum((c.bins for c in every if c.told == told), np.zeros((BINS, 3))):
            if members:
                means = f"{100 * predicted / members:.1f} | {100 * actual / members:.1f}"
                lines.append(f"| {called} | {members:.0f} | {means} |")
    return lines


def draw_reliability(every: list[Counts], path: Path) -> None:
    """The share present over the mean inclusion of each bin, with two standard errors."""
    figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
    ax.plot([0, 1], [0, 1], "--", color="black", linewidth=1, label="calibrated")
    for (told, called), colour in zip(KNOWLEDGE.items(), ("C0", "C3"), strict=True):
        sums = sum((c.bins for c in every if c.told == told), np.zeros((BINS, 3)))
        members, predicted, actual = sums[sums[:, 0] >= FEWEST].T
        height = actual / members
        spread = 2 * np.sqrt(height * (1 - height) / members)
        label = f"noise {called}"
        ax.errorbar(predicted / members, height, spread, fmt="o-", color=colour, markersize=4, label=label)
    ax.set(xlabel="predicted inclusion, mean of a bin", ylabel="share that is not zero", xlim=(0, 1), ylim=(0, 1))
    ax.set_aspect("equal")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)


def report(every: list[Counts], trials: int, first: int) -> str:
    missing = len(KNOWLEDGE) * len(RATIOS) * len(NONZEROS) * trials - len(every)
    lines = [
        "# Calibration of the error bars and of the inclusion probabilities",
        "",
        f"In per cent, with standard errors; {trials} problems for each K and signal to noise ratio from trial",
        f"{first} on, sparsegauge {sg.__version__}. Within: no further than {HALF_WIDTH} `std` from `x`; 90",
        f"would be right. Largest in a bin: of those of at least {FEWEST} members. {missing} results came without",
        "error bars and are not counted.",
    ]
    for told in KNOWLEDGE:
        lines += table(every, told)
    return "\n".join([*lines, *(bin_table(every) if every else []), ""])


def main(trials: int, plot: Path | None, first: int) -> None:
    every: list[Counts] = []
    for ratio in RATIOS:
        for K in NONZEROS:
            for trial in range(first, first + trials):
                every += [c for told in KNOWLEDGE if (c := counted(told, ratio, K, trial)) is not None]
        print(f"{ratio} dB", file=sys.stderr, flush=True)
    print(report(every, trials, first))
    if plot is not None and every:
        draw_reliability(every, plot)


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 20)), Path(given[2]) if given.get(2) else None, int(given.get(3, FIRST_TRIAL)))
