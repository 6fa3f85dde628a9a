"""Periods: stretches of time in which the shares of all arms stand still, at whose ends all open
blocks are released, so that arms are compared with each other at the same times.

When a period ends depends on the clock alone, so it is public. Nothing here sees a reward.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, NamedTuple, Self, final

from msgspec import Meta

from dpbandits.core.inputs import MOST, damaged, shown
from dpbandits.policies.base import StatisticsPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.identification import Identifier
from dpbandits.session.arms import Assignment
from dpbandits.session.people import EARLIEST, Clock, seconds_of

MOST_LAWS = 8
"""Shares that are remembered: an answer to a decision from before is not compared."""

MOST_COMPARED = 30
"""Arms of a session with periods: each pair of them is compared."""

PREFERRED = "dpbandits.DPRateIMED, DPKLUCB and DPIMED"


class Law(NamedTuple):
    """The shares of all arms, by their numbers, from decision `since` on."""

    since: int
    shares: tuple[float, ...]


class EndedPeriod(NamedTuple):
    """How arms were drawn in a period that has ended.

    Args:
        shares: by arm; empty if that is not known, or there was no record.
        mixed: arms that have records which were drawn otherwise.
    """

    shares: tuple[float, ...]
    mixed: tuple[int, ...] = ()


class OpenPeriod(NamedTuple):
    """The period that is under way. Public.

    Args:
        number: of the period whose blocks are open.
        fixed_in: the period for which shares were fixed last; −1: none yet.
        planned: the arm that gets then what least shares leave; None: all alike.
        laws: shares, oldest first.
        law: since when the law stands by which the records in open blocks were drawn; 0: there are
            none, or nobody knows.
        mixed: arms with records in this period that were drawn by another law.
    """

    number: int = 0
    fixed_in: int = -1
    planned: int | None = None
    laws: tuple[Law, ...] = ()
    law: int = 0
    mixed: tuple[int, ...] = ()

    def law_of(self, id: int) -> int:
        """Return since when the law stands by which a decision was drawn; 0 if it is forgotten."""
        at = bisect_right(self.laws, id, key=lambda law: law.since)
        return self.laws[at - 1].since if at else 0

    def recorded(self, id: int, arm: int) -> Self:
        """Return the period with one more record. id: of its decision."""
        law = self.law_of(id)
        if law == self.law != 0 or arm in self.mixed:
            return self
        if self.law == 0 != law:
            return self._replace(law=law)
        return self._replace(mixed=(*self.mixed, arm))

    def incomparable(self, arms: int) -> Self:
        """Return the period in which no arms are compared."""
        return self._replace(mixed=tuple(range(arms)))

    def fixed(self, number: int, planned: int | None) -> Self:
        """Return the period once shares are fixed for the decisions of a period."""
        return self._replace(fixed_in=number, planned=planned)

    def drawn(self, id: int, shares: Sequence[float]) -> Self:
        """Return the period once a decision is drawn by these shares."""
        if self.laws and self.laws[-1].shares == tuple(shares):
            return self
        laws = (*self.laws, Law(id, tuple(shares)))
        return self._replace(laws=laws[-MOST_LAWS:])

    def next(self, number: int) -> Self:
        """Return the next period, with empty blocks."""
        return self._replace(number=number, law=0, mixed=())

    @property
    def ended(self) -> EndedPeriod:
        """How arms were drawn in this period."""
        shares = next((law.shares for law in self.laws if law.since == self.law), ())
        return EndedPeriod(shares if self.law else (), self.mixed)


class PeriodsData(NamedTuple):
    """`Periods` and the open period, as they are saved."""

    seconds: Annotated[float, Meta(gt=0, lt=1e12)]
    start: float
    latest: float
    number: Annotated[int, Meta(ge=0, le=MOST)]
    fixed_in: Annotated[int, Meta(ge=-1, le=MOST)]
    planned: Annotated[int, Meta(ge=0)] | None
    laws: Annotated[
        list[tuple[Annotated[int, Meta(ge=1)], list[Annotated[float, Meta(ge=0, le=1)]]]],
        Meta(max_length=MOST_LAWS),
    ]
    law: Annotated[int, Meta(ge=0)]
    mixed: list[Annotated[int, Meta(ge=0)]]


@final
class Periods:
    """When periods begin and end. The first one begins when the session is made.

    seconds: how long a period is. waits: how long answers are waited for; an answer counts in the
    period in which its decision was made, so that blocks close so much later. latest: the latest
    time seen: a clock that goes back is not believed.
    """

    def __init__(
        self, seconds: float, clock: Clock | None, start: float | None = None, waits: float = 0.0
    ) -> None:
        self.seconds, self._clock, self.waits = seconds, clock, waits
        self.latest: float = EARLIEST
        self.start = self.time() if start is None else start

    def time(self) -> float:
        """Return the time, in seconds."""
        now = seconds_of(self._clock() if self._clock else datetime.now())
        self.latest = max(self.latest, now)
        return self.latest

    def number(self, time: float) -> int:
        """Return the number of the period of decisions at a time."""
        return max(0, int((time - self.start) // self.seconds))

    def closes_at(self, number: int) -> float:
        """Return when the blocks of a period close."""
        return self.start + (number + 1) * self.seconds + self.waits

    def after(self, number: int, time: float) -> int:
        """Return the period whose blocks are open at a time, once those of another closed."""
        return max(number + 1, self.number(time - self.waits))

    @property
    def words(self) -> str:
        """How long a period is, in words."""
        return str(timedelta(seconds=self.seconds)).removesuffix(", 0:00:00")

    def to_data(self, period: OpenPeriod) -> PeriodsData:
        """Plain data, for JSON."""
        laws = [(law.since, list(law.shares)) for law in period.laws]
        return PeriodsData(
            self.seconds,
            self.start,
            self.latest,
            period.number,
            period.fixed_in,
            period.planned,
            laws,
            period.law,
            list(period.mixed),
        )


def periods_from_data(
    data: PeriodsData, clock: Clock | None, waits: float, asked: int, arms: int
) -> tuple[Periods, OpenPeriod]:
    """Return what `Periods.to_data` wrote.

    Raises:
        DamagedSessionError: it is not that.
    """
    laws = tuple(Law(since, tuple(shares)) for since, shares in data.laws)
    since = [law.since for law in laws]
    is_wrong = (
        since != sorted(set(since))
        or any(first > asked for first in since)
        or any(len(law.shares) > arms for law in laws)
        or any(arm >= arms for arm in (data.planned or 0, *data.mixed))
        or data.law > asked
    )
    if is_wrong:
        raise damaged("public.period has arms that are none, or decisions to come")
    periods = Periods(data.seconds, clock, data.start, waits)
    periods.latest = data.latest
    period = OpenPeriod(data.number, data.fixed_in, data.planned, laws, data.law, tuple(data.mixed))
    return periods, period


SHORTEST = timedelta(milliseconds=1)
"""With shorter ones their numbers could outgrow what is saved."""


def periods_of(
    period: object,
    clock: Clock | None,
    policy: Policy,
    assignment: Assignment | None,
    waits: float | None,
) -> Periods | None:
    """Return what the option `period=` asks for; None without it.

    Raises:
        ValueError: no length of time; or the session cannot have periods.
    """
    if period is None:
        return None
    if not isinstance(period, timedelta) or period < SHORTEST:
        raise ValueError(
            f"Expected period={shown(period)} to be a datetime.timedelta of at least a "
            "millisecond, for example timedelta(days=7)."
        )
    require_batches(policy)
    if assignment is None or assignment.least_of_all(range(policy.arms)) is None:
        raise ValueError(
            "Expected min_share= with period=, a least share above 0 of every arm: arms are "
            "compared within each period, so each of them has to be seen in each, for example "
            "min_share=.05."
        )
    require_few(policy.arms)
    return Periods(period.total_seconds(), clock, None, waits or 0.0)


def require_few(arms: int) -> None:
    """Refuse more arms than are compared in pairs."""
    if arms > MOST_COMPARED:
        raise ValueError(
            f"Expected at most {MOST_COMPARED} arms with period=, got {arms}: each pair of them is "
            "compared. Nothing was changed."
        )


def require_batches(policy: Policy) -> None:
    """Refuse a policy whose open blocks cannot be released at any time, or that would learn from
    the newest of them alone.

    Raises:
        ValueError: it is such a one.
    """
    law, why = policy.reader.law, ""
    if policy.about.feedback != "bandit" or policy.reader.together:
        why = "it plays no single arms, each with a block of its own"
    elif policy.about.goal != "regret" or isinstance(policy, Identifier):
        why = "it has a test of its own, whose blocks are of fixed sizes"
    elif policy.randomizer() is not None:
        why = "each report is released as it comes"
    elif law is None or law.redraws:
        why = "its mechanism draws noise anew, or tells nothing of means"
    elif law.forgets:
        why = "it would replace what it knows by a period's last few people"
    elif law.family == "none":
        why = "it is not private, and releases every reward as it comes"
    elif not policy.chooses or not isinstance(policy, StatisticsPolicy):
        why = "it cannot choose among some of its arms, or its blocks have no sizes of their own"
    if why:
        raise ValueError(
            f"period= is not for {policy.name}: {why}. It is for policies whose batches add up: "
            f"{PREFERRED}."
        )
