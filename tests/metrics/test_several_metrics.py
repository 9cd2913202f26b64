"""Several metrics at once: tables of values, and features for scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sparsegauge as sg

X = np.array([[0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0]])


def test_a_table_has_one_column_per_metric():
    table = sg.measure(X, ["Gini", "hoyer", ("gds", {"order": 4}), ("pq index", {"p": 1, "q": 2})])
    assert isinstance(table, sg.MetricTable)
    assert list(table) == ["gini", "hoyer", "gds order=4", "pq_index p=1 q=2"]
    np.testing.assert_array_equal(table["gini"], sg.gini(X))
    np.testing.assert_array_equal(table["gds order=4"], sg.gds(X, 4))
    np.testing.assert_array_equal(table.to_array(), [table[name] for name in table])
    assert str(table).splitlines()[0].split("  ")[-1].strip() == "pq_index p=1 q=2"
    assert len(str(table).splitlines()) == 4
    frame = table.to_frame()
    assert frame.shape == (3, 4)
    assert frame["hoyer"].tolist() == sg.hoyer(X).tolist()


def test_options_reach_every_metric():
    table = sg.measure(X[0], ("gini", "theil"), weights=[1, 1, 1, 2], center="median")
    assert table["theil"] == sg.theil(X[0], weights=[1, 1, 1, 2], center="median")
    assert sg.measure(np.zeros(3), ["gini"], zero=4.0)["gini"] == 4.0


@pytest.mark.parametrize(
    ("metrics", "parameters", "message"),
    [
        (["gini", "ginni"], {}, "no metric 'ginni', did you mean 'gini'"),
        ([], {}, "at least one metric"),
        (3, {}, "a sequence of names"),
        ([("gds", 4)], {}, "a pair"),
        ([("gds", {"orders": 4})], {}, "no parameter 'orders'"),
        (["gds"], {"order": 4}, "go into the list"),
    ],
)
def test_bad_lists(metrics, parameters, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.measure(X, metrics, **parameters)


@parametrize_with_checks([sg.SparsityFeatures(), sg.SparsityFeatures(metrics=["l0"], orders=[])])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_features():
    features = sg.SparsityFeatures(metrics=["gini", ("atkinson", {"epsilon": 2})], orders=[1.5, np.inf])
    found = features.fit_transform(X)
    assert list(features.get_feature_names_out()) == ["gini", "atkinson epsilon=2", "gds order=1.5", "gds order=inf"]
    expected = [sg.gini(X), sg.atkinson(X, epsilon=2), sg.gds(X, 1.5), sg.gds(X, np.inf)]
    np.testing.assert_array_equal(found, np.transpose(expected))
    np.testing.assert_allclose(features.transform(scipy.sparse.csr_array(X)), found, rtol=1e-14)
    frame = features.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(features.get_feature_names_out())
    pipeline = make_pipeline(sg.SparsityFeatures(), StandardScaler()).fit(X)
    assert pipeline.transform(X).shape == (3, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["ginni"]}, "did you mean 'gini'"),
        ({"metrics": "gini"}, "pass a list"),
        ({"metrics": [], "orders": []}, "at least one"),
        ({"orders": [0.5]}, "at least 1"),
        ({"zero": "0"}, "zero must be a number"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.SparsityFeatures(**options).fit(X)
