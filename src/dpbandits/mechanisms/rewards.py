"""The checks a reward passes before anything else sees it. Messages never repeat the reward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpbandits.privacy import Grid

if TYPE_CHECKING:
    from dpbandits.noise import Noise


class RewardError(ValueError):
    """A reward that is no number in [0, 1]. Nothing was recorded."""


def checked_reward(value: object) -> float:
    """`value` as a float in [0, 1]; a clear error otherwise, which does not show the value (it is somebody's datum)."""
    try:
        reward = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise RewardError(
            f"Expected a reward that is a number in [0, 1], got an object of type {type(value).__name__}. Nothing was recorded."
        ) from None
    if 0.0 <= reward <= 1.0:
        return reward
    what = "NaN" if reward != reward else "an infinite value" if reward in (float("inf"), float("-inf")) else "a value outside it"
    raise RewardError(f"Expected a reward in [0, 1], got {what} (not shown: rewards are private). Rescale it. Nothing was recorded.")


def scaled_value(value: object, low: float, high: float) -> float:
    """A value in [low, high] as a reward in [0, 1]; a clear error otherwise, which does not show the value."""
    try:
        x = float(value)  # type: ignore[arg-type]  # whatever came: what is no number is named below
    except (TypeError, ValueError, OverflowError):
        what = f"an object of type {type(value).__name__}"
        raise RewardError(f"Expected a number in [{low:g}, {high:g}], got {what}. Nothing was recorded.") from None
    if low <= x <= high:
        return (x - low) / (high - low)
    what = "NaN" if x != x else "an infinite value" if x in (float("inf"), float("-inf")) else "a value outside it"
    raise RewardError(
        f"Expected a value in [{low:g}, {high:g}], got {what} (not shown: values are private). "
        "Give the rule the right low and high. Nothing was recorded."
    )


def on_grid(reward: float, grid: Grid, noise: Noise) -> int:
    """A checked reward in whole grid steps."""
    if grid.rounding == "nearest" or reward == 0.0 or reward == 1.0:
        return round(reward * grid.steps)
    return grid.steps * (noise.uniform() < reward)


def checked_rewards(values: object, length: int) -> NDArray[np.float64]:
    """`values` as a vector of `length` floats in [0, 1]; a clear error otherwise, which shows none of them."""
    try:
        rewards = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RewardError(f"Expected a vector of {length} rewards, got an object that is none. Nothing was recorded.") from None
    if rewards.shape != (length,):
        raise RewardError(f"Expected a vector of {length} rewards, one an action, got shape {rewards.shape}. Nothing was recorded.")
    inside = (rewards >= 0.0) & (rewards <= 1.0)
    if not inside.all():
        at = int(inside.argmin())
        what = "NaN" if np.isnan(rewards[at]) else "an infinite value" if np.isinf(rewards[at]) else "a value outside it"
        raise RewardError(
            f"Expected rewards in [0, 1]; that of action {at} is {what} (not shown: rewards are private). Rescale it. Nothing was recorded."
        )
    return rewards


def check_sums(least: int, most: int, count: int, grid: Grid) -> None:
    """Refuse sums of `count` rewards, between `least` and `most` grid steps, that rewards in [0, 1] cannot have."""
    if not 0 <= least <= most <= count * grid.steps:
        raise RewardError(f"A sum of {count} rewards in [0, 1] lies outside [0, {count}] (not shown). Nothing was recorded.")


def vector_on_grid(rewards: NDArray[np.float64], grid: Grid, noise: Noise) -> NDArray[np.int64]:
    """Checked rewards in whole grid steps."""
    if grid.rounding == "nearest":
        return np.rint(rewards * grid.steps).astype(np.int64)
    return np.array([on_grid(float(reward), grid, noise) for reward in rewards], np.int64)
