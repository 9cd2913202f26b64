"""The vibration tab: a record, its map of bands, and the envelope spectrum and sound of the band that is clicked."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import csv
import html
import io
import threading
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from .._arrays import Array
from ..errors import InvalidInput, SpeedWarning
from ..plots.band_figures import draw_band_map
from ..plots.style import to_file
from ..vibration.band_map import BandMap, band_map
from ..vibration.bearing_records import bearing_record
from ..vibration.bearings import BEARINGS, BearingOrders
from ..vibration.diagnosis import Diagnosis, diagnose
from ..vibration.significance import Threshold
from . import layout
from .band_drawings import BandMapDrawing, SpectrumDrawing
from .band_sounds import audio_element, sound_of_band, sound_of_envelope
from .soon import Soon
from .upload import LONGEST_RECORD, read_vibration

NO_BEARING = "not known"
POLLING_MILLISECONDS = 200
ABOUT = (
    "A damaged bearing knocks. The frequency band in which its knocks stand out is the one whose envelope spectrum is "
    "sparsest. Drop in a vibration record, give its rate, and click a band to see and hear it."
)
AUDIO = "figure { margin: 0.3rem 0; } audio { width: 100%; } figcaption { font-size: 0.9rem; }"
SIMULATED: dict[str, dict[str, Any]] = {
    "simulated: inner race damaged": {"fault": "inner", "rng": 1},
    "simulated: outer race damaged, random knocks": {"fault": "outer", "knocks": 5, "rng": 1},
    "simulated: healthy": {"fault": "none", "rng": 1},
}


@dataclass(frozen=True)
class VibrationRecord:
    """A record, and what is known of it: samples per second, revolutions per minute, the bearing."""

    samples: Array
    rate: float | None = None
    rpm: float | None = None
    bearing: str = NO_BEARING


def simulated(name: str) -> VibrationRecord:
    """Return one of the records that the page comes with."""
    record = bearing_record(**SIMULATED[name])
    return VibrationRecord(record.x, record.rate, record.rpm, record.bearing)


@dataclass
class BandTest:
    """What takes longer than the map: whether its best band stands out, and which fault it is."""

    found: BandMap
    samples: Array
    rpm: float | None
    orders: BearingOrders | None
    threshold: Threshold | None = None
    diagnosis: Diagnosis | None = None
    notes: list[str] = field(default_factory=list)
    over: bool = False

    def start(self) -> None:
        """Start in the background; a server that ends waits for it, which takes a few seconds at most."""
        threading.Thread(target=self.work, name="sparsegauge-bands").start()

    def work(self) -> None:
        """Do all of it in this thread."""
        try:
            if self.orders is not None and self.rpm is not None:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always", SpeedWarning)
                    self.diagnosis = diagnose(self.samples, self.found.rate, self.rpm, self.orders)
                self.notes += [str(warning.message) for warning in caught]
            self.threshold = self.found.threshold()
        except Exception as error:  # a page shows a sentence, whatever it was
            self.notes.append(" ".join(str(error).split()) or type(error).__name__)
        self.over = True

    def sentences(self) -> list[str]:
        """Say what is known by now."""
        best = self.found.best
        said = [f"The envelope spectrum is sparsest from {best.low:,.0f} to {best.high:,.0f} Hz."]
        if self.threshold is not None:
            verb = "stands out" if self.threshold.exceeded else "does not stand out"
            said.append(
                f"That band {verb}: noise of this spectrum gives as much with p = {self.threshold.p_value:.2g}."
            )
        elif not self.over:
            said.append("Testing whether it stands out of chance.")
        if self.diagnosis is not None:
            fault = self.diagnosis.fault
            said.append("No fault of this bearing was found." if fault is None else f"The fault: {fault}.")
        return said + self.notes


class VibrationPanel:
    """Widgets, figures, and what happens when a band is clicked."""

    def __init__(self, *, max_upload_mb: float) -> None:
        self.max_upload_mb = max_upload_mb
        self.records: dict[str, VibrationRecord] = {}
        self.found: BandMap | None = None
        self.test: BandTest | None = None
        self.timer: Any = None
        self.map = BandMapDrawing(self._tap)
        self.spectrum = SpectrumDrawing()
        self._make_widgets()

    def _make_widgets(self) -> None:
        wide = {"sizing_mode": "stretch_width"}
        self.message = layout.alert()
        self.which = pmui.Select(label="Record", options=list(SIMULATED), value=next(iter(SIMULATED)), **wide)
        self.file = layout.dropper(self.max_upload_mb)
        self.rate = pmui.FloatInput(label="Rate (samples per second)", value=None, start=0, **wide)
        self.rpm = pmui.FloatInput(label="Speed (rpm), if known", value=None, start=0, **wide)
        self.bearing = pmui.Select(label="Bearing", options=[NO_BEARING, *BEARINGS], value=NO_BEARING, **wide)
        self.go = pmui.Button(label="Map the bands", color="primary", variant="contained", **wide)
        self.band = pmui.Select(label="Band, sparsest first", options=[], **wide)
        self.verdict = layout.text()
        self.sounds = layout.text(stylesheets=[AUDIO])
        self.table = layout.download("Save CSV", self._table)
        self.plot = layout.download("Save PNG", self._plot)
        self.table.disabled = self.plot.disabled = True
        soon = self.soon = Soon(pn.state.curdoc)
        self.which.param.watch(lambda _: soon(self._choose), "value")
        self.file.param.watch(lambda _: soon(self._read), "value")
        self.band.param.watch(lambda _: soon(self._show_band), "value")
        self.go.on_click(lambda _: soon(self._survey))

    def start(self) -> None:
        """Show the first record, once the tab is opened."""
        if self.found is None:
            self._choose()

    def close(self) -> None:
        """Follow what runs no longer."""
        self.test = None
        if self.timer is not None:
            self.timer.stop()
        self.timer = None

    def _choose(self) -> None:
        layout.attempt(self.message, self._load)

    def _survey(self) -> None:
        layout.attempt(self.message, self._map)

    def _read(self) -> None:
        layout.take_dropped(self.file, self.message, self._take)

    def _take(self, name: str, data: bytes) -> None:
        """Add the records of a file to the list, and show the first of them."""
        found = read_vibration(data, name, max_mb=self.max_upload_mb)
        self.records = {
            name if one.signal is None else f"{name}, {one.signal}": VibrationRecord(one.samples, one.rate, one.rpm)
            for one in found
        }
        layout.choose_first(self.which, [*self.records, *SIMULATED], self._load)

    def _load(self) -> None:
        """Fill in what is known of the chosen record, and map it if that is enough."""
        name = self.which.value
        self.record = self.records.get(name) or simulated(name)
        known = self.record
        self.rate.value, self.rpm.value, self.bearing.value = known.rate, known.rpm, known.bearing
        if known.rate is None:
            words = "type it in the field Rate and press Map the bands"
            raise InvalidInput(f"{name} does not say its sampling rate; {words}")
        self._map()

    def _map(self) -> None:
        """Map the bands of the record, and start the test of the best one."""
        self.close()
        rate, rpm = self.rate.value, self.rpm.value or None
        bearing = None if self.bearing.value == NO_BEARING else self.bearing.value
        if not rate:
            raise InvalidInput("the sampling rate is missing; type the samples per second in the field Rate")
        if bearing is not None and rpm is None:
            raise InvalidInput("a bearing's fault frequencies need the speed; type it in the field Speed")
        found = band_map(self.record.samples, float(rate), rpm=rpm)
        self.orders = None if bearing is None else BEARINGS[bearing].orders
        self.faults = {}
        if self.orders is not None and rpm is not None:
            self.faults = {fault: order * float(rpm) / 60 for fault, order in self.orders.items()}
        self.found = found
        with pn.io.hold(pn.state.curdoc):
            self.map.show(found)
            self._list_bands(found)
            self._show_band()
        self.table.disabled = self.plot.disabled = False
        self.test = BandTest(found, self.record.samples, rpm, self.orders)
        self.test.start()
        self._tell()
        self.timer = pn.state.add_periodic_callback(self._tick, period=POLLING_MILLISECONDS)

    def _list_bands(self, found: BandMap) -> None:
        sign = -1 if found.setting.sparser == "larger" else 1
        by_value = [int(k) for k in np.argsort(sign * found.values) if np.isfinite(found.values[k])]
        self.band_numbers = {
            f"{found.bands[k].low:,.0f} to {found.bands[k].high:,.0f} Hz: {found.values[k]:.3f}": k for k in by_value
        }
        names = list(self.band_numbers)
        self.band.param.update(options=names, value=names[0])

    def _tap(self, number: int) -> None:
        """Choose the band that was clicked, if it could be measured."""
        names = [name for name, k in self.band_numbers.items() if k == number]
        if names:
            self.band.value = names[0]

    def _show_band(self) -> None:
        """Show and play the chosen band."""
        number = self.band_numbers.get(self.band.value) if self.band.value else None
        if self.found is None or number is None:
            return
        chosen = self.found.bands[number]
        self.map.mark(self.found, chosen)
        self.spectrum.show(self.found, chosen, self.faults)
        name = f"{chosen.low:,.0f} to {chosen.high:,.0f} Hz"
        self.sounds.object = audio_element(sound_of_band(self.found, chosen), f"The band {name}") + audio_element(
            sound_of_envelope(self.found, chosen), "Its envelope: the knocks alone"
        )

    def _tick(self) -> None:
        if self.test is not None and self.test.over:
            self._tell()
            self.close()

    def _tell(self) -> None:
        if self.test is None:
            return
        said = [html.escape(sentence) for sentence in self.test.sentences()]
        if self.record.samples.size >= LONGEST_RECORD:
            said.append(f"Only the first {LONGEST_RECORD:,} samples are used.")
        over = "true" if self.test.over else "false"
        self.verdict.object = f'<p class="bands-verdict" data-over="{over}" aria-live="polite">{" ".join(said)}</p>'

    def _table(self) -> Any:
        assert self.found is not None
        file = io.StringIO()
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("low_hz", "high_hz", self.found.setting.metric))
        for band, value in zip(self.found.bands, self.found.values, strict=True):
            table.writerow((repr(float(band.low)), repr(float(band.high)), repr(float(value))))
        self.table.filename = "bands.csv"
        return io.StringIO(file.getvalue())

    def _plot(self) -> Any:
        assert self.found is not None
        number = self.band_numbers[self.band.value]
        figure = draw_band_map(self.found, rpm=self.rpm.value, orders=self.orders, band=self.found.bands[number])
        self.plot.filename = "bands.png"
        return io.BytesIO(to_file(figure, "png"))

    def controls(self) -> Any:
        """Return the left column."""
        widgets = (self.which, self.file, self.message, self.rate, self.rpm, self.bearing, self.go)
        return layout.card("Vibration record", *widgets)

    def figures(self) -> Any:
        """Return the middle column."""
        return layout.card("Which band is sparsest?", self.verdict, layout.drawn(self.map.figure))

    def chosen(self) -> Any:
        """Return the right column."""
        buttons = pn.Row(self.table, self.plot, sizing_mode="stretch_width")
        return layout.card("See and hear a band", self.band, layout.drawn(self.spectrum.figure), self.sounds, buttons)
