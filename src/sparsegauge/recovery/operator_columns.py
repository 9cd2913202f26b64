"""Choose among the few columns of an operator that a first answer leaves, with these columns written out.

The reweighting of `descent.py` and the spike-and-slab model of `noisy.py` choose. What they choose is rarely off by
more than a place or two where columns next to each other are alike, as those of a convolution are. So the columns
beside the chosen ones are let in, with those that correlate most with the residual, and the choice is made anew, as
long as the description becomes shorter: the squared residual in units of the noise and, for every non-zero, the price
of naming its place (G. Schwarz, "Estimating the dimension of a model", Annals of Statistics 6(2), 1978, with the price
of J. Chen and Z. Chen, "Extended Bayesian information criteria", Biometrika 95(3), 2008).

Operators whose columns have few rows each, all near the place of the column, are *local*: convolutions are. Columns
that are far apart are then read off one product, and chosen in blocks, one after the other, each from what the others
leave. So the number of columns has no limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from .problem import Problem
from .result import Recovery
from .system import System
from .tolerances import EXACT, NEGLIGIBLE_ENTRY

MOST_COLUMNS_AT_ONCE = 800  # among which a round chooses
MOST_COLUMNS_AT_FIRST = 600  # the same in the first round
MOST_ENTRIES_WRITTEN_OUT = 10_000_000
MOST_WORK_OF_ROUNDS = 1e9  # the sum of the cubes of the numbers of columns, where an operator is not local
COLUMNS_PER_BLOCK = 150  # of a local operator
COLUMNS_AHEAD_OF_BLOCK = 50  # that may still change
TRIAL_COLUMNS = 5  # to see whether an operator is local
LARGEST_LOCAL_SHARE = 1 / 8  # of all rows, in which a column of a local operator is not zero
NEGLIGIBLE_ENERGY = 1e-4  # share of the energy in the columns that are left out at first
LARGEST_GROWTH = 10.0  # in units of the first answer: similar columns fit noise by large differences
MOST_ROUNDS = 12
LEAST_GAIN_OF_A_ROUND = 1.0  # in twice the natural unit of information
COLUMNS_BESIDE_CHOSEN = 2  # how many on either side are added
NEWCOMERS_PER_MEASUREMENT = 1 / 25  # columns that correlate with the residual
FEWEST_NEWCOMERS = 40
SIGNIFICANT_SHARE = 1e-3  # of the largest coefficient

Vector = NDArray[Any]
Places = NDArray[np.intp]
Solve = Callable[[Problem], Recovery]


class LocalRows:
    """The rows that columns of a local operator have: those within `reach` of the place of the column."""

    def __init__(self, system: System, reach: int) -> None:
        self.system, self.reach = system, reach

    @classmethod
    def of(cls, system: System) -> LocalRows | None:
        """Return the band as some columns show it, or None where A is not local."""
        reach = 0
        for column in np.linspace(0, system.n - 1, TRIAL_COLUMNS).astype(int):
            response = np.abs(system.forward(np.eye(1, system.n, column)[0]))
            rows = np.flatnonzero(response > NEGLIGIBLE_ENTRY * response.max(initial=0.0))
            if len(rows):
                centre = column * system.m // system.n
                reach = max(reach, abs(int(rows[0]) - centre), abs(int(rows[-1]) - centre))
            if 2 * reach + 1 > LARGEST_LOCAL_SHARE * system.m:
                return None
        return cls(system, reach)

    def write_out(self, columns: Places) -> scipy.sparse.csc_array | None:
        """Return the columns, or None where they turn out to have other rows too."""
        m, n = self.system.shape
        width = 2 * self.reach + 1
        period = math.ceil((width + 1) * n / m)
        rows = (columns * m // n)[:, None] + np.arange(-self.reach, self.reach + 1)
        entries = np.zeros(rows.shape, self.system.adjoint(np.zeros(m)).dtype)
        inside = (rows >= 0) & (rows < m)
        for phase in np.unique(columns % period):
            together = columns % period == phase
            units = np.zeros(n)
            units[columns[together]] = 1.0
            response = self.system.forward(units)
            if np.iscomplexobj(response) and not np.iscomplexobj(entries):
                entries = entries.astype(response.dtype)
            entries[together] = np.where(inside[together], response[np.clip(rows[together], 0, m - 1)], 0)
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        written = scipy.sparse.csc_array((entries[inside], rows[inside], starts), shape=(m, len(columns)))
        return written if self._agrees(written, columns) else None

    def _agrees(self, written: scipy.sparse.csc_array, columns: Places) -> bool:
        trial = np.zeros(self.system.n)
        trial[columns] = np.random.default_rng(0).standard_normal(len(columns))
        expected = self.system.forward(trial)
        return bool(np.linalg.norm(written @ trial[columns] - expected) <= EXACT * np.linalg.norm(expected))


def write_out(system: System, columns: Places) -> NDArray[Any]:
    """Return columns of any operator, one product for each."""
    unit = np.zeros(system.n)
    parts = []
    for column in columns:
        unit[column] = 1.0
        parts.append(system.forward(unit))
        unit[column] = 0.0
    return np.column_stack(parts)


class Chosen(NamedTuple):
    """An answer, and the probability of each non-zero; 1 where it is not known."""

    x: Vector
    inclusion: Vector

    @classmethod
    def of(cls, x: Vector) -> Chosen:
        """Return an answer without probabilities."""
        return cls(x, (x != 0).astype(float))

    def within(self, columns: Places) -> Chosen:
        """Return the same with zeros but on the given columns."""
        inside = np.zeros(len(self.x), bool)
        inside[columns] = True
        return Chosen(np.where(inside, self.x, 0), np.where(inside, self.inclusion, 0.0))

    @property
    def nonzeros(self) -> float:
        """The expected number of non-zeros."""
        return float(np.sum(self.inclusion))


class ColumnChoice:
    """The choice among columns for one problem."""

    def __init__(self, problem: Problem, solve: Solve) -> None:
        self.problem, self.solve = problem, solve
        self.band = LocalRows.of(problem.system)
        most = min(MOST_COLUMNS_AT_ONCE, problem.m // 4, MOST_ENTRIES_WRITTEN_OUT // problem.m)
        self.most = problem.m // 2 if self.band else most

    def rounds(self, x: Vector) -> Generator[Vector, None, Chosen]:
        """Yield the answers of rounds that begin with the columns of x; return the best of all, or that of x."""
        best, least = Chosen.of(x), math.inf
        columns = self._leading(x)
        current, with_all, work = Chosen.of(x).within(columns), True, 0.0
        for _ in range(MOST_ROUNDS):
            work += 0.0 if self.band else float(len(columns)) ** 3
            if not 0 < len(columns) <= self.most or work > MOST_WORK_OF_ROUNDS:
                break
            previous, current = current, self._choose(columns, current)
            yield current.x
            length = self.description_length(current)
            is_better = length < least - LEAST_GAIN_OF_A_ROUND and np.linalg.norm(
                current.x
            ) <= LARGEST_GROWTH * np.linalg.norm(x)
            if not is_better and with_all:
                break
            if is_better:
                best, least = current, length
            if self.problem.residual(best.x) <= EXACT * self.problem.scale:
                break
            columns, with_all = self._widen(best.x), True
            current = best.within(columns)
            if self.band and is_better:
                columns, with_all = self._near_changes(columns, best.x - previous.x, self.band.reach), False
        return best

    def description_length(self, chosen: Chosen) -> float:
        """Return twice the length of a description of y by an answer, up to a constant."""
        problem = self.problem
        of_y, of_x = (2 if np.iscomplexobj(values) else 1 for values in (problem.y, chosen.x))  # real parts of each
        price = of_x * chosen.nonzeros * 2 * math.log(problem.n)
        square = max(problem.residual(chosen.x), EXACT * problem.scale) ** 2
        if problem.noise > 0:
            return float(of_y * square / problem.sigma**2 + price)
        return float(of_y * problem.m * math.log(square) + price)

    def noise_left(self, chosen: Chosen) -> float:
        """Return the standard deviation of what an answer does not explain."""
        return self.problem.residual(chosen.x) / math.sqrt(max(self.problem.m - chosen.nonzeros, 1))

    def _leading(self, x: Vector) -> Places:
        """Return the columns that have nearly all of the energy of x, or none if these are many."""
        squares = np.abs(x) ** 2
        largest = np.argsort(-squares)
        most = self.most if self.band else min(self.most, MOST_COLUMNS_AT_FIRST)
        energy = np.cumsum(squares[largest])
        needed = int(np.searchsorted(energy, (1 - NEGLIGIBLE_ENERGY) * energy[-1])) + 1
        if needed > most:
            return np.zeros(0, np.intp)
        largest = largest[: needed if self.band else most]
        return np.sort(largest[squares[largest] > 0])

    @staticmethod
    def _near_changes(columns: Places, change: Vector, reach: int) -> Places:
        """Return the columns that are near to a place where the last two answers differ: the others stay."""
        magnitudes = np.abs(change)
        moved = np.flatnonzero(magnitudes > SIGNIFICANT_SHARE * magnitudes.max(initial=0.0))
        if len(moved) == 0:
            return columns[:0]
        after = np.searchsorted(moved, columns)
        ahead, behind = moved[np.minimum(after, len(moved) - 1)], moved[np.maximum(after - 1, 0)]
        distance = np.minimum(np.abs(columns - ahead), np.abs(columns - behind))
        return np.asarray(columns[distance <= 2 * reach])

    def _choose(self, columns: Places, before: Chosen) -> Chosen:
        """Return an answer that is chosen anew on the given columns."""
        problem, x = self.problem, before.x.copy()
        inclusion = before.inclusion.copy()
        B: Any = None if self.band is None else self.band.write_out(columns)
        if B is None:
            B, blocks = write_out(problem.system, columns), [(slice(None), slice(None))]
        else:
            blocks = list(_blocks(len(columns)))
        z = x[columns].astype(np.result_type(x, B.dtype, problem.y))
        rest = problem.y - problem.system.forward(x)
        for kept, seen in blocks:
            part = B[:, seen]
            found = self.solve(self._restrict(part, rest + part @ z[seen], is_real=not np.iscomplexobj(x)))
            if np.linalg.norm(found.x) > LARGEST_GROWTH * np.linalg.norm(z[seen]):
                continue
            rest = rest + B[:, kept] @ z[kept]
            z[kept] = found.x[: len(z[kept])]
            rest = rest - B[:, kept] @ z[kept]
            chances = found.x != 0 if found.inclusion is None else found.inclusion
            inclusion[columns[kept]] = chances[: len(z[kept])]
        x[columns] = z if np.iscomplexobj(x) else z.real
        return Chosen(x, inclusion)

    def _restrict(self, part: Any, y: Vector, *, is_real: bool) -> Problem:
        """Return the problem with some columns alone, on the rows that they have, and no more rows than columns.

        A complex measurement of a real x is two real ones, each with half of the variance of its noise.
        """
        if scipy.sparse.issparse(part):
            rows = np.unique(part.indices)
            part, y = part[rows].toarray(), y[rows]
        sigma = self.problem.sigma
        if is_real and np.iscomplexobj(y):
            part, y, sigma = np.vstack([part.real, part.imag]), np.concatenate([y.real, y.imag]), sigma / math.sqrt(2)
        if part.shape[1] < len(y):
            Q, part = np.linalg.qr(part)
            y = Q.conj().T @ y
        restricted = Problem.of(part, y)
        if self.problem.noise > 0:
            return restricted.with_sigma(sigma)
        return replace(restricted, estimate_noise=True)  # columns that are missing still act as noise

    def _widen(self, x: Vector) -> Places:
        """Return the significant columns of x, those that correlate with the residual, and those beside, if few."""
        problem = self.problem
        magnitudes = np.abs(x)
        chosen = np.flatnonzero(magnitudes > SIGNIFICANT_SHARE * magnitudes.max(initial=0.0))
        pull = np.abs(problem.system.adjoint(problem.y - problem.system.forward(x)))
        many = max(FEWEST_NEWCOMERS, int(NEWCOMERS_PER_MEASUREMENT * problem.m) if self.band else 0)
        columns = np.union1d(chosen, np.argpartition(-pull, min(many, problem.n - 1))[:many])
        for distance in range(1, COLUMNS_BESIDE_CHOSEN + 1):
            beside = np.concatenate([chosen - distance, chosen + distance])
            wider = np.union1d(columns, beside[(beside >= 0) & (beside < problem.n)])
            if len(wider) > self.most:
                break
            columns = wider
        return columns


def _blocks(n: int) -> Iterator[tuple[slice, slice]]:
    """Yield which columns are kept of a block, and which are chosen among: some more."""
    for start in range(0, n, COLUMNS_PER_BLOCK):
        yield slice(start, start + COLUMNS_PER_BLOCK), slice(start, start + COLUMNS_PER_BLOCK + COLUMNS_AHEAD_OF_BLOCK)
