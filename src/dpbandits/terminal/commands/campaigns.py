"""`dpbandits serve` and `dpbandits campaign …`: campaigns in a store."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.terminal.commands.given import given_options, given_policy
from dpbandits.terminal.commands.stores import (
    DatabaseOption,
    StoreOption,
    WitnessOption,
    opened_database,
    opened_store,
    without_password,
)
from dpbandits.terminal.commands.terminal import console, one_line_errors

if TYPE_CHECKING:
    from dpbandits.service.looks.reports import Summary

NameArgument = Annotated[str, typer.Argument(help="The campaign's name.")]

POLICY_HELP = (
    "A policy's name; or all of it as JSON, such as "
    '{"name": "DPRateIMED", "arms": ["blue", "green"], "epsilon": "1", "grid": 1}.'
)

campaign_commands = typer.Typer(no_args_is_help=True, help="Campaigns in a store.")


def serve_command(
    store: DatabaseOption,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Where it listens.")] = 8080,
    host: Annotated[str, typer.Option(help="To whom; without keys only to this machine.")] = (
        "127.0.0.1"
    ),
    witness: WitnessOption = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, on PostgreSQL.")] = 1,
    demo: Annotated[bool, typer.Option("--demo", help="With visitors that are made up.")] = False,
    looking: Annotated[
        bool,
        typer.Option(
            "--looking", help="Only looks and pages; no private row is read, nothing is written."
        ),
    ] = False,
    connections: Annotated[
        int, typer.Option(min=1, help="At a time, of each process; further ones are refused.")
    ] = 500,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds in which a request has to arrive.")
    ] = 30.0,
) -> None:
    """Serve campaigns over HTTP, with a page to look at.

    Example: [bold]dpbandits serve --store sqlite:///trial.db --port 8080[/]
    """
    with one_line_errors("What was acknowledged is on disk."):
        if not looking:
            opened_database(store, witness, makes=True).close()
        from dpbandits.service.http.connections import ConnectionLimits
        from dpbandits.service.http.serving import serve

        def ready() -> None:
            said = escape(without_password(store))
            console.print(f"Serving {said} at [bold]http://{host}:{port}[/]  (Ctrl-C stops it)")

        asked: dict[str, Any] = {"host": host, "witness": witness, "workers": workers}
        asked["limits"] = ConnectionLimits(connections, timeout)
        serve(store, port=port, ready=ready, demo=demo, looking=looking, **asked)


@campaign_commands.command("create")
def create_command(
    name: NameArgument,
    store: StoreOption,
    arms: Annotated[
        str | None, typer.Option(help="Their names, as in blue,green; or how many there are.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget: 1, .5 or 1/3.")] = None,
    policy: Annotated[str, typer.Option(help=POLICY_HELP)] = RECOMMENDED[0],
    options: Annotated[str, typer.Option(help='As JSON, such as {"min_share": .01}.')] = "{}",
    witness: WitnessOption = None,
) -> None:
    """Make a campaign.

    Example: [bold]dpbandits campaign create trial --store sqlite:///trial.db --arms blue,green
    --epsilon 1[/]
    """
    with one_line_errors(), opened_store(store, witness, makes=True) as found:
        from dpbandits.service.http.bodies import policy_from

        made_of = policy_from(given_policy(policy, arms, epsilon))
        made = found.create(name, made_of, **given_options(name, options))
        promise = made.summary().guarantee
        console.print(f"Created {name}: {promise or 'no privacy'}", markup=False)


@campaign_commands.command("list")
def list_command(store: StoreOption, witness: WitnessOption = None) -> None:
    """All campaigns of a store."""
    with one_line_errors(), opened_store(store, witness) as found:
        names = list(found)
        for name in names:
            try:
                show_summary(found[name].summary())
            except ValueError:  # what is wrong with one hides no other
                typer.echo(f"{name}: cannot be shown here; `campaign show {name}` says why")
        if not names:
            typer.echo("No campaigns yet: `dpbandits campaign create` makes one.")


@campaign_commands.command("show")
def show_command(name: NameArgument, store: StoreOption, witness: WitnessOption = None) -> None:
    """One campaign: where it stands, what it believes, what it promises."""
    with one_line_errors(), opened_store(store, witness) as found:
        shown: Any = found[name]
        said = shown.summary()
        show_summary(said)
        console.print(str(shown.beliefs()), highlight=False, markup=False)
        if "holdout" in said.segments and "holdout" in shown.options:
            console.print(str(shown.uplift()), highlight=False, markup=False)


@campaign_commands.command("ask")
def ask_command(
    name: NameArgument,
    store: StoreOption,
    count: Annotated[int, typer.Option(min=1, help="How many decisions.")] = 1,
    user: Annotated[str | None, typer.Option(help="For whom.")] = None,
    segment: Annotated[str | None, typer.Option(help="Of which segment.")] = None,
    witness: WitnessOption = None,
) -> None:
    """The next decisions, as JSON, one a line."""
    with one_line_errors(), opened_store(store, witness) as found:
        for each in found[name].ask(count, user=user, segment=segment):
            typer.echo(json.dumps(each._asdict()))


@campaign_commands.command("tell")
def tell_command(
    name: NameArgument,
    decision: Annotated[str, typer.Argument(help="The id of a decision.")],
    reward: Annotated[float, typer.Argument(help="Its reward.")],
    store: StoreOption,
    witness: WitnessOption = None,
) -> None:
    """The reward of a decision."""
    with one_line_errors("Nothing was recorded."), opened_store(store, witness) as found:
        status = found[name].tell(decision, reward)
        if status == "unknown":
            raise ValueError(
                "Expected the id of a decision of this campaign, as `dpbandits campaign ask` "
                "prints it. Nothing was recorded."
            )
        typer.echo(status)


@campaign_commands.command("export")
def export_command(
    name: NameArgument,
    out: Annotated[Path, typer.Argument(help="A file that ends in .csv.")],
    store: StoreOption,
    segment: Annotated[
        str | None, typer.Option(help="Of which segment, where there are any.")
    ] = None,
    witness: WitnessOption = None,
) -> None:
    """All decisions with their propensities, as a table. Rewards are not in it."""
    with one_line_errors(), opened_store(store, witness) as found:
        if out.suffix != ".csv":
            raise ValueError(f"Expected a file that ends in .csv, got {out}: a table is written.")
        part = part_of(found[name], segment)
        page = part.decisions(limit=10_000)
        with out.open("w", newline="", encoding="utf-8") as file:
            write_rows(csv.writer(file), part, page)
        console.print(f"Wrote {out}", markup=False)


def part_of(found: Any, segment: str | None) -> Any:
    """A campaign, or one segment of it.

    Raises:
        ValueError: it has segments and none is said, or the other way round.
    """
    names = found.summary().segments
    if bool(names) != (segment is not None):
        said = f"--segment to be one of {', '.join(names)}" if names else "no --segment"
        raise ValueError(f"Expected {said}.")
    return found if segment is None else found[segment]


def write_rows(writer: Any, found: Any, page: Any) -> None:
    """Page by page."""
    from dpbandits.service.http.shapes import safe_cell
    from dpbandits.service.looks.reports import StoredDecision

    writer.writerow(StoredDecision._fields)
    while True:
        writer.writerows([safe_cell(value) for value in row] for row in page.rows)
        if page.after is None:
            return
        page = found.decisions(after=page.after, limit=10_000)


@campaign_commands.command("fence")
def fence_command(name: NameArgument, store: DatabaseOption, witness: WitnessOption = None) -> None:
    """Give up all that is open, where the witness was lost. A database that was put back is noticed
    and fenced by itself.
    """
    with one_line_errors(), opened_database(store, witness) as found:
        found[name].fence()
        console.print(f"{name} goes on in generation {found[name].generation}.")


def several(count: int, what: str) -> str:
    """
    >>> several(1, "release"), several(1000, "decision")
    ('1 release', '1,000 decisions')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def show_summary(said: Summary) -> None:
    """A campaign in one line and its promise."""
    typer.echo(
        f"{said.name}: {said.policy}, {several(said.asked, 'decision')}, "
        + several(said.step, "release")
        + (f", over ({said.closed})" if said.closed else "")
    )
    typer.echo(f"  {said.guarantee or 'no privacy'}")
