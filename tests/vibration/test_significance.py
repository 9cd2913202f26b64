"""False alarms: rare on noise of any colour, tones and modulated gears; none missed where there is a fault."""

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.vibration.significance import _gumbel_pivots

RATE = 12_000.0


def coloured(n, rng, slope):
    frequencies = np.fft.rfftfreq(n)
    frequencies[0] = frequencies[1]
    return np.fft.irfft(np.fft.rfft(rng.standard_normal(n)) * frequencies**slope, n)


@pytest.mark.parametrize("options", [{}, {"order": 4}, {"metric": "kurtosis", "on": "envelope"}])
def test_p_values_on_noise_are_not_too_small(options):
    rng = np.random.default_rng(11)
    values = np.array(
        [
            sg.band_map(coloured(8000, rng, slope), RATE, levels=3, **options).threshold(rng=seed).p_value
            for seed, slope in enumerate([-1.0, -0.5, 0.0, 0.5] * 8)
        ]
    )
    assert (values <= 0.01).sum() <= 2  # 32 records: with probability 0.996 if the level holds
    assert (values <= 0.25).mean() < 0.5
    assert values.max() > 0.3


def test_the_threshold_is_the_quantile_of_the_gumbel_distribution():
    pivots = _gumbel_pivots(24)
    direct = np.random.default_rng(0).gumbel(size=(20_000, 25))
    ratio = (direct[:, 0] - direct[:, 1:].mean(axis=1)) / direct[:, 1:].std(axis=1, ddof=1)
    for level in (0.5, 0.1, 0.01):
        assert (ratio > np.quantile(pivots, 1 - level)).mean() == pytest.approx(level, rel=0.25)


@pytest.mark.parametrize("fault", ["outer", "inner"])
def test_a_fault_stands_out(fault):
    record = sg.bearing_record(fault, seconds=3, rng=3)
    found = sg.band_map(record.x, record.rate, rpm=record.rpm).threshold()
    assert found.exceeded
    assert found.best > found.value
    assert found.p_value < 0.01


@pytest.mark.parametrize("knocks", [0, 5])
def test_gears_hum_and_random_knocks_do_not(knocks):
    for seed in range(3):
        record = sg.bearing_record("none", seconds=2, knocks=knocks, modulation=0.8, rng=seed)
        assert not sg.band_map(record.x, record.rate, levels=4).stands_out()


def test_the_result_does_not_change_between_calls():
    found = sg.band_map(sg.bearing_record("none", seconds=1, rng=0).x, RATE, levels=2)
    assert found.threshold().value == found.threshold().value
    assert found.threshold(0.1).value < found.threshold(0.001).value


def test_a_metric_that_falls_with_sparsity():
    record = sg.bearing_record("outer", seconds=2, amplitude=2, rng=3)
    found = sg.band_map(record.x, record.rate, metric="h_s", on="squared envelope", levels=3, bands="binary")
    threshold = found.threshold()
    assert threshold.exceeded == (threshold.best < threshold.value)


@pytest.mark.parametrize("level", [0, 1, -1, float("nan"), "low"])
def test_a_level_is_a_probability(level):
    found = sg.band_map(np.random.default_rng(0).standard_normal(4000), RATE, levels=1)
    with pytest.raises(sg.InvalidInput, match="level"):
        found.threshold(level)
