"""Small data for the tests of the report page."""

from __future__ import annotations

import numpy as np

from sparsegauge.report.comparisons import Attempt, Comparison
from sparsegauge.study.summary import Summary

PANELS = ("binomial", "uniform", "normal", "exponential")


def example_summary(panels: tuple[str, ...] = PANELS, missing: slice = slice(0, 3)) -> Summary:
    """A study that nobody ran: errors fall with M, and the best order rises with the panel; the last has holes."""
    nonzeros, measurements, orders = (10, 20, 40), tuple(range(5, 65, 5)), tuple(map(float, range(1, 7)))
    i, k, m, p = np.meshgrid(np.arange(len(panels)), nonzeros, measurements, orders, indexing="ij")
    noise = np.random.default_rng(5).lognormal(0, 0.02, i.shape)
    mean = 0.01 * k * np.exp(-m / 12) * (1 + 0.01 * i * (p - 1.5 - i) ** 2) * noise
    mean[-1, :, missing] = np.nan
    values = {
        "mse_mean": mean,
        "mse_standard_error": 0.015 * mean,
        "success_rate": 1 / (1 + mean),
        "trials": np.where(np.isnan(mean), 0, 100),
    }
    rounded = {name: array.astype(np.float32).astype(float) for name, array in values.items()}  # as a file keeps them
    axes = {"distributions": panels, "nonzeros": nonzeros, "measurements": measurements, "orders": orders}
    manifest = {"study": {"n": 100, "solver": {"name": "SPSA", "iterations": 1000, "metric": "gds"}}}
    return Summary(axes, rounded, manifest)


def small_picture() -> Comparison:
    """Two pictures, as large as the detail that the page cuts out of them."""
    truth = np.random.default_rng(3).uniform(0, 255, (200, 330))
    found = Attempt("ours", truth, {"peak signal to noise": "99 dB"}, False, "too large")
    return Comparison("picture", "A picture", "Noise.", truth, (found,))
