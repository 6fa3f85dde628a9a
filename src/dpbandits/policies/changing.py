"""Thompson sampling for means that change: a normal belief about each arm, whose variance grows
from round to round (a Kalman filter).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from dpbandits.core.plan import Action, Hold, Plan, PublicRng
from dpbandits.policies.base import ExactSums, NewestBatches, emptied
from dpbandits.policies.contract import About, Policy, Release, policy_dataclass
from dpbandits.policies.formulas.indices import (
    LARGEST_VARIANCE,
    block_variance,
    gain_of,
    grown_variance,
    look_chance,
    surprise_of,
)

UNKNOWN_MEAN = 0.5
"""Mean of a belief before anything was released."""

IN_A_ROW = 2
"""Surprising releases of one arm in a row that reset all beliefs."""


class KalmanState(NamedTuple):
    """Beliefs about the arms' present means. Public.

    Args:
        means: mean of each arm's belief, in reward units.
        variances: its variance.
        totals: released sum of rewards, by arm.
        rounds: released rewards, by arm.
        open: rewards in the arm's open block.
        seen: round of the arm's last release; 0 before any.
        surprises: the arm's last releases in a row that were surprising.
        restarts: how often all beliefs were reset.
        t: rewards recorded, all arms.
    """

    means: tuple[float, ...]
    variances: tuple[float, ...]
    totals: tuple[float, ...]
    rounds: tuple[int, ...]
    open: tuple[int, ...]
    seen: tuple[int, ...]
    surprises: tuple[int, ...]
    restarts: int
    t: int


@policy_dataclass
class KalmanPolicy(Policy):
    """Base class of Thompson sampling on normal beliefs about means that change.

    Args:
        lasting: rounds for which a mean is expected to stay about what it is. A belief's variance
            grows by 1/(16 lasting) a round.
        preset: "drift": beliefs widen from round to round. "restarts": besides, two surprising
            releases of an arm in a row reset all beliefs, and each arm is looked at now and then.
            For means that jump.
        block: rounds for which an arm is played before its block is released.
        width: how much a belief's standard deviation counts in the draw.
        surprise: with "restarts", standard deviations from which a release is surprising.
        looks: with "restarts", expected looks at each arm in `lasting` rounds.
    """

    chooses: ClassVar[bool] = True
    lasting: int
    preset: str = "drift"
    block: int | None = 1
    width: float = 0.7
    surprise: float = 2.25
    looks: float = 1.0

    def validate(self) -> None:
        self._whole("lasting", of="rounds")
        self._one_of("preset", "drift", "restarts")
        self._whole("block", of="rounds")
        for name, high in (("width", 1e3), ("surprise", 1e3), ("looks", 1e6)):
            self._number(name, 0, high)

    @property
    def noise_parameter(self) -> float:
        """ε of a block's noise; 0 without noise."""
        return 0.0

    @property
    def drift(self) -> float:
        """Growth of a belief's variance per round."""
        return 1.0 / (16.0 * self.lasting)

    @property
    def look(self) -> float:
        """Probability that a block goes to the arm that was released longest ago."""
        if self.preset == "drift":
            return 0.0
        return look_chance(self.arms, self.block or 1, self.lasting, self.looks)

    def init(self) -> KalmanState:
        zeros, none = (0,) * self.arms, (0.0,) * self.arms
        means, variances = (UNKNOWN_MEAN,) * self.arms, (LARGEST_VARIANCE,) * self.arms
        return KalmanState(means, variances, none, zeros, zeros, zeros, zeros, 0, 0)

    def plan(self, state: KalmanState, rng: PublicRng) -> Plan:
        return self.held(state, rng, range(self.arms))

    def held(self, state: KalmanState, rng: PublicRng, arms: Sequence[int]) -> Hold:
        """Return the plan that fills the block of one of these arms."""
        if self.look > 0.0 and rng.generator.random() < self.look:
            arm = min(arms, key=lambda each: (state.seen[each], each))
        else:
            draws = rng.generator.standard_normal(len(arms)).tolist()
            scores = [
                state.means[arm] + self.width * math.sqrt(state.variances[arm]) * draw
                for arm, draw in zip(arms, draws, strict=True)
            ]
            arm = arms[scores.index(max(scores))]
        return Hold(arm, self.room(state, arm), (arm,), drawn=True)

    def room(self, state: KalmanState, arm: int) -> int:
        assert self.block is not None
        return max(1, self.block - state.open[arm])

    def update(self, state: KalmanState, plan: Plan, release: Release) -> KalmanState:
        state = self._advanced(state, release)
        for arm, answer in zip(release.coordinates, release.answers, strict=True):
            state = self._learned(state, arm, answer)
        return state

    def _advanced(self, state: KalmanState, release: Release) -> KalmanState:
        """Return the state after the rounds of a plan, before its answers."""
        passed, open_ = release.round - state.t, list(state.open)
        for arm, times in release.told:
            open_[arm] += times
        variances = tuple(grown_variance(each, self.drift, passed) for each in state.variances)
        return state._replace(variances=variances, open=tuple(open_), t=release.round)

    def _learned(self, state: KalmanState, arm: int, answer: Any) -> KalmanState:
        """Return the state after one block's answer."""
        law = self.reader.law
        assert law is not None
        total, rounds = answer.total, answer.rounds
        if not law.forgets:
            total, rounds = total - state.totals[arm], rounds - state.rounds[arm]
        noise = block_variance(rounds, self.noise_parameter)
        mean, variance, surprises, restarts = total / rounds, state.variances[arm], 0, 0
        if self.preset == "restarts":
            far = surprise_of(mean - state.means[arm], variance, noise) > self.surprise
            surprises = state.surprises[arm] + 1 if far else 0
            restarts = int(surprises >= IN_A_ROW)
        if restarts:
            fresh = self.init()
            state = state._replace(
                means=fresh.means,
                variances=fresh.variances,
                surprises=fresh.surprises,
                restarts=state.restarts + 1,
            )
            variance, surprises = LARGEST_VARIANCE, 0
        gain, before = gain_of(variance, noise), state.means[arm]
        return state._replace(
            means=put(state.means, arm, before + gain * (mean - before)),
            variances=put(state.variances, arm, (1.0 - gain) * variance),
            totals=put(state.totals, arm, state.totals[arm] + total),
            rounds=put(state.rounds, arm, state.rounds[arm] + rounds),
            open=put(state.open, arm, 0),
            seen=put(state.seen, arm, state.t),
            surprises=put(state.surprises, arm, surprises),
        )

    def ahead(
        self,
        state: KalmanState,
        asked: Mapping[Action, int],
        rng: PublicRng,
        eligible: Sequence[int] | None = None,
    ) -> Hold:
        arms = range(self.arms) if eligible is None else eligible
        return self.held(self._as_if_answered(state, asked), rng, arms)

    def _as_if_answered(self, state: KalmanState, asked: Mapping[Any, int]) -> KalmanState:
        """Return the state as if all requested rewards had been recorded and had left the means
        unchanged.
        """
        variances, open_, seen = list(state.variances), list(state.open), list(state.seen)
        round = state.t + sum(asked.values())
        for arm, times in asked.items():
            if times < self.room(state, arm):
                open_[arm] += times
                continue
            rounds = open_[arm] + times
            noise = block_variance(rounds, self.noise_parameter)
            variances[arm] *= 1.0 - gain_of(variances[arm], noise)
            open_[arm], seen[arm] = 0, round
        return state._replace(variances=tuple(variances), open=tuple(open_), seen=tuple(seen))

    def dropped(
        self, state: KalmanState, release: Release, arms: Collection[int] | None = None
    ) -> KalmanState:
        state = self._advanced(state, release)
        return state._replace(open=emptied(state.open, arms))

    def widened(self, state: KalmanState, arms: int) -> KalmanState:
        more = arms - len(state.means)
        zeros = (0,) * more
        return state._replace(
            means=state.means + (UNKNOWN_MEAN,) * more,
            variances=state.variances + (LARGEST_VARIANCE,) * more,
            totals=state.totals + (0.0,) * more,
            rounds=state.rounds + zeros,
            open=state.open + zeros,
            seen=state.seen + zeros,
            surprises=state.surprises + zeros,
        )


def put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """Return the tuple with another value at this place."""
    return (*values[:at], value, *values[at + 1 :])


@policy_dataclass
class KalmanTS(KalmanPolicy, ExactSums):
    """Thompson sampling for means that change, without privacy.

    Guarantee: none.

    Source: a Kalman filter for the random-walk model (Kalman 1960) with Thompson sampling; compare
    Granmo and Berg 2010. Regret: no bound is proved; measured in docs/measured/regret.md.

    >>> KalmanTS(arms=3, lasting=10_000).guarantee is None
    True
    """

    about: ClassVar[About] = About(
        paper="Granmo and Berg 2010",
        algorithm="Kalman filter and Thompson sampling",
        bound="",
        privacy="none",
        every_round=True,
        randomised=True,
        theory=False,
    )


@policy_dataclass
class DPKalmanTS(KalmanPolicy, NewestBatches):
    """Thompson sampling for means that change, with private rewards.

    An arm is drawn from normal beliefs about the present means and played for a fixed number of
    rounds. Its block is released once, with one draw of noise. Beliefs are a Kalman filter on
    released values, so they are post-processing.

    Guarantee: ε-DP for the whole sequence of decisions, forever: every reward is in one release.

    Regret: no bound is proved; measured in docs/measured/regret.md. Where means do not
    change, `DPRateIMED` loses much less.

    Source: ours.

    Args:
        block: rounds for which an arm is played before its block is released; None stands for
            ⌈16/epsilon⌉.

    >>> policy = DPKalmanTS(arms=5, epsilon=1, lasting=20_000)
    >>> policy.block, str(policy.guarantee.epsilon)
    (16, '1')
    """

    about: ClassVar[About] = About(
        paper="dpbandits",
        algorithm="DPKalmanTS (ours)",
        bound="",
        proof="dp_kalman_ts",
        baseline="KalmanTS",
        randomised=True,
        theory=False,
    )
    block: int | None = None

    def validate(self) -> None:
        if self.block is None:
            object.__setattr__(self, "block", math.ceil(16 / self.budget))
        super().validate()

    @property
    def noise_parameter(self) -> float:
        return float(self.budget)
