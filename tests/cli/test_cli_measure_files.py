"""`sparsegauge measure`: offsets, datasets, standard input, plots, and files larger than memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tracemalloc
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import scipy.io.wavfile
from matplotlib.image import imread
from measuring import DOPPLER, ECG, refused

import sparsegauge as sg
from sparsegauge import profiles
from sparsegauge.io import file_contents
from sparsegauge.measurements import file_signals
from sparsegauge.plots import sparsity
from sparsegauge.signals import dct

# Offsets


def test_center_is_that_of_the_library(values):
    x = 9.81 + 0.1 * ECG
    np.save("x.npy", x)
    for center in ("mean", "median"):
        found = values("x.npy", "--order", "2", "--center", center)
        assert list(found.values()) == [pytest.approx(sg.gds(x, 2, center=center), rel=1e-12)]
    windowed = values("x.npy", "--order", "2", "--center", "mean", "--window", "512", "--hop", "512")
    assert list(windowed.values()) == pytest.approx(sg.gds(x.reshape(2, 512), 2, center="mean"), rel=1e-12)


@pytest.mark.parametrize("typed", [["x.npy", "--center"], ["--center", "x.npy"], ["--center", "--csv", "x.npy"]])
def test_center_alone_is_the_mean(run, typed):
    np.save("x.npy", 9.81 + 0.1 * ECG)
    assert run(*typed, "--csv") == run("x.npy", "--center", "mean", "--csv")


def test_single_numbers_beside_a_signal_are_left_out_but_can_be_asked_for(run):
    scipy.io.savemat("x.mat", {"x": ECG, "fs": 360.0})
    code, out, err = run("x.mat", "--csv")
    assert (code, err) == (0, "sparsegauge: x.mat: left out 'fs', a single number\n")
    assert {line.split(",")[1] for line in out.splitlines()[1:]} == {"x"}
    scipy.io.savemat("numbers.mat", {"fs": 360.0})
    assert run("numbers.mat", "--csv")[0] == run("x.mat", "--key", "fs")[0] == 0


def test_files_that_are_left_out_are_named_once_with_a_reason_in_plain_words(run):
    np.save("x.npy", ECG)
    Path("cut.wav").write_bytes(b"RIFF\0\0")
    Path("letter.docx").write_bytes(b"PK\x03\x04" + bytes(40))
    code, _, err = run("x.npy", "cut.wav", "letter.docx")
    assert code == 1
    cut, letter, count = err.splitlines()
    assert cut == "sparsegauge: left out: cut.wav is not a WAV file that can be read (it ends too early)"
    assert letter.startswith("sparsegauge: left out: letter.docx is of no known kind: ")
    assert count == "sparsegauge: 2 files were left out"


def test_mistakes_in_options_point_to_the_help_of_the_verb(run):
    _, _, err = run("x.npy", "--key")
    assert err.endswith("(see sparsegauge measure --help)\n")


def test_offsets_and_times_are_noted(run):
    Path("x.csv").write_text(
        "t,a\n" + "\n".join(f"{k / 100},{9.81 + 0.01 * (-1) ** k}" for k in range(50)), encoding="utf-8"
    )
    err = run("x.csv")[2]
    assert "x.csv: t increases in equal steps, like time or an index" in err
    assert re.search(r"x.csv: a: its mean is 98\d times its standard deviation; see --center mean", err)
    assert "its mean" not in run("x.csv", "--center", "mean")[2]
    assert run("x.csv", "--json")[2] == run("x.csv", "--quiet")[2] == ""


# A dataset whose coefficients are normalised


def normalised(rows, order=2.0):
    """The paper's section VII, in two lines of NumPy."""
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0, ddof=1)
    return [sg.gds(row, order) for row in z]


def test_normalise_makes_units_comparable(values):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(6, 4)) * [1, 100, 1e-3, 7] + [0, 101_325, 5, 0]
    np.save("x.npy", rows)
    np.savetxt("x.csv", rows, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    for arguments in (["x.npy"], ["x.csv", "--axis", "1"]):
        found = list(values(*arguments, "--order", "1,2", "--normalise").values())
        assert found[::2] == pytest.approx(normalised(rows, 1), rel=1e-12)
        assert found[1::2] == pytest.approx(normalised(rows, 2), rel=1e-12)
    np.save("x.npy", rows * [1000, 1, 1, 1] + [0, 0, 273.15, 0])
    assert list(values("x.npy", "--normalise", "--order", "2").values()) == pytest.approx(normalised(rows), rel=1e-9)


def test_normalise_takes_the_signals_of_all_files_as_one_dataset(run):
    rows = np.random.default_rng(4).normal(size=(5, 3))
    for i, row in enumerate(rows):
        np.save(f"{i}.npy", row)
    code, out, err = run("0.npy", "1.npy", "2.npy", "3.npy", "4.npy", "--normalise", "--order", "2", "--json")
    found = json.loads(out)
    assert (code, err, [r["file"] for r in found]) == (0, "", [f"{i}.npy" for i in range(5)])
    assert [r["value"] for r in found] == pytest.approx(normalised(rows), rel=1e-12)
    Path("5.npy").write_bytes(b"nothing")
    code, out, err = run(*(f"{i}.npy" for i in range(6)), "--normalise", "--order", "2", "--json")
    assert code == 1
    assert "left out: 5.npy is not a NumPy array that can be read (it ends too early)" in err
    assert [r["value"] for r in json.loads(out)] == pytest.approx(normalised(rows), rel=1e-12)


def test_normalise_after_the_transform(values):
    rows = np.random.default_rng(5).normal(size=(4, 16))
    np.save("x.npy", rows)
    found = values("x.npy", "--normalise", "--transform", "dct", "-m", "gds", "--order", "2")
    assert list(found.values()) == pytest.approx(normalised(dct(rows, axis=1)), rel=1e-10)


def test_normalise_notes_constant_coefficients(run):
    np.save("x.npy", [[1.0, 2.0, 3.0], [1.0, 3.0, 5.0], [1.0, 0.0, 4.0]])
    code, out, err = run("x.npy", "--normalise", "--order", "2", "--csv")
    assert code == 0
    assert "1 of 3 coefficients have the same value in every signal" in err
    assert len(out.splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["one.npy", "--normalise"], ["two signals or more", "got 1", "one.npy"]),
        (["x.npy", "short.npy", "--normalise"], ["x.npy have 4", "short.npy 3"]),
        (["x.npy", "--normalise", "--window", "2"], ["--normalise", "--window"]),
        (["x.npy", "--normalise", "--axis", "none"], ["--normalise", "--axis none"]),
        (["x.npy", "--normalise", "--center", "mean"], ["--normalise", "--center"]),
        (["complex.npy", "--normalise"], ["real coefficients", "complex.npy"]),
        (["holes.npy", "--normalise"], ["NaN"]),
    ],
)
def test_what_cannot_be_normalised_is_refused(run, arguments, words):
    x = np.random.default_rng(6).normal(size=(3, 4))
    holes = x.copy()
    holes[0, 0] = np.nan
    for name, array in {"one": x[0], "x": x, "short": x[:, :3], "complex": x * 1j, "holes": holes}.items():
        np.save(f"{name}.npy", array)
    refused(run(*arguments), *words)


def test_normalise_leaves_out_missing_values_if_asked(values):
    x = np.random.default_rng(7).normal(size=(5, 4))
    x[0, 0] = np.nan
    np.save("x.npy", x)
    found = list(values("x.npy", "--normalise", "--order", "2", "--nan-policy", "omit").values())
    assert found == pytest.approx(list(sg.normalised_gds(x, 2, nan_policy="omit")), rel=1e-12)


# Files that are larger than what is loaded


@pytest.mark.parametrize(
    "options", [["--order", "2,4"], ["--order", "4", "--center", "mean"], ["-m", "hoyer", "-m", "theil"]]
)
@pytest.mark.parametrize("name", ["x.npy", "flat.npy", "table.npy", "x.csv", "x.wav"])
def test_large_files_are_measured_piece_by_piece(values, monkeypatch, name, options):
    rng = np.random.default_rng(0)
    x = (rng.laplace(size=(3, 5000)) * 1000).astype(np.int16)
    np.save("x.npy", x[0].astype(np.float32))
    np.save("flat.npy", x)
    np.save("table.npy", x)
    np.savetxt("x.csv", x.T, fmt="%d", delimiter=",", header="a,b,c")
    scipy.io.wavfile.write("x.wav", 8000, x.T)
    axis = ["--axis", "none"] if name == "flat.npy" else []
    whole = values(name, *options, *axis)
    monkeypatch.setattr(file_signals, "LARGEST_LOADED", 0)
    monkeypatch.setattr(file_contents, "BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(file_signals, "_values", None)  # which needs all of a signal
    assert values(name, *options, *axis) == {key: pytest.approx(value, rel=1e-12) for key, value in whole.items()}


# Standard input, as a process of its own


def pipe(content, *arguments):
    command = [sys.executable, "-m", "sparsegauge", "measure", *arguments]
    return subprocess.run(command, input=content, capture_output=True, check=False)


def test_standard_input_is_known_by_its_first_bytes(tmp_path):
    np.save(tmp_path / "x.npy", ECG)
    done = pipe((tmp_path / "x.npy").read_bytes(), "-", "-m", "gini", "--json")
    (record,) = json.loads(done.stdout)
    assert (record["file"], record["value"]) == ("standard input", sg.gini(ECG))
    done = pipe(b"1,oops\n2,3\n4,x\n", "-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"sparsegauge: standard input, line 1, column 2: 'oops' is not a number; ")
    assert done.stderr.endswith(b"--nan-policy omit\n")


def test_help_gives_examples_and_loads_nothing_heavy():
    code = (
        "import sys\nfrom sparsegauge.cli import main\n"
        "try: main(['measure', '--help'])\nexcept SystemExit: pass\n"
        "heavy = ('numpy', 'numba', 'scipy', 'matplotlib', 'pywt', 'pandas', 'pyarrow', 'PIL')\n"
        "sys.exit(' '.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "sparsegauge measure ecg.csv" in done.stdout


# Files larger than memory


@pytest.mark.parametrize("ending", [".npy", ".wav"])
def test_windows_of_a_file_need_a_fraction_of_its_memory(run, monkeypatch, ending):
    run_once = ["--window", "4096", "--hop", "4096", "-m", "l0", "--csv"]
    np.save("warm.npy", ECG)
    run("warm.npy", "--window", "512", "-m", "l0")  # what is compiled and imported is not the file's memory
    samples, path = 1 << 24, f"x{ending}"
    if ending == ".npy":  # 128 MB that take no room on disk
        np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(samples,))
    else:
        scipy.io.wavfile.write(path, 8000, np.zeros(samples, np.int16))
    tracemalloc.start()
    code, out, _ = run(path, *run_once)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (code, len(out.splitlines())) == (0, 1 + samples // 4096)
    assert peak < 8 * samples / 3


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on memory that leaves mapped files out")
def test_a_file_of_twice_the_allowed_memory(tmp_path):
    import resource

    path = tmp_path / "x.npy"
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(2, 100_000_000))[0, ::1000] = 1
    limit = path.stat().st_size // 2
    command = [sys.executable, "-m", "sparsegauge", "measure", str(path), "--order", "1", "--json"]

    def limited(*options):
        preset = lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))  # noqa: E731
        return subprocess.run([*command, *options], capture_output=True, text=True, check=False, preexec_fn=preset)

    done = limited("--window", "100000", "--hop", "100000")
    assert (done.returncode, done.stderr) == (0, "")
    assert [record["value"] for record in json.loads(done.stdout)] == [pytest.approx(0.999)] * 1000 + [None] * 1000
    done = limited()
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "does not fit into memory; measure windows" in done.stderr


def test_too_large_a_signal_is_one_line(run, monkeypatch):
    def full(*_, **__):
        raise MemoryError

    np.save("x.npy", ECG)
    monkeypatch.setattr(file_signals, "gds_profile", full)
    refused(run("x.npy"), "x.npy does not fit into memory", "--window")


# Plots


@pytest.mark.parametrize("options", [[], ["--window", "128"]])
def test_plots_of_each_kind(run, options):
    np.save("x.npy", [ECG, DOPPLER])
    for name in ("x.png", "x.svg", "x.html"):
        assert run("x.npy", "--plot", name, *options)[::2] == (0, "")
    assert imread("x.png")[..., :3].std() > 0.05
    svg, page = (Path(name).read_text(encoding="utf-8") for name in ("x.svg", "x.html"))
    words = ["order p", "time (samples)"] if options else ["order p", "share of coefficients", "magnitude"]
    for text in (svg, page):
        assert all(word in text for word in words)
        assert "x.npy: [1]" in text
    assert not re.search(r"""(src|href)=["'](?!data:|#)""", page), "the page fetches nothing"
    assert "#010101" not in page, "marker colours are replaced"


@pytest.mark.parametrize("options", [[], ["--window", "128"], ["--window", "128", "-m", "gini"]])
def test_names_are_drawn_letter_for_letter(run, options):
    names = ["a$^$.npy", "_a.npy", "_$x_1$.npy", "a\\$b$.npy"]
    for name in names:
        np.save(name, ECG)
    assert run(*names, "--plot", "x.svg", *options)[::2] == (0, "")
    drawn = ElementTree.parse("x.svg").iter("{http://www.w3.org/2000/svg}text")
    assert set(names) <= {(text.text or "").strip() for text in drawn}


def test_maps_of_sound_are_in_seconds(run):
    scipy.io.wavfile.write("x.wav", 256, (1000 * DOPPLER).astype(np.int16))
    run("x.wav", "--window", "128", "--plot", "x.svg")
    assert "time (s)" in Path("x.svg").read_text(encoding="utf-8")


def test_other_metrics_are_drawn_over_time_each_with_its_own_signals(run):
    np.save("x.npy", ECG)
    np.save("y.npy", DOPPLER)
    run("x.npy", "y.npy", "--window", "128", "-m", "hoyer", "-m", "gini", "--plot", "x.svg")
    drawn = Path("x.svg").read_text(encoding="utf-8")
    assert [drawn.count(f">{word}<") for word in ("hoyer", "gini", "x.npy", "y.npy", "order p")] == [2, 2, 2, 2, 0]
    assert (
        f"the first 6 of {len(sg.METRICS) - 1} metrics"
        in run("x.npy", "--all", "--window", "512", "--plot", "x.svg")[2]
    )


def test_signals_that_are_zero_or_too_many_are_drawn_as_well_as_can_be(run):
    np.save("x.npy", np.vstack([np.zeros(64), np.ones((9, 64))]))
    for options in ([], ["--window", "16"]):
        code, _, err = run("x.npy", "--plot", "x.svg", *options)
        notes = [] if options else ["x.npy: [0] is zero everywhere, so that its sparsity is not defined"]
        notes.append(f"the plot shows the first {profiles.MOST_LINES_PER_PLOT} signals")
        assert (code, err) == (0, "".join(f"sparsegauge: {note}\n" for note in notes))


def test_a_map_of_many_windows_is_averaged(run):
    rng = np.random.default_rng(0)
    middles, values = sparsity._average_columns(np.arange(5000.0), rng.random((9, 5000)))
    assert values.shape[1] == len(middles) <= sparsity.MOST_MAP_COLUMNS
    assert middles[0] == pytest.approx(np.arange(5000 // len(middles) + 1).mean(), abs=1)


def test_curves_are_those_of_the_library():
    drawn = profiles.compute_curves("x", ECG)
    np.testing.assert_allclose(drawn.profile, sg.gds_profile(ECG, profiles.ORDERS), rtol=1e-13)
    assert drawn.decay.magnitudes[0] == 1
    assert drawn.decay.shares[-1] == 1
    assert profiles.compute_curves("x", np.zeros(4)).decay is None


def test_windows_may_be_given_in_seconds(run, values):
    scipy.io.wavfile.write("x.wav", 256, (1000 * DOPPLER).astype(np.int16))
    np.save("x.npy", (1000 * DOPPLER).astype(np.int16))
    in_samples = values("x.wav", "--window", "128", "--hop", "64", "-m", "gini")
    for window, hop in (("0.5s", "0.25 s"), ("500ms", "250MS"), (" 0.5s", "64")):
        assert values("x.wav", "--window", window, "--hop", hop, "-m", "gini") == in_samples
    of_array = values("x.npy", "--rate", "256", "--window", "0.5s", "-m", "gini")
    assert list(of_array.values()) == pytest.approx(list(in_samples.values()))
    refused(run("x.npy", "--window", "0.5s"), "does not say its sampling rate", "--rate")
    for wrong in ("0", "-3", "1.5", "0s", "soon", "infs", "nan", "1e999"):
        refused(run("x.wav", "--window", wrong), "--window")
    refused(run("x.npy", "--window", "9", "--rate", "0"), "--rate is a positive number")


def test_times_are_in_seconds_where_there_is_a_rate(run):
    x = np.ones(100)
    x[50:60] = [9, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    np.save("x.npy", x)
    options = ("x.npy", "--window", "10", "--hop", "10", "-m", "gini", "--rate", "20")
    assert run(*options)[1].splitlines()[1].split()[-2:] == ["2.5", "s"]
    assert json.loads(run(*options, "--json")[1])[5]["seconds"] == 2.5
    assert run(*options, "--csv")[1].splitlines()[6].endswith(",50,2.5")


def test_each_order_of_a_map_has_its_own_scale():
    values = np.stack([np.linspace(0.1 * k, 0.1 * k + 10.0**-k, 5) for k in range(len(profiles.MAP_ORDERS))])
    drawing = profiles.Map("x", np.arange(5.0), values)
    figure = sparsity.draw_sparsity([drawing, profiles.Map("y", np.arange(5.0), values[:, ::-1])])
    drawn = np.asarray(figure.axes[0].collections[0].get_array()).reshape(values.shape)
    np.testing.assert_allclose(drawn, np.tile([0, 0.25, 0.5, 0.75, 1], (len(values), 1)), atol=1e-6)
