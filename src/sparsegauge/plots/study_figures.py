"""All the figures of a study, and how they are written."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from .._platform.writing import make_directory, replace_file
from ..study.summary import Summary
from .order_lines import optimal_order, over, prototypes
from .order_maps import error_maps, success_maps, uncertainty_maps

DOTS_PER_INCH = 130
USUAL_AXES = ("distributions", "nonzeros", "measurements", "orders")


def figures_of(summary: Summary) -> dict[str, Callable[[], Figure]]:
    """Return the figures that the axes of a study allow, by name; each is drawn when it is called.

    A study with noise has its errors against the noise, one with several solvers or options one figure for each such
    axis, and one with orders the paper's maps and lines.
    """
    axes = summary.axes
    if "noise_db" in axes:
        by = "orders" if "orders" in axes else "measurements"
        return {"noise": lambda: over(summary, "noise_db", by, measure="relative_error")}
    others = [name for name in axes if name not in USUAL_AXES]
    if others:
        return {f"by_{name}": functools.partial(_over_axis, summary, name) for name in others}
    drawn: dict[str, Callable[[], Figure]] = {"success": lambda: success_maps(summary)}
    if "orders" in axes:
        drawn = {
            "error": lambda: error_maps(summary),
            "uncertainty": lambda: uncertainty_maps(summary),
            "order_by_measurements": lambda: optimal_order(summary, "measurements"),
            "order_by_nonzeros": lambda: optimal_order(summary, "nonzeros"),
            "prototypes": lambda: prototypes(summary),
        } | drawn
    return drawn


def _over_axis(summary: Summary, name: str) -> Figure:
    """Draw success against M for each of several words, or the error against an option of the solver."""
    values = summary.axes[name]
    if not all(isinstance(value, int | float) for value in values):
        return over(summary, "measurements", name, measure="success_rate")
    by = "orders" if "orders" in summary.axes else "measurements"
    return over(summary, name, by, log_x=min(values) > 0 and max(values) > 10 * min(values))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF by its ending; the same table gives the same file."""
    file = io.BytesIO()
    kind = path.suffix.removeprefix(".")
    nameless = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "sparsegauge"}):  # else ids are drawn at random
        figure.savefig(file, format=kind, metadata=nameless, dpi=DOTS_PER_INCH)
    replace_file(path, file.getvalue())


def save_figures(
    summary: Summary, directory: Path, *, kind: str = "png", progress: Callable[[str], None]
) -> list[Path]:
    """Write every figure of a study into a directory."""
    make_directory(directory)
    paths = []
    for name, draw in figures_of(summary).items():
        progress(name)
        paths.append(directory / f"{name}.{kind}")
        save_figure(draw(), paths[-1])
    return paths
