"""Rewards in the user's own units: a declared range that becomes [0, 1], and back.

The range is declared before the first reward and never derived from data: bounds taken from rewards
would be read from them without noise.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Annotated, Any, final

import numpy as np
from msgspec import Meta

from dpbandits.core.inputs import number, real_number, shown, switch
from dpbandits.core.privacy import LARGEST, read_exactly
from dpbandits.mechanisms.rewards import checked_reward, read_or_none

Exactly = Annotated[str, Meta(pattern=r"^-?[0-9]+(/[0-9]+)?$")]

WIDER = "Declare a wider range, or clip=True, before the first reward."
"""How to correct a reward outside of a range that does not clip."""

RangeData = tuple[Exactly, Exactly, bool, bool]


@final
@dataclass(frozen=True)
class Range:
    """The declared range of rewards, or of costs.

    Unclipped, a value outside is refused and nothing is recorded. Clipped, it enters as the nearer
    bound, so the mean that is learned and reported is that of clipped values: biased towards the
    range, by no less than what lies outside. Choose bounds that hardly any value crosses.

    Args:
        low: the smallest value, kept exactly: 0.1 is one tenth.
        high: the largest value, above low.
        clip: values outside enter as the nearer bound, in place of an error.
        minimise: smaller is better, as for costs: low is worth 1, high 0.

    Raises:
        ValueError: low is not below high, or a bound is no finite number of moderate size.

    >>> revenue = Range(0, 250, clip=True)
    >>> revenue.to_unit(100), revenue.to_unit(400), revenue.from_unit(.4)
    (0.4, 1.0, 100.0)
    >>> minutes = Range(0, 60, minimise=True)
    >>> minutes.to_unit(15), minutes.from_unit(.75)
    (0.75, 15.0)
    """

    low: Any = Fraction(0)
    high: Any = Fraction(1)
    clip: bool = False
    minimise: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            object.__setattr__(self, name, exact_bound(getattr(self, name), name))
        for name in ("clip", "minimise"):
            object.__setattr__(self, name, switch(getattr(self, name), name))
        if self.low >= self.high:
            raise ValueError(
                f"Expected low < high, got low={float(self.low):g} and high={float(self.high):g}; "
                "for costs keep low < high and write minimise=True."
            )
        if not float(self.low) < float(self.high) < float(self.low) + float(LARGEST):
            raise ValueError(
                f"Expected low and high to differ as floats do; {float(self.low):g} is both."
            )

    @cached_property
    def _ends(self) -> tuple[float, float]:
        return float(self.low), float(self.high)

    @property
    def span(self) -> float:
        """high − low: what a difference of 1 between means in [0, 1] is in the user's units."""
        return float(self.high - self.low)

    def to_unit(self, reward: object) -> float:
        """A reward in the user's units as a number in [0, 1].

        Raises:
            RewardError: no number, NaN or infinite, or outside a range that does not clip. The
            error does not show the reward. Nothing was recorded.
        """
        low, high = self._ends
        value = reward if type(reward) is float else read_or_none(number, reward)
        if value is not None and self.clip and math.isfinite(value):
            value = min(high, max(low, value))
        elif value is None or not low <= value <= high:
            value = checked_reward(reward, low, high, cure=WIDER)
        unit = (value - low) / (high - low)
        return 1.0 - unit if self.minimise else unit

    def from_unit(self, mean: float) -> float:
        """A mean in [0, 1] in the user's units. Noise may have put it outside; it stays there."""
        exact = real_number(mean)
        if exact is None:
            raise ValueError(f"Expected mean={shown(mean)} to be a number.")
        low, high = self._ends
        return high - exact * (high - low) if self.minimise else low + exact * (high - low)

    @property
    def words(self) -> str:
        """For a statement.

        >>> Range(0, 250, clip=True).words
        'values from 0 to 250, larger is better, values outside clipped to the nearer bound'
        """
        better = "smaller" if self.minimise else "larger"
        outside = "clipped to the nearer bound" if self.clip else "refused"
        return f"values {self._between}, {better} is better, values outside {outside}"

    @property
    def _between(self) -> str:
        low, high = (f"{end:.15g}" for end in self._ends)
        return f"from {low} to {high}"

    @property
    def caution(self) -> str | None:
        """What has to be said beside every mean of clipped values; None where nothing is clipped.

        It follows from the declared range alone. How much was clipped is private.

        >>> Range(0, 250, clip=True).caution.split(", ")[0]
        'Values outside the range from 0 to 250 enter as its nearer bound'
        """
        if not self.clip:
            return None
        return (
            f"Values outside the range {self._between} enter as its nearer bound, so means are "
            "those of clipped values: the mean of what was told may lie further out, by how much "
            "is not known."
        )

    def to_data(self) -> Any:
        """`RangeData`, as JSON has it."""
        return [str(self.low), str(self.high), self.clip, self.minimise]


def exact_bound(value: object, name: str) -> Fraction:
    """The exact number that a bound stands for."""
    is_number = isinstance(value, (Real, Decimal)) and not isinstance(value, (bool, np.bool_))
    exact = read_exactly(value) if is_number else None
    if exact is None or abs(exact) > LARGEST or 0 < abs(exact) < Fraction(1, LARGEST):
        quoted = ", without quotes" if isinstance(value, str) else ""
        raise ValueError(
            f"Expected {name}={shown(value)} to be a finite number, 0 or between 1e-100 and 1e100 "
            f"in size{quoted}; for example Range(0, 250)."
        )
    return exact


def range_from_data(data: RangeData) -> Range:
    """What `to_data` wrote.

    Raises:
        ValueError, ArithmeticError: it is not that.
    """
    low, high, clip, minimise = data
    return Range(Fraction(low), Fraction(high), clip, minimise)
