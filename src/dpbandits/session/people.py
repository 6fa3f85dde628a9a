"""People who come back: how often each of them is learned from, and what they pay in all.

A person's place is taken when a decision is requested, before anything is known of the answer. So
who is learned from depends on public events only: a person's first rounds, in the order they came.
Nothing here sees a reward, and no name is kept: a pseudonym is an HMAC-SHA256 of the name, cut to
128 bits, whose key stays outside of what is saved.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from numbers import Integral
from typing import Annotated, Any, Literal, Self, final
from uuid import UUID

from msgspec import Meta, Struct

from dpbandits.core.errors import coded
from dpbandits.core.inputs import (
    Count,
    Finite,
    Number,
    Seconds,
    as_int,
    checked_key,
    is_blank,
    normalised,
    shown,
    whole_number,
)
from dpbandits.core.privacy import Guarantee, as_fraction, read_exactly
from dpbandits.policies.contract import Policy
from dpbandits.session.times import Clock, SteadyClock, length_words

LONGEST_NAME = 1_000
"""Characters by which a person is named."""

LONGEST_NUMBER = 256
"""Bits of a number by which a person is named."""


def named_bytes(user: object) -> bytes:
    """A person's name or number, to be hashed: a text, a UUID or a whole number
    (`numbers.Integral`), but no boolean. 1 and "1" are one person: a table's column of whole
    numbers comes back from a file, or over HTTP, as text. So are two spellings of one text, with an
    accent within its letter or after it (see `normalised`). Nothing else is made equal: neither
    capitals nor spaces.

    Raises:
        TypeError: no text and no whole number.
        ValueError: a text in which nothing can be seen.
    """
    # what it says of itself does not count: a subclass may say something else each time
    if isinstance(user, UUID):
        user = str(UUID(int=user.int))
    # not all that has an index is a number: a flag of another library has one
    number = as_int(user) if isinstance(user, Integral) else None
    plain = str.__str__(user) if isinstance(user, str) else number
    length = len(plain) if isinstance(plain, str) else abs(plain or 0).bit_length()
    if plain is None or length > (LONGEST_NAME if isinstance(plain, str) else LONGEST_NUMBER):
        raise coded(
            "user",
            TypeError,
            "Expected user= to be a person's own name or number (text or a whole number), got "
            f"an object of type {type(user).__name__}. No decision was made.",
        )
    if isinstance(plain, str) and is_blank(plain):
        raise coded(
            "user_empty",
            ValueError,
            "Expected user= to be a person's own name or number, got a text that is empty or has "
            "nothing to be seen: all who have no name would be one person. Nothing was done.",
        )
    return f"str:{normalised(str(plain))}".encode(errors="surrogatepass")


MOST_CONTRIBUTIONS = 10**6

NOT_LEARNED = (
    "The database was restored, or the campaign was fenced: who was learned from in what was lost "
    "is not known, so nobody is learned from any more, and decisions go on as they are. Close this "
    "campaign, and begin another one; whoever comes to both has the ε of both."
)
"""The advice of the alarm "restored"."""

Place = tuple[str, int]
"""A contribution that a decision uses: whose it is, and in which window."""


def key_fingerprint(key: bytes) -> str:
    """Tells whether a key is the same."""
    return hmac.new(key, b"key", "sha256").hexdigest()[:32]


@final
class Register:
    """Contributions used, by pseudonym.

    cap: learned rounds of one person, in all or in each window. window: seconds; None: for ever.
    used: by pseudonym, the window and the contributions used in it.
    complete: whether that is everybody; a store loads those people only whom a call is about.
    kept: by pseudonym, the arm that a person keeps (see `Roster.mark`); None: nobody keeps one.
    has_ended: whether nobody is learned from any more: a restored database does not know who was.
    """

    def __init__(
        self,
        cap: int,
        *,
        window: float | None,
        clock: Clock | None,
        key: bytes | None,
        sticky: bool = False,
    ) -> None:
        self.cap, self.window = cap, window
        self.has_random_key = key is None
        self._key, self.clock = key or secrets.token_bytes(32), SteadyClock(clock)
        self.used: dict[str, tuple[int, int]] = {}
        self.kept: dict[str, int] | None = {} if sticky else None
        self.complete = True
        self.has_ended = False

    def pseudonym(self, user: object) -> str:
        """What a person is called here.

        Raises:
            TypeError: no text and no whole number.
        """
        return hmac.new(self._key, named_bytes(user), "sha256").hexdigest()[:32]

    def window_number(self) -> int:
        """The number of the window that is open. Changes nothing."""
        return 0 if self.window is None else int(self.clock.now() // self.window)

    def advance(self) -> int:
        """Remember the time of a window that people are learned from in, and return its number."""
        return 0 if self.window is None else int(self.clock.advance() // self.window)

    def advance_clock(self, latest: float) -> None:
        """Another register of the same people has seen this time."""
        if self.window is not None:
            self.clock.latest = max(self.clock.latest, latest)

    def use_up(self, who: str) -> None:
        """Nobody learns from a person any more in the window that is open."""
        self.used[who] = self.advance(), self.cap

    def end(self) -> None:
        """Note that a restored database does not know who was learned from in the open window.
        Unless there is a next one, nobody is learned from any more.
        """
        self.has_ended = self.window is None

    def taken(self, who: str, number: int) -> int:
        """Return the contributions that a person has used in the window of this number; all of them
        in a window that has passed.
        """
        window, taken = self.used.get(who, (number, 0))
        if window > number:
            return self.cap
        return taken if window == number else 0

    @property
    def people(self) -> int | None:
        """How many people have learned rounds so far. Who takes part is public. None where a store
        keeps them apart.

        Whose only round was made void has none. With windows such a person may have had others
        before, and is counted.
        """
        if not self.complete:
            return None
        return sum(taken > 0 or window > 0 for window, taken in self.used.values())

    @property
    def in_window(self) -> int | None:
        """How many people were learned from in the window that is open; None without windows, or
        where a store keeps them apart.
        """
        if not self.complete or self.span is None:
            return None
        now = self.window_number()
        return sum(window == now and taken > 0 for window, taken in self.used.values())

    @property
    def span(self) -> str | None:
        """How long a window is, in words; None: one cap for ever."""
        if self.window is None:
            return None
        return length_words(self.window)

    @property
    def words(self) -> str:
        """For a guarantee.

        >>> Register(3, window=None, clock=None, key=None).words
        'all rewards replaced, at most 3 learned rounds'
        """
        rounds = "1 learned round" if self.cap == 1 else f"{self.cap} learned rounds"
        if self.span is None:
            return f"all rewards replaced, at most {rounds}"
        return f"all rewards of one window of {self.span} replaced, at most {rounds} in it"

    @property
    def caution(self) -> str | None:
        """What has to be said beside names and intervals; None where a person counts once.

        >>> Register(1, window=None, clock=None, key=None).caution
        """
        if self.cap == 1 and self.window is None:
            return None
        return (
            "Outcomes of one person may count repeatedly, as if they were of different people: "
            "where they resemble each other, a name and intervals have less confidence than stated."
        )

    def to_data(self, owners: Mapping[int, Place]) -> RegisterData:
        """Plain data, for JSON: pseudonyms, no names and no key. Who keeps which arm is private."""
        return RegisterData(
            cap=self.cap,
            window=self.window,
            latest=self.clock.latest,
            used=[(who, *taken) for who, taken in self.used.items()],
            owners=[(id, *place) for id, place in owners.items()],
            key=key_fingerprint(self._key),
            sticky=self.kept is not None,
        )

    @classmethod
    def restored(cls, fields: RegisterData, clock: Clock | None, key: bytes | None) -> Self:
        """What `to_data` wrote, with the key it was kept under.

        Raises:
            ValueError: no key, or another one.
        """
        register = cls(
            fields.cap,
            window=fields.window,
            clock=clock,
            key=checked_key(key, "user_key"),
            sticky=fields.sticky,
        )
        if key is None or fields.key != key_fingerprint(register._key):
            raise ValueError(
                "Expected the user_key= that this session was made with: its people are known by "
                "pseudonyms made with it, and with another key everybody would be new."
            )
        register.clock.latest = fields.latest
        register.used = {who: (window, taken) for who, window, taken in fields.used}
        return register


Pseudonym = Annotated[str, Meta(min_length=32, max_length=32)]
WindowNumber = Annotated[int, Meta(ge=-(2**53), le=2**53)]


class RegisterData(Struct):
    """`Register`, of a saved session. key: its fingerprint."""

    cap: Annotated[int, Meta(ge=1, le=MOST_CONTRIBUTIONS)]
    window: Seconds | None
    latest: Finite
    used: list[tuple[Pseudonym, WindowNumber, Count]]
    owners: list[tuple[Number, Pseudonym, WindowNumber]]
    key: str
    sticky: bool = False


def register_of(
    privacy_unit: object,
    max_contributions: object,
    window: object,
    clock: Clock | None,
    key: object,
    sticky: object,
) -> Register | None:
    """The register that these options ask for; None where rounds are the unit.

    Raises:
        ValueError: options that contradict each other, or one that is out of its range.
    """
    if privacy_unit not in ("round", "user"):
        raise ValueError(
            f"Expected privacy_unit={shown(privacy_unit)} to be 'round' (each reward is another "
            "person's) or 'user' (people come back)."
        )
    if not isinstance(sticky, bool):
        raise TypeError(f"Expected sticky={shown(sticky)} to be True or False.")
    if privacy_unit == "round":
        given = {
            "max_contributions": max_contributions,
            "window": window,
            "user_key": key,
            "sticky": sticky or None,
        }
        named = [name for name, value in given.items() if value is not None]
        if named:
            raise ValueError(
                f"{named[0]}= is about people who come back: privacy_unit='user', too."
            )
        return None
    if max_contributions is None:
        raise ValueError(
            "Expected max_contributions=, the most rounds in which one person is learned from, for "
            "example max_contributions=3: each of them gets that share of epsilon."
        )
    cap = whole_number(max_contributions, "max_contributions", 1, MOST_CONTRIBUTIONS)
    if window is not None and (not isinstance(window, timedelta) or window <= timedelta(0)):
        raise ValueError(
            f"Expected window={shown(window)} to be a datetime.timedelta above 0, for example "
            "timedelta(days=7); None: one cap for ever."
        )
    span = None if window is None else window.total_seconds()
    if sticky and key is None:
        raise ValueError(
            "Expected user_key=secrets.token_bytes(32), too: sticky= remembers for each person "
            "which arm they got, under a pseudonym that is made with this key."
        )
    return Register(cap, window=span, clock=clock, key=checked_key(key, "user_key"), sticky=sticky)


def policy_for_users(policy: Policy, cap: int) -> Policy:
    """The policy at the budget of one of a user's learned rounds: k of them cost k times as much
    (k² times under zCDP).

    cap: k, the most rounds in which one user is learned from.

    Raises:
        ValueError: it has no budget, or the smaller one is too small for its grid.
    """
    budget = getattr(policy, "rho", None)
    if budget is not None:
        return policy.at(as_fraction(budget, "rho") / cap**2)
    if not hasattr(policy, "epsilon"):
        raise ValueError(
            f"{policy.name} is not private: privacy_unit='user' is for policies with a budget."
        )
    return policy.at(as_fraction(policy.epsilon, "epsilon") / cap)


def per_user(guarantee: Guarantee, people: Register) -> Guarantee:
    """What a guarantee for one round's reward is for all learned rounds of one user."""
    k = people.cap
    return replace(
        guarantee,
        epsilon=None if guarantee.epsilon is None else guarantee.epsilon * k,
        rho=None if guarantee.rho is None else guarantee.rho * k**2,
        zero_out=None if guarantee.zero_out is None else guarantee.zero_out * k,
        claimed=None,
        unit="user",
        people=people.words,
        public=(*guarantee.public, "who takes part"),
    )


# Who is decided for by the policy: not holdout people.
#
# A keyed hash puts each person at a place in [0, 1) that stays theirs for the whole campaign.
# Nothing here sees a reward: the side is public.


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
    share = read_exactly(holdout)
    if share is None or not 0 < share < 1:
        raise ValueError(
            f"Expected holdout={shown(holdout)} to be above 0 and below 1, for example "
            "holdout='.05': the share of people who get the control arm for the whole campaign."
        )
    return HoldoutRule(share, control)
