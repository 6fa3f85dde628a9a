"""Times: the clock of a session, how long answers are waited for, and periods.

When something ends depends on the clock alone, so it is public. Nothing here sees a reward.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, Self, final

from msgspec import Meta, Struct

from dpbandits.core.inputs import (
    MOST,
    Count,
    Finite,
    Number,
    Seconds,
    seconds_of,
    shown,
)
from dpbandits.policies.base import StatisticsPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.identification import Identifier
from dpbandits.session.arms import Assignment

Clock = Callable[[], Any]
"""Says the time: a `datetime`, or seconds."""

EARLIEST = -1e15
"""Seconds: before every time that a clock says."""


def length_words(seconds: float) -> str:
    """Return a length of time in words.

    >>> [length_words(seconds) for seconds in (604_800, 86_400, 5_400, 100, 0.5)]
    ['7 days', '1 day', '1.5 hours', '100 seconds', '0.5 seconds']
    """
    units = (86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")
    size, unit = next((u for u in units if seconds >= u[0] and 2 * seconds % u[0] == 0), units[-1])
    many = f"{seconds / size:,.10g}"
    return f"{many} {unit}" + "s" * (many != "1")


@final
class SteadyClock:
    """A clock that is not believed where it goes back.

    Args:
        clock: says the time; None for this machine's.

    Attributes:
        latest: the latest time seen, in seconds.
    """

    def __init__(self, clock: Clock | None) -> None:
        self._clock = datetime.now if clock is None else clock
        self.latest = EARLIEST

    def now(self) -> float:
        """Return the time in seconds. Changes nothing."""
        return max(self.latest, seconds_of(self._clock()))

    def advance(self) -> float:
        """Return the time, and remember it."""
        self.latest = self.now()
        return self.latest

    def behind(self, seen: float = EARLIEST) -> float:
        """Return by how many seconds it is behind the latest time seen, here or elsewhere."""
        return max(seen, self.latest) - seconds_of(self._clock())


MOST_BEHIND = 60.0
"""Seconds that clocks of several machines may differ by without an alarm."""


def clock_advice(seconds: float) -> str:
    """Return the advice of the alarm "clock".

    >>> clock_advice(86_400.4)[:55]
    'The clock is 1 day behind the latest time that it said.'
    """
    unit = 86_400 if seconds >= 172_800 else 60
    behind = length_words(unit * round(seconds / unit))
    return (
        f"The clock is {behind} behind the latest time that it said. Until it has caught up no "
        "window and no period ends, and answers that are held stay held. Set it right; if it was "
        "wrong before, begin anew."
    )


# Attribution windows: an answer is awaited for a fixed time, then the default is recorded.
#
# So callers may report conversions only. Whether somebody answered is private; only the end of the
# window is public. `Tables.held` keeps the answers until then. They are recorded in the order of
# the decisions.


@final
class AttributionWindow:
    """The end of each pending decision's window. Public: it contains no answers.

    Attributes:
        seconds: length of a window.
        clock: which time it is.
        due: the end of the window, by pending decision.
    """

    def __init__(self, seconds: float, clock: Clock | None) -> None:
        self.seconds, self.clock = seconds, SteadyClock(clock)
        self.due: OrderedDict[int, float] = OrderedDict()

    def is_over(self, id: int) -> bool:
        """Return whether a decision's window has ended. Changes nothing."""
        return id in self.due and self.due[id] <= self.clock.now()

    def due_now(self) -> list[int]:
        """Return the decisions whose window has ended, oldest first. Changes nothing."""
        now, ids = self.clock.now(), list[int]()
        for id, due in self.due.items():
            if due > now:
                break
            ids.append(id)
        return ids

    def behind(self) -> float:
        """Return by how many seconds the clock is behind the newest decision that waits."""
        newest = next(reversed(self.due.values()), EARLIEST)
        return self.clock.behind(newest - self.seconds)

    def to_data(self) -> AttributionData:
        """Plain data, for JSON."""
        return AttributionData(self.seconds, self.clock.latest, list(self.due.items()))

    @classmethod
    def restored(cls, saved: AttributionData, clock: Clock | None) -> Self:
        """What `to_data` wrote."""
        window = cls(saved.seconds, clock)
        window.clock.latest, window.due = saved.latest, OrderedDict(saved.due)
        return window


class AttributionData(Struct):
    """`AttributionWindow`, of a saved session."""

    seconds: Seconds
    latest: Finite
    due: list[tuple[Number, Finite]]


def attribution_of(window: object, clock: Clock | None) -> AttributionWindow | None:
    """Return the window of this option; None if it is None.

    Raises:
        ValueError: it is not a positive timedelta.
    """
    if window is None:
        return None
    if not isinstance(window, timedelta) or window <= timedelta(0):
        raise ValueError(
            f"Expected attribution_window={shown(window)} to be a datetime.timedelta above 0, for "
            "example timedelta(days=7)."
        )
    return AttributionWindow(window.total_seconds(), clock)


# Periods: stretches of time in which the shares of all arms stand still, at whose ends all open
# blocks are released, so that arms are compared with each other at the same times.
#
# When a period ends depends on the clock alone, so it is public. Nothing here sees a reward.


MOST_LAWS = 8
"""Shares that are remembered: an answer to a decision from before is not compared."""

MOST_COMPARED = 30
"""Arms of a session with periods: each pair of them is compared."""

PREFERRED = "dpbandits.DPRateIMED, DPKLUCB and DPIMED"


class Law(NamedTuple):
    """The shares of all arms, by their numbers, from decision `since` on."""

    since: Number
    shares: tuple[Annotated[float, Meta(ge=0, le=1)], ...]


class EndedPeriod(NamedTuple):
    """How arms were drawn in a period that has ended.

    Args:
        shares: by arm, of retired ones 0; empty if that is not known, or there was no record.
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

    number: Count = 0
    fixed_in: Annotated[int, Meta(ge=-1, le=MOST)] = -1
    planned: Count | None = None
    laws: Annotated[tuple[Law, ...], Meta(max_length=MOST_LAWS)] = ()
    law: Count = 0
    mixed: tuple[Count, ...] = ()

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

    def ended(self, kept: Collection[int]) -> EndedPeriod:
        """How arms were drawn in this period.

        Args:
            kept: the arms that are not retired. Answers of the others that came since are not read,
                as if fewer people had been drawn for them.
        """
        shares = next((law.shares for law in self.laws if law.since == self.law != 0), ())
        known = (share * (arm in kept) for arm, share in enumerate(shares))
        return EndedPeriod(tuple(known), self.mixed)


class PeriodsData(NamedTuple):
    """`Periods` and the open period, as they are saved."""

    seconds: Annotated[float, Meta(gt=0, lt=1e12)]
    start: float
    latest: float
    open: OpenPeriod


@final
class Periods:
    """When periods begin and end. The first one begins when the session is made.

    seconds: how long a period is. waits: how long answers are waited for; an answer counts in the
    period in which its decision was made, so that blocks close so much later. clock: which time it
    is.
    """

    def __init__(
        self, seconds: float, clock: Clock | None, start: float | None = None, waits: float = 0.0
    ) -> None:
        self.seconds, self.clock, self.waits = seconds, SteadyClock(clock), waits
        self.start = self.clock.advance() if start is None else start

    def number(self, time: float) -> int:
        """Return the number of the period of decisions at a time."""
        return max(0, int((time - self.start) // self.seconds))

    def closes_at(self, number: int) -> float:
        """Return when the blocks of a period close."""
        return self.start + (number + 1) * self.seconds + self.waits

    def after(self, number: int, time: float) -> int:
        """Return the period whose blocks are open at a time, once those of another closed."""
        return max(number + 1, self.number(time - self.waits))

    def to_data(self, period: OpenPeriod) -> PeriodsData:
        """Plain data, for JSON."""
        return PeriodsData(self.seconds, self.start, self.clock.latest, period)


def periods_from_data(
    data: PeriodsData, clock: Clock | None, waits: float
) -> tuple[Periods, OpenPeriod]:
    """Return what `Periods.to_data` wrote."""
    periods = Periods(data.seconds, clock, data.start, waits)
    periods.clock.latest = data.latest
    return periods, data.open


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
    require_comparable(policy, assignment)
    return Periods(period.total_seconds(), clock, None, waits or 0.0)


def require_comparable(policy: Policy, assignment: Assignment | None) -> None:
    """Refuse what cannot have periods.

    Raises:
        ValueError: its blocks cannot be released at any time, an arm has no least share, or there
            are too many arms.
    """
    require_batches(policy)
    if assignment is None or assignment.least_of_all(range(policy.arms)) is None:
        raise ValueError(
            "Expected min_share= with period=, a least share above 0 of every arm: arms are "
            "compared within each period, so each of them has to be seen in each, for example "
            "min_share=.05."
        )
    require_few(policy.arms)


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
