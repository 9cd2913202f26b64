"""Recover three signals from few random sums, by our solver and by baselines: data and figures for the page."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from .._arrays import Array
from ..plots.recovery_charts import photo_detail, spike_chart, trace_chart
from ..plots.svg import png
from ..recovery import demos
from ..recovery.baselines import BasisPursuit, MinimumNorm
from ..recovery.entry import recover_signal
from ..recovery.quality import psnr, relative_error, snr
from ..recovery.result import Recovery
from ..recovery.reweighted import GDSReweighted
from ..simulate import gaussian_matrix, sparse_signal

LENGTH, NONZEROS, MEASUREMENTS = 100, 30, 52
SEED = 0
MINIMUM_NORM, L1, OURS = "minimum norm", "basis pursuit (ℓ₁)", "GDSReweighted (ours)"
DEFAULT = "the default (ours)"
COUNTS_AS_ZERO = 1e-3  # relative to the largest coefficient


@dataclass(frozen=True)
class Attempt:
    """What one solver found, its errors, and whether it could certify the result."""

    solver: str
    values: Array
    errors: dict[str, str]
    certified: bool
    reason: str


@dataclass(frozen=True)
class Comparison:
    """One signal, and what several solvers recover from the same sums of it."""

    name: str
    title: str
    account: str
    truth: Array
    attempts: tuple[Attempt, ...]
    is_detail: bool = True  # of a picture: whether to draw the detail that is chosen for the demo photograph
    verdict: str = ""


@functools.cache
def compare_solvers() -> tuple[Comparison, ...]:
    """Recover an exactly sparse signal, an electrocardiogram and a photograph; the result is kept."""
    return sparse(), ecg(), picture()


def sparse() -> Comparison:
    """Compare on thirty spikes, from fewer sums than the l1 norm needs."""
    truth = sparse_signal(LENGTH, NONZEROS, "uniform", signs="random", rng=SEED)
    A = gaussian_matrix(MEASUREMENTS, LENGTH, rng=SEED + 1)
    solvers = {MINIMUM_NORM: MinimumNorm(), L1: BasisPursuit(), OURS: GDSReweighted()}
    found = {label: recover_signal(A, A @ truth, solver=solver, rng=SEED) for label, solver in solvers.items()}

    def errors(x: Array) -> dict[str, str]:
        size = np.abs(truth).max()
        wrong = np.count_nonzero((np.abs(x) > COUNTS_AS_ZERO * size) != (truth != 0))
        return {"relative error": f"{relative_error(x, truth):.2g}", "wrong zeros and non-zeros": str(wrong)}

    return Comparison(
        "sparse",
        "Exactly sparse",
        f"{LENGTH} coefficients, {NONZEROS} of them not zero, from {MEASUREMENTS} random sums.",
        truth,
        tuple(_attempt(label, recovery.x, recovery, errors) for label, recovery in found.items()),
    )


def ecg() -> Comparison:
    """Compare on an electrocardiogram compressed four to one: nearly sparse in wavelets, never exactly."""
    sums = demos.ecg_sums(SEED)
    truth, (m, n) = sums.truth, sums.A.shape
    found = {L1: demos.recover_one(sums.A, sums.y, sums.transform, BasisPursuit()), DEFAULT: sums.recover()}

    def errors(x: Array) -> dict[str, str]:
        return {
            "PRD (100 × relative error)": f"{100 * relative_error(x, truth):.1f} %",
            "signal to noise": f"{snr(x, truth):.1f} dB",
        }

    return Comparison(
        "ecg",
        "An electrocardiogram, compressed 4:1",
        f"{n:,} samples from {m} random sums of them; recovered in db4 wavelets at all shifts (basis pursuit: at one), "
        "where few coefficients are large and none is exactly zero. So nothing can be certified, and nothing is.",
        truth,
        (
            _minimum_norm(sums.least_norm(), errors),
            *(_attempt(label, recovery.x, recovery, errors) for label, recovery in found.items()),
        ),
    )


def picture() -> Comparison:
    """Compare on a photograph from 30 % as many sums; too many unknowns for basis pursuit as a linear programme."""
    shown = demos.image(SEED)

    def errors(x: Array) -> dict[str, str]:
        return {"peak signal to noise": f"{psnr(x, shown.truth, peak=demos.WHITE):.1f} dB"}

    return Comparison(
        "picture",
        "A photograph",
        f"{shown.truth.size:,} pixels from {100 * shown.measurements / shown.truth.size:.0f} % as many random sums; "
        "recovered in db4 wavelets at all shifts with products alone. (For basis pursuit this is out of reach.)",
        shown.truth,
        (_minimum_norm(shown.least_norm, errors), _attempt(DEFAULT, shown.recovered, shown.recovery, errors)),
    )


def _minimum_norm(x: Array, errors: Callable[[Array], dict[str, str]]) -> Attempt:
    return Attempt(
        MINIMUM_NORM, x, errors(x), False, "the smallest signal that explains the sums; nothing makes it sparse"
    )


def _attempt(label: str, x: Array, recovery: Recovery, errors: Callable[[Array], dict[str, str]]) -> Attempt:
    return Attempt(label, x, errors(x), recovery.certified, recovery.certificate_reason)


def draw_comparison(comparison: Comparison) -> dict[str, Markup]:
    """Return one figure per solver, all of a comparison on the same scale; of a photograph, the original too."""
    if comparison.truth.ndim == 2:
        values = {"the original": comparison.truth} | {a.solver: a.values for a in comparison.attempts}
        if comparison.is_detail:
            return {label: photo_detail(label, array) for label, array in values.items()}
        limits = {"vmin": float(comparison.truth.min()), "vmax": float(comparison.truth.max())}
        return {label: png(f"{comparison.title}: {label}.", array, **limits) for label, array in values.items()}
    draw = spike_chart if comparison.name == "sparse" else trace_chart
    return {
        a.solver: draw(f"{comparison.name}-{a.solver}", _describe(comparison, a), comparison.truth, a.values)
        for a in comparison.attempts
    }


def _describe(comparison: Comparison, attempt: Attempt) -> str:
    errors = ", ".join(f"{name} {value}" for name, value in attempt.errors.items())
    return f"{comparison.title}, {attempt.solver}, over the true signal: {errors}."
