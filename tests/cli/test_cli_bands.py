"""`sparsegauge bands`: files of every kind, the rate and the speed that they hold, verdicts, pages, refusals."""

import json
import re

import numpy as np
import pytest
import scipy.io
import scipy.io.wavfile

import sparsegauge as sg
from sparsegauge.cli import main
from sparsegauge.vibration.band_tree import Band

RATE = 12_000
QUICK = ["--levels", "3", "--level", "0"]


@pytest.fixture(scope="module")
def fault():
    return sg.bearing_record("inner", seconds=2, amplitude=1.5, rng=1).x


@pytest.fixture(scope="module")
def healthy():
    return sg.bearing_record("none", seconds=2, rng=2).x


def run(capsys, *arguments, code=0):
    with pytest.raises(SystemExit) as ended:
        main(["bands", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert ended.value.code == code, err
    return out if code == 0 else err


def records(capsys, *arguments):
    return json.loads(run(capsys, *arguments, "--json"))


def test_the_rate_of_a_wav_file_is_in_its_header(capsys, tmp_path, fault):
    path = tmp_path / "pump.wav"
    scipy.io.wavfile.write(path, RATE, (fault / np.abs(fault).max() * 30_000).astype(np.int16))
    (found,) = records(capsys, path, "--rpm", 1797, "--bearing", "SKF 6205", *QUICK)
    assert found["rate"] == RATE
    assert found["fault"] == "inner"
    assert found["findings"][0]["named"]
    assert "threshold" not in found


def test_matlab_files_name_their_rate_and_speed(capsys, tmp_path, fault, healthy):
    path = tmp_path / "X105.mat"
    arrays = {"X105_DE_time": fault[:, None], "X105_FE_time": healthy[:, None], "X105RPM": 1797.0, "fs": float(RATE)}
    scipy.io.savemat(path, arrays)
    found = records(capsys, path, "--orders", "3.585,5.415", *QUICK)
    assert [(one["signal"], one["fault"], one["rpm"]) for one in found] == [
        ("X105_DE_time", "inner", 1797),
        ("X105_FE_time", None, 1797),
    ]


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_single_numbers_beside_a_record_give_rate_and_speed(capsys, tmp_path, fault, ending):
    path = tmp_path / f"record.{ending}"
    arrays = {"x": fault, "rate": float(RATE), "rpm": 1797.0}
    if ending == "npz":
        np.savez(path, **arrays)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.update(arrays)
    (found,) = records(capsys, path, "--bearing", "6205", *QUICK)
    assert (found["signal"], found["rate"], found["rpm"], found["fault"]) == ("x", RATE, 1797, "inner")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_times_give_the_rate(capsys, tmp_path, fault, ending):
    path = tmp_path / f"table.{ending}"
    times = np.arange(len(fault)) / RATE
    if ending == "csv":
        np.savetxt(path, np.c_[times, fault], delimiter=",", header="time (s),acceleration", comments="")
    else:
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pd.DataFrame({"Time": times, "acceleration": fault}).to_parquet(path)
    (found,) = records(capsys, path, *QUICK)
    assert found["signal"] == "acceleration"
    assert found["rate"] == pytest.approx(RATE)


def test_the_one_array_that_was_asked_for_keeps_its_rate_and_speed(capsys, tmp_path, fault, healthy):
    scipy.io.savemat(
        tmp_path / "105.mat",
        {"X105_DE_time": fault[:, None], "X105_FE_time": healthy[:, None], "X105RPM": [[1797.0]], "fs": 12_000.0},
    )
    (found,) = records(capsys, tmp_path / "105.mat", "--key", "X105_DE_time", "--bearing", "6205", *QUICK)
    assert (found["signal"], found["rate"], found["rpm"], found["fault"]) == ("X105_DE_time", RATE, 1797, "inner")
    (found,) = records(capsys, tmp_path / "105.mat", "--key", "X105_FE_time", "--rpm", 1750, "--rate", 6000, *QUICK)
    assert (found["rate"], found["rpm"]) == (6000, 1750)
    columns = np.c_[np.arange(len(fault)) / RATE, fault, healthy]
    np.savetxt(tmp_path / "a.csv", columns, delimiter=",", header="time,a,b", comments="")
    (found,) = records(capsys, tmp_path / "a.csv", "--key", "b", *QUICK)
    assert (found["signal"], found["rate"]) == ("b", pytest.approx(RATE))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_that_repeat_a_number_give_rate_and_speed(capsys, tmp_path, fault, ending):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"acc": fault, "Sampling rate (Hz)": 12_000, "RPM": 1797.0, "load": 2.0 + fault})
    path = tmp_path / f"a.{ending}"
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    first, second = records(capsys, path, "--bearing", "6205", *QUICK)
    assert (first["signal"], first["rate"], first["rpm"], first["fault"]) == ("acc", RATE, 1797, "inner")
    assert second["signal"] == "load"
    frame["RPM"] += np.arange(len(frame)) / 100  # a speed that varies is no number
    frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert "add --rpm" in run(capsys, path, "--bearing", "6205", code=2)


def test_other_files_are_surveyed_where_one_cannot_be(capsys, tmp_path, fault):
    np.save(tmp_path / "a.npy", fault)
    np.save(tmp_path / "b.npy", np.ones(9000))
    np.save(tmp_path / "c.npy", fault)
    with pytest.raises(SystemExit) as ended:
        main(["bands", str(tmp_path), "--rate", "12000", "--json", *QUICK])
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert [found["file"][-5:] for found in json.loads(out)] == ["a.npy", "c.npy"]
    assert "left out" in err
    assert "constant" in err
    assert err.rstrip().endswith("1 file was left out")
    assert "constant" in run(capsys, tmp_path, "--rate", RATE, "--strict", code=2)
    np.save(tmp_path / "a.npy", np.ones(9000))
    np.save(tmp_path / "c.npy", np.ones(9000))
    assert "constant" in run(capsys, tmp_path, "--rate", RATE, code=2)


def test_folders_thresholds_and_the_table(capsys, tmp_path, fault, healthy):
    np.save(tmp_path / "a.npy", fault)
    np.save(tmp_path / "b.npy", healthy)
    (tmp_path / "notes.md").write_text("no data")
    out = run(capsys, tmp_path, "--rate", RATE, "--rpm", 1797, "--bearing", "6205", "--levels", 3)
    first, second = out.splitlines()[1:3]
    assert "stands out" in first
    assert "does not stand out" not in first
    assert "inner" in first
    assert "does not stand out" in second
    assert "nothing found" in second


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_plots(capsys, tmp_path, fault, healthy, ending):
    np.savez(tmp_path / "two.npz", first=fault, second=healthy, rate=np.array([float(RATE)]))
    plot = tmp_path / f"map.{ending}"
    run(capsys, tmp_path / "two.npz", "--rpm", 1797, "--bearing", "6205", *QUICK, "--plot", plot)
    content = plot.read_bytes()
    assert len(content) > 5000
    if ending == "html":
        page = content.decode()
        assert "<h2>two.npz: first</h2>" in page
        assert "inner fault" in page
        assert "nothing found" in page
        assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_page_shows_the_name_of_a_file_as_text(capsys, tmp_path, fault):
    path = tmp_path / "<b>x$y_.npy"
    np.save(path, fault)
    run(capsys, path, "--rate", RATE, *QUICK, "--plot", tmp_path / "map.html")
    assert "&lt;b&gt;x$y_.npy" in (tmp_path / "map.html").read_text()


def test_other_metrics_and_quantities(capsys, tmp_path, fault):
    np.save(tmp_path / "a.npy", fault)
    (found,) = records(capsys, tmp_path / "a.npy", "--rate", RATE, *QUICK, "--metric", "kurtosis", "--on", "envelope")
    assert (found["metric"], found["on"]) == ("kurtosis", "envelope")
    (found,) = records(capsys, tmp_path / "a.npy", "--rate", RATE, *QUICK, "--order", 4, "--frequencies", "20,500")
    assert found["parameters"] == {"order": 4.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "does not say its sampling rate; add --rate"),
        (["--rate", "0"], "rate must be a positive"),
        (["--rate", "12000", "--rpm", "0"], "rpm must be a positive"),
        (["--rate", "12000", "--bearing", "6205"], "add --rpm"),
        (["--rate", "12000", "--rpm", "1797", "--bearing", "608"], "there is no bearing"),
        (["--rate", "12000", "--rpm", "1797", "--bearing", "6205", "--orders", "3"], "choose one"),
        (["--rate", "12000", "--rpm", "1797", "--orders", "three"], "--orders takes"),
        (["--rate", "12000", "--rpm", "1797", "--orders", "1,2,3,4,5"], "at most 4"),
        (["--rate", "12000", "--on", "phase"], "--on is spectrum"),
        (["--rate", "12000", "--metric", "ginny"], "no metric"),
        (["--rate", "12000", "--frequencies", "ten"], "--frequencies takes"),
        (["--rate", "12000", "--plot", "map.pdf"], "--plot writes"),
        (["--rate", "12000", "--rpm", "10"], "turns of the shaft"),
    ],
)
def test_refusals(capsys, tmp_path, healthy, options, message):
    np.save(tmp_path / "a.npy", healthy)
    assert message in run(capsys, tmp_path / "a.npy", *options, code=2)


def test_records_that_cannot_be_used(capsys, tmp_path):
    for name, array, message in [
        ("constant", np.ones(9000), "constant"),
        ("nan", np.r_[np.ones(9000), np.nan], "aN"),
        ("short", np.ones(5), "at least 64"),
        ("wide", np.ones((9000, 65)), "transpose"),
    ]:
        np.save(tmp_path / f"{name}.npy", array)
        assert message in run(capsys, tmp_path / f"{name}.npy", "--rate", RATE, code=2), name
    np.savetxt(
        tmp_path / "t.csv", np.c_[np.geomspace(1, 9, 900), np.ones(900)], delimiter=",", header="time,a", comments=""
    )
    assert "not evenly spaced" in run(capsys, tmp_path / "t.csv", code=2)
    (tmp_path / "empty").mkdir()
    assert "no file of a known kind" in run(capsys, tmp_path / "empty", code=2)


def test_numbers_have_fixed_decimals(capsys, tmp_path, fault):
    np.save(tmp_path / "x.npy", fault)
    line = run(capsys, tmp_path / "x.npy", "--rate", "11000", "--levels", 3).splitlines()[1]
    assert re.search(r" 0\.\d{4} +0\.\d{4} +(below 0\.0001|0\.\d{4}) +(stands|does)", line)
    assert not re.search(r"\d\.\d+ to", line)  # thirds of 5500 Hz are not 1833.33 Hz


def test_narrow_bands_keep_their_decimals():
    assert str(Band(0.0, 62.5, 3)) == "0 to 62.5 Hz"
    assert str(Band(1000 / 3, 2000 / 3, 1)) == "333 to 667 Hz"
    assert str(Band(0.125, 0.25, 1)) == "0.125 to 0.25 Hz"
