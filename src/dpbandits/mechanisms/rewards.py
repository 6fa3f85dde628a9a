"""Validation of rewards, before other code sees them. Messages never repeat a reward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.errors import RewardError
from dpbandits.core.inputs import number, numbers
from dpbandits.core.privacy import Grid
from dpbandits.noise.protocol import toss

if TYPE_CHECKING:
    from dpbandits.noise.protocol import Noise


FEW = 64
"""Up to this many 0/1 rewards, plain Python is faster than NumPy; half as many for other values."""

ENDS = frozenset({0.0, 1.0})
"""Rewards that rounding does not change."""

IF_MISSING = (
    " If none will come, expire the decision, or leave it out of a batch or stream; else correct "
    "its source."
)

COUNTED = frozenset({float, int, bool})
"""Types of numbers that run no foreign code."""


def checked_reward(
    value: object,
    low: float = 0.0,
    high: float = 1.0,
    what: str = "reward",
    cure: str = "Rescale it.",
) -> float:
    """Return a number in [low, high] as a float. The error does not show it: it is private.

    Args:
        value: the number.
        low, high: the ends of the interval.
        what: what the error calls it.
        cure: how to correct a number outside, for the error.

    Raises:
        RewardError: not a number in [low, high].
    """
    x = read_or_none(number, value)
    if x is None:
        raise RewardError(
            f"Expected a {what} that is a number in [{low:g}, {high:g}], got {no_number(value)} "
            "Nothing was recorded."
        )
    if low <= x <= high:
        return x
    found, remedy = flaw(x, cure)
    raise RewardError(
        f"Expected a {what} in [{low:g}, {high:g}], got {found} (not shown: {what}s are private). "
        f"{remedy} Nothing was recorded."
    )


def no_number(value: object) -> str:
    """Return of which type a value is that is no number, and how to correct a missing one."""
    return f"an object of type {type(value).__name__}.{'' if value is not None else IF_MISSING}"


def flaw(value: float, cure: str = "Rescale it.") -> tuple[str, str]:
    """Return what is wrong with a number outside its interval, and how to correct it, without the
    number.

    Args:
        cure: for one that is finite.
    """
    if value != value:
        return "NaN, a missing value", IF_MISSING.strip()
    if value in (float("inf"), float("-inf")):
        return "an infinite value", "Correct its source."
    return "a value outside it", cure


def scaled_value(value: object, low: float, high: float) -> float:
    """Return a value in [low, high] as a reward in [0, 1]. The error does not show the value.

    Raises:
        RewardError: not a number in [low, high].
    """
    cure = "Give the rule the right low and high."
    return (checked_reward(value, low, high, "value", cure) - low) / (high - low)


def on_grid(reward: float, grid: Grid, noise: Noise) -> int:
    """Return a checked reward in whole grid steps."""
    if grid.rounding == "nearest" or reward == 0.0 or reward == 1.0:
        return round(reward * grid.steps)
    return grid.steps * toss(noise, *reward.as_integer_ratio())


def checked_rewards(
    values: object, length: int, whose: Sequence[int] = (), what: str = "arm"
) -> NDArray[np.float64]:
    """Return `values` as a vector of `length` floats in [0, 1]. The error does not show them.

    Args:
        values: the rewards.
        length: their number.
        whose: arms (or actions, as `what` says) that they belong to, for the error. Without it, the
            error names the position.
        what: "arm" or "action".

    Raises:
        RewardError: not such a vector.
    """
    rewards = read_or_none(numbers, values)
    if rewards is None:
        raise RewardError(
            f"Expected a vector of {length} rewards that are numbers, got another object, or text, "
            "complex or masked entries. Nothing was recorded."
        )
    if rewards.shape != (length,):
        # if it is not a list of numbers (a range, say), its length may be the reward
        other = f"an object of type {type(values).__name__} that is no list of {length} numbers"
        order = " of decision.observe" if whose and what == "arm" else ""
        received = f"shape {rewards.shape}" if is_plain(values) else other
        raise RewardError(
            f"Expected a vector of {length} rewards, one for each {what}{order}, got {received}. "
            "Nothing was recorded."
        )
    inside = (rewards >= 0.0) & (rewards <= 1.0)
    if np.count_nonzero(inside) < length:  # quicker than all()
        at = int(inside.argmin())
        which = f"that of {what} {whose[at]}" if whose else f"entry {at}"
        value, remedy = flaw(float(rewards[at]))
        raise RewardError(
            f"Expected rewards in [0, 1]; {which} is {value} (not shown: rewards are private). "
            f"{remedy} Nothing was recorded."
        )
    return rewards


def reward_parts(values: object) -> tuple[bool, list[Any]]:
    """Return whether these are several rewards, and the rewards as a plain list."""
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim):
        return True, list(values)
    return False, []


def check_sums(least: int, most: int, count: int, grid: Grid) -> None:
    """Refuse sums, between `least` and `most` grid steps, that `count` rewards in [0, 1] cannot
    have.
    """
    if not 0 <= least <= most <= count * grid.steps:
        raise RewardError(
            f"A sum of {count} rewards in [0, 1] lies outside [0, {count}] (not shown). Nothing "
            "was recorded."
        )


def few_on_grid(values: object, length: int, grid: Grid) -> list[int] | None:
    """Return `length` rewards in whole grid steps, if they are a short list of plain numbers that
    no coin rounds.

    Returns:
        The grid steps; None for any other value, which takes the slower path.
    """
    if type(values) is not list or length > FEW:
        return None
    plain, steps = tuple(values), grid.steps  # a copy, so that the checked values are used
    if len(plain) != length or not read_or_none(COUNTED.issuperset, map(type, plain), plain):
        return None  # a user-defined hash may fail
    if ENDS.issuperset(plain):  # the common case: 0/1 rewards
        return [steps if reward else 0 for reward in plain]
    short = grid.rounding == "nearest" and length <= FEW // 2
    if short and all(0.0 <= reward <= 1.0 for reward in plain):
        return [round(reward * steps) for reward in plain]
    return None


def vector_on_grid(rewards: NDArray[np.float64], grid: Grid, noise: Noise) -> NDArray[np.int64]:
    """Return checked rewards in whole grid steps."""
    if grid.rounding == "nearest":
        return np.rint(rewards * grid.steps).astype(np.int64)
    return np.array([on_grid(float(reward), grid, noise) for reward in rewards], np.int64)


T = TypeVar("T")


PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), *np.sctypeDict.values()}) - {
    np.void,
    np.object_,
}
"""Types of values that run no foreign code. Errors while they are read have another cause."""


def read_or_none(read: Callable[[Any], T], value: object, source: object = None) -> T | None:
    """Return `read(value)`; None if it fails. Its error may reveal the reward, so it must not
    become the context of ours.

    Errors of another origin pass: a timeout raised by a signal handler, or a lack of memory.

    Args:
        read: reads the value.
        value: the value.
        source: the object whose code `read` runs, if that is not the value.
    """
    try:
        return read(value)
    except (TypeError, ValueError, ArithmeticError):
        if type(value) is float and source is None:  # every reader accepts a float
            raise
    except Exception:  # raised by foreign code in the reward
        if is_plain(value if source is None else source):
            raise
    return None


def is_plain(value: object) -> bool:
    """Return whether reading this value runs code of Python and NumPy only."""
    if type(value) is np.ndarray:
        return value.dtype.kind not in "OV"
    parts: Any = value if type(value) in (list, tuple, dict) else (value,)
    try:
        return PLAIN.issuperset(map(type, parts))
    except Exception:  # a user-defined hash may fail
        return False
