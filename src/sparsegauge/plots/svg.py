"""Charts as SVG that takes its colours and its font from the page, so one drawing serves light and dark.

matplotlib knows no CSS, so charts are drawn in marker colours that no reader sees; `to_svg` replaces each by the CSS
value that it stands for. pyplot is never imported and the caller's settings are never changed.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import matplotlib.image
import matplotlib.style
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._arrays import Array

CHART_WIDTH = 300  # pixels; the page scales charts to their column
CHART_HEIGHT = 200
LINE_WIDTH = 2.0

INK, GRID = "#010101", "#020202"
COLOUR_OF_TRUTH = "#060606"  # of a recovery
COLOUR_OF_FOUND = "#070707"


@dataclass(frozen=True)
class Line:
    """How a representation is drawn: a marker colour, what it stands for, and dashes so that colour is not needed."""

    marker: str
    css: str
    dashes: tuple[float, ...]

    @property
    def dasharray(self) -> str:
        """Return the dashes in pixels, as SVG takes them."""
        return " ".join(f"{LINE_WIDTH * dash:g}" for dash in self.dashes) or "none"


LINES = {
    "samples": Line("#030303", "var(--samples)", (1, 1.4)),
    "DCT": Line("#040404", "var(--dct)", (4, 1.6)),
    "wavelet": Line("#050505", "var(--wavelet)", ()),
}

_CSS = {INK: "currentColor", GRID: "var(--grid)", COLOUR_OF_TRUTH: "var(--truth)", COLOUR_OF_FOUND: "var(--found)"}
_CSS |= {line.marker: line.css for line in LINES.values()}

STYLE = {
    "svg.fonttype": "none",  # text stays text: the page's own font, and small
    "svg.hashsalt": "sparsegauge",  # the same page from the same results
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRID,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 0,
    "xtick.major.pad": 6,
    "ytick.major.size": 0,
    "lines.linewidth": LINE_WIDTH,
    "figure.facecolor": "none",
}


def png(description: str, values: Array, *, vmin: float | None = None, vmax: float | None = None) -> Markup:
    """Return grey pixels as an <img> element; black is `vmin` or the smallest value."""
    file = io.BytesIO()
    metadata = {"Software": "sparsegauge"}
    matplotlib.image.imsave(file, values, cmap="gray", vmin=vmin, vmax=vmax, format="png", metadata=metadata)
    source = base64.b64encode(file.getvalue()).decode("ascii")
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(source, description)


@contextmanager
def chart(height: int = CHART_HEIGHT) -> Iterator[tuple[Figure, Axes]]:
    """Give an empty chart in the style of the page, and restore the caller's style afterwards."""
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(CHART_WIDTH / 72, height / 72), layout="constrained")
        yield figure, figure.add_subplot()


def label_ticks(axes: Axes, *, x: Mapping[float, str], y: Mapping[float, str]) -> None:
    """Put ticks at the keys, labelled with the values, and no others."""
    axes.set_xticks(list(x), labels=list(x.values()))
    axes.set_yticks(list(y), labels=list(y.values()))
    axes.minorticks_off()


def to_svg(figure: Figure, prefix: str, description: str) -> Markup:
    """Return the figure as an <svg> element for a page; `prefix` keeps its ids apart from those of other charts."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    # the style element would apply to the whole page, and the metadata name addresses
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", file.getvalue(), flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;]*; ", "", svg)
    view_box = re.search(r'viewBox="[^"]*"', svg)
    assert view_box is not None
    body = svg[svg.index(">", view_box.end()) + 1 :]
    prefix = re.sub(r"\W", "-", prefix)  # the name of a signal need not be fit for an id
    body = re.sub(r'( id="|"#|url\(#)', rf"\g<1>{prefix}-", body)
    for marker, css in _CSS.items():
        body = body.replace(marker, css)
    return Markup('<svg {} role="img" aria-label="{}">').format(Markup(view_box[0]), escape(description)) + Markup(body)
