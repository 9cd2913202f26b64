"""Recovered signals drawn over the true ones, in the style of `figures.py`."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from .._arrays import Array
from ..recovery.demos import WHITE
from .figures import FOUND, GRID, TRUTH, _as_html, _chart, png
from .recoveries import Attempt, Comparison

HEIGHT = 150
TOP, LEFT, SIDE = 60, 190, 130  # the detail of the photograph: the face and the camera
MARGIN = 0.12  # above and below the true values; what goes further leaves the chart


def drawn(comparison: Comparison) -> dict[str, Markup]:
    """One figure a solver, all of a comparison on the same scale; of a photograph, the original too."""
    if comparison.truth.ndim == 2:
        values = {"the original": comparison.truth} | {a.solver: a.values for a in comparison.attempts}
        return {label: _detail(label, array) for label, array in values.items()}
    draw = _spikes if comparison.name == "sparse" else _trace
    return {attempt.solver: _chart_of(comparison, attempt, draw) for attempt in comparison.attempts}


def _chart_of(comparison: Comparison, attempt: Attempt, draw: object) -> Markup:
    assert callable(draw)
    low, high = float(comparison.truth.min()), float(comparison.truth.max())
    room = MARGIN * (high - low)
    with _chart(HEIGHT) as (figure, axes):
        draw(axes, comparison.truth, attempt.values)
        axes.set_ylim(low - room, high + room)
        errors = ", ".join(f"{name} {value}" for name, value in attempt.errors.items())
        text = f"{comparison.title}, {attempt.solver}, over the true signal: {errors}."
        return _as_html(figure, f"{comparison.name}-{attempt.solver}", text)


def _spikes(axes: Axes, truth: Array, values: Array) -> None:
    """Rings where the true coefficients are, needles for what was found."""
    places = np.arange(len(truth))
    axes.axhline(0, color=GRID, linewidth=1)
    axes.vlines(places, 0, values, colors=FOUND, linewidth=1.8)
    there = truth != 0
    ring = {"markersize": 5.5, "markerfacecolor": "none", "markeredgewidth": 1.2}
    axes.plot(places[there], truth[there], "o", color=TRUTH, **ring)  # type: ignore[arg-type]
    axes.set(xlim=(-1, len(truth)), xticks=[0, 50, 100], yticks=[-1, 0, 1], xlabel="coefficient")


def _trace(axes: Axes, truth: Array, values: Array) -> None:
    """The true samples as a broad line, what was found as a fine one over it."""
    axes.plot(truth, color=TRUTH, linewidth=3.4, alpha=0.55)
    axes.plot(values, color=FOUND, linewidth=1.1)
    axes.set(xlim=(0, len(truth) - 1), xticks=[0, 500, 1000], yticks=[], xlabel="sample")


def _detail(label: str, values: Array) -> Markup:
    crop = values[TOP : TOP + SIDE, LEFT : LEFT + SIDE]
    return png(f"A detail of the photograph: {label}.", crop, vmin=0.0, vmax=WHITE)
