"""Plans whose blocks are open, and how far each was carried: of a saved session whose records
belong to their plans. Public data, read strictly.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dpbandits.core.plan import EVERY, FOREVER, Action, Hold
from dpbandits.core.values import damaged, entries, frozen, whole
from dpbandits.policies.contract import Policy
from dpbandits.session.saving.waiting import action_from, are_arms
from dpbandits.session.wheel.blocks import BlockProgress
from dpbandits.session.wheel.offers import AskedTurn, OpenPlan, Plans
from dpbandits.session.wheel.together import JointWheel
from dpbandits.vault.joint import JointVault


def plans_to_data(plans: Plans) -> list[list[Any]]:
    """Plain data, for JSON."""
    return [
        [key, o.plan.action, o.plan.rounds, o.plan.release, o.told, o.step, o.asked]
        for key, o in plans.items()
    ]


def plans_from_data(policy: Policy, data: object, asked: int, step: int) -> dict[int, OpenPlan]:
    """What `plans_to_data` wrote; their numbers rise."""
    plans, last = dict[int, OpenPlan](), 0
    for row in entries(data, "public.plans"):
        key, action, rounds, release, told, made, *ids = entries(row, "an open plan", 7)
        last = whole(key, "a block in public.plans", last + 1, asked + 1)
        read: Any = frozen(entries(release, "the arms that an open plan reads"))
        if read and not are_arms(policy, read):
            raise damaged("an open plan reads what is no arm")
        if len(read) > getattr(policy.reader, "size", len(read)):
            raise damaged("an open plan reads more arms together than its policy's noise is for")
        length = whole(rounds, "the rounds of an open plan", 1, FOREVER)
        told = whole(told, "what was told of an open plan", 0, length - 1)
        plan = Hold(action_from(policy, action), length, read)
        made = whole(made, "the turn of an open plan", 0, step)
        plans[last] = OpenPlan(plan, told, made, asked_from(ids[0]))
    if plans and not policy.reader.together:
        raise damaged("public.plans are of another kind of policy")
    return plans


def asked_from(data: object) -> tuple[tuple[int, int], ...]:
    """The decisions that were asked for a plan, as (first, last); they rise."""
    found, last = list[tuple[int, int]](), 0
    for row in entries(data, "the decisions of an open plan"):
        first, end = entries(row, "decisions of an open plan", 2)
        first = whole(first, "a decision of an open plan", last + 1)
        last = whole(end, "a decision of an open plan", first)
        found.append((first, last))
    return tuple(found)


def open_block_of(plans: Plans, id: int) -> int:
    """The block of a decision; 0 where it is closed.

    In documents of before, an older plan may still name decisions that were then asked for another:
    that one's began later.
    """
    within = [(a, key) for key, o in plans.items() for a, b in o.asked if a <= id <= b]
    return max(within, default=(0, 0))[1]


def key_from(policy: Policy, data: object, asked: int) -> Any:
    """What told decisions are counted by: their action; or their plan's block."""
    if policy.reader.together:
        return whole(data, "a block in public.told_in_plan", 1, asked + 1)
    return action_from(policy, data)


def finished_from(policy: Policy, data: object, asked: int) -> tuple[int, ...] | None:
    """What is due: arms; or the block of a plan."""
    if data is None:
        return None
    last = asked if policy.reader.together else policy.arms - 1
    return tuple(
        whole(arm, "an entry of public.plan_finished", EVERY, last)
        for arm in entries(data, "public.plan_finished")
    )


def with_plans(
    wheel: JointWheel, turn: AskedTurn, plans: Plans, told: Mapping[Action, int], offer: list[Any]
) -> AskedTurn:
    """The turn with its open plans, and what was asked for.

    Raises:
        ValueError: damaged: the vault's blocks are not those of these plans.
    """
    counts = {key: o.told + told.get(key, 0) for key, o in plans.items()}
    assert isinstance(wheel.vault, JointVault)
    vault = wheel.vault.public_state()
    inside = dict(zip(vault["blocks"][1:], vault["counts"][1:], strict=True))
    if vault["counts"][0] or inside != {key: many for key, many in counts.items() if many}:
        raise damaged("public.plans and vault.counts do not agree on what is open")
    block, since, last = offer
    plan = plans[block].plan if block in plans else turn.plan
    assert isinstance(plan, Hold)
    offered = wheel.offered(plan, block, since, 0)._replace(last=last)
    for id, play in wheel.pending.items():
        wheel.pending[id] = replace(play, block=open_block_of(plans, id))
    turn = replace(turn, plans=plans, progress=BlockProgress(turn.plan, plans))
    return turn.with_offer(offered, wheel.overdue.check)
