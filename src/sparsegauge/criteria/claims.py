"""The claims of the paper and the account of all of them: text, table, JSON."""

from __future__ import annotations

import json
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .._platform.extras import import_extra
from ..errors import InvalidInput

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(rows: list[dict[str, Any]]) -> DataFrame:
    """Return rows as a pandas DataFrame whose index is their first entry (extra `study`)."""
    return import_extra("pandas", "a table").DataFrame(rows).set_index(next(iter(rows[0])))


class RenamedCertificate:
    """The old name of `counterexample`, for one release."""

    counterexample: dict[str, Any] | None

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The counterexample under its old name."""
        owner = type(self).__name__
        warnings.warn(
            f"{owner}.certificate is deprecated; use {owner}.counterexample", DeprecationWarning, stacklevel=2
        )
        return self.counterexample


def rename_certificate(entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of JSON text with the old key "certificate" renamed."""
    return {"counterexample" if key == "certificate" else key: value for key, value in entry.items()}


VERDICTS = ("true", "false", "misprint", "undecided")


def require_evidence(condition: bool, claim: str) -> None:
    """Raise an error where evidence does not show what it should: rows are computed, never looked up."""
    if not condition:
        raise ArithmeticError(f"the evidence about {claim!r} does not come out as stated")


@dataclass(frozen=True)
class Claim(RenamedCertificate):
    """One claim of the paper: where it stands, whether it is true, why, and what should stand there."""

    key: str
    place: str
    claim: str
    verdict: str
    evidence: str
    corrected: str = ""
    counterexample: dict[str, Any] | None = None

    def __str__(self) -> str:
        """Return a paragraph."""
        head = f"{self.verdict.upper():<10}{self.key} ({self.place})"
        parts = [("claim", self.claim), ("evidence", self.evidence), ("instead", self.corrected)]
        body = [
            textwrap.fill(text, 110, initial_indent=f"          {name + ':':<10}", subsequent_indent=" " * 20)
            for name, text in parts
            if text
        ]
        return "\n".join([head, *body])


@dataclass(frozen=True)
class PaperAudit:
    """All claims, in the paper's order."""

    claims: tuple[Claim, ...]

    def __iter__(self) -> Iterator[Claim]:
        """Iterate over the claims."""
        return iter(self.claims)

    def __len__(self) -> int:
        """Return the number of claims."""
        return len(self.claims)

    def __getitem__(self, key: str) -> Claim:
        """Return one claim by its key."""
        for claim in self.claims:
            if claim.key == key:
                return claim
        raise KeyError(f"{key!r}; the claims are {', '.join(claim.key for claim in self.claims)}")

    def __str__(self) -> str:
        """Return a readable account."""
        counts = ", ".join(f"{sum(c.verdict == v for c in self.claims)} {v}" for v in VERDICTS)
        return "\n\n".join([f"{len(self.claims)} claims of the paper: {counts}", *(str(c) for c in self.claims)])

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per claim (extra `study`)."""
        return frame([asdict(claim) for claim in self.claims])

    def to_json(self) -> str:
        """Return everything as JSON text."""
        return json.dumps([asdict(claim) for claim in self.claims], indent=1)

    @classmethod
    def from_json(cls, text: str) -> PaperAudit:
        """Return the account that `to_json` wrote."""
        try:
            entries = json.loads(text)
            if not isinstance(entries, list):
                raise TypeError("a list of claims is needed")
            return cls(tuple(Claim(**rename_certificate(entry)) for entry in entries))
        except (ValueError, TypeError) as error:
            raise InvalidInput(f"this is not the JSON of audit_paper() ({error}); pass what to_json() gave") from error
