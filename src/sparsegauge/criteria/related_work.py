"""Rows of `audit_paper` about the metrics that the paper's related work (section II) names."""

from __future__ import annotations

from typing import Any

from ..metrics.catalogue import METRICS
from .auditor import written
from .claims import Claim, require_evidence
from .counterexample import verify
from .definitions import CRITERIA
from .proofs import proof
from .shipped_audits import stored_audit

LAWS = tuple(key for key, criterion in CRITERIA.items() if criterion.variant_of is None)


def claims_about_related_work() -> list[Claim]:
    """Return what section II says of other metrics."""
    return [_higher_norms(), _pastor(), _only_gini()]


def _higher_norms() -> Claim:
    counterexample = stored_audit("neg_lp", p=2)["P3"].counterexample
    require_evidence(verify(counterexample), "higher norms")
    assert counterexample is not None
    before, after = (written(counterexample[key]) for key in ("before", "after"))
    return Claim(
        "higher norms",
        "section II",
        "norms l_p of higher order measure the sparsity of a signal",
        "false",
        f"Minus the norm of order 2 breaks Robin Hood: {before} -> {after} takes it from "
        f"{counterexample['value_before']} to {counterexample['value_after']}, and every order above 1 does the same, "
        "because sum c^p is strictly convex. The norm itself, without the minus, obeys Robin Hood, but it grows with "
        "the scale (P4), with a rising tide (P5) and with copies (P6).",
        "Minus the norm measures sparsity for 0 < p < 1; a norm of higher order does so beside another norm, as in "
        "l_2 / l_1 or Hoyer's metric.",
        counterexample,
    )


def _pastor() -> Claim:
    require_evidence(all(proof("pastor", {}, key) for key in LAWS), "pastor")
    return Claim(
        "pastor",
        "section II",
        "the sparsity and the entropy of Pastor and others, which compare a signal with the least sparse one by the "
        "inner product, satisfy the criteria",
        "true",
        "P1 to P11 are proved for 1 - |c|_1 / (sqrt N |c|_2), `pastor` in the catalogue. The entropy is the cosine "
        "itself (`pastor_entropy`) and orders signals the other way. Both are reconstructed from this description, "
        "because the source could not be read.",
    )


def _only_gini() -> Claim:
    others = [
        name
        for name, metric in METRICS.items()
        if name not in ("gds", "gini") and all(proof(name, _defaults(metric), key) for key in LAWS)
    ]
    require_evidence("pq_mean" in others, "only gini")
    return Claim(
        "only gini",
        "section II",
        "among the metrics of the literature only the Gini index satisfies all criteria",
        "false",
        f"P1..P11 are proved for {', '.join(others)} too.",
        "Several metrics do. No shorter list of properties stands for the eleven: exp(mean c^2 / (mean c)^2) is "
        "scale-invariant, clone-invariant and strictly Schur-convex, and breaks P9, since it is e^N on 0_{N-1}||1, "
        "whose successive ratio is e.",
    )


def _defaults(metric: Any) -> dict[str, Any]:
    return {name: parameter.default for name, parameter in metric.parameters.items()}
