"""Rows of `audit_paper` about the paper's proofs, its tables of indices and counts, and its section VII."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..normalise import CoefficientNormaliser
from . import evidence
from .claims import Claim, require_evidence


def claims_about_proofs() -> list[Claim]:
    """Return the slips in the proofs: none of them changes what is proved, but Robin Hood's."""
    return [_even_proof(), _odd_proof(), _robin_hood_sign(), _robin_hood_pair(), _wrong_citation(), _table_one()]


def _even_proof() -> Claim:
    orders = range(1, 21)
    printed = [_alternating(k) - Fraction((-1) ** k, 2) * math.comb(2 * k, k) for k in orders]
    right = [_alternating(k) + Fraction((-1) ** k, 2) * math.comb(2 * k, k) for k in orders]
    require_evidence(all(printed) and not any(right), "even proof")
    return Claim(
        "even proof",
        "appendix, the even formula",
        "1 + sum_{w=1}^{k-1} (-1)^w C(2k, w) - (-1)^k/2 C(2k, k) = 0",
        "misprint",
        f"It is -(-1)^k C(2k, k), which is never 0: computed for k = 1..{orders[-1]}. The formula itself is right.",
        "1 + sum_{w=1}^{k-1} (-1)^w C(2k, w) + (-1)^k/2 C(2k, k) = 0",
    )


def _alternating(k: int) -> Fraction:
    return Fraction(sum((-1) ** w * math.comb(2 * k, w) for w in range(k)))


def _odd_proof() -> Claim:
    c = evidence.SIGNALS[3]
    values = {start: _odd_proof_line(c, 1, start) for start in (0, 1)}
    truth = sum((Fraction(b) - a) ** 3 for j, b in enumerate(sorted(c)) for a in sorted(c)[:j])
    require_evidence(values[1] == truth != values[0], "odd proof")
    return Claim(
        "odd proof",
        "appendix, the odd formula",
        "the sum over w that follows 2 sum c_i^(2k+1) f_0(i) - ... starts at w = 0",
        "misprint",
        f"The term w = 0 has been taken out already. For 2k + 1 = 3 and {c} the line gives {values[0]} instead of "
        f"{truth}; with the sum from w = 1 it gives {values[1]}. The formula itself is right.",
        "The sum starts at w = 1.",
    )


def _odd_proof_line(c: list[int], k: int, start: int) -> int:
    """Return 2 sum c_i^p f_0(i) - sum f_p(i) - sum i c_i^p + sum_{w=start}^k ..., the last line but two."""
    c, p = sorted(c), 2 * k + 1
    prefix = {w: np.cumsum([v**w for v in c]).tolist() for w in range(p + 1)}
    line = sum(2 * v**p * prefix[0][i] - prefix[p][i] - (i + 1) * v**p for i, v in enumerate(c))
    for w in range(start, k + 1):
        terms = (v ** (p - w) * prefix[w][i] - v**w * prefix[p - w][i] for i, v in enumerate(c))
        line += (-1) ** w * math.comb(p, w) * sum(terms)
    return int(line)


def _robin_hood_sign() -> Claim:
    middle = -3 * ((Fraction(4) - 2) ** 2 + (Fraction(7) - 4) ** 2)  # p = 3, c_i + a = 2, c_k = 4, c_j - a = 7
    require_evidence(middle < 0, "robin hood sign")
    return Claim(
        "robin hood sign",
        "appendix, theorem 10",
        "-p sum_{k=i+m+1}^{j-n-1} {[c_k - (c_i + a)]^(p-1) + [(c_j - a) - c_k]^(p-1)} > 0",
        "misprint",
        f"Minus a sum of positive terms is negative ({middle} for p = 3, c_i + a = 2, c_k = 4, c_j - a = 7), as the "
        "next sentence of the proof needs it to be.",
        "< 0",
    )


def _robin_hood_pair() -> Claim:
    c, i, j, p = [1, 2, 4, 9], 0, 3, 3
    a = Fraction(1, 2)
    moved = [Fraction(v) + (a if k == i else -a if k == j else 0) for k, v in enumerate(c)]
    terms = [abs(moved[k] - moved[m]) ** p for k in range(4) for m in range(k) if {k, m} & {i, j}]
    pair = (moved[j] - moved[i]) ** p
    once = sum(terms, start=Fraction(0))
    by_rows = sum((abs(moved[k] - moved[m]) ** p for k in (i, j) for m in range(4) if m != k), start=Fraction(0))
    require_evidence(by_rows == once + pair, "robin hood pair")
    return Claim(
        "robin hood pair",
        "appendix, theorem 10",
        "F(a) contains 2 [(c_j - a) - (c_i + a)]^p, and its derivative -4 p [c_j - c_i - 2 a]^(p-1)",
        "misprint",
        f"The pair (i, j) is one of the N (N-1)/2 pairs of the numerator and occurs once. For {c}, p = 3 and a = 1/2 "
        f"the terms with a add up to {once}, and F as printed to {by_rows}. The sign does not change.",
        "[(c_j - a) - (c_i + a)]^p, with the derivative -2 p [c_j - c_i - 2 a]^(p-1).",
    )


def _wrong_citation() -> Claim:
    return Claim(
        "citation of scaling",
        "section IV, theorem 5",
        "Bill Gates and Babies follow from theorems 3, 4 and 10 with theorems 2.1 and 2.2 of Hurley and Rickard",
        "misprint",
        "Theorem 3 is Rising Tide. Theorems 2.1 and 2.2 of Hurley and Rickard need Robin Hood, Scaling and Cloning.",
        "Theorems 2 (Scaling), 4 and 10; and since theorem 10 is false, a proof that does not use it (see P7 and P8).",
    )


def _table_one() -> Claim:
    trials = 2000
    rng = np.random.default_rng(1)
    require_evidence(all(_table_holds(rng) for _ in range(trials)), "table I")
    return Claim(
        "table I",
        "appendix, table I",
        "the indices of the sorted coefficients before and after a Robin Hood transfer",
        "true",
        f"Compared with sorting anew on {trials:,} random transfers of 3 to 12 whole numbers, ties included.",
    )


def _table_holds(rng: np.random.Generator) -> bool:
    c = np.sort(rng.integers(0, 30, int(rng.integers(3, 13)))).tolist()
    i, j = sorted(rng.choice(len(c), 2, replace=False).tolist())
    if c[j] - c[i] < 3:
        return True
    a = int(rng.integers(1, (c[j] - c[i] + 1) // 2))
    m = sum(v < c[i] + a for v in c[i + 1 :])
    n = sum(v > c[j] - a for v in c[:j])
    d = [*c[:i], *c[i + 1 : i + m + 1], c[i] + a, *c[i + m + 1 : j - n], c[j] - a, *c[j - n : j], *c[j + 1 :]]
    moved = [v + (a if k == i else -a if k == j else 0) for k, v in enumerate(c)]
    return d == sorted(moved)


def claims_about_counts() -> list[Claim]:
    """Return what the two fast formulas really cost, counted operation by operation."""
    pairs = [(n, k) for n in (5, 9, 20) for k in (1, 2, 5)]
    even = {key: evidence.counted_even(*key) for key in pairs}
    odd = {key: evidence.counted_odd(*key) for key in pairs}
    require_evidence(all(0 <= (2 * k * n - k + 2) - even[n, k][1] <= 2 for n, k in pairs), "even counts")
    require_evidence(all(odd[n, k][1] == (4 * k + 4) * n - 2 * k - 3 for n, k in pairs), "odd counts")
    n, k = 20, 5
    return [
        Claim(
            "even counts",
            "section VI",
            "the even formula takes k^2 (2N+1) - kN - k multiplications and 2kN - k + 2 additions",
            "true",
            f"Counted for {len(pairs)} pairs (N, k) with every power from scratch. Additions: 2kN - k, two fewer than "
            f"printed. Multiplications at N = {n}, k = {k}: {even[n, k][0]:,}, printed "
            f"{k * k * (2 * n + 1) - k * n - k:,}; both have the leading term 2 k^2 N.",
        ),
        Claim(
            "odd counts",
            "section VI",
            "the odd formula takes (2k+5)N - k - 4 additions",
            "false",
            f"Counted for {len(pairs)} pairs (N, k): 2k + 2 running sums and k + 1 sums of differences take "
            f"(4k+4)N - 2k - 3 additions, and the norm in the denominator N - 1 more unless it is read off a running "
            f"sum. At N = {n}, k = {k}: {odd[n, k][1]:,}, printed {(2 * k + 5) * n - k - 4:,}.",
            "About (4k+5)N additions. The order O(k^2 N) of the total, which multiplications decide, does not change.",
        ),
    ]


def claims_about_normalised_data() -> list[Claim]:
    """Return what section VII says, with algebraic signs and with coefficients that do not vary."""
    algebraic = {str(c): evidence.signed_gds(c, 1) for c in ([-1, 2], [-2, 1])}
    require_evidence(list(algebraic.values()) == [Fraction(3, 2), Fraction(-3, 2)], "signs")
    before, after = _units()
    require_evidence(abs(before - after) > 0.01, "units")
    return [
        Claim(
            "signs",
            "section VII",
            "the sparsity of centralised data is S_p of the centralised coefficients",
            "true",
            "Centralised data have both signs. By section III magnitudes are meant, and with them 0 <= S_p < 1. Sorted "
            "by their algebraic values instead, they leave that range: "
            + ", ".join(f"S_1({c}) = {value}" for c, value in algebraic.items())
            + "; S_3([-1, 1]) divides by zero.",
            "Take magnitudes after centring.",
        ),
        Claim(
            "units",
            "section VII",
            "the normalisation permits the application of GDS to any type of data",
            "true",
            "With one exception. The standard deviation of a coefficient that is constant in the dataset is 0, and no "
            "number that the data offer can replace it. `CoefficientNormaliser` only centres such a coefficient; a new "
            f"signal that deviates there then depends on its unit: S_2 = {before:.3f} in metres and {after:.3f} in "
            "millimetres.",
            "To any data whose coefficients all vary in the dataset that the normaliser was fitted on.",
        ),
    ]


def _units() -> tuple[float, float]:
    """Return S_2 of a new signal in two units; its first coefficient was constant in the dataset."""
    from ..metrics.gds import gds

    rng = np.random.default_rng(0)
    data = np.column_stack([np.full(50, 2.0), rng.normal(size=(50, 4))])
    new = np.array([[2.5, 0.3, -1.0, 0.2, 0.7]])
    values: list[Any] = []
    for factor in (1.0, 1000.0):
        normaliser = CoefficientNormaliser().fit(factor * data)
        values.append(float(gds(normaliser.transform(factor * new), 2)[0]))
    return values[0], values[1]
