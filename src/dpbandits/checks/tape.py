"""Fixed rewards, made-up visitors and recorded noise, for the checks of policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import methodcaller
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, final

import numpy as np

from dpbandits.core.errors import Diverged
from dpbandits.core.inputs import Floats, Integers
from dpbandits.core.privacy import Grid, NoiseKind
from dpbandits.environments.base import Environment
from dpbandits.noise.protocol import Noise, Relay
from dpbandits.noise.sources import SimulatedNoise


@final
class Tape(Environment):
    """An environment in which the j-th reward of each arm is fixed, so that every simulation of the
    tape has the same rewards.

    Args:
        rewards: shape (arms, length).
    """

    def __init__(self, rewards: np.ndarray[Any, Any]) -> None:
        self.rewards = np.asarray(rewards, np.float64)
        self.means = self.rewards.mean(axis=1)
        self._next = [0] * len(self.rewards)

    def fresh(self) -> Self:
        return type(self)(self.rewards)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        self._next[action] += 1
        return float(self.rewards[action, self._next[action] - 1])

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        start = self._next[action]
        self._next[action] += rounds
        return int(np.rint(self.rewards[action, start : start + rounds] * grid.steps).sum())

    def draw_many(self, arms: Integers, rng: np.random.Generator) -> Floats:
        return np.array([self.draw(arm, rng) for arm in arms.tolist()])

    def block_many(
        self, arms: Integers, rounds: int, grid: Grid, rng: np.random.Generator
    ) -> Integers:
        return np.array([self.block(arm, rounds, grid, rng) for arm in arms.tolist()], np.int64)


def random_tape(arms: int, length: int, seed: int) -> Tape:
    """Return 0/1 rewards with means spread over (0, 1). On 0/1 tapes no rounding coin is tossed, so
    runs can be compared exactly.
    """
    rng = np.random.default_rng(seed)
    means = np.linspace(0.8, 0.2, arms) if arms > 1 else np.array([0.5])
    return Tape((rng.random((arms, length)) < means[:, None]).astype(float))


def visitors(features: int, many: int, seed: int) -> Floats:
    """Contexts of norm at most 1, shape (many, features). In every second pair the one is the
    other one turned round, so that both signs of a cell are met.
    """
    rng = np.random.default_rng([seed, 17])
    rows = rng.normal(size=(many, features)) + 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) * rng.uniform(1.0, 1.5, (many, 1))
    rows[1::4] = -rows[0 : len(rows[1::4]) * 4 : 4]
    return rows


Item = TypeVar("Item")


def in_turn(*lists: Sequence[Item]) -> Iterator[Item]:
    """Yield the first of each list, then the second of each, until all of them came."""
    for at in range(max(map(len, lists), default=0)):
        yield from (some[at] for some in lists if at < len(some))


class RecordedDraw(NamedTuple):
    """One call of a noise source.

    Args:
        family: kind of the call.
        value: the exact value; for a selection or a joint draw, all values.
        noisy: the outcome.
        sensitivity: in grid steps.
        cost: privacy cost per unit of change (ε or ρ).
        of: for a test against a threshold, the index of the threshold's draw; else −1.
    """

    family: str
    value: Any
    noisy: Any
    sensitivity: int
    cost: Fraction
    of: int = -1

    def loss(self, other: RecordedDraw) -> Fraction:
        """Return the most privacy loss of this call between its exact value and another's: the
        distance that its noise must move.
        """
        # the winner's lead over each rival moves; noise of scale 2·sensitivity/cost covers it
        if self.family.startswith("select"):
            moves = [b - a for a, b in zip(self.value, other.value, strict=True)]
            return self.cost * Fraction(
                max(abs(move - moves[self.noisy]) for move in moves), 2 * self.sensitivity
            )
        moved = max(abs(b - a) for a, b in zip(self.noise(), other.noise(), strict=True))
        change = Fraction(moved, self.sensitivity)
        return self.cost * (change**2 if self.family == "gaussian" else change)

    def noise(self) -> tuple[int, ...]:
        """Return the added noise: one number, or one for each value of a joint draw."""
        if self.family == "joint":
            return tuple(n - v for v, n in zip(self.value, self.noisy, strict=True))
        return (self.noisy - self.value,)


def sparse_vector_loss(old: Sequence[RecordedDraw], new: Sequence[RecordedDraw]) -> Fraction:
    """Return the most privacy loss of the tests of one threshold, by coupling; the first draw is
    the threshold's.

    The threshold moves with the largest rise of a "no", and the noise of a "yes" covers that and
    its own fall.
    """
    rises = [
        (b.value - a.value, bool(a.noisy), a.cost / a.sensitivity)
        for a, b in zip(old[1:], new[1:], strict=True)
    ]
    shift = max([rise for rise, yes, _ in rises if not yes], default=0)
    shift = max(0, shift)
    return shift * old[0].cost / old[0].sensitivity + sum(
        (max(0, shift - rise) * cost for rise, yes, cost in rises if yes), Fraction(0)
    )


def loss(before: Sequence[RecordedDraw], after: Sequence[RecordedDraw]) -> Fraction:
    """Return the exact privacy loss between two recordings with the same answers: Σ
    |Δ|ε/sensitivity, or Σ Δ²ρ/sensitivity² for Gaussians.

    For a selection, and for a threshold with all its tests, it is the most loss of any noise of
    their scales.
    """
    total, thresholds = Fraction(0), dict[int, list[tuple[RecordedDraw, RecordedDraw]]]()
    for at, (old, new) in enumerate(zip(before, after, strict=True)):
        if old.family == "threshold":
            thresholds[at] = [(old, new)]
        elif old.of >= 0:
            thresholds[old.of].append((old, new))
        elif (old.value, old.noisy) != (new.value, new.noisy):
            total += old.loss(new)
    for pairs in thresholds.values():
        ones, others = zip(*pairs, strict=True)
        total += max(sparse_vector_loss(ones, others), sparse_vector_loss(others, ones))
    return total


@dataclass
class Recorder(Relay):
    """Seeded noise that records every call. With `script`, the same noisy values are returned for
    any input.

    Args:
        seed: seed of the noise.
        script: draws of the recording to replay.
        draws: the recorded draws.
        base: source of the values; by default `SimulatedNoise(seed)`.
        tosses: coins to replay; None tosses new ones.
        thrown: every coin that was tossed.
    """

    seed: int
    script: list[RecordedDraw] | None = None
    draws: list[RecordedDraw] = field(default_factory=list)
    base: Noise | None = None
    tosses: Sequence[float] | None = None
    thrown: list[float] = field(default_factory=list)
    kind: ClassVar[NoiseKind] = "simulated"

    def __post_init__(self) -> None:
        self._base: Noise = self.base or SimulatedNoise(self.seed)
        # from the noise of each threshold to the index of its draw
        self._thresholds: dict[int, int] = {}

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        """Record added noise, and selections."""
        (value,), family, rate = exact, verb, cost.get("rho") or cost["epsilon"]
        if verb == "select":
            family, value = f"select by {cost['law']}", tuple(int(v) for v in value)
        draw = methodcaller(verb, *exact, **cost)
        return self._record(family, value, cost["sensitivity"], rate, draw)

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> tuple[int, ...]:
        exact = tuple(int(value) for value in values)
        draw = methodcaller("joint", exact, sensitivity=sensitivity, epsilon=epsilon)
        return self._record("joint", exact, sensitivity, epsilon, draw)

    def threshold(self, *, sensitivity: int, epsilon: Fraction) -> int:
        def draw(base: Noise) -> int:
            # different for every threshold, because tests identify their threshold by its noise
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
                "A test used a threshold that was never drawn, so its loss cannot be computed."
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
        """Number of uniform numbers drawn."""
        return len(self.thrown)

    def state(self) -> dict[str, Any]:
        return self._base.state()

    def loss(self) -> Fraction:
        """Return the exact privacy loss between the recording and this replay."""
        return loss(self.script or [], self.draws)

    def _record(
        self,
        family: str,
        value: Any,
        sensitivity: int,
        cost: Fraction,
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
            if (old.family, old.sensitivity, old.cost, old.of) != (family, sensitivity, cost, of):
                raise Diverged(
                    f"Noise draw {at + 1} differs in kind, bar or scale between recording and "
                    "replay."
                )
            noisy = old.noisy
        self.draws.append(RecordedDraw(family, value, noisy, sensitivity, cost, of))
        return noisy
