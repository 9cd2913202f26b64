"""Faults named on simulated healthy machines that are full of lines: `python -m benchmarks.bearings_healthy [COUNT]`.

Each record has coloured noise with random resonances, harmonics of the shaft, an offset, and 16-bit quantisation; each
kind of machine adds its own families of lines, at frequencies that are drawn anew for each record. The speed given to
`diagnose` is off by up to 0.3 %. Markdown goes to standard output; docs/vibration.md has the table. COUNT records of
each kind at 12 kHz (15 by default), and a third of these at 48 kHz; about a quarter of an hour.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # set before NumPy is loaded

import sys  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable, Iterator  # noqa: E402
from typing import NamedTuple  # noqa: E402

import numpy as np  # noqa: E402

import sparsegauge as sg  # noqa: E402
from sparsegauge.vibration.bearing_records import add_knocks  # noqa: E402

SECONDS = 10.0
BEARINGS = ("6205", "6203")
SEED = 41


class Machine(NamedTuple):
    """Where a record is made: times in seconds, the shaft's frequency, samples per second and random numbers."""

    t: np.ndarray
    shaft: float
    rate: float
    rng: np.random.Generator

    def tone(self, frequency: float, amplitude: float) -> np.ndarray:
        return amplitude * np.sin(2 * np.pi * frequency * self.t + self.rng.uniform(0, 2 * np.pi))

    def noise(self) -> np.ndarray:
        """Gaussian noise of unit variance whose spectrum has a slope and three resonances, all drawn at random."""
        frequencies = np.fft.rfftfreq(len(self.t))
        frequencies[0] = frequencies[1]
        gain = frequencies ** self.rng.uniform(-0.8, 0.2)
        gain /= np.median(gain)
        for _ in range(3):
            centre, width = self.rng.uniform(0.02, 0.48), self.rng.uniform(0.002, 0.03)
            gain += self.rng.uniform(2, 20) / (1 + ((frequencies - centre) / width) ** 2)
        noise = np.fft.irfft(gain * np.fft.rfft(self.rng.standard_normal(len(self.t))), len(self.t))
        return noise / noise.std()

    def harmonics(self, frequency: float, count: int, amplitude: float) -> np.ndarray:
        return sum((self.tone(k * frequency, amplitude / k) for k in range(1, count + 1)), np.zeros(len(self.t)))

    def knocks(self, times: np.ndarray, height: float) -> np.ndarray:
        x, times = np.zeros(len(self.t)), times[(times > 0) & (times < self.t[-1])]
        heights = height * self.rng.uniform(0.5, 1.5, len(times))
        add_knocks(x, times, heights, self.rng.uniform(0.08, 0.45) * self.rate, self.rate)
        return x


def motor(m: Machine) -> np.ndarray:
    """Lines and noise at twice the frequency of the supply, with side bands of the slip, and slots."""
    supply, depth = m.rng.choice([50.0, 60.0]), m.rng.uniform(0.1, 0.4)
    poles = 2 * round(supply / m.shaft)
    slip = max(supply - m.shaft * poles / 2, 0.0) * 2 if poles else 1.0
    lines = m.harmonics(2 * supply, 6, 0.6)
    for side in (-slip, slip):
        lines += m.tone(2 * supply + side, 0.2)
    slots = m.tone(m.rng.integers(20, 50) * m.shaft, 0.4) * (1 + m.tone(2 * supply, 0.5))
    return m.noise() * (1 + m.tone(2 * supply, depth) + m.tone(max(slip, 0.3), depth / 2)) + lines + slots


def fan(m: Machine) -> np.ndarray:
    """Blade passes that modulate their own noise."""
    blades = m.rng.integers(5, 13) * m.shaft
    return m.noise() * (1 + m.harmonics(blades, 3, 0.3) + m.tone(m.shaft, 0.2)) + m.harmonics(blades, 5, 0.8)


def gearbox(m: Machine) -> np.ndarray:
    """Mesh and noise that are modulated at the rates of two shafts, whose ratio is one of whole numbers of teeth."""
    teeth, other = m.rng.integers(15, 60), m.rng.integers(15, 60)
    second = m.shaft * teeth / other
    mesh = m.harmonics(teeth * m.shaft, 3, 1.0) * (1 + m.tone(m.shaft, 0.5) + m.harmonics(second, 2, 0.5))
    return m.noise() * (1 + m.tone(second, 0.2)) + mesh


def belt(m: Machine) -> np.ndarray:
    """A belt that knocks once per turn of its own, at a frequency below that of the shaft."""
    period = 1 / (m.shaft * m.rng.uniform(0.2, 0.8))
    times = np.arange(period, m.t[-1], period)
    return m.noise() + m.knocks(times + 0.01 * period * m.rng.standard_normal(len(times)), 0.5)


def knocked(m: Machine) -> np.ndarray:
    """Some fifty random knocks."""
    return m.noise() + m.knocks(m.rng.uniform(0, m.t[-1], m.rng.poisson(50)), m.rng.uniform(1, 8))


def drive(m: Machine) -> np.ndarray:
    """A converter: a carrier with side bands, and pulses six times per period of a supply that is not the mains."""
    supply, carrier = m.rng.uniform(20, 70), m.rng.uniform(1_500, 5_000)
    switched = m.tone(carrier, 0.8) * (1 + m.harmonics(2 * supply, 2, 0.6))
    return m.noise() + switched + m.knocks(np.arange(0.0, m.t[-1], 1 / (6 * supply)), 0.15)


def rolling(m: Machine) -> np.ndarray:
    """Bearings in order, whose cages and balls modulate the noise a little."""
    cage = 0.38 * m.shaft * m.rng.uniform(0.9, 1.1)
    return m.noise() * (1 + m.tone(cage, 0.15) + m.tone(m.shaft, 0.2)) + m.harmonics(m.shaft, 5, 0.4)


def clipped(m: Machine) -> np.ndarray:
    """Large harmonics of the shaft that are cut off at the limits of the recorder."""
    return np.clip(m.noise() + m.harmonics(m.shaft, 10, 2.5), -2.5, 2.5)


def coarse(m: Machine) -> np.ndarray:
    """A recorder with a hundred levels or fewer for all of the range."""
    x = m.noise() + m.harmonics(m.shaft, 8, 1.0)
    step = 8.0 / m.rng.integers(10, 100)
    return step * np.round(x / step)


def everything(m: Machine) -> np.ndarray:
    """Motor, fan, gearbox and random knocks in one."""
    return motor(m) + 0.7 * fan(m) + 0.7 * gearbox(m) + knocked(m)


KINDS: dict[str, Callable[[Machine], np.ndarray]] = {
    "motor: twice the supply, slip, slots": motor,
    "fan: blade passes that modulate the noise": fan,
    "gearbox: two shafts modulate mesh and noise": gearbox,
    "belt that knocks once per turn": belt,
    "random knocks": knocked,
    "drive: carrier and pulses": drive,
    "noise modulated by shaft and cage": rolling,
    "clipped": clipped,
    "10 to 100 levels of quantisation": coarse,
    "motor, fan, gearbox, knocks": everything,
}


def simulate(kind: int, rate: float, seed: int) -> tuple[np.ndarray, float]:
    """Return a record and the speed that its owner believes in."""
    rng = np.random.default_rng([SEED, kind, int(rate), seed])
    rpm = rng.uniform(1000, 3000)
    m = Machine(np.arange(round(SECONDS * rate)) / rate, rpm / 60, rate, rng)
    x = list(KINDS.values())[kind](m) + m.harmonics(m.shaft, 6, 0.5)
    step = 20 * np.abs(x).max() / 2**16  # a range that is set twenty times too wide
    return np.round(x / step) * step + rng.uniform(-5, 5), rpm * (1 + rng.uniform(-0.003, 0.003))


def healthy(count: int) -> Iterator[str]:
    """In how many diagnoses a fault is named, by the bearing that is asked for and the rate."""
    yield "| healthy machine | 12 kHz, 6205 | 12 kHz, 6203 | 48 kHz, 6205 | 48 kHz, 6203 |"
    yield "|---|--:|--:|--:|--:|"
    total = np.zeros((4, 2), int)
    for kind, label in enumerate(KINDS):
        counts = np.zeros((4, 2), int)
        for column, (rate, records) in enumerate(((12_000.0, count), (48_000.0, (count + 2) // 3))):
            for seed in range(records):
                x, rpm = simulate(kind, rate, seed)
                for place, bearing in enumerate(BEARINGS):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", sg.SpeedWarning)
                        found = sg.diagnose(x, rate, rpm, bearing)
                    counts[2 * column + place] += [found.fault is not None, 1]
                    if found.fault:
                        print(label, rate, seed, rpm, found, file=sys.stderr, flush=True)
        total += counts
        yield f"| {label} | " + " | ".join(f"{named} of {tried}" for named, tried in counts) + " |"
    yield "| all | " + " | ".join(f"{named} of {tried}" for named, tried in total) + " |"


def main(arguments: list[str]) -> None:
    if len(arguments) > 1 or not all(argument.isdigit() for argument in arguments):
        sys.exit(__doc__)
    for line in healthy(int(arguments[0]) if arguments else 15):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
