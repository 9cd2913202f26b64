"""Draw recovered signals over the true ones, in the style of the page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .._arrays import Array
from ..recovery.demos import WHITE
from .before_after import DETAIL
from .svg import COLOUR_OF_FOUND, COLOUR_OF_TRUTH, GRID, chart, png, to_svg

HEIGHT = 150
MARGIN_SHARE = 0.12  # of the range of the true values, above and below it; values beyond it are cut off


def spike_chart(name: str, description: str, truth: Array, values: Array) -> Markup:
    """Draw rings where the true coefficients are, and needles for the values that were found."""
    with _chart_over(truth) as (figure, axes):
        places = np.arange(len(truth))
        axes.axhline(0, color=GRID, linewidth=1)
        axes.vlines(places, 0, values, colors=COLOUR_OF_FOUND, linewidth=1.8)
        there = truth != 0
        ring = {"markersize": 5.5, "markerfacecolor": "none", "markeredgewidth": 1.2}
        axes.plot(places[there], truth[there], "o", color=COLOUR_OF_TRUTH, **ring)  # type: ignore[arg-type]
        axes.set(xlim=(-1, len(truth)), xticks=[0, 50, 100], yticks=[-1, 0, 1], xlabel="coefficient")
        return to_svg(figure, name, description)


def trace_chart(name: str, description: str, truth: Array, values: Array) -> Markup:
    """Draw the true samples as a broad line, and those that were found as a fine one over it."""
    with _chart_over(truth) as (figure, axes):
        axes.plot(truth, color=COLOUR_OF_TRUTH, linewidth=3.4, alpha=0.55)
        axes.plot(values, color=COLOUR_OF_FOUND, linewidth=1.1)
        axes.set(xlim=(0, len(truth) - 1), yticks=[], xlabel="sample")
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        return to_svg(figure, name, description)


def photo_detail(label: str, values: Array) -> Markup:
    """Return the detail of the demo photograph as an image."""
    return png(f"A detail of the photograph: {label}.", values[DETAIL], vmin=0.0, vmax=WHITE)


@contextmanager
def _chart_over(truth: Array) -> Iterator[tuple[Figure, Axes]]:
    """Give a chart whose scale is that of the true values."""
    low, high = float(truth.min()), float(truth.max())
    room = MARGIN_SHARE * (high - low)
    with chart(HEIGHT) as (figure, axes):
        axes.set_ylim(low - room, high + room)
        yield figure, axes
