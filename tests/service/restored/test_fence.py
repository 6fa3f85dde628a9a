"""A database that was put back is noticed, and gives up what may have been read:
proofs/fence.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import WitnessError
from dpbandits.service.database import Database
from dpbandits.service.operations import Ask, RestartArm, RetireArm
from dpbandits.service.transaction import Host, QueuedCall
from dpbandits.service.witness import Witness
from tests.service.counted import Counted, Failing
from tests.service.http.web import client_of, remote
from tests.service.machine import BY_CONTEXT, CONTEXTS, Time
from tests.service.timelines import (
    Lite,
    copied,
    copy_file,
    create,
    everything,
    inside,
    lost_lines,
    store_of,
    turns,
)

PEOPLE: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1}


WAITED: dict[str, Any] = {"attribution_window": timedelta(minutes=1), "default": 0}
PUT_BACK: dict[str, tuple[Any, dict[str, Any]]] = {
    "batches": (dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=4), {}),
    "answers that are held": (dpb.DPKLUCB(arms=["a", "b"], epsilon=1, first=4), WAITED),
    "sums that are remembered": (dpb.HybridUCB(arms=["a", "b"], epsilon=1), {}),
    "arms without names": (dpb.DPUCB(arms=2, epsilon=1, horizon=4096), {}),
    "contexts": (BY_CONTEXT, {}),
}


@pytest.mark.parametrize("kind", PUT_BACK)
def test_a_copy_that_is_put_back_begins_a_generation(lite: Lite, kind: str) -> None:
    """What it holds is given up; what a mechanism remembers begins anew, with all arms."""
    policy, options = PUT_BACK[kind]
    clock, new = Time(), None if kind == "arms without names" else "new"
    how: dict[str, Any] = {"context": (CONTEXTS * 3)[:8]} if kind == "contexts" else {}
    with lite.open(clock=clock) as store:
        campaign = create(store, policy, **options)
        last = campaign.add_arm(new)
        campaign.retire_arm(1)
        turns(campaign, 16, **how)
        late = campaign.ask(8, **how)
        copy, arms, ledger = lite.copy(), campaign.arms, campaign.ledger
        unknown = campaign.ask(8, **how)
        for _ in range(2):
            clock.now += 61  # what the copy holds counts in the first timeline
            turns(campaign, 64, **how)
        assert campaign.releases()
    lite.put_back(copy)
    campaign = lite.open(clock=clock)["c"]
    assert campaign.generation == 2
    assert not campaign.summary().waiting
    assert campaign.summary().void == len(late) + (16 if options else 0)  # none counts as answered
    (lost,) = lost_lines(campaign)
    assert (lost.generation, lost.cost) == (1, "1")
    assert campaign.spent == 1
    said = " ".join(campaign.statement().split())
    assert "The campaign was fenced once" in said
    assert re.search("The most that any .* cost in all readings together is ε = 1", said)
    assert campaign.events()[0].what == "fence"
    for reward in (0, 1):
        assert {campaign.tell(each, reward) for each in late} == {"gone"}
        assert {campaign.tell(each, reward) for each in unknown} == {"unknown"}
    assert inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 200))) == {}
    clock.now += 61
    campaign.settle()
    assert {*campaign.ledger} == {*ledger, lost}
    assert campaign.arms == arms
    keeps_releases = inside(campaign, lambda part, _: part.session.releases) > 0
    assert keeps_releases is (kind in ("batches", "contexts"))
    played = {each.action for each in turns(campaign, 64, **how)}
    assert {0, last} <= played <= {0, 2, last}
    clock.now += 61
    campaign.settle()
    assert min(line.start for line in inside(campaign, lambda part, _: part.session.ledger)) == 0
    assert (campaign.spent, campaign.generation, len(lost_lines(campaign))) == (1, 2, 1)
    assert lite.open()["c"].summary().asked == 88


def test_a_policy_that_begins_anew_soon_knows_how_late_answers_are(lite: Lite) -> None:
    """What was recorded elsewhere before counted against it: nobody was late for 500 answers."""
    with lite.open() as store:
        create(store, dpb.DPUCB(arms=2, epsilon=1, horizon=4096)).record(0, [1] * 500, key="week 1")
        store["c"].fence()
    campaign = lite.open(noise=dpb.SimulatedNoise(1))["c"]
    silent, again = campaign.ask(), 0
    for _ in range(100):
        decision = campaign.ask()
        campaign.tell(decision, decision.action == silent.action)
        again += decision.action == silent.action
    assert again


def test_a_copy_that_is_put_back_while_stores_are_open_is_seen(lite: Lite) -> None:
    """A store that remembers the other timeline reads everything anew."""
    with lite.open() as first, lite.open() as second:
        one = create(first, dpb.DPKLUCB(arms=1, epsilon=1))
        asked = one.ask(3)
        copy = lite.copy()
        assert one.tell(asked[0], 1) == "recorded"
        first.database.close()
        second.database.close()
        lite.put_back(copy)
        assert second["c"].tell(asked[1], 0) == "recorded"
        assert one.tell(asked[2], 0) == "recorded"
        assert one.tell(asked[0], 1) == "recorded"
        for campaign in (one, second["c"]):
            books = inside(campaign, lambda part, _: part.session._current.folded().books)
            sums = [sum(block.sums) for block in books.blocks.values()]
            assert sums == [1024], "one reward of 1, counted once"


def test_a_copy_that_takes_the_place_of_an_open_file_is_refused(lite: Lite) -> None:
    """Some connections would write to one, and some to the other: answers would be lost."""
    with lite.open() as store:
        asked = create(store).ask(3)
        lite.copy().replace(lite.file)
        for call in store["c"].ask, store["c"].summary, lambda: store["c"].tell(asked[0], 1):
            with pytest.raises(dpb.StoreError, match="moved or replaced"):
                call()
    assert lite.file.with_name("trial.db-wal").stat().st_size == 0, "it belongs to the other file"
    assert lite.open()["c"].ask(2)


def test_a_file_that_cannot_be_looked_for_is_an_error_of_the_store(tmp_path: Path) -> None:
    """As on a disk that is away. It was an OSError, which calls do not know."""
    folder, away = tmp_path / "data", tmp_path / "away"
    folder.mkdir()
    with Lite(folder).open() as store:
        folder.rename(away).with_name("data").touch()
        with pytest.raises(dpb.StoreError, match=r"could not be read .*[Nn]ot a directory"):
            len(store)
        folder.unlink()
        away.rename(folder)
        assert len(store) == 0


# What is given up, and what goes on


@pytest.mark.parametrize("due", ["a period has ended", "noise failed"])
def test_what_is_due_in_a_copy_is_not_read_there(lite: Lite, due: str) -> None:
    """The timeline that was lost read it: a fence drops it, however long ago it became due."""
    clock, noise = Time(), Failing(0, int(due == "noise failed"))
    opening: dict[str, Any] = {"clock": clock, "noise": noise}
    options = {} if noise.times else {"period": timedelta(seconds=100), "min_share": 0.1}
    with lite.open(**opening) as store:
        policy = dpb.DPRateIMED(arms=2, epsilon=1, first=4)
        campaign = store.create("c", policy, seed=1, **options)
        asked = campaign.ask(9 if noise.times else 3)
        with suppress(ArithmeticError):
            campaign.tell_many([(each, 1) for each in asked])
        assert noise.drawn == 0
        copy = lite.copy()
        clock.now += 200
        campaign.ask()
        drawn = noise.drawn
        assert drawn > 0
    lite.put_back(copy)
    campaign = lite.open(**opening)["c"]
    assert campaign.generation == 2
    assert [line.kind for line in campaign.ledger] == ["lost"]
    campaign.ask()
    assert noise.drawn == drawn


# People


def test_nobody_is_learned_from_before_the_next_window(lite: Lite) -> None:
    """The closed window is that of the lost timeline: the machine's clock is put back, too."""
    clock, hour = Time(), 3600.0
    began = clock.now
    with lite.open(clock=clock) as store:
        campaign = create(store, **PEOPLE, window=timedelta(hours=1))
        campaign.ask(user="early")
        copy = lite.copy()
        clock.now = began + hour
        assert all(d.learn for n in range(30) for d in turns(campaign, 1, user=f"p{n}"))
    clock.now = began
    lite.put_back(copy)
    campaign = lite.open(clock=clock)["c"]
    assert campaign.generation == 2  # it was fenced in the earlier hour
    for now in (began, began + hour):
        clock.now = now
        assert [campaign.ask(user=who).learn for who in ("p0", "p1", "new")] == [False] * 3
    said = " ".join(campaign.statement().split())
    assert "open (at most: all who came since the database was restored, until that" in said
    assert campaign.alarms == ()
    assert not campaign.beliefs().is_over
    clock.now = began + 2 * hour
    assert [campaign.ask(user=who).learn for who in ("p0", "new")] == [True, True]


def test_people_for_ever_are_learned_from_no_more(lite: Lite) -> None:
    """An alarm says so, and what to do; and nobody is told to wait for more people."""
    forecasts, people = list[Any](), iter(range(1, 1_000))

    def many(campaign: Any) -> None:
        for person in islice(people, 50):
            decision = campaign.ask(user=f"p{person}")
            campaign.tell(decision, float(person % 10 < (7 if decision.action else 3)))
        forecasts.append(campaign.beliefs())
        assert campaign.alarms == ()

    with lite.open() as store:
        many(create(store, dpb.DPRateIMED(arms=2, epsilon=4), min_share=0.1, **PEOPLE))
        copy = lite.copy()
        many(store["c"])
    lite.put_back(copy)
    campaign = (store := lite.open())["c"]
    assert [campaign.ask(user=name).learn for name in ("p1", "new")] == [False, False]
    (alarm,) = campaign.alarms
    assert (alarm.what, alarm.arm, alarm.asked) == ("restored", None, 52)
    assert "Close this campaign, and begin another one" in alarm.advice
    far = remote(client_of(store))["c"]
    assert far.alarms == campaign.alarms
    assert all("more rounds" in each.advice for each in forecasts)
    for beliefs in (campaign.beliefs(), far.beliefs()):
        assert beliefs.advice == "No arm is named the best at .95 confidence."
    said = " ".join(campaign.statement().split())
    assert "more rounds" not in said
    assert "answered or not (at most: all who came since the database was restored" in said
    campaign.close("restored")
    assert campaign.alarms == ()


# Witnesses


def test_a_crash_between_commit_and_witness_is_made_good_before_a_fence(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was released is witnessed first, and so it is shown."""
    with lite.open() as store:
        campaign = create(store)
        before, asked = len(campaign.releases()), campaign.ask(12)
        crash(monkeypatch, lambda: campaign.tell_many([(d, 1) for d in asked]))
    campaign = lite.open()["c"]
    campaign.fence()
    assert campaign.generation == 2
    assert len([each for each in campaign.releases() if each.coordinates]) > before
    assert any(row.mean is not None for row in campaign.beliefs())
    assert {campaign.tell(d, 0) for d in asked} == {"gone"}
    turns(campaign, 20)


def crash(monkeypatch: pytest.MonkeyPatch, call: Any) -> None:
    """Make a call that is killed between its commit and its witness."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Witness, "add", killed)
        with pytest.raises(KeyboardInterrupt):
            call()


def test_a_fence_that_is_killed_before_it_is_witnessed_is_made_good(
    lite: Lite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call goes on from where the witness stands, and fences nothing again."""
    with lite.open() as store:
        campaign = create(store)
        copy = lite.copy()
        turns(campaign, 20)
    lite.put_back(copy)
    with lite.open() as store:
        crash(monkeypatch, store["c"].ask)
    campaign = lite.open()["c"]
    assert len(turns(campaign, 20)) == 20
    assert (campaign.generation, len(lost_lines(campaign))) == (2, 1)


ONE_ARM = {
    "plain": dpb.DPKLUCB(arms=1, epsilon=1, first=4),
    "contexts": dpb.DPLinTS(
        arms=1, features=2, epsilon=1, first=4, public_contexts=[CONTEXTS[0]] * 4
    ),
}


@pytest.mark.parametrize("kind", ONE_ARM)
def test_a_release_that_was_never_witnessed_stays_unseen(
    lite: Lite, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Of two releases of the same rewards, on two timelines, one is ever shown."""
    how: dict[str, Any] = {"context": [CONTEXTS[0]] * 4} if kind == "contexts" else {}
    with lite.open() as store:
        # seeded noise would draw the same release on both
        campaign = store.create("c", ONE_ARM[kind])
        asked = campaign.ask(4, **how)
        campaign.tell_many([(d, 1) for d in asked[:3]])
        first = lite.copy("first.db")
        crash(monkeypatch, lambda: campaign.tell(asked[3], 1))
        second = lite.copy("second.db")
    lite.put_back(first)
    with lite.open() as store:
        campaign = store["c"]
        campaign.tell(asked[3], 1)
        shown = [release.coordinates for release in campaign.releases()]
        assert sum(map(bool, shown)) == 1
    lite.put_back(second)
    campaign = lite.open()["c"]
    assert campaign.generation == 2
    assert not any(release.coordinates for release in campaign.releases())
    if kind == "plain":
        assert [row.mean for row in campaign.beliefs()] == [None]
    assert campaign.tell(asked[3], 1) == "gone"
    turns(campaign, 4, **how)
    campaign.fence()  # which leaves hidden what is
    assert len([r for r in campaign.releases() if r.coordinates]) == 1
    assert len(turns(lite.open()["c"], 4, **how)) == 4


def test_a_witness_that_is_lost_or_older_is_refused(lite: Lite) -> None:
    """Until somebody fences the campaign: one segment, and so all of them."""
    with lite.open() as store:
        segments = {"segments": ["DE", "FR"], **PEOPLE}
        campaign = create(store, dpb.DPKLUCB(arms=2, epsilon=1, first=4), **segments)
        ann = campaign.ask(segment="DE", user="ann")
        copy_file(lite.witness, old := lite.witness.with_name("older"))
        for user in range(24):
            campaign.tell(campaign.ask(segment="FR", user=user), 1)
    for content in (b"", old.read_bytes()):
        lite.witness.write_bytes(content)
        campaign = lite.open()["c"]
        with pytest.raises(WitnessError, match="campaign fence"):
            campaign.ask(segment="DE", user="x")
        with pytest.raises(WitnessError, match="campaign fence"):
            campaign.summary()
    campaign = lite.open()["c"]
    campaign["FR"].fence()
    assert campaign.tell(ann, 1) == "gone"
    assert [campaign[name].generation for name in ("DE", "FR")] == [2, 2]
    campaign.ask(segment="DE", user="y")


def test_a_witness_that_is_elsewhere_leaves_no_empty_file(lite: Lite) -> None:
    """A command without `--witness`, beside a store that has another one."""
    with lite.open() as store:
        turns(create(store), 20)
    lite.witness.rename(lite.witness.with_name("moved.witness"))
    with lite.open() as store, pytest.raises(WitnessError, match="open the store with witness="):
        store["c"].ask()
    assert not lite.witness.exists()
    with lite.open() as store:  # and where it is lost, a fence makes a new one
        store["c"].fence()
        turns(store["c"], 20)
    assert lite.witness.stat().st_size


def test_a_damaged_file_is_told_from_one_that_is_busy(lite: Lite) -> None:
    """As by a copy that is put back beside another one's log."""
    with lite.open() as store:
        create(store).ask(500)
    whole = lite.file.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    lite.file.write_bytes(whole[:page] + bytes([255]) * (len(whole) - page))
    with pytest.raises(dpb.StoreError, match=r"file is damaged.*-wal and -shm"):
        list(lite.open())


# Two copies of one database at work, with one witness


def clones(witness: Path) -> tuple[Any, Any, list[Any]]:
    """A campaign, its clone, and decisions that both know."""
    backend = Database("memory:")
    campaign = create(store_of(backend, witness))
    asked = campaign.ask(30)
    return campaign, store_of(copied(backend), witness)["c"], asked


def test_two_clones_never_show_two_readings(tmp_path: Path) -> None:
    """Whoever comes second gives up what it has."""
    campaign, clone, asked = clones(tmp_path / "witness")
    assert {*campaign.tell_many([(d, 1) for d in asked])} == {"recorded"}
    assert {*clone.tell_many([(d, 0) for d in asked])} == {"gone"}
    assert clone.generation == 2
    assert len(lost_lines(clone)) == 1
    assert campaign.generation == 3


def overtaken(patch: pytest.MonkeyPatch, clone: Any, other: Callable[[], object]) -> None:
    """The other copy commits and is witnessed once the clone has compared itself with the witness,
    and before it commits.
    """
    begin = Database.transaction

    def transaction(self: Any, uid: str) -> Any:
        if self is clone._calls.host.database:
            patch.undo()
            other()
            patch.setattr(Host, "_is_restored", lambda *_: False)
        return begin(self, uid)

    patch.setattr(Database, "transaction", transaction)


@pytest.mark.parametrize("reward", [0, 1])
def test_two_clones_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reward: int) -> None:
    """Both compare before one commits: the other's release is never shown, nor whether it is the
    same.
    """
    campaign, clone, asked = clones(tmp_path / "witness")
    overtaken(monkeypatch, clone, lambda: campaign.tell_many([(d, 1) for d in asked]))
    with pytest.raises(WitnessError, match="two copies"):
        clone.tell_many([(d, reward) for d in asked])
    monkeypatch.undo()
    assert clone.generation == 2
    assert not any(release.coordinates for release in clone.releases())
    assert {row.mean for row in clone.beliefs()} == {None}


class Shifting(Counted):
    """Adds so much to what it is asked about, and takes it from the next, in place of noise."""

    def __init__(self, by: int) -> None:
        super().__init__()
        self.by = by

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        self.by, by = -self.by, self.by
        if verb == "joint":
            return tuple(int(each) + by for each in exact[0])
        return int(exact[0]) + by


KEPT: dict[str, Any] = {"sticky": True, "privacy_unit": "user", "max_contributions": 2}
UNSEEN: dict[str, dict[str, Any]] = {
    "decisions": {},
    "numbers of releases": {},
    "shares": {"min_share": 0.1},
    "suspended arms": {"guardrail": dpb.Guardrail("refunds", limit=0.2)},
    "arms that are kept": KEPT,
    "arms that are kept, in other segments": {**KEPT, "segments": ["DE", "FR"]},
    "arms of people who are not learned from": {**KEPT, "max_contributions": 1},
}


@pytest.mark.parametrize("kind", UNSEEN)
def test_nothing_that_came_of_an_unseen_release_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Two copies read the same answers, and one of them is never witnessed. Whatever it drew, what
    it shows is the same: of decisions, of shares and arms, and of what an operator did meanwhile.
    """
    options, seen, names = UNSEEN[kind], list[Any](), re.compile("[0-9a-f]{32}")
    latest = range(170, 190)  # some have come before
    reward, users = (1, 0.15) if "guardrail" in options else 1, "sticky" in options

    def visits(people: range) -> list[dict[str, Any]]:
        if not users:
            return [{"count": len(people)}]
        where = options.get("segments", [None])
        return [{"count": 1, "user": n, "segment": each} for each in where for n in people]

    def ask(campaign: Any, people: range) -> list[Any]:
        return [each for visit in visits(people) for each in campaign.ask(**visit)]

    for by in (30_000, -30_000):
        backend, clock, path = Database("memory:"), Time(), tmp_path / f"{by}"
        store = store_of(backend, path, clock=clock, noise=Counted())
        first = 30 if kind == "numbers of releases" else 60  # else none is left for another block
        policy = dpb.DPRateIMED(arms=["a", "b", "c"], epsilon=1, first=first)
        campaign: Any = store.create("c", policy, seed=2, **WAITED, **options)
        asked = ask(campaign, range(180))
        campaign.tell_many([(each, reward) for each in asked])
        if users:
            campaign.pause_arm("a")  # whoever kept it gets another one
        clone = store_of(copied(backend), path, clock=clock, noise=Shifting(by))["c"]
        clock.now += 61
        with monkeypatch.context() as patch:
            overtaken(patch, clone, campaign.settle)
            calls: list[Any] = [Ask(**each) for each in visits(latest)]
            if "guardrail" in options:  # who is suspended is refused, and the last arm stays
                calls += [Ask(eligible=(arm,)) for arm in "abc"]
                calls += [RetireArm(arm="b"), RestartArm(arm="a")]
            clone._calls.host._queue.extend(map(QueuedCall, calls))
            with pytest.raises(WitnessError, match="two copies"):
                clone.settle()
        parts = [clone[name] for name in clone.segments] or [clone]
        made = [
            inside(part, lambda part, rows: len(rows.releases(part.uid, 0, 9))) for part in parts
        ]
        assert max(made) > 1
        for part in parts:
            assert [line.kind for line in part.ledger] == ["lost"]
        actions = [each.action for each in ask(clone, latest)]
        shown = everything(clone) | {"next": actions, "later": [part.recent() for part in parts]}
        seen.append(names.sub("", str(shown)))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("arm", [0, 1])
def test_who_was_seen_to_be_suspended_stays_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arm: int
) -> None:
    """A release that nobody sees, of that arm or another, comes after one that was seen, and no
    decision between them.
    """
    backend, path = Database("memory:"), tmp_path / "witness"
    store, rail = store_of(backend, path), dpb.Guardrail("refunds", limit=0.2)
    policy = dpb.DPRateIMED(arms=["a", "b", "c"], epsilon=1, first=60)
    campaign: Any = store.create("c", policy, seed=2, guardrail=rail)
    pairs: dict[int, list[Any]] = {0: [], 1: [], 2: []}
    for each in [*campaign.ask(180), *campaign.ask(600, eligible=["a"])]:
        pairs[each.action].append((each, (1, each.action == 0)))
    campaign.tell_many(pairs[0][:60])
    arms = campaign.arms
    assert [arm.status for arm in arms] == ["paused", "active", "active"]
    clone, late = store_of(copied(backend), path)["c"], pairs[arm][-600:]
    overtaken(monkeypatch, clone, lambda: campaign.tell_many(late))
    with pytest.raises(WitnessError, match="two copies"):
        clone.tell_many(late)
    monkeypatch.undo()
    assert (clone.generation, clone.arms) == (2, arms)
