"""Why a criterion holds, or for which parameters: the proofs that a verdict cites.

Each lemma is stated in one sentence here and proved in docs/paper.md. `proof` says which lemma covers a metric of the
catalogue at given parameters; where none does, a verdict can only say how hard it was searched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LEMMAS = {
    "continuous": "a composition of continuous functions; the denominator is not zero away from the zero vector",
    "symmetric": "a sum over all coefficients, or a function of the sorted ones: their order does not enter",
    "homogeneous": "numerator and denominator are homogeneous of the same degree",
    "schur": "strictly Schur-convex where the sum is fixed, which a transfer from rich to poor decreases",
    "concave": "the sum of a strictly concave function, which a transfer from rich to poor increases",
    "convex": "the sum of a strictly convex function, which a transfer from rich to poor decreases",
    "ceilings": "k copies make a window of ceil(k theta N) cover ceil(ceil(k theta N) / k) = ceil(theta N) values",
    "ratios": "a tide shrinks all ratios c_j/c_i, so that c^k is strictly majorised in shares by what it was, and S is "
    "a scale-invariant, Schur-convex function of c^k",
    "decreasing": "strictly decreasing in every coefficient",
    "tide": "the numerator does not see a common shift and the denominator grows",
    "means": "a function of means over the coefficients alone, which copies do not change",
    "top": "growth of the largest coefficient widens all ratios, so that c^k strictly majorises in shares what it was",
    "gates": "as the largest t grows, d S_p / d t has the sign of t^(2p-2) sum c_i > 0 from some t on",
    "grows": "strictly increasing in the largest coefficient",
    "zero padding": "N S(c || 0) is a known function of S(c) and N that grows with N while S < 1",
    "length": "for fixed coefficients a strictly increasing function of N when there are two non-zeros",
    "counts": "one more zero is counted",
    "spike": "S(0_{N-1} || 1) has a closed form whose successive ratio tends to 1",
    "least": "1_N is majorised by every signal in shares, and S is a scale-invariant, Schur-convex function of c^k",
    "most": "0_{N-1} || 1 majorises every signal in shares, and S is a scale-invariant, Schur-convex function of c^k",
    "range": "0 <= S_p <= 1 - 1/N, from (c_j - c_i)^p <= c_j^p - c_i^p",
    "zeros": "zeros are counted: none in 1_N, and at most N - 1 in a signal that is not zero",
    "all": "at most N coefficients are counted, and all those of 0_{N-1} || 1 are",
    "to the largest": "1/S^2 = sum (c_i / max c)^2; every ratio below 1 grows with a tide and falls as the top grows",
    "shift": "a tide leaves sum |c - mean| as it is and raises the sum",
    "share": "once only the top t is above the mean, S = t / sum c - 1/N, which grows with t",
    "unit": "0 <= u_theta <= 1, with 0 at equal magnitudes, and 1 where all but one are equal and m < N",
}

_INVARIANT = {"P1": "continuous", "P2": "symmetric", "P4": "homogeneous", "P9": "spike"}
# scale-invariant and strictly Schur-convex as a function of c^k
_MAJORISED = _INVARIANT | {"P5": "ratios", "P7": "top", "P10": "least", "P11": "most"}
_SCHUR = _MAJORISED | {"P3": "schur"}
_DECREASING = {"P1": "continuous", "P2": "symmetric", "P5": "decreasing", "P9": "spike"}
_MEANS = {"P6": "means"}
_LENGTH = {"P8": "length"}

_PROOFS: dict[str, dict[str, str]] = {
    "l0": {"P2": "symmetric", "P4": "homogeneous", "P8": "counts", "P9": "spike", "P10": "zeros", "P11": "zeros"},
    "l0_eps": {"P2": "symmetric", "P8": "counts", "P9": "spike"},
    "neg_l1": _DECREASING,
    "neg_lp": _DECREASING | {"P3": "concave"},
    "l2_l1": _SCHUR,
    "neg_tanh": _DECREASING,
    "neg_log": _DECREASING,
    "kappa4": _MAJORISED,
    "u_theta": {"P2": "symmetric", "P4": "homogeneous", "P6": "ceilings", "P9": "spike", "P10": "unit", "P11": "unit"},
    "neg_lp_neg": {"P2": "symmetric", "P7": "grows", "P9": "spike"},
    "h_g": {"P1": "continuous", "P2": "symmetric", "P3": "concave", "P5": "decreasing"},
    "neg_h_s": {key: lemma for key, lemma in _MAJORISED.items() if key != "P9"},
    "h_s": {"P1": "continuous", "P2": "symmetric", "P4": "homogeneous"},
    "neg_h_s_prime": {"P1": "continuous", "P2": "symmetric", "P3": "convex", "P7": "grows"},
    "h_s_prime": {"P1": "continuous", "P2": "symmetric"},
    "hoyer": _SCHUR | _LENGTH,
    "pq_mean": _SCHUR | _MEANS | _LENGTH,
    "gini": _SCHUR | _MEANS | {"P8": "zero padding"},
    "kurtosis": _MAJORISED | _MEANS | _LENGTH,
    "pastor": _SCHUR | _MEANS | _LENGTH,
    "gi2": _SCHUR | _MEANS | {"P8": "zero padding"},
    "gi3": _SCHUR | _MEANS | {"P8": "zero padding"},
    "ggi": _SCHUR | _LENGTH,
    "fggi": _MAJORISED | _LENGTH,
    "pfgi1": _MAJORISED | _MEANS | {"P8": "zero padding"},
    "pfgi2": _MAJORISED | _MEANS | {"P8": "zero padding"},
    "pfgi3": _MAJORISED | _MEANS | {"P8": "zero padding"},
    "s_gini": _SCHUR | _MEANS | _LENGTH,
    "negentropy": _MAJORISED | _MEANS | _LENGTH,
    "box_cox": _MAJORISED | _MEANS | _LENGTH,
    "gm_am": _INVARIANT | _MEANS | {"P5": "ratios", "P10": "least", "P11": "most"},
    "d_norm": _MAJORISED | {"P5": "to the largest", "P7": "to the largest"},
    "pq_index": _MAJORISED | _MEANS | _LENGTH,
    "neg_numerical_sparsity": _SCHUR,
    "treves_rolls": _SCHUR | _LENGTH,
    "hoover": _MAJORISED | _MEANS | _LENGTH | {"P5": "shift", "P7": "share"},
    "atkinson": _INVARIANT | _MEANS | {"P5": "ratios", "P10": "least", "P11": "most"},
    "theil": _SCHUR | _MEANS | _LENGTH,
}


def _gds(order: float) -> dict[str, str]:
    if order == math.inf:
        return _PROOFS["l0"] | _MEANS | {"P8": "zero padding"}
    found = _INVARIANT | _MEANS | {"P5": "tide", "P7": "gates", "P8": "zero padding", "P10": "range", "P11": "range"}
    return found | {"P3": "schur"} if order in (1, 2) else found


def _fixed_by_parameters(name: str, parameters: Mapping[str, Any]) -> dict[str, str]:
    """What holds for some values of the parameters only."""
    if name == "gds":
        return _gds(parameters["order"])
    if name == "l0_eps":
        return {"P10": "zeros"} if parameters["eps"] < 1 else {"P11": "all"}
    if name == "neg_tanh" and parameters["b"] <= 1:
        return {"P3": "concave"}
    if name in ("fggi", "pfgi1", "pfgi2", "pfgi3"):
        linear = {"P3": "schur"} if parameters["p"] == 1 else {}
        return linear | (_MEANS if parameters.get("a") == 1 else {})
    if name == "ggi" and parameters["a"] == 1:
        return _MEANS
    if name == "box_cox" and parameters["l"] <= -0.5:
        return {"P3": "schur"}
    if name == "pq_index" and parameters["p"] <= 1 <= parameters["q"]:
        return {"P3": "schur"}
    if name == "atkinson" and parameters["epsilon"] < 1:
        return _SCHUR | _LENGTH
    return {}


def proof(name: str, parameters: Mapping[str, Any], key: str) -> str | None:
    """The lemma by which a metric of the catalogue satisfies a criterion, in one sentence; None where there is none."""
    lemma = (_PROOFS.get(name, {}) | _fixed_by_parameters(name, parameters)).get(key)
    return None if lemma is None else LEMMAS[lemma]
