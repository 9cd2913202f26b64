"""The base class of a criterion, and the registry that holds all of them.

A criterion turns a signal and a move (which coefficient, how much) into steps (before, after). It recognises such steps
again from the two signals alone, so that a counterexample can be checked without trusting its author.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InvalidInput
from .callables import CallableSubject
from .coefficients import Case, Move, Signal, Step, nonzeros, require, signal
from .judgement import ALLOWED_SIGNS, Judgement, judge_step
from .lies import Lie
from .probes import probes
from .samples import extreme_signals
from .subject import Subject
from .sweeps import signals_of_every_length

ANY_SIGNAL = "every signal but the zero vector"
TWO_NONZEROS = "signals with two non-zeros or more; equalities on one non-zero are reported apart"
SCREENED_STEPS = 3
MOST_MOVES_LISTED, MOVES_PER_EXTREME_SIGNAL, MOVES_PER_PROBE = 1000, 12, 4
SIGNALS_PER_MOVE = 5  # times as many extreme signals for a law that has a single move


class Criterion:
    """One law of a sparsity metric: S(after) `relation` S(before) for every legal step.

    To define a law of your own, derive a class that sets the attributes and implements `moves`, `steps` and
    `check_step`, then pass one object of it to ``CRITERIA.add``: from then on, `audit`, `verify` and the command line
    use it. The other methods have defaults that suit a law about a single step.

    Attributes
    ----------
    key, name, statement, transformation : str
        "P3", "Robin Hood", the law as a formula, and what is done to the signal in words.
    relation : {"<", "=", ">", ">=", "<=", "->"}
        How S(after) must compare with S(before); "->" where a limit is meant.
    applies : str
        Which signals the law speaks of.
    source : str
        Where the law is stated.
    least_nonzeros : int
        How many non-zeros a signal must have for the law to be judged on it.
    keeps_positions : bool
        Whether the order of the coefficients matters, so that signals must not be sorted.
    variant_of : str or None
        The key of the law that this is another reading of; variants do not count among the laws that a metric obeys.
    group_indices : int
        How many of a move's leading entries are indices of groups of equal coefficients.
    optimiser_starts : int
        How often the optimiser over values and counts is started, where the relation is an inequality.
    lies : tuple of Lie
        Effects that break the law, which are planted in a function that a search could not refute. The function
        "holds" only if the same search finds every one of them.

    Examples
    --------
    >>> import sparsegauge as sg
    >>> criterion = sg.CRITERIA["P8"]
    >>> criterion.name, criterion.relation
    ('Babies', '>')
    """

    key: str
    name: str
    statement: str
    transformation: str
    relation: str
    applies: str = ANY_SIGNAL
    source: str = "section III of the paper"
    least_nonzeros: int = 1
    keeps_positions: bool = False
    variant_of: str | None = None
    group_indices: int = 0
    optimiser_starts: int = 1
    lies: tuple[Lie, ...] = ()

    # --- what the methods below are written with

    @staticmethod
    def signal(pairs: Iterable[tuple[Any, int]]) -> Signal:
        """Return a signal from (value, count) pairs: sorted, equal values together, counts of zero left out."""
        return signal(pairs)

    @staticmethod
    def require(condition: bool, reason: str) -> None:
        """Reject a step in `check_step` unless the condition holds; the reason says what a legal step is."""
        require(condition, reason)

    # --- what every criterion defines

    def moves(self, c: Signal) -> Iterable[Move]:
        """Return the moves to try on a signal, the simplest first."""
        return [()]

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Return the steps (before, after) of a move; empty where the move is not legal."""
        raise NotImplementedError

    def check_step(self, before: Signal, after: Signal) -> None:
        """Raise `Illegal` unless `after` follows from `before` by the transformation."""
        raise NotImplementedError

    # --- how it is checked and judged

    def check(self, steps: list[Step]) -> None:
        """Raise `Illegal` unless these steps are what the criterion speaks of."""
        require(len(steps) == 1, "this criterion has exactly one step")
        self.check_step(*steps[0])

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether the metric breaks the criterion on these steps; `Undefined` where it has no value."""
        return judge_step(subject, self.relation, steps[0])

    # --- where to look for a counterexample

    def fixed_cases(self, subject: Subject) -> list[Case] | None:
        """Return all the cases there are, where no search is needed; None where signals must be searched."""
        return None

    def screening_steps(self, case: Case) -> list[Step]:
        """Return the steps that float64 compares to find suspects."""
        return self.steps(*case)[:SCREENED_STEPS]

    def hard_cases(self, longest: int) -> Iterable[Case]:
        """Return families of signals up to a length that random search does not reach."""
        return ()

    def more_moves(self, c: Signal) -> Iterable[Move]:
        """Return the moves to try on a function, of which nothing is known but its values."""
        return self.moves(c)

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Return further cases to try on a function.

        They are up to `count` extreme signals with some moves each, signals of every length with one move each, and
        signals at the numbers that are written in the function's code.
        """
        wide = not self.strict  # float64 cannot tell "<" from "=" on signals with ratios of 1e4 and more
        extreme = _extreme_signals(int(rng.integers(2**31)), count, wide)
        yield from self._some_moves(extreme, self.more_moves, rng, MOVES_PER_EXTREME_SIGNAL)
        yield from self._some_moves(signals_of_every_length(), self.moves, rng, 1)
        yield from self._some_moves(probes(subject.constants), self.moves, rng, MOVES_PER_PROBE)

    def _some_moves(
        self,
        signals: Iterable[Signal],
        moves_of: Callable[[Signal], Iterable[Move]],
        rng: np.random.Generator,
        most: int,
    ) -> Iterator[Case]:
        for c in signals:
            if nonzeros(c) >= max(self.least_nonzeros, 1):
                moves = list(islice(moves_of(c), MOST_MOVES_LISTED))
                yield from (Case(c, moves[k]) for k in rng.permutation(len(moves))[:most])

    def boundary_cases(self) -> Sequence[Case]:
        """Return signals on which an equality is reported but does not break the criterion."""
        return ()

    # --- how a counterexample is made simpler

    def simpler_moves(self, move: Move) -> Iterable[Move]:
        """Return moves that may show the same in simpler numbers."""
        if move and isinstance(move[-1], Fraction):
            yield from ((*move[:-1], Fraction(x)) for x in (1, 2, 10))

    def written_numbers(self, case: Case) -> list[Fraction]:
        """Return the numbers that a reader of the counterexample has to read."""
        return [v for v, _ in case.start] + [x for x in case.move if isinstance(x, Fraction)]

    # --- what follows from the relation

    @property
    def strict(self) -> bool:
        """Return whether equality breaks it."""
        return self.relation in ("<", ">")

    @property
    def is_inequality(self) -> bool:
        """Return whether a change in one direction breaks it, so that an optimiser can look for the worst."""
        return self.relation in ("<", ">", "<=", ">=")

    @property
    def is_limit(self) -> bool:
        """Return whether it speaks of a limit, which no finite search can decide where a proof exists."""
        return self.relation == "->"

    def __repr__(self) -> str:
        return f"<Criterion {self.key}: {self.name}>"


@functools.lru_cache(maxsize=32)
def _extreme_signals(seed: int, count: int, wide: bool) -> tuple[Signal, ...]:
    """Return the same signals for every function and every planted lie, made once."""
    return tuple(extreme_signals(np.random.default_rng(seed), count, wide=wide))


class CriterionRegistry(dict[str, Criterion]):
    """The criteria by key, in the order in which they are reported."""

    def add(self, criterion: Criterion) -> Criterion:
        """Register a criterion under its key and return it; ``del CRITERIA[key]`` removes it again."""
        if not isinstance(criterion, Criterion):
            raise InvalidInput(f"a criterion is an object of a class derived from Criterion, got {criterion!r:.60}")
        missing = [name for name in REQUIRED if not isinstance(getattr(criterion, name, None), str)]
        if missing:
            raise InvalidInput(f"the criterion {criterion.__class__.__name__} lacks {', '.join(missing)}; set them")
        if criterion.relation not in (*ALLOWED_SIGNS, "->"):
            known = ", ".join((*ALLOWED_SIGNS, "->"))
            raise InvalidInput(f"the relation of {criterion.key} must be one of {known}, got {criterion.relation!r}")
        if criterion.key in self:
            raise InvalidInput(f"there is a criterion {criterion.key} already; choose another key")
        self[criterion.key] = criterion
        return criterion


REQUIRED = ("key", "name", "statement", "transformation", "relation")
