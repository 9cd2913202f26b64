"""`sparsegauge measure`: the numbers of the library, ways to print them, and one-line errors."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.io.wavfile
from measuring import DOPPLER, ECG, refused, signals
from PIL import Image

import sparsegauge as sg
from sparsegauge.measurements import file_signals
from sparsegauge.signals import dct, transform, windows

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
