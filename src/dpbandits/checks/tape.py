"""Scripted worlds and transparent noise, on which the checks play policies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np

from dpbandits.core.errors import Diverged
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.privacy import Grid, NoiseKind
from dpbandits.environments.base import Environment
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.noise.sources import SimulatedNoise


@final
class Tape(Environment):
    """The j-th reward of each arm is fixed, so every host that plays the tape sees the same
    rewards. rewards: shape (arms, length).
    """

    def __init__(self, rewards: np.ndarray[Any, Any]) -> None:
        self.rewards = np.asarray(rewards, np.float64)
        self.means = self.rewards.mean(axis=1)
        self._next = [0] * len(self.rewards)
        # what each vector drawn was made of: (arm, place on its tape)
        self.records: list[list[tuple[int, int]]] = []

    def fresh(self) -> Self:
        tape = type(self)(self.rewards)
        tape.records = self.records
        return tape

    def draw(self, action: int, rng: np.random.Generator) -> float:
        self._next[action] += 1
        return float(self.rewards[action, self._next[action] - 1])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        start = self._next[action]
        self._next[action] += rounds
        return int(np.rint(self.rewards[action, start : start + rounds] * grid.steps).sum())

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        self.records.append([(arm, self._next[arm]) for arm in arms.tolist()])
        return np.array([self.draw(arm, rng) for arm in arms.tolist()])

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        return np.array([self.block(arm, rounds, grid, rng) for arm in arms.tolist()], np.int64)


def random_tape(arms: int, length: int, seed: int) -> Tape:
    """0/1 rewards with means spread over (0, 1): on 0/1 tapes no rounding coin is thrown, so hosts
    can be compared exactly.
    """
    rng = np.random.default_rng(seed)
    means = np.linspace(0.8, 0.2, arms) if arms > 1 else np.array([0.5])
    return Tape((rng.random((arms, length)) < means[:, None]).astype(float))


class RecordedDraw(NamedTuple):
    """One call of a noise source: the exact value (of a selection or a joint draw, all values), the
    outcome, and the price per unit of change.

    of: for a question, the place of its threshold among the draws.
    """

    family: str
    value: Any
    noisy: Any
    sensitivity: int
    price: Fraction
    of: int = -1

    def loss(self, other: RecordedDraw) -> Fraction:
        """The most that this call tells between its own exact value and another's: how far its
        noise has to move.
        """
        # the winner's lead over each rival moves; noise of scale 2·sensitivity/price covers it
        if self.family.startswith("select"):
            moves = [b - a for a, b in zip(self.value, other.value, strict=True)]
            return self.price * Fraction(
                max(abs(move - moves[self.noisy]) for move in moves), 2 * self.sensitivity
            )
        moved = max(abs(b - a) for a, b in zip(self.noise(), other.noise(), strict=True))
        change = Fraction(moved, self.sensitivity)
        return self.price * (change**2 if self.family == "gaussian" else change)

    def noise(self) -> tuple[int, ...]:
        """What was added: a number, or one for each value of a joint draw."""
        if self.family == "joint":
            return tuple(n - v for v, n in zip(self.value, self.noisy, strict=True))
        return (self.noisy - self.value,)


def sparse_vector_loss(old: Sequence[RecordedDraw], new: Sequence[RecordedDraw]) -> Fraction:
    """The most that the questions to one threshold tell, by coupling. The threshold moves with the
    largest rise of a "no", and the noise of a "yes" makes up for that and for its own fall. The
    first draw is the threshold's.
    """
    rises = [
        (b.value - a.value, bool(a.noisy), a.price / a.sensitivity)
        for a, b in zip(old[1:], new[1:], strict=True)
    ]
    shift = max([rise for rise, yes, _ in rises if not yes], default=0)
    shift = max(0, shift)
    return shift * old[0].price / old[0].sensitivity + sum(
        (max(0, shift - rise) * price for rise, yes, price in rises if yes), Fraction(0)
    )


def loss(before: Sequence[RecordedDraw], after: Sequence[RecordedDraw]) -> Fraction:
    """Exact privacy loss between two recordings that gave the same answers: Σ |Δ|ε/sensitivity, or
    Σ Δ²ρ/sensitivity² for Gaussians.

    For a selection, and for a threshold with all its questions, it is the most that any noise of
    their scales can tell.
    """
    total, watched = Fraction(0), dict[int, list[tuple[RecordedDraw, RecordedDraw]]]()
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.family == "threshold":
            watched[at] = [(old, new)]
        elif old.of >= 0:
            watched[old.of].append((old, new))
        elif (old.value, old.noisy) != (new.value, new.noisy):
            total += old.loss(new)
    for pairs in watched.values():
        ones, others = zip(*pairs, strict=True)
        total += max(sparse_vector_loss(ones, others), sparse_vector_loss(others, ones))
    return total


@dataclass
class Recorder(Relay):
    """Seeded noise that writes down every call; with `script`, the same noised values come out
    again whatever goes in.

    tosses: with it, the same coins fall again, too; without, coins are tossed afresh. thrown: every
        coin, as it fell.
    """

    seed: int
    script: list[RecordedDraw] | None = None
    draws: list[RecordedDraw] = field(default_factory=list)
    base: Noise | None = None  # where the values come from; by default `SimulatedNoise(seed)`
    tosses: Sequence[float] | None = None
    thrown: list[float] = field(default_factory=list)
    kind: ClassVar[NoiseKind] = "simulated"

    def __post_init__(self) -> None:
        self._base: Noise = self.base or SimulatedNoise(self.seed)
        # noise of each threshold -> its place among the draws
        self._thresholds: dict[int, int] = {}

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        """Noise that is added, and selections."""
        (value,), family, rate = exact, verb, price.get("rho") or price["epsilon"]
        if verb == "select":
            family, value = f"select by {price['law']}", tuple(int(v) for v in value)
        draw = methodcaller(verb, *exact, **price)
        return self._record(family, value, price["sensitivity"], rate, draw)

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        exact = tuple(int(value) for value in values)
        draw = methodcaller("joint", exact, sensitivity=sensitivity, epsilon=epsilon)
        noisy: tuple[int, ...] = self._record("joint", exact, sensitivity, epsilon, draw)
        return noisy

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        def draw(base: Noise) -> int:
            """Never the same twice: questions name their threshold by its noise. What comes out is
            the recorder's to choose.
            """
            noise = base.threshold(sensitivity=sensitivity, epsilon=epsilon)
            while noise in self._thresholds:
                noise += 1
            return noise

        place = len(self.draws)
        noise: int = self._record("threshold", 0, sensitivity, epsilon, draw)
        self._thresholds[noise] = place
        return noise

    def exceeds(
        self, value: int, bar: int, threshold: int, *, sensitivity: int, epsilon: Fraction
    ) -> bool:
        if threshold not in self._thresholds:
            raise Diverged(
                "A question was put to a threshold that was never drawn: its loss cannot be "
                "counted."
            )

        draw = methodcaller(
            "exceeds", value, bar, threshold, sensitivity=sensitivity, epsilon=epsilon
        )
        of = self._thresholds[threshold]
        return bool(self._record(f"exceeds {bar}", value, sensitivity, epsilon, draw, of))

    def uniform(self) -> float:
        at = len(self.thrown)
        if self.tosses is not None and at >= len(self.tosses):
            raise Diverged(f"The replay tosses {at + 1} coins, the recording {at}.")
        self.thrown.append(self._base.uniform() if self.tosses is None else self.tosses[at])
        return self.thrown[-1]

    @property
    def coins(self) -> int:
        """Uniform numbers drawn."""
        return len(self.thrown)

    def state(self) -> dict[str, Any]:
        return self._base.state()

    def loss(self) -> Fraction:
        """Exact privacy loss between the recording and this replay."""
        return loss(self.script or [], self.draws)

    def _record(
        self,
        family: str,
        value: Any,
        sensitivity: int,
        price: Fraction,
        draw: Callable[[Noise], Any],
        of: int = -1,
    ) -> Any:
        if self.script is None:
            noisy = draw(self._base)
        else:
            at = len(self.draws)
            if at >= len(self.script):
                raise Diverged(f"The replay draws noise {at + 1} times, the recording {at} times.")
            old = self.script[at]
            if (old.family, old.sensitivity, old.price, old.of) != (family, sensitivity, price, of):
                raise Diverged(
                    f"Noise draw {at + 1} differs in kind, bar or scale between recording and "
                    "replay."
                )
            noisy = old.noisy
        self.draws.append(RecordedDraw(family, value, noisy, sensitivity, price, of))
        return noisy
