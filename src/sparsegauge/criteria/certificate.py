"""Whether steps break a criterion, decided exactly; and the certificate that says so to anybody.

A certificate is a JSON-able dict:

    {"criterion": "P3", "metric": "gds", "parameters": {"order": 4},
     "before": [["3", 20], ["6", 1], ["12", 1]], "after": [["3", 19], ["4", 1], ["5", 1], ["12", 1]],
     "value_before": "207/803", "value_after": "16435/63679", "arithmetic": "rational", "margin": "..."}

Signals are [value, count] pairs. Criteria about limits (P1, P7, P9) have "steps", each with its own before and after;
the pair outside is the last of them. `verify` needs criterion, metric, parameters and signals only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidInput
from .numbers import Bounds, Undefined, decimals, gap, order, shown
from .proofs import proof
from .subject import Subject, as_subject
from .table import CRITERIA, Criterion, Illegal, Signal, Step, signal

PERSISTENT = 1 - Fraction(1, 10**12)  # a jump that keeps this share of its size does not vanish in the limit
FADED = Fraction(1, 100)  # and one that falls to this share does
SATURATED = Fraction(1, 10**6)
NUMBER = re.compile(r"[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
MOST_PAIRS = 500


class Judgement(NamedTuple):
    """violated is None where no precision could tell; steps are those that decided it."""

    violated: bool | None
    steps: list[Step]
    before: Bounds
    after: Bounds
    arithmetic: str


def judge(subject: Subject, criterion: Criterion, steps: list[Step]) -> Judgement:
    """Whether the metric breaks the criterion on these steps; raises `Undefined` where it has no value."""
    if criterion.key == "P1":
        return _judge_limit(subject, steps, gap, Fraction(0))
    if criterion.key == "P9":
        return _judge_limit(subject, steps, _relative_gap, SATURATED)
    if criterion.key == "P7":
        return _judge_growth(subject, criterion, steps)
    return judge_step(subject, criterion, steps[0])


def judge_step(subject: Subject, criterion: Criterion, step: Step) -> Judgement:
    """Whether one step breaks the criterion, at the least precision that can tell."""
    for digits in subject.precisions:
        (before, after), arithmetic = subject.enclose(step, digits)
        sign = order(before, after)
        if sign is not None:
            return Judgement(not criterion.satisfied(sign), [step], before, after, arithmetic)
        if subject.same(*step):
            return Judgement(not criterion.satisfied(0), [step], before, before, "the same formal sum")
        if arithmetic == "float64":
            break
    return Judgement(None, [step], before, after, arithmetic)


def _judge_growth(subject: Subject, criterion: Criterion, steps: list[Step]) -> Judgement:
    """P7 is broken where growth does not help at any beta that can be told, the last being far above the rest."""
    broken: list[Judgement] = []
    for step in steps:
        judgement = judge_step(subject, criterion, step)
        if judgement.violated is False:
            return judgement
        if judgement.violated is None:
            break
        broken.append(judgement)
    told = [j.steps[0] for j in broken]
    try:
        criterion.legal(told)
    except Illegal:  # too few, or not far enough
        return judgement._replace(violated=None)
    return broken[-1]._replace(steps=told)


def _relative_gap(before: Bounds, after: Bounds) -> Fraction:
    if before.low <= 0 <= before.high:
        raise Undefined
    return gap(before, after) / max(abs(before.low), abs(before.high))


def _judge_limit(
    subject: Subject, steps: list[Step], size: Callable[[Bounds, Bounds], Fraction], least: Fraction
) -> Judgement:
    """A limit fails where the change does not fade from the first step to the last."""
    digits = subject.precisions[1]
    changes: list[Fraction] = []
    for step in steps:
        (before, after), arithmetic = subject.enclose(step, digits)
        changes.append(size(before, after))
    violated: bool | None = None  # a change that neither stays nor fades says nothing about the limit
    if min(changes) > least and min(changes) >= PERSISTENT * changes[0]:
        violated = True
    elif changes[-1] <= max(least, FADED * changes[0]):
        violated = False
    return Judgement(violated, steps, before, after, arithmetic)


def write(subject: Subject, criterion: Criterion, judgement: Judgement) -> dict[str, Any]:
    """The certificate of a violation."""
    before, after = judgement.steps[-1]
    certificate: dict[str, Any] = {
        "criterion": criterion.key,
        "metric": subject.name,
        "parameters": as_json(subject.parameters),
        "before": _as_json(before),
        "after": _as_json(after),
        "value_before": shown(judgement.before),
        "value_after": shown(judgement.after),
        "arithmetic": judgement.arithmetic,
        "margin": decimals(gap(judgement.before, judgement.after), 3),
    }
    if len(judgement.steps) > 1:
        certificate["steps"] = [{"before": _as_json(b), "after": _as_json(a)} for b, a in judgement.steps]
    return certificate


def as_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters for JSON: "inf" for infinity, plain numbers for NumPy's, and words for what JSON does not have."""
    return {key: _plain(value) for key, value in parameters.items()}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool | None) else repr(value)


def from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """The same back."""
    return {key: math.inf if value == "inf" else value for key, value in parameters.items()}


def _as_json(c: Signal) -> list[list[Any]]:
    return [[str(value), count] for value, count in c]


def verify(certificate: Any, *, metric: Callable[..., Any] | None = None) -> bool:
    """Recompute a certificate from its JSON alone: is the step a legal one, and does it break the criterion?

    Parameters
    ----------
    certificate : dict or str
        As found in ``Verdict.certificate``, or its JSON text.
    metric : callable, optional
        The metric, for a certificate about a callable of your own (JSON cannot hold it).

    Returns
    -------
    bool
        False where the transformation is not legal or the criterion is not broken. What is no certificate at all is an
        `InvalidInput`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> certificate = {
    ...     "criterion": "P3", "metric": "gds", "parameters": {"order": 4},
    ...     "before": [["3", 20], ["6", 1], ["12", 1]], "after": [["3", 19], ["4", 1], ["5", 1], ["12", 1]],
    ... }
    >>> sg.verify(certificate)
    True
    >>> sg.verify(certificate | {"parameters": {"order": 2}})
    False
    """
    certificate = _read(certificate)
    criterion = CRITERIA[certificate["criterion"]]
    subject = as_subject(metric or certificate["metric"], from_json(certificate["parameters"]))
    if not subject.arrays_only and proof(subject.name, subject.parameters, criterion.key):
        return False  # no finite number of steps refutes what is proved
    steps = [_step(item, criterion) for item in certificate.get("steps", [certificate])]
    if _step(certificate, criterion) != steps[-1]:
        return False
    try:
        criterion.legal(steps)
        judgement = judge(subject, criterion, steps)
    except (Illegal, Undefined):
        return False
    decided = judgement.violated is True and len(judgement.steps) == len(steps)
    return decided and (subject.arrays_only or _says_the_truth(certificate, write(subject, criterion, judgement)))


def _says_the_truth(certificate: dict[str, Any], recomputed: dict[str, Any]) -> bool:
    """Whether the values that a certificate states beside its signals, if any, are those that come out."""
    return all(certificate.get(key, recomputed[key]) == recomputed[key] for key in ("value_before", "value_after"))


def _read(certificate: Any) -> dict[str, Any]:
    if isinstance(certificate, str | bytes):
        try:
            certificate = json.loads(certificate)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the certificate is not JSON ({error}); pass a dict or its JSON text") from error
    if not isinstance(certificate, dict):
        raise InvalidInput(f"a certificate is a dict or its JSON text, got {type(certificate).__name__}")
    missing = [key for key in ("criterion", "metric", "parameters", "before", "after") if key not in certificate]
    if missing:
        raise InvalidInput(f"the certificate lacks {', '.join(missing)}; pass a Verdict's certificate as it was")
    if not isinstance(certificate["criterion"], str) or certificate["criterion"] not in CRITERIA:
        raise InvalidInput(f"unknown criterion {certificate['criterion']!r}; the criteria are {', '.join(CRITERIA)}")
    parameters = certificate["parameters"]
    named = isinstance(parameters, dict) and all(isinstance(key, str) for key in parameters)
    if not named or not isinstance(certificate["metric"], str):
        raise InvalidInput("a certificate's metric is a name, and its parameters are a dict")
    steps = certificate.get("steps", [certificate])
    if (
        not isinstance(steps, list)
        or not steps
        or not all(isinstance(s, dict) and {"before", "after"} <= s.keys() for s in steps)
    ):
        raise InvalidInput("a certificate's steps are a list of dicts with before and after")
    return certificate


def _step(item: dict[str, Any], criterion: Criterion) -> Step:
    before, after = _signal(item["before"]), _signal(item["after"])
    return (before, after) if criterion.key == "P2" else (signal(before), signal(after))


def _signal(pairs: Any) -> Signal:
    if not isinstance(pairs, list | tuple) or not 0 < len(pairs) <= MOST_PAIRS:
        raise InvalidInput(f"a signal is a list of 1 to {MOST_PAIRS} [value, count] pairs, got {pairs!r:.60}")
    read = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InvalidInput(f"a signal is a list of [value, count] pairs, got {pair!r:.60} in it")
        value, count = pair
        if not NUMBER.fullmatch(str(value)):
            raise InvalidInput(f'a value is a fraction like "7" or "3/8", not negative, got {value!r:.60}')
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 10**400:
            raise InvalidInput(f"a count is a whole number of at least 1, got {count!r:.60}")
        read.append((Fraction(str(value)), count))
    if not any(value for value, _ in read):
        raise InvalidInput("a signal of a certificate has a coefficient other than zero")
    return tuple(read)
