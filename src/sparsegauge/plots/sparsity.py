"""Plots of measurements: sparsity over the order, sorted coefficients, and maps of sparsity over time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._arrays import Array
from ..profiles import MAP_ORDERS, MOST_LINES_PER_PLOT, ORDERS, Curves, Drawing, Map, Trace
from .charts import BAR_WIDTH, SMALLEST_MAGNITUDE
from .style import edges, to_file
from .svg import STYLE, label_ticks

RATIO_OF_NEIGHBOURING_BARS = 1.025  # on the axis of the order, so that the intervals of several lines stand apart
MOST_TRACES = 6
MOST_MAP_COLUMNS = 1200  # further windows are averaged
WHITE_PAPER = {  # instead of the marker colours of svg.py, which only a page replaces
    "text.color": "#1b1f24",
    "axes.labelcolor": "#1b1f24",
    "axes.edgecolor": "#d3d8de",
    "grid.color": "#d3d8de",
    "xtick.color": "#1b1f24",
    "ytick.color": "#1b1f24",
    "figure.facecolor": "#ffffff",
}
# readable on white and on black; dashes, so that colour is not needed
COLOURS = ("#1f77b4", "#d9660b", "#2a9d4a", "#c43c3c", "#8a63c7", "#a0694f", "#d0609f", "#7f7f7f")
DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)))


def select_drawings(drawings: Sequence[Drawing], note: Callable[[str], None]) -> list[Drawing]:
    """Return the drawings that fit into one plot; call `note` with what is left out."""
    traces = [drawing for drawing in drawings if isinstance(drawing, Trace)]
    others = [drawing for drawing in drawings if not isinstance(drawing, Trace)]
    if len(others) > MOST_LINES_PER_PLOT or any(len(trace.signals) > MOST_LINES_PER_PLOT for trace in traces):
        note(f"the plot shows the first {MOST_LINES_PER_PLOT} signals")
    if len(traces) > MOST_TRACES:
        note(f"the plot shows the first {MOST_TRACES} of {len(traces)} metrics over time")
    return [*others[:MOST_LINES_PER_PLOT], *traces[:MOST_TRACES]]


def make_picture(drawings: Sequence[Drawing], kind: str) -> bytes:
    """Return the content of a picture file on white paper; `kind` is "png" or "svg"."""
    with matplotlib.style.context(["default", STYLE | WHITE_PAPER]):
        return to_file(draw_sparsity(drawings), kind)


def draw_sparsity(drawings: Sequence[Drawing]) -> Figure:
    """Draw curves of signals, or maps and traces over time."""
    lines = [drawing for drawing in drawings if isinstance(drawing, Curves)]
    return _curves_figure(lines) if lines else _time_figure(drawings)


def _time_figure(drawings: Sequence[Drawing]) -> Figure:
    """Draw maps, and the metrics other than S_p below them."""
    maps = [drawing for drawing in drawings if isinstance(drawing, Map)]
    traces = [drawing for drawing in drawings if isinstance(drawing, Trace)]
    figure = Figure(figsize=(9, 0.8 + 2.0 * len(drawings)), layout="constrained")
    panels = list(figure.subplots(len(drawings), squeeze=False)[:, 0])
    limits = _limits(maps)
    for axes, drawing in zip(panels, maps, strict=False):
        mesh = _draw_map(axes, drawing, limits)
    if maps:
        figure.colorbar(
            mesh,
            ax=panels[: len(maps)],
            label="$S_p$, least to largest\nof each order",
            pad=0.01,
            aspect=12 * len(maps),
        )
    for axes, trace in zip(panels[len(maps) :], traces, strict=True):
        _draw_trace(axes, trace)
    return figure


def _curves_figure(lines: Sequence[Curves]) -> Figure:
    figure = Figure(figsize=(9.5, 4.2 + 0.22 * len(lines)), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_profiles(left, lines)
    _draw_decays(right, lines)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, handlelength=3)
    return figure


def _draw_profiles(axes: Axes, lines: Sequence[Curves]) -> None:
    for i, drawing in enumerate(lines):
        title = escape(drawing.title)
        label = title if drawing.decay is not None else f"{title} (all zero)"
        axes.plot(ORDERS, drawing.profile, label=label, **_line(i))
        if drawing.intervals:
            places = np.array(list(drawing.intervals)) * RATIO_OF_NEIGHBOURING_BARS**i  # side by side
            low, high = zip(*drawing.intervals.values(), strict=True)
            axes.vlines(
                places, low, high, color=COLOURS[i % len(COLOURS)], linewidth=BAR_WIDTH, alpha=0.6, clip_on=False
            )
    axes.set(xscale="log", xlim=(1, 20), ylim=(-0.02, 1.02), xlabel="order p", ylabel="sparsity $S_p$ (no unit)")
    shares = {0: "0", 0.2: "0.2", 0.4: "0.4", 0.6: "0.6", 0.8: "0.8", 1: "1"}
    label_ticks(axes, x={1: "1", 2: "2", 4: "4", 10: "10", 20: "20"}, y=shares)


def _draw_decays(axes: Axes, lines: Sequence[Curves]) -> None:
    rarest, faintest = 1e-1, 1e-1
    for i, drawing in enumerate(lines):
        if drawing.decay is not None:
            shown = drawing.decay.magnitudes > 0  # a logarithm has no place for zeros
            shares, magnitudes = drawing.decay.shares[shown], drawing.decay.magnitudes[shown]
            rarest, faintest = min(rarest, shares[0]), min(faintest, magnitudes[-1])
            axes.plot(shares, magnitudes, label=escape(drawing.title), **_line(i))
    faintest = max(SMALLEST_MAGNITUDE, faintest)
    axes.set(xscale="log", yscale="log", xlim=(rarest, 1), ylim=(0.8 * faintest, 1.5))
    axes.set(xlabel="share of coefficients, from the largest down", ylabel="magnitude (largest = 1)")
    percents = {1e-6: "0.0001 %", 1e-5: "0.001 %", 1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %", 1e-1: "10 %", 1: "100 %"}
    powers = {1: "1", 1e-1: "0.1", 1e-2: "0.01", 1e-3: "10⁻³", 1e-4: "10⁻⁴", 1e-5: "10⁻⁵", 1e-6: "10⁻⁶"}
    label_ticks(axes, x=_from(rarest, percents), y=_from(0.8 * faintest, powers))


def _from(least: float, ticks: dict[float, str]) -> dict[float, str]:
    """Return the ticks that lie on the chart."""
    return {place: label for place, label in ticks.items() if place >= least}


def _line(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.8}


def escape(name: str) -> str:
    """Escape a name: matplotlib takes $ for a formula, and leaves names that begin with _ out of a legend."""
    escaped = name.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _limits(maps: Sequence[Map]) -> list[tuple[float, float]]:
    """Return one scale per order for all maps, from the least to the largest value: high orders vary little."""
    rows = np.concatenate([np.empty((len(MAP_ORDERS), 0)), *(drawing.values for drawing in maps)], axis=1)
    return [_range(row[np.isfinite(row)]) for row in rows]


def _range(values: Array) -> tuple[float, float]:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _draw_map(axes: Axes, drawing: Map, limits: Sequence[tuple[float, float]]) -> Any:
    middles, values = _average_columns(drawing.middles, drawing.values)
    seconds = drawing.rate is not None
    x = edges(middles / (drawing.rate or 1.0))
    y = np.exp(edges(np.log(MAP_ORDERS)))
    shares = np.stack([(row - low) / (high - low) for row, (low, high) in zip(values, limits, strict=True)])
    mesh = axes.pcolormesh(x, y, shares, cmap="viridis", vmin=0.0, vmax=1.0, rasterized=True)
    axes.set(yscale="log", xlabel="time (s)" if seconds else "time (samples)", ylabel="order p")
    axes.set_yticks([1, 2, 4, 8, 16], labels=["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.grid(False)
    axes.set_title(escape(drawing.title), fontsize="medium", loc="left")
    return mesh


def _draw_trace(axes: Axes, trace: Trace) -> None:
    middles, values = _average_columns(trace.middles, trace.values[:MOST_LINES_PER_PLOT])
    for i, (signal, row) in enumerate(zip(trace.signals, values, strict=False)):
        # no dashes: a gap is a window that is all zero
        axes.plot(middles / (trace.rate or 1.0), row, label=escape(signal), color=COLOURS[i], linewidth=1.3)
    axes.set(xlabel="time (samples)" if trace.rate is None else "time (s)", ylabel=trace.title)
    axes.margins(x=0)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderpad=0, handlelength=1.5)


def _average_columns(middles: Array, values: Array) -> tuple[Array, Array]:
    """Average neighbouring windows, so that at most `MOST_MAP_COLUMNS` are left."""
    step = -(-len(middles) // MOST_MAP_COLUMNS)
    if step == 1:
        return middles, values
    starts = np.arange(0, len(middles), step)
    counts = np.diff(np.append(starts, len(middles)))
    return np.add.reduceat(middles, starts) / counts, np.add.reduceat(values, starts, axis=1) / counts
