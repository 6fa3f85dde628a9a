"""Calls that fail: whichever it is, and wherever it fails, no block is drawn for twice. What was
drawn stands, or is given up as a whole, and the campaign goes on, in every process.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import product
from pathlib import Path
from traceback import walk_tb
from typing import Any

import httpx
import pytest
import sqlalchemy.exc

import dpbandits as dpb
from dpbandits.service import operations as ops
from dpbandits.service import transaction, witness
from dpbandits.service.database import Database
from dpbandits.service.server.serving import run_maintenance
from dpbandits.service.transaction import QueuedCall, Written
from dpbandits.service.witness import Witness
from tests.service.conftest import Open
from tests.service.counted import Failing, Watching
from tests.service.http.web import app_of
from tests.service.machine import Time
from tests.service.timelines import Lite, store_of, two_stores


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes on failing is not waited for."""
    monkeypatch.setattr(transaction, "WRITTEN_IN", 0.1)


class Unlearning(dpb.DPKLUCB):
    """Fails once something is released: where, and how."""

    fails: Any = ("", None)

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        where, kind = self.fails
        if where == "update":
            raise kind("x")
        after = super().update(state, plan, release)
        return after._replace(totals=(math.nan,)) if where == "nan" else after

    def plan(self, state: Any, rng: Any) -> Any:
        where, kind = self.fails
        if where == "plan" and any(state.rounds):
            raise kind("x")
        return super().plan(state, rng)


POLICY = Unlearning(arms=1, epsilon=1, first=4)
LATE: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
PERIOD: dict[str, Any] = {"period": timedelta(minutes=1), "min_share": 0.1}
CALLS: dict[str, tuple[dict[str, Any], int, Callable[[Any, list[Any]], Any]]] = {
    "tell": ({}, 3, lambda campaign, asked: campaign.tell(asked[3], 1)),
    "record": ({}, 0, lambda campaign, _: campaign.record(0, [1, 1, 1, 1], key="week 1")),
    "close": ({}, 3, lambda campaign, _: campaign.close("enough")),
    "ask": (LATE, 4, lambda campaign, _: campaign.ask(2, key="visit")),
    "settle": (PERIOD, 3, lambda campaign, _: campaign.settle()),
}
"""The options of a campaign, how many of its four answers came a minute ago, and a call that has
them read.
"""


# Where calls fail


Fault = Callable[[pytest.MonkeyPatch, Any], Any]
"""What begins it, in a store."""


def patched(of: Any, name: str, kind: type[BaseException] = OSError) -> Fault:
    def fails(*_: Any, **__: Any) -> Any:
        raise kind("away")

    return lambda patch, _: patch.setattr(of, name, fails)


def committed(stands: bool) -> Fault:
    """The reply to a commit is lost; or the commit is, too."""

    def begin(patch: pytest.MonkeyPatch, store: Any) -> None:
        dialect = store.database.engine.dialect
        commit = dialect.do_commit

        def lost(connection: Any) -> None:
            if stands:
                commit(connection)
            raise OSError("the reply never came")

        patch.setattr(dialect, "do_commit", lost)

    return begin


def execute(store: Any, sql: str) -> None:
    store.database.engine.raw_connection().driver_connection.execute(sql)


def picky(table: str, does: str) -> Fault:
    """A trigger looks at what is written to a table."""
    event = "INSERT" if table in ("release", "ledger") else "UPDATE"
    trigger = f"CREATE TRIGGER picky BEFORE {event} ON dpbandits_{table} BEGIN SELECT {does}; END"
    return lambda _, store: execute(store, trigger)


def learning(where: str, kind: Any = None) -> Fault:
    return lambda patch, _: patch.setattr(Unlearning, "fails", (where, kind))


TABLES = "release", "ledger", "head", "private_state"
FAILS, REFUSES = "abs(-9223372036854775807 - 1)", "RAISE(ABORT, 'no')"
STANDS: dict[str, tuple[Fault, Any]] = {
    "noise": (patched(Watching, "ask", ArithmeticError), (ArithmeticError, dpb.NotRecordedError)),
    "write": (patched(Written, "write"), dpb.StoreError),
    "commit": (committed(stands=False), dpb.StoreError),
    "reply": (committed(stands=True), dpb.StoreError),
    **{f"writing {table}": (picky(table, FAILS), dpb.StoreError) for table in TABLES},
    "witness": (patched(witness, "begin_alone"), (dpb.StoreError, dpb.WitnessError)),
    "unwitnessed": (patched(Witness, "add"), dpb.StoreError),
    "unwitnessed, full": (patched(Witness, "add", MemoryError), dpb.StoreError),
    "unwitnessed, killed": (patched(Witness, "add", KeyboardInterrupt), KeyboardInterrupt),
}
"""Nothing is lost once all works again; and how it fails until then."""

REFUSED = {f"refused {table}": (picky(table, REFUSES), dpb.EditedRowsError) for table in TABLES}
"""What was drawn may be why, so it is given up: as soon as that can be written."""

KINDS = (
    ZeroDivisionError,
    SystemExit,
    asyncio.CancelledError,
    sqlalchemy.exc.NoResultFound,
    OSError,
    dpb.StoreError,
    dpb.WitnessError,
    dpb.EditedRowsError,
    dpb.LedgerError,
    dpb.HorizonError,
)


def unlearned(where: str) -> dict[str, tuple[Fault, Any]]:
    return {
        f"{where}, {kind.__name__}": (learning(where, kind), (dpb.UnlearnedError, kind))
        for kind in KINDS
    }


UNLEARNED: dict[str, tuple[Fault, Any]] = {
    **unlearned("update"),
    "nan": (learning("nan"), dpb.UnlearnedError),  # which no document can have
    **unlearned("plan"),
}
"""It is given up at once, whichever process comes next."""

FAULTS = STANDS | REFUSED | UNLEARNED
CASES = [
    pytest.param(name, fault, marks=[pytest.mark.long] * ((at + other) % 2))
    for other, name in enumerate(CALLS)
    for at, fault in enumerate(FAULTS)
    if (name, fault) != ("record", "noise")  # which is drawn later then
    and (fault not in UNLEARNED or name == "tell" or (name != "close" and "Zero" in fault))
]


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_no_block_is_drawn_for_twice(name: str, fault: str, tmp_path: Path) -> None:
    database, clock, noise = Database("memory:"), Time(), Watching()
    store, another = (
        store_of(database, tmp_path / "witness", clock=clock, noise=noise) for _ in range(2)
    )
    options, before, make = CALLS[name]
    campaign = store.create("c", POLICY, seed=3, **options)
    asked = campaign.ask(4)
    told = asked[:before]
    campaign.tell_many([(each, 1) for each in told])
    other = another.open("c", policy=Unlearning)
    assert other.summary().asked == 4  # it has the campaign in memory as it is now
    clock.now += 61
    begin, errors = FAULTS[fault]
    with pytest.MonkeyPatch.context() as patch:
        begin(patch, store)
        with pytest.raises(errors):
            make(campaign, asked)
        for _ in range(2):
            hidden = pytest.raises((RuntimeError, OSError, MemoryError, KeyboardInterrupt))
            with hidden if "unwitnessed" in fault else suppress(BaseException):
                campaign.releases()
            with suppress(BaseException):
                make(other if fault in UNLEARNED else campaign, asked)
    execute(store, "DROP TRIGGER IF EXISTS picky")
    stands = fault in STANDS
    if not stands:
        campaign.releases()  # a view writes that it is given up, and then another process comes
    made, again = (make(each, asked) for each in (campaign, other)[:: 1 if stands else -1])
    assert made == again
    late = "already" if stands and options is not LATE else "gone"
    assert campaign.tell_many([(each, 0) for each in told]) == [late] * before
    assert len(noise.sums) == 1
    assert campaign.generation == 1 + (not stands)
    assert [line.kind for line in campaign.ledger] == ["read" if stands else "lost"]
    assert any(release.coordinates for release in other.releases()) is stands
    said = {"tell": late, "record": "recorded" if stands else "gone"}
    assert made == said.get(name, made)
    if name != "close":
        other.tell_many([(each, 1) for each in other.ask(16)])
        clock.now += 61
        other.settle()
        assert len(noise.sums) > 1


@pytest.mark.parametrize("fault", ["update, ZeroDivisionError", "nan", "plan, ZeroDivisionError"])
def test_nobody_comes_between_a_draw_that_is_given_up_and_its_fence(make: Open, fault: str) -> None:
    """The failure may tell of the noise: who waited for the transaction to end reads no more."""
    noise, came = Watching(), list[str]()
    one, other = make(noise=noise), make(noise=noise)
    campaign = one.create("c", POLICY, seed=3)
    asked = campaign.ask(5)
    campaign.tell_many([(each, 1) for each in asked[:3]])
    transaction, (begin, errors) = one.database.transaction, UNLEARNED[fault]
    again = other.open("c", policy=Unlearning)
    with pytest.MonkeyPatch.context() as patch:

        @contextmanager
        def overtaken(group: str) -> Iterator[Any]:
            try:
                with transaction(group) as rows:
                    yield rows
            finally:
                patch.undo()
                came.append(again.tell(asked[4], 1))

        begin(patch, one)
        patch.setattr(one.database, "transaction", overtaken)
        with pytest.raises(errors):
            campaign.tell(asked[3], 1)
    assert (came, len(noise.sums), campaign.generation) == (["gone"], 1, 2)


READ = f"CASE WHEN new.coordinates != '[]' THEN {REFUSES} END"


@pytest.mark.parametrize(
    ("begin", "errors"), [UNLEARNED["nan"], (picky("release", READ), dpb.EditedRowsError)]
)
def test_a_release_that_is_given_up_is_so_in_a_copy_put_back_at_once(
    lite: Lite, begin: Fault, errors: Any
) -> None:
    """The copy has the step that is witnessed, and no mark of what went wrong since."""
    noise = Watching()
    store = lite.open(noise=noise)
    campaign = store.create("c", POLICY, seed=3)
    asked, copy = campaign.ask(4), lite.copy()
    with pytest.MonkeyPatch.context() as patch:
        begin(patch, store)
        with pytest.raises(errors):
            campaign.tell_many([(each, 1) for each in asked])
    store.close()
    lite.put_back(copy)
    again = lite.open(noise=noise).open("c", policy=Unlearning)
    assert again.tell_many([(each, 0) for each in asked]) == ["gone"] * 4
    assert len(noise.sums) == 1


def test_a_release_is_written_before_another_process_writes(lite: Lite) -> None:
    """The database was away for a moment."""
    one, other = (lite.open(noise=dpb.SimulatedNoise(1)) for _ in range(2))
    campaign = one.create("c", dpb.DPKLUCB(arms=1, epsilon=1, first=4))
    asked, write, away = campaign.ask(5), Written.write, [OSError("away")] * 2

    def restarting(self: Written, rows: Any) -> None:
        if away:
            raise away.pop()
        write(self, rows)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Written, "write", restarting)
        with pytest.raises(dpb.StoreError):
            campaign.tell_many([(each, 1) for each in asked[:4]])
    assert other["c"].tell_many([(each, 0) for each in asked]) == ["already"] * 4 + ["recorded"]
    assert (campaign.generation, len(campaign.ledger)) == (1, 1)


@pytest.mark.parametrize(("stands", "fenced"), [(True, False), (True, True), (False, True)])
def test_a_release_that_is_settled_voids_nothing_later(
    lite: Lite, stands: bool, fenced: bool
) -> None:
    """Its reply was lost. It stands, or was given up, before another process went on."""
    one, other = (lite.open(noise=dpb.SimulatedNoise(1)) for _ in range(2))
    campaign = one.create("c", dpb.DPKLUCB(arms=1, epsilon=1, first=4))
    asked, again = campaign.ask(4), other["c"]
    with pytest.MonkeyPatch.context() as patch:
        committed(stands)(patch, one)
        with pytest.raises(dpb.StoreError):
            campaign.tell_many([(each, 1) for each in asked])
    if fenced:
        again.fence()
    for _ in range(64):
        again.ask()
    assert campaign.tell(asked[0], 1) == ("gone" if fenced else "already")
    assert (campaign.summary().waiting, campaign.generation) == (64, 1 + fenced)


class Unfinished(dpb.DPNAS):
    """A stopping rule that fails once it was drawn for."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if release.answers and release.answers[0] is not None:
            raise ZeroDivisionError
        return super().update(state, plan, release)


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]])
def test_a_stopping_rule_finishes_once(segments: Any, lite: Lite) -> None:
    """It reads no block then, and draws all the same."""
    noise = Watching()
    rule: Any = Unfinished(alpha=0.5, beta=0.05, cap=10**6, epsilon="1/2")
    campaign = lite.open(noise=noise).create("t", rule, segments=segments)
    for segment in segments or [None]:
        for _ in range(5):
            campaign.tell(campaign.ask(segment=segment), 1)
        before = len(noise.sums)
        if segment == "DE":
            with pytest.raises(ValueError, match="none was told in 'FR'"):
                campaign.finish()
            assert len(noise.sums) == before, "nothing was released, as the error says"
    with pytest.raises(dpb.UnlearnedError):
        campaign.finish()
    for _ in range(3):
        with suppress(Exception):
            campaign.finish()
    assert len(noise.sums) == before + 1


TOGETHER: dict[str, Callable[[list[Any], dict[str, Any]], Any]] = {
    "ask": lambda ids, who: ops.Ask(count=12, **who),
    "refused": lambda _, who: ops.Ask(eligible=("z",), **dict.fromkeys(who, "FR")),
    "tell": lambda ids, _: ops.told_pairs([(id, 1) for id in ids[:4]]),
    "expire": lambda ids, _: ops.Expire.model_validate({"ids": ids[2:4]}),
    "void": lambda ids, _: ops.Void.model_validate({"ids": ids[3:5]}),
    "retire": lambda ids, _: ops.RetireArm(arm="b"),
    "pause": lambda ids, _: ops.PauseArm(arm="b"),
    "resume": lambda ids, _: ops.ResumeArm(arm="b"),
    "add": lambda ids, _: ops.AddArm(arm="c"),
    "settle": lambda ids, _: ops.Settle(),
}
PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 9}
PARTS: dict[str, Any] = {"segments": ["DE", "FR"]}


def replied(call: QueuedCall) -> Any:
    """What a call answers, without names that are drawn by chance."""
    try:
        answer = call.answer()
    except ValueError as error:
        return repr(error)
    many = answer if isinstance(answer, list) else [answer]
    is_asked = isinstance(call.op, ops.Ask)
    return [each.model_dump(exclude={"id", "campaign"}) if is_asked else each for each in many]


def test_any_two_calls_in_one_transaction_are_as_one_after_the_other() -> None:
    """They answer the same, read the same, and give nobody a place more, though one is refused;
    another process reads what they wrote.
    """
    store, fresh = two_stores(None, Time())
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=2)
    for at, pair in enumerate(product(TOGETHER, TOGETHER)):
        seen, options = list[Any](), ({}, PARTS, LATE, PEOPLE)[at % 4]
        who = {"user": "ann"} if options is PEOPLE else {}
        if options is PARTS:
            who = {"segment": "DE"}
        for name in (f"one by one {at}", f"together {at}"):
            noise = dpb.SimulatedNoise(at)
            campaign = store.create(name, policy, seed=at, noise=noise, **options)
            ids = [each.id for each in campaign.ask(8, **who)]
            calls = [QueuedCall(TOGETHER[each](ids, who)) for each in pair]
            host = campaign._calls.host
            for some in [calls] if "together" in name else [[each] for each in calls]:
                host._queue.extend(some)
                host._lock.run(host._run_queue)
            if "together" in name:  # frames would show the other call's rewards
                for error in filter(None, (call.error for call in calls)):
                    frames = walk_tb(error.__traceback__)
                    assert all(len(each.f_locals.get("answers", ())) < 2 for each, _ in frames)
            again = fresh[name]
            assert again.tell(ids[5], 1) == "recorded", (pair, options)
            shown = again.summary().model_dump(exclude={"name", "version", "created"})
            part = again["DE"] if options is PARTS else again
            released = [(each.coordinates, each.answers) for each in part.releases()]
            seen.append([*map(replied, calls), again.ledger, released, shown])
        assert seen[0] == seen[1], (pair, options)
        assert again.generation == 1


def test_a_call_waits_once_for_what_was_drawn() -> None:
    """What becomes due meanwhile is for later, and calls that wait have one transaction."""
    clock = Time()
    store, _ = two_stores(None, lambda: setattr(clock, "now", clock.now + 1) or clock.now)
    policy = dpb.KLUCB(arms=2)  # each outcome is a release
    campaign = store.create("late", policy, attribution_window=timedelta(seconds=30), default=0)
    for _ in range(60):
        campaign.ask()
    assert len(campaign.releases()) < 40
    campaign = store.create("soon", policy)
    tells = [ops.told_pairs([(each, 1)]) for each in campaign.ask(8)]
    host, before = campaign._calls.host, campaign.summary().version
    for tell in tells:
        host._queue.extend([QueuedCall(tell), QueuedCall(ops.Ask())])
    campaign.settle()
    assert campaign.summary().version == before + 2


@pytest.mark.parametrize("kind", [ZeroDivisionError, StopIteration])
def test_a_request_is_answered_whatever_a_policy_raises(
    kind: Any, lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unlearning, "fails", ("update", kind))
    store = lite.open(noise=dpb.SimulatedNoise(1))
    campaign = store.create("t", POLICY, seed=3)
    tells = [{"id": each.id, "reward": 1} for each in campaign.ask(8)]

    async def told() -> int:
        transport = httpx.ASGITransport(app_of(store), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = client.post("/v1/campaigns/t/tell", json=tells)
            return (await asyncio.wait_for(sent, 30)).status_code

    assert asyncio.run(told()) >= 400


def test_one_campaign_that_fails_keeps_no_other_one_waiting(
    lite: Lite, caplog: pytest.LogCaptureFixture
) -> None:
    """The server settles all campaigns now and then, whatever their noise or policy raise."""
    clock, noise = Time(), Failing(0, 1_000)
    store = lite.open(noise=noise, clock=clock)
    for name in ("a", "b"):
        store.create(name, dpb.DPKLUCB(arms=1, epsilon=1, first=2), **LATE).ask(4)
    clock.now += 100
    warned = dict[str, str]()
    for _ in range(3):
        run_maintenance(store, warned)
    for name in ("a", "b"):  # once, for as long as it lasts
        assert caplog.text.count(f"Campaign {name} could not be settled") == 1
    noise.times = 0
    run_maintenance(store, warned)
    assert [len(store[name].releases()) for name in ("a", "b")] == [2, 2]
