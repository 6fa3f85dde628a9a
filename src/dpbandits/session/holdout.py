"""Who is decided for by the policy: not holdout people, and of the others so many as the ramp says.

A keyed hash puts each person at a place in [0, 1) that stays theirs for the whole campaign. Nothing
here sees a reward: side and date are public.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any, Literal, NamedTuple, Self, final

from dpbandits.core.inputs import shown
from dpbandits.core.privacy import read_exactly
from dpbandits.session.people import named_bytes

Side = Literal["policy", "holdout", "control"]
"""policy: learned from. holdout: gets the control arm, and only their own mean is learned. control:
gets the control arm until the ramp has come to them, and nothing is learned.
"""

PLACES = 2**64

MOST_STEPS = 1_000
"""Of a ramp: each ask goes through them."""


class RampStep(NamedTuple):
    """From this time on (seconds since 1970) this share of those who are no holdout people."""

    since: float
    share: Fraction


@final
@dataclass(frozen=True)
class HoldoutRule:
    """Which side a person is on.

    holdout: share of people who never meet the policy; 0: none. ramp: in the order of time; none:
    everybody else is the policy's at once. control: the number of the arm that the others get.
    typed: see `named_bytes`.
    """

    holdout: Fraction
    ramp: tuple[RampStep, ...]
    control: int
    typed: bool = False

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that there are, the policy's first."""
        found: tuple[Side, ...] = ("policy",)
        found += ("holdout",) if self.holdout else ()
        return (*found, "control") if self.ramp else found

    def share(self, now: float) -> Fraction:
        """Of those who are no holdout people, the share that the policy decides for at a time."""
        passed = [step.share for step in self.ramp if step.since <= now]
        return passed[-1] if passed else Fraction(0 if self.ramp else 1)

    def side(self, place: Fraction, now: float) -> Side:
        """The side of a person at a place.

        >>> rule = HoldoutRule(Fraction(1, 5), (RampStep(10.0, Fraction(1, 2)),), 0)
        >>> [rule.side(Fraction(place, 10), 10.0) for place in (1, 2, 5, 6)]
        ['holdout', 'policy', 'policy', 'control']
        """
        if place < self.holdout:
            return "holdout"
        others = (place - self.holdout) / (1 - self.holdout)
        return "policy" if others < self.share(now) else "control"

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        ramp = [[step.since, str(step.share)] for step in self.ramp]
        own = {"control": self.control, "typed": self.typed}
        return {"holdout": str(self.holdout), "ramp": ramp, **own}

    @classmethod
    def restored(cls, data: Mapping[str, Any]) -> Self:
        """What `to_data` wrote."""
        ramp = tuple(RampStep(since, Fraction(share)) for since, share in data["ramp"])
        return cls(Fraction(data["holdout"]), ramp, data["control"], data.get("typed", True))


def hashed_place(user: object, key: bytes, typed: bool = False) -> Fraction:
    """A person's place in [0, 1): an HMAC-SHA256 of the name, cut to 64 bits.

    Raises:
        TypeError: no text and no whole number.
    """
    digest = hmac.new(key, named_bytes(user, typed), "sha256").digest()
    return Fraction(int.from_bytes(digest[:8]), PLACES)


def rule_of(holdout: object, ramp: object, control: int) -> HoldoutRule:
    """The rule that these options ask for.

    Args:
        holdout: a share in (0, 1), as a number or its text; None: nobody is held out.
        ramp: pairs of a date and a share in (0, 1], both ascending; None: no ramp.
        control: the number of the control arm.

    Raises:
        ValueError: no share, no date, or not ascending. Nothing was created.
    """
    share = Fraction(0)
    if holdout is not None:
        share = exact_share(holdout)
        if not 0 < share < 1:
            raise ValueError(
                f"Expected holdout={shown(holdout)} to be above 0 and below 1, for example "
                "holdout='.05': the share of people who get the control arm for the whole campaign."
            )
    return HoldoutRule(share, () if ramp is None else ramp_of(ramp), control)


def exact_share(value: object) -> Fraction:
    """The exact share that is meant; 0 for what is no number."""
    try:
        return read_exactly(value)
    except (ValueError, ZeroDivisionError):
        return Fraction(0)


def ramp_of(ramp: object) -> tuple[RampStep, ...]:
    """Dates and shares, as steps.

    Raises:
        ValueError: they are none, or not ascending. Nothing was created.
    """
    pairs = [] if isinstance(ramp, str) or not isinstance(ramp, Iterable) else list(ramp)
    if not pairs or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
        raise ValueError(
            f"Expected ramp={shown(ramp)} to be pairs of a date and a share, such as "
            "[('2026-12-01', '.1'), ('2026-12-08', 1)]."
        )
    if len(pairs) > MOST_STEPS:
        raise ValueError(
            f"Expected ramp= to have at most {MOST_STEPS:,} steps, got {len(pairs):,}."
        )
    steps = tuple(RampStep(time_of(day), exact_share(share)) for day, share in pairs)
    times, shares = [step.since for step in steps], [step.share for step in steps]
    if (
        times != sorted(set(times))
        or shares != sorted(shares)
        or not 0 < shares[0] <= shares[-1] <= 1
    ):
        raise ValueError(
            f"Expected ramp={shown(ramp)} to have later dates one after the other, and shares "
            "above 0 and at most 1 that do not fall, such as [('2026-12-01', '.1'), "
            "('2026-12-08', 1)]: who met the policy stays with it."
        )
    return steps


def time_of(day: object) -> float:
    """A date, or a time, in seconds since 1970. Without a time zone it is in UTC.

    Raises:
        ValueError: it is none.

    >>> time_of("1970-01-02"), time_of("1970-01-01T01:00:00+01:00")
    (86400.0, 0.0)
    """
    try:
        text = day.isoformat() if isinstance(day, date) else day
        found = datetime.fromisoformat(text)  # type: ignore[arg-type]  # anything, and caught
    except (ValueError, TypeError):
        raise ValueError(
            f"Expected a date in ramp=, such as '2026-12-01' or a datetime, got {shown(day)}."
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
