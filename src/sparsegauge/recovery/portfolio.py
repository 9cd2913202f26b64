"""Portfolio: solvers in turn, until an exact sparse solution is found, or y is seen to be noisy, or the budget ends."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import equal_magnitudes, exact_search
from .baselines import OMP, BasisPursuit
from .climbs import Climbs
from .driver import Iterate
from .easy_problems import keep_pursued
from .ep import EP, SWEEPS_BETWEEN_CHECKS, Sweep
from .explanation import Explanation
from .members import Candidate, Prior, Propagations, descend, searched, share_of_effort, try_wells
from .message_passing import STEPS_BETWEEN_CHECKS, MessagePassing, explain
from .noisy import answer_from_climbs, answer_without_model, is_covered_by_model
from .plain_solutions import Pursued
from .problem import Problem
from .projection import nearest
from .reweighted import GDSReweighted, has_diverged
from .solver import Capabilities, Solver, count, flag, real
from .status import Status
from .tolerances import EXACT

# both wells, one-sided, an l_1/2 norm, a deep well, a high order: found on trials below 1,000 of the benchmark
WELLS = (
    GDSReweighted(order=4, floor=0.03, well=0.3, sharpness=6, exponent=1.0),
    GDSReweighted(order=4, floor=0.03, well=0.3, sharpness=4, exponent=1.0, side=1),
    GDSReweighted(order=4, floor=0.001, well=0.1, sharpness=6, exponent=0.5),
    GDSReweighted(order=4, floor=0.001, well=0.1, sharpness=4, exponent=0.5, side=1),
    GDSReweighted(order=4, floor=0.001, well=0.5, sharpness=10, exponent=1.0),
    GDSReweighted(order=10, floor=0.001, well=0.0, exponent=1.0),
)
NOISY_WELLS = (2, 0, 3, 1)  # indices into WELLS, those for unequal magnitudes first
RESTART_FACTOR_IF_ONE_SIDED = 4  # such restarts are quicker and find more
LITTLE_EFFORT = 0.5  # below it, only the first two wells are tried, and no expectation propagation
MOST_PASSING_WORK = 4e9  # multiplications with A and its adjoint each, in all runs of message passing
LARGEST_ERROR_VARIANCE_OF_AN_END = 0.01  # of a run of message passing that ends near a noisy signal
MOST_INEXACT_ENDS = 2  # then y counts as noisy
LEAST_EFFORT = 0.05  # below it, systems are too large for wells
# when y is taken as noisy before the whole budget is spent: gains in log evidence (`Climbs.gain`), and |noise| / |y|
CERTAIN_GAIN, CERTAIN_GAIN_PER_MEASUREMENT, LARGEST_CERTAIN_NOISE = 26.0, 0.6, 0.25
FIRST_WELLS = 2  # these find most of what all wells find
# gain above which y is likelier noisy than exact, so that only the members that find most are tried
LIKELY_GAIN, FEWEST_TELLING_MEASUREMENTS = 0.0, 40
LIKELY_RISE = 2.0  # evidence of noise over almost none: 12 exact signals that only restarts found had less than 0.4
LOWER_NOISE_FACTORS = (0.4, 0.17)  # in units of the sigma of an unclear state
QUICK_SLABS = ("exponential", "bernoulli-gauss")  # for signals of unequal magnitudes
LIKELY_SIDE_SHARE = 0.5  # of the runs of expectation propagation: one sign is tried first if it gets more


@dataclass(frozen=True, kw_only=True)
class Portfolio(Solver):
    """The default: reweighting by GDS in six variants, a lattice, expectation propagation, and restarts.

    Exact sparse solutions are searched for around every iterate. If none is found and the noise is not given, y is
    taken as noisy, and x and the noise are estimated together. The callback sees every iterate of every member.

    Parameters
    ----------
    restarts : int
        The number of restarts of the six variants with random weights. Large systems get fewer of all restarts.
    propagations : int
        The number of restarts of expectation propagation.
    lattice : bool
        Whether to look for signals of equal magnitudes, or of small whole-number ratios, by lattice reduction.
    time_limit : float
        Seconds after which no further solver is started. It makes results depend on the machine: for results that
        reproduce, leave it and set `restarts`.
    """

    supports: ClassVar[Capabilities] = Capabilities(
        bounds="any", complex=True, operators=True, unknown_noise=True, bounds_with_operator=True
    )

    restarts: int = count(12, least=0)
    propagations: int = count(24, least=0)
    lattice: bool = flag(True)
    time_limit: float = real(float("inf"), low=0, high=float("inf"), high_included=True)

    def iterates(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield the iterates of the members in turn, and last the answer."""
        if problem.system.matrix is None or (problem.is_large and problem.system.structured):
            yield from WELLS[0].iterates(problem, rng)
        elif (pursued := keep_pursued(problem)) is not None and pursued.is_plain:
            yield Iterate(pursued.x, steps=pursued.steps, status=Status.CONVERGED)
        elif problem.noise > 0 or (problem.estimate_noise and not exact_search.searchable(problem)):
            climbs = Climbs(problem) if is_covered_by_model(problem) else None
            yield from self._noisy(problem, rng, climbs, [])
        else:
            yield from self._exact(problem, rng)

    def postprocess(self, problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
        """Return x within the bounds."""
        return problem.clipped(x)

    def _exact(self, problem: Problem, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield candidates until one is exact, or y is certainly noisy, or the budget ends."""
        started, guesses = time.monotonic(), []
        climbs = Climbs(problem) if problem.estimate_noise and is_covered_by_model(problem) else None
        for candidate in self._candidates(problem, rng, climbs):
            if candidate.is_exact:
                yield Iterate(_sparser(problem, candidate.x), steps=candidate.steps, status=Status.CONVERGED)
                return
            yield Iterate(candidate.x, steps=candidate.steps)
            if candidate.is_end and not has_diverged(problem, candidate.x):
                guesses.append(candidate.x)
                if climbs is not None and (len(guesses) <= len(WELLS) or Explanation.of(problem, candidate.x).is_clear):
                    is_noisy = _is_certainly_noisy(climbs, guesses, rng)
                    is_near = is_noisy or climbs.noise_is_small
                    found = exact_search.find_exact(problem, np.abs(climbs.best_x)) if is_near else None
                    if found is not None:
                        yield Iterate(_sparser(problem, found), status=Status.CONVERGED)
                        return
                    if is_noisy:
                        break
            if time.monotonic() - started > self.time_limit:
                break
        if "pursued" in problem.notes:
            yield Iterate(problem.notes["pursued"].x, status=Status.CONVERGED)
        elif problem.estimate_noise:
            yield from self._noisy(problem, rng, climbs, guesses)
        else:
            yield _inexact(problem, guesses or [problem.start()])

    def _noisy(
        self, problem: Problem, rng: np.random.Generator, climbs: Climbs | None, guesses: list[NDArray[Any]]
    ) -> Iterator[Iterate]:
        """Yield guesses until a few of them agree on which coefficients are zero, then the estimate."""
        started, exhausted = time.monotonic(), bool(guesses)
        if climbs is not None and not climbs.states:
            climbs.add(np.zeros(problem.n))
            yield Iterate(climbs.best_x)
            climbs.cool(rng)
            yield Iterate(climbs.best_x)
        if climbs is None or not (_is_certain(climbs) or climbs.noise_is_loud):
            for candidate in self._guesses(_with_first_sigma(problem, climbs), rng, few=exhausted):
                yield Iterate(candidate.x, steps=candidate.steps)
                if not candidate.is_end or has_diverged(problem, candidate.x):
                    continue
                guesses.append(candidate.x)
                if climbs is not None:
                    climbs.add(candidate.x)
                if (climbs is not None and climbs.agree) or time.monotonic() - started > self.time_limit:
                    break
        if climbs is None:
            yield answer_without_model(problem, guesses or [problem.start()])
            return
        is_settled = climbs.agree and climbs.is_clear
        if problem.noise == 0 and not (is_settled or climbs.is_overwhelming or climbs.needs_noise):
            yield from self._guess_under_less_noise(problem, climbs, rng)
        yield answer_from_climbs(problem, climbs, rng)

    @staticmethod
    def _guess_under_less_noise(problem: Problem, climbs: Climbs, rng: np.random.Generator) -> Iterator[Iterate]:
        """Yield expectation propagation with far less noise than the best state has, and climb from where it ends.

        A wrong state takes what it does not explain for noise; guesses made with that much noise are no better.
        """
        if share_of_effort(problem) <= LITTLE_EFFORT:
            return
        first = climbs.states[0]
        for sigma in (factor * climbs.sigma for factor in LOWER_NOISE_FACTORS):
            less = problem.with_sigma(max(sigma, EXACT * problem.scale))
            for sweep in EP(slabs=QUICK_SLABS, restarts=0).runs(less, rng):
                yield Iterate(sweep.x, steps=SWEEPS_BETWEEN_CHECKS)
                if sweep.ended:
                    climbs.add(sweep.x)
            if climbs.states[0] is not first:
                return

    def _guesses(self, problem: Problem, rng: np.random.Generator, *, few: bool) -> Iterator[Candidate]:
        """Yield guesses at x with noise of a given size: wells and expectation propagation, in turn."""
        effort, solvers = share_of_effort(problem), [_sided(problem)[k] for k in NOISY_WELLS[: 2 if few else None]]
        if effort < LITTLE_EFFORT and not problem.is_complex and problem.is_free_or_one_sided:
            yield self._estimate_by_messages(problem)
        if effort < LEAST_EFFORT:
            yield from self._by_products(problem, rng)
            return
        propagations: Iterator[Sweep] = iter(())
        if not problem.is_complex and effort > LITTLE_EFFORT:
            propagations = EP(restarts=self.propagations // 8).runs(problem, rng)
        for solver in solvers if effort > LITTLE_EFFORT else solvers[:2]:
            yield from descend(solver, problem, rng)
            for sweep in propagations:
                yield Candidate(sweep.x, SWEEPS_BETWEEN_CHECKS, is_end=sweep.ended)
                if sweep.ended:
                    break

    def _candidates(self, problem: Problem, rng: np.random.Generator, climbs: Climbs | None) -> Iterator[Candidate]:
        """Yield the guesses of the members, with an exact search around each; fewer of them where y is likely noisy."""
        is_real, effort, solvers = not problem.is_complex, share_of_effort(problem), _sided(problem)
        if problem.is_large:
            yield from searched(problem, self._by_products(problem, rng))
        if is_real and effort < LITTLE_EFFORT and problem.is_free_or_one_sided:
            yield from self._pass_messages(problem)
        if effort >= LEAST_EFFORT:
            yield from try_wells(problem, solvers[:FIRST_WELLS], rng)
        if effort > LITTLE_EFFORT and not (climbs is not None and _is_likely_noisy(climbs)):
            yield from try_wells(problem, solvers[FIRST_WELLS:], rng)
        if is_real and self.lattice and not (climbs is not None and _is_likely_noisy(climbs)):
            yield self._whole_multiples(problem)
        propagations = Propagations(problem, self._priors(problem), rng) if is_real and effort > LITTLE_EFFORT else None
        if propagations is not None:
            yield from propagations.first_runs()
        if climbs is not None and _restarts_are_unlikely_to_help(climbs):
            return
        if propagations is not None:
            yield from propagations.restarts()
        restarts = (replace(solvers[k % len(solvers)], jitter=0.2) for k in range(round(self.restarts * effort)))
        if is_real:
            yield from try_wells(problem, restarts, rng)
        if is_real and effort > LITTLE_EFFORT and not problem.estimate_noise:
            for baseline in (BasisPursuit(), OMP()) if problem.bounds is None else (BasisPursuit(),):
                found = baseline.solve(problem, rng)
                yield Candidate(found.x, 1, is_end=True)

    @staticmethod
    def _by_products(problem: Problem, rng: np.random.Generator) -> Iterator[Candidate]:
        """Yield GDSReweighted without factorisations: far quicker where A is large."""
        as_operator = replace(problem, system=problem.system.as_operator())
        for iterate in WELLS[0].iterates(as_operator, rng):
            yield Candidate(iterate.x, iterate.steps, is_end=iterate.status is not None)

    @staticmethod
    def _estimate_by_messages(problem: Problem) -> Candidate:
        """Return where message passing with noise of a given size is nearest to x by its own estimate."""
        steps, best = MOST_PASSING_WORK / (problem.m * problem.n), None
        for estimate in MessagePassing().runs(problem):
            best = estimate if best is None or estimate.error < best.error else best
            steps -= STEPS_BETWEEN_CHECKS
            if steps < 0 or (estimate.converged and estimate.error < LARGEST_ERROR_VARIANCE_OF_AN_END):
                break
        return Candidate(problem.start() if best is None else best.x, 1, is_end=True)

    @staticmethod
    def _pass_messages(problem: Problem) -> Iterator[Candidate]:
        """Yield message passing, as far as a system of this size can afford, or until y is seen to be noisy."""
        steps, inexact_ends = MOST_PASSING_WORK / (problem.m * problem.n), 0
        for estimate in MessagePassing().runs(problem):
            found = explain(problem, estimate)
            if found is not None:
                yield Candidate(found, 1, is_exact=True)
                return
            yield Candidate(estimate.x, 1)
            steps -= STEPS_BETWEEN_CHECKS
            inexact_ends += estimate.converged and estimate.error < LARGEST_ERROR_VARIANCE_OF_AN_END
            if steps < 0 or inexact_ends == MOST_INEXACT_ENDS:
                return

    @staticmethod
    def _whole_multiples(problem: Problem) -> Candidate:
        """Return what lattice reduction finds, exact or not."""
        x = equal_magnitudes.whole_multiples(problem, np.abs(problem.start()))
        if x is None:
            return Candidate(problem.start(), 1)
        found = exact_search.find_exact(problem, np.abs(x))
        if found is None:
            found = equal_magnitudes.as_whole(problem, x)
        if found is None or not exact_search.accepted(problem, found):
            return Candidate(x, 1, is_end=True)
        return Candidate(found, 1, is_exact=True)

    def _priors(self, problem: Problem) -> list[Prior]:
        """Return what to assume of the signs, with the number of restarts: most for what the data suggest."""
        if problem.bounds is not None:
            return [Prior(problem, RESTART_FACTOR_IF_ONE_SIDED * self.propagations, is_likely=True)]
        share = min(max(abs(_one_sidedness(problem)) - 0.5, 0.0), 1.0)
        one_sided = Prior(
            _one_sided(problem),
            round(RESTART_FACTOR_IF_ONE_SIDED * self.propagations * share),
            share >= LIKELY_SIDE_SHARE,
        )
        return [one_sided, Prior(problem, round(self.propagations * (1 - share)), is_likely=True)]


def _sparser(problem: Problem, x: NDArray[Any]) -> NDArray[Any]:
    """Return x, or the exact solution that was found first, if that has fewer non-zeros."""
    pursued: Pursued | None = problem.notes.get("pursued")
    return x if pursued is None or np.count_nonzero(x) <= len(pursued.support) else pursued.x


def _sided(problem: Problem) -> list[GDSReweighted]:
    """Return the wells, with those of one side on the likelier one."""
    side = 0 if problem.is_complex else (1 if _one_sidedness(problem) >= 0 else -1)
    return [replace(solver, side=solver.side * side) for solver in WELLS]


def _one_sidedness(problem: Problem) -> float:
    """Return how one-sided x is, by its least-norm solution: about standard normal where the signs are random."""
    x = problem.start()
    return float(np.sum(x) / max(np.linalg.norm(x), np.finfo(float).tiny))


def _one_sided(problem: Problem) -> Problem:
    """Return the problem as if all non-zeros had the likelier sign: no assumption, since the exact search decides."""
    zeros, open_ended = np.zeros(problem.n), np.full(problem.n, np.inf)
    positive = _one_sidedness(problem) >= 0
    return replace(problem, bounds=(zeros, open_ended) if positive else (-open_ended, zeros))


def _with_first_sigma(problem: Problem, climbs: Climbs | None) -> Problem:
    """Return the problem with noise of the given size, or else of the best size known so far."""
    if problem.noise > 0:
        return problem
    spare = max(problem.m - problem.reduced.rank, 1)
    least = max(problem.misfit / np.sqrt(spare), EXACT * problem.scale)
    return problem.with_sigma(max(least, climbs.sigma) if climbs is not None and climbs.states else least)


def _is_certainly_noisy(climbs: Climbs, guesses: list[NDArray[Any]], rng: np.random.Generator) -> bool:
    """Climb from the newest guess, and first from zero; return whether y leaves no doubt that it is noisy."""
    is_first = not climbs.states
    if is_first:
        climbs.add(np.zeros(len(guesses[0])))
    climbs.add(guesses[-1])
    if _is_certain(climbs) if climbs.is_overwhelming else (climbs.gain > 0 and climbs.needs_noise):
        return True
    if is_first:
        climbs.cool(rng)
    is_settled = climbs.agree or climbs.is_overwhelming or len(guesses) == len(WELLS)
    return is_settled and _is_certain(climbs)


def _is_certain(climbs: Climbs) -> bool:
    """Return whether y looks so noisy that an exact sparse signal would not be mistaken for it.

    Part of an exact signal often explains y up to a tenth, as if the rest were noise; it rarely comes nearer, or with
    such an evidence.
    """
    noise, m = climbs.sigma * np.sqrt(climbs.problem.m) / climbs.problem.scale, climbs.problem.m
    return bool(climbs.gain > max(CERTAIN_GAIN, CERTAIN_GAIN_PER_MEASUREMENT * m) and noise < LARGEST_CERTAIN_NOISE)


def _is_likely_noisy(climbs: Climbs) -> bool:
    """Return whether a sparse x and noise are likelier than a dense x.

    Most exact signals that look so are found by the first runs of expectation propagation, and few by more of them.
    """
    return climbs.problem.m >= FEWEST_TELLING_MEASUREMENTS and bool(climbs.states) and climbs.gain > LIKELY_GAIN


def _restarts_are_unlikely_to_help(climbs: Climbs) -> bool:
    """Return whether that is so, or nearly, or noise is clearly likelier than next to none: restarts rarely help."""
    if climbs.problem.m < FEWEST_TELLING_MEASUREMENTS or not climbs.states:
        return False
    return climbs.gain + climbs.rise > LIKELY_GAIN or climbs.rise > LIKELY_RISE


def _inexact(problem: Problem, guesses: list[NDArray[Any]]) -> Iterate:
    """Return the exact solution nearest to the best sparse explanation, where y is exact and no sparse x was found."""
    best = min((Explanation.of(problem, guess) for guess in guesses), key=lambda found: found.score)
    x = problem.clipped(best.x)
    residual = problem.residual(x)
    if residual <= problem.tolerance() and exact_search.searchable(problem) and best.is_clear:
        return Iterate(x, steps=0, status=Status.CONVERGED)
    if residual > problem.tolerance():
        if problem.bounds is not None:
            x = nearest(problem, x)
        else:
            x = np.asarray(x + (1 - EXACT * problem.scale / residual) * (problem.reduced.project(x) - x))
    return Iterate(x, steps=0, status=Status.INEXACT)
