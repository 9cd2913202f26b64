"""The figures of the page, drawn once and then fed with numbers. The page themes their axes, in light and in dark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FactorRange, NumeralTickFormatter
from bokeh.models.annotations.geometry import Span
from bokeh.plotting import figure

from .._arrays import Array
from ..signals import REPRESENTATIONS
from .experiment import LONGEST_PIECE, Frame
from .model import ORDERS, Bars

# Each stands out from white and from near black by 3 to 1 or more, and blue and orange differ for every eye.
RAISES, LOWERS, QUIET = "#2b7cd3", "#cf6a17", "#7c8794"
DASHES = {"samples": "dotted", "DCT": "dashed", "wavelet": "solid"}
HEIGHT, TALL, HISTORY_HEIGHT = 215, 700, 250
SMALLEST_ERROR_DRAWN = 1e-16
SMALLEST_SHARE_DRAWN = 2e-3  # of the largest coefficient: half a pixel


def make_figure(description: str, **options: Any) -> Any:
    """Return an empty figure; the description is what screen readers say of it."""
    plot = figure(
        **{"height": HEIGHT, "sizing_mode": "stretch_width", "tools": "", "toolbar_location": None, **options}
    )
    plot.html_attributes = {"role": "img", "aria-label": description}
    plot.outline_line_color = None  # a bright frame in the dark theme
    plot.min_border_right = 12
    plot.xaxis.axis_label_standoff = plot.yaxis.axis_label_standoff = 6
    return plot


def feed(source: ColumnDataSource, columns: dict[str, Any]) -> None:
    """Give a source new columns, unless it has them: a chart that does not change need not be drawn again."""
    if any(not np.array_equal(source.data[name], column) for name, column in columns.items()):
        source.data = columns


def put_legend_above(plot: Any) -> None:
    """Move the legend out of the way of the data."""
    plot.add_layout(plot.legend[0], "above")
    plot.legend.orientation = "horizontal"
    plot.legend.padding = plot.legend.margin = 0


class CoefficientsDrawing:
    """The coefficients where they stand, coloured by what they do to S_p."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"k": [], "c": [], "colour": []})
        self.figure = make_figure(
            "Coefficients by position, blue where they raise the sparsity and orange where they lower it",
            x_axis_label="position",
            y_axis_label="coefficient",
        )
        self.figure.xaxis.formatter = self.figure.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
        self.figure.segment("k", 0, "k", "c", color="colour", line_width=1.5, source=self.source)

    def show(self, positions: Any, values: Array, shares: Array) -> None:
        """Draw these coefficients with these contributions."""
        colours = np.where(shares > 0, RAISES, np.where(shares < 0, LOWERS, QUIET)).tolist()
        feed(self.source, {"k": positions, "c": values, "colour": colours})


class ProfileDrawing:
    """S_p over the order, of all representations; the chosen one stands out, with a dot at the chosen order."""

    def __init__(self) -> None:
        self.figure = make_figure(
            "Sparsity over the order from 1 to 20, of samples, DCT and wavelet coefficients",
            x_axis_label="order p",
            y_axis_label="Sₚ",
            x_range=(0.7, 20.3),
            y_range=(-0.02, 1.04),
        )
        self.figure.xaxis.ticker = [1, 2, 4, 6, 8, 10, 15, 20]
        self.sources = {kind: ColumnDataSource({"p": ORDERS, "s": ORDERS * np.nan}) for kind in REPRESENTATIONS}
        self.lines = {
            kind: self.figure.line("p", "s", source=source, legend_label=kind, line_dash=DASHES[kind]).glyph
            for kind, source in self.sources.items()
        }
        self.here = ColumnDataSource({"p": [], "s": []})
        self.figure.scatter("p", "s", size=11, color=RAISES, source=self.here)
        self.span = Span(dimension="height", line_color=QUIET, line_dash="dotted")
        self.figure.add_layout(self.span)
        put_legend_above(self.figure)

    def show_profiles(self, profiles: Mapping[str, tuple[Array, Array]], chosen: str) -> None:
        """Draw new lines of sparsity over the order."""
        for kind, line in self.lines.items():
            orders, sparsities = profiles.get(kind, (ORDERS, ORDERS * np.nan))
            self.sources[kind].data = {"p": orders, "s": sparsities}
            line.line_color = RAISES if kind == chosen else QUIET
            line.line_width = 2.5 if kind == chosen else 1.5

    def show_order(self, order: float, sparsity: float) -> None:
        """Move the dot."""
        self.here.data = {"p": [order], "s": [sparsity]}
        self.span.location = order


class BarsDrawing:
    """Contributions by rank, the largest coefficient first."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"left": [], "right": [], "total": [], "colour": []})
        self.figure = make_figure(
            "What the coefficients contribute to the sparsity, from the largest magnitude to the smallest",
            x_axis_type="log",
            x_axis_label="rank of the magnitude, largest first",
            y_axis_label="share of Sₚ",
        )
        self.figure.xaxis.formatter = NumeralTickFormatter(format="0,0")
        self.figure.quad(
            left="left", right="right", bottom=0, top="total", color="colour", line_color=None, source=self.source
        )

    def show(self, bars: Bars) -> None:
        """Draw these bars, with a gap between them."""
        colours = np.where(bars.total >= 0, RAISES, LOWERS).tolist()
        gap = (bars.right / bars.left) ** 0.06
        self.source.data = {
            "left": bars.left * gap, "right": bars.right / gap, "total": bars.total, "colour": colours,
        }  # fmt: skip


class RankingDrawing:
    """Every metric and the share of reference signals that it calls less sparse."""

    def __init__(self) -> None:
        self.names = FactorRange()
        self.source = ColumnDataSource({"name": [], "share": [], "colour": [], "size": []})
        self.figure = make_figure(
            "The rank of this signal among 27 references, by every metric",
            height=TALL,
            y_range=self.names,
            x_range=(-2, 102),
            x_axis_label="% of references that are less sparse",
        )
        self.figure.segment(0, "name", "share", "name", color="colour", line_width=1.5, source=self.source)
        self.figure.scatter("share", "name", size="size", color="colour", source=self.source)
        self.figure.ygrid.grid_line_color = None

    def show(self, standings: dict[str, float], accent: str) -> None:
        """Sort the metrics; the one called `accent` stands out."""
        known = {name: share for name, share in standings.items() if not np.isnan(share)}
        names = sorted(known, key=lambda name: (known[name], name != accent))
        if names != list(self.names.factors):  # a new axis is the slowest thing on the page
            self.names.factors = names
        rows = {
            "name": names,
            "share": [known[name] for name in names],
            "colour": [RAISES if name == accent else QUIET for name in names],
            "size": [12 if name == accent else 6 for name in names],
        }
        feed(self.source, rows)


class EstimateDrawing:
    """The truth, and the estimate on its way."""

    def __init__(self) -> None:
        self.truth = ColumnDataSource({"k": [], "x": []})
        self.estimate = ColumnDataSource({"k": [], "x": []})
        self.figure = make_figure(
            "The coefficients that were measured, and the solver's estimate of them",
            x_axis_label="position",
            y_axis_label="coefficient",
            x_range=(-3, LONGEST_PIECE + 2),
        )
        self.figure.segment("k", 0, "k", "x", color=QUIET, line_width=1, source=self.truth)
        truth = {"fill_color": None, "line_color": QUIET, "line_width": 1.5}
        self.figure.scatter("k", "x", size=9, source=self.truth, legend_label="truth", **truth)
        self.figure.scatter("k", "x", size=4, color=LOWERS, source=self.estimate, legend_label="estimate")
        put_legend_above(self.figure)

    def show_truth(self, x: Array) -> None:
        """Draw the coefficients that are not zero, and no estimate yet."""
        self.figure.x_range.end = x.size + 2
        places = np.flatnonzero(x)
        self.truth.data = {"k": places, "x": x[places]}
        self.estimate.data = {"k": [0], "x": [np.nan]}  # not empty, for the legend to show what it looks like

    def show(self, frame: Frame) -> None:
        """Draw the coefficients of an iterate that are visibly not zero."""
        places = np.flatnonzero(np.abs(frame.x) > SMALLEST_SHARE_DRAWN * np.abs(frame.x).max())
        self.estimate.data = {"k": places, "x": frame.x[places]}


class HistoryDrawing:
    """The error and the sparsity of every iterate."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"k": [], "error": [], "sparsity": []})
        # Ranges are set by hand: a figure that has nothing to show yet is blank otherwise.
        self.error = make_figure(
            "The relative error of each iterate",
            y_axis_type="log",
            x_axis_label="iterate",
            y_axis_label="relative error",
            x_range=(0, 10),
            y_range=(1e-3, 2),
            height=HISTORY_HEIGHT,
        )
        self.sparsity = make_figure(
            "The sparsity of each iterate, and that of the truth",
            x_axis_label="iterate",
            y_axis_label="sparsity S₂",
            x_range=self.error.x_range,
            y_range=(0, 1),
            height=HISTORY_HEIGHT,
        )
        self.true_sparsity = 1.0
        self.truth = Span(dimension="width", line_color=QUIET, line_dash="dashed", line_width=1.5)
        self.sparsity.add_layout(self.truth)
        for plot, name, colour in ((self.error, "error", LOWERS), (self.sparsity, "sparsity", RAISES)):
            plot.line("k", name, color=colour, line_width=2, source=self.source)
            plot.scatter("k", name, color=colour, size=4, source=self.source)

    def clear(self, truth: float) -> None:
        """Clear the chart, and draw a dashed line at the sparsity of the true signal."""
        self.truth.location = self.true_sparsity = truth
        self.show([])

    def show(self, frames: list[Frame]) -> None:
        """Draw all iterates so far."""
        errors = [max(frame.error, SMALLEST_ERROR_DRAWN) for frame in frames]  # a logarithm needs something
        sparsities = [frame.sparsity for frame in frames]
        self.error.x_range.end = max(10, len(frames)) + 0.5
        self.error.y_range.update(start=min([1e-3, *errors]) / 2, end=max([1.0, *errors]) * 2)
        low, high = np.nanmin([self.true_sparsity - 0.1, *sparsities]), np.nanmax([self.true_sparsity, *sparsities])
        self.sparsity.y_range.update(start=float(low) - 0.02, end=float(high) + 0.03)
        self.source.data = {"k": list(range(1, len(frames) + 1)), "error": errors, "sparsity": sparsities}
