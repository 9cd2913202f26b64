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
from .numbers import decimals, gap, shown
from .proofs import proof
from .subject import Subject, as_subject

NUMBER = re.compile(r"[0-9]{1,4000}(/[1-9][0-9]{0,3999})?")
MOST_PAIRS = 500


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
        False where the transformation is not legal or the criterion is not broken. What is not a counterexample at all
        is an `InvalidInput`.

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
    if _step(counterexample, criterion) != steps[-1]:
        return False
    try:
        criterion.check(steps)
        judgement = criterion.judge(subject, steps)
    except (Illegal, Undefined):
        return False
    decided = judgement.violated is True and len(judgement.steps) == len(steps)
    return decided and (
        subject.arrays_only or _states_true_values(counterexample, write(subject, criterion, judgement))
    )


def _states_true_values(counterexample: dict[str, Any], recomputed: dict[str, Any]) -> bool:
    """Tell whether the values that a counterexample states beside its signals are those that are recomputed."""
    return all(counterexample.get(key, recomputed[key]) == recomputed[key] for key in ("value_before", "value_after"))


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
        raise InvalidInput(f"unknown criterion {counterexample['criterion']!r}; the criteria are {', '.join(CRITERIA)}")
    parameters = counterexample["parameters"]
    named = isinstance(parameters, dict) and all(isinstance(key, str) for key in parameters)
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
        raise InvalidInput("a signal of a counterexample has a coefficient other than zero")
    return tuple(read)
