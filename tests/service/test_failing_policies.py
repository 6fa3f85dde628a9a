"""A user-defined policy fails to learn from a release: what was drawn is given up, and nothing that
it read is drawn again, in whichever process, whatever the error's type.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy.exc

import dpbandits as dpb
from dpbandits.service import operations as ops
from dpbandits.service.server.serving import run_maintenance
from dpbandits.service.transaction import QueuedCall
from tests.service.http.web import app_of
from tests.service.test_edited_rows import GRID, KEY, Watching

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


class Failing(dpb.DPKLUCB):
    """Fails once something is released; `kind` and `where` are set by the test."""

    kind: Any = ZeroDivisionError
    where = "update"

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if Failing.where == "update":
            raise Failing.kind("x")
        return super().update(state, plan, release)

    def plan(self, state: Any, rng: Any) -> Any:
        if Failing.where == "plan" and any(state.rounds):
            raise Failing.kind("x")
        return super().plan(state, rng)


def opened(folder: Path, noise: Any) -> Any:
    return dpb.open_store(
        f"sqlite:///{folder}/t.db", key=KEY, witness=folder / "witness", noise=noise
    )


def begun(folder: Path, noise: Any) -> Any:
    policy = Failing(arms=2, epsilon=1, first=4, grid=GRID)
    return opened(folder, noise).create("t", policy, seed=3)


def read_or_none(call: Callable[[], Any]) -> str:
    """The error's class, or nothing."""
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return ""


@pytest.mark.parametrize(("kind", "where"), product(KINDS, ("update", "plan")))
def test_nothing_is_drawn_twice(
    kind: Any, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Failing, "kind", kind)
    monkeypatch.setattr(Failing, "where", where)
    noise = Watching()
    campaign = begun(tmp_path, noise)
    asked = campaign.ask(20)
    failed = [read_or_none(lambda: campaign.tell(each, 1)) for each in asked[:7]]  # noqa: B023
    failed += [read_or_none(lambda: campaign.tell(asked[6], 1)) for _ in range(4)]
    assert [each for each in failed if each] in (["UnlearnedError"], [kind.__name__])
    assert len(noise.sums) == 1
    assert campaign.generation == 2


@pytest.mark.parametrize("looks", [False, True])
def test_other_processes_do_not_draw_it_either(looks: bool, tmp_path: Path) -> None:
    """All have the campaign in memory as it was before."""
    noises = [Watching() for _ in range(4)]
    first = begun(tmp_path, noises[0])
    asked = first.ask(20)
    others = [opened(tmp_path, each).open("t", policy=Failing) for each in noises[1:]]
    for each in asked[:6]:
        first.tell(each, 1)
    for campaign in others:
        campaign.summary()
    failed = list[str]()
    for campaign in (first, *others):
        failed.append(read_or_none(lambda: campaign.tell(asked[6], 1)))  # noqa: B023
        if looks:
            campaign.summary()
    assert failed == ["UnlearnedError", "", "", ""]
    assert sum(len(each.sums) for each in noises) == 1


def test_a_view_between_does_not_have_it_drawn_again(tmp_path: Path) -> None:
    """The doubt itself cannot be written, as long as the database refuses."""
    noise = Watching()
    campaign = begun(tmp_path, noise)
    asked = campaign.ask(20)
    for each in asked[:6]:
        campaign.tell(each, 1)

    def run(sql: str) -> None:
        with closing(sqlite3.connect(tmp_path / "t.db", isolation_level=None)) as database:
            database.execute(sql)

    refuse = "BEFORE UPDATE ON dpbandits_private_state BEGIN SELECT RAISE(ABORT, 'away'); END"
    for _ in range(3):
        run(f"CREATE TRIGGER away {refuse}")
        read_or_none(lambda: campaign.tell(asked[6], 1))
        run("DROP TRIGGER away")
        campaign.summary()
    assert len(noise.sums) == 1
    assert campaign.generation == 2


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]])
def test_a_stopping_rule_finishes_once(segments: Any, tmp_path: Path) -> None:
    """It reads no block then, and draws all the same."""

    class Own(dpb.DPNAS):
        def update(self, state: Any, plan: Any, release: Any) -> Any:
            if release.answers and release.answers[0] is not None:
                raise ZeroDivisionError
            return super().update(state, plan, release)

    noise = Watching()
    noise.ask = lambda *a, **k: drawn.append(a[0]) or super(Watching, noise).ask(*a, **k)  # type: ignore[method-assign,func-returns-value]
    drawn = list[str]()
    rule: Any = Own(alpha=0.5, beta=0.05, cap=10**6, epsilon="1/2")
    campaign = opened(tmp_path, noise).create("t", rule, segments=segments)
    where = {} if segments is None else {"segment": "DE"}
    for _ in range(5):
        campaign.tell(campaign.ask(**where), 1)
    before = drawn.count("laplace")
    assert read_or_none(campaign.finish) == "UnlearnedError"
    for _ in range(3):
        read_or_none(campaign.finish)
    assert drawn.count("laplace") == before + 1


TOGETHER: dict[str, Callable[[list[Any]], Any]] = {
    "ask": lambda ids: ops.Ask(count=12),
    "tell": lambda ids: ops.Tell.model_validate(
        {"tells": [{"id": id, "reward": 1} for id in ids[:3]]}
    ),
    "expire": lambda ids: ops.Expire.model_validate({"ids": ids[2:4]}),
    "void": lambda ids: ops.Void.model_validate({"ids": ids[3:5]}),
    "retire": lambda ids: ops.RetireArm(arm="b"),
    "pause": lambda ids: ops.PauseArm(arm="b"),
    "resume": lambda ids: ops.ResumeArm(arm="b"),
    "add": lambda ids: ops.AddArm(arm="c"),
    "settle": lambda ids: ops.Settle(),
}


@pytest.mark.parametrize("windowed", [False, True])
def test_any_two_calls_in_one_transaction_are_read_back(windowed: bool, tmp_path: Path) -> None:
    """What they wrote is what another process reads: nobody is accused of edits."""
    options: dict[str, Any] = {}
    if windowed:
        options = {"attribution_window": timedelta(hours=1), "default": 0}
    store, fresh = opened(tmp_path, Watching()), opened(tmp_path, Watching())
    policy = dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=5)
    for at, (one, other) in enumerate(product(TOGETHER, TOGETHER)):
        campaign = store.create(f"{at}", policy, seed=at, **options)
        ids = [each.id for each in campaign.ask(8)]
        host = campaign._calls.host
        host._queue.extend([QueuedCall(TOGETHER[one](ids)), QueuedCall(TOGETHER[other](ids))])
        host._lock.run(host._run_queue)
        before = campaign.summary()
        again = fresh[f"{at}"]
        assert again.tell(ids[5], 1) == "recorded", (one, other)
        assert (again.generation, again.summary().asked) == (1, before.asked), (one, other)


@pytest.mark.parametrize("kind", [ZeroDivisionError, StopIteration])
def test_a_request_is_answered_whatever_a_policy_raises(kind: Any, tmp_path: Path) -> None:
    Failing.kind, Failing.where = kind, "update"
    store = opened(tmp_path, dpb.SimulatedNoise(1))
    campaign = store.create("t", Failing(arms=2, epsilon=1, first=4, grid=GRID), seed=3)
    tells = [{"id": each.id, "reward": 1} for each in campaign.ask(8)]

    async def told() -> int:
        transport = httpx.ASGITransport(app_of(store), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            sent = client.post("/v1/campaigns/t/tell", json=tells)
            return (await asyncio.wait_for(sent, 30)).status_code

    assert asyncio.run(told()) >= 400


def test_one_campaign_that_fails_keeps_no_other_one_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The server settles all campaigns now and then, whatever their noise or policy raise."""
    now, noise = [1e6], Watching()
    store = dpb.open_store(
        f"sqlite:///{tmp_path}/t.db",
        key=KEY,
        witness=tmp_path / "witness",
        noise=noise,
        clock=lambda: now[0],
    )
    policy = dpb.DPKLUCB(arms=1, epsilon=1, first=2, grid=GRID)
    window: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
    for name in ("a", "b"):
        store.create(name, policy, **window).ask(4)
    now[0] += 100
    failing = noise.ask
    noise.ask = lambda *a, **k: (_ for _ in ()).throw(OSError("no entropy"))  # type: ignore[method-assign]
    warned = dict[str, str]()
    for _ in range(3):
        run_maintenance(store, warned)
    for name in ("a", "b"):  # once, for as long as it lasts
        assert caplog.text.count(f"Campaign {name} could not be settled") == 1
    noise.ask = failing  # type: ignore[method-assign]
    run_maintenance(store, warned)
    assert [len(store[name].releases()) for name in ("a", "b")] == [2, 2]
    store.close()
