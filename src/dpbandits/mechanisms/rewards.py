"""The checks a reward passes before anything else sees it. Messages never repeat the reward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpbandits.privacy import Grid

if TYPE_CHECKING:
    from dpbandits.noise import Noise


class RewardError(ValueError):
    """A reward that is no number in [0, 1]. Nothing was recorded."""


def number(value: object) -> float:
    """A number of any kind as a float. Text that spells one, complex numbers and masked entries are none, though float() reads them.

    Raises:
        TypeError: no number.
        ValueError: a number's own conversion failed; OverflowError: it is too large for a float.
    """
    plain = value
    if isinstance(value, (np.ndarray, np.generic)):
        if value.ndim or value.dtype.kind not in "biufO" or isinstance(value, np.ma.MaskedArray):
            raise TypeError
        plain = value.item()
    if not (hasattr(type(plain), "__float__") or hasattr(type(plain), "__index__")):
        raise TypeError
    return float(plain)  # type: ignore[arg-type]  # it has what float() asks for: two lines above


def checked_reward(value: object) -> float:
    """`value` as a float in [0, 1]; a clear error otherwise, which does not show the value (it is somebody's datum)."""
    try:
        reward = number(value)
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
        x = number(value)
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


def checked_rewards(values: object, length: int, whose: Sequence[int] = (), what: str = "arm") -> NDArray[np.float64]:
    """`values` as a vector of `length` floats in [0, 1]; a clear error otherwise, which shows none of them.

    whose: the arms (or actions, as `what` calls them) they belong to, for the error; unknown, it names the place in the vector.
    """
    try:
        rewards = numbers(values)
    except (TypeError, ValueError, OverflowError):
        raise RewardError(
            f"Expected a vector of {length} rewards that are numbers, got an object that is none, or with text, complex or masked entries. "
            "Nothing was recorded."
        ) from None
    if rewards.shape != (length,):
        raise RewardError(f"Expected a vector of {length} rewards, one an action, got shape {rewards.shape}. Nothing was recorded.")
    inside = (rewards >= 0.0) & (rewards <= 1.0)
    if not inside.all():
        at = int(inside.argmin())
        which = f"that of {what} {whose[at]}" if whose else f"entry {at}"
        value = "NaN" if np.isnan(rewards[at]) else "an infinite value" if np.isinf(rewards[at]) else "a value outside it"
        raise RewardError(
            f"Expected rewards in [0, 1]; {which} is {value} (not shown: rewards are private). Rescale it. Nothing was recorded."
        )
    return rewards


def numbers(values: object) -> NDArray[np.float64]:
    """An array of floats from numbers of any kind, each read as `number` reads it.

    Raises:
        TypeError, ValueError, OverflowError: something in it is no number.
    """
    listed = values if isinstance(values, (list, tuple)) else (values,)
    if any(isinstance(v, np.ma.MaskedArray) for v in listed):
        raise TypeError
    array = np.asarray(values)
    if array.dtype.kind == "O":
        return np.array([number(v) for v in array.ravel()], np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError
    return np.asarray(array, np.float64)


def check_sums(least: int, most: int, count: int, grid: Grid) -> None:
    """Refuse sums of `count` rewards, between `least` and `most` grid steps, that rewards in [0, 1] cannot have."""
    if not 0 <= least <= most <= count * grid.steps:
        raise RewardError(f"A sum of {count} rewards in [0, 1] lies outside [0, {count}] (not shown). Nothing was recorded.")


def vector_on_grid(rewards: NDArray[np.float64], grid: Grid, noise: Noise) -> NDArray[np.int64]:
    """Checked rewards in whole grid steps."""
    if grid.rounding == "nearest":
        return np.rint(rewards * grid.steps).astype(np.int64)
    return np.array([on_grid(float(reward), grid, noise) for reward in rewards], np.int64)
