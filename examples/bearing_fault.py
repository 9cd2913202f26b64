"""Find the fault of a bearing by sparse envelope spectra, in records whose random knocks mislead kurtosis.

The records are simulated: a machine with shaft, gears, hum and noise, whose bearing is healthy or has a damaged outer
or inner race. A few knocks from elsewhere are much louder than those of the fault. Which band shows the fault, is it
a fault at all, and which one?
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

import sparsegauge as sg

TRIALS, SECONDS, LEVELS = 10, 2.0, 4
CHOICES = {
    "kurtosis, envelope": {"metric": "kurtosis", "on": "envelope"},
    "Gini, envelope": {"metric": "gini", "on": "envelope"},
    "Gini, spectrum": {"metric": "gini", "rpm": 1797},
    "S_8, spectrum": {"order": 8, "rpm": 1797},
}


def simulate(fault: str, knocks: int, seed: int):
    return sg.bearing_record(fault, seconds=SECONDS, knocks=knocks, rng=np.random.default_rng([20, seed]))


def count_bands(fault: str, knocks: int) -> list[int]:
    """Return, for each choice, in how many records the best band is narrow and contains the excited resonance."""
    hits = [0] * len(CHOICES)
    for seed in range(TRIALS):
        record = simulate(fault, knocks, seed)
        for k, options in enumerate(CHOICES.values()):
            best = sg.band_map(record.x, record.rate, levels=LEVELS, **options).best
            hits[k] += best.low - 100 <= record.resonance <= best.high + 100 and best.width < 2500
    return hits


def count_verdicts(fault: str, knocks: int) -> tuple[int, int, int]:
    """Return in how many records the best band is significant, the right fault is named, and a wrong one is named."""
    alarms = right = wrong = 0
    for seed in range(TRIALS):
        record = simulate(fault, knocks, seed)
        alarms += sg.band_map(record.x, record.rate, rpm=record.rpm, levels=LEVELS).stands_out()
        named = sg.diagnose(record.x, record.rate, record.rpm, record.bearing).fault
        right += named == fault
        wrong += named not in (fault, None)
    return alarms, right, wrong


def main(output: str) -> None:
    """Print how often each choice finds the band and what is diagnosed; draw one record's maps."""
    print(f"{f'right bands in {TRIALS} records':28}" + "".join(f"{name:>20}" for name in CHOICES))
    for fault in ("outer", "inner"):
        for knocks in (0, 5):
            hits = count_bands(fault, knocks)
            print(f"{f'{fault}, {knocks} random knocks':28}" + "".join(f"{hit:20}" for hit in hits))
    print(f"\n{f'verdicts on {TRIALS} records':28}{'band stands out':>20}{'named right':>20}{'named wrong':>20}")
    for fault in ("outer", "inner", "none"):
        print(f"{f'{fault}, 5 random knocks':28}" + "".join(f"{n:20}" for n in count_verdicts(fault, 5)))

    plt.switch_backend("Agg")
    record = simulate("inner", 5, 0)
    figure, axes = plt.subplots(2, 1, figsize=(9, 6), layout="constrained")
    for axis, name in zip(axes, ("kurtosis, envelope", "Gini, spectrum"), strict=True):
        found = sg.band_map(record.x, record.rate, levels=LEVELS, **CHOICES[name])
        frequencies, heights = found.spectrum()
        shown = (frequencies > 0) & (frequencies < 560)
        axis.plot(frequencies[shown], heights[shown] / heights[shown].max(), color="#333333", linewidth=0.8)
        for harmonic in (1, 2, 3):
            axis.axvline(harmonic * record.frequency, color="#d55e00", linestyle=":", zorder=0)
        axis.set(title=f"{name}: {found.best}", xlabel="modulation frequency (Hz)", ylabel="height", xlim=(0, 560))
    figure.suptitle("Envelope spectra in two best bands of one record; dotted: the inner race's harmonics")
    figure.savefig(output, dpi=100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="bearing_fault.png", help="where the figure goes")
    main(parser.parse_args().output)
