"""`dpbandits audit`: is it really ε-private?"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from dpbandits.commands.terminal import console, named_errors, one_line_errors


def audit(
    subject: Annotated[str, typer.Argument(help="A policy's name, as `dpbandits list` shows it; or module:object of your own.")],
    epsilon: Annotated[str | None, typer.Option(help="The budget it is made with: a number, or a fraction like 1/2.")] = None,
    claim: Annotated[str | None, typer.Option(help="The ε it is held to. By default what it says itself.")] = None,
    budget: Annotated[str, typer.Option(help="Time to spend: 60s, 5m.")] = "60s",
    arms: Annotated[int, typer.Option(min=1, help="Arms to audit it with.")] = 2,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of the runs that are counted; a black box is also played longer.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of runs, tables and simulated noise.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    html: Annotated[Path | None, typer.Option(help="Also write a page with a picture.")] = None,
) -> None:
    """Is it really ε-private? Its releases are replayed, its decisions' law computed, its runs counted.

    The object may be a policy, a mechanism, or a function that makes a fresh object with ask and tell, or select and update. The exit
    code is 1 if more than the claim leaks, 2 if there was no audit.

    Example: [bold]dpbandits audit AnytimeLazyUCB --epsilon 1/2[/]
    """
    from dpbandits.audit.run import audit as run
    from dpbandits.audit.show import table, write_page
    from dpbandits.audit.words import conclusion

    with one_line_errors("Nothing is kept of an audit."):
        if html is not None:
            check_page(html)
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))  # so that module:object finds the user's own files
        with named_errors():
            report = run(subject, claim, epsilon=epsilon, budget=seconds(budget), seed=seed, arms=arms, rounds=rounds)
    if json:
        typer.echo(report.to_json())
    else:
        console.print(table(report))
        console.print(conclusion(report), markup=False, highlight=False)
    if html is not None:
        with one_line_errors("The report above is all there is."):
            write_page(report, html)
    if report.failed:
        raise typer.Exit(1)


def check_page(path: Path) -> None:
    """Refuse, before any time is spent, a page that cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise ValueError(f"Expected --html to be a file, {path} is a folder.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"Expected --html to be a file that can be written, {path} cannot.")


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
