"""The portable formulas against the exact kernels, under the strictest reading of the array API standard.

The promise: within 1e-11 of a metric's natural magnitude in float64, and within 1e-5 in float32, of what the kernels
give for the same numbers. The magnitude is the metric's value, or the sum of its terms' magnitudes where they have both
signs; u_theta, which subtracts from 1, and the kurtosis, which subtracts 3, are relative to what they subtract from.
"""

from __future__ import annotations

import math
from typing import Any

import array_api_strict
import numpy as np
import pytest

import sparsegauge as sg
from families import FAMILIES, SCALED
from sparsegauge.metrics.containers import Reduction
from sparsegauge.metrics.portable import FORMULAS
from sparsegauge.metrics.tensors import measure_tensor

TOLERANCE = {"float64": 1e-11, "float32": 1e-5}
SMALLEST = {"float64": 1e-290, "float32": 1e-30}  # below, a value may be anything up to ten times this

ORDERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 17, 24, 32, 1 + 1e-9, 1.01, 1.5, 2.5, math.pi, 7.3, 16.5, math.inf)
HIGH_ORDERS = (33, 49.99, 63, 64, 65, 100, 128, 129)  # in float64

Parameters = dict[str, float]
# across each range, and where a formula changes
PARAMETERS: dict[str, list[Parameters]] = {
    "gds": [{"order": 2}],  # and the orders above
    "l0_eps": [{"eps": e} for e in (1e-3, 0.0, 0.3)],
    "neg_lp": [{"p": p} for p in (0.5, 0.1, 0.9, 1.0, 3.0)],
    "neg_tanh": [{"a": a, "b": b} for a, b in [(1.0, 1.0), (0.1, 0.5), (3.0, 2.0)]],
    "u_theta": [{"theta": t} for t in (0.5, 0.01, 0.25, 0.9, 0.99)],
    "neg_lp_neg": [{"p": p} for p in (-1.0, -0.1, -2.0)],
    "pq_mean": [{"p": p, "q": q} for p, q in [(1.0, 2.0), (0.1, 1.1), (0.5, 4.0)]],
    "ggi": [{"a": a} for a in (2.0, 0.1, 1.0, 10.0)],
    "fggi": [{"a": a, "p": p} for a, p in [(2.0, 2.0), (2.0, 1.0), (1.0, 0.5), (0.3, 10.0)]],
    "pfgi1": [{"p": p} for p in (2.0, 0.5, 1.0, 10.0)],
    "pfgi2": [{"p": p} for p in (2.0, 0.5, 1.0, 10.0)],
    "pfgi3": [{"p": p} for p in (2.0, 0.5, 1.0, 10.0)],
    "s_gini": [{"v": v} for v in (3.0, 1.5, 2.0, 20.0)],
    "box_cox": [{"l": power} for power in (0.5, -0.5, 0.0, 1.0, 2.0, 10.0)],
    "pq_index": [{"p": p, "q": q} for p, q in [(0.5, 1.0), (1.0, 2.0), (2.0, 10.0)]],
    "atkinson": [{"epsilon": e} for e in (0.5, 0.1, 1.0, 2.0, 10.0)],
    "generalised_entropy": [{"alpha": a} for a in (2.0, 0.0, 0.5, 1.0, -1.0, 5.0)],
    "hill": [{"q": q} for q in (1.0, 0.0, 0.5, 2.0, 10.0, math.inf)],
    "renyi": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0, math.inf)],
    "tsallis": [{"q": q} for q in (2.0, 0.0, 0.5, 1.0, 10.0)],
}
# where powers leave the range although the metric does not
LARGE: list[tuple[str, Parameters]] = [
    ("neg_tanh", {"a": 3.0, "b": 40.0}),
    ("pq_mean", {"p": 1.0, "q": 300.0}),
    ("box_cox", {"l": 100.0}),
    ("atkinson", {"epsilon": 100.0}),
    ("ggi", {"a": 300.0}),
    ("fggi", {"a": 10.0, "p": 10.0}),
    ("s_gini", {"v": 1000.0}),
]

families = pytest.mark.parametrize("family", FAMILIES)
precisions = pytest.mark.parametrize("precision", TOLERANCE)
metrics = pytest.mark.parametrize("name", FORMULAS)


def strict(x: np.ndarray) -> Any:
    return array_api_strict.asarray(x)


def portable(name: str, x: np.ndarray, parameters: Parameters, **options: Any) -> Any:
    return measure_tensor(Reduction(name, getattr(sg, name), parameters, options), strict(x))


def magnitude(name: str, x: np.ndarray, want: float) -> float:
    c = np.abs(x)[np.nonzero(x)]
    if name == "h_g" and len(c) == len(x):
        return float(np.sum(np.abs(2 * np.log(c))))
    if name in ("h_s_prime", "neg_h_s_prime"):
        return min(math.fsum(np.abs(2 * (c / 2**20) * np.log(c))), 2.0**1000) * 2**20
    if name in ("renyi", "tsallis"):
        return max(1.0, abs(want))
    return abs(want + 3) if name == "kurtosis" else 1.0 if name == "u_theta" else abs(want)


def assert_close(name: str, x: np.ndarray, parameters: Parameters) -> None:
    precision = str(x.dtype)
    want = getattr(sg, name)(x.astype(np.float64), **parameters)
    found = portable(name, x, parameters)
    assert str(found.dtype).endswith(precision)
    got = float(found)
    largest = float(np.finfo(x.dtype).max)
    if not math.isfinite(want) or abs(want) > largest:
        assert got == np.array(want).astype(x.dtype)
        return
    limit = TOLERANCE[precision] * magnitude(name, x, want) + 10 * SMALLEST[precision]
    assert abs(got - want) <= limit, f"{name}(**{parameters}), N={len(x)}: {got!r} is not {want!r}"


@families
@precisions
@pytest.mark.parametrize("n", [1, 2, 3, 17, 64, 257])
def test_gds(family, n, precision):
    x = FAMILIES[family](n, n).astype(precision)
    for order in ORDERS:
        assert_close("gds", x, {"order": float(order)})


@families
@pytest.mark.parametrize("n", [3, 64, 257])
def test_gds_at_high_orders(family, n):
    x = FAMILIES[family](n, n)
    for order in HIGH_ORDERS:
        assert_close("gds", x, {"order": float(order)})


@families
@precisions
def test_gds_of_longer_rows(family, precision):
    x = FAMILIES[family](2000, 1).astype(precision)
    for order in (1, 2, 3, 4, 8, 9, 1.5):
        assert_close("gds", x, {"order": float(order)})


@pytest.mark.parametrize("family", SCALED)
def test_near_the_ends_of_the_range(family):
    x = SCALED[family](17, 17)
    for order in (1, 2, 3, 8, 9, 1.5, 7.3):
        assert_close("gds", x, {"order": float(order)})


@metrics
@families
@precisions
def test_every_metric(name, family, precision):
    for n in (1, 2, 17, 300):
        x = FAMILIES[family](n, n).astype(precision)
        for parameters in PARAMETERS.get(name, [{}]):
            assert_close(name, x, parameters)


@metrics
@pytest.mark.parametrize("family", SCALED)
def test_every_metric_near_the_ends_of_the_range(name, family):
    assert_close(name, SCALED[family](17, 17), PARAMETERS.get(name, [{}])[0])


@pytest.mark.parametrize(("name", "parameters"), LARGE, ids=[name for name, _ in LARGE])
@families
def test_large_parameters(name, parameters, family):
    for n in (3, 100):
        assert_close(name, FAMILIES[family](n, n), parameters)


def test_every_metric_of_the_catalogue_is_portable():
    assert set(FORMULAS) == set(sg.METRICS)


@metrics
def test_a_batch_equals_its_rows(name):
    rows = np.array([family(50, 3) for family in FAMILIES.values()])
    parameters = PARAMETERS.get(name, [{}])[0]
    batch = np.asarray(portable(name, rows, parameters))
    single = [float(portable(name, row, parameters)) for row in rows]
    np.testing.assert_allclose(batch, single, rtol=1e-13, atol=1e-15)


# Shapes, types and degenerate signals


@pytest.mark.parametrize("axis", [-1, 0, 1, (0, 1), (1, 2), (2, 0), None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes(axis, keepdims):
    x = np.random.default_rng(0).standard_normal((3, 4, 5))
    axes = tuple(range(3)) if axis is None else (axis,) if isinstance(axis, int) else axis
    moved = np.moveaxis(x, axes, range(-len(axes), 0)).reshape(*np.delete(x.shape, axes), -1)
    want = np.asarray(sg.gds(moved, 3))
    got = np.asarray(portable("gds", x, {"order": 3.0}, axis=axis, keepdims=keepdims))
    kept = tuple(1 if k in np.arange(3)[list(axes)] else n for k, n in enumerate(x.shape))
    assert got.shape == (kept if keepdims else want.shape)
    np.testing.assert_allclose(got.ravel(), want.ravel(), rtol=1e-12)


@metrics
def test_zeros_and_missing_numbers(name):
    x = np.array([[0.0, 0.0, 0.0], [1.0, np.nan, 2.0], [1.0, 2.0, np.inf], [1.0, 2.0, 4.0]])
    parameters = PARAMETERS.get(name, [{}])[0]
    got = np.asarray(portable(name, x, parameters, zero=7.0))
    assert got[0] == 7
    assert np.isnan(got[1:3]).all()
    assert got[3] == pytest.approx(getattr(sg, name)(x[3], **parameters))


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint8, np.int64, np.complex64, np.complex128])
def test_other_numbers(kind):
    x = np.random.default_rng(0).integers(0, 2 if kind is np.bool_ else 100, 30).astype(kind)
    x = x * (1 + 1j) if x.dtype.kind == "c" else x
    assert float(portable("gds", x.astype(kind), {"order": 3.0})) == pytest.approx(sg.gds(x, 3), rel=1e-5)


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (np.ones(3), {"axis": 1}, "axis 1 is out of range"),
        (np.ones((3, 3)), {"axis": (0, 0)}, "each dimension once"),
        (np.ones((3, 3)), {"axis": ()}, "at least one"),
        (np.ones((3, 0)), {}, "no coefficient to measure"),
        (np.array(1.0), {}, "at least one dimension"),
        (np.ones(3), {"nan_policy": "omit"}, "pass a NumPy array"),
        (np.ones(3), {"nan_policy": "ignore"}, "nan_policy must be one of"),
        (np.array([1.0, np.nan]), {"nan_policy": "raise"}, "1 NaN"),
    ],
)
def test_what_is_refused(x, options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        portable("gds", x, {"order": 2.0}, **options)
