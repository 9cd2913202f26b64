"""A study may take signals, matrices, metrics and solvers from outside the package, and its store says which."""

import json
import subprocess
import sys

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.study.external import import_by_path, import_path_of, is_data_file, is_import_path, split_data_file
from sparsegauge.study.run import draw_trial, run_cell

MODULE = """
from dataclasses import dataclass
import numpy as np
import sparsegauge as sg
from scipy.sparse.linalg import aslinearoperator

def spikes(n, nonzeros, rng):
    x = np.zeros(n)
    x[rng.choice(n, nonzeros, replace=False)] = rng.choice([1.0, 3.0], nonzeros)
    return x

def too_many(n, nonzeros, rng):
    return np.ones(n)

def signs(m, n, rng):
    return rng.choice([-1.0, 1.0], (m, n))

def operator(m, n, rng):
    return aslinearoperator(rng.standard_normal((m, n)))

def peak(x):
    return float(np.max(np.abs(x)) / np.linalg.norm(x))

@dataclass(frozen=True, kw_only=True)
class HalfOfLeastNorm(sg.Solver):
    share: float = 0.5
    def iterates(self, problem, rng):
        yield sg.Iterate(self.share * problem.start(), status=sg.Status.CONVERGED)
"""

BASE = """
n = 16
nonzeros = ["25%"]
measurements = [8]
signs = "natural"
repeats = 3
seed = 4
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A directory with a module of the user's own, and a recording."""
    (tmp_path / "theirs.py").write_text(MODULE)
    rng = np.random.default_rng(0)
    np.save(tmp_path / "heart.npy", np.cumsum(rng.standard_normal(200)))
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("theirs", None)


def planned(folder, text):
    (folder / "study.toml").write_text(BASE + text)
    return sg.Study.from_toml(folder / "study.toml")


def test_everything_can_come_from_outside(folder):
    study = planned(
        folder,
        'distributions = ["theirs:spikes", "heart.npy db4", "normal"]\nmatrix = "theirs:signs"\n'
        '[solver]\nname = "theirs:HalfOfLeastNorm"\nshare = 0.25\n',
    )
    sg.run_study(study, folder / "store")
    table = sg.load_study(folder / "store")
    assert len(table) == 9
    assert set(table["distributions"]) == {"theirs:spikes", "heart.npy db4", "normal"}
    trial = draw_trial(study, next(study.cells()), 0)
    assert set(np.abs(trial.x)) == {0.0, 1.0, 3.0}
    assert set(trial.A.ravel()) == {-1.0, 1.0}
    noted = json.loads((folder / "store" / "manifest.json").read_text())["external"]
    assert set(noted) == {"theirs:spikes", "heart.npy db4", "theirs:signs", "theirs:HalfOfLeastNorm"}
    assert all(list(entry) == ["sha256"] for entry in noted.values())
    assert sg.Study.from_dict(study.to_dict(), folder=str(folder)) == study


def test_a_store_can_be_read_where_the_module_is_not_installed(folder):
    study = planned(folder, 'distributions = ["theirs:spikes"]\nsolver = "theirs:HalfOfLeastNorm"\n')
    sg.run_study(study, folder / "store")
    (folder / "theirs.py").unlink()
    code = f"import sparsegauge as sg; print(len(sg.load_study({str(folder / 'store')!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout == "3\n"


@pytest.mark.parametrize("changed", ["theirs.py", "heart.npy"])
def test_other_code_or_data_are_another_study(folder, changed):
    text = 'distributions = ["theirs:spikes", "heart.npy"]\nsolver = "OMP"\n'
    sg.run_study(planned(folder, text), folder / "store")
    with (folder / changed).open("ab") as file:
        file.write(b"\n# one more line")
    sys.modules.pop("theirs", None)
    with pytest.raises(sg.StaleStudy, match="sha256"):
        sg.run_study(planned(folder, text), folder / "store")


def test_a_package_with_a_version_is_noted_by_it(folder):
    (folder / "theirs.py").write_text(MODULE + '__version__ = "2.5"\n')
    study = planned(folder, 'distributions = ["theirs:spikes"]\nsolver = "OMP"\n')
    assert study.external == {"theirs:spikes": {"version": "2.5"}}


def test_a_metric_of_the_users_own_is_maximised(folder):
    study = planned(
        folder, 'distributions = ["normal"]\n[solver]\nname = "SPSA"\nmetric = "theirs:peak"\niterations = 20\n'
    )
    assert study.to_dict()["solver"]["metric"] == "theirs:peak"
    measured = run_cell(study, next(study.cells()))
    assert np.isfinite(measured["mse"]).all()
    assert sg.Study.from_dict(study.to_dict()) == study


def test_a_matrix_may_be_an_operator(folder):
    study = planned(folder, 'distributions = ["normal"]\nmatrix = "theirs:operator"\nsolver = "OMP"\n')
    dense = planned(folder, 'distributions = ["normal"]\nsolver = "OMP"\n')
    cell = next(study.cells())
    np.testing.assert_allclose(run_cell(study, cell)["mse"], run_cell(dense, cell)["mse"], atol=1e-20)


def test_pieces_of_a_file_are_pieces_of_it(folder):
    study = planned(folder, 'distributions = ["heart.npy"]\nsolver = "OMP"\n')
    whole = np.load(folder / "heart.npy")
    x = draw_trial(study, next(study.cells()), 1).x
    kept = np.flatnonzero(x)
    assert len(kept) == 4
    windows = np.lib.stride_tricks.sliding_window_view(whole, 16)
    assert (windows[:, kept] == x[kept]).all(axis=1).any()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('distributions = ["theirs:nothing"]\nsolver = "OMP"', "theirs has no nothing"),
        ('distributions = ["nowhere:spikes"]\nsolver = "OMP"', "nowhere cannot be imported"),
        ('distributions = ["theirs:np"]\nsolver = "OMP"', "must be a function of"),
        ('distributions = ["missing.npy"]\nsolver = "OMP"', "missing.npy is not there"),
        ('distributions = ["heart.npy haar9"]\nsolver = "OMP"', "haar9"),
        ('distributions = ["heart.xyz"]\nsolver = "OMP"', "distributions must be among"),
        ('distributions = ["normal"]\nsolver = "theirs:spikes"', "must be a subclass of sparsegauge.Solver"),
        (
            'distributions = ["normal"]\nmatrix = "fourier"\nsolver = "OMP"',
            "matrix must be 'gaussian' or",
        ),
        ('distributions = ["normal"]\nmatrix = "theirs:np"\nsolver = "OMP"', "must be a function of"),
        ('distributions = ["normal"]\nsolver = "OMP"\n[solvers.x]\nname = "OMP"', "keep one"),
        ('distributions = ["normal"]\nsolvers = 3', "must be tables"),
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(folder, text, words):
    with pytest.raises(sg.InvalidInput, match=words):
        planned(folder, text + "\n")


def test_a_function_that_breaks_its_promise_is_named(folder):
    study = planned(folder, 'distributions = ["theirs:too_many"]\nsolver = "OMP"\n')
    with pytest.raises(sg.InvalidInput, match=r"theirs:too_many must return 16 finite numbers, 1 to 4 of them"):
        run_cell(study, next(study.cells()))


def test_words_are_told_apart():
    assert all(map(is_import_path, ["a.b:c", "a:b.c"]))
    assert not any(map(is_import_path, ["a", ":b", "a:", "a b:c", "C:\\x", 3, None, "https://x"]))
    names = ("x/heart.NPY", "my heart.csv db4", "heart.h5", "heart.csv.gz dct", "normal")
    assert [is_data_file(name) for name in names] == [True, True, True, True, False]
    assert [str(part) for part in split_data_file("my heart.csv db4")] == ["my heart.csv", "db4"]
    assert [str(part) for part in split_data_file("my heart.csv")] == ["my heart.csv", "none"]
    assert import_by_path("x", "numpy.linalg:norm") is np.linalg.norm
    assert import_path_of(lambda x: x) is None
    assert import_path_of(sg.OMP).endswith(":OMP")


@pytest.mark.parametrize(
    ("nonzeros", "counts"),
    [
        (["10%", "20%"], (10, 20)),
        (["2.5 %"], (2,)),
        ([5, "50%"], (5, 50)),
        ({"from": "10%", "to": "30%", "step": "10%"}, (10, 20, 30)),
    ],
)
def test_shares_of_n_are_counts(nonzeros, counts):
    keys = {"n": 100, "distributions": ["normal"], "measurements": ["50%"], "signs": "random", "repeats": 1, "seed": 0}
    study = sg.Study.from_dict(keys | {"nonzeros": nonzeros, "solver": "OMP"})
    assert (study.nonzeros, study.measurements) == (counts, (50,))


@pytest.mark.parametrize("share", ["0%", "0.1%", "101%", "-5%", "ten", "10", "nan%"])
def test_impossible_shares_are_refused(share):
    keys = {"n": 100, "distributions": ["normal"], "measurements": [50], "signs": "random", "repeats": 1, "seed": 0}
    with pytest.raises(sg.InvalidInput, match="nonzeros"):
        sg.Study.from_dict(keys | {"nonzeros": [share], "solver": "OMP"})


def test_long_signals_can_be_studied():
    study = sg.Study(
        n=100_000, distributions=["normal"], nonzeros=["0.005%"], measurements=[80], signs="random",
        solver=sg.IRLS(), repeats=1, seed=0,
    )  # fmt: skip
    assert run_cell(study, next(study.cells()))["success"].all()
