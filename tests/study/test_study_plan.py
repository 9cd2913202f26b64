"""A study is what its file says: every key is checked, and a trial is the same for every method that meets it."""

import math
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.study.axes import RECONSTRUCTIONS_PER_UNIT, Cell
from sparsegauge.study.run import draw_trial

ROOT = Path(__file__).parents[2]
SHIPPED = [name for name, kind in sg.SOLVERS.items() if kind.__module__.startswith("sparsegauge.")]
STUDIES = sorted((ROOT / "studies").glob("*.toml"))
KEYS = {
    "n": 20,
    "distributions": ["normal", "binomial"],
    "nonzeros": [2, 4],
    "measurements": [5, 10, 15],
    "orders": [1, 1.5, 2],
    "signs": "random",
    "repeats": 7,
    "seed": 3,
    "solver": {"name": "SPSA", "iterations": 100},
}


def planned(**changes):
    keys = KEYS | changes
    return sg.Study.from_dict({key: value for key, value in keys.items() if value is not None})


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.name)
def test_the_studies_that_are_shipped_can_be_planned(path):
    assert sg.Study.from_toml(path).total > 0


def test_the_papers_study_is_the_papers():
    study = sg.Study.from_toml(ROOT / "studies" / "paper.toml")
    assert study.total == 2_376_000
    assert study.distributions == ("binomial", "uniform", "normal", "exponential")
    assert study.nonzeros == (10, 20, 30, 40, 50, 60)
    assert study.measurements == tuple(range(1, 100))
    assert study.orders == tuple(range(1, 11))
    assert (study.n, study.repeats, type(study.solver)) == (100, 100, sg.SPSA)


def test_the_example_of_the_documentation_has_every_key_and_is_a_study(tmp_path):
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    examples = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    file = tmp_path / "study.toml"
    file.write_text(examples[0], encoding="utf-8")
    study = sg.Study.from_toml(file)
    keys = {field for field in study.to_dict() if field != "solver"}
    assert keys == set(tomllib.loads(examples[0])) - {"solver"}
    documented = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    assert documented >= keys | {"solver"}


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("n", 1, "at least 2"),
        ("n", "20", "whole number"),
        ("distributions", [], "at least one"),
        ("distributions", "normal", "must be a list"),
        ("distributions", ["cauchy"], "'binomial', 'uniform', 'normal', 'exponential'"),
        ("distributions", ["normal", "normal"], "more than once"),
        ("nonzeros", [], "at least one"),
        ("nonzeros", [0], "at least 1"),
        ("nonzeros", [21], "at most 20"),
        ("nonzeros", [2.5], "whole number"),
        ("nonzeros", [True], "whole number"),
        ("nonzeros", 5, "must be a list"),
        ("measurements", [], "at least one"),
        ("measurements", [20], "at most 19"),
        ("measurements", [5, 5], "5 more than once"),
        ("measurements", {"from": 1}, "a range is"),
        ("measurements", {"from": 1, "to": 9, "steps": 2}, "a range is"),
        ("measurements", {"from": 1, "to": 10, "step": 2}, "do not end at 10"),
        ("measurements", {"from": 9, "to": 1}, "goes up"),
        ("measurements", {"from": 1, "to": 9, "step": 0}, "goes up"),
        ("measurements", {"from": 1, "to": math.inf}, "goes up"),
        ("measurements", {"from": "a", "to": 2}, "or a share of n"),
        ("orders", [], "at least one"),
        ("orders", [0.5], "at least 1"),
        ("orders", [math.nan], "at least 1"),
        ("orders", ["two"], "real number"),
        ("noise_db", [], "at least one"),
        ("noise_db", [math.nan], "decibels"),
        ("noise_db", "20", "must be a list"),
        ("noise_db", [-math.inf], "decibels"),
        ("signs", "both", "'positive', 'random'"),
        ("signs", None, "missing"),
        ("repeats", 0, "at least 1"),
        ("seed", -1, "at least 0"),
        ("seed", None, "missing"),
        ("success_below", 0, "above 0"),
        ("solver", None, "missing"),
        ("solver", 3, "must be a table"),
        ("solver.name", "spsa", "must be one of .*SPSA"),
        ("solver.name", None, "must be one of .*SPSA"),
        ("solver.iteration", 5, "the options are .*iterations"),
        ("solver.iterations", 0, "at least 1"),
        ("solver.iterations", 10.0, "whole number"),
        ("solver.a", -1, "a > 0"),
        ("solver.a", True, "must be a number"),
        ("solver.metric", 3, "must be a word"),
        ("solver.parameters", [1], "must be a table"),
        ("solver.assume_generic", 1, "true or false"),
        ("solver.order", 2, "use the key orders"),
        ("colour", "red", "the keys are n, distributions"),
    ],
)
def test_an_impossible_value_is_refused_by_its_key(key, value, words, tmp_path):
    changes = {key: value}
    if key.startswith("solver."):
        table = KEYS["solver"] | {key.removeprefix("solver."): value}
        changes = {"solver": {name: option for name, option in table.items() if option is not None}}
    with pytest.raises(sg.InvalidInput, match=words) as caught:
        planned(**changes)
    assert str(caught.value).startswith(key)


def test_errors_name_the_file(tmp_path):
    file = tmp_path / "study.toml"
    for text, words in [
        ("n = 5", "study.toml: distributions is missing"),
        ("n = ", "not valid TOML"),
        ("\xff", "TOML"),
    ]:
        file.write_text(text, encoding="latin-1")
        with pytest.raises(sg.InvalidInput, match=words):
            sg.Study.from_toml(file)
    with pytest.raises(FileNotFoundError):
        sg.Study.from_toml(tmp_path / "missing.toml")


def test_a_solver_decides_whether_there_are_orders():
    with pytest.raises(sg.InvalidInput, match=r"^orders: OMP has no order"):
        planned(solver={"name": "OMP"})
    study = planned(solver={"name": "OMP"}, orders=None)
    assert study.solvers == {"": sg.OMP()}
    assert list(study.grid.coordinates) == ["distributions", "nonzeros", "measurements", "trial"]
    assert planned(solver={"name": "GDSReweighted"}).orders == (1, 1.5, 2)
    with pytest.raises(sg.InvalidInput, match=r"^orders: GDSReweighted refuses inf"):
        planned(solver={"name": "GDSReweighted"}, orders=[2, math.inf])


def test_results_may_not_depend_on_the_clock_nor_on_what_cannot_be_written_down():
    with pytest.raises(sg.InvalidInput, match=r"solver\.time_limit"):
        planned(solver={"name": "Portfolio", "time_limit": 1.0}, orders=None)
    with pytest.raises(sg.InvalidInput, match=r"solver\.metric"):
        sg.Study(**KEYS | {"solver": sg.SPSA(metric=lambda x: np.ptp(x))})
    with pytest.raises(sg.InvalidInput, match="solver must be one of"):
        sg.Study(**KEYS | {"solver": "SPSA"})


def test_ranges_are_written_out():
    study = planned(measurements={"from": 1, "to": 19}, orders={"from": 1, "to": 2, "step": 0.1}, noise_db=20)
    assert study.measurements == tuple(range(1, 20))
    assert study.orders == (1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2)
    assert study.noise_db == (20.0,)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_study_survives_being_written_down(name):
    orders = [1.5, 2] if "order" in sg.SOLVERS[name].__dataclass_fields__ else None
    study = planned(solver={"name": name}, orders=orders, noise_db=[10, math.inf])
    assert sg.Study.from_dict(study.to_dict()) == study
    assert study.to_dict()["solver"]["name"] == name


def test_one_number_is_written_down_in_one_way():
    assert planned(solver={"name": "SPSA", "A": 9}).to_dict() == planned(solver={"name": "SPSA", "A": 9.0}).to_dict()
    assert str(planned(orders=[2]).to_dict()) == str(planned(orders=[2.0]).to_dict())


def test_every_public_solver_can_be_studied():
    public = (getattr(sg, name) for name in sg.__all__)
    solvers = {kind.__name__ for kind in public if isinstance(kind, type) and issubclass(kind, sg.Solver)}
    assert solvers - {"Solver"} == set(SHIPPED)


def test_a_solver_of_the_users_own_can_be_studied_as_soon_as_it_is_defined():
    @dataclass(frozen=True, kw_only=True)
    class LeastNormOfTheUser(sg.Solver):
        shrink: float = 1.0

        def iterates(self, problem, rng):
            yield sg.Iterate(self.shrink * problem.start(), status=sg.Status.CONVERGED)

    assert sg.SOLVERS["LeastNormOfTheUser"] is LeastNormOfTheUser
    study = planned(solver={"name": "LeastNormOfTheUser", "shrink": 0.5}, orders=None)
    assert study.solver == LeastNormOfTheUser(shrink=0.5)
    assert sg.Study.from_dict(study.to_dict()) == study


@pytest.mark.parametrize("first", ["SPSA", "EP", "OMP", "Portfolio"])
def test_the_list_of_solvers_does_not_depend_on_what_was_used_before(first):
    """Studies, the page and messages show it, and results that are compared with it must not change."""
    code = f"import sparsegauge as sg; sg.{first}; print(*(n for n in sg.SOLVERS))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.split() == list(SHIPPED)
    assert printed.split()[:2] == ["Portfolio", "GDSReweighted"]


@pytest.mark.parametrize("repeats", [1, 7, 100, 1001])
def test_cells_share_out_every_trial_once(repeats):
    study = planned(repeats=repeats)
    cells = list(study.cells())
    trials = [(*c.values, c.first + k) for c in cells for k in range(c.trials)]
    assert len(trials) == len(set(trials)) == 2 * 2 * 3 * repeats
    assert study.total == 3 * len(trials)
    assert max(cell.trials for cell in cells) * len(study.orders) <= RECONSTRUCTIONS_PER_UNIT
    assert max(c.trials for c in cells) - min(c.trials for c in cells) <= 1


def test_every_method_meets_the_same_trial():
    cell = Cell(("normal", 4, 10), 0, 7)
    here = draw_trial(planned(), cell, 2)
    elsewhere = planned(
        distributions=["uniform", "normal"], nonzeros=[4], measurements=[9, 10], orders=None, repeats=3,
        noise_db=[20], solver={"name": "OMP"},
    )  # fmt: skip
    there = draw_trial(elsewhere, Cell(("normal", 4, 10), 2, 1), 2)
    for one, other in zip(here[:3], there[:3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert here.seed.generate_state(4).tolist() == there.seed.generate_state(4).tolist()


def test_other_trials_are_other_trials():
    cell = Cell(("normal", 4, 10), 0, 7)
    draws = [
        draw_trial(planned(), cell, 2),
        draw_trial(planned(), cell, 3),
        draw_trial(planned(seed=4), cell, 2),
        draw_trial(planned(n=21), cell, 2),
        draw_trial(planned(signs="positive"), cell, 2),
        draw_trial(planned(), Cell(("uniform", 4, 10), 0, 7), 2),
        draw_trial(planned(), Cell(("normal", 5, 10), 0, 7), 2),
        draw_trial(planned(), Cell(("normal", 4, 11), 0, 7), 2),
    ]
    assert len({float(draw.A[0, 0]) for draw in draws}) == len(draws)
    assert len({float(draw.x.sum()) for draw in draws}) == len(draws)
    assert len({float(draw.noise[0]) for draw in draws}) == len(draws)


def test_trials_are_the_same_in_every_process_and_forever():
    trial = draw_trial(planned(), Cell(("normal", 4, 10), 0, 7), 2)
    seed = planned().trial_seed(Cell(("normal", 4, 10), 0, 7), 2)
    assert seed.entropy[:3] == [3, 4088225959, 3535711683]
    assert np.count_nonzero(trial.x) == 4
    assert trial.A.shape == (10, 20)
