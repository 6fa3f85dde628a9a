"""THE BOUNDARY. Feedback enters by `add` (simulated blocks by `add_block`), answers leave by `release`; nothing else crosses.

Here are the range check, the fixed-point grid and the integer sums. Outside this file and `mechanisms/` no code reads a
reward or an exact sum, so every decision made elsewhere is post-processing of what `release` returned.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.ledger import Ledger
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.mechanisms.reports import checked_report
from dpbandits.mechanisms.restored import restored_counts, restored_memory, restored_sums
from dpbandits.mechanisms.rewards import check_sums, checked_reward, checked_rewards, on_grid, vector_on_grid
from dpbandits.noise import Noise
from dpbandits.plan import EVERY
from dpbandits.policy import Feedback, Release
from dpbandits.privacy import Entry
from dpbandits.strict import damaged


class Vault(ABC):
    """Open blocks, mechanism memory and ledger of one policy's run. Its repr shows counts only.

    randomizer: set for local policies; the vault then takes reports and refuses raw rewards.
    """

    _sums: Any  # of the open blocks, in grid steps: exact and private
    _counts: list[int]  # of the records in them: public

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise, randomizer: Randomizer | None = None) -> None:
        self._mechanism, self._noise, self._randomizer = mechanism, noise, randomizer
        self._grid, self._coordinates = mechanism.grid, coordinates
        self._memory = mechanism.init(coordinates)
        source = randomizer or mechanism
        guarantee = source.promise()
        self._width = source.width
        self._ledger = Ledger(guarantee.cost / source.width if guarantee is not None else None, source.width)

    @final
    def __repr__(self) -> str:
        return f"{type(self).__name__}(coordinates={self._coordinates}, releases={self.releases})"

    @final
    @property
    def ledger(self) -> tuple[Entry, ...]:
        """Every reading."""
        return self._ledger.entries

    @final
    @property
    def releases(self) -> int:
        return self._ledger.releases

    @abstractmethod
    def check(self, where: Any, value: Any) -> None:
        """Raise what `add` would raise, and change nothing."""

    @abstractmethod
    def add(self, where: Any, value: Any) -> None:
        """What one round brought, and to which coordinates."""

    @abstractmethod
    def add_block(self, where: Any, steps: Any, count: int) -> None:
        """`count` rounds at once, their sum in whole grid steps: simulated feedback drawn as a block."""

    @abstractmethod
    def release(self, coordinates: tuple[int, ...], round: int, told: tuple[tuple[Any, int], ...], drop: tuple[int, ...] = ()) -> Release:
        """Close these coordinates' blocks, read each once through the mechanism, and write the ledger; throw `drop`'s away unread.

        Raises:
            RuntimeError: a block is empty or named twice: its rewards would be read twice.
        """

    def finish(self, round: int, told: tuple[tuple[Any, int], ...]) -> Release:
        """No more feedback comes: close every block, read each once, and have the mechanism give the answer it still owes.

        Raises:
            TypeError: the mechanism owes none.
            ValueError: nothing was ever added.
        """
        raise TypeError(f"{type(self).__name__} has nothing to finish.")

    @final
    def private_state(self) -> dict[str, Any]:
        """Open sums, mechanism memory and noise position. As sensitive as the rewards themselves."""
        return {"sums": [int(total) for total in self._sums], "memory": self._memory, "noise": self._noise.state()}

    @final
    def public_state(self) -> dict[str, Any]:
        """Counts and ledger."""
        return {"counts": list(self._counts), "ledger": self._ledger.to_data()}

    @final
    def restore(self, public: dict[str, Any], private: dict[str, Any], rounds: int) -> None:
        """Continue from what `public_state` and `private_state` returned (after a trip through JSON), `rounds` records later.

        Raises:
            ValueError: damaged data, of another shape or with numbers that no records have. No private number is shown.
        """
        counts = restored_counts(public["counts"], len(self._counts))
        self._ledger.restore(public["ledger"])
        if not rounds <= self._ledger.rounds + sum(counts) <= rounds * self._width:
            raise damaged("the counts of its open blocks and its ledger do not add up to the rounds that were resolved")
        bounds = None if self._randomizer is not None else [self._grid.steps * count for count in counts]
        self._sums = restored_sums(private["sums"], self._coordinates, bounds, like=self._sums)
        self._memory = restored_memory(private["memory"], self._mechanism.init(self._coordinates))
        self._counts = counts


@final
class ArmVault(Vault):
    """A coordinate is an arm. A record is one reward of the arm that was played or, after a super arm, a reward for each of its arms."""

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise, randomizer: Randomizer | None = None) -> None:
        super().__init__(mechanism, coordinates, noise, randomizer)
        # For 0/1 rewards and nearest rounding the grid step is a product and a round; anything else takes the longer way.
        self._steps = self._grid.steps if self._grid.rounding == "nearest" else None
        self._sums: list[int] = [0] * coordinates
        self._counts = [0] * coordinates

    def check(self, where: int | tuple[int, ...], value: object) -> None:
        arms = self._arms(where)
        if self._randomizer is not None:
            checked_report(value, self._randomizer, self._noise.kind, len(arms))
        elif isinstance(where, tuple):
            checked_rewards(value, len(where), where)
        else:
            checked_reward(value)

    def add(self, where: int | tuple[int, ...], value: object) -> None:
        """One reward in [0, 1] (for a tuple of arms, one each; in the local model, one `Report`) into the open blocks.

        Raises:
            RewardError: not a number in [0, 1]; or a raw value where only a report may come, or the reverse. Nothing was recorded.
            RuntimeError: more arms than the promise pays for, or an arm twice. Nothing was recorded.
        """
        if self._randomizer is not None or isinstance(where, tuple):
            self._add_many(where, value)
            return
        # `checked_reward`, inlined for the common case: this line runs once a round.
        reward = value if type(value) is float and 0.0 <= value <= 1.0 else checked_reward(value)
        self._sums[where] += round(reward * self._steps) if self._steps else on_grid(reward, self._grid, self._noise)
        self._counts[where] += 1

    def _add_many(self, where: int | tuple[int, ...], value: object) -> None:
        arms = self._arms(where)
        if self._randomizer is not None:
            steps = checked_report(value, self._randomizer, self._noise.kind, len(arms))
        else:
            steps = tuple(vector_on_grid(checked_rewards(value, len(arms), arms), self._grid, self._noise).tolist())
        for arm, step in zip(arms, steps, strict=True):
            self._sums[arm] += step
            self._counts[arm] += 1

    def _arms(self, where: int | tuple[int, ...]) -> tuple[int, ...]:
        """The arms one record touches: no more than the promise pays for, whatever an oracle said, and each once."""
        arms = where if isinstance(where, tuple) else (where,)
        if len(arms) > self._width or len(set(arms)) < len(arms):
            raise RuntimeError(
                f"Refused a record of {len(arms)} arms, {len(set(arms))} of them different: the promise pays for {self._width} different "
                "arms. Correct the oracle's `size` or its answers. Nothing was recorded."
            )
        return arms

    def add_block(self, where: int | tuple[int, ...], steps: Any, count: int) -> None:
        arms, sums = self._arms(where), steps.tolist() if isinstance(where, tuple) else (steps,)
        if self._randomizer is None:  # sums of reports may be anything
            check_sums(min(sums), max(sums), count, self._grid)
        for arm, total in zip(arms, sums, strict=True):
            self._sums[arm] += total
            self._counts[arm] += count

    def release(self, coordinates: tuple[int, ...], round: int, told: tuple[tuple[Any, int], ...], drop: tuple[int, ...] = ()) -> Release:
        empty = [c for c in coordinates if self._counts[c] == 0]
        if empty or len(set(coordinates)) < len(coordinates):
            raise RuntimeError(
                f"Refused to release {coordinates}: every reward may be read once, and "
                + (f"coordinates {empty} have no new reward since their last release." if empty else "a coordinate is named twice.")
            )
        answers: tuple[Any, ...] = ()
        if coordinates:
            block = Block(coordinates, tuple(self._sums[c] for c in coordinates), tuple(self._counts[c] for c in coordinates))
            self._memory, answers = self._mechanism.answer(self._memory, block, self._noise)
        for c in coordinates:
            self._ledger.write(c, self._counts[c])
        for c in drop:
            self._ledger.skip(c, self._counts[c])
        for c in (*coordinates, *drop):
            self._sums[c] = self._counts[c] = 0
        return Release(coordinates, answers, round, told)

    def finish(self, round: int, told: tuple[tuple[Any, int], ...]) -> Release:
        coordinates = tuple(range(self._coordinates))
        block = Block(coordinates, tuple(self._sums), tuple(self._counts))
        self._memory, answers = self._mechanism.finish(self._memory, block, self._noise)
        for c in coordinates:
            if self._counts[c]:
                self._ledger.write(c, self._counts[c])
            self._sums[c] = self._counts[c] = 0
        return Release(coordinates, answers, round, told)


@final
class VectorVault(Vault):
    """Full information: a record is a vector with the reward of every action; all are read at once, as coordinate `EVERY`."""

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise) -> None:
        super().__init__(mechanism, coordinates, noise)
        self._sums: NDArray[np.int64] = np.zeros(coordinates, np.int64)
        self._counts = [0]

    def check(self, where: object, value: object) -> None:
        self._checked(value)

    def _checked(self, value: object) -> NDArray[np.float64]:
        return checked_rewards(value, self._coordinates, range(self._coordinates), "action")

    def add(self, where: object, value: object) -> None:
        """One vector of rewards in [0, 1], shape (actions,), whatever was played.

        Raises:
            RewardError: another length, or a coordinate that is no number in [0, 1]. Nothing was recorded.
        """
        self._sums += vector_on_grid(self._checked(value), self._grid, self._noise)
        self._counts[0] += 1

    def add_block(self, where: object, steps: NDArray[np.int64], count: int) -> None:
        check_sums(int(steps.min()), int(steps.max()), count, self._grid)
        self._sums += steps
        self._counts[0] += count

    def release(self, coordinates: tuple[int, ...], round: int, told: tuple[tuple[Any, int], ...], drop: tuple[int, ...] = ()) -> Release:
        if (*coordinates, *drop) not in ((), (EVERY,)) or (coordinates and self._counts[0] == 0):
            raise RuntimeError(
                f"Refused to release {coordinates} and drop {drop}: a record is read whole, as {(EVERY,)}, and once"
                + ("; there is no new one since the last release." if self._counts[0] == 0 else ".")
            )
        answers: tuple[Any, ...] = ()
        if coordinates:
            self._memory, answers = self._mechanism.answer(self._memory, Block(coordinates, self._sums, tuple(self._counts)), self._noise)
            self._ledger.write(EVERY, self._counts[0])
        elif drop:
            self._ledger.skip(EVERY, self._counts[0])
        if coordinates or drop:
            self._sums, self._counts = np.zeros_like(self._sums), [0]
        return Release(coordinates, answers, round, told)


def open_vault(feedback: Feedback, mechanism: Mechanism, coordinates: int, noise: Noise, randomizer: Randomizer | None) -> Vault:
    """The vault for a policy's kind of feedback."""
    if feedback == "full":
        return VectorVault(mechanism, coordinates, noise)
    return ArmVault(mechanism, coordinates, noise, randomizer)
