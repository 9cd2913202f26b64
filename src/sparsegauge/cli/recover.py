"""`sparsegauge recover`: a sparse signal from a matrix and a few measurements, or a demonstration of it."""

from __future__ import annotations

import dataclasses
import io
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InvalidInput
from .console import AsJson, Quiet, print_facts, print_json, progress

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..recovery.demos import Demonstration
    from ..recovery.result import Recoveries, Recovery
    from ..recovery.solver import Solver

ENDINGS = (".npy", ".csv", ".txt")
PICTURES = (".png", ".svg")
NEEDED = ("--matrix", "--measurements", "--output")


class DemoName(StrEnum):
    """What can be shown without data of one's own."""

    ECG = "ecg"
    IMAGE = "image"


def recover(
    matrix: Annotated[
        Path | None,
        typer.Option("--matrix", metavar="A.npy", help="File with A, one row per measurement: .npy, .csv, .mat, ..."),
    ] = None,
    measurements: Annotated[
        Path | None, typer.Option("--measurements", metavar="y.npy", help="File with y, one number per row of A.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="x.npy", help="File to write x to: .npy, .csv or .txt."),
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="NAME",
            help="A solver by its name in Python, such as GDSReweighted or OMP; Portfolio by default.",
        ),
    ] = None,
    order: Annotated[
        float | None,
        typer.Option(
            "--order", metavar="P", help="The order of S_p, for solvers that have one: SPSA, GDSReweighted, ..."
        ),
    ] = None,
    noise: Annotated[
        float | None,
        typer.Option(
            "--noise",
            metavar="S",
            help="The standard deviation of the noise in y (0: exact); estimated by default.",
        ),
    ] = None,
    nonnegative: Annotated[bool, typer.Option("--nonnegative", help="Recover under the constraint x >= 0.")] = False,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of all random numbers.")] = 0,
    demo: Annotated[
        DemoName | None, typer.Option("--demo", help="Compress a real signal, recover it, and plot both.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw x with error bars, or the demo before and after, into this .png or .svg; a demo draws "
            "sparsegauge-NAME.png without it.",
        ),
    ] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the sparse x with A x = y, from fewer measurements than unknowns.

    Exit codes: 0 x explains y, 1 it does not (it is written all the same), 2 bad usage or input.
    """
    options = _Options(solver, order, noise, nonnegative)
    if demo is not None:
        _check_demo(matrix, measurements, options)
        _demonstrate(demo.value, plot, output, seed, json=json, quiet=quiet)
        return
    if matrix is None or measurements is None or (output is None and plot is None):
        given = zip(NEEDED, (matrix, measurements, output), strict=True)
        missing = " and ".join(name for name, path in given if path is None)
        raise InvalidInput(f"{missing} missing; recover takes {', '.join(NEEDED)} (or --plot), or --demo ecg")
    places = _Places(output and output.absolute(), plot and plot.absolute())
    _recover_files(matrix, measurements, places, options, seed, json=json, quiet=quiet)


@dataclasses.dataclass(frozen=True)
class _Options:
    """How to recover, as typed."""

    solver: str | None
    order: float | None
    noise: float | None
    nonnegative: bool

    def made(self) -> Solver:
        """Return the solver of a name, however it is capitalised."""
        from ..recovery.registry import SOLVERS
        from ..recovery.solver import has_defaults
        from ..study.solver_table import has_order

        by_word = {name.casefold(): kind for name, kind in SOLVERS.items()}
        word = "portfolio" if self.solver is None else self.solver.casefold()
        if word not in by_word:
            raise InvalidInput(f"--solver must be one of {', '.join(SOLVERS)}, got {self.solver!r}")
        kind = by_word[word]
        if not has_defaults(kind):
            raise InvalidInput(f"--solver: {kind.__name__} has options that must be given; use it from Python")
        if self.order is None:
            return kind()
        if not has_order(kind):
            ordered = ", ".join(name for name, one in SOLVERS.items() if has_order(one))
            raise InvalidInput(f"--order: {kind.__name__} has no order; take --solver {ordered}, or leave it out")
        return kind(order=self.order)  # type: ignore[call-arg]


# --- one's own data


@dataclasses.dataclass(frozen=True)
class _Places:
    """Where x and its picture go; at least one of them is wanted."""

    output: Path | None
    plot: Path | None

    def check(self) -> None:
        """Refuse what cannot be written, before the work and not after it."""
        if self.output is not None:
            _check_output(self.output, ENDINGS)
        if self.plot is not None:
            _check_output(self.plot, PICTURES)

    def facts(self) -> dict[str, str]:
        """Return what was written where."""
        written = {"written": str(self.output)} if self.output else {}
        return written | ({"picture": str(self.plot)} if self.plot else {})

    def write(self, found: Recovery | Recoveries) -> None:
        """Write x, and draw it."""
        if self.output is not None:
            _write(self.output, found.x)
        if self.plot is not None:
            from .._platform.writing import replace_file
            from ..plots.recovered_signal import picture

            replace_file(self.plot, picture(found, self.plot.suffix.lower()[1:]))


def _recover_files(
    matrix: Path, measurements: Path, places: _Places, options: _Options, seed: int, *, json: bool, quiet: bool
) -> None:
    places.check()
    output = places.output
    for path in (matrix, measurements):
        if output is not None and path.resolve() == output.resolve():
            raise InvalidInput(f"{path}: --output would replace what is read; name another file")
    with progress(quiet=quiet) as bar:
        task = bar.add_task("loading", total=None)
        from ..recovery.entry import recover as solve
        from ..recovery.result import Recovery

        chosen = options.made()
        A, y = _read_problem(matrix, measurements)
        if output is not None:
            _check_kind(output, A, y)
        bar.update(task, description=f"{type(chosen).__name__} on {' x '.join(map(str, A.shape))}")
        bounds = (0, None) if options.nonnegative else None
        noise = "auto" if options.noise is None else options.noise
        found = solve(
            A,
            y,
            solver=chosen,
            noise=noise,
            bounds=bounds,
            rng=seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    places.write(found)
    order = options.order or 2.0
    report = _report(found, order) if isinstance(found, Recovery) else _report_many(found, order)
    if json and not quiet:
        extra = {"m": len(A), "solver": type(chosen).__name__, "seed": seed, "output": output and str(output)}
        print_json(report | extra | ({"plot": str(places.plot)} if places.plot else {}))
    elif not quiet:
        print_facts(_facts(report) | places.facts())
    if not report["explains"]:
        raise typer.Exit(1)


def _check_output(path: Path, endings: tuple[str, ...]) -> None:
    from .._platform.writing import check_destination

    if path.suffix.lower() not in endings:
        raise InvalidInput(f"{path}: the ending must be one of {', '.join(endings)}, got {path.suffix or 'none'!r}")
    check_destination(path)  # before the work, not after it


def _read(path: Path) -> NDArray[Any]:
    """Return the one array of a file; a column that a reader would skip is an error, as A would be another matrix."""
    import numpy as np

    from ..io import check_regular, opened

    check_regular(path)
    skipped: list[str] = []
    with opened(str(path), note=skipped.append) as file:
        if skipped:
            raise InvalidInput(f"{path}: {skipped[0]}; A and y must be numbers throughout")
        if len(file.contents) > 1:
            names = ", ".join(str(contents.name) for contents in file.contents)
            raise InvalidInput(
                f"{path} holds {len(file.contents)} arrays ({names}); save the one that is meant in a file of its own"
            )
        return np.array(file.contents[0].array())


def _read_problem(matrix: Path, measurements: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return A and y; y may be a column, and A is one row if y is one number."""
    import numpy as np

    A, y = _read(matrix), np.atleast_1d(_read(measurements).squeeze())
    return (np.atleast_2d(A) if y.size == 1 else A), y


def _check_kind(output: Path, A: NDArray[Any], y: NDArray[Any]) -> None:
    if output.suffix.lower() != ".npy" and "c" in (A.dtype.kind, y.dtype.kind):
        raise InvalidInput(f"{output}: x is complex, which .csv and .txt have no common way to write; use .npy")


def _write(path: Path, x: NDArray[Any]) -> None:
    """Write x in the format of the file's ending; text has one number per line, with all its digits."""
    import numpy as np

    from .._platform.writing import replace_file

    file = io.BytesIO()
    if path.suffix.lower() == ".npy":
        np.save(file, x, allow_pickle=False)
    else:
        np.savetxt(file, np.atleast_1d(x), fmt="%.17g")
    replace_file(path, file.getvalue())


def _report(found: Recovery, order: float) -> dict[str, Any]:
    from ..metrics.gds import gds
    from ..recovery.status import Status

    return {
        "n": found.x.size,
        "nonzeros": found.nonzeros,
        "order": order,
        "sparsity": gds(found.x if found.coefficients is None else found.coefficients, order),
        "residual": found.residual,
        "noise": found.noise,
        "explains": found.status == Status.INEXACT or (found.success and found.status != Status.INCONSISTENT),
        "status": found.message,
        "certified": found.certified,
        "certificate_reason": found.certificate_reason,
    }


def _report_many(found: Recoveries, order: float) -> dict[str, Any]:
    """Report how many of several signals are explained and certified, and each of them."""
    each = [_report(one, order) for one in found]
    explained = sum(one["explains"] for one in each)
    return {
        "n": each[0]["n"],
        "signals": len(each),
        "explained": explained,
        "explains": explained == len(each),
        "certified": sum(one["certified"] for one in each),
        "recoveries": each,
    }


def _facts_of_many(report: dict[str, Any]) -> dict[str, str]:
    signals, each = report["signals"], report["recoveries"]
    nonzeros = sorted(one["nonzeros"] for one in each)
    return {
        "x": f"{signals:,} signals of {report['n']:,} unknowns, one per column, with {nonzeros[0]:,} to "
        f"{nonzeros[-1]:,} non-zeros",
        "residual": f"{max(one['residual'] for one in each):.2e} at most",
        "explained": f"{report['explained']:,} of {signals:,}",
        "certified": f"{report['certified']:,} of {signals:,}",
    }


def _facts(report: dict[str, Any]) -> dict[str, str]:
    if "recoveries" in report:
        return _facts_of_many(report)
    certified = "yes" if report["certified"] else "no"
    reason = report["certificate_reason"]
    return {
        "x": f"{report['n']:,} unknowns, {report['nonzeros']:,} of them above a millionth of the largest",
        "sparsity": f"{report['sparsity']:.4f} (GDS of order {report['order']:g})",
        "residual": f"{report['residual']:.2e}",
        "status": report["status"],
        "certified": f"{certified}: {reason}" if reason else certified,
    }


# --- demonstrations


def _check_demo(matrix: Path | None, measurements: Path | None, options: _Options) -> None:
    given = {"matrix": matrix, "measurements": measurements} | dataclasses.asdict(options)
    for name, value in given.items():
        if value is not None and value is not False:
            raise InvalidInput(f"--{name} does nothing with --demo, which brings its own problem; leave it out")


def _demonstrate(name: str, plot: Path | None, output: Path | None, seed: int, *, json: bool, quiet: bool) -> None:
    picture = (plot or Path(f"sparsegauge-{name}.png")).absolute()
    _check_output(picture, PICTURES)
    if output is not None:
        output = output.absolute()
        _check_output(output, ENDINGS)
    with progress(quiet=quiet) as bar:
        task = bar.add_task("recovering", total=None)
        from ..recovery.demos import DEMONSTRATIONS

        shown = DEMONSTRATIONS[name](seed)
        bar.update(task, description="drawing")
        from .._platform.writing import replace_file
        from ..plots.before_after import draw

        replace_file(picture, draw(shown, picture.suffix.lower()[1:]))
        if output is not None:
            _write(output, shown.recovered)
    if quiet:
        return
    report = _report(shown.recovery, 2.0)
    if json:
        names = {"m": shown.measurements, "demo": name, "seed": seed, "plot": str(picture)}
        print_json(report | shown.quality(shown.recovered) | names | {"output": output and str(output)})
        return
    print_facts(
        _shown(shown) | _facts(report) | {"picture": str(picture)} | ({"written": str(output)} if output else {})
    )


def _shown(shown: Demonstration) -> dict[str, str]:
    size = " x ".join(f"{length:,}" for length in shown.truth.shape)
    return {
        "signal": f"{shown.name}, {size} samples from {shown.measurements:,} random sums of them",
        "error": f"{_in_words(shown.quality(shown.recovered))}; least squares alone: "
        f"{_in_words(shown.quality(shown.least_norm))}",
    }


def _in_words(quality: dict[str, float]) -> str:
    units = {"prd_percent": "PRD {:.1f} %", "snr_db": "SNR {:.1f} dB", "psnr_db": "PSNR {:.1f} dB"}
    return ", ".join(units[name].format(value) for name, value in quality.items())
