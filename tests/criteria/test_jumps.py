"""The search for jumps of a function of one number: small ones among large changes, and none where there is none."""

import math

import numpy as np
import pytest

from sparsegauge.criteria.jumps import find_jumps

GRID = list(np.linspace(0.0, 10.0, 25))


def jumps_of(function, **options):
    calls = []

    def counted(t):
        calls.append(t)
        return function(t)

    found = list(find_jumps(counted, GRID, **({"smallest": 1e-7, "evaluations": 400} | options)))
    return found, len(calls)


@pytest.mark.parametrize("place", [0.0617, 1.375, math.pi, 9.99])
@pytest.mark.parametrize("height", [1.0, 0.02, 0.003])
def test_a_jump_is_found_between_neighbouring_floats(place, height):
    found, _ = jumps_of(lambda t: math.sin(t) + abs(t - 4.2) + height * (t > place))
    assert len(found) == 1
    assert found[0].high == math.nextafter(found[0].low, math.inf)
    assert found[0].low <= place <= found[0].high
    assert found[0].at_high - found[0].at_low == pytest.approx(height, rel=1e-6)


@pytest.mark.parametrize(
    "function", [math.sin, lambda t: abs(t - math.e), lambda t: math.tanh(1e4 * (t - 5.01)), math.sqrt]
)
def test_continuous_functions_have_none(function):
    assert jumps_of(function)[0] == []


def test_two_jumps_are_found():
    found, _ = jumps_of(lambda t: 0.1 * (t > 2.34) + 0.2 * (t > 7.89))
    assert sorted(round(jump.low, 6) for jump in found) == [2.34, 7.89]


def test_the_evaluations_are_limited():
    assert jumps_of(lambda t: math.sin(1e9 * t), evaluations=100)[1] <= 101


def test_nothing_is_said_where_there_is_no_value():
    assert jumps_of(lambda t: math.nan if t == GRID[3] else float(t > 5))[0] == []
