"""Plots of recoveries: what is drawn is what was found."""

import matplotlib as mpl
import numpy as np
import pytest

import sparsegauge as sg

A = sg.gaussian_matrix(30, 60, rng=1)
X = sg.sparse_signal(60, 4, "normal", rng=0)


def drawn_points(axes, label):
    (line,) = [line for line in axes.lines if str(line.get_label()).startswith(label)]
    return line.get_data()


def test_the_coefficients_and_their_magnitudes():
    found = sg.recover(A, A @ X, rng=0)
    values, ordered = found.plot().axes
    places, heights = drawn_points(values, "4 non-zeros")
    np.testing.assert_array_equal(places, found.support)
    np.testing.assert_array_equal(heights, found.x[found.support])
    assert not values.containers
    shown = ordered.lines[0].get_ydata()
    assert len(shown) == 60
    assert (shown > 1e-6).sum() == 4


def test_noise_gives_intervals_of_ninety_percent():
    noisy = A @ X + 0.05 * np.random.default_rng(2).standard_normal(30)
    found = sg.recover(A, noisy, noise=0.05, rng=0)
    values = found.plot().axes[0]
    (bars,) = values.containers
    ends = np.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    np.testing.assert_allclose(np.diff(ends)[:, 0] / 2, 1.645 * found.std[found.support])


@pytest.mark.parametrize("kind", ["complex", "zero", "transform"])
def test_other_answers(kind):
    if kind == "complex":
        found = sg.recover(A * (1 + 0.5j), A @ X * (1 + 0.5j), rng=0)
    elif kind == "zero":
        found = sg.recover(A, np.zeros(30), rng=0)
    else:
        found = sg.recover(A, A @ np.repeat([1.0, 3.0], 30), transform="tv", rng=0)
    values, ordered = found.plot().axes
    assert len(ordered.lines[0].get_ydata()) == (found.x if found.coefficients is None else found.coefficients).size
    assert values.get_ylabel() == ("|x|" if np.iscomplexobj(found.x) else "x")


def test_many_signals_are_a_map():
    found = sg.recover(A, A @ np.column_stack([X, -X, 2 * X]), rng=0)
    before = dict(mpl.rcParams)
    axes = found.plot().axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), np.abs(found.x))
    assert axes.get_title(loc="left") == "3 signals, 3 explained, 3 certified"
    assert dict(mpl.rcParams) == before
