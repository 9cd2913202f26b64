"""Measure all signals as one dataset whose coefficients are normalised first (section VII of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import InvalidInput
from ..normalise import CoefficientNormaliser
from .file_signals import LoadedSignals, Measurement, load_signals, measure_signals, opened_for_measuring
from .request import Request, Say


def load_file(argument: str, request: Request, show: Say, note: Say) -> list[LoadedSignals]:
    """Return the signals of every array of one file, transformed as the request says."""
    with opened_for_measuring(argument, request, show, note) as file:
        return [load_signals(file.label, each, request, None) for each in file.contents]


def measure_dataset(loaded: Sequence[LoadedSignals], request: Request, show: Say, note: Say) -> list[Measurement]:
    """Normalise every coefficient over all signals of all files, and measure the normalised signals.

    `note` is called with a sentence about coefficients that are constant, which can only be centred.
    """
    _check_dataset(loaded)
    show("normalising")
    normaliser = CoefficientNormaliser()
    for each in loaded:
        normaliser.partial_fit(each.rows)
    constant = int(np.count_nonzero(normaliser.var_ == 0))
    if constant:
        note(
            f"{constant} of {len(normaliser.var_)} coefficients have the same value in every signal and become 0; "
            "they say nothing about how the signals differ"
        )
    return [measure_signals(replace(each, rows=normaliser.transform(each.rows)), request, show) for each in loaded]


def _check_dataset(loaded: Sequence[LoadedSignals]) -> None:
    """Raise `InvalidInput` unless there are two signals or more, all of the same length."""
    first = loaded[0]
    for each in loaded:
        if each.rows.shape[1] != first.rows.shape[1]:
            raise InvalidInput(
                "--normalise compares each coefficient with the same one of the other signals, but those of "
                f"{first.file} have {first.rows.shape[1]} coefficients and those of {each.file} {each.rows.shape[1]}; "
                "measure files of different lengths one by one, or choose the dimension of the signals with --axis"
            )
        if np.iscomplexobj(each.rows):
            raise InvalidInput(f"--normalise needs real coefficients, got complex ones in {each.file}")
    signals = sum(len(each.rows) for each in loaded)
    if signals < 2:
        raise InvalidInput(
            f"--normalise needs two signals or more, got {signals} of {first.rows.shape[1]} coefficients in "
            f"{first.file}; name more files, or choose the dimension of the signals with --axis"
        )
