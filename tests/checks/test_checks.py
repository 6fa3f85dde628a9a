"""Every shipped check on every policy in the table: a new policy is tested without writing a
test. One case is one instance with all its checks.

`make test` takes ten instances, one of each kind of mechanism and two of other settings, and
simulates one of them; `make test-all` takes all, and compares compiled runs with plain ones, which
are pinned in tests/simulation.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import CHECKS, check_policy, examples
from dpbandits.core.errors import CheckFailed
from dpbandits.core.plan import FOREVER, Hold
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import JointBatch, LazyForgetful
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.policies import POLICIES
from dpbandits.policies.base import PrivatePolicy
from dpbandits.policies.contract import About, Policy, policy_dataclass
from tests.families import NEAR

SIMULATED = ("beats_uniform", "compiled_law")
"""Checks that play many runs, most of them compiled."""


def concerns(check: str, policy: Policy) -> bool:
    """Whether the check has something to look at, by what the policy declares."""
    if check == "replay_is_blind":
        return policy.guarantee is not None and policy.randomizer() is None
    if check == "loss_within_claim":
        return policy.guarantee is not None
    return check != "only_reports_enter" or policy.randomizer() is not None


TAKEN = {*NEAR, "SuccessiveElimination", "TreeFTRL"} - {"HybridUCB", "UCB1"}
"""One policy of each mechanism; for counters that release every round one of losses over a tree,
which is quicker, and among those that are not private one that names an arm.
"""


def cases(kept: Collection[str]) -> list[Any]:
    """All instances, all but the first of the kept policies long."""
    return [
        pytest.param(
            policy,
            id=repr(policy),
            marks=[] if name in kept and number == 0 else [pytest.mark.long],
        )
        for name in POLICIES
        for number, policy in enumerate(examples(name))
    ]


@pytest.mark.parametrize("policy", cases(TAKEN))
def test_policy(policy: Policy, subtests: pytest.Subtests) -> None:
    for name, check in CHECKS.items():
        if name not in SIMULATED and concerns(name, policy):
            with subtests.test(check=name):
                check(policy)


@pytest.mark.parametrize("policy", cases(["DPKLUCB"]))
def test_policy_beats_uniform_play(policy: Policy) -> None:
    CHECKS["beats_uniform"](policy)


@pytest.mark.long
@pytest.mark.parametrize("policy", cases([]))
def test_compiled_runs_of_a_policy_have_the_law_of_plain_ones(policy: Policy) -> None:
    CHECKS["compiled_law"](policy)


@pytest.mark.parametrize("name", POLICIES)
def test_one_arm(name: str) -> None:
    """A single arm is played for ever, whatever the policy."""
    for policy in examples(name, arms=1):
        CHECKS["hosts_agree"](policy)
        CHECKS["ledger_equals_claim"](policy)


@policy_dataclass
class Keeping(PrivatePolicy):
    """Its state is what it is told."""

    about: ClassVar[About] = About(paper="", algorithm="", bound="", baseline="UCB1")
    what: Any

    def mechanism(self) -> LazyForgetful:
        return LazyForgetful(epsilon=self.budget)

    def init(self) -> Any:
        return 1, (self.what,)

    def plan(self, state: Any, rng: Any) -> Hold:
        return Hold(0, FOREVER, ())

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        return state


@pytest.mark.parametrize("what", [[0], {}, np.zeros(2), math.nan, {1}, object()])
def test_a_state_that_changes_or_cannot_be_saved_is_found(what: Any) -> None:
    """Of arrays NumPy's own words were all that was said."""
    CHECKS["state_is_plain"](Keeping(arms=2, epsilon=1, what="a text"))
    with pytest.raises(CheckFailed, match=r"The state holds .* a NamedTuple"):
        check_policy(Keeping(arms=2, epsilon=1, what=what))


class Spied(LazyForgetful):
    newest: ClassVar[int] = 0

    def noised(self, values: Any, noise: Any) -> list[int]:
        Spied.newest = int(values[0])
        return super().noised(values, noise)


@policy_dataclass
class PeeksAhead(Keeping):
    """It decides by exact sums, but only while rewards are late."""

    what: Any = ""

    def mechanism(self) -> Spied:
        return Spied(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Any, rng: Any) -> Hold:
        return Hold(0, 5, (0,))

    def ahead(self, state: Any, asked: Any, rng: Any, eligible: Any = None) -> Hold:
        return Hold(Spied.newest % self.arms, 1, ())


@policy_dataclass
class KeptOutside(dpb.DPKLUCB):
    """Its instance knows what its state does not."""

    first: int | None = 3

    def leader(self, s: Any, t: int) -> int:
        if t % 2:
            self.__dict__["kept"] = super().leader(s, t)
        return int(self.__dict__.get("kept", 0))


@dataclass(frozen=True, kw_only=True)
class Careless(Randomizer):
    """A reward with noise, and a fault."""

    fault: str

    def randomise(self, steps: int, noise: Any) -> int:
        unit = 1 if self.fault == "unit" else self.grid.steps
        epsilon = 2 * self.epsilon if self.fault == "half" else self.epsilon
        noised = noise.laplace(steps, sensitivity=unit, epsilon=epsilon)
        return max(noised, steps - 3) if self.fault == "cut" else noised

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, trust="local", grid=self.grid)


@policy_dataclass
class Carelessly(dpb.LDPUCB):
    fault: str = ""

    def randomizer(self) -> Any:
        return Careless(epsilon=self.budget, grid=Grid(steps=self.grid), fault=self.fault)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("", ""),
        ("unit", "One reward can cost 8, the claim is 1"),
        ("half", "One reward can cost 2, the claim is 1"),
        ("cut", "A report changes with a reward, whatever the noise"),
    ],
)
def test_a_report_that_costs_more_than_its_claim_is_found(fault: str, message: str) -> None:
    """Nothing looked at the randomizer of a user-defined policy."""
    policy = Carelessly(arms=3, epsilon=1, grid=8, fault=fault)
    if not message:
        return CHECKS["loss_within_claim"](policy)
    with pytest.raises(CheckFailed, match=message):
        CHECKS["loss_within_claim"](policy)
    return None


@pytest.mark.parametrize(
    ("policy", "check", "message"),
    [
        (PeeksAhead(arms=3, epsilon=1, grid=1), "replay_is_blind", "a decision changes"),
        (KeptOutside(arms=3, epsilon=1, grid=1), "survives_json", "After loading"),
    ],
)
def test_what_shows_late_or_beside_another_session_is_found(
    policy: Policy, check: str, message: str
) -> None:
    """Rewards came at once, and no other session had the policy."""
    with pytest.raises(CheckFailed, match=message):
        CHECKS[check](policy)


def test_a_policy_that_plays_the_first_arm_only_is_found() -> None:
    """The first arm was the best one."""
    with pytest.raises(CheckFailed, match="Mean regret"):
        CHECKS["beats_uniform"](Keeping(arms=3, epsilon=1, what=0))


@policy_dataclass
class Together(Keeping):
    """Its arms are released together, and its state does not count their rounds."""

    about: ClassVar[About] = About(paper="", algorithm="", bound="", feedback="semi")
    what: Any = ""

    def mechanism(self) -> Any:
        return JointBatch(epsilon=self.budget, size=self.arms)

    def plan(self, state: Any, rng: Any) -> Hold:
        return Hold((0, 1), 4, (0, 1))


def test_late_rewards_of_a_joint_policy_need_no_counts_in_its_state() -> None:
    """Once answers had delays no further decision was made: an AttributeError."""
    CHECKS["late_rewards"](Together(arms=2, epsilon=1))


@policy_dataclass
class Restless(Keeping):
    """It plans after each round, and does not say so."""

    what: Any = ""
    plans: ClassVar[int] = 0

    def plan(self, state: Any, rng: Any) -> Hold:
        Restless.plans += 1
        return Hold(self.arms - 1, 1, ())


def test_a_policy_that_plans_after_each_round_is_checked_in_time() -> None:
    """A million rounds took minutes."""
    CHECKS["beats_uniform"](Restless(arms=3, epsilon=1))
    assert Restless.plans < 20_000


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Expected a policy such as .* got 'DPKLUCB'"):
        check_policy("DPKLUCB")  # type: ignore[arg-type]
