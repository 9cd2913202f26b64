"""Draw what a recovery found: the coefficients with their error bars, and how clearly non-zeros and zeros part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .._arrays import Array
from ..recovery.tolerances import NOT_ZERO
from .style import COLOURS, panels, to_file

if TYPE_CHECKING:
    from ..recovery.result import Recoveries, Recovery

DEVIATIONS_OF_90_PERCENT = 1.645  # of a normal distribution
SMALLEST_MAGNITUDE_SHOWN = 1e-17  # in units of the largest; smaller ones and zeros are drawn at this value
NON_ZERO, ZERO = COLOURS[0], "0.6"
DPI = 120


def draw_recovery(found: Recovery) -> Figure:
    """Draw x, with 90 % intervals where they are known, above its sorted magnitudes."""
    values = found.x if found.coefficients is None else found.coefficients
    flat = np.abs(values).ravel() if np.iscomplexobj(values) else np.asarray(values, float).ravel()
    with panels(2, 1, 8, 2.2) as (figure, axes):
        _draw_values(axes[0, 0], flat, found)
        axes[0, 0].set_ylabel("|x|" if np.iscomplexobj(values) else "x")
        _draw_sorted(axes[1, 0], np.abs(flat))
        figure.suptitle(_title(found), x=0.01, ha="left", fontsize=10)
        return figure


def draw_recoveries(found: Recoveries) -> Figure:
    """Draw the magnitudes of all signals as a map, one column per signal."""
    with panels(1, 1, 8, 4.2) as (figure, axes):
        shown = axes[0, 0].imshow(np.abs(found.x), aspect="auto", interpolation="nearest", cmap="viridis")
        axes[0, 0].set(xlabel="signal", ylabel="coefficient")
        axes[0, 0].grid(visible=False)
        figure.colorbar(shown, ax=axes[0, 0], label="magnitude")
        explained = int(found.success.sum())
        title = f"{len(found):,} signals, {explained:,} explained, {int(found.certified.sum()):,} certified"
        axes[0, 0].set_title(title, loc="left", fontsize=10)
        return figure


def picture(found: Recovery | Recoveries, file_format: str) -> bytes:
    """Return the content of a picture file; `file_format` is "png" or "svg"."""
    return to_file(found.plot(), file_format, DPI)


def _draw_values(axes: Axes, x: Array, found: Recovery) -> None:
    chosen = found.support
    axes.axhline(0.0, color=ZERO, linewidth=0.8)
    axes.vlines(chosen, 0.0, x[chosen], color=NON_ZERO, linewidth=1.2)
    axes.plot(chosen, x[chosen], "o", color=NON_ZERO, markersize=3, label=f"{len(chosen):,} non-zeros")
    if found.std is not None and len(chosen):
        spread = DEVIATIONS_OF_90_PERCENT * found.std.ravel()[chosen]
        axes.errorbar(
            chosen, x[chosen], spread, fmt="none", color=COLOURS[1], linewidth=1.4, capsize=2, label="90 % interval"
        )
    axes.set(xlim=(-0.5, len(x) - 0.5), xlabel="coefficient")
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)


def _draw_sorted(axes: Axes, magnitudes: Array) -> None:
    """Draw the sorted magnitudes in units of the largest, and the limit above which one counts as a non-zero."""
    largest = float(magnitudes.max(initial=0.0)) or 1.0
    ordered = np.sort(magnitudes)[::-1] / largest
    axes.semilogy(np.arange(1, len(ordered) + 1), np.maximum(ordered, SMALLEST_MAGNITUDE_SHOWN), ".", color=NON_ZERO)
    axes.axhline(NOT_ZERO, color=COLOURS[1], linewidth=1, linestyle="--", label="counted as non-zero above this")
    axes.set(xlabel="rank", ylabel="magnitude / largest", ylim=(SMALLEST_MAGNITUDE_SHOWN / 3, 3))
    axes.legend(frameon=False, fontsize=8, loc="upper right")


def _title(found: Recovery) -> str:
    noise = f", noise {found.noise:.2g} per measurement" if found.noise else ""
    certified = "certified" if found.certified else "not certified"
    return f"{found.status.name.replace('_', ' ').lower()}, {certified}; residual {found.residual:.2g}{noise}"
