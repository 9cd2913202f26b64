"""The figures of the vibration tab: the map of bands, and the envelope spectrum of one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, LinearColorMapper
from bokeh.models.annotations import ColorBar
from bokeh.palettes import Viridis256

from ..rounding import LEAST_RANGE
from ..vibration.band_map import BandMap
from ..vibration.band_tree import Band
from .drawings import LOWERS, QUIET, RAISES, make_figure, put_legend_above

MAP_HEIGHT, SPECTRUM_HEIGHT = 380, 300
MOST_SPECTRUM_POINTS = 4000
HARMONICS = 4
NOT_MEASURED = "#80808030"
FAULT_COLOURS = {"outer": "#d55e00", "inner": "#009e73", "ball": "#cc79a7", "cage": "#e69f00"}
FAULT_DASHES = {"outer": "dashed", "inner": "dotted", "ball": "dotdash", "cage": "dashdot"}


class BandMapDrawing:
    """The map of frequency against width of the bands; `on_tap` is called with the number of a band that is clicked."""

    def __init__(self, on_tap: Callable[[int], None]) -> None:
        self.on_tap = on_tap
        self.bands = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": [], "colour": []})
        self.marks = ColumnDataSource({"left": [], "right": [], "top": [], "bottom": [], "colour": []})
        self.colours = LinearColorMapper(palette=Viridis256, low=0, high=1)
        self.figure = make_figure(
            "How sparse the record is in each frequency band; click a band to see and hear it",
            x_axis_label="frequency (kHz)",
            y_axis_label="width of the bands (Hz)",
            height=MAP_HEIGHT,
            tools="tap",
            x_range=(0, 1),
            y_range=(1, 0),
        )
        box = {"left": "left", "right": "right", "top": "top", "bottom": "bottom"}
        drawn = self.figure.quad(**box, fill_color="colour", line_color=None, source=self.bands)
        drawn.nonselection_glyph = None  # a band that is not selected looks as before
        drawn.selection_glyph = None
        self.figure.quad(**box, fill_color=None, line_color="colour", line_width=3, source=self.marks)
        self.figure.add_layout(ColorBar(color_mapper=self.colours, width=10, title=None, padding=4), "right")
        self.figure.grid.visible = False
        self.bands.selected.on_change("indices", self._tapped)

    def _tapped(self, _attribute: str, _old: list[int], new: list[int]) -> None:
        if new:
            self.on_tap(int(new[-1]))

    def show(self, found: BandMap) -> None:
        """Draw a map."""
        levels = sorted({band.level for band in found.bands})
        rows = np.array([levels.index(band.level) for band in found.bands])
        low, high = float(np.nanmin(found.values)), float(np.nanmax(found.values))
        sparser = found.values if found.setting.sparser == "larger" else -found.values
        share = (sparser - np.nanmin(sparser)) / max(float(np.nanmax(sparser) - np.nanmin(sparser)), LEAST_RANGE)
        colours = [NOT_MEASURED if np.isnan(s) else Viridis256[min(255, int(256 * s))] for s in share]
        self.colours.update(low=low, high=max(high, low + LEAST_RANGE))
        self.figure.x_range.end = found.rate / 2000
        self.figure.y_range.start = len(levels)
        widths = {level: next(band.width for band in found.bands if band.level == level) for level in levels}
        self.figure.yaxis.ticker = [k + 0.5 for k in range(len(levels))]
        self.figure.yaxis.major_label_overrides = {k + 0.5: f"{widths[level]:.4g}" for k, level in enumerate(levels)}
        self.bands.selected.indices = []
        self.bands.data = {
            "left": [band.low / 1000 for band in found.bands],
            "right": [band.high / 1000 for band in found.bands],
            "top": rows,
            "bottom": rows + 1,
            "colour": colours,
        }

    def mark(self, found: BandMap, chosen: Band) -> None:
        """Outline the sparsest band, and the one whose spectrum is shown."""
        levels = sorted({band.level for band in found.bands})
        marked = [(found.best, LOWERS), (chosen, "#ff4fd8")]
        self.marks.data = {
            "left": [band.low / 1000 for band, _ in marked],
            "right": [band.high / 1000 for band, _ in marked],
            "top": [levels.index(band.level) for band, _ in marked],
            "bottom": [levels.index(band.level) + 1 for band, _ in marked],
            "colour": [colour for _, colour in marked],
        }


class SpectrumDrawing:
    """The envelope spectrum of one band, with the harmonics of the faults."""

    def __init__(self) -> None:
        self.source = ColumnDataSource({"f": [], "h": []})
        self.figure = make_figure(
            "The envelope spectrum of the chosen band, with the frequencies of the bearing's faults",
            x_axis_label="modulation frequency (Hz)",
            y_axis_label="height (highest line = 1)",
            height=SPECTRUM_HEIGHT,
            y_range=(0, 1.05),
        )
        self.lines = {fault: ColumnDataSource({"f": []}) for fault in FAULT_COLOURS}
        for fault, colour in FAULT_COLOURS.items():
            self.figure.segment(
                "f", 0, "f", 1.05, color=colour, line_dash=FAULT_DASHES[fault], line_width=1.6,
                source=self.lines[fault], legend_label=fault,
            )  # fmt: skip
        self.figure.line("f", "h", color=RAISES, line_width=1.2, source=self.source)
        self.figure.xgrid.grid_line_color = QUIET
        self.figure.xgrid.grid_line_alpha = 0.2
        put_legend_above(self.figure)

    def show(self, found: BandMap, chosen: Band, faults: Mapping[str, float]) -> None:
        """Draw the spectrum of a band, and lines at the frequencies in hertz and their multiples."""
        frequencies, heights = found.spectrum(chosen)
        end = float(frequencies[-1])
        if faults:
            end = min(end, (HARMONICS + 0.6) * max(faults.values()))
        shown = (frequencies > 0) & (frequencies <= end)
        step = max(1, int(np.count_nonzero(shown)) // MOST_SPECTRUM_POINTS)
        f, h = _peaks(frequencies[shown], heights[shown], step)
        highest = float(h.max(initial=0.0)) or 1.0
        self.source.data = {"f": f, "h": h / highest}
        for fault, source in self.lines.items():
            frequency = faults.get(fault)
            places = [] if frequency is None else [k * frequency for k in range(1, HARMONICS + 1)]
            source.data = {"f": [place for place in places if place <= end]}
        self.figure.legend.visible = bool(faults)


def _peaks(frequencies: Any, heights: Any, step: int) -> tuple[Any, Any]:
    """Return the highest line of each group of `step` neighbours."""
    if step == 1:
        return frequencies, heights
    count = len(heights) // step
    groups = heights[: count * step].reshape(count, step)
    places = np.arange(count) * step + groups.argmax(axis=1)
    return frequencies[places], heights[places]
