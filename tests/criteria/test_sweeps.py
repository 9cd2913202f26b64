"""What is tried on a function besides random signals: walks in small steps, every length, the numbers in its code."""

import functools
from fractions import Fraction
from itertools import pairwise

import numpy as np

import sparsegauge as sg
from sparsegauge.criteria.constants import MOST_CONSTANTS, numbers_in
from sparsegauge.criteria.probes import probes
from sparsegauge.criteria.sweeps import (
    clones,
    long_lengths,
    signals_of_every_length,
    tides,
    transfers,
    zeros_appended,
)

FAR = 17.25


def looks_far(x, factor=3.5):
    return float(x.sum() > FAR) + factor * helper(x)


def helper(x):
    return float(len(x) == 38) + sum(float(v > 0.0625) for v in x)


class WithAttributes:
    def __init__(self):
        self.threshold = 6.5

    def __call__(self, x):
        return float(x.max() > self.threshold)


def numbers(function):
    return {float(t) for t in numbers_in(function)}


def test_numbers_are_read_in_code_defaults_globals_and_helpers():
    assert numbers(looks_far) == {17.25, 3.5, 38.0, 0.0625}


def test_numbers_are_read_in_closures_partials_arrays_and_objects():
    limits = np.array([70.0, 80.0])
    assert numbers(lambda x: float(x.max() > limits[0])) == {70.0, 80.0}
    assert numbers(functools.partial(lambda x, q: float(x.max() > q), q=33.0)) == {33.0}
    assert numbers(WithAttributes()) == {6.5}


def test_what_cannot_be_read_has_no_numbers():
    assert numbers_in(np.add) == []
    assert numbers_in(max) == []
    assert numbers_in(lambda x: x.sum() + True + 1e300 + float("nan")) == []


def test_a_function_that_refers_to_itself_ends():
    def recursive(x):
        return recursive(x[1:]) + 5.5 if len(x) > 1 else 0.0

    assert 5.5 in numbers(recursive)


def test_no_more_numbers_than_there_is_time_for():
    many = tuple(k + 0.25 for k in range(1000))
    assert len(numbers_in(lambda x: x.sum() in many)) == MOST_CONSTANTS


def test_probes_stand_on_both_sides_of_a_number():
    found = list(probes([Fraction(137, 10)]))
    for statistic in (max, min, sum, np.mean, np.linalg.norm):
        values = [float(statistic([float(v) for v, n in c for _ in range(n)])) for c in found]
        assert any(13.5 < v < 13.7 for v in values), statistic
        assert any(13.7 < v < 13.9 for v in values), statistic
    ratios = [float(c[-1][0] / c[-2][0]) for c in found if len(c) > 1 and c[-2][0]]
    assert any(13.5 < r < 13.7 for r in ratios)
    assert any(13.7 < r < 13.9 for r in ratios)


def test_probes_have_the_lengths_beside_a_number():
    lengths = {sum(n for _, n in c) for c in probes([Fraction(421)])}
    assert {420, 421, 422} <= lengths


def test_every_move_of_the_walks_is_legal():
    for key, cases in (("P3", transfers()), ("P5", tides()), ("P6", clones())):
        for case in cases:
            sg.CRITERIA[key].check(sg.CRITERIA[key].steps(*case))


def test_walks_take_small_steps():
    scale = [
        float(c.start[0][0]) for c in tides() if len(c.start) == 3 and c.start[1][0] == c.start[0][0] * Fraction(51, 50)
    ]
    assert all(1 < b / a < 1.0101 for a, b in pairwise(scale))
    assert min(scale) <= 1e-3
    assert max(scale) >= 9e4


def test_every_length_is_tried():
    lengths = {sum(n for _, n in c) for c in signals_of_every_length()}
    assert set(range(2, 301)) <= lengths
    assert all(b <= 1.011 * a for a, b in pairwise(sorted(lengths)) if a > 300)
    assert max(lengths) > 1900
    assert set(long_lengths()) <= lengths
    zeros = {n for c in zeros_appended() for v, n in c if v == 0}
    assert set(range(1, 150)) <= zeros


def test_a_planted_lie_is_not_found_by_reading_it():
    """The calibration must not know where the lies are: the planted function has the numbers of the honest one."""
    from sparsegauge.criteria.callables import CallableSubject

    honest = CallableSubject(lambda x: float(x.sum() > 7.75), {})
    planted = honest.plant(sg.CRITERIA["P4"].lies[1].plant, Fraction(1, 20))
    assert planted.constants == honest.constants == [Fraction(31, 4)]
