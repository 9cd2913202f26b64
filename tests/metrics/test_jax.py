"""Arrays of JAX: values, gradients, compiled and vectorised functions, second derivatives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sparsegauge as sg
from families import FAMILIES

jax = pytest.importorskip("jax")
pytestmark = pytest.mark.jax
jnp = jax.numpy

ORDERS = (1, 2, 3, 4, 5, 1.5, 2.5)
SMOOTH = ["neg_log", "kappa4", "hoyer", "pq_mean", "neg_lp", "negentropy", "theil", "atkinson", "h_s", "gini", "ggi"]


def rows():
    """Rows with zeros and ties, and one without."""
    x = np.random.default_rng(0).standard_normal((4, 12)).astype(np.float32)
    x[0, :3], x[1, 3:7], x[2, ::2] = 0.0, -1.5, 0.5
    return x


@pytest.mark.parametrize("name", sg.METRICS)
def test_values(name):
    compiled = jax.jit(getattr(sg, name))
    for family in FAMILIES.values():
        x = family(40, 1).astype(np.float32)
        got, want = compiled(jnp.asarray(x)), getattr(sg, name)(x)
        assert isinstance(got, jax.Array)
        size = max(1.0, abs(want)) if name in ("kurtosis", "u_theta", "neg_h_s_prime", "h_s_prime") else abs(want)
        if math.isfinite(want):
            assert abs(float(got) - want) <= 1e-5 * size + 1e-30
        else:
            assert float(got) == want


@pytest.mark.parametrize("order", ORDERS)
def test_gradients(order):
    x = rows()
    want = sg.gds_gradient(x, order)
    for gradient in (
        jax.grad(lambda t: sg.gds(t, order).sum()),
        jax.jit(jax.grad(lambda t: sg.gds(t, order).sum())),
        jax.vmap(jax.grad(lambda t: sg.gds(t, order))),
    ):
        np.testing.assert_allclose(gradient(jnp.asarray(x)), want, atol=2e-5 * np.abs(want).max())


@pytest.mark.parametrize("order", ORDERS)
def test_double_precision(order):
    with jax.enable_x64(True):
        x = jnp.asarray(rows(), dtype=jnp.float64)
        assert sg.gds(x, order).dtype == jnp.float64
        np.testing.assert_allclose(sg.gds(x, order), sg.gds(np.asarray(x), order), rtol=1e-12)
        slopes = jax.grad(lambda t: sg.gds(t, order).sum())(x)
        np.testing.assert_allclose(slopes, sg.gds_gradient(np.asarray(x), order), atol=1e-12)


@pytest.mark.parametrize("order", [1, 2, 3, 2.5])
def test_second_derivatives(order):
    with jax.enable_x64(True):
        x = jnp.asarray([0.3, -1.0, 2.0, 0.7])
        curvature = jax.hessian(lambda t: sg.gds(t, order))(x)
        step = 1e-5
        for k in range(4):
            ends = [sg.gds_gradient(np.asarray(x.at[k].add(s * step)), order) for s in (1, -1)]
            np.testing.assert_allclose(curvature[k], (ends[0] - ends[1]) / (2 * step), atol=1e-7)


@pytest.mark.parametrize("order", [1, 2, 3, 1.5])
def test_second_derivatives_are_finite_at_ties_and_zeros(order):
    assert np.isfinite(jax.hessian(lambda t: sg.gds(t, order))(jnp.asarray(rows()[0]))).all()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_of_smooth_metrics_agree_with_differences(name):
    metric = getattr(sg, name)
    with jax.enable_x64(True):
        x = jnp.asarray(0.5 + np.random.default_rng(1).random(5))
        slopes = jax.jit(jax.grad(metric))(x)
        for k in range(5):
            change = metric(np.asarray(x.at[k].add(1e-6))) - metric(np.asarray(x.at[k].add(-1e-6)))
            assert float(slopes[k]) == pytest.approx(change / 2e-6, abs=1e-7)


@pytest.mark.parametrize("name", [*SMOOTH, "hoover", "u_theta"])
def test_gradients_are_finite_at_ties_and_zeros(name):
    gradient = jax.jit(jax.grad(getattr(sg, name)))
    for row in (*rows(), np.ones(12, np.float32)):
        assert np.isfinite(gradient(jnp.asarray(row))).all()


def test_what_is_refused():
    with pytest.raises(sg.InvalidInput, match="JAX traces x"):
        jax.jit(lambda x: sg.gds(x, nan_policy="raise"))(jnp.ones(3))
    with pytest.raises(sg.InvalidInput, match="order must be a real number"):
        jax.jit(sg.gds)(jnp.ones(3), 2.0)
