"""Parse the options of `sparsegauge measure` whose values are more than one word or number."""

from __future__ import annotations

import math

from .._arrays import check_order
from ..errors import InvalidInput
from ..measurements.request import Axis, Length, Measure, Seconds
from ..metrics.catalogue import METRICS

DEFAULT_ORDERS = "1,2,4"
MOST_DIMENSIONS = 64  # of a NumPy array


def parse_measures(
    metrics: list[str] | None, orders: str | None, every: bool, parameters: list[str] | None = None
) -> list[Measure]:
    """Return one measure per named metric, with the parameters that it has, and for gds one per order."""
    if every and metrics:
        raise InvalidInput("--all has every metric already; leave out --metric, or --all")
    names = list(METRICS) if every else [METRICS.find(name).name for name in metrics or ["gds"]]
    if orders is not None and "gds" not in names:
        raise InvalidInput(f"--order is for gds, and the metrics are {', '.join(names)}; add --metric gds")
    given = _parameters(parameters or [], names)
    measures = []
    for name in dict.fromkeys(names):
        if name == "gds":
            measures += [Measure(name, {"order": p}) for p in _orders(DEFAULT_ORDERS if orders is None else orders)]
        else:
            own = {key: value for key, value in given.items() if key in METRICS[name].parameters}
            measures.append(Measure(name, METRICS[name].check(own)))
    return measures


def _parameters(texts: list[str], names: list[str]) -> dict[str, float]:
    """Return the parameters from texts such as "q=3", each of which one of the metrics must have."""
    found = {}
    known = {name for metric in names for name in METRICS[metric].parameters if name != "order"}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError as error:
            raise InvalidInput(f"--parameter takes a name and a number, such as q=3, got {text!r}") from error
        if name.strip() not in known:
            listed = ", ".join(sorted(known)) or "none"
            have = ", ".join(dict.fromkeys(names))
            raise InvalidInput(f"no parameter {name.strip()!r} in {have}; the parameters there are: {listed}")
    return found


def _orders(text: str) -> list[float]:
    try:
        return list(dict.fromkeys(check_order(float(part)) for part in text.split(",")))
    except InvalidInput:
        raise
    except ValueError as error:
        raise InvalidInput(f"--order takes numbers with commas between them, such as 1,2,4, got {text!r}") from error


def parse_axis(text: str | None) -> Axis:
    """Return a dimension, "none" to flatten, or "usual", the default of the kind of file."""
    if text is None:
        return "usual"
    if text.strip().lower() == "none":
        return "none"
    try:
        axis = int(text)
    except ValueError as error:
        raise InvalidInput(f"--axis takes a whole number, or none to flatten, got {text!r}") from error
    if abs(axis) > MOST_DIMENSIONS:
        raise InvalidInput(f"--axis is a dimension of an array, which has at most {MOST_DIMENSIONS}, got {text}")
    return axis


def parse_length(option: str, text: str) -> Length:
    """Return a number of samples from "1024", or a time from "0.5s" or "20ms"."""
    written = text.strip().lower()
    for ending, unit in (("ms", 1e-3), ("s", 1.0)):
        if written.endswith(ending):
            seconds = _number(option, text, written.removesuffix(ending)) * unit
            if not 0 < seconds < math.inf:
                raise InvalidInput(f"{option} must be a positive time, got {text!r}")
            return Seconds(seconds)
    samples = _number(option, text, written)
    if samples < 1 or samples != int(samples):
        raise InvalidInput(f"{option} must be a whole number of at least 1, or a time such as 0.5s, got {text!r}")
    return int(written) if written.isdigit() else int(samples)


def _number(option: str, text: str, digits: str) -> float:
    try:
        number = float(digits)
    except ValueError as error:
        raise InvalidInput(f"{option} takes samples, such as 1024, or a time, such as 0.5s, got {text!r}") from error
    if not math.isfinite(number):
        raise InvalidInput(f"{option} takes samples, such as 1024, or a time, such as 0.5s, got {text!r}")
    return number
