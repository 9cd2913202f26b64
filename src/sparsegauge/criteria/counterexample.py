"""Writing a counterexample to a criterion, and verifying one from its JSON alone.

A counterexample is a JSON-able dict:

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
from typing import Any

import numpy as np

from ..errors import Illegal, InvalidInput, Undefined
from .coefficients import Signal, Step, signal
from .criterion import Criterion
from .definitions import CRITERIA
from .judgement import Judgement
from .numbers import MOST_BITS_OF_A_POWER, decimals, gap, shown
from .proofs import proof
from .subject import Subject, as_subject

MOST_DIGITS = 4000
NUMBER = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}(/[1-9][0-9]{{0,{MOST_DIGITS - 1}}})?")
MOST_PAIRS = 500
LARGEST_PARAMETER = 10**300
MOST_WORK = 10**9  # digit operations that `verify` spends on one counterexample: seconds
WORK_PER_INTERVAL = 3 * 10**5  # digit operations of a logarithm or a power with 1,000 digits
BITS_PER_DIGIT_OPERATION = 30


def write(subject: Subject, criterion: Criterion, judgement: Judgement) -> dict[str, Any]:
    """Return the counterexample that a violation amounts to."""
    before, after = judgement.steps[-1]
    counterexample: dict[str, Any] = {
        "criterion": criterion.key,
        "metric": subject.name,
        "parameters": as_json(subject.parameters),
        "before": _signal_as_json(before),
        "after": _signal_as_json(after),
        "value_before": shown(judgement.before),
        "value_after": shown(judgement.after),
        "arithmetic": judgement.arithmetic,
        "margin": decimals(gap(judgement.before, judgement.after), 3),
    }
    if len(judgement.steps) > 1:
        counterexample["steps"] = [
            {"before": _signal_as_json(b), "after": _signal_as_json(a)} for b, a in judgement.steps
        ]
    return counterexample


def as_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters for JSON: "inf" for infinity, plain numbers for NumPy's, words for what JSON does not have."""
    return {key: _plain(value) for key, value in parameters.items()}


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool | None) else repr(value)


def from_json(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that `as_json` wrote."""
    return {key: math.inf if value == "inf" else value for key, value in parameters.items()}


def _signal_as_json(c: Signal) -> list[list[Any]]:
    return [[str(value), count] for value, count in c]


def verify(counterexample: Any, *, metric: Callable[..., Any] | None = None) -> bool:
    """Verify a counterexample from its JSON alone: the step must be legal, and it must break the criterion.

    Parameters
    ----------
    counterexample : dict or str
        As in ``Verdict.counterexample``, or its JSON text.
    metric : callable, optional
        The metric, for a counterexample about your own callable, which JSON cannot hold.

    Returns
    -------
    bool
        False where the transformation is not legal, the criterion is not broken, or a stated value, margin or
        arithmetic is not what is recomputed. What is not a counterexample, or too large to verify within 1e9
        operations on digits (some seconds), is an `InvalidInput`.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> counterexample = {
    ...     "criterion": "P3", "metric": "gds", "parameters": {"order": 4},
    ...     "before": [["3", 20], ["6", 1], ["12", 1]], "after": [["3", 19], ["4", 1], ["5", 1], ["12", 1]],
    ... }
    >>> sg.verify(counterexample)
    True
    >>> sg.verify(counterexample | {"parameters": {"order": 2}})
    False
    """
    counterexample = _read(counterexample)
    criterion = CRITERIA[counterexample["criterion"]]
    subject = as_subject(metric or counterexample["metric"], from_json(counterexample["parameters"]))
    if not subject.arrays_only and proof(subject.name, subject.parameters, criterion.key):
        return False  # no finite number of steps refutes what is proved
    steps = [_step(item, criterion) for item in counterexample.get("steps", [counterexample])]
    _check_work(steps, subject)
    if _step(counterexample, criterion) != steps[-1]:
        return False
    try:
        criterion.check(steps)
        judgement = criterion.judge(subject, steps)
    except (Illegal, Undefined):
        return False
    decided = judgement.violated is True and len(judgement.steps) == len(steps)
    return decided and _states_true_values(counterexample, write(subject, criterion, judgement))


def _states_true_values(counterexample: dict[str, Any], recomputed: dict[str, Any]) -> bool:
    """Tell whether what a counterexample states beside its signals is what is recomputed."""
    stated = ("value_before", "value_after", "arithmetic", "margin")
    return all(counterexample.get(key, recomputed[key]) == recomputed[key] for key in stated)


def _check_work(steps: list[Step], subject: Subject) -> None:
    """Raise `InvalidInput` where the numbers are so many or so long that verifying them takes more than the budget.

    A formula may compare all pairs of values; fractions have a common denominator, and powers multiply their length.
    """
    orders = [abs(x) for x in subject.parameters.values() if isinstance(x, int | float) and abs(x) < math.inf]
    order = max([1.0, *orders])
    work = 0.0
    for step in steps:
        values = [value for c in step for value, _ in c]
        denominators = sum(d.bit_length() for d in {v.denominator for v in values})
        bits = (max(v.numerator.bit_length() for v in values) + denominators) * order
        digits = min(bits, MOST_BITS_OF_A_POWER) / BITS_PER_DIGIT_OPERATION
        comparisons = len(values) if subject.arrays_only else len(values) ** 2
        work += comparisons * (digits**2 + WORK_PER_INTERVAL)
    if work > MOST_WORK:
        raise InvalidInput(
            f"the counterexample is too large to verify: it takes about {work:.1g} operations on digits, of at most "
            f"{MOST_WORK:.0g}; use fewer different values, shorter numbers or a smaller order"
        )


def _read(counterexample: Any) -> dict[str, Any]:
    if isinstance(counterexample, str | bytes):
        try:
            counterexample = json.loads(counterexample)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the counterexample is not JSON ({error}); pass a dict or its JSON text") from error
    if not isinstance(counterexample, dict):
        raise InvalidInput(f"a counterexample is a dict or its JSON text, got {type(counterexample).__name__}")
    missing = [key for key in ("criterion", "metric", "parameters", "before", "after") if key not in counterexample]
    if missing:
        raise InvalidInput(f"the counterexample lacks {', '.join(missing)}; pass a Verdict's counterexample unchanged")
    if not isinstance(counterexample["criterion"], str) or counterexample["criterion"] not in CRITERIA:
        raise InvalidInput(
            f"unknown criterion {_shorten(counterexample['criterion'])}; the criteria are {', '.join(CRITERIA)}"
        )
    parameters = counterexample["parameters"]
    named = isinstance(parameters, dict) and all(isinstance(key, str) for key in parameters)
    if named and any(isinstance(x, int) and abs(x) > LARGEST_PARAMETER for x in parameters.values()):
        raise InvalidInput(f"a parameter of the counterexample is above {LARGEST_PARAMETER:.0e}; give a smaller one")
    if not named or not isinstance(counterexample["metric"], str):
        raise InvalidInput("a counterexample's metric is a name, and its parameters are a dict")
    steps = counterexample.get("steps", [counterexample])
    if (
        not isinstance(steps, list)
        or not steps
        or not all(isinstance(s, dict) and {"before", "after"} <= s.keys() for s in steps)
    ):
        raise InvalidInput("a counterexample's steps are a list of dicts with before and after")
    return counterexample


def _step(item: dict[str, Any], criterion: Criterion) -> Step:
    before, after = _signal(item["before"]), _signal(item["after"])
    return (before, after) if criterion.keeps_positions else (signal(before), signal(after))


def _signal(pairs: Any) -> Signal:
    if not isinstance(pairs, list | tuple) or not 0 < len(pairs) <= MOST_PAIRS:
        raise InvalidInput(f"a signal is a list of 1 to {MOST_PAIRS} [value, count] pairs, got {_shorten(pairs)}")
    read = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise InvalidInput(f"a signal is a list of [value, count] pairs, got {_shorten(pair)} in it")
        value, count = pair
        if isinstance(value, bool) or not isinstance(value, int | str) or not NUMBER.fullmatch(_brief_number(value)):
            raise InvalidInput(f'a value is a fraction like "7" or "3/8", not negative, got {_shorten(value)}')
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 10**400:
            raise InvalidInput(f"a count is a whole number from 1 to 1e400, got {_shorten(count)}")
        read.append((Fraction(str(value)), count))
    if not any(value for value, _ in read):
        raise InvalidInput("a signal of a counterexample has a coefficient other than zero")
    return tuple(read)


def _brief_number(value: int | str) -> str:
    """Return the text of a number; a whole number of too many digits, which Python refuses to write, has none."""
    return "" if isinstance(value, int) and abs(value) >= 10**MOST_DIGITS else str(value)


def _shorten(value: Any) -> str:
    """Return the beginning of what came, for a message."""
    try:
        return f"{value!r:.60}"
    except ValueError:  # a whole number of more than 4,300 digits
        return "a number of thousands of digits"
