"""`dpbandits keys …`: who may call a server."""

from typing import Annotated

import typer

from dpbandits.terminal.commands.stores import DatabaseOption, WitnessOption, opened_database
from dpbandits.terminal.commands.terminal import one_line_errors

keys = typer.Typer(no_args_is_help=True, help="Bearer keys of a store.")


@keys.command("create")
def create_key(
    name: Annotated[str, typer.Argument(help="Whose key it is. No other key has or had the name.")],
    store: DatabaseOption,
    role: Annotated[list[str], typer.Option(help="ask, tell, read or admin; may be repeated.")],
    campaign: Annotated[str | None, typer.Option(help="For this campaign only.")] = None,
    witness: WitnessOption = None,
) -> None:
    """A new key, shown this once."""
    with one_line_errors(), opened_database(store, witness, makes=True) as found:
        from dpbandits.service.server.access import Access

        typer.echo(Access(found.database, open=False).create(name, role, campaign))


@keys.command("list")
def list_keys(store: DatabaseOption, witness: WitnessOption = None) -> None:
    """All keys, by name and roles."""
    with one_line_errors(), opened_database(store, witness) as found:
        rows = found.database.access_keys()
        if not rows:
            typer.echo(
                "No keys yet: a server of this store lets everybody on its machine do everything. "
                "`dpbandits keys create` makes one."
            )
        for row in rows:
            state = "revoked" if row.revoked is not None else row.roles
            typer.echo(f"{row.name}\t{state}\t{row.campaign or 'all campaigns'}")


@keys.command("revoke")
def revoke_key(
    name: Annotated[str, typer.Argument(help="Whose key it is.")],
    store: DatabaseOption,
    witness: WitnessOption = None,
) -> None:
    """The keys of this name open nothing any more."""
    with one_line_errors(), opened_database(store, witness) as found:
        from dpbandits.service.server.access import Access

        many = Access(found.database, open=False).revoke(name)
        typer.echo(f"Revoked {many} keys of {name}.")
