"""`dpbandits forecast`: before a trial, what will privacy cost?"""

from collections.abc import Sequence
from contextlib import suppress
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments.changing import Drift
from dpbandits.forecasting.forecast import DEFAULT, forecast
from dpbandits.forecasting.outcome import (
    HEADS,
    MEANINGS,
    Forecast,
    Prior,
    RateSpan,
    amount,
    cells_of_row,
    errors_of_row,
    notes_of,
    span_ends,
)
from dpbandits.terminal.console import console, natural_width, one_line_errors


def forecast_command(
    visitors: Annotated[int, typer.Option(min=2, help="People in the trial.")],
    rates: Annotated[
        str | None,
        typer.Option(help="Each arm's rate, or a range of it: .03,.036 or .02-.04,.03-.05."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="In place of --rates: the rate of today, or a range of it.")
    ] = None,
    best: Annotated[
        str,
        typer.Option(help="With --base: how much better the best arm is, of it: .2 is 20 % more."),
    ] = ".2",
    arms: Annotated[int, typer.Option(min=2, help="With --base: how many arms.")] = 2,
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            help="A budget, or several, as in .5,1; may be given again. By default .1,.5,1."
        ),
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", help=f"A policy's name; may be given again. By default {DEFAULT[0]}."
        ),
    ] = None,
    delay: Annotated[
        int | None,
        typer.Option(min=0, help="People who come before a person's answer does. Takes a minute."),
    ] = None,
    min_share: Annotated[
        float | None, typer.Option(help="Each arm's least share of people, as of a session.")
    ] = None,
    silent: Annotated[float, typer.Option(help="The share of people who never answer.")] = 0.0,
    drift: Annotated[
        float | None, typer.Option(help="What is added to all rates in the course of the trial.")
    ] = None,
    period: Annotated[
        int | None,
        typer.Option(min=1, help="Visitors in a period, within which arms are compared."),
    ] = None,
    max_contributions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Of people who come back: rounds in which one is learned from. ε is then a "
            "user's.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Draws of the rates. By default 200; 40 with --delay, --min-share and the like.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of draws and runs.")] = 0,
    units: Annotated[str, typer.Option(help="What a reward is.")] = "conversions",
    within: Annotated[
        float | None, typer.Option(help="Also say the smallest ε that is expected to lose no more.")
    ] = None,
    features: Annotated[
        int | None,
        typer.Option(
            min=2, help="Numbers known of each visitor, for policies that decide by them."
        ),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(
            help="With --features: how much an arm's rate differs over visitors, of it (.5)."
        ),
    ] = None,
    lasting: Annotated[
        int | None,
        typer.Option(
            min=1, help="For rates that change: for how many people they last, on average."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write figure and page into this folder.")
    ] = None,
) -> None:
    """What will privacy cost? Expected losses by exact simulation, before anybody takes part.

    Example: [bold]dpbandits forecast --base .03 --best .2 --arms 4 --visitors 50000[/]
    """
    with one_line_errors("Nothing is kept of a forecast."):
        given = rates_from(rates, base, best, arms)
        require_goals(within, out)
        if isinstance(given, Prior):
            console.print(assumed(given), markup=False, highlight=False, soft_wrap=True)
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task("playing", total=None)
            found = forecast(
                given,
                visitors,
                [text.strip() for each in epsilon or [".1,.5,1"] for text in each.split(",")],
                policies=policy,
                delay=delay,
                min_share=min_share,
                silent=silent,
                drift=None if drift is None else Drift(drift),
                period=period,
                max_contributions=max_contributions,
                seed=seed,
                draws=draws,
                units=units,
                features=features,
                spread=spread,
                lasting=lasting,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        show_forecast(found, within, out)


def require_goals(within: float | None, out: Path | None) -> None:
    """Refuse what would be refused only once all is played.

    Raises:
        ValueError: no loss. OSError: no folder.
    """
    if within is not None and not isfinite(within):
        raise ValueError("Expected --within to be a loss, a number such as 100.")
    if out is not None:
        from dpbandits.sweeps.cells import require_writable

        require_writable(out)


def show_forecast(found: Forecast, within: float | None, out: Path | None) -> None:
    """The table, what ε can be afforded, and the files that were asked for."""
    table = forecast_table(found)
    if natural_width(table, console) <= console.width:
        console.print(table)
        console.print(meanings(found))
    else:  # a cell that is cut is another number
        console.print(str(found), markup=False, highlight=False, soft_wrap=True)
    if within is not None:
        say_within(found, within)
    if out is not None:
        found.figure(out / "forecast")
        page = found.page(out / "forecast.html")
        console.print(f"Page: {page}", markup=False, highlight=False, soft_wrap=True)


def rates_from(rates: str | None, base: str | None, best: str, arms: int) -> Prior | list[RateSpan]:
    """What the options say of the rates."""
    if (rates is None) == (base is None):
        raise ValueError("Expected either --rates .03,.036 or --base .03 --best .2 --arms 4.")
    if rates is not None:
        return [span_from(text, "--rates") for text in rates.split(",")]
    assert base is not None
    return Prior(base=span_from(base, "--base"), best=span_from(best, "--best"), arms=arms)


def span_from(text: str, option: str) -> RateSpan:
    """A number, or low-high."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        low, high = map(float, text.split("-"))
        return low, high
    raise ValueError(f"Expected {option} to be numbers like .03, or ranges like .02-.04.")


def assumed(prior: Prior) -> str:
    """What two numbers stand for, said before it is played: 20 is no .2."""
    base, more = span_ends(prior.base), span_ends(prior.best)
    best = [rate * (1 + by) for rate, by in zip(base, more, strict=True)]

    def span(ends: Sequence[float], unit: str = "") -> str:
        return " to ".join(dict.fromkeys(f"{end:.4g}{unit}" for end in ends))

    by = span([100 * end for end in more], " %")
    return (
        f"Assumed: a rate of {span(base)} today, and of {span(best)} for the best arm, {by} more."
    )


def say_within(found: Forecast, loss: float) -> None:
    row, said = found.within(loss), f"None of these loses {loss:,g} {found.units} or less."
    if row is not None and row.epsilon is not None:
        lost = f"is expected to lose {amount(row.loss)} {found.units}"
        said = f"ε = {printed_epsilon(row.epsilon)} with {row.policy} {lost}."
    console.print(said, markup=False, highlight=False)


def forecast_table(found: Forecast) -> Table:
    """A line for each row; what has no privacy is set back."""
    title = Text(found.title, style="bold")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.padding, table.pad_edge = (0, 1, 0, 0), False  # ten columns in 80 characters
    for at, head in enumerate(HEADS):
        table.add_column(head, justify="right" if at else "left", no_wrap=True)
    for row in found:
        both = zip(cells_of_row(row, found.draws), errors_of_row(row, found.draws), strict=True)
        cells = (Text(f"{cell}\n{error}".rstrip()) for cell, error in both)
        table.add_row(*cells, style="dim" if row.epsilon is None else "")
    return table


def meanings(found: Forecast) -> Table:
    """What the columns and signs say."""
    grid = Table.grid(padding=(0, 2))
    for head, meaning in (MEANINGS | notes_of(found.draws, found.played_as)).items():
        grid.add_row(Text(head), Text(meaning), style="dim")
    return grid
