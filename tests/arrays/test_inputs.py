"""What may be passed, what comes back, and what is refused with a sentence that helps."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import sparsegauge as sg

ORDERS = (1, 1.5, 2, 3, 7.3, 40, 129, math.inf)
X = np.array([[3.0, -1.0, 0.0, 4.0], [1.0, 1.0, -1.0, 1.0], [0.5, 2.5, -8.0, 0.25]])


def rows_of(x, order):
    return [sg.gds(row, order) for row in x]


@pytest.mark.parametrize("order", ORDERS)
class TestKindsOfArray:
    def test_list_gives_a_python_float(self, order):
        assert type(sg.gds([1, 2, 3], order)) is float
        assert sg.gds([1, 2, 3], order) == sg.gds(np.array([1.0, 2.0, 3.0]), order)

    @pytest.mark.parametrize("dtype", ["i1", "i4", "u2", "f2", "f4", "f8", ">f8", ">i2", "g", "c8", "c16", "G"])
    def test_any_real_or_complex_dtype(self, dtype, order):
        x = np.array([3, 1, 0, 4, 4]).astype(dtype)
        assert sg.gds(x, order) == sg.gds([3.0, 1.0, 0.0, 4.0, 4.0], order)

    def test_booleans_are_zeros_and_ones(self, order):
        assert sg.gds([True, False, False, True], order) == sg.gds([1, 0, 0, 1], order) == 0.5

    def test_integers_become_float_before_the_absolute_value(self, order):
        assert sg.gds(np.array([-128, 1, 127], np.int8), order) == sg.gds([128.0, 1.0, 127.0], order)

    def test_complex_magnitudes(self, order):
        assert sg.gds([3 + 4j, 5j, -10, 0], order) == sg.gds([5, 5, 10, 0], order)

    def test_layouts(self, order):
        big = np.random.default_rng(0).normal(size=(6, 40))
        expected = rows_of(big, order)
        for same in (np.asfortranarray(big), np.repeat(big, 2, axis=1)[:, ::2], big[:, ::-1][:, ::-1], big.T.copy().T):
            np.testing.assert_array_equal(sg.gds(same, order), expected)

    def test_read_only_and_unaligned(self, order):
        x = X.copy()
        x.flags.writeable = False
        np.testing.assert_array_equal(sg.gds(x, order), rows_of(X, order))
        packed = np.zeros(4, dtype=[("tag", "i1"), ("value", "f8")])
        packed["value"] = X[0]
        assert sg.gds(packed["value"], order) == sg.gds(X[0], order)

    def test_pandas(self, order):
        frame = pd.DataFrame(X, columns=list("abcd"))
        result = sg.gds(frame, order)
        assert type(result) is pd.Series
        np.testing.assert_array_equal(result, rows_of(X, order))
        np.testing.assert_array_equal(sg.gds(frame, order, axis=0), rows_of(X.T, order))
        assert sg.gds(pd.Series(X[0]), order) == sg.gds(X[0], order)

    def test_pandas_nullable(self, order):
        series = pd.Series([3, None, 4, 0], dtype="Int64")
        assert math.isnan(sg.gds(series, order))
        assert sg.gds(series, order, nan_policy="omit") == pytest.approx(sg.gds([3, 4, 0], order), rel=1e-14)

    def test_pandas_columns_of_several_kinds(self, order):
        frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1.0, 2.0], "c": [True, False]})
        result = sg.gds(frame, order)
        assert result[0] == sg.gds([1, 1, 1], order)
        assert math.isnan(result[1])
        assert sg.gds(pd.Series([True, None], dtype="boolean"), order, nan_policy="omit") == 0.0
        plain = pd.DataFrame({"a": [1, 2], "b": [True, False]})
        np.testing.assert_array_equal(sg.gds(plain, order), rows_of([[1, 1], [2, 0]], order))

    def test_masked_means_omitted(self, order):
        x = np.ma.MaskedArray(X.copy(), mask=[[0, 1, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])
        x[0, 1] = np.ma.masked
        x.data[0, 1] = np.inf  # what lies under a mask does not matter
        result = sg.gds(x, order)
        assert result[0] == pytest.approx(sg.gds([3, 0, 4], order), rel=1e-14)
        assert result[1] == pytest.approx(sg.gds(X[1], order), rel=1e-14)
        assert math.isnan(result[2])

    def test_axes(self, order):
        x = np.random.default_rng(1).normal(size=(3, 4, 5))
        for axis in range(-3, 3):
            moved = np.moveaxis(x, axis, -1)
            expected = np.array([[sg.gds(row, order) for row in plane] for plane in moved])
            np.testing.assert_array_equal(sg.gds(x, order, axis=axis), expected)
        assert sg.gds(x, order, axis=None) == sg.gds(x.ravel(), order)
        assert sg.gds(np.empty((0, 4)), order).shape == (0,)
        assert sg.gds(np.empty((2, 0, 4)), order).shape == (2, 0)

    def test_the_array_itself_is_not_changed(self, order):
        x = np.array([3.0, -1.0, np.nan, 0.0])
        before = x.copy()
        for policy in ("propagate", "omit"):
            sg.gds(x, order, nan_policy=policy)
        np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
class TestSparse:
    def test_arrays_and_matrices(self, kind, order):
        for make in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
            x = make(X).asformat(kind)
            np.testing.assert_allclose(sg.gds(x, order), rows_of(X, order), rtol=1e-14)
            np.testing.assert_allclose(sg.gds(x, order, axis=0), rows_of(X.T, order), rtol=1e-14)
            assert sg.gds(x, order, axis=None) == pytest.approx(sg.gds(X.ravel(), order), rel=1e-14)


class TestSparseDetails:
    def test_duplicates_are_summed_and_the_matrix_left_alone(self):
        data = np.array([1.0, 2.0, 5.0])
        x = scipy.sparse.csr_array((data, np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 4))
        assert sg.gds(x, 3)[0] == pytest.approx(sg.gds([5, 3, 0, 0], 3), rel=1e-14)
        assert x.nnz == 3
        np.testing.assert_array_equal(x.data, data)

    def test_stored_zeros_empty_rows_and_nan(self):
        x = scipy.sparse.csr_array(
            (np.array([0.0, 2.0, np.nan, 1.0]), np.array([0, 1, 0, 2]), np.array([0, 2, 2, 4])), shape=(3, 5)
        )
        np.testing.assert_allclose(sg.gds(x, 3), [0.8, np.nan, np.nan])
        np.testing.assert_allclose(sg.gds(x, 3, nan_policy="omit", zero=-1), [0.8, -1, 0.75])
        with pytest.raises(sg.InvalidInput, match="1 NaN"):
            sg.gds(x, 3, nan_policy="raise")

    def test_integers_are_added_up_as_floats(self):
        x = scipy.sparse.coo_array((np.array([100, 100, 50], np.int8), ([0, 0, 0], [0, 0, 1])), shape=(1, 3))
        assert sg.gds(x, 2)[0] == pytest.approx(sg.gds([200, 50, 0], 2), rel=1e-14)

    @pytest.mark.parametrize("method", ["definition", "paper"])
    @pytest.mark.parametrize("order", [1, 2, 3, 4])
    def test_the_slow_methods_do_not_make_it_dense_either(self, method, order):
        x = scipy.sparse.csr_array(([3.0, 4.0, 4.5], [5, 7, 9], [0, 3]), shape=(1, 10**9))
        assert sg.gds(x, order, method=method)[0] == pytest.approx(sg.gds(x, order)[0], rel=1e-12)

    def test_one_dimensional(self):
        x = scipy.sparse.coo_array(np.array([0.0, 3.0, 0.0, 4.0]))
        assert sg.gds(x, 2) == pytest.approx(sg.gds([0, 3, 0, 4], 2), rel=1e-14)

    @pytest.mark.parametrize("order", [1, 1.5, 2, 3])
    def test_a_billion_columns_cost_only_the_non_zeros(self, order):
        rng = np.random.default_rng(0)
        stored, n = 1_000_000, 1_000_000_000
        columns = np.unique(rng.integers(0, n, stored))
        values = rng.normal(size=len(columns))
        x = scipy.sparse.csr_array((values, columns, np.array([0, len(columns)])), shape=(1, n))
        zeros = 1 - len(columns) / n
        assert sg.gds(x, order)[0] == pytest.approx(zeros + (1 - zeros) * sg.gds(values, order), rel=1e-13)

    def test_gradient_stays_sparse(self):
        x = scipy.sparse.csr_matrix(X)
        for axis in (0, 1, None):
            gradient = sg.gds_gradient(x, 2.5, axis=axis)
            assert scipy.sparse.issparse(gradient)
            assert gradient.format == "csr"
            np.testing.assert_allclose(gradient.toarray(), sg.gds_gradient(X, 2.5, axis=axis), rtol=1e-12, atol=1e-15)


class TestDegenerate:
    @pytest.mark.parametrize("order", ORDERS)
    def test_all_zeros(self, order):
        assert math.isnan(sg.gds([0.0, 0.0], order))
        assert sg.gds([0.0, -0.0], order, zero=0.0) == 0.0
        assert sg.gds([0], order, zero=7) == 7.0
        np.testing.assert_array_equal(sg.gds([[0, 0], [0, 1]], order, zero=1), [1.0, 0.5])

    @pytest.mark.parametrize("order", ORDERS)
    def test_one_coefficient(self, order):
        assert sg.gds([5.0], order) == 0.0
        assert sg.gds([-1e-320], order) == 0.0

    @pytest.mark.parametrize("order", ORDERS)
    def test_equal_magnitudes_are_exactly_zero(self, order):
        assert sg.gds([0.1, -0.1, 0.1], order) == 0.0
        assert sg.gds(np.full(1000, 1 / 3), order) == 0.0

    @pytest.mark.parametrize("order", ORDERS)
    def test_nan_policies(self, order):
        x = [[1.0, np.nan, 3.0], [1.0, 2.0, 3.0], [np.nan] * 3]
        whole = sg.gds([1, 2, 3], order)
        assert str(sg.gds(x, order)) == str(np.array([np.nan, whole, np.nan]))
        omitted = sg.gds(x, order, nan_policy="omit")
        assert omitted[0] == pytest.approx(sg.gds([1, 3], order), rel=1e-14)
        assert omitted[1] == pytest.approx(whole, rel=1e-14)
        assert math.isnan(omitted[2])
        assert math.isnan(sg.gds([np.nan, np.nan], order, nan_policy="omit"))
        with pytest.raises(sg.InvalidInput, match=r"4 NaN.*omit"):
            sg.gds(x, order, nan_policy="raise")

    @pytest.mark.parametrize("order", [*ORDERS, 4, 9, 16, 17])
    @pytest.mark.parametrize("n", [7, 100, 300])
    def test_a_row_does_not_depend_on_its_neighbours(self, order, n):
        x = np.random.default_rng(3).normal(size=(5, n))
        x[1, 2] = np.nan
        x[2] = 1 + 1e-9 * x[2]  # handed over by the central moments
        x[3] = 0.3
        x[4, :3] = 0
        for k in (0, 2, 3, 4):
            assert sg.gds(x, order)[k] == sg.gds(x[k], order)

    @pytest.mark.parametrize("n", [300, 9000, 140_000])
    @pytest.mark.parametrize("steps", [2, 7, 33, 1000])
    def test_a_few_units_in_the_last_place_apart(self, n, steps):
        c = 1 - 1e-12 - np.random.default_rng(0).integers(0, steps, n) * 2.0**-53
        for x in (c, np.append(c, 0.1)):
            value, count = np.unique(x, return_counts=True)
            value = value.astype(np.longdouble)
            for order in (1.01, 1.5, 7.3):
                pairs = np.abs(np.subtract.outer(value, value)) ** np.longdouble(order) * np.outer(count, count)
                expected = float(pairs.sum() / 2 / (len(x) * (count * value ** np.longdouble(order)).sum()))
                assert sg.gds(x, order) == pytest.approx(expected, rel=1e-11, abs=0)

    def test_unit_modulus(self):
        x = np.exp(1j * np.arange(1000.0))  # magnitudes 1, give or take a rounding error
        for order in (1, 1.5, 2, 3, 129, 129.5):
            assert 0 <= sg.gds(x, order) < 1e-15
            assert np.isfinite(sg.gds_gradient(x, order)).all()

    def test_values_at_the_edge_of_float64(self):
        assert sg.gds([1e308, -1e308, 1e308], 2) == 0.0
        assert sg.gds([1e308, 1e308, 1], 1) == pytest.approx(1 / 3, rel=1e-14)
        for order in (1, 1.5, 2, 3, 4.5):
            small = sg.gds([5e-324, 1e-323, 0, 1.5e-323], order)
            assert small == pytest.approx(sg.gds([1, 2, 0, 3], order), rel=1e-14)

    def test_huge_orders(self):
        for order in (500, 1000.5, 1e5, 1e12, 1e300):
            assert sg.gds([0, 1, 2, 3], order) == pytest.approx(0.25 + (1 / 3) ** min(order, 600), rel=1e-12)
            many = np.random.default_rng(0).normal(size=2000)
            assert sg.gds(many, order) == pytest.approx(sg.gds(many, order, method="definition"), rel=1e-9)
            assert sg.gds([1, 2, 4], order) == pytest.approx((3 / 4) ** order / 3, rel=1e-9)


@pytest.mark.parametrize("function", [sg.gds, sg.gds_gradient, lambda x, p: sg.gds_profile(x, [p])])
class TestRefused:
    @pytest.mark.parametrize(
        ("x", "message"),
        [
            ([], "no coefficient.*pass at least one"),
            (np.empty((3, 0)), "no coefficient"),
            (5.0, r"single value.*pass \[x\]"),
            ([1.0, math.inf], "infinite.*remove"),
            ([complex(1e308, 1e308) * 1.5, 1], "infinite"),
            (["a", "b"], "real or complex numbers.*np.asarray"),
            ("text", "real or complex numbers"),
            ([object()], "real or complex numbers"),
            ([Fraction(1, 2)], "dtype object.*np.asarray"),
            ([Decimal(1)], "dtype object"),
            ([None, 1.0], "dtype object"),
            ([[1, 2], [3]], "equal length"),
            (np.array(["2020-01-01"], "M8[D]"), "datetime64"),
            ([np.ma.MaskedArray([1.0, 2.0], mask=[0, 1])] * 2, r"np\.ma\.stack"),
            ({1, 2}, "dtype object"),
            (pd.NA, "dtype object"),
            (pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}), "dtype object"),
            (pd.Series([1, 2], dtype="string"), "numbers"),
            (scipy.sparse.csr_array((3, 0)), "no coefficient"),
        ],
    )
    def test_data(self, function, x, message):
        with pytest.raises(sg.InvalidInput, match=message):
            function(x, 2)

    @pytest.mark.parametrize(
        ("order", "message"),
        [
            (0.999, "at least 1, got 0.999"),
            (-2, "at least 1"),
            (math.nan, "at least 1, got nan"),
            ("2", "real number >= 1.*'2'"),
            (None, "real number"),
            (True, "real number"),
            (2 + 0j, "real number"),
            (10**400, "1.8e308"),
        ],
    )
    def test_order(self, function, order, message):
        with pytest.raises(sg.InvalidInput, match=message):
            function([1.0, 2.0], order)


class TestOptionsRefused:
    @pytest.mark.parametrize("axis", [2, -3, 1.0, "0", (0, 0), True])
    def test_axis(self, axis):
        with pytest.raises(sg.InvalidInput, match="axis"):
            sg.gds(X, 2, axis=axis)

    def test_words_and_numbers(self):
        with pytest.raises(sg.InvalidInput, match="'propagate', 'omit', 'raise', got 'drop'"):
            sg.gds(X, 2, nan_policy="drop")
        with pytest.raises(sg.InvalidInput, match="'auto', 'definition', 'paper', got 'fast'"):
            sg.gds(X, 2, method="fast")
        with pytest.raises(sg.InvalidInput, match=r"integer orders only.*got 2\.5"):
            sg.gds(X, 2.5, method="paper")
        with pytest.raises(sg.InvalidInput, match=r"integer orders only.*got inf"):
            sg.gds(X, math.inf, method="paper")
        with pytest.raises(sg.InvalidInput, match="zero must be a number"):
            sg.gds(X, 2, zero="nan")
        with pytest.raises(sg.InvalidInput, match="no gradient"):
            sg.gds_gradient(X, math.inf)
        with pytest.raises(sg.InvalidInput, match="sequence of numbers"):
            sg.gds_profile(X, 3)
        with pytest.raises(sg.InvalidInput, match="flatten"):
            sg.gds_profile(X, [[1, 2]])
        with pytest.raises(sg.InvalidInput, match="gds_profile"):
            sg.gds(X, [1, 2])
        with pytest.raises(sg.InvalidInput, match="up to 1000, got 1100"):
            sg.gds(X, 1100, method="paper")
        with pytest.raises(sg.InvalidInput, match="nan_policy must be one of"):
            sg.gds(X, 2, nan_policy=np.array(["omit", "raise"]))
        with pytest.raises(TypeError):
            sg.gds(X, 2, -1)  # options are keyword-only


class TestProfileAndGradientShapes:
    def test_profile(self):
        assert sg.gds_profile(X, [1, 2.5, math.inf]).shape == (3, 3)
        assert sg.gds_profile(X[0], np.array([1.0, 2.0])).shape == (2,)
        assert sg.gds_profile(X, []).shape == (0, 3)
        assert sg.gds_profile(X, [2], axis=None).shape == (1,)
        assert sg.gds_profile(np.empty((0, 4)), [1, 2, 3.5]).shape == (3, 0)

    @pytest.mark.parametrize("order", [1, 2, 3, 1.5, 4.5, 129])
    def test_gradient(self, order):
        x = np.random.default_rng(2).normal(size=(3, 4, 5))
        for axis in (0, 1, -1):
            gradient = sg.gds_gradient(x, order, axis=axis)
            assert gradient.shape == x.shape
            for k, row in enumerate(np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])):
                one = np.moveaxis(gradient, axis, -1).reshape(-1, x.shape[axis])[k]
                np.testing.assert_array_equal(one, sg.gds_gradient(row, order))

    def test_gradient_of_degenerate_signals(self):
        assert sg.gds_gradient(np.empty((0, 4)), 3).shape == (0, 4)
        assert np.isnan(sg.gds_gradient([0.0, 0.0], 2)).all()
        np.testing.assert_array_equal(sg.gds_gradient([4.0], 2.5), [0.0])
        np.testing.assert_array_equal(sg.gds_gradient([3.0, -3.0], 2), [0.0, 0.0])
        assert np.isnan(sg.gds_gradient([1.0, np.nan, 2.0], 3)).all()
        masked = sg.gds_gradient(np.ma.MaskedArray([1.0, 7.0, 2.0], mask=[0, 1, 0]), 3)
        np.testing.assert_allclose(masked, np.insert(sg.gds_gradient([1.0, 2.0], 3), 1, 0.0), rtol=1e-14)

    def test_complex_gradient_points_along_the_number(self):
        x = np.array([3 + 4j, 2j, 0, -1])
        expected = sg.gds_gradient(np.abs(x), 3) * np.array([0.6 + 0.8j, 1j, 0, -1])
        np.testing.assert_allclose(sg.gds_gradient(x, 3), expected, rtol=1e-14)

    def test_complex_gradient_at_the_edge_of_the_range(self):
        unit = np.array([3 + 4j, 1j, 2])
        for scale, dtype in ((2e307, "c16"), (1e-300, "c16"), (1e-44, "c8"), (6e37, "c8")):
            x = (unit * scale).astype(dtype).astype("c16") / scale  # as much of it as that dtype keeps
            got = sg.gds_gradient((unit * scale).astype(dtype), 2) * scale
            np.testing.assert_allclose(got, sg.gds_gradient(x, 2), rtol=1e-10)
        assert not np.isnan(sg.gds_gradient(unit * 1e-320, 2)).any()
        masked = np.ma.masked_invalid([1 + 1j, complex(np.inf, 1), 2])
        assert np.isfinite(sg.gds_gradient(masked, 2)).all()
