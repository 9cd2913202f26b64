"""`sparsegauge audit`: which laws a metric obeys, with counterexamples where it does not; and verifying those."""

from __future__ import annotations

import dataclasses
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._platform.terminal import printable
from ..errors import InvalidInput
from .console import AsJson, Quiet, print_json, printer, progress

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.table import Table

    from ..criteria.auditor import Audit, Verdict
    from ..criteria.claims import Claim, PaperAudit

LARGEST_FILE = 16_000_000  # bytes: about the largest counterexample that verify accepts
STYLES = {
    "holds": "green",
    "violated": "bold red",
    "undecided": "yellow",
    "not applicable": "dim",
    "true": "green",
    "false": "bold red",
    "misprint": "yellow",
}


def audit(
    metrics: Annotated[
        list[str] | None, typer.Argument(metavar="METRIC", help="Names of the catalogue: gds, gini, hoyer, ...")
    ] = None,
    order: Annotated[
        str | None, typer.Option("--order", metavar="P", help="The order of gds: 1 or more, or inf.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", metavar="NAME=VALUE", help="A parameter of the metric, as q=3; may be repeated."),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", metavar="P3,P4,...", help="Some of P1 to P11 and P7_literal; all by default."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=0, help="Random signals per criterion; 2,000 by default.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The seed of the random signals; 0 by default.")
    ] = None,
    paper: Annotated[bool, typer.Option("--paper", help="Audit the claims of the paper on GDS instead.")] = False,
    verify: Annotated[
        Path | None,
        typer.Option("--verify", metavar="FILE", help="Verify one counterexample: exit code 0 if valid, else 1."),
    ] = None,
    counterexamples: Annotated[
        Path | None,
        typer.Option("--counterexamples", metavar="DIR", help="Save one JSON file per violated criterion there."),
    ] = None,
    certificates: Annotated[Path | None, typer.Option("--certificates", hidden=True)] = None,
    json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Prove or refute the criteria of a sparsity metric, with exact counterexamples.

    Exit codes: 0 the audit was made, whatever its verdicts; 1 --verify found no violation; 2 bad usage or input.
    """
    counterexamples = _renamed(certificates, counterexamples)
    asked = _Asked(order, parameter, criteria, budget, seed, counterexamples)
    _check_one_task(metrics, paper=paper, verify=verify, asked=asked)
    if verify is not None:
        _verify(verify, json=json, quiet=quiet)
        return
    if counterexamples is not None:
        counterexamples.mkdir(parents=True, exist_ok=True)  # before the work, not after it
    if paper:
        _paper(counterexamples, json=json, quiet=quiet)
        return
    with progress(quiet=quiet) as bar:
        audits = _audits(metrics or [], asked, bar)
    saved = [] if counterexamples is None else _save(counterexamples, audits)
    if quiet:
        return
    if json:
        print_json([_as_data(result) for result in audits])
        return
    for result in audits:
        printer().print(_table(result))
    _say_where(saved, counterexamples)


def _renamed(certificates: Path | None, counterexamples: Path | None) -> Path | None:
    """Return the directory under the option's new name or its old one, which works for one release with a notice."""
    if certificates is None:
        return counterexamples
    if counterexamples is not None:
        raise InvalidInput("--certificates is the old name of --counterexamples; give the new one alone")
    print("sparsegauge: --certificates is deprecated; use --counterexamples", file=sys.stderr)
    return certificates


@dataclasses.dataclass(frozen=True)
class _Asked:
    """The options that only some of the three tasks take."""

    order: str | None
    parameter: list[str] | None
    criteria: str | None
    budget: int | None
    seed: int | None
    counterexamples: Path | None

    def parameters(self) -> dict[str, float]:
        """Return --order and every --parameter as numbers."""
        written = [f"order={self.order}"] if self.order is not None else []
        found: dict[str, float] = {}
        for text in [*written, *(self.parameter or [])]:
            name, equals, value = (part.strip() for part in text.partition("="))
            if name in found:
                raise InvalidInput(f"the parameter {name} is given twice; give it once")
            try:
                found[name] = float(value)
            except ValueError:
                wanted = f"{name} must be a number" if equals else "--parameter takes NAME=VALUE, as q=3"
                raise InvalidInput(f"{wanted}, got {value if equals else text!r}") from None
        return found


def _check_one_task(metrics: list[str] | None, *, paper: bool, verify: Path | None, asked: _Asked) -> None:
    tasks = {"METRIC": bool(metrics), "--paper": paper, "--verify": verify is not None}
    chosen = [name for name, is_chosen in tasks.items() if is_chosen]
    if len(chosen) != 1:
        came = " and ".join(chosen) or "none of them"
        raise InvalidInput(
            f"audit takes one of METRIC..., --paper or --verify FILE, got {came}; try audit gds --order 3"
        )
    unfit = {"order", "parameter", "criteria", "budget", "seed"} if not metrics else set()
    unfit |= {"counterexamples"} if verify is not None else set()
    given = sorted(name for name in unfit if getattr(asked, name) is not None)
    if given:
        raise InvalidInput(f"--{given[0]} does nothing with {chosen[0]}; leave it out")


# --- metrics


def _audits(names: list[str], asked: _Asked, bar: Progress) -> list[Audit]:
    """Check every name and parameter before the first audit; then advance the bar by one step per criterion."""
    task = bar.add_task("loading", total=None)
    from ..criteria.definitions import CRITERIA
    from ..criteria.subject import as_subject
    from ..metrics.catalogue import METRICS

    keys = list(CRITERIA) if asked.criteria is None else _criteria(asked.criteria, list(CRITERIA))
    found = {metric.name: metric for metric in map(METRICS.find, names)}
    given = asked.parameters()
    for name in given:
        if not any(name in metric.parameters for metric in found.values()):
            owners = ", ".join(found)
            raise InvalidInput(f"the parameter {name} is none of {owners}; sparsegauge audit METRIC shows what it has")
    chosen = {
        name: {key: value for key, value in given.items() if key in metric.parameters} for name, metric in found.items()
    }
    for name, parameters in chosen.items():
        as_subject(name, parameters)
    bar.update(task, total=len(chosen) * len(keys))
    return [_audit(name, parameters, keys, asked, bar) for name, parameters in chosen.items()]


def _criteria(text: str, known: list[str]) -> list[str]:
    by_word = {key.casefold(): key for key in known}
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if word.casefold() not in by_word]
    if wrong:
        raise InvalidInput(f"--criteria takes some of {','.join(known)}, with commas between them; got {wrong[0]!r}")
    chosen = {by_word[word.casefold()] for word in words}
    return [key for key in known if key in chosen]


def _audit(name: str, parameters: dict[str, float], keys: list[str], asked: _Asked, bar: Progress) -> Audit:
    from ..criteria.auditor import audit as judge

    parts = []
    for key in keys:  # verdicts do not depend on each other, so one at a time is the same audit
        bar.update(bar.task_ids[0], description=f"{name} {key}")
        parts.append(judge(name, criteria=[key], budget=asked.budget, rng=asked.seed, **parameters))
        bar.advance(bar.task_ids[0])
    verdicts = {key: part[key] for key, part in zip(keys, parts, strict=True)}
    return dataclasses.replace(parts[0], verdicts=verdicts)


def _as_data(result: Audit) -> Any:
    import json

    return json.loads(result.to_json())


def _table(result: Audit) -> Table:
    from rich.table import Table
    from rich.text import Text

    from ..criteria.definitions import CRITERIA

    table = Table(
        title=f"{_named(result)}: {_counts(result)}", title_justify="left", title_style="bold", show_lines=True
    )
    for column in ("criterion", "verdict", "why"):
        table.add_column(column, overflow="fold")
    for key, verdict in result.verdicts.items():
        status = Text(verdict.status, style=STYLES[verdict.status])
        table.add_row(f"{key}\n{CRITERIA[key].name}", status, "\n".join(_why(verdict)))
    return table


def _named(result: Audit) -> str:
    given = ", ".join(f"{key}={value:g}" for key, value in result.parameters.items())
    return f"{result.metric}({given})" if given else result.metric


def _counts(result: Audit) -> str:
    from ..criteria.auditor import STATUSES

    counts = {status: sum(v.status == status for v in result.verdicts.values()) for status in STATUSES}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def _why(verdict: Verdict) -> list[str]:
    return [verdict.reason, *(_steps(verdict.counterexample) if verdict.counterexample else []), *verdict.boundary]


def _steps(counterexample: dict[str, Any]) -> list[str]:
    """Return both signals with their values, as far as the counterexample states them."""
    from ..criteria.auditor import written

    return [
        f"S{written(counterexample[when])}" + (f" = {counterexample[value]}" if value in counterexample else "")
        for when, value in (("before", "value_before"), ("after", "value_after"))
    ]


# --- counterexamples


def _save(directory: Path, audits: list[Audit]) -> list[Path]:
    violated = [(result, v) for result in audits for v in result.verdicts.values() if v.counterexample]
    return [_write(directory, f"{_named(result)}-{v.criterion}", v.counterexample) for result, v in violated]


def _write(directory: Path, name: str, counterexample: Any) -> Path:
    import json

    from .._platform.writing import replace_file

    words = re.findall(r"[\w.+-]+", name)
    path = (directory / ("-".join(words).replace("--", "-") + ".json")).absolute()
    replace_file(path, json.dumps(counterexample, indent=1, allow_nan=False) + "\n")
    return path


def _say_where(saved: list[Path], directory: Path | None) -> None:
    if directory is not None and not saved:
        print("no criterion is violated: no counterexamples")
    for path in saved:
        print(printable(path))


def _verify(path: Path, *, json: bool, quiet: bool) -> None:
    from ..criteria.counterexample import verify

    with path.open("rb") as file:
        text = file.read(LARGEST_FILE + 1)
    if len(text) > LARGEST_FILE:
        raise InvalidInput(f"{path}: a counterexample has at most {LARGEST_FILE:,} bytes, and this file has more")
    try:
        counterexample = _parse(text)
        valid = verify(counterexample)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
    if json and not quiet:
        print_json({"file": str(path), "valid": valid})
    elif not quiet:
        _print_verdict(counterexample, valid)
    if not valid:
        raise typer.Exit(1)


def _parse(text: bytes) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"this is not JSON ({error}); pass a file that --counterexamples saved") from error


def _print_verdict(counterexample: dict[str, Any], valid: bool) -> None:
    given = ", ".join(f"{key}={value}" for key, value in counterexample["parameters"].items())
    metric = f"{counterexample['metric']}({given})" if given else counterexample["metric"]
    if not valid:
        text = f"not valid: this does not show that {metric} breaks {counterexample['criterion']}"
        printer().print(text, style="bold red")
        return
    printer().print(f"valid: {metric} breaks {counterexample['criterion']}", style="green")
    for line in _steps(counterexample):
        printer().print(f"  {line}")


# --- the paper


def _paper(counterexamples: Path | None, *, json: bool, quiet: bool) -> None:
    with progress(quiet=quiet) as bar:
        bar.add_task("working out the paper's claims", total=None)
        from ..paper import audit_paper

        account = audit_paper()
    # evidence about orders is not a counterexample that verify takes
    proofs = [claim for claim in account if claim.counterexample and "criterion" in claim.counterexample]
    saved = (
        [] if counterexamples is None else [_write(counterexamples, f"paper-{c.key}", c.counterexample) for c in proofs]
    )
    if quiet:
        return
    if json:
        print_json([dataclasses.asdict(claim) for claim in account])
        return
    printer().print(_paper_table(account))
    _say_where(saved, counterexamples)


def _paper_table(account: PaperAudit) -> Table:
    from rich.table import Table
    from rich.text import Text

    from ..criteria.claims import VERDICTS

    counts = {verdict: sum(claim.verdict == verdict for claim in account) for verdict in VERDICTS}
    summary = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    title = f"{len(account)} claims of the paper: {summary}"
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=True)
    for column in ("where", "claim", "verdict", "evidence"):
        table.add_column(column, overflow="fold")
    for claim in account:
        verdict = Text(claim.verdict, style=STYLES[claim.verdict])
        table.add_row(f"{claim.key}\n{claim.place}", claim.claim, verdict, _evidence(claim))
    return table


def _evidence(claim: Claim) -> str:
    return f"{claim.evidence}\nInstead: {claim.corrected}" if claim.corrected else claim.evidence
