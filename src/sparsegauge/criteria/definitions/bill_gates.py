"""P7, Bill Gates: a coefficient that is far above the others grows, and S grows; and P7 as the paper prints it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np

from ...errors import Illegal
from ..callables import CallableSubject
from ..coefficients import Case, Move, Signal, Step, find_growth, nonzeros, replace_one, require, signal
from ..criterion import TWO_NONZEROS, Criterion
from ..judgement import Judgement, judge_step
from ..lies import add_float_lie, reverse_growth, wave
from ..numbers import Bounds, order
from ..samples import extreme_signals
from ..subject import Subject

RATIOS_OF_BETA = [10**k for k in (1, 2, 3, 6, 12)]  # how far beta is above the other coefficients
LEAST_LAST_RATIO = 1000
# a function's value is followed over these multiples of the other coefficients
RATIOS_FOLLOWED = [Fraction(10) ** k * m for k in range(1, 13) for m in (1, 3)] + [10**k for k in (16, 24, 48, 75)]
FEWEST_LATER_VALUES = 4  # all above S(beta), for beta to count
START_RATIOS = [10**k for k in (0, 2, 4, 6, 8, 9, 10, 12)]
RAISES = (Fraction(1), Fraction(1, 2), Fraction(1, 100), Fraction(100))


class BillGates(Criterion):
    """For every i there is a beta_i from which on growth of c_i raises S."""

    key = "P7"
    name = "Bill Gates"
    statement = "for every i there is a beta_i such that S(c with c_i + beta_i + a) > S(c with c_i + beta_i), a > 0"
    transformation = "one coefficient, already far above the others, grows"
    relation = ">"
    applies = TWO_NONZEROS
    source = "Hurley and Rickard (2009), their P1"
    least_nonzeros = 2
    group_indices = 1
    optimiser_starts = 0  # it follows one step, and this law needs several
    lies = (reverse_growth(),)

    def moves(self, c: Signal) -> Iterator[Move]:
        """Let one coefficient of each value grow."""
        return ((i,) for i in range(len(c)))

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Replace a coefficient by beta, then by 2 beta, for betas far above the others."""
        (i,) = move
        scale = max((v for v, _ in c), default=Fraction(1)) or Fraction(1)
        betas = [scale * k for k in RATIOS_OF_BETA]
        return [(replace_one(c, i, beta), replace_one(c, i, 2 * beta)) for beta in betas]

    def check(self, steps: list[Step]) -> None:
        """Require at least three betas, each ten times the one before, the last far above the other coefficients."""
        require(len(steps) >= 3, "Bill Gates needs at least three betas, each ten times the one before")
        largest = Fraction(0)
        rest = None
        for before, after in steps:
            beta, _ = find_growth(before, after)
            others = signal([*before, (beta, -1)])
            require(rest in (None, others), "all other coefficients stay the same")
            require(nonzeros(before) >= 2, "two non-zeros or more")
            require(beta >= 10 * largest and beta > others[-1][0], "each beta at least ten times the one before")
            rest, largest = others, beta
        enough = rest is not None and largest >= LEAST_LAST_RATIO * rest[-1][0]
        require(enough, "the last beta is 1,000 times all the others")

    def judge(self, subject: Subject, steps: list[Step]) -> Judgement:
        """Decide whether growth helps at none of the betas, the last of which is far above the rest."""
        if isinstance(subject, CallableSubject):
            return self._judge_function(subject, steps)
        broken: list[Judgement] = []
        for step in steps:
            judgement = judge_step(subject, self.relation, step)
            if judgement.violated is False:
                return judgement
            if judgement.violated is None:
                break
            broken.append(judgement)
        decided = [j.steps[0] for j in broken]
        try:
            self.check(decided)
        except Illegal:  # too few, or not far enough
            return judgement._replace(violated=None)
        return broken[-1]._replace(steps=decided)

    def _judge_function(self, subject: CallableSubject, steps: list[Step]) -> Judgement:
        """Follow the growing coefficient over many ratios: is there a beta with all later values above S(beta)?

        A few steps cannot refute that a beta exists, so the function is followed up to 1e75 times the others.
        """
        beta, _ = find_growth(*steps[0])
        rest = signal([*steps[0][0], (beta, -1)])
        tops = [max(beta, rest[-1][0]) * ratio for ratio in RATIOS_FOLLOWED]
        signals = [signal([*rest, (top, 1)]) for top in tops]
        candidates = range(len(signals) - FEWEST_LATER_VALUES)
        floats = subject.screen(signals)
        (before, after), arithmetic = subject.enclose(steps[-1], subject.precisions[0])
        judgement = Judgement(None, steps, before, after, arithmetic)
        if any(floats[k] < min(floats[k + 1 :]) for k in candidates):
            return judgement._replace(violated=False)
        values = [subject.enclose((c,), subject.precisions[0])[0][0] for c in signals]
        if all(any(_does_not_rise(values[k], later) for later in values[k + 1 :]) for k in candidates):
            return judgement._replace(violated=True)
        return judgement

    def function_cases(self, subject: CallableSubject, rng: np.random.Generator, count: int) -> Iterable[Case]:
        """Start where one coefficient is up to 1e12 times the others already."""
        for ratio in START_RATIOS:
            for rest in ([1], [0, 1], [1, 2, 3], [2, 2, 5]):
                c = signal([*((v, 1) for v in rest), (ratio * 10, 1)])
                yield Case(c, (len(c) - 1,))
        for c in extreme_signals(rng, count // 2, wide=False):
            if nonzeros(c) >= self.least_nonzeros:
                yield from (Case(c, move) for move in self.moves(c))

    def boundary_cases(self) -> Sequence[Case]:
        """Return signals whose one non-zero grows."""
        return [Case(signal([(0, 1), (1, 1)]), (1,)), Case(signal([(0, 3), (1, 1)]), (1,))]


def _does_not_rise(before: Bounds, after: Bounds) -> bool:
    return order(before, after) in (0, -1)


class BillGatesAsPrinted(Criterion):
    """S(c with c_i + a) > S(c) for every i and every a > 0: the paper's section III, which no metric can obey."""

    key = "P7_literal"
    name = "Bill Gates, as printed"
    statement = "S(c with c_i + a) > S(c) for every i and every a > 0"
    transformation = "one coefficient grows"
    relation = ">"
    applies = TWO_NONZEROS
    least_nonzeros = 2
    variant_of = "P7"
    lies = (add_float_lie("a wave in the largest coefficient", lambda x: wave(max(x))),)
    group_indices = 1

    def moves(self, c: Signal) -> Iterator[Move]:
        """Raise each value to the top, and by simple amounts."""
        top = c[-1][0]
        for i, (value, _) in enumerate(c):
            if value < top:
                yield (i, top - value)
            yield from ((i, a) for a in RAISES)

    def steps(self, c: Signal, move: Move) -> list[Step]:
        """Raise one coefficient."""
        i, a = move
        return [(c, replace_one(c, i, c[i][0] + a))]

    def check_step(self, before: Signal, after: Signal) -> None:
        """Require that one coefficient grows beside another non-zero."""
        find_growth(before, after)
        require(nonzeros(before) >= 2, "two non-zeros or more")
