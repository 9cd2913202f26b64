"""Whether a step breaks a criterion: the comparison of two values at the least precision that can tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from ..errors import Undefined
from .audit_tolerances import PERSISTENT_SHARE
from .coefficients import Step
from .numbers import Bounds, order
from .subject import Subject

FADED_SHARE = Fraction(1, 100)  # of the first change: a limit has vanished there

ALLOWED_SIGNS = {"<": (-1,), "=": (0,), ">": (1,), ">=": (0, 1), "<=": (0, -1)}


class Judgement(NamedTuple):
    """The outcome of comparing values; `violated` is None where no precision could tell, `steps` decided it."""

    violated: bool | None
    steps: list[Step]
    before: Bounds
    after: Bounds
    arithmetic: str


def judge_step(subject: Subject, relation: str, step: Step) -> Judgement:
    """Decide whether S(after) `relation` S(before) fails on one step."""
    for digits in subject.precisions:
        (before, after), arithmetic = subject.enclose(step, digits)
        sign = order(before, after)
        if sign is not None:
            return Judgement(sign not in ALLOWED_SIGNS[relation], [step], before, after, arithmetic)
        if subject.same(*step):
            return Judgement(0 not in ALLOWED_SIGNS[relation], [step], before, before, "the same formal sum")
        if arithmetic == "float64":
            break
    return Judgement(None, [step], before, after, arithmetic)


def judge_limit(
    subject: Subject, steps: list[Step], size: Callable[[Bounds, Bounds], Fraction], least: Fraction
) -> Judgement:
    """Decide whether the change, above `least` everywhere, fails to vanish from the first step to the last."""
    if not steps:
        raise Undefined
    digits = subject.precisions[1]
    changes: list[Fraction] = []
    for step in steps:
        (before, after), arithmetic = subject.enclose(step, digits)
        changes.append(size(before, after))
    violated: bool | None = None  # a change that neither stays nor fades says nothing about the limit
    if min(changes) > least and min(changes) >= PERSISTENT_SHARE * changes[0]:
        violated = True
    elif changes[-1] <= max(least, FADED_SHARE * changes[0]):
        violated = False
    return Judgement(violated, steps, before, after, arithmetic)
