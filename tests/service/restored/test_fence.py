"""A database that was put back is noticed, and gives up what may have been read:
proofs/fence.md.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.errors import WitnessError
from dpbandits.service.database import Database
from dpbandits.service.store import CampaignStore
from dpbandits.service.transaction import Host
from dpbandits.service.witness import Witness
from tests.service.conftest import KEY
from tests.service.http.web import client_of, remote
from tests.service.machine import Time
from tests.service.test_refused_calls import Failing
from tests.service.timelines import Lite, copied, create, inside, lost_lines, turns


@pytest.fixture
def lite(tmp_path: Path) -> Lite:
    return Lite(tmp_path)


def rolled_back(lite: Lite, between: Any, policy: Any = None, **options: Any) -> tuple[Any, Any]:
    """A campaign put back to before `between(campaign)`, and what that gave. Ten decisions wait in
    the copy, and some of its rewards are in open blocks.
    """
    opening = {"clock": options.pop("clock")} if "clock" in options else {}
    with lite.open(**opening) as store:
        people = {"user": "early"} if "privacy_unit" in options else {}
        campaign = create(store, policy, **options)
        turns(campaign, 2, **people)
        campaign.ask(10, **people)
        copy = lite.copy(lite.file.with_name("copy.db"))
        given = between(campaign)
    lite.put_back(copy)
    return lite.open(**opening)["c"], given


def test_a_copy_that_is_put_back_begins_a_generation(lite: Lite) -> None:
    campaign, late = rolled_back(lite, lambda c: [c.ask(3)[0], *turns(c, 60)])
    assert campaign.generation == 2
    assert campaign.summary().waiting == 0
    (lost,) = lost_lines(campaign)
    assert (lost.generation, lost.cost) == (1, "1")
    for reward in (0, 1):
        assert {campaign.tell(d, reward) for d in late if d.round <= 12} <= {"gone"}
    assert campaign.events()[0].what == "fence"
    turns(campaign, 60)
    assert campaign.generation == 2
    assert len(lost_lines(campaign)) == 1


def test_every_record_is_read_at_most_once_over_both_timelines(lite: Lite) -> None:
    """What was told before the copy and not read is read in the first timeline alone; what the
    second reads was asked after the fence.
    """
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 9)
        copy = lite.copy(lite.file.with_name("copy.db"))
        turns(campaign, 60)
        first = read_by_arm(campaign)
    lite.put_back(copy)
    campaign = lite.open()["c"]
    before = told_by_arm(campaign)
    asked = turns(campaign, 60)
    assert {*(d.round > 9 for d in asked)} == {True}
    for arm, spans in read_by_arm(campaign).items():
        # an arm's clock counts what was dropped, so a fence's drop leaves a gap there
        for start, _ in spans - first.get(arm, set()):
            assert start >= before[arm]


def read_by_arm(campaign: Any) -> dict[int, set[tuple[int, int]]]:
    found: dict[int, set[tuple[int, int]]] = {}
    for line in campaign.ledger:
        if line.kind == "read":
            found.setdefault(line.coordinate, set()).add((line.start, line.stop))
    return found


def told_by_arm(campaign: Any) -> dict[int, int]:
    rows = campaign.decisions().rows
    return {arm: sum(row.action == arm for row in rows) for arm in range(3)}


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPUCB(arms=2, epsilon=1, horizon=4096),
        dpb.HybridUCB(arms=2, epsilon=1),
    ],
    ids=lambda policy: policy.name,
)
def test_a_mechanism_that_remembers_sums_begins_anew(lite: Lite, policy: Any) -> None:
    campaign, _ = rolled_back(lite, lambda c: turns(c, 40), policy)
    assert campaign.generation == 2
    (lost,) = lost_lines(campaign)
    assert lost.cost == str(policy.guarantee.epsilon)
    assert inside(campaign, lambda part, _: part.session.releases) == 0
    turns(campaign, 40)
    seen = inside(campaign, lambda part, _: [e.start for e in part.session.ledger])
    assert min(seen) == 0
    assert campaign.spent == policy.guarantee.cost


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
        copy = lite.copy(lite.file.with_name("copy.db"))
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


def test_a_campaign_past_its_horizon_is_fenced(lite: Lite) -> None:
    campaign = create(lite.open(), dpb.DPUCB(arms=2, epsilon=1, horizon=8))
    asked = campaign.ask(20)
    campaign.tell_many([(each, 1) for each in asked[:17]])
    with pytest.raises(dpb.HorizonError):
        campaign.ask()
    campaign.fence()
    assert campaign.generation == 2
    assert campaign.tell(asked[-1], 1) == "gone"
    turns(campaign, 4)


def test_nobody_is_learned_from_before_the_next_window(lite: Lite) -> None:
    clock = Time()
    options = {"privacy_unit": "user", "max_contributions": 3, "clock": clock}
    campaign, _ = rolled_back(
        lite,
        lambda c: [turns(c, 1, user=f"p{n}") for n in range(30)],
        window=timedelta(hours=1),
        **options,
    )
    assert campaign.ask(user="somebody new").learn is False
    assert campaign.alarms == ()
    assert not campaign.beliefs().is_over
    clock.now += 3600
    assert campaign.ask(user="somebody new").learn is True


def test_people_for_ever_are_learned_from_no_more(lite: Lite) -> None:
    """An alarm says so, and what to do; and nobody is told to wait for more people."""
    options: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1, "min_share": 0.1}
    forecasts, people = list[Any](), iter(range(1, 1_000))

    def many(campaign: Any) -> None:
        for person in islice(people, 50):
            decision = campaign.ask(user=f"p{person}")
            campaign.tell(decision, float(person % 10 < (7 if decision.action else 3)))
        forecasts.append(campaign.beliefs())
        assert campaign.alarms == ()

    with lite.open() as store:
        many(create(store, dpb.DPRateIMED(arms=2, epsilon=4), **options))
        copy = lite.copy(lite.file.with_name("copy.db"))
        many(store["c"])
    lite.put_back(copy)
    campaign = (store := lite.open())["c"]
    assert [campaign.ask(user=name).learn for name in ("p1", "new")] == [False, False]
    (alarm,) = campaign.alarms
    assert (alarm.what, alarm.arm, alarm.asked) == ("restored", None, 52)
    assert "Close this campaign, and begin another one" in alarm.advice
    far = remote(client_of(store))["c"]
    assert far.alarms == campaign.alarms
    assert all("more people" in each.advice for each in forecasts)
    for beliefs in (campaign.beliefs(), far.beliefs()):
        assert beliefs.advice == "No arm is named the best at .95 confidence."
    assert "more people" not in campaign.statement()
    campaign.close("restored")
    assert campaign.alarms == ()


def test_answers_that_are_held_are_deleted(lite: Lite) -> None:
    clock = Time()

    def answered(campaign: Any) -> None:
        clock.now += 61  # what the copy holds counts in the first timeline
        campaign.settle()
        turns(campaign, 60)
        clock.now += 61
        campaign.settle()

    options = {"attribution_window": timedelta(minutes=1), "default": 0, "clock": clock}
    campaign, _ = rolled_back(lite, answered, **options)
    assert campaign.generation == 2
    assert inside(campaign, lambda part, rows: rows.held(part.uid, range(1, 200))) == {}
    clock.now += 61
    campaign.settle()
    assert campaign.ledger == lost_lines(campaign)


@pytest.mark.parametrize("fenced", [False, True])
def test_a_crash_between_commit_and_witness_is_made_good(
    lite: Lite, monkeypatch: pytest.MonkeyPatch, fenced: bool
) -> None:
    """By the next call, whichever it is: what was released is witnessed before a fence, too."""
    with lite.open() as store:
        campaign = create(store)
        wanted = campaign.generation, len(campaign.releases())
        asked = campaign.ask(12)

        def crash(*_: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(Witness, "add", crash)
            with pytest.raises(KeyboardInterrupt):
                campaign.tell_many([(d, 1) for d in asked])
    with lite.open() as store:
        campaign = store["c"]
        if fenced:
            campaign.fence()
        assert campaign.generation == wanted[0] + fenced
        assert len([each for each in campaign.releases() if each.coordinates]) > wanted[1]
        assert any(row.mean is not None for row in campaign.beliefs())
        assert {campaign.tell(d, 0) for d in asked} == {"gone" if fenced else "already"}
        turns(campaign, 20)


def test_a_witness_that_is_lost_or_older_is_refused(lite: Lite) -> None:
    with lite.open() as store:
        campaign = create(store)
        turns(campaign, 20)
        old = lite.witness.read_bytes()
        turns(campaign, 40)
    for content in (b"", old):
        lite.witness.write_bytes(content)
        with lite.open() as store:
            with pytest.raises(WitnessError, match="campaign fence"):
                store["c"].ask()
            with pytest.raises(WitnessError, match="campaign fence"):
                store["c"].summary()
    with lite.open() as store:
        waiting = store["c"]
        waiting.fence()
        assert waiting.generation == 2
        turns(waiting, 20)


def test_a_witness_that_is_elsewhere_leaves_no_empty_file(lite: Lite) -> None:
    """A command without `--witness`, beside a store that has another one."""
    with lite.open() as store:
        turns(create(store), 20)
    elsewhere = lite.witness.with_name("moved.witness")
    lite.witness.rename(elsewhere)
    with lite.open() as store, pytest.raises(WitnessError, match="open the store with witness="):
        store["c"].ask()
    assert not lite.witness.exists()
    with lite.open() as store:  # and where it is lost, a fence makes a new one
        store["c"].fence()
        turns(store["c"], 20)
    assert lite.witness.stat().st_size


def test_a_generation_of_the_same_number_has_other_names(lite: Lite) -> None:
    """Where the witness is lost too, nobody knows how many fences there were."""
    with lite.open() as store:
        create(store)
        copy = lite.copy(lite.file.with_name("copy.db"))
        store["c"].fence()
        asked = store["c"].ask(5)
    lite.put_back(copy)
    lite.witness.unlink()
    with lite.open() as store:
        store["c"].fence()
        store["c"].ask(5)
        assert {store["c"].tell(d, 1) for d in asked} <= {"gone", "unknown"}


# A machine that was put back has its clock put back, too, for as long as nobody sets it


def test_a_clock_that_was_put_back_too_opens_no_window_again(tmp_path: Path) -> None:
    """The window that the fence closes is the one in which the lost timeline was seen last."""
    clock, hour = Time(), 3600.0
    options: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 1}
    began = clock.now

    def between(campaign: Any) -> list[bool]:
        clock.now = began + hour
        learned = [d.learn for n in range(30) for d in turns(campaign, 1, user=f"p{n}")]
        clock.now = began
        return learned

    opening = {**options, "window": timedelta(hours=1), "clock": clock}
    campaign, learned = rolled_back(Lite(tmp_path), between, **opening)
    assert all(learned)
    assert campaign.generation == 2  # it was fenced in the earlier hour
    clock.now = began + hour
    assert [campaign.ask(user=f"p{n}").learn for n in range(3)] == [False] * 3
    clock.now = began + 2 * hour
    assert campaign.ask(user="p0").learn is True


# A database whose file is damaged, as by a copy that is put back beside another one's log


def test_a_damaged_file_is_told_from_one_that_is_busy(tmp_path: Path) -> None:
    file, witness = tmp_path / "trial.db", tmp_path / "witness"
    with dpb.open_store(f"sqlite:///{file}", witness=witness) as store:
        store.create("trial", dpb.DPKLUCB(arms=2, epsilon=1)).ask(500)
    whole = file.read_bytes()
    page = int.from_bytes(whole[16:18], "big")
    file.write_bytes(whole[:page] + bytes([255]) * (len(whole) - page))  # the first says what it is
    with pytest.raises(dpb.StoreError, match=r"file is damaged.*-wal and -shm"):
        list(dpb.open_store(f"sqlite:///{file}", witness=witness))


# A database that was put back, of a campaign whose arms came and went


@pytest.mark.parametrize("named", [True, False])
def test_a_policy_begins_anew_with_the_arms_that_joined(tmp_path: Path, named: bool) -> None:
    """Its first rows know fewer arms: the campaign took no call any more."""
    lite = Lite(tmp_path)
    policy = dpb.HybridUCB(arms=["a", "b"] if named else 2, epsilon=1)
    with lite.open() as store:
        campaign = create(store, policy)
        campaign.add_arm("new" if named else None)
        campaign.add_arm("newer" if named else None)
        campaign.retire_arm("b" if named else 1)
        turns(campaign, 12)
        copy = lite.copy(lite.file.with_name("copy.db"))
        turns(campaign, 40)
    lite.put_back(copy)
    campaign = lite.open()["c"]
    assert campaign.generation == 2
    arms = ("a", "b", "new", "newer") if named else (0, 1, 2, 3)
    status = ("active", "retired", "active", "active")
    assert campaign.arms == tuple(zip(arms, status, strict=True))
    asked = turns(campaign, 40)
    assert {each.action for each in asked} == {0, 2, 3}
    campaign.add_arm("newest" if named else None)
    turns(campaign, 10)
    assert lite.open()["c"].summary().asked == 62


# Two copies of one database at work, with one witness


def test_two_clones_never_show_two_readings(tmp_path: Path) -> None:
    """Two copies at work with one witness: whoever comes second gives up what it has."""
    backend, witness = Database("memory:"), tmp_path / "witness"
    campaign = create(CampaignStore(backend, Witness(witness), key=KEY))
    asked = campaign.ask(30)
    clone = CampaignStore(copied(backend), Witness(witness), key=KEY)["c"]
    assert {*campaign.tell_many([(d, 1) for d in asked])} == {"recorded"}
    assert {*clone.tell_many([(d, 0) for d in asked])} == {"gone"}
    assert clone.generation == 2
    assert len(lost_lines(clone)) == 1
    assert campaign.generation == 3


def test_two_clones_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have compared with the witness before one of them commits: the other's release is never
    shown.
    """
    backend, witness = Database("memory:"), tmp_path / "witness"
    campaign = create(CampaignStore(backend, Witness(witness), key=KEY))
    asked = campaign.ask(30)
    clone = CampaignStore(copied(backend), Witness(witness), key=KEY)["c"]
    commit = Database.transaction

    def overtaken(self: Any, uid: str) -> Any:
        if self is clone._calls.host.database:
            monkeypatch.undo()
            campaign.tell_many([(d, 1) for d in asked])
            # it has compared before
            monkeypatch.setattr(Host, "_is_restored", lambda *_: False)
        return commit(self, uid)

    monkeypatch.setattr(Database, "transaction", overtaken)
    with pytest.raises(WitnessError, match="two copies"):
        clone.tell_many([(d, 0) for d in asked])
    monkeypatch.undo()
    assert clone.generation == 2
    assert not any(release.coordinates for release in clone.releases())
    assert {row.mean for row in clone.beliefs()} == {None}
