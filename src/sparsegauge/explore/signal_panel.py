"""The upper half of the page: pick a signal, move the order, see what changes."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from ..errors import InvalidInput
from ..signals import DEMOS, REPRESENTATIONS
from . import drawings, layout
from .model import ShownCoefficients, Signal, contributions, demo_signal
from .soon import Soon
from .standing import gds_standing, standings
from .upload import read_upload

FIRST, FIRST_REPRESENTATION, FIRST_ORDER = "ecg", "wavelet", 2.0
HIGHEST_ORDER, STEP = 20.0, 0.05
ALREADY_READ = b""


class SignalPanel:
    """Widgets, figures, and what happens when a widget moves.

    `on_signal` is called with every new signal and representation.
    """

    def __init__(self, *, max_upload_mb: float, on_signal: Callable[[Signal, str], None]) -> None:
        self.max_upload_mb, self.on_signal = max_upload_mb, on_signal
        self.uploaded: dict[str, Signal] = {}
        self._make_widgets()
        self.coefficients = drawings.CoefficientsDrawing()
        self.profile = drawings.ProfileDrawing()
        self.bars = drawings.BarsDrawing()
        self.ranking = drawings.RankingDrawing()
        self._load()

    def _make_widgets(self) -> None:
        self.message = layout.alert()
        self.which = pmui.Select(label="Signal", options=list(DEMOS), value=FIRST, sizing_mode="stretch_width")
        self.what = layout.text()
        self.representation = pmui.RadioButtonGroup(
            label="Representation",
            options=list(REPRESENTATIONS),
            value=FIRST_REPRESENTATION,
            sizing_mode="stretch_width",
        )
        self.file = layout.dropper(self.max_upload_mb)
        self.order = pmui.FloatSlider(
            label="Order p", start=1.0, end=HIGHEST_ORDER, step=STEP, value=FIRST_ORDER, sizing_mode="stretch_width"
        )
        self.reading = layout.text()
        soon = Soon(pn.state.curdoc)
        self.which.param.watch(lambda _: soon(self._change), "value")
        self.representation.param.watch(lambda _: soon(self._change), "value")
        self.order.param.watch(lambda _: soon(self._move), "value")
        self.file.param.watch(lambda _: soon(self._read), "value")

    def _change(self) -> None:
        self._guarded(self._load)

    def _move(self) -> None:
        self._guarded(self._show_order)

    def _read(self) -> None:
        """Read the newest file; the drop zone also calls this when it lets go of one."""
        new = [(name, data) for name, data in self.file.value.items() if data is not ALREADY_READ]
        self.file.value.update(dict.fromkeys(self.file.value, ALREADY_READ))  # the bytes are needed no longer
        if self.file.complaint:
            layout.complain(self.message, self.file.complaint)
        elif new:
            self._guarded(lambda: self._take(*new[-1]))

    def _guarded(self, work: Callable[[], None]) -> None:
        """Do it; what goes wrong is a sentence on the page, and the page shows what it showed before."""
        self.message.visible = False
        try:
            work()
        except InvalidInput as error:
            layout.complain(self.message, str(error))
        except Exception as error:  # a page must not die of what nobody thought of
            layout.complain(self.message, f"That did not work ({type(error).__name__}: {error}).")

    def _take(self, name: str, data: bytes | str) -> None:
        """Add the signals of a file to the list, and show the first of them."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        found = read_upload(raw, name, max_mb=self.max_upload_mb)
        self.uploaded = _by_name(found)
        first = next(iter(self.uploaded))
        again = self.which.value == first
        self.which.param.update(options=[*self.uploaded, *DEMOS], value=first)
        if again:  # of the same name, so that nothing changed for the widget
            self._load()

    def _load(self) -> None:
        name, chosen = self.which.value, self.representation.value
        signal = self.uploaded.get(name) or demo_signal(name)
        self.now = ShownCoefficients(signal.values, chosen)
        self.this = (name, chosen) if name not in self.uploaded else None
        self.standings = standings(self.now.values, self.this)
        shape = " × ".join(f"{length:,}" for length in signal.values.shape)
        self.what.object = layout.paragraph(html.escape(signal.note or f"{name}: {shape} numbers"))
        self.profile.show_profiles(self._profiles(signal), chosen)
        self._show_order()
        self.on_signal(signal, chosen)

    def _profiles(self, signal: Signal) -> dict[str, Any]:
        """Return the profiles of all representations that the signal has."""
        found = {}
        for kind in REPRESENTATIONS:
            try:
                same = kind == self.representation.value
                found[kind] = (self.now if same else ShownCoefficients(signal.values, kind)).profile
            except InvalidInput:
                continue  # a single pixel row has no wavelet transform
        return found

    def _show_order(self) -> None:
        order, now = float(self.order.value), self.now
        sparsity, shares = now.sparsity(order), contributions(now.values, order)
        self.coefficients.show(now.peaks, now.values[now.peaks], shares[now.peaks])
        self.bars.show(now.bars(shares))
        self.profile.show_order(order, sparsity)
        accent = f"gds, p = {order:g}"
        standing = gds_standing(now.values, order, self.this)
        self.ranking.show({**self.standings, accent: standing}, accent)
        self.reading.object = layout.reading(
            order, sparsity, standing, now.values.size, float(shares[shares > 0].sum())
        )

    def controls(self) -> Any:
        """Return the left column."""
        return layout.card("Signal", self.which, self.what, self.representation, self.file, self.message)

    def gauge(self) -> Any:
        """Return the slider and the number."""
        return layout.card("Sparsity", self.order, self.reading)

    def figures(self) -> Any:
        """Return the middle column."""
        return pn.Column(
            layout.card("Coefficients", layout.legend(), layout.drawn(self.coefficients.figure)),
            layout.card("What each contributes", layout.drawn(self.bars.figure)),
            layout.card("Sparsity over the order", layout.drawn(self.profile.figure)),
            sizing_mode="stretch_width",
        )

    def standing(self) -> Any:
        """Return the right column."""
        return layout.card("Rank by every metric", layout.text(layout.RANKING), layout.drawn(self.ranking.figure))


def _by_name(signals: Sequence[Signal]) -> dict[str, Signal]:
    """Give each signal a name of its own: two columns may have the same, and a file that of a demo."""
    found: dict[str, Signal] = {}
    for signal in signals:
        wanted = f"{signal.name} (file)" if signal.name in DEMOS else signal.name
        names = itertools.chain([wanted], (f"{wanted} ({k})" for k in itertools.count(2)))
        found[next(name for name in names if name not in found)] = signal
    return found
