"""How sparse the best of all bands is by chance: thresholds for false alarms.

Chance is noise with the record's own length and spectrum: each frequency keeps its magnitude and gets a random phase
(Theiler et al. 1992, Physica D 58, 77-94). Tones, resonances and coloured noise are the same in such surrogates;
knocks, whose frequencies start together, are not. The best band of each surrogate gives one value. Such largest values
follow a Gumbel distribution, whose tail gives the threshold; that its mean and spread are estimated from few surrogates
is allowed for.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Parameter, as_rng
from .band_tree import Band
from .quantities import BandSetting, measure_bands

SURROGATES = 24
SIMULATED_PIVOTS = 200_000  # behind each tail probability
LEVEL = Parameter("level", 0.01, low=1e-4, high=0.5, low_included=True, high_included=True)


@dataclass(frozen=True)
class Threshold:
    """What the best of all bands reaches by chance.

    Attributes
    ----------
    level : float
        The probability of a false alarm.
    value : float
        The threshold: by chance, the best of all bands exceeds it with probability `level`.
    best : float
        The value of the map's best band.
    p_value : float
        The probability that the best of all bands is at least as sparse by chance.
    exceeded : bool
        Whether the best band stands out at this level. An envelope spectrum has to exceed the threshold twice: as it
        is, and relative to its own floor, so that random knocks, whose spectrum falls smoothly, give no alarm.
    surrogates : ndarray
        The values of the best bands of the surrogates.
    """

    level: float
    value: float
    best: float
    p_value: float
    exceeded: bool
    surrogates: Array


def find_threshold(
    spectrum: NDArray[np.complex128],
    samples: int,
    rate: float,
    groups: list[list[Band]],
    setting: BandSetting,
    level: float,
    rng: Any,
) -> Threshold:
    """Return the threshold of the best of all bands at a level, and whether the record exceeds it."""
    level = LEVEL.check(level)
    settings = [setting]
    if setting.on == "envelope spectrum":
        settings.append(replace(setting, relative=True))
    best = _best(measure_bands(spectrum, samples, rate, groups, settings), setting)
    chance = np.stack([_best(m, setting) for m in _surrogate_maps(spectrum, samples, rate, groups, settings, rng)])
    sign = 1.0 if setting.sparser == "larger" else -1.0
    mean, spread = chance.mean(axis=0), chance.std(axis=0, ddof=1)
    pivots = _gumbel_pivots(len(chance))
    value = mean + sign * spread * float(np.quantile(pivots, 1 - level))
    with np.errstate(divide="ignore", invalid="ignore"):
        distances = np.nan_to_num(sign * (best - mean) / spread, nan=0.0)
    tail = len(pivots) - int(np.searchsorted(pivots, distances.min()))
    p_value = (tail + 1) / (len(pivots) + 1)
    exceeded = bool((sign * (best - value) > 0).all())
    return Threshold(level, float(value[0]), float(best[0]), p_value, exceeded, chance[:, 0])


def _surrogate_maps(
    spectrum: NDArray[np.complex128],
    samples: int,
    rate: float,
    groups: list[list[Band]],
    settings: list[BandSetting],
    rng: Any,
) -> Iterator[Array]:
    generator = as_rng(rng)
    magnitudes = np.abs(spectrum)
    for _ in range(SURROGATES):
        phases = generator.uniform(0.0, 2 * np.pi, len(spectrum))
        yield measure_bands(magnitudes * np.exp(1j * phases), samples, rate, groups, settings)


def _best(values: Array, setting: BandSetting) -> Array:
    """Return the value of the best band by each setting."""
    choose = np.nanmax if setting.sparser == "larger" else np.nanmin
    best: Array = choose(values, axis=-1)
    return best


@functools.lru_cache(maxsize=8)
def _gumbel_pivots(count: int) -> Array:
    """Simulate (new - mean) / spread, sorted, where mean and spread are those of `count` other Gumbel variables."""
    draws = np.random.default_rng(count).gumbel(size=(SIMULATED_PIVOTS, count + 1))
    others = draws[:, 1:]
    pivots: Array = np.sort((draws[:, 0] - others.mean(axis=1)) / others.std(axis=1, ddof=1))
    return pivots
