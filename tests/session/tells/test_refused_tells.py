"""Decisions and rewards that are refused, and what the refusal says; how much may wait."""

from __future__ import annotations

import json
import re
import traceback
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms.rewards import checked_rewards
from dpbandits.policies import RNMFTNL, NaiveFTNL
from tests.session.small import loaded, session


def test_another_sessions_decision_is_refused() -> None:
    one, other = (
        dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1)) for _ in range(2)
    )
    theirs, mine = other.ask(), one.ask()
    assert theirs[:4] == mine[:4]
    for wrong in (
        lambda: one.tell(theirs, 1.0),
        lambda: one.expire(theirs),
        lambda: one.tell_many([(theirs, 1.0)]),
    ):
        with pytest.raises(dpb.DecisionError, match="another session's"):
            wrong()
    one.tell(mine, 1.0)
    named = dpb.Session(
        dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), campaign="spring trial"
    )
    assert named.ask().campaign == "spring trial"
    assert loaded(named.to_json()).ask().campaign == "spring trial"
    for name in ("", "a" * 201, "line\nbreak", 5):
        with pytest.raises(ValueError, match="Expected campaign to be a name"):
            dpb.Session(dpb.UCB1(arms=1), noise=dpb.SimulatedNoise(1), campaign=name)  # type: ignore[arg-type]


SECRET = 0.7314


def said(call: Callable[[], Any]) -> str:
    """All that an error shows, with the errors it stands on."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  whatever it is
        call()
    texts, error = list[str](), caught.value
    chain: list[BaseException | None] = [error, error.__cause__, error.__context__]
    while chain:
        one = chain.pop()
        if one is not None:
            texts += [repr(one), *getattr(one, "__notes__", ())]
            chain += [one.__cause__, one.__context__] if one is not error else []
    return " ".join(texts)


@pytest.mark.parametrize("secret", [SECRET, 1, 0, 10**6 + 3])
def test_no_error_repeats_what_came(secret: Any) -> None:
    """Swapped arguments make the reward the decision."""
    s = session()
    d, told = s.ask(), s.ask()
    s.tell(told, 1.0)
    calls: list[Callable[[], Any]] = [
        lambda: s.tell(secret, d),
        lambda: s.tell_many([(secret, d)]),
        lambda: s.tell_many([(d, 1.0), (secret, d)]),
        lambda: s.tell_many([secret]),
        lambda: s.tell_many(secret),
        lambda: s.tell_many([(d, 1.0, secret)]),
        lambda: s.tell(d, {"reward": secret}),
        lambda: s.tell(d, f"{secret}"),
        lambda: s.tell_message(f"{secret}"),
    ]
    if secret != 1:  # which is the decision itself
        calls += [lambda: s.expire(secret), lambda: s.tell(d._replace(id=secret), 1.0)]
    for call in calls:
        text = said(call)
        for public in (r"(Pair|entry) \d \(counted from 0\) of \d", r"\(1 to 2\)", r"\[0, 1\]"):
            text = re.sub(public, "", text)
        assert str(secret) not in text, text
    s.tell(d, 1.0)


def test_tell_many_says_which_pair_is_wrong() -> None:
    s = session()
    d = s.ask(3)
    for pairs, place in [
        ([(d[0], 1.0), (d[1], 7.0), (d[2], 1.0)], 1),
        ([(d[0], 1.0), (d[1], 1.0), (d[0], 1.0)], 2),
        ([(9, 1.0)], 0),
    ]:
        with pytest.raises(
            (dpb.RewardError, dpb.DecisionError),
            match=rf"Pair {place} \(counted from 0\) of {len(pairs)}:",
        ):
            s.tell_many(pairs)
    assert len(s.pending) == 3


def test_what_waits_has_a_limit() -> None:
    s = session(max_pending=5)
    first = s.ask(4)
    with pytest.raises(RuntimeError, match=r"max_pending=5 .*4 do, and 2 more .*None was made"):
        s.ask(2)
    s.ask()
    with pytest.raises(RuntimeError, match="and 1 more"):
        s.ask()
    assert [d.id for d in s.pending] == [1, 2, 3, 4, 5]
    s.expire(first[0])
    assert s.ask().id == 6
    for wrong in (0, True, 10**8, 1.5):
        with pytest.raises(ValueError, match=r"Expected max_pending=.* to be a whole number"):
            session(max_pending=wrong)
    assert session().max_pending == 100_000


@pytest.mark.long
def test_what_waits_is_kept_and_written_small() -> None:
    """A million decisions on super arms of fifty: their arms are kept once a plan, and written as
    runs.
    """
    policy = dpb.DPKLMAT(problem=dpb.UniformMatroid(arms=60, rank=50), epsilon=1)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1, max_pending=10**6)
    tracemalloc.start()
    s.ask(10**5)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # bytes; with each decision whole and the answer's list it would be more than twice that
    assert kept < 10**5 * 200
    text = s.to_json()
    assert len(text) < 20_000
    again = loaded(text)
    assert again.pending[-1] == s.pending[-1]
    assert len(json.loads(text)["public"]["pending"]) == 1


def test_policies_of_full_information_keep_their_width() -> None:
    """The guard on actions does not refuse ours."""
    for policy in (
        NaiveFTNL(actions=50, epsilon=1),
        RNMFTNL(actions=50, epsilon=1, preset="published"),
    ):
        assert dpb.Session(policy, noise=dpb.SimulatedNoise(1)).guarantee is not None


class Half(int):
    """A reward that was put where the decision belongs, with code of its own."""

    def __int__(self) -> int:
        raise ValueError("cannot convert the reward 0.7314")


def test_code_that_a_reward_brings_along_is_not_repeated_in_a_decisions_place() -> None:
    played = dpb.Session(dpb.UCB1(arms=2), noise=dpb.SimulatedNoise(1), seed=1)
    decision = played.ask()
    for call in (
        lambda: played.tell(Half(1), decision),
        lambda: played.expire(Half(1)),
        lambda: played.tell_many([(Half(1), decision)]),
    ):
        with pytest.raises(dpb.DecisionError) as refused:
            call()
        assert "0.73" not in "".join(traceback.format_exception(refused.value))
    assert played.pending == (decision,)


def test_rewards_are_copied_before_they_are_checked() -> None:
    """A buffer that another thread fills was checked, and read again when it was added: no bound
    held.
    """
    buffer = np.full(4, 0.5)
    checked = checked_rewards(buffer, 4)
    buffer[:] = 1e12
    assert checked.max() == 0.5


class OwnPair(tuple[Any, Any]):
    __slots__ = ()

    def __iter__(self) -> Any:
        raise LookupError("the reward is 0.7314")


class OwnList(list[Any]):
    def __len__(self) -> int:
        raise LookupError("the reward is 0.7314")


def test_code_that_a_pair_brings_along_is_not_repeated() -> None:
    s = session()
    decision = s.ask()
    with pytest.raises(TypeError, match=r"entry 0 .* that is none") as refused:
        s.tell_many([OwnPair((decision, SECRET))])  # type: ignore[list-item]
    assert "0.73" not in "".join(traceback.format_exception(refused.value))
    assert s.pending == (decision,)
    s.tell_many([OwnList([decision, SECRET])])  # type: ignore[list-item]  # its length is not asked
    assert s.pending == ()
