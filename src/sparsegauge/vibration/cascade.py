"""The filters of the fast kurtogram, to compute the maps that other packages compute.

J. Antoni (2007), Mechanical Systems and Signal Processing 21, 108-124: a record is split again and again into two
halves, and each part into thirds, by short complex filters, whose responses are 1.6 times as wide as their bands. Of a
band that is one of n, one sample in n is kept. `filters` has bands with sharper edges, of which nothing is dropped.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.signal
from numpy.typing import NDArray

from .._arrays import Array

HALVING_FILTER_ORDER = 16  # filters that cut a band into thirds have 1.5 times as many taps
CUTOFF_SHARE = 0.4  # of half the rate

Samples = NDArray[np.complex128]


class Node(NamedTuple):
    """A band by its place: the `place`-th of `parts` equal ones, and its samples."""

    parts: int
    place: int
    values: Samples


@functools.cache
def kurtogram_filters() -> tuple[Samples, Samples, Samples, Samples, Samples]:
    """Return the taps that give the lower and the upper half of a band, and its three thirds."""
    taps = np.arange(HALVING_FILTER_ORDER + 1)
    low = scipy.signal.firwin(HALVING_FILTER_ORDER + 1, CUTOFF_SHARE) * np.exp(0.25j * np.pi * taps)
    numbers = np.arange(1, HALVING_FILTER_ORDER + 1)
    high = low[(-numbers) % HALVING_FILTER_ORDER] * (-1.0) ** numbers
    longer = np.arange(3 * HALVING_FILTER_ORDER // 2 + 1)
    third = scipy.signal.firwin(len(longer), CUTOFF_SHARE * 2 / 3) * np.exp(1j * np.pi * longer / 6)
    second, last = (third * np.exp(1j * np.pi * k * longer / 3) for k in (1, 2))
    return low, high, third, second, last


def cascade(x: Array, depth: int) -> Iterator[Node]:
    """Return the bands of the 1/3-binary tree, without the samples that see the beginning and without their mean.

    The undivided record is left out: it is real, so that its envelope cannot be compared with those of the bands.
    """
    return _split(Node(1, 0, x.astype(np.complex128)), depth)


def _split(node: Node, depth: int) -> Iterator[Node]:
    """Return the parts of a band, and theirs."""
    low, high, *thirds = kurtogram_filters()
    if node.parts < 2 ** (depth - 1):
        for k, taps in enumerate(thirds):
            yield Node(
                3 * node.parts, 3 * node.place + k, _settled(_filtered(node.values, taps, 3), HALVING_FILTER_ORDER)
            )
    if node.parts < 2**depth:
        for k, taps in enumerate((low, high)):
            values = _filtered(node.values, taps, 2)
            if k:
                values[::2] *= -1.0  # the upper half is turned round by decimation: turn it back
            half = Node(2 * node.parts, 2 * node.place + k, values)
            yield half._replace(values=_settled(values, len(taps) - 1))
            yield from _split(half, depth)


def _filtered(values: Samples, taps: Samples, step: int) -> Samples:
    """Filter, and keep the last of every `step` samples."""
    late = np.concatenate([[0.0], values])  # the first sample that is kept has the number step - 1
    kept: Samples = scipy.signal.upfirdn(taps, late, 1, step)[1 : 1 + len(values) // step]
    return kept


def _settled(values: Samples, length: int) -> Samples:
    settled: Samples = values[length:] - values[length:].mean()
    return settled
