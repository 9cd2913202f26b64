"""Signals that come in pieces: every way of cutting them gives the measure of the whole."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import sparsegauge as sg
from sparsegauge.metrics import accumulator as module
from sparsegauge.metrics.accumulated_rows import metrics_made_of_sums
from sparsegauge.metrics.double_double import Pair, difference, of

EXACT = 1e-12
NOTHING = 1e-40  # of equal coefficients, whose differences are roundings
ORDERS = [2, 4, 6, 8, math.inf]
MADE_OF_SUMS = [name for name in metrics_made_of_sums() if name != "gds"]
NOT_DEFAULT = [
    ("hill", {"q": 0.5}),
    ("hill", {"q": math.inf}),
    ("renyi", {"q": 2.0}),
    ("renyi", {"q": math.inf}),
    ("tsallis", {"q": 1.0}),
    ("tsallis", {"q": 3.5}),
    ("pq_mean", {"p": 0.2, "q": 3.0}),
    ("box_cox", {"l": 0.0}),
    ("box_cox", {"l": -0.75}),
    ("atkinson", {"epsilon": 2.0}),
    ("generalised_entropy", {"alpha": -1.0}),
    ("generalised_entropy", {"alpha": 1.0}),
    ("neg_tanh", {"a": 0.5, "b": 2.0}),
    ("neg_lp_neg", {"p": -0.5}),
    ("l0_eps", {"eps": 0.25}),
]


def everything(**options):
    return sg.Accumulator(orders=ORDERS, metrics=[*MADE_OF_SUMS, *NOT_DEFAULT], **options)


def measure_whole(accumulator, x, **options):
    """Return the same columns, of the whole signal."""
    return {label: metric(x, **own, **options) for label, (metric, own) in accumulator._columns.items()}


def assert_equals_whole(accumulator, x, **options):
    values = accumulator.value()
    for label, whole in measure_whole(accumulator, x, **options).items():
        rounding = 1e-14 if label == "kurtosis" else NOTHING  # which subtracts 3 from what may be 3
        np.testing.assert_allclose(values[label], whole, rtol=EXACT, atol=rounding, err_msg=label)


def add_blocks(blocks, **options):
    accumulator = everything(**options)
    for block in blocks:
        accumulator.update(block)
    return accumulator


def laplace(n, seed=0):
    return np.random.default_rng(seed).laplace(size=n)


SIGNALS = {
    "laplace": laplace(2000),
    "sparse": np.where(np.random.default_rng(1).random(2000) < 0.1, laplace(2000), 0.0),
    "1e-200": laplace(1000) * 1e-200,
    "1e200": laplace(1000) * 1e200,
    "subnormal": laplace(1000) * 1e-310,
    "scales apart": np.concatenate([laplace(500) * 1e-200, laplace(500) * 1e200]),
    "loud, then silent": np.concatenate([laplace(500) * 1e200, np.zeros(300), laplace(500) * 1e-200]),
    "every scale": laplace(1500) * 10.0 ** np.random.default_rng(2).uniform(-150, 150, 1500),
    "nearly equal": 1.0 + 1e-6 * laplace(1500),
    "equal up to the last digits": 1.0 + 1e-12 * laplace(1500),
    "equal": np.full(500, 0.1),
    "gravity after silence": np.concatenate([np.zeros(500), 9.81 + 0.01 * laplace(1500)]),
    "offset that moves": np.concatenate([laplace(500), 1e8 + laplace(500), 1e4 + laplace(500)]),
    "mean that cancels": np.concatenate([1e8 + laplace(400), -1e8 - laplace(400), laplace(7)]),
    "spike": np.eye(1, 700, 3)[0],
    "spike above noise": np.eye(1, 700, 3)[0] + 1e-9 * laplace(700),
    "one sample": np.array([-3.0]),
    "two samples": np.array([2.0, 0.0]),
}


@pytest.fixture(params=["short blocks wait", "every block is summed up at once"])
def waiting(request, monkeypatch):
    if request.param.startswith("every"):
        monkeypatch.setattr(module, "SHORT_BLOCK", 0)


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("cuts", [1, 5, 20])
def test_blocks_equal_the_whole(name, cuts):
    x = SIGNALS[name]
    where = np.sort(np.random.default_rng(cuts).integers(0, len(x) + 1, cuts))  # some blocks are empty
    assert_equals_whole(add_blocks(np.split(x, where)), x)


@settings(deadline=None, max_examples=60)
@given(
    x=st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    order=st.randoms(use_true_random=False),
    exponent=st.sampled_from([-200, -20, 0, 20, 200]),
)
def test_any_cut_in_any_order_equals_the_whole(x, cuts, order, exponent):
    values = np.array(x) * 10.0**exponent
    blocks = np.split(values, sorted(min(cut, len(x)) for cut in cuts))
    order.shuffle(blocks)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHORT_BLOCK", 0)
        halves = add_blocks(blocks[::2]), add_blocks(blocks[1::2])
    halves[0].merge(halves[1])
    assert_equals_whole(halves[0], values)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16, np.int8, np.uint8, bool, np.complex64, complex])
def test_types_of_numbers(dtype):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=600) * 40).astype(np.int8).astype(dtype)
    if x.dtype.kind == "c":
        x = x + 1j * rng.normal(size=600).astype(x.dtype)
    assert_equals_whole(add_blocks(np.split(x, [100, 101, 400])), x)


def test_lists_and_blocks_of_different_types():
    assert_equals_whole(add_blocks([[1, 2], np.float32([0.5]), [3 + 4j], [True]]), [1, 2, 0.5, 5.0, 1])


def test_several_signals_at_once():
    x = laplace(3 * 4 * 500).reshape(3, 4, 500)
    assert_equals_whole(add_blocks(np.split(x, [1, 300], axis=2)), x)
    moved = add_blocks(np.split(np.moveaxis(x, 2, 0), [1, 300]), axis=0)
    assert_equals_whole(moved, x)
    assert moved.value()["hoyer"].shape == (3, 4)
    flat = add_blocks(np.split(x, [1, 300], axis=2), axis=None)
    assert isinstance(flat.value()["hoyer"], float)
    assert_equals_whole(flat, x.ravel())


def test_masked_and_sparse_blocks():
    x = np.where(np.random.default_rng(4).random((3, 900)) < 0.2, laplace(2700).reshape(3, 900), 0.0)
    parts = np.split(x, [200, 500], axis=1)
    assert_equals_whole(add_blocks(map(sparse.csr_array, parts)), x)
    masked = np.ma.masked_greater(x, 1.0)
    assert_equals_whole(add_blocks([masked[:, :300], masked[:, 300:]]), masked)


def test_nan():
    x = laplace(300).reshape(3, 100)
    x[1, 50] = np.nan
    parts = [x[:, :40], x[:, 40:60], x[:, 60:]]
    propagated = add_blocks(parts)
    assert_equals_whole(propagated, x)
    assert np.isnan(propagated.value()["hoyer"]).tolist() == [False, True, False]
    assert_equals_whole(add_blocks(parts, nan_policy="omit"), x, nan_policy="omit")
    strict = add_blocks(parts[:1], nan_policy="raise")
    with pytest.raises(sg.InvalidInput, match="1 NaN"):
        strict.update(parts[1])
    assert_equals_whole(strict, parts[0])  # a block that is refused leaves no trace
    nothing = sg.Accumulator(nan_policy="omit")
    nothing.update([np.nan, np.nan])
    assert math.isnan(nothing.value()["gds order=2"])


def test_infinite_values_are_refused_and_leave_no_trace():
    x = laplace(200_000)
    accumulator = sg.Accumulator(orders=[2, 4])
    accumulator.update(x)
    with pytest.raises(sg.InvalidInput, match="infinite"):
        accumulator.update(np.concatenate([x, [np.inf]]))
    assert_equals_whole(accumulator, x)


def test_zeros_alone():
    accumulator = everything(zero=-1.0)
    accumulator.update(np.zeros(10))
    assert set(accumulator.value().values()) == {-1.0}
    accumulator.update([0.0, 2.0])
    assert_equals_whole(accumulator, [*np.zeros(11), 2.0])


def test_no_data():
    accumulator = sg.Accumulator()
    with pytest.raises(sg.InvalidInput, match="no coefficient was added yet"):
        accumulator.value()
    accumulator.update([])
    with pytest.raises(sg.InvalidInput, match="no coefficient was added yet"):
        accumulator.value()
    accumulator.merge(sg.Accumulator())
    assert accumulator.count == 0


def test_reading_in_the_middle_changes_nothing():
    x = laplace(500)
    read, unread = everything(), everything()
    for block in np.split(x, 10):
        read.update(block)
        unread.update(block)
        read.value()
    assert dict(read.value()) == dict(unread.value())
    assert read.count == 500


def test_pickled_in_the_middle():
    x = laplace(500)
    accumulator = add_blocks([x[:200]])
    copy = pickle.loads(pickle.dumps(accumulator))
    for each in (copy, accumulator):
        each.update(x[200:])
    assert dict(copy.value()) == dict(accumulator.value())
    assert_equals_whole(copy, x)


def test_merge_of_unequal_sizes_and_of_nothing():
    x = laplace(100_000)
    one = add_blocks([x[:3]])
    one.merge(add_blocks([x[3:]]))
    one.merge(everything())
    assert_equals_whole(one, x)
    empty = everything()
    empty.merge(one)
    assert_equals_whole(empty, x)


@pytest.mark.parametrize(
    "other",
    [
        {"orders": [4]},
        {"orders": [2], "metrics": ["hoyer"]},
        {"orders": [2], "nan_policy": "omit"},
        {"orders": [2], "axis": 0},
        {"orders": [2], "zero": 0.0},
    ],
)
def test_merge_with_other_settings_is_refused(other):
    with pytest.raises(sg.InvalidInput, match="settings agree"):
        sg.Accumulator(orders=[2]).merge(sg.Accumulator(**other))


def test_merge_takes_accumulators_of_the_same_shape():
    one, two = sg.Accumulator(), sg.Accumulator()
    one.update(np.ones((2, 3)))
    two.update(np.ones((3, 3)))
    with pytest.raises(sg.InvalidInput, match=r"\(3,\).*\(2,\)"):
        one.merge(two)
    with pytest.raises(sg.InvalidInput, match=r"\(\).*\(2,\)"):
        one.update(np.ones(3))
    with pytest.raises(sg.InvalidInput, match="got list"):
        one.merge([1.0])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"metrics": ["gini"]}, "gini needs all coefficients at once.*hoyer"),
        ({"metrics": ["hoover"]}, "hoover needs all"),
        ({"metrics": [("s_gini", {"v": 3.0})]}, "s_gini v=3 needs"),
        ({"orders": [1]}, "gds order=1 needs all .* use orders from 2, 4, ..., 8 and inf"),
        ({"orders": [2.5]}, "gds order=2.5 needs"),
        ({"orders": [10]}, "gds order=10 needs"),
        ({"orders": [], "metrics": []}, "at least one metric"),
        ({"metrics": "hoyer"}, "sequence of names"),
        ({"metrics": 3}, "sequence of names"),
        ({"nan_policy": "ignore"}, "nan_policy"),
        ({"zero": "nothing"}, "zero"),
    ],
)
def test_what_is_refused(arguments, said):
    with pytest.raises(sg.InvalidInput, match=said):
        sg.Accumulator(**arguments)


def test_a_metric_of_ones_own():
    @sg.metric(formula="max c / mean c", meaning="how far the largest stands out", reference="none")
    def peak_to_mean(row):
        return row.top * row.N / row.l1

    @sg.metric(formula="median c", meaning="the one in the middle", reference="none")
    def middle(row):
        return row.each(lambda c: float(np.median(c)))

    try:
        accumulator = sg.Accumulator(orders=[], metrics=["peak_to_mean"])
        accumulator.update([1.0, 5.0])
        accumulator.update([0.0, 0.0])
        assert accumulator.value()["peak_to_mean"] == pytest.approx(5.0 / 1.5, rel=EXACT)
        with pytest.raises(sg.InvalidInput, match="middle needs all coefficients"):
            sg.Accumulator(metrics=["middle"])
    finally:
        sg.METRICS.unregister("peak_to_mean")
        sg.METRICS.unregister("middle")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.complex64])
@pytest.mark.parametrize("name", ["noise", "gravity", "silence first", "loud, then silent", "huge", "nan"])
def test_long_blocks_take_the_quick_way(name, dtype):
    n = 3 * module.COEFFICIENTS_PER_QUICK_TASK + 17
    noise = laplace(n)
    x = {
        "noise": 100 * noise,
        "gravity": 981 + noise,
        "silence first": np.where(np.arange(n) < n // 3, 0, 981 + noise),
        "loud, then silent": np.where(np.arange(n) < n // 3, 1000 * noise, 0),
        "huge": 1e30 * noise if np.dtype(dtype).kind != "i" else 1000 * noise,
        "nan": np.where(np.arange(n) == n - 5, np.nan if np.dtype(dtype).kind != "i" else 0, noise),
    }[name]
    with np.errstate(over="ignore", invalid="ignore"):
        x = x.astype(dtype)
    accumulator = sg.Accumulator(orders=[2, 4], nan_policy="omit")
    accumulator.update(x[: n // 2])
    accumulator.update(x[n // 2 :])
    assert_equals_whole(accumulator, x, nan_policy="omit")


def test_a_stream_of_many_tiny_blocks_rounds_no_more_than_a_few():
    x = laplace(5000)
    accumulator = sg.Accumulator(orders=[2, 4, 8], metrics=["theil", "neg_h_s"])
    for value in x:
        accumulator.update([value])
    assert_equals_whole(accumulator, x)
    assert len(accumulator._pieces) + len(accumulator._waiting) < 100


def test_double_double_twin():
    """The slow and obvious twin: exact fractions."""
    from fractions import Fraction

    rng = np.random.default_rng(5)
    for _ in range(50):
        a, b, c, d = (rng.normal(size=1) * 10.0 ** rng.integers(-20, 20) for _ in range(4))
        x, y = difference(a, b), difference(c, d)
        exact = [Fraction(float(a[0])) - Fraction(float(b[0])), Fraction(float(c[0])) - Fraction(float(d[0]))]
        for name, result, twin in [
            ("difference", x, exact[0]),
            ("sum", x.plus(y), exact[0] + exact[1]),
            ("product", x.times(y), exact[0] * exact[1]),
            ("quotient", x.over(y), exact[0] / exact[1]),
            ("scaled", x.scaled(7), exact[0] * 128),
        ]:
            value = Fraction(float(result.high[0])) + Fraction(float(result.low[0]))
            size = max(map(abs, [*exact, twin])) if name == "sum" else abs(twin)
            assert abs(value - twin) <= size * Fraction(1, 2**98), name
    assert isinstance(of(1.0), Pair)
