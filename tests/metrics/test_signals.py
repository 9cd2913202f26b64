"""The demo signals are what they say, and the transforms are orthonormal."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import pywt
import scipy.sparse

from sparsegauge import InvalidInput
from sparsegauge.signals import DEMOS, dct, demo, wavelet

SHAPES = {"ecg": (1024,), "nino": (264,), "camera": (512, 512), "ascent": (512, 512), "aero": (512, 512)}


def energy(x):
    return float(np.sum(np.square(x)))


@pytest.mark.parametrize("name", DEMOS)
def test_demo_is_a_finite_float64_signal_that_varies(name):
    x = demo(name)
    assert x.shape == SHAPES.get(name, (1024,))
    assert x.dtype == np.float64
    assert np.isfinite(x).all()
    assert x.std() > 0


def test_every_demo_is_another_signal():
    assert len({demo(name).tobytes() for name in DEMOS}) == len(DEMOS)


def test_nino_is_the_temperatures_and_not_the_years():
    assert abs(demo("nino").mean()) < 1e-9


def test_demo_gives_a_new_array_each_time():
    first = demo("blocks")
    first[:] = 7
    assert not np.array_equal(first, demo("blocks"))


@pytest.mark.parametrize(("name", "nearest"), [("camara", "camera"), ("ECG", "ecg"), ("heavysine", "heavisine")])
def test_unknown_demo_names_the_nearest_and_all_the_others(name, nearest):
    with pytest.raises(InvalidInput, match=f"did you mean '{nearest}'") as caught:
        demo(name)
    assert all(known in str(caught.value) for known in DEMOS)


@pytest.mark.parametrize("name", ["zzzzzz", "", 3, None])
def test_unknown_demo_without_a_near_name_still_lists_them(name):
    with pytest.raises(InvalidInput, match="names are ecg") as caught:
        demo(name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", DEMOS)
@pytest.mark.parametrize("transform", [dct, wavelet])
def test_transforms_keep_size_and_energy(transform, name):
    x = demo(name)
    coefficients = transform(x)
    assert coefficients.size == x.size
    assert energy(coefficients) == pytest.approx(energy(x), rel=1e-10)


@pytest.mark.parametrize("shape", [(2,), (4,), (6,), (100,), (8, 6), (2, 2)])
@pytest.mark.parametrize("name", ["haar", "db4", "sym8", "db10"])
def test_wavelet_keeps_inner_products_even_where_the_filter_is_longer_than_the_signal(shape, name):
    x, y = np.random.default_rng(5).standard_normal((2, *shape))
    assert wavelet(x, name) @ wavelet(y, name) == pytest.approx(np.sum(x * y), rel=1e-10, abs=1e-10)


def test_wavelet_goes_down_to_one_approximation_coefficient():
    constant = np.full((16, 16), 2.5)
    np.testing.assert_allclose(wavelet(constant), [40.0] + [0.0] * 255, atol=1e-10)


def test_wavelet_orders_details_from_coarse_to_fine():
    fastest = np.array([1.0, -1.0] * 8)
    coefficients = wavelet(fastest, "haar")
    assert np.flatnonzero(np.abs(coefficients) > 1e-12).tolist() == list(range(8, 16))


def test_dct_of_a_cosine_is_one_coefficient():
    n = np.arange(32)
    coefficients = dct(np.cos(np.pi * (n + 0.5) * 5 / 32))
    assert np.flatnonzero(np.abs(coefficients) > 1e-12).tolist() == [5]


@pytest.mark.parametrize("transform", [dct, wavelet])
def test_transforms_leave_their_input_alone_and_take_lists_of_integers(transform):
    x = np.arange(8.0)
    transform(x)
    np.testing.assert_array_equal(x, np.arange(8.0))
    np.testing.assert_array_equal(transform(list(range(8))), transform(x))


@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 2, 2)])
def test_wavelet_refuses_lengths_it_cannot_halve(shape):
    with pytest.raises(InvalidInput, match="even length"):
        wavelet(np.ones(shape))


def test_wavelet_refuses_unknown_and_oblique_wavelets():
    with pytest.raises(InvalidInput, match="did you mean 'sym8'"):
        wavelet(np.ones(8), "symm8")
    with pytest.raises(InvalidInput, match="not orthogonal"):
        wavelet(np.ones(8), "bior2.2")
    with pytest.raises(InvalidInput, match="are orthonormal to"):
        wavelet(np.ones(8), "dmey")


def test_every_wavelet_that_is_taken_keeps_the_energy():
    x = np.random.default_rng(1).standard_normal(256)
    for name in (name for name in pywt.wavelist(kind="discrete") if pywt.Wavelet(name).orthogonal and name != "dmey"):
        assert energy(wavelet(x, name)) == pytest.approx(energy(x), rel=1e-8), name


TRANSFORMS = [dct, wavelet, functools.partial(dct, axis=0), functools.partial(wavelet, axis=0)]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=["dct", "wavelet", "dct-axis", "wavelet-axis"])
def test_transforms_reach_the_ends_of_float64(transform):
    x = np.random.default_rng(2).uniform(-1, 1, 64)
    for exponent in (1021, 900, -1000, -1020):
        scaled = transform(np.ldexp(x, exponent))
        np.testing.assert_allclose(np.ldexp(scaled, -exponent), transform(x), rtol=0, atol=1e-13)
    with pytest.raises(InvalidInput, match="exceed the largest float64"):
        transform(np.full(64, 1e308))


@pytest.mark.parametrize("transform", [dct, wavelet])
@pytest.mark.parametrize(
    "x",
    [
        [1.0, np.nan],
        [1.0, np.inf],
        [],
        ["a", "b"],
        [1.0, 2j],
        np.ma.masked_less([1.0, 2.0], 1.5),
        scipy.sparse.csr_array(np.eye(2)),
    ],
    ids=["nan", "infinite", "empty", "text", "complex", "masked", "sparse"],
)
def test_transforms_refuse_what_they_cannot_transform(transform, x):
    with pytest.raises(InvalidInput):
        transform(x)
