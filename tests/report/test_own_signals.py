"""The page about a user's own files: what is read, what is left out, what is said."""

from __future__ import annotations

import gzip
import re

import numpy as np
import pytest
from scipy.io import wavfile

import sparsegauge as sg
from sparsegauge.plots.charts import profile_chart, thin_out
from sparsegauge.profiles import measure_over_time
from sparsegauge.report.headline import find_oddities, summarise_signals
from sparsegauge.report.measured_signals import measure_values
from sparsegauge.report.own_recoveries import busiest_piece, recover_own
from sparsegauge.report.own_signals import MOST_SIGNALS_PER_PAGE, read_signals
from sparsegauge.report.page import render
from sparsegauge.report.rankings import rank_signals
from sparsegauge.report.sections import gather_files


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "spikes.npy", np.where(rng.random(1000) < 0.05, rng.standard_normal(1000), 0.0))
    wavfile.write(tmp_path / "tone.wav", 8000, (20000 * np.sin(np.arange(4001) * 0.7)).astype(np.int16))
    (tmp_path / "words.csv").write_text("only\nwords\n")
    return tmp_path


def test_files_and_folders_give_signals_and_what_cannot_be_read_is_said(folder):
    notes = []
    signals = read_signals([str(folder)], note=notes.append)
    assert [signal.name for signal in signals] == ["spikes.npy", "tone.wav"]
    assert len(notes) == 1
    assert "words.csv" in notes[0]
    assert signals[1].rate == 8000
    assert "s at 8,000 Hz" in signals[1].description


def test_packed_files_are_read_like_others(tmp_path):
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"\n".join(b"%d" % (k % 7) for k in range(100))))
    (signal,) = read_signals([str(tmp_path)], note=pytest.fail)
    assert signal.name == "x.csv.gz"


@pytest.mark.parametrize("length", [8, 9, 31, 63, 64, 65, 1000, 1023, 4097])
def test_lengths_are_cut_so_that_every_representation_can_be_computed(tmp_path, length):
    np.save(tmp_path / "x.npy", np.random.default_rng(length).standard_normal(length))
    (signal,) = read_signals([str(tmp_path / "x.npy")], note=pytest.fail)
    assert length - 64 < signal.values.size <= length
    measured = measure_values(signal.name, "", signal.values)
    assert all(np.isfinite(list(profile.values())).all() for profile in measured.profiles.values())


def test_missing_values_are_counted_and_zero_signals_are_left_out(tmp_path):
    x = np.random.default_rng(0).standard_normal((3, 100))
    x[0, :3] = np.nan, np.inf, -np.inf
    x[1] = 0
    np.save(tmp_path / "x.npy", x)
    notes = []
    signals = read_signals([str(tmp_path / "x.npy")], note=notes.append)
    assert [signal.missing for signal in signals] == [3, 0]
    assert [signal.name for signal in signals] == ["x.npy: [0]", "x.npy: [2]"]
    assert "zero everywhere" in notes[0]


def test_nothing_to_show_is_an_error_that_says_so(tmp_path):
    (tmp_path / "words.csv").write_text("only\nwords\n")
    with pytest.raises(
        sg.InvalidInput, match=r"no signal to report on; words.csv is left out: .* no column of numbers"
    ):
        read_signals([str(tmp_path / "words.csv")], note=lambda text: None)
    (tmp_path / "empty").mkdir()
    with pytest.raises(sg.InvalidInput, match="no file of a known kind"):
        read_signals([str(tmp_path / "empty")], note=pytest.fail)


def test_a_page_holds_a_dozen_signals_and_says_how_many_more_there_are(tmp_path):
    np.save(tmp_path / "many.npy", np.random.default_rng(0).standard_normal((MOST_SIGNALS_PER_PAGE + 3, 64)))
    notes = []
    assert len(read_signals([str(tmp_path / "many.npy")], note=notes.append)) == MOST_SIGNALS_PER_PAGE
    assert "3 more are left out" in notes[0]


def test_every_file_gets_its_share_of_the_room(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "a.npy", rng.standard_normal((100, 64)))
    for name in "bcd":
        np.save(tmp_path / f"{name}.npy", rng.standard_normal(64))
    names = [signal.name for signal in read_signals([str(tmp_path)], note=lambda text: None)]
    assert names[-3:] == ["b.npy", "c.npy", "d.npy"]
    assert len(names) == MOST_SIGNALS_PER_PAGE


def test_rates_come_from_times_numbers_and_the_user(tmp_path):
    rng = np.random.default_rng(0)
    times = np.arange(640) / 250
    np.savetxt(tmp_path / "t.csv", np.c_[times, rng.standard_normal(640)], delimiter=",", header="time,x", comments="")
    np.savez(tmp_path / "n.npz", x=rng.standard_normal(640), fs=360.0)
    np.save(tmp_path / "plain.npy", rng.standard_normal(640))
    found = read_signals([str(tmp_path)], note=lambda text: None, rate=12_000)
    assert {signal.name: signal.rate for signal in found} == {
        "n.npz: x": 360, "plain.npy": 12_000, "t.csv: x": pytest.approx(250),
    }  # fmt: skip
    (one,) = read_signals([str(tmp_path / "t.csv")], note=pytest.fail, key="x")
    assert one.rate is None


def test_files_of_the_same_name_are_told_apart(tmp_path):
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        np.save(tmp_path / place / "x.npy", np.arange(1.0, 65))
    names = [s.name for s in read_signals([str(tmp_path / "a"), str(tmp_path / "b")], note=pytest.fail)]
    assert len(set(names)) == 2


def test_a_column_of_times_is_no_signal_unless_it_is_all_there_is(tmp_path):
    times = np.arange(64) / 360
    table = np.c_[times, np.random.default_rng(0).standard_normal(64)]
    np.savetxt(tmp_path / "two.csv", table, delimiter=",", header="time,ecg", comments="")
    notes = []
    assert [signal.name for signal in read_signals([str(tmp_path / "two.csv")], note=notes.append)] == ["two.csv: ecg"]
    assert notes == ["two.csv: time is left out: it increases in equal steps, like time or an index"]
    np.save(tmp_path / "ramp.npy", times)
    assert [signal.name for signal in read_signals([str(tmp_path / "ramp.npy")], note=pytest.fail)] == ["ramp.npy"]


RNG = np.random.default_rng(1)
ODD = {
    "mean has most": 100 + RNG.standard_normal(200),
    "alone has most": np.append(0.01 * RNG.standard_normal(200), 5.0),
    "clipped": np.clip(RNG.standard_normal(2000), -1, 1),
    "different values": RNG.integers(-3, 4, 5000).astype(float),
    "exactly zero": np.append(np.zeros(300), RNG.standard_normal(200)),
    "all samples are equal": np.full(50, 2.0),
}


@pytest.mark.parametrize("words", ODD)
def test_oddities_are_seen(words):
    assert any(words in oddity.words for oddity in find_oddities(ODD[words]))


def test_ordinary_samples_have_no_oddities():
    for seed in range(20):
        assert find_oddities(np.random.default_rng(seed).standard_normal(2000)) == []
    assert find_oddities(np.random.default_rng(0).standard_normal(100), missing=2)[0].words.endswith(": 2")


def test_a_fact_about_several_signals_is_said_once():
    offset = 100 + np.random.default_rng(0).standard_normal(256)
    signals = [measure_values(name, "", offset) for name in "abcdef"]
    last = summarise_signals(signals, rank_signals(signals))[2]
    assert last.count("the mean has most of the energy") == 1
    assert last.endswith("(a, b, c and 3 more).")
    two = signals[:2]
    assert summarise_signals(two, rank_signals(two))[2].endswith("(a and b).")


def test_a_fact_whose_size_differs_is_said_as_a_range_and_a_file_is_named_once():
    rng = np.random.default_rng(0)
    signals = [
        measure_values(f"x.mat: [{k}]", "", np.where(rng.random(4000) < share, 0, rng.standard_normal(4000)))
        for k, share in enumerate((0.2, 0.6))
    ]
    last = summarise_signals(signals, rank_signals(signals))[2]
    assert re.fullmatch(
        r"Odd: (19|20|21) to (59|60|61) % of the samples are exactly zero \(x.mat: \[0\] and \[1\]\)\.", last
    )


def test_the_summary_names_the_metrics_that_choose_another_signal():
    spikes = np.r_[np.ones(40), np.zeros(60)]  # many zeros, and equal magnitudes
    floor = np.r_[30.0, np.full(99, 0.5)]  # one huge coefficient over a floor
    signals = [measure_values("spikes", "", spikes), measure_values("floor", "", floor)]
    ranking = rank_signals(signals)
    choices = ranking[0].sparsest(ranking[0].lawful)
    first = summarise_signals(signals, ranking)[0]
    most, fewest = sorted(choices, key=lambda name: -len(choices[name]))
    assert first.startswith(f"{most} is the sparsest")
    assert f"{len(choices[most])} of the {len(ranking[0].lawful)} metrics" in first
    assert f"choose {fewest}" in first or f"chooses {fewest}" in first


def test_the_summary_names_the_sparsest_signal():
    x = np.random.default_rng(0).standard_normal(256)
    signals = [measure_values("dense", "", x), measure_values("sparse", "", x**9)]
    summary = summarise_signals(signals, rank_signals(signals))
    assert len(summary) == 3
    assert summary[0].startswith("sparse is the sparsest of the 2 signals")
    alone = summarise_signals(signals[:1], rank_signals(signals[:1]))
    assert f"{sg.gds(x):.2f}" in alone[0]


def test_sparsity_over_time_is_that_of_windows_in_seconds():
    x = np.random.default_rng(0).standard_normal(10_000)
    x[7000] = 100
    found = measure_over_time("x", x, 1000.0)
    assert found.unit == "s"
    assert found.sparsest_at <= 7.0 <= found.sparsest_at + found.window
    assert re.fullmatch(r"sparsest from 6\.\d+ to 7\.\d+ s|sparsest from 7 to 7\.\d+ s", found.where)
    tone = measure_over_time("x", np.tile([1.0, 2.0], 5000), 1000.0)
    assert (tone.is_flat, tone.where) == (True, "the same throughout")
    length = round(found.window * 1000)
    assert found.values[0] == sg.gds(x[:length])
    assert measure_over_time("x", x[:100], None) is None
    assert measure_over_time("x", np.ones((64, 64)), None) is None


def test_a_sparse_signal_comes_back_from_a_quarter_of_its_measurements():
    x = sg.sparse_signal(512, 20, "normal", rng=0)
    (found,) = recover_own([measure_values("x", "", x)])
    ours = found.attempts[-1]
    assert np.allclose(ours.values, x)
    assert not np.allclose(found.attempts[0].values, x)


def test_the_piece_that_is_recovered_is_the_busiest():
    x = np.zeros(5000)
    x[3000:3100] = np.random.default_rng(0).standard_normal(100)
    piece, first = busiest_piece(x, 512)
    assert first <= 3000
    assert first + len(piece) >= 3100


def test_profiles_have_error_bars_for_samples_but_not_for_pictures(folder):
    rng = np.random.default_rng(1)
    plain, asked = (measure_values("x", "", rng.standard_normal(256), intervals=asked) for asked in (False, True))
    assert plain.intervals == {}
    for order, (low, high) in asked.intervals.items():
        assert low < asked.profiles["samples"][order] < high
        assert (low, high) == sg.confidence_interval(asked.values, "gds", order=order, blocks="auto")
    assert measure_values("picture", "", rng.random((64, 64)), intervals=True).intervals == {}
    bars, no_bars = (profile_chart("x", asked.profiles, limits) for limits in (asked.intervals, {}))
    assert bars.count("LineCollection") == no_bars.count("LineCollection") + 1
    page = render(gather_files([str(folder / "spikes.npy")]))
    assert "confidence intervals of the" in page


def test_thinning_keeps_extremes():
    x = np.random.default_rng(0).standard_normal(100_001)
    places, values = thin_out(x)
    assert len(places) == len(values) < 2000
    assert values.min() == x.min()
    assert values.max() == x.max()
    assert np.array_equal(thin_out(x[:100])[1], x[:100])


def test_signals_with_a_rate_get_a_band_map(tmp_path):
    record = sg.bearing_record("outer", rng=1)
    wavfile.write(tmp_path / "motor.wav", int(record.rate), (record.x / abs(record.x).max() * 3e4).astype(np.int16))
    np.save(tmp_path / "no_rate.npy", record.x)
    sections = gather_files([str(tmp_path)])
    assert list(sections.band_maps) == ["motor.wav"]
    best = sections.band_maps["motor.wav"].best
    assert best.low < record.resonance < best.high
    assert f"sparsest in {best}" in render(sections)


def test_the_page_is_about_the_files_and_escapes_their_names(folder):
    (folder / "spikes.npy").rename(folder / "<b>.npy")
    html = render(gather_files([str(folder)]))
    assert "&lt;b&gt;.npy" in html
    assert "<b>.npy" not in html
    assert "words.csv" in html
    assert 'id="time"' in html
    assert 'id="laws"' not in html
