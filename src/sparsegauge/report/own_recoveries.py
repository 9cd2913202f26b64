"""Recover each of a user's signals from a quarter as many random sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._arrays import Array
from ..metrics.gds import gds
from ..recovery.demos import random_sums, recover_picture
from ..recovery.quality import psnr, relative_error, snr
from ..recovery.reweighted import GDSReweighted
from ..signals import REPRESENTATIONS
from .comparisons import DEFAULT, MINIMUM_NORM, OURS, Attempt, Comparison
from .measured_signals import MeasuredSignal

SUMS_PER_SAMPLE = 0.25
LONGEST_PIECE = 512
LARGEST_PICTURE = 128
SIDE_MULTIPLE = 16  # larger pictures are cut to such sides, so that they can be halved four times
ORDER_OF_CHOICE = 1.0  # of the representation: 1, because recovery needs many coefficients to be small
SEED = 0
VERDICT_BY_ERROR_LIMIT = (
    (1e-6, "It comes back exactly."),
    (0.1, "It comes back."),
    (0.4, "Its main features come back."),
    (math.inf, "It does not come back: no representation here makes it sparse enough for so few sums."),
)
WORDS = {"DCT": "cosines (DCT)", "wavelet": "wavelets (db4)", "samples": "the samples themselves"}


def recover_own(signals: Sequence[MeasuredSignal]) -> tuple[Comparison, ...]:
    """Recover signals, each from a quarter as many random sums as it has samples."""
    return tuple(recover_signal_or_picture(signal) for signal in signals)


def recover_signal_or_picture(signal: MeasuredSignal) -> Comparison:
    """Recover the piece of a signal with the most energy, or the middle of a picture."""
    return _picture(signal) if signal.values.ndim == 2 else _piece(signal)


def _piece(signal: MeasuredSignal) -> Comparison:
    truth, first = busiest_piece(signal.values, LONGEST_PIECE)
    label = max(REPRESENTATIONS, key=lambda name: gds(REPRESENTATIONS[name](truth), ORDER_OF_CHOICE))
    transform = np.column_stack([REPRESENTATIONS[label](unit) for unit in np.eye(len(truth))])
    sums = random_sums(truth, SUMS_PER_SAMPLE, transform, SEED)
    found = sums.recover(GDSReweighted(assume_generic=True))  # normal sums are generic
    account = f"samples {first:,} to {first + len(truth):,} from {len(sums.y)} sums, in {WORDS[label]}"
    least = Attempt(MINIMUM_NORM, sums.least_norm(), {}, False, "the smallest signal that explains the sums")
    ours = Attempt(OURS, found.x, {}, found.certified, found.certificate_reason)
    return _compare(signal, account, truth, (least, ours))


def _picture(signal: MeasuredSignal) -> Comparison:
    rows, columns = (slice((side - cut) // 2, (side + cut) // 2) for side, cut in _middle(signal.values.shape))
    truth = signal.values[rows, columns]
    shown = recover_picture(signal.name, truth, SUMS_PER_SAMPLE, SEED)
    size = f"{truth.shape[0]} × {truth.shape[1]} pixels"
    account = f"the middle {size} from {shown.measurements:,} sums, in wavelets (db4) at all shifts"
    least = Attempt(MINIMUM_NORM, shown.least_norm, {}, False, "the smallest picture that fits")
    return _compare(
        signal, account, truth, (least, Attempt(DEFAULT, shown.recovered, {}, shown.recovery.certified, ""))
    )


def _compare(signal: MeasuredSignal, account: str, truth: Array, attempts: Sequence[Attempt]) -> Comparison:
    """Add the errors of the attempts, and a verdict on the last of them."""
    return Comparison(
        name=f"own-{signal.name}",
        title=signal.name,
        account=account,
        verdict=_judge(relative_error(attempts[-1].values, truth)),
        truth=truth,
        attempts=tuple(replace(attempt, errors=_errors(attempt.values, truth)) for attempt in attempts),
        is_detail=False,
    )


def _errors(x: Array, truth: Array) -> dict[str, str]:
    relative = {"relative error": f"{100 * relative_error(x, truth):.1f} % error"}
    if truth.ndim == 1:
        return relative | {"signal to noise": f"{snr(x, truth):.1f} dB"}
    peak = float(np.ptp(truth)) or 1.0
    return relative | {"peak signal to noise": f"{psnr(x, truth, peak=peak):.1f} dB (peak)"}


def _judge(error: float) -> str:
    """Say in words how good a recovery is."""
    return next(words for limit, words in VERDICT_BY_ERROR_LIMIT if error < limit)


def _middle(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return each side of a picture and how much of it is kept: wavelets need lengths that can be halved."""
    steps = [SIDE_MULTIPLE if side >= 4 * SIDE_MULTIPLE else 2 for side in shape]
    return [(side, min(side - side % step, LARGEST_PICTURE)) for side, step in zip(shape, steps, strict=True)]


def busiest_piece(values: Array, longest: int) -> tuple[Array, int]:
    """Return the piece up to this length with the most energy about its mean, and where it begins."""
    length = min(longest, values.size)
    starts = range(0, values.size - length + 1, max(length // 2, 1))
    best = max(starts, key=lambda first: float(np.var(values[first : first + length])))
    return values[best : best + length], best
