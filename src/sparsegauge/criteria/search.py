"""The search for a signal that breaks a criterion: simple signals first, then random ones.

float64 only points at suspects; the criterion's `judge` decides, exactly. The directed search is in `directed.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, islice
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from ..errors import Undefined
from .audit_tolerances import LIMIT_SUSPICION, LIMIT_SUSPICION_OF_FUNCTION, NEGLIGIBLE, NEGLIGIBLE_WRONG_WAY, SUSPICIOUS
from .coefficients import Case, Signal, Step, nonzeros
from .criterion import Criterion
from .judgement import Judgement
from .samples import random_signals, small_signals
from .subject import Subject

MOST_SUSPECTS_JUDGED = 40  # by exact arithmetic, in one search
MANY_OPEN_SUSPECTS = 200  # after so many that are too close to call, fewer of each screening are judged
SUSPECTS_JUDGED_OF_MANY = 8
CASES_PER_SCREENING = 200  # of a function, before the first suspects are judged


class FoundStep(NamedTuple):
    """A violation, or None; how many cases were looked at; for how many the metric has a value; how many stay open."""

    case: Case | None
    judgement: Judgement | None
    tried: int
    defined: int
    open: int = 0

    def __or__(self, later: FoundStep) -> FoundStep:
        """Return the outcome of two searches, one after the other."""
        tried, defined = self.tried + later.tried, self.defined + later.defined
        return FoundStep(later.case, later.judgement, tried, defined, self.open + later.open)


def cases_of(criterion: Criterion, signals: Iterable[Signal], moves: int | None = None) -> Iterator[Case]:
    """Yield every legal case of these signals, or the first few moves of each."""
    for c in signals:
        if nonzeros(c) < criterion.least_nonzeros:
            continue
        for number, move in enumerate(criterion.moves(c)):
            if moves is not None and number >= moves:
                break
            yield Case(c, move)


@functools.lru_cache(maxsize=64)
def small_cases(criterion: Criterion, special: tuple[Fraction, ...]) -> list[Case]:
    """Return the cases of `small_signals`: the same for every metric, so made once."""
    return list(cases_of(criterion, small_signals(special)))


@functools.lru_cache(maxsize=32)
def random_cases(criterion: Criterion, seed: int, count: int) -> list[Case]:
    """Return the cases of `random_signals`, with one move per signal."""
    rng = np.random.default_rng(seed)
    cases = []
    for c in random_signals(rng, count):
        if possible := list(cases_of(criterion, [c], moves=200)):
            cases.append(possible[int(rng.integers(len(possible)))])
    return cases


@functools.lru_cache(maxsize=300_000)
def _screening_steps(criterion: Criterion, case: Case) -> tuple[Step, ...]:
    return tuple(criterion.screening_steps(case))


def search(subject: Subject, criterion: Criterion, cases: Iterable[Case]) -> FoundStep:
    """Return the first case that exact arithmetic finds to break the criterion."""
    if not subject.arrays_only:
        return _search_at_once(subject, criterion, list(cases))
    finding = FoundStep(None, None, 0, 0)
    remaining = iter(cases)
    while finding.case is None and (chunk := list(islice(remaining, CASES_PER_SCREENING))):
        judged = MOST_SUSPECTS_JUDGED if finding.open < MANY_OPEN_SUSPECTS else SUSPECTS_JUDGED_OF_MANY
        finding |= _search_at_once(subject, criterion, chunk, judged)
    return finding


def _search_at_once(
    subject: Subject, criterion: Criterion, cases: Sequence[Case], judged: int = MOST_SUSPECTS_JUDGED
) -> FoundStep:
    steps = [_screening_steps(criterion, case) for case in cases]
    pairs = list(chain.from_iterable(steps))
    before = subject.screen([b for b, _ in pairs])
    after = subject.screen([a for _, a in pairs])
    ends = np.cumsum([len(s) for s in steps])
    floor = NEGLIGIBLE * _largest(before, after)
    limit = LIMIT_SUSPICION_OF_FUNCTION if subject.arrays_only else LIMIT_SUSPICION
    scores = np.array([
        _suspicion(criterion, before[end - len(s) : end], after[end - len(s) : end], floor, limit)
        for s, end in zip(steps, ends, strict=True)
    ])  # fmt: skip
    defined = int(np.count_nonzero(~np.isnan(scores)))
    suspects = [np.flatnonzero(scores == score) for score in (2, 1)]
    clear, equal = (found[:judged] for found in suspects)
    unjudged = sum(len(found[judged:]) for found in suspects) if subject.arrays_only else 0
    finding = judge_all(subject, criterion, [cases[i] for i in clear], len(cases), defined)
    if finding.case is not None:
        return finding
    doubtful = judge_all(subject, criterion, [cases[i] for i in equal], 0, 0)
    still_open = finding.open + doubtful.open + unjudged
    return finding._replace(case=doubtful.case, judgement=doubtful.judgement, open=still_open)


def _largest(before: Array, after: Array) -> float:
    values = np.abs(np.concatenate([before, after]))
    values = values[np.isfinite(values)]
    return float(values.max()) if len(values) else 0.0


def _suspicion(criterion: Criterion, before: Array, after: Array, floor: float, limit: float) -> float:
    """Return 2 for a clear violation in float64, 1 for a possible equality, 0 for none, nan for no value."""
    if not len(before) or np.isnan(before).any() or np.isnan(after).any():
        return np.nan
    with np.errstate(invalid="ignore"):
        change = after - before
        scale = np.maximum(np.abs(before), np.abs(after))
    if not np.isfinite(change).all():
        return np.nan
    sure = np.maximum(SUSPICIOUS * scale, floor)
    relation = criterion.relation
    if criterion.is_limit:
        return 2.0 if np.any(np.abs(change) > limit * scale) else 0.0
    if relation == "=":
        return 2.0 if np.any(np.abs(change) > sure) else 0.0
    wrong = change if relation[0] == "<" else -change
    if np.all(wrong > sure):
        return 2.0
    return 1.0 if criterion.strict and np.all(wrong >= -NEGLIGIBLE_WRONG_WAY * scale) else 0.0


def judge_all(subject: Subject, criterion: Criterion, cases: Sequence[Case], tried: int, defined: int) -> FoundStep:
    """Return the first violation among these cases, by exact arithmetic."""
    doubtful = 0
    for case in cases:
        try:
            judgement = criterion.judge(subject, criterion.steps(*case))
        except Undefined:
            defined -= 1
            continue
        if judgement.violated:
            return FoundStep(case, judgement, tried, defined, doubtful)
        doubtful += judgement.violated is None
    return FoundStep(None, None, tried, defined, doubtful)
