"""`sparsegauge measure`: the numbers of the library, one-line errors, plots, and files larger than memory."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
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
from PIL import Image

import sparsegauge as sg
from sparsegauge import profiles
from sparsegauge.io import file_contents
from sparsegauge.measurements import file_signals
from sparsegauge.plots import sparsity
from sparsegauge.signals import dct, transform, windows

ECG, DOPPLER = sg.demo("ecg"), sg.demo("doppler")


@pytest.fixture
def run(command, tmp_path, monkeypatch):
    """Run `sparsegauge measure` in an empty directory -> exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    return lambda *arguments: command("measure", *arguments)


@pytest.fixture
def values(run):
    """Run with --json -> {(signal, metric, parameters, start): value}."""

    def run_command(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return {
            (r["signal"], r["metric"], tuple(r["parameters"].items()), r.get("start")): r["value"]
            for r in json.loads(out)
        }

    return run_command


def refused(result, *words):
    code, out, err = result
    assert (code, out) == (2, "")
    assert err.startswith("sparsegauge: ")
    assert err.count("\n") == 1
    assert all(word in err for word in words), err


def signals(out):
    return [row["signal"] for row in csv.DictReader(io.StringIO(out))]


# The numbers


def test_intervals_are_those_of_the_library(run):
    np.save("x.npy", ECG)
    arguments = "x.npy", "--metric", "gds", "--metric", "l0", "--order", "1,2.5", "--interval"
    code, out, err = run(*arguments, "--json")
    assert (code, err) == (0, "")
    records = json.loads(out)
    for record, order in zip(records, (1, 2.5), strict=False):
        assert (record["low"], record["high"]) == sg.confidence_interval(ECG, "gds", order=order, blocks="auto")
        assert record["low"] < record["value"] < record["high"]
    assert (records[2]["low"], records[2]["high"]) == (None, None)  # a count has none
    table = run(*arguments)[1]
    low, high = sg.confidence_interval(ECG, "gini", blocks="auto")
    assert f"{sg.gini(ECG):.6g} [{low:.4g}, {high:.4g}]" in table
    assert "[" not in run("x.npy")[1]
    assert run("x.npy", "--interval", "--plot", "bars.svg")[0] == run("x.npy", "--plot", "none.svg")[0] == 0
    bars, without = (Path(name).read_text().count("LineCollection") for name in ("bars.svg", "none.svg"))
    assert bars == without + 1
    rows = list(csv.DictReader(io.StringIO(run("x.npy", "--interval", "--csv", "--window", "256")[1])))
    assert len(rows) == 3 * 7
    first = sg.confidence_interval(ECG[:256], "gini", blocks="auto")
    assert (float(rows[0]["low"]), float(rows[0]["high"])) == pytest.approx(first)


def test_the_default_is_gds_at_three_orders(values):
    np.save("x.npy", ECG)
    assert values("x.npy") == {(None, "gds", (("order", p),), None): sg.gds(ECG, p) for p in (1.0, 2.0, 4.0)}


def test_all_measures_by_every_metric_of_the_catalogue(values):
    np.save("x.npy", ECG)
    found = values("x.npy", "--all", "--order", "3")
    assert [metric for _, metric, _, _ in found] == list(sg.METRICS)
    for (_, metric, parameters, _), value in found.items():
        expected = sg.measure(ECG, metric, **dict(parameters))
        assert value == (str(expected) if math.isinf(expected) else None if math.isnan(expected) else expected)


def test_metrics_may_be_repeated_and_go_by_their_aliases(values):
    np.save("x.npy", ECG)
    found = values("x.npy", "-m", "Vinje-Gallant", "-m", "gds", "--order", "inf", "-m", "hoyer", "-m", "Hoyer")
    assert [(metric, parameters) for _, metric, parameters, _ in found] == [
        ("treves_rolls", ()),
        ("gds", (("order", "inf"),)),
        ("hoyer", ()),
    ]


@pytest.mark.parametrize("axis", [0, 1, -1, "none"])
def test_axis_says_along_what_signals_run(values, axis):
    x = sg.demo("camera")[:6, :4]
    np.save("x.npy", x)
    found = list(values("x.npy", "-m", "gini", "--axis", axis).values())
    np.testing.assert_array_equal(found, np.atleast_1d(sg.gini(x, axis=None if axis == "none" else axis)))


@pytest.mark.parametrize("name", ["dct", "db4", "sym8"])
def test_transforms_come_before_the_measure(values, name):
    np.save("x.npy", [ECG, DOPPLER])
    found = values("x.npy", "-m", "hoyer", "--transform", name)
    np.testing.assert_allclose(list(found.values()), [sg.hoyer(transform(x, name)) for x in (ECG, DOPPLER)], rtol=1e-12)


def test_a_picture_is_transformed_as_a_picture(values):
    camera = sg.demo("camera")
    Image.fromarray(camera.astype(np.uint8)).save("x.png")
    assert list(values("x.png", "-m", "gini", "-t", "dct").values()) == [sg.gini(dct(camera), axis=None)]


@pytest.mark.parametrize("ending", [".npy", ".csv", ".wav"])
@pytest.mark.parametrize("hop", [100, 300])
def test_windows_in_pieces_are_the_windows_of_the_library(values, monkeypatch, ending, hop):
    for name in ("file_contents.BLOCK_BYTES", "text_pieces.TEXT_BLOCK_BYTES", "sound.BLOCK_BYTES"):
        monkeypatch.setattr(f"sparsegauge.io.{name}", 2000)
    monkeypatch.setattr(file_signals, "VALUES_PER_BATCH", 1000)
    table = np.round(1000 * np.column_stack([ECG, DOPPLER]) / 300).astype(np.int16)
    if ending == ".npy":
        np.save("x.npy", table.T)
    elif ending == ".csv":
        np.savetxt("x.csv", table, delimiter=",", header="ecg,doppler", comments="")
    else:
        scipy.io.wavfile.write("x.wav", 500, table)
        table = table / 2**15
    found = values(f"x{ending}", "--window", "200", "--hop", hop, "--order", "2", "-t", "dct")
    expected = sg.gds(dct(windows(table.T, 200, hop), axis=-1))
    np.testing.assert_allclose(list(found.values()), expected.ravel(), rtol=1e-12)
    assert sorted({start for *_, start in found}) == list(range(0, 1024 - 199, hop))


def test_the_hop_is_half_a_window_by_default(values):
    np.save("x.npy", np.arange(1.0, 11))
    assert [start for *_, start in values("x.npy", "--window", "5", "-m", "gini")] == [0, 3]


def test_every_format_gives_the_same_number(run):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    np.save("x.npy", ECG)
    np.savez("x.npz", ecg=ECG)
    np.savetxt("x.csv", ECG)
    np.savetxt("x.tsv", np.column_stack([np.arange(1024), ECG]), delimiter="\t", header="t\tecg", comments="")
    scipy.io.savemat("x.mat", {"ecg": ECG})
    pq.write_table(pa.table({"ecg": ECG, "t": ["x"] * 1024}), "x.parquet")
    scipy.io.wavfile.write("x.wav", 360, ECG)
    code, out, _ = run("x.*", "-m", "gini", "--csv")
    rows = [row for row in csv.DictReader(io.StringIO(out)) if row["signal"] != "t"]
    assert code == 0
    assert [row["file"] for row in rows] == [f"x.{e}" for e in ("csv", "mat", "npy", "npz", "parquet", "tsv", "wav")]
    assert {float(row["value"]) for row in rows} == {sg.gini(ECG)}


def test_a_table_with_dates_is_measured_and_the_dates_are_mentioned(run):
    rows = "".join(f"2024-01-{day:02d},{day},{day % 3}\n" for day in range(1, 29))
    with open("x.csv", "w", encoding="utf-8") as file:
        file.write("date,price,kind\n" + rows)
    code, out, err = run("x.csv", "-m", "gini", "--csv")
    assert (code, signals(out)) == (0, ["price", "kind"])
    assert err == "sparsegauge: x.csv: left out 'date': no numbers in the first rows\n"
    assert run("x.csv", "--quiet")[2] == ""
    assert [row["signal"] for row in csv.DictReader(io.StringIO(run("x.csv", "--csv", "--key", "kind")[1]))] == [
        "kind"
    ] * 3


# Ways to print


def test_the_table_has_a_line_a_signal(run):
    np.save("x[red].npy", [ECG, DOPPLER])
    code, out, err = run("x[red].npy", "-m", "gini", "-m", "hoyer")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0] == ["file", "signal", "n", "gini", "hoyer"]
    assert lines[1:] == [
        ["x[red].npy", f"[{i}]", "1024", f"{sg.gini(x):.6f}", f"{sg.hoyer(x):.6f}"]
        for i, x in enumerate([ECG, DOPPLER])
    ]


def test_a_piped_table_is_plain_and_never_cut(run):
    name = "long" * 40 + ".npy"
    np.save(name, ECG)
    _, out, _ = run(name, "--all")
    assert out.isascii()
    assert all(line.startswith(name) for line in out.splitlines()[1:])
    assert len(out.splitlines()) == len(sg.METRICS) + 3  # a head, and gds three times


def test_the_table_of_windows_says_where_it_is_sparsest(run):
    x = np.ones(100)
    x[50:60] = [9, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    np.save("x.npy", x)
    out = run("x.npy", "--window", "10", "--hop", "10", "-m", "gini", "-m", "h_s")[1]
    assert [line.split()[-5:] for line in out.splitlines()[1:]] == [
        ["10", "0.000000", "0.000000", "0.900000", "50"],
        ["10", "0.000000", "4.605170", "4.605170", "50"],
    ]


def test_what_is_not_defined_is_null_and_nan(run):
    np.save("x.npy", np.zeros(4))
    assert [record["value"] for record in json.loads(run("x.npy", "--json")[1])] == [None] * 3
    assert [row["value"] for row in csv.DictReader(io.StringIO(run("x.npy", "--csv")[1]))] == ["nan"] * 3
    assert "nan" in run("x.npy", "--window", "2")[1]


def test_records_have_the_promised_keys(run):
    np.save("x.npy", ECG)
    keys = ["file", "signal", "metric", "parameters", "value", "n"]
    assert list(json.loads(run("x.npy", "--json")[1])[0]) == keys
    assert list(json.loads(run("x.npy", "--json", "--window", "512")[1])[0]) == [*keys, "start"]
    assert run("x.npy", "--csv", "--window", "512")[1].startswith(",".join([*keys, "start"]))


# NaN and other mistakes


@pytest.mark.parametrize("written", ["nan\n1\n2\n5\n", "1 2 nan 5"])
def test_a_missing_number_in_text_is_never_passed_over(run, values, written):
    Path("x.csv").write_text(written, encoding="utf-8")
    refused(run("x.csv"), "--nan-policy omit")
    assert values("x.csv", "--nan-policy", "omit", "--order", "2") == {
        (None, "gds", (("order", 2),), None): pytest.approx(sg.gds([1, 2, 5], 2), rel=1e-13)
    }


def test_nan_is_an_error_by_default(run, values):
    np.save("x.npy", [1.0, np.nan, 3.0])
    refused(run("x.npy"), "x.npy: ", "1 NaN value; --nan-policy omit leaves it out, --nan-policy propagate")
    refused(run("x.npy", "--window", "2"), "x.npy: ", "NaN value")
    assert list(values("x.npy", "-m", "gini", "--nan-policy", "omit").values()) == [sg.gini([1.0, 3.0])]
    assert list(values("x.npy", "-m", "gini", "--nan-policy", "propagate").values()) == [None]
    refused(run("x.npy", "--nan-policy", "ignore"), "'propagate', 'omit', 'raise'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["x.npy", "-m", "hoyr"], ["did you mean 'hoyer'"]),
        (["x.npy", "--transform", "db44"], ["did you mean 'db4'"]),
        (["x.npy", "--transform", "bior2.2"], ["not orthogonal"]),
        (["x.npy", "--order", "1;2"], ["1,2,4", "'1;2'"]),
        (["x.npy", "--order", ""], ["1,2,4", "''"]),
        (["x.npy", "--order", ","], ["1,2,4", "','"]),
        (["x.npy", "--order", "0.5"], ["order", "0.5"]),
        (["x.npy", "--order", "2", "-m", "gini"], ["--order is for gds"]),
        (["x.npy", "--all", "-m", "gini"], ["--all"]),
        (["x.npy", "--axis", "1"], ["--axis 1"]),
        (["x.npy", "--axis", "1", "--window", "4"], ["--axis 1"]),
        (["x.npy", "--axis", "last"], ["'last'"]),
        (["x.npy", "--axis", "none", "--window", "4"], ["--axis none"]),
        (["x.npy", "--hop", "4"], ["--window"]),
        (["x.npy", "--window", "2000"], ["2000", "which has 1024"]),
        (["x.npy", "--json", "--csv"], ["choose one"]),
        (["x.npy", "--plot", "x.gif"], [".png, .svg and .html"]),
        (["x.npy", "--plot", "no/x.png"], ["not a directory"]),
        (["x.npy", "--key", "a"], ["leave out --key a"]),
        (["missing.npy"], ["missing.npy: No such file"]),
        (["*.wav"], ["no file matches"]),
        (["empty"], ["the directory empty has no file of a known kind"]),
        (["x.npy", "--center", "mode"], ["--center", "mode"]),
        (["x.npy", "-m", "hill", "--parameter", "q"], ["such as q=3"]),
        (["x.npy", "-m", "hill", "--parameter", "z=3"], ["parameter 'z'", "the parameters there are: q"]),
        (["x.npy", "-o", "x.xlsx"], [".csv, .json and .parquet"]),
        (["x.npy", "-o", "x.csv", "--json"], ["choose one"]),
    ],
)
def test_mistakes_are_one_line(run, arguments, words):
    np.save("x.npy", ECG)
    Path("empty").mkdir()
    refused(run(*arguments), *words)


def test_a_picture_has_no_windows_without_an_axis(run, values):
    Image.fromarray(sg.demo("camera").astype(np.uint8)[:8, :8]).save("x.png")
    refused(run("x.png", "--window", "4"), "add --axis 0 or --axis 1")
    assert len(values("x.png", "--window", "4", "--axis", "1", "-m", "gini")) == 8 * 3


def test_a_bad_file_among_good_ones_is_left_out_and_named(run):
    np.save("a.npy", ECG)
    Path("b.npy").write_bytes(b"junk")
    code, out, err = run("*.npy", "missing.npy", "--csv")
    assert code == 1
    assert [line.split(",")[0] for line in out.splitlines()] == ["file", "a.npy", "a.npy", "a.npy"]
    assert "b.npy is not a NumPy array" in err
    assert "left out missing.npy: No such file" in err
    assert err.endswith("2 files were left out\n")
    assert run("*.npy", "--csv", "--quiet") == (1, out, "sparsegauge: 1 file was left out\n")
    refused(run("*.npy", "--strict"), "b.npy is not a NumPy array")
    refused(run("b.npy"), "b.npy is not a NumPy array")


def test_a_folder_is_its_files(run):
    Path("runs").mkdir()
    for name in ("b.npy", "a.npy"):
        np.save(f"runs/{name}", ECG)
    Path("runs/notes.md").write_text("not a signal", encoding="utf-8")
    code, out, _ = run("runs", "--csv", "-m", "gini")
    assert code == 0
    assert [row["file"] for row in csv.DictReader(io.StringIO(out))] == [
        str(Path("runs/a.npy")),
        str(Path("runs/b.npy")),
    ]


def test_several_keys_and_parameters(values):
    np.savez("x.npz", a=ECG, b=DOPPLER, c=ECG[:100])
    found = values("x.npz", "--key", "a", "--key", "c", "-m", "hill", "-m", "gini", "--parameter", "q=3")
    assert found == {
        (name, metric, own, None): sg.measure(x, metric, **dict(own))
        for name, x in (("a", ECG), ("c", ECG[:100]))
        for metric, own in (("hill", (("q", 3.0),)), ("gini", ()))
    }


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_output_is_what_would_be_printed(run, ending):
    np.savez("x.npz", a=ECG, b=DOPPLER)
    assert run("x.npz", "-m", "gini", "-o", f"out.{ending}") == (0, "", "")
    path = Path(f"out.{ending}")
    if ending == "parquet":
        import pyarrow.parquet

        found = pyarrow.parquet.read_table(path).to_pylist()
    else:
        assert path.read_text(encoding="utf-8") == run("x.npz", "-m", "gini", f"--{ending}")[1]
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if ending == "json" else list(csv.DictReader(io.StringIO(text)))
    assert [(row["signal"], float(row["value"])) for row in found] == [("a", sg.gini(ECG)), ("b", sg.gini(DOPPLER))]


def test_packed_text(run, values):
    with gzip.open("x.csv.gz", "wt") as file:
        file.write("a,b\n1,2\n3,5\n0,1\n")
    assert values("x.csv.gz", "-m", "gini") == {
        ("a", "gini", (), None): sg.gini([1, 3, 0]),
        ("b", "gini", (), None): sg.gini([2, 5, 1]),
    }
    Path("y.csv.gz").write_bytes(b"not packed")
    refused(run("y.csv.gz"), "y.csv.gz is not a gzip file")


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
