"""The charts of a signal on the page: its profile, the decay of its coefficients, and the signal itself."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from .._arrays import Array
from ..profiles import Decay
from .svg import GRID, INK, LINES, chart, label_ticks, png, to_svg

THUMBNAIL_HEIGHT = 110
THUMBNAIL_PIXELS = 220
SMALLEST_SHARE, SMALLEST_MAGNITUDE = 3e-6, 1e-6
PROFILE_RANGE = (0.0015, 0.9998)


def profile_chart(name: str, profiles: Mapping[str, Mapping[float, float]]) -> Markup:
    """Draw S_p over the order p, one line per representation."""
    with chart() as (figure, axes):
        for label, profile in profiles.items():
            _draw(axes, label, list(profile), list(profile.values()))
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


def thumbnail(name: str, values: Array) -> Markup:
    """Draw the signal itself, as a line or an image."""
    return _image(name, values) if values.ndim == 2 else _curve(name, values)


def _curve(name: str, values: Array) -> Markup:
    with chart(THUMBNAIL_HEIGHT) as (figure, axes):
        axes.axhline(0, color=GRID, linewidth=1)
        axes.plot(values, color=INK, linewidth=1.1)
        axes.margins(x=0)
        axes.axis("off")
        return to_svg(figure, f"signal-{name}", f"The signal {name}, from {values.min():.4g} to {values.max():.4g}.")


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
