"""Measure an electrocardiogram as samples, cosine and wavelet coefficients, at many orders and in windows.

The samples of an ECG are not sparse, because of its slow baseline. In a suitable basis few coefficients matter, and the
profile over orders shows the kind of sparsity. Measured in windows over time, the sparsity shows the heartbeats.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import sparsegauge as sg
from sparsegauge.signals import dct, wavelet

ORDERS = np.geomspace(1, 32, 61)
LENGTH, HOP = 72, 18  # samples; about a quarter of a heartbeat, in steps of a sixteenth


def main(output: str) -> None:
    """Print the values and draw the figure."""
    x = sg.demo("ecg") - np.median(sg.demo("ecg"))
    bases = {"samples": x, "cosines (DCT)": dct(x), "wavelets (sym4)": wavelet(x, "sym4")}
    print(f"{'':17}order 1  order 2  order 4  effective number of coefficients")
    for name, c in bases.items():
        values = "".join(f"{value:9.3f}" for value in sg.gds_profile(c, [1, 2, 4]))
        print(f"{name:15}{values}  {-sg.neg_numerical_sparsity(c):6.0f} of {len(c)}")

    frames = sg.windows(np.diff(x), LENGTH, HOP)  # differences: the slow baseline is gone
    peakedness = sg.gds(frames, order=2)
    middles = HOP * np.arange(len(frames)) + LENGTH / 2
    beats = int(np.sum(np.diff((peakedness > 0.6).astype(int)) == 1))
    print(
        f"windows of {LENGTH} samples: median {np.median(peakedness):.2f}, up to {peakedness.max():.2f}; {beats} beats"
    )

    plt.switch_backend("Agg")
    figure, axes = plt.subplots(3, 1, figsize=(8, 8), layout="constrained")
    axes[0].plot(x, color="#333333", linewidth=1)
    axes[0].set(title="An electrocardiogram (median removed)", xlabel="sample", ylabel="amplitude", xlim=(0, len(x)))
    axes[1].plot(middles, peakedness, color="#0072b2", marker="o", markersize=3)
    axes[1].axhline(1 - 2 / np.pi, color="#888888", linestyle="--", linewidth=1, label="normal noise, $1 - 2/\\pi$")
    axes[1].legend(frameon=False, loc="lower right")
    axes[1].set(
        title="$S_2$ of the slopes in each window of 72 samples: above noise where the heart beats",
        xlabel="sample",
        ylabel="$S_2$",
        xlim=(0, len(x)),
        ylim=(0, 1),
    )
    for (name, c), colour in zip(bases.items(), ("#333333", "#d55e00", "#009e73"), strict=True):
        axes[2].semilogx(ORDERS, sg.gds_profile(c, ORDERS), color=colour, label=name)
    axes[2].set(title="The whole signal at every order", xlabel="order p", ylabel="$S_p$", ylim=(0, 1), xlim=(1, 32))
    axes[2].set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes[2].minorticks_off()
    axes[2].legend(frameon=False)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="measure_ecg.png", help="where the figure goes")
    main(parser.parse_args().output)
