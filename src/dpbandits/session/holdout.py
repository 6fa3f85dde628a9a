"""Who is decided for by the policy: not holdout people.

A keyed hash puts each person at a place in [0, 1) that stays theirs for the whole campaign. Nothing
here sees a reward: the side is public.
"""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Self, final

from dpbandits.core.inputs import shown
from dpbandits.core.privacy import read_exactly
from dpbandits.session.people import named_bytes

Side = Literal["policy", "holdout"]
"""policy: learned from. holdout: gets the control arm, and only their own mean is learned."""

SIDES: tuple[Side, ...] = ("policy", "holdout")

PLACES = 2**64


@final
@dataclass(frozen=True)
class HoldoutRule:
    """Which side a person is on.

    Args:
        holdout: share of people who never meet the policy.
        control: the number of the arm that they get.
    """

    holdout: Fraction
    control: int

    def side(self, place: Fraction) -> Side:
        """Return the side of a person at a place.

        >>> [HoldoutRule(Fraction(1, 5), 0).side(Fraction(place, 10)) for place in (1, 2, 5)]
        ['holdout', 'policy', 'policy']
        """
        return "holdout" if place < self.holdout else "policy"

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"holdout": str(self.holdout), "control": self.control}

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Self:
        """What `to_data` wrote."""
        return cls(Fraction(data["holdout"]), data["control"])


def hashed_place(user: object, key: bytes) -> Fraction:
    """A person's place in [0, 1): an HMAC-SHA256 of the name, cut to 64 bits.

    Raises:
        TypeError: no text and no whole number.
    """
    digest = hmac.new(key, named_bytes(user), "sha256").digest()
    return Fraction(int.from_bytes(digest[:8]), PLACES)


def rule_of(holdout: object, control: int) -> HoldoutRule:
    """Return the rule that these options ask for.

    Args:
        holdout: a share in (0, 1), as a number or its text.
        control: the number of the control arm.

    Raises:
        ValueError: it is no such share. Nothing was created.
    """
    try:
        share = read_exactly(holdout)
    except (ValueError, ZeroDivisionError):
        share = Fraction(0)
    if not 0 < share < 1:
        raise ValueError(
            f"Expected holdout={shown(holdout)} to be above 0 and below 1, for example "
            "holdout='.05': the share of people who get the control arm for the whole campaign."
        )
    return HoldoutRule(share, control)
