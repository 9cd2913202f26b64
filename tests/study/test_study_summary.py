"""Summaries: the same numbers as the tables they come from, and the same after a journey through a file."""

import json
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.errors import StudyWarning
from sparsegauge.study.run import run_cell
from sparsegauge.study.store import Store
from sparsegauge.study.summary import SHIPPED, Summary, first_study, kept_values, put_together, shipped, summarise


def test_a_summary_is_what_pandas_makes_of_the_table(store, summary, small_study):
    assert dict(summary.axes) == {
        "distributions": ("normal", "binomial"), "nonzeros": (2, 3), "measurements": (5, 8, 9),
        "orders": (1.0, 2.0, 4.0),
    }  # fmt: skip
    groups = sg.load_study(store).groupby(list(summary.axes), observed=True, sort=False)["mse"]
    shape = (2, 2, 3, 3)
    for name, expected in (("mean", groups.mean()), ("standard_error", groups.sem()), ("median", groups.median())):
        np.testing.assert_allclose(summary.values[f"mse_{name}"], expected.to_numpy().reshape(shape), rtol=1e-12)
    assert (summary.values["trials"] == 4).all()
    assert set(summary.values) == set(kept_values(summary.axes))
    assert summary.manifest["study"] == small_study.to_dict()
    assert summary.manifest["versions"][0]["sparsegauge"] == sg.__version__


def test_a_store_without_results_is_refused(tmp_path, small_study):
    with Store.opened(tmp_path / "empty", small_study):
        pass
    with pytest.raises(sg.InvalidInput, match="no results yet"), pytest.warns(StudyWarning):
        summarise(tmp_path / "empty")


def test_saving_and_loading_keeps_six_digits(summary, tmp_path):
    summary.save(tmp_path / "s.npz")
    again = Summary.load(tmp_path / "s.npz")
    assert dict(again.axes) == dict(summary.axes)
    assert again.manifest == json.loads(json.dumps(summary.manifest))
    for name, values in summary.values.items():
        np.testing.assert_allclose(again.values[name], values, rtol=1e-6)


def test_at_picks_and_drops_axes(summary):
    part = summary.at(distributions="binomial", measurements=[9, 5])
    assert dict(part.axes) == {"nonzeros": (2, 3), "measurements": (9, 5), "orders": (1.0, 2.0, 4.0)}
    np.testing.assert_array_equal(part.values["mse_mean"], summary.values["mse_mean"][1][:, [2, 0]])
    with pytest.raises(sg.InvalidInput, match="measurements has no 7; it has 5, 8, 9"):
        summary.at(measurements=7)
    with pytest.raises(sg.InvalidInput, match="no axis 'colour'"):
        summary.at(colour="red")


def test_an_unfinished_store_gives_what_is_there_and_says_so(tmp_path, small_study):
    with Store.opened(tmp_path / "half", small_study) as half:
        cells = list(small_study.cells())
        rows = {name: values.ravel() for name, values in run_cell(small_study, cells[0]).items()}
        half.add(np.array([0]), rows, np.array([0.1]), "here:1")
    with pytest.warns(StudyWarning, match="not finished"):
        found = summarise(tmp_path / "half")
    assert np.isfinite(found.values["mse_median"]).sum() == np.count_nonzero(found.values["trials"]) > 0
    assert np.isnan(found.values["mse_mean"]).any()


def test_studies_are_put_together_along_a_new_axis(summary):
    both = put_together("a", {0.1: summary, 0.2: summary})
    assert next(iter(both.axes)) == "a"
    assert both.axes["a"] == (0.1, 0.2)
    np.testing.assert_array_equal(both.at(a=0.2).values["mse_mean"], summary.values["mse_mean"])
    with pytest.raises(sg.InvalidInput, match=r"a = 0\.2 has other axes"):
        put_together("a", {0.1: summary, 0.2: summary.at(nonzeros=[2])})


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_tables_are_whole_and_say_where_they_come_from(name):
    table = shipped(name)
    for key in ("mse_mean", "success_rate", "relative_error_mean", "mse_median"):
        assert np.isfinite(table.values[key]).all()
        assert table.values[key].shape == tuple(map(len, table.axes.values()))
    assert (table.values["trials"] >= 5).all()
    assert json.dumps(table.manifest).count('"seed"') >= 1


def test_the_papers_grid_is_shipped_whole():
    table = shipped("spsa")
    study = table.manifest["study"]
    assert study["repeats"] == 100
    assert (table.values["trials"] == 100).all()
    assert table.values["trials"].sum() == 2_376_000
    assert study["solver"]["iterations"] >= 1000


def test_shipped_tables_are_of_the_studies_in_the_repository():
    studies = Path(__file__).parents[2] / "studies"
    files = {path.stem for path in studies.glob("*.toml")} - {"smoke"}
    assert len(files) == 13
    pieced_together = {"gains", "paper_gains"}  # from one store per gain
    for file in files - pieced_together:
        name = "spsa" if file == "paper" else file
        study = sg.Study.from_toml(studies / f"{file}.toml")
        assert shipped(name).manifest["study"] == json.loads(json.dumps(study.to_dict()))


@pytest.mark.parametrize("name", ["gains", "paper_gains"])
def test_tables_over_gains_are_of_the_studies_in_the_repository(name):
    study = sg.Study.from_toml(Path(__file__).parents[2] / "studies" / f"{name}.toml")
    table = shipped(name)
    for option, values in study.options.items():
        assert table.axes[option] == values
    keys = study.to_dict()
    first = dict(first_study(table))
    assert first.pop("solver").items() >= keys.pop("solver").items()
    del keys["options"]
    assert first == json.loads(json.dumps(keys))


def test_shipped_tables_are_a_few_megabytes():
    files = list((resources.files("sparsegauge.study") / "shipped").iterdir())
    assert 0 < sum(len(file.read_bytes()) for file in files) < 5e6


def test_a_cell_of_the_shipped_table_is_what_the_study_computes():
    """Some trials are not the mean of all, but it must be near."""
    study = sg.Study.from_dict(shipped("spsa").manifest["study"])
    cell = next(cell for cell in study.cells() if cell.values[1:] == (20, 60))
    measured = run_cell(study, cell)["mse"].mean(axis=1)
    part = shipped("spsa").at(distributions=cell.values[0], nonzeros=20, measurements=60)
    spread = part.values["mse_standard_error"] * np.sqrt(part.values["trials"] / cell.trials)
    assert (np.abs(measured - part.values["mse_mean"]) <= 5 * spread).all()
