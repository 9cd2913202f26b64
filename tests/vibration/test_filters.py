"""Bands by the FFT: against the sum over frequencies that defines them, and against signals whose envelope is known."""

import numpy as np
import pytest

from sparsegauge.vibration.band_tree import Band, lay_out
from sparsegauge.vibration.filters import SOFT_EDGE_SHARE, envelope_spectra, filter_bank, record_spectrum
from sparsegauge.vibration.whitening import TONE_LIMIT, noise_floor, whiten

RATE = 1000.0


def naive_analytic(x, rate, band, times):
    """2/N sum_k W(f_k) X_k exp(2 pi i (f_k - f_first) t): the band's analytic signal, moved down, at any time."""
    n = len(x)
    resolution = rate / n
    first, bins = round(band.low / resolution), round(band.width / resolution)
    edge = max(1, round(SOFT_EDGE_SHARE * bins))
    total = np.zeros(len(times), dtype=complex)
    for k in range(first - edge, first + bins + edge):
        if not 0 < k <= n // 2:
            continue
        from_low, from_high = k - first + 0.5, first + bins - k - 0.5
        weight = 1.0
        for distance in (from_low, from_high):
            if distance < edge:
                weight *= np.sin(np.pi / 4 * (1 + distance / edge))
        coefficient = np.sum(x * np.exp(-2j * np.pi * k * np.arange(n) / n))
        total += 2 / n * weight * coefficient * np.exp(2j * np.pi * (k - first + edge) * resolution * times)
    return total


@pytest.mark.parametrize("band", [Band(0.0, 125.0, 2.0), Band(125.0, 250.0, 2.0), Band(375.0, 500.0, 2.0)])
@pytest.mark.parametrize("n", [400, 401, 512])
def test_analytic_signal_is_the_sum_over_its_frequencies(band, n):
    x = np.random.default_rng(0).standard_normal(n)
    bank = filter_bank(record_spectrum(x - x.mean()), n, RATE, [band])
    times = bank.start + np.arange(bank.values.shape[1]) / bank.rate
    expected = naive_analytic(x - x.mean(), RATE, band, times)
    assert np.allclose(bank.values[0], expected, atol=1e-12)


def test_neighbouring_bands_share_the_power_at_their_edges():
    n = 4096
    bands = lay_out("binary", 3, RATE, n)[3]
    powers = np.zeros(n // 2 + 1)
    for k in range(1, n // 2):
        spectrum = np.zeros(n // 2 + 1, dtype=complex)
        spectrum[k] = n / 2
        powers[k] = sum(np.mean(np.abs(row) ** 2) for row in filter_bank(spectrum, n, RATE, bands).values)
        if k > 300:
            break
    inner = powers[40:300]  # the first edge lies at 0 Hz, where there is no neighbour
    assert np.allclose(inner, 1.0, atol=1e-9)


def test_the_jump_from_the_end_to_the_beginning_leaves_no_trace():
    n = 20_000
    t = np.arange(n) / RATE
    x = np.sin(2 * np.pi * 50.025 * t)  # half a period is left over: the periodic continuation has a kink
    far = filter_bank(record_spectrum(x - x.mean()), n, RATE, [Band(250.0, 312.5, 3.0)])
    envelope = np.abs(far.values[0])
    assert envelope.max() < 1e-3  # of the tone's amplitude
    cut = filter_bank(record_spectrum(x - x.mean()), n, RATE, [Band(31.25, 62.5, 4.0)])
    assert np.allclose(np.abs(cut.values[0]), 1.0, atol=0.02)


def test_lines_of_a_modulated_tone_have_their_heights():
    n = 40_000
    t = np.arange(n) / RATE
    x = (1 + 0.5 * np.cos(2 * np.pi * 10 * t)) * np.cos(2 * np.pi * 200 * t)
    spectra = envelope_spectra(filter_bank(record_spectrum(x), n, RATE, [Band(125.0, 250.0, 2.0)]), 0.0, 60.0)
    shape = np.sqrt(1 - 10 / 125)  # of white noise in a band with straight edges
    height = spectra.values[0].max()
    assert abs(spectra.frequencies[spectra.values[0].argmax()] - 10) < 0.05
    assert height == pytest.approx(2 * 0.5 / shape, rel=0.1)  # (1 + m cos)^2 has the line 2 m; bins cost a little


def test_envelope_spectra_of_white_noise_are_flat():
    rng = np.random.default_rng(3)
    n, total = 1 << 14, 0.0
    for _ in range(20):
        bank = filter_bank(record_spectrum(rng.standard_normal(n)), n, RATE, lay_out("binary", 2, RATE, n)[2])
        total = total + (envelope_spectra(bank, 5.0, 0.9 * 125).values ** 2).mean(axis=0)
    pieces = np.array([piece.mean() for piece in np.array_split(total, 8)])
    assert pieces.max() / pieces.min() < 1.15


def test_noise_floor_is_the_local_median():
    values = np.abs(np.random.default_rng(1).standard_normal((2, 1000))) + np.linspace(1, 5, 1000)
    floor = noise_floor(values, 100)
    for block in range(10):
        window = values[0, max(0, block * 100 - 50) : block * 100 + 150]
        assert floor[0, block * 100 + 50] == pytest.approx(np.median(window))
    assert noise_floor(values[0, :7], 100).shape == (7,)


def test_whitening_flattens_noise_and_limits_tones():
    n = 1 << 14
    rng = np.random.default_rng(2)
    colour = 1 / (1 + ((np.arange(n // 2 + 1) - 2000) / 300) ** 2)
    spectrum = colour * record_spectrum(rng.standard_normal(n))
    spectrum[3000] = 1e6
    flat = np.abs(whiten(spectrum))
    assert flat.max() <= TONE_LIMIT * (1 + 1e-12)
    assert flat[3000] == pytest.approx(TONE_LIMIT)
    pieces = [np.median(piece) for piece in np.array_split(flat[10:], 16)]
    assert max(pieces) / min(pieces) < 1.3
    assert np.allclose(np.angle(whiten(spectrum)[10:50]), np.angle(spectrum[10:50]))


def test_whitening_leaves_empty_bins_empty():
    spectrum = record_spectrum(np.random.default_rng(2).standard_normal(4096))
    spectrum[1500:] = 0
    assert not np.abs(whiten(spectrum)[1700:]).any()
