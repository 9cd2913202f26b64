"""The pairwise definition and the paper's formulas beside ours: time and error for orders 2..100."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import sparsegauge as sg

from .timing import duration, seconds

ORDERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 99, 100)
METHODS = {"auto": "sparsegauge", "definition": "pairwise definition", "paper": "the paper's formulas"}
COLOURS = {"auto": "#0b6e4f", "definition": "#8a8d91", "paper": "#c1440e"}
TIMED, CHECKED = 10_000, 1_000


def reference(x: np.ndarray, order: int) -> np.longdouble:
    """All pairs in 80-bit arithmetic."""
    c = np.sort(np.abs(x)).astype(np.longdouble)
    c /= c[-1]
    numerator = sum(((c[j] - c[:j]) ** order).sum() for j in range(1, len(c)))
    return numerator / (len(c) * (c**order).sum())


def times(rng: np.random.Generator) -> dict[str, list[float]]:
    x = rng.random(TIMED)
    for method in METHODS:
        for order in (2, 3):
            sg.gds(x, order, method=method)
    return {
        method: [min(seconds(lambda p=p, m=method: sg.gds(x, p, method=m)) for _ in range(3)) for p in ORDERS]
        for method in METHODS
    }


def errors(x: np.ndarray) -> dict[str, list[float]]:
    truth = [reference(x, p) for p in ORDERS]
    return {
        method: [float(abs(sg.gds(x, p, method=method) / exact - 1)) for p, exact in zip(ORDERS, truth, strict=True)]
        for method in METHODS
    }


def draw(timed: dict[str, list[float]], wrong: dict[str, dict[str, list[float]]], path: Path) -> None:
    figure = Figure(figsize=(12, 4.2), layout="constrained")
    axes = figure.subplots(1, 3)
    for method, label in METHODS.items():
        style = {"color": COLOURS[method], "marker": "o", "markersize": 4, "linewidth": 1.8}
        for parity, line in ((0, "-"), (1, ":")):
            points = [(p, t * 1e3) for p, t in zip(ORDERS, timed[method], strict=True) if p % 2 == parity]
            axes[0].plot(*zip(*points, strict=True), label="" if parity else label, linestyle=line, **style)
        for axis, values in zip(axes[1:], wrong.values(), strict=True):
            axis.plot(ORDERS, np.clip(values[method], 1e-17, 1e3), label=label, **style)
    axes[0].set(title=f"Time, N = {TIMED:,}", xlabel="order p (even: solid, odd: dotted)")
    axes[0].set(ylabel="milliseconds", yscale="log")
    for axis, name in zip(axes[1:], wrong, strict=True):
        axis.set(title=f"Error, {name}", xlabel="order p", ylabel="relative error", yscale="log", ylim=(5e-18, 3e3))
        axis.axhline(1.0, color="black", linewidth=0.8, linestyle=":")
        axis.text(100, 1.6, "nothing right", ha="right", va="bottom", fontsize=9)
    for axis in axes:
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, loc="upper left", bbox_to_anchor=(0, 0.93))
    figure.savefig(path, dpi=150)


def table(timed: dict[str, list[float]], wrong: dict[str, dict[str, list[float]]]) -> str:
    head = "| order | " + " | ".join(f"{label}: time" for label in METHODS.values())
    head += "".join(f" | {label}: error, {name}" for name in wrong for label in METHODS.values()) + " |"
    lines = [head, "|--:" * (1 + len(METHODS) * (1 + len(wrong))) + "|"]
    for k, order in enumerate(ORDERS):
        cells = [duration(timed[m][k] * 1e3) for m in METHODS]
        cells += [f"{values[m][k]:.0e}" for values in wrong.values() for m in METHODS]
        lines.append(f"| {order} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def measure(picture: Path) -> str:
    """Draw the picture and give the table."""
    rng = np.random.default_rng(2)
    u = rng.random(CHECKED)
    timed = times(rng)
    wrong = {"U(0, 1)": errors(u), "1 + 0.001 U(0, 1)": errors(1 + 1e-3 * u)}
    draw(timed, wrong, picture)
    return table(timed, wrong)
