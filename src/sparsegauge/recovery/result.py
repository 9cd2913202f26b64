"""What a recovery returns: one result type for every solver, in SciPy's words."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import Array, Indices
from .status import Status

NOT_ZERO = 1e-6  # in units of the largest: what `support` counts as a non-zero


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
        How it ended, as a number with a name and in words.
    nit, nfev : int
        Iterations, and evaluations of whatever the solver evaluates.
    fun : float
        The sparsity S_p of x, at the solver's order (2 for solvers without one).
    residual : float
        |A x - y|.
    noise : float
        The standard deviation of the noise in one measurement: as told, as estimated, or 0.
    std : ndarray or None
        With noise, the standard error of each coefficient if it is not zero; None where the solver does not know it.
    inclusion : ndarray or None
        With noise, the probability that each coefficient is not zero.
    certificate : Certificate or None
        Why x is the signal that was measured and not only a sparse one; `certified` says whether there is one, and
        `certificate_reason` why, or why not.
    history : list of float
        The sparsity on the way.
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

    @property
    def certified(self) -> bool:
        """Whether x is proved to be the signal that was measured, under the certificate's assumptions."""
        return self.certificate is not None

    @property
    def support(self) -> Indices:
        """The indices of the coefficients above a millionth of the largest."""
        size = np.abs(self.x)
        return np.flatnonzero(size > NOT_ZERO * size.max(initial=0.0))

    @property
    def nonzeros(self) -> int:
        """The number of coefficients above a millionth of the largest."""
        return len(self.support)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as numbers, strings and lists, for JSON; complex x as pairs [real, imaginary]."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        values |= {"x": _listed(self.x), "status": int(self.status), "certified": self.certified}
        values |= {name: None if values[name] is None else _listed(values[name]) for name in ("std", "inclusion")}
        values["certificate"] = None if self.certificate is None else self.certificate.to_dict()
        return values | {"support": self.support.tolist(), "history": list(self.history)}

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


def _listed(values: NDArray[Any]) -> list[Any]:
    if np.iscomplexobj(values):
        return np.stack([values.real, values.imag], axis=-1).tolist()  # type: ignore[no-any-return]
    return values.tolist()  # type: ignore[no-any-return]


def _same(one: Any, other: Any) -> bool:
    """Compare nested dictionaries, taking nan as equal to nan."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return bool(one == other or (one != one and other != other))
