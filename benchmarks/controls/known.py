"""Known mistakes, of publications and of programs: BROKEN ON PURPOSE. Never for use."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from benchmarks.controls.parts import ONE, Control, Dishonest, with_mechanism
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid, Guarantee, NoiseKind
from dpbandits.mechanisms import (
    AboveThreshold,
    Answer,
    BinaryTree,
    Block,
    Comparisons,
    EachAction,
    EachArm,
    GaussianBatches,
    Hybrid,
    JointBatch,
    LazyCumulative,
    LazyForgetful,
    Logarithmic,
    Mechanism,
    NoisyMax,
    PureDP,
    Randomizer,
    Separable,
    SignedCounter,
    SignedTree,
    SquareRoot,
    WeightedArms,
)
from dpbandits.mechanisms.base import Around
from dpbandits.mechanisms.joint import JointAnswer
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.oracles import UniformMatroid
from dpbandits.policies.base import Statistics
from dpbandits.policies.cumulative import DPKLUCB
from dpbandits.policies.every_round import LDPKLUCB, LDPUCB, DPUCBBound, HybridUCB
from dpbandits.policies.experts import RNMFTNL
from dpbandits.policies.forgetful import AnytimeLazyUCB
from dpbandits.policies.identification import DPSE
from dpbandits.policies.matroid import DPUCBMAT

# BROKEN ON PURPOSE: what was published with too little noise, under the claim it was published
# with.
#
# The sparse vector variants are those that Lyu, Su and Li 2017 found to be wrong. A stream of
# rewards; after each, a question: is the sum so far above the threshold (odd rounds), is its
# opposite (even rounds)? A replaced reward moves every later question by one, up and down in turn,
# which is what these variants cannot stand.


@dataclass(frozen=True, kw_only=True)
class Understated(Around):
    """BROKEN ON PURPOSE: promises `epsilon`, whatever `inner` costs a record of its width."""

    inner: EachArm
    epsilon: Fraction
    width: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "width", self.inner.width)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(measure="pure", epsilon=self.epsilon, grid=self.grid)


class OneVectorStart(DPUCBMAT):  # type: ignore[misc]  # final for everybody else
    """BROKEN ON PURPOSE: round 1 observes all L elements at once, each at epsilon/K: that record
    pays L·epsilon/K.
    """

    def mechanism(self) -> Any:
        honest = super().mechanism()
        return Understated(inner=replace(honest, width=self.arms), epsilon=self.budget)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        if state.t == 0:
            everything = tuple(range(self.arms))
            return Hold(everything, 1, everything)
        return super().plan(state, rng)


class NoisyWinner(NamedTuple):
    """Public: the winner and its noisy sum. (Arrays, where an auditor plays many runs at once.)"""

    action: Any
    total: Any


@dataclass(frozen=True, kw_only=True)
class MaxWithValue(PureDP):
    """BROKEN ON PURPOSE: report noisy max that also tells the winner's noisy sum. one_sided:
    exponential noise, which only adds.
    """

    actions: int = 3
    one_sided: bool = False

    def init(self, coordinates: int) -> None:
        return None

    def answer(
        self, memory: None, block: Block, noise: Noise
    ) -> tuple[None, tuple[NoisyWinner, ...]]:
        noisy = np.stack([self.noised(total, noise) for total in block.sums])
        return None, (NoisyWinner(noisy.argmax(axis=0), noisy.max(axis=0) / self.grid.steps),)

    def noised(self, total: Any, noise: Noise) -> Any:
        draw = noise.laplace(total, sensitivity=2 * self.grid.steps, epsilon=self.epsilon)
        return total + abs(draw - total) if self.one_sided else draw


class Said(NamedTuple):
    """Public: 1 for above, 0 for below, −1 once it has stopped; and the noisy value, where the
    variant tells it.
    """

    above: Any
    value: Any


@final
@dataclass(frozen=True, kw_only=True)
class Questions(Dishonest):
    """BROKEN ON PURPOSE unless its shares add up as proved.

    threshold: share of epsilon for the threshold's noise, of scale 1/(share·epsilon). query: the
        same for each question; None: no noise.
    most: "above" answers until it stops; None: it never does.
    tells: whether "above" comes with the value it was decided on. bar: the threshold, in rewards.
    """

    threshold: Fraction = Fraction(1, 2)
    query: Fraction | None = Fraction(1, 2)
    most: int | None = 1
    tells: bool = False
    bar: int = 0

    def start(self) -> list[Any]:
        return [0, 0, 0, None]

    def step(
        self, memory: list[Any], total: int, count: int, noise: Noise
    ) -> tuple[list[Any], Said]:
        asked, summed, above, drawn = memory[0] + 1, memory[1] + total, *memory[2:]
        if not self.by_arrays and above >= (self.most or 0):
            return [asked, summed, above, drawn], Said(-1, 0.0)
        if drawn is None:
            draw = noise.laplace if self.by_arrays else lambda _, **cost: noise.threshold(**cost)
            drawn = draw(0, sensitivity=self.grid.steps, epsilon=self.epsilon * self.threshold)
        yes, value = self.ask(summed if asked % 2 else -summed, drawn, noise)
        if self.by_arrays and self.most is not None:
            going = np.asarray(above) < self.most
            yes, said = yes * going, Said(np.where(going, yes, -1), np.where(going, value, 0.0))
            return [asked, summed, above + yes, drawn], said
        return [asked, summed, above + yes, drawn], Said(yes, value)

    @property
    def by_arrays(self) -> bool:
        """Whether no noised value decides what is asked for next, so that many runs can be played
        at once.
        """
        return self.most is None or self.tells

    def ask(self, question: int, drawn: Any, noise: Noise) -> tuple[Any, Any]:
        steps, bar = self.grid.steps, self.bar * self.grid.steps
        if self.query is None:
            return (question >= bar + drawn) * 1, 0.0
        cost = self.epsilon * self.query
        if not self.by_arrays:
            return noise.exceeds(question, bar, drawn, sensitivity=steps, epsilon=cost) * 1, 0.0
        noisy = noise.laplace(question, sensitivity=steps, epsilon=cost)
        yes = (noisy >= bar + drawn) * 1
        return yes, np.where(yes, noisy / steps, 0.0) if self.tells else 0.0


def variant(name: str, what: str, truth: str, level: str, **settings: Any) -> Control:
    """A sparse vector variant: its questions, and what `Control` says of it."""
    return Control(
        name, what, lambda: Questions(epsilon=ONE, grid=Grid(steps=1), **settings), level, truth
    )


PUBLISHED = (
    variant(
        "sparse vector variant 3",
        "tells the noisy value it decided on, c = 4",
        "not DP at any ε",
        "statistical",
        tells=True,
        most=4,
    ),
    variant(
        "sparse vector variant 4",
        "questions at 3ε/4 whatever their number, c = 4",
        "(1 + 6c)ε/4 = 6.25ε",
        "transcript",
        threshold=Fraction(1, 4),
        query=Fraction(3, 4),
        most=4,
    ),
    variant(
        "sparse vector variant 5",
        "no noise on questions, never stops",
        "not DP at any ε",
        "statistical",
        query=None,
        most=None,
    ),
    variant(
        "sparse vector variant 6",
        "questions at ε/2 each, never stops",
        "not DP at any ε",
        "statistical",
        most=None,
    ),
    Control(
        "RNM-FTNL as published",
        "noisy maximum with Lap(1/ε)",
        lambda: RNMFTNL(actions=2, epsilon=1, preset="published"),
        "statistical",
        "2ε",
    ),
    Control(
        "Hybrid-UCB as printed",
        "the full tree's root is released, too",
        lambda: HybridUCB(arms=2, epsilon=1, preset="published"),
        "transcript",
        "1.5ε",
    ),
    Control(
        "DPUCB-MAT started from one vector",
        "all L = 6 elements observed at once at ε/K, K = 2",
        lambda: OneVectorStart(problem=UniformMatroid(arms=6, rank=2), epsilon=1),
        "transcript",
        "(L/K)ε = 3ε",
    ),
    Control(
        "noisy max with its value, Laplace",
        "index and noisy sum of the winner of 3, Lap(2/ε)",
        lambda: MaxWithValue(epsilon=ONE, grid=Grid(steps=1)),
        "statistical",
        "Kε/2 = 1.5ε",
    ),
    Control(
        "noisy max with its value, exponential",
        "index and noisy sum of the winner of 3, exponential noise",
        lambda: MaxWithValue(epsilon=ONE, grid=Grid(steps=1), one_sided=True),
        "statistical",
        "not DP",
    ),
)


# BROKEN ON PURPOSE: sums that are released without noise, with shared noise, or again and
# again.


@final
@dataclass(frozen=True, kw_only=True)
class FirstExact(Dishonest):
    """BROKEN ON PURPOSE: the newest batch, noised, but each arm's first batch as it is."""

    def start(self) -> list[int]:
        return [0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        if not memory[0]:
            return [1], self.said(total, count, 0)
        return [1], self.said(
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon), count, 1
        )


@final
@dataclass(frozen=True, kw_only=True)
class Redrawn(Dishonest):
    """BROKEN ON PURPOSE: the exact running sum with fresh noise at every release, so a reward is
    told again each time.
    """

    def start(self) -> list[int]:
        return [0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        total, count = memory[0] + total, memory[1] + count
        return [total, count], self.said(
            noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon), count, 1
        )


@final
@dataclass(frozen=True, kw_only=True)
class ExactIncrements(Dishonest):
    """BROKEN ON PURPOSE: the logarithmic counter, to which the exact sum since the last power of
    two is added.
    """

    def start(self) -> list[int]:
        return [0, 0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        leaf, pending, noisy, rounds = (
            memory[0] + 1,
            memory[1] + total,
            memory[2],
            memory[3] + count,
        )
        if leaf.bit_count() == 1:
            noisy, pending = (
                noisy + noise.laplace(pending, sensitivity=self.grid.steps, epsilon=self.epsilon),
                0,
            )
        return [leaf, pending, noisy, rounds], self.said(noisy + pending, rounds, leaf.bit_length())


@final
@dataclass(frozen=True, kw_only=True)
class RawBatchEnds(Dishonest):
    """BROKEN ON PURPOSE: a batch ends, and is noised, as soon as its exact sum reaches three; until
    then the last answer again.
    """

    def start(self) -> list[int]:
        return [0, 0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer]:
        pending, waiting, noisy, rounds = memory[0] + total, memory[1] + count, memory[2], memory[3]
        if pending >= 3 * self.grid.steps or not rounds:
            noisy = noise.laplace(pending, sensitivity=self.grid.steps, epsilon=self.epsilon)
            pending, waiting, rounds = 0, 0, waiting
        return [pending, waiting, noisy, rounds], self.said(noisy, rounds, 1)


@final
@dataclass(frozen=True, kw_only=True)
class RawStopping(Dishonest):
    """BROKEN ON PURPOSE: says nothing until its exact sum reaches three, then the noised one, and
    is done.
    """

    def start(self) -> list[int]:
        return [0, 0, 0]

    def step(
        self, memory: list[int], total: int, count: int, noise: Noise
    ) -> tuple[list[int], Answer | None]:
        summed, rounds, done = memory[0] + total, memory[1] + count, memory[2]
        if done or summed < 3 * self.grid.steps:
            return [summed, rounds, done], None
        noisy = noise.laplace(summed, sensitivity=self.grid.steps, epsilon=self.epsilon)
        return [summed, rounds, 1], self.said(noisy, rounds, 1)


@final
@dataclass(frozen=True, kw_only=True)
class SharedNoise(PureDP):
    """BROKEN ON PURPOSE: one draw for all arms of a release. It cancels when two arms are
    compared.
    """

    def init(self, coordinates: int) -> None:
        return None

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Answer, ...]]:
        shared = noise.laplace(0, sensitivity=self.grid.steps, epsilon=self.epsilon)
        pairs = zip(block.sums, block.counts, strict=True)
        return None, tuple(
            Answer((int(total) + shared) / self.grid.steps, count, 1) for total, count in pairs
        )


def remade_as(cls: Callable[..., Mechanism]) -> Callable[[Any], Mechanism]:
    """Put in place of a mechanism with an epsilon and a grid."""
    return lambda honest: cls(epsilon=honest.epsilon, grid=honest.grid)


def short_epochs() -> Any:
    """DP-SE whose epochs are short enough to be seen."""
    return with_mechanism(replace(DPSE(arms=2, epsilon=8, beta=0.9)), remade_as(SharedNoise))


LAZY, COUNTERS = AnytimeLazyUCB(arms=2, epsilon=1), DPUCBBound(arms=2, epsilon=1)

SUMS = (
    Control(
        "first pull not noised",
        "AnytimeLazyUCB, each arm's first reward as it is",
        lambda: with_mechanism(LAZY, remade_as(FirstExact)),
        "transcript",
        "not DP from round K + 1 on",
    ),
    Control(
        "first pull not noised, by its runs",
        "the same, from runs",
        lambda: with_mechanism(LAZY, remade_as(FirstExact)),
        "statistical",
        "not DP from round K + 1 on",
    ),
    Control(
        "noise redrawn every round",
        "UCB on running sums, fresh Lap(1/ε) each round",
        lambda: with_mechanism(COUNTERS, remade_as(Redrawn)),
        "transcript",
        "T-fold composition",
    ),
    Control(
        "cumulative sums, re-released",
        "AnytimeLazyUCB whose batches are running sums, fresh Lap(1/ε) each",
        lambda: with_mechanism(LAZY, remade_as(Redrawn)),
        "statistical",
        "ε for each batch a reward is in",
    ),
    Control(
        "exact increments between powers of two",
        "DP-UCB-Bound on a counter that adds raw rewards",
        lambda: with_mechanism(COUNTERS, remade_as(ExactIncrements)),
        "transcript",
        "not DP",
    ),
    Control(
        "batch ends decided on raw sums",
        "a batch closes when its exact sum reaches 3",
        lambda: RawBatchEnds(epsilon=ONE, grid=Grid(steps=1)),
        "transcript",
        "unbounded",
    ),
    Control(
        "batch ends decided on raw sums, black box",
        "the same, from its answers alone",
        lambda: RawBatchEnds(epsilon=ONE, grid=Grid(steps=1)),
        "statistical",
        "unbounded",
    ),
    Control(
        "stopping decided on raw sums",
        "halts when its exact sum reaches 3, and tells it noised",
        lambda: RawStopping(epsilon=ONE, grid=Grid(steps=1)),
        "transcript",
        "unbounded",
    ),
    Control(
        "one scalar noise shared by all arms",
        "DP-SE with one draw an epoch",
        short_epochs,
        "transcript",
        "not DP",
        Fraction(8),
    ),
    Control(
        "cumulative batches without forgetting",
        "DPKLUCB on running sums, fresh Lap(1/ε) each",
        lambda: with_mechanism(DPKLUCB(arms=2, epsilon=1, first=1), remade_as(Redrawn)),
        "transcript",
        "ε for each batch",
    ),
)


# BROKEN ON PURPOSE: joint releases that do not keep what they guarantee.


def joint_answers(block: Block, noised: Any, steps: int) -> tuple[JointAnswer, ...]:
    size, rounds = len(block.sums), block.counts[0]
    return tuple(JointAnswer(total / steps, rounds, size) for total in noised)


@final
@dataclass(frozen=True, kw_only=True)
class OneTooFew(Around):
    """BROKEN ON PURPOSE: the draw has a dimension less than the release, and the last arm gets the
    first one's noise.
    """

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        cost: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": ONE}
        noised = noise.joint(block.sums[:-1], **cost)
        last = int(block.sums[-1]) + noised[0] - int(block.sums[0])
        return memory, joint_answers(block, (*noised, last), self.grid.steps)


@final
@dataclass(frozen=True, kw_only=True)
class OneEach(Around):
    """BROKEN ON PURPOSE: a draw an arm, each at the whole budget."""

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        cost: dict[str, Any] = {"sensitivity": self.grid.steps, "epsilon": ONE}
        noised = [noise.joint((total,), **cost)[0] for total in block.sums]
        return memory, joint_answers(block, noised, self.grid.steps)


@final
@dataclass(frozen=True, kw_only=True)
class ReadAgain(Around):
    """BROKEN ON PURPOSE: a block's sums are kept, and read with the next block's once more."""

    def init(self, coordinates: int) -> list[int]:
        return [0] * coordinates

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        sums = [int(total) for total in block.sums]
        both = [a + b for a, b in zip(memory, sums, strict=True)]
        _, answers = self.inner.answer(None, block._replace(sums=tuple(both)), noise)
        return sums, answers


@final
@dataclass(frozen=True, kw_only=True)
class InTwoBlocks(Around):
    """BROKEN ON PURPOSE: a record is in two plans' blocks. One reads it for its first arm, the next
    one, with a draw of its own, for the rest of its arms.
    """

    def init(self, coordinates: int) -> list[int]:
        return [0] * coordinates

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        sums = [int(total) for total in block.sums]
        _, answers = self.inner.answer(None, block._replace(sums=(sums[0], *memory[1:])), noise)
        return sums, answers


def joint(size: int = 2) -> JointBatch:
    return JointBatch(epsilon=ONE, size=size, grid=Grid(steps=1))


JOINT = (
    Control(
        "joint noise of a dimension too few",
        "the last arm gets the first one's noise",
        lambda: OneTooFew(inner=joint()),
        "statistical",
        "not DP",
    ),
    Control(
        "joint noise drawn arm by arm",
        "a draw an arm, each at the whole budget",
        lambda: OneEach(inner=joint()),
        "transcript",
        "Kε = 2ε",
    ),
    Control(
        "joint blocks read again",
        "a block's sums enter the next release, too",
        lambda: ReadAgain(inner=joint()),
        "transcript",
        "2ε",
    ),
    Control(
        "joint record in two plans' blocks",
        "its first arm is read in one release, the rest of its arms in the next",
        lambda: InTwoBlocks(inner=joint()),
        "transcript",
        "2ε",
    ),
)


# BROKEN ON PURPOSE: a twin of every mechanism that draws half the noise it promises.


@final
class Halved(Relay):
    """Noise at half of each scale that is asked for."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, noise: Noise) -> None:
        self.full = noise

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        if "epsilon" in cost:
            cost["epsilon"] *= 2
        if "rho" in cost:
            cost["rho"] *= 4
        return getattr(self.full, verb)(*exact, **cost)

    def state(self) -> dict[str, Any]:
        return self.full.state()


@final
@dataclass(frozen=True, kw_only=True)
class HalfNoise(Separable):
    """BROKEN ON PURPOSE: `inner` with half its noise, and its promise unchanged."""

    inner: Separable
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", self.inner.grid)

    @property
    def leaves(self) -> int:
        """Releases it can answer."""
        return int(getattr(self.inner, "leaves", 10**12))

    @property
    def guarantee(self) -> Guarantee | None:
        return self.inner.guarantee

    def start(self) -> Any:
        return self.inner.start()

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return self.inner.step(memory, total, count, Halved(noise))


@final
@dataclass(frozen=True, kw_only=True)
class HalfNoiseWhole(Around):
    """BROKEN ON PURPOSE: the same for a mechanism that reads whole records."""

    actions: int = 2

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self.inner.answer(memory, block, Halved(noise))


@dataclass(frozen=True, kw_only=True)
class HalfNoiseArms(Around):
    """BROKEN ON PURPOSE: the same for a mechanism whose arms have shares of their own."""

    width: int = 2

    def answer(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
        return self.inner.answer(memory, block, Halved(noise))


def half(mechanism: Mechanism) -> Mechanism:
    """The twin with half the noise."""
    match mechanism:
        case Separable():
            return HalfNoise(inner=mechanism)
        case EachAction() | EachArm():
            return replace(mechanism, inner=HalfNoise(inner=mechanism.inner))
        case WeightedArms():
            return HalfNoiseArms(inner=mechanism)
    return HalfNoiseWhole(inner=mechanism)


def half_report(honest: LDPUCB | LDPKLUCB) -> Any:
    """BROKEN ON PURPOSE: a local policy whose users' reports have half the noise they guarantee."""
    randomizer = honest.randomizer()

    def randomise(self: Randomizer, steps: int, noise: Noise) -> int:
        return replace(randomizer, epsilon=2 * randomizer.epsilon).randomise(steps, noise)

    loud = type(f"Half{type(randomizer).__name__}", (type(randomizer),), {"randomise": randomise})
    made = loud(epsilon=randomizer.epsilon, grid=randomizer.grid)
    broken = type(
        f"Half{type(honest).__name__}",
        (type(honest),),
        {"randomizer": lambda self: made, "__doc__": "BROKEN ON PURPOSE."},
    )
    return broken(arms=honest.arms, epsilon=honest.epsilon, grid=honest.grid)


def mechanisms_tried() -> Iterator[tuple[str, Mechanism]]:
    """One of every mechanism that reads rewards."""
    grid = Grid(steps=1)
    one: dict[str, Any] = {"epsilon": ONE, "grid": grid}
    yield "LazyForgetful", LazyForgetful(**one)
    yield "LazyCumulative", LazyCumulative(**one)
    yield "Logarithmic", Logarithmic(**one)
    yield "BinaryTree", BinaryTree(leaves=7, **one)
    yield "BinaryTree, padded", BinaryTree(leaves=7, padded=True, **one)
    yield "Hybrid, powers", Hybrid(**one)
    yield "Hybrid, doubling", Hybrid(segments="doubling", **one)
    yield "GaussianBatches", GaussianBatches(rho=ONE, grid=grid)
    yield "AboveThreshold", AboveThreshold(epsilon=ONE, grid=grid, cap=64)
    yield "Comparisons, pairs", Comparisons(**one)
    yield "Comparisons, one", Comparisons(watch="one", **one)  # "arms" spends a third on two arms
    yield "EachAction", EachAction(inner=LazyForgetful(epsilon=ONE / 2, grid=grid), actions=2)
    yield "EachArm", EachArm(inner=LazyForgetful(epsilon=ONE / 2, grid=grid), width=2)
    yield "JointBatch", JointBatch(size=2, **one)
    yield "SignedCounter", SignedCounter(leaves=5, base=3, **one)
    yield "SignedTree", SignedTree(leaves=5, actions=2, base=3, **one)
    yield "SquareRoot", SquareRoot(rho=ONE, leaves=7, actions=2, grid=grid)
    for law in ("laplace", "exponential", "permute-and-flip"):
        yield f"NoisyMax, {law}", NoisyMax(epsilon=ONE, grid=grid, selection=law)
    shared = LazyForgetful(epsilon=ONE * 2 / 3, grid=grid)
    yield "WeightedArms", WeightedArms(inner=shared, kinds=(1, 2), epsilon=ONE, width=2)


def twin(
    name: str,
    make: Callable[[], Any],
    level: str,
    claim: Fraction | None = ONE,
    truth: str = "2ε",
    runs: int = 4_000,
) -> Control:
    what = "half the noise it promises"
    return Control(f"half noise: {name}", what, make, level, truth, claim, runs=runs)


def of_mechanism(name: str, mechanism: Mechanism) -> Control:
    guarantee = mechanism.guarantee
    assert guarantee is not None
    claim, truth = (guarantee.epsilon, "2ε") if guarantee.measure == "pure" else (None, "4ρ")
    return twin(name, lambda: half(mechanism), "transcript", claim, truth)


HALF = (
    *(of_mechanism(name, mechanism) for name, mechanism in mechanisms_tried()),
    twin("LocalLaplace", lambda: half_report(LDPUCB(arms=2, epsilon=1)), "statistical"),
    twin(
        "RandomizedResponse",
        lambda: half_report(LDPKLUCB(arms=2, epsilon=1)),
        "randomised response",
    ),
    twin(
        "AnytimeLazyUCB, by its runs",
        lambda: with_mechanism(AnytimeLazyUCB(arms=2, epsilon=1), half),
        "statistical",
    ),
    twin(
        "RNMFTNL, by its runs",
        lambda: with_mechanism(RNMFTNL(actions=2, epsilon=1), half),
        "statistical",
        runs=20_000,
    ),
    twin(
        "LazyForgetful, black box",
        lambda: half(LazyForgetful(epsilon=ONE, grid=Grid(steps=1))),
        "statistical",
    ),
)
