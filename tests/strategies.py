"""Hypothesis strategies for signals and orders, and the settings of every law."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

LONGEST = 60

# the same examples in every run; no deadline, since the first call of a kernel compiles it
law = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow],
)

# 100 decades, so that a factor of 2^600 either way stays inside float64's range
wild = st.floats(1e-50, 1e50)
extreme = st.floats(5e-324, 1.7e308)  # everything that float64 has
moderate = st.floats(0.1, 10.0)
zeros = st.just(0.0)
tied = st.sampled_from([0.1, 0.3, 1.0, 7.0])
near_one = st.floats(1.0, 1.0 + 1e-6)

integer_orders = st.integers(1, 100)
real_orders = st.floats(1.0, 50.0, allow_nan=False)
# next to integers, and where one algorithm hands over to another
special_orders = st.sampled_from([1 + 1e-9, 2 - 1e-9, 2 + 1e-9, 16, 17, 63.5, 64, 65, 66, 127, 128, 129])
# where the gradient's power p - 1 is small, 0^0 is near
low_orders = st.one_of(st.floats(1.0, 2.0), st.sampled_from([1 + 1e-6, 1.001, 1.01, 1.1]))
orders = st.one_of(integer_orders, real_orders, special_orders, low_orders)


def _lists(*elements: st.SearchStrategy[float], shortest: int = 1) -> st.SearchStrategy[list[float]]:
    return st.lists(st.one_of(*elements), min_size=shortest, max_size=LONGEST)


def _signed(values: list[float]) -> st.SearchStrategy[np.ndarray]:
    signs = st.lists(st.sampled_from([-1.0, 1.0]), min_size=len(values), max_size=len(values))
    return signs.map(lambda s: np.array(values) * np.array(s))


def _has_nonzero(x: np.ndarray) -> bool:
    return bool(np.any(x))


# lists of one kind each, and a mixture of all kinds
_values = st.one_of(
    _lists(wild, zeros),
    _lists(moderate, zeros),
    _lists(tied, zeros),
    _lists(near_one),
    _lists(wild, moderate, tied, near_one, zeros),
)

# not all zero: for those S_p is not defined
signals = _values.flatmap(_signed).filter(_has_nonzero)

# at most two decades, so that no component of a gradient is much smaller than another
moderate_signals = st.one_of(_lists(moderate, zeros), _lists(tied, zeros), _lists(near_one)).flatmap(_signed)
moderate_signals = moderate_signals.filter(_has_nonzero)

extreme_signals = _lists(extreme, tied, zeros).flatmap(_signed).filter(_has_nonzero)

positive_signals = st.one_of(_lists(wild), _lists(moderate), _lists(tied), _lists(near_one)).map(np.array)

integer_signals = (
    st.lists(st.integers(-(2**20), 2**20), min_size=1, max_size=LONGEST)
    .map(lambda values: np.array(values, dtype=np.float64))
    .filter(_has_nonzero)
)

# distinct integers: a gap of 1 at least between magnitudes, and from zero
separated_signals = (
    st.lists(st.integers(1, 40), min_size=2, max_size=12, unique=True)
    .map(lambda values: [float(v) for v in values])
    .flatmap(_signed)
)


@st.composite
def batches(draw: st.DrawFn) -> np.ndarray:
    """2-D or 3-D arrays of mixed rows, none of them all zero."""
    shape = draw(st.sampled_from([(1, 7), (3, 1), (9, 12), (17, 3), (2, 300), (2, 3, 5), (4, 2, 9)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-8, 9, shape)
    x[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = 0.0
    ties = rng.random(shape) < draw(st.sampled_from([0.0, 0.5]))
    return np.where(ties, 2.5, x)
