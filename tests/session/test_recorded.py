"""People who are assigned elsewhere: shares for the next, and batches that count once."""

from collections import deque
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.session.overdue import overtaken_before
from tests.session.small import Exact

ARMS = ["control", "blue", "green"]
POLICY = dpb.DPKLUCB(arms=ARMS, epsilon=1, first=4, grid=1)


def session(policy: Any = POLICY, **options: Any) -> dpb.Session:
    return dpb.Session(policy, noise=Exact(1), seed=2, campaign="c", **options)


def facts(s: dpb.Session) -> Any:
    now = s._current
    return s.state, s.ledger, now.asked, now.records, now.elsewhere, s.pending


def test_a_batch_counts_once() -> None:
    s = session()
    assert s.record("blue", (6, 2), key="week 1") == "recorded"
    assert s.guarantee is not None
    assert "one entry of one batch" in str(s.guarantee)
    assert "one entry of one batch" in " ".join(s.statement().split())
    before = facts(s)
    assert s.record("blue", (6, 5), key="week 1") == "already"
    assert s.record(1, [1.0] * 6, key="week 1") == "already"
    for arm, outcomes in (("blue", (5, 2)), ("green", (6, 2))):
        with pytest.raises(ValueError, match="another number of people, was recorded"):
            s.record(arm, outcomes, key="week 1")
    assert facts(s) == before
    assert s.state.pulls[1] == s.state.t == 6
    assert s._current.records == len(s.decisions()) == 6


def first_ones(noise: Any) -> float:
    """Of 64 sorted outcomes, half of which are 1: as many of the first block's 16 are."""
    policy = dpb.DPKLUCB(arms=2, epsilon=10**6, first=16, grid=1)
    s = dpb.Session(policy, noise=noise, seed=1)
    s.record(0, (64, 32), key="sorted")
    block = s._state.history.arms[0].kept[0]
    assert block.rounds == 16
    return round(block.total)


def test_outcomes_that_come_sorted_fill_no_block_alone() -> None:
    """By secret coins: 16 ones have a probability below 1e-6, 20 equal sessions .2 ** 19."""
    secure = {first_ones(dpb.SecureNoise()) for _ in range(20)}
    assert len(secure) > 1
    assert all(0 < ones < 16 for ones in (*secure, first_ones(Exact(1))))


def test_counts_are_for_rewards_of_0_and_1() -> None:
    policy = dpb.DPKLUCB(arms=ARMS, epsilon=1, first=4)
    ranged = session(policy, rewards=dpb.Range(0, 250))
    rail = session(policy, guardrail=dpb.Guardrail("refunds", limit=0.9))
    for s, outcome in ((ranged, 125.0), (rail, (1.0, 0.0))):
        with pytest.raises(dpb.RewardError, match="without rewards= and guardrail="):
            s.record("blue", (10, 5), key="k")
        s.pause_arm("blue")  # who was assigned elsewhere counts all the same
        assert s.record("blue", [outcome] * 4, key="k") == "recorded"
    assert ranged.beliefs()["blue"].mean == 125.0
    assert rail.harm()["blue"].mean == 0.0
    assert rail.record("blue", (4, 2), key="k") == "already"
    people = {"privacy_unit": "user", "max_contributions": 1, "user_key": bytes(16)}
    known = session(policy, guardrail=dpb.Guardrail("refunds", limit=0.9), **people)
    rail.close()
    for s, error in ((known, "privacy_unit"), (rail, "is closed")):  # as a campaign says
        with pytest.raises(ValueError if s is known else dpb.ClosedError, match=error):
            s.record("blue", (10, 5), key="another")


# Shares


def test_shares_are_those_of_ask() -> None:
    """Where nothing is left to chance, the shares are what `ask` does."""
    s = session()
    s.record("blue", [1.0] * 4, key="a")
    s.retire_arm("control")
    before = facts(s)
    shares = s.shares(50)
    assert facts(s) == before
    asked = [decision.label for decision in s.ask(50)]
    assert {row.label: row.people for row in shares} == {
        arm: asked.count(arm) for arm in ("blue", "green")
    }


@pytest.mark.parametrize("options", [(0.0, "shuffled"), (0.1, "planned"), (0.1, "shuffled")])
def test_no_coin_decides_the_shares_of_arms_that_are_alike(options: Any) -> None:
    share, how = options
    least = {"min_share": share} if share else {}
    policy = dpb.DPKLUCB(arms=3, epsilon=2)
    s = dpb.Session(policy, noise=Exact(1), seed=1, assignment=how, **least)
    people = [row.people for row in s.shares(100)]
    assert max(people) - min(people) <= 2


def with_least(seed: int = 2, **others: float) -> dpb.Session:
    """A session in which the control arm is the worst, and has a least share."""
    least = {"control": 0.3, **others}
    s = dpb.Session(POLICY, noise=Exact(1), seed=seed, min_share=least)
    for arm, ones in (("control", 0), ("blue", 1), ("green", 40)):
        s.record(arm, (40, ones), key=arm)
    return s


def test_least_shares_of_single_arms_are_kept() -> None:
    """Fewer than 367 of 1,500 have a probability of 1e-6. Shares for others foretell no coin."""
    for seed in (1, 2):
        shares = with_least(seed, blue=0.1).shares(1_000)
        assert [(row.label, row.people) for row in shares] == [
            *(("control", 300), ("blue", 100), ("green", 600))
        ]
        assert abs(sum(row.share for row in shares) - 1.0) < 1e-9
    s = with_least()
    asked = s.ask(1_500)
    assert sum(decision.label == "control" for decision in asked) >= 367
    rows = [row for row in s.decisions() if row.id > 120]
    assert {row.propensity for row in rows if row.label == "control"} == {0.3}
    s.void(asked[0])
    said = " ".join(s.statement().split())
    assert "arm control gets 0.3 of rounds or more" in said
    assert "Not so for the 120 people of recorded batches" in said
    s._restart("control")
    s.record("control", (40, 0), key="anew")
    for arm in ("control", 0):  # its number when the batch was recorded
        assert s.record(arm, (40, 0), key="control") == "already"
    for each in (s, dpb.Session.from_json(s.to_json(), noise=dpb.SimulatedNoise(1))):
        assert each.shares(1_000)["control"].people >= 300
        assert each.lift().control == "control"
        assert "arm control gets 0.3 of rounds or more" in " ".join(each.statement().split())
    s.add_arm("red")
    assert s._state.assignment is not None
    assert s._state.assignment.least(4) == 0.0
    s.retire_arm("green")
    with pytest.raises(ValueError, match="another arm"):
        s.record("green", (40, 0), key="control")


# Lift


def played(**options: Any) -> dpb.Session:
    s = session(**options)
    for arm, ones in (("control", 200), ("blue", 500), ("green", 220)):
        s.record(arm, (1_000, ones), key=arm)
    return s


def test_a_lift_compares_released_means() -> None:
    s = played()
    beliefs, lift = s.beliefs(), s.lift("control")
    assert [row.label for row in lift] == ["blue", "green"]
    for row in lift:
        own, base = beliefs[row.label], beliefs["control"]
        values: Any = (own.mean, own.low, own.high, base.mean, base.low, base.high)
        mean, low, high, middle, least, most = values
        assert row.people == own.people
        assert row[2:5] == (mean - middle, low - most, high - least)
        assert row[5:] == (mean / middle, low / most, high / least)
    assert lift["blue"].low is not None
    assert lift["blue"].low > 0
    assert str(lift).count("\n") == 3
    assert lift.to_polars().columns[0] == "label"
    assert s.lift().control == "control"
    assert s.lift("blue", 0.9)["control"].difference == -(lift["blue"].difference or 0)


def test_a_ratio_is_of_rewards_that_are_not_negative() -> None:
    for low in (-1, 0):
        s = session(dpb.DPKLUCB(arms=2, epsilon=1, first=4), rewards=dpb.Range(low, 1))
        for arm in (0, 1):
            row = s.lift(0)[0]
            assert row[2:] == (None,) * 6, "of one arm at most something was released"
            s.record(arm, [0.5] * 100, key=str(arm))
        row = s.lift(0)[0]
        assert row.difference == 0.0
        assert row.ratio == (None if low else 1.0)
        assert {row.ratio_low is None, row.ratio_high is None} == {low < 0}


def test_recorded_outcomes_age_no_request() -> None:
    """Batches in between change neither what is overdue nor the usual delay."""

    def asked(batches: bool) -> list[Any]:
        s, waiting, seen = session(), deque[dpb.Decision](), list[Any]()
        for number in range(600):
            decision = s.ask(eligible=["blue"])
            if number % 100 < 60:  # the others never answer
                waiting.append(decision)
            if len(waiting) > 20 + number // 30:
                s.tell(waiting.popleft(), 1.0)
            if batches and number % 7 == 0:
                s.record("green", (1 + number % 50, 1), key=str(number))
            if number % 90 == 0:
                s = dpb.Session.from_json(s.to_json(), noise=Exact(1))
            now = s._current
            seen.append((now.overdue.total, dict(now.delays or {}), now.is_silent))
        return seen

    alone = asked(batches=False)
    assert asked(batches=True) == alone
    assert alone[-1][0] > 50
    assert len(alone[-1][1]) > 5
    pending, recorded = {5: None}, ((6, 30),)  # of 40 decisions, 9 of the session's are resolved
    assert overtaken_before(pending, 40, recorded) == 0
    assert overtaken_before(pending, 41, recorded) == 1
