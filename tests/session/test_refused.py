"""What a session refuses: coordinates that are none, policies that contradict themselves, foreign
decisions, too many of them pending.
"""

from __future__ import annotations

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
from dpbandits.policies import NaiveFTNL
from dpbandits.vault import ArmVault, VectorVault
from tests.session.small import loaded, session

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
    with pytest.raises(ValueError, match="to hold an arm from 0 to 1, got -1"):
        dpb.Session(Plays(arms=2, epsilon=1, arm=-1), noise=dpb.SimulatedNoise(1))
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


def test_a_session_without_noise_says_what_there_is() -> None:
    with pytest.raises(TypeError, match=r"Expected noise=.*SecureNoise.*there is no default"):
        dpb.Session(dpb.UCB1(arms=1))  # type: ignore[call-arg]


@pytest.mark.parametrize("count", [True, 2.0, "3", -1, None])
def test_counts_are_whole_numbers(count: Any) -> None:
    s = session()
    if count is None:
        assert [d.id for d in s.ask(np.int64(3))] == [1, 2, 3]  # type: ignore[call-overload]
        return
    with pytest.raises(ValueError, match=r"Expected count=.* to be a whole number of at least 0"):
        s.ask(count)
    assert s.pending == ()


def test_a_seed_that_no_document_could_hold_is_refused() -> None:
    """A session is called by its seed: it was saved with a name that was too long to be loaded."""
    longest = dpb.Session(dpb.UCB1(arms=1), noise=dpb.SimulatedNoise(1), seed=16**200 - 1)
    assert loaded(longest.to_json()).seed == longest.seed
    for seed in (16**200, 10**5000):
        with pytest.raises(ValueError, match="200 hexadecimal digits"):
            dpb.Session(dpb.UCB1(arms=1), noise=dpb.SimulatedNoise(1), seed=seed)
        with pytest.raises(ValueError, match="200 hexadecimal digits"):
            dpb.SimulatedNoise(seed)
