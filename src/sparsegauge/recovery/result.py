"""What a recovery returns: one result type for every solver, in SciPy's words."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .._platform.extras import import_extra
from .status import Status
from .tolerances import NOT_ZERO

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class Certificate:
    """Why x is the signal that was measured, and how far that statement reaches.

    `support` are the columns that explain y, `margin` is the number of independent equations beyond them. A further
    coefficient of `smallest_visible` or more would have shown in the residual. `chance` bounds the probability that so
    few columns explain y by chance, over all fits that were tried. `assumptions` says what was taken for granted about
    A and x.
    """

    support: Indices
    margin: int
    smallest_visible: float
    chance: float
    assumptions: tuple[str, ...]

    def __str__(self) -> str:
        columns = "1 column" if len(self.support) == 1 else f"{len(self.support)} columns"
        return (
            f"the fit on {columns} is exact with {self.margin} equations to spare, and any other "
            f"coefficient above {self.smallest_visible:.1g} would have shown. Assumed: {'; '.join(self.assumptions)}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and lists, for JSON."""
        return dataclasses.asdict(self) | {"support": self.support.tolist(), "assumptions": list(self.assumptions)}


@dataclass(frozen=True, eq=False, repr=False)
class Recovery:
    """What a solver found.

    Attributes
    ----------
    x : ndarray
        The answer.
    success : bool
        Whether x explains y and the status is one of those that can be a success.
    status, message : Status, str
        How the solver ended, as a number with a name and in words.
    nit, nfev : int
        Iterations, and evaluations of whatever the solver evaluates.
    fun : float
        The sparsity S_p of x, at the solver's order (2 for solvers without one).
    residual : float
        |A x - y|.
    noise : float
        The standard deviation of the noise in one measurement: as given, as estimated, or 0.
    std : ndarray or None
        With noise, the standard error of each coefficient if it is not zero; None where the solver does not know it.
    inclusion : ndarray or None
        With noise, the probability that each coefficient is not zero.
    certificate : Certificate or None
        Why x is the signal that was measured and not only a sparse one; `certified` says whether there is one, and
        `certificate_reason` why, or why not.
    history : list of float
        The sparsity of the iterates.
    coefficients : ndarray or None
        With `transform`, the sparse coefficients (or jumps) of x. `std`, `inclusion`, `support`, `nonzeros`, `fun` and
        the certificate are about these.
    """

    x: NDArray[Any]
    success: bool
    status: Status
    message: str
    nit: int
    nfev: int
    fun: float
    residual: float
    noise: float = 0.0
    std: Array | None = None
    inclusion: Array | None = None
    certificate: Certificate | None = None
    certificate_reason: str = ""
    history: list[float] = field(default_factory=list)
    coefficients: NDArray[Any] | None = None

    @property
    def certified(self) -> bool:
        """Whether x is proved to be the signal that was measured, under the certificate's assumptions."""
        return self.certificate is not None

    @property
    def support(self) -> Indices:
        """The indices of the coefficients above a millionth of the largest."""
        size = np.abs(self.x if self.coefficients is None else self.coefficients)
        return np.flatnonzero(size > NOT_ZERO * size.max(initial=0.0))

    @property
    def nonzeros(self) -> int:
        """The number of coefficients above a millionth of the largest."""
        return len(self.support)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as numbers, strings and lists, for JSON; complex x as pairs [real, imaginary]."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        values |= {"x": _listed(self.x), "status": int(self.status), "certified": self.certified}
        values |= {
            name: None if values[name] is None else _listed(values[name])
            for name in ("std", "inclusion", "coefficients")
        }
        values["certificate"] = None if self.certificate is None else self.certificate.to_dict()
        return values | {"support": self.support.tolist(), "history": list(self.history)}

    def plot(self) -> Figure:
        """Draw x with its 90 % intervals, and its sorted magnitudes: are non-zeros and zeros clearly apart?"""
        drawing = importlib.import_module("sparsegauge.plots.recovered_signal")  # plots come after recovery
        figure: Figure = drawing.draw_recovery(self)
        return figure

    def __repr__(self) -> str:
        certified = "certified" if self.certified else "not certified"
        return (
            f"Recovery(N={self.x.size}, nonzeros={self.nonzeros}, residual={self.residual:.2g}, "
            f"status={int(self.status)} ({self.status.name}), success={self.success}, {certified})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Recovery):
            return NotImplemented
        return _same(self.to_dict(), other.to_dict())

    __hash__ = None  # type: ignore[assignment]


class Recoveries(Sequence[Recovery]):
    """The recoveries of all columns of Y, in their order.

    `recoveries[k]` is the `Recovery` of column k, and slices are recoveries again. `x` has one column per column of Y;
    `success`, `status`, `message`, `nit`, `nfev`, `fun`, `residual`, `noise`, `certified`, `certificate`,
    `certificate_reason` and `nonzeros` have one entry per column; `std` and `inclusion` are as x, with NaN in columns
    without noise, or None if no column has any.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsegauge as sg
    >>> A = sg.gaussian_matrix(30, 60, rng=0)
    >>> X = np.column_stack([sg.sparse_signal(60, 4, "normal", rng=k) for k in range(5)])
    >>> found = sg.recover(A, A @ X)
    >>> found
    Recoveries(L=5, N=60, success=5, certified=5)
    >>> bool(np.allclose(found.x, X)), found[2].nonzeros
    (True, 4)
    """

    def __init__(self, recoveries: Sequence[Recovery]) -> None:
        self._all = list(recoveries)

    @overload
    def __getitem__(self, place: int) -> Recovery: ...

    @overload
    def __getitem__(self, place: slice) -> Recoveries: ...

    def __getitem__(self, place: int | slice) -> Recovery | Recoveries:
        return Recoveries(self._all[place]) if isinstance(place, slice) else self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        success, certified = int(self.success.sum()), int(self.certified.sum())
        return f"Recoveries(L={len(self)}, N={len(self._all[0].x)}, success={success}, certified={certified})"

    def __eq__(self, other: object) -> bool:
        return self._all == other._all if isinstance(other, Recoveries) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _each(self, get: Callable[[Recovery], Any]) -> NDArray[Any]:
        return np.array([get(found) for found in self._all])

    @property
    def x(self) -> NDArray[Any]:
        """The answers, one per column: shape (N, L)."""
        return np.column_stack([found.x for found in self._all])

    @property
    def success(self) -> NDArray[np.bool_]:
        """Whether each x explains its y, and its status is one of those that can be a success."""
        return self._each(lambda found: found.success)

    @property
    def status(self) -> Indices:
        """The numbers of the statuses; `recoveries[k].status` is a `Status`."""
        return self._each(lambda found: int(found.status))

    @property
    def message(self) -> list[str]:
        """How each column ended, in words."""
        return [found.message for found in self._all]

    @property
    def nit(self) -> Indices:
        """Iterations."""
        return self._each(lambda found: found.nit)

    @property
    def nfev(self) -> Indices:
        """Evaluations."""
        return self._each(lambda found: found.nfev)

    @property
    def fun(self) -> Array:
        """The sparsity of each x."""
        return self._each(lambda found: found.fun)

    @property
    def residual(self) -> Array:
        """|A x - y| of each column."""
        return self._each(lambda found: found.residual)

    @property
    def noise(self) -> Array:
        """The standard deviation of the noise in one measurement of each column."""
        return self._each(lambda found: found.noise)

    @property
    def nonzeros(self) -> Indices:
        """The number of non-zeros of each x."""
        return self._each(lambda found: found.nonzeros)

    @property
    def certified(self) -> NDArray[np.bool_]:
        """Whether each x is proved to be the signal that was measured."""
        return self._each(lambda found: found.certified)

    @property
    def certificate(self) -> list[Certificate | None]:
        """The certificates."""
        return [found.certificate for found in self._all]

    @property
    def certificate_reason(self) -> list[str]:
        """Why each column is certified, or why not."""
        return [found.certificate_reason for found in self._all]

    @property
    def coefficients(self) -> NDArray[Any] | None:
        """With `transform`, the coefficients, one column per signal."""
        return self._beside_x(lambda found: found.coefficients)

    @property
    def std(self) -> Array | None:
        """The standard errors, as x, or as the coefficients."""
        return self._beside_x(lambda found: found.std)

    @property
    def inclusion(self) -> Array | None:
        """The probabilities of not being zero, as x, or as the coefficients."""
        return self._beside_x(lambda found: found.inclusion)

    def _beside_x(self, get: Callable[[Recovery], Array | None]) -> Array | None:
        columns = [get(found) for found in self._all]
        if all(column is None for column in columns):
            return None
        length = next(len(column) for column in columns if column is not None)
        return np.column_stack([np.full(length, np.nan) if column is None else column for column in columns])

    def plot(self) -> Figure:
        """Draw the magnitudes of all signals as a map."""
        drawing = importlib.import_module("sparsegauge.plots.recovered_signal")  # plots come after recovery
        figure: Figure = drawing.draw_recoveries(self)
        return figure

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, strings and lists, for JSON: one dictionary per column."""
        return {"recoveries": [found.to_dict() for found in self._all]}

    def to_frame(self) -> DataFrame:
        """Return a pandas DataFrame with one row per column of Y (extra `study`)."""
        pd = import_extra("pandas", "a table")
        words = ("success", "status", "nonzeros", "residual", "noise", "certified", "nit", "fun", "message")
        return pd.DataFrame({word: getattr(self, word) for word in words}).rename_axis("column")


def _listed(values: NDArray[Any]) -> list[Any]:
    if np.iscomplexobj(values):
        return np.stack([values.real, values.imag], axis=-1).tolist()  # type: ignore[no-any-return]
    return values.tolist()  # type: ignore[no-any-return]


def _same(one: Any, other: Any) -> bool:
    """Compare nested dictionaries, taking nan as equal to nan."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other or (one != one and other != other))
