"""Solutions of one penalised problem after the other, with the steps that they took."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from ..._arrays import Array
from ..driver import Iterate
from ..problem import Problem
from ..projection import run, within_noise
from ..status import Status


class Solution(NamedTuple):
    """What a program or a descent found, how it ended, and the steps it took."""

    x: Array
    status: Status
    steps: int


class Trials:
    """A solver of one problem at any penalty, which counts its steps and keeps its last status."""

    def __init__(self, solve: Callable[[float], Solution]) -> None:
        self._solve = solve
        self._reported = 0
        self.steps, self.status = 0, Status.CONVERGED

    def __call__(self, penalty: float) -> Array:
        """Solve the problem at one penalty."""
        x, self.status, steps = self._solve(penalty)
        self.steps += steps
        return x

    def iterate(self, x: Array, status: Status | None = None) -> Iterate:
        """Return an iterate with the steps since the last one, and at least one."""
        steps, self._reported = max(self.steps - self._reported, 1), self.steps
        return Iterate(x, steps=steps, status=status)

    def search(self, problem: Problem, start: Array, penalty: float) -> Generator[Iterate, None, Array]:
        """Yield the iterates of `within_noise` and return its result."""
        search = within_noise(problem, self, start, penalty)
        while True:
            try:
                x = next(search)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            yield self.iterate(x)

    def run(self, problem: Problem, start: Array, penalty: float) -> Solution:
        """Run the search to its end."""
        return Solution(run(within_noise(problem, self, start, penalty)), self.status, self.steps)
