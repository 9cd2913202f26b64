"""Write the plot of measurements as a picture, or as one page that fetches nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib.style
import numpy as np

from .._platform.writing import replace_file
from ..plots.sparsity import draw_sparsity, make_picture, select_drawings
from ..plots.svg import STYLE, to_svg
from ..profiles import Curves, Drawing
from .environment import TEMPLATES


def write_plot(path: Path, drawings: Sequence[Drawing], *, note: Callable[[str], None] = lambda text: None) -> None:
    """Draw into a .png, .svg or .html file; call `note` with what is left out."""
    shown = select_drawings(drawings, note)
    kind = path.suffix.lower().removeprefix(".")
    replace_file(path, _page(shown) if kind == "html" else make_picture(shown, kind))


def _page(drawings: Sequence[Drawing]) -> str:
    """Return one page whose charts are SVG in the page's own colours."""
    with matplotlib.style.context(["default", STYLE]):
        chart = to_svg(draw_sparsity(drawings), "measurements", _describe(drawings))
    windowed = not any(isinstance(drawing, Curves) for drawing in drawings)
    page: str = TEMPLATES.get_template("measurements.html").render(chart=chart, windowed=windowed)
    return page


def _describe(drawings: Sequence[Drawing]) -> str:
    """Say what the chart shows, for readers who cannot see it."""
    words = []
    for drawing in drawings:
        values = drawing.profile if isinstance(drawing, Curves) else drawing.values
        defined = values[np.isfinite(values)]
        if defined.size:
            words.append(f"{drawing.title}: from {defined.min():.2f} to {defined.max():.2f}.")
    return " ".join(words) or "No signal has a defined sparsity."
