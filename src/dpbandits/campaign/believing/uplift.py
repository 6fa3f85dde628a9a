"""What a policy's people have over holdout people, from released values only: it costs no privacy.
Proof: proofs/campaigns.md.
"""

import math
from typing import NamedTuple

from dpbandits.campaign.believing.beliefs import Beliefs


class SideMean(NamedTuple):
    """The mean of one side, in the user's units. None where nothing was released yet.

    people: how many rewards the released mean covers. low, high: the interval.
    """

    side: str
    people: int
    mean: float | None = None
    low: float | None = None
    high: float | None = None


class Uplift(NamedTuple):
    """A policy's side, all arms together, against holdout people.

    mean, low, high: of the policy's mean less the holdout people's, in the user's units; None until
        something was released of both. All three intervals hold at all times at once with this
        confidence.
    """

    confidence: float
    policy: SideMean
    holdout: SideMean
    mean: float | None = None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        return "\n".join(map(words_of_side, (self.policy, self.holdout))) + f"\n{self.advice}"

    @property
    def advice(self) -> str:
        """What the difference allows to say."""
        at = f"at {self.confidence:.4g}".replace("at 0.", "at .")
        if self.mean is None or self.low is None or self.high is None:
            return "Nothing was released of both sides yet."
        said = f"{self.mean:+.4g}, from {self.low:+.4g} to {self.high:+.4g}"
        if self.low <= 0 <= self.high:
            return f"Policy less holdout: {said}; no difference is known {at} confidence yet."
        more = "higher" if self.low > 0 else "lower"
        return f"Policy less holdout: {said}; the policy's mean is {more} {at} confidence."


def uplift_of(policy: Beliefs, holdout: Beliefs, confidence: float) -> Uplift:
    """The two sides, and their difference.

    policy, holdout: what is believed on each side, at half of the failure probability each.
    """
    one, other = together("policy", policy), together("holdout", holdout)
    mean, low, high = (
        None if left is None or right is None else left - right
        for left, right in ((one.mean, other.mean), (one.low, other.high), (one.high, other.low))
    )
    return Uplift(confidence, one, other, mean, low, high)


def together(side: str, rows: Beliefs) -> SideMean:
    """The mean of all people of whom something was released, whichever arm they got; its interval
    is that of the arms, by their people: a sum of bounds that hold together.

    >>> from dpbandits.campaign.believing.beliefs import Belief
    >>> rows = (Belief("a", 30, 0.6, 0.5, 0.7, None), Belief("b", 10, 0.2, 0.0, 0.5, None))
    >>> together("policy", Beliefs(rows, 0.95, None, None))
    SideMean(side='policy', people=40, mean=0.5, low=0.375, high=0.65)
    """
    seen = [row for row in rows if row.people and row.mean is not None]
    people = sum(row.people for row in seen)
    if not people:
        return SideMean(side, 0)

    def mean_of(name: str) -> float:
        return math.fsum(row.people * getattr(row, name) for row in seen) / people

    return SideMean(side, people, mean_of("mean"), mean_of("low"), mean_of("high"))


def words_of_side(row: SideMean) -> str:
    if row.mean is None:
        return f"{row.side}: nothing was released yet"
    return (
        f"{row.side}: {row.mean:.4g}, from {row.low:.4g} to {row.high:.4g} ({row.people:,} people)"
    )
