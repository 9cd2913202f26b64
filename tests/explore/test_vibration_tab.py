"""The vibration tab without a browser: records, refusals, bands, sounds and files to keep."""

from __future__ import annotations

import base64
import csv
import io
import re
import wave

import numpy as np
import pytest
import scipy.io
from PIL import Image

import sparsegauge as sg
from sparsegauge.explore.band_sounds import (
    HIGHEST_PLAYABLE_RATE,
    LOWEST_PLAYABLE_RATE,
    make_wav,
    sound_of_band,
    sound_of_envelope,
)
from sparsegauge.explore.upload import LONGEST_RECORD, read_vibration
from sparsegauge.explore.vibration_panel import NO_BEARING, SIMULATED, BandTest, VibrationPanel, simulated
from waiting import wait_until


@pytest.fixture(scope="module")
def panel():
    """The tab of a page that no server serves, with the first record."""
    panel = VibrationPanel(max_upload_mb=2.0)
    panel.start()
    return panel


def finish(panel):
    wait_until(lambda: panel._tick() or panel.test is None, "the end of the test")


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def read_wav(data):
    with wave.open(io.BytesIO(data)) as sound:
        assert (sound.getnchannels(), sound.getsampwidth()) == (1, 2)
        return np.frombuffer(sound.readframes(sound.getnframes()), "<i2"), sound.getframerate()


def test_the_simulated_records_are_mapped_tested_and_diagnosed(panel):
    for name, fault in zip(SIMULATED, ("The fault: inner.", "The fault: outer.", "No fault"), strict=True):
        panel.which.value = name
        finish(panel)
        record = simulated(name)
        same = sg.band_map(record.samples, record.rate, rpm=record.rpm)
        assert panel.found.best == same.best
        assert fault in panel.verdict.object
        assert ("stands out:" in panel.verdict.object) == same.stands_out()


def test_a_click_on_a_band_changes_spectrum_and_sound(panel):
    panel.which.value = next(iter(SIMULATED))
    before = panel.sounds.object, panel.spectrum.source.data["h"]
    number = next(k for k, value in enumerate(panel.found.values) if np.isfinite(value) and k > 3)
    panel.map.bands.selected.indices = [number]
    band = panel.found.bands[number]
    assert panel.band.value.startswith(f"{band.low:,.0f} to {band.high:,.0f} Hz")
    assert panel.sounds.object != before[0]
    assert not np.array_equal(panel.spectrum.source.data["h"], before[1])
    assert panel.map.marks.data["left"][1] == band.low / 1000
    played = re.findall(r'base64,([^"]+)"', panel.sounds.object)
    assert base64.b64decode(played[0]) == sound_of_band(panel.found, band)
    assert base64.b64decode(played[1]) == sound_of_envelope(panel.found, band)


def test_a_band_that_is_too_narrow_to_be_measured_cannot_be_chosen(panel):
    before = panel.band.value
    panel.map.bands.selected.indices = [next(k for k, value in enumerate(panel.found.values) if np.isnan(value))]
    assert panel.band.value == before


def test_a_file_without_a_rate_asks_for_it_and_then_works(panel):
    record = sg.bearing_record("outer", rng=3)
    panel.file.value = {"mine.npy": npy(record.x)}
    assert panel.which.value == "mine.npy"
    assert "type it in the field Rate" in panel.message.object
    panel.rate.value, panel.rpm.value, panel.bearing.value = record.rate, record.rpm, "6205"
    panel._survey()
    assert not panel.message.visible
    finish(panel)
    assert "The fault: outer." in panel.verdict.object


def test_a_matlab_file_says_the_speed(panel, tmp_path):
    record = sg.bearing_record("inner", rng=3)
    scipy.io.savemat(tmp_path / "x.mat", {"X105_DE_time": record.x[:, None], "X105RPM": 1797.0, "fs": 12000.0})
    (found,) = read_vibration((tmp_path / "x.mat").read_bytes(), "x.mat", max_mb=2)
    assert (found.rate, found.rpm) == (12000.0, 1797.0)
    assert found.samples.tolist() == record.x.tolist()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (npy(np.ones(5000)), "constant"),
        (npy(np.r_[np.nan, np.ones(5000)]), "NaN"),
        (npy(np.ones(10)), "at least"),
        (b"junk", "is not"),
        (npy(np.random.default_rng(0).standard_normal(300_000)), "--max-upload-mb"),
    ],
)
def test_what_cannot_be_mapped_is_a_sentence_and_the_map_stays(panel, data, words):
    before = panel.found
    panel.file.value = {"bad.npy": data}
    panel.rate.value = 12000.0
    if not panel.message.visible or "field Rate" in panel.message.object:
        panel._survey()
    assert panel.message.visible
    assert words in panel.message.object
    assert panel.found is before


@pytest.mark.parametrize(
    ("rate", "rpm", "bearing", "words"),
    [
        (None, None, NO_BEARING, "field Rate"),
        (0.0, None, NO_BEARING, "field Rate"),
        (12000.0, None, "6205", "field Speed"),
        (12000.0, 1.0, "6205", "turns of the shaft"),
        (1.0, None, NO_BEARING, "record for longer|lines of its envelope"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(panel, rate, rpm, bearing, words):
    panel.which.value = "simulated: healthy"
    panel.rate.value, panel.rpm.value, panel.bearing.value = rate, rpm, bearing
    panel._survey()
    if rate == 1.0 and not panel.message.visible:
        return  # a record of 13 hours can be mapped
    assert panel.message.visible
    assert re.search(words, panel.message.object)


def test_bands_and_plot_are_saved(panel):
    panel.which.value = "simulated: outer race damaged, random knocks"
    panel._choose()
    rows = list(csv.DictReader(panel.table.callback()))
    assert [float(row["low_hz"]) for row in rows] == [band.low for band in panel.found.bands]
    np.testing.assert_array_equal([float(row["gini"]) for row in rows], panel.found.values)
    with Image.open(panel.plot.callback()) as picture:
        assert picture.format == "PNG"


def test_long_records_are_cut():
    data = npy(np.random.default_rng(0).standard_normal(LONGEST_RECORD + 5).astype(np.float32))
    (found,) = read_vibration(data, "x.npy", max_mb=10)
    assert found.samples.shape == (LONGEST_RECORD,)


@pytest.mark.parametrize("rate", [100.0, 1875.5, 8000.0, 12000.0, 48000.0, 200000.0])
def test_sounds_have_a_rate_that_browsers_play_and_keep_their_length(rate):
    t = np.arange(int(2 * rate)) / rate
    sound, played = read_wav(make_wav(3 + 1e-9 * np.sin(2 * np.pi * 20 * t), rate))
    assert LOWEST_PLAYABLE_RATE <= played <= HIGHEST_PLAYABLE_RATE
    assert len(sound) / played == pytest.approx(2, abs=0.01)
    assert 20_000 < np.abs(sound.astype(int)).max() <= 32767
    assert sound[0] == sound[-1] == 0
    spectrum = np.abs(np.fft.rfft(sound))
    assert np.argmax(spectrum) * played / len(sound) == pytest.approx(20, abs=0.6)


def test_silence_is_no_error():
    assert not read_wav(make_wav(np.zeros(100), 12000.0))[0].any()


def test_a_test_that_fails_leaves_a_sentence(panel, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("no")

    monkeypatch.setattr(type(panel.found), "threshold", fail)
    test = BandTest(panel.found, panel.record.samples, None, None)
    test.work()
    assert test.over
    assert "no" in test.sentences()
