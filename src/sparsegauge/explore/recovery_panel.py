"""The lower half of the page: measure a piece of the signal, recover it, watch it converge."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

import html
import math
from typing import Any

import panel as pn
import panel_material_ui as pmui

from ..errors import InvalidInput
from ..metrics.gds import gds
from . import drawings, layout
from .experiment import ORDER_DRAWN, SOLVERS, Frame, ScaledPiece, Trial, piece, set_up
from .model import Signal
from .recovery_run import RecoveryRun
from .signal_views import EstimateView
from .soon import Soon

NOISE: dict[str, float | None] = {"none": None, **{f"{level} dB": float(level) for level in (60, 50, 40, 30, 20, 10)}}
MILLISECONDS_BETWEEN_PICTURES = 100
PICTURES_PER_RUN = 25  # about
INITIAL_SHARE_KEPT = 1 / 12  # of all coefficients
INITIAL_SHARE_MEASURED = 0.4
BEFORE = "Nothing yet: press Recover."
LARGEST_SEED = 99


class RecoveryPanel:
    """Widgets, figures, and a run that they follow."""

    def __init__(self) -> None:
        self.run: RecoveryRun | None = None
        self.shown = 0
        self.piece: ScaledPiece | None = None
        self._make_widgets()
        self.view = EstimateView()
        self.estimate = drawings.EstimateDrawing()
        self.history = drawings.HistoryDrawing()
        self.timer: Any = None

    def _make_widgets(self) -> None:
        wide = {"sizing_mode": "stretch_width"}
        self.message = layout.alert()
        self.about = layout.text()
        self.kept = pmui.IntSlider(label="Largest coefficients kept (K)", start=1, end=2, value=1, **wide)
        self.measurements = pmui.IntSlider(label="Measurements (M)", start=1, end=2, value=1, **wide)
        self.noise = pmui.Select(label="Noise (signal to noise ratio)", options=list(NOISE), value="none", **wide)
        self.solver = pmui.Select(label="Solver", options=list(SOLVERS), value=next(iter(SOLVERS)), **wide)
        self.seed = pmui.IntSlider(label="Seed", start=0, end=LARGEST_SEED, value=0, **wide)
        self.go = pmui.Button(label="Recover", color="primary", variant="contained", **wide)
        self.halt = pmui.Button(label="Stop", variant="outlined", disabled=True, **wide)
        self.result = layout.text(layout.paragraph(BEFORE))
        soon = Soon(pn.state.curdoc)
        self.go.on_click(lambda _: soon(self._begin))
        self.halt.on_click(lambda _: self._stop())
        for widget in (self.kept, self.measurements):
            widget.param.watch(lambda _: self._describe(), "value")

    def take(self, signal: Signal, representation: str) -> None:
        """Take another signal: end what runs, and measure a piece of this one next."""
        self.close()
        self.message.visible = False
        try:
            self.piece = piece(signal.values, representation)
        except InvalidInput as error:
            self.piece = None
            self.go.disabled = True
            layout.complain(self.message, f"No trial with this signal: {error}.")
            return
        n = self.piece.coefficients.size
        self.go.disabled = False
        self.kept.param.update(end=n, value=max(1, round(INITIAL_SHARE_KEPT * n)))
        self.measurements.param.update(end=n - 1, value=max(3, round(INITIAL_SHARE_MEASURED * n)))
        self._describe()
        self._show_truth()

    def close(self) -> None:
        """End what runs and follow it no longer."""
        if self.run is not None:
            self.run.stop()
        self.run = None
        self._idle()

    def _describe(self) -> None:
        if self.piece is not None:
            m, n, k = self.measurements.value, self.piece.coefficients.size, self.kept.value
            what = " × ".join(map(str, self.piece.shape))
            what += " pixels of the picture" if len(self.piece.shape) == 2 else " samples of the signal"
            words = f"{what}, of whose {n} coefficients the {k} largest are kept, are measured by {m} random sums."
            self.about.object = layout.paragraph(words)

    def _set_up(self, shown: ScaledPiece) -> Trial:
        return set_up(
            shown.coefficients,
            kept=int(self.kept.value),
            measurements=int(self.measurements.value),
            snr=NOISE[self.noise.value],
            solver=self.solver.value,
            seed=int(self.seed.value),
        )

    def _show_truth(self) -> None:
        if self.piece is None:
            return
        truth = self._set_up(self.piece).truth
        self.view.show_truth(self.piece.rebuild(truth))
        self.estimate.show_truth(truth)
        self.history.clear(float(gds(truth, ORDER_DRAWN)))
        self.result.object = layout.paragraph(BEFORE)

    def _show(self, frame: Frame) -> None:
        assert self.piece is not None
        self.view.show(self.piece.rebuild(frame.x))
        self.estimate.show(frame)

    def _begin(self) -> None:
        self.close()
        if self.piece is None:
            return
        self.message.visible = False  # what it says is about the run before
        self._show_truth()
        self.run, self.shown = RecoveryRun(self._set_up(self.piece)), 0
        self.go.disabled, self.halt.disabled = True, False
        self.result.object = layout.paragraph("Working.")
        self.run.start()
        self.timer = pn.state.add_periodic_callback(self._tick, period=MILLISECONDS_BETWEEN_PICTURES)

    def _stop(self) -> None:
        if self.run is not None:
            self.run.stop()
            self.shown = len(self.run.frames)  # what was computed and not yet shown is skipped

    def _tick(self) -> None:
        """Show the next iterates: each of a few, and some of many."""
        run = self.run
        if run is None:
            return
        over = run.over  # asked first: frames that come after this are for the next tick
        left = len(run.frames) - self.shown
        if left > 0:
            self.shown += max(1, math.ceil(len(run.frames) / PICTURES_PER_RUN)) if left > 1 else 1
            self.shown = min(self.shown, len(run.frames))
            self._show(run.frames[self.shown - 1])
            self.history.show(run.frames[: self.shown])
        elif over:
            self._finish(run)

    def _finish(self, run: RecoveryRun) -> None:
        self._idle()
        last = run.last()
        if run.result is None or last is None:
            self.result.object = ""
            layout.complain(self.message, f"The solver gave up: {run.failure}")
            return
        self._show(last)
        self.history.show([*run.frames, last])
        self.result.object = layout.outcome(run.result, last, html.escape(type(SOLVERS[run.trial.solver]()).__name__))

    def _idle(self) -> None:
        if self.timer is not None:
            self.timer.stop()
        self.timer = None
        self.go.disabled, self.halt.disabled = self.piece is None, True

    def controls(self) -> Any:
        """Return the left column."""
        buttons = pn.Row(self.go, self.halt, sizing_mode="stretch_width")
        widgets = (self.kept, self.measurements, self.noise, self.solver, self.seed)
        return layout.card("Recover from few measurements", self.about, *widgets, buttons, self.message)

    def picture(self) -> Any:
        """Return the middle column."""
        return pn.Column(
            layout.card("What was measured, and the estimate", self.view.panel(), self.result),
            layout.card("Their coefficients", layout.drawn(self.estimate.figure)),
            sizing_mode="stretch_width",
        )

    def curves(self) -> Any:
        """Return the right column."""
        return layout.card("Convergence", layout.drawn(self.history.error), layout.drawn(self.history.sparsity))
