"""The catalogue itself: names, signatures, errors, and the one policy for degenerate input that every metric keeps."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping

import numpy as np
import pytest
import scipy.sparse

import sparsegauge as sg
from sparsegauge._arrays import Parameter

NAMES = [
    "gds",
    "l0", "l0_eps", "neg_l1", "neg_lp", "neg_tanh", "neg_log", "neg_lp_neg",
    "l2_l1", "kappa4", "kurtosis", "hoyer", "pastor", "pastor_entropy", "treves_rolls",
    "neg_numerical_sparsity", "d_norm", "crest_factor", "pq_mean", "pq_index",
    "gini", "gi2", "gi3", "ggi", "fggi", "pfgi1", "pfgi2", "pfgi3", "s_gini", "u_theta",
    "h_g", "neg_h_s", "h_s", "neg_h_s_prime", "h_s_prime", "negentropy", "box_cox",
    "gm_am", "hoover", "atkinson", "theil", "generalised_entropy", "mean_log_deviation", "coefficient_of_variation",
    "spectral_flatness",
    "hill", "renyi", "tsallis", "participation_ratio", "herfindahl", "berger_parker",
]  # fmt: skip
PARAMETERS = {
    "gds": {"order": "1 <= order <= inf"},
    "l0_eps": {"eps": "eps >= 0"},
    "neg_lp": {"p": "p > 0"},
    "neg_tanh": {"a": "a > 0", "b": "b > 0"},
    "u_theta": {"theta": "0 < theta < 1"},
    "neg_lp_neg": {"p": "p < 0"},
    "pq_mean": {"p": "0 < p <= 1", "q": "q > 1"},
    "ggi": {"a": "a > 0"},
    "fggi": {"a": "a > 0", "p": "p > 0"},
    "pfgi1": {"p": "p > 0"},
    "pfgi2": {"p": "p > 0"},
    "pfgi3": {"p": "p > 0"},
    "s_gini": {"v": "v > 1"},
    "box_cox": {"l": "l > -1"},
    "pq_index": {"p": "p > 0", "q": "q > 0"},
    "atkinson": {"epsilon": "epsilon > 0"},
    "generalised_entropy": {"alpha": "any finite alpha"},
    "hill": {"q": "0 <= q <= inf"},
    "renyi": {"q": "0 <= q <= inf"},
    "tsallis": {"q": "q >= 0"},
}
SMALLER = {"pastor_entropy", "h_s", "h_s_prime", "spectral_flatness", "hill", "renyi", "tsallis", "participation_ratio"}
ABSOLUTE = {  # these depend on the unit of the signal
    "l0_eps", "neg_l1", "neg_lp", "neg_tanh", "neg_log", "neg_lp_neg", "h_g", "neg_h_s_prime", "h_s_prime",
}  # fmt: skip
SCALE_INVARIANT = [name for name in NAMES if name not in ABSOLUTE]
ZERO_FOR_EQUAL = [
    "gds", "gini", "hoyer", "pastor", "gi2", "gi3", "ggi", "fggi", "pfgi1", "pfgi2", "pfgi3", "s_gini",
    "negentropy", "box_cox", "gm_am", "pq_index", "treves_rolls", "hoover", "atkinson", "theil", "u_theta",
    "generalised_entropy", "mean_log_deviation", "coefficient_of_variation",
]  # fmt: skip

# where a metric takes another way than at its defaults
OTHER = [
    ("gds", {"order": 1.5}),
    ("neg_lp", {"p": 0.3}),
    ("neg_lp", {"p": 3.0}),
    ("neg_tanh", {"a": 2.0, "b": 0.7}),
    ("neg_lp_neg", {"p": -2.5}),
    ("pq_mean", {"p": 0.3, "q": 3.5}),
    ("pq_index", {"p": 0.3, "q": 20.0}),
    ("ggi", {"a": 0.7}),
    ("fggi", {"a": 0.7, "p": 1.5}),
    ("pfgi2", {"p": 0.3}),
    ("s_gini", {"v": 1.3}),
    ("box_cox", {"l": -0.7}),
    ("box_cox", {"l": 0.0}),
    ("atkinson", {"epsilon": 1.0}),
    ("atkinson", {"epsilon": 2.5}),
    ("generalised_entropy", {"alpha": 0.5}),
    ("hill", {"q": 2.0}),
    ("renyi", {"q": 1.0}),
    ("tsallis", {"q": 0.5}),
]
CASES = [pytest.param(name, {}, id=name) for name in NAMES]
CASES += [pytest.param(name, values, id=f"{name}-{values}") for name, values in OTHER]

every_metric = pytest.mark.parametrize(("name", "parameters"), CASES)


def signals() -> np.ndarray:
    """Rows of every kind, none of zeros alone; large enough for several threads."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((700, 60)) * 10.0 ** rng.integers(-3, 4, (700, 1))
    x[::5][rng.random((140, 60)) < 0.7] = 0.0
    x[1::5] = 1.0 + 1e-7 * x[1::5]
    x[2::5] = np.round(x[2::5]) + 0.25
    x[3] = -0.3
    x[4, 1:] = 0.0
    x[6] *= 10.0 ** rng.integers(-150, 150, 60)
    return x


class TestNames:
    def test_the_canonical_names_in_their_order(self):
        assert list(sg.METRICS) == NAMES
        assert len(sg.METRICS) == len(NAMES)
        assert isinstance(sg.METRICS, Mapping)
        assert repr(sg.METRICS).startswith("METRICS(gds, l0, ")

    @pytest.mark.parametrize("name", NAMES)
    def test_an_entry_is_the_public_function_of_that_name(self, name):
        metric = sg.METRICS[name]
        assert type(metric) is sg.Metric
        assert metric.name == name
        assert metric.function is getattr(sg, name)
        assert name in sg.__all__
        assert metric.function.metric is metric
        assert metric([1.0, 2.0]) == getattr(sg, name)([1.0, 2.0])
        assert metric.formula
        assert metric.meaning
        assert metric.reference
        assert metric.exact is not None
        assert metric.claims <= {*(f"P{k}" for k in range(1, 12)), "P3_energy"}  # and the law in energy
        assert metric.sparser == ("smaller" if name in SMALLER else "larger")

    @pytest.mark.parametrize(
        ("alias", "name"),
        [
            ("l1", "neg_l1"),
            ("-l1", "neg_l1"),
            ("- L1 ", "neg_l1"),
            ("−l1", "neg_l1"),
            ("lp", "neg_lp"),
            ("tanh", "neg_tanh"),
            ("-log", "neg_log"),
            ("log", "neg_log"),
            ("lp_neg", "neg_lp_neg"),
            ("-lp_neg", "neg_lp_neg"),
            ("l2/l1", "l2_l1"),
            ("L2 / L1", "l2_l1"),
            ("H_G", "h_g"),
            ("gaussian_entropy", "h_g"),
            ("Gaussian entropy", "h_g"),
            ("H_S", "h_s"),
            ("-H_S", "neg_h_s"),
            ("H_S'", "h_s_prime"),
            ("-H_S'", "neg_h_s_prime"),
            ("shannon_entropy", "neg_h_s"),
            ("pq-mean", "pq_mean"),
            ("PQ Index", "pq_index"),
            ("numerical_sparsity", "neg_numerical_sparsity"),
            ("Treves-Rolls", "treves_rolls"),
            ("vinje_gallant", "treves_rolls"),
            ("Vinje-Gallant", "treves_rolls"),
            ("1-gm/am", "gm_am"),
            ("1 - GM/AM", "gm_am"),
            ("D-norm", "d_norm"),
            ("S-Gini", "s_gini"),
            ("Box-Cox", "box_cox"),
            ("Gini", "gini"),
            ("GDS", "gds"),
            ("u-theta", "u_theta"),
        ],
    )
    def test_forgiving_look_up(self, alias, name):
        assert alias in sg.METRICS
        assert sg.METRICS[alias] is sg.METRICS[name]
        assert sg.METRICS.get(alias) is sg.METRICS[name]
        assert sg.measure([0, 1, 2], alias) == sg.measure([0, 1, 2], name)

    @pytest.mark.parametrize("name", ["ginni", "", "neg_gini", "-", 3, None, ("gini",)])
    def test_unknown_names_are_key_errors_of_the_mapping(self, name):
        assert name not in sg.METRICS
        assert sg.METRICS.get(name) is None
        with pytest.raises(KeyError):
            sg.METRICS[name]

    def test_entries_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            sg.METRICS["gini"].name = "other"
        with pytest.raises(TypeError):
            sg.METRICS["gini"] = sg.METRICS["gds"]


class TestParameters:
    def test_names_and_ranges(self):
        found = {name: {key: str(value) for key, value in m.parameters.items()} for name, m in sg.METRICS.items()}
        assert found == {name: PARAMETERS.get(name, {}) for name in NAMES}

    @pytest.mark.parametrize("name", [name for name in NAMES if name != "gds"])
    def test_signatures(self, name):
        own = "".join(f"{key}={value.default}, " for key, value in sg.METRICS[name].parameters.items())
        found = inspect.signature(getattr(sg, name))
        bare = found.replace(
            parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()],
            return_annotation=inspect.Signature.empty,
        )
        words = "".join(f", {key}={value.default!r}" for key, value in sg.METRICS[name].options.items())
        common = "axis=-1, keepdims=False, nan_policy='propagate', weights=None, center=None, zero=nan, dim=None"
        assert str(bare) == f"(x, *, {own}{common}{words})"

    def test_ends(self):
        half_open = Parameter("p", 0.5, low=0, high=1, high_included=True)
        assert str(half_open) == "0 < p <= 1"
        assert [value in half_open for value in (0, 5e-324, 1, 1 + 1e-15, math.nan)] == [
            False,
            True,
            True,
            False,
            False,
        ]
        assert str(Parameter("p", 0.5, low=0, high=1, low_included=True)) == "0 <= p < 1"

    @pytest.mark.parametrize("name", PARAMETERS)
    def test_the_default_is_in_range_and_the_ends_are_as_they_say(self, name):
        for key, parameter in sg.METRICS[name].parameters.items():
            assert parameter.default in parameter
            for end, included in ((parameter.low, parameter.low_included), (parameter.high, parameter.high_included)):
                if included:
                    assert sg.measure([0.0, 1.0, 2.0], name, **{key: end}) is not None
                else:
                    with pytest.raises(sg.InvalidInput, match=f"{key} must satisfy .*got"):
                        getattr(sg, name)([0.0, 1.0, 2.0], **{key: end})

    @pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "gds"])
    def test_what_is_no_number_in_range_is_refused(self, name):
        for key, parameter in sg.METRICS[name].parameters.items():
            for value, message in [("1", "must be a number"), (None, "must be a number"), (True, "must be a number")]:
                with pytest.raises(sg.InvalidInput, match=f"{key} {message}"):
                    getattr(sg, name)([1.0, 2.0], **{key: value})
            with pytest.raises(sg.InvalidInput, match=f"{key} must satisfy .*got nan; the default is {key}="):
                getattr(sg, name)([1.0, 2.0], **{key: math.nan})
            numbers = (np.float32(parameter.default), np.array(parameter.default))
            assert all(getattr(sg, name)([1, 2], **{key: v}) is not None for v in numbers)

    def test_the_pq_index_needs_p_below_q(self):
        for p, q in ((1.0, 1.0), (2.0, 1.0)):
            with pytest.raises(sg.InvalidInput, match=r"p must be less than q, got p=.* and q="):
                sg.pq_index([1.0, 2.0], p=p, q=q)


class TestMeasure:
    @every_metric
    def test_is_the_function(self, name, parameters):
        x = signals()[:8]
        np.testing.assert_array_equal(sg.measure(x, name, **parameters), getattr(sg, name)(x, **parameters))
        options = {"axis": 0, "nan_policy": "omit", "zero": 3.0}
        got = sg.measure(np.zeros((2, 5)), name, **options, **parameters)
        np.testing.assert_array_equal(got, [3.0] * 5)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("ginni", r"no metric 'ginni', did you mean 'gini'\?; there are gds, l0, .*theil"),
            ("Treves Rols", "did you mean 'treves_rolls'"),
            ("numerical sparsty", "did you mean 'neg_numerical_sparsity'"),
            ("zzzzzz", "no metric 'zzzzzz'; there are gds"),
            (7, "sequence of names.*got 7; pass a list"),
        ],
    )
    def test_unknown_metric(self, name, message):
        with pytest.raises(sg.InvalidInput, match=message):
            sg.measure([1, 2], name)

    @pytest.mark.parametrize(
        ("name", "parameters", "message"),
        [
            ("pq-mean", {"P": 1}, r"pq_mean has no parameter 'P'; it has 0 < p <= 1, q > 1"),
            ("atkinson", {"epsilom": 1}, r"no parameter 'epsilom', did you mean 'epsilon'\?; it has epsilon > 0"),
            ("hoyer", {"p": 1}, "hoyer has no parameters, got 'p'; leave it out"),
            ("gds", {"method": "paper"}, "gds has no parameter 'method'; it has 1 <= order <= inf"),
            ("ggi", {"a": 0}, "a must satisfy a > 0, got 0; the default is a=2"),
        ],
    )
    def test_unknown_parameter(self, name, parameters, message):
        with pytest.raises(sg.InvalidInput, match=message):
            sg.measure([1, 2], name, **parameters)


@every_metric
class TestPolicy:
    def test_zeros_alone_give_zero(self, name, parameters):
        metric = getattr(sg, name)
        assert math.isnan(metric([0.0, -0.0], **parameters))
        assert math.isnan(metric([0], **parameters))
        assert metric([0, 0, 0], zero=7, **parameters) == 7.0
        one = metric([1.0, 2.0], **parameters)
        np.testing.assert_array_equal(metric([[0, 0], [1, 2]], zero=-1, **parameters), [-1.0, one])
        empty = scipy.sparse.csr_array((2, 5))
        np.testing.assert_array_equal(metric(empty, zero=-1, **parameters), [-1.0, -1.0])

    def test_one_coefficient(self, name, parameters):
        for x in ([5.0], [-1e-320], [1e300]):
            value = getattr(sg, name)(x, **parameters)
            assert type(value) is float
            assert not math.isnan(value)
            if name in ZERO_FOR_EQUAL:
                assert value == 0.0

    def test_nan_policies(self, name, parameters):
        metric = getattr(sg, name)
        x = [[1.0, np.nan, 3.0, 0.5], [1.0, 2.0, 3.0, 4.0], [np.nan] * 4]
        whole, part = metric(x[1], **parameters), metric([1.0, 3.0, 0.5], **parameters)
        np.testing.assert_array_equal(metric(x, **parameters), [np.nan, whole, np.nan])
        omitted = metric(x, nan_policy="omit", zero=5.0, **parameters)
        np.testing.assert_allclose(omitted, [part, whole, np.nan], rtol=1e-14)
        with pytest.raises(sg.InvalidInput, match="5 NaN"):
            metric(x, nan_policy="raise", **parameters)
        with pytest.raises(sg.InvalidInput, match="nan_policy must be one of"):
            metric(x, nan_policy="drop", **parameters)

    def test_masked_is_omitted(self, name, parameters):
        metric = getattr(sg, name)
        x = np.ma.MaskedArray(
            [[1.0, np.inf, 3.0], [2.0, 2.5, 7.0], [1.0, 1.0, 1.0]], mask=[[0, 1, 0], [0] * 3, [1] * 3]
        )
        expected = [metric([1.0, 3.0], **parameters), metric([2.0, 2.5, 7.0], **parameters), np.nan]
        np.testing.assert_allclose(metric(x, **parameters), expected, rtol=1e-14)

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
    def test_sparse_equals_dense(self, name, parameters, kind):
        metric = getattr(sg, name)
        x = signals()[:40]
        for make in (scipy.sparse.csr_array, scipy.sparse.csr_matrix):
            sparse = make(x).asformat(kind)
            np.testing.assert_allclose(metric(sparse, **parameters), metric(x, **parameters), rtol=2e-13, atol=1e-15)
            np.testing.assert_allclose(
                metric(sparse, axis=0, **parameters), metric(x, axis=0, **parameters), rtol=2e-13, atol=1e-15
            )

    def test_unstored_zeros_cost_nothing(self, name, parameters):
        x = scipy.sparse.csr_array(([3.0, 4.0, 4.5], [5, 7, 9], [0, 3]), shape=(1, 10**9))
        assert not math.isnan(getattr(sg, name)(x, **parameters)[0])

    def test_axes(self, name, parameters):
        metric = getattr(sg, name)
        x = signals()[:24].reshape(4, 6, 60)
        for axis in (-3, 1, 2):
            moved = np.moveaxis(x, axis, -1)
            expected = [[metric(row, **parameters) for row in plane] for plane in moved]
            np.testing.assert_array_equal(metric(x, axis=axis, **parameters), expected)
        assert metric(x, axis=None, **parameters) == metric(x.ravel(), **parameters)
        assert metric(np.empty((2, 0, 4)), **parameters).shape == (2, 0)
        with pytest.raises(sg.InvalidInput, match="axis 3 is out of range"):
            metric(x, axis=3, **parameters)

    def test_a_batch_equals_its_rows_bit_for_bit(self, name, parameters):
        metric = getattr(sg, name)
        x = signals()
        np.testing.assert_array_equal(metric(x, **parameters), [metric(row, **parameters) for row in x])

    def test_the_array_is_not_changed(self, name, parameters):
        x = np.array([[3.0, -1.0, np.nan, 0.0], [3.0, -1.0, 2.0, 0.0]])
        before = x.copy()
        for policy in ("propagate", "omit"):
            getattr(sg, name)(x, nan_policy=policy, **parameters)
        np.testing.assert_array_equal(x, before)
        x.flags.writeable = False
        getattr(sg, name)(x, **parameters)

    def test_kinds_of_numbers(self, name, parameters):
        metric = getattr(sg, name)
        expected = metric(np.array([3.0, 1.0, 0.0, 4.0, 4.0]), **parameters)
        assert type(expected) is float
        assert metric([3, -1, 0, 4, -4], **parameters) == expected
        assert metric((3, 1, 0, 4, 4), **parameters) == expected
        for dtype in ("i1", "u2", "i8", "f2", "f4", ">f8", "c8", "c16", "g"):
            assert metric(np.array([3, 1, 0, 4, 4]).astype(dtype), **parameters) == expected
        assert metric([3j, -1, 0j, 4, -4j], **parameters) == expected
        assert metric([True, False, True], **parameters) == metric([1.0, 0.0, 1.0], **parameters)
        assert metric(np.array([-128, 1, 127], np.int8), **parameters) == metric([128.0, 1.0, 127.0], **parameters)

    @pytest.mark.parametrize(
        ("x", "message"),
        [([], "no coefficient"), ([1.0, math.inf], "infinite"), (["a"], "real or complex"), (5.0, "single value")],
    )
    def test_refused(self, name, parameters, x, message):
        with pytest.raises(sg.InvalidInput, match=message):
            getattr(sg, name)(x, **parameters)
        with pytest.raises(sg.InvalidInput, match="zero must be a number"):
            getattr(sg, name)([1.0, 2.0], zero="none", **parameters)

    def test_nothing_is_nan_at_the_edge_of_float64(self, name, parameters):
        for x in ([1e308, 1e308, 1.0], [5e-324, 1e-323, 0.0], [1.7e308, 5e-324], [1e-300, 1e300, 1.0]):
            assert not math.isnan(getattr(sg, name)(x, **parameters))


@pytest.mark.parametrize(("name", "parameters"), [case for case in CASES if case.values[0] in SCALE_INVARIANT])
class TestScale:
    def test_a_power_of_two_changes_nothing(self, name, parameters):
        x = signals()[[0, 1, 2, 3, 4, 5, 7, 8]]
        expected = getattr(sg, name)(x, **parameters)
        for exponent in (-900, 900):
            np.testing.assert_array_equal(getattr(sg, name)(np.ldexp(x, exponent), **parameters), expected)

    def test_no_overflow_and_no_underflow(self, name, parameters):
        """The factor itself rounds every coefficient: hence a few units in the last place."""
        x = np.random.default_rng(5).standard_normal((20, 50))
        x[1, :20] = 0.0
        expected = getattr(sg, name)(x, **parameters)
        for factor in (1e300, 1e-300):
            np.testing.assert_allclose(getattr(sg, name)(x * factor, **parameters), expected, rtol=4e-15, atol=2e-15)


@pytest.mark.parametrize("name", ZERO_FOR_EQUAL)
@pytest.mark.parametrize("value", [1.0, -0.1, 1 / 3, 1e-310, 1e300])
def test_equal_magnitudes_are_exactly_zero(name, value):
    for n in (1, 2, 7, 1000):
        assert getattr(sg, name)(np.full(n, value)) == 0.0


@pytest.mark.parametrize("name", ZERO_FOR_EQUAL)
def test_nearly_equal_magnitudes_are_not_negative(name):
    rng = np.random.default_rng(6)
    for steps in (2, 5, 1000):
        x = 1.0 - rng.integers(0, steps, (200, 37)) * 2.0**-53
        assert (getattr(sg, name)(x) >= 0.0).all()
