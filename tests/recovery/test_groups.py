"""Groups of coefficients that are zero or not together: one signal, several, exact and noisy."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sparsegauge as sg
from sparsegauge.recovery.groups import Groups
from sparsegauge.recovery.joint_noise import JointModel


def draw(seed: int, M: int, groups: int, size: int, chosen: int, L: int = 1) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng([seed, M, groups, size, chosen])
    A = rng.standard_normal((M, groups * size))
    labels = rng.permutation(np.repeat(np.arange(groups), size))
    X = np.zeros((groups * size, L))
    rows = np.isin(labels, rng.choice(groups, chosen, replace=False))
    X[rows] = rng.standard_normal((int(rows.sum()), L))
    return A, X, labels


@pytest.mark.parametrize(("chosen", "L", "least"), [(5, 1, 20), (8, 1, 18), (9, 3, 20)])
def test_exact_groups_are_found_and_certified(chosen: int, L: int, least: int) -> None:
    right = 0
    for seed in range(20):
        A, X, labels = draw(seed, 40, 25, 4, chosen, L)
        found = sg.recover(A, A @ X, groups=labels, joint=True)
        is_right = np.allclose(found.x, X, atol=1e-6)
        assert is_right or not found.certified.any()
        right += is_right and found.certified.all()
    assert right >= least


def test_noisy_groups_come_near_to_least_squares_on_the_support() -> None:
    errors, best = [], []
    for seed in range(10):
        A, X, labels = draw(seed, 40, 25, 4, 4)
        y = (A @ X)[:, 0] + 0.1 * np.random.default_rng(seed).standard_normal(40)
        found = sg.recover(A, y, groups=labels)
        rows = np.flatnonzero(X[:, 0])
        errors.append(np.sum((found.x - X[:, 0]) ** 2))
        best.append(np.sum((np.linalg.lstsq(A[:, rows], y, rcond=None)[0] - X[rows, 0]) ** 2))
        assert found.success
    assert sum(errors) < 1.5 * sum(best)


def test_labels_may_be_strings_and_groups_of_any_size() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 40))
    labels = np.array(["a"] * 3 + ["b"] * 7 + ["c"] + ["d"] * 9 + ["e"] * 20)
    x = np.where(np.isin(labels, ["b", "c"]), rng.standard_normal(40), 0.0)
    found = sg.recover(A, A @ x, groups=labels)
    assert found.certified
    assert np.allclose(found.x, x)


def test_several_signals_need_not_share_groups() -> None:
    A, X, labels = draw(1, 40, 25, 4, 4)
    Z = np.column_stack([X[:, 0], draw(2, 40, 25, 4, 4)[1][:, 0] * 0])
    Z[labels == labels[0], 1] = 1.5
    found = sg.recover(A, A @ Z, groups=labels)
    assert np.allclose(found.x, Z)
    assert found.certified.all()


def test_a_coefficient_of_zero_inside_a_group() -> None:
    A, X, labels = draw(3, 40, 25, 4, 4)
    X[np.flatnonzero(X[:, 0])[0]] = 0.0
    found = sg.recover(A, (A @ X)[:, 0], groups=labels)
    assert np.allclose(found.x, X[:, 0])


def test_gains_are_differences_of_the_evidence() -> None:
    rng = np.random.default_rng(4)
    A, Y, labels = rng.standard_normal((12, 20)), rng.standard_normal((12, 3)), np.repeat(np.arange(5), 4)
    for groups in (Groups.single(20), Groups.from_labels(labels, 20)):
        model = JointModel.of(A, Y, 0.5, groups)
        chosen = np.zeros(len(groups), bool)
        chosen[:2] = True
        variances = model.fit(chosen)
        gains = model._gains(chosen, variances)
        for group in range(len(groups)):
            flipped = chosen.copy()
            flipped[group] ^= True
            want = _score(model, flipped, variances) - _score(model, chosen, variances)
            assert np.isneginf(gains[group]) or gains[group] == pytest.approx(want, rel=1e-8)


def _score(model: JointModel, chosen: np.ndarray, variances: object) -> float:
    """The log evidence by its definition, with the prior of the set."""
    from scipy.special import gammaln

    columns = model.A[:, model._columns(chosen)]
    C = variances.tau * columns @ columns.T + variances.noise * np.eye(len(model.A))
    n, k = len(chosen), int(chosen.sum())
    choices = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    fit = np.trace(model.Y.T @ np.linalg.solve(C, model.Y))
    return -0.5 * model.signals * np.linalg.slogdet(C)[1] - 0.5 * fit - choices


@pytest.mark.parametrize("kind", [list, lambda names: np.array(names, object), pd.Series, pd.Categorical])
def test_labels_come_as_lists_or_as_columns_of_a_table(kind: object) -> None:
    A, X, labels = draw(0, 40, 25, 4, 5)
    expected = sg.recover(A, A @ X[:, 0], groups=labels).x
    for names in ([f"group {label}" for label in labels], [int(label) for label in labels]):
        np.testing.assert_allclose(sg.recover(A, A @ X[:, 0], groups=kind(names)).x, expected, atol=1e-10)


@pytest.mark.parametrize(
    "labels",
    [np.zeros(59, int), np.zeros((60, 1), int), np.zeros(60), "abc", [[0], [1, 2]], np.full(60, None), {"a": 1}],
)
def test_bad_labels_are_refused(labels: object) -> None:
    A, x = np.random.default_rng(0).standard_normal((20, 60)), np.eye(60)[0]
    with pytest.raises(sg.InvalidInput, match="groups must be 60 labels"):
        sg.recover(A, A @ x, groups=labels)
