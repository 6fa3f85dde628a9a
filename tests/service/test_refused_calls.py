"""A call that is refused has no say in how often noise is drawn: what was due before it stands, and
every block is read by one draw.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.service.operations import Void
from tests.service.counted import Counted

WINDOW = 60
WINDOWED = {"attribution_window": timedelta(seconds=WINDOW), "default": 0}
RAIL = {"guardrail": dpb.Guardrail("refunds", limit=0.2)}
MOST = 40
"""Decisions that may wait."""


class Played:
    """A campaign on a clock of its own, whose answers become due as `due` is called."""

    def __init__(
        self,
        where: str,
        folder: Path,
        options: dict[str, Any],
        *,
        policy: Any = None,
        noise: Any = None,
    ) -> None:
        self.now, self.noise, self.options = 1e6, noise or Counted(), options
        url = "memory:" if where == "memory" else f"sqlite:///{folder}/trial.db"
        elsewhere = {} if where == "memory" else {"witness": folder / "elsewhere.witness"}
        self.store = dpb.open_store(
            url, key=bytes(range(32)), noise=self.noise, clock=lambda: self.now, **elsewhere
        )
        policy = policy or dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=2)
        self.campaign: Any = self.store.create("trial", policy, max_pending=MOST, **options)
        self.people, self.late = 0, None

    def asked(self, count: int, **how: Any) -> list[Any]:
        """Decisions; where people are known, each for somebody else."""
        if "segments" in self.options:
            how.setdefault("segment", "DE")
        if not {"privacy_unit", "holdout"} & self.options.keys():
            return list(self.campaign.ask(count, **how))
        self.people += count
        users = range(self.people - count, self.people)
        return [self.campaign.ask(user=f"person {user}", **how) for user in users]

    def due(self) -> list[Any]:
        """Outcomes that are due now, where answers are waited for; `late` is due later."""
        reward = (1, 0) if "guardrail" in self.options else 1
        if self.late is not None:
            self.campaign.tell(self.late, reward)
        asked = self.asked(8)
        self.campaign.tell_many([(each, reward) for each in asked[::2]])
        self.now += WINDOW / 2
        (self.late,) = self.asked(1)
        self.now += WINDOW / 2 + 1
        return asked

    def readings(self) -> int:
        """Blocks that were read."""
        ledger = self.campaign.ledger
        parts = ledger.values() if isinstance(ledger, dict) else [ledger]
        return sum(line.kind == "read" for part in parts for line in part)


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.long)])
def where(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("count", [1, MOST + 1])
def test_refused_asks_tell_of_one_draw(where: str, tmp_path: Path, count: int) -> None:
    """The decision of a guardrail is made once, whatever is asked; and after it, it stands."""
    said = set[str]()
    played = Played(where, tmp_path, {**WINDOWED, **RAIL})
    with played.store:
        asked = played.campaign.ask(MOST - 1, eligible=["b"])
        played.campaign.tell_many([(each, (1, 1)) for each in asked])
        played.now += WINDOW + 1
        drawn = set[int]()
        for _ in range(300):
            with pytest.raises((ValueError, RuntimeError)) as refused:
                played.campaign.ask(MOST + 1, eligible=["b"])
            said.add(str(refused.value))
            drawn.add(played.noise.drawn)
        assert len(said) == len(drawn) == 1
        assert drawn == {played.readings()}
        assert drawn != {0}


def test_a_guardrail_suspends_an_arm_that_alone_is_asked_for(where: str, tmp_path: Path) -> None:
    played = Played(where, tmp_path, {**WINDOWED, **RAIL})
    with played.store:
        refused = None
        for _ in range(200):
            try:
                asked = played.campaign.ask(MOST, eligible=["b"])
            except ValueError as error:
                refused = str(error)
                break
            played.campaign.tell_many([(each, (1, 1)) for each in asked])
            played.now += WINDOW + 1
        assert refused is not None
        assert [(each.what, each.arm) for each in played.campaign.alarms] == [("suspend", "b")]
        assert dict(played.campaign.arms)["b"] == "paused"


def test_what_is_released_does_not_depend_on_the_calls_that_came(tmp_path: Path) -> None:
    """The same decisions and answers, with other calls between them."""

    def settle(campaign: Any) -> None:
        campaign.settle()

    def refuse(campaign: Any) -> None:
        for call in (
            lambda: campaign.ask(MOST + 1, eligible=["b"]),
            lambda: campaign.ask(eligible=["red"]),
            lambda: campaign.pause_arm("red"),
            lambda: campaign.add_arm("a"),
        ):
            with pytest.raises((ValueError, RuntimeError)):
                call()

    def look(campaign: Any) -> None:
        campaign.summary()

    found, policy = [], dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=8, first=2)
    for at, between in enumerate((settle, refuse, look)):
        (folder := tmp_path / str(at)).mkdir()
        played = Played("sqlite", folder, {**WINDOWED, **RAIL, "seed": 3}, policy=policy)
        with played.store:
            for _ in range(12):
                asked = played.campaign.ask(MOST)
                harms = [(1, int(each.label == "b")) for each in asked]
                played.campaign.tell_many(list(zip(asked, harms, strict=True)))
                played.now += WINDOW + 1
                between(played.campaign)
            played.campaign.settle()
            releases = [
                each.model_copy(update={"made_at": 0}) for each in played.campaign.releases()
            ]
            found.append((releases, played.campaign.alarms, played.campaign.beliefs()))
    assert found[0] == found[1] == found[2]
    assert found[0][1], "an arm was suspended"


def test_refused_and_told_together(where: str, tmp_path: Path) -> None:
    """Calls of many threads are done in one transaction: those that are refused undo nothing of the
    others', and no block is read twice.
    """
    played = Played(where, tmp_path, RAIL)
    with played.store:
        asked = [played.campaign.ask() for _ in range(MOST - 10)]
        begin, refused = threading.Barrier(len(asked) + 10), list[str]()

        def tell(decision: Any) -> None:
            begin.wait()
            played.campaign.tell(decision, (1, 1))

        def ask() -> None:
            begin.wait()
            try:
                played.campaign.ask(MOST + 1, eligible=["b"])
            except (ValueError, RuntimeError) as error:
                refused.append(type(error).__name__)

        threads = [threading.Thread(target=tell, args=[each]) for each in asked]
        threads += [threading.Thread(target=ask) for _ in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 10
        assert played.campaign.summary().waiting == 0
        assert played.readings() == played.noise.drawn > 0


class Failing(Counted):
    """Noise that fails so many times, from the so-manieth draw on."""

    def __init__(self, after: int, times: int) -> None:
        super().__init__()
        self.after, self.times = after, times

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if self.drawn == self.after and self.times:
            self.times -= 1
            raise ArithmeticError("no noise")
        return super().ask(verb, *exact, **cost)


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize("options", [{}, WINDOWED], ids=["", "window"])
def test_noise_that_fails_undoes_no_release(
    where: str, tmp_path: Path, after: int, options: dict[str, Any]
) -> None:
    """What was released before it in the same call stands; what failed is released later."""
    played = Played(where, tmp_path, options, noise=Failing(after, 4))
    asked, failed = played.campaign.ask(MOST), 0
    calls = [
        lambda: played.campaign.tell_many([(each, 1) for each in asked]),
        *[lambda: played.campaign.settle()] * 8,
    ]
    with played.store:
        for call in calls:
            try:
                call()
            except (ArithmeticError, RuntimeError):
                failed += 1
            assert played.readings() == played.noise.drawn
            played.now += WINDOW + 1
        replies = played.campaign.tell_many([(each, 1) for each in asked])
        assert "unknown" not in replies
        played.campaign.settle()
        assert played.readings() == played.noise.drawn > 6
        assert played.noise.times == 0
        assert failed == 4 or options  # with a window, views try to release what is due, too
        assert played.campaign.generation == 1


def test_noise_that_fails_in_one_segment_keeps_nothing_from_another() -> None:
    noise = Failing(0, 1)
    policy = dpb.DPKLUCB(arms=1, epsilon=1, first=4)
    with dpb.open_store("memory:", noise=noise) as store:
        campaign = store.create("trial", policy, segments=["DE", "FR"], seed=1)
        germans, french = (campaign.ask(8, segment=name) for name in ("DE", "FR"))
        tells = [(each, 1) for pair in zip(germans, french, strict=True) for each in pair]
        with pytest.raises(ArithmeticError):
            campaign.tell_many(tells[:8])
        assert [campaign[name].summary().told for name in ("DE", "FR")] == [4, 4]
        assert [campaign[name].summary().step for name in ("DE", "FR")] == [0, 1]
        noise.after, noise.times = noise.drawn, 1  # what is due in DE
        with pytest.raises(RuntimeError, match="nothing in the one where"):
            campaign.tell_many(tells[8:])
        assert [campaign[name].summary().told for name in ("DE", "FR")] == [4, 8]
        assert campaign.tell_many(tells[8:]) == ["recorded", "already"] * 4
        assert sum(len(lines) for lines in campaign.ledger.values()) == noise.drawn > 2


def test_a_void_that_failed_in_one_segment_says_so_once_it_is_done() -> None:
    """Its own voids of other segments are "already" made, whenever it is called again."""
    noise, policy = Failing(0, 2), dpb.DPKLUCB(arms=1, epsilon=1, first=4)
    with dpb.open_store("memory:", noise=noise) as store:
        campaign = store.create("trial", policy, segments=["DE", "FR"], seed=1)
        germans, french = (campaign.ask(8, segment=name) for name in ("DE", "FR"))
        with pytest.raises(ArithmeticError):
            campaign.tell_many([(each, 1) for each in germans[:4]])
        both = Void(ids=[each.id for each in (germans[7], french[7], french[6])], key="both")
        with pytest.raises(RuntimeError, match="nothing in the one where"):
            campaign.do(both)
        assert [len(campaign.pending(segment=name)) for name in ("DE", "FR")] == [4, 6]
        for _ in range(2):
            assert campaign.do(both) == ["recorded", "already", "already"]
        assert campaign.void(*germans[7:], *french[6:]) == ["already"] * 3
        assert campaign.tell_many([(each, 1) for each in french[5:]]) == ["recorded"] + ["gone"] * 2
        assert noise.drawn == sum(len(lines) for lines in campaign.ledger.values()) == 1


@pytest.mark.parametrize("failures", [1, 2, 3])
def test_answers_are_told_again_after_noise_has_failed(failures: int) -> None:
    with dpb.open_store("memory:", noise=Failing(0, failures)) as store:
        campaign = store.create("trial", dpb.DPKLUCB(arms=2, epsilon=2), seed=1)
        asked, others = campaign.ask(200), campaign.ask(50)
        for _ in range(failures):
            with pytest.raises((ArithmeticError, RuntimeError)):
                campaign.tell_many([(each, 1.0) for each in asked])
        assert campaign.tell_many([(each, 1.0) for each in asked]) == ["already"] * 200
        assert campaign.tell_many([(each, 1.0) for each in others]) == ["recorded"] * 50
        assert campaign.generation == 1


def test_a_void_keeps_answers_that_are_held_where_noise_has_failed() -> None:
    now, noise = [0.0], Failing(0, 1)
    window = timedelta(seconds=100)
    with dpb.open_store("memory:", noise=noise, clock=lambda: now[0]) as store:
        policy = dpb.DPKLUCB(arms=1, epsilon=1_000)
        campaign = store.create(
            "trial", policy, attribution_window=window, unsealed=True, max_pending=1_000
        )
        campaign.tell_many([(each, 1.0) for each in campaign.ask(400)])
        now[0] = 50.0
        late = campaign.ask()
        now[0] = 120.0
        with pytest.raises(ArithmeticError):
            campaign.void(late)
        now[0] = 200.0
        campaign.settle()
        (arm,) = campaign.beliefs().rows
        assert arm.mean is not None
        assert arm.mean > 0.9  # with the default in their place, it would be below


def test_a_policy_at_its_end_undoes_no_release(where: str, tmp_path: Path) -> None:
    """It says so with every call, and what was released until then is released once."""
    policy = dpb.DPUCB(arms=["a", "b", "c"], epsilon=1, horizon=8)
    played = Played(where, tmp_path, WINDOWED, policy=policy)
    with played.store:
        asked = played.campaign.ask(MOST)
        played.campaign.tell_many([(each, 1) for each in asked])
        played.now += WINDOW + 1
        drawn = set[int]()
        for _ in range(3):
            for call in (
                lambda: played.campaign.ask(),
                lambda: played.campaign.settle(),
                lambda: played.campaign.pause_arm("a"),
            ):
                with pytest.raises(dpb.HorizonError):
                    call()
                drawn.add(played.noise.drawn)
        assert drawn == {played.readings()}
        assert drawn != {0}


class Stubborn(dpb.DPKLUCB):
    """BROKEN ON PURPOSE: it refuses to learn what was released, if that is not to its taste."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if release.answers and release.answers[0].total < 1e9:
            raise ZeroDivisionError
        return super().update(state, plan, release)


@pytest.mark.parametrize("options", [{}, WINDOWED], ids=["", "window"])
def test_how_a_policy_fails_tells_of_one_draw(
    where: str, tmp_path: Path, options: dict[str, Any]
) -> None:
    """A policy that fails for what was released has the block read no second time."""
    noise, now = Counted(), [1e6]
    elsewhere = {} if where == "memory" else {"witness": tmp_path / "elsewhere.witness"}
    url = "memory:" if where == "memory" else f"sqlite:///{tmp_path}/trial.db"
    with dpb.open_store(
        url, key=bytes(range(32)), noise=noise, clock=lambda: now[0], **elsewhere
    ) as store:
        policy = Stubborn(arms=2, epsilon=1, first=4)
        campaign = store.create("trial", policy, **options)
        asked, replies = campaign.ask(20), list[str]()
        for decision in asked:
            try:
                replies.append(campaign.tell(decision, 1))
            except dpb.StoreError as error:
                replies.append(type(error.__cause__).__name__)
        if options:
            now[0] += WINDOW + 1
            with pytest.raises(dpb.StoreError, match="given up"):
                campaign.settle()
            campaign.settle()
        else:
            assert replies.index("ZeroDivisionError") >= 3
            assert set(replies[replies.index("ZeroDivisionError") + 1 :]) == {"gone"}
        assert noise.drawn == 1
        assert [line.kind for line in campaign.ledger] == ["lost"]
        assert campaign.generation == 2


def test_a_reply_that_was_edited_draws_nothing_anew(tmp_path: Path) -> None:
    """Its call is refused, and no other."""
    played = Played("sqlite", tmp_path, {**WINDOWED, **RAIL})
    campaign = played.campaign
    with played.store, closing(sqlite3.connect(tmp_path / "trial.db")) as database:
        campaign.ask(key="a")
        campaign.pause_arm("c", key="b")
        played.due()
        with database:
            database.execute("UPDATE dpbandits_request SET response = 'nothing'")
        for call in (lambda: campaign.ask(key="a"), lambda: campaign.pause_arm("c", key="b")):
            for _ in range(3):
                with pytest.raises(dpb.EditedRowsError, match="another key"):
                    call()
                assert played.readings() == played.noise.drawn > 0
        assert campaign.generation == 1
