"""Controls that were invented by somebody who had read the auditor's guide and not its code: twenty
that are wrong, five that are right. They are not changed once they were audited.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

import dpbandits as dpb
from benchmarks.controls.parts import tenths, two_sided, unseen
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import Cycle, Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee
from dpbandits.mechanisms import LazyForgetful, Randomizer
from dpbandits.mechanisms.base import Answer, Block, Each, PureDP, SeparableDP
from dpbandits.mechanisms.counters import add_leaf, empty_nodes
from dpbandits.noise.protocol import Noise, Values
from dpbandits.policies.base import PrivatePolicy, Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About
from dpbandits.policies.super_arms import SuperArmPolicy

# Mechanisms that are WRONG, each in one thing. Never for use.


ONE = Fraction(1)
TENTHS = Grid(steps=10)


@dataclass(frozen=True, kw_only=True)
class FlooredMean(SeparableDP):
    """Noises a block's mean in whole steps. The mean moves by steps/count, rounded up for some
    sums; the sensitivity is rounded down.
    """

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        steps, n = self.grid.steps, max(1, count)
        mean = noise.laplace(total // n, sensitivity=max(1, steps // n), epsilon=self.epsilon)
        return None, Answer(mean * n / steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class OutlivedTree(SeparableDP):
    """A tree for sixteen blocks, in five levels, that simply goes on and takes further levels."""

    proof: ClassVar[str] = "binary_tree"
    planned: ClassVar[int] = 16

    def start(self) -> list[Any]:
        return [0, 0, *empty_nodes(40)]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Answer]:
        leaf, rounds = memory[0] + 1, memory[1] + count
        share = self.epsilon / self.planned.bit_length()
        nodes = add_leaf((memory[2], memory[3]), leaf, total, share, self.grid.steps, noise)
        answer = Answer(sum(nodes[1]) / self.grid.steps, rounds, leaf.bit_count())
        return [leaf, rounds, *nodes], answer


@dataclass(frozen=True, kw_only=True)
class RingOfDraws(SeparableDP):
    """Keeps its first twelve draws and goes round: the thirteenth block has the noise of the
    first.
    """

    proof: ClassVar[str] = "lazy_forgetful"
    size: ClassVar[int] = 12

    def start(self) -> list[Any]:
        return [0, []]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Answer]:
        place, ring = memory
        if len(ring) < self.size:
            drawn = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
            ring = [*ring, drawn]
        noisy = total + ring[place % self.size]
        return [place + 1, ring], Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class WinnerAndValue(PureDP):
    """Chooses the best arm at epsilon, then tells its noised sum, at epsilon once more."""

    compares = True
    public_memory = True
    proof: ClassVar[str] = "noisy_max"

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: None, block: Block, noise: Noise) -> tuple[None, tuple[Answer, ...]]:
        cost: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": self.epsilon}
        sums = [int(total) for total in block.sums]
        winner = noise.select(sums, law="exponential", **cost)
        value = noise.laplace(sums[winner], **cost) / self.grid.steps
        return None, tuple(
            Answer(value, count, 1) if place == winner else Answer(0.0, count, 0)
            for place, count in enumerate(block.counts)
        )


@dataclass(frozen=True, kw_only=True)
class FloatSum(SeparableDP):
    """Divides sum and noise by the steps, and adds them as floats: 1/10 + 2/10 is not 3/10."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        drawn = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(total / self.grid.steps + drawn / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Calibrated(SeparableDP):
    """One answer in a thousand goes out without noise, to calibrate, and says so in `draws`."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        if noise.uniform() < 0.001:
            return None, Answer(total / self.grid.steps, count, 0)
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


WRONG_MECHANISMS = (
    unseen(
        "FlooredMean",
        "mechanism",
        "a mean in whole steps, its sensitivity rounded down",
        FlooredMean(epsilon=ONE, grid=TENTHS),
        1,
        "2: ten steps in a block of six to nine move the mean by two, noise is for one",
    ),
    unseen(
        "OutlivedTree",
        "mechanism",
        "a tree for 16 blocks takes more",
        OutlivedTree(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "6/5 from block 32 on, 11/5 from block 1,024: the first record is in so many nodes at 1/5",
    ),
    unseen(
        "RingOfDraws",
        "mechanism",
        "twelve draws of noise, used in a ring",
        RingOfDraws(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "∞: answer 13 minus answer 1 is exact",
    ),
    unseen(
        "WinnerAndValue",
        "mechanism",
        "the winner at ε, and its noised sum at ε",
        WinnerAndValue(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "3/2 as its supremum: ½ by the choice of an arm far behind, 1 by its sum",
    ),
    unseen(
        "FloatSum",
        "mechanism",
        "noise added in floats, after division",
        FloatSum(epsilon=ONE, grid=TENTHS),
        1,
        "∞: 0.30000000000000004 is 1/10 + 2/10, and never 0/10 + 3/10",
    ),
    unseen(
        "Calibrated",
        "mechanism",
        "one answer in a thousand without noise, which says so",
        Calibrated(epsilon=ONE, grid=Grid(steps=1)),
        1,
        "∞, with chance 1/1,000 in each answer",
    ),
)


# Policies that are WRONG, each in one thing, by what reads their rewards. Never for use.


ROOT = Fraction(7, 4)
"""About √3."""

WATCHED = {"mean": 0.0}
"""A dashboard: the exact mean of the newest block."""


def about(feedback: Any = "bandit") -> About:
    return About(
        paper="a stranger", algorithm="wrong on purpose", bound="", theory=False, feedback=feedback
    )


def best(s: Statistics) -> int:
    """The arm with the largest released mean."""
    means = [total / max(1, n) for total, n in zip(s.totals, s.rounds, strict=True)]
    return means.index(max(means))


@dataclass(frozen=True, kw_only=True)
class RootShare(Each):
    """Prices three arms as if noise were Gaussian: their √3 is not what Laplace noise costs."""

    width: int = 3

    @property
    def guarantee(self) -> Guarantee:
        one = self.inner.guarantee
        assert one is not None
        return replace(one, epsilon=ROOT * one.cost, proof="each_arm")


@dataclass(frozen=True, kw_only=True)
class RootCUCB(SuperArmPolicy, PrivatePolicy):
    """LazyCUCB with epsilon/√3 for each arm of a super arm of three."""

    about: ClassVar[About] = about("semi")

    def mechanism(self) -> RootShare:
        return RootShare(
            inner=LazyForgetful(epsilon=self.budget / ROOT, grid=Grid(steps=self.grid))
        )

    def bonus(self, n: Floats, draws: Floats, t: int) -> Floats:
        return np.asarray(np.sqrt(1.5 * math.log(self.arms * t) / n))

    def batch(self, s: Statistics, arm: int) -> int:
        return max(1, 2 * s.rounds[arm])


@dataclass(frozen=True, kw_only=True)
class EightDraws(SeparableDP):
    """Draws noise for eight arms at once; a ninth takes that of the first."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        ((_, answer),) = self.steps([memory], [total], [count], noise)
        return None, answer

    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> Iterable[tuple[None, Answer]]:
        steps = self.grid.steps
        draws = [
            noise.laplace(0, sensitivity=steps, epsilon=self.epsilon)
            for _ in range(min(8, len(counts)))
        ]
        return [
            (None, Answer((int(total) + draws[place % 8]) / steps, count, 1))
            for place, (total, count) in enumerate(zip(totals, counts, strict=True))
        ]


@dataclass(frozen=True, kw_only=True)
class Rounds(StatisticsPolicy, PrivatePolicy):
    """Plays every arm in turn, releases all of them, and then holds the best for as long."""

    about: ClassVar[About] = about()

    def mechanism(self) -> Any:
        return EightDraws(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arms = tuple(range(self.arms))
        if any(state.open) or first_unseen(state) is not None:
            return Cycle(arms, 2, arms)
        return Hold(best(state), 2 * self.arms, ())


@dataclass(frozen=True, kw_only=True)
class Dashboard(SeparableDP):
    """Noises as it should, and shows the exact mean on a dashboard, for operators."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        WATCHED["mean"] = total / (self.grid.steps * max(1, count))
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class LooksAtTheDashboard(StatisticsPolicy, PrivatePolicy):
    """Plays the best released mean; each fifth block by what the dashboard shows."""

    about: ClassVar[About] = about()

    def mechanism(self) -> Dashboard:
        return Dashboard(epsilon=self.budget, grid=Grid(steps=self.grid))

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = best(state)
            if state.t // 4 % 5 == 4:
                arm = 0 if WATCHED["mean"] > 0.5 else 1
        return Hold(arm, 4, (arm,))


WRONG_POLICIES = (
    unseen(
        "RootCUCB",
        "policy",
        "ε/√3 for each of three arms",
        RootCUCB(problem=dpb.TopK(arms=5, k=3), epsilon=1, grid=1),
        1,
        "12/7: three sums at 4/7 each",
    ),
    unseen(
        "EightDraws",
        "policy",
        "noise for eight arms, used for ten",
        Rounds(arms=10, epsilon=1, grid=1),
        1,
        "∞: the difference of what is released of arms 1 and 9 is exact",
    ),
    unseen(
        "LooksAtTheDashboard",
        "policy",
        "each fifth block is planned by an exact mean that a dashboard keeps",
        LooksAtTheDashboard(arms=2, epsilon=1, grid=1),
        1,
        "∞: the fifth block's arm is a function of one exact mean",
    ),
)


# Randomizers of the local model that are WRONG, each in one thing. Never for use.


@dataclass(frozen=True, kw_only=True)
class Plain(Randomizer):
    """reward + Laplace, as it should be for one reward."""

    def randomise(self, steps: int, noise: Noise) -> int:
        return noise.laplace(steps, sensitivity=self.grid.steps, epsilon=self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(
            measure="pure",
            epsilon=self.epsilon,
            trust="local",
            grid=self.grid,
            proof="local_laplace",
        )


class NoOpinion(Plain):
    """A half is what a form holds that nobody filled in: no datum, so it is sent as it is."""

    def randomise(self, steps: int, noise: Noise) -> int:
        if 2 * steps == self.grid.steps:
            return steps
        return super().randomise(steps, noise)


class TwoInOne(Plain):
    """Noises each of two rewards at all of epsilon, and not at a half of it."""


WRONG_RANDOMIZERS = (
    unseen(
        "NoOpinion",
        "randomizer",
        "a reward of ½ is sent as it is",
        NoOpinion(epsilon=Fraction(1), grid=Grid(steps=10)),
        1,
        "∞: no other report can come of ½",
    ),
    unseen(
        "TwoInOne",
        "randomizer",
        "a report on two rewards, each noised at ε",
        TwoInOne(epsilon=Fraction(1), grid=Grid(steps=1), width=2),
        1,
        "2 for a report on two rewards, which is what it promises for",
    ),
)


# Functions of data that are WRONG, each in one thing. Never for use.


def proposed_and_tested(rewards: Floats, seed: int) -> int:
    """The median, in tenths, with the noise that suits its neighbourhood; or a refusal. The test of
    whether the neighbourhood is close is a look at the data, without noise.
    """
    ordered = sorted(map(tenths, rewards))
    middle = len(ordered) // 2
    below, above = ordered[max(0, middle - 1)], ordered[min(len(ordered) - 1, middle + 1)]
    if max(above - ordered[middle], ordered[middle] - below) > 1:
        return -1000
    return ordered[middle] + two_sided(np.random.default_rng(seed), 1.0)


def amplified_twice(rewards: Floats, seed: int) -> int:
    """The sum of half of the rewards at epsilon = 3. That half of them are read was counted when
    the noise was chosen, and again when the result was written up.
    """
    rng = np.random.default_rng(seed)
    kept = [tenths(reward) for reward in rewards if rng.random() < 0.5]
    return sum(kept) + two_sided(rng, 10 / 3)


def reproducible(rewards: Floats, seed: int) -> list[int]:
    """Each arm's sum, in tenths, with noise that comes again when the same is asked again: its
    generator is seeded by the question, which holds the exact sum.
    """
    sums = [sum(map(tenths, column)) for column in np.asarray(rewards).T]
    return [total + two_sided(np.random.default_rng([seed, total]), 10.0) for total in sums]


def kept_in_range(rewards: Floats, seed: int) -> int:
    """The sum with noise, and no sum that these data could not have: not below all of them at their
    least, nor above all at their largest.
    """
    values = list(map(tenths, rewards))
    noisy = sum(values) + two_sided(np.random.default_rng(seed), 10.0)
    return max(len(values) * min(values), min(noisy, len(values) * max(values)))


def first_alarm(rewards: Floats, seed: int) -> int:
    """The first round at which the noised sum so far reaches four; 0: none. Only one number leaves,
    so one draw's cost is claimed. The threshold has no noise.
    """
    rng, total = np.random.default_rng(seed), 0
    for played, reward in enumerate(rewards, start=1):
        total += tenths(reward)
        if total + two_sided(rng, 10.0) >= 40:
            return played
    return 0


WRONG_FUNCTIONS = (
    unseen(
        "proposed_and_tested",
        "function",
        "propose, test, release: the test has no noise",
        proposed_and_tested,
        1,
        "∞: one record decides between a refusal and an answer",
    ),
    unseen(
        "amplified_twice",
        "function",
        "amplification by subsampling, claimed twice",
        amplified_twice,
        1.76,
        "ln(1 + (e³ − 1)/2) = 2.355; the claim is ln(1 + (e³ − 1)/4), rounded up",
    ),
    unseen(
        "reproducible",
        "function of two arms",
        "noise seeded by the exact sum",
        reproducible,
        1,
        "∞: the two answers differ only if the sums do",
        arms=2,
    ),
    unseen(
        "kept_in_range",
        "function",
        "clamped, after the noise, to what the data at their extremes would give",
        kept_in_range,
        1,
        "∞: equal rewards are answered exactly",
    ),
    unseen(
        "first_alarm",
        "function",
        "a sparse vector without noise on its threshold",
        first_alarm,
        1,
        "above 4: in eight rounds of 1, four sums of 5 and more have to stay below four",
    ),
)


# Black boxes that are WRONG, each in one thing. Never for use.


class Leader:
    """Plays the arm with the larger sum of rewards, each noised once at epsilon = 1: right."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.sums = [0, 0]

    def draw(self) -> int:
        return two_sided(self.rng, 10.0)

    def select(self) -> int:
        return int(self.sums[1] > self.sums[0])

    def update(self, arm: int, reward: float) -> None:
        self.sums[arm] += tenths(reward) + self.draw()


class EightBits(Leader):
    """Its generator knows 256 beginnings."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.weak = random.Random(seed % 256)

    def draw(self) -> int:
        return int(self.weak.expovariate(0.1)) - int(self.weak.expovariate(0.1))


class Impatient:
    """Blocks of five, noised when they end; three failures in a row end a block at once."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.means = [float("inf"), float("inf")]
        self.arm, self.block = 0, [0.0][:0]

    def select(self) -> int:
        return self.arm

    def update(self, arm: int, reward: float) -> None:
        self.block.append(float(reward))
        failed = len(self.block) >= 3 and max(self.block[-3:]) < 0.5
        if failed or len(self.block) == 5:
            noisy = sum(map(tenths, self.block)) + two_sided(self.rng, 10.0)
            self.means[arm] = noisy / len(self.block)
            self.arm, self.block = int(self.means[1] > self.means[0]), []


class TiesByLastReward:
    """Three rounds of each arm, then the arm that leads by the noised gap, for ever. A tie goes to
    the arm whose last reward was larger.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.told: list[tuple[int, int]] = []
        self.chosen = 0

    def select(self) -> int:
        return len(self.told) % 2 if len(self.told) < 6 else self.chosen

    def update(self, arm: int, reward: float) -> None:
        self.told.append((arm, int(float(reward) >= 0.5)))
        if len(self.told) == 6:
            gap = sum(bit if arm == 0 else -bit for arm, bit in self.told)
            noisy = gap + two_sided(self.rng, 1.0)
            last = [bit for _, bit in self.told[-2:]]
            self.chosen = int(noisy < 0 or (noisy == 0 and last[1] > last[0]))


class WarmStart(Leader):
    """Begins with the arm that did better in the session before, by exact sums that the class
    keeps.
    """

    before: ClassVar[list[int]] = [0, 0]

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.first = int(self.before[1] > self.before[0])
        self.exact, self.begun = [0, 0], False

    def select(self) -> int:
        return super().select() if self.begun else self.first

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        self.begun = True
        self.exact[arm] += tenths(reward)
        type(self).before = self.exact


WRONG_BOXES = (
    unseen(
        "EightBits",
        "black box",
        "noise from a generator with 256 seeds",
        EightBits,
        1,
        "∞: of 256 tapes of noise, none makes some decisions of one table from its neighbour",
    ),
    unseen(
        "Impatient",
        "black box",
        "three failures in a row end a block",
        Impatient,
        1,
        "∞: round 4 is played with the second arm for three failures, never for two and a success",
    ),
    unseen(
        "TiesByLastReward",
        "black box",
        "a tie of noised sums goes to the larger exact reward",
        TiesByLastReward,
        1,
        "2: where it decides a tie, a reward moves the gap by two",
    ),
    unseen(
        "WarmStart",
        "black box",
        "a session begins with what was best, exactly, in the session before",
        WarmStart,
        1,
        "∞ for who sees two sessions: the second one's first decision",
    ),
)


# Controls that are odd and RIGHT: whatever is found of them, more than they claim it is not.


class WithinRange(Plain):
    """Draws again until the report is between 0 and 1.

    Right: with a = e^(−ε/n), a report y of reward r has probability a^|y−r|/Z(r) where Z(r) is in
    proportion to 1 + a − a^(r+1) − a^(n−r+1). At y = 0, which is the worst, a^(−r) Z(r)/Z(0) grows
    with r, and is e^ε at r = n.
    """

    def randomise(self, steps: int, noise: Noise) -> int:
        while True:
            report = super().randomise(steps, noise)
            if 0 <= report <= self.grid.steps:
                return report


@dataclass(frozen=True, kw_only=True)
class TwoLooks(SeparableDP):
    """Noises a sum at a third of epsilon and at two thirds, and tells a weighted mean of both."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        rough, fine = (
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * part)
            for part in (Fraction(1, 3), Fraction(2, 3))
        )
        return None, Answer((rough + 4 * fine) / (5 * self.grid.steps), count, 2)


@dataclass(frozen=True, kw_only=True)
class Coarse(SeparableDP):
    """Rounds a noised sum to whole fours and clamps it to 0 … count: public bounds."""

    proof: ClassVar[str] = "lazy_forgetful"

    def start(self) -> None:
        return None

    def step(self, memory: None, total: int, count: int, noise: Noise) -> tuple[None, Answer]:
        steps = self.grid.steps
        noisy = noise.laplace(total, sensitivity=steps, epsilon=self.epsilon)
        fours = max(0, min(4 * round(noisy / (4 * steps)), count))
        return None, Answer(float(fours), count, 1)


class CoarseRounds(Rounds):
    """Ten arms, each with noise of its own."""

    def mechanism(self) -> Any:
        return Coarse(epsilon=self.budget, grid=Grid(steps=self.grid))


def middle(rewards: Floats, seed: int) -> int:
    """A median of tenths by the exponential mechanism. A replaced record moves the number below a
    candidate less the number above it by two at most, which the four pays for.
    """
    values = np.array([tenths(reward) for reward in rewards])
    lead = [abs(int((values < c).sum()) - int((values > c).sum())) for c in range(11)]
    weights = np.exp(-np.array(lead) / 4)
    return int(np.random.default_rng(seed).choice(11, p=weights / weights.sum()))


class Lagging(Leader):
    """The leader by what was known two rounds ago, with a switch every third round, seed or no."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.known = [0, 0, 0]

    def select(self) -> int:
        leads = self.known[-3] > 0
        return int(leads) if len(self.known) % 3 else 1 - int(leads)

    def update(self, arm: int, reward: float) -> None:
        super().update(arm, reward)
        self.known.append(self.sums[1] - self.sums[0])


RIGHT = (
    unseen(
        "WithinRange",
        "randomizer",
        "noise drawn again until the report is in range",
        WithinRange(epsilon=Fraction(1), grid=Grid(steps=10)),
        1,
        "1: the normaliser never adds to the worst ratio, at an end",
        right=True,
    ),
    unseen(
        "TwoLooks",
        "mechanism",
        "one sum is noised twice, at ε/3 and at 2ε/3",
        TwoLooks(epsilon=Fraction(1), grid=Grid(steps=1)),
        1,
        "1 at most: the prices add up",
        right=True,
    ),
    unseen(
        "CoarseRounds",
        "policy",
        "ten arms; noised sums rounded to fours and clamped to public bounds",
        CoarseRounds(arms=10, epsilon=1, grid=1),
        1,
        "1 at most: what is done after the noise costs nothing",
        right=True,
    ),
    unseen(
        "middle",
        "function",
        "a median by the exponential mechanism",
        middle,
        1,
        "1 at most",
        right=True,
    ),
    unseen(
        "Lagging",
        "black box",
        "decides by what was known two rounds ago, and against it every third round",
        Lagging,
        1,
        "1 at most: every reward is noised once, before anything looks at it",
        right=True,
    ),
)
