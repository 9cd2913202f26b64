"""Bearings and diagnoses: geometry, faults that are named, healthy machines where none is."""

import math
import warnings

import numpy as np
import pytest

import sparsegauge as sg
from sparsegauge.vibration.band_tree import Band
from sparsegauge.vibration.bearing_records import add_knocks
from sparsegauge.vibration.bearings import find_orders
from sparsegauge.vibration.combs import HARMONICS, Lines, find_comb
from sparsegauge.vibration.decoys import decoy_chance, decoy_orders


def test_the_orders_of_a_6205_are_those_that_are_published():
    orders = sg.BEARINGS["6205"].orders
    assert orders.outer == pytest.approx(3.5848, abs=5e-5)
    assert orders.inner == pytest.approx(5.4152, abs=5e-5)
    assert orders.ball == pytest.approx(4.7135, abs=1e-4)
    assert orders.cage == pytest.approx(0.39828, abs=5e-5)


def test_the_orders_of_a_6203_are_those_that_are_published():
    assert sg.BEARINGS["6203"].orders[:4] == pytest.approx((3.0530, 4.9469, 3.9874, 0.3817), abs=3e-4)


@pytest.mark.parametrize("balls", [3, 9, 20])
@pytest.mark.parametrize("angle", [0, 15.17, 40])
def test_laws_of_rolling(balls, angle):
    orders = sg.bearing_orders(balls, 1.0, 8.0, angle)
    assert orders.outer + orders.inner == pytest.approx(balls)  # every ball passes either race once per relative turn
    assert orders.outer == pytest.approx(balls * orders.cage)
    assert orders.inner == pytest.approx(balls * (1 - orders.cage))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((9, 1.537, 0.3126), "do not fit"),
        ((2, 1, 8), "balls must be a whole number"),
        ((9.5, 1, 8), "balls must be a whole number"),
        ((9, -1, 8), "ball_diameter must be a positive"),
        ((9, 1, math.nan), "pitch_diameter must be a positive"),
        ((40, 1, 8), "do not fit"),
        ((9, 1, 8, 90), "contact angle"),
    ],
)
def test_impossible_bearings_are_refused(arguments, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.bearing_orders(*arguments)


def test_bearings_are_found_by_the_names_that_people_write():
    assert find_orders("SKF 6205-2RS") == find_orders("6205") == sg.BEARINGS["6205"].orders
    assert find_orders("Rexnord ZA 2115") == find_orders("ZA-2115")
    assert math.isnan(find_orders({"outer": 3.5}).inner)
    for wrong in ("608", 6205, {}, {"outer": -1}, {"roller": 3}):
        with pytest.raises(sg.InvalidInput):
            find_orders(wrong)


def naive_comb(prominences, resolution, frequency, tolerance):
    """The best fundamental on a fine grid, by loops."""
    best = (-1.0, 0.0)
    last = prominences.shape[1] - 1
    harmonics = range(1, min(HARMONICS, int(resolution * last / (frequency * (1 + tolerance)))) + 1)
    for row in prominences:
        for fundamental in np.linspace(frequency * (1 - tolerance), frequency * (1 + tolerance), 2001):
            score = 0.0
            for h in harmonics:
                middle = round(h * fundamental / resolution)
                peak = max([1.0, *(row[k] for k in (middle - 1, middle, middle + 1) if 0 <= k <= last)])
                score += math.log(1 + math.log(2) * peak**2)
            best = max(best, (score, fundamental))
    return best


@pytest.mark.parametrize("seed", range(4))
def test_combs_are_those_of_a_search_by_loops(seed):
    rng = np.random.default_rng(seed)
    prominences = rng.rayleigh(size=(3, 900))
    lines = Lines([Band(k, k + 1.0, 1.0) for k in range(3)], 0.25, prominences)
    frequency = rng.uniform(20, 60)
    comb = find_comb(lines, frequency, 0.02)
    score, fundamental = naive_comb(prominences, 0.25, frequency, 0.02)
    assert comb.score <= score + 1e-9
    assert comb.score >= score - 0.35  # half a line per step may miss the best of a fine grid
    assert abs(comb.frequency - fundamental) < 0.04 * frequency


def test_no_comb_beyond_the_end_of_the_spectrum():
    assert find_comb(Lines([Band(0.0, 1.0, 0.0)], 1.0, np.ones((1, 50))), 60.0, 0.01) is None


@pytest.mark.parametrize("bearing", ["6205", "6203"])
@pytest.mark.parametrize("fault", ["outer", "inner", "ball"])
@pytest.mark.parametrize(("rate", "rpm"), [(12_000, 1797), (48_000, 1730), (25_600, 2100)])
def test_faults_are_named(bearing, fault, rate, rpm):
    record = sg.bearing_record(fault, bearing=bearing, rate=rate, rpm=rpm, amplitude=1.5, rng=7)
    found = sg.diagnose(record.x, rate, rpm, bearing)
    assert found.fault == fault
    first = found.findings[0]
    assert first.named
    assert first.frequency == pytest.approx(record.frequency, rel=0.01)
    assert first.band.low - 2000 < record.resonance < first.band.high + 2000
    assert first.prominent >= 3
    assert str(found).startswith(f"{fault} fault")


@pytest.mark.parametrize("share", [-0.015, -0.005, 0.005, 0.015])
@pytest.mark.parametrize("fault", ["outer", "inner"])
def test_the_record_says_its_own_speed(fault, share):
    record = sg.bearing_record(fault, seconds=8, rng=3)
    given = record.rpm * (1 + share)
    found = sg.diagnose(record.x, record.rate, given, "6205")
    assert found.fault == fault
    assert found.rpm == given
    assert found.measured_rpm == pytest.approx(record.rpm, rel=5e-4)


def test_without_harmonics_of_the_shaft_the_speed_is_the_one_given():
    found = sg.diagnose(NOISE, 12_000, 1797, "6205")
    assert found.measured_rpm == 1797


# geometries whose frequencies, side bands and simple multiples are none of a 6205's
STRANGERS = [
    {"outer": 2.479, "inner": 3.521, "ball": 5.583},
    {"outer": 3.8, "inner": 5.2, "ball": 6.268},
    {"outer": 5.219, "inner": 7.781, "ball": 4.875},
    "6203",
]


def regular_fault(fault, seed):
    """A fault whose knocks hardly slip, in the load zone of the shaft and of the cage: a forest of side bands."""
    rng, shaft, orders = np.random.default_rng(seed), 1797 / 60, sg.BEARINGS["6205"].orders
    x = sg.bearing_record("none", seconds=10, rng=rng).x
    period = 1 / (getattr(orders, fault) * shaft)
    times = np.arange(0.01, 9.98, period)
    times += 5e-4 * period * rng.standard_normal(len(times)).cumsum()
    load = 1 + 0.8 * np.cos(2 * np.pi * shaft * times)
    add_knocks(x, times, 4 * load * (1 + 0.5 * np.cos(2 * np.pi * orders.cage * shaft * times)), 3360.0, 12_000.0)
    return x


def test_the_fault_of_another_bearing_is_seldom_named():
    named = 0
    for fault in ("outer", "inner"):
        for seed in range(3):
            x = regular_fault(fault, seed)
            assert sg.diagnose(x, 12_000, 1797, "6205").fault == fault
            named += sum(sg.diagnose(x, 12_000, 1797, stranger).fault is not None for stranger in STRANGERS)
    assert named <= 3  # of 24; compared with noise alone, 18 are named


def beside_another_part(seed):
    """An outer race, and a part of the machine that knocks seven times as high, at its own resonance."""
    rng = np.random.default_rng([3, seed])
    record = sg.bearing_record("outer", seconds=2, rng=rng)
    times = np.arange(0.02, 1.98, 1 / 11.3)
    add_knocks(record.x, times, np.full(len(times), 7.0), 0.4 * record.rate, record.rate)
    return record


def test_a_fault_is_compared_with_other_frequencies_in_its_own_band():
    found = [sg.diagnose((r := beside_another_part(seed)).x, r.rate, r.rpm, "6205") for seed in range(6)]
    assert [one.fault for one in found] == 6 * ["outer"]  # none is named if all bands have one limit
    for one in found:
        finding = one.findings[0]
        assert finding.fault == "outer"
        assert finding.band.low - 100 < 0.28 * 12_000 < finding.band.high + 100
        assert finding.named == (finding.score >= finding.needed)


def test_usual_scores_and_leads_of_decoys_are_those_of_a_search_by_loops():
    rng = np.random.default_rng(8)
    bands = [[Band(0.0, 2.0, 0.0)], [Band(k, k + 1.0, 1.0) for k in range(2)]]
    every = [Lines(group, 0.25, rng.rayleigh(size=(len(group), 1200))) for group in bands]
    every[1].prominences[1] *= 3  # a loud band
    orders, shaft = sg.BEARINGS["6205"].orders[:3], 10.0
    chance = decoy_chance(every, orders, shaft, 0.01)
    decoys = decoy_orders(orders, 0.01) * shaft
    single = [
        Lines([band], 0.25, lines.prominences[k : k + 1]) for lines in every for k, band in enumerate(lines.bands)
    ]
    flat = np.array([[find_comb(lines, decoy, 0.01).score for lines in single] for decoy in decoys])
    assert np.allclose(np.concatenate(chance.usual), np.median(flat, axis=0))
    assert np.allclose(chance.leads, (flat - np.median(flat, axis=0)).max(axis=1))
    assert np.mean(chance.leads > chance.lead) <= 0.02
    assert chance.usual[1][1] > chance.usual[1][0] + 3


def test_decoys_are_what_no_part_of_the_bearing_excites():
    orders = sg.BEARINGS["6205"].orders[:3]
    decoys = decoy_orders(orders, 0.01)
    assert len(decoys) > 50
    for decoy in decoys:
        for part in (*orders, *(2 * order for order in orders), *(order / 2 for order in orders), *range(1, 9)):
            assert abs(decoy - part) > 0.01 * decoy
        for order in orders:
            assert min(abs(decoy - order - side) for side in (-2, -1, 1, 2)) > 0.01 * decoy


@pytest.mark.parametrize("orders", [(0.4,), (3.585,), (100.0, 140.0), (13.1, 17.9, 7.3)])
def test_decoys_of_unusual_bearings(orders):
    decoys = decoy_orders(orders, 0.01)
    assert len(decoys) >= 20
    assert decoys.min() >= 0.49 * min(orders)
    assert decoys.max() <= 1.13 * max(orders)


def test_the_load_zone_shows_as_side_bands():
    record = sg.bearing_record("inner", amplitude=2, rng=1)
    finding = sg.diagnose(record.x, record.rate, record.rpm, "6205").findings[0]
    assert [line.number for line in finding.side_bands] == [-1, 1]
    assert min(line.prominence for line in finding.side_bands) > 3
    assert finding.side_bands[1].frequency - finding.frequency == pytest.approx(record.rpm / 60)


def electrical(t, rng):
    """Firing pulses of a drive, six times per period of the mains."""
    pulses = np.zeros(len(t))
    pulses[(np.arange(0, t[-1], 1 / 300) * (len(t) / (t[-1] + t[1]))).astype(int)] = 1.0
    return 20 * np.convolve(pulses, np.sin(np.arange(20)) * np.exp(-np.arange(20) / 4))[: len(t)]


HEALTHY = {
    "gears and hum": lambda t, rng: sg.bearing_record("none", modulation=0.9, rng=rng).x,
    "random knocks": lambda t, rng: sg.bearing_record("none", knocks=20, rng=rng).x,
    "noise that the shaft modulates": lambda t, rng: (
        (1 + 0.5 * np.sin(2 * np.pi * 29.95 * t)) * rng.standard_normal(len(t))
    ),
    "firing of a drive": lambda t, rng: rng.standard_normal(len(t)) + electrical(t, rng),
    "quantised": lambda t, rng: np.round(sg.bearing_record("none", rng=rng).x * 4) / 4,
    "white": lambda t, rng: rng.standard_normal(len(t)),
    "brown": lambda t, rng: np.cumsum(rng.standard_normal(len(t))),
}


@pytest.mark.parametrize("kind", HEALTHY)
def test_no_fault_is_named_on_healthy_machines(kind):
    t = np.arange(48_000) / 12_000
    for seed in range(4):
        x = HEALTHY[kind](t, np.random.default_rng(seed))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = sg.diagnose(x, 12_000, 1797, "6205")
        assert found.fault is None, str(found)
        assert str(found).startswith("nothing found")


@pytest.mark.parametrize("bearing", ["6203", "6205"])
@pytest.mark.parametrize("true_rpm", [1790.0, 1797.0, 1803.0])
def test_a_part_that_knocks_once_per_turn_is_no_fault_of_the_bearing(bearing, true_rpm):
    # orders of the 6203 are within 2 % of whole numbers, and a speed on paper is not that of the machine
    rng = np.random.default_rng(1)
    t = np.arange(120_000) / 12_000
    phase = (t * true_rpm / 60) % 1 / (true_rpm / 60)
    knocks = 3 * np.exp(-600 * phase) * np.sin(2 * np.pi * 3400 * phase)
    shaft = sum(np.sin(2 * np.pi * k * true_rpm / 60 * t) / k for k in range(1, 8))
    found = sg.diagnose(knocks + shaft + rng.standard_normal(len(t)), 12_000, 1797, bearing)
    assert found.fault is None, str(found)


def ramp(share):
    """A shaft whose speed rises by a share during the record, with its harmonics."""
    t = np.arange(120_000) / 12_000
    angle = 30 * (t + 0.5 * share * t**2 / t[-1])
    rng = np.random.default_rng(0)
    return sum(np.sin(2 * np.pi * k * angle) / k for k in range(1, 9)) + 0.3 * rng.standard_normal(len(t))


def test_a_speed_that_varies_is_a_warning():
    with pytest.warns(sg.SpeedWarning, match="speed varies from"):
        sg.diagnose(ramp(0.08), 12_000, 1872, "6205")


def test_another_speed_than_the_one_given_is_a_warning():
    with pytest.warns(sg.SpeedWarning, match="say 1800 rpm"):
        sg.diagnose(ramp(0.0), 12_000, 1700, "6205")


def test_a_constant_speed_is_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sg.diagnose(ramp(0.0), 12_000, 1800, "6205")


NOISE = np.random.default_rng(5).standard_normal(24_000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((NOISE, 12_000, 0, "6205"), "rpm must be a positive"),
        ((NOISE, 12_000, None, "6205"), "speed of the shaft is missing"),
        ((NOISE, None, 1797, "6205"), "sampling rate is missing"),
        ((NOISE[:1000], 12_000, 1797, "6205"), "turns of the shaft"),
        ((np.ones(24_000), 12_000, 1797, "6205"), "constant"),
        ((np.stack([NOISE, NOISE]), 12_000, 1797, "6205"), "one channel"),
        ((np.r_[NOISE, np.inf], 12_000, 1797, "6205"), "infinite ones; cut the signal"),
        ((NOISE, 12_000, 1797, "no bearing"), "there is no bearing"),
    ],
)
def test_bad_input_is_a_sentence(arguments, message):
    with pytest.raises(sg.InvalidInput, match=message):
        sg.diagnose(*arguments)


def test_short_and_slow_records_give_an_answer():
    assert sg.diagnose(NOISE[:2400], 12_000, 1797, "6205").fault is None
    assert sg.diagnose(NOISE, 2_000, 300, "6205").fault is None
    assert sg.diagnose(NOISE, 12_000, 1797, {"outer": 3.585}).findings[0].fault == "outer"


def test_simulated_records_are_what_they_say():
    record = sg.bearing_record("outer", amplitude=5, rng=0)
    assert record.frequency == pytest.approx(3.5848 * 1797 / 60, rel=1e-4)
    assert np.array_equal(record.x, sg.bearing_record("outer", amplitude=5, rng=0).x)
    for wrong in ({"fault": "gear"}, {"bearing": "608"}, {"seconds": -1}, {"rate": 0}, {"seconds": 0.01}):
        with pytest.raises(sg.InvalidInput):
            sg.bearing_record(**wrong)


def test_figures_show_the_best_band_and_the_harmonics():
    record = sg.bearing_record("outer", seconds=2, rng=1)
    found = sg.band_map(record.x, record.rate)
    figure = found.plot(rpm=record.rpm, orders=sg.BEARINGS["6205"].orders)
    left, right = figure.axes[:2]
    assert f"{found.best}" in left.get_title(loc="left")
    assert any("outer, 107.4 Hz" in text.get_text() for text in right.get_legend().get_texts())
    assert found.plot(orders=[3.585], rpm=1797).axes
    assert found.plot(band=(1000.0, 2000.0)).axes[1].get_title(loc="left").endswith("1000 to 2000 Hz")
    assert "outer fault" in sg.diagnose(record.x, record.rate, record.rpm, "6205").plot().axes[1].get_title(loc="left")
