"""Checks of what every function about vibration takes: a record, its sampling rate and the speed of the shaft."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._arrays import Array, as_finite_array, check_number
from ..errors import InvalidInput
from ..rounding import CONSTANT, LARGEST_FOURTH_POWER, SMALLEST_FOURTH_POWER

FEWEST_SAMPLES = 64
FEWEST_TURNS = 3


def check_record(x: Any) -> Array:
    """Return one channel of finite samples as float64, without its mean.

    Raises
    ------
    InvalidInput
        If x has several channels, too few samples, NaN or infinities, or does not vary.
    """
    samples = as_finite_array(x)
    if samples.ndim == 2 and 1 in samples.shape:
        samples = samples.ravel()
    if samples.ndim != 1:
        raise InvalidInput(
            f"a vibration record is one channel, got shape {samples.shape}; pass one of them, such as x[0] or x[:, 0]"
        )
    if samples.size < FEWEST_SAMPLES:
        raise InvalidInput(
            f"a vibration record needs at least {FEWEST_SAMPLES} samples, got {samples.size}; record for longer"
        )
    largest = float(np.abs(samples).max())
    centred: Array = samples / largest if largest > 0 else samples  # squares of squares must not overflow
    centred = centred - centred.mean()
    if largest == 0 or float(np.abs(centred).max()) <= CONSTANT:
        raise InvalidInput("the record is constant, so it has no vibration to analyse; check the sensor and the file")
    return centred * largest if SMALLEST_FOURTH_POWER < largest < LARGEST_FOURTH_POWER else centred


def check_rate(rate: Any) -> float:
    """Return the sampling rate in samples per second."""
    if rate is None:
        raise InvalidInput("the sampling rate is missing; pass the samples per second, such as rate=12000")
    value = check_number("rate", rate)
    if not 0 < value < math.inf:
        raise InvalidInput(f"rate must be a positive number of samples per second, got {rate!r}")
    return value


def check_rpm(rpm: Any) -> float:
    """Return the speed of the shaft in revolutions per minute."""
    if rpm is None:
        raise InvalidInput("the speed of the shaft is missing; pass the revolutions per minute, such as rpm=1797")
    value = check_number("rpm", rpm)
    if not 0 < value < math.inf:
        raise InvalidInput(
            f"rpm must be a positive number of revolutions per minute, got {rpm!r}; a shaft that stands still shows no "
            "faults"
        )
    return value


def check_turns(samples: int, rate: float, rpm: float) -> float:
    """Return the number of turns of the shaft in a record, which must be a few."""
    turns = samples / rate * rpm / 60
    if turns < FEWEST_TURNS:
        raise InvalidInput(
            f"the record has {turns:.2g} turns of the shaft ({samples} samples at {rate:g} Hz and {rpm:g} rpm), and at "
            f"least {FEWEST_TURNS} are needed; record for longer, or check rate and rpm"
        )
    if rpm / 60 >= rate / 4:
        raise InvalidInput(
            f"a shaft of {rpm:g} rpm turns {rpm / 60:g} times per second, too fast for a rate of {rate:g} Hz; check "
            "rate and rpm"
        )
    return turns
