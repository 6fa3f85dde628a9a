"""The vault of single arms and super arms: a coordinate is an arm, and each has an open block of
its own. In the local model what enters is a report, checked here.
"""

from collections.abc import Sequence
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np

from dpbandits.core.errors import RewardError
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.randomizers import Randomizer, Report, sound
from dpbandits.mechanisms.rewards import (
    check_sums,
    checked_reward,
    checked_rewards,
    few_on_grid,
    on_grid,
    vector_on_grid,
)
from dpbandits.noise.protocol import Noise
from dpbandits.vault.blocks import WHOLE, Open, PlanBlock
from dpbandits.vault.saved import SavedVault


def checked_report(
    value: object, randomizer: Randomizer, noise: NoiseKind, about: int
) -> tuple[int, ...]:
    """The report's content, a number of grid steps for each of the `about` arms it is about.

    What is no report is refused, and not shown: it may be a raw reward, or hold one in any of its
    places.
    """
    if type(value) is not Report:
        raise TypeError(
            "This policy is private in the local model: it takes the Report that its users' "
            f"{type(randomizer).__name__} makes, "
            f"got an object of type {type(value).__name__}. Call "
            "policy.randomizer().report(reward, noise) on the user's side. "
            "Nothing was recorded."
        )
    fit = sound(value)
    if fit and (value.randomizer, value.noise) != (randomizer.name, noise):
        other = (
            "another randomizer" if value.randomizer != randomizer.name else f"{value.noise} noise"
        )
        raise RewardError(
            f"Expected a report by {randomizer.name} with {noise} noise, got one by {other}. "
            "Nothing was recorded."
        )
    steps = value.steps if isinstance(value.steps, tuple) else (value.steps,)
    if not fit or len(steps) != about or not randomizer.accepts(steps):
        raise RewardError(
            f"No {type(randomizer).__name__} makes this report: its content is damaged (not "
            "shown). Nothing was recorded."
        )
    return steps


NUMBERS = frozenset({int})
"""The type of a coordinate."""

NEAREST = float.__round__
"""Rounds a float in a third of the time of `round`, which looks for it first."""


class ArmVault(SavedVault):
    """A coordinate is an arm. A record is one reward of the arm that was played or, after a super
    arm, a reward for each of its arms.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        coordinates: int,
        noise: Noise,
        randomizer: Randomizer | None = None,
    ) -> None:
        super().__init__(mechanism, coordinates, noise, randomizer)
        # For nearest rounding the grid step is a product of floats and a round; anything else
        # takes the longer way.
        quick = self._grid.rounding == "nearest" and randomizer is None
        self._steps = float(self._grid.steps) if quick else None
        self._open: list[Open] = [(0, 0, 0)] * coordinates

    def check(self, where: int | tuple[int, ...], value: object) -> Any:
        arms = self._arms(where)
        if self._randomizer is not None:
            checked_report(value, self._randomizer, self._noise.kind, len(arms))
            return value
        if isinstance(where, tuple):
            rewards = checked_rewards(self._in_units(value), len(where), where)
            return self._once_read(rewards)
        return self._once_read(checked_reward(self._in_units(value)))

    def on_grid(self, where: int | tuple[int, ...], value: object) -> Any:
        # the common case, once a round
        if self._steps and type(where) is int and 0 <= where < self._coordinates:
            if self.unit is not None:
                value = self._in_units(value)
            return NEAREST(
                (value if type(value) is float and 0.0 <= value <= 1.0 else checked_reward(value))
                * self._steps
            )
        arms = self._arms(where)
        if self._randomizer is not None:
            report = checked_report(value, self._randomizer, self._noise.kind, len(arms))
            return report if isinstance(where, tuple) else report[0]
        if isinstance(where, tuple):
            few = few_on_grid(value, len(arms), self._grid) if self.unit is None else None
            if few is not None:
                return tuple(few)
            rewards = checked_rewards(self._in_units(value), len(arms), arms)
            return tuple(vector_on_grid(rewards, self._grid, self._noise).tolist())
        return on_grid(checked_reward(self._in_units(value)), self._grid, self._noise)

    def enter(
        self, where: int | tuple[int, ...], steps: Any, count: int = 1, block: PlanBlock = WHOLE
    ) -> None:
        if self.staged is not None:
            self.settle()
        records = self.records + count
        if type(where) is int and 0 <= where < self._coordinates:  # the common case
            total, rewards, entered = self._open[where]
            fuller = (total + steps, rewards + count, entered + count)
            self.staged = records, None, where, fuller
            self._open[where] = fuller
            self.records = records
            self.staged = None
            return
        arms, several = self._arms(where), steps if isinstance(steps, tuple) else (steps,)
        before = map(self._open.__getitem__, arms)
        blocks = {
            arm: (total + step, rewards + count, entered + count)
            for arm, step, (total, rewards, entered) in zip(arms, several, before, strict=True)
        }
        self.staged = records, None, *chain.from_iterable(blocks.items())
        self.settle()

    def _arms(self, where: Any) -> tuple[int, ...]:
        """The arms one record touches: no more than the promise pays for, whatever an oracle said,
        and each once.
        """
        arms = where if isinstance(where, tuple) else (where,)
        arms = self._plain(arms)
        if len(arms) > self.width:
            raise RuntimeError(
                f"Refused a record of {len(arms)} arms, for the promise pays for {self.width} "
                "different arms. Correct the oracle's `size` "
                "or its answers. Nothing was recorded."
            )
        return arms

    def add_block(self, where: int | tuple[int, ...], steps: Any, count: int) -> None:
        if self._randomizer is None:  # sums of reports may be anything
            check_sums(int(np.min(steps)), int(np.max(steps)), count, self._grid)
        self.enter(where, tuple(steps.tolist()) if isinstance(where, tuple) else int(steps), count)

    def widen(self, coordinates: int) -> None:
        """Further coordinates, up to so many. Made again after an interruption it changes nothing
        more.
        """
        self._open += [(0, 0, 0)] * (coordinates - len(self._open))
        if self._coordinates < coordinates:
            self._memory = self._mechanism.widened(self._memory[: self._coordinates], coordinates)
            self._coordinates = coordinates

    def _nothing(self) -> int:
        return 0

    def _plain(self, coordinates: tuple[Any, ...]) -> tuple[int, ...]:
        if NUMBERS.issuperset(map(type, coordinates)):
            distinct = {0, *coordinates}
            known = min(distinct) >= 0 and max(distinct) < self._coordinates
            if known and len(distinct) - (0 not in coordinates) == len(coordinates):
                return coordinates
        foreign = [
            c
            for c in coordinates
            if isinstance(c, bool)
            or not isinstance(c, Integral)
            or not 0 <= int(c) < self._coordinates
        ]
        if foreign or len(set(coordinates)) < len(coordinates):
            raise RuntimeError(
                f"Refused {coordinates}: expected whole numbers from 0 to "
                f"{self._coordinates - 1}, each once. Correct the policy's plan or "
                "its oracle. Nothing was recorded or released."
            )
        return tuple(map(int, coordinates))

    def _block(self, coordinates: Sequence[int]) -> Block:
        totals, rewards, _ = zip(*map(self._open.__getitem__, coordinates), strict=True)
        return Block(tuple(coordinates), totals, rewards)

    def _sums(self) -> list[int]:
        return [total for total, _, _ in self._open]

    def _counts(self) -> list[int]:
        return [rewards for _, rewards, _ in self._open]

    def _keys(self) -> range:
        return range(self._coordinates)

    def _reopen(self, sums: list[int], counts: list[int]) -> None:
        clock = self._ledger.clock
        self._open = [
            (total, n, n + clock(c)) for c, (total, n) in enumerate(zip(sums, counts, strict=True))
        ]
