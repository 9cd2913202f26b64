"""Measure signals that come in pieces, without keeping them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, as_signals, check_axis, check_choice, check_number, check_orders
from .._arrays.signal_rows import NAN_POLICIES, Signals, as_numbers, is_masked, is_sparse
from .._compiled.streaming import STREAMED
from .._platform import threads
from ..errors import InvalidInput
from .accumulated_rows import Needs, StreamedRows, all_arguments, find_needs, metrics_made_of_sums
from .catalogue import choose_columns
from .metric import Axis, measure_rows
from .metric_table import MetricTable
from .pieces import Piece, add_up_quickly, are_trusted, collect, collect_quickly, join, join_all
from .portable.orders import LARGEST_MOMENT_ORDER

SHORT_BLOCK = 1 << 12  # with fewer coefficients, a block waits for others
MOST_WAITING_BLOCKS = 64
COEFFICIENTS_PER_TASK = 1 << 16
COEFFICIENTS_PER_QUICK_TASK = 1 << 18  # where a single pass is enough
GUESS_STRETCHES = 16  # of neighbouring coefficients, from which the mean is guessed
GUESS_STRETCH_LENGTH = 256

Metrics = Sequence[str | tuple[str, Mapping[str, float]]]


class Accumulator:
    """Measure signals that arrive in blocks, or in parts from several workers, as if they were whole.

    An accumulator keeps sums and never the signals. Even orders of `gds` up to 8, the order ``inf`` and every
    metric that is a function of sums agree with the measure of the whole signal to 1e-12, in whatever blocks it
    comes. Metrics that sort a signal, such as `gini`, are refused.

    Parameters
    ----------
    orders : sequence of float
        Orders of `gds`, one column each: 2, 4, 6, 8 or inf.
    metrics : sequence of str or of (str, mapping)
        Names of the catalogue `METRICS`, or pairs of a name and its parameters.
    axis : int or None
        The dimension of a block along which the signals go on; None flattens each block.
    nan_policy : {"propagate", "omit", "raise"}
        What to do with NaN, as for every metric.
    zero : float
        The value for signals whose coefficients are all zero.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> x = np.random.default_rng(0).laplace(size=10_000)
    >>> accumulator = sg.Accumulator(orders=[2, 4], metrics=["hoyer"])
    >>> for block in np.array_split(x, 7):
    ...     accumulator.update(block)
    >>> print(accumulator.value())
       hoyer  gds order=2  gds order=4
    0.297083     0.501723     0.517019
    >>> round(float(sg.gds(x, 4)), 6)
    0.517019
    """

    def __init__(
        self,
        *,
        orders: Sequence[float] = (2.0,),
        metrics: Metrics = (),
        axis: Axis = -1,
        nan_policy: str = "propagate",
        zero: float = math.nan,
    ) -> None:
        self._columns = choose_columns(metrics, check_orders(orders))
        self._axis = axis
        self._nan_policy = check_choice("nan_policy", nan_policy, NAN_POLICIES)
        self._zero = check_number("zero", zero)
        self._needs = self._find_needs()
        self._shape: tuple[int, ...] | None = None
        self._pieces: list[tuple[int, Piece]] = []  # and how many blocks each is made of, like the digits of a number
        self._waiting: list[Array] = []  # short blocks, which are summed up together
        self._shift = math.nan  # a guess of the mean

    def _find_needs(self) -> Needs:
        found = Needs([], False)
        for label, (metric, parameters) in self._columns.items():
            needs = find_needs(metric, parameters)
            if needs is None:
                raise InvalidInput(
                    f"{label} needs all coefficients at once and cannot be added up block by block; use orders from "
                    f"2, 4, ..., {LARGEST_MOMENT_ORDER} and inf, or metrics from {', '.join(metrics_made_of_sums())}"
                )
            ingredients = dict.fromkeys([*found.ingredients, *needs.ingredients])
            found = Needs(list(ingredients), found.counts or needs.counts)
        return found

    def __repr__(self) -> str:
        """Return the columns, and how much was added up."""
        return f"<Accumulator of {', '.join(self._columns)}: {self.count:,} coefficients>"

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings and the sums; metrics go by their names."""
        columns = {label: (metric.name, parameters) for label, (metric, parameters) in self._columns.items()}
        return {**vars(self), "_columns": columns}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the settings and the sums."""
        from .catalogue import METRICS

        columns = {label: (METRICS.find(name), parameters) for label, (name, parameters) in state["_columns"].items()}
        vars(self).update(state | {"_columns": columns})

    @property
    def count(self) -> int:
        """The number of coefficients of all signals so far, without those that were left out as NaN."""
        return int(sum(piece.N.sum() for piece in self._all_pieces()))

    def update(self, block: Any) -> None:
        """Add the next coefficients of each signal; a block without any changes nothing.

        Parameters
        ----------
        block : array_like
            As every metric takes it. All blocks have the same shape except in the dimension `axis`.
        """
        if is_sparse(block) or is_masked(block):
            self._add_signals(as_signals(block, axis=self._axis, nan_policy=self._nan_policy))
            return
        array = as_numbers(block)
        axis = check_axis(self._axis, array.ndim, array.shape)
        if axis is None or array.ndim == 1:
            shape, table = (), array.reshape(1, -1)
        else:
            moved = np.moveaxis(array, axis, -1)
            shape, table = moved.shape[:-1], moved.reshape(math.prod(moved.shape[:-1]), moved.shape[-1])
        self._check_shape(shape)
        if 0 < table.size < SHORT_BLOCK:
            as_signals(table, axis=-1, nan_policy=self._nan_policy)  # which refuses what no metric takes
            self._waiting.append(_magnitudes(table))
            if len(self._waiting) >= MOST_WAITING_BLOCKS:
                self._sum_waiting()
        elif table.size:
            if not 0.0 < self._shift < math.inf:
                self._shift = _guess_mean(table[0])
            self._add(join_all(self._collect(table)))
        self._shape = shape

    def _add_signals(self, signals: Signals) -> None:
        shape = signals.shape or ()
        self._check_shape(shape)
        self._add(collect(signals, self._needs.ingredients))
        self._shape = shape

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if self._shape is not None and shape != self._shape:
            raise InvalidInput(
                f"the signals of this block have shape {shape}, and those before have {self._shape}; all blocks must "
                "have the same shape except in the dimension along which the signals continue"
            )

    def _collect(self, table: NDArray[Any]) -> list[Piece]:
        """Return the sums of the columns of a table, cut by its size alone."""
        if len(table) == 1 and not self._needs.ingredients and not self._needs.counts:
            return self._collect_quickly(table[0])
        spans = threads.spans(table.shape[1], max(1, COEFFICIENTS_PER_TASK // len(table)))
        return threads.run(lambda span: self._collect_carefully(table[:, slice(*span)]), spans)

    def _collect_carefully(self, table: NDArray[Any]) -> Piece:
        return collect(as_signals(table, axis=-1, nan_policy=self._nan_policy), self._needs.ingredients)

    def _collect_quickly(self, row: NDArray[Any]) -> list[Piece]:
        """Return the sums of one signal: one piece of all that a single pass is enough for, and those of the rest."""
        spans = threads.spans(len(row), COEFFICIENTS_PER_QUICK_TASK)
        out = np.empty((len(spans), STREAMED))
        threads.run(lambda k: collect_quickly(_plain(row[slice(*spans[k])]), self._shift, out[k]), range(len(spans)))
        N = np.diff(spans)[:, 0].astype(np.float64)
        trusted = are_trusted(out, N)
        pieces = [add_up_quickly(out[trusted], float(N[trusted].sum()), self._shift)] if trusted.any() else []
        rest = [row[None, slice(*spans[k])] for k in np.flatnonzero(~trusted)]
        return [*pieces, *threads.run(self._collect_carefully, rest)]

    def _sum_waiting(self) -> None:
        pieces = self._collect(np.concatenate(self._waiting, axis=1))
        self._waiting = []
        self._add(join_all(pieces))

    def _all_pieces(self) -> list[Piece]:
        """Return the sums of all blocks so far, without changing the state of the accumulator."""
        waiting = self._collect(np.concatenate(self._waiting, axis=1)) if self._waiting else []
        return [*(piece for _, piece in self._pieces), *waiting]

    def _add(self, piece: Piece, size: int = 1) -> None:
        while self._pieces and self._pieces[-1][0] <= size:
            blocks, other = self._pieces.pop()
            size, piece = size + blocks, join(other, piece)
        self._pieces.append((size, piece))

    def merge(self, other: Accumulator) -> None:
        """Add what another accumulator with the same settings has added up.

        Parameters
        ----------
        other : Accumulator
            It does not change.
        """
        if not isinstance(other, Accumulator):
            raise InvalidInput(f"merge takes another Accumulator, got {type(other).__name__}; use update for a block")
        for name, setting in self._settings().items():
            if other._settings()[name] != setting:
                raise InvalidInput(
                    f"accumulators are merged if their settings agree: {name} is {setting} here and "
                    f"{other._settings()[name]} there; make both with the same arguments"
                )
        found = other._all_pieces()
        if not found:
            return
        if other._shape is not None:
            self._check_shape(other._shape)
        self._add(join_all(found), sum(size for size, _ in other._pieces) + len(other._waiting))
        self._shape = other._shape

    def _settings(self) -> dict[str, str]:
        columns = {label: (metric.name, parameters) for label, (metric, parameters) in self._columns.items()}
        settings = {"columns": columns, "axis": self._axis, "nan_policy": self._nan_policy, "zero": self._zero}
        return {name: repr(setting) for name, setting in settings.items()}

    def value(self) -> MetricTable:
        """Return the values of all columns for what was added up so far.

        Returns
        -------
        MetricTable
            A mapping from "hoyer", "gds order=2" to a float, or to an array where a block holds several signals.
        """
        pieces = self._all_pieces()
        if not pieces:
            raise InvalidInput("no coefficient was added yet; call update(block) first")
        piece = join_all(pieces)
        row = StreamedRows(piece)
        values = {}
        for label, (metric, parameters) in self._columns.items():
            found = measure_rows(metric, row, self._zero, all_arguments(metric, parameters))
            found = np.where(piece.missing | (piece.N == 0), math.nan, found)
            values[label] = float(found[0]) if not self._shape else found.reshape(self._shape)
        return MetricTable(values)


def _guess_mean(row: NDArray[Any]) -> float:
    """Return the mean of some magnitudes from all over a row."""
    step = max(1, row.size // GUESS_STRETCHES)
    stretches = [_plain(row[start : start + GUESS_STRETCH_LENGTH]) for start in range(0, row.size, step)]
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.abs(np.concatenate(stretches).astype(np.float64)).mean())


def _plain(row: NDArray[Any]) -> NDArray[Any]:
    """Return one row as contiguous numbers of float32 or float64, complex ones by their magnitudes."""
    return np.require(row, None, ["C", "A"]) if row.dtype in (np.float32, np.float64) else _magnitudes(row)


def _magnitudes(array: NDArray[Any]) -> Array:
    """Return a copy of float64 numbers, complex ones by their magnitudes."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
