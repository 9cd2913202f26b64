"""Which criteria does a metric satisfy? `audit` gives a verdict on each, with a certificate where one is broken."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .._arrays import check_count
from ..errors import InvalidInput
from . import directed
from .certificate import as_json, from_json, judge_step, write
from .claims import frame
from .numbers import Undefined, decimals, order
from .proofs import proof
from .search import Finding, boundary_cases, random_cases, saturation_cases, search, small_cases
from .shrink import shrink
from .subject import Subject, as_subject
from .table import CRITERIA, Criterion

BUDGET = 2000
STATUSES = ("holds", "violated", "undecided", "not applicable")


@dataclass(frozen=True)
class Verdict:
    """What is known about one criterion: "holds", "violated", "undecided" or "not applicable", and why."""

    criterion: str
    status: str
    reason: str
    searched: int = 0
    certificate: dict[str, Any] | None = None
    boundary: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """One line, and the witness below it."""
        name = CRITERIA[self.criterion].name
        line = f"{self.criterion:<10} {name:<23} {self.status.upper() if self.certificate else self.status}"
        return line + "".join(f"\n{' ' * 11}{part}" for part in _explained(self))


def _explained(verdict: Verdict) -> list[str]:
    parts = textwrap.wrap(verdict.reason, 100)
    if verdict.certificate:
        before, after = (written(verdict.certificate[key]) for key in ("before", "after"))
        values = verdict.certificate["value_before"], verdict.certificate["value_after"]
        parts += [f"S{before} = {values[0]}", f"S{after} = {values[1]}"]
    return parts + verdict.boundary


def written(pairs: Iterable[Any]) -> str:
    """[value, count] pairs as people write a signal: [3 x 20, 6, 12]."""
    return "[" + ", ".join(_short(value) + (f" x {count}" if count > 1 else "") for value, count in pairs) + "]"


def _short(value: Any) -> str:
    """A fraction, or for a very long one a simple fraction and how far it is from it: 1 + 1.0e-300."""
    text = str(value)
    if len(text) <= 30:
        return text
    simple = Fraction(value).limit_denominator(1000)
    rest = Fraction(value) - simple
    return (f"{simple} {'-' if rest < 0 else '+'} " if simple else "") + decimals(abs(rest), 2)


@dataclass(frozen=True)
class Audit:
    """The verdicts on one metric, by criterion."""

    metric: str
    parameters: dict[str, Any]
    verdicts: dict[str, Verdict]
    seed: int
    budget: int

    def __str__(self) -> str:
        """A readable account."""
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        counts = {status: sum(v.status == status for v in self.verdicts.values()) for status in STATUSES}
        summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        title = f"{self.metric}({given}): {summary}"
        return "\n".join([title, "-" * len(title), *(str(v) for v in self.verdicts.values())])

    def __getitem__(self, criterion: str) -> Verdict:
        """The verdict on one criterion."""
        return self.verdicts[criterion]

    @property
    def violated(self) -> list[str]:
        """The criteria that are broken."""
        return [key for key, verdict in self.verdicts.items() if verdict.status == "violated"]

    def to_frame(self) -> Any:
        """One row a criterion, as a pandas DataFrame (extra `study`)."""
        rows = [asdict(verdict) | {"name": CRITERIA[key].name} for key, verdict in self.verdicts.items()]
        columns = ["criterion", "name", "status", "reason", "searched", "certificate", "boundary"]
        return frame([{key: row[key] for key in columns} for row in rows])

    def to_json(self) -> str:
        """Everything, as JSON text."""
        return json.dumps(asdict(self) | {"parameters": as_json(self.parameters)}, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """What `to_json` wrote."""
        try:
            return cls.of(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(f"this is not an audit's JSON ({error}); pass what to_json() gave") from error

    @classmethod
    def of(cls, data: dict[str, Any]) -> Audit:
        """An audit from what JSON holds of it."""
        verdicts = {key: Verdict(**value) for key, value in data["verdicts"].items()}
        return cls(**data | {"verdicts": verdicts, "parameters": from_json(data["parameters"])})


def audit(
    metric: Any,
    *,
    criteria: Iterable[str] | None = None,
    budget: int | None = None,
    rng: Any = None,
    **parameters: Any,
) -> Audit:
    """Which of the criteria P1..P11 a metric satisfies: proofs and searches, and certificates where it does not.

    Simple signals are tried first, then random ones, then (where nothing is proved) families that are known to be
    hard and an optimiser over values and multiplicities. A violation is reported only after exact arithmetic, or
    intervals of 50 digits and more, has confirmed it on a witness that was made as small as possible.

    Parameters
    ----------
    metric : str or callable
        A name of ``METRICS``, or your own function of one 1-D array. It is tried on arrays of fractions, then of
        numbers with 50 digits, then on float64, where only a difference far above its own noise counts. Set other
        arguments with functools.partial. "holds" then means that a search found nothing.
    criteria : iterable of str, optional
        Some of "P1" ... "P11" and "P7_literal"; all by default.
    budget : int, optional
        Random signals for each criterion, 2,000 by default.
    rng : int or numpy.random.Generator, optional
        Where the random signals come from; 0 by default, so that an audit can be repeated.
    **parameters
        The metric's own.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> verdict = sg.audit("gds", order=4, criteria=["P3"])["P3"]
    >>> verdict.status, sg.verify(verdict.certificate)
    ('violated', True)
    """
    subject = as_subject(metric, parameters)
    keys = _checked_criteria(criteria)
    budget = BUDGET if budget is None else check_count("budget", budget, least=0)
    seed = _seed(rng)
    verdicts = {key: _verdict(subject, CRITERIA[key], budget, seed) for key in keys}
    return Audit(subject.name, subject.parameters, verdicts, seed, budget)


def _checked_criteria(criteria: Iterable[str] | None) -> list[str]:
    if criteria is None:
        return list(CRITERIA)
    asked = [criteria] if isinstance(criteria, str) or not isinstance(criteria, Iterable) else list(criteria)
    unknown = [key for key in asked if not isinstance(key, str) or key not in CRITERIA]
    if unknown or not asked:
        raise InvalidInput(f"criteria must be some of {', '.join(CRITERIA)}, got {asked!r}")
    return [key for key in CRITERIA if key in asked]


def _seed(rng: Any) -> int:
    if rng is None:
        return 0
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**31))
    return check_count("rng", rng, least=0)


def _verdict(subject: Subject, criterion: Criterion, budget: int, seed: int) -> Verdict:
    proved = None if subject.arrays_only else proof(subject.name, subject.parameters, criterion.key)
    finding = _find(subject, criterion, budget, seed, thorough=proved is None)
    boundary = _boundary(subject, criterion)
    if finding.case is not None and finding.judgement is not None:
        _, judgement = shrink(subject, criterion, finding.case, finding.judgement)
        certificate = write(subject, criterion, judgement)
        reason = f"a counterexample, {judgement.arithmetic}; margin {certificate['margin']}"
        return Verdict(criterion.key, "violated", reason, finding.tried, certificate, boundary)
    if finding.defined <= 0:
        reason = f"the metric has no finite value on any of the {finding.tried} signals that the criterion speaks of"
        return Verdict(criterion.key, "not applicable", reason, finding.tried, None, boundary)
    if proved is not None:
        return Verdict(criterion.key, "holds", f"proved: {proved}", finding.tried, None, boundary)
    if finding.open:
        reason = f"{finding.open} suspects of {finding.tried} signals are too close to call"
        return Verdict(criterion.key, "undecided", reason, finding.tried, None, boundary)
    reason = f"no counterexample among {finding.tried} signals; not proved"
    status = "holds" if subject.arrays_only else "undecided"  # where proofs are to be had, a search is not enough
    return Verdict(criterion.key, status, reason, finding.tried, None, boundary)


def _find(subject: Subject, criterion: Criterion, budget: int, seed: int, thorough: bool) -> Finding:
    if criterion.relation == "->" and not thorough:
        return Finding(None, None, 0, 1)  # a limit that is proved is beyond the reach of a finite search
    if criterion.key == "P9":
        return search(subject, criterion, saturation_cases(subject))
    special = tuple(subject.special_values())
    finding = search(subject, criterion, small_cases(criterion.key, special))
    if finding.case is None and budget:
        finding |= search(subject, criterion, random_cases(criterion.key, seed, budget))
    if finding.case is None and thorough and criterion.relation in ("<", ">", "<=", ">=") and criterion.key != "P7":
        finding |= directed.families(subject, criterion)
        if finding.case is None:
            finding |= directed.optimise(subject, criterion, seed, starts=2 if criterion.key == "P3" else 1)
    return finding


def _boundary(subject: Subject, criterion: Criterion) -> list[str]:
    """Equalities on one non-zero, which P7 and P8 are not judged by."""
    found = []
    for case in boundary_cases(criterion):
        try:
            judgement = judge_step(subject, criterion, criterion.steps(*case)[0])
        except Undefined:
            continue
        if order(judgement.before, judgement.after) in (0, None):
            found.append(f"at the boundary: equality on {written(case.start)}")
    return found
