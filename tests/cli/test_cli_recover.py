"""`sparsegauge recover` and `recommend`: what is written, what is said, and what a failure leaves alone."""

from __future__ import annotations

import gzip
import json
import os
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.image import imread

import sparsegauge as sg
from sparsegauge._platform import writing
from sparsegauge.plots import before_after
from sparsegauge.recovery import demos, entry
from sparsegauge.study import lookup
from sparsegauge.study.lookup import Recommendation

X = sg.sparse_signal(40, 5, "uniform", rng=0)
A = sg.gaussian_matrix(20, 40, rng=1)


@pytest.fixture
def run(command):
    """Run a command -> exit code, stdout, stderr."""
    return command


@pytest.fixture
def files(tmp_path):
    """Options that name A and y, and the folder they are in."""
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "y.npy", A @ X)
    return ["recover", "--matrix", tmp_path / "A.npy", "--measurements", tmp_path / "y.npy"]


@pytest.mark.parametrize(("ending", "read"), [(".npy", np.load), (".csv", np.loadtxt), (".TXT", np.loadtxt)])
def test_x_is_written_with_all_its_digits(run, files, tmp_path, ending, read):
    target = tmp_path / f"x{ending}"
    code, out, err = run(*files, "-o", target)
    assert (code, err) == (0, "")
    assert np.array_equal(read(target), sg.recover(A, A @ X, rng=0).x)
    assert f"{target}\n" in out
    assert "certified  yes: " in out
    assert set(os.listdir(tmp_path)) == {"A.npy", target.name, "y.npy"}


def test_files_may_be_packed(run, files, tmp_path):
    for name, values in (("A", A), ("y", A @ X)):
        with gzip.open(tmp_path / f"{name}.csv.gz", "wt") as file:
            np.savetxt(file, values, delimiter=",")
    packed = ["recover", "--matrix", tmp_path / "A.csv.gz", "--measurements", tmp_path / "y.csv.gz"]
    assert run(*packed, "-o", tmp_path / "x.npy")[0] == 0
    assert np.load(tmp_path / "x.npy") == pytest.approx(sg.recover(A, A @ X, rng=0).x, abs=1e-9)


def test_x_is_drawn(run, files, tmp_path):
    code, out, err = run(*files, "-o", tmp_path / "x.npy", "--plot", tmp_path / "x.svg")
    assert (code, err) == (0, "")
    assert f"picture    {tmp_path / 'x.svg'}\n" in out
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "5 non-zeros" in drawn
    assert "converged, certified" in drawn
    np.save(tmp_path / "y.npy", np.column_stack([A @ X, A @ X]))
    code, out, _ = run(*files, "-o", tmp_path / "x.npy", "--plot", tmp_path / "x.png", "--json")
    assert (code, json.loads(out)["plot"]) == (0, str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_json_says_the_same(run, files, tmp_path):
    code, out, err = run(*files, "-o", tmp_path / "x.npy", "--json", "--solver", "gdsreweighted", "--order", "3")
    found = sg.recover(A, A @ X, solver=sg.GDSReweighted(order=3), rng=0)
    said = json.loads(out)
    assert (code, err) == (0, "")
    assert said["sparsity"] == sg.gds(found.x, 3)
    assert (said["solver"], said["n"], said["m"], said["nonzeros"]) == ("GDSReweighted", 40, 20, 5)
    assert (said["certified"], said["certificate_reason"]) == (found.certified, found.certificate_reason)


def test_several_columns_of_measurements_are_several_signals(run, files, tmp_path):
    many = np.column_stack([X, 2 * X[::-1], np.roll(X, 7)])
    np.save(tmp_path / "y.npy", A @ many)
    code, out, err = run(*files, "-o", tmp_path / "x.csv")
    assert (code, err) == (0, "")
    assert "3 signals of 40 unknowns" in out
    assert "certified  3 of 3" in out
    np.testing.assert_allclose(np.loadtxt(tmp_path / "x.csv"), many, atol=1e-12)
    said = json.loads(run(*files, "-o", tmp_path / "x.csv", "--json")[1])
    assert (said["signals"], said["certified"], said["m"], len(said["recoveries"])) == (3, 3, 20, 3)


def test_one_signal_that_is_not_explained_shows_in_the_exit_code(run, files, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "y.npy", np.column_stack([A @ X, rng.standard_normal(20)]))
    code, out, _ = run(*files, "-o", tmp_path / "x.npy", "--noise", "0", "--solver", "OMP", "--quiet")
    assert (code, out) == (0, "")
    bounded = run(*files, "-o", tmp_path / "x.npy", "--nonnegative", "--solver", "BasisPursuit", "--noise", "0")
    assert bounded[0] == 1
    assert "explained  1 of 2" in bounded[1]


def test_noise_bounds_and_seed_reach_the_solver(run, files, tmp_path, monkeypatch):
    seen = {}
    solve = entry.recover

    def spy(A, y, **options):
        seen.update({name: value for name, value in options.items() if name != "progress"})
        return solve(A, y, **options)

    monkeypatch.setattr(entry, "recover", spy)
    options = ["--noise", "0.1", "--nonnegative", "--seed", "7", "--solver", "LASSO", "--quiet"]
    assert run(*files, "-o", tmp_path / "x.npy", *options)[1:] == ("", "")
    assert seen == {"solver": sg.Lasso(), "noise": 0.1, "bounds": (0, None), "rng": 7}
    run(*files, "-o", tmp_path / "x.npy", "--noise", "0")
    assert seen == {"solver": sg.Portfolio(), "noise": 0, "bounds": None, "rng": 0}
    run(*files, "-o", tmp_path / "x.npy")
    assert seen["noise"] == "auto"


def test_measurements_that_nothing_explains_have_exit_code_1_and_are_written(run, tmp_path):
    np.save(tmp_path / "A.npy", np.ones((3, 5)))
    np.save(tmp_path / "y.npy", [1.0, 2.0, 3.0])
    options = ["--matrix", tmp_path / "A.npy", "--measurements", tmp_path / "y.npy", "-o", tmp_path / "x.npy"]
    code, out, err = run("recover", *options)
    assert (code, err) == (1, "")
    assert "has no solution" in out
    assert (tmp_path / "x.npy").exists()


def test_noisy_measurements_have_exit_code_0_and_a_status(run, tmp_path):
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "y.npy", (A @ X).round(4))
    options = ["--matrix", tmp_path / "A.npy", "--measurements", tmp_path / "y.npy", "-o", tmp_path / "x.npy"]
    code, out, err = run("recover", *options, "--json")
    said = json.loads(out)
    assert (code, err, said["explains"]) == (0, "", True)
    assert "y is noisy" in said["status"]
    assert said["noise"] == pytest.approx(1e-4 / np.sqrt(12), rel=0.5)  # of rounding; from 15 spare measurements
    assert np.linalg.norm(np.load(tmp_path / "x.npy") - X) < 1e-3
    exact = json.loads(run("recover", *options, "--json", "--noise", "0")[1])
    assert exact["noise"] == 0
    assert exact["residual"] < 1e-8
    assert not exact["certified"]


def test_measurements_that_no_sparse_x_explains_have_exit_code_1(run, tmp_path):
    dense = np.random.default_rng(0).standard_normal(40)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "y.npy", A @ dense)
    options = ["--matrix", tmp_path / "A.npy", "--measurements", tmp_path / "y.npy", "-o", tmp_path / "x.npy"]
    code, out, err = run("recover", *options, "--json")
    said = json.loads(out)
    assert (code, err, said["explains"]) == (1, "", False)
    assert said["status"] == sg.Status.NOT_SPARSE.message
    assert (tmp_path / "x.npy").exists()


def test_text_is_read_as_well_as_npy(run, tmp_path):
    np.savetxt(tmp_path / "A.csv", A, delimiter=",", fmt="%.17g")
    np.savetxt(tmp_path / "y.txt", A @ X, fmt="%.17g")
    options = ["--matrix", tmp_path / "A.csv", "--measurements", tmp_path / "y.txt", "-o", tmp_path / "x.npy", "-q"]
    assert run("recover", *options) == (0, "", "")
    assert np.array_equal(np.load(tmp_path / "x.npy"), sg.recover(A, A @ X, rng=0).x)


def test_a_column_of_measurements_will_do(run, files, tmp_path):
    np.save(tmp_path / "y.npy", (A @ X)[:, None])
    assert run(*files, "-o", tmp_path / "x.npy", "-q") == (0, "", "")


@pytest.mark.parametrize("ending", [".npy", ".csv"])
@pytest.mark.parametrize("y", [np.array([6.0]), np.array([[6.0]])])
def test_one_measurement_is_enough_for_one_entry(run, tmp_path, ending, y):
    def save(name, array):
        path = tmp_path / f"{name}{ending}"
        np.save(path, array) if ending == ".npy" else np.savetxt(path, array, delimiter=",")
        return path

    paths = ["--matrix", save("A", np.array([[1.0, 3.0, 0.5]])), "--measurements", save("y", y)]
    assert run("recover", *paths, "-o", tmp_path / "x.npy", "-q") == (0, "", "")
    np.testing.assert_allclose(np.load(tmp_path / "x.npy"), [0, 2, 0], atol=2e-6)  # a millionth of the largest


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--output", "x.mat"], "'.mat'"),
        (["--output", "x"], "'none'"),
        (["--output", "missing/x.npy"], "is not a directory"),
        (["--output", "A.npy"], "would replace what is read"),
        (["--solver", "no"], "--solver must be one of"),
        (["--order", "3"], "Portfolio has no order"),
        (["--solver", "spsa", "--order", "0"], "order"),
        (["--plot", "x.jpg"], "'.jpg'"),
        (["--plot", "missing/x.png"], "is not a directory"),
        (["--measurements", "short.npy"], "must have 20 entries"),
        (["--matrix", "nan.npy"], "NaN"),
        (["--matrix", "text.npy"], "text.npy"),
        (["--matrix", "object.npy"], "object.npy"),
        (["--matrix", "empty.npy"], "empty.npy"),
        (["--matrix", "missing.npy"], "No such file"),
        (["--matrix", "pipe"], "pipe: is not a regular file; copy what it holds into one"),
        (["--matrix", "two.npz"], "holds 2 arrays (a, b)"),
        (["--matrix", "words.csv"], "numbers throughout"),
        (["--matrix", "complex.npy", "--output", "x.csv"], "use .npy"),
    ],
)
def test_wrong_input_is_one_line_and_leaves_the_old_file(run, files, tmp_path, monkeypatch, arguments, word):
    monkeypatch.chdir(tmp_path)
    np.save("short.npy", np.ones(3))
    np.save("nan.npy", np.full_like(A, np.nan))
    np.save("complex.npy", A + 1j)
    np.save("object.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "empty.npy").touch()
    os.mkfifo("pipe")
    np.savez("two.npz", a=A, b=A)
    (tmp_path / "words.csv").write_text("a,b,c\n" + "1,two,3\n" * 20)
    (tmp_path / "x.npy").write_text("old")
    before = sorted(os.listdir())
    code, out, err = run(*files, "--output", "x.npy", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert word in err
    assert (tmp_path / "x.npy").read_text() == "old"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("left_out", ["--matrix", "--measurements", "--output"])
def test_what_is_missing_is_named(run, left_out):
    given = [
        part for name in ("--matrix", "--measurements", "--output") if name != left_out for part in (name, "f.npy")
    ]
    code, out, err = run("recover", *given)
    assert (code, out) == (2, "")
    assert err.startswith(f"sparsegauge: {left_out} missing; ")


def test_a_picture_alone_is_enough(run, monkeypatch, files, tmp_path):
    monkeypatch.chdir(tmp_path)  # into which the picture goes
    code, out, _ = run(*files, "--plot", "x.png")
    assert code == 0
    assert "written" not in out
    assert imread("x.png").ndim == 3
    code, out, _ = run(*files, "--plot", "x.png", "--json")
    assert json.loads(out)["output"] is None


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(run, files, tmp_path, monkeypatch, step):
    target = tmp_path / "x.npy"
    target.write_text("old")

    def fail(*_):
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr(writing.os, step, fail)
    assert run(*files, "-o", target) == (2, "", f"sparsegauge: {target}: No space left on device\n")
    assert target.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["A.npy", "x.npy", "y.npy"]


# --- demonstrations


@pytest.mark.slow
@pytest.mark.parametrize(("name", "measure", "least"), [("ecg", "snr_db", 24), ("image", "psnr_db", 33)])
def test_a_demonstration_recovers_what_least_squares_cannot(name, measure, least):
    shown = demos.DEMONSTRATIONS[name](0)
    assert shown.quality(shown.recovered)[measure] > least > 20 + shown.quality(shown.least_norm)[measure]
    assert shown.recovered.shape == shown.truth.shape
    assert shown.recovery.success
    assert not shown.recovery.certified  # real signals are not exactly sparse


@pytest.fixture(params=["ecg", "image"])
def shown(request):
    """A demonstration as it comes out, without the work."""
    truth = sg.demo("ecg") if request.param == "ecg" else sg.demo("camera")[::2, ::2]
    near = truth + np.random.default_rng(0).normal(size=truth.shape)
    found = sg.Recovery(
        near.ravel(), True, sg.Status.CONVERGED, "converged", 1, 1, 0.9, 0.0, certificate_reason="none is near"
    )
    return demos.Demonstration(request.param, truth, 0 * truth, near, truth.size // 4, found)


def test_pictures_are_files_of_their_kind_and_repeatable(shown):
    png, svg = before_after.draw(shown, "png"), before_after.draw(shown, "svg")
    assert png.startswith(b"\x89PNG")
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert before_after.draw(shown, "svg") == svg


def test_the_command_shows_the_error_the_certificate_and_the_place(run, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(demos.DEMONSTRATIONS, shown.name, lambda seed: shown)
    code, out, err = run("recover", "--demo", shown.name)
    assert (code, err) == (0, "")
    assert ("PRD" if shown.name == "ecg" else "PSNR") in out
    assert "certified  no: " in out
    assert f"{tmp_path / f'sparsegauge-{shown.name}.png'}\n" in out
    code, out, _ = run("recover", "--demo", shown.name, "--plot", "p.svg", "-o", "x.npy", "--json")
    assert json.loads(out)["plot"] == str(tmp_path / "p.svg")
    assert np.array_equal(np.load("x.npy"), shown.recovered)
    assert run("recover", "--demo", shown.name, "--plot", "p.svg", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--plot", "p.jpg"], "'.jpg'"),
        (["--plot", "missing/p.png"], "is not a directory"),
        (["--matrix", "A.npy"], "--matrix does nothing with --demo"),
        (["--nonnegative"], "--nonnegative does nothing with --demo"),
        (["-o", "x.mat"], "'.mat'"),
    ],
)
def test_a_wrong_demonstration_is_one_line_before_any_work(run, tmp_path, monkeypatch, arguments, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(demos.DEMONSTRATIONS, "ecg", lambda seed: pytest.fail("worked before checking"))
    code, out, err = run("recover", "--demo", "ecg", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert word in err
    assert os.listdir(tmp_path) == []


# --- recommend


ERRORS = {1.0: 0.08, 3.0: 0.021, 4.0: 0.02}
FOUND = Recommendation(4.0, 0.02, 0.003, 0.25, (3.0, 4.0), ERRORS, dict.fromkeys(ERRORS, 0.003), "mind the length")
ASKED = ["recommend", "--distribution", "normal", "--nonzeros", "20", "--measurements", "10"]


@pytest.fixture
def asked(monkeypatch):
    """What the look-up is asked; it always finds the same."""
    calls = []

    def recommend_order(*arguments, **options):
        calls.append((arguments, options))
        return FOUND

    monkeypatch.setattr(lookup, "recommend_order", recommend_order)
    return calls


def test_recommend_passes_on_what_was_typed(run, asked):
    run(*ASKED)
    run(*ASKED, "--n", "50", "--solver", "reweighted")
    assert asked == [
        (("normal", 20, 10), {"n": 100, "solver": "spsa"}),
        (("normal", 20, 10), {"n": 50, "solver": "reweighted"}),
    ]


def test_recommend_says_the_order_its_error_and_how_flat_the_optimum_is(run, asked):
    code, out, err = run(*ASKED)
    assert (code, err) == (0, "")
    assert "0.02 ± 0.003" in out
    assert "within one standard error: 3 (2 of 3 orders)" in out
    assert "25 % of the trials" in out
    assert "mind the length" in out
    rows = [line.split() for line in out.splitlines() if line.rstrip().endswith((" best", " as good"))]
    assert [row[0] for row in rows] == ["3", "4"]


def test_recommend_as_json_and_quietly(run, asked):
    assert json.loads(run(*ASKED, "--json")[1])["mse_by_order"] == {"1.0": 0.08, "3.0": 0.021, "4.0": 0.02}
    assert run(*ASKED, "--quiet") == (0, "", "")
