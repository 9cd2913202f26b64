"""Band maps: the bands, what is measured in them, the best one, and what is refused."""

import math

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.vibration.band_tree import Band

RATE = 12_000.0


@pytest.fixture(scope="module")
def record():
    return sg.bearing_record("outer", seconds=3, rng=4)


def test_the_tree_has_the_bands_of_the_kurtogram():
    x = np.random.default_rng(0).standard_normal(1 << 15)
    found = sg.band_map(x, RATE, levels=3, on="envelope")
    assert [sum(b.level == level for b in found.bands) for level in np.unique([b.level for b in found.bands])] == [
        1,
        2,
        3,
        4,
        6,
        8,
    ]
    assert found.bands[-1] == Band(5250.0, 6000.0, 3.0)
    assert len(sg.band_map(x, RATE, levels=3, bands="binary").bands) == 15


@pytest.mark.parametrize("on", ["envelope spectrum", "envelope", "squared envelope", "samples"])
def test_values_are_the_metric_of_what_the_map_returns(record, on):
    found = sg.band_map(record.x, RATE, metric="hoyer", on=on, levels=3)
    index = 7
    band = found.bands[index]
    if on == "envelope spectrum":
        curve = found.spectrum(band)
        low, high = found.setting.usable_range(band.width)
        expected = sg.hoyer(curve.values[(curve.x >= low) & (curve.x <= high)])
    elif on == "samples":
        return  # at another rate than signal()
    else:
        envelope = found.envelope(band).values
        expected = sg.hoyer(envelope if on == "envelope" else envelope**2)
    assert found.values[index] == pytest.approx(expected, rel=1e-9)


def test_every_metric_order_and_callable_works(record):
    for name in sg.METRICS:
        values = sg.band_map(record.x, RATE, metric=name, levels=2).values
        assert np.isfinite(values).all(), name
    by_order = sg.band_map(record.x, RATE, order=1, levels=2).values
    assert np.allclose(by_order, sg.band_map(record.x, RATE, levels=2).values)
    own = sg.band_map(record.x, RATE, metric=lambda c: float(sg.gini(c)), levels=2).values
    assert np.allclose(own, by_order)


def test_a_metric_that_falls_with_sparsity_chooses_its_smallest_value(record):
    found = sg.band_map(record.x, RATE, metric="h_s", levels=2)
    assert found.best_value == np.nanmin(found.values)


@pytest.mark.parametrize("fault", ["outer", "inner"])
@pytest.mark.parametrize("options", [{}, {"order": 4}, {"rpm": 1797}, {"whiten": True}])
def test_the_best_band_holds_the_resonance(fault, options):
    simulated = sg.bearing_record(fault, rng=2)
    best = sg.band_map(simulated.x, simulated.rate, **{"rpm": simulated.rpm, **options}).best
    assert best.low - 100 <= simulated.resonance <= best.high + 100


def test_random_knocks_mislead_kurtosis_but_not_the_envelope_spectrum():
    simulated = sg.bearing_record("outer", knocks=5, rng=1)
    by_kurtosis = sg.band_map(simulated.x, simulated.rate, metric="kurtosis", on="envelope").best
    by_spectrum = sg.band_map(simulated.x, simulated.rate, rpm=simulated.rpm).best
    assert not by_kurtosis.low <= simulated.resonance <= by_kurtosis.high
    assert by_spectrum.low <= simulated.resonance <= by_spectrum.high


def test_signal_is_the_part_of_the_record_in_the_band():
    t = np.arange(24_000) / RATE
    tone = np.sin(2 * np.pi * 1000 * t)
    found = sg.band_map(tone + np.sin(2 * np.pi * 4000 * t), RATE, on="envelope")
    assert np.allclose(found.signal((800.0, 1200.0)), tone, atol=1e-9)


def test_envelope_and_spectrum_are_of_one_band(record):
    found = sg.band_map(record.x, RATE)
    times, values = found.envelope()
    assert len(times) == len(values)
    assert 0 < times[0] < times[-1] < 3
    frequencies, heights = found.spectrum((3000.0, 4000.0))
    assert frequencies[0] == 0
    peak = frequencies[20:][heights[20:].argmax()]
    assert min(abs(peak - k * record.frequency) for k in (1, 2, 3)) < 0.02 * record.frequency


def test_custom_bands(record):
    found = sg.band_map(record.x, RATE, bands=[(500, 1500), (2000, 6000, 1000)])
    assert [(b.low, b.high) for b in found.bands] == [
        (500, 1500),
        (2000, 3000),
        (3000, 4000),
        (4000, 5000),
        (5000, 6000),
    ]
    assert found.best == found.bands[2]


def test_the_table_has_one_row_per_band(record):
    pytest.importorskip("pandas")
    found = sg.band_map(record.x, RATE, levels=2)
    frame = found.to_frame()
    assert list(frame.columns) == ["level", "low", "high", "centre", "width", "value"]
    assert np.array_equal(frame["value"], found.values, equal_nan=True)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1.0, 1e30, 1e200])
def test_no_value_depends_on_the_unit(record, scale):
    expected = sg.band_map(record.x, RATE, levels=3).values
    assert np.allclose(sg.band_map(scale * record.x, RATE, levels=3).values, expected, rtol=1e-9)


def test_kinds_of_arrays(record):
    expected = sg.band_map(record.x, RATE, levels=2).values
    for x, tolerance in [
        (record.x.astype(np.float32), 1e-5),
        (record.x.tolist(), 1e-12),
        (record.x[None, :], 1e-12),
        (record.x + 1000.0, 1e-8),
        (np.round(2000 * record.x).astype(np.int16), 1e-2),
        (record.x[::-1][::-1], 1e-12),
    ]:
        assert np.allclose(sg.band_map(x, RATE, levels=2).values, expected, rtol=tolerance), type(x)


def test_no_value_depends_on_threads(record, monkeypatch):
    from sparsegauge._platform import threads

    many = sg.band_map(record.x, RATE).values
    monkeypatch.setattr(threads, "_count", 1)
    assert np.array_equal(many, sg.band_map(record.x, RATE).values, equal_nan=True)


NOISE = np.random.default_rng(5).standard_normal(6000)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((NOISE, None), {}, "sampling rate is missing"),
        ((NOISE, 0), {}, "rate must be a positive"),
        ((NOISE, -5), {}, "rate must be a positive"),
        ((NOISE, math.nan), {}, "rate must be a positive"),
        ((NOISE, "fast"), {}, "rate must be a number"),
        ((NOISE, RATE), {"rpm": 0}, "rpm must be a positive"),
        ((NOISE[:600], RATE), {"rpm": 1797}, "1.5 turns of the shaft"),
        ((NOISE, RATE), {"rpm": 1e7}, "too fast"),
        ((np.full(6000, 3.3), RATE), {}, "constant"),
        ((np.zeros(6000), RATE), {}, "constant"),
        ((np.r_[NOISE, np.nan], RATE), {}, "(?i)nan|finite"),
        ((np.stack([NOISE, NOISE]), RATE), {}, "one channel"),
        ((NOISE[:20], RATE), {}, "at least 64 samples"),
        (([], RATE), {}, "no coefficient"),
        ((NOISE, RATE), {"on": "spectrum"}, "on must be one of"),
        ((NOISE, RATE), {"bands": "octaves"}, "bands must be one of"),
        ((NOISE, RATE), {"bands": 7}, "list of"),
        ((NOISE, RATE), {"bands": []}, "empty"),
        ((NOISE, RATE), {"bands": [(100, 50)]}, "must lie within"),
        ((NOISE, RATE), {"bands": [(100, 7000)]}, "must lie within"),
        ((NOISE, RATE), {"bands": [(100, 101)]}, "needs 16"),
        ((NOISE, RATE), {"bands": [(100, 200, 300)]}, "cannot be 300 Hz wide"),
        ((NOISE, RATE), {"levels": 20}, "at most levels="),
        ((NOISE, RATE), {"levels": 2, "bands": [(0, 6000)]}, "levels is for the trees"),
        ((NOISE, RATE), {"frequencies": (50, 20)}, "low < high"),
        ((NOISE, RATE), {"frequencies": 50}, "pair"),
        ((NOISE, RATE), {"frequencies": (10, 12)}, "16 lines"),
        ((NOISE, RATE), {"metric": "ginni"}, "no metric"),
        ((NOISE, RATE), {"metric": "hoyer", "order": 2}, "order is a parameter"),
        ((NOISE, RATE), {"order": 0.5}, "order must be at least 1"),
    ],
)
def test_bad_input_is_a_sentence(arguments, options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.band_map(*arguments, **options)
