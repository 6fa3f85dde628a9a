"""`dpbandits audit`: is it really ε-private?"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from dpbandits.auditing.report import AuditReport
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.policies.named import importing_from
from dpbandits.terminal.commands.terminal import console, errors, one_line_errors

SubjectArgument = Annotated[
    str | None,
    typer.Argument(
        help="A policy's name, as `dpbandits list` shows it; or module:object of your own."
    ),
]
EpsilonOption = Annotated[
    str | None,
    typer.Option(
        help="The budget it is made with, 1/2 say; by default that of its shipped checks."
    ),
]
ClaimOption = Annotated[
    str | None, typer.Option(help="The ε it is held to. By default what it says itself.")
]
RunsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Runs to count, in place of a budget: the same report on every machine."
    ),
]
ArmsOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Arms to audit it with; of a function of data, columns. By default 2."
    ),
]
RoundsOption = Annotated[
    int,
    typer.Option(
        min=1, help="Rounds of the runs that are counted; a black box is also played longer."
    ),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        help="Recount a report that was written with --json, and play its event again.",
        exists=True,
        dir_okay=False,
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Of runs, tables and simulated noise: 0, unless you say otherwise; with --replay one "
        "that is drawn anew.",
    ),
]


def audit_command(
    subject: SubjectArgument = None,
    epsilon: EpsilonOption = None,
    claim: ClaimOption = None,
    budget: Annotated[str, typer.Option(help="Time to spend: 60s, 5m.")] = "60s",
    runs: RunsOption = None,
    arms: ArmsOption = None,
    rounds: RoundsOption = 8,
    seed: SeedOption = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print JSON, for programs: --json > report.json.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write a page with a picture.", dir_okay=False, writable=True),
    ] = None,
    replay: ReplayOption = None,
) -> None:
    """Is it really ε-private? Replay its releases, and count its runs.

    The object may be a policy, a mechanism, a randomizer, a function of data, or what makes a fresh
    object with ask and tell, or select and update. The exit code is 0 if nothing was found against
    the claim, 1 if more than the claim leaks, 2 if there was no audit, 3 if there is no verdict:
    nothing to hold it to, no level that applies, or too few runs to show as much as the claim.

    Example: [bold]dpbandits audit AnytimeLazyUCB --epsilon 1/2[/]
    """
    asked: dict[str, Any] = {"epsilon": epsilon, "runs": runs, "arms": arms, "rounds": rounds}
    with one_line_errors("Nothing is kept of an audit."):
        if html is not None:
            check_page(html)
        with around_audit(subject) as tell:
            if replay is not None:
                code = recount(replay, subject, tell, seed)
            else:
                report = audit_named(subject, claim, budget, seed=seed or 0, progress=tell, **asked)
    if replay is None:
        code = CODES[report.verdict]
        show_report(report, as_json, html)
    if code:
        raise typer.Exit(code)


def audit_named(subject: str | None, claim: str | None, budget: str, **asked: Any) -> AuditReport:
    from dpbandits.auditing.audit import audit

    if subject is None:
        raise ValueError("Expected a policy's name, module:object, or --replay with a report.")
    return audit(subject, claim, budget=seconds(budget), **asked)


def show_report(report: AuditReport, as_json: bool, html: Path | None) -> None:
    """Print it, and write its page, if one is asked for."""
    from dpbandits.auditing import page

    if as_json:
        typer.echo(report.to_json())
    else:
        page.show(report, console)
    if html is not None:
        with one_line_errors("The report above is all there is."):
            page.write_audit_page(report, html)


CODES = {"passed": 0, "not refuted": 0, "failed": 1, "no verdict": 3}
"""What the process returns."""


@contextmanager
def around_audit(subject: str | None) -> Iterator[Callable[[str], None]]:
    """What surrounds the user's own code: its folder, its errors named, and what is being done."""
    folder = Path.cwd() if subject is not None and ":" in subject else None
    with named_errors(), importing_from(folder), errors.status("auditing") as status:
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


def recount(path: Path, subject: str | None, tell: Callable[[str], None], seed: int | None) -> int:
    """Say what a written report is worth, and return the exit code."""
    from dpbandits.auditing.recounting.recount import replay

    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(
            f"Expected --replay to be a report that `dpbandits audit --json` printed; {path} is "
            "not JSON."
        ) from None
    found = replay(data, subject, tell, seed)
    for line in found.lines:
        typer.echo(line)
    return CODES[found.verdict]


def check_page(path: Path) -> None:
    """Find out, before any time is spent, whether a page can be written.

    Raises:
        ModuleNotFoundError: what draws it is not installed.
        OSError: there is no such folder.
    """
    import matplotlib  # noqa: F401

    from dpbandits.pages import templates

    templates()
    path.parent.mkdir(parents=True, exist_ok=True)


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
