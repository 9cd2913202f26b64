"""Plots of measurements: sparsity over the order, sorted coefficients, and maps of sparsity over time."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..metrics.gds import gds_profile
from .demos import CURVE_POINTS, ORDERS, Decay
from .destination import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAP_ORDERS = (1, 2, 3, 4, 6, 8, 12, 16, 20)
MOST_SIGNALS = 8  # beyond, nobody can tell the lines apart
MOST_TRACES = 6
MOST_COLUMNS = 1200  # of a map; windows beyond are averaged
PAPER = {  # the colours of figures.py are for a page's own to replace; a picture has to bring some
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


@dataclass(frozen=True)
class Curves:
    """One signal: S_p at `ORDERS`, and its coefficients from the largest down; None if all are zero or missing."""

    title: str
    profile: Array
    decay: Decay | None


@dataclass(frozen=True)
class Map:
    """One signal in windows: their middles in samples, and S_p as values[order, window]."""

    title: str
    middles: Array
    values: Array
    rate: float | None = None


@dataclass(frozen=True)
class Trace:
    """One metric of several signals in windows: their middles in samples, and values[signal, window]."""

    title: str
    signals: Sequence[str]
    middles: Array
    values: Array
    rate: float | None = None


Drawing = Curves | Map | Trace


def curves(title: str, coefficients: NDArray[Any]) -> Curves:
    """What is drawn of one signal; NaN is left out."""
    magnitudes = np.abs(coefficients.astype(np.complex128 if coefficients.dtype.kind == "c" else np.float64))
    descending = np.sort(magnitudes[~np.isnan(magnitudes)])[::-1]
    if not descending.size or descending[0] == 0:
        return Curves(title, np.full(len(ORDERS), np.nan), None)
    ranks = np.unique(np.geomspace(1, descending.size, CURVE_POINTS).round().astype(np.int64))
    decay = Decay(shares=ranks / descending.size, magnitudes=descending[ranks - 1] / descending[0])
    return Curves(title, gds_profile(descending, ORDERS), decay)


def write_plot(path: Path, drawings: Sequence[Drawing], *, note: Callable[[str], None] = lambda text: None) -> None:
    """Draw into a .png, .svg or .html file; `note` hears of what is left out."""
    import matplotlib.style

    from .figures import _STYLE

    traces = [drawing for drawing in drawings if isinstance(drawing, Trace)]
    others = [drawing for drawing in drawings if not isinstance(drawing, Trace)]
    if len(others) > MOST_SIGNALS or any(len(trace.signals) > MOST_SIGNALS for trace in traces):
        note(f"the plot shows the first {MOST_SIGNALS} signals")
    if len(traces) > MOST_TRACES:
        note(f"the plot shows the first {MOST_TRACES} of {len(traces)} metrics over time")
    drawings = [*others[:MOST_SIGNALS], *traces[:MOST_TRACES]]
    if path.suffix.lower() == ".html":
        replace_file(path, _page(drawings))
        return
    with matplotlib.style.context(["default", _STYLE | PAPER]):
        figure = _figure(drawings)
        if path.suffix.lower() == ".svg":
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            replace_file(path, text.getvalue())
        else:
            picture = io.BytesIO()
            figure.savefig(picture, format="png", dpi=150, metadata={"Software": "sparsegauge"})
            replace_file(path, picture.getvalue())


def _figure(drawings: Sequence[Drawing]) -> Figure:
    lines = [drawing for drawing in drawings if isinstance(drawing, Curves)]
    return _curves_figure(lines) if lines else _time_figure(drawings)


def _time_figure(drawings: Sequence[Drawing]) -> Figure:
    """Maps, and the metrics other than S_p below them."""
    from matplotlib.figure import Figure

    maps = [drawing for drawing in drawings if isinstance(drawing, Map)]
    traces = [drawing for drawing in drawings if isinstance(drawing, Trace)]
    figure = Figure(figsize=(9, 0.8 + 2.0 * len(drawings)), layout="constrained")
    panels = list(figure.subplots(len(drawings), squeeze=False)[:, 0])
    limits = _limits(maps)
    for axes, drawing in zip(panels, maps, strict=False):
        mesh = _draw_map(axes, drawing, limits)
    if maps:
        figure.colorbar(mesh, ax=panels[: len(maps)], label="sparsity $S_p$", pad=0.01, aspect=12 * len(maps))
    for axes, trace in zip(panels[len(maps) :], traces, strict=True):
        _draw_trace(axes, trace)
    return figure


def _curves_figure(lines: Sequence[Curves]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.2 + 0.22 * len(lines)), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_profiles(left, lines)
    _draw_decays(right, lines)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, handlelength=3)
    return figure


def _draw_profiles(axes: Axes, lines: Sequence[Curves]) -> None:
    from .figures import _label_ticks

    for i, drawing in enumerate(lines):
        title = _literal(drawing.title)
        label = title if drawing.decay is not None else f"{title} (all zero)"
        axes.plot(ORDERS, drawing.profile, label=label, **_line(i))
    axes.set(xscale="log", xlim=(1, 20), ylim=(-0.02, 1.02), xlabel="order p", ylabel="sparsity $S_p$ (no unit)")
    shares = {0: "0", 0.2: "0.2", 0.4: "0.4", 0.6: "0.6", 0.8: "0.8", 1: "1"}
    _label_ticks(axes, x={1: "1", 2: "2", 4: "4", 10: "10", 20: "20"}, y=shares)


def _draw_decays(axes: Axes, lines: Sequence[Curves]) -> None:
    from .figures import SMALLEST_MAGNITUDE, _label_ticks

    rarest, faintest = 1e-1, 1e-1
    for i, drawing in enumerate(lines):
        if drawing.decay is not None:
            shown = drawing.decay.magnitudes > 0  # a logarithm has no place for zeros
            shares, magnitudes = drawing.decay.shares[shown], drawing.decay.magnitudes[shown]
            rarest, faintest = min(rarest, shares[0]), min(faintest, magnitudes[-1])
            axes.plot(shares, magnitudes, label=_literal(drawing.title), **_line(i))
    faintest = max(SMALLEST_MAGNITUDE, faintest)
    axes.set(xscale="log", yscale="log", xlim=(rarest, 1), ylim=(0.8 * faintest, 1.5))
    axes.set(xlabel="share of coefficients, from the largest down", ylabel="magnitude (largest = 1)")
    percents = {1e-6: "0.0001 %", 1e-5: "0.001 %", 1e-4: "0.01 %", 1e-3: "0.1 %", 1e-2: "1 %", 1e-1: "10 %", 1: "100 %"}
    powers = {1: "1", 1e-1: "0.1", 1e-2: "0.01", 1e-3: "10⁻³", 1e-4: "10⁻⁴", 1e-5: "10⁻⁵", 1e-6: "10⁻⁶"}
    _label_ticks(axes, x=_from(rarest, percents), y=_from(0.8 * faintest, powers))


def _from(least: float, ticks: dict[float, str]) -> dict[float, str]:
    """What lies on the chart."""
    return {place: label for place, label in ticks.items() if place >= least}


def _line(i: int) -> dict[str, Any]:
    return {"color": COLOURS[i % len(COLOURS)], "linestyle": DASHES[i % len(DASHES)], "linewidth": 1.8}


def _literal(name: str) -> str:
    """A name, shown letter for letter: matplotlib takes $ for a formula, and keeps what begins with _ off a legend."""
    escaped = name.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _limits(maps: Sequence[Map]) -> tuple[float, float]:
    """One scale for all maps, from the least to the largest value in them."""
    defined = np.concatenate([np.empty(0), *(drawing.values[np.isfinite(drawing.values)] for drawing in maps)])
    low, high = (float(defined.min()), float(defined.max())) if defined.size else (0.0, 1.0)
    return (low, high) if high > low else (0.0, 1.0)


def _draw_map(axes: Axes, drawing: Map, limits: tuple[float, float]) -> Any:
    from ..study.figures.style import edges

    middles, values = _averaged(drawing.middles, drawing.values)
    seconds = drawing.rate is not None
    x = edges(middles / (drawing.rate or 1.0))
    y = np.exp(edges(np.log(MAP_ORDERS)))
    mesh = axes.pcolormesh(x, y, values, cmap="viridis", vmin=limits[0], vmax=limits[1], rasterized=True)
    axes.set(yscale="log", xlabel="time (s)" if seconds else "time (samples)", ylabel="order p")
    axes.set_yticks([1, 2, 4, 8, 16], labels=["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.grid(False)
    axes.set_title(_literal(drawing.title), fontsize="medium", loc="left")
    return mesh


def _draw_trace(axes: Axes, trace: Trace) -> None:
    middles, values = _averaged(trace.middles, trace.values[:MOST_SIGNALS])
    for i, (signal, row) in enumerate(zip(trace.signals, values, strict=False)):
        # no dashes: a gap is a window that is all zero
        axes.plot(middles / (trace.rate or 1.0), row, label=_literal(signal), color=COLOURS[i], linewidth=1.3)
    axes.set(xlabel="time (samples)" if trace.rate is None else "time (s)", ylabel=trace.title)
    axes.margins(x=0)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False, borderpad=0, handlelength=1.5)


def _averaged(middles: Array, values: Array) -> tuple[Array, Array]:
    step = -(-len(middles) // MOST_COLUMNS)
    if step == 1:
        return middles, values
    starts = np.arange(0, len(middles), step)
    counts = np.diff(np.append(starts, len(middles)))
    return np.add.reduceat(middles, starts) / counts, np.add.reduceat(values, starts, axis=1) / counts


def _page(drawings: Sequence[Drawing]) -> str:
    """One page that fetches nothing; charts are SVG in the page's own colours."""
    import matplotlib.style
    from markupsafe import Markup

    from .figures import _STYLE, _as_html
    from .page import _TEMPLATES

    with matplotlib.style.context(["default", _STYLE]):
        chart = _as_html(_figure(drawings), "measured", _description(drawings))
    windowed = not any(isinstance(drawing, Curves) for drawing in drawings)
    page: str = _TEMPLATES.get_template("measured.html").render(chart=Markup(chart), windowed=windowed)
    return page


def _description(drawings: Sequence[Drawing]) -> str:
    """What a listener needs of the chart."""
    words = []
    for drawing in drawings:
        values = drawing.profile if isinstance(drawing, Curves) else drawing.values
        defined = values[np.isfinite(values)]
        if defined.size:
            words.append(f"{drawing.title}: from {defined.min():.2f} to {defined.max():.2f}.")
    return " ".join(words) or "No signal has a defined sparsity."
