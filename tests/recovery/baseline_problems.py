"""The baselines by what they support, and problems for them."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sparsegauge.recovery.baselines import (
    IRLS,
    LARS,
    OMP,
    SBL,
    SL0,
    BasisPursuit,
    DantzigSelector,
    Lasso,
    MinimumNorm,
    ReweightedL1,
)
from sparsegauge.recovery.problem import Problem
from sparsegauge.simulate import gaussian_matrix, sparse_signal

SPARSE = [
    BasisPursuit(),
    ReweightedL1(),
    DantzigSelector(),
    OMP(),
    Lasso(),
    LARS(),
    IRLS(),
    IRLS(p=0.0),
    SL0(),
    SBL(),
]
ALL = [MinimumNorm(), *SPARSE]
ANY_BOUNDS = [solver for solver in ALL if solver.supports.bounds == "any"]
NON_NEGATIVE = [solver for solver in ALL if solver.supports.bounds in ("any", "x >= 0")]
NO_BOUNDS = [solver for solver in ALL if solver.supports.bounds == "none"]
COMPLEX = [solver for solver in ALL if solver.supports.complex]
REAL_ONLY = [solver for solver in ALL if not solver.supports.complex]
MATRIX_FREE = [solver for solver in ALL if solver.supports.operators]
MATRIX_ONLY = [solver for solver in ALL if not solver.supports.operators]
SIGNALS = [
    ("binomial", "natural"),
    ("binomial", "random"),
    ("uniform", "natural"),
    ("normal", "natural"),
    ("exponential", "natural"),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """The systems are small: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def name_of(solver):
    changed = [f"{value}" for key, value in vars(solver).items() if value != getattr(type(solver), key)]
    return "-".join([type(solver).__name__, *changed])


def named(solvers):
    return pytest.mark.parametrize("solver", solvers, ids=name_of)


def drawn(distribution="normal", signs="natural", *, n=100, nonzeros=8, m=60, seed=0):
    """A, x and y = A x."""
    rng = np.random.default_rng([seed, n, nonzeros, m])
    x = sparse_signal(n, nonzeros, distribution, signs=signs, rng=rng)
    A = gaussian_matrix(m, n, rng=rng)
    return A, x, A @ x


def drawn_complex(seed=0, m=40):
    rng = np.random.default_rng(seed)
    A = gaussian_matrix(m, 100, rng=rng) + 1j * gaussian_matrix(m, 100, rng=rng)
    x = sparse_signal(100, 8, rng=rng) * np.exp(2j * np.pi * rng.random(100))
    return A, x, A @ x


def solved(solver, A, y, *, callback=None, **options):
    return solver.solve(Problem.of(A, y, **options), np.random.default_rng(0), callback)


def noisy(y, deviation, seed=1):
    return y + deviation * np.random.default_rng(seed).standard_normal(len(y))
