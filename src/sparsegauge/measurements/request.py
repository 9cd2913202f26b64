"""What `sparsegauge measure` is asked to measure, and how."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from .._arrays import check_choice
from .._arrays.reductions import CENTERS
from .._arrays.signal_rows import NAN_POLICIES
from ..errors import InvalidInput
from ..metrics.accumulated_rows import find_needs
from ..metrics.catalogue import METRICS
from ..signals import check_transform

Say = Callable[[str], None]
Axis = int | Literal["none", "usual"]


@dataclass(frozen=True)
class Measure:
    """A metric with the values of all its parameters."""

    metric: str
    parameters: dict[str, float]

    def __str__(self) -> str:
        """Return text such as "pq_mean p=0.5 q=2"."""
        return " ".join([self.metric, *(f"{name}={value:g}" for name, value in self.parameters.items())])


@dataclass(frozen=True)
class Seconds:
    """A length of time."""

    value: float

    def __str__(self) -> str:
        """Return text such as "0.5 s"."""
        return f"{self.value:g} s"


Length = int | Seconds


@dataclass(frozen=True)
class Request:
    """What to measure, and how."""

    measures: list[Measure]
    axis: Axis = "usual"
    transform: str = "none"
    window: Length | None = None
    hop: Length | None = None
    rate: float | None = None
    nan_policy: str = "raise"
    key: list[str] | None = None
    curves: bool = False
    interval: bool = False
    center: Literal["mean", "median"] | None = None
    normalise: bool = False

    def check(self) -> None:
        """Raise `InvalidInput` for options that no file can satisfy, before any file is read."""
        check_transform(self.transform)
        check_choice("--nan-policy", self.nan_policy, NAN_POLICIES)
        if self.center is not None:
            check_choice("--center", self.center, CENTERS)
        if self.axis == "none" and self.window is not None:
            raise InvalidInput("windows slide along one axis, got --axis none; name a dimension, such as --axis -1")
        if self.normalise and (self.window is not None or self.axis == "none"):
            given = "--window" if self.window is not None else "--axis none"
            raise InvalidInput(
                "--normalise compares each coefficient with the same coefficient of the other signals, which "
                f"{given} does not keep apart; leave one of the two out"
            )
        if self.normalise and self.center is not None:
            raise InvalidInput("--normalise subtracts the mean of each coefficient already; leave out --center")
        if isinstance(self.hop, int) and self.hop > sys.maxsize:
            raise InvalidInput(f"--hop must be at most {sys.maxsize}, got {self.hop}; one window needs no hop")
        if self.rate is not None and not 0 < self.rate < math.inf:
            raise InvalidInput(f"--rate is a positive number of samples per second, got {self.rate!r}")

    def is_made_of_sums(self) -> bool:
        """Return whether whole signals can be measured piece by piece, without loading them."""
        if self.transform != "none" or self.window is not None or self.curves or self.interval or self.normalise:
            return False
        if self.center == "median":
            return False
        return all(find_needs(METRICS[each.metric], each.parameters) is not None for each in self.measures)
