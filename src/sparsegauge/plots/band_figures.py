"""Band maps and envelope spectra of vibration records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ..rounding import LEAST_RANGE
from ..vibration.bearings import BearingOrders
from .sparsity import escape
from .style import COLOURS, panels, to_file
from .svg import chart, to_svg

if TYPE_CHECKING:
    from ..surveys import Survey
    from ..vibration.band_map import BandMap
    from ..vibration.band_tree import Band
    from ..vibration.diagnosis import Diagnosis

MOST_HARMONICS = 4
COLOUR_OF_UNMEASURED_BANDS = (0.5, 0.5, 0.5, 0.15)
BEST = "#d55e00"


def draw_band_map(found: BandMap, *, rpm: float | None = None, orders: Any = None, band: Any = None) -> Figure:
    """Draw a band map, and the envelope spectrum of its best band, or of another one, beside it."""
    speed = rpm / 60 if rpm is not None else found.setting.shaft
    with panels(1, 2, 5.2, 3.6) as (figure, axes):
        shown = found.best if band is None else band
        draw_map(figure, axes[0, 0], found, found.best)
        _draw_spectrum(axes[0, 1], found, shown, _marks(orders, speed))
        return figure


def draw_diagnosis(diagnosis: Diagnosis) -> Figure:
    """Draw the map of a diagnosed record, and the envelope spectrum in the band of the strongest finding."""
    with panels(1, 2, 5.2, 3.6) as (figure, axes):
        _draw_evidence(figure, axes[0], diagnosis)
        return figure


def draw_surveys(surveys: Sequence[Survey], style: Mapping[str, Any] | None = None) -> Figure:
    """Draw one row per record: its map, and the envelope spectrum that tells most about it."""
    with panels(len(surveys), 2, 5.2, 3.4, style=style) as (figure, axes):
        for survey, row in zip(surveys, axes, strict=True):
            if survey.diagnosis is not None and survey.diagnosis.fault is not None:
                _draw_evidence(figure, row, survey.diagnosis, survey.map)
            else:
                marks = (
                    {}
                    if survey.diagnosis is None or survey.rpm is None
                    else _marks(survey.diagnosis.orders, survey.rpm / 60)
                )
                draw_map(figure, row[0], survey.map, survey.map.best)
                _draw_spectrum(row[1], survey.map, survey.map.best, marks)
            if len(surveys) > 1:
                row[0].annotate(escape(survey.title), (0, 1.12), xycoords="axes fraction", fontweight="bold")
        return figure


def make_picture(surveys: Sequence[Survey], kind: str) -> bytes:
    """Return the content of a picture file; `kind` is "png" or "svg"."""
    return to_file(draw_surveys(surveys), kind)


def _draw_evidence(figure: Figure, axes: Any, diagnosis: Diagnosis, found: BandMap | None = None) -> None:
    """Draw a map and the spectrum of the band where the strongest finding stands out, in the flattened record."""
    strongest = diagnosis.findings[0]
    flattened = diagnosis.band_map(whiten=True)
    shown = flattened if found is None else found
    draw_map(figure, axes[0], shown, shown.best)
    _draw_spectrum(axes[1], flattened, strongest.band, {strongest.fault: strongest.frequency})
    verdict = "nothing found" if diagnosis.fault is None else f"{diagnosis.fault} fault"
    axes[1].set_title(f"{verdict}: envelope of {strongest.band}", loc="left")


def band_chart(name: str, found: BandMap) -> Markup:
    """Return the band map of a signal for the report, with the sparsest band marked."""
    with chart() as (figure, axes):
        draw_map(figure, axes, found, found.best)
        axes.set_title("", loc="left")  # the caption says it
        return to_svg(figure, f"bands-{name}", f"Sparsity of the bands of {name}; the sparsest is {found.best}.")


def draw_map(figure: Figure, axes: Axes, found: BandMap, marked: Band) -> None:
    """Draw the map of frequency against band width, with one band marked."""
    levels = sorted({band.level for band in found.bands})
    defined = found.values[np.isfinite(found.values)]
    scale = Normalize(float(defined.min()), float(max(defined.max(), defined.min() + LEAST_RANGE)))
    colours = ScalarMappable(scale, "viridis" if found.setting.sparser == "larger" else "viridis_r")
    for band, value in zip(found.bands, found.values, strict=True):
        colour = COLOUR_OF_UNMEASURED_BANDS if np.isnan(value) else colours.to_rgba(value)
        _add_band(axes, band, levels.index(band.level), facecolor=colour, edgecolor="none")
    row = min(range(len(levels)), key=lambda k: abs(levels[k] - marked.level))
    _add_band(axes, marked, row, facecolor="none", edgecolor=BEST, linewidth=2.2, zorder=3)
    widths = {band.level: band.width for band in found.bands}
    axes.set(xlim=(0, found.rate / 2000), ylim=(len(levels), 0), xlabel="frequency (kHz)", ylabel="width (Hz)")
    axes.set_yticks(np.arange(len(levels)) + 0.5, [f"{widths[level]:.4g}" for level in levels])
    axes.set_title(f"Best band: {marked}", loc="left")
    axes.grid(False)
    figure.colorbar(colours, ax=axes, label=_metric_label(found), pad=0.02)


def _add_band(axes: Axes, band: Band, row: int, **look: Any) -> None:
    axes.add_patch(Rectangle((band.low / 1000, row), band.width / 1000, 1, **look))


def _metric_label(found: BandMap) -> str:
    setting = found.setting
    if setting.metric == "gds":
        return f"$S_{{{setting.parameters['order']:g}}}$ of the {setting.on}"
    return f"{setting.metric.replace('_', ' ')} of the {setting.on}"


def _draw_spectrum(axes: Axes, found: BandMap, band: Any, marks: Mapping[str, float]) -> None:
    frequencies, heights = found.spectrum(band)
    right = min(float(frequencies[-1]), (MOST_HARMONICS + 0.6) * max(marks.values())) if marks else frequencies[-1]
    shown = (frequencies > 0) & (frequencies <= right)
    highest = float(heights[shown].max(initial=0.0)) or 1.0
    axes.plot(frequencies[shown], heights[shown] / highest, color=axes.xaxis.label.get_color(), linewidth=0.7)
    axes.set_title(f"Envelope spectrum, {band[0]:g} to {band[1]:g} Hz", loc="left")
    for k, (name, frequency) in enumerate(marks.items()):
        for harmonic in range(1, MOST_HARMONICS + 1):
            if harmonic * frequency <= frequencies[-1]:
                axes.axvline(
                    harmonic * frequency,
                    color=COLOURS[k % len(COLOURS)],
                    linestyle=(0, (1, 1.5)),
                    linewidth=1.4,
                    zorder=0,
                    label=f"{name}, {frequency:.1f} Hz" if harmonic == 1 else None,
                )
    axes.set(xlim=(0, right), xlabel="modulation frequency (Hz)", ylabel="height (highest line = 1)")
    axes.set_ylim(bottom=0)
    if marks:
        axes.legend(loc="upper right", title="harmonics of")


def _marks(orders: Any, speed: float | None) -> dict[str, float]:
    """Return fault frequencies in hertz by name."""
    if orders is None or speed is None:
        return {}
    if isinstance(orders, BearingOrders):
        named = dict(orders.items())
    elif isinstance(orders, Mapping):
        named = dict(orders)
    else:
        named = {f"order {order:g}": float(order) for order in np.atleast_1d(orders)}
    return {name: order * speed for name, order in named.items() if np.isfinite(order)}
