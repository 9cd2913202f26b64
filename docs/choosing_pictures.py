"""The pictures of docs/choosing.md: how metrics rank the same signals, where they disagree, and what the order does."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import rankdata, spearmanr

import sparsegauge as sg
from sparsegauge.signals import DEMOS, dct, wavelet

INK, GRID = "#222222", "#d9d9d9"
# Okabe and Ito's colours, which colour-blind readers can tell apart; lines differ in their dashes too
BLUE, ORANGE, GREEN, PURPLE, SKY = "#0072b2", "#d55e00", "#009e73", "#a04a80", "#56b4e9"
STYLE = {
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "lines.linewidth": 2.0,
    "savefig.dpi": 120,
}

TRANSFORMS: dict[str, Callable[[Any], Any]] = {"raw": np.asarray, "DCT": dct, "wavelet": wavelet}
RANKED: dict[str, Callable[[Any], float]] = {
    "Gini = GDS, p = 1": sg.gini,
    "GDS, p = 2": lambda x: sg.gds(x, 2),
    "GDS, p = 4": lambda x: sg.gds(x, 4),
    "GDS, p = 10": lambda x: sg.gds(x, 10),
    "hoover": sg.hoover,
    "pq_index": sg.pq_index,
    "theil": sg.theil,
    "hoyer": sg.hoyer,
    "negentropy": sg.negentropy,
    "kurtosis": sg.kurtosis,
    "neg_numerical_sparsity": sg.neg_numerical_sparsity,
    "l0_eps": sg.l0_eps,
    "neg_l1": sg.neg_l1,
    "gm_am": sg.gm_am,
}


class Pair(NamedTuple):
    """Two signals about which two metrics disagree."""

    first: list[float]
    second: list[float]
    prefers_first: str
    prefers_second: str
    lesson: str


METRICS: dict[str, Callable[[Any], float]] = RANKED | {"l0": sg.l0, "Gini": sg.gini}
PAIRS = [
    Pair([0] * 5 + [5] * 5, [1] * 9 + [10], "Gini", "GDS, p = 4", "Many zeros, or one spike over a floor?"),
    Pair([2, 2, 2, 2, 7], [0, 4, 4, 4, 4], "GDS, p = 2", "GDS, p = 10", "A weak spike, or one zero?"),
    Pair([0, 0, 4, 4, 4], [2, 2, 2, 2, 6], "Gini", "kurtosis", "Zeros, or a tail?"),
    Pair([1, 1, 1, 1, 10], [0, 6, 6, 6, 6], "hoyer", "l0", "Small, or exactly zero?"),
]


def draw_all(folder: Path) -> None:
    """Write the three pictures."""
    with matplotlib.style.context(["default", STYLE]):
        for name, draw in (("ranks", rank_map), ("disagreements", disagreements), ("orders", orders)):
            _save(draw(), folder / f"choosing_{name}.png")


def _save(figure: Figure, path: Path) -> None:
    """With a palette of 128 colours, which no reader sees and which halves the file."""
    png = io.BytesIO()
    figure.savefig(png, format="png")
    Image.open(png).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def demo_values() -> tuple[list[str], np.ndarray]:
    """Every demo signal in every transform, measured by every metric of the map."""
    signals = {
        f"{name}, {title}": transform(sg.demo(name)).ravel()
        for name in DEMOS
        for title, transform in TRANSFORMS.items()
    }
    return list(signals), np.array([[metric(x) for metric in RANKED.values()] for x in signals.values()])


def rank_map() -> Figure:
    labels, values = demo_values()
    ranks = rankdata(-values, axis=0)
    agreement = np.array([spearmanr(ranks[:, 0], column).statistic for column in ranks.T])
    rows, columns = np.argsort(ranks[:, 0]), np.argsort(-agreement, kind="stable")
    ranks = ranks[rows][:, columns]
    figure = Figure(figsize=(9.2, 9), layout="constrained")
    axes = figure.add_subplot()
    picture = axes.imshow(ranks, cmap="cividis", aspect="auto")
    for (row, column), rank in np.ndenumerate(ranks):
        axes.text(column, row, f"{rank:g}", ha="center", va="center", fontsize=9,
                  color="white" if rank < len(labels) / 2 else "black")  # fmt: skip
    names = list(RANKED)
    axes.set_xticks(range(len(names)), [names[k] for k in columns], rotation=40, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(labels)), [labels[k] for k in rows])
    axes.spines[:].set_visible(False)
    for column, correlation in enumerate(agreement[columns]):
        axes.text(column, len(labels) - 0.2, f"{correlation:.2f}", ha="center", va="top", fontsize=10)
    axes.text(-0.7, len(labels) - 0.2, "rank correlation with Gini", ha="right", va="top", fontsize=10)
    bar = figure.colorbar(picture, ax=axes, shrink=0.5, pad=0.02, aspect=25)
    bar.ax.invert_yaxis()
    bar.set_ticks([1, 9, 18, 27], labels=["1", "9", "18", "27"])
    bar.set_label("rank, 1 is the sparsest")
    bar.outline.set_visible(False)
    return figure


def disagreements() -> Figure:
    figure = Figure(figsize=(10, 7.4), layout="constrained")
    for frame, pair in zip(figure.subfigures(2, 2, wspace=0.12, hspace=0.1).flat, PAIRS, strict=True):
        frame.suptitle(pair.lesson, fontsize=12, weight="bold")
        top = max(*pair.first, *pair.second)
        for number, (axes, c) in enumerate(zip(frame.subplots(1, 2), (pair.first, pair.second), strict=True)):
            _bars(axes, c, top, BLUE if number == 0 else ORANGE)
            for line, name in enumerate((pair.prefers_first, pair.prefers_second)):
                won = line == number
                axes.text(0.5, -0.06 - 0.13 * line, f"{name}: {METRICS[name](c):.3f}{' (sparser)' if won else ''}",
                          transform=axes.transAxes, ha="center", va="top", fontsize=10,
                          weight="bold" if won else "normal")  # fmt: skip
    return figure


def _bars(axes: Axes, c: list[float], top: float, colour: str) -> None:
    """Magnitudes from the largest to the smallest, each with its number."""
    heights = sorted(c, reverse=True)
    axes.bar(range(len(c)), heights, color=colour, width=0.7)
    for k, height in enumerate(heights):
        axes.text(k, height + 0.02 * top, f"{height:g}", ha="center", va="bottom", fontsize=9)
    axes.set(ylim=(0, 1.12 * top), xlim=(-0.6, max(len(c), 5) - 0.4), xticks=[], yticks=[])
    axes.spines["left"].set_visible(False)


N = 1000
PROTOTYPES = {
    "a spike over a floor of 2 %": np.r_[np.full(N - 1, 0.02), 1],
    "100 equal, 900 zeros": np.r_[np.zeros(900), np.ones(100)],
    "exponential decay": np.exp(-np.arange(N) / 100),
    "power law 1/k": 1 / np.arange(1, N + 1),
    "ramp 1, 2, ..., 1000": np.arange(1.0, N + 1),
}
PROTOTYPE_LINES = [(BLUE, "-"), (INK, "--"), (GREEN, "-."), (ORANGE, (0, (6, 1.5))), (PURPLE, ":")]
LABELS = [(2.05, 0.6), (22, 0.917), (27, 0.64), (3.2, 0.995), (1.9, 0.28)]
FLOOR_ORDERS = {1: (INK, ":"), 2: (ORANGE, "--"), 5: (BLUE, "-"), 20: (GREEN, "-."), 100: (PURPLE, (0, (3, 1, 1, 1)))}


def spike_over_floor(order: float, d: np.ndarray, n: int = N - 1) -> np.ndarray:
    """S_p of n copies of d beside a 1: n (1 - d)^p / ((n + 1)(n d^p + 1))."""
    return n * (1 - d) ** order / ((n + 1) * (n * d**order + 1))


def orders() -> Figure:
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    p = np.geomspace(1, 100, 121)
    for (label, x), (colour, dashes), place in zip(PROTOTYPES.items(), PROTOTYPE_LINES, LABELS, strict=True):
        left.plot(p, sg.gds_profile(x, p), color=colour, linestyle=dashes)
        left.text(*place, label, color=colour, fontsize=10)
    left.set(xscale="log", xlim=(1, 100), ylim=(0, 1.05), xlabel="order $p$", ylabel="$S_p$ of 1,000 coefficients")
    left.set_xticks([1, 2, 5, 10, 20, 50, 100], labels=["1", "2", "5", "10", "20", "50", "100"])
    left.set_title("Five signals, all orders", fontsize=12, weight="bold")
    d = np.geomspace(1e-4, 1, 400)
    for order, (colour, dashes) in FLOOR_ORDERS.items():
        right.plot(d, spike_over_floor(order, d), color=colour, linestyle=dashes, label=f"order {order}")
    right.set(xscale="log", xlim=(1e-4, 1), ylim=(0, 1.05), ylabel="$S_p$")
    right.set_xlabel("floor $d$: 999 coefficients of $d$ beside one of 1")
    right.set_xticks([1e-4, 1e-3, 1e-2, 0.1, 1], labels=["0.0001", "0.001", "0.01", "0.1", "1"])
    right.set_title("One spike over a floor", fontsize=12, weight="bold")
    right.legend(frameon=False, fontsize=10, handlelength=3.4, loc="upper right")
    for axes in (left, right):
        axes.minorticks_off()
        axes.grid(True)
        axes.tick_params(pad=6)
    return figure
