"""`dpbandits serve`, `dpbandits campaign …` and `dpbandits keys …`: campaigns in a store."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup
from typer.main import get_group

from dpbandits.core.errors import Error, PrivacyWarning
from dpbandits.core.inputs import normalised
from dpbandits.policies.named import close_to
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.service.opening import MEMORY
from dpbandits.terminal.console import console, one_line_errors

if TYPE_CHECKING:
    from dpbandits.service.models import Summary
    from dpbandits.service.store import CampaignStore

# A store: where it is, and what is opened there.


StoreOption = Annotated[
    str,
    typer.Option(
        help="The store: sqlite:///trial.db, postgresql+psycopg://…, or http://host:port, whose "
        "key DPBANDITS_TOKEN says."
    ),
]
DatabaseOption = Annotated[
    str,
    typer.Option("--store", help="The database: sqlite:///trial.db or postgresql+psycopg://…."),
]
WitnessOption = Annotated[
    str | None, typer.Option(help="The witness, outside the database's own backup.")
]


def without_password(address: str) -> str:
    """An address for a terminal, and whoever keeps what a terminal shows.

    >>> without_password("postgresql+psycopg://me:hush@host/trials")
    'postgresql+psycopg://me:***@host/trials'
    >>> without_password("postgresql+psycopg:///trials?user=me&password=hush&host=h")
    'postgresql+psycopg:///trials?user=me&password=***&host=h'
    """
    said = re.sub(r"(?<=://)([^:/@]*):[^@]*@", r"\1:***@", address)
    return re.sub(r"(?<=[?&]password=)[^&]*", "***", said)


def opened_store(store: str, witness: str | None, *, makes: bool = False) -> CampaignStore:
    """A store by its address. makes: a database that is not there is made; else a slip of the pen
    would be answered by an empty store.

    Raises:
        ValueError: it cannot be opened.
    """
    from dpbandits.service.opening import open_store

    if store in MEMORY:
        raise ValueError(
            "Expected a store that stays, such as sqlite:///trial.db: what is done in memory is "
            "gone when the command ends. Only `dpbandits serve` has any use for it."
        )
    file = Path(store.removeprefix("sqlite:///").partition("?")[0])
    if not makes and store.startswith("sqlite:///") and file.name and not file.exists():
        raise ValueError(
            f"There is no database {file}. `dpbandits campaign create`, `dpbandits keys create` "
            "and `dpbandits serve` make one."
        )
    try:
        return open_store(store, witness=witness)
    except (Error, ImportError) as error:
        raise ValueError(str(error)) from None


def opened_database(store: str, witness: str | None, *, makes: bool = False) -> CampaignStore:
    """A store that is a database: what is done here has no verb over HTTP.

    Raises:
        ValueError: it is a server's address, or cannot be opened.
    """
    if store.startswith(("http://", "https://")):
        raise ValueError(
            "Expected the database itself, such as sqlite:///trial.db, got the server "
            f"{without_password(store)}: this is done beside it."
        )
    return opened_store(store, witness, makes=makes)


# Its campaigns.


NameArgument = Annotated[str, typer.Argument(help="The campaign's name.")]

POLICY_HELP = (
    "A policy's name; or all of it as JSON, such as "
    '{"name": "DPRateIMED", "arms": ["blue", "green"], "epsilon": "1", "grid": 1}.'
)


class CampaignGroup(TyperGroup):
    """With a command for every operation. They are made when they are asked for: the service is an
    extra.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        self._add_operations()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            self._add_operations()
        return super().get_command(ctx, cmd_name)

    def _add_operations(self) -> None:
        if find_spec("pydantic") is None or find_spec("sqlalchemy") is None:
            return
        from dpbandits.service.operations import OPERATIONS

        made = typer.Typer()
        for name, kind in OPERATIONS.items():
            if name not in ("tell", "record"):
                made.command(name)(operation_command(kind))
        self.commands = {**get_group(made).commands, **self.commands}


campaign_commands = typer.Typer(
    cls=CampaignGroup, no_args_is_help=True, help="Campaigns in a store."
)


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
        from dpbandits.service.store import NO_KEY

        asked: dict[str, Any] = {"host": host, "witness": witness, "workers": workers}
        if not looking and store not in MEMORY:
            with opened_database(store, witness, makes=True) as opened:
                asked["witness"] = witness or opened.witness.path  # which is warned of once
                if not (opened.hides or demo):
                    typer.echo(f"Warning: {NO_KEY}", err=True)
        from dpbandits.service.server.connections import ConnectionLimits
        from dpbandits.service.server.serving import serve

        def ready() -> None:
            said = escape(without_password(store))
            name = f"[{host}]" if ":" in host else host
            place = f"[bold]{escape(f'http://{name}:{port}')}[/]"
            console.print(f"Serving {said} in a moment at {place}  (Ctrl-C stops it)")

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
    options: Annotated[str, typer.Option(help='As JSON, such as {"min_share": 0.01}.')] = "{}",
    witness: WitnessOption = None,
) -> None:
    """Make a campaign.

    Example: [bold]dpbandits campaign create trial --store sqlite:///trial.db --arms blue,green
    --epsilon 1[/]
    """
    with one_line_errors(), opened_store(store, witness, makes=True) as found:
        from dpbandits.service.creation import policy_from

        made_of = policy_from(given_policy(policy, arms, epsilon))
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always", PrivacyWarning)
            made = found.create(name, made_of, **given_options(name, options))
        for each in warned:  # without our code
            typer.echo(f"Warning: {each.message}", err=True)
        guarantee = made.summary().guarantee
        typer.echo(f"Created {name}: {guarantee or 'no privacy'}")


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


@campaign_commands.command("scopes")
def scopes_command(store: StoreOption, witness: WitnessOption = None) -> None:
    """All budgets over campaigns, and what each campaign took of them."""
    with one_line_errors(), opened_store(store, witness) as found:
        scopes = found.scopes()
        if not scopes:
            typer.echo("No scopes yet: store.scope(…) in Python, or POST /v1/scopes, makes one.")
        for scope in scopes:
            typer.echo(f"{scope.name}: {scope.spent} of {scope.epsilon} spent")
            for name, epsilon in scope.taken.items():
                typer.echo(f"  {name}: {epsilon}")


@campaign_commands.command("statement")
def statement_command(
    name: NameArgument, store: StoreOption, witness: WitnessOption = None
) -> None:
    """The privacy statement of a campaign, to print."""
    with one_line_errors(), opened_store(store, witness) as found:
        typer.echo(found[name].statement())


@campaign_commands.command("show")
def show_command(name: NameArgument, store: StoreOption, witness: WitnessOption = None) -> None:
    """One campaign: where it stands, what it believes, what it promises."""
    with one_line_errors(), opened_store(store, witness) as found:
        shown: Any = found[name]
        said = shown.summary()
        show_summary(said)
        if said.features is None:
            console.print(str(shown.beliefs()), highlight=False, markup=False)
        else:
            console.print(f"It decides by contexts of {said.features} numbers.", highlight=False)
        if "holdout" in shown.options:
            console.print(str(shown.uplift()), highlight=False, markup=False)
        if shown.guardrail is not None:
            console.print(f"{shown.guardrail.name}:\n{shown.harm()}", highlight=False, markup=False)


def operation_command(kind: Any) -> Callable[..., None]:
    """Return the command of an operation: its required fields are arguments, the others options."""
    from dpbandits.service.operations import made, signed

    arguments, options = dict[str, tuple[Any, Any]](), dict[str, tuple[Any, Any]]()
    for name, field in kind.model_fields.items():
        text: Any = field.annotation if field.annotation in (int, bool) else str
        many = str(field.annotation).startswith(("list", "tuple"))
        shape: Any = list[str] if many else text
        if field.is_required():
            arguments[name] = Annotated[shape, typer.Argument()], ...
        else:
            shape = shape | None if text is str else shape
            options[name] = Annotated[shape, typer.Option()], field.default

    def call(**given: Any) -> None:
        of, store, witness = given.pop("name"), given.pop("store"), given.pop("witness")
        with one_line_errors("Nothing was done."), opened_store(store, witness) as found:
            sent = {name: value for name, value in given.items() if value is not None}
            if "context" in sent:
                example = "'[0.1, -0.3]' or '{\"age\": 0.1}'; with --count a list of these"
                sent["context"] = json_in(sent["context"], "--context", example, (list, dict))
            op = made(kind, **{kind.model_fields[name].alias or name: sent[name] for name in sent})
            said = op.replied(found[of].do(op)).model_dump()
            rows = next((each for each in said.values() if isinstance(each, list)), [said])
            for row in rows:
                typer.echo(json.dumps(row))

    call.__doc__ = kind.__doc__
    return signed(
        call,
        name=(NameArgument, ...),
        **arguments,
        store=(StoreOption, ...),
        **options,
        witness=(WitnessOption, None),
    )


@campaign_commands.command("view")
def view_command(
    name: NameArgument,
    view: Annotated[str, typer.Argument(help="Which: summary, ledger, events, statement, …")],
    store: StoreOption,
    segment: Annotated[str | None, typer.Option(help="Of which segment.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="Such as control=blue or limit=10; several times.")
    ] = None,
    witness: WitnessOption = None,
) -> None:
    """A view of a campaign, as JSON or text.

    Example: [bold]dpbandits campaign view trial lift --param control=blue --store
    sqlite:///trial.db[/]
    """
    with one_line_errors(), opened_store(store, witness) as found:
        from dpbandits.service.views import SENT, adapter

        if view not in SENT:
            raise ValueError(f"Expected a view among {', '.join(SENT)}, got {view!r}.")
        seen = found[name]._calls.view(view, segment, given_params(view, param or ()))
        sent = SENT[view].to_sent(seen)
        text = sent if SENT[view].is_text else adapter(Any).dump_json(sent, indent=2).decode()
        typer.echo(text)


def given_params(view: str, given: Sequence[str]) -> dict[str, Any]:
    """The parameters of a view, from texts such as "limit=10".

    Raises:
        ValueError: one is no such text, not the view's, or of another kind.
    """
    from pydantic import ValidationError

    from dpbandits.service.views import SENT, adapter

    known, found = SENT[view].params, dict[str, Any]()
    for text in given:
        param, stroke, value = text.partition("=")
        if not stroke or param not in known:
            names = ", ".join(known) or "none"
            raise ValueError(f"Expected --param name=value, of {view}'s parameters: {names}.")
        try:
            found[param] = adapter(known[param][0]).validate_python(value)
        except ValidationError as error:
            raise ValueError(f"--param {param}: {error.errors()[0]['msg']}.") from None
    return found


# a reward may be -1
@campaign_commands.command("tell", context_settings={"ignore_unknown_options": True})
def tell_command(
    name: NameArgument,
    decision: Annotated[str, typer.Argument(help="The id of a decision.")],
    store: StoreOption,
    reward: Annotated[
        list[str] | None,
        typer.Argument(
            help="Its reward; with a guardrail '\\[reward, harm]'. Without it, or with -, it is "
            "asked for, or read from standard input: lists of processes show arguments."
        ),
    ] = None,
    witness: WitnessOption = None,
) -> None:
    """The reward of a decision."""
    with one_line_errors("Nothing was recorded."):
        # the parser prints words that are too many
        value = reward_in(given_or_asked(" ".join(reward or []), "Reward"))
        with opened_store(store, witness) as found:
            status = found[name].tell(decision, value)
        if status == "unknown":
            raise ValueError(
                "Expected the id of a decision of this campaign, as `dpbandits campaign ask` "
                "prints it. Nothing was recorded."
            )
        typer.echo(status)


UNPRINTED = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Has the parser keep words that are too many: it prints them, and they may be rewards."""


@campaign_commands.command("record", context_settings=UNPRINTED)
def record_command(
    context: typer.Context,
    name: NameArgument,
    arm: Annotated[str, typer.Argument(help="The arm that these people were assigned to.")],
    key: Annotated[str, typer.Option(help="Another word for each batch: it is recorded once.")],
    store: StoreOption,
    people: Annotated[int | None, typer.Option(help="How many people.")] = None,
    successes: Annotated[
        str | None,
        typer.Option(metavar="INTEGER", help="How many with the reward 1. Without it as in tell."),
    ] = None,
    rewards: Annotated[
        Path | None, typer.Option(help="In place of both: a file with a reward in each line.")
    ] = None,
    segment: Annotated[str | None, typer.Option(help="Of which segment.")] = None,
    witness: WitnessOption = None,
) -> None:
    """The outcomes of people who were assigned elsewhere, all of them or none.

    Example: [bold]dpbandits campaign record trial blue --people 200 --successes 31 --key "week 1"
    --store sqlite:///trial.db[/]
    """
    with one_line_errors("Nothing was recorded."), opened_store(store, witness) as found:
        is_counted = people is not None
        has_stray = not is_counted and successes is not None
        if context.args or has_stray or is_counted is (rewards is not None):
            raise ValueError(
                "Expected --people and --successes, or --rewards, and no further word or option."
            )
        outcomes: Any
        try:
            if rewards is None:
                outcomes = people, int(given_or_asked(successes, "Successes"))
            else:
                outcomes = list(map(float, rewards.read_text(encoding="utf-8").splitlines()))
        except (ValueError, OSError):  # it is not shown
            raise ValueError(
                "Expected --successes to be a whole number, or --rewards a file with a number in "
                "each line."
            ) from None
        status = found[name].record(arm, outcomes, segment=segment, key=key)
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
    """All decisions with their propensities, as a table. Rewards are not in it.

    It is written beside its place first, under a name of its own: what is in place is whole, and a
    link stays one. A machine that stops meanwhile leaves a file that ends in .part.
    """
    with one_line_errors(), opened_store(store, witness) as found:
        if out.suffix != ".csv":
            raise ValueError(f"Expected a file that ends in .csv, got {out}: a table is written.")
        part = part_of(found[name], segment)
        place = Path(os.path.realpath(out))
        if place.exists() and not (place.is_file() and os.access(place, os.W_OK)):
            raise ValueError(f"Expected a plain file that may be written, got {out}.")
        draft = place.with_name(f"{place.name}.{token_hex(4)}.part")
        try:
            with draft.open("x", newline="", encoding="utf-8") as file:
                write_rows(csv.writer(file), part)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(place)
        finally:
            draft.unlink(missing_ok=True)
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


def write_rows(writer: Any, found: Any) -> None:
    """Write decisions, page by page."""
    from dpbandits.service.models import StoredDecision

    writer.writerow(StoredDecision.model_fields)
    for page in found._pages():
        writer.writerows(page.cells())


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
    >>> several(1, "policy update"), several(1000, "decision")
    ('1 policy update', '1,000 decisions')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"


def show_summary(said: Summary) -> None:
    """A campaign in one line and its guarantee."""
    typer.echo(
        f"{said.name}: {said.policy}, {several(said.asked, 'decision')}, "
        + several(said.step, "policy update")
        + (f", over ({said.closed})" if said.closed else "")
    )
    typer.echo(f"  {said.guarantee or 'no privacy'}")


# What the options of `dpbandits campaign create` say of a policy and its campaign.


def given_policy(policy: str, arms: str | None, epsilon: str | None) -> dict[str, Any]:
    """A policy's name and arguments. policy: its name, or all of it as JSON.

    Raises:
        ValueError: JSON that is none, or an argument that is said twice.
    """
    example = '{"name": "DPRateIMED", "arms": 2, "epsilon": "1"}'
    json_given = policy.lstrip().startswith("{")
    said = json_in(policy, "--policy", example) if json_given else {"name": policy}
    beside: dict[str, Any] = {}
    if arms is not None:
        names = [name.strip() for name in arms.split(",")]
        beside["arms"] = int(arms) if arms.strip().isdecimal() else names
    if epsilon is not None:
        beside["epsilon"] = epsilon
    if twice := sorted(set(said) & set(beside)):
        raise ValueError(f"Expected {', '.join(twice)} once: in --policy, or as an option.")
    return said | beside


def given_options(name: str, options: str) -> dict[str, Any]:
    """What `CampaignStore.create` takes beside name and policy.

    Raises:
        ValueError: no JSON object, or an option that is not known or of another kind.
    """
    from pydantic import ValidationError

    from dpbandits.service.creation import NewCampaign

    said = json_in(options, "--options", '{"min_share": 0.01}')
    known = sorted(set(NewCampaign.model_fields) - {"name", "policy"})
    for option in said:
        if option not in known:
            raise ValueError(
                f"--options: there is no {option!r}{close_to(option, known)}; known are "
                f"{', '.join(known)}. Arguments of the policy, such as grid, stand in --policy."
            )
    try:
        return NewCampaign(name=name, policy={}, **said).options()
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ValueError(f"--options: {'; '.join(wrong)}.") from None


def given_or_asked(text: str | None, what: str) -> str:
    """What was given; otherwise a line of standard input, which a terminal does not show."""
    if text not in (None, "", "-"):
        return text
    stream = sys.stdin or io.StringIO()  # it may be closed
    if stream.isatty():
        return typer.prompt(what, hide_input=True, err=True)
    return stream.readline().strip()


def reward_in(text: str) -> Any:
    """A number, or JSON of several.

    Raises:
        ValueError: neither. It is not shown.
    """
    with suppress(ValueError):
        return float(text)
    return json_in(text, "a reward", "1 or [1, 0]", (list,))


def json_in(text: str, what: str, example: str, kinds: tuple[type, ...] = (dict,)) -> Any:
    """JSON of one of these kinds.

    Raises:
        ValueError: it is none.
    """
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, kinds):
        raise ValueError(f"Expected {what} to be JSON, such as {example}.")
    return found


# Who may call a server.


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
        from dpbandits.service.server.app import Access

        if sys.stdout is None:
            raise ValueError("Expected an open standard output, to show the key. None was made.")
        access = Access(found, open=False)
        key = access.create(name, role, campaign)
        try:
            typer.echo(key)
        except OSError as error:
            access.revoke(name)
            sys.stdout = None  # or it is tried again at exit
            raise ValueError(
                f"The key could not be shown ({error.strerror}), so it is revoked. Make another "
                "one, under another name."
            ) from None


@keys.command("list")
def list_keys(store: DatabaseOption, witness: WitnessOption = None) -> None:
    """All keys, by name and roles."""
    with one_line_errors(), opened_database(store, witness) as found:
        from dpbandits.service.server.app import Access

        access = Access(found, open=False)
        access.revoke_again()  # in a copy that was put back they look as before
        rows = access.keys()
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
    """The key of this name opens nothing any more."""
    with one_line_errors(), opened_database(store, witness) as found:
        from dpbandits.service.server.app import Access

        if {name, normalised(name)}.isdisjoint(row.name for row in found.database.access_keys()):
            raise ValueError(
                f"There is no key {name!r}; `dpbandits keys list` names all. None was revoked."
            )
        Access(found, open=False).revoke(name)
        typer.echo(f"The key {name} is revoked.")
