"""`sparsegauge study`: grids of recoveries that can be interrupted at any moment."""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import warnings
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._platform.terminal import printable
from .console import Quiet, progress
from .plain_flags import Command, Group

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from ..study.store import Progress as StudyProgress

study = typer.Typer(
    cls=Group, no_args_is_help=True, help="Run a grid of recoveries, see how far it is, draw and export it."
)


class FigureKind(StrEnum):
    """What a picture can be written as."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


StoreArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The store of a study.")]


@study.command(cls=Command, epilog="Example: sparsegauge study run studies/smoke.toml --store smoke")
def run(
    plan: Annotated[
        Path, typer.Argument(metavar="STUDY.toml", help="The study file; docs/studies.md explains its keys.")
    ],
    store: Annotated[
        Path,
        typer.Option(
            "--store",
            metavar="DIR",
            help="The directory of the results; created if it does not exist, otherwise continued.",
        ),
    ],
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            help="The number of threads, or of processes with --dask local; by default one per core.",
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option("--dask", metavar="ADDRESS|local", help="Run on this Dask cluster, or start a local one."),
    ] = None,
    retry_failed: Annotated[
        bool,
        typer.Option(
            "--retry-failed",
            help="Try cells again that were marked as failed because every worker died that computed them.",
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Compute the cells that are missing in the store; Ctrl-C stops, and the same command resumes.

    Exit codes: 0 finished, 1 stopped by Ctrl-C or finished with failed cells, 2 an error.
    """
    with _bar(quiet) as show, _warnings_as_lines(), _executor(workers, dask) as executor:
        from ..study.plan import Study
        from ..study.run import run_study

        planned = Study.from_toml(plan)
        try:
            status = run_study(planned, store, executor=executor, progress=show, retry_failed=retry_failed)
        except KeyboardInterrupt:
            print(f"sparsegauge: stopped; the same command goes on from what is in {printable(store)}", file=sys.stderr)
            raise typer.Exit(1) from None
    if not quiet:
        print(_line(status))
    if status.failed:
        raise typer.Exit(1)


@study.command(cls=Command, epilog="Example: sparsegauge study status smoke")
def status(store: StoreArgument) -> None:
    """Show the progress and speed of a study, damaged parts of its store, and failed cells."""
    from ..study.store import study_status

    found = study_status(store)
    print(_line(found))
    for part in found.damaged:
        print(f"{printable(part)}; running the study again repairs it")
    for cell in found.failed:
        print(f"failed: {printable(cell)}; --retry-failed tries it again")
    if len(found.versions) > 1:
        print("computed with several versions, which may round differently:")
        print("\n".join(f"  {printable(versions)}" for versions in found.versions))
    if found.unlisted:
        print(
            f"{len(found.unlisted)} parts are in no journal of this store, such as {printable(found.unlisted[0])}: "
            "they were copied without their journal, or forged; delete them to compute their rows again"
        )


@study.command(cls=Command, epilog="Example: sparsegauge study export smoke -o smoke.parquet")
def export(
    store: StoreArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .parquet, .csv or .nc (netCDF) file.")],
    quiet: Quiet = False,
) -> None:
    """Write the table of a study to one file."""
    from .._platform.writing import check_destination
    from ..study import tables

    target = output.absolute()
    tables.check_format(target)
    check_destination(target)
    with _warnings_as_lines():
        tables.export(store, target)
    if not quiet:
        print(printable(target))


@study.command(cls=Command, epilog="Example: sparsegauge study figures smoke -o pictures")
def figures(
    store: StoreArgument,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="The directory for the pictures; created if it does not exist."
        ),
    ],
    kind: Annotated[FigureKind, typer.Option("--format", help="The format of the pictures.")] = FigureKind.PNG,
    quiet: Quiet = False,
) -> None:
    """Draw the results of a study: error maps, success rates, the best order, and errors against the noise.

    A study that is not finished is drawn as far as it is.
    """
    with progress(quiet=quiet) as bar, _warnings_as_lines():
        task = bar.add_task("loading", total=None)
        from ..plots.study_figures import save_figures
        from ..study.summary import summarise

        def announce(name: str) -> None:
            bar.update(task, description=f"drawing {name}")

        paths = save_figures(summarise(store), output.absolute(), kind=kind.value, progress=announce)
    if not quiet:
        print("\n".join(map(printable, paths)))


@contextlib.contextmanager
def _bar(quiet: bool) -> Iterator[Any]:
    with progress(quiet=quiet) as bar:
        task = bar.add_task("loading", total=None)

        def show(status: StudyProgress) -> None:
            bar.update(task, total=status.total, completed=status.done, description=_line(status))

        yield show


def _line(status: StudyProgress) -> str:
    """Return a line such as "1,200 of 2,376,000 (0.1 %), 220 per second, 3 h 0 min left"."""
    share = math.floor(1000 * status.done / status.total) / 10  # 100 % is all of it
    words = [f"{status.done:,} of {status.total:,} ({share:g} %)"]
    if status.done < status.total:
        words += [f"{status.rate:,.3g} per second", f"{_duration(status.seconds_left)} left"] if status.rate > 0 else []
        words += [] if status.running else ["not running"]
    if status.failed:
        words.append(f"{len(status.failed)} cell{'s' if len(status.failed) > 1 else ''} failed")
    return ", ".join(words)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    from ..errors import StudyWarning

    def show(message: Warning | str, category: type[Warning], *rest: Any, **more: Any) -> None:
        print(f"sparsegauge: {printable(message)}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", StudyWarning)
        warnings.showwarning = show
        yield


@contextlib.contextmanager
def _executor(workers: int | None, dask: str | None) -> Iterator[Executor | None]:
    """Return an executor: threads, a Dask cluster, or None for the default."""
    from ..errors import InvalidInput

    if dask is None and workers is None:
        yield None
    elif dask is None:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            yield pool
    elif dask != "local" and workers is not None:
        raise InvalidInput("--workers is for threads and --dask local; a cluster has its own")
    else:
        with _client(workers, dask) as client:
            executor = client.get_executor()
            try:
                yield executor
            finally:
                executor.shutdown(wait=False)  # after Ctrl-C, the rest is not waited for


@contextlib.contextmanager
def _client(workers: int | None, address: str) -> Iterator[Any]:
    from .._platform.extras import import_extra
    from ..errors import InvalidInput

    distributed = import_extra("distributed", "--dask", extra="dask")
    if address == "local":
        options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": None}
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the driver: the workers inherit this
        try:
            cluster = distributed.LocalCluster(**options)
        finally:
            signal.signal(signal.SIGINT, before)
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            yield client
        return
    import asyncio

    try:  # before there is a Client: one that cannot connect keeps trying, and complains when it is thrown away
        asyncio.run(_ask(distributed, address))
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInput(f"--dask {address}: no scheduler answers there ({error})") from error
    with distributed.Client(address, timeout="10s", set_as_default=False) as client:
        yield client


async def _ask(distributed: Any, address: str) -> None:
    comm = await distributed.comm.connect(address, timeout=10)
    await comm.close()
