"""Sessions that are closed: the last answers count, once, and nobody learns from them. What this
costs is in `test_options_together.py`.
"""

from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from tests.session.small import Days, begun, blocks, content, counts, loaded, read, reward_of

KL = dpb.DPKLUCB(arms=["a", "b", "c"], epsilon=1, first=4)
USERS: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": bytes(16)}


def answers(s: dpb.Session) -> list[int]:
    """How often each arm was released."""
    return [arm.answers for arm in s._state.history.arms]


def played(s: dpb.Session, rounds: int, seed: int = 0) -> list[dpb.Decision]:
    """Answers come late, in any order, and some of them never do. Returns what is left."""
    rng, left = np.random.default_rng(seed), list[dpb.Decision]()
    is_by_user = s._tables.people is not None
    for number in range(rounds):
        asked = {"user": f"u{number // 3}"} if is_by_user else {}
        left.append(s.ask(**asked))
        while len(left) > 6:
            decision = left.pop(int(rng.integers(len(left))))
            reward = reward_of(s, decision, float(rng.random() < 0.5))
            if rng.random() < 0.8:
                s.tell(decision, reward)
            elif rng.random() < 0.8:
                s.expire(decision)
    return left


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "users": USERS,
    "window": {"attribution_window": timedelta(seconds=10)},
    "guardrail": {"guardrail": dpb.Guardrail("refunds", limit=0.9)},
    "shuffled": {"assignment": "shuffled", "min_share": 0.05},
    "unread": {},
}
CASES = [(name, option) for name in POLICIES for option in OPTIONS]


def made(name: str, option: str, clock: Days) -> dpb.Session | None:
    """A session; None where this policy does not take the option."""
    timed = {"clock": clock} if option == "window" else {}
    for policy in examples(name):
        try:
            options = OPTIONS[option] | timed
            return dpb.Session(policy, noise=dpb.SimulatedNoise(3), seed=4, **options)
        except (ValueError, TypeError):
            continue
    return None


def readable(s: dpb.Session, before: dict[int, int]) -> dict[int, int]:
    """Those of these open blocks that say something of means: by rule, all but full trees."""
    mechanism = s._vault.mechanism
    if mechanism.law is None or s.policy.about.goal == "estimate":
        return {}
    if s.policy.reader.together:
        many = sum(n for key, n in before.items() if s._state.plans[key].release)
        return {-1: many} if many else {}
    leaves = getattr(getattr(mechanism, "inner", mechanism), "leaves", None)
    released: dict[int, int] = {}
    for line in s.ledger:
        released[line.coordinate] = released.get(line.coordinate, 0) + line.releases
    return {c: n for c, n in before.items() if leaves is None or released.get(c, 0) < leaves}


def per_record(s: dpb.Session) -> int:
    """How many means a record of an open block is about."""
    return s.policy.arms if s._vault.full else 1


@pytest.mark.parametrize(("name", "option"), CASES)
def test_every_record_is_behind_the_last_estimates(name: str, option: str) -> None:
    """But those never read by rule, or dropped. Nothing is learned of it or read twice."""
    is_read = option != "unread"
    clock = Days()
    s = made(name, option, clock)
    if s is None:
        return
    left = played(s, 60)
    clock.now = 20.0
    s.settle()
    assert s._current.ready is None
    open_blocks, was_read, learned = counts(s), read(s), s.state
    last, arms = readable(s, open_blocks) if is_read else {}, answers(s)
    people = [arm.newest.rounds if arm.newest else 0 for arm in s._state.history.arms]
    s.close("enough", read=is_read)
    assert ("never read" in " ".join(s.statement().split())) != is_read
    assert s.state is learned or s.state == learned
    assert s.closed is not None
    assert s.closed.is_done
    assert s.pending == ()
    assert blocks(s) == {}
    wanted = {c: was_read.get(c, 0) + last.get(c, 0) for c in (*was_read, *last)}
    assert read(s) == {c: n for c, n in wanted.items() if n}
    if s.policy.reader.law is not None and last:
        assert sum(answers(s)) > sum(arms)
        now = [arm.newest.rounds if arm.newest else 0 for arm in s._state.history.arms]
        law = s.policy.reader.law
        assert sum(now) == sum(people) + sum(last.values()) * per_record(s) or law.forgets
    budget = s._vault.guarantee
    if budget is not None and s.policy.randomizer() is None:
        assert s.spent is not None
        assert s.spent <= budget.cost
    saved = content(s)
    assert all(not sums for sums in saved["private"]["sums"])
    assert option != "plain" or content(loaded(s)) == saved
    for decision in left if option != "window" else ():  # accepted, and dropped
        s.tell(decision, 1.0)
        s.tell(np.int64(decision.id), 1.0)  # type: ignore[arg-type]
    s.close("again", read=is_read)
    s.settle()
    assert content(s) == saved
    with pytest.raises(dpb.ClosedError):
        s.ask(**({"user": "x"} if option == "users" else {}))


# Winners


@pytest.mark.parametrize("segments", [None, ["DE", "FR"]])
def test_a_winner_is_shown_and_nobody_learns_from_it(segments: Any) -> None:
    s = begun(KL, segments, max_pending=50, **USERS)
    where = {} if segments is None else {"segment": "FR"}
    for number in range(40):
        s.tell(s.ask(user=number, **where), 1.0)
    s.retire_arm("c")
    for wrong in ("c", "x", 7, 0.5):
        with pytest.raises(ValueError, match=r"Expected"):
            s.close(winner=wrong)
    part = s if segments is None else s["FR"]
    assert part.closed is None
    s.close("b it is", winner="b")
    s.close("b it is", winner="b")
    for other in ({"winner": "a"}, {}, {"winner": "b", "read": False}):
        with pytest.raises(ValueError, match="closed already"):
            s.close(**other)
    before = part.ledger
    for number in range(3):
        (shown, *more) = s.ask(60, user=number, **where)
        assert {(each.label, each.learn) for each in (shown, *more)} == {("b", False)}
        s.tell(shown, 1.0)
        s.tell_many([(shown, 1.0), (more[0], 0.0)])
    again = loaded(s, user_key=bytes(16))
    decision = again.ask(user="x", **where)
    assert decision.label == "b"
    again.tell(decision, 0.5)
    assert part.pending == ()
    assert part.ledger == before
    assert part.ask(eligible=["a", "b"], user="y").label == "b"
    with pytest.raises(ValueError, match="to hold 'b'"):
        part.ask(eligible=["a"], user="y")
    with pytest.raises(TypeError, match="a list of arms"):
        part.ask(eligible="b", user="y")


@pytest.mark.parametrize("winner", [None, "b"])
def test_what_would_change_a_closed_session_is_refused(winner: Any) -> None:
    s = begun(KL)
    s.close(winner=winner)
    calls: list[Any] = [lambda: s.add_arm("d"), lambda: s.record("b", [1.0], key="k")]
    verbs = s.retire_arm, s.pause_arm, s.resume_arm, s.restart_arm
    calls += [lambda verb=verb: verb("a") for verb in verbs]
    if winner is None:
        calls += [s.ask, lambda: s.shares(10)]
    for call in calls:
        with pytest.raises(dpb.ClosedError):
            call()
    if winner is not None:
        assert [(row.label, row.people) for row in s.shares(10)] == [("b", 10)]


def test_a_tree_that_fills_up_while_answers_are_waited_for_ends_the_session() -> None:
    """In a session, and where it was saved meanwhile; or cut off by its own error."""
    for is_saved in (False, True):
        clock, policy = Days(), dpb.DPUCB(arms=2, epsilon=1, horizon=10)
        s = begun(policy, clock=clock, **OPTIONS["window"])
        for decision in s.ask(40):
            s.tell(decision, 1.0)
        s.close("enough", winner=0)
        clock.now = 11.0
        if is_saved:
            text = s.to_json(unsealed=True)
            s = dpb.Session.from_json(text, noise=dpb.SimulatedNoise(1), clock=clock)
        s.settle()
        assert s.closed is not None
        assert s.closed.is_done
        assert s.closes_at is None
        assert s.unread == sum(many for _, many in s.closed.void) > 10, "it had no room"
        assert s.ask().action == 0
        assert not blocks(s)
