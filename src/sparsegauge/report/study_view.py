"""Arrange a study's errors over (order, measurements) for the maps, the tables and the form of the page."""

from __future__ import annotations

import base64
import functools
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib
import matplotlib.image
import numpy as np
from numpy.typing import NDArray

from .._arrays import Array
from ..rounding import WHOLE
from ..study.axes import label_axis
from ..study.choice import RECOVERED_SUCCESS_RATE, Choices, choose_orders
from ..study.summary import Summary
from .typeset import label

PANEL_AXIS = "distributions"  # one map per value
HORIZONTAL_AXIS = "measurements"
VERTICAL_AXIS = "orders"
COLOUR_MAP = "viridis"  # even steps look even, also to colour-blind readers
DECADES_OF_COLOURS = 8  # errors further below the largest share the last colour
MOST_TABLE_COLUMNS = 9
GRADIENT_STOPS = 17


@dataclass(frozen=True)
class Slider:
    """An axis that is neither a panel's nor a map's own, to be moved along."""

    axis: str
    label: str
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Place:
    """One map: a panel at one value of each slider, `index` in the arrays; mean[measurements, orders] may have NaN."""

    panel: str
    where: tuple[Any, ...]
    index: tuple[int, ...]
    mean: Array


@dataclass(frozen=True)
class OrderChoice:
    """What the table of orders says of one cell; `choice.py` decided it."""

    order: float
    near: tuple[float, ...]
    flat: bool
    all_recover: bool

    @property
    def text(self) -> str:
        """Return what the table says."""
        if self.all_recover:
            return "any"
        return f"{'≈ ' if self.flat else ''}{label(self.order)}"


@dataclass(frozen=True)
class StudyView:
    """Arrays with the axes (panel, slider, ..., measurements, orders), and what they are of.

    The arrays of `choices` have no axis of orders, except `near`.
    """

    title: str
    panels: tuple[str, ...]
    sliders: tuple[Slider, ...]
    measurements: tuple[int, ...]
    orders: tuple[float, ...]
    mean: NDArray[np.float64]
    error: NDArray[np.float64]
    choices: Choices
    facts: dict[str, str]
    notes: tuple[str, ...] = field(default=())

    @functools.cached_property
    def range(self) -> tuple[float, float]:
        """Return the errors at the two ends of the colours."""
        positive = self.mean[np.isfinite(self.mean) & (self.mean > 0)]
        if not len(positive):
            return 0.1, 1.0
        high = float(positive.max())
        low = max(float(positive.min()), high * 10.0**-DECADES_OF_COLOURS)
        return (low, high) if low < high else (high / 10, high)

    @property
    def clipped(self) -> bool:
        """Return whether some errors are below the lowest colour's."""
        return bool((self.mean < self.range[0]).any())

    @property
    def missing(self) -> int:
        """How many cells have no result yet."""
        return int(np.count_nonzero(np.isnan(self.mean)))

    @property
    def recovered(self) -> float:
        """The success rate from which on such signals count as recovered."""
        return RECOVERED_SUCCESS_RATE

    @property
    def has_choice(self) -> bool:
        """Return whether there are orders to choose from."""
        return len(self.orders) > 1

    def places(self) -> Iterator[Place]:
        """Yield map by map, in the order of the arrays."""
        for i, panel in enumerate(self.panels):
            for index in itertools.product(*(range(len(slider.values)) for slider in self.sliders)):
                where = tuple(slider.values[k] for slider, k in zip(self.sliders, index, strict=True))
                at = (i, *index)
                yield Place(panel, where, at, self.mean[at])

    def ticks(self) -> list[tuple[str, float]]:
        """Return powers of ten on the scale of colours, and how far along each is, in per cent."""
        low, high = (math.log10(end) for end in self.range)
        powers = range(math.ceil(low - WHOLE), math.floor(high + WHOLE) + 1)
        return [(_power(k), 100 * (k - low) / (high - low)) for k in powers]

    def columns(self) -> list[int]:
        """Return which measurements the table shows: round ones where there are any, else evenly spread ones."""
        round_ones = [k for k, m in enumerate(self.measurements) if m % 10 == 0]
        chosen = round_ones if len(round_ones) > 2 else list(range(len(self.measurements)))
        if len(chosen) <= MOST_TABLE_COLUMNS:
            return chosen
        return [chosen[k] for k in np.linspace(0, len(chosen) - 1, MOST_TABLE_COLUMNS).round().astype(int)]

    @property
    def any_shown(self) -> bool:
        """Return whether the table of orders has a place where every order recovers such signals."""
        return bool(self.choices.all_recover[..., self.columns()].any())

    def choice(self, place: Place, column: int) -> OrderChoice | None:
        """Return the best order at one number of measurements; None where a result is missing."""
        at, found = (*place.index, column), self.choices
        if found.best[at] < 0:
            return None
        near = tuple(p for p, is_near in zip(self.orders, found.near[at], strict=True) if is_near)
        return OrderChoice(self.orders[found.best[at]], near, bool(found.is_flat[at]), bool(found.all_recover[at]))

    def describe(self, place: Place) -> str:
        """Describe one map in words."""
        what = f"{place.panel}{self.at(place)}"
        if np.isnan(place.mean).all():
            return f"Map of {what}: no results yet."
        m, p = np.unravel_index(np.nanargmin(place.mean), place.mean.shape)
        lowest = f"{place.mean[m, p]:.2g} at M = {self.measurements[m]}" + (
            f", order {label(self.orders[p])}" if self.has_choice else ""
        )
        return f"Map of {what}: mean squared errors from {np.nanmax(place.mean):.2g} down to {lowest}."

    def at(self, place: Place) -> str:
        """Say where on the sliders a map is."""
        parts = [f"{s.label} = {label(value)}" for s, value in zip(self.sliders, place.where, strict=True)]
        return ", " + ", ".join(parts) if parts else ""

    def image(self, place: Place) -> str:
        """Return a map as the base64 of a PNG, one pixel per cell, order 1 at the bottom; no result is transparent."""
        low, high = (math.log10(end) for end in self.range)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = (np.log10(place.mean.T) - low) / (high - low)
        pixels = matplotlib.colormaps[COLOUR_MAP](np.nan_to_num(np.clip(share, 0, 1)))
        pixels[np.isnan(place.mean.T)] = 0
        file = io.BytesIO()
        matplotlib.image.imsave(file, pixels[::-1], format="png", metadata={"Software": "sparsegauge"})
        return base64.b64encode(file.getvalue()).decode("ascii")

    def gradient(self) -> list[str]:
        """Return the colours from the lowest error to the highest."""
        return [_hex(share) for share in np.linspace(0, 1, GRADIENT_STOPS)]

    def embedded(self) -> dict[str, Any]:
        """Return the data of the page's script, as JSON can hold them: without NaN and infinity."""
        return {
            "panels": self.panels,
            "sliders": [{"axis": s.axis, "label": s.label, "values": _to_json(s.values)} for s in self.sliders],
            "measurements": self.measurements,
            "orders": _to_json(self.orders),
            "mean": _pack_floats(self.mean),
            "error": _pack_floats(self.error),
            "best": base64.b64encode(self.choices.best.astype("<i2").tobytes()).decode("ascii"),
            "near": _pack_bits(self.choices.near),
            "clear": _pack_bits(self.choices.is_clear),
            "flat": _pack_bits(self.choices.is_flat),
            "recover": _pack_bits(self.choices.all_recover),
            "recovered": RECOVERED_SUCCESS_RATE,
            "range": self.range,
            "colours": [_hex(share) for share in np.linspace(0, 1, 64)],
        }


def view_study(summary: Summary, *, title: str, notes: Sequence[str] = ()) -> StudyView:
    """Arrange a summary for the page, whatever axes it has.

    Parameters
    ----------
    summary : Summary
        Of a store, or one that ships with the package.
    title : str
        What readers see as its name.
    notes : sequence of str
        What is wrong with it: unfinished, damaged.
    """
    axes = dict(summary.axes)
    sliders = tuple(
        Slider(axis, label_axis(axis), tuple(values))
        for axis, values in axes.items()
        if axis not in (PANEL_AXIS, HORIZONTAL_AXIS, VERTICAL_AXIS)
    )
    order = [PANEL_AXIS, *(slider.axis for slider in sliders), HORIZONTAL_AXIS, VERTICAL_AXIS]
    mean, error = (_arrange(summary.values[f"mse_{word}"], list(axes), order) for word in ("mean", "standard_error"))
    return StudyView(
        title,
        tuple(map(str, axes.get(PANEL_AXIS, ("all signals",)))),
        sliders,
        tuple(axes.get(HORIZONTAL_AXIS, (0,))),
        tuple(map(float, axes.get(VERTICAL_AXIS, (math.nan,)))),
        mean,
        error,
        _arrange_choices(summary, order),
        _facts(summary),
        tuple(notes),
    )


def _arrange(values: NDArray[Any], axes: list[str], order: list[str]) -> NDArray[np.float64]:
    """Put the axes in that order, with a length of one for those that are absent."""
    present = [axis for axis in order if axis in axes]
    moved = np.transpose(np.asarray(values, float), [axes.index(axis) for axis in present])
    absent = tuple(k for k, axis in enumerate(order) if axis not in axes)
    return np.expand_dims(moved, absent)


def _arrange_choices(summary: Summary, order: list[str]) -> Choices:
    """Return the choices on the axes of the page; of a study without orders there are none."""
    cells = order[:-1]
    if VERTICAL_AXIS not in summary.axes:
        only = _arrange(summary.values["mse_mean"], list(summary.axes), cells)
        nothing = np.zeros(only.shape, bool)
        return Choices({}, (math.nan,), np.where(np.isnan(only), -1, 0), ~nothing[..., None], nothing, nothing, False)
    found = choose_orders(summary)
    axes = list(found.axes)
    arrays = {name: _arrange(getattr(found, name), axes, cells) for name in ("best", "is_clear", "all_recover")}
    near = _arrange(found.near, [*axes, VERTICAL_AXIS], order).astype(bool)
    return Choices(
        found.axes,
        found.orders,
        arrays["best"].astype(np.intp),
        near,
        arrays["is_clear"].astype(bool),
        arrays["all_recover"].astype(bool),
        found.is_paired,
    )


def _pack_bits(values: NDArray[np.bool_]) -> str:
    return base64.b64encode(np.packbits(values, bitorder="little").tobytes()).decode("ascii")


def _facts(summary: Summary) -> dict[str, str]:
    """Return what was run, as far as the manifest of one study says."""
    study = summary.manifest.get("study", {})
    trials = summary.values.get("trials")
    facts = {}
    if "solver" in study:
        numbers = {k: v for k, v in study["solver"].items() if type(v) in (int, float)}
        options = ", ".join(f"{name} = {value:g}" for name, value in numbers.items())
        name = str(study["solver"].get("name", "?"))
        facts["solver"] = f"{name} ({options})" if options else name
    if "n" in study:
        facts["length of the signals"] = f"N = {study['n']}"
    if trials is not None and trials.size:
        low, high = int(trials.min()), int(trials.max())
        facts["trials per cell"] = str(low) if low == high else f"{low} to {high}"
        facts["reconstructions"] = f"{int(trials.sum()):,}"
    return facts


def _to_json(values: Sequence[Any]) -> list[Any]:
    """Return values that JSON can hold: null for NaN, and its label for an infinite number."""
    said = [None if isinstance(value, float) and math.isnan(value) else value for value in values]
    return [label(value) if isinstance(value, float) and math.isinf(value) else value for value in said]


def _pack_floats(values: NDArray[np.float64]) -> str:
    """Return numbers packed in single precision, little endian, which is more than their errors need."""
    with np.errstate(over="ignore", under="ignore"):
        return base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")


def _hex(share: float) -> str:
    red, green, blue, _ = (round(255 * part) for part in matplotlib.colormaps[COLOUR_MAP](float(share)))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _power(k: int) -> str:
    return "1" if k == 0 else "10" if k == 1 else "10" + "".join("⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".index(c)] for c in str(k))
