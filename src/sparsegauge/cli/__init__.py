"""The command line: one file per verb. Only this package prints.

Nothing heavy is imported before a verb runs, so that `sparsegauge --help` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import __version__
from .._platform.terminal import printable
from ..errors import SparsegaugeError
from .about import environment
from .audit import audit
from .bands import EPILOG as BANDS_EXAMPLES
from .bands import bands
from .console import print_facts
from .explore import explore
from .measure import EPILOG as MEASURE_EXAMPLES
from .measure import measure
from .measure_command import MeasureCommand
from .metrics import metrics
from .pipes import flush_output, replace_closed_streams
from .plain_flags import Command, Group
from .recommend import recommend
from .recover import recover
from .report import report
from .study import study

INTERRUPTED = 130  # as in shells: 128 plus the number of SIGINT
TRACEBACK = "SPARSEGAUGE_TRACEBACK"  # set in the environment, it shows where an error came from


app = typer.Typer(
    name="sparsegauge",
    cls=Group,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog="Example: sparsegauge report -o report.html",
)
app.command(cls=Command, epilog="Example: sparsegauge audit gds --order 3 --criteria P3,P4 --counterexamples found")(
    audit
)
app.command(cls=Command, epilog=BANDS_EXAMPLES)(bands)
app.command(cls=Command, epilog="Example: sparsegauge explore --port 5006 --no-browser")(explore)
app.command(cls=MeasureCommand, epilog=MEASURE_EXAMPLES)(measure)
app.command(cls=Command, epilog="Example: sparsegauge metrics --lawful")(metrics)
app.command(cls=Command, epilog="Example: sparsegauge recommend --distribution normal --nonzeros 20 --measurements 10")(
    recommend
)
app.command(cls=Command, epilog="Example: sparsegauge recover --matrix A.npy --measurements y.npy -o x.npy")(recover)
app.command(cls=Command, epilog="Example: sparsegauge report recordings/*.wav -o recordings.html")(report)
app.add_typer(study, name="study")


def _show_version(context: typer.Context, asked: bool) -> None:
    if asked:
        facts = environment() if context.params["verbose"] else {}
        print(f"sparsegauge {__version__}")
        if facts:
            print_facts(facts)
        raise typer.Exit


@app.callback()
def _sparsegauge(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[  # eager, so that it is known when --version is handled
        bool, typer.Option("--verbose", is_eager=True, help="With --version: show libraries, variant and threads too.")
    ] = False,
) -> None:
    """Measure how sparse a signal is, at any order."""
    if verbose:
        raise typer.BadParameter("--verbose goes with --version only")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 for success, 2 for an error, which is one line on stderr.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after ``sparsegauge``; the process's own arguments by default.
    """
    replace_closed_streams()
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="sparsegauge", standalone_mode=False)
        flush_output()
    except typer.Abort:
        raise SystemExit(INTERRUPTED) from None
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        sentence = _sentence(error, sys.argv[1:] if arguments is None else arguments)
        if sentence:
            print(f"sparsegauge: {printable(sentence)}", file=sys.stderr)
        raise SystemExit(2) from None
    raise SystemExit(code or 0)


def _sentence(error: Exception, typed: Sequence[str]) -> str:
    """Return what to tell the user, on one line; nothing if the help was shown instead."""
    if hasattr(error, "format_message"):  # wrong usage: typer has no public name for it in all its versions
        return _usage(error, typed)
    said = " ".join(str(error).split())
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return " ".join(f"{where}{error.strerror}".split())
    if isinstance(error, SparsegaugeError | OSError):
        return said
    if isinstance(error, MemoryError):
        return f"not enough memory ({said or 'no more is free'}); use less data, or a machine with more memory"
    if isinstance(error, RecursionError):
        return f"the input is nested too deeply ({said}); check the file"
    return (
        f"unexpected {type(error).__name__}: {said}; this is a defect of sparsegauge: please report it with what "
        f"{TRACEBACK}=1 shows"
    )


def _usage(error: Any, typed: Sequence[str]) -> str:
    said = " ".join(error.format_message().split())
    verb = next((word for word in typed if not word.startswith("-")), "")  # an error while parsing knows no command
    command = error.ctx.command_path if getattr(error, "ctx", None) else f"sparsegauge {verb}".strip()
    return f"{said} (see {command} --help)" if said else ""
