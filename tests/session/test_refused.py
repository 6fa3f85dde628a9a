"""What a session refuses: coordinates that are none, policies that contradict themselves, foreign
decisions, too many of them pending.
"""

from __future__ import annotations

import json
import re
import traceback
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import EVERY, Hold, PublicRng
from dpbandits.mechanisms import EachAction, LazyForgetful, NoisyMax
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.rewards import checked_rewards
from dpbandits.policies import RNMFTNL, NaiveFTNL
from dpbandits.vault import ArmVault, VectorVault
from tests.session.small import session

ONE = Fraction(1)


def arms() -> ArmVault:
    vault = ArmVault(LazyForgetful(epsilon=ONE), 2, dpb.SimulatedNoise(1))
    vault.add(0, 1.0)
    vault.add(1, 1.0)
    return vault


@pytest.mark.parametrize(
    "wrong", [-1, 2, 10**30, True, 1.0, "0", None, np.int64(2), np.True_], ids=repr
)
def test_coordinates_are_whole_numbers_of_this_vault(wrong: Any) -> None:
    """−1 used to be the last arm: `release=(1, -1)` read one block twice."""
    vault = arms()
    before = vault.public_state(), vault.private_state()
    doors: list[Callable[[], Any]] = [
        lambda: vault.add(wrong, 1.0),
        lambda: vault.check(wrong, 1.0),
        lambda: vault.enter(wrong, 1024),
        lambda: vault.add_block(wrong, 1024, 1),
        lambda: vault.release((wrong,), 2, ()),
        lambda: vault.release((1, wrong), 2, ()),
        lambda: vault.release((), 2, (), (wrong,)),
        lambda: vault.release((1,), 2, (), (1,)),
    ]
    for door in doors:
        with pytest.raises(
            RuntimeError, match=r"Refused .*expected whole numbers from 0 to 1, each once"
        ):
            door()
    assert (vault.public_state(), vault.private_state()) == before
    assert vault.ledger == ()
    vault.add(np.int64(1), 1.0)  # NumPy's whole numbers are some
    assert vault.release((np.int64(1),), 3, ()).coordinates == (1,)  # type: ignore[arg-type]
    assert type(vault.ledger[0].coordinate) is int


def test_whole_records_have_one_coordinate() -> None:
    vault = VectorVault(NoisyMax(epsilon=ONE), 2, dpb.SimulatedNoise(1))
    vault.add(0, [1, 0])
    for release, drop in [
        ((0,), ()),
        ((EVERY, EVERY), ()),
        ((EVERY,), (EVERY,)),
        ((), (0,)),
        ((True,), ()),
    ]:
        with pytest.raises(RuntimeError, match="Refused"):
            vault.release(release, 1, (), drop)
    assert vault.ledger == ()


@dataclass(frozen=True, kw_only=True)
class Plays(dpb.DPKLUCB):
    """Holds arm `arm` and releases `release`."""

    arm: int = 0
    released: tuple[int, ...] = (0,)

    def plan(self, state: Any, rng: PublicRng) -> Hold:  # type: ignore[override]
        return Hold(self.arm, 2, self.released)


def test_a_plan_with_foreign_arms_reads_nothing() -> None:
    wrong = dpb.Session(Plays(arms=2, epsilon=1, arm=-1), noise=dpb.SimulatedNoise(1))
    decision = wrong.ask()
    with pytest.raises(RuntimeError, match="Refused"):
        wrong.tell(decision, 1.0)
    assert (wrong.pending, wrong._vault.records) == ((decision,), 0)
    twice = dpb.Session(
        Plays(arms=2, epsilon=1, arm=1, released=(1, -1)), noise=dpb.SimulatedNoise(1)
    )
    twice.tell(twice.ask(), 1.0)
    with pytest.raises(RuntimeError, match="Refused"):
        twice.tell(twice.ask(), 1.0)
    assert (twice.ledger, twice.spent) == ((), 0)


class Cheap(dpb.DPKLUCB):
    """Says that it keeps a tenth of what its mechanism promises."""

    @property
    def guarantee(self) -> Any:  # type: ignore[override]
        return replace(self.mechanism().promise(), epsilon=Fraction(1, 10))  # type: ignore[type-var]


class Lavish(dpb.DPKLUCB):
    """Its mechanism spends a hundred times its budget."""

    def mechanism(self) -> LazyForgetful:  # type: ignore[override]
        return LazyForgetful(epsilon=100 * self.budget)


class Silent(dpb.DPKLUCB):
    """Says that it is private, and keeps nothing."""

    about: ClassVar[Any] = replace(dpb.DPKLUCB.about, privacy="none")


class Fifty(NaiveFTNL):
    def mechanism(self) -> Mechanism:  # type: ignore[override]
        return EachAction(inner=LazyForgetful(epsilon=self.budget), actions=1)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Cheap(arms=2, epsilon=1), "says that it guarantees"),
        (Lavish(arms=2, epsilon=1), "has a budget of 1; its mechanism spends 100"),
        (Silent(arms=2, epsilon=1), 'says privacy="none"'),
        (Fifty(actions=50, epsilon=1), "Expected a record of 1 actions"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_words_and_mechanism_agree(policy: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


def test_the_guarantee_is_that_of_the_open_vault() -> None:
    s = session()
    with pytest.raises(AttributeError):
        s.policy = dpb.DPKLUCB(arms=3, epsilon="1/1000")  # type: ignore[misc]
    assert s.guarantee.epsilon == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "noise",
    [dpb.SecureNoise, dpb.SimulatedNoise, None, 7, object()],
    ids=lambda noise: getattr(noise, "__name__", type(noise).__name__),
)
def test_noise_is_a_source_and_not_its_class(noise: Any) -> None:
    with pytest.raises(TypeError, match=r"Expected noise="):
        dpb.Session(dpb.UCB1(arms=1), noise=noise)


@pytest.mark.parametrize("count", [True, 2.0, "3", -1, None])
def test_counts_are_whole_numbers(count: Any) -> None:
    s = session()
    if count is None:
        assert [d.id for d in s.ask(np.int64(3))] == [1, 2, 3]  # type: ignore[call-overload]
        return
    with pytest.raises(ValueError, match=r"Expected count=.* to be a whole number of at least 0"):
        s.ask(count)
    assert s.pending == ()


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
    assert dpb.Session.from_json(named.to_json()).ask().campaign == "spring trial"
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
        lambda: s.expire(secret),
        lambda: s.tell_many([(secret, d)]),
        lambda: s.tell_many([(d, 1.0), (secret, d)]),
        lambda: s.tell_many([secret]),
        lambda: s.tell_many(secret),
        lambda: s.tell_many([(d, 1.0, secret)]),
        lambda: s.tell(d._replace(id=secret), 1.0),
        lambda: s.tell(d, {"reward": secret}),
        lambda: s.tell(d, f"{secret}"),
    ]
    if secret in (0, 1):
        calls = calls[1:3] if secret == 0 else calls[:1]
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
    again = dpb.Session.from_json(text)
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
