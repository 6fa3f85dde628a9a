"""`dpbandits audit`: is it really ε-private?"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from dpbandits.auditing.report import COLUMNS, AuditReport, conclusion, heading, level_cells
from dpbandits.auditing.report import verify as verify_report
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.policies.named import import_from
from dpbandits.terminal.console import console, errors, one_line_errors


def audit_command(
    subject: Annotated[
        str | None,
        typer.Argument(
            help="A policy's name, as `dpbandits list` shows it; or module:object of your own."
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        typer.Option(
            help="The budget it is made with, 1/2 say; by default that of its shipped checks."
        ),
    ] = None,
    claim: Annotated[
        str | None, typer.Option(help="The ε it is held to. By default what it says itself.")
    ] = None,
    delta: Annotated[
        float, typer.Option(min=0, max=1, help="The δ of a claim of (ε, δ)-privacy.")
    ] = 0.0,
    rho: Annotated[
        str | None, typer.Option(help="The ρ of zCDP that it is held to, in place of an ε.")
    ] = None,
    budget: Annotated[str, typer.Option(help="Time to spend: 60s, 5m.")] = "60s",
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Runs to count, in place of a budget: the same report on every machine."
        ),
    ] = None,
    arms: Annotated[
        int | None,
        typer.Option(
            min=1, help="Arms to audit it with; of a function of data, columns. By default 2."
        ),
    ] = None,
    rounds: Annotated[
        int,
        typer.Option(
            min=1, help="Rounds of the runs that are counted; a black box is also played longer."
        ),
    ] = 8,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of runs, tables and simulated noise: 0, unless you say otherwise.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs: --json > report.json.")
    ] = False,
    verify: Annotated[
        Path | None,
        typer.Option(
            help="Work out again what follows from a report that --json printed.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
) -> None:
    """Test a privacy claim: replay its releases, and tell its runs apart.

    The object may be a policy, a mechanism, a randomizer, a function of data, or what makes a fresh
    object with ask and tell, or select and update. The exit code is 0 if nothing was found against
    the claim, 1 if more than the claim leaks, 2 if there was no audit, 3 if there is no verdict:
    nothing to hold it to, no level that applies, or too few runs to show as much as the claim.

    Example: [bold]dpbandits audit AnytimeLazyUCB --epsilon 1/2[/]
    """
    from dpbandits.auditing.audit import audit

    with one_line_errors("Nothing is kept of an audit."):
        if verify is not None:
            raise typer.Exit(verified(verify))
        if subject is None:
            raise ValueError("Expected a policy's name, module:object, or --verify with a report.")
        with around_audit(subject) as tell:
            report = audit(
                subject,
                claim,
                epsilon=epsilon,
                budget=seconds(budget),
                runs=runs,
                seed=seed or 0,
                arms=arms,
                rounds=rounds,
                progress=tell,
                delta=delta,
                rho=rho,
            )
    show_report(report, as_json)
    raise typer.Exit(CODES[report.verdict])


def show_report(report: AuditReport, as_json: bool) -> None:
    """Print it: as JSON, or the table, the evidence of each level and the conclusion."""
    if as_json:
        typer.echo(report.to_json())
        return
    console.print(report_table(report))
    for level in report.levels:
        if level.evidence:
            said = f"{level.level}: {level.evidence}"
            console.print(said, markup=False, highlight=False)
    console.print()
    console.print(conclusion(report), markup=False, highlight=False)


STYLES = {
    "passed": "green",
    "not refuted": "",
    "failed": "bold red",
    "no verdict": "yellow",
    "not applicable": "dim",
}


def report_table(report: AuditReport) -> Table:
    """The figures, a row for each level. Evidence takes sentences, so it stands below."""
    shown = Table(title=Text(heading(report)), title_justify="left", title_style="bold")
    for at, column in enumerate(COLUMNS[:-1]):
        shown.add_column(
            column, justify="right" if at >= 2 else "left", overflow="fold", no_wrap=at < 2
        )
    for level in report.levels:
        shown.add_row(
            *(
                Text(text, style=STYLES[level.outcome] if at == 1 else "")
                for at, text in enumerate(level_cells(level)[:-1])
            )
        )
    return shown


CODES = {"passed": 0, "not refuted": 0, "failed": 1, "no verdict": 3}
"""What the process returns."""


@contextmanager
def around_audit(subject: str) -> Iterator[Callable[[str], None]]:
    """What surrounds the user's own code: its folder, its errors named, and what is being done."""
    import_from(Path.cwd() if ":" in subject else None)
    with named_errors(), errors.status("auditing") as status:
        yield status.update


@contextmanager
def named_errors() -> Iterator[None]:
    """Errors of the user's own code, even an exit of theirs, as a `ValueError` with what they are
    and where: so they end with code 2, for 1 says that it leaks.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        notes = getattr(error, "__notes__", [])
        if isinstance(error, (ValueError, TypeError, OSError, EnvironmentExhausted)) and not notes:
            raise  # ours, and whole sentences
        where = f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""
        raise ValueError(" ".join(f"{type(error).__name__}: {error}{where}".split())) from error


def verified(path: Path) -> int:
    """Say what a written report is worth, and return the exit code."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(
            f"Expected --verify to be a report that `dpbandits audit --json` printed; {path} is "
            "not JSON."
        ) from None
    found = verify_report(data)
    for line in found.lines:
        typer.echo(line)
    return CODES[found.verdict]


def seconds(text: str) -> float:
    """60, 60s or 5m."""
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        value = float(number) * unit
    except ValueError:
        value = 0.0
    if not 0 < value < 10**6:
        raise ValueError(f"Expected a budget such as 60s or 5m, got {text!r}.")
    return value
