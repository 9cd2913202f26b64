"""The charts of a signal on the page: its profile, the decay of its coefficients, and the signal itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from .._arrays import Array
from ..profiles import Decay, OverTime
from .svg import COLOUR_OF_FOUND, GRID, INK, LINES, chart, label_ticks, png, to_svg

MOST_POINTS_PER_LINE = 600
TIME_HEIGHT = 130
THUMBNAIL_HEIGHT = 110
THUMBNAIL_PIXELS = 220
SMALLEST_SHARE, SMALLEST_MAGNITUDE = 3e-6, 1e-6
PROFILE_RANGE = (0.0015, 0.9998)
BAR_WIDTH = 2.5
MARGIN_OF_FLAT_LINES = 0.05  # of S_2, above and below a line that does not vary


def profile_chart(
    name: str, profiles: Mapping[str, Mapping[float, float]], intervals: Mapping[float, tuple[float, float]]
) -> Markup:
    """Draw S_p over the order p, one line per representation; a bar for each confidence interval of the samples."""
    with chart() as (figure, axes):
        for label, profile in profiles.items():
            _draw(axes, label, list(profile), list(profile.values()))
        if intervals:
            low, high = np.clip(np.array(list(intervals.values())).T, *PROFILE_RANGE)
            axes.vlines(
                list(intervals), low, high, color=LINES["samples"].marker, linewidth=BAR_WIDTH, zorder=1, clip_on=False
            )
        axes.set(xscale="log", yscale="logit", xlim=(1, 20), ylim=PROFILE_RANGE, xlabel="order p", ylabel="sparsity")
        label_ticks(
            axes,
            x={1: "1", 2: "2", 4: "4", 10: "10", 20: "20"},
            y={0.01: "0.01", 0.1: "0.1", 0.5: "0.5", 0.9: "0.9", 0.99: "0.99", 0.999: "0.999"},
        )
        return to_svg(figure, f"profile-{name}", f"Sparsity of {name} over the order. {_ends(profiles)}")


def decay_chart(name: str, decays: Mapping[str, Decay]) -> Markup:
    """Draw sorted relative magnitudes, one line per representation."""
    with chart() as (figure, axes):
        for label, decay in decays.items():
            shown = decay.magnitudes > 0  # a logarithm has no place for zeros
            _draw(axes, label, decay.shares[shown], decay.magnitudes[shown])
        axes.set(xscale="log", yscale="log", xlim=(SMALLEST_SHARE, 1), ylim=(SMALLEST_MAGNITUDE, 1.5))
        axes.set(xlabel="share of coefficients", ylabel="magnitude")
        label_ticks(
            axes,
            x={1e-5: "0.001 %", 1e-3: "0.1 %", 1e-1: "10 %", 1: "100 %"},
            y={1: "1", 1e-2: "10⁻²", 1e-4: "10⁻⁴", 1e-6: "10⁻⁶"},
        )
        return to_svg(figure, f"decay-{name}", f"Decay of the sorted magnitudes of {name}. {_tenths(decays)}")


def time_chart(trace: OverTime) -> Markup:
    """Draw S_2 of windows over time, with the sparsest window marked."""
    with chart(TIME_HEIGHT) as (figure, axes):
        axes.plot(trace.middles, trace.values, color=INK, linewidth=1.3)
        if trace.is_flat:
            middle = float(np.nanmean(trace.values))
            axes.set_ylim(middle - MARGIN_OF_FLAT_LINES, middle + MARGIN_OF_FLAT_LINES)
        else:
            axes.axvline(
                trace.sparsest_at + trace.window / 2, color=COLOUR_OF_FOUND, linewidth=1.2, linestyle=(0, (3, 2))
            )
        axes.margins(x=0)
        axes.set(xlabel="time in s" if trace.unit == "s" else "sample", ylabel="S₂")
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_locator(MaxNLocator(3))
        low, high = np.nanmin(trace.values), np.nanmax(trace.values)
        words = f"Sparsity of windows of {trace.name} over time, from {low:.2f} to {high:.2f}."
        return to_svg(figure, f"time-{trace.name}", words)


def thumbnail(name: str, values: Array) -> Markup:
    """Draw the signal itself, as a line or an image."""
    return _image(name, values) if values.ndim == 2 else _curve(name, values)


def _curve(name: str, values: Array) -> Markup:
    with chart(THUMBNAIL_HEIGHT) as (figure, axes):
        axes.axhline(0, color=GRID, linewidth=1)
        axes.plot(*thin_out(values), color=INK, linewidth=1.1)
        axes.margins(x=0)
        axes.axis("off")
        return to_svg(figure, f"signal-{name}", f"The signal {name}, from {values.min():.4g} to {values.max():.4g}.")


def thin_out(values: Array, points: int = MOST_POINTS_PER_LINE) -> tuple[Array, Array]:
    """Return places and values of a line that looks the same: of long signals the extremes of each stretch."""
    if values.size <= 2 * points:
        return np.arange(values.size, dtype=np.float64), values
    stretch = -(-values.size // points)
    padded = np.pad(values, (0, -values.size % stretch), mode="edge").reshape(-1, stretch)
    places = np.repeat(np.arange(len(padded), dtype=np.float64) * stretch, 2)
    extremes: Array = np.column_stack([padded.min(axis=1), padded.max(axis=1)]).ravel()
    return places, extremes


def _image(name: str, values: Array) -> Markup:
    step = -(-max(values.shape) // THUMBNAIL_PIXELS)
    return png(f"The image {name}.", values[::step, ::step])


def _draw(axes: Axes, label: str, x: object, y: object) -> None:
    line = LINES[label]
    axes.plot(
        x,  # type: ignore[arg-type]
        y,  # type: ignore[arg-type]
        color=line.marker,
        linestyle=(0, line.dashes) if line.dashes else "solid",
        zorder=3 if line.dashes else 2,  # where lines coincide, the gaps of a dashed one show the solid one
    )


def _ends(profiles: Mapping[str, Mapping[float, float]]) -> str:
    """Say where the lines start and where they end, for readers who cannot see the chart."""
    return " ".join(
        f"{label}: {profile[min(profile)]:.2f} at order {min(profile)}, "
        f"{profile[max(profile)]:.2f} at order {max(profile)}."
        for label, profile in profiles.items()
    )


def _tenths(decays: Mapping[str, Decay]) -> str:
    """Say how small the magnitudes are after a tenth of the coefficients."""
    return " ".join(
        f"{label}: {decay.magnitudes[np.searchsorted(decay.shares, 0.1)]:.1g} of the largest after a tenth of them."
        for label, decay in decays.items()
    )
