"""The generated parts of docs/choosing.md: verdicts, criteria and counterexamples, as Markdown from stored audits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import sparsegauge as sg
from sparsegauge.criteria.auditor import Audit, Verdict, written

SYMBOLS = {"holds": "✓", "violated": "✗", "not applicable": "–", "undecided": "?"}
LONGEST = {"whole": 16, "fraction": 9}  # characters; what is longer is written as decimals
DIGITS = 12  # of a value, unless the two values differ later


def parts(audits: Sequence[Audit]) -> dict[str, str]:
    """Everything between markers, by the markers' names."""
    first = {audit.metric: audit for audit in reversed(audits)}
    defaults = [first[name] for name in sg.METRICS]
    others = [audit for audit in audits if audit not in defaults]
    return {
        "criteria": criteria(),
        "table": table(defaults),
        "other parameters": table(sorted(others, key=lambda audit: list(sg.METRICS).index(audit.metric))),
        "counterexamples": counterexamples([*defaults, *others]),
    }


def fill(text: str, generated: Mapping[str, str]) -> str:
    """The page with every part between `<!-- name -->` and `<!-- /name -->` written anew."""
    for name, part in generated.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        text, found = pattern.subn(lambda match, part=part: match[1] + part + match[2], text)
        if found != 1:
            raise SystemExit(f"the page has {found} places for {name!r}, it needs one")
    return text


def label(audit: Audit) -> str:
    """`gds`, order = 4."""
    given = "".join(f", {key} = {value:g}" for key, value in audit.parameters.items())
    return f"`{audit.metric}`{given}"


def symbol(verdict: Verdict) -> str:
    """A tick in brackets where nothing was found but nothing is proved either."""
    unproved = verdict.status == "holds" and not verdict.reason.startswith("proved")
    return f"({SYMBOLS[verdict.status]})" if unproved else SYMBOLS[verdict.status]


def table(audits: Iterable[Audit]) -> str:
    lines = ["| metric | " + " | ".join(key.replace("_", " ") for key in sg.CRITERIA) + " |"]
    lines.append("|---|" + ":-:|" * len(sg.CRITERIA))
    lines += [f"| {label(a)} | " + " | ".join(symbol(a[key]) for key in sg.CRITERIA) + " |" for a in audits]
    return "\n".join(lines)


def criteria() -> str:
    lines = ["| | name | what it asks | of |", "|---|---|---|---|"]
    for key, c in sg.CRITERIA.items():
        statement = c.statement.replace("||", "\\|\\|")
        of = c.applies.split(";")[0].replace("||", "\\|\\|")
        lines.append(f"| {key.replace('_', ' ')} | {c.name} | {statement} | {of} |")
    return "\n".join(lines)


def counterexamples(audits: Iterable[Audit]) -> str:
    """One folded list a metric."""
    return "\n\n".join(_folded(audit) for audit in audits if audit.violated)


def _folded(audit: Audit) -> str:
    keys = ", ".join(key.replace("_", " ") for key in audit.violated)
    title = re.sub(r"`(\w+)`", r"<code>\1</code>", label(audit))
    lines = [f"<details><summary>{title}: {keys}</summary>", ""]
    lines += ["| | before | after | S(before) | S(after) | difference |", "|---|---|---|--:|--:|--:|"]
    lines += [_row(key, audit[key].counterexample or {}) for key in audit.violated]
    return "\n".join([*lines, "", "</details>"])


def _row(key: str, counterexample: dict[str, str]) -> str:
    before, after = (written(counterexample[side]).replace(" x ", " × ") for side in ("before", "after"))
    values = [readable(counterexample[f"value_{side}"], counterexample["margin"]) for side in ("before", "after")]
    margin = counterexample["margin"]
    difference = f"{float(margin):g}" if abs(Decimal(margin).adjusted()) < 300 else margin
    return f"| {key.replace('_', ' ')} | {before} | {after} | {values[0]} | {values[1]} | {difference} |"


def readable(value: str, margin: str) -> str:
    """Short whole numbers and fractions as they are; else decimals, three places beyond the margin's first digit."""
    if "." not in value and len(value) <= LONGEST["fraction" if "/" in value else "whole"]:
        return value
    fraction = Fraction(value)
    with localcontext(prec=60):
        number = Decimal(fraction.numerator) / Decimal(fraction.denominator)
        places = Decimal(margin).adjusted() - 3
        if Decimal(margin) == 0 or places < number.adjusted() - DIGITS:
            places = number.adjusted() - DIGITS + 1
        rounded = round(number.scaleb(-places)) * Decimal(10) ** places
        return _plain(rounded)


def _plain(number: Decimal) -> str:
    number = number.normalize()
    return f"{number:f}" if -7 < number.adjusted() < 16 else f"{number:e}"
