"""The directed search: a criterion's families of hard cases, and an optimiser over values and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from scipy.optimize import differential_evolution

from .._arrays import Array
from .audit_tolerances import LEAST_WRONGNESS, SMALLEST_RELATIVE_CHANGE
from .coefficients import Case, Signal, signal
from .criterion import Criterion
from .search import FoundStep, judge_all
from .subject import Subject

GROUPS = 5
GENERATIONS = 50
LARGEST_COUNT = 1e5
LARGEST_COUNT_IN_ARRAY = 30  # of a metric that needs every coefficient in an array
LONGEST_FAMILY, LONGEST_FAMILY_IN_ARRAY = 10**40, 500
WORST = 1e9
ROUNDING_DIGITS = (1, 2, 3, 4, 6)  # significant digits with which a witness is tried


def families(subject: Subject, criterion: Criterion) -> FoundStep:
    """Judge the criterion's hard cases exactly, one by one."""
    cases = list(criterion.hard_cases(LONGEST_FAMILY_IN_ARRAY if subject.arrays_only else LONGEST_FAMILY))
    found = judge_all(subject, criterion, cases, len(cases), len(cases))
    if found.case is not None or not subject.arrays_only:
        return found._replace(open=0)  # an exact metric whose change is too small to tell is not a suspect
    wrong = sum(progress(subject, criterion, case) > LEAST_WRONGNESS for case in cases)
    return found._replace(open=wrong)


def optimise(subject: Subject, criterion: Criterion, seed: int, starts: int | None = None) -> FoundStep:
    """Minimise the float64 change over values, counts and the move; exact arithmetic decides about the minimum."""
    tried = defined = still_open = 0

    def loss(point: Array) -> float:
        nonlocal tried, defined
        case = decode(point, criterion)
        if case is None:
            return WORST
        wrongness = progress(subject, criterion, case)
        tried += 1
        defined += wrongness > -WORST
        return -wrongness

    generations = GENERATIONS // 2 if subject.arrays_only else GENERATIONS
    most = math.log10(LARGEST_COUNT_IN_ARRAY if subject.arrays_only else LARGEST_COUNT)
    bounds = [(-3.0, 1.0)] * GROUPS + [(0.0, most)] * GROUPS + [(0.0, 1.0)]
    for start in range(criterion.optimiser_starts if starts is None else starts):
        result = differential_evolution(
            loss, bounds, maxiter=generations, popsize=8, seed=np.random.default_rng([seed, start]), polish=False,
            tol=0.0,
        )  # fmt: skip
        case = decode(result.x, criterion)
        if result.fun < 0 and case:
            found = judge_all(subject, criterion, list(rounded_cases(case)), tried, defined)
            if found.case is not None:
                return found._replace(defined=defined, open=0)
            still_open += subject.arrays_only and -result.fun > LEAST_WRONGNESS
    return FoundStep(None, None, tried, defined, still_open)


def decode(point: Array, criterion: Criterion) -> Case | None:
    """Return a point of the optimiser's box as a case; values below 1/1000 are zero."""
    values = [Fraction(round(10.0**x, 9)) if x > -3 else Fraction(0) for x in point[:GROUPS]]
    values = [v if v >= Fraction(1, 900) else Fraction(0) for v in values]
    counts = [round(10.0**x) for x in point[GROUPS : 2 * GROUPS]]
    c = signal(zip(values, counts, strict=True))
    moves = list(criterion.moves(c))
    if not moves or c[-1][0] == 0:
        return None
    return Case(c, moves[min(int(point[-1] * len(moves)), len(moves) - 1)])


def progress(subject: Subject, criterion: Criterion, case: Case) -> float:
    """Return how far S moves in the wrong direction, in units of how far the signal moves."""
    steps = criterion.steps(*case)
    if not steps:
        return -WORST
    before, after = steps[0]
    change = subject.weighted(after) - subject.weighted(before)
    if not math.isfinite(change):
        return -WORST
    return (change if criterion.relation[0] == "<" else -change) / _distance(before, after)


def _distance(before: Signal, after: Signal) -> float:
    """Return the relative change of sum c^2: what a transfer of a does to a quadratic."""
    energies = [sum(n * float(v) ** 2 for v, n in c) for c in (before, after)]
    return max(abs(energies[0] - energies[1]) / max(energies), SMALLEST_RELATIVE_CHANGE)


def rounded_cases(case: Case) -> Iterator[Case]:
    """Yield the same case in simpler numbers, the simplest first."""
    for digits in ROUNDING_DIGITS:
        c = signal((_rounded(v, digits), n) for v, n in case.start)
        if len(c) == len(case.start):
            yield Case(c, case.move)
    yield case


def _rounded(value: Fraction, digits: int) -> Fraction:
    return Fraction(f"{float(value):.{digits}g}")
