"""Lorenz curves and effective ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

import sparsegauge as sg

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("size", [1, 2, 50])
def test_the_curve_has_the_area_of_the_gini_index(size):
    x = RNG.standard_normal(size)
    x[RNG.random(size) < 0.2] = 0.0
    x[0] = 1.0
    curve = sg.lorenz(x)
    c = np.sort(np.abs(x))
    np.testing.assert_allclose(curve.share, np.concatenate([[0], np.cumsum(c)]) / c.sum(), rtol=1e-13)
    np.testing.assert_allclose(curve.population, np.arange(size + 1) / size, rtol=1e-13)
    assert curve.gini == pytest.approx(sg.gini(x), abs=1e-14)
    assert (np.diff(curve.share, 2) > -1e-15).all()


def test_weights_sparse_scales_and_missing_values():
    x, w = np.array([3.0, 0.0, 1.0, 2.0]), np.array([0.5, 1.5, 0.25, 0.0])
    assert sg.lorenz(x, weights=w).gini == pytest.approx(sg.gini(x, weights=w), abs=1e-14)
    assert sg.lorenz(x, weights=[1, 2, 1, 0]).gini == pytest.approx(sg.gini([3, 0, 0, 1]), abs=1e-14)
    sparse = sg.lorenz(scipy.sparse.csr_array([[0, 0, 3.0, 1.0]]))
    assert sparse.gini == pytest.approx(sg.gini([0, 0, 3, 1]), abs=1e-14)
    assert sg.lorenz([1e308, 1e308, 5e-324]).share[-2] == pytest.approx(0.5)
    assert sg.lorenz([1.0, math.nan, 1.0], nan_policy="omit").gini == 0.0
    for bad, message in (([0.0, 0.0], "zero everywhere"), ([1.0, math.nan], "NaN"), ([], "no coefficient")):
        with pytest.raises(sg.InvalidInput, match=message):
            sg.lorenz(bad)


def test_the_plot_has_a_diagonal_and_a_curve():
    axes = sg.lorenz([1, 2, 3]).plot(label="signal")
    assert len(axes.lines) == 2
    np.testing.assert_array_equal(axes.lines[1].get_xdata(), sg.lorenz([1, 2, 3]).population)
    assert sg.lorenz([1, 5]).plot(axes) is axes


def test_ranks_of_matrices():
    A = RNG.standard_normal((6, 3)) @ RNG.standard_normal((3, 8))
    s = np.linalg.svd(A, compute_uv=False)
    t = s[s > 1e-12] / s.sum()
    assert sg.stable_rank(A) == pytest.approx(np.sum(s**2) / s[0] ** 2, rel=1e-12)
    assert sg.effective_rank(A) == pytest.approx(np.exp(-np.sum(t * np.log(t))), rel=1e-9)
    assert 1 <= sg.stable_rank(A) <= sg.effective_rank(A) <= 3 + 1e-9
    stack = np.array([np.eye(4), np.diag([1.0, 0, 0, 0]), np.zeros((4, 4)), 1e200 * np.eye(4)])
    np.testing.assert_allclose(sg.stable_rank(stack), [4, 1, math.nan, 4], rtol=1e-12)
    np.testing.assert_allclose(sg.effective_rank(stack), [4, 1, math.nan, 4], rtol=1e-12)
    for bad in ([1.0, 2.0], [["a"]], [[math.nan]], [[1j]]):
        with pytest.raises(sg.InvalidInput):
            sg.stable_rank(bad)
