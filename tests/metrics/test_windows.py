"""Windows: a view, the same in pieces as in one, and transforms along one axis equal to those of each signal."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.array_utils import byte_bounds

from sparsegauge import InvalidInput
from sparsegauge.signals import check_transform, dct, stream_windows, transform, wavelet, windows
from strategies import law


@law
@given(n=st.integers(1, 60), length=st.integers(1, 60), hop=st.integers(1, 70))
def test_each_window_is_a_slice_and_all_that_fit_are_there(n, length, hop):
    x = np.arange(n)
    if length > n:
        with pytest.raises(InvalidInput, match="longer than the signal"):
            windows(x, length, hop)
        return
    slices = [x[k : k + length] for k in range(0, n - length + 1, hop)]
    np.testing.assert_array_equal(windows(x, length, hop), slices)


def test_windows_are_a_view_that_nobody_can_write_to():
    x = np.zeros(10)
    view = windows(x, 4, 2)
    x[2] = 7
    assert (view[0, 2], view[1, 0]) == (7, 7)
    assert np.shares_memory(view, x)
    with pytest.raises(ValueError, match="read-only"):
        view[0, 0] = 1


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3])
def test_windows_of_many_signals_are_the_windows_of_each(axis):
    x = np.random.default_rng(3).standard_normal((7, 8, 9))
    found = np.moveaxis(windows(x, 4, 3, axis=axis), axis % 3, 0)
    for k, window in enumerate(found):
        np.testing.assert_array_equal(window, np.moveaxis(x, axis, -1)[..., 3 * k : 3 * k + 4])


def test_a_mapped_file_stays_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(100.0))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(windows(mapped, 10, 5), mapped)


@pytest.mark.parametrize(
    ("length", "hop"), [(0, 1), (-3, 1), (4, 0), (4, -1), (2.5, 1), (4, 1.0), (True, 1), ("4", 1), (None, 1)]
)
def test_impossible_lengths_and_hops_are_refused(length, hop):
    with pytest.raises(InvalidInput, match="whole number of at least 1"):
        windows(np.arange(10), length, hop)


@pytest.mark.parametrize(
    "x", [scipy.sparse.csr_array(np.eye(4)), np.ma.masked_less([1.0, 2.0, 3.0], 1.5), [[1, 2], [3]], 3.0]
)
def test_what_has_no_windows_is_refused(x):
    with pytest.raises(InvalidInput):
        windows(x, 1, 1)


@pytest.mark.parametrize("axis", [1, -2, None, 0.0])
def test_an_axis_that_is_not_there_is_refused(axis):
    with pytest.raises(InvalidInput, match="axis"):
        windows(np.arange(10), 2, 1, axis=axis)


@law
@given(
    cuts=st.lists(st.integers(0, 12), max_size=12),
    length=st.integers(1, 20),
    hop=st.integers(1, 25),
    rows=st.sampled_from([(), (2,), (2, 3)]),
)
def test_windows_of_pieces_are_the_windows_of_the_whole(cuts, length, hop, rows):
    n = sum(cuts)
    x = np.arange(n * int(np.prod(rows))).reshape((*rows, n))
    pieces = np.split(x, np.cumsum(cuts)[:-1], axis=-1) if cuts else []
    batches = list(stream_windows(pieces, length, hop))
    if n < length:
        assert batches == []
        return
    whole = windows(x, length, hop)
    np.testing.assert_array_equal(np.concatenate([batch for _, batch in batches], axis=-2), whole)
    counts = [batch.shape[-2] for _, batch in batches]
    assert [start for start, _ in batches] == [hop * before for before in np.cumsum([0, *counts[:-1]])]


def test_a_stream_holds_a_piece_and_a_window_at_a_time():
    spans = [byte_bounds(batch) for _, batch in stream_windows((np.zeros(100) for _ in range(1000)), 150, 75)]
    assert len(spans) > 900
    assert max(high - low for low, high in spans) <= 8 * (100 + 150)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("name", ["dct", "haar", "db4", "sym8"])
def test_a_transform_along_an_axis_is_the_transform_of_each_signal(name, axis):
    x = np.random.default_rng(4).standard_normal((8, 12))
    found = np.moveaxis(transform(x, name, axis=axis), axis, -1)
    for row, coefficients in zip(np.moveaxis(x, axis, -1), found, strict=True):
        np.testing.assert_allclose(coefficients, transform(row, name), atol=1e-12)


def test_the_table_of_transforms_leads_to_the_functions():
    x = np.random.default_rng(5).standard_normal((4, 6))
    assert transform(x, "none") is x
    np.testing.assert_array_equal(transform(x, "dct"), dct(x))
    np.testing.assert_array_equal(transform(x, "coif2"), wavelet(x, "coif2"))


@pytest.mark.parametrize(
    ("name", "says"),
    [("dtc", "did you mean 'dct'"), ("db44", "did you mean 'db4'"), ("bior2.2", "not orthogonal"), ("", "there are")],
)
def test_unknown_transforms_are_refused_with_the_nearest(name, says):
    with pytest.raises(InvalidInput, match=says):
        check_transform(name)


def test_only_the_transformed_axis_has_to_be_even():
    assert wavelet(np.ones((3, 5, 8)), axis=-1).shape == (3, 5, 8)
    with pytest.raises(InvalidInput, match="even length, got 5"):
        wavelet(np.ones((3, 5, 8)), axis=1)
