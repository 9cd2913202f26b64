"""Draw docs/readme.png: a signal and its number, a recovery from a quarter of the measurements, a bearing's band."""

from __future__ import annotations

from pathlib import Path

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import sparsegauge as sg
from sparsegauge.plots.band_figures import draw_map  # the panel of `BandMap.plot`
from sparsegauge.recovery.demos import ecg_sums

INK, QUIET, BLUE, ORANGE = "#1b1f24", "#8a93a0", "#0b62b5", "#d9660b"
STYLE = {"font.size": 9.5, "axes.spines.top": False, "axes.spines.right": False, "figure.dpi": 150}


def main() -> None:
    with matplotlib.style.context(["default", STYLE]):
        figure = Figure(figsize=(12.8, 3.4), layout="constrained")
        figure.set_layout_engine("constrained", wspace=0.08)
        measure, recover, find = figure.subplots(1, 3)
        draw_number(measure)
        draw_recovery(recover)
        draw_band(figure, find)
        figure.savefig(Path(__file__).with_name("readme.png"), metadata={"Software": "sparsegauge"})


def draw_number(axes: Axes) -> None:
    """The sparsity of one signal in three representations, over the order."""
    x, orders = sg.demo("ecg"), np.geomspace(1, 16, 60)
    for label, coefficients, colour in (
        ("samples", x, QUIET),
        ("cosines (DCT)", sg.dct(x), BLUE),
        ("wavelets", sg.wavelet(x), ORANGE),
    ):
        profile = sg.gds_profile(coefficients, orders)
        axes.plot(orders, profile, color=colour, linewidth=2)
        axes.annotate(
            f"{label}: S$_2$ = {sg.gds(coefficients):.2f}",
            (2.2, float(np.interp(2.2, orders, profile))),
            xytext=(0, -17 if label.startswith("cos") else 7),
            textcoords="offset points",
            color=colour,
        )
    axes.set(xscale="log", ylim=(0, 1.12), xlabel="order p", ylabel="sparsity S$_p$")
    axes.set_xticks([1, 2, 4, 8, 16], ["1", "2", "4", "8", "16"])
    axes.minorticks_off()
    axes.set_title("Measure: in which basis is an ECG sparse?", loc="left")


def draw_recovery(axes: Axes) -> None:
    """An electrocardiogram from a quarter as many random sums: the original, and what was recovered."""
    sums = ecg_sums(0)
    found = sums.recover().x
    error = 100 * np.linalg.norm(found - sums.truth) / np.linalg.norm(sums.truth)
    axes.plot(sums.truth, color=QUIET, linewidth=3.2, alpha=0.6, label="1,024 samples")
    axes.plot(found, color=BLUE, linewidth=1, label=f"recovered from {len(sums.y)} sums, error {error:.0f} %")
    axes.set(xlim=(0, 1023), yticks=[], xlabel="sample")
    axes.legend(frameon=False, loc="upper right")
    axes.set_ylim(top=1.35 * float(sums.truth.max()))
    axes.set_title("Recover: from a quarter of the measurements", loc="left")


def draw_band(figure: Figure, axes: Axes) -> None:
    """The band map of a bearing with a damaged outer race."""
    record = sg.bearing_record("outer", rng=1)
    found = sg.band_map(record.x, record.rate, levels=4)
    draw_map(figure, axes, found, found.best)
    axes.set_title("Find: the band where a bearing knocks", loc="left")


if __name__ == "__main__":
    main()
