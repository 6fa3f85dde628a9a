"""The exact law of every decision sequence of a few rounds: an oracle for small policies."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, reduce
from itertools import product
from typing import Any, ClassVar, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.effort import Effort, Work
from dpbandits.auditing.played_noise import Outside
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.subjects import first_release
from dpbandits.core.inputs import Floats
from dpbandits.core.plan import EVERY, Hold, Plan, PublicRng
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms import Answer, Block, Mechanism, Separable
from dpbandits.noise.laws import selection_law
from dpbandits.noise.protocol import Relay, Selection, Values
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.base import IndexPolicy, Statistics, StatisticsPolicy
from dpbandits.policies.contract import Policy, Release, size_argument
from dpbandits.policies.cumulative import DPIMED, DPKLUCB
from dpbandits.policies.every_round import DPUCB, DPUCBBound, HybridUCB
from dpbandits.policies.experts import Leader, NaiveFTNL
from dpbandits.policies.forgetful import AdaPKLUCB, AdaPUCB, AnytimeLazyUCB
from dpbandits.simulation.transcript import decisions


class Unfit(Exception):
    """The exact law of this subject cannot be computed; the message says why."""


# How a mechanism's answers depend on its noise, found by running it: which draws each answer
# contains, at which scale.
#
# A mechanism that answers with sums of rewards plus sums of Laplace draws is described by 0/1
# coefficients. They are measured, and the description is tested on other numbers; a mechanism of
# another kind is refused.


LargestLoss = tuple[float, float, Fraction | None, str, dict[str, Any]]
"""Loss, error, cost of the releases (None: no noise), evidence, details."""


class NoiseCall(NamedTuple):
    """One call of the noise source."""

    value: int
    sensitivity: int
    epsilon: Fraction

    @property
    def scale(self) -> Fraction:
        return self.sensitivity / self.epsilon


REFUSED = {
    "gaussian": "its noise is Gaussian, and no epsilon is claimed",
    "select": "it releases choices, not sums",
    "joint": "it releases several sums with one draw",
    "threshold": "it keeps a noised threshold, which is not an answer",
    "exceeds": "it answers questions, not sums",
    "uniform": "it throws coins, whose law is not enumerated here",
}


class Probe(Relay):
    """Noise that adds what it is told to each draw (nothing by default), or gives scripted values,
    and writes down every call.
    """

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(
        self, offsets: Mapping[int, int] | None = None, script: Sequence[int] | None = None
    ) -> None:
        self.offsets, self.script = offsets or {}, script
        self.asked: list[NoiseCall] = []

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        raise Unfit(REFUSED[verb])

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        at = len(self.asked)
        self.asked.append(NoiseCall(value, sensitivity, epsilon))
        return self.script[at] if self.script is not None else value + self.offsets.get(at, 0)


Blocks = tuple[tuple[int, int], ...]
"""One arm's blocks so far: (sum in grid steps, rounds)."""


class Draws(NamedTuple):
    """One arm's noise. inside[r][i]: whether answer r contains draw i. made[r]: draws made by
    answer r. scales: one a draw.
    """

    inside: tuple[tuple[int, ...], ...]
    made: tuple[int, ...]
    scales: tuple[Fraction, ...]


class Streams:
    """A mechanism, seen one arm at a time."""

    def __init__(self, mechanism: Mechanism) -> None:
        if not isinstance(mechanism, Separable):
            raise Unfit("its mechanism may treat one arm unlike another")
        self.mechanism, self.unit = mechanism, mechanism.grid.steps
        self.answer: Callable[[Blocks], Answer] = cache(self._answer)
        self.draws: Callable[[tuple[int, ...]], Draws] = cache(self._draws)
        self.cost: Callable[[tuple[int, ...]], Fraction | None] = cache(self._price)

    def run(self, blocks: Blocks, probe: Probe) -> tuple[list[Answer], list[int]]:
        """Every answer, and how many draws had been made by then."""
        memory, answers, made = self.mechanism.init(1), [], []
        for total, count in blocks:
            memory, (answer,) = self.mechanism.answer(
                memory, Block((0,), (total,), (count,)), probe
            )
            if not isinstance(answer, Answer):
                raise Unfit("its answers are not noised sums")
            answers.append(answer)
            made.append(len(probe.asked))
        return answers, made

    def longest(self, counts: tuple[int, ...], more: int) -> tuple[int, ...]:
        """`counts` and up to `more` further blocks of one round: as many as the mechanism takes."""
        while more:
            try:
                self.run(tuple((0, n) for n in (*counts, *(1,) * more)), Probe())
            except ValueError:  # a tree is full
                more -= 1
                continue
            break
        return (*counts, *(1,) * more)

    def _answer(self, blocks: Blocks) -> Answer:
        """The newest answer without its noise."""
        return self.run(blocks, Probe())[0][-1]

    def _draws(self, counts: tuple[int, ...]) -> Draws:
        zeros = tuple((0, n) for n in counts)
        probe = Probe()
        plain, made = self.run(zeros, probe)
        moved = [self.run(zeros, Probe({i: self.unit}))[0] for i in range(len(probe.asked))]
        inside = tuple(
            tuple(round(answers[r].total - plain[r].total) for answers in moved)
            for r in range(len(counts))
        )
        found = Draws(inside, tuple(made), tuple(asked.scale for asked in probe.asked))
        self._verify(counts, found)
        return found

    def _verify(self, counts: tuple[int, ...], found: Draws) -> None:
        """On random sums and noise the answers are what the coefficients say."""
        rng = np.random.default_rng(len(counts))
        blocks = tuple((self.unit * int(rng.integers(0, n + 1)), n) for n in counts)
        offsets = {
            i: self.unit * int(x) for i, x in enumerate(rng.integers(-50, 51, len(found.scales)))
        }
        plain, noisy, probe = (
            self.run(blocks, Probe())[0],
            self.run(blocks, again := Probe(offsets))[0],
            again,
        )
        said = [
            a.total + sum(c * offsets[i] for i, c in enumerate(row)) / self.unit
            for a, row in zip(plain, found.inside, strict=True)
        ]
        scales = tuple(asked.scale for asked in probe.asked)
        if (
            {c for row in found.inside for c in row} - {0, 1}
            or said != [a.total for a in noisy]
            or scales != found.scales
        ):
            raise Unfit("its answers are not sums of rewards plus sums of noise draws")

    def _price(self, counts: tuple[int, ...]) -> Fraction | None:
        """What all answers so far tell about one reward, at most; None: some answer shows it
        without noise.
        """
        zeros = [(0, n) for n in counts]
        probe = Probe()
        plain = self.run(tuple(zeros), probe)[0]
        script, worst = [asked.value for asked in probe.asked], Fraction(0)
        for at, (_, n) in enumerate(zeros):
            other = Probe(script=script)
            if self.run((*zeros[:at], (self.unit, n), *zeros[at + 1 :]), other)[0] != plain:
                return None
            pairs = zip(probe.asked, other.asked, strict=True)
            worst = max(
                worst, sum((abs(a.value - b.value) / a.scale for a, b in pairs), Fraction(0))
            )
        return worst


# The joint law of the noise that is still inside released totals, as an array with an axis for
# each live sum of draws.


CUTS = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
"""Probability left out on each axis, coarse first. Every loss is stated with the error this
makes.
"""
LARGEST = 16_000_000
"""Points of a lattice."""


class Axis(NamedTuple):
    """One arm's noise draws that every answer still to come contains together or not at all.
    active: the newest answer does.
    """

    arm: int
    draws: tuple[int, ...]
    scales: tuple[Fraction, ...]
    active: bool
    cut: float

    @property
    def reach(self) -> int:
        return mass(tuple(sorted(self.scales)), self.cut)[1]


@cache
def single(scale: Fraction) -> Floats:
    """Mass of the discrete Laplace law of this scale (grid steps) on [−n, n], n far out in its
    tails.
    """
    reach = math.ceil(42 * scale) + 1  # e^-42 = 6e-19
    q = math.exp(-1 / scale)
    return np.asarray((1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1)))


@cache
def mass(scales: tuple[Fraction, ...], cut: float) -> tuple[Floats, int]:
    """The law of a sum of independent draws on [−n, n] and n, the smallest that leaves out at most
    `cut`.
    """
    law = reduce(np.convolve, [single(s) for s in scales])
    centre = len(law) // 2
    tails = 2 * np.cumsum(law)[:centre]  # both sides
    out = int(np.searchsorted(tails, cut, side="right"))
    return law[out : len(law) - out], centre - out


def axes_of(arm: int, draws: Draws, release: int, last: int, cut: float) -> list[Axis]:
    """The live axes after answer `release`, when answers up to `last` may follow (both counted from
    0).
    """
    rows = draws.inside[release : last + 1]
    groups: dict[tuple[int, ...], list[int]] = {}
    for i in range(draws.made[release]):
        groups.setdefault(tuple(row[i] for row in rows), []).append(i)
    return [
        Axis(arm, tuple(members), tuple(draws.scales[i] for i in members), bool(column[0]), cut)
        for column, members in groups.items()
        if any(column)
    ]


def carry(law: Floats, old: Sequence[Axis], new: Sequence[Axis]) -> Floats:
    """The law on the axes `new`: dead draws are summed out, merging ones added up, fresh ones enter
    independently. What falls off the lattice is missing in the result.
    """
    homes = [next((g for g in new if g.arm == a.arm and a.draws[0] in g.draws), None) for a in old]
    for at in reversed([i for i, home in enumerate(homes) if home is None]):
        law = law.sum(axis=at)
    kept = [(a, home) for a, home in zip(old, homes, strict=True) if home is not None]
    if math.prod([2 * g.reach + 1 for g in new]) > LARGEST:
        raise Unfit("more noise draws are alive at once than a lattice can hold; take fewer rounds")
    for place, group in enumerate(new):  # bring the group's axes to position `place`, as one axis
        members = [i for i, (_, home) in enumerate(kept) if home is group]
        known: set[int] = set()
        if members:
            law = np.moveaxis(law, members[0], place)
            kept.insert(place, kept.pop(members[0]))
            known = set(kept[place][0].draws)
            width = kept[place][0].reach
            for _ in members[1:]:
                at = next(i for i, (_, home) in enumerate(kept) if i > place and home is group)
                other = kept.pop(at)[0]
                law, width, known = (
                    added(law, place, at),
                    width + other.reach,
                    known | set(other.draws),
                )
        else:
            law, width = np.expand_dims(law, place), 0
            kept.insert(place, (group, group))
        fresh = tuple(
            sorted(s for i, s in zip(group.draws, group.scales, strict=True) if i not in known)
        )
        law = with_draws(law, place, width, fresh, group)
    return law


def added(law: Floats, at: int, other: int) -> Floats:
    """The law with axis `other` replaced: its variable is added to that of axis `at` (both centred
    at 0).
    """
    law = np.moveaxis(law, (other, at), (0, 1))
    sums = np.zeros((law.shape[0] + law.shape[1] - 1, *law.shape[2:]))
    for i, part in enumerate(law):
        sums[i : i + law.shape[1]] += part
    return np.moveaxis(sums, 0, at)


def with_draws(law: Floats, at: int, width: int, fresh: tuple[Fraction, ...], axis: Axis) -> Floats:
    """Independent draws added to the axis `at`, which runs over [−width, width] and afterwards over
    the reach of `axis`.
    """
    more = axis.reach - width
    if more < 0:
        law = law[(slice(None),) * at + (slice(-more, more),)]
    elif more:
        law = np.pad(law, [(more, more) if i == at else (0, 0) for i in range(law.ndim)])
    for scale in fresh:
        law = noised(law, at, scale)
    return law


def noised(law: Floats, at: int, scale: Fraction) -> Floats:
    """One draw added. Its law is that of the difference of two geometric ones, each a recursion of
    one term along the axis.
    """
    from scipy.signal import lfilter

    q = math.exp(-1 / scale)
    for _ in ("up", "down"):
        law = np.flip(lfilter([1 - q], [1, -q], law, axis=at), at)
    return law


def totals(axes: Sequence[Axis], exact: Sequence[int]) -> list[Any]:
    """Each arm's released total at every point of the lattice, as arrays that broadcast to its
    shape.
    """
    dims = len(axes)
    found: list[Any] = [np.full((1,) * dims, x) for x in exact]
    for i, axis in enumerate(axes):
        if axis.active:
            line = np.arange(-axis.reach, axis.reach + 1)
            found[axis.arm] = found[axis.arm] + line.reshape(
                [-1 if j == i else 1 for j in range(dims)]
            )
    return found


# What the enumeration follows: branches of one decision sequence; the laws it comes to, and in
# them the worst pair of neighbours: the largest log-ratio of two probabilities, with the error of
# the numbers taken against it.


BlockSums = tuple[tuple[int, int], ...]
"""The sum and the rounds of every block released, in order."""


class Mass(NamedTuple):
    """Probability of a decision sequence: at least `low`, at most `low + lost`."""

    low: float
    lost: float


Laws = dict[tuple[int, ...], dict[BlockSums, Mass]]
"""Decisions -> block sums -> probability. One decision sequence has the same blocks whatever the
rewards.
"""


class Step(NamedTuple):
    """A `Hold`, cut off where nothing can follow it any more."""

    arm: int
    rounds: int
    release: tuple[int, ...]


@dataclass(frozen=True)
class Branch:
    """What led to the same decisions and the same counts, with its probability spread over the
    lattice.
    """

    state: Statistics  # totals are those of `exact`, without noise
    step: Step
    blocks: tuple[Blocks, ...]  # by arm
    open: tuple[int, ...]  # rounds since the last release, by arm
    axes: tuple[Axis, ...]
    law: Floats


def dropped_mass(before: Branch, after: Branch) -> float:
    """What the lattice left out of a branch's probability when it was released, and the rounding of
    that difference.
    """
    if before.law is after.law:
        return 0.0
    mass = float(before.law.sum())
    return max(0.0, mass - float(after.law.sum())) + 1e-14 * mass


def after_round(branch: Branch) -> Branch:
    """After one more round of its plan."""
    arm = branch.step.arm
    open_ = tuple(n + (c == arm) for c, n in enumerate(branch.open))
    return replace(branch, step=branch.step._replace(rounds=branch.step.rounds - 1), open=open_)


def cut(plan: Any, left: int) -> Step:
    """The plan as far as it matters when `left` rounds are still to be decided: a release after the
    last of them is seen by nobody.
    """
    if not isinstance(plan, Hold) or not isinstance(plan.action, int) or plan.drop or plan.observe:
        raise Unfit("it plays something else than one arm at a time until a release")
    if plan.rounds >= left:
        return Step(plan.action, left, ())
    return Step(plan.action, plan.rounds, plan.release)


class Worst(NamedTuple):
    """loss: certified, a lower bound; error: by how much the exact loss of this pair may exceed
    it.
    """

    loss: float
    error: float
    decisions: tuple[int, ...] = ()
    sums: tuple[int, ...] = ()  # of the released blocks
    block: int = -1  # the block in which one reward is replaced
    other: int = 0  # its sum afterwards


def log_ratio_bounds(p: Mass, q: Mass) -> tuple[float, float]:
    """ln(p/q), at least and at most."""
    if p.low <= 0:
        return -math.inf, math.inf
    return (
        math.log(p.low / (q.low + q.lost)) if q.low + q.lost > 0 else math.inf,
        math.log((p.low + p.lost) / q.low) if q.low > 0 else math.inf,
    )


def worst_pair(laws: Laws, lost: float) -> Worst:
    """Over all decision sequences and all pairs of tables that differ in one round: one block's sum
    differs by one.

    lost: the most that may have been left out of a sequence that was never seen.
    """
    never = Mass(0.0, lost)
    worst = Worst(0.0, 0.0)
    for sequence, table in laws.items():
        for sums, p in table.items():
            for at, (total, rounds) in enumerate(sums):
                for changed in (total - 1, total + 1):
                    if not 0 <= changed <= rounds:
                        continue
                    other: BlockSums = (*sums[:at], (changed, rounds), *sums[at + 1 :])
                    low, high = log_ratio_bounds(p, table.get(other, never))
                    if low > worst.loss:
                        worst = Worst(
                            low,
                            high - low if low < math.inf else 0.0,
                            sequence,
                            tuple(s for s, _ in sums),
                            at,
                            changed,
                        )
    return worst


def missing_mass(laws: Laws) -> float:
    """How far the probabilities of all decision sequences are from adding up to 1, where every
    reward is 0.
    """
    return abs(
        1.0
        - sum(
            p.low
            for table in laws.values()
            for sums, p in table.items()
            if not any(s for s, _ in sums)
        )
    )


# Which decision follows at each point of a lattice of released totals: the policy is asked.


Point = tuple[int, ...]
Decide = Callable[[Point], int]

POINTS_AN_ASK = 200
"""Points of a lattice that are summed in the time in which a policy is asked once."""

HEAVY = 1e-4
"""Of the probability: points that carry more are asked of every policy."""


class TotalRange(NamedTuple):
    """One arm's totals in a box. law: of the noise in its total, centred at 0. most: what its
    rewards may add to it. reach: how far the box goes beyond either.
    """

    law: Floats
    most: int
    reach: int

    @property
    def ends(self) -> tuple[int, int]:
        return -self.reach, self.reach + self.most

    def likelier_than(self, mass: float) -> list[tuple[int, float]]:
        """The totals that come with more than this probability, whatever the rewards, and that
        probability at most.
        """
        low, high = self.ends
        away = {x: max(-x, x - self.most, 0) for x in range(low, high + 1)}
        centre = len(self.law) // 2
        return [
            (x, float(self.law[centre + d]))
            for x, d in away.items()
            if d <= centre and self.law[centre + d] > mass
        ]


Box = Sequence[TotalRange]
"""A range an arm."""


MONOTONE = (
    AdaPKLUCB,
    AdaPUCB,
    AnytimeLazyUCB,
    DPIMED,
    DPKLUCB,
    DPUCB,
    DPUCBBound,
    HybridUCB,
    NaiveFTNL,
)
"""Raising an arm's released total can only favour that arm, and moves nothing else; a test asks
their rules at every point. (Batches of `DPRateIMED` depend on totals.)
"""


def known_monotone(policy: Policy) -> bool:
    """Whether corners say what is between them. A subclass may decide as it likes."""
    return type(policy) in MONOTONE


@final
class Deciding:
    """Asks one policy: at every point, but for a rule that is known to be monotone. One that jumps
    at a single point would not be noticed by asking some of them.
    """

    def __init__(self, policy: Policy, effort: Effort) -> None:
        self.monotone, self.effort = known_monotone(policy), effort
        self.asked = 0

    @property
    def how(self) -> str:
        """For a report."""
        if self.monotone:
            return f"corners, and points of more than {HEAVY:g}: its rule is known to be monotone"
        return "every point"

    def on(self, box: Box, decide: Decide) -> NDArray[np.int16]:
        """The decision at every point of the box.

        Raises:
            Unfit: it takes longer to ask than the effort allows, or the rule is not monotone.
        """
        if not self.monotone:
            return self._everywhere(box, decide)
        asked = cache(decide)
        table = by_corners(box, asked)
        for point in heavy(box):
            if table[tuple(x + span.reach for x, span in zip(point, box, strict=True))] != asked(
                point
            ):
                raise Unfit("its rule is not monotone in the released totals")
        return table

    def _everywhere(self, box: Box, decide: Decide) -> NDArray[np.int16]:
        *others, last = [range(low, high + 1) for low, high in (span.ends for span in box)]
        table = np.zeros((*map(len, others), len(last)), np.int16)
        for at, start in enumerate(product(*others)):
            self.asked += len(last)
            self.effort.spend(POINTS_AN_ASK * len(last))
            if self.effort.left() < 0:
                raise Unfit(
                    "it takes longer than was allowed to ask its rule at every point; take fewer "
                    "rounds, or a larger budget"
                )
            table.reshape(-1, len(last))[at] = [decide((*start, x)) for x in last]
        return table


def heavy(box: Box) -> Iterator[Point]:
    """The points that carry more than `HEAVY` of the probability for some rewards."""
    highest = [float(span.law.max()) for span in box]
    whole = float(np.prod(highest))
    likely = [
        span.likelier_than(HEAVY * top / whole) for span, top in zip(box, highest, strict=True)
    ]
    for together in product(*likely):
        if np.prod([mass for _, mass in together]) > HEAVY:
            yield tuple(x for x, _ in together)


def by_corners(box: Box, asked: Decide) -> NDArray[np.int16]:
    """Of a sub-box whose corners agree only the corners are asked: exact where raising an arm's
    total can only favour that arm, as with every index.
    """
    table = np.zeros([high - low + 1 for low, high in (span.ends for span in box)], np.int16)
    stack = [tuple(span.ends for span in box)]
    while stack:
        part = stack.pop()
        corners = list(product(*[(a, b) if a < b else (a,) for a, b in part]))
        said = [asked(corner) for corner in corners]
        widest = max(range(len(part)), key=lambda i: part[i][1] - part[i][0])
        a, b = part[widest]
        if len(set(said)) == 1:
            cells = (
                slice(a + span.reach, b + span.reach + 1)
                for (a, b), span in zip(part, box, strict=True)
            )
            table[tuple(cells)] = said[0]
        elif b - a <= 1:
            for corner, k in zip(corners, said, strict=True):
                table[tuple(c + span.reach for c, span in zip(corner, box, strict=True))] = k
        else:
            middle = (a + b) // 2
            stack += [
                (*part[:widest], half, *part[widest + 1 :]) for half in ((a, middle), (middle, b))
            ]
    return table


# The law of every decision sequence of an index policy, for every table of 0/1 rewards, by
# enumeration.
#
# Between two releases decisions are a map from the released totals to plans. The policy itself
# draws that map: its own `plan` is asked at the points of the lattice (see `deciding`). Of the
# rewards only each block's sum matters, so blocks are enumerated by their sums.
#
# One decision sequence is followed at a time: which arm is released when is then known, and noise
# that no later answer of this sequence contains is summed out at once. That keeps the lattices of
# trees and counters small.


POINTS_A_STEP = 10_000
"""Points of a lattice that are summed in the time that one step of the walk takes by itself."""

FOLDS = (IndexPolicy.update, StatisticsPolicy.update)
"""Updates that keep released totals as they are: a total with its noise is followed by adding the
noise to it.
"""


class Enumeration:
    """All decision sequences of `rounds` rounds. effort: counted in points of lattices. cut:
    probability left out on each axis.
    """

    def __init__(self, policy: Policy, rounds: int, effort: Effort, cut: float) -> None:
        if (
            not isinstance(policy.init(), Statistics)
            or policy.about.randomised
            or policy.about.feedback != "bandit"
        ):
            raise Unfit("its decisions are not those of an index over single arms")
        if type(policy).update not in FOLDS:
            raise Unfit("what it remembers is not known to be its released totals and no more")
        self.policy, self.rounds, self.effort, self.cut = policy, rounds, effort, cut
        self.streams, self.rng = Streams(policy.mechanism()), PublicRng(0, 0)
        self.unit = policy.mechanism().grid.steps  # a reward of 1
        self.laws: Laws = {}
        self.deciding = Deciding(policy, effort)
        self.points = self.steps = 0
        self.lost = 0.0  # the most that was left out of any history's probability
        # what releases before the last decision tell of one reward; None: everything
        self.cost: Fraction | None = Fraction(0)
        self._path: tuple[int, ...] = ()
        self._reached = 0
        self._maps: dict[Any, tuple[NDArray[np.int16], list[Step]]] = {}

    def run(self) -> Laws:
        arms, never = self.policy.arms, set[tuple[int, ...]]()
        start = Branch(
            self.policy.init(), Step(0, 1, ()), ((),) * arms, (0,) * arms, (), np.ones(())
        )
        first = list(self._split(start, 1))
        for path in product(range(arms), repeat=self.rounds):
            if any(path[:t] in never for t in range(1, self.rounds)):
                continue
            self._path, self._reached = path, 0
            self._walk(1, (), first, 0.0)
            if self._reached < self.rounds:
                never.add(path[: self._reached + 1])
        if self.rng.state() is not None:
            raise Unfit("its plans draw public coins, whose law is not enumerated")
        return self.laws

    def share_of_points(self) -> float:
        """Of the work that was done: what lattices took, and not the walk itself."""
        points = self.points + POINTS_AN_ASK * self.deciding.asked
        return points / max(1, points + POINTS_A_STEP * self.steps)

    def _walk(self, t: int, sums: BlockSums, branches: list[Branch], lost: float) -> None:
        """All block sums that may follow one history; `t` is the round about to be decided. lost:
        probability left out so far.
        """
        points = sum(b.law.size for b in branches)
        self.points, self.steps = self.points + points, self.steps + 1
        self.effort.spend(points + POINTS_A_STEP)
        if self.effort.left() < 0:
            raise Unfit(
                "its decision sequences take longer to enumerate than was allowed; take fewer "
                "rounds, or a larger budget"
            )
        self.lost = max(self.lost, lost)
        group = [b for b in branches if b.step.arm == self._path[t - 1]]
        if not group:
            return
        self._reached = max(self._reached, t)
        if t == self.rounds:
            self.laws.setdefault(self._path, {})[sums] = Mass(
                float(sum(b.law.sum() for b in group)), lost
            )
            return
        moved = [after_round(b) for b in group]
        ending = {b.step.release if b.step.rounds == 0 else () for b in moved}
        if len(ending) > 1:
            raise Unfit("what it releases does not follow from its decisions")
        (coordinates,) = ending
        counts = [moved[0].open[c] for c in coordinates]
        for more in product(*[range(n + 1) for n in counts]):
            ended = [self._ended(b, t, coordinates, more) for b in moved]
            following = [
                after
                for branch, whole in ended
                for after in (self._split(branch, t + 1) if whole else [branch])
            ]
            dropped = sum(
                dropped_mass(before, after) for before, (after, _) in zip(moved, ended, strict=True)
            )
            self._walk(t + 1, (*sums, *zip(more, counts, strict=True)), following, lost + dropped)

    def _ended(
        self, branch: Branch, t: int, coordinates: tuple[int, ...], sums: tuple[int, ...]
    ) -> tuple[Branch, bool]:
        """The branch after round t: as it is inside a plan; released at the end of one, and that it
        ended.
        """
        if branch.step.rounds:
            return branch, False
        blocks, open_ = list(branch.blocks), list(branch.open)
        for c, s in zip(coordinates, sums, strict=True):
            blocks[c], open_[c] = (*blocks[c], (s * self.unit, open_[c])), 0
        answers = tuple(self.streams.answer(blocks[c]) for c in coordinates)
        plan = Hold(branch.step.arm, sum(branch.open) - sum(branch.state.open), branch.step.release)
        release = Release(coordinates, answers, t, ((plan.action, plan.rounds),))
        state = self.policy.update(branch.state, plan, release)
        axes, law = branch.axes, branch.law
        if coordinates:
            to_come = self._path[t : self.rounds - 1]
            axes = tuple(
                a
                for c in range(self.policy.arms)
                for a in self._axes(c, blocks[c], to_come.count(c))
            )
            law = carry(law, branch.axes, axes)
            self._charge(blocks, coordinates)
        return replace(
            branch, state=state, blocks=tuple(blocks), open=tuple(open_), axes=axes, law=law
        ), True

    def _axes(self, arm: int, blocks: Blocks, more: int) -> list[Axis]:
        if not blocks:
            return []
        counts = self.streams.longest(tuple(n for _, n in blocks), more)
        return axes_of(arm, self.streams.draws(counts), len(blocks) - 1, len(counts) - 1, self.cut)

    def _charge(self, blocks: Sequence[Blocks], coordinates: tuple[int, ...]) -> None:
        for c in coordinates:
            cost = self.streams.cost(tuple(n for _, n in blocks[c]))
            self.cost = None if cost is None or self.cost is None else max(self.cost, cost)

    def _split(self, branch: Branch, t: int) -> Iterator[Branch]:
        """The branch, divided by the plan that follows at round t."""
        table, low, steps = self._plans(branch, t)
        points = totals(branch.axes, [round(x * self.unit) for x in branch.state.totals])
        ids = table[tuple(p - a for p, a in zip(points, low, strict=True))]
        ids = np.broadcast_to(ids, branch.law.shape)
        for k, step in enumerate(steps):
            law = np.where(ids == k, branch.law, 0.0)
            if law.any():
                yield replace(branch, step=step, law=law)

    def _plans(self, branch: Branch, t: int) -> tuple[NDArray[np.int16], list[int], list[Step]]:
        """Which plan follows at round t, by released totals: the table, its lowest totals, and the
        plans.
        """
        state, left = branch.state, self.rounds - t + 1
        box = tuple(self._range(branch, arm) for arm in range(self.policy.arms))
        ends = tuple(span.ends for span in box)
        blank = state._replace(totals=(0.0,) * self.policy.arms)
        if (blank, ends) not in self._maps:
            steps: list[Step] = []

            def decide(point: tuple[int, ...]) -> int:
                step = cut(
                    self.policy.plan(
                        blank._replace(totals=tuple(x / self.unit for x in point)), self.rng
                    ),
                    left,
                )
                if step not in steps:
                    steps.append(step)
                return steps.index(step)

            self._maps[blank, ends] = self.deciding.on(box, decide), steps
        table, steps = self._maps[blank, ends]
        return table, [a for a, _ in ends], steps

    def _range(self, branch: Branch, arm: int) -> TotalRange:
        """Where the arm's released total may be."""
        inside = [a for a in branch.axes if a.arm == arm and a.active]
        scales = tuple(sorted(scale for a in inside for scale in a.scales))
        law = mass(scales, self.cut)[0] if scales else np.ones(1)
        most = branch.state.rounds[arm] * self.unit
        return TotalRange(law, most, sum(a.reach for a in inside))


# Full information by epochs: each record is read by one release, so the worst pair of sequences
# differs in one choice.
#
# A choice's law given the block's sums is closed (report noisy max) or a sum over the lattice of
# noised sums.


CUT, ROUNDING = 1e-15, 1e-13
SEEDS = 64
"""Public seeds tried to see every plan a policy may draw."""


class WorstChoice(NamedTuple):
    """The worst choice: its loss, the block's length, its sums in the two tables (whole rewards),
    and what is chosen.
    """

    loss: float
    error: float
    rounds: int
    sums: tuple[int, ...]
    other: tuple[int, ...]
    chosen: int


@final
class Spy(Probe):
    """Noise that names a given action, or adds nothing, and writes down what it was asked."""

    def __init__(self, chosen: int = 0, script: tuple[int, ...] | None = None) -> None:
        super().__init__(script=script)
        self.chosen = chosen
        self.selected: list[tuple[Any, int, Fraction, Selection]] = []

    def select(self, values: Values, *, sensitivity: int, epsilon: Fraction, law: Selection) -> int:
        self.selected.append((values, sensitivity, epsilon, law))
        return self.chosen


class Choices:
    """How a policy chooses after a block: the law of its next action, by the block's sums."""

    def __init__(self, policy: Policy, effort: Effort) -> None:
        self.policy, self.mechanism = policy, policy.mechanism()
        self.deciding = Deciding(policy, effort)
        self.unit = self.mechanism.grid.steps
        self.cost = Fraction(0)
        self.law = cache(self._law)
        self._tables: dict[Any, Any] = {}

    def read(self, sums: tuple[int, ...], rounds: int, spy: Spy) -> tuple[Any, ...]:
        """The mechanism's answers for a block of so many records."""
        memory = self.mechanism.init(len(sums))
        if memory is not None and any(part is not None for part in memory):
            raise Unfit("its mechanism remembers earlier records")
        block = Block((EVERY,), np.array(sums, np.int64) * self.unit, (rounds,))
        return tuple(self.mechanism.answer(memory, block, spy)[1])

    def _law(self, sums: tuple[int, ...], state: Leader, plan: Hold) -> Floats:
        """P[next action], shape (actions,)."""
        spy = Spy()
        self.read(sums, plan.rounds, spy)
        actions = len(sums)
        if len(spy.selected) == 1 and not spy.asked:
            values, sensitivity, epsilon, kind = spy.selected[0]
            self.cost = max(self.cost, epsilon)
            law, chosen = (
                selection_law(values, scale=float(2 * sensitivity / epsilon), selection=kind),
                np.zeros(actions),
            )
            for k in range(actions):
                chosen[self.after(state, plan, self.read(sums, plan.rounds, Spy(k)))] += law[k]
            return chosen
        if len(spy.asked) != actions or spy.selected:
            raise Unfit("it is neither a noisy maximum nor one noised sum an action")
        self.cost = max(self.cost, sum((1 / (a.scale / self.unit) for a in spy.asked), Fraction(0)))
        return self._by_lattice(spy.asked, sums, state, plan)

    def _by_lattice(
        self, asked: list[NoiseCall], sums: tuple[int, ...], state: Leader, plan: Hold
    ) -> Floats:
        laws = [mass((a.scale,), CUT) for a in asked]
        box = tuple(TotalRange(law, plan.rounds * self.unit, far) for law, far in laws)

        def decide(point: tuple[int, ...]) -> int:
            return self.after(
                state, plan, self.read((0,) * len(sums), plan.rounds, Spy(script=point))
            )

        if (state, plan.rounds) not in self._tables:
            self._tables[state, plan.rounds] = self.deciding.on(box, decide)
        at = tuple(
            slice(s * self.unit, s * self.unit + 2 * far + 1)
            for s, (_, far) in zip(sums, laws, strict=True)
        )
        here, joint = self._tables[state, plan.rounds][at], np.ones(())
        for line, _ in laws:
            joint = np.multiply.outer(joint, line)
        return np.array([joint[here == k].sum() for k in range(len(sums))])

    def after(self, state: Leader, plan: Hold, answers: tuple[Any, ...]) -> int:
        """The action that follows such answers."""
        new = self.following(state, plan, answers)
        return new.chosen if new.chosen >= 0 else new.action

    def following(self, state: Leader, plan: Hold, answers: tuple[Any, ...]) -> Leader:
        coordinates = plan.release if answers else ()
        new: Leader = self.policy.update(
            state,
            plan,
            Release(coordinates, answers, state.t + plan.rounds, ((plan.action, plan.rounds),)),
        )
        return new


def epochs(choices: Choices, rounds: int) -> Iterator[tuple[Leader, Hold]]:
    """Every release that ends before the last of `rounds` decisions, for every way the public coins
    may fall.
    """
    waiting, seen = [choices.policy.init()], set[Any]()
    if not isinstance(waiting[0], Leader):
        raise Unfit("it does not play one leader an epoch")
    while waiting:
        state = waiting.pop()
        plans: set[Plan] = {choices.policy.plan(state, PublicRng(seed, 0)) for seed in range(SEEDS)}
        for plan in plans:
            if not isinstance(plan, Hold) or state.t + plan.rounds >= rounds:
                continue
            if plan.release:
                yield state, plan
            answers = (
                choices.read((0,) * choices.policy.arms, plan.rounds, Spy()) if plan.release else ()
            )
            new = choices.following(state, plan, answers)
            if new not in seen:
                seen.add(new)
                waiting.append(new)


def worst_choice(choices: Choices, state: Leader, plan: Hold) -> WorstChoice:
    """Over all block sums and all replacements of one whole record of 0s and 1s: sums move by at
    most one each.
    """
    arms, n = choices.policy.arms, plan.rounds
    worst = WorstChoice(0.0, 0.0, n, (), (), -1)
    for sums in product(range(n + 1), repeat=arms):
        p = choices.law(sums, state, plan)
        for move in product((-1, 0, 1), repeat=arms):
            other = tuple(s + d for s, d in zip(sums, move, strict=True))
            if min(other) < 0 or max(other) > n:
                continue
            q = choices.law(other, state, plan)
            for k in range(arms):
                low = math.log(max(p[k] - ROUNDING, 1e-300) / (q[k] + ROUNDING))
                if low > worst.loss:
                    worst = WorstChoice(
                        low,
                        math.log((p[k] + ROUNDING) / max(q[k] - ROUNDING, 1e-300)) - low,
                        n,
                        sums,
                        other,
                        k,
                    )
    return worst


def of_epochs(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """In closed form: the worst choice of any epoch that ends in time."""
    choices = Choices(policy, effort)
    found = max(
        (worst_choice(choices, state, plan) for state, plan in epochs(choices, rounds)),
        default=None,
    )
    if found is None or found.loss == 0:
        return 0.0, 0.0, choices.cost, "No choice depends on a reward.", {}
    details = {
        "block": found.rounds,
        "sums": list(found.sums),
        "other": list(found.other),
        "asked": choices.deciding.how,
    }
    evidence = (
        f"action {found.chosen + 1} after an epoch of {found.rounds} rounds with sums "
        f"{found.sums}, {found.other} by one changed record"
    )
    return (
        found.loss,
        found.error if math.isfinite(found.error) else 0.0,
        choices.cost,
        evidence,
        details,
    )


# Level 2, exact law: the probability of every decision sequence of a few rounds, and the largest
# loss between neighbours.


LEVEL = "exact law"
SLACK = 1e-9
"""A certified loss this far above the claim is rounding."""

POINTS = 4e8
"""Points of lattices that are summed at most, where nobody says otherwise: about twenty seconds."""


def exact_law(
    policy: Policy,
    rounds: int = 8,
    effort: Effort | None = None,
    *,
    claim: Fraction | None = None,
    arms: int = 2,
    grid: int = 1,
) -> LevelResult:
    """The exact loss of the first `rounds` decisions: the largest log-ratio over all sequences, all
    tables of 0/1 rewards and all replacements of one round.

    policy: an index policy, or one that follows a leader by epochs; its small version is audited,
        with `arms` arms and rewards on `grid`, everything else as it is. Its own `plan`, `update`
        and mechanism are run, nothing is written down again here.
    claim: epsilon; by default the policy's own guarantee. effort: in points of lattices, by default
        `POINTS`, or in seconds.

    Of the result: `lower_bound` is certified (the probability left out by the lattice is taken
    against it), and the exact loss of that pair is at most `error` higher. `attainable` is what the
    releases made before the last decision tell about one reward together, at most, or the claim if
    that is less: no policy with these releases shows more in so many rounds, whatever it decides
    with them. So a loss far below the claim means a short run, not strong privacy, when
    `attainable` is low, and decisions that show little of their releases otherwise. 0: nothing is
    released that early.
    """
    start = time.monotonic()
    try:
        found = small_law(policy, rounds, effort or Work(POINTS), claim, arms, grid)
    except Unfit as reason:
        found = LevelResult(LEVEL, "not applicable", evidence=f"No exact law: {reason}.")
    return replace(found, seconds=time.monotonic() - start)


def small_law(
    policy: Policy, rounds: int, effort: Effort, claim: Fraction | None, arms: int, grid: int
) -> LevelResult:
    """The exact loss of the policy's small version.

    Raises:
        Unfit: it claims no epsilon, or its law is out of reach.
    """
    guarantee = policy.guarantee
    if claim is None and guarantee is not None and guarantee.measure == "pure":
        claim = guarantee.epsilon
    if claim is None:
        raise Unfit("it claims no epsilon")
    if policy.randomizer() is not None:
        raise Unfit("it is private before the server: the law of its reports is audited instead")
    subject = small(policy, rounds, arms, grid)
    if first_release(subject) >= rounds:
        return nothing_released(rounds)
    loss, error, cost, evidence, details = law_of(subject, rounds, effort)
    attainable = float(claim if cost is None else min(claim, cost))
    if attainable == 0:
        return nothing_released(rounds)
    details = {"arms": arms, "grid": grid, "rounds": rounds} | details
    outcome: Outcome = "failed" if loss > claim + SLACK else "passed"
    return LevelResult(LEVEL, outcome, loss, attainable, error, evidence=evidence, details=details)


def deepest_law(
    policy: Policy, rounds: int = 8, effort: Effort | None = None, *, claim: Fraction | None = None
) -> LevelResult:
    """The exact law of as many decisions, up to `rounds`, as the effort allows: of 4, then 6, then
    all.
    """
    effort = effort or Work(POINTS)
    start, found = time.monotonic(), None
    for few in (*(n for n in (4, 6) if n < rounds), rounds):
        deeper = exact_law(policy, few, effort, claim=claim)
        if found is None or found.outcome == "not applicable" or deeper.outcome != "not applicable":
            found = deeper
        if found.outcome == "failed" or effort.left() <= 0:
            break
    assert found is not None
    return replace(found, seconds=time.monotonic() - start)


def nothing_released(rounds: int) -> LevelResult:
    evidence = f"Nothing is released before decision {rounds}: there is nothing to see."
    return LevelResult(LEVEL, "not applicable", 0.0, 0.0, evidence=evidence)


PLAYED = 16
"""Short runs in which a policy is watched for coins of its own."""


def tosses(policy: Policy, rounds: int) -> bool:
    """Whether it draws from anywhere but its noise source and the public randomness."""
    tables = [
        np.random.default_rng(run).integers(0, 2, (rounds, policy.arms)).astype(float)
        for run in range(PLAYED)
    ]
    with Outside() as outside:
        for run, table in enumerate(tables):
            decisions(policy, table, noise=SimulatedNoise(run), seed=run)
    return outside.used


def law_of(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """The worst that decisions tell, by the way that suits the policy.

    Raises:
        Unfit: its law is out of reach.
    """
    with Outside(calls=False) as outside:
        found = (
            of_epochs(policy, rounds, effort)
            if policy.about.feedback == "full"
            else of_indices(policy, rounds, effort)
        )
    if outside.used or tosses(policy, rounds):
        raise Unfit(
            "it draws randomness that is neither its noise source's nor public, whose law is not "
            "enumerated"
        )
    return found


def small(policy: Policy, rounds: int, arms: int, grid: int) -> Policy:
    """The same policy with few arms and a coarse grid.

    Raises:
        Unfit: it has no such version, or cannot be played for so many rounds.
    """
    names = {f.name for f in fields(policy) if f.init}
    size = size_argument(type(policy))
    if size not in ("arms", "actions") or "grid" not in names:
        raise Unfit("it does not play single arms")
    if policy.about.needs_horizon and 0 < (getattr(policy, "horizon", None) or 0) < rounds:
        raise Unfit(f"it is made for fewer than {rounds} rounds")
    if rounds < 2 or arms < 2:
        raise ValueError(f"Expected rounds={rounds} and arms={arms} to be at least 2.")
    changes: dict[str, Any] = {size: arms, "grid": grid}
    return replace(policy, **changes)


ENOUGH = 1e-9
"""Error below which a finer lattice is not worth its time."""


def of_indices(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """By enumeration: on a coarse lattice, then on the finest that the effort and memory allow."""
    coarse, *finer = CUTS
    before, first = effort.left(), Enumeration(policy, rounds, effort, coarse)
    found = summary(first.run(), first, coarse)
    cost = before - effort.left()
    for cut in reversed(finer):
        # Axes grow like ln(1/cut), and there are seldom more than three long ones; the steps of the
        # walk stay as many.
        grows = 1 + first.share_of_points() * ((math.log(cut) / math.log(coarse)) ** 3 - 1)
        if found[1] > ENOUGH and cost * grows < effort.left():
            with suppress(Unfit):  # too large, or slower than was thought
                fine = Enumeration(policy, rounds, effort, cut)
                return summary(fine.run(), fine, cut)
    return found


def summary(laws: Laws, enumeration: Enumeration, cut: float) -> LargestLoss:
    lost, cost = enumeration.lost, enumeration.cost
    worst = worst_pair(laws, lost)
    details: dict[str, Any] = {
        "sequences": len(laws),
        "tables": sum(map(len, laws.values())),
        "cut": cut,
        "missing_mass": missing_mass(laws),
        "asked": enumeration.deciding.how,
        "decisions": [arm + 1 for arm in worst.decisions],
        "block_sums": list(worst.sums),
    }
    if not worst.decisions:
        return (
            0.0,
            0.0,
            cost,
            f"No decision depends on a reward in {enumeration.rounds} rounds"
            + (f", but for runs of probability {lost:.1g} at most" * (lost > 0))
            + ".",
            details,
        )
    played = " ".join(str(arm + 1) for arm in worst.decisions)
    blocks = ", ".join(map(str, worst.sums))
    evidence = (
        f"arms {played} with block sums {blocks}, where that of block {worst.block + 1} turns "
        f"{worst.other} by one changed reward"
    )
    return worst.loss, worst.error, cost, evidence, details
