"""The command line: one file a verb. Only this room prints.

Nothing heavy is imported before a verb runs, so that `sparsegauge --help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import SparsegaugeError
from .about import environment
from .audit import audit
from .console import print_facts
from .explore import explore
from .measure import EPILOG as MEASURE_EXAMPLES
from .measure import measure
from .recommend import recommend
from .recover import recover
from .report import report
from .study import study

INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT

app = typer.Typer(
    name="sparsegauge",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    epilog="Example: sparsegauge report -o report.html",
)
app.command(epilog="Example: sparsegauge audit gds --order 3 --criteria P3,P4 --counterexamples found")(audit)
app.command(epilog="Example: sparsegauge explore --port 5006 --no-browser")(explore)
app.command(epilog=MEASURE_EXAMPLES)(measure)
app.command(epilog="Example: sparsegauge recommend --distribution normal --nonzeros 20 --measurements 10")(recommend)
app.command(epilog="Example: sparsegauge recover --matrix A.npy --measurements y.npy -o x.npy")(recover)
app.command(epilog="Example: sparsegauge report -o pages/report.html --quiet")(report)
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
    try:
        code = app(args=None if arguments is None else list(arguments), prog_name="sparsegauge", standalone_mode=False)
    except typer.Abort:
        raise SystemExit(INTERRUPTED) from None
    except (SparsegaugeError, OSError) as error:
        print(f"sparsegauge: {_one_line(error)}", file=sys.stderr)
        raise SystemExit(2) from None
    except Exception as error:  # wrong usage: typer has no public name for it in all its versions
        if not hasattr(error, "format_message"):
            raise
        _complain_of_usage(error)
        raise SystemExit(2) from None
    raise SystemExit(code or 0)


def _complain_of_usage(error: Any) -> None:
    said = " ".join(error.format_message().split())
    if said:  # else the help was shown instead
        command = error.ctx.command_path if getattr(error, "ctx", None) else "sparsegauge"
        print(f"sparsegauge: {said} (see {command} --help)", file=sys.stderr)


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return " ".join(f"{error.filename}: {error.strerror}".split())
    return " ".join(str(error).split())
