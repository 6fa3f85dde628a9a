"""Whoever can write to the database, and has neither key nor witness, has no reward read twice, and
none with less noise than was promised: rows that were edited, deleted or put back are found out.

Ten answers are powers of 4 on the grid, all others are 0. The noise sees the exact sums: what it
saw in all says of each of the ten how often it was read.
"""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.policies import contextual
from dpbandits.service.opening import open_store
from dpbandits.service.operations import Ask
from dpbandits.service.transaction import QueuedCall
from tests.service.counted import Watching
from tests.service.timelines import KEY, Kept

GRID, TOLD = 4**10, 10
WINDOW = 3_600.0
WINDOWED = {"attribution_window": timedelta(seconds=WINDOW), "default": 0}
PEOPLE = {"privacy_unit": "user", "max_contributions": 1}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "window": WINDOWED,
    "people": PEOPLE,
    "window and people": {**WINDOWED, **PEOPLE},
    "contexts": {},
    "contexts, window and people": {**WINDOWED, **PEOPLE},
}


Attack = list[tuple[Any, ...]]
"""Statements, each with its values."""

REFUSALS = {
    "EditedRowsError",
    "StoreError",
    "LedgerError",  # by the database's own rule, where the ledger was edited
    "DecisionError",  # an ask that is made again with its key, once a fence gave up what it got
    "ValueError",  # under its key lies another call's reply
    "UnknownCampaignError",
}
"""How calls are refused."""


def times_read(sums: list[int]) -> list[int]:
    """Of each of the ten answers, in how many sums it is."""
    total = sum(sums)
    return [total >> 2 * at & 3 for at in range(TOLD)]


def kept(folder: Path, setting: str) -> Kept:
    """A campaign in a file whose rows anybody can write, and its witness, which nobody can."""
    policy: Any = dpb.DPKLUCB(arms=2, epsilon=1, first=2, grid=GRID)
    if "contexts" in setting:
        policy = dpb.DPLinTS(
            arms=2, features=1, epsilon=1, first=2, grid=GRID, public_contexts=[[0.5]] * 4
        )
    return Kept(folder, policy, SETTINGS[setting], Watching())


def begun(folder: Path, setting: str) -> tuple[Kept, list[Any], list[Path]]:
    """A campaign in which of ten answers some were read, some are in open blocks, some are held,
    and some are still to come; the decisions; and copies of the database on the way.
    """
    made, copies = kept(folder, setting), list[Path]()

    def copied() -> None:
        made.close()
        copies.append(folder / f"copy {len(copies)}.db")
        shutil.copyfile(made.file, copies[-1])

    policy = made.policy
    store = made.opened()
    store.create("other", policy, seed=4, **made.options)
    store.scope("scope", epsilon=5)
    campaign = store.create("trial", policy, seed=3, scope="scope", key="begin", **made.options)
    told = made.ask(campaign, 3)
    copied()
    campaign = made.opened()["trial"]
    campaign.tell_many([(each, reward_of(at)) for at, each in enumerate(told)])
    copied()
    campaign = made.opened()["trial"]
    made.now += WINDOW + 1
    others = made.ask(campaign, 4)
    campaign.tell_many([(each, 0) for each in others])
    made.now += WINDOW + 1
    campaign.settle()
    assert campaign.releases()
    copied()
    campaign = made.opened()["trial"]
    told += made.ask(campaign, 3)
    campaign.tell_many([(told[at], reward_of(at)) for at in (3, 4)])
    copied()
    campaign = made.opened()["trial"]
    told += made.ask(campaign, 4)
    campaign.tell_many([(told[at], reward_of(at)) for at in (6, 7)])
    campaign.pause_arm(1)
    campaign.resume_arm(1)
    campaign.ask(key="visit", **made.known("anna"))
    copied()
    assert any(times_read(made.noise.sums))
    return made, told, copies


def reward_of(at: int) -> float:
    return 4**at / GRID


class Client:
    """Makes calls, and goes on where one fails."""

    def __init__(self, made: Kept, told: list[Any]) -> None:
        self.made, self.told, self.failed = made, told, list[str]()

    def __call__(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        try:
            return call(*given, **named)
        except Exception as error:
            self.failed.append(type(error).__name__)
            return []

    def tell_all(self, campaign: Any) -> None:
        """As a client does that lost all replies."""
        pairs = [(each, reward_of(at)) for at, each in enumerate(self.told)]
        if self(campaign.tell_many, pairs) == []:
            self(campaign.tell_many, pairs)

    def go_on(self, campaign: Any, waits: float) -> None:
        """What comes of all that people and clients do next."""
        known = self.made.known("anna")
        self.tell_all(campaign)
        self(campaign.ask, key="visit", **known)
        self(campaign.void, self.told[9])
        if "user" in known:
            self(campaign.erase, "person 8")
        for _ in range(2):
            asked = self(self.made.ask, campaign, 3)
            self(campaign.tell_many, [(each, 0) for each in asked])
            self.made.now += waits
            self(campaign.settle)
        self.tell_all(campaign)


class Base:
    """A campaign that has begun, copied anew for each attack."""

    def __init__(self, folder: Path, setting: str) -> None:
        self.folder, self.prices = folder, set[Any]()
        self.made, self.told, self.copies = begun(folder / "begun", setting)
        failed, noise = self.attacked([])
        assert not failed, "without an attack all goes on"
        assert max(times_read(noise.sums)) == 1 < sum(times_read(noise.sums))
        self.prices = noise.prices
        assert self.prices == {(Fraction(1), GRID)}

    def attacked(self, attack: Attack, under_way: bool = False) -> tuple[list[str], Watching]:
        """Which calls failed after an attack on the rows, and what the noise saw. under_way: a
        process that knows the campaign goes on first.
        """
        made = Kept(self.folder / "attacked", self.made.policy, self.made.options, Watching())
        shutil.copyfile(self.made.file, made.file)
        shutil.copyfile(self.made.witness, made.witness)
        made.now, made.people = self.made.now, self.made.people
        made.noise.sums = [*self.made.noise.sums]
        client = Client(made, self.told)
        if under_way:
            client(made.opened()["trial"].settle)
        with closing(sqlite3.connect(made.file, isolation_level=None)) as database:
            query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            triggers = dict(database.execute(query).fetchall())
            for name in triggers:
                database.execute(f'DROP TRIGGER "{name}"')
            for sql, *given in attack:
                with suppress(sqlite3.IntegrityError):
                    database.execute(sql, given)
            for sql in triggers.values():
                database.execute(sql)
        for waits in (0, WINDOW + 1, WINDOW + 1):
            store = made.store if under_way and not waits else client(made.opened)
            campaign = client(store.__getitem__, "trial") if store else None
            if campaign:
                client.go_on(campaign, waits)
        made.close()
        shutil.rmtree(made.folder)
        return client.failed, made.noise

    def holds(self, what: str, attack: Attack, under_way: bool) -> list[str]:
        """Nothing is read twice, or with less noise, whichever calls are refused."""
        failed, noise = self.attacked(attack, under_way)
        assert max(times_read(noise.sums)) <= 1, (what, under_way)
        assert noise.prices <= self.prices, (what, under_way)
        return failed


@pytest.fixture(scope="module")
def base(request: pytest.FixtureRequest) -> Iterator[Base]:
    """In memory, where there are files: thousands of transactions need not wait for a disk."""
    memory = Path("/dev/shm")
    with (
        TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(contextual, "FINEST", GRID)  # a grid so fine is only for counting
        yield Base(Path(folder), request.param)


def tables_of(database: sqlite3.Connection) -> dict[str, list[str]]:
    names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {
        name: [row[1] for row in database.execute(f'PRAGMA table_info("{name}")')]
        for (name,) in names
        if name != "dpbandits_version"
    }


def others_than(column: str, value: Any, rows: list[Any]) -> Iterator[Any]:
    """What may be written in place of a value."""
    if column == "status":
        yield from ("waiting", "told", "passed", "void", "lost")
    elif isinstance(value, bytes):
        yield value[:-1] + bytes([value[-1] ^ 1])
        yield b"p" + value[1:]
        yield b""
    elif isinstance(value, str) and value.startswith("{"):
        for old, new in (
            ('"epsilon":"1"', '"epsilon":"1000000"'),
            ('"max_contributions":', '"max":'),
            ('"cap":1', '"cap":9'),
            ('"seconds":3600.0', '"seconds":1.0'),
            ('"waiting":', '"w":'),
            ('"steps":', '"s":'),
            ('"grid":1048576', '"grid":1'),
            ('"latest":', '"latest":1'),
            ('"closed_window":null', '"closed_window":5'),
            ('"counts":[', '"counts":[0'),
        ):
            if old in value:
                yield value.replace(old, new)
    elif isinstance(value, str):
        yield from ("", "0", "x" * len(value), '"1"', "[0,1]", value[::-1])
    elif isinstance(value, (int, float)):
        yield from (0, 1, value + 1, value - 1, -value, 2**40, "x")
    yield None
    yield from dict.fromkeys(row for row in rows if row != value)


def edits_of(base: Base, most: int) -> Iterator[tuple[str, Attack]]:
    """Every column of every table is edited, in some rows; and some rows are deleted."""
    with closing(sqlite3.connect(base.made.file)) as database:
        for table, columns in tables_of(database).items():
            ids = [row[0] for row in database.execute(f'SELECT rowid FROM "{table}"')]
            some = ids if len(ids) < 4 else [ids[0], ids[-4], ids[-1]]
            for id in some:
                yield f"{table}: {id} gone", [(f'DELETE FROM "{table}" WHERE rowid = ?', id)]
            yield f"{table}: all gone", [(f'DELETE FROM "{table}"',)]
            for column in columns:
                found = dict(database.execute(f'SELECT rowid, "{column}" FROM "{table}"'))
                sql = f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?'
                for id in some:
                    values = list(others_than(column, found[id], list(found.values())))
                    drawn = random.Random(f"{table} {column} {id}")
                    for value in drawn.sample(values, min(most, len(values))):
                        yield f"{table}.{column} = {value!r:.60} ({id})", [(sql, value, id)]


def rows_put_back(base: Base) -> Iterator[tuple[str, Attack]]:
    for copy in base.copies:
        with closing(sqlite3.connect(copy)) as old, closing(sqlite3.connect(base.made.file)) as now:
            for table in tables_of(old):
                found = [
                    {row[0]: row[1:] for row in each.execute(f'SELECT rowid, * FROM "{table}"')}
                    for each in (old, now)
                ]
                changed = [id for id, row in found[0].items() if found[1].get(id) != row]
                for id in changed:
                    marks = ", ".join("?" * len(found[0][id]))
                    sql = f'INSERT OR REPLACE INTO "{table}" VALUES ({marks})'
                    yield f"{copy.name}: {table} {id}", [(sql, *found[0][id])]


NAMES = ("head", "private_state", "decision", "held", "ledger", "contribution", "release")
WITH_CONTEXTS = (*NAMES, "context", "open_cell", "learned")


def tables_put_back(base: Base) -> Iterator[tuple[str, Attack]]:
    names = WITH_CONTEXTS if base.made.has_contexts else NAMES
    beside = [f"dpbandits_{name}" for name in names]
    for copy in base.copies[:-1]:
        for many in range(1, len(beside) + 1):
            for some in combinations(beside, many):
                attack: Attack = [("ATTACH ? AS old", str(copy))]
                for table in some:
                    attack.append((f"DELETE FROM main.{table}",))
                    attack.append((f"INSERT INTO main.{table} SELECT * FROM old.{table}",))
                yield f"{copy.name}: {', '.join(some)}", attack


CASES = [
    ("contexts, window and people", "columns", 10),
    ("window and people", "rows", 6),
    ("window and people", "tables", 8),
    *(
        pytest.param(setting, kind, many, marks=mark)
        for many, mark in ((50, pytest.mark.long), (10**6, pytest.mark.hours))
        for setting in SETTINGS
        for kind in ("columns", "rows", "tables")
    ),
]
"""Attacks of a kind, drawn from the thousands that there are."""


@pytest.mark.parametrize(("base", "kind", "many"), CASES, indirect=["base"])
def test_no_attack_has_a_reward_read_twice(base: Base, kind: str, many: int) -> None:
    attacks = {"rows": rows_put_back(base), "tables": tables_put_back(base)}
    attacks["columns"] = edits_of(base, 100 if many >= 50 else 1)
    found, refused = list(attacks[kind]), set[str]()
    some = found if many >= len(found) else random.Random(many).sample(found, many)
    for at, (what, attack) in enumerate(some):
        refused.update(base.holds(what, attack, under_way=at % 2 == 1))
    assert refused <= REFUSALS
    assert many < 50 or "EditedRowsError" in refused  # a few may all do no harm


ONE_ARM = dpb.DPKLUCB(arms=1, epsilon=1, first=2, grid=GRID)
"""Whose first block has two answers."""


def alone(folder: Path, setting: str = "plain", **options: Any) -> tuple[Kept, Any]:
    made = kept(folder / "trial", setting)
    return made, made.opened().create("trial", ONE_ARM, seed=3, **made.options, **options)


def edited(made: Kept, sql: str, *given: Any) -> Any:
    """The campaign, opened anew after a statement."""
    made.close()
    with closing(sqlite3.connect(made.file, isolation_level=None)) as database:
        database.execute(sql, given)
    return made.opened()["trial"]


FAILS, REFUSES = "SELECT abs(-9223372036854775807 - 1)", "SELECT RAISE(ABORT, 'no')"


@contextmanager
def picky(made: Kept, table: str, does: str = FAILS, when: str = "") -> Iterator[Any]:
    """Writing to a table fails in this block, or is refused as if the row was there already."""
    event = "INSERT" if table in ("release", "ledger") else "UPDATE"
    trigger = f"CREATE TRIGGER picky BEFORE {event} ON dpbandits_{table} {when} BEGIN {does}; END"
    with closing(sqlite3.connect(made.file, isolation_level=None)) as database:
        database.execute(trigger)
        yield database
        database.execute("DROP TRIGGER IF EXISTS picky")


def test_a_larger_epsilon_is_never_drawn_with(tmp_path: Path) -> None:
    """Nor where a fence begins the policy anew."""
    made, campaign = alone(tmp_path)
    asked = campaign.ask(6)
    edit = 'UPDATE dpbandits_head SET public = replace(public, \'"epsilon":"1"\', ?)'
    campaign = edited(made, edit, '"epsilon":"1000000"')
    calls: list[Callable[[], Any]] = [
        lambda: campaign.tell_many([(each, 1) for each in asked]),
        lambda: campaign.ask(),
        lambda: campaign.settle(),
        lambda: campaign.fence(),
        lambda: campaign.summary(),
    ]
    for call in calls:
        with pytest.raises(dpb.EditedRowsError, match="edited, deleted or put back"):
            call()
    campaign = edited(made, "UPDATE dpbandits_head SET public = replace(public, '1000000', '1')")
    assert made.noise.drawn == 0  # as it was: nothing was lost, and nothing was released
    assert campaign.tell_many([(each, 1) for each in asked]) == ["recorded"] * 6
    assert made.noise.prices == {(Fraction(1), GRID)}
    made.close()


SEALED = "UPDATE dpbandits_held SET body = CAST(? || substr(body, 2) AS BLOB)"
WAITS = "UPDATE dpbandits_decision SET status = 'waiting' WHERE seq = 1"
VIEWED = "a decision in a view"
GIVEN_UP: dict[str, tuple[str, tuple[Any, ...]]] = {
    "a decision": ("plain", (WAITS,)),
    VIEWED: ("plain", (WAITS,)),
    "a held answer in clear": ("window", (SEALED, b"p")),
    "a held answer of another seal": ("window", (SEALED, b"x")),
    "a held answer without one": ("window", (SEALED, b"")),
}


@pytest.mark.parametrize("what", GIVEN_UP)
def test_what_was_edited_is_given_up(tmp_path: Path, what: str) -> None:
    """The call that finds it out is refused, the next one fences: late answers are gone."""
    setting, edit = GIVEN_UP[what]
    made, campaign = alone(tmp_path, setting)
    asked = campaign.ask(7)
    campaign.tell(asked[0], 1)
    campaign = edited(made, *edit)
    with pytest.raises(dpb.EditedRowsError, match="The next call gives up all that is open"):
        campaign.summary() if what == VIEWED else campaign.tell(asked[0], 1)
    assert campaign.tell_many([(each, 1) for each in asked]) == ["gone"] * 7
    assert campaign.generation == 2
    assert not campaign.summary().waiting
    assert made.noise.drawn == 0
    assert [line.kind for line in campaign.ledger] == ["lost"]
    assert campaign.tell(campaign.ask(), 1) == "recorded"
    made.close()


def test_a_segment_that_was_edited_undoes_no_release_of_another(tmp_path: Path) -> None:
    """Both are asked in one transaction."""
    made, campaign = alone(tmp_path, "window", segments=["DE", "FR"])
    campaign.tell_many([(each, 1) for each in campaign.ask(2, segment="DE")])
    made.now += WINDOW + 1
    edit = """UPDATE dpbandits_private_state SET body = zeroblob(length(body)) WHERE campaign =
        (SELECT uid FROM dpbandits_campaign WHERE name LIKE '%/FR')"""
    campaign = edited(made, edit)
    for times in range(3):
        other = QueuedCall(Ask(segment="FR"))
        campaign._calls.host._queue.append(other)
        assert len(campaign.ask(1 + times, segment="DE")) == 1 + times
        with pytest.raises(dpb.StoreError):
            other.answer()
        assert made.noise.drawn == 1
    made.close()


READ = "WHEN new.coordinates != '[]'"


def test_a_copy_that_is_put_back_after_a_trigger_is_fenced(tmp_path: Path) -> None:
    """Told again, the answer that completed a block would have it read by another draw."""
    made, campaign = alone(tmp_path)
    asked = campaign.ask(2)
    campaign.tell(asked[0], reward_of(0))
    with (
        picky(made, "release", when=READ) as database,
        closing(sqlite3.connect(tmp_path / "copy.db")) as old,
    ):
        database.backup(old)
        campaign.ask()
        for _ in range(5):
            with pytest.raises(dpb.StoreError):
                campaign.tell(asked[1], reward_of(1))
        old.backup(database)
        assert [campaign.tell(asked[1], reward_of(1)) for _ in range(3)] == ["gone"] * 3
    assert (made.noise.drawn, campaign.generation) == (1, 2)
    made.close()


@pytest.mark.parametrize("by", ["this process", "another"])
def test_a_place_that_another_segment_gave_away_is_not_given_twice(tmp_path: Path, by: str) -> None:
    """An ask was done together with a release that could not be written. Both are later, unless
    another process gave the place away meanwhile: then both are given up.
    """
    made, campaign = alone(tmp_path, "window and people", segments=["DE", "FR"])
    for user in ("bob", "carl"):
        campaign.ask(user=user, segment="DE")
    made.now += WINDOW + 1
    visit = Ask(user="anna", segment="FR", key="visit")
    campaign._calls.host._queue.append(QueuedCall(visit))
    with picky(made, "release", when=READ), pytest.raises(dpb.StoreError):
        campaign.settle()
    how: dict[str, Any] = {"witness": made.witness, "clock": lambda: made.now}
    with open_store(f"sqlite:///{made.file}", key=KEY, **how) as other:
        asker = campaign if by == "this process" else other["trial"]
        asked = [asker.ask(user="anna", segment="DE")]
    with suppress(dpb.DecisionError):
        asked.append(campaign.ask(user="anna", segment="FR", key="visit"))
    assert [each.learn for each in asked] == [by == "another", by != "another"]
    assert (made.noise.drawn, campaign["DE"].generation) == (1, 1 + (by == "another"))
    made.close()
