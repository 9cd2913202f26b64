"""How the figures of studies look; pyplot is never imported, and the caller's settings are never changed."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "figure.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "figure.facecolor": "white",
}
# Okabe and Ito's colours, and dashes, so that colour is not needed
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), "-", (0, (3, 1)), (0, (1, 1)), "-")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

USUAL_ORDERS = (1, 2, 3, 4, 6, 10)

TITLE_LETTERS_PER_INCH = 11


@contextmanager
def panels(
    rows: int, columns: int, width: float, height: float, *, style: Any = None, **options: Any
) -> Iterator[tuple[Figure, Any]]:
    """Give a figure of rows x columns axes, each so many inches wide and high; `style` replaces that of studies."""
    with matplotlib.style.context(["default", STYLE if style is None else style]):
        figure = Figure(figsize=(width * columns + 0.7, height * rows + 0.6), layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, **options)


def to_file(figure: Figure, kind: str, dpi: int = 150) -> bytes:
    """Return the content of a picture file; `kind` is "png" or "svg"."""
    file = io.BytesIO()
    metadata = {"Date": None} if kind == "svg" else {"Software": "sparsegauge"}
    figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)
    return file.getvalue()


def line(k: int) -> dict[str, Any]:
    """Return colour, dashes and marker of the k-th line."""
    place = k % len(COLOURS)
    return {"color": COLOURS[place], "linestyle": DASHES[place], "marker": MARKERS[place], "markersize": 3.5}


def band(axes: Axes, x: Any, mean: NDArray[Any], error: NDArray[Any], k: int, label: str) -> None:
    """Draw a line with its standard errors around it."""
    axes.plot(x, mean, label=label, **line(k))
    axes.fill_between(x, mean - error, mean + error, color=line(k)["color"], alpha=0.18, linewidth=0)


def edges(values: Any) -> NDArray[Any]:
    """Return where the cells of a map begin and end, given their middles, which need not be evenly spaced."""
    middles = np.asarray(values, float)
    if len(middles) == 1:
        return np.array([middles[0] - 0.5, middles[0] + 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    return np.concatenate([[2 * middles[0] - between[0]], between, [2 * middles[-1] - between[-1]]])


def few(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return at most as many values as there are colours: the orders people ask for first, else evenly spread ones."""
    if len(values) <= len(COLOURS):
        return values
    asked = tuple(value for value in values if value in USUAL_ORDERS)
    return asked if len(asked) > 2 else tuple(values[k] for k in np.linspace(0, len(values) - 1, 7).round().astype(int))


def name_of(distribution: str) -> str:
    """Return the name of a distribution for a reader; the paper's binomial data are ones."""
    return "binomial (ones)" if distribution == "binomial" else distribution.replace("-", ", ")


def set_title(figure: Figure, text: str) -> None:
    """Put a title above a figure, on as many lines as it needs."""
    figure.suptitle(textwrap.fill(text, max(20, round(TITLE_LETTERS_PER_INCH * figure.get_figwidth()))))
