"""A user-defined policy fails to learn from a release: what was drawn is given up, and nothing that
it read is drawn again, in whichever process, whatever the error's type.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from itertools import product
from typing import Any

import httpx
import pytest
import sqlalchemy.exc

import dpbandits as dpb
from dpbandits.service import operations as ops
from dpbandits.service.server.serving import run_maintenance
from dpbandits.service.transaction import QueuedCall
from tests.service.counted import Failing, Watching
from tests.service.http.web import app_of
from tests.service.machine import Time
from tests.service.timelines import Lite

GRID = 4**10
WINDOWED: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
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


class Unlearning(dpb.DPKLUCB):
    """Fails once something is released; `kind` and `where` are set by the test."""

    kind: Any = ZeroDivisionError
    where = "update"

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if Unlearning.where == "update":
            raise Unlearning.kind("x")
        after = super().update(state, plan, release)
        return after._replace(totals=(math.nan,) * 2) if Unlearning.where == "nan" else after

    def plan(self, state: Any, rng: Any) -> Any:
        if Unlearning.where == "plan" and any(state.rounds):
            raise Unlearning.kind("x")
        return super().plan(state, rng)


POLICY = Unlearning(arms=2, epsilon=1, first=4, grid=GRID)


def failing(call: Callable[[], Any]) -> str:
    """The class of a call's error, or nothing."""
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize(("kind", "where"), product(KINDS, ("update", "plan")))
def test_nothing_is_drawn_twice(
    kind: Any, where: str, lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unlearning, "kind", kind)
    monkeypatch.setattr(Unlearning, "where", where)
    noise = Watching()
    campaign = lite.open(noise=noise).create("t", POLICY, seed=3)
    asked = campaign.ask(20)
    failed = [failing(lambda: campaign.tell(each, 1)) for each in asked[:7]]  # noqa: B023
    failed += [failing(lambda: campaign.tell(asked[6], 1)) for _ in range(4)]
    assert [each for each in failed if each] in (["UnlearnedError"], [kind.__name__])
    assert len(noise.sums) == 1
    assert [line.kind for line in campaign.ledger] == ["lost"]
    assert campaign.generation == 2


def test_a_state_that_cannot_be_loaded_again_is_not_written(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON has no NaN: the next process could not open the campaign any more."""
    campaign = lite.open().create("t", POLICY, seed=3)
    monkeypatch.setattr(Unlearning, "where", "nan")
    failed = [failing(lambda: campaign.tell(each, 1)) for each in campaign.ask(7)]  # noqa: B023
    assert [each for each in failed if each] == ["UnlearnedError"]
    assert lite.open().open("t", policy=Unlearning).ask().learn


@pytest.mark.parametrize("looks", [False, True])
def test_other_processes_do_not_draw_it_either(looks: bool, lite: Lite) -> None:
    """All have the campaign in memory as it was before."""
    noises = [Watching() for _ in range(4)]
    stores = [lite.open(noise=each) for each in noises]
    first = stores[0].create("t", POLICY, seed=3)
    asked = first.ask(20)
    campaigns = [first, *(store.open("t", policy=Unlearning) for store in stores[1:])]
    for each in asked[:6]:
        first.tell(each, 1)
    for campaign in campaigns:
        campaign.summary()
    failed = list[str]()
    for campaign in campaigns:
        failed.append(failing(lambda: campaign.tell(asked[6], 1)))  # noqa: B023
        if looks:
            campaign.summary()
    assert failed == ["UnlearnedError", "", "", ""]
    assert sum(len(each.sums) for each in noises) == 1


def test_a_view_between_does_not_have_it_drawn_again(lite: Lite) -> None:
    """The doubt itself cannot be written, as long as the database refuses."""
    noise = Watching()
    campaign = lite.open(noise=noise).create("t", POLICY, seed=3)
    asked = campaign.ask(20)
    for each in asked[:6]:
        campaign.tell(each, 1)
    refuse = "BEFORE UPDATE ON dpbandits_private_state BEGIN SELECT RAISE(ABORT, 'away'); END"
    with closing(sqlite3.connect(lite.file, isolation_level=None)) as database:
        for _ in range(3):
            database.execute(f"CREATE TRIGGER away {refuse}")
            failing(lambda: campaign.tell(asked[6], 1))
            database.execute("DROP TRIGGER away")
            campaign.summary()
    assert len(noise.sums) == 1
    assert campaign.generation == 2


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
    assert failing(campaign.finish) == "UnlearnedError"
    for _ in range(3):
        failing(campaign.finish)
    assert len(noise.sums) == before + 1


TOGETHER: dict[str, Callable[[list[Any]], Any]] = {
    "ask": lambda ids: ops.Ask(count=12),
    "tell": lambda ids: ops.told_pairs([(id, 1) for id in ids[:3]]),
    "expire": lambda ids: ops.Expire.model_validate({"ids": ids[2:4]}),
    "void": lambda ids: ops.Void.model_validate({"ids": ids[3:5]}),
    "retire": lambda ids: ops.RetireArm(arm="b"),
    "pause": lambda ids: ops.PauseArm(arm="b"),
    "resume": lambda ids: ops.ResumeArm(arm="b"),
    "add": lambda ids: ops.AddArm(arm="c"),
    "settle": lambda ids: ops.Settle(),
}


@pytest.mark.parametrize("windowed", [False, True])
def test_any_two_calls_in_one_transaction_are_read_back(windowed: bool, lite: Lite) -> None:
    """What they wrote is what another process reads: nobody is accused of edits."""
    store, fresh = lite.open(), lite.open()
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=5)
    for at, (one, other) in enumerate(product(TOGETHER, TOGETHER)):
        campaign = store.create(f"{at}", policy, seed=at, **(WINDOWED if windowed else {}))
        ids = [each.id for each in campaign.ask(8)]
        host = campaign._calls.host
        host._queue.extend([QueuedCall(TOGETHER[one](ids)), QueuedCall(TOGETHER[other](ids))])
        host._lock.run(host._run_queue)
        before = campaign.summary()
        again = fresh[f"{at}"]
        assert again.tell(ids[5], 1) == "recorded", (one, other)
        assert (again.generation, again.summary().asked) == (1, before.asked), (one, other)


@pytest.mark.parametrize("kind", [ZeroDivisionError, StopIteration])
def test_a_request_is_answered_whatever_a_policy_raises(
    kind: Any, lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Unlearning, "kind", kind)
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
        store.create(name, dpb.DPKLUCB(arms=1, epsilon=1, first=2), **WINDOWED).ask(4)
    clock.now += 100
    warned = dict[str, str]()
    for _ in range(3):
        run_maintenance(store, warned)
    for name in ("a", "b"):  # once, for as long as it lasts
        assert caplog.text.count(f"Campaign {name} could not be settled") == 1
    noise.times = 0
    run_maintenance(store, warned)
    assert [len(store[name].releases()) for name in ("a", "b")] == [2, 2]
