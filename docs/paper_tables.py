"""The generated parts of docs/paper.md."""

from __future__ import annotations

from formula_text import set_formulas

import sparsegauge as sg
from sparsegauge.criteria.auditor import written


def parts() -> dict[str, str]:
    return {"claims": claims(), "witnesses": witnesses()}


def claims() -> str:
    lines = ["| claim | where | verdict | instead |", "|---|---|---|---|"]
    for claim in sg.audit_paper():
        verdict = claim.verdict if claim.verdict == "true" else f"**{claim.verdict}**"
        lines.append(f"| {written_out(claim.claim)} | {claim.place} | {verdict} | {written_out(claim.corrected)} |")
    details = ["", "<details><summary>The evidence, claim by claim</summary>", ""]
    details += [f"- **{c.key}** ({c.verdict}): {written_out(c.evidence)}" for c in sg.audit_paper()]
    return "\n".join([*lines, *details, "", "</details>"])


def witnesses() -> str:
    lines = ["| order | before | after | S before | S after |", "|--:|---|---|---|---|"]
    audits = [a for a in sg.stored_audits() if a.metric == "gds" and a["P3"].counterexample]
    for audit in sorted(audits, key=lambda a: float(a.parameters["order"])):
        found = audit["P3"].counterexample
        assert found is not None
        before, after = written(found["before"]), written(found["after"])
        lines.append(
            f"| {audit.parameters['order']:g} | {before} | {after} | {found['value_before']} | {found['value_after']} |"
        )
    return "\n".join(lines)


def written_out(text: str) -> str:
    """Return Markdown in which formulas are formulas, and nothing else is markup."""
    pieces = set_formulas(text).split("$")  # formulas are every second one
    return "$".join(piece if k % 2 else escaped(piece) for k, piece in enumerate(pieces))


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
