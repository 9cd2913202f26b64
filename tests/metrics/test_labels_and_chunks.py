"""xarray, pandas and dask: labels are kept, chunks stay lazy, and several axes are measured as one signal."""

from __future__ import annotations

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import xarray as xr

import sparsegauge as sg
from families import FAMILIES
from sparsegauge.metrics.portable.formulas import SORTED

SUMS = [name for name in sg.METRICS if name not in SORTED]


def cube():
    x = np.random.default_rng(0).standard_normal((4, 6, 50))
    x[0, 0, :10] = 0.0
    return x


def labelled(data=None):
    return xr.DataArray(
        cube() if data is None else data,
        dims=("sensor", "run", "time"),
        coords={"sensor": list("abcd"), "time": np.arange(50) / 100},
        attrs={"unit": "m/s^2"},
        name="acceleration",
    )


def forbid_computing():
    """Make any computation of a dask array an error."""

    def get(*arguments, **options):
        raise AssertionError("the array was computed")

    return dask.config.set(scheduler=get)


# Several axes, and dimensions that stay


@pytest.mark.parametrize("name", ["gds", "hoyer", "gini"])
@pytest.mark.parametrize("axis", [(0,), (1, 2), (2, 0), (0, 1, 2), (-1, -3), -1, 1, None])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_of_arrays(name, axis, keepdims):
    x, metric = cube(), getattr(sg, name)
    axes = (0, 1, 2) if axis is None else np.atleast_1d(axis) % 3
    rows = np.moveaxis(x, axes, range(3 - len(axes), 3)).reshape(*np.delete(x.shape, axes), -1)
    want = metric(rows)
    got = metric(x, axis=axis, keepdims=keepdims)
    np.testing.assert_allclose(np.squeeze(got), np.squeeze(want), rtol=1e-13)
    assert np.ndim(got) == (3 if keepdims else 3 - len(axes))
    if keepdims:
        assert np.broadcast_shapes(got.shape, x.shape) == x.shape


def test_axes_of_masked_and_sparse_arrays():
    x = np.ma.masked_greater(cube(), 1.0)
    assert sg.gds(x, 3, axis=(0, 1, 2)) == sg.gds(x, 3, axis=None)
    np.testing.assert_array_equal(sg.gds(x, 3, axis=(1, 2)), sg.gds(x.reshape(4, -1), 3))
    sparse = scipy.sparse.random_array((5, 7), density=0.5, rng=np.random.default_rng(0))
    assert sg.gds(sparse, axis=(0, 1)) == sg.gds(sparse, axis=None)
    assert sg.gds(sparse, axis=1, keepdims=True).shape == (5, 1)
    np.testing.assert_array_equal(sg.gds(sparse, axis=(0,)), sg.gds(sparse, axis=0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"axis": (0, 0)}, "each dimension once"),
        ({"axis": (0, 3)}, "out of range"),
        ({"axis": ()}, "at least one"),
        ({"axis": (0, 1.5)}, "must be an integer"),
        ({"keepdims": "yes"}, "keepdims must be True or False"),
        ({"dim": "time"}, "use axis="),
    ],
)
def test_what_is_refused(options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.gds(cube(), **options)


# xarray


def test_labels_and_attributes_are_kept():
    got = sg.gds(labelled(), 3, dim="time")
    np.testing.assert_array_equal(got.values, sg.gds(cube(), 3))
    assert got.dims == ("sensor", "run")
    assert list(got.sensor.values) == list("abcd")
    assert got.attrs == {"unit": "m/s^2"}
    assert got.name == "acceleration"
    assert "time" not in got.coords


@pytest.mark.parametrize("dim", ["time", ("run", "time"), ["time", "sensor"], ...])
@pytest.mark.parametrize("keepdims", [False, True])
def test_dimensions_by_name(dim, keepdims):
    names = ("sensor", "run", "time") if dim is ... else (dim,) if isinstance(dim, str) else dim
    axis = tuple(("sensor", "run", "time").index(name) for name in names)
    got = sg.hoyer(labelled(), dim=dim, keepdims=keepdims)
    np.testing.assert_allclose(got.values, sg.hoyer(cube(), axis=axis, keepdims=keepdims), rtol=1e-14)


def test_the_last_dimension_is_the_default():
    xr.testing.assert_identical(sg.gini(labelled()), sg.gini(labelled(), dim="time"))
    xr.testing.assert_identical(sg.gini(labelled(), axis=1), sg.gini(labelled(), dim="run"))
    assert sg.gini(labelled(), axis=None).shape == ()


def test_datasets():
    data = xr.Dataset({"a": labelled(), "b": ("sensor", np.arange(4.0))}, attrs={"site": "north"})
    got = sg.gini(data, dim="time")
    np.testing.assert_array_equal(got.a, sg.gini(cube()))
    np.testing.assert_array_equal(got.b, np.arange(4.0))
    assert got.attrs == {"site": "north"}


def test_what_xarray_itself_calls():
    x, a = cube(), labelled()
    np.testing.assert_allclose(a.reduce(sg.gds, dim=("sensor", "run")), sg.gds(x.reshape(-1, 50), axis=0), rtol=1e-13)
    np.testing.assert_allclose(a.groupby("sensor").reduce(sg.gds, dim=("run", "time")), sg.gds(x, axis=(1, 2)))
    grouped = a.groupby("sensor").map(lambda group: sg.gds(group, dim=...))
    np.testing.assert_allclose(grouped, sg.gds(x, axis=(1, 2)))
    rolled = a.rolling(time=10).construct("window")[..., 9:, :]
    np.testing.assert_array_equal(sg.gds(rolled, 3, dim="window"), sg.gds(sg.windows(x, 10, 1), 3))
    chunked = a.chunk({"sensor": 2})
    lazy = xr.apply_ufunc(sg.gds, chunked, input_core_dims=[["time"]], dask="parallelized", output_dtypes=[float])
    np.testing.assert_array_equal(lazy, sg.gds(x))


def test_lazy_labelled_arrays_stay_lazy():
    chunked = labelled().chunk({"sensor": 2})
    with forbid_computing():
        got = sg.gds(chunked, 3, dim="time")
    assert isinstance(got.data, da.Array)
    np.testing.assert_array_equal(got, sg.gds(cube(), 3))


@pytest.mark.parametrize(
    ("x", "options", "message"),
    [
        (labelled(), {"dim": "tim"}, "no dimension 'tim'; x has 'sensor', 'run', 'time'"),
        (labelled(), {"dim": "time", "axis": 0}, "pass one of them"),
        (xr.Dataset({"a": labelled()}), {}, "pass dim="),
        (labelled().groupby("sensor"), {}, "must be a DataArray or a Dataset"),
    ],
)
def test_what_is_refused_of_xarray(x, options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.gds(x, **options)


# pandas


def frame():
    return pd.DataFrame({"a": [1.0, 2.0, 0.0, 5.0], "b": [1, 2, 3, 4]}, index=list("wxyz"))


def test_a_frame_gives_a_series():
    rows, columns = sg.gds(frame(), 3), sg.gds(frame(), 3, axis=0)
    assert list(rows.index) == list("wxyz")
    assert list(columns.index) == ["a", "b"]
    assert rows.name == columns.name == "gds"
    np.testing.assert_array_equal(rows, sg.gds(frame().to_numpy(), 3))
    np.testing.assert_array_equal(columns, sg.gds(frame().to_numpy(), 3, axis=0))
    assert sg.gds(frame(), 3, axis=None) == sg.gds(frame().to_numpy(), 3, axis=None)
    assert type(sg.gds(frame().a)) is float


def test_what_pandas_itself_calls():
    table = frame().assign(group=list("ppqq"))
    want = {"p": sg.gds([1.0, 2.0]), "q": sg.gds([0.0, 5.0])}
    assert table.groupby("group").a.agg(sg.gds).to_dict() == pytest.approx(want)
    assert table.groupby("group").agg(sg.gds).a.to_dict() == pytest.approx(want)
    assert table.groupby("group").a.apply(sg.gds).to_dict() == pytest.approx(want)
    assert table.groupby("group").a.agg(["mean", sg.gini]).gini.to_dict() == pytest.approx(
        {"p": sg.gini([1.0, 2.0]), "q": sg.gini([0.0, 5.0])}
    )
    pd.testing.assert_series_equal(frame().agg(sg.gds), sg.gds(frame(), axis=0), check_names=False)
    pd.testing.assert_series_equal(frame().apply(sg.gds, axis=1), sg.gds(frame()), check_names=False)
    for raw in (False, True):
        rolled = frame().a.rolling(2).apply(sg.gds, raw=raw)
        np.testing.assert_allclose(rolled[1:], sg.gds(sg.windows(frame().a.to_numpy(), 2, 1)))


def test_what_is_refused_of_pandas():
    with pytest.raises(sg.InvalidInput, match=r"of groups use \.agg"):
        sg.gds(frame().groupby("a"))


# dask


@pytest.mark.parametrize("name", sg.METRICS)
def test_chunks_along_other_axes(name):
    x = cube()
    with forbid_computing():
        got = getattr(sg, name)(da.from_array(x, chunks=(2, 3, 50)))
    assert isinstance(got, da.Array)
    assert got.chunks == ((2, 2), (3, 3))
    np.testing.assert_array_equal(got, getattr(sg, name)(x))


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("family", ["exponential", "1+1e-3u", "90%-zeros"])
def test_chunks_along_the_signal(name, family):
    x = np.array([FAMILIES[family](300, seed) for seed in range(2)])
    with forbid_computing():
        got = getattr(sg, name)(da.from_array(x, chunks=(1, 70)))
    want = getattr(sg, name)(x)
    scale = 10.0 if name == "kurtosis" else 0.0
    if name in ("h_s_prime", "neg_h_s_prime", "h_g"):  # terms of both signs
        scale = np.abs(x).max() * 300
    np.testing.assert_allclose(got.compute(), want, rtol=1e-11, atol=1e-13 * scale)


@pytest.mark.parametrize("order", [2, 4, 6, 8, np.inf])
def test_even_orders_merge(order):
    x = cube()
    lazy = da.from_array(x, chunks=(4, 2, 20))
    np.testing.assert_allclose(sg.gds(lazy, order), sg.gds(x, order), rtol=1e-12)
    np.testing.assert_allclose(sg.gds(lazy, order, axis=None), sg.gds(x, order, axis=None), rtol=1e-12)
    np.testing.assert_allclose(sg.gds(lazy, order, axis=(0, 2)), sg.gds(x, order, axis=(0, 2)), rtol=1e-12)


@pytest.mark.parametrize("chunks", [(2, 3, 50), (2, 3, 20)])
def test_dimensions_of_lazy_arrays_stay(chunks):
    x = cube()
    got = sg.gds(da.from_array(x, chunks=chunks), 2, keepdims=True)
    assert got.shape == (4, 6, 1)
    np.testing.assert_allclose(got, sg.gds(x, 2, keepdims=True), rtol=1e-13)


@pytest.mark.parametrize("metric", [sg.gini, sg.u_theta, lambda x: sg.gds(x, 3), lambda x: sg.gds(x, 1.5)])
def test_what_must_lie_in_one_chunk_says_how(metric):
    with pytest.raises(sg.InvalidInput, match=r"axis 2 has 3; use x\.rechunk\(\{2: -1\}\)"):
        metric(da.from_array(cube(), chunks=(4, 6, 20)))


def test_unknown_sizes_are_refused():
    x = da.from_array(np.arange(10.0), chunks=5)
    with pytest.raises(sg.InvalidInput, match="compute_chunk_sizes"):
        sg.gds(x[x > 2])


def test_missing_numbers_in_lazy_arrays():
    x = cube()
    x[1, 2, 3] = np.nan
    x[2, 2] = 0.0
    for chunks in ((2, 3, 50), (2, 3, 20)):
        got = sg.gds(da.from_array(x, chunks=chunks), zero=7.0).compute()
        np.testing.assert_allclose(got, sg.gds(x, zero=7.0), rtol=1e-13)
    whole = sg.gds(da.from_array(x, chunks=(2, 3, 50)), 3, nan_policy="omit").compute()
    np.testing.assert_array_equal(whole, sg.gds(x, 3, nan_policy="omit"))


# Weights are told by their labels


def test_weights_of_a_dataarray_are_told_by_the_names_of_their_dimensions():
    a = labelled()
    w = np.random.default_rng(3).random((6, 4))
    want = sg.gini(a.to_numpy(), axis=(0, 1), weights=w.T)
    for weights in (xr.DataArray(w, dims=("run", "sensor")), xr.DataArray(w.T, dims=("sensor", "run"))):
        np.testing.assert_array_equal(sg.gini(a, dim=("sensor", "run"), weights=weights), want)
    per_run = xr.DataArray(w[:, 0], dims="run", coords={"run": np.arange(6)})
    got = sg.gini(a.assign_coords(run=np.arange(6)), dim="run", weights=per_run)
    np.testing.assert_allclose(got, sg.gini(a.to_numpy(), axis=1, weights=w[:, 0]), rtol=1e-14)
    square = labelled().isel(run=slice(4))  # as many sensors as runs: the shape does not tell
    turned = xr.DataArray(w[:4], dims=("run", "sensor"))
    want = sg.gini(square.to_numpy(), axis=(0, 1), weights=w[:4].T)
    np.testing.assert_array_equal(sg.gini(square, dim=("sensor", "run"), weights=turned), want)


def test_weights_with_other_dimensions_or_labels_are_refused():
    a = labelled()
    with pytest.raises(sg.InvalidInput, match="weights have the dimension 'q', which x has not"):
        sg.gini(a, dim="run", weights=xr.DataArray(np.ones(6), dims="q"))
    other = xr.DataArray(np.ones(4), dims="sensor", coords={"sensor": list("abce")})
    with pytest.raises(sg.InvalidInput, match="other labels along 'sensor'"):
        sg.gini(a, dim="sensor", weights=other)
    with pytest.raises(sg.InvalidInput, match=r"at least one dimension, got the single value 3\.0"):
        sg.gini(xr.DataArray(3.0))


def test_weights_of_a_dataarray_may_come_in_another_order_and_with_labels_to_spare():
    a, w = labelled(), np.array([3.0, 1.0, 2.0, 5.0])
    want = sg.gini(a, dim="sensor", weights=w)
    turned = xr.DataArray(w[::-1], dims="sensor", coords={"sensor": list("dcba")})
    xr.testing.assert_identical(sg.gini(a, dim="sensor", weights=turned), want)
    more = xr.DataArray([9.0, *w], dims="sensor", coords={"sensor": list("zabcd")})
    xr.testing.assert_identical(sg.gini(a, dim="sensor", weights=more), want)
    twice = xr.DataArray([9.0, *w], dims="sensor", coords={"sensor": list("aabcd")})
    with pytest.raises(sg.InvalidInput, match="other labels along 'sensor'"):
        sg.gini(a, dim="sensor", weights=twice)
    with pytest.raises(sg.InvalidInput, match="weights have 5 entries along 'run', and x has 6"):
        sg.gini(a, dim="run", weights=xr.DataArray(np.ones(5), dims="run"))


def test_weights_with_an_index_of_another_kind_are_refused():
    index = pd.MultiIndex.from_product([["u", "v"], [1, 2]], names=["group", "number"])
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}, index=index)
    for weights in (pd.Series([1.0, 2.0, 3.0, 4.0]), pd.Series([1.0, 2.0, 3.0, 4.0], index=list("uvwx"))):
        with pytest.raises(sg.InvalidInput, match="weights and x have other labels"):
            sg.gini(table, axis=0, weights=weights)
        with pytest.raises(sg.InvalidInput, match="weights and x have other labels"):
            sg.gini(weights, weights=table["a"])
    turned = pd.Series([4.0, 3.0, 2.0, 1.0], index=index[::-1])
    assert sg.gini(table["a"], weights=turned) == sg.gini([1, 2, 3, 4], weights=[1, 2, 3, 4])


def test_tables_of_metrics_have_the_labels_of_the_signals():
    a = labelled()
    frame = sg.measure(a, ["gini", "hoyer"], dim="time").to_frame()
    assert frame.index.names == ["sensor", "run"]
    assert frame.loc[("c", 4), "hoyer"] == sg.hoyer(a[2, 4])
    table = pd.DataFrame({"p": [1.0, 2.0], "q": [0.0, 5.0]}, index=["one", "two"])
    by_column = sg.measure(table, ["gini", "hoyer"], axis=0)
    assert by_column.to_frame().index.tolist() == ["p", "q"]
    assert [line.split()[0] for line in str(by_column).splitlines()] == ["gini", "p", "q"]
    assert sg.measure(table, ["gini"]).to_frame().loc["two", "gini"] == sg.gini([2, 5])
    assert sg.measure(table["p"], ["gini"]).to_frame().shape == (1, 1)
    assert len(str(sg.measure(table.to_numpy(), ["gini"])).splitlines()[1].split()) == 1


def test_gradients_keep_labels():
    a = labelled()
    gradient = sg.gds_gradient(a, 3, axis=1)
    xr.testing.assert_identical(gradient, a.copy(data=sg.gds_gradient(a.to_numpy(), 3, axis=1)))
    table = pd.DataFrame({"p": [1, 2], "q": [0, 5]}, index=["one", "two"])
    want = pd.DataFrame(sg.gds_gradient(table.to_numpy(), 2, axis=0), index=["one", "two"], columns=["p", "q"])
    pd.testing.assert_frame_equal(sg.gds_gradient(table, 2, axis=0), want)
    pd.testing.assert_series_equal(
        sg.gds_gradient(table["q"], 2), pd.Series(sg.gds_gradient([0, 5], 2), index=["one", "two"], name="q")
    )


def test_weights_of_a_series_are_told_by_their_labels():
    x, w = pd.Series([1.0, 2.0, 5.0], index=list("abc")), pd.Series([3.0, 1.0, 2.0], index=list("cab"))
    assert sg.gini(x, weights=w) == sg.gini([1, 2, 5], weights=[1, 2, 3])
    assert sg.gini(x, weights=w.to_numpy()) == sg.gini([1, 2, 5], weights=[3, 1, 2])
    with pytest.raises(sg.InvalidInput, match="weights and x have other labels"):
        sg.gini(x, weights=pd.Series([1.0, 2.0, 3.0]))
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 0.0, 1.0, 2.0], "shop": list("uuvv")})
    people = pd.Series([1.0, 3.0, 2.0, 2.0])
    got = table.groupby("shop")["a"].agg(sg.gini, weights=people)
    assert got.tolist() == [sg.gini([1, 2], weights=[1, 3]), sg.gini([3, 4], weights=[2, 2])]
    numbers = table[["a", "b"]]
    columns = pd.Series([3.0, 1.0], index=["b", "a"])
    np.testing.assert_array_equal(sg.gini(numbers, weights=columns), sg.gini(numbers.to_numpy(), weights=[1, 3]))
    by_cell = numbers[["b", "a"]].abs()
    np.testing.assert_array_equal(
        sg.gini(numbers, axis=0, weights=by_cell), sg.gini(numbers.to_numpy(), axis=0, weights=numbers.to_numpy())
    )


def test_error_bars_keep_labels():
    a = labelled()
    for dim in ("time", ("sensor", "time"), ...):
        error = sg.standard_error(a, "gini", dim=dim)
        low, high = sg.confidence_interval(a, "gds", order=4, level=0.9, dim=dim)
        axis = None if dim is ... else tuple(a.dims.index(name) for name in np.atleast_1d(dim))
        np.testing.assert_array_equal(error, sg.standard_error(a.to_numpy(), "gini", axis=axis))
        want = sg.confidence_interval(a.to_numpy(), "gds", order=4, level=0.9, axis=axis)
        np.testing.assert_array_equal([low, high], want)
        assert error.dims == low.dims == sg.gini(a, dim=dim).dims
        assert error.attrs == a.attrs
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [5.0, 0.0, 1.0, 2.0]})
    assert sg.standard_error(frame, "gini", axis=0).index.tolist() == ["a", "b"]
    assert sg.confidence_interval(frame, "gini", axis=0).high.index.tolist() == ["a", "b"]
    assert isinstance(sg.standard_error(frame["a"], "gini"), float)
    with pytest.raises(sg.InvalidInput, match="dim names dimensions of an xarray object"):
        sg.standard_error([1.0, 2.0], "gini", dim="time")
