"""Run the members of the portfolio, wells and expectation propagation, with an exact search around each guess."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact_search
from .ep import EP, Sweep
from .problem import Problem
from .reweighted import GDSReweighted

FULL_EFFORT_WORK = 1e7  # M^2 N of a system for which the budget is meant; larger ones get fewer restarts
MOST_PROPAGATION_WORK = 6e9  # multiplications in all runs of expectation propagation


class Candidate(NamedTuple):
    """A guess of a member of the portfolio: an exact solution, the end of a run, or neither."""

    x: NDArray[Any]
    steps: int
    is_exact: bool = False
    is_end: bool = False


def share_of_effort(problem: Problem) -> float:
    """Return the share of the full budget that a system of this size gets."""
    return min(1.0, FULL_EFFORT_WORK / (problem.m**2 * problem.n))


def descend(solver: GDSReweighted, problem: Problem, rng: np.random.Generator) -> Iterator[Candidate]:
    """Yield the stages of one run, the last of them as its end."""
    x = None
    for iterate in solver.descend(problem, rng):
        x = iterate.x
        yield Candidate(x, iterate.steps)
    if x is not None:
        yield Candidate(x, 0, is_end=True)


def try_wells(problem: Problem, solvers: Iterable[GDSReweighted], rng: np.random.Generator) -> Iterator[Candidate]:
    """Yield the stages of several runs, with an exact search around each."""
    for solver in solvers:
        yield from searched(problem, descend(solver, problem, rng))


def searched(problem: Problem, candidates: Iterator[Candidate]) -> Iterator[Candidate]:
    """Yield candidates, and an exact solution in place of the first that has one near it."""
    for candidate in candidates:
        if candidate.steps and np.isfinite(candidate.x).all():
            found = exact_search.find_exact(problem, np.abs(candidate.x))
            if found is not None:
                yield Candidate(found, candidate.steps, is_exact=True)
                return
        yield candidate


class Prior(NamedTuple):
    """An assumption on the signs, as bounds of a problem, with a number of restarts under it."""

    problem: Problem
    restarts: int
    is_likely: bool


class Propagations:
    """Runs of expectation propagation under several priors, with an exact search every few sweeps."""

    def __init__(self, problem: Problem, priors: list[Prior], rng: np.random.Generator) -> None:
        self.search = exact_search.ExactSearch(problem)
        most, effort = _most_propagations(problem), share_of_effort(problem)
        self.likely, self.runs = [], []
        for prior in priors:
            runs = EP(restarts=min(round(prior.restarts * effort), most)).runs(prior.problem, rng)
            self.runs.append(runs)
            if prior.is_likely:
                self.likely.append(runs)

    def first_runs(self) -> Iterator[Candidate]:
        """Yield one run with each slab under the likely priors: these find most of what all runs find."""
        for runs in self.likely:
            yield from self._follow(runs, len(EP().slabs))

    def restarts(self) -> Iterator[Candidate]:
        """Yield all other runs."""
        for runs in self.runs:
            yield from self._follow(runs)

    def _follow(self, sweeps: Iterator[Sweep], most_runs: int | None = None) -> Iterator[Candidate]:
        ended = 0
        for sweep in sweeps:
            found = self.search.find(sweep.inclusion)
            if found is not None:
                yield Candidate(found, 1, is_exact=True)
            yield Candidate(sweep.x, 1, is_end=sweep.ended)
            ended += sweep.ended
            if ended == most_runs:
                return


def _most_propagations(problem: Problem) -> int:
    """Return how many runs of expectation propagation a system of this size can afford."""
    return int(MOST_PROPAGATION_WORK / (EP().sweeps * problem.n * problem.m**2))
