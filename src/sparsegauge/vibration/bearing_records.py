"""Simulated vibration records whose fault is known: to try things on, and to test with."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import Array, as_rng, check_choice, check_number
from ..errors import InvalidInput
from .bearings import BEARINGS, FAULTS
from .record import check_rate, check_rpm, check_turns

RESONANCE_SHARE = 0.28  # of the rate: the frequency at which the structure rings
DECAY_SHARE = 0.05  # of the rate: how fast the ringing decays
SLIP_DEVIATION = 0.01  # of the time between two knocks, relative to its mean


class SimulatedRecord(NamedTuple):
    """A simulated record and what is true of it.

    `fault` is "outer", "inner", "ball", "cage" or "none", `frequency` its frequency and `resonance` that of the
    structure that the knocks excite, both in hertz.
    """

    x: Array
    rate: float
    rpm: float
    bearing: str
    fault: str
    frequency: float
    resonance: float


def bearing_record(
    fault: str = "outer",
    *,
    seconds: float = 4.0,
    rate: float = 12_000.0,
    rpm: float = 1_797.0,
    bearing: str = "6205",
    amplitude: float = 1.0,
    knocks: int = 0,
    modulation: float = 0.3,
    rng: Any = None,
) -> SimulatedRecord:
    """Simulate the vibration of a machine with a bearing that is healthy or damaged.

    Noise of unit variance, coloured by two broad resonances; harmonics of the shaft; two gear tones whose amplitude
    varies with the turns of the shaft; mains hum at 50 Hz; random knocks from elsewhere, if asked for; and the knocks
    of the fault, which slip by 1 % and ring at 0.28 of the rate. Those of the inner race and of the balls rise and fall
    with the turns of the shaft, or of the cage, through the load zone.

    Parameters
    ----------
    fault : str
        ``"outer"``, ``"inner"``, ``"ball"``, ``"cage"`` or ``"none"``.
    seconds, rate, rpm : float
        Duration, samples per second, revolutions per minute.
    bearing : str
        A key of `BEARINGS`.
    amplitude : float
        The height of the fault's knocks, in units of the noise.
    knocks : int
        Random knocks from elsewhere, ten times as high as those of the fault, at 0.4 of the rate.
    modulation : float
        By how much of its amplitude a gear tone varies with the turns of the shaft.
    rng : None, int or numpy.random.Generator
        Where the randomness comes from.

    Returns
    -------
    SimulatedRecord
        The samples `x` and what is true of them.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> record = sg.bearing_record("inner", rng=0)
    >>> record.x.shape, round(record.frequency, 1)
    ((48000,), 162.2)
    """
    check_choice("fault", fault, (*FAULTS, "none"))
    check_choice("bearing", bearing, tuple(BEARINGS))
    rate, rpm = check_rate(rate), check_rpm(rpm)
    seconds, amplitude = check_number("seconds", seconds), check_number("amplitude", amplitude)
    if not 0 < seconds * rate < 1e9:
        raise InvalidInput(f"seconds must be positive and give fewer than 1e9 samples, got {seconds!r}")
    count = round(seconds * rate)
    check_turns(count, rate, rpm)
    generator, shaft = as_rng(rng), rpm / 60
    orders = BEARINGS[bearing].orders
    frequency = getattr(orders, fault) * shaft if fault != "none" else 0.0
    t = np.arange(count) / rate
    x = _noise(count, generator) + _tones(t, shaft, modulation, generator)
    resonance = RESONANCE_SHARE * rate
    if fault != "none":
        times = np.cumsum((1 + SLIP_DEVIATION * generator.standard_normal(int(seconds * frequency) + 1)) / frequency)
        heights = amplitude * _load(times, fault, shaft, orders.cage)
        add_knocks(x, times, heights, resonance, rate)
    if knocks:
        times = generator.uniform(0, seconds, knocks)
        add_knocks(x, times, np.full(knocks, 10.0 * amplitude), 0.4 * rate, rate)
    return SimulatedRecord(x, rate, rpm, bearing, fault, frequency, resonance)


def _noise(count: int, rng: np.random.Generator) -> Array:
    """Draw Gaussian noise of unit variance with two broad resonances."""
    frequencies = np.fft.rfftfreq(count)
    gain = np.ones(len(frequencies))
    for centre, width, height in ((0.06, 0.02, 4.0), (0.2, 0.04, 2.0)):
        gain += height / (1 + ((frequencies - centre) / width) ** 2)
    noise = np.fft.irfft(gain * np.fft.rfft(rng.standard_normal(count)), count)
    scaled: Array = noise / noise.std()
    return scaled


def _tones(t: Array, shaft: float, modulation: float, rng: np.random.Generator) -> Array:
    """Draw harmonics of the shaft, two modulated gear tones, and mains hum."""
    total = np.zeros(len(t))

    def tone(frequency: float, amplitude: float) -> Array:
        wave: Array = amplitude * np.sin(2 * np.pi * frequency * t + rng.uniform(0, 2 * np.pi))
        return wave

    for k in range(1, 9):
        total += tone(k * shaft, 0.6 / k)
    for teeth, amplitude in ((23, 1.0), (46, 0.5)):
        total += tone(teeth * shaft, amplitude) * (1 + tone(shaft, modulation))
    for k in (1, 2, 3):
        total += tone(50.0 * k, 0.3 / k)
    return total


def _load(times: Array, fault: str, shaft: float, cage: float) -> Array:
    """Return how hard each knock is: what moves passes through the load zone."""
    if fault == "inner":
        turns = shaft
    elif fault == "ball":
        turns = cage * shaft
    else:
        return np.ones(len(times))
    load: Array = 0.6 + 0.5 * np.cos(2 * np.pi * turns * times)
    return load


def add_knocks(x: Array, times: Array, heights: Array, resonance: float, rate: float) -> None:
    """Add decaying oscillations that begin at these times."""
    decay = DECAY_SHARE * rate
    length = int(12 / decay * rate)
    for time, height in zip(times, heights, strict=True):
        first = int(np.ceil(time * rate))
        s = np.arange(first, min(first + length, len(x))) / rate - time
        x[first : first + len(s)] += 3.0 * height * np.exp(-decay * s) * np.sin(2 * np.pi * resonance * s)
