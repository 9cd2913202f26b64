"""Making a counterexample smaller: fewer coefficients and simpler numbers that still break the criterion."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm

from ..errors import Illegal, Undefined
from .coefficients import Case, Move, Signal, nonzeros, signal
from .criterion import Criterion
from .judgement import Judgement
from .subject import Subject

ATTEMPTS = 600
MANY_GROUPS = 40  # of equal coefficients; of more, blocks are left out before single ones


def shrink(subject: Subject, criterion: Criterion, case: Case, judgement: Judgement) -> tuple[Case, Judgement]:
    """Return the simplest violation that greedy steps reach from this one."""
    left = ATTEMPTS
    improved = True
    while improved and left > 0:
        improved = False
        costs = {
            candidate: complexity(candidate, criterion)
            for candidate in simpler(case, criterion)
            if nonzeros(candidate.start)
        }
        for candidate in sorted(costs, key=lambda candidate: costs[candidate]):
            if costs[candidate] >= complexity(case, criterion):
                break
            left -= 1
            found = _violation(subject, criterion, candidate)
            if found is not None:
                case, judgement, improved = candidate, found, True
                break
            if left <= 0:
                break
    return case, judgement


def _violation(subject: Subject, criterion: Criterion, case: Case) -> Judgement | None:
    try:
        steps = criterion.steps(*case)
        if not steps:
            return None
        criterion.check(steps)
        judgement = criterion.judge(subject, steps)
    except (Undefined, Illegal):
        return None
    return judgement if judgement.violated else None


def complexity(case: Case, criterion: Criterion) -> tuple[int, int, Fraction]:
    """Return the characters of both signals (each group costs three), the coefficients, the size of the numbers."""
    numbers = criterion.written_numbers(case)
    characters = sum(len(str(x)) + 3 for x in numbers)
    coefficients = sum(n for _, n in case.start)
    return characters + len(str(coefficients)), coefficients, sum(numbers, start=Fraction(0))


def simpler(case: Case, criterion: Criterion) -> Iterator[Case]:
    """Yield candidates, each one small change away."""
    c, move = case
    if len(c) > MANY_GROUPS:
        yield from _much_fewer(c, move, criterion)
        return
    yield from _fewer(c, move, criterion)
    yield from ((Case(_with_count(c, k, n), move)) for k, (_, m) in enumerate(c) for n in _smaller_counts(m))
    for k in range(len(c)):
        for value in _simpler_values(c, k):
            yield Case(_with_value(c, k, value), move)
    yield Case(_whole(c), move)
    yield from (Case(coarser, move) for top in (5, 10, 20, 50, 100, 200, 500) if (coarser := _coarser(c, top)))
    yield from (Case(c, simpler_move) for simpler_move in criterion.simpler_moves(move))


def _fewer(c: Signal, move: Move, criterion: Criterion) -> Iterator[Case]:
    """Yield the case without one group that the move does not touch; the move's indices follow."""
    indices = move[: criterion.group_indices]
    for k in range(len(c)):
        if k not in indices and len(c) > 1:
            shifted = tuple(i - (i > k) for i in indices)
            yield Case(c[:k] + c[k + 1 :], (*shifted, *move[len(indices) :]))


def _much_fewer(c: Signal, move: Move, criterion: Criterion) -> Iterator[Case]:
    """Yield the case without blocks of groups that the move does not touch: halves, quarters and so on."""
    indices = move[: criterion.group_indices]
    size = len(c) // 2
    while size:
        for start in range(0, len(c), size):
            block = range(start, min(start + size, len(c)))
            if len(block) < len(c) and not any(i in block for i in indices):
                shifted = tuple(i - len(block) * (i >= block.stop) for i in indices)
                yield Case(c[: block.start] + c[block.stop :], (*shifted, *move[len(indices) :]))
        size //= 2


def _smaller_counts(n: int) -> list[int]:
    steps = {1, n // 2, (3 * n) // 4, (9 * n) // 10, (99 * n) // 100, n - 1}
    return [m for m in steps if 0 < m < n]


def _with_count(c: Signal, k: int, n: int) -> Signal:
    return (*c[:k], (c[k][0], n), *c[k + 1 :])


def _with_value(c: Signal, k: int, value: Fraction) -> Signal:
    return (*c[:k], (value, c[k][1]), *c[k + 1 :])


def _simpler_values(c: Signal, k: int) -> list[Fraction]:
    """Return rounder numbers that keep the groups in order."""
    value = c[k][0]
    low = c[k - 1][0] if k else Fraction(-1)
    high = c[k + 1][0] if k + 1 < len(c) else Fraction(10) ** 400
    candidates = {Fraction(round(value)), Fraction(0), Fraction(1)}
    if 10**-300 < value < 10**300:
        candidates |= {Fraction(f"{float(value):.{digits}g}") for digits in (0, 1, 2, 3)}
    return [v for v in candidates if low < v < high and v != value]


def _whole(c: Signal) -> Signal:
    """Multiply all values by their common denominator, and divide them by their common divisor."""
    denominator = lcm(*(v.denominator for v, _ in c))
    divisor = gcd(*(int(v * denominator) for v, _ in c)) or 1
    return signal((v * denominator / divisor, n) for v, n in c)


def _coarser(c: Signal, top: int) -> Signal | None:
    """Return whole numbers up to `top` in about the same proportions, unless two groups would fall together."""
    coarser = signal((Fraction(round(v * top / c[-1][0])), n) for v, n in c)
    return coarser if len(coarser) == len(c) else None
