"""A turn as a session asks about it: what is asked for now, and up to which decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dpbandits.campaign.believing.believed import Believed
from dpbandits.core.plan import FOREVER, Action, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.policies import turn as wheel
from dpbandits.policies.labels import ArmLabels
from dpbandits.session.decisions import Play
from dpbandits.session.wheel.overdue import Waiting


class OpenPlan(NamedTuple):
    """A plan whose block is open. told: its rounds that were told before the turn under way. step:
    the turn in which it was made, or taken up again. asked: the decisions that were asked for it,
    as (first, last).
    """

    plan: Hold
    told: int
    step: int
    asked: tuple[tuple[int, int], ...] = ()

    def asked_for(self, first: int, last: int) -> OpenPlan:
        earlier = self.asked
        if earlier and earlier[-1][1] == first - 1:
            first, earlier = earlier[-1][0], earlier[:-1]
        return self._replace(asked=(*earlier, (first, last)))

    def left_at(self, id: int) -> OpenPlan:
        """Asked for no more from this decision on."""
        ended = ((first, min(last, id - 1)) for first, last in self.asked)
        return self._replace(asked=tuple(each for each in ended if each[0] <= each[1]))


Plans = Mapping[int, OpenPlan]
"""By the number of their block, which is that of the first decision that was asked for it."""


class Offer(NamedTuple):
    """What is asked for from decision `since` up to decision `last`.

    only: the one play, where it is an action; else each decision draws its own from `plan`.
    """

    plan: Plan
    only: Play | None
    since: int
    last: int


@dataclass(slots=True)  # one is made at each release, and frozen ones take three times as long
class AskedTurn:
    """A turn of `policies/turn.py`, and what is asked about it. Public, and replaced whole.

    step: turns before this one. first: decisions asked before it. plays: its actions, each kept
        once. only: of `offer`; last: the last decision for which nothing has to be looked at
        before. Both are looked at in every round. believed: all releases so far, in few numbers.
        plans: those with an open block, where a record belongs to its plan.
    """

    state: Any
    step: int
    rng: PublicRng
    plan: Plan
    progress: Progress
    first: int
    plays: dict[Action, Play]
    offer: Offer
    only: Play | None
    last: int
    believed: Believed
    plans: Plans = field(default_factory=dict)

    def play(self, id: int, semi: bool, labels: ArmLabels) -> Play:
        """What decision `id` plays."""
        plan = self.offer.plan
        action = plan.action_at(id - self.offer.since, id, self.rng)
        play = self.plays.get(action)
        if play is None:
            play = play_of(plan, action, semi, labels)
            # of drawn super arms there are too many to keep
            if not (semi and isinstance(plan, Draw)):
                self.plays[action] = play
        return play

    def with_offer(self, offer: Offer, check: int = FOREVER) -> AskedTurn:
        """check: the decision before which requests are looked through for overdue ones."""
        return replace(self, offer=offer, only=offer.only, last=min(offer.last, check - 1))


def asked_after(
    first: int, opened: wheel.Turn, offer: Offer, believed: Believed, check: int = FOREVER
) -> AskedTurn:
    """An opened turn, to be asked about after the first so many decisions. check: see
    `AskedTurn.with_offer`.
    """
    last = min(offer.last, check - 1)
    return AskedTurn(*opened, first, {}, offer, offer.only, last, believed, {})


def play_of(plan: Plan, action: Action, semi: bool, labels: ArmLabels) -> Play:
    # an action of a super-arm policy is a tuple of arms, which its type does not say
    observe: Any = (plan.observe or action) if semi else None
    return Play(action, observe, labels.of(action))


def offer_of(plan: Plan, since: int, last: int, semi: bool, labels: ArmLabels) -> Offer:
    """What a plan asks for, from decision `since` on."""
    only = play_of(plan, plan.action, semi, labels) if isinstance(plan, Hold) else None
    return Offer(plan, only, since, last)


def rounds_of(plan: Plan) -> int:
    """For how many decisions a plan can be asked before something else may be better."""
    return plan.rounds if isinstance(plan, Hold) else FOREVER


def beyond(waiting: Waiting, progress: Progress) -> dict[Action, int]:
    """By action, the rounds asked for that the turn's state does not know of. Overdue requests are
    not among them.
    """
    asked = {action: of.count for action, of in waiting.items() if of.count > 0}
    for action, times in progress.told.items():
        asked[action] = asked.get(action, 0) + times
    return asked
