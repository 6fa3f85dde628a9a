"""`dpbandits serve`, `dpbandits campaign …` and `dpbandits keys …`: campaigns in a store."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpbandits.core.errors import Error
from dpbandits.terminal.commands.terminal import console, one_line_errors

if TYPE_CHECKING:
    from dpbandits.service.store import CampaignStore

StoreOption = Annotated[
    str,
    typer.Option(
        help="The store: sqlite:///trial.db, postgresql+psycopg://…, or http://host:port."
    ),
]
WitnessOption = Annotated[
    Path | None, typer.Option(help="The witness, outside the database's own backup.")
]
NameArgument = Annotated[str, typer.Argument(help="The campaign's name.")]

campaign = typer.Typer(no_args_is_help=True, help="Campaigns in a store.")
keys = typer.Typer(no_args_is_help=True, help="Bearer keys of a store.")


def opened_store(store: str, witness: Path | None) -> CampaignStore:
    """A store by its address.

    Raises:
        ValueError: it cannot be opened.
    """
    from dpbandits.service.opening import open_store

    try:
        return open_store(store, witness=witness)
    except (Error, ImportError) as error:
        raise ValueError(str(error)) from None


def serve_command(
    store: StoreOption,
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Where it listens.")] = 8080,
    host: Annotated[str, typer.Option(help="To whom; without keys only to this machine.")] = (
        "127.0.0.1"
    ),
    witness: WitnessOption = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, on PostgreSQL.")] = 1,
    demo: Annotated[bool, typer.Option("--demo", help="With visitors that are made up.")] = False,
) -> None:
    """Serve campaigns over HTTP, with a page to look at.

    Example: [bold]dpbandits serve --store sqlite:///trial.db --port 8080[/]
    """
    with one_line_errors("What was acknowledged is on disk."):
        opened_store(store, witness).close()
        from dpbandits.service.http.serving import serve

        console.print(f"Serving {store} at [bold]http://{host}:{port}[/]  (Ctrl-C stops it)")
        serve(store, port=port, host=host, witness=witness, workers=workers, demo=demo)


@campaign.command("create")
def create_command(
    name: NameArgument,
    store: StoreOption,
    policy: Annotated[str, typer.Option(help='As JSON: {"name": "DPKLUCB", "arms": 2, …}.')],
    options: Annotated[str, typer.Option(help='As JSON, such as {"min_share": .01}.')] = "{}",
    witness: WitnessOption = None,
) -> None:
    """Make a campaign.

    Example: [bold]dpbandits campaign create trial --store sqlite:///trial.db --policy
    '{"name": "DPKLUCB", "arms": ["a", "b"], "epsilon": "1"}'[/]
    """
    with one_line_errors(), opened_store(store, witness) as found:
        from dpbandits.service.http.bodies import CreateBody, policy_from

        said = object_in(options, "--options")
        body = CreateBody(name=name, policy=object_in(policy, "--policy"), **said)
        made = found.create(body.name, policy_from(body.policy), **body.options())
        console.print(f"Created {made.name}: {made.guarantee or 'no privacy'}")


@campaign.command("list")
def list_command(store: StoreOption, witness: WitnessOption = None) -> None:
    """All campaigns of a store."""
    with one_line_errors(), opened_store(store, witness) as found:
        for name in found:
            show_summary(found[name].summary())


@campaign.command("show")
def show_command(name: NameArgument, store: StoreOption, witness: WitnessOption = None) -> None:
    """One campaign: where it stands, what it believes, what it promises."""
    with one_line_errors(), opened_store(store, witness) as found:
        show_summary(found[name].summary())
        console.print(str(found[name].beliefs()), highlight=False, markup=False)


@campaign.command("ask")
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


@campaign.command("tell")
def tell_command(
    name: NameArgument,
    decision: Annotated[str, typer.Argument(help="The id of a decision.")],
    reward: Annotated[float, typer.Argument(help="Its reward.")],
    store: StoreOption,
    witness: WitnessOption = None,
) -> None:
    """The reward of a decision."""
    with one_line_errors("Nothing was recorded."), opened_store(store, witness) as found:
        typer.echo(found[name].tell(decision, reward))


@campaign.command("export")
def export_command(
    name: NameArgument,
    out: Annotated[Path, typer.Argument(help="A file that ends in .csv.")],
    store: StoreOption,
    witness: WitnessOption = None,
) -> None:
    """All decisions with their propensities, as a table. Rewards are not in it."""
    with one_line_errors(), opened_store(store, witness) as found:
        page = found[name].decisions(limit=10_000)
        with out.open("w", newline="", encoding="utf-8") as file:
            write_rows(csv.writer(file), found[name], page)
        console.print(f"Wrote {out}")


def write_rows(writer: Any, found: Any, page: Any) -> None:
    """Page by page."""
    from dpbandits.service.http.reads import safe_cell
    from dpbandits.service.reports import StoredDecision

    writer.writerow(StoredDecision._fields)
    while True:
        writer.writerows([safe_cell(value) for value in row] for row in page.rows)
        if page.after is None:
            return
        page = found.decisions(after=page.after, limit=10_000)


@campaign.command("fence")
def fence_command(name: NameArgument, store: StoreOption, witness: WitnessOption = None) -> None:
    """Give up all that is open, where the witness was lost. A database that was put back is noticed
    and fenced by itself.
    """
    with one_line_errors(), opened_store(store, witness) as found:
        found[name].fence()
        console.print(f"{name} goes on in generation {found[name].generation}.")


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    store: StoreOption,
    role: Annotated[list[str], typer.Option(help="ask, tell, read or admin; may be repeated.")],
    campaign: Annotated[str | None, typer.Option(help="For this campaign only.")] = None,
    witness: WitnessOption = None,
) -> None:
    """A new key, shown this once."""
    with one_line_errors(), opened_store(store, witness) as found:
        from dpbandits.service.http.access import Access

        typer.echo(Access(found.backend, open=False).create(name, role, campaign))


@keys.command("list")
def list_keys(store: StoreOption, witness: WitnessOption = None) -> None:
    """All keys, by name and roles."""
    with one_line_errors(), opened_store(store, witness) as found:
        for row in found.backend.access_keys():
            state = "revoked" if row.revoked is not None else row.roles
            typer.echo(f"{row.name}\t{state}\t{row.campaign or 'all campaigns'}")


@keys.command("revoke")
def revoke_key(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    store: StoreOption,
    witness: WitnessOption = None,
) -> None:
    """The keys of this name open nothing any more."""
    with one_line_errors(), opened_store(store, witness) as found:
        from dpbandits.service.http.access import Access

        many = Access(found.backend, open=False).revoke(name)
        typer.echo(f"Revoked {many} keys of {name}.")


def object_in(text: str, what: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        ValueError: it is none.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f'Expected {what} to be JSON, such as {{"name": "DPKLUCB", "arms": 2}}.')
    return found


def show_summary(summary: Any) -> None:
    """A campaign in one line and its promise."""
    said = summary if isinstance(summary, dict) else summary._asdict()
    typer.echo(
        f"{said['name']}: {said['policy']}, {said['asked']:,} decisions, {said['step']:,} releases"
        + (f", over ({said['closed']})" if said["closed"] else "")
    )
    typer.echo(f"  {said['guarantee'] or 'no privacy'}")
