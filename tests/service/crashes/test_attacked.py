"""What attacks on campaigns found: each of these failed before it was mended."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.database import Database
from dpbandits.service.operations import Void, told_pairs
from dpbandits.service.server.access import Access
from dpbandits.service.store import CampaignStore
from dpbandits.service.transaction import Host, QueuedCall
from dpbandits.service.witness import Witness
from tests.service.conftest import Open
from tests.service.http.web import client_of
from tests.service.machine import Time
from tests.service.timelines import Lite, create, inside

KEY = bytes(range(32))


def open_sum(campaign: Any) -> int:
    """What lies in the open blocks, in grid steps."""
    blocks = inside(campaign, lambda part, _: part.session._current.folded().books.blocks)
    return sum(sum(block.sums) for block in blocks.values())


def test_a_copy_that_is_put_back_while_stores_are_open_is_seen(tmp_path: Path) -> None:
    """A store that remembers the other timeline reads everything anew."""
    lite = Lite(tmp_path)
    with lite.open() as first, lite.open() as second:
        one = create(first, dpb.DPKLUCB(arms=1, epsilon=1))
        asked = one.ask(3)
        copy = lite.copy(tmp_path / "copy.db")
        assert one.tell(asked[0], 1) == "recorded"
        first.database.close()
        second.database.close()
        lite.put_back(copy)
        assert second["c"].tell(asked[1], 0) == "recorded"
        assert one.tell(asked[2], 0) == "recorded"
        assert one.tell(asked[0], 1) == "recorded"
        assert open_sum(one) == open_sum(second["c"]) == 1024, "one reward of 1, counted once"


def test_an_answer_that_is_held_makes_nothing_due() -> None:
    """Two campaigns of one seed on one clock, one of which is told between two settlings (a view
    settles, too): what is public of them stays the same.
    """
    now, seen = [1000.0], list[Any]()
    for told in (True, False):
        now[0] = 1000.0
        store = dpb.open_store("memory:", clock=lambda: now[0])
        campaign = store.create(
            "c",
            dpb.DPKLUCB(arms=2, epsilon=1, first=2),
            noise=dpb.SimulatedNoise(1),
            seed=2,
            attribution_window=timedelta(seconds=60),
        )
        asked = campaign.ask(8)
        now[0] = 1030.0
        late = campaign.ask()
        now[0] = 1061.0
        if told:
            assert campaign.tell(late, 0) == "recorded"
            assert campaign.expire(late) == ["recorded"]
            assert campaign.tell(asked[0], 0) == "gone"
        now[0] = 1062.5
        campaign.settle()
        seen.append((campaign.summary(), campaign.ledger, campaign.releases(), campaign.beliefs()))
    assert seen[0] == seen[1]
    assert seen[0][0].step > 0


@pytest.mark.parametrize("where", ["queue", "transaction", "witness"])
def test_who_waits_for_an_interrupted_call_is_told(
    monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Nobody waits for ever, and the next call works."""
    store = dpb.open_store("memory:")
    campaign = create(store)
    lead, transact = Host._run_queue, Host._transact

    def interrupted(self: Host, *given: Any) -> Any:
        if where == "queue":
            self._queue.popleft()
        elif where == "witness":
            transact(self, *given)
        raise KeyboardInterrupt

    name = "_run_queue" if where == "queue" else "_transact"
    monkeypatch.setattr(Host, name, interrupted)
    with pytest.raises(KeyboardInterrupt):
        campaign.ask()
    monkeypatch.setattr(Host, "_run_queue", lead)
    monkeypatch.setattr(Host, "_transact", transact)
    assert campaign.tell(campaign.ask(), 1) == "recorded"


@pytest.mark.parametrize("error", [OSError, MemoryError])
def test_what_is_committed_is_not_done_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: type[Exception]
) -> None:
    store = CampaignStore(Database("memory:"), Witness(tmp_path / "w"), key=KEY)
    campaign = create(store)
    asked = campaign.ask(30)

    def full(*_: Any) -> None:
        raise error

    monkeypatch.setattr(Witness, "add", full)
    with pytest.raises(dpb.StoreError):
        campaign.tell_many([(each, 1) for each in asked])
    monkeypatch.undo()
    assert campaign.tell_many([(each, 1) for each in asked]) == ["already"] * 30
    assert campaign.summary().told == 30


def test_who_is_erased_is_learned_from_no_more() -> None:
    now = [1000.0]
    store = dpb.open_store("memory:", key=KEY, clock=lambda: now[0])

    campaign = create(
        store,
        privacy_unit="user",
        max_contributions=2,
        attribution_window=timedelta(seconds=60),
    )
    campaign.ask(user="anna")
    now[0] = 1061.0  # the first one's time has passed, and nobody has looked since
    second = campaign.ask(user="anna")
    assert campaign.erase("anna") == 1
    assert campaign.tell(second, 1) == "gone"
    assert campaign.ask(user="anna").learn is False


def test_a_key_is_for_one_person() -> None:
    store = dpb.open_store("memory:", key=KEY)
    campaign = create(store, privacy_unit="user", max_contributions=2)
    first = campaign.ask(user="anna", key="visit")
    assert campaign.ask(user="anna", key="visit") == first
    with pytest.raises(ValueError, match="another person"):
        campaign.ask(user="ben", key="visit")


def test_a_server_without_keys_closes_with_the_first_one() -> None:
    store = dpb.open_store("memory:")
    client = client_of(store, open=True)
    assert client.get("/v1/campaigns").status_code == 200
    access = Access(store.database, open=False)
    access.create("me", ["admin"])
    assert client.get("/v1/campaigns").status_code == 401
    access.revoke("me")
    assert client.get("/v1/campaigns").status_code == 401


@pytest.mark.parametrize(
    "noise", [type("Mine", (dpb.SecureNoise,), {})(), type("Sim", (dpb.SimulatedNoise,), {})(1)]
)
def test_a_source_of_ones_own_is_refused(noise: Any) -> None:
    store = dpb.open_store("memory:")
    with pytest.raises(TypeError, match="noise="):
        store.create("c", dpb.DPKLUCB(arms=2, epsilon=1), noise=noise)


def test_secure_noise_stays_in_a_store_of_simulated_ones() -> None:
    store = dpb.open_store("memory:", noise=dpb.SimulatedNoise(1))
    campaign = store.create("c", dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SecureNoise())
    assert campaign.tell(campaign.ask(), 1) == "recorded"
    assert "secure noise" in str(campaign.guarantee)


# Who has the file, and not the key, cannot tell who was shown what; and what was written over is
# gone from it


USER = {"privacy_unit": "user", "max_contributions": 2}


def test_a_repeated_call_is_known_and_its_person_is_not(tmp_path: Path) -> None:
    """Pseudonyms are kept with counts; what tells whether a call is the same leads to none."""
    lite = Lite(tmp_path)
    with lite.open() as store:
        campaign = create(store, **USER)
        made = campaign.ask(2, user="anna", key="page view 17")
        campaign.tell_many([(d, 1) for d in made])
        campaign.erase("anna")
        assert campaign.ask(2, user="anna", key="page view 17") == made
    with closing(sqlite3.connect(lite.file)) as file:
        ((who,),) = file.execute("SELECT pseudonym FROM dpbandits_contribution")
        ((said,),) = file.execute("SELECT response FROM dpbandits_request")
    mark, _ = json.loads(said)
    guess = json.dumps(["", "page view 17", 2, None, who]).encode()
    assert hashlib.sha256(guess).hexdigest() != mark


def test_somebody_who_reads_on_keeps_nobody_waiting(tmp_path: Path) -> None:
    lite = Lite(tmp_path)
    with lite.open(key=None) as store:
        campaign = create(store)
        with closing(sqlite3.connect(lite.file)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM dpbandits_decision").fetchone()
            campaign.tell(campaign.ask(), 1)
            store.database.forget()
            campaign.tell(campaign.ask(), 1)
        store.database.forget()
        assert lite.file.with_name(f"{lite.file.name}-wal").stat().st_size == 0


# Text that not every database keeps, or that would steer a terminal, is refused in the same words
# by all of them


WRONG = pytest.mark.parametrize("text", ["a\0b", "a\ud800", "\x1b[2J", "a\nb"])


@WRONG
def test_text_that_cannot_be_printed_changes_nothing(make: Open, text: str) -> None:
    store = make()
    campaign = create(store)
    before = campaign.summary()
    with pytest.raises(ValueError, match=r"can be printed\. None was made"):
        campaign.ask(key=text)
    with pytest.raises(ValueError, match=r"can be printed\. Nothing was changed"):
        campaign.close(text)
    assert campaign.summary() == before


@WRONG
def test_what_cannot_be_a_name_is_unknown(make: Open, text: str) -> None:
    store = make()
    assert text not in store
    with pytest.raises(KeyError, match="There is no campaign"):
        store[text]
    with pytest.raises(ValueError, match="There is no scope"):
        store.create("c", dpb.DPKLUCB(arms=2, epsilon=1), scope=text)
    assert list(store) == []


@WRONG
def test_keys_have_names_that_can_be_listed(make: Open, text: str) -> None:
    store = make()
    access = Access(store.database, open=False)
    with pytest.raises(ValueError, match="which can be printed"):
        access.create(text, ["read"])
    with pytest.raises(ValueError, match="Expected a campaign's name"):
        access.create("me", ["read"], text)
    assert access.keys() == []


# What is said of a decision does not depend on what else its transaction did


def test_a_time_that_passed_is_said_to_be_gone_whoever_sees_it_first(make: Open) -> None:
    clock = Time()
    campaign = create(make(clock=clock), attribution_window=timedelta(seconds=60), default=0)
    told, silent = campaign.ask(2)
    campaign.tell(told, 1)
    clock.now += 61
    assert campaign.void(told, silent) == ["gone", "gone"]
    assert campaign.void(told, silent) == ["gone", "gone"]


def test_an_answer_done_together_with_a_void_is_as_one_done_after_it(make: Open) -> None:
    campaign = create(make())
    decision = campaign.ask()
    batch = [QueuedCall(Void(ids=[decision.id])), QueuedCall(told_pairs([(decision.id, 1)]))]
    campaign._calls.host._transact(batch)
    assert [ticket.value for ticket in batch] == [["recorded"], ["gone"]]
    assert campaign.tell(decision, 1) == "gone"
