"""Which action is asked for next, saved and found again."""

from typing import Any

from dpbandits.core.plan import Action, Hold
from dpbandits.core.values import entries, whole
from dpbandits.policies.contract import Policy
from dpbandits.session.saving.plans import with_plans
from dpbandits.session.saving.waiting import action_from
from dpbandits.session.wheel.offers import AskedTurn, offer_of
from dpbandits.session.wheel.together import JointWheel
from dpbandits.session.wheel.turn import Wheel


def offer_from(policy: Policy, data: object, asked: int) -> tuple[Action | None, int, int, int]:
    """What was asked for: an action (None: the plan's), since when, up to which decision, and in
    which block.
    """
    action, since, last, block = entries(data, "public.offer", 4)
    since = whole(since, "a number in public.offer", 1, asked + 1)
    last = whole(last, "a number in public.offer")
    block = whole(block, "a number in public.offer", 0, asked + 1)
    return None if action is None else action_from(policy, action), since, last, block


def offer_to_data(turn: AskedTurn) -> list[Any]:
    """What is asked for: where it is the plan, its action is not said."""
    offer = turn.offer
    if offer.only is not None and offer.only.block:  # what its block is of is said in plans
        return [None, offer.since, offer.last, offer.only.block]
    action = offer.only.action if offer.only is not None and offer.plan is not turn.plan else None
    # another draw than the plan's is made out anew
    made_anew = offer.only is None and offer.plan is not turn.plan
    return [action, offer.since, 0 if made_anew else offer.last, 0]


def offer_at(
    wheel: Wheel,
    turn: AskedTurn,
    offer: tuple[Action | None, int, int, int],
    plans: Any,
    told: dict[Any, int],
) -> AskedTurn:
    """The turn, with what was asked for. plans, told: of records that are read together."""
    action, since, last, block = offer
    if isinstance(wheel, JointWheel):
        return with_plans(wheel, turn, plans, told, [block, since, last])
    plan = turn.plan if action is None else Hold(action, max(1, last + 1 - since), ())
    found = offer_of(plan, since, last, wheel.semi, wheel.roster.labels)
    return turn.with_offer(found, wheel.overdue.check)
