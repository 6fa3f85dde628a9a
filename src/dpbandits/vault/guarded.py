"""The vault of single arms with a guardrail: a record is a reward and a harm, read together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import RewardError
from dpbandits.core.ledger import Page
from dpbandits.mechanisms.base import Block, Mechanism
from dpbandits.mechanisms.joint import BOTH
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, vector_on_grid
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contract import Release
from dpbandits.vault.arms import ArmVault
from dpbandits.vault.blocks import ReadRewards


@final
class GuardedVault(ArmVault):
    """A coordinate is an arm, and a sum two numbers: of its rewards, and of their harm. One release
    reads both, in one draw.
    """

    def __init__(self, mechanism: Mechanism, coordinates: int, noise: Noise) -> None:
        super().__init__(mechanism, coordinates, noise)
        self._steps = None
        self._each = BOTH
        self._open = [(self._nothing(), 0, 0) for _ in range(coordinates)]

    def check(self, where: Any, value: object) -> ReadRewards:
        self._arms(where)
        return ReadRewards(self._checked(value))

    def on_grid(self, where: Any, value: object) -> NDArray[np.int64]:
        self._arms(where)
        return vector_on_grid(self._checked(value), self._grid, self._noise)

    def _checked(self, value: Any) -> NDArray[np.float64]:
        """Reward and harm in [0, 1]. The error shows neither."""
        if type(value) is ReadRewards:
            return checked_rewards(value.plain, BOTH)
        pair = type(value) in (list, tuple) or (type(value) is np.ndarray and value.ndim == 1)
        if not pair or len(value) != BOTH:
            raise RewardError(
                "Expected two numbers, the reward and the harm (this session has a guardrail): "
                f"tell(decision, (reward, harm)); got an object of type {type(value).__name__}. "
                "Nothing was recorded."
            )
        reward, harm = value
        return np.array([checked_reward(self._in_units(reward)), checked_reward(harm)])

    def widen(self, coordinates: int) -> None:
        self._open += [(self._nothing(), 0, 0)] * (coordinates - len(self._open))
        super().widen(coordinates)

    def _nothing(self) -> Any:
        return np.zeros(BOTH, np.int64)

    def _close(
        self, coordinates: Sequence[int], memory: Any, page: Page, release: Release
    ) -> Release:
        rewards = tuple(answer.reward for answer in release.answers)
        harm = tuple(answer.harm for answer in release.answers)
        told = release._replace(answers=rewards, harm=harm)
        return super()._close(coordinates, memory, page, told)

    def _block(self, coordinates: Sequence[int]) -> Block:
        blocks = [self._open[c] for c in coordinates]
        sums: Any = tuple(tuple(total.tolist()) for total, _, _ in blocks)
        return Block(tuple(coordinates), sums, tuple(rewards for _, rewards, _ in blocks))

    def _many(self, observe: Sequence[int] | None) -> int:
        return BOTH

    def _as_steps(self, steps: Any) -> Any:
        return np.array(steps, np.int64)

    def _sums(self) -> list[int]:
        return [each for total, _, _ in self._open for each in total.tolist()]

    def _reopen(self, sums: list[int], counts: list[int]) -> None:
        pairs: Any = np.array(sums, np.int64).reshape(-1, BOTH)
        super()._reopen(pairs, counts)
