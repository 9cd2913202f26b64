"""When is a sparse solution the signal that was measured? The certificate, and when it must not be given.

Theorem 1. Let x0 be fixed before A (M x N) is drawn from a continuous density. Then almost surely every x with
A x = A x0 and at most M - 1 non-zeros is x0. (Take a set T of at most M - 1 columns. If x0 is not supported in T, then
A x0 has a component along a column outside T, which is independent of A_T, so it lies in span(A_T) with probability
zero. There are finitely many T; and on T the solution is unique.) So K + 1 generic measurements suffice for a fixed x0
of K non-zeros, where 2 K are needed for all such x0 at once: S. Foucart and H. Rauhut, "A Mathematical Introduction to
Compressive Sensing", Birkhäuser, 2013, chapter 2.

Theorem 2. Let A be any matrix, and let the non-zeros of x0 be drawn from a continuous density, wherever they stand.
Then almost surely every x with A x = A x0 is x0, if the columns A_T of its support are independent and no column
outside T lies in their span. (The v with A_S v in span(A_T) are a linear subspace, and not all of R^S, as S holds a
column that is not in the span. There are finitely many S and T.)

Floating-point numbers weaken "is x0" to "is within 1e-6 of its largest coefficient of x0", and each step is measured:

- Resolution. `error` is the residual of the fit, or what rounding leaves where that is more. Let v = x0 - x. Then
  A v is at most about `error`. A column that lies within error / (1e-6 max|x|) of the span of others can hide a
  coefficient of 1e-6 max|x|. No column of the support may lie so near to the others of it, and no column outside to the
  support, or to the support and one or two more. `smallest_visible` is the largest coefficient that a single column
  outside the support can hide.
- Chance. Let the first j columns, those with the largest |a_i x_i|, leave r_j of y, and all k columns r_k. A search
  that tries f sets of further columns finds one with such a residual by chance with a probability of at most about
  f c (r_k / r_j)^(rank - k), where c (r / R)^(n - m) bounds the part of a sphere in n dimensions that is near a
  subspace of m. f is C(N - j, k - j) for each of 10^4 searches, but no more than 10^10 in all. `chance` is the largest
  of these over all j, and at most 1e-6. It also refuses a fit of the noise in a y that was passed as exact.
- Dependence. A special x0 (of equal magnitudes, say) with a special A is covered by neither theorem: if a column is the
  sum of others, a single coefficient there explains ones on all of these. So it is refused where columns are found that
  depend on each other, as far as `dependence.py` searches, and where A looks discrete or structured, unless the
  caller says `assume_generic=True`. `Certificate.assumptions` tells what was searched. Where no two magnitudes of x
  have a simple ratio, x0 is taken as drawn from a density (Theorem 2), and only up to three columns beside the support
  are searched for (`pursuit.py`). A special x0 could look so only if each of its equal magnitudes were replaced by
  others, which takes a relation between all of its columns and as many special ones.

An x0 that was chosen by someone who knew A is out of reach: among M + 1 generic columns any few stand in for the
others, with the right coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._compiled import recover as kernels
from .._compiled import support
from . import dependence
from .dependence import Relation
from .equal_magnitudes import as_whole
from .problem import Problem
from .result import Certificate
from .structure import describe_structure
from .system import System
from .tolerances import EXACT, HIDDEN, SAME_RATIO

ROUNDING = 4 * float(np.finfo(float).eps)
MOST_CHANCE = 1e-6
MOST_SEARCHES = 1e4  # before a solution is found
MOST_FITS = 1e10  # the same in all searches
MOST_COLUMNS_FOR_GREEDY_SEARCH = 300  # outside the support, for each x
GREEDY_STEPS_PER_SUPPORT = 8
MOST_COLUMNS_BY_DEFAULT = 2000  # of systems in which larger dependent sets are looked for without a request
MANY_COLUMNS = 200  # with more, the greedy search tries more starts where x is whole
WORK_IF_WHOLE = 1e9
LARGEST_SHARP_ERROR = 100.0  # of a fit, in units of rounding: with less, a whole x counts as exact
FEWEST_NONZEROS_OF_A_SUM = 1  # so few may well be a sum of many columns, however long it is
SMALL_LATTICE = 45  # dimension up to which sums are looked for wherever x is a multiple of small whole numbers
FEW_EQUATIONS = 16  # the greedy search then finds little, so that sums are looked for in larger lattices too
LARGEST_WHOLE = 100
LARGEST_SIMPLE_TERM = 8  # magnitudes with a ratio p/q, p and q at most this, make a special signal
FEW_NONZEROS = 2  # they may replace a sum of many columns
FALSE_ALARM_RATE = 1e-3  # generic columns that are called dependent

UP_TO_THREE = "no set of up to three columns beside the support"
VOUCH = "set assume_generic=True if A is known to be generic although it looks structured"
TOO_MANY = "{k} non-zeros are too many for {rank} independent equations"
NOT_SHARP = "x is a multiple of small whole numbers, but the fit is less exact than rounding explains"
WHOLE = ", but they are whole multiples of one number and explain y: coincidence is unlikely where A is generic"


def judge_uniqueness(
    problem: Problem, x: NDArray[Any], *, assume_generic: bool = False, check_dependence: bool = False
) -> tuple[Certificate | None, str]:
    """Return a certificate for an exact sparse solution x, or None, and the reason why or why not.

    `check_dependence` looks for dependent sets of columns by all means, whatever they cost.
    """
    doubt = _objection(problem, x, assume_generic)
    if doubt:
        return None, doubt
    fit = Fit.of(problem, x)
    chance = _chance(problem, x)
    doubt = fit.doubt() or (
        f"columns picked by chance would explain y as well with a probability of up to {chance:.1g}"
        if chance > MOST_CHANCE
        else _dependence(problem, fit, check_dependence)
    )
    if doubt:
        return None, doubt
    certificate = Certificate(
        support=fit.T,
        margin=problem.reduced.rank - len(fit.T),
        smallest_visible=fit.error / float(fit.lengths.min()),
        chance=chance,
        assumptions=_assumptions(problem, fit, assume_generic, check_dependence),
    )
    return certificate, str(certificate)


def _objection(problem: Problem, x: NDArray[Any], assume_generic: bool) -> str:
    """Return why no solution of this problem, or none with so many non-zeros, can be certified; empty if one can."""
    if problem.noise > 0:
        return "y is noisy, so an exact fit proves nothing"
    if problem.system.matrix is None:
        return "A is too large to write out, so its columns cannot be looked at"
    if problem.misfit > EXACT * problem.scale or problem.residual(x) > EXACT * problem.scale + problem.misfit:
        return "x does not explain y exactly"
    k, rank = int(np.count_nonzero(x)), problem.reduced.rank
    if k == 0:
        return "x is zero, so there is nothing to compare an error with"
    if rank < 3:
        return "there are fewer than three independent equations"
    doubt = "" if assume_generic else doubt_of_structure(problem.system)
    if doubt:
        return doubt
    if k > rank - support.MARGIN:
        whole = not problem.is_complex and as_whole(problem, x) is not None
        return TOO_MANY.format(k=k, rank=rank) + (WHOLE if whole else "")
    return ""


def doubt_of_structure(system: System) -> str:
    """Return why A does not look generic; empty if it does."""
    if system.structured:
        return f"A is a sparse array or an operator, so it may be structured; {VOUCH}"
    if "structure" not in system.notes:
        system.notes["structure"] = describe_structure(system.matrix)  # type: ignore[arg-type]
    return f"{system.notes['structure']}; {VOUCH}" if system.notes["structure"] else ""


@dataclass(frozen=True)
class Fit:
    """Least squares on the support T of x, in rows of similar lengths, and what it leaves of the other columns.

    `error` is what the fit, or rounding, leaves of y; an error of x up to `limit` times the distance of a column from
    the others is below HIDDEN.
    """

    A: NDArray[Any]
    T: Indices
    outside: Indices
    error: float
    limit: float
    moved: float  # |x - fit|, the largest, in units of max|x|
    nearest: float  # of the columns of the support, to the span of its others
    spread: float  # sqrt(equations / equations to spare)
    is_whole: bool  # x is a multiple of small whole numbers
    is_special: bool  # some of its magnitudes have a simple ratio, or there are very few
    is_sharp: bool  # the residual is of the size of rounding errors
    D: NDArray[Any]  # the columns outside T, without their parts in span(A_T), in an orthonormal basis
    lengths: Array  # of the columns of D

    @classmethod
    def of(cls, problem: Problem, x: NDArray[Any]) -> Fit:
        """Return the fit; x has at least one non-zero, and fewer than there are rows."""
        A, y, T = *_even_rows(problem), np.flatnonzero(x)
        outside = np.flatnonzero(x == 0)
        Q, R = np.linalg.qr(A[:, T], mode="complete")
        R, k, largest = R[: len(T)], len(T), float(np.abs(x).max())
        rotated = Q.conj().T @ y
        try:
            inverse = np.linalg.inv(R)
        except np.linalg.LinAlgError:
            inverse = np.full(R.shape, np.inf)
        with np.errstate(invalid="ignore"):
            moved = float(np.abs(inverse @ rotated[:k] - x[T]).max()) / largest
            nearest = 1 / float(np.linalg.norm(inverse, axis=1).max())
        terms = float(np.linalg.norm(A[:, T], axis=0) @ np.abs(x[T]))
        error = max(float(np.linalg.norm(rotated[k:])), ROUNDING * terms)
        D = Q[:, k:].conj().T @ A[:, outside]
        return cls(
            A=A,
            T=T,
            outside=outside,
            error=error,
            limit=error / (HIDDEN * largest),
            moved=moved,
            nearest=nearest,
            spread=math.sqrt(problem.reduced.rank / (problem.reduced.rank - k)),
            is_whole=_is_whole(x[T]),
            is_special=is_special(np.abs(x[T])),
            is_sharp=error <= LARGEST_SHARP_ERROR * ROUNDING * terms,
            D=D,
            lengths=np.linalg.norm(D, axis=0),
        )

    def doubt(self) -> str:
        """Return what keeps the measurements from fixing the coefficients, one by one; empty if nothing does."""
        if not (self.moved <= HIDDEN / 2 and self.nearest > self.limit * self.spread):
            return "the columns of the support are so short, or so nearly dependent, that y does not fix x to 1e-6"
        worst = int(np.argmin(self.lengths))
        if self.lengths[worst] > self.limit:
            return ""
        column = self.outside[worst]
        if np.linalg.norm(self.A[:, column]) <= 2 * self.limit:
            return f"column {column} of A is zero, or too short for its coefficient to show in y"
        return f"column {column} of A is a combination of the columns of the support, as far as y can tell"


def _even_rows(problem: Problem) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return A and y with rows of length 1 where their lengths differ much: all are exact, so all count the same."""
    A, y = problem.matrix(), problem.y
    if not problem.has_uneven_rows:
        return A, y
    units = problem.system.row_units
    return A / units[:, None], y / units


def _chance(problem: Problem, x: NDArray[Any]) -> float:
    """Return a bound of the probability that so few columns explain y by chance, as the module says."""
    T = np.flatnonzero(x)
    return chance_of_fit(problem.reduced.B[:, T], problem.reduced.b, x[T], problem.n)


def chance_of_fit(B: NDArray[Any], b: NDArray[Any], x: NDArray[Any], n: int) -> float:
    """Return the same for the fit of b by some of n columns, in equations that count the same, with coefficients x."""
    terms = np.linalg.norm(B, axis=0) * np.abs(x)
    order = np.argsort(-terms, kind="stable")
    rank, k = B.shape
    along = np.asarray(np.linalg.qr(np.column_stack([B[:, order], b]), mode="r"))[:, -1]
    squares = np.cumsum(np.abs(along[::-1]) ** 2)[::-1]
    least = max(float(np.abs(along[k])), ROUNDING * float(terms.sum()))
    real = 2 if np.iscomplexobj(B) or np.iscomplexobj(b) else 1  # dimensions of a number
    spare, worst = real * (rank - k), -math.inf
    for j in range(k):
        fits = min(math.log(MOST_SEARCHES) + _log_binomial(n - j, k - j), math.log(MOST_FITS))
        near = math.log(least / max(math.sqrt(squares[j]), least))
        worst = max(worst, fits + _log_share(real * (rank - j), spare) + spare * near)
    return math.exp(min(worst, 0.0))


def _log_binomial(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _log_share(n: int, spare: int) -> float:
    """Return log c: c r^spare bounds the part of the unit sphere in n dimensions within r of n - spare of them."""
    return math.lgamma(n / 2) - math.lgamma(spare / 2 + 1) - math.lgamma((n - spare) / 2)


def _dependence(problem: Problem, fit: Fit, by_all_means: bool) -> str:
    """Return which columns could stand in for others, as they could not if A were generic; empty if none was found."""
    if fit.is_whole and not fit.is_sharp:
        return NOT_SHARP
    group = dependence.dependent_pair(fit.D, _significant(problem, fit, 2))
    if not group.columns and (by_all_means or problem.n <= MOST_COLUMNS_BY_DEFAULT):
        group = dependence.dependent_triple(fit.D, _significant(problem, fit, 3))
        if not group.columns and (
            by_all_means or (fit.is_special and len(fit.outside) <= MOST_COLUMNS_FOR_GREEDY_SEARCH)
        ):
            group = dependence.greedy_relation(_beside(problem, fit), fit.D, most_steps=GREEDY_STEPS_PER_SUPPORT)
    if group.hides(fit.limit):
        return f"columns {_listed(fit.outside[list(group.columns)])} of A depend on each other and on the support"
    group = _relation(problem, fit, by_all_means)
    return f"columns {_listed(group.columns)} of A depend on each other" if group.hides(fit.limit) else ""


def _significant(problem: Problem, fit: Fit, size: int) -> float:
    """Return the limit for sets of a size, or what some generic set has by chance, where that is less."""
    spare = problem.reduced.rank - len(fit.T) - size + 1
    if spare < 1:
        return 0.0
    log_sets = _log_binomial(len(fit.outside), size)
    chance = math.exp((math.log(FALSE_ALARM_RATE) - log_sets) / (spare * (2 if problem.is_complex else 1)))
    return min(fit.limit, chance * float(np.median(fit.lengths)))


def _beside(problem: Problem, fit: Fit) -> NDArray[Any]:
    """Return the columns outside the support without their parts in its span, where all directions count the same."""
    B = problem.reduced.B
    Q = np.linalg.qr(B[:, fit.T], mode="complete")[0][:, len(fit.T) :]
    return np.asarray(Q.conj().T @ B[:, fit.outside])


def greedy_relation(problem: Problem, A: NDArray[Any], work: float) -> Relation:
    """Return the shortest relation between columns of A that the greedy search finds: computed once per system."""
    factors = problem.reduced.factors
    key = f"greedy relation {work:g}"
    if key not in factors.notes:
        factors.notes[key] = dependence.greedy_relation(factors.B, A, work)
    found: Relation = factors.notes[key]
    return found


def work_for_relations(problem: Problem, A: NDArray[Any]) -> float:
    """Return the work that the greedy search is worth: more where columns of unusual length look like sums."""
    return dependence.GREEDY_WORK * (
        dependence.WORK_FACTOR_IF_UNEVEN if dependence.has_uneven_columns(A, problem.reduced.rank) else 1.0
    )


def _relation(problem: Problem, fit: Fit, by_all_means: bool) -> Relation:
    """Return the shortest relation between columns of A that was found: computed once, or per small support."""
    B, notes = problem.reduced.B, problem.reduced.factors.notes
    if problem.n > MOST_COLUMNS_BY_DEFAULT and not by_all_means:
        return Relation()
    work = (
        dependence.GREEDY_WORK * dependence.WORK_FACTOR_IF_UNEVEN
        if by_all_means
        else work_for_relations(problem, fit.A)
    )
    if fit.is_whole and problem.n > MANY_COLUMNS:
        work = max(work, WORK_IF_WHOLE)
    found = greedy_relation(problem, fit.A, work)
    if found.hides(fit.limit) or not _uses_lattice(problem, fit, by_all_means):
        return found
    few = fit.T if len(fit.T) <= FEWEST_NONZEROS_OF_A_SUM else fit.T[:0]
    key = f"whole relation {few.tolist()}"
    if key not in notes:
        notes[key] = dependence.whole_relation(B, fit.A, few)
    whole: Relation = notes[key]
    return min(found, whole, key=lambda relation: relation.length)


def _uses_lattice(problem: Problem, fit: Fit, by_all_means: bool) -> bool:
    """Return whether sums of many columns are looked for: where x or A makes them likely, or it is quick."""
    B, rank = problem.reduced.B, problem.reduced.rank
    suspicious = len(fit.T) <= FEWEST_NONZEROS_OF_A_SUM or (fit.is_whole and rank <= FEW_EQUATIONS)
    if by_all_means or suspicious or dependence.has_uneven_columns(fit.A, rank):
        return dependence.can_reduce(B)
    return fit.is_whole and dependence.can_reduce(B, SMALL_LATTICE)


def _is_whole(values: NDArray[Any]) -> bool:
    """Return whether all are small whole multiples of the least."""
    ratios = np.abs(values) / np.abs(values).min()
    return bool(ratios.max() <= LARGEST_WHOLE and np.abs(ratios - np.rint(ratios)).max() <= HIDDEN)


def is_special(values: Array) -> bool:
    """Return whether x may be special, such as one of equal magnitudes, or what stands in for one."""
    return len(values) <= FEW_NONZEROS or bool(kernels.has_simple_ratio(values, LARGEST_SIMPLE_TERM, SAME_RATIO))


def _listed(columns: Iterable[int]) -> str:
    return ", ".join(str(k) for k in sorted(columns))


def _assumptions(problem: Problem, fit: Fit, assume_generic: bool, by_all_means: bool) -> tuple[str, ...]:
    if problem.n > MOST_COLUMNS_BY_DEFAULT and not by_all_means:
        return assumptions(assume_generic, "no pair beside the support (check_dependence=True looks for more)")
    most = 1 + min(dependence.MOST_GREEDY_STEPS, problem.reduced.rank - 2)
    searched = f"{UP_TO_THREE}, greedily up to {most}"
    if _uses_lattice(problem, fit, by_all_means):
        searched += ", sums of more by lattice reduction"
    return assumptions(assume_generic, searched)


def assumptions(assume_generic: bool, searched: str) -> tuple[str, ...]:
    """Return what a certificate takes for granted; `searched` says which dependent columns were looked for."""
    generic = "A is generic, as the caller says" if assume_generic else "A is generic, as it looks"
    source = f"{generic}, and x was fixed without knowledge of A; or the non-zeros of x are of a continuous density"
    return source, f"columns do not depend on each other ({searched} does, as far as y can tell)"
