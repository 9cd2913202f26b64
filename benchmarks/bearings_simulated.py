"""Band selection and false alarms on simulated records: `python -m benchmarks.bearings_simulated [PART ...]`.

PART is any of disturbances, noise, machines; all by default. Markdown goes to standard output. docs/vibration.md has
the tables. One minute for disturbances, half an hour for the others.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import sys  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.vibration.bearing_records import SimulatedRecord, add_knocks  # noqa: E402

RPM, BEARING = 1797.0, "6205"
LEVELS = 4  # the narrowest band is 1/16 of the range
NEAR, WIDEST = 100.0, 3000.0  # hertz: a band shows the fault if the resonance is in it or this near, and it is no wider
Make = Callable[[str, np.random.Generator], SimulatedRecord]


def simulate(**options: Any) -> Make:
    """Return a function that simulates a record of 2 s with these options."""
    return lambda fault, rng: sg.bearing_record(fault, seconds=2, rng=rng, **options)


def with_regular_knocks(frequency: float, height: float, jitter: float, place: float, **options: Any) -> Make:
    """Return a function that simulates a record with knocks of another part, which repeat at their own frequency."""

    def make(fault: str, rng: np.random.Generator) -> SimulatedRecord:
        record = simulate(**options)(fault, rng)
        gaps = (1 + jitter * rng.standard_normal(int(2 * frequency) + 1)) / frequency
        times = np.cumsum(gaps)
        times = times[times < 2.0]
        add_knocks(record.x, times, np.full(len(times), height), place * record.rate, record.rate)
        return record

    return make


CASES: dict[str, Make] = {
    "none": simulate(),
    "5 random knocks, 10 times as high": simulate(knocks=5),
    "gears modulated by 90 %": simulate(modulation=0.9),
    "electrical spikes, 100 per second": with_regular_knocks(100.0, 0.5, 0.0, 0.1),
    "weak fault (0.5)": simulate(amplitude=0.5),
    "weak fault (0.5), 10 random knocks": simulate(amplitude=0.5, knocks=10),
    "very weak fault (0.25), 10 random knocks": simulate(amplitude=0.25, knocks=10),
    "another part knocks 11.3 times per second, 10 times as high": with_regular_knocks(11.3, 10.0, 0.0, 0.4),
    "the same, 5 times as high": with_regular_knocks(11.3, 5.0, 0.0, 0.4),
    "10 times as high, irregular by 20 %": with_regular_knocks(11.3, 10.0, 0.2, 0.4),
}
CHOICES: dict[str, dict[str, Any]] = {
    "kurtosis, envelope": {"metric": "kurtosis", "on": "envelope"},
    "Gini, envelope": {"on": "envelope"},
    "Gini, spectrum": {},
    "Gini, spectrum, speed given": {"rpm": RPM},
    "S_8, spectrum, speed given": {"rpm": RPM, "order": 8},
}


def shows_fault(record: SimulatedRecord, choice: dict[str, Any]) -> bool:
    """Tell whether the best band holds the resonance that the fault's knocks excite, and is not most of the record."""
    best = sg.band_map(record.x, record.rate, levels=LEVELS, **choice).best
    return best.low - NEAR <= record.resonance <= best.high + NEAR and best.width < WIDEST


def name_fault(x: np.ndarray, rate: float) -> str | None:
    """Return the fault that `diagnose` names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sg.SpeedWarning)
        return sg.diagnose(x, rate, RPM, BEARING).fault


def disturbances(count: int = 40) -> Iterator[str]:
    """How often the best band holds the resonance that the fault excites, and `diagnose` names the fault."""
    yield f"| fault | disturbance, {count} records each | " + " | ".join(CHOICES) + " | `diagnose` right | wrong |"
    yield "|---|---|" + "--:|" * (len(CHOICES) + 2)
    for fault in ("outer", "inner"):
        for case, make in CASES.items():
            counts = np.zeros(len(CHOICES) + 2, int)
            for seed in range(count):
                record = make(fault, np.random.default_rng([3, seed]))
                said = name_fault(record.x, record.rate)
                hits = [shows_fault(record, choice) for choice in CHOICES.values()]
                counts += [*hits, said == fault, said not in (None, fault)]
            yield f"| {fault} | {case} | " + " | ".join(map(str, counts)) + " |"


def coloured(rng: np.random.Generator, count: int, slope: float) -> np.ndarray:
    """Return Gaussian noise whose spectrum follows a power of the frequency."""
    frequencies = np.fft.rfftfreq(count)
    frequencies[0] = frequencies[1]
    return np.fft.irfft(np.fft.rfft(rng.standard_normal(count)) * frequencies**slope, count)


def resonant(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return Gaussian noise with a narrow resonance 30 times as high as the rest."""
    frequencies = np.fft.rfftfreq(count)
    gain = 1 + 30 / (1 + ((frequencies - 0.13) / 0.005) ** 2)
    return np.fft.irfft(np.fft.rfft(rng.standard_normal(count)) * gain, count)


NOISES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "white": lambda rng, count: coloured(rng, count, 0.0),
    "f^-0.5": lambda rng, count: coloured(rng, count, -0.5),
    "f^-1": lambda rng, count: coloured(rng, count, -1.0),
    "f^0.5": lambda rng, count: coloured(rng, count, 0.5),
    "resonance": resonant,
}
SIZES = ((5_000, 2.0), (12_000, 1.0), (12_000, 4.0), (25_600, 2.0))  # samples per second, seconds


def noise(count: int = 25) -> Iterator[str]:
    """False alarms of the best band on noise of several colours, lengths and rates."""
    metrics: dict[str, dict[str, Any]] = {"Gini": {}, "S_4": {"order": 4}}
    heads = [f"{label}, p below {level}" for label in metrics for level in (0.01, 0.05)]
    yield "| noise | samples per second | seconds | records | " + " | ".join(heads) + " |"
    yield "|---|--:|--:|--:|" + "--:|" * len(heads)
    total, tried = np.zeros(4, int), 0
    for rate, seconds in SIZES:
        for case_number, (case, make) in enumerate(NOISES.items()):
            alarms = np.zeros(4, int)
            for seed in range(count):
                samples = round(rate * seconds)
                x = make(np.random.default_rng([11, rate, samples, case_number, seed]), samples)
                found = [sg.band_map(x, rate, levels=LEVELS, **options).threshold() for options in metrics.values()]
                alarms += [one.p_value < level for one in found for level in (0.01, 0.05)]
            yield f"| {case} | {rate:,} | {seconds:g} | {count} | " + " | ".join(map(str, alarms)) + " |"
            total, tried = total + alarms, tried + count
    yield f"| all | | | {tried} | " + " | ".join(_rate(int(alarms), tried) for alarms in total) + " |"


def _rate(alarms: int, tried: int) -> str:
    """A share with its exact confidence interval."""
    interval = stats.binomtest(alarms, tried).proportion_ci(0.95)
    return f"{alarms} ({alarms / tried:.1%}; 95 %: {interval.low:.1%} to {interval.high:.1%})"


def modulated(rng: np.random.Generator, count: int) -> np.ndarray:
    """Return noise that rises and falls with the turns of the shaft."""
    t = np.arange(count) / 12_000
    return (1 + 0.4 * np.sin(2 * np.pi * RPM / 60 * t)) * coloured(rng, count, -0.3)


MACHINES: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "shaft, gears, hum, resonances": lambda rng: simulate()("none", rng).x,
    "gears modulated by 90 %": lambda rng: simulate(modulation=0.9)("none", rng).x,
    "5 random knocks": lambda rng: simulate(knocks=5)("none", rng).x,
    "11 levels of quantisation": lambda rng: np.round(simulate()("none", rng).x),
    "noise modulated by the shaft": lambda rng: modulated(rng, 24_000),
    "electrical spikes, 100 per second": lambda rng: with_regular_knocks(100.0, 0.5, 0.0, 0.1)("none", rng).x,
    "another part knocks 11.3 times per second": lambda rng: with_regular_knocks(11.3, 10.0, 0.0, 0.4)("none", rng).x,
}


def machines(count: int = 40) -> Iterator[str]:
    """Alarms on simulated healthy machines: the best band, and a fault that is named."""
    heads = ("Gini, no speed given", "Gini, speed given", "S_4, speed given", "a fault named")
    yield f"| healthy machine, {count} records each | " + " | ".join(heads) + " |"
    yield "|---|" + "--:|" * len(heads)
    for case, make in MACHINES.items():
        alarms = np.zeros(4, int)
        for seed in range(count):
            x = make(np.random.default_rng([7, seed]))
            options: list[dict[str, Any]] = [{}, {"rpm": RPM}, {"rpm": RPM, "order": 4}]
            found = [sg.band_map(x, 12_000, levels=LEVELS, **one).stands_out() for one in options]
            alarms += [*found, name_fault(x, 12_000) is not None]
        yield f"| {case} | " + " | ".join(map(str, alarms)) + " |"


PARTS: dict[str, Callable[[], Iterator[str]]] = {
    "disturbances": disturbances,
    "noise": noise,
    "machines": machines,
}


def main(arguments: list[str]) -> None:
    if set(arguments) - set(PARTS):
        sys.exit(__doc__)
    for part in arguments or PARTS:
        print(f"\n### {part}\n", flush=True)
        for line in PARTS[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
