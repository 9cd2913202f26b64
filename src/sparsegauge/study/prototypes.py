"""The typical shape of a kind of signal: its sorted magnitudes."""

from __future__ import annotations

import numpy as np

from .._arrays import Array
from .external import is_data_file, is_import_path
from .sources import draw_signal

PAPER_DISTRIBUTIONS = ("binomial", "uniform", "normal", "exponential")
DRAWS = 200


def can_be_drawn(name: str) -> bool:
    """Return whether signals of a distribution can be drawn without modules and files of the user."""
    return not is_import_path(name) and not is_data_file(name)


def sorted_magnitudes(name: str, n: int, nonzeros: int) -> Array:
    """Return the ascending magnitudes of a kind of signal.

    The non-zeros of the paper's distributions stand at their quantiles; of other kinds, the sorted magnitudes are
    averaged over `DRAWS` signals.
    """
    if name not in PAPER_DISTRIBUTIONS:
        rng = np.random.default_rng(0)
        drawn = [draw_signal(name, n, nonzeros, signs="positive", rng=rng) for _ in range(DRAWS)]
        return np.asarray(np.mean(np.sort(np.abs(drawn), axis=1), axis=0))
    return np.concatenate([np.zeros(n - nonzeros), _quantiles(name, nonzeros)])


def _quantiles(name: str, count: int) -> Array:
    from scipy import stats

    levels = (np.arange(count) + 0.5) / count
    if name == "binomial":
        return np.ones(count)
    if name == "uniform":
        return levels
    return np.asarray(stats.halfnorm.ppf(levels) if name == "normal" else stats.expon.ppf(levels))
