"""Charts as SVG that takes its colours and its font from the page, so one drawing serves light and dark.

matplotlib knows no CSS, so charts are drawn in marker colours that no reader sees; `_as_html` replaces each by the CSS
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
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._arrays import Array
from .demos import Decay

WIDTH, HEIGHT = 300, 200  # pixels; the page scales charts to their column
THUMBNAIL_HEIGHT = 110
THUMBNAIL_PIXELS = 220
SMALLEST_SHARE, SMALLEST_MAGNITUDE = 3e-6, 1e-6

PROFILE_RANGE = (0.0015, 0.9998)

INK, GRID = "#010101", "#020202"
TRUTH, FOUND = "#060606", "#070707"  # of a recovery


@dataclass(frozen=True)
class Line:
    """How a representation is drawn: a marker colour, what it stands for, and dashes so that colour is not needed."""

    marker: str
    css: str
    dashes: tuple[float, ...]

    @property
    def dasharray(self) -> str:
        """The dashes in pixels, as SVG wants them."""
        return " ".join(f"{LINE_WIDTH * dash:g}" for dash in self.dashes) or "none"


LINE_WIDTH = 2.0
LINES = {
    "samples": Line("#030303", "var(--samples)", (1, 1.4)),
    "DCT": Line("#040404", "var(--dct)", (4, 1.6)),
    "wavelet": Line("#050505", "var(--wavelet)", ()),
}

_CSS = {INK: "currentColor", GRID: "var(--grid)", TRUTH: "var(--truth)", FOUND: "var(--found)"}
_CSS |= {line.marker: line.css for line in LINES.values()}

_STYLE = {
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


def profile_chart(name: str, profiles: Mapping[str, Mapping[float, float]]) -> Markup:
    """S_p over the order p, one line a representation."""
    with _chart() as (figure, axes):
        for label, profile in profiles.items():
            _draw(axes, label, list(profile), list(profile.values()))
        axes.set(xscale="log", yscale="logit", xlim=(1, 20), ylim=PROFILE_RANGE, xlabel="order p", ylabel="sparsity")
        _label_ticks(
            axes,
            x={1: "1", 2: "2", 4: "4", 10: "10", 20: "20"},
            y={0.01: "0.01", 0.1: "0.1", 0.5: "0.5", 0.9: "0.9", 0.99: "0.99", 0.999: "0.999"},
        )
        return _as_html(figure, f"profile-{name}", f"Sparsity of {name} over the order. {_ends(profiles)}")


def decay_chart(name: str, decays: Mapping[str, Decay]) -> Markup:
    """Sorted relative magnitudes, one line a representation."""
    with _chart() as (figure, axes):
        for label, decay in decays.items():
            shown = decay.magnitudes > 0  # a logarithm has no place for zeros
            _draw(axes, label, decay.shares[shown], decay.magnitudes[shown])
        axes.set(xscale="log", yscale="log", xlim=(SMALLEST_SHARE, 1), ylim=(SMALLEST_MAGNITUDE, 1.5))
        axes.set(xlabel="share of coefficients", ylabel="magnitude")
        _label_ticks(
            axes,
            x={1e-5: "0.001 %", 1e-3: "0.1 %", 1e-1: "10 %", 1: "100 %"},
            y={1: "1", 1e-2: "10⁻²", 1e-4: "10⁻⁴", 1e-6: "10⁻⁶"},
        )
        return _as_html(figure, f"decay-{name}", f"Decay of the sorted magnitudes of {name}. {_tenths(decays)}")


def thumbnail(name: str, values: Array) -> Markup:
    """The signal itself: a line, or an image."""
    return _image(name, values) if values.ndim == 2 else _curve(name, values)


def _curve(name: str, values: Array) -> Markup:
    with _chart(THUMBNAIL_HEIGHT) as (figure, axes):
        axes.axhline(0, color=GRID, linewidth=1)
        axes.plot(values, color=INK, linewidth=1.1)
        axes.margins(x=0)
        axes.axis("off")
        return _as_html(figure, f"signal-{name}", f"The signal {name}, from {values.min():.4g} to {values.max():.4g}.")


def _image(name: str, values: Array) -> Markup:
    step = -(-max(values.shape) // THUMBNAIL_PIXELS)
    return png(f"The image {name}.", values[::step, ::step])


def png(description: str, values: Array, *, vmin: float | None = None, vmax: float | None = None) -> Markup:
    """Grey pixels as an <img> element; black is `vmin` or the smallest value."""
    file = io.BytesIO()
    metadata = {"Software": "sparsegauge"}
    matplotlib.image.imsave(file, values, cmap="gray", vmin=vmin, vmax=vmax, format="png", metadata=metadata)
    source = base64.b64encode(file.getvalue()).decode("ascii")
    return Markup('<img src="data:image/png;base64,{}" alt="{}">').format(source, description)


@contextmanager
def _chart(height: int = HEIGHT) -> Iterator[tuple[Figure, Axes]]:
    """An empty chart in the house style; whatever style the caller has set is back afterwards."""
    with matplotlib.style.context(["default", _STYLE]):
        figure = Figure(figsize=(WIDTH / 72, height / 72), layout="constrained")
        yield figure, figure.add_subplot()


def _draw(axes: Axes, label: str, x: object, y: object) -> None:
    line = LINES[label]
    axes.plot(
        x,  # type: ignore[arg-type]
        y,  # type: ignore[arg-type]
        color=line.marker,
        linestyle=(0, line.dashes) if line.dashes else "solid",
        zorder=3 if line.dashes else 2,  # where lines coincide, the gaps of a dashed one show the solid one
    )


def _label_ticks(axes: Axes, *, x: Mapping[float, str], y: Mapping[float, str]) -> None:
    axes.set_xticks(list(x), labels=list(x.values()))
    axes.set_yticks(list(y), labels=list(y.values()))
    axes.minorticks_off()


def _as_html(figure: Figure, prefix: str, description: str) -> Markup:
    """The figure as an <svg> element to put into a page; `prefix` keeps its ids apart from those of other charts."""
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


def _ends(profiles: Mapping[str, Mapping[float, float]]) -> str:
    """What a listener needs of the lines: where they start and where they end."""
    return " ".join(
        f"{label}: {profile[min(profile)]:.2f} at order {min(profile)}, "
        f"{profile[max(profile)]:.2f} at order {max(profile)}."
        for label, profile in profiles.items()
    )


def _tenths(decays: Mapping[str, Decay]) -> str:
    """How far down the magnitudes are after a tenth of the coefficients."""
    return " ".join(
        f"{label}: {decay.magnitudes[np.searchsorted(decay.shares, 0.1)]:.1g} of the largest after a tenth of them."
        for label, decay in decays.items()
    )
