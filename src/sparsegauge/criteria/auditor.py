"""`audit`: a verdict on each criterion of a metric, with a counterexample where one is broken."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import check_count
from ..errors import InvalidInput, Undefined
from .callables import CallableSubject
from .claims import RenamedCertificate, frame, rename_certificate
from .counterexample import as_json, from_json, write
from .criterion import Criterion
from .definitions import CRITERIA
from .judgement import judge_step
from .numbers import decimals, order
from .proofs import proof
from .shrink import shrink
from .strategy import find_counterexample, find_missed_lies
from .subject import Subject, as_subject

if TYPE_CHECKING:
    from pandas import DataFrame

BUDGET = 2000
MOST_WRITTEN_OUT = 3  # equal values; "2 x 2" would be taken for a product
STATUSES = ("holds", "violated", "undecided", "not applicable")


@dataclass(frozen=True)
class Verdict(RenamedCertificate):
    """What is known about one criterion: "holds", "violated", "undecided" or "not applicable", and why."""

    criterion: str
    status: str
    reason: str
    searched: int = 0
    counterexample: dict[str, Any] | None = None
    boundary: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return one line, and the counterexample below it."""
        line = f"{self.criterion:<10} {self.name:<23} {self.status.upper() if self.counterexample else self.status}"
        return line + "".join(f"\n{' ' * 11}{part}" for part in _explained(self))

    @property
    def name(self) -> str:
        """The criterion's name; its key if the criterion is no longer registered."""
        return CRITERIA[self.criterion].name if self.criterion in CRITERIA else self.criterion


def _explained(verdict: Verdict) -> list[str]:
    parts = textwrap.wrap(verdict.reason, 100)
    if verdict.counterexample:
        before, after = (written(verdict.counterexample[key]) for key in ("before", "after"))
        values = verdict.counterexample["value_before"], verdict.counterexample["value_after"]
        parts += [f"S{before} = {values[0]}", f"S{after} = {values[1]}"]
    return parts + verdict.boundary


def written(pairs: Iterable[Any]) -> str:
    """Write [value, count] pairs as a signal: [3 x 20, 6, 12], with up to three equal values written out."""
    return "[" + ", ".join(_repeated(_short(value), count) for value, count in pairs) + "]"


def _repeated(text: str, count: int) -> str:
    return ", ".join([text] * count) if count <= MOST_WRITTEN_OUT else f"{text} x {count}"


def _short(value: Any) -> str:
    """Write a fraction, or for a very long one a simple fraction and the distance to it: 1 + 1.0e-300."""
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
        """Return a readable account."""
        given = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        counts = {status: sum(v.status == status for v in self.verdicts.values()) for status in STATUSES}
        summary = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
        title = f"{self.metric}({given}): {summary}"
        return "\n".join([title, "-" * len(title), *(str(v) for v in self.verdicts.values())])

    def __getitem__(self, criterion: str) -> Verdict:
        """Return the verdict on one criterion."""
        return self.verdicts[criterion]

    @property
    def violated(self) -> list[str]:
        """The criteria that are broken."""
        return [key for key, verdict in self.verdicts.items() if verdict.status == "violated"]

    @property
    def laws(self) -> dict[str, Verdict]:
        """The verdicts without those on variants of a criterion, such as Bill Gates as the paper prints it."""
        return {
            key: verdict
            for key, verdict in self.verdicts.items()
            if key not in CRITERIA or CRITERIA[key].variant_of is None
        }

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per criterion (extra `study`)."""
        rows = [asdict(verdict) | {"name": verdict.name} for verdict in self.verdicts.values()]
        columns = ["criterion", "name", "status", "reason", "searched", "counterexample", "boundary"]
        return frame([{key: row[key] for key in columns} for row in rows])

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps(asdict(self) | {"parameters": as_json(self.parameters)}, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Return the audit that `to_json` wrote."""
        try:
            return cls.of(json.loads(text))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidInput(f"this is not an audit's JSON ({error}); pass what to_json() gave") from error

    @classmethod
    def of(cls, data: dict[str, Any]) -> Audit:
        """Return an audit from the dict that its JSON holds."""
        verdicts = {key: Verdict(**rename_certificate(value)) for key, value in data["verdicts"].items()}
        return cls(**data | {"verdicts": verdicts, "parameters": from_json(data["parameters"])})


def audit(
    metric: Any,
    *,
    criteria: Iterable[str] | None = None,
    budget: int | None = None,
    rng: Any = None,
    **parameters: Any,
) -> Audit:
    """Decide which of the criteria P1..P11 a metric satisfies, with proofs and counterexamples.

    Simple signals are tried first, then random ones, then (where nothing is proved) families that are known to be
    hard and an optimiser over values and counts. A violation is reported only after exact arithmetic, or intervals of
    50 digits and more, has confirmed it on a counterexample that was made as small as possible.

    Parameters
    ----------
    metric : str or callable
        A name of ``METRICS``, or your own function of one 1-D array. It is tried on arrays of fractions, then of
        numbers with 50 digits, then on float64, where only a difference far above its own noise counts. Set other
        arguments with functools.partial. "holds" then means that a search found nothing, although it found every lie
        that was planted in the function to test the search; otherwise the verdict is "undecided".
    criteria : iterable of str, optional
        Keys of ``CRITERIA``: "P1" ... "P11", "P7_literal", and those that you added; all by default.
    budget : int, optional
        How many random signals to try per criterion, 2,000 by default.
    rng : int or numpy.random.Generator, optional
        The seed or generator of the random signals; 0 by default, so that an audit can be repeated.
    **parameters
        The metric's own parameters.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> verdict = sg.audit("gds", order=4, criteria=["P3"])["P3"]
    >>> verdict.status, sg.verify(verdict.counterexample)
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
    finding = find_counterexample(subject, criterion, budget, seed, thorough=proved is None)
    if isinstance(subject, CallableSubject):
        subject.check_repeatable()
    boundary = _boundary(subject, criterion)
    if finding.case is not None and finding.judgement is not None:
        _, judgement = shrink(subject, criterion, finding.case, finding.judgement)
        counterexample = write(subject, criterion, judgement)
        reason = f"a counterexample, {judgement.arithmetic}; margin {counterexample['margin']}"
        return Verdict(criterion.key, "violated", reason, finding.tried, counterexample, boundary)
    if finding.defined <= 0:
        reason = f"the metric has no finite value on any of the {finding.tried} signals that the criterion speaks of"
        return Verdict(criterion.key, "not applicable", reason, finding.tried, None, boundary)
    if proved is not None:
        return Verdict(criterion.key, "holds", f"proved: {proved}", finding.tried, None, boundary)
    if finding.open:
        reason = f"{finding.open} suspects of {finding.tried} signals are too close to call"
        return Verdict(criterion.key, "undecided", reason, finding.tried, None, boundary)
    status, why = "undecided", "not proved"  # where metrics can be proved to obey a law, a search is not enough
    if isinstance(subject, CallableSubject):
        status, why = _calibrate(subject, criterion, budget, seed)
    reason = f"no counterexample among {finding.tried} signals; {why}"
    return Verdict(criterion.key, status, reason, finding.tried, None, boundary)


def _calibrate(subject: CallableSubject, criterion: Criterion, budget: int, seed: int) -> tuple[str, str]:
    """Return "holds" only if the search that found nothing finds every lie that is planted in the function."""
    if not criterion.lies:
        return "undecided", "the criterion defines no lies that could show what the search is able to find"
    missed = find_missed_lies(subject, criterion, budget, seed)
    if missed:
        return "undecided", f"but the search did not find planted lies of 5 % either: {'; '.join(missed)}"
    planted = "; ".join(lie.description for lie in criterion.lies)
    return "holds", f"planted lies of 5 % were found ({planted}); not proved"


def _boundary(subject: Subject, criterion: Criterion) -> list[str]:
    """Return equalities on signals that the criterion is not judged by."""
    found = []
    for case in criterion.boundary_cases():
        try:
            judgement = judge_step(subject, criterion.relation, criterion.steps(*case)[0])
        except Undefined:
            continue
        if order(judgement.before, judgement.after) in (0, None):
            found.append(f"at the boundary: equality on {written(case.start)}")
    return found
