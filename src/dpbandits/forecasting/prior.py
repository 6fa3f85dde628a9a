"""What the arms' rates may be, before anything is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from dpbandits.core.inputs import MOST_ARMS, Floats, real_number, shown, whole_number
from dpbandits.session.ranges import Range

RateSpan = int | float | tuple[float, float]
"""A number, or a range: each draw is uniform in it."""

RATES = 2
"""Sets the stream of a draw's rates apart from the streams of its run."""


@final
@dataclass(frozen=True)
class Prior:
    """What is said of rates in a sentence: base 3 %, the best +20 %, 4 arms. One arm has the base
    rate, one is the best, the others lie anywhere between. In each draw the arms come in a random
    order.

    Args:
        base: the rate of the arm in use today, a number or a range (low, high).
        best: by how much the best arm is better, relative to base: .2 is +20 %. A number or a
            range.
        arms: how many there are, the base and the best included.

    Raises:
        ValueError: a number out of its range, or a best rate that may exceed the largest reward.

    >>> Prior(base=.03, best=.2, arms=4).draw(np.random.default_rng(1)).max().round(6)
    np.float64(0.036)
    """

    base: RateSpan
    best: RateSpan
    arms: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", checked_span(self.base, "base"))
        object.__setattr__(self, "best", checked_span(self.best, "best"))
        object.__setattr__(self, "arms", whole_number(self.arms, "arms", 2, MOST_ARMS))
        if span_ends(self.best)[0] < 0:
            raise ValueError(f"Expected best={shown(self.best)} to be at least 0: .2 is +20 %.")

    def draw(self, rng: np.random.Generator) -> Floats:
        """Rates of all arms, shape (arms,)."""
        base = rng.uniform(*span_ends(self.base))
        best = base * (1.0 + rng.uniform(*span_ends(self.best)))
        others = rng.uniform(base, best, self.arms - 2)
        rates: Floats = rng.permutation(np.array([base, best, *others]))
        return rates


@dataclass(frozen=True)
class EachRate:
    """A number or a range for each arm. steady: no range among them."""

    spans: tuple[RateSpan, ...]

    @property
    def arms(self) -> int:
        return len(self.spans)

    @property
    def steady(self) -> bool:
        return not any(isinstance(span, tuple) for span in self.spans)

    def draw(self, rng: np.random.Generator) -> Floats:
        return np.array([rng.uniform(*span_ends(span)) for span in self.spans])


def rates_given(rates: Prior | Sequence[RateSpan]) -> Prior | EachRate:
    """What a caller says of the rates.

    Raises:
        ValueError: neither a prior nor a number or a range for each of two arms or more.
    """
    if isinstance(rates, Prior):
        return rates
    if not isinstance(rates, (list, tuple, np.ndarray)) or len(rates) < 2:
        raise ValueError(
            f"Expected rates={shown(rates)} to be a list with a number or a (low, high) for each "
            "of two arms or more, or dpb.Prior(base=.03, best=.2, arms=4)."
        )
    return EachRate(tuple(checked_span(rate, "rates") for rate in rates))


def drawn_means(prior: Prior | EachRate, ruler: Range, draws: int, seed: int) -> Floats:
    """The arms' means in [0, 1], a row a draw: shape (draws, arms). Draw d depends on (seed, d)
    only.

    Raises:
        ValueError: a rate outside the range of rewards.
    """
    rates = np.stack(
        [prior.draw(np.random.default_rng([seed, draw, RATES])) for draw in range(draws)]
    )
    low, high = float(ruler.low), float(ruler.high)
    if not ((rates >= low) & (rates <= high)).all():
        raise ValueError(
            f"Expected every rate to lie in [{low:g}, {high:g}], the range of rewards; one of "
            f"{float(rates[(rates < low) | (rates > high)][0]):.4g} was drawn (3 % is .03). "
            "Give other rates, or rewards=dpb.Range(low, high)."
        )
    means = (rates - low) / (high - low)
    return np.asarray(1.0 - means if ruler.minimise else means)


def span_ends(span: Any) -> tuple[float, float]:
    """The low and the high end."""
    return span if isinstance(span, tuple) else (float(span), float(span))


def checked_span(value: object, name: str) -> RateSpan:
    """A number, or a range of them."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        low, high = real_number(value[0]), real_number(value[1])
        if low is not None and high is not None and abs(low) + abs(high) < 1e100 and low <= high:
            return float(low), float(high)
    else:
        single = real_number(value)
        if single is not None and abs(single) < 1e100:
            return float(single)
    raise ValueError(
        f"Expected {name}={shown(value)} to be a number, or a range (low, high) with low <= high."
    )
