"""The upper half of the page: pick a signal, move the order, see what changes."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import html
import io
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import panel_material_ui as pmui

from .._arrays import Array
from ..errors import InvalidInput
from ..signals import DEMOS, REPRESENTATIONS
from . import drawings, layout
from .downloads import Reading, plot_png, results_csv
from .model import ShownCoefficients, Signal, bars, demo_signal, shown_demo
from .signal_views import SignalView
from .soon import Soon
from .standing import demo_standings, sparsity_standing, standings
from .upload import read_upload

FIRST, FIRST_REPRESENTATION, FIRST_ORDER = "ecg", "wavelet", 2.0
HIGHEST_ORDER, STEP = 20.0, 0.05
THIS_ORDER = "gds, this order"


class QuickSlider(pmui.FloatSlider):
    """A slider whose moves are acted on at once; `Soon` skips those that come too fast."""

    _debounce = 0  # milliseconds that Panel waits for further moves


class SignalPanel:
    """Widgets, figures, and what happens when a widget moves.

    `on_signal` is called with every new signal and representation.
    """

    def __init__(self, *, max_upload_mb: float, on_signal: Callable[[Signal, str], None]) -> None:
        self.max_upload_mb, self.on_signal = max_upload_mb, on_signal
        self.uploaded: dict[str, Signal] = {}
        self.profiles: dict[str, tuple[Array, Array]] = {}
        self._make_widgets()
        self.view = SignalView()
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
        self.order = QuickSlider(
            label="Order p", start=1.0, end=HIGHEST_ORDER, step=STEP, value=FIRST_ORDER, sizing_mode="stretch_width"
        )
        self.reading = layout.text()
        self.results = layout.download("Save CSV", self._results)
        self.plot = layout.download("Save PNG", self._plot)
        soon = self.soon = Soon(pn.state.curdoc)
        self.which.param.watch(lambda _: soon(self._change), "value")
        self.representation.param.watch(lambda _: soon(self._change), "value")
        self.order.param.watch(lambda _: soon(self._move), "value")
        self.file.param.watch(lambda _: soon(self._read), "value")

    def _change(self) -> None:
        layout.attempt(self.message, self._load)

    def _move(self) -> None:
        layout.attempt(self.message, self._show_order)

    def _read(self) -> None:
        layout.take_dropped(self.file, self.message, self._take)

    def _take(self, name: str, data: bytes) -> None:
        """Add the signals of a file to the list, and show the first of them."""
        found = read_upload(data, name, max_mb=self.max_upload_mb)
        self.uploaded = _by_name(found)
        layout.choose_first(self.which, [*self.uploaded, *DEMOS], self._load)

    def _load(self) -> None:
        name, chosen = self.which.value, self.representation.value
        own = self.uploaded.get(name)
        signal = own or demo_signal(name)
        self.signal = signal
        self.now = shown_demo(name, chosen) if own is None else ShownCoefficients(signal.values, chosen)
        self.this = (name, chosen) if own is None else None
        self.standings = demo_standings(name, chosen) if own is None else standings(self.now.values)
        shape = " × ".join(f"{length:,}" for length in signal.values.shape)
        self.what.object = layout.paragraph(html.escape(signal.note or f"{name}: {shape} numbers"))
        self.view.show(name, signal.values)
        self.profiles = {chosen: (self.now.orders, self.now.profile)}
        self.profile.show_profiles(self.profiles, chosen)
        self._show_order()
        self.on_signal(signal, chosen)
        self.soon(self._show_other_profiles)

    def _show_other_profiles(self) -> None:
        """Draw the profiles of the other representations that the signal has, once the chosen one is there."""
        name, own = self.which.value, self.uploaded.get(self.which.value)
        found = {}
        for kind in REPRESENTATIONS:
            try:
                other = shown_demo(name, kind) if own is None else ShownCoefficients(self.signal.values, kind)
                found[kind] = self.profiles.get(kind, (other.orders, other.profile))
            except InvalidInput:
                continue  # a single pixel row has no wavelet transform
        self.profiles = found
        self.profile.show_profiles(found, self.representation.value)

    def _show_order(self) -> None:
        order, now = float(self.order.value), self.now
        sparsity = now.sparsity(order)
        shares = now.shares(order)
        standing = sparsity_standing(sparsity, order, self.this)
        with pn.io.hold(pn.state.curdoc):  # so that the browser draws once
            self.coefficients.show(now.peaks, now.values[now.peaks], shares[now.peak_ranks])
            self.bars.show(bars(shares))
            self.profile.show_order(order, sparsity)
            self.ranking.show({**self.standings, THIS_ORDER: standing}, THIS_ORDER)
            self.reading.object = layout.reading(
                order, sparsity, standing, now.values.size, float(shares[shares > 0].sum())
            )

    def _shown(self) -> Reading:
        order = float(self.order.value)
        standing = sparsity_standing(self.now.sparsity(order), order, self.this)
        name, representation = str(self.which.value), str(self.representation.value)
        return Reading(
            name, self.signal.values, representation, order, self.now, self.profiles, self.standings, standing
        )

    def _results(self) -> Any:
        shown = self._shown()
        self.results.filename = f"{shown.file_name}.csv"
        return io.StringIO(results_csv(shown))

    def _plot(self) -> Any:
        shown = self._shown()
        self.plot.filename = f"{shown.file_name}.png"
        return io.BytesIO(plot_png(shown))

    def controls(self) -> Any:
        """Return the left column."""
        return layout.card("Choose a signal", self.which, self.what, self.file, self.message, self.representation)

    def gauge(self) -> Any:
        """Return the slider and the number."""
        buttons = pn.Row(self.results, self.plot, sizing_mode="stretch_width")
        return layout.card("Sparsity", self.order, self.reading, buttons)

    def figures(self) -> Any:
        """Return the middle column."""
        return pn.Column(
            layout.card("Signal", self.view.panel()),
            layout.card("Its coefficients", layout.legend(), layout.drawn(self.coefficients.figure)),
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
