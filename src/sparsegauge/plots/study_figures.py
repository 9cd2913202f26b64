"""All the figures that a study has, and how they get onto the disk."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from .._platform.files import make_directory, replace_file
from ..study.summary import Summary
from .order_lines import optimal_order, over, prototypes
from .order_maps import error_maps, success_maps, uncertainty_maps

DOTS = 130  # an inch, of a PNG


def figures_of(summary: Summary) -> dict[str, Callable[[], Figure]]:
    """The figures that the axes of a study allow, by name; each is drawn when it is called.

    A study with noise has its errors against the noise; one with orders the paper's maps and lines.
    """
    axes = summary.axes
    if "noise_db" in axes:
        by = "orders" if "orders" in axes else "measurements"
        return {"noise": lambda: over(summary, "noise_db", by, measure="relative_error", unit=" (dB)")}
    drawn: dict[str, Callable[[], Figure]] = {"success": lambda: success_maps(summary)}
    if "orders" in axes:
        drawn = {
            "error": lambda: error_maps(summary),
            "uncertainty": lambda: uncertainty_maps(summary),
            "order_by_measurements": lambda: optimal_order(summary, "measurements"),
            "order_by_nonzeros": lambda: optimal_order(summary, "nonzeros"),
            "prototypes": prototypes,
        } | drawn
    return drawn


def save_figure(figure: Figure, path: Path) -> None:
    """As PNG, SVG or PDF by its ending; whole or not at all, and the same file from the same table."""
    file = io.BytesIO()
    kind = path.suffix.removeprefix(".")
    nameless = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[kind]
    with mpl.rc_context({"svg.hashsalt": "sparsegauge"}):  # else ids are drawn at random
        figure.savefig(file, format=kind, metadata=nameless, dpi=DOTS)
    replace_file(path, file.getvalue())


def save_figures(
    summary: Summary, directory: Path, *, kind: str = "png", progress: Callable[[str], None]
) -> list[Path]:
    """Every figure of a study into a directory."""
    make_directory(directory)
    paths = []
    for name, draw in figures_of(summary).items():
        progress(name)
        paths.append(directory / f"{name}.{kind}")
        save_figure(draw(), paths[-1])
    return paths
