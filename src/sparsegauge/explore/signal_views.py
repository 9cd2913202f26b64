"""Signals as people know them: a waveform as a line, a photograph as a photograph."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource, NumeralTickFormatter
from markupsafe import Markup

from .._arrays import Array
from ..plots.svg import png
from ..rounding import LEAST_RANGE
from .drawings import LOWERS, QUIET, RAISES, make_figure, put_legend_above
from .layout import drawn, text

MOST_STRETCHES = 1000  # of a longer waveform, each drawn by its least and largest sample
MOST_PIXELS_PER_SIDE = 384
PICTURES = """
figure { margin: 0; flex: 1 1 8rem; min-width: 0; max-width: 26rem; }
img { display: block; width: 100%; height: auto; border-radius: 4px; }
.pictures { display: flex; flex-wrap: wrap; gap: 0.8rem; justify-content: center; }
.pixels img { image-rendering: pixelated; }
figcaption { font-size: 0.9rem; opacity: 0.85; }
"""


def outline(values: Array) -> tuple[Array, Array]:
    """Return positions and samples to draw: all of them, or the least and the largest of each stretch, in order."""
    if values.size <= 2 * MOST_STRETCHES:
        return np.arange(values.size, dtype=np.float64), values
    edges = np.linspace(0, values.size, MOST_STRETCHES + 1).astype(np.int64)
    places = []
    for first, last in itertools.pairwise(edges):
        part = values[first:last]
        places += sorted({first + int(np.argmin(part)), first + int(np.argmax(part))})
    chosen = np.array(places)
    return chosen.astype(np.float64), values[chosen]


def shrink(values: Array, most: int) -> Array:
    """Return a picture reduced to a largest side length by means over square blocks."""
    block = -(-max(values.shape) // most)
    if block == 1:
        return values
    rows, columns = (max(1, length // block) for length in values.shape)
    height, width = min(block, values.shape[0]), min(block, values.shape[1])
    cut = values[: rows * height, : columns * width]
    means: Array = cut.reshape(rows, height, columns, width).mean(axis=(1, 3))
    return means


def picture(values: Array, description: str, limits: tuple[float, float] | None = None) -> Markup:
    """Return a grey picture as an element of the page; black and white are the limits, or the extreme values."""
    low, high = (float(values.min()), float(values.max())) if limits is None else limits
    return png(description, shrink(values, MOST_PIXELS_PER_SIDE), vmin=low, vmax=max(high, low + LEAST_RANGE))


class SignalView:
    """A signal or a picture."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"t": [], "x": []})
        self.figure = make_figure("The signal, sample by sample", x_axis_label="sample", y_axis_label="value")
        self.figure.xaxis.formatter = self.figure.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
        self.figure.line("t", "x", color=RAISES, line_width=1.5, source=self.source)
        self.wave = drawn(self.figure)
        self.image = text(stylesheets=[PICTURES])

    def show(self, name: str, values: Array) -> None:
        """Draw a signal."""
        flat = values.ndim == 1
        if flat:
            places, samples = outline(values)
            self.source.data = {"t": places, "x": samples}
        else:
            self.image.object = f'<div class="pictures"><figure>{picture(values, f"The picture {name}")}</figure></div>'
        self.wave.visible, self.image.visible = flat, not flat

    def panel(self) -> Any:
        """Return what the page shows."""
        return pn.Column(self.wave, self.image, sizing_mode="stretch_width", margin=0)


class EstimateView:
    """What was measured, and the current estimate of a solver: two lines, or two pictures."""

    def __init__(self) -> None:
        self.truth = ColumnDataSource({"t": [], "x": []})
        self.estimate = ColumnDataSource({"t": [], "x": []})
        self.figure = make_figure(
            "The signal that was measured, and the solver's estimate", x_axis_label="sample", y_axis_label="value"
        )
        self.figure.line("t", "x", color=QUIET, line_width=4, alpha=0.55, source=self.truth, legend_label="measured")
        self.figure.line("t", "x", color=LOWERS, line_width=1.6, source=self.estimate, legend_label="estimate")
        put_legend_above(self.figure)
        self.wave = drawn(self.figure)
        self.images = text(stylesheets=[PICTURES])
        self._truth: Array = np.zeros(2)

    def show_truth(self, values: Array) -> None:
        """Draw what was measured, and no estimate yet."""
        self._truth = values
        flat = values.ndim == 1
        if flat:
            self.truth.data = {"t": np.arange(values.size), "x": values}
            self.estimate.data = {"t": [0], "x": [np.nan]}  # not empty, for the legend to show what it looks like
        else:
            self._show_pictures(None)
        self.wave.visible, self.images.visible = flat, not flat

    def show(self, values: Array) -> None:
        """Draw an estimate."""
        if values.ndim == 1:
            self.estimate.data = {"t": np.arange(values.size), "x": values}
        else:
            self._show_pictures(values)

    def _show_pictures(self, estimate: Array | None) -> None:
        limits = float(self._truth.min()), float(self._truth.max())
        shown = [("measured", self._truth), *([] if estimate is None else [("estimate", estimate)])]
        figures = "".join(
            f"<figure>{picture(values, label, limits)}<figcaption>{label}</figcaption></figure>"
            for label, values in shown
        )
        self.images.object = f'<div class="pictures pixels">{figures}</div>'

    def panel(self) -> Any:
        """Return what the page shows."""
        return pn.Column(self.wave, self.images, sizing_mode="stretch_width", margin=0)
