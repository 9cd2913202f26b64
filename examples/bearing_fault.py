"""Find the frequency band of a bearing fault by sparsity, where stray knocks mislead kurtosis.

A damaged bearing knocks 87 times a second, with a little slip, and each knock rings at 4.5 kHz. Gear tones, noise and
four knocks from elsewhere, which ring at 8 kHz and do not repeat, hide it. Which band of a filter bank shows the fault?
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import sparsegauge as sg

HERTZ, FAULT, RESONANCE, ELSEWHERE, GEARS = 20_000, 87.0, 4500, 8000, 1875
ORDERS, TRIALS = (1, 1.5, 2, 3, 4, 8), 20
# every bandwidth from a quarter of the range to a sixteenth; gear tones are no news, so the grid begins above them
GRID = [[(k * width, (k + 1) * width) for k in range(10_000 // width)] for width in (2500, 1250, 625)]
BANDS = [band for row in GRID for band in row if band[0] >= GEARS]
RIGHT = np.array([low <= RESONANCE < high for low, high in BANDS])
LABEL = {"facecolor": "white", "edgecolor": "none", "pad": 2}


def vibration(fault: float, knock: float, seed: int) -> np.ndarray:
    """One second: noise of unit variance, gear tones, a fault and stray knocks of these amplitudes."""
    rng = np.random.default_rng(seed)
    t = np.arange(HERTZ) / HERTZ
    x = rng.standard_normal(HERTZ)
    for tone, amplitude in ((24.7, 1.0), (617.0, 1.5), (1234.0, 1.0), (1851.0, 0.6)):
        x += amplitude * np.sin(2 * np.pi * tone * t + rng.uniform(0, 2 * np.pi))
    slipping = np.cumsum((1 + 0.01 * rng.standard_normal(86)) / FAULT)
    events = [(at, RESONANCE, 900, fault) for at in slipping]
    events += [(at, ELSEWHERE, 1500, knock) for at in rng.uniform(0.05, 0.95, 4)]
    for at, tone, decay, amplitude in events:
        s = np.maximum(t - at, 0)
        x += amplitude * np.exp(-decay * s) * np.sin(2 * np.pi * tone * s)
    return x


def squared_envelope(x: np.ndarray, band: tuple[int, int]) -> np.ndarray:
    """|analytic signal|^2 of a band, sampled at its bandwidth (x lasts a second: one bin is one hertz)."""
    return np.abs(np.fft.ifft(np.fft.fft(x)[slice(*band)])) ** 2


def spectrum(envelope: np.ndarray) -> np.ndarray:
    """The magnitudes of the squared envelope's spectrum, hertz by hertz, up to 500."""
    return np.abs(np.fft.rfft(envelope - envelope.mean()))[:500]


def scores(x: np.ndarray) -> dict[str, np.ndarray]:
    """Each measure's value in each band."""
    envelopes = [squared_envelope(x, band) for band in BANDS]
    of_envelope = np.transpose([sg.gds_profile(e, ORDERS) for e in envelopes])
    of_spectrum = np.transpose([sg.gds_profile(spectrum(e)[10:], ORDERS) for e in envelopes])
    found = {"kurtosis": np.array([sg.kurtosis(np.sqrt(e)) for e in envelopes])}
    for p, one, other in zip(ORDERS, of_envelope, of_spectrum, strict=True):
        found |= {f"envelope {p:g}": one, f"spectrum {p:g}": other}
    return found


def hits(fault: float, knock: float) -> dict[str, int]:
    """How many of the trials each measure is right about the band."""
    trials = [scores(vibration(fault, knock, seed)) for seed in range(TRIALS)]
    return {name: sum(int(RIGHT[trial[name].argmax()]) for trial in trials) for name in trials[0]}


def main(output: str) -> None:
    """Print how often each measure finds the band, draw one signal's bands and what the order does."""
    cases = {"fault 1.5, stray knocks of 4": hits(1.5, 4), "fault 0.9, stray knocks of 12": hits(0.9, 12)}
    print(f"{f'bands found in {TRIALS} signals':39}kurtosis" + "".join(f"{f'S_{p:g}':>7}" for p in ORDERS))
    for case, found in cases.items():
        for of in ("envelope", "spectrum"):
            counts = "".join(f"{found[f'{of} {p:g}']:7}" for p in ORDERS)
            print(f"{f'{case}, {of}':39}{found['kurtosis'] if of == 'envelope' else '':>8}{counts}")

    plt.switch_backend("Agg")
    figure, axes = plt.subplots(3, 2, figsize=(10, 9), layout="constrained")
    x = vibration(0.9, 12, seed=1)
    axes[0, 0].plot(np.arange(HERTZ) / HERTZ, x, color="#333333", linewidth=0.5)
    axes[0, 0].set(title="One of the signals: fault 0.9, stray knocks of 12", xlabel="seconds", xlim=(0, 1))
    for (case, found), marker in zip(cases.items(), "os", strict=True):
        for of, colour in (("envelope", "#0072b2"), ("spectrum", "#009e73")):
            rates = [found[f"{of} {p:g}"] / TRIALS for p in ORDERS]
            axes[0, 1].plot(ORDERS, rates, color=colour, marker=marker, label=f"{of}, {case}")
    axes[0, 1].set(title="Bands found by $S_p$", xlabel="order p", ylabel="share of signals", ylim=(-0.05, 1.05))
    axes[0, 1].legend(frameon=False, fontsize=8, loc=(0.36, 0.08))
    values = scores(x)
    for column, (name, title) in enumerate({"kurtosis": "Kurtosis", "spectrum 8": "$S_8$ of the spectrum"}.items()):
        by_band, best = dict(zip(BANDS, values[name], strict=True)), BANDS[values[name].argmax()]
        picture = [np.repeat([by_band.get(band, np.nan) for band in row], 16 // len(row)) for row in GRID]
        axes[1, column].imshow(picture, aspect="auto", extent=(0, 10, 3, 0), cmap="Blues")
        axes[1, column].set(title=f"{title}: takes {best[0]} to {best[1]} Hz", xlabel="kHz", ylabel="bandwidth, Hz")
        axes[1, column].set_yticks([0.5, 1.5, 2.5], [2500, 1250, 625])
        for tone, word in ((RESONANCE, "fault"), (ELSEWHERE, "knocks")):
            axes[1, column].axvline(tone / 1000, color="#d55e00", linestyle=":")
            axes[1, column].text(tone / 1000, 0.35, word, color="#d55e00", ha="center", bbox=LABEL)
        axes[2, column].plot(spectrum(squared_envelope(x, best)), color="#333333", linewidth=0.8)
        axes[2, column].set(title="Squared envelope's spectrum in that band", xlabel="Hz", xlim=(0, 300), yticks=[])
        for harmonic in (1, 2, 3):
            axes[2, column].axvline(harmonic * FAULT, color="#d55e00", linestyle=":", zorder=0)
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="bearing_fault.png", help="where the figure goes")
    main(parser.parse_args().output)
