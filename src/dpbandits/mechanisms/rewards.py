"""The checks that a reward must pass before anything else sees it. Messages never repeat the
reward.
"""

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
"""Rewards of 0 or 1 at most, where a call of NumPy takes longer than all of them; half as many of
any.
"""

ENDS = frozenset({0.0, 1.0})
"""Rewards that no rounding moves."""

COUNTED = frozenset({float, int, bool})
"""Types of numbers that bring no code along."""


def checked_reward(value: object) -> float:
    """`value` as a float in [0, 1]. The error does not show the value, which is somebody's
    datum.
    """
    reward = tried(number, value)
    if reward is None:
        raise RewardError(
            "Expected a reward that is a number in [0, 1], got an object of type "
            f"{type(value).__name__}. Nothing was recorded."
        )
    if 0.0 <= reward <= 1.0:
        return reward
    what, cure = flaw(reward)
    raise RewardError(
        f"Expected a reward in [0, 1], got {what} (not shown: rewards are private). {cure} "
        "Nothing was recorded."
    )


def flaw(value: float) -> tuple[str, str]:
    """What is wrong with a number outside its interval, and what to do about it, without showing
    the number.
    """
    if value != value:
        return (
            "NaN, a missing value",
            "Expire the decision if no reward will come, or correct its source.",
        )
    if value in (float("inf"), float("-inf")):
        return "an infinite value", "Correct its source."
    return "a value outside it", "Rescale it."


def scaled_value(value: object, low: float, high: float) -> float:
    """A value in [low, high] as a reward in [0, 1]. The error does not show the value."""
    x = tried(number, value)
    if x is None:
        what = f"an object of type {type(value).__name__}"
        raise RewardError(
            f"Expected a number in [{low:g}, {high:g}], got {what}. Nothing was recorded."
        )
    if low <= x <= high:
        return (x - low) / (high - low)
    missing = (
        "Leave missing values out, or correct their source."
        if x != x
        else "Give the rule the right low and high."
    )
    raise RewardError(
        f"Expected a value in [{low:g}, {high:g}], got {flaw(x)[0]} (not shown: values are "
        f"private). {missing} Nothing was recorded."
    )


def on_grid(reward: float, grid: Grid, noise: Noise) -> int:
    """A checked reward in whole grid steps."""
    if grid.rounding == "nearest" or reward == 0.0 or reward == 1.0:
        return round(reward * grid.steps)
    return grid.steps * toss(noise, *reward.as_integer_ratio())


def checked_rewards(
    values: object, length: int, whose: Sequence[int] = (), what: str = "arm"
) -> NDArray[np.float64]:
    """`values` as a vector of `length` floats in [0, 1]. The error shows none of them.

    whose: the arms (or actions, as `what` calls them) that they belong to, for the error; without
        it, the error names the place in the vector.
    """
    rewards = tried(numbers, values)
    if rewards is None:
        raise RewardError(
            f"Expected a vector of {length} rewards that are numbers, got an object that is "
            "none, or with text, complex or masked entries. "
            "Nothing was recorded."
        )
    if rewards.shape != (length,):
        # of what is no list of numbers (a range, say), the length may be the reward
        other = f"an object of type {type(values).__name__} that is no list of so many numbers"
        order = " of decision.observe" if whose and what == "arm" else ""
        came = f"shape {rewards.shape}" if is_plain(values) else other
        raise RewardError(
            f"Expected a vector of {length} rewards, one for each {what}{order}, got {came}. "
            "Nothing was recorded."
        )
    inside = (rewards >= 0.0) & (rewards <= 1.0)
    if np.count_nonzero(inside) < length:  # quicker than all()
        at = int(inside.argmin())
        which = f"that of {what} {whose[at]}" if whose else f"entry {at}"
        value, cure = flaw(float(rewards[at]))
        raise RewardError(
            f"Expected rewards in [0, 1]; {which} is {value} (not shown: rewards are private). "
            f"{cure} Nothing was recorded."
        )
    return rewards


def reward_parts(values: object) -> tuple[bool, list[Any]]:
    """Whether these are several rewards, and which, in a list that brings no code along."""
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim):
        return True, list(values)
    return False, []


def check_sums(least: int, most: int, count: int, grid: Grid) -> None:
    """Refuse sums of `count` rewards, between `least` and `most` grid steps, that rewards in [0, 1]
    cannot have.
    """
    if not 0 <= least <= most <= count * grid.steps:
        raise RewardError(
            f"A sum of {count} rewards in [0, 1] lies outside [0, {count}] (not shown). Nothing "
            "was recorded."
        )


def few_on_grid(values: object, length: int, grid: Grid) -> list[int] | None:
    """So many rewards in [0, 1] in whole grid steps, of a short list of plain numbers that no coin
    rounds. None for anything else, which is looked at closer.
    """
    if type(values) is not list or length > FEW:
        return None
    plain, steps = tuple(values), grid.steps  # a copy: what was checked is what is used
    if len(plain) != length or not tried(COUNTED.issuperset, map(type, plain), plain):
        return None  # a class may have a hash of its own, which fails
    if ENDS.issuperset(plain):  # the common case: who clicked, who was cured
        return [steps if reward else 0 for reward in plain]
    short = grid.rounding == "nearest" and length <= FEW // 2
    if short and all(0.0 <= reward <= 1.0 for reward in plain):
        return [round(reward * steps) for reward in plain]
    return None


def vector_on_grid(rewards: NDArray[np.float64], grid: Grid, noise: Noise) -> NDArray[np.int64]:
    """Checked rewards in whole grid steps."""
    if grid.rounding == "nearest":
        return np.rint(rewards * grid.steps).astype(np.int64)
    return np.array([on_grid(float(reward), grid, noise) for reward in rewards], np.int64)


T = TypeVar("T")


PLAIN = frozenset({float, int, bool, complex, str, bytes, type(None), *np.sctypeDict.values()}) - {
    np.void,
    np.object_,
}
"""The types of values that bring no code along: errors raised while they are read come from
elsewhere.
"""


def tried(read: Callable[[Any], T], value: object, source: object = None) -> T | None:
    """The result of `read` for `value`; None if it fails. Its error may reveal the reward, so it
    must not become the context of ours.

    An error that can only come from elsewhere passes: a timeout raised by a signal handler, or a
    lack of memory.

    source: the object whose code `read` runs, if that is not the value.
    """
    try:
        return read(value)
    except (TypeError, ValueError, ArithmeticError):
        if type(value) is float and source is None:  # which every reader can read
            raise
    except Exception:  # whatever code a reward brings along
        if is_plain(value if source is None else source):
            raise
    return None


def is_plain(value: object) -> bool:
    """Whether only code of Python and numpy runs when this value is read."""
    if type(value) is np.ndarray:
        return value.dtype.kind not in "OV"
    parts: Any = value if type(value) in (list, tuple, dict) else (value,)
    try:
        return PLAIN.issuperset(map(type, parts))
    except Exception:  # a class may have a hash of its own, which fails
        return False
