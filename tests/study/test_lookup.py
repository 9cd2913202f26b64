"""The rule of thumb: what the table says at its own points, in between, and outside."""

import math

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.study import lookup
from sparsegauge.study.summary import Summary, shipped

ORDERS = (1.0, 2.0, 3.0)


def made_up():
    """mse = (order - best)^2 + K/100 + M/1000, where the best order is 1 + M/50."""
    K, M, p = np.meshgrid([10, 20], [10, 50, 90], ORDERS, indexing="ij")
    mse = ((p - (1 + M / 50)) ** 2 + K / 100 + M / 1000)[None]
    values = {"mse_mean": mse, "mse_standard_error": np.full_like(mse, 0.05), "success_rate": np.full_like(mse, 0.5)}
    values["trials"] = np.full(mse.shape, 7)
    axes = {"distributions": ("normal",), "nonzeros": (10, 20), "measurements": (10, 50, 90), "orders": ORDERS}
    return Summary(axes, values, {"study": {"n": 100}})


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(lookup, "shipped", lambda name: shipped(name) if name == "solvers" else made_up())


def test_at_a_point_of_the_table(table):
    found = sg.recommend_order("normal", 10, 50)
    assert found.order == 2
    assert found.expected_mse == pytest.approx(0.15)
    assert found.standard_error == pytest.approx(0.05)
    assert found.near_optimal == (2.0,)
    assert found.mse_by_order == pytest.approx({1.0: 1.15, 2.0: 0.15, 3.0: 1.15})
    assert found.message.startswith("7 trials per cell")


def test_between_points_errors_are_interpolated_and_independent_errors_shrink(table):
    found = sg.recommend_order("normal", 15, 30)
    corners = [sg.recommend_order("normal", K, M) for K in (10, 20) for M in (10, 50)]
    for order in ORDERS:
        assert found.mse_by_order[order] == pytest.approx(np.mean([c.mse_by_order[order] for c in corners]))
        assert found.standard_error_by_order[order] == pytest.approx(0.05 / 2)


def test_other_lengths_are_looked_up_by_shares(table):
    found = sg.recommend_order("normal", 200, 1000, n=2000)
    assert found.mse_by_order == sg.recommend_order("normal", 10, 50).mse_by_order
    assert "table for n = 100" in found.message


def test_a_flat_optimum_is_called_flat(monkeypatch):
    flat = made_up()
    flat.values["mse_mean"][:] = 1.0
    monkeypatch.setattr(lookup, "shipped", lambda name: shipped(name) if name == "solvers" else flat)
    found = sg.recommend_order("normal", 10, 10)
    assert found.near_optimal == ORDERS
    assert "3 of 3 orders" in found.message
    flat.values["success_rate"][:] = 1.0
    assert sg.recommend_order("normal", 10, 10).message.startswith("every order recovers such signals")


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (("cauchy", 10, 10), {}, "distribution must be one of"),
        (("normal", 5, 10), {}, "nonzeros must be within the table, 10 to 20 of n = 100, got 5"),
        (("normal", 21, 10), {}, "nonzeros must be within the table"),
        (("normal", 10, 95), {}, "measurements must be within the table, 10 to 90 of n = 100, got 95"),
        (("normal", 10, 10), {"n": 50}, "measurements|nonzeros"),
        (("normal", 10, 0), {}, "measurements"),
        (("normal", 1.5, 10), {}, "nonzeros"),
        (("normal", 10, 10), {"n": 1}, "n must be"),
        (("normal", 10, 10), {"solver": "magic"}, "solver must be one of"),
    ],
)
def test_what_is_not_in_the_table_is_refused(table, arguments, options, words):
    if options.get("n") == 50:
        arguments = ("normal", 12, 10)
    with pytest.raises(sg.InvalidInput, match=words):
        sg.recommend_order(*arguments, **options)


@pytest.mark.parametrize("solver", lookup.TABLES_WITH_ORDERS)
def test_the_whole_shipped_table_can_be_asked(solver):
    table = shipped(solver)
    for name in table.axes["distributions"]:
        for nonzeros in (10, 33, 60):
            for measurements in (1, 2, 50, 99):
                found = sg.recommend_order(name, nonzeros, measurements, solver=solver)
                assert found.order in found.near_optimal
                assert found.expected_mse == min(found.mse_by_order.values())
                assert 0 <= found.expected_success_rate <= 1


def test_the_papers_example():
    """N = 100, normal, K = 20, M = 10: "approximately 4" in the paper. Here no order stands out: ten are as good."""
    found = sg.recommend_order("normal", 20, 10)
    assert found.near_optimal == tuple(range(1, 11))
    assert max(found.mse_by_order.values()) - found.expected_mse < 0.5 * found.standard_error
    assert "the choice matters little" in found.message


def test_where_the_order_matters_the_answer_is_clear():
    found = sg.recommend_order("normal", 20, 60)
    assert found.order == 2
    assert found.near_optimal == (2.0,)
    assert found.mse_by_order[1] > 1.5 * found.expected_mse


@pytest.mark.parametrize("measurements", [10, 60])
def test_the_message_says_what_the_default_solver_does(measurements):
    found = sg.recommend_order("normal", 20, measurements)
    rate = f"{100 * found.default_solver_success_rate:.0f} %"
    assert f"`recover` without a solver finds {rate} of such signals exactly" in found.message


def test_the_message_says_where_the_default_solver_was_not_tried():
    found = sg.recommend_order("normal", 60, 5)
    assert math.isnan(found.default_solver_success_rate)
    assert "`recover` without a solver was not tried on such signals" in found.message
