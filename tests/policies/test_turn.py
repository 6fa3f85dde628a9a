"""What a policy of one's own may get wrong is said in its own words."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.plan import Cycle, Draw, Hold
from dpbandits.mechanisms import (
    AboveThreshold,
    Exact,
    GaussianBatches,
    LazyForgetful,
    LocalLaplace,
    RandomizedResponse,
)
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import About, policy_dataclass
from dpbandits.policies.cumulative import DPKLUCB


@dataclass(frozen=True, kw_only=True)
class Planning(DPKLUCB):
    """Plans what it is told to."""

    what: Any = 3

    def plan(self, state: Any, rng: Any) -> Any:
        return self.what


@dataclass(frozen=True)
class Sampling:
    """The law of a `Draw` that samples one thing."""

    what: Any

    def sample(self, round: int, rng: Any) -> Any:
        return self.what


HERE, ARMS = r"Expected Planning\.plan\(\) to .*", "play one arm at a time, from 0 to 1, .* got "
PLANS: list[tuple[Any, type[Exception], str]] = [
    (3, TypeError, "return a Hold, Cycle or Draw .* got .* int"),
    (None, TypeError, "return .* an object of type NoneType"),
    (Hold(np.argmax([1, 2]), 10, ()), TypeError, r"whole numbers .* write int\(arm\)"),  # type: ignore[arg-type]
    (Hold(0, 1.5, ()), TypeError, "whole numbers of rounds"),  # type: ignore[arg-type]
    (Hold((), 1.5, ()), TypeError, "whole numbers of rounds"),  # type: ignore[arg-type]
    (Hold(0, 2, [0]), TypeError, r"plan tuples .* write .* tuple\(arms\)"),  # type: ignore[arg-type]
    (Hold(0, 2, 0), TypeError, "plan tuples"),  # type: ignore[arg-type]
    (Cycle([0, 1], 2, ()), TypeError, "plan tuples"),  # type: ignore[arg-type]
    (Cycle((0, 1), 2.0, ()), TypeError, "whole numbers of rounds"),  # type: ignore[arg-type]
    (Draw(Sampling(0), [2, 2]), TypeError, "plan tuples"),  # type: ignore[arg-type]
    (Draw(Sampling(0), (2, 2), 2.5), TypeError, "whole numbers of rounds"),  # type: ignore[arg-type]
    (Hold(99, 10, ()), ValueError, f"{ARMS}Hold.action=99"),
    (Hold(-1, 10, ()), ValueError, f"{ARMS}Hold.action=-1"),
    (Hold((), 2, ()), ValueError, ARMS),
    (Hold((0, 1), 2, ()), ValueError, ARMS),
    (Hold(0, 2, (0,), (), (0,)), ValueError, ARMS),
    (Hold(0, 0, (0,)), ValueError, "for one round or more"),
    (Hold(0, 2, (0, 0)), ValueError, "release or drop arms from 0 to 1, each once"),
    (Hold(0, 2, (0,), (0,)), ValueError, "release or drop arms from 0 to 1, each once"),
    (Hold(0, 2, (2,)), ValueError, "release or drop arms from 0 to 1"),
    (Cycle((), 2, ()), ValueError, ARMS),
    (Cycle((0, 2), 2, ()), ValueError, ARMS),
    (Cycle((0, 1), 0, ()), ValueError, "for one round or more"),
    (Draw(Sampling(0), (2,)), ValueError, "limit for each of its 2 arms, got 1"),
    (Draw(Sampling(0), (2, 2), 2, (2,)), ValueError, "release or drop arms from 0 to 1"),
]


@pytest.mark.parametrize(("what", "kind", "words"), PLANS)
def test_a_plan_that_is_none_is_said_by_every_host(
    what: Any, kind: type[Exception], words: str
) -> None:
    policy = Planning(arms=2, epsilon=1, what=what)
    with pytest.raises(kind, match=HERE + words):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))
    with pytest.raises(kind, match=HERE + words):
        dpb.simulate(policy, dpb.Bernoulli([0.5, 0.4]), 100)


class Nameless(PrivatePolicy):
    """Says nothing about itself."""

    init = plan = update = None  # type: ignore[assignment]

    def mechanism(self) -> Any:
        return None


class Bare(Nameless):
    about: ClassVar[About] = About(paper="", algorithm="", bound="", baseline="UCB1")


class Itself(Bare):
    def mechanism(self) -> Any:
        return LazyForgetful


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Nameless, r"Nameless to have facts about its algorithm: write about: ClassVar\[About\]"),
        (Bare, r"a mechanism of Bare\.mechanism\(\) such as .* got None"),
        (Itself, r"a mechanism of Itself\.mechanism\(\), got the class LazyForgetful"),
    ],
)
def test_a_policy_has_facts_and_a_mechanism(kind: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        kind(arms=2, epsilon=1)


class Unrounded(NamedTuple):
    arm: int = 0


@policy_dataclass
class Choosing(PrivatePolicy):
    """Chooses among arms, and keeps one number."""

    about: ClassVar[About] = About(paper="", algorithm="", bound="", baseline="UCB1")
    chooses: ClassVar[bool] = True

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget)

    def init(self) -> Unrounded:
        return Unrounded()

    def plan(self, state: Any, rng: Any) -> Hold:
        return Hold(0, 2, (0,))

    def ahead(self, state: Any, asked: Any, rng: Any, eligible: Any = None) -> Hold:
        return Hold(eligible[0] if eligible else 0, 2, (0,))

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        return state


@pytest.mark.parametrize("options", [{"min_share": 0.1}, {"assignment": "shuffled"}])
def test_arms_are_drawn_by_chance_where_the_state_says_which_were_released(options: Any) -> None:
    """Each ask failed with an AttributeError."""
    policy, noise = Choosing(arms=2, epsilon=1), dpb.SimulatedNoise(1)
    assert dpb.Session(policy, noise=noise).ask(eligible=[1]).action == 1
    with pytest.raises(ValueError, match=r"state of Choosing to have `rounds`"):
        dpb.Session(policy, noise=noise, **options)


@pytest.mark.parametrize("drawn", [2, -1, 0.0, np.int64(0), True, None, [0], (0, 2)])
def test_a_law_that_draws_no_arm_makes_no_decision(drawn: Any) -> None:
    """The session took it, and its reward ended the session."""
    policy = Planning(arms=2, epsilon=1, what=Draw(Sampling(drawn), (2, 2)))
    session, words = dpb.Session(policy, noise=dpb.SimulatedNoise(1)), "sample arms from 0 to 1"
    with pytest.raises(ValueError, match=words):
        session.ask()
    assert (session.resolved, session.pending) == (0, ())
    with pytest.raises(ValueError, match=words):
        dpb.simulate(policy, dpb.Bernoulli([0.5, 0.4]), 100)


@dataclass(frozen=True, kw_only=True)
class Foreseeing(dpb.LazyDPTS):
    """Plans what it is told to while answers are awaited."""

    what: Any = None

    def ahead(self, state: Any, asked: Any, rng: Any, eligible: Any = None) -> Any:
        return self.what


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (3, r"Foreseeing\.ahead\(\) to return a Hold, Cycle or Draw"),
        (Hold(2, 1, (2,)), r"Foreseeing\.ahead\(\) to play one arm at a time"),
        (Hold(0, 1, (0,)), r"one of the arms \(1,\) that may be played, got 0"),
        (Draw(Sampling(0), (2, 2)), r"one of the arms \(1,\) that may be played, got 0"),
        (None, r"one of the arms \(1,\) that may be played"),
    ],
)
def test_a_plan_ahead_keeps_to_the_arms_that_may_be_played(what: Any, words: str) -> None:
    """It showed an arm that was paused."""
    for paused in (False, True):
        session = dpb.Session(Foreseeing(arms=2, epsilon=1, what=what), noise=dpb.SimulatedNoise(1))
        if paused:
            session.pause_arm(0)
        with pytest.raises((TypeError, ValueError), match=words):
            session.ask(eligible=None if paused else [1])
        assert session.pending == ()


class Positions(dpb.CUCB):
    def plan(self, state: Any, rng: Any) -> Any:
        return Hold(tuple(np.argsort([3, 1, 2])[:2]), 1, release=())  # type: ignore[arg-type]


def test_arms_of_a_super_arm_are_whole_numbers() -> None:
    """A store showed them as (1.0, 2.0)."""
    policy = Positions(problem=dpb.UniformMatroid(arms=3, rank=2))
    with pytest.raises(TypeError, match=r"whole numbers .* write int\(arm\)"):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


class InTurn(dpb.DPJointMAT):
    def plan(self, state: Any, rng: Any) -> Any:
        return Cycle((0, 1), each=1, release=(0, 1))


def test_a_plan_of_joint_releases_plays_one_super_arm() -> None:
    policy = InTurn(problem=dpb.UniformMatroid(arms=4, rank=2), epsilon=1)
    with pytest.raises(TypeError, match="Expected a Hold, got a Cycle"):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


@pytest.mark.parametrize(
    "make",
    [
        LazyForgetful,
        LocalLaplace,
        AboveThreshold,
        lambda epsilon, grid: GaussianBatches(rho=epsilon, grid=grid),
        lambda epsilon, grid: Exact(grid=grid),
    ],
)
def test_a_grid_is_a_grid(make: Any) -> None:
    with pytest.raises(TypeError, match="Grid such as"):
        make(epsilon=1, grid=1)


@pytest.mark.parametrize("width", [0, -1, 0.5, Fraction(1, 2), "2", True])
def test_a_report_is_about_a_whole_number_of_rewards(width: Any) -> None:
    """Of width 1/2 it was randomised at twice the epsilon that it promised."""
    for kind in (LocalLaplace, RandomizedResponse):
        with pytest.raises(ValueError, match=r"width=.* to be a whole number"):
            kind(epsilon=1, width=width)  # type: ignore[arg-type]
