"""What to ask for while answers are awaited: arms' first blocks first, then the index as it would
stand if the answers that are awaited had confirmed what is known.

Everything here is a function of released values and of public counts. A mean is never guessed: an
arm whose open block is fully asked for counts the rounds that were asked as if they were released
with the mean it has, so that its index falls as it would without delay.

Source: ours; for what a delay must cost, Joulani, György and Szepesvári 2013.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dpbandits.core.plan import Hold, Law, PublicRng
from dpbandits.policies.statistics import Statistics

AskedAhead = Mapping[Any, int]
"""By arm, rounds asked for that a state does not know of."""


class HasRoom(Protocol):
    """What is needed of a policy: the rounds that an arm's open block still takes."""

    def room(self, state: Any, arm: int) -> int: ...


class Ranks(HasRoom, Protocol):
    """And the arm with the largest index, among those that the statistics are of."""

    def leader(self, s: Statistics, t: int) -> int: ...


def open_first_block(
    policy: HasRoom, s: Statistics, asked: AskedAhead, arms: Sequence[int]
) -> tuple[int, int] | None:
    """The lowest arm whose first block is not fully asked for, and the rounds left of it; None if
    there is none.
    """
    for arm in arms:
        if not s.rounds[arm]:
            left = policy.room(s, arm) - asked.get(arm, 0)
            if left > 0:
                return arm, left
    return None


def least_asked(s: Statistics, asked: AskedAhead, arms: Sequence[int]) -> int:
    """Of arms without a release, the one whose first block was asked for least."""
    unseen = [arm for arm in arms if not s.rounds[arm]]
    return min(unseen, key=lambda arm: (s.open[arm] + asked.get(arm, 0), arm))


def as_if_answered(policy: HasRoom, s: Statistics, asked: AskedAhead) -> Statistics:
    """The statistics as they would stand if all that was asked had been answered, and had left the
    means where they are.
    """
    totals, rounds, draws = list(s.totals), list(s.rounds), list(s.draws)
    pulls, open_ = list(s.pulls), list(s.open)
    for arm, times in asked.items():
        pulls[arm] += times
        if rounds[arm] and times >= policy.room(s, arm):
            grown = rounds[arm] + open_[arm] + times
            totals[arm] *= grown / rounds[arm]
            rounds[arm], draws[arm], open_[arm] = grown, draws[arm] + 1, 0
        else:
            open_[arm] += times
    counts = tuple(totals), tuple(rounds), tuple(draws), tuple(pulls), tuple(open_)
    return Statistics(*counts, s.t + sum(asked.values()))


def of_arms(s: Statistics, arms: Sequence[int]) -> Statistics:
    """The statistics of some arms alone, in this order."""
    return Statistics(
        tuple(s.totals[arm] for arm in arms),
        tuple(s.rounds[arm] for arm in arms),
        tuple(s.draws[arm] for arm in arms),
        tuple(s.pulls[arm] for arm in arms),
        tuple(s.open[arm] for arm in arms),
        s.t,
    )


def ranked(
    policy: Ranks, s: Statistics, asked: AskedAhead, eligible: Sequence[int] | None = None
) -> tuple[int, int]:
    """The arm to ask for next, and for how many rounds: a first block; else the largest index among
    the eligible arms that were released; else, where nothing was, the arm that was asked for least.

    With nothing asked ahead and all arms eligible this is the policy's plan.
    """
    arms = range(len(s.rounds)) if eligible is None else eligible
    first = open_first_block(policy, s, asked, arms)
    if first is not None:
        return first
    seen = [arm for arm in arms if s.rounds[arm]]
    if not seen:
        return least_asked(s, asked, arms), 1
    answered = as_if_answered(policy, s, asked)
    if len(seen) == len(s.rounds):
        arm = policy.leader(answered, answered.t + 1)
    else:
        arm = seen[policy.leader(of_arms(answered, seen), answered.t + 1)]
    return arm, policy.room(answered, arm)


class Among(NamedTuple):
    """A law over some of the arms: it draws their places among these."""

    law: Law
    arms: tuple[int, ...]

    def sample(self, round: int, rng: PublicRng) -> int:
        place = self.law.sample(round, rng)
        assert isinstance(place, int)
        return self.arms[place]


def first_blocks(
    policy: HasRoom, s: Statistics, asked: AskedAhead, eligible: Sequence[int] | None = None
) -> Hold | None:
    """For policies that draw their arms once all have a release: a first block that is open, or the
    least asked one; None once all arms have a release. Of eligible arms, if any are named: None
    once those without a release are fully asked for and another one can be drawn.
    """
    arms = range(len(s.rounds)) if eligible is None else eligible
    if all(s.rounds[arm] for arm in arms):
        return None
    first = open_first_block(policy, s, asked, arms)
    if first is None and eligible is not None and any(s.rounds[arm] for arm in arms):
        return None
    arm, rounds = first or (least_asked(s, asked, arms), 1)
    return Hold(arm, rounds, (arm,))


def seen_among(s: Statistics, eligible: Sequence[int] | None) -> tuple[int, ...]:
    """The eligible arms that have a release."""
    arms = range(len(s.rounds)) if eligible is None else eligible
    return tuple(arm for arm in arms if s.rounds[arm])
