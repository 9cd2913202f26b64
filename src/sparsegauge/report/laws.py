"""Which laws which metric obeys, and what the paper claims: plain data for the page."""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..criteria.auditor import Audit, Verdict, written
from ..criteria.claims import VERDICTS, PaperAudit
from ..criteria.criterion import Criterion
from ..criteria.definitions import CRITERIA
from ..criteria.shipped_audits import known_audits
from ..metrics.catalogue import METRICS
from ..metrics.metric import Metric
from ..paper import audit_paper

MARKS = {"holds": "✓", "violated": "✗", "undecided": "?", "not applicable": "–"}
RELATIONS = {"<": "fall", ">": "rise", "=": "stay the same", ">=": "not fall", "<=": "not rise"}
MOST_STEPS_OF_A_LIMIT = 6  # counterexamples have at most five


@dataclass(frozen=True)
class Shown:
    """A counterexample as people read it; `steps` has (before, after) pairs of which the last has the values."""

    steps: tuple[tuple[str, str], ...]
    value_before: str
    value_after: str
    asked: str
    text: str


@dataclass(frozen=True)
class LawCell:
    """A verdict on one criterion; `key` names it on the page."""

    key: str
    title: str
    criterion: Criterion
    verdict: Verdict
    counterexample: Shown | None

    @property
    def mark(self) -> str:
        """One character."""
        return MARKS[self.verdict.status]


@dataclass(frozen=True)
class Subject:
    """A metric with its parameters, and one cell per criterion."""

    title: str
    parameters: str
    cells: tuple[LawCell, ...]

    @property
    def obeys_all(self) -> bool:
        """Return whether every law holds; other readings of a law do not count."""
        return all(cell.verdict.status == "holds" for cell in self.cells if not cell.criterion.variant_of)


@dataclass(frozen=True)
class Laws:
    """Subjects in groups, and the paper's claims."""

    criteria: tuple[Criterion, ...]
    groups: dict[str, tuple[Subject, ...]]
    paper: PaperAudit

    def tally(self) -> dict[str, int]:
        """Count how many of the paper's claims have which verdict."""
        counts = {verdict: sum(claim.verdict == verdict for claim in self.paper) for verdict in VERDICTS}
        return {verdict: count for verdict, count in counts.items() if count}

    @property
    def shown(self) -> tuple[Criterion, ...]:
        """The criteria that have a column: those that not every metric violates."""
        return tuple(criterion for criterion in self.criteria if criterion not in self.hidden)

    @functools.cached_property
    def hidden(self) -> tuple[Criterion, ...]:
        """The criteria that every metric violates, which therefore do not distinguish metrics."""
        rows = [subject.cells for group in self.groups.values() for subject in group]
        broken = [all(row[k].verdict.status == "violated" for row in rows) for k in range(len(self.criteria))]
        return tuple(criterion for criterion, all_break in zip(self.criteria, broken, strict=True) if all_break)

    @property
    def explained(self) -> tuple[LawCell, ...]:
        """The cells that have more to say than that a law holds."""
        rows = (subject for group in self.groups.values() for subject in group)
        cells = (cell for row in rows for cell in row.cells if cell.criterion not in self.hidden)
        return tuple(cell for cell in cells if cell.verdict.status != "holds")


def gather_laws() -> Laws:
    """Gather the stored audits and the paper's claims, worked out anew (a few seconds, once)."""
    return _gather_laws(tuple(METRICS.values()))


@functools.cache
def _gather_laws(metrics: tuple[Metric, ...]) -> Laws:
    """Gather the laws while these are the metrics of the catalogue."""
    audits = known_audits()
    orders = sorted((audit for audit in audits if audit.metric == "gds"), key=lambda a: float(a.parameters["order"]))
    others = [audit for audit in audits if audit.metric != "gds"]
    groups = {
        "GDS by its order": orders,
        "The other metrics at their defaults": [audit for audit in others if _is_default(audit)],
        "Some of them at other parameters": [audit for audit in others if not _is_default(audit)],
    }
    numbered = {id(audit): f"law-{number}" for number, audit in enumerate(audits)}
    rows = {title: tuple(_subject(audit, numbered[id(audit)]) for audit in group) for title, group in groups.items()}
    stored = tuple(CRITERIA[key] for key in audits[0].verdicts)
    return Laws(stored, rows, audit_paper())


def _is_default(audit: Audit) -> bool:
    defaults = {name: parameter.default for name, parameter in METRICS[audit.metric].parameters.items()}
    return audit.parameters == defaults


def _subject(audit: Audit, key: str) -> Subject:
    parameters = ", ".join(f"{name} = {_number(value)}" for name, value in audit.parameters.items())
    title = f"{audit.metric} ({parameters})" if parameters else audit.metric
    cells = tuple(
        LawCell(f"{key}-{name.lower().replace('_', '-')}", title, CRITERIA[name], verdict, _shown(verdict))
        for name, verdict in audit.verdicts.items()
    )
    return Subject(audit.metric, parameters, cells)


def _number(value: float) -> str:
    return "∞" if value == math.inf else f"{value:g}"


def _shown(verdict: Verdict) -> Shown | None:
    counterexample = verdict.counterexample
    if counterexample is None:
        return None
    steps = counterexample.get("steps") or [counterexample]
    return Shown(
        tuple((_signal(step["before"]), _signal(step["after"])) for step in steps[:MOST_STEPS_OF_A_LIMIT]),
        _value(counterexample["value_before"]),
        _value(counterexample["value_after"]),
        _asked(CRITERIA[verdict.criterion]),
        json.dumps(counterexample),
    )


def _signal(pairs: Iterable[tuple[str, int]]) -> str:
    return re.sub(r" x (\d+)", r" × \1", written(pairs))


def _value(text: str) -> str:
    """Return a fraction with its decimals beside it; what is decimal already stays."""
    return f"{text} ≈ {float(Fraction(text)):.6g}" if "/" in text else text


def _asked(criterion: Criterion) -> str:
    if criterion.is_limit:
        return "the change has to fade away along these steps, and does not"
    return f"the value has to {RELATIONS[criterion.relation]}, and does not"
