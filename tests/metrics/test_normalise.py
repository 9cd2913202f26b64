"""The normaliser of coefficients: scikit-learn's conventions, digits over all of float64's range, S_p of z-scores."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import sparsegauge as sg
from sparsegauge.metrics.coefficient_moments import BLOCK_COLUMNS, BLOCK_VALUES
from sparsegauge.normalise import CoefficientNormaliser, normalised_gds
from strategies import extreme, law, moderate, near_one, tied, zeros

EPS = np.finfo(float).eps
PUBLIC = ("mean_", "var_", "scale_")
# needs an environment variable that is read when SciPy is imported, and another kind of array than NumPy's
NEEDS_ANOTHER_ARRAY_LIBRARY = {"check_array_api_input"}


def rng(seed=0):
    return np.random.default_rng(seed)


def in_pieces(X, cuts):
    normaliser = CoefficientNormaliser()
    for piece in np.split(X, cuts):
        if len(piece):
            normaliser.partial_fit(piece)
    return normaliser


def row_by_row(X):
    return in_pieces(X, range(1, len(X)))


def slow_column(x):
    """Mean and standard deviation without rounding but for the root; NaN left out."""
    seen = [Fraction(v) for v in x.tolist() if not math.isnan(v)]
    mean = sum(seen) / len(seen)
    variance = sum((v - mean) ** 2 for v in seen) / (len(seen) - 1)
    return mean, mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator) if variance else mpmath.mpf(1)


def slow_z_scores(X, new=None):
    """(x - mean) / deviation, value by value, at 50 digits."""
    z = np.full(np.shape(X if new is None else new), math.nan)
    with mpmath.workdps(50):
        for i in range(X.shape[1]):
            mean, deviation = slow_column(X[:, i])
            for j, value in enumerate((X if new is None else new)[:, i].tolist()):
                if not math.isnan(value):
                    difference = Fraction(value) - mean
                    z[j, i] = mpmath.mpf(difference.numerator) / difference.denominator / deviation
    return z


def assert_last_digits(got, expected):
    """Within a few roundings of values that are of the order of 1, or larger."""
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    wrong = np.abs(got - expected) / (1 + np.abs(expected))
    assert not np.any(wrong > 4 * EPS), np.nanmax(wrong)


@st.composite
def tables(draw):
    """2 to 40 signals of 1 to 4 coefficients, each of a kind of its own, some constant, some with NaN."""
    rows = draw(st.integers(2, 40))
    noise = st.floats(-1e-3, 1e-3)
    kinds = [
        extreme,
        extreme.map(lambda v: -v),
        st.one_of(extreme, zeros),
        st.floats(1e300, 1e301),
        st.floats(-1e-300, 1e-300),
        noise.map(lambda v: 1e9 + v),
        near_one,
        moderate,
        st.one_of(tied, zeros),
        tied,
    ]
    columns = []
    for _ in range(draw(st.integers(1, 4))):
        values = draw(st.sampled_from(kinds))
        if draw(st.integers(0, 4)) == 0:
            values = st.just(draw(values))
        column = np.array(draw(st.lists(values, min_size=rows, max_size=rows)))
        if draw(st.booleans()):
            column[2:][np.array(draw(st.lists(st.booleans(), min_size=rows - 2, max_size=rows - 2)), bool)] = math.nan
        columns.append(column[np.array(draw(st.permutations(range(rows))))])
    return np.stack(columns, axis=1)


class TestScikitLearn:
    def test_its_own_checks(self):
        results = check_estimator(CoefficientNormaliser(), on_skip=None)
        assert len(results) > 30
        skipped = {result["check_name"] for result in results if result["status"] != "passed"}
        assert skipped <= NEEDS_ANOTHER_ARRAY_LIBRARY

    @pytest.mark.parametrize("shape", [(2, 1), (50, 3), (1000, 20)])
    def test_standard_scaler_but_for_n_minus_1(self, shape):
        X = rng().normal(3, 5, shape)
        ours, theirs = CoefficientNormaliser().fit(X), StandardScaler().fit(X)
        n = len(X)
        np.testing.assert_allclose(ours.mean_, theirs.mean_, rtol=1e-13)
        np.testing.assert_allclose(ours.var_, theirs.var_ * n / (n - 1), rtol=1e-13)
        np.testing.assert_allclose(ours.scale_, theirs.scale_ * math.sqrt(n / (n - 1)), rtol=1e-13)
        np.testing.assert_allclose(ours.transform(X), theirs.transform(X) * math.sqrt((n - 1) / n), atol=1e-13)
        assert ours.n_samples_seen_ == theirs.n_samples_seen_ == n
        assert ours.n_features_in_ == shape[1]

    def test_names_of_a_data_frame(self):
        frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3, 5, 9]})
        normaliser = CoefficientNormaliser().fit(frame)
        assert list(normaliser.feature_names_in_) == ["a", "b"]
        assert list(normaliser.get_feature_names_out()) == ["a", "b"]
        with pytest.raises(sg.InvalidInput, match="feature names"):
            normaliser.transform(frame.rename(columns={"b": "c"}))
        with pytest.warns(UserWarning, match="valid feature names"):
            normaliser.transform(frame.to_numpy())
        assert np.allclose(normaliser.inverse_transform(normaliser.transform(frame)), frame)

    def test_names_without_a_data_frame(self):
        assert list(CoefficientNormaliser().fit(np.eye(2)).get_feature_names_out()) == ["x0", "x1"]

    def test_set_output(self):
        frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3, 5, 9]}, index=[7, 8, 9])
        normaliser = CoefficientNormaliser().set_output(transform="pandas").fit(frame)
        result = normaliser.transform(frame)
        assert isinstance(result, pd.DataFrame)
        assert list(result.columns) == ["a", "b"]
        assert list(result.index) == [7, 8, 9]
        assert np.array_equal(result, CoefficientNormaliser().fit_transform(frame))
        assert isinstance(normalised_gds(frame, normaliser=normaliser), np.ndarray)

    def test_in_a_pipeline(self):
        X = rng().normal(size=(9, 3))
        both = make_pipeline(CoefficientNormaliser(), StandardScaler(with_mean=False))
        assert np.allclose(both.fit_transform(X).std(axis=0), 1)

    @pytest.mark.parametrize("again", [lambda n: pickle.loads(pickle.dumps(n)), copy.deepcopy])
    def test_a_copy_goes_on_where_the_first_was(self, again):
        X = rng().normal(size=(9, 3))
        half = CoefficientNormaliser().partial_fit(X[:4])
        twin = again(half)
        half.partial_fit(X[4:])
        assert twin.n_samples_seen_ == 4
        assert np.array_equal(twin.partial_fit(X[4:]).transform(X), half.transform(X))

    def test_a_clone_is_not_fitted(self):
        twin = clone(CoefficientNormaliser(copy=False).fit(np.eye(3)))
        assert twin.copy is False
        assert not hasattr(twin, "mean_")

    def test_fit_forgets(self):
        X = rng().normal(size=(9, 3))
        again = CoefficientNormaliser().fit(X[:, :2] * 1e9).fit(X)
        assert again.n_features_in_ == 3
        assert np.array_equal(again.scale_, CoefficientNormaliser().fit(X).scale_)

    def test_a_fit_that_fails_leaves_nothing_behind(self):
        normaliser = CoefficientNormaliser().fit(np.eye(3))
        with pytest.raises(sg.InvalidInput, match="columns 1"):
            normaliser.fit([[1.0, math.nan], [2.0, math.nan]])
        with pytest.raises(NotFittedError):
            normaliser.transform(np.eye(3))


class TestDigits:
    @law
    @given(tables(), st.data())
    @example(np.array([[1.7e308], [-1.7e308], [1.7e308]]), None)
    @example(np.array([[5e-324], [0.0], [0.0], [0.0]]), None)
    @example(np.array([[5e-324], [1.7e308], [5e-324], [0.0]]), None)
    @example(np.array([[1.0], [1.0 + EPS], [1.0], [1.0]]), None)
    def test_any_pieces_of_any_data_against_50_digits(self, X, data):
        cuts = range(1, len(X)) if data is None else sorted(data.draw(st.sets(st.integers(1, len(X) - 1))))
        expected = slow_z_scores(X)
        for normaliser in (CoefficientNormaliser().fit(X), in_pieces(X, cuts)):
            assert_last_digits(normaliser.transform(X), expected)

    @law
    @given(tables(), st.data())
    def test_pieces_give_the_same_attributes(self, X, data):
        whole = CoefficientNormaliser().fit(X)
        pieces = in_pieces(X, sorted(data.draw(st.sets(st.integers(1, len(X) - 1)))))
        assert np.array_equal(whole.n_samples_seen_, pieces.n_samples_seen_)
        for name in PUBLIC:
            got, expected = getattr(pieces, name), getattr(whole, name)
            size = np.nanmax(np.abs(X), axis=0) if name == "mean_" else expected
            finite = np.isfinite(expected)
            assert np.array_equal(got[~finite], expected[~finite]), name
            wrong = np.abs(got[finite] - expected[finite])
            assert np.all(wrong <= 8 * np.maximum(EPS * size, 5e-324)[finite]), name

    @law
    @given(tables())
    def test_new_signals(self, X):
        new = X[::-1] / 2 + X / 2  # inside the range of the old ones: a score beyond float64's range has its own test
        assert_last_digits(CoefficientNormaliser().fit(X).transform(new), slow_z_scores(X, new))

    @law
    @given(tables())
    def test_inverse(self, X):
        normaliser = CoefficientNormaliser().fit(X)
        back = normaliser.inverse_transform(normaliser.transform(X))
        assert np.array_equal(np.isnan(back), np.isnan(X))
        wrong = np.abs(back / 2 - X / 2)  # halves: at 1.7e308 the difference itself may have no room
        assert not np.any(wrong > np.maximum(4 * EPS * np.nanmax(np.abs(X), axis=0), 5e-324))

    @pytest.mark.parametrize("shape", [(BLOCK_VALUES // 2 + 7, 3), (70, 2 * BLOCK_COLUMNS + 5), (3, BLOCK_COLUMNS)])
    def test_more_than_a_block(self, shape):
        X = 1e9 + 1e-3 * rng().standard_normal(shape)
        normaliser = CoefficientNormaliser().fit(X)
        near = (X - 1e9).astype(np.longdouble)  # exact, and small
        deviation = near.std(axis=0, ddof=1)
        np.testing.assert_allclose(normaliser.scale_, deviation.astype(float), rtol=4 * EPS)
        expected = ((near - near.mean(axis=0)) / deviation).astype(float)
        assert_last_digits(normaliser.transform(X), expected)

    def test_thousands_of_pieces(self):
        X = 1e9 + 1e-3 * rng().standard_normal((4000, 3))
        whole, pieces = CoefficientNormaliser().fit(X), row_by_row(X)
        for name in PUBLIC:
            np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=2 * EPS)
        assert_last_digits(pieces.transform(X), whole.transform(X))

    @pytest.mark.parametrize("size", [1e300, 1e-300])
    def test_sizes_whose_squares_float64_does_not_have(self, size):
        X = rng().standard_normal((30, 4)) * size
        normaliser = CoefficientNormaliser().fit(X)
        np.testing.assert_allclose(normaliser.scale_ / size, (X / size).std(axis=0, ddof=1), rtol=1e-13)
        assert np.all(normaliser.var_ == (math.inf if size > 1 else 0.0))
        assert np.allclose(normaliser.transform(X).std(axis=0, ddof=1), 1)

    def test_sizes_that_grow_from_piece_to_piece(self):
        X = np.array([[1e-320], [2e-300], [-3e-10], [4.0], [5e100], [-6e307]])
        for normaliser in (row_by_row(X), row_by_row(X[::-1])):
            assert_last_digits(normaliser.transform(X), slow_z_scores(X))

    def test_what_is_small_next_to_its_mean_comes_back_to_the_last_bit(self):
        bits = np.array([[-1.0], [-3.0], [8.0], [8.0], [12.0]])  # the mean, 4.8, is between two float64
        for X in (1 + bits * EPS / 2, 1e9 + 1e-3 * rng().standard_normal((1000, 3))):
            normaliser = CoefficientNormaliser().fit(X)
            assert np.array_equal(normaliser.inverse_transform(normaliser.transform(X)), X)

    def test_values_whose_sums_float64_does_not_have(self):
        X = np.tile([1.5e308, -1.5e308], (40, 2))
        X[::2] /= 2
        normaliser = CoefficientNormaliser().fit(X)
        z = normaliser.transform(X)
        assert_last_digits(z, slow_z_scores(X))
        assert np.array_equal(normaliser.inverse_transform(z), X)

    def test_scores_beyond_the_range_are_infinite_with_a_warning(self):
        normaliser = CoefficientNormaliser().fit([[1e-300], [2e-300]])
        with pytest.warns(RuntimeWarning, match="overflow"):
            assert normaliser.transform([[-1e300]]) == -math.inf


class TestConstantCoefficients:
    @pytest.mark.parametrize("value", [0.1, 0.0, -1 / 3, 1e9 + 0.1, 1.7e308, -1e300, 1e-300, 5e-324])
    @pytest.mark.parametrize("rows", [2, 3, 10, 49, 1000])
    def test_in_any_pieces(self, value, rows):
        X = np.full((rows, 2), value)
        X[:, 1] = rng().standard_normal(rows)
        for cuts in ([], range(1, rows), [1], [rows // 3, rows // 2], [rows - 1]):
            normaliser = in_pieces(X, cuts)
            assert (normaliser.mean_[0], normaliser.var_[0], normaliser.scale_[0]) == (value, 0.0, 1.0)
            z = normaliser.transform(X)
            assert np.all(z[:, 0] == 0)
            assert np.all(z[:, 1] != 0)
            assert np.array_equal(normaliser.inverse_transform(z)[:, 0], X[:, 0])

    def test_new_values_are_centred_only(self):
        normaliser = CoefficientNormaliser().fit([[5.0], [5.0]])
        assert normaliser.transform([[7.5]]) == 2.5
        assert CoefficientNormaliser().fit([[1e-300], [1e-300]]).transform([[1e300]]) == 1e300

    def test_the_last_bit_is_not_constant(self):
        X = np.array([[1.0], [1.0], [1.0], [1.0 + EPS]])
        for normaliser in (CoefficientNormaliser().fit(X), row_by_row(X)):
            assert normaliser.scale_[0] == EPS / 2
            assert np.array_equal(normaliser.transform(X), [[-0.5], [-0.5], [-0.5], [1.5]])

    def test_no_longer_constant(self):
        X = np.array([[0.1]] * 7 + [[0.2]])
        normaliser = CoefficientNormaliser().partial_fit(X[:7])
        assert normaliser.scale_ == 1
        normaliser.partial_fit(X[7:])
        assert_last_digits(normaliser.transform(X), slow_z_scores(X))


class TestMissingValues:
    def test_are_left_out_and_stay(self):
        X = np.array([[1.0, 2.0], [math.nan, 4.0], [3.0, 9.0], [5.0, math.nan], [math.nan, 1.0]])
        for normaliser in (CoefficientNormaliser().fit(X), row_by_row(X)):
            np.testing.assert_allclose(normaliser.mean_, np.nanmean(X, axis=0), rtol=1e-15)
            np.testing.assert_allclose(normaliser.scale_, np.nanstd(X, axis=0, ddof=1), rtol=1e-15)
            assert list(normaliser.n_samples_seen_) == [3, 4]
            assert np.array_equal(np.isnan(normaliser.transform(X)), np.isnan(X))

    def test_a_coefficient_without_two_values(self):
        X = np.array([[1.0, math.nan, 3.0], [2.0, math.nan, math.nan], [3.0, 2.0, math.nan]])
        with pytest.raises(sg.InvalidInput, match=r"2 of 3 coefficients .* \(columns 1, 2\); pass more signals"):
            CoefficientNormaliser().fit(X)
        normaliser = CoefficientNormaliser().partial_fit(X)
        assert list(normaliser.n_samples_seen_) == [3, 1, 1]
        assert np.array_equal(normaliser.scale_, [1, math.nan, math.nan], equal_nan=True)
        with pytest.raises(sg.InvalidInput, match="columns 1, 2"):
            normaliser.transform(X)
        assert np.isfinite(normaliser.partial_fit(X[::-1] + 1).transform(X[:1, [0, 2, 2]])).all()

    def test_a_long_list_of_columns_is_cut(self):
        with pytest.raises(sg.InvalidInput, match=r"9 of 9 .*\(columns 0, 1, 2, 3, 4, \.\.\.\)"):
            CoefficientNormaliser().fit(np.full((2, 9), math.nan))


class TestErrors:
    def test_one_signal(self):
        with pytest.raises(sg.InvalidInput, match="1 sample"):
            CoefficientNormaliser().fit([[1.0, 2.0]])
        normaliser = CoefficientNormaliser().partial_fit([[1.0, 2.0]])
        assert list(normaliser.mean_) == [1, 2]
        assert np.isnan(normaliser.scale_).all()
        assert np.isnan(normaliser.var_).all()
        for method in (normaliser.transform, normaliser.inverse_transform):
            with pytest.raises(sg.InvalidInput, match=r"needs at least two signals.*partial_fit"):
                method([[1.0, 2.0]])
        assert normaliser.partial_fit([[3.0, 2.0]]).transform([[2.0, 2.0]]).tolist() == [[0, 0]]

    def test_no_signal(self):
        for method in (CoefficientNormaliser().transform, CoefficientNormaliser().inverse_transform):
            with pytest.raises(NotFittedError, match="fit"):
                method([[1.0, 2.0]])

    @pytest.mark.parametrize("method", ["fit", "partial_fit", "transform", "inverse_transform"])
    @pytest.mark.parametrize(
        ("X", "words"),
        [
            (scipy.sparse.csr_array(np.eye(3)), "csr_array cannot be centred.*toarray"),
            (scipy.sparse.coo_matrix(np.eye(3)), "coo_matrix cannot be centred.*toarray"),
            (np.ma.masked_equal(np.eye(3), 0), "masked array.*filled"),
            ([[1.0, 2.0, math.inf]] * 3, "infinity"),
            (np.eye(3) * 1j, "[Cc]omplex"),
            ([1.0, 2.0, 3.0], "2D array"),
            (np.zeros((2, 2, 3)), "dim 3"),
            (np.zeros((0, 3)), "0 sample"),
            ([["a", "b", "c"]] * 3, "could not convert string"),
        ],
    )
    def test_what_is_refused(self, method, X, words):
        normaliser = CoefficientNormaliser().fit(np.eye(3))
        with pytest.raises(sg.InvalidInput, match=words):
            getattr(normaliser, method)(X)

    @pytest.mark.parametrize("method", ["partial_fit", "transform", "inverse_transform"])
    def test_another_number_of_coefficients(self, method):
        normaliser = CoefficientNormaliser().fit(np.eye(3))
        with pytest.raises(sg.InvalidInput, match=r"X has 4 (features|coefficients)"):
            getattr(normaliser, method)(np.eye(4))

    def test_copy_is_yes_or_no(self):
        with pytest.raises(sg.InvalidInput, match="copy must be True or False, got 'no'"):
            CoefficientNormaliser(copy="no").fit(np.eye(3))


class TestMemory:
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_the_callers_array_is_left_alone(self, order):
        X = np.asarray(rng().normal(size=(9, 4)), order=order)
        before = X.copy()
        normaliser = CoefficientNormaliser().fit(X).partial_fit(X)
        normaliser.inverse_transform(X)
        normaliser.transform(X)
        normalised_gds(X)
        normalised_gds(X, normaliser=CoefficientNormaliser(copy=False).fit(X))
        assert np.array_equal(X, before)

    def test_unless_it_is_offered(self):
        X = rng().normal(size=(9, 4))
        before = X.copy()
        normaliser = CoefficientNormaliser(copy=False).fit(X)
        assert np.array_equal(X, before)
        z = normaliser.transform(X)
        assert np.shares_memory(z, X)
        assert np.array_equal(z, CoefficientNormaliser().fit_transform(before))
        assert np.shares_memory(normaliser.inverse_transform(z), X)
        assert np.allclose(X, before, rtol=1e-15, atol=1e-15)

    def test_read_only_arrays(self):
        X = rng().normal(size=(9, 4))
        X.flags.writeable = False
        z = CoefficientNormaliser(copy=False).fit(X).transform(X)
        assert not np.shares_memory(z, X)

    @pytest.mark.parametrize("dtype", ["i1", "u2", "f2", "f4", ">f8", "?"])
    def test_everything_becomes_float64(self, dtype):
        X = rng().integers(0, 2, (9, 4)).astype(dtype)
        z = CoefficientNormaliser().fit(X).transform(X)
        assert z.dtype == np.float64
        assert np.array_equal(z, CoefficientNormaliser().fit_transform(X.astype(float)))

    def test_strict_floating_point_errors_of_the_caller(self):
        X = np.array([[1e-320, 1e300], [2e-300, -1e300], [3e100, 5e-324]])
        with np.errstate(all="raise"):
            normaliser = row_by_row(X)
            normaliser.inverse_transform(normaliser.transform(X))


def slow_normalised_gds(X, p):
    """The paper's section VII, as it is written (with the root of its sigma squared), pair by pair."""
    z = np.abs(slow_z_scores(X))
    results = []
    for c in z.tolist():
        pairs = sum(abs(a - b) ** p for k, a in enumerate(c) for b in c[:k])
        total = len(c) * sum(a**p for a in c)
        results.append(pairs / total if total else math.nan)
    return results


class TestNormalisedGds:
    @pytest.mark.parametrize("order", [1, 1.5, 2, 3, 8])
    def test_the_slow_version(self, order):
        X = rng(1).normal(size=(12, 7)) * 10.0 ** np.arange(-3, 4) + 100 * np.arange(7)
        X[:, 3] = 0.1
        result = normalised_gds(X, order)
        assert result.shape == (12,)
        np.testing.assert_allclose(result, slow_normalised_gds(X, order), rtol=1e-12)

    def test_order_2_by_default(self):
        X = rng().normal(size=(12, 7))
        assert np.array_equal(normalised_gds(X), normalised_gds(X, 2))

    def test_infinite_order_is_the_fraction_of_coefficients_at_their_means(self):
        X = [[0.0, 5.0, 1.0], [1.0, 5.0, 2.0], [2.0, 5.0, 6.0]]
        assert normalised_gds(X, math.inf).tolist() == [1 / 3, 2 / 3, 1 / 3]

    @law
    @given(
        st.integers(0, 2**32 - 1),
        st.lists(st.sampled_from([2.0**-9, -1.0, 4.0, -(2.0**300)]), min_size=5, max_size=5),
        st.sampled_from([1, 2, 2.5, 3]),
    )
    def test_units_do_not_matter(self, seed, units, order):
        X = rng(seed).integers(-50, 50, (9, 5)).astype(float)
        np.testing.assert_allclose(normalised_gds(X * units, order), normalised_gds(X, order), rtol=1e-12)

    @law
    @given(st.integers(0, 2**32 - 1), st.lists(st.integers(-(2**40), 2**40), min_size=5, max_size=5))
    def test_origins_do_not_matter(self, seed, origins):
        X = rng(seed).integers(-50, 50, (9, 5)).astype(float)
        np.testing.assert_allclose(normalised_gds(X + origins), normalised_gds(X), rtol=1e-10, atol=1e-13)

    def test_new_signals_against_a_dataset(self):
        X = rng().normal(size=(12, 7))
        new = rng(1).normal(size=(3, 7))
        normaliser = CoefficientNormaliser().fit(X)
        state = pickle.dumps(normaliser)
        expected = sg.gds(slow_z_scores(X, new), 3)
        np.testing.assert_allclose(normalised_gds(new, 3, normaliser=normaliser), expected, rtol=1e-12)
        np.testing.assert_allclose(normalised_gds(new[:1], 3, normaliser=normaliser), expected[:1], rtol=1e-12)
        assert np.array_equal(normalised_gds(X, normaliser=normaliser), normalised_gds(X))
        assert pickle.dumps(normaliser) == state

    def test_missing_values(self):
        X = rng().normal(size=(6, 4))
        X[2, 1] = math.nan
        z = CoefficientNormaliser().fit_transform(X)
        assert np.flatnonzero(np.isnan(normalised_gds(X))).tolist() == [2]
        omitted = normalised_gds(X, nan_policy="omit")
        assert omitted[2] == sg.gds(z[2, [0, 2, 3]])
        assert np.array_equal(np.delete(omitted, 2), np.delete(normalised_gds(X), 2))
        with pytest.raises(sg.InvalidInput, match="1 NaN"):
            normalised_gds(X, nan_policy="raise")

    def test_a_signal_at_the_mean(self):
        X = [[1.0, 5.0], [2.0, 7.0], [3.0, 9.0]]
        assert np.isnan(normalised_gds(X)[1])
        assert normalised_gds(X, zero=-1.0)[1] == -1

    def test_a_normaliser_that_will_not_do(self):
        X = np.eye(3)
        with pytest.raises(sg.InvalidInput, match=r"normaliser is not fitted; call normaliser\.fit"):
            normalised_gds(X, normaliser=CoefficientNormaliser())
        with pytest.raises(sg.InvalidInput, match="at least two signals"):
            normalised_gds(X, normaliser=CoefficientNormaliser().partial_fit(X[:1]))
        with pytest.raises(sg.InvalidInput, match="must be a fitted CoefficientNormaliser or None, got StandardScaler"):
            normalised_gds(X, normaliser=StandardScaler().fit(X))
        with pytest.raises(sg.InvalidInput, match="4 features"):
            normalised_gds(np.eye(4), normaliser=CoefficientNormaliser().fit(X))

    def test_bad_arguments(self):
        X = np.eye(3)
        with pytest.raises(sg.InvalidInput, match="order must be at least 1"):
            normalised_gds(X, 0.5)
        with pytest.raises(sg.InvalidInput, match="nan_policy"):
            normalised_gds(X, nan_policy="ignore")
        with pytest.raises(sg.InvalidInput, match="1 sample"):
            normalised_gds(X[:1])
        with pytest.raises(sg.InvalidInput, match="sparse"):
            normalised_gds(scipy.sparse.csr_array(X))
