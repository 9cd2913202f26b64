"""The whole search for a counterexample, and its calibration on planted lies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from . import directed
from .callables import CallableSubject
from .criterion import Criterion
from .samples import random_signals
from .search import FoundStep, judge_all, random_cases, search, small_cases
from .subject import Subject

SIZE_OF_LIES = Fraction(1, 20)  # as a share of the metric's typical value
SIGNALS_FOR_SCALE = 25
MOST_EXTREME_SIGNALS = 60


def find_counterexample(subject: Subject, criterion: Criterion, budget: int, seed: int, thorough: bool) -> FoundStep:
    """Search small, random and extreme signals; where nothing is proved also hard families, and with an optimiser."""
    if criterion.is_limit and not thorough:
        return FoundStep(None, None, 0, 1)  # a limit that is proved is beyond the reach of a finite search
    fixed = criterion.fixed_cases(subject)
    if fixed is not None:
        return judge_all(subject, criterion, fixed, len(fixed), len(fixed))
    finding = search(subject, criterion, small_cases(criterion, tuple(subject.special_values())))
    if finding.case is None and budget:
        finding |= search(subject, criterion, random_cases(criterion, seed, budget))
    if finding.case is None and isinstance(subject, CallableSubject):
        rng = np.random.default_rng([seed, 1])
        finding |= search(subject, criterion, criterion.function_cases(subject, rng, MOST_EXTREME_SIGNALS))
    if finding.case is None and thorough and criterion.is_inequality:
        finding |= directed.families(subject, criterion)
        if finding.case is None:
            finding |= directed.optimise(subject, criterion, seed)
    return finding


def find_missed_lies(subject: CallableSubject, criterion: Criterion, budget: int, seed: int) -> list[str]:
    """Plant each lie of the criterion in the function, repeat the search, and return the lies that it does not find."""
    strength = SIZE_OF_LIES * _typical_size(subject)
    missed = []
    for lie in criterion.lies:
        finding = find_counterexample(subject.plant(lie.plant, strength), criterion, budget, seed, thorough=True)
        if finding.case is None:
            missed.append(lie.description)
    return missed


def _typical_size(subject: CallableSubject) -> Fraction:
    """Return the median of |S| over some random signals, or 1 where that is zero or not known."""
    values = np.abs(subject.screen(random_signals(np.random.default_rng(0), SIGNALS_FOR_SCALE)))
    values = values[np.isfinite(values) & (values > 0)]
    return Fraction(float(np.median(values))) if len(values) else Fraction(1)
