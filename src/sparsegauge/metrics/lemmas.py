"""The lemmas that metrics cite as proofs of the laws they obey, and sets of laws that several metrics share.

Each lemma is stated here in one sentence and proved in docs/paper.md. A metric's `proofs` map the key of a law (P1 to
P11, see `sparsegauge.CRITERIA`) to the name of a lemma, or to a sentence of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

Laws: TypeAlias = Mapping[str, str]

LEMMAS: Laws = MappingProxyType(
    {
        "continuous": "a composition of continuous functions; the denominator is not zero away from the zero vector",
        "symmetric": "a sum over all coefficients, or a function of the sorted ones: their order does not enter",
        "homogeneous": "numerator and denominator are homogeneous of the same degree",
        "schur": "strictly Schur-convex where the sum is fixed, which a transfer from rich to poor decreases",
        "energy": "the sum of a strictly convex function of the shares of energy, which a transfer of energy decreases",
        "concave": "the sum of a strictly concave function, which a transfer from rich to poor increases",
        "convex": "the sum of a strictly convex function, which a transfer from rich to poor decreases",
        "ceilings": "k copies make a window of ceil(k theta N) cover ceil(ceil(k theta N) / k) = ceil(theta N) values",
        "ratios": "a tide shrinks all ratios c_j/c_i, so that c^k is strictly majorised in shares by what it was, and "
        "S is a scale-invariant, Schur-convex function of c^k",
        "decreasing": "strictly decreasing in every coefficient",
        "tide": "the numerator does not see a common shift and the denominator grows",
        "means": "a function of means over the coefficients alone, which copies do not change",
        "top": "growth of the largest coefficient widens all ratios, so that c^k strictly majorises in shares what it "
        "was",
        "gates": "as the largest t grows, d S_p / d t has the sign of t^(2p-2) sum c_i > 0 from some t on",
        "grows": "strictly increasing in the largest coefficient",
        "zero padding": "N S(c || 0) is a known function of S(c) and N that grows with N while S < 1",
        "length": "for fixed coefficients a strictly increasing function of N when there are two non-zeros",
        "counts": "one more zero is counted",
        "spike": "S(0_{N-1} || 1) has a closed form whose successive ratio tends to 1",
        "least": "1_N is majorised by every signal in shares, and S is a scale-invariant, Schur-convex function of c^k",
        "most": "0_{N-1} || 1 majorises every signal in shares, and S is a scale-invariant, Schur-convex function of "
        "c^k",
        "range": "0 <= S_p <= 1 - 1/N, from (c_j - c_i)^p <= c_j^p - c_i^p",
        "zeros": "zeros are counted: none in 1_N, and at most N - 1 in a signal that is not zero",
        "all": "at most N coefficients are counted, and all those of 0_{N-1} || 1 are",
        "to the largest": "1/S^2 = sum (c_i / max c)^2; every ratio below 1 grows with a tide and falls as the top "
        "grows",
        "shift": "a tide leaves sum |c - mean| as it is and raises the sum",
        "share": "once only the top t is above the mean, S = t / sum c - 1/N, which grows with t",
        "unit": "0 <= u_theta <= 1, with 0 at equal magnitudes, and 1 where all but one are equal and m < N",
    }
)

NOTHING: Laws = MappingProxyType({})
INVARIANT: Laws = {"P1": "continuous", "P2": "symmetric", "P4": "homogeneous", "P9": "spike"}
# scale-invariant and strictly Schur-convex as a function of c^k
MAJORISED: Laws = {**INVARIANT, "P5": "ratios", "P7": "top", "P10": "least", "P11": "most"}
SCHUR: Laws = {**MAJORISED, "P3": "schur"}
DECREASING: Laws = {"P1": "continuous", "P2": "symmetric", "P5": "decreasing", "P9": "spike"}
COUNTED_ZEROS: Laws = {
    "P2": "symmetric", "P4": "homogeneous", "P8": "counts", "P9": "spike", "P10": "zeros", "P11": "zeros",
}  # fmt: skip
MEANS: Laws = {"P6": "means"}
LENGTH: Laws = {"P8": "length"}
PADDING: Laws = {"P8": "zero padding"}
ROBIN_HOOD: Laws = {"P3": "schur"}
ENERGY: Laws = {"P3_energy": "energy"}
