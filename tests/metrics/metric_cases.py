"""The metrics at the parameters that are tried, and what is to be expected of each."""

from __future__ import annotations

import math
import sys
from math import inf
from typing import Any

import mpmath
import numpy as np
import pytest

import sparsegauge as sg
from families import FAMILIES
from naive_metrics import TWINS

RELATIVE = 1e-11
ABSOLUTE = 1e-13
TWIN_NOISE = 1e-40  # a twin's own rounding, where it subtracts
GRAIN = 10 * 5e-324  # below 1e-308 numbers are multiples of 5e-324
FEW_ULPS = 8 * 2.0**-53

Parameters = dict[str, float]

NOT_SCALE_INVARIANT = ["l0_eps", "neg_l1", "neg_lp", "neg_tanh", "neg_log", "neg_lp_neg", "h_g"]
NOT_SCALE_INVARIANT += ["neg_h_s_prime", "h_s_prime"]
SCALE_INVARIANT = [name for name in TWINS if name not in NOT_SCALE_INVARIANT]

# ggi and fggi are at a = 1
NOT_CLONE_INVARIANT = {"l0", "l2_l1", "kappa4", "neg_h_s", "h_s", "hoyer", "ggi", "fggi", "d_norm"}
NOT_CLONE_INVARIANT |= {"neg_numerical_sparsity", "treves_rolls"}
NOT_CLONE_INVARIANT |= {"hill", "renyi", "tsallis", "participation_ratio", "herfindahl", "berger_parker"}
CLONE_INVARIANT = [name for name in SCALE_INVARIANT if name not in NOT_CLONE_INVARIANT]

# The other scale-invariant metrics are of order 1, by subtraction
NOT_CANCELLING = {"gds", "l0", "l2_l1", "kappa4", "pq_mean", "gini", "gi2", "gi3", "d_norm", "treves_rolls"}
NOT_CANCELLING |= {"neg_numerical_sparsity", "hill", "participation_ratio", "herfindahl", "berger_parker"}
NOT_CANCELLING |= {"crest_factor", "spectral_flatness", "pastor_entropy"}
CANCELLING = {name for name in SCALE_INVARIANT if name not in NOT_CANCELLING}

# Across each range, the ends that belong to it and the values at which a formula changes
PARAMETERS: dict[str, list[Parameters]] = {
    "gds": [{"order": p} for p in (2, 1, 1.5, 3, 7.3, 20)],
    "l0_eps": [{"eps": e} for e in (1e-3, 0.0, 0.3, 2.0)],
    "neg_lp": [{"p": p} for p in (0.5, 0.02, 0.1, 0.9, 1.0, 2.0, 7.5, 300.0)],
    "neg_tanh": [{"a": a, "b": b} for a, b in [(1.0, 1.0), (0.1, 0.5), (3.0, 2.0)]],
    "u_theta": [{"theta": t} for t in (0.5, 0.01, 0.25, 0.75, 0.9, 0.99)],
    "neg_lp_neg": [{"p": p} for p in (-1.0, -0.01, -0.1, -2.5)],
    "pq_mean": [{"p": p, "q": q} for p, q in [(1.0, 2.0), (0.1, 1.1), (0.5, 4.0), (1.0, 50.0)]],
    "ggi": [{"a": a} for a in (2.0, 0.1, 1.0, 10.0)],
    "fggi": [{"a": a, "p": p} for a, p in [(2.0, 2.0), (2.0, 1.0), (1.0, 0.5), (0.3, 10.0)]],
    "pfgi1": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "pfgi2": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "pfgi3": [{"p": p} for p in (2.0, 0.1, 1.0, 10.0)],
    "s_gini": [{"v": v} for v in (3.0, 1.01, 1.5, 2.0, 20.0)],
    "box_cox": [{"l": power} for power in (0.5, -0.9, -0.5, 0.0, 1.0, 2.0, 10.0)],
    "pq_index": [{"p": p, "q": q} for p, q in [(0.5, 1.0), (1.0, 2.0), (0.1, 0.2), (2.0, 10.0), (0.1, 50.0)]],
    "atkinson": [{"epsilon": e} for e in (0.5, 0.1, 1.0, 2.0, 10.0)],
    "generalised_entropy": [{"alpha": a} for a in (2.0, 0.0, 0.5, 1.0, -1.0, 5.0)],
    "hill": [{"q": q} for q in (1.0, 0.0, 0.5, 2.0, 10.0, inf)],
    "renyi": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0, inf)],
    "tsallis": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0)],
}

# Where a formula as it stands loses digits, (mean c^p)^(1/p) say
NEXT_TO_A_LIMIT: list[tuple[str, Parameters]] = [
    *(("atkinson", {"epsilon": e}) for e in (1 - 1e-9, 1 + 1e-9, 1e-9)),
    *(("box_cox", {"l": power}) for power in (-1e-9, 1e-9, 1e-20, -1 + 1e-9)),
    ("pq_mean", {"p": 1e-6, "q": 1 + 1e-9}),
    ("pq_index", {"p": 1e-6, "q": 1.0}),
    ("pq_index", {"p": 1e-6, "q": 2e-6}),
    ("pq_index", {"p": 1 - 1e-9, "q": 1.0}),
    ("fggi", {"a": 2.0, "p": 1e-6}),
    *((name, {"p": 1e-6}) for name in ("pfgi1", "pfgi2", "pfgi3")),
    ("ggi", {"a": 1e-9}),
    ("s_gini", {"v": 1 + 1e-9}),
]

# Where powers leave float64's range although the metric does not
LARGE: list[tuple[str, Parameters]] = [
    ("neg_tanh", {"a": 3.0, "b": 40.0}),
    ("pq_mean", {"p": 1.0, "q": 300.0}),
    ("pq_index", {"p": 200.0, "q": 300.0}),
    ("ggi", {"a": 300.0}),
    ("fggi", {"a": 10.0, "p": 10.0}),
    ("fggi", {"a": 300.0, "p": 300.0}),
    *((name, {"p": 300.0}) for name in ("pfgi1", "pfgi2", "pfgi3")),
    ("s_gini", {"v": 1000.0}),
    ("box_cox", {"l": 100.0}),
    ("atkinson", {"epsilon": 100.0}),
]

HAND_SIZE = [
    *([-2.5], [1.0], [1.0, 1.0], [0.0, 5.0], [3.0, -1.0], [0.3, 0.3, 0.3], [2.0, 2.0, -7.0], [0.0, 0.0, 3.0, 4.0]),
    *([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 5.0], [0.0, 0.0, 0.0, -1e-3], [1e-3, 1e3], [0.1, 0.2, 0.3, 0.4, 100.0]),
]

metrics = pytest.mark.parametrize("name", TWINS)
families = pytest.mark.parametrize("family", FAMILIES)


def some(cases: list[tuple[str, Parameters]]) -> pytest.MarkDecorator:
    ids = [f"{name}({', '.join(f'{k}={v}' for k, v in parameters.items())})" for name, parameters in cases]
    return pytest.mark.parametrize(("name", "parameters"), cases, ids=ids)


def parameters_of(name: str) -> list[Parameters]:
    return PARAMETERS.get(name, [{}])


def magnitude(name: str, x: Any, want: float) -> float:
    """What an error is relative to."""
    c = np.abs(x)[np.nonzero(x)]
    if name == "h_g" and len(c) == len(x):
        return float(np.sum(np.abs(2 * np.log(c))))
    if name in ("h_s_prime", "neg_h_s_prime"):
        return min(math.fsum(np.abs(2 * (c / 2**20) * np.log(c))), 2.0**1000) * 2**20  # no overflow near 1e308
    return abs(want + 3) if name == "kurtosis" else abs(want)


def error(name: str, x: Any, got: float, want: Any, absolute: float = 0.0) -> float:
    """In units of what is allowed: more than 1 is too much."""
    if not mpmath.isfinite(want) or abs(want) > sys.float_info.max:
        return 0.0 if got == float(want) else inf
    floor = ABSOLUTE if name == "u_theta" else TWIN_NOISE if name in CANCELLING else GRAIN
    limit = RELATIVE * magnitude(name, x, float(want)) + absolute + floor
    distance = float(abs(mpmath.mpf(got) - want))
    return distance / limit if math.isfinite(got) else inf


def assert_twin(name: str, x: Any, parameters: Parameters, absolute: float = 0.0) -> None:
    got, want = getattr(sg, name)(x, **parameters), TWINS[name](x, **parameters)
    assert type(got) is float
    message = f"{name}(**{parameters}), N={len(x)}: {got!r} is not {mpmath.nstr(want, 17)}"
    assert error(name, x, got, want, absolute) <= 1, message
