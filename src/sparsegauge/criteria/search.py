"""The search for a signal that breaks a criterion: simple signals first, then random ones.

float64 only points at suspects; the criterion's `judge` decides, exactly. The directed search is in `directed.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations_with_replacement
from typing import NamedTuple

import numpy as np

from .._arrays import Array
from ..errors import Undefined
from .coefficients import Case, Signal, Step, nonzeros, signal
from .criterion import Criterion
from .judgement import Judgement
from .subject import Subject

SMALL_VALUES = (Fraction(0), Fraction(1, 2), *map(Fraction, (1, 2, 3, 5, 10)))
CONSTANT_LENGTHS = (20, 200, 2000)
NEGLIGIBLE = 1e-12  # change, in units of the largest value met, that float64's noise explains
SUSPICIOUS = 1e-9  # relative change that float64 cannot mistake
JUDGED = 40  # suspects of one criterion that exact arithmetic looks at


class Finding(NamedTuple):
    """A violation, or None; how many cases were looked at; for how many the metric has a value; how many stay open."""

    case: Case | None
    judgement: Judgement | None
    tried: int
    defined: int
    open: int = 0

    def __or__(self, later: Finding) -> Finding:
        """Two searches one after the other."""
        tried, defined = self.tried + later.tried, self.defined + later.defined
        return Finding(later.case, later.judgement, tried, defined, self.open + later.open)


def small_signals(special: Sequence[Fraction] = ()) -> list[Signal]:
    """Few and simple numbers, the simplest first; `special` ones are thresholds of the metric."""
    values = sorted({*SMALL_VALUES, *special})
    sizes = chain(
        chain.from_iterable(combinations_with_replacement(values, n) for n in (2, 3)),
        combinations_with_replacement(SMALL_VALUES, 4),
    )
    longer = chain.from_iterable(combinations_with_replacement(map(Fraction, (0, 1, 10)), n) for n in (5, 6, 7))
    found = {signal((v, 1) for v in c) for c in chain(sizes, longer)}
    found |= {signal([(Fraction(1), n)]) for n in CONSTANT_LENGTHS}
    return sorted((c for c in found if nonzeros(c)), key=_size)


def _size(c: Signal) -> tuple[int, int, Fraction]:
    return sum(n for _, n in c), len(c), sum((v * n for v, n in c), start=Fraction(0))


def random_signals(rng: np.random.Generator, count: int) -> list[Signal]:
    """Signals of 2 to 40 coefficients of six kinds, in thousandths."""
    return [c for c in (_random_signal(rng, k) for k in range(count)) if nonzeros(c)]


def _random_signal(rng: np.random.Generator, kind: int) -> Signal:
    n = int(rng.integers(2, 41))
    values = (
        rng.random(n),
        rng.exponential(size=n),
        rng.lognormal(sigma=2.0, size=n),
        rng.integers(0, 4, n).astype(float),
        np.where(rng.random(n) < 0.6, 0.0, rng.exponential(size=n)),
        np.append(np.full(n - 1, rng.random()), 10.0 ** rng.uniform(-2, 2)),
    )[kind % 6]
    return signal((Fraction(int(v), 1000), 1) for v in np.rint(1000 * values))


def cases_of(criterion: Criterion, signals: Iterable[Signal], moves: int | None = None) -> Iterator[Case]:
    """Every legal case of these signals, or the first few moves of each."""
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


def search(subject: Subject, criterion: Criterion, cases: Sequence[Case]) -> Finding:
    """Return the first case that exact arithmetic finds to break the criterion."""
    steps = [_screening_steps(criterion, case) for case in cases]
    pairs = list(chain.from_iterable(steps))
    before = subject.screen([b for b, _ in pairs])
    after = subject.screen([a for _, a in pairs])
    ends = np.cumsum([len(s) for s in steps])
    floor = NEGLIGIBLE * _largest(before, after)
    scores = np.array([
        _suspicion(criterion, before[end - len(s) : end], after[end - len(s) : end], floor)
        for s, end in zip(steps, ends, strict=True)
    ])  # fmt: skip
    defined = int(np.count_nonzero(~np.isnan(scores)))
    clear = np.flatnonzero(scores == 2)[:JUDGED]
    equal = np.flatnonzero(scores == 1)[:JUDGED]
    finding = judge_all(subject, criterion, [cases[i] for i in clear], len(cases), defined)
    if finding.case is not None:
        return finding
    doubtful = judge_all(subject, criterion, [cases[i] for i in equal], 0, 0)
    return finding._replace(case=doubtful.case, judgement=doubtful.judgement, open=finding.open + doubtful.open)


def _largest(before: Array, after: Array) -> float:
    values = np.abs(np.concatenate([before, after]))
    values = values[np.isfinite(values)]
    return float(values.max()) if len(values) else 0.0


def _suspicion(criterion: Criterion, before: Array, after: Array, floor: float) -> float:
    """2 for a clear violation in float64, 1 for what may be an equality, 0 for none, nan for no value."""
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
        return 2.0 if np.any(np.abs(change) > 1e-4 * scale) else 0.0
    if relation == "=":
        return 2.0 if np.any(np.abs(change) > sure) else 0.0
    wrong = change if relation[0] == "<" else -change
    if np.all(wrong > sure):
        return 2.0
    return 1.0 if criterion.strict and np.all(wrong >= -1e-13 * scale) else 0.0


def judge_all(subject: Subject, criterion: Criterion, cases: Sequence[Case], tried: int, defined: int) -> Finding:
    """Return the first violation among these cases, by exact arithmetic."""
    doubtful = 0
    for case in cases:
        try:
            judgement = criterion.judge(subject, criterion.steps(*case))
        except Undefined:
            defined -= 1
            continue
        if judgement.violated:
            return Finding(case, judgement, tried, defined, doubtful)
        doubtful += judgement.violated is None
    return Finding(None, None, tried, defined, doubtful)
