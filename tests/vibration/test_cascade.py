"""The fast kurtogram by its own filters: against values of PySDKit, and against a cascade by explicit sums."""

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.vibration.cascade import cascade, kurtogram_filters

N = np.arange(6000)
X = np.random.default_rng(0).standard_normal(6000) + 8 * np.exp(-(N % 300) / 15) * np.sin(1.9 * N)
# `pysdkit.utils.fast_kurtogram(X, 3)` of PySDKit 0.5, one row per number of bands: E|c|^4 / (E|c|^2)^2 - 2
PEER = {
    2: [2.441516, 4.929093],
    3: [0.310602, 6.365193, 3.272781],
    4: [0.133151, 1.862946, 7.556667, 0.854484],
    6: [0.106766, 0.05777, 1.397193, 8.651872, 2.603604, 0.629711],
    8: [0.061609, 0.143723, 0.097413, 1.448833, 7.357125, 4.923939, 0.416348, 0.500179],
}


def kurtogram(x=X, **options):
    return sg.band_map(x, 12_000, **{"metric": "kurtosis", "on": "envelope", "filters": "fast kurtogram", **options})


def test_values_are_those_of_the_fast_kurtogram():
    found = kurtogram(levels=3)
    for parts, expected in PEER.items():
        values = [v for b, v in zip(found.bands, found.values, strict=True) if round(6000 / b.width) == parts]
        assert np.array(values) + 1 == pytest.approx(expected, abs=1e-6)  # `kurtosis` subtracts 3
    assert np.isnan(found.values[0])
    assert (found.best.low, found.best.high) == (3000.0, 4000.0)


def naive_step(values, taps, step):
    """One sample in `step` of the convolution, by its definition."""
    return np.array(
        [
            sum(taps[j] * values[n - j] for j in range(len(taps)) if n >= j)
            for n in range(step - 1, len(values) // step * step, step)
        ]
    )


@pytest.mark.parametrize("size", [96, 97, 101])
def test_bands_are_those_of_explicit_sums(size):
    x = X[:size]
    low, high, *thirds = kurtogram_filters()
    upper = naive_step(x, high, 2)
    upper = upper * (-1.0) ** np.arange(1, len(upper) + 1)
    expected = {
        (2, 0): naive_step(x, low, 2)[16:],
        (2, 1): upper[15:],
        (3, 1): naive_step(x, thirds[1], 3)[16:],
        (4, 2): naive_step(upper, low, 2)[16:],
    }
    found = {(node.parts, node.place): node.values for node in cascade(x, 2)}
    assert sorted(found) == [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 0), (4, 1), (4, 2), (4, 3)]
    for place, values in expected.items():
        assert np.allclose(found[place], values - values.mean(), atol=1e-13)


@pytest.mark.parametrize("parts", [2, 3, 4, 6, 8, 12, 16])
def test_a_tone_shows_in_its_own_band(parts):
    for index in range(parts):
        tone = np.cos(np.pi * (index + 0.5 + 0.07) / parts * np.arange(4000))
        power = {n.place: np.mean(np.abs(n.values) ** 2) for n in cascade(tone, 4) if n.parts == parts}
        assert max(power, key=power.get) == index


def test_the_threshold_is_by_the_same_filters():
    assert kurtogram(levels=4).stands_out()
    noise = np.random.default_rng(1).standard_normal(6000)
    threshold = kurtogram(noise, levels=4).threshold()
    assert not threshold.exceeded
    assert threshold.best == pytest.approx(threshold.surrogates.mean(), abs=5 * threshold.surrogates.std())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "envelope spectrum"}, "too few samples for an envelope spectrum"),
        ({"bands": "binary"}, "bands='1/3-binary'"),
        ({"bands": np.array([[100.0, 900.0]])}, "bands='1/3-binary'"),
        ({"levels": 0}, "use levels=1 or more"),
        ({"filters": "butterworth"}, "'smooth', 'fast kurtogram'"),
    ],
)
def test_what_these_filters_do_not_measure_is_a_sentence(options, message):
    with pytest.raises(sg.InvalidInput, match=message):
        kurtogram(**options)
