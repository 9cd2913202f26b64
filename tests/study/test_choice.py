"""Which order is best is decided once: the rule itself, on tables small enough to check by hand."""

import itertools

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.study.choice import (
    RECOVERED_SUCCESS_RATE,
    STANDARD_ERRORS_OF_A_CLEAR_LEAD,
    choose_orders,
    lead_errors,
    mean_best_order,
)
from sparsegauge.study.summary import Summary, shipped

ORDERS = (1.0, 2.0, 4.0)


def made_up(mean, lead=None, error=0.1, success=0.5):
    """A table whose cells are along one axis, M = 1, 2, ..."""
    mean = np.array(mean, float)
    values = {"mse_mean": mean, "mse_standard_error": np.full_like(mean, error)}
    values["success_rate"] = np.broadcast_to(np.asarray(success, float), mean.shape)
    values["trials"] = np.full(mean.shape, 9)
    if lead is not None:
        values["mse_lead_error"] = np.array(lead, float)
    axes = {"measurements": tuple(range(1, len(mean) + 1)), "orders": ORDERS}
    return Summary(axes, values, {})


def test_the_lowest_error_is_best_and_a_missing_one_leaves_no_choice():
    found = choose_orders(made_up([[3, 1, 2], [1, 3, 2], [1, np.nan, 2]]))
    np.testing.assert_array_equal(found.order, [2, 1, np.nan])
    np.testing.assert_array_equal(found.is_open, [True, True, False])
    assert not found.near[2].any()
    assert not found.is_clear[2]


def test_leads_are_measured_by_paired_errors_where_there_are_any():
    mean = [[1.0, 1.3, 1.3]]
    separate = choose_orders(made_up(mean, error=0.2))
    paired = choose_orders(made_up(mean, error=0.2, lead=[[0.0, 0.1, 0.1]]))
    assert (separate.is_paired, paired.is_paired) == (False, True)
    assert not separate.is_clear[0]  # 0.3 against 2 * 0.28
    assert paired.is_clear[0]  # 0.3 against 2 * 0.1


def test_a_cell_without_paired_errors_takes_the_separate_ones():
    mean = [[1.0, 1.3, 1.3], [1.0, 1.3, 1.3]]
    found = choose_orders(made_up(mean, error=0.2, lead=[[0.0, 0.1, 0.1], [np.nan] * 3]))
    assert not found.is_paired
    np.testing.assert_array_equal(found.is_clear, [True, False])
    np.testing.assert_allclose(
        lead_errors(made_up(mean, error=0.3, lead=[[0.0, 0.1, 0.1], [np.nan] * 3]))[:, 1], [0.1, 0.3 * 2**0.5]
    )


def test_a_lead_must_be_clear_over_every_order_and_not_the_second_alone():
    found = choose_orders(made_up([[1.0, 1.3, 1.4]], lead=[[0.0, 0.1, 0.3]]))
    assert not found.is_clear[0]
    np.testing.assert_array_equal(found.near[0], [True, False, False])


def test_orders_within_one_standard_error_are_as_good():
    found = choose_orders(made_up([[1.0, 1.05, 1.2], [1.0, 1.05, 1.2]], lead=[[0, 0.06, 0.1], [0, 0.04, 0.3]]))
    np.testing.assert_array_equal(found.near, [[True, True, False], [True, False, True]])
    np.testing.assert_array_equal(found.is_flat, [True, True])


def test_where_every_order_recovers_there_is_nothing_to_choose():
    success = [[1, 1, RECOVERED_SUCCESS_RATE], [1, 1, 0.98]]
    found = choose_orders(made_up([[1, 2, 3], [1, 2, 3]], lead=np.full((2, 3), 0.01), success=success))
    np.testing.assert_array_equal(found.all_recover, [True, False])
    np.testing.assert_array_equal(found.is_clear, [False, True])


def test_of_a_single_trial_any_lag_counts():
    found = choose_orders(made_up([[1.0, 1.0, 2.0]], lead=np.full((1, 3), np.nan)))
    np.testing.assert_array_equal(found.near[0], [True, True, False])
    assert not found.is_clear[0]


def test_leads_over_the_next_best_are_never_understated_when_orders_are_left_out():
    whole = made_up([[1.0, 1.3, 1.6]], lead=[[0.0, 0.1, 0.2]])
    np.testing.assert_allclose(lead_errors(whole.at(orders=[2.0, 4.0])), [[0.0, 0.3]])


def test_the_axis_of_orders_may_be_anywhere():
    table = made_up([[3, 1, 2], [1, 3, 2]], lead=[[0.3, 0, 0.2], [0, 0.3, 0.2]])
    turned = Summary(dict(reversed(table.axes.items())), {n: v.T for n, v in table.values.items()}, {})
    for name in ("best", "near", "is_clear"):
        np.testing.assert_array_equal(getattr(choose_orders(turned), name), getattr(choose_orders(table), name))


def test_a_table_without_orders_has_no_choice():
    with pytest.raises(sg.InvalidInput, match="no orders to choose from"):
        choose_orders(shipped("solvers"))


def test_the_mean_of_best_orders_is_over_open_cells():
    mean = np.array([[[3, 1, 2], [1, 3, 2]], [[2, 3, 1], [1, 2, 3]]], float)
    values = {"mse_mean": mean, "mse_standard_error": 0 * mean, "success_rate": 0 * mean}
    values["success_rate"][1, 1] = 1
    table = Summary({"nonzeros": (1, 2), "measurements": (5, 6), "orders": ORDERS}, values, {})
    means, errors = mean_best_order(choose_orders(table), over="measurements")
    np.testing.assert_array_equal(means, [1.5, 4.0])
    np.testing.assert_allclose(errors, [0.5, 0.0])


def test_paired_errors_of_a_store_are_those_of_the_differences(store, summary):
    wide = sg.load_study(store).pivot_table(
        index=["distributions", "nonzeros", "measurements", "trial"], columns="orders", values="mse", observed=True
    )
    axes = [enumerate(summary.axes[axis]) for axis in ("distributions", "nonzeros", "measurements")]
    for (i, name), (j, K), (k, M) in itertools.product(*axes):
        cell = wide.loc[name, K, M]
        best = cell.mean().idxmin()
        expected = cell.sub(cell[best], axis=0).std() / np.sqrt(len(cell))
        np.testing.assert_allclose(summary.values["mse_lead_error"][i, j, k], expected, atol=1e-15)


def test_the_shipped_table_has_the_clear_leads_that_were_counted_independently():
    """Over all cells but those that every order recovers, by paired errors where the table has them."""
    table = shipped("spsa")
    found = choose_orders(table)
    mean, error, paired = (table.values[f"mse_{name}"] for name in ("mean", "standard_error", "lead_error"))
    count = 0
    for cell in np.ndindex(found.best.shape):
        order = np.argsort(mean[cell])
        leads = mean[cell][order[1:]] - mean[cell][order[0]]
        spread = np.hypot(error[cell][order[1:]], error[cell][order[0]])
        if not np.isnan(paired[cell]).any():
            spread = paired[cell][order[1:]]
        recovers = table.values["success_rate"][cell].min() >= RECOVERED_SUCCESS_RATE
        is_clear = bool((leads > STANDARD_ERRORS_OF_A_CLEAR_LEAD * spread).all()) and not recovers
        assert bool(found.is_clear[cell]) == is_clear
        count += recovers
    assert count == found.all_recover.sum() == 39
