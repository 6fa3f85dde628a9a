"""BROKEN ON PURPOSE: a twin of every mechanism that draws half the noise it promises."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, final

from dpbandits.auditing.broken.specimen import ONE, Specimen, with_mechanism
from dpbandits.core.privacy import Grid, Guarantee, NoiseKind
from dpbandits.mechanisms import (
    AboveThreshold,
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
    Randomizer,
    Separable,
)
from dpbandits.mechanisms.base import Around
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.policies.every_round import LDPKLUCB, LDPUCB
from dpbandits.policies.experts import RNMFTNL
from dpbandits.policies.forgetful import AnytimeLazyUCB


@final
class Halved(Relay):
    """Noise at half of each scale that is asked for."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, noise: Noise) -> None:
        self.full = noise

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        if "epsilon" in price:
            price["epsilon"] *= 2
        if "rho" in price:
            price["rho"] *= 4
        return getattr(self.full, verb)(*exact, **price)

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

    def promise(self) -> Guarantee | None:
        return self.inner.promise()

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


def half(mechanism: Mechanism) -> Mechanism:
    """The twin with half the noise."""
    match mechanism:
        case Separable():
            return HalfNoise(inner=mechanism)
        case EachAction() | EachArm():
            return replace(mechanism, inner=HalfNoise(inner=mechanism.inner))
    return HalfNoiseWhole(inner=mechanism)


def half_report(honest: LDPUCB | LDPKLUCB) -> Any:
    """BROKEN ON PURPOSE: a local policy whose users' reports have half the noise they promise."""
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
    for law in ("laplace", "exponential", "permute-and-flip"):
        yield f"NoisyMax, {law}", NoisyMax(epsilon=ONE, grid=grid, selection=law)


def twin(
    name: str, make: Callable[[], Any], level: str, claim: Fraction | None = ONE, truth: str = "2ε"
) -> Specimen:
    what = "half the noise it promises"
    return Specimen(f"half noise: {name}", what, make, level, truth, claim)


def of_mechanism(name: str, mechanism: Mechanism) -> Specimen:
    promise = mechanism.promise()
    assert promise is not None
    claim, truth = (promise.epsilon, "2ε") if promise.measure == "pure" else (None, "4ρ")
    return twin(name, lambda: half(mechanism), "transcript", claim, truth)


SPECIMENS = (
    *(of_mechanism(name, mechanism) for name, mechanism in mechanisms_tried()),
    twin("LocalLaplace", lambda: half_report(LDPUCB(arms=2, epsilon=1)), "report law"),
    twin("RandomizedResponse", lambda: half_report(LDPKLUCB(arms=2, epsilon=1)), "report law"),
    twin(
        "AnytimeLazyUCB, by its decisions",
        lambda: with_mechanism(AnytimeLazyUCB(arms=2, epsilon=1), half),
        "exact law",
    ),
    twin(
        "RNMFTNL, by its decisions",
        lambda: with_mechanism(RNMFTNL(actions=2, epsilon=1), half),
        "exact law",
    ),
    twin(
        "LazyForgetful, black box",
        lambda: half(LazyForgetful(epsilon=ONE, grid=Grid(steps=1))),
        "statistical",
    ),
)
