"""A list of axes drives the grid: columns, places, seeds; and stores of the first version still load."""

import json
import pickle
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sparsegauge as sg
from sparsegauge.errors import Damaged
from sparsegauge.study import axes
from sparsegauge.study.axes import Axis, Grid, Kind, label_axis, label_value
from sparsegauge.study.run import run_cell
from sparsegauge.study.summary import summarise
from sparsegauge.study.units import Units

OLD = Path(__file__).parent / "store_0_1"
KEYS = {
    "n": 12, "distributions": ["normal"], "nonzeros": [2], "measurements": [5, 8], "signs": "random", "repeats": 3,
    "seed": 1,
}  # fmt: skip


def table(tmp_path, name, **keys):
    sg.run_study(sg.Study(**KEYS | keys), tmp_path / name)
    return sg.load_study(tmp_path / name)


def test_gains_are_axes_and_each_value_is_the_study_with_that_gain(tmp_path):
    gains = {"a": [0.2, 0.4], "c": [0.01, 0.1]}
    whole = table(tmp_path, "whole", solver=sg.SPSA(iterations=20), options=gains, orders=[1, 2])
    assert list(whole.columns[:7]) == ["distributions", "nonzeros", "measurements", "a", "c", "orders", "trial"]
    for a in gains["a"]:
        for c in gains["c"]:
            alone = table(tmp_path, f"{a}-{c}", solver=sg.SPSA(iterations=20, a=a, c=c), orders=[1, 2])
            part = whole[(whole["a"] == a) & (whole["c"] == c)].drop(columns=["a", "c"]).reset_index(drop=True)
            pd.testing.assert_frame_equal(part, alone)


def test_solvers_are_an_axis_and_each_is_the_study_with_that_solver(tmp_path):
    spsa = {f"order {p}": sg.SPSA(order=p, iterations=20) for p in (2, 4)}
    solvers = {"greedy": sg.OMP()} | spsa
    whole = table(tmp_path, "whole", solver=solvers)
    assert list(whole["solver"].cat.categories) == list(solvers)
    for label, solver in solvers.items():
        alone = table(tmp_path, label, solver=solver)
        part = whole[whole["solver"] == label].drop(columns="solver").reset_index(drop=True)
        pd.testing.assert_frame_equal(part, alone)
    assert list(summarise(tmp_path / "whole").axes) == ["distributions", "nonzeros", "measurements", "solver"]


def test_solvers_and_options_can_be_written_down(tmp_path):
    file = tmp_path / "study.toml"
    file.write_text(
        'n = 12\ndistributions = ["normal"]\nnonzeros = [2]\nmeasurements = [5]\nsigns = "random"\nrepeats = 2\n'
        'seed = 1\noptions = { a = [0.1, 0.2] }\n[solvers.short]\nname = "SPSA"\niterations = 10\n'
        '[solvers.long]\nname = "SPSA"\niterations = 20\norder = 4.0\n'
    )
    study = sg.Study.from_toml(file)
    assert list(study.grid.coordinates) == ["distributions", "nonzeros", "measurements", "solver", "a", "trial"]
    assert study.solvers["long"].order == 4
    assert sg.Study.from_dict(study.to_dict()) == study
    assert study.total == 2 * 2 * 2
    seen = [(setting.method.iterations, setting.method.a) for setting in study.settings(next(study.cells()))]
    assert seen == [(10, 0.1), (10, 0.2), (20, 0.1), (20, 0.2)]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"solver": sg.SPSA(), "options": {"b": [1]}}, r"options\.b is no option of SPSA"),
        ({"solver": sg.SPSA(), "options": {"a": []}}, r"options\.a must have at least one"),
        ({"solver": sg.SPSA(), "options": {"a": [1, 1.0]}}, r"options\.a has 1.0 more than once"),
        ({"solver": sg.SPSA(), "options": {"a": [-1]}}, r"options\.a: SPSA refuses -1"),
        ({"solver": sg.SPSA(), "options": {"order": [1]}}, "use the key orders"),
        ({"solver": sg.SPSA(), "options": [1]}, "options must be a table"),
        ({"solver": {}}, "a label per solver"),
        ({"solver": {"": sg.OMP()}}, "a label per solver"),
        ({"solver": {"x": sg.OMP(), "y": "OMP"}}, "solver must be one of"),
        ({"solver": {"x": sg.OMP(), "y": sg.SPSA()}, "orders": [1]}, "orders: OMP has no order"),
    ],
)
def test_what_cannot_be_an_axis_is_refused(keys, words):
    with pytest.raises(sg.InvalidInput, match=words):
        sg.Study(**KEYS | keys)


def test_a_solver_keeps_its_order_where_the_study_has_no_orders(tmp_path):
    alone = table(tmp_path, "alone", solver=sg.SPSA(order=3, iterations=20))
    axis = table(tmp_path, "axis", solver=sg.SPSA(iterations=20), orders=[3])
    np.testing.assert_array_equal(alone["mse"], axis["mse"])
    assert "orders" not in alone.columns


def test_codes_undo_columns_and_refuse_other_values():
    for axis in sg.Study(**KEYS | {"solver": sg.SPSA(), "orders": [1, 2.5], "noise_db": [10, np.inf]}).grid.axes:
        codes = np.arange(len(axis.values))[::-1]
        np.testing.assert_array_equal(axis.codes(axis.column(codes)), codes)
        strange = axis.column(codes[:1]).copy()
        strange[0] = "cauchy" if axis.kind.dtype is object else 99
        with pytest.raises(Damaged, match=axis.name):
            axis.codes(strange)


def test_a_new_kind_of_axis_is_one_entry(monkeypatch):
    """Everything but the key of the study follows from the list of kinds."""
    kind = Kind("success_below", "tolerance", "tol", np.float64, False, lambda setting, value: setting)
    monkeypatch.setattr(axes, "KINDS", axes.KINDS | {kind.name: kind})
    keys = {"distributions": ["normal"], "nonzeros": [2], "measurements": [5], "repeats": 3}
    grid = Grid.of(keys | {"success_below": [0.1, 0.2]})
    assert grid.shape == (1, 1, 1, 2, 3)
    cell = next(grid.cells())
    units = Units(grid)
    assert units.columns(np.array([units.number(cell)]))["success_below"].tolist() == [0.1] * 3 + [0.2] * 3
    assert label_axis("success_below") == "tolerance"
    assert label_value("success_below", 0.1) == "tol = 0.1"


def test_grids_can_be_sent_to_workers():
    study = sg.Study(**KEYS | {"solver": sg.SPSA(), "options": {"a": [0.1, 0.2]}, "orders": [1, 2]})
    assert study.grid.total == 24
    again = pickle.loads(pickle.dumps(study))
    assert again == study
    assert again.settings(next(again.cells())) == study.settings(next(study.cells()))


def test_labels():
    assert [label_value(*pair) for pair in [("measurements", 40), ("orders", 2.0), ("a", 0.4), ("solver", "EP")]] == [
        "M = 40", "order 2", "a = 0.4", "EP",
    ]  # fmt: skip
    assert label_axis("nonzeros") == "non-zeros K"


def test_a_store_of_the_first_version_loads_and_can_be_gone_on_with(tmp_path):
    path = shutil.copytree(OLD, tmp_path / "store")
    expected = pd.read_csv(OLD.with_suffix(".csv"))
    found = sg.load_study(path)
    assert list(found.columns) == list(expected.columns)
    for name in expected.columns:
        np.testing.assert_array_equal(found[name].to_numpy(), expected[name].to_numpy())
    study = sg.Study(
        n=12, distributions=["normal", "binomial"], nonzeros=[2, 3], measurements=[5, 8], orders=[1, 2], signs="random",
        solver=sg.SPSA(iterations=20), repeats=3, seed=1, noise_db=[20, np.inf],
    )  # fmt: skip
    assert json.loads((path / "manifest.json").read_text())["study"] == study.to_dict()
    cells = list(study.cells())
    rows = found[found["distributions"] == cells[0].values[0]]
    np.testing.assert_allclose(run_cell(study, cells[0])["mse"].ravel(), rows["mse"][: 2 * 2 * 3], rtol=1e-9)


def test_an_axis_needs_no_solver_to_be_read():
    kind = axes.KINDS["solver"]
    assert Axis(kind, ("one", "two")).column(np.array([1, 0])).tolist() == ["two", "one"]
