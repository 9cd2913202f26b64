"""Rows of `audit_paper` about the paper's theorems, criteria, formulas and numbers, with evidence."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from . import evidence
from .auditor import Audit, written
from .claims import Claim, require_evidence
from .counterexample import verify
from .definitions import CRITERIA
from .related_work import claims_about_related_work
from .shipped_audits import stored_audit, stored_audits
from .slips import claims_about_counts, claims_about_normalised_data, claims_about_proofs


def claims_about_theory() -> list[Claim]:
    """Return every claim of the paper but those about its experiment, in the paper's order."""
    return [
        *claims_about_related_work(),
        *_theorems(), *_criteria(), *_about_orders(), *_formulas(), *_operations(), *claims_about_counts(), *_numbers(),
        *claims_about_normalised_data(), *_misprints(), *claims_about_proofs(),
    ]  # fmt: skip


def _theorems() -> list[Claim]:
    values = [evidence.exact_gds(c, p) for c in evidence.SIGNALS for p in range(1, 8)]
    require_evidence(all(0 <= v < 1 for v in values), "range")
    return [
        Claim(
            "range",
            "section IV, theorem 1",
            "0 <= S_p(c) <= 1 - 1/N for every p >= 1",
            "true",
            "The proof is correct: (c_j - c_i)^p <= c_j^p - c_i^p. Equality on equal magnitudes and on 0_{N-1}||1. "
            "S_p is not defined for the zero vector.",
        ),
    ]


NOTES = {
    "P1": (
        "true",
        "Away from the zero vector, where S_p is not defined and has no limit: S([t, t]) = 0, S([0, t]) = 1/2.",
        "Continuous at every vector but zero.",
    ),
    "P2": ("true", "The definition sorts.", ""),
    "P4": ("true", "Numerator and denominator are homogeneous of degree p.", ""),
    "P5": ("true", "The numerator does not see a common shift, the denominator grows. The proof is correct.", ""),
    "P6": ("true", "Counts enter numerator and denominator in the same power. The proof is correct.", ""),
    "P7": (
        "true",
        "The paper derives it from its false P3. Directly: as the largest entry t grows, dS_p/dt has the sign "
        "of t^(2p-2) sum c_i > 0 from some t on. An equality on [0, ..., 0, t], as for every scale-invariant "
        "metric.",
        "Holds for signals with two non-zeros or more, by a proof that does not use Robin Hood.",
    ),
    "P8": (
        "true",
        "The paper derives it from its false P3. Directly: S_p(c || 0) = (N S_p(c) + 1)/(N + 1), which is above "
        "S_p(c) because S_p(c) < 1.",
        "Holds, by a proof that does not use Robin Hood.",
    ),
    "P9": ("true", "S_p(0_N || 1) = N/(N+1).", ""),
    "P10": ("true", "S_p >= 0 = S_p(1_N).", ""),
    "P11": ("true", "S_p <= 1 - 1/N = S_p(0_{N-1} || 1).", ""),
}


def _criteria() -> list[Claim]:
    claims = [_kept(key) for key in NOTES]
    claims.insert(2, _robin_hood())
    claims.insert(7, _literal_bill_gates())
    return claims


def _kept(key: str) -> Claim:
    """Return the claim that GDS obeys a criterion, which the stored audits confirm."""
    verdict, why, corrected = NOTES[key]
    require_evidence(all(a[key].status == "holds" for a in _finite_orders()), key)
    statement = f"GDS satisfies {key}, {CRITERIA[key].name}: {CRITERIA[key].statement}"
    return Claim(key, "section IV", statement, verdict, why, corrected)


def _finite_orders() -> list[Audit]:
    return [a for a in stored_audits() if a.metric == "gds" and a.parameters["order"] < math.inf]


def _robin_hood() -> Claim:
    broken = {
        float(a.parameters["order"]): a["P3"].counterexample for a in _finite_orders() if a["P3"].status == "violated"
    }
    require_evidence(all(verify(counterexample) for counterexample in broken.values()), "P3")
    counterexample = broken[3.0]
    assert counterexample is not None
    witness = f"{written(counterexample['before'])} -> {written(counterexample['after'])}"
    return Claim(
        "P3",
        "appendix, theorem 10",
        "GDS satisfies P3, Robin Hood, for every p >= 1",
        "false",
        f"Counterexamples at the orders {', '.join(f'{p:g}' for p in sorted(broken))}, each verified exactly; "
        f"order 3: {witness} "
        f"raises S_3 from {counterexample['value_before']} to {counterexample['value_after']}. The proof "
        f"differentiates the "
        "numerator only and forgets that the denominator falls too.",
        "Robin Hood holds for p = 1 and p = 2 and for no other finite order.",
        counterexample,
    )


def _literal_bill_gates() -> Claim:
    counterexample = stored_audit("gds", order=2)["P7_literal"].counterexample
    require_evidence(verify(counterexample), "P7_literal")
    assert counterexample is not None
    return Claim(
        "P7_literal",
        "section III",
        CRITERIA["P7_literal"].statement,
        "false",
        f"It contradicts P10 already: {written(counterexample['before'])} -> {written(counterexample['after'])} takes "
        f"S from "
        f"{counterexample['value_before']} to {counterexample['value_after']}. Section IV states it with a beta_i, as "
        f"Hurley and "
        "Rickard do.",
        "Only from some beta_i on: P7.",
        counterexample,
    )


def _about_orders() -> list[Claim]:
    c = [1, 1, 1, 1, 10]
    values = [evidence.exact_gds(c, p) for p in (1, 2, 3)]
    require_evidence(values[1] > values[2] > values[0], "increasing")
    pairs = []
    for p, q in ((2, 1), (3, 2), (4, 1), (10, 9), (20, 19)):
        signal, high, low = evidence.rising_pair(p, q)
        require_evidence(high > low, "increasing")
        pairs.append(f"S_{p} > S_{q} on {written(signal)}")
    halves = {evidence.exact_gds([0, 1], p) for p in (1, 2, 5, 50, 500)}
    require_evidence(halves == {Fraction(1, 2)}, "limit")
    require_evidence(all(evidence.gini_as_printed(x) == evidence.exact_gds(x, 1) for x in evidence.SIGNALS), "gini")
    orders: dict[str, Any] = {"signal": [["1", 4], ["10", 1]], "orders": [1, 2, 3], "values": list(map(str, values))}
    limit: dict[str, Any] = {"signal": [["0", 1], ["1", 1]], "orders": [1, 2, 5, 50, 500], "values": ["1/2"] * 5}
    return [
        Claim(
            "increasing",
            "section IV, theorem 7",
            "p > q implies S_p(c) < S_q(c)",
            "false",
            f"[1 x 4, 10]: S_1 = {values[0]}, S_2 = {values[1]}, S_3 = {values[2]}. For every pair p > q some "
            f"signal has "
            f"S_p > S_q: n copies of d beside a 1 with n d^q large and n d^p small; {'; '.join(pairs)}. The "
            f"proof assumes "
            "c_i > 1 for the denominators while it divides by c_N^p and c_N^q, which undoes that scaling.",
            "The numerator over c_N^p decreases with p; S_p itself may rise and fall.",
            orders,
        ),
        Claim(
            "limit",
            "section IV, theorem 8",
            "S_p(c) -> 0 as p -> infinity for every c",
            "false",
            "S_p([0, 1]) = 1/2 at every order. The proof takes c_j - c_i < c_N, which fails where c_i = 0.",
            "S_p(c) -> z/N as p -> infinity, with z the number of exact zeros: 0 only for signals without zeros.",
            limit,
        ),
        Claim(
            "gini",
            "section V, theorem 9",
            "GDS of order 1 is the Gini index",
            "true",
            f"Both formulas give the same fraction on {len(evidence.SIGNALS)} signals, and the proof is correct.",
        ),
    ]


def _formulas() -> list[Claim]:
    require_evidence(
        evidence.agree(evidence.even_formula, lambda c, k: evidence.exact_gds(c, 2 * k), range(1, 7)), "even"
    )
    require_evidence(
        evidence.agree(evidence.odd_formula, lambda c, k: evidence.exact_gds(c, 2 * k + 1), range(6)), "odd"
    )
    errors = {p: evidence.formula_error("U(0,1)", p) for p in (20, 30, 50)}
    near = {p: evidence.formula_error("1 + 0.001 u", p) for p in (4, 5)}
    usual = max(evidence.formula_error("U(0,1)", p) for p in range(1, 11))
    require_evidence(errors[50] > 1e-3 and near[5] > 1e-2 and usual < 1e-12, "practical")
    return [
        Claim(
            "even formula",
            "section VI",
            "the even formula gives S_2k",
            "true",
            f"The same fractions as the definition for 2k = 2..12 on {len(evidence.SIGNALS)} signals.",
        ),
        Claim(
            "odd formula",
            "section VI",
            "the odd formula gives S_{2k+1}",
            "true",
            f"The same fractions as the definition for 2k + 1 = 1..11 on {len(evidence.SIGNALS)} signals.",
        ),
        Claim(
            "practical",
            "section VI",
            "the formulas are computationally efficient replacements of the definition",
            "true",
            f"At orders 1 to 10 on 100 coefficients from U(0,1) their relative error is at most {usual:.0e}, with "
            "hundreds to thousands of times fewer operations for long signals. In float64 they cancel at high orders "
            "and on nearly constant data. Relative errors: U(0,1) data "
            + ", ".join(f"{e:.0e} at p = {p}" for p, e in errors.items())
            + "; data 1 + 0.001 u "
            + ", ".join(f"{e:.0e} at p = {p}" for p, e in near.items())
            + ".",
            "Up to about order 10, on data that are not nearly constant. Elsewhere an all-positive recurrence (integer "
            "orders), central moments that bound their own error (even orders) and a tree of polynomials (real orders) "
            "keep thirteen digits: docs/algorithms.md.",
        ),
    ]


def _operations() -> list[Claim]:
    counted = [(n, p) for n in (2, 5, 9) for p in (2, 3, 7)]
    require_evidence(
        all(evidence.counted_definition(n, p) == ((p - 1) * n * (n + 1) // 2, n * n - 2) for n, p in counted), "counts"
    )
    require_evidence(all(evidence.crossover(p) == p for p in range(4, 101, 2)), "crossover")
    require_evidence(all(2 <= evidence.crossover(p) / p <= 3 for p in range(3, 101, 2)), "crossover")
    at_a_quarter = evidence.printed_counts(25, 100)
    return [
        Claim(
            "operation counts",
            "section VI",
            "the definition takes (p-1) N (N+1)/2 multiplications and N^2 - 2 additions",
            "true",
            f"Counted, power by power, for {len(counted)} pairs (N, p). The formulas' counts O(k^2 N) raise every "
            "power from scratch; running products need only O(k N).",
        ),
        Claim(
            "crossover",
            "section VI",
            "the formulas need fewer operations when approximately N > p/4",
            "false",
            f"By the paper's own counts. At p = 100, N = 25 = p/4: {at_a_quarter.formula:,} operations against "
            f"{at_a_quarter.definition:,} of the definition. The counts cross at N = p for every even p from 4 "
            f"to 100, and "
            "between N = 2 p and 3 p for odd p from 3 to 99.",
            "The formulas need fewer operations from N = p on (even orders), from about N = 2 p on (odd orders).",
        ),
    ]


def _numbers() -> list[Claim]:
    ratios = {(n, p): _ratio(n, p) for n, p in ((10000, 2), (10000, 100), (10000, 1), (10000, 99), (10, 100), (10, 99))}
    printed = {
        (10000, 2): 5000,
        (10000, 100): 100,
        (10000, 1): 1700,
        (10000, 99): 50,
        (10, 100): 1 / 10,
        (10, 99): 1 / 20,
    }
    require_evidence(all(abs(ratios[key] / value - 1) < 0.1 for key, value in printed.items()), "examples")
    found = evidence.prototypes()
    require_evidence(all(abs(p.mean - p.printed) < 0.01 for p in found), "prototypes")
    table = "; ".join(
        f"{p.name} {p.printed:.2f} (N = 100: {p.mean:.4f} +- {p.error:.4f}, limit {p.limit:.4f})" for p in found
    )
    return [
        Claim(
            "count examples",
            "section VI",
            "10,000 coefficients: 5000 and 100 times fewer calculations (p = 2, 100), 1700 and 50 (p = 1, 99); "
            "N = 10: "
            "10 and 20 times more (p = 100, 99)",
            "true",
            "By the printed counts: " + ", ".join(f"{r:.4g}" for r in ratios.values()) + ".",
        ),
        Claim(
            "prototypes",
            "section VIII",
            "S_1 of the prototypes at K = 40 %: 0.60, 0.73, 0.76, 0.79",
            "true",
            f"Printed, mean of 4,000 draws with its standard error, and 0.6 + 0.4 G for many coefficients: "
            f"{table}. They fix "
            "the four distributions up to sign and scale: ones, U(0,1), N(0,1), Exp(1).",
        ),
    ]


def _ratio(n: int, p: int) -> float:
    counts = evidence.printed_counts(n, p)
    return counts.definition / counts.formula


def _misprints() -> list[Claim]:
    rows: list[tuple[str, str, str, str, str]] = [
        (
            "scaling proof",
            "section IV",
            "the denominator is (sum a c_i)^p",
            "By Definition 1 it is not.",
            "sum (a c_i)^p",
        ),
        (
            "deviation",
            "section VII",
            "sigma_i^2 is the standard deviation",
            "It is the variance; the data are divided by sigma_i.",
            "sigma_i^2 is the variance, with n - 1",
        ),
        (
            "robin hood proof",
            "appendix",
            "S_p([..., c_i - a, ..., c_j + a, ...]) is differentiated",
            "The theorem moves the other way.",
            "c_i + a and c_j - a",
        ),
    ]
    return [Claim(key, place, claim, "misprint", why, instead) for key, place, claim, why, instead in rows]
