"""A process that only looks sees what everybody sees, reads no private row and writes nothing."""

import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.service.postgres import Server

import dpbandits as dpb
from dpbandits.core.errors import StoreError, WitnessError
from dpbandits.service import transaction
from dpbandits.service.opening import open_store
from dpbandits.service.server import serving
from dpbandits.service.tables import PRIVATE
from dpbandits.service.witness import Mark, Witness
from tests.service.http.web import client_of
from tests.service.machine import BY_CONTEXT, CONTEXTS, PEOPLE, WINDOWED, Time
from tests.service.timelines import Lite, create, everything, turns

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "windowed": WINDOWED,
    "segments": {"segments": ["DE", "FR"], **PEOPLE},
    "holdout": {"holdout": ".3"},
    "contexts": {"policy": BY_CONTEXT},
}


def go_on(campaign: Any, clock: Time, options: dict[str, Any]) -> None:
    """Some decisions, most of them answered."""
    for number in range(24):
        clock.now += 10
        whose: dict[str, Any] = {}
        if "segments" in options:
            whose["segment"] = "DE" if number % 2 else "FR"
        if "segments" in options or "holdout" in options:
            whose["user"] = f"{number % 20} at {clock.now}"
        if "policy" in options:
            whose["context"] = CONTEXTS[number % len(CONTEXTS)]
        decision = campaign.ask(**whose)
        if number % 6:
            campaign.tell(decision, number % 2)


@pytest.fixture
def url(server: Server) -> str:
    return str(server.fresh(f"looks_{secrets.token_hex(4)}"))


Both = tuple[Any, Any, Time]


@pytest.fixture
def both(url: str, tmp_path: Path) -> Iterator[Both]:
    """A store, one that only looks, and their clock."""
    how: dict[str, Any] = {"witness": tmp_path / "witness", "clock": Time()}
    with (
        open_store(url, key=bytes(32), **how) as store,
        open_store(url, looking=True, **how) as onlookers,
    ):
        yield store, onlookers, how["clock"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_role_without_rights_to_private_tables_is_enough(
    server: Server, url: str, tmp_path: Path, kind: str
) -> None:
    """One that may do what the guide says, and nothing else."""
    import psycopg

    guide = Path(__file__).parents[2] / "docs/guides/operating.md"
    granted = guide.read_text(encoding="utf-8").split("```sql\n")[1].split("```")[0]
    role, clock, witness = f"reader_{secrets.token_hex(4)}", Time(), tmp_path / "witness"
    with open_store(url, key=bytes(32), witness=witness, clock=clock) as store:
        campaign = create(store, **KINDS[kind])
        for line in granted.replace("onlooker", role).strip().split(";\n"):
            server.run(line, url.rpartition("/")[2])
        place = url.replace("postgres@", f"{role}@")
        with open_store(place, witness=witness, clock=clock, looking=True) as onlookers:
            for _ in range(2):
                go_on(campaign, clock, KINDS[kind])
                assert everything(onlookers["c"]) == everything(campaign)
            answer = client_of(onlookers).post("/v1/campaigns/c/ask", json={})
            assert answer.status_code in (404, 405)
            calls: list[Callable[[], object]] = [onlookers["c"].ask]
            if kind == "holdout":
                calls.append(lambda: onlookers["c"].side("anna"))
            for call in calls:
                with pytest.raises(RuntimeError, match="only looks"):
                    call()
    plain = place.replace("postgresql+psycopg", "postgresql")
    private = [f"SELECT * FROM {name}" for name in PRIVATE]
    for sql in [*private, "DELETE FROM dpbandits_decision"]:
        with psycopg.connect(plain) as connection, pytest.raises(psycopg.Error) as refused:
            connection.execute(sql)  # type: ignore[call-overload]
        assert type(refused.value).__name__ == "InsufficientPrivilege"


def test_a_campaign_that_was_made_again_after_a_restore_is_shown(
    server: Server, both: Both, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a server that was not restarted."""
    store, onlookers, _ = both
    create(store)
    monkeypatch.setattr(serving.ServerSettings, "opened", lambda _: onlookers)
    monkeypatch.setattr(serving, "poll_views", (polled := list[Any]()).append)
    monkeypatch.setenv("DPBANDITS_STORE", url)
    monkeypatch.setenv("DPBANDITS_LOOKING", "1")
    serving.app_from_environment()
    assert onlookers["c"].summary().asked == 0
    tables = ("campaign", "head", "private_state", "release")
    lost = [f"DELETE FROM dpbandits_{name}" for name in tables]
    server.run("; ".join(["SET session_replication_role = replica", *lost]), url.rpartition("/")[2])
    store.forget_missing()
    create(store).ask(3)
    serving.run_maintenance(polled[0], {})
    assert onlookers["c"].summary().asked == 3


def test_what_is_not_witnessed_is_not_shown(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is committed, and its witness has not been written yet."""
    monkeypatch.setattr(transaction, "WITNESSED_IN", 0.05)
    store, onlookers, _ = both
    turns(campaign := create(store), 8)
    before, seen, add = campaign.summary().step, list[int](), Witness.add

    def added(self: Witness, moves: Any) -> None:
        with pytest.raises(StoreError, match="not witnessed") as refused:
            onlookers["c"].summary()
        assert not re.search(r"\d", str(refused.value))
        seen.append(len(moves))
        add(self, moves)

    monkeypatch.setattr(Witness, "add", added)
    turns(campaign, 16)
    step = campaign.summary().step
    assert seen
    assert onlookers["c"].summary().step == step > before


def test_nothing_is_written_where_the_role_may(both: Both) -> None:
    """A fence was made, and its private rows were sealed without the key."""
    store, onlookers, clock = both
    campaign = create(store, **WINDOWED)
    go_on(campaign, clock, WINDOWED)
    for call in (
        onlookers["c"].fence,
        lambda: onlookers.create("other", dpb.DPKLUCB(arms=2, epsilon=1)),
        lambda: onlookers.scope("all", 3),
    ):
        with pytest.raises(RuntimeError, match="only looks"):
            call()
    assert (campaign.generation, list(store), store.scopes()) == (1, ["c"], [])
    go_on(campaign, clock, WINDOWED)


def test_where_nothing_can_be_looked_at(tmp_path: Path) -> None:
    how: dict[str, Any] = {"witness": tmp_path / "w", "looking": True}
    for place in ("memory:", f"sqlite:///{tmp_path}/t.db", "http://localhost:1"):
        with pytest.raises(ValueError, match="looking=True"):
            open_store(place, **how)
    for more in ({"key": bytes(32)}, {"noise": dpb.SimulatedNoise(1)}):
        with pytest.raises(ValueError, match="looking=True"):
            open_store("postgresql+psycopg://localhost/none", **how, **more)


def test_what_is_witnessed_is_told_from_what_is_not(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 40)
        host, uid = campaign._calls.host, campaign.uid
        with store.database.reading(uid) as rows:
            heads = rows.heads([uid])
        now = Mark.of(heads[uid])
        before, after = (now._replace(step=now.step + by, chain="x") for by in (-1, 1))
        assert host._why_hidden(heads, {uid: now}) is None
        assert host._why_hidden(heads, {uid: before}) is None  # the witness knows what came since
        unknown = {"a part that is": heads[uid], uid: heads[uid]._replace(chain="y")}
        marks = {"a part that is": now, uid: before}
        assert host._why_hidden(unknown, marks) == transaction.NOT_WITNESSED
        with pytest.raises(WitnessError):
            host._why_hidden(heads, {})
        for seen in (after, now._replace(chain="x"), now._replace(generation=2, step=0)):
            assert host._why_hidden(heads, {uid: seen}) == transaction.RESTORED


def test_a_late_replica_is_waited_for(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    store, onlookers, _ = both
    turns(create(store), 16)
    marks, late = Witness.marks, 5

    def ahead(self: Witness, uids: Any) -> dict[str, Mark]:
        nonlocal late
        late -= 1
        seen = marks(self, uids)
        return {uid: each._replace(step=each.step + (late > 0)) for uid, each in seen.items()}

    monkeypatch.setattr(Witness, "marks", ahead)
    assert onlookers["c"].summary().asked == 16
    monkeypatch.setattr(transaction, "WITNESSED_IN", 0.05)
    late = 10_000
    with pytest.raises(StoreError, match="restored, or is a late replica"):
        onlookers["c"].summary()
