"""Draw a signal before compression and after recovery, as a picture file."""

from __future__ import annotations

import io

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .._arrays import Array
from ..recovery.demos import WHITE, Demonstration

BEFORE, AFTER, ERROR = "0.65", "#0072b2", "#d55e00"
DETAIL_TOP = 60  # the face and the camera in the photograph, in pixels
DETAIL_LEFT = 190
DETAIL_SIDE = 130
DETAIL = (slice(DETAIL_TOP, DETAIL_TOP + DETAIL_SIDE), slice(DETAIL_LEFT, DETAIL_LEFT + DETAIL_SIDE))
DPI = 110

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sparsegauge",  # the same file from the same results
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "0.9",
    "font.size": 10,
}


def draw(shown: Demonstration, file_format: str) -> bytes:
    """Return the content of the file; `file_format` is "png" or "svg"."""
    with matplotlib.style.context(["default", _STYLE]):
        figure = _picture(shown) if shown.truth.ndim == 2 else _trace(shown)
        file = io.BytesIO()
        metadata = {"Date": None} if file_format == "svg" else {"Software": None}
        figure.savefig(file, format=file_format, dpi=DPI, metadata=metadata)
    return file.getvalue()


def _trace(shown: Demonstration) -> Figure:
    """Draw the signal and what was recovered, and below their difference on the same scale."""
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    quality = shown.quality(shown.recovered)
    above.plot(shown.truth, color=BEFORE, linewidth=3.5, label=f"before: {len(shown.truth):,} samples")
    label = f"after: recovered from {shown.measurements:,} random sums"
    above.plot(shown.recovered, color=AFTER, linewidth=1.1, label=label)
    title = f"ECG compressed {len(shown.truth) / shown.measurements:.0f}:1"
    above.set_title(f"{title}: PRD {quality['prd_percent']:.1f} %, SNR {quality['snr_db']:.1f} dB", loc="left")
    above.set_ylabel("counts")
    low, high = float(shown.truth.min()), float(shown.truth.max())
    above.set(
        xlim=(0, len(shown.truth) - 1), ylim=(low - 0.06 * (high - low), high + 0.22 * (high - low))
    )  # room for the legend
    above.legend(loc="upper left", frameon=False, ncols=2)
    below.plot(shown.recovered - shown.truth, color=ERROR, linewidth=1)
    half = float(np.ptp(above.get_ylim())) / 6  # a third of the height, so that a count is as long as above
    below.set(xlabel="sample", ylabel="error, counts", ylim=(-half, half))
    return figure


def _picture(shown: Demonstration) -> Figure:
    """Draw the photograph, the least-squares estimate and the recovered one; below, the same detail of each."""
    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = [
        ("before", shown.truth),
        (f"least squares, {_decibels(shown, shown.least_norm)}", shown.least_norm),
        (f"recovered, {_decibels(shown, shown.recovered)}", shown.recovered),
    ]
    share = shown.measurements / shown.truth.size
    figure.suptitle(f"{shown.truth.size:,} pixels from {100 * share:.0f} % as many random sums of them")
    for (title, values), whole, detail in zip(panels, *figure.subplots(2, 3), strict=True):
        _show(whole, values)
        _show(detail, values[DETAIL])
        whole.add_patch(
            Rectangle((DETAIL_LEFT, DETAIL_TOP), DETAIL_SIDE, DETAIL_SIDE, fill=False, color=ERROR, linewidth=1.5)
        )
        whole.set_title(title)
    return figure


def _decibels(shown: Demonstration, values: Array) -> str:
    return f"{shown.quality(values)['psnr_db']:.1f} dB"


def _show(axes: Axes, values: Array) -> None:
    axes.imshow(values, cmap="gray", vmin=0, vmax=WHITE)
    axes.grid(visible=False)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
