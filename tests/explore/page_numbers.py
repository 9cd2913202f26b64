"""What several tests of the page use: signals, contributions by another route, and a solver that fails."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import sparsegauge as sg
from sparsegauge.explore.model import ShownCoefficients

ORDERS_TRIED = [1.0, 1.5, 2.0, 3.0, 7.3, 20.0]


def random_signal(seed, n=60):
    x = np.random.default_rng(seed).standard_normal(n)
    x[: n // 4] = 0
    return x


def slow_contributions(x, p):
    c = np.abs(x)
    found = np.zeros(c.size)
    for k in range(c.size):
        below, above = c[c < c[k]], c[c > c[k]]
        found[k] = c[k] * (((c[k] - below) ** (p - 1)).sum() - ((above - c[k]) ** (p - 1)).sum())
    return found / (c.size * (c**p).sum())


def contributions(x, order):
    shown, found = ShownCoefficients(x, "samples"), np.empty(len(x))
    found[shown.by_rank] = shown.shares(order)
    return found


class _Refusing(sg.Solver):
    supports: ClassVar[sg.Capabilities] = sg.Capabilities()

    def iterates(self, problem, rng):
        raise RuntimeError("no")
