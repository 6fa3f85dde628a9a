"""The wheel where a record belongs to its plan: every plan that is asked for has a block of its
own, so several are open at once, and each is read when all that was asked for it is answered.

Plans, what is left of them and when their blocks close are functions of released values and public
counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

from dpbandits.campaign.believing.believed import Believed
from dpbandits.core.plan import FOREVER, Hold, Plan
from dpbandits.policies import turn as wheel
from dpbandits.policies.contract import Policy
from dpbandits.policies.turn import ToldCounts, open_turn
from dpbandits.session.decisions import Play
from dpbandits.session.wheel.blocks import BlockProgress
from dpbandits.session.wheel.offers import (
    AskedTurn,
    Offer,
    OpenPlan,
    Plans,
    asked_after,
    offer_of,
)
from dpbandits.session.wheel.overdue import OpenBlock
from dpbandits.session.wheel.turn import Wheel
from dpbandits.vault.joint import LATE, JointVault


def require_hold(plan: Plan) -> Hold:
    """A plan whose records are read together.

    Raises:
        TypeError: it is no `Hold`.
    """
    if not isinstance(plan, Hold):
        raise TypeError(
            f"Expected a Hold, got a {type(plan).__name__}: where the rewards of a record are read "
            "together, a plan plays one super arm."
        )
    return plan


@final
class JointWheel(Wheel):
    """A wheel with a block for each plan that is asked for."""

    def asked_about(self, opened: wheel.Turn, believed: Believed) -> AskedTurn:
        return self.turned(opened, believed, {})

    def turned(self, opened: wheel.Turn, believed: Believed, plans: Plans) -> AskedTurn:
        """An opened turn, beside plans whose blocks are open. Its own plan opens a block unless
        decisions wait: then the first ask looks ahead. The older ones are asked for no more, unless
        they are taken up again.
        """
        plan, first = require_hold(opened.plan), self.asked
        if not self.pending:
            self.nobody_waits()
        plans = {key: o.left_at(first + 1) for key, o in plans.items()}
        if not self.pending:
            asked = ((first + 1, first + plan.rounds),)
            plans = {**plans, first + 1: OpenPlan(plan, 0, opened.step, asked)}
        offer = self.offered(plan, first + 1, first + 1, 0 if self.pending else plan.rounds)
        self.note(first + 1, offer.only)
        opened = opened._replace(progress=BlockProgress.at(plan, {}, plans))
        turn = asked_after(first, opened, offer, believed, self.overdue.check)
        return replace(turn, plans=plans)

    def offered(self, plan: Hold, block: int, since: int, rounds: int) -> Offer:
        """What a plan asks for from a decision on, for so many rounds (0: nothing), in a block."""
        last = min(FOREVER, since - 1 + rounds) if rounds else 0
        offer = offer_of(plan, since, last, self.semi, self.roster.labels)
        assert offer.only is not None
        return offer._replace(only=replace(offer.only, block=block))

    def look_ahead(self, id: int) -> AskedTurn:
        """The plan to ask for from this decision on: one of this turn that is not fully asked for;
        else the policy's next, which may be an older one that was left.
        """
        self.check_overdue(id)
        turn = self.turn
        if id <= turn.offer.last:
            self.turn = turn = turn.with_offer(turn.offer, self.overdue.check)
            return turn
        waiting, told = self.waiting_by_block(), turn.progress.told
        asked = {key: o.told + told.get(key, 0) + waiting[key] for key, o in turn.plans.items()}
        partly = {key: o for key, o in turn.plans.items() if asked[key] < o.plan.rounds}
        block = next((key for key, o in partly.items() if o.step == turn.step), None)
        if block is None:
            full: dict[Any, int] = {
                (key, o.plan.release): asked[key]
                for key, o in turn.plans.items()
                if key not in partly
            }
            plan = self.policy.ahead(turn.state, full, turn.rng, None)
            if plan is None:
                return self.go_on_asking(id)
            block, plans = settled_on(
                self.policy, require_hold(plan), id, turn, partly, asked, waiting
            )
            turn = replace(turn, plans=plans)
        chosen = turn.plans[block].plan
        return self.with_offer(
            turn, self.offered(chosen, block, id, chosen.rounds - asked.get(block, 0))
        )

    def go_on_asking(self, id: int) -> AskedTurn:
        """The turn's plan goes on, for ever: what is asked for beyond it is never read."""
        turn = self.turn
        mine = [key for key, o in turn.plans.items() if o.step == turn.step]
        block, plan = mine[0] if mine else id, require_hold(turn.plan)
        plans = {**turn.plans, block: turn.plans.get(block, OpenPlan(plan, 0, turn.step))}
        turn = replace(turn, plans=plans)
        return self.with_offer(turn, self.offered(plan, block, id, FOREVER))

    def with_offer(self, turn: AskedTurn, offer: Offer) -> AskedTurn:
        assert offer.only is not None
        block, since = offer.only.block, offer.since
        plans = {key: o.left_at(since) for key, o in turn.plans.items()}
        plans[block] = plans[block].asked_for(since, offer.last)
        self.note(since, offer.only)
        progress = BlockProgress.at(turn.plan, turn.progress.told, plans)
        turn = replace(turn, plans=plans, progress=progress)
        self.check_after(offer)
        self.turn = turn = turn.with_offer(offer, self.overdue.check)
        return turn

    def waiting_by_block(self) -> Counter[int]:
        """Decisions that wait for their rewards and count, by block that is open."""
        waiting, plans = self.outstanding(), self.turn.plans
        for key in [key for key in waiting if key not in plans]:
            del waiting[key]
        return Counter({key: of.count for key, of in waiting.items()})

    def open_block(self, key: Any) -> OpenBlock | None:
        """The block of an open plan that anything is read of."""
        turn, open_ = self.turn, self.turn.plans.get(key)
        if open_ is None or not open_.plan.release:
            return None
        told, arms = open_.told + turn.progress.told.get(key, 0), open_.plan.release
        is_first = not all(turn.state.rounds[arm] for arm in arms)
        return OpenBlock(open_.plan.rounds, told, arms, is_first)

    def tell(self, id: int, play: Play, reward: object, steps: Any = None) -> None:
        where, vault, turn = play.observe or play.action, self.vault, self.turn
        if steps is None:
            steps = vault.on_grid(where, reward)
        if not play.learn:
            self.leave_unread(id)
            return
        mine, told = turn.plans.get(play.block), turn.progress.told
        block = LATE if mine is None else (play.block, mine.plan.release)
        counts, before = None if mine is None else play.block, told.get(play.block, 0)
        if id == self.asked:
            self.busy = id, counts, before, vault.records, self.lost, None, 0
            del self.pending[id]
            vault.enter(where, steps, 1, block)
        else:
            self.enter_late(id, counts, before, where, steps, block)
        if mine is not None:
            turn.progress.count(play.block, 1, before)
        self.waits_no_more(id, play.block)
        if turn.progress.due is None:
            self.busy = False
        else:
            self.complete()

    def advance(self) -> None:
        while True:  # what closes one block may close others that waited for it
            self.turn_once()
            if self.turn.progress.due is None:
                self.busy = False
                return

    def turn_once(self) -> None:
        """Release, update, plan: of one block."""
        turn, vault = self.turn, self.vault
        assert isinstance(vault, JointVault)
        due, told = turn.progress.due, turn.progress.told
        if vault.turns == turn.step:
            self._require_balance()
            assert due is not None
            arms = turn.plans[due[0]].plan.release
            vault.release(arms, vault.records, told_by_action(turn), (), due[0])
        newest = vault.newest
        assert newest is not None
        if due is None:  # open blocks were dropped
            state = self.policy.dropped(turn.state, newest, vault.emptied())
            plans = {key: o._replace(told=0) for key, o in turn.plans.items()}
        else:
            state = self.policy.update(turn.state, turn.plans[due[0]].plan, newest)
            plans = {
                key: o._replace(told=o.told + told.get(key, 0))
                for key, o in turn.plans.items()
                if key != due[0]
            }
            self.overdue = self.overdue.without(due[0])
        opened = open_turn(self.policy, state, turn.step + 1, self.public)
        self.turn = self.turned(opened, turn.believed.after(newest), plans)
        if self.heard is not None:
            self.heard(newest)


def told_by_action(turn: AskedTurn) -> ToldCounts:
    """(super arm, rounds told since the turn began), for a release."""
    told = Counter[Any]()
    for key, open_ in turn.plans.items():
        times, plan = turn.progress.told.get(key, 0), open_.plan
        if times:
            told[plan.observe or plan.action] += times
    return tuple(sorted(told.items()))


def settled_on(
    policy: Policy,
    plan: Hold,
    id: int,
    turn: AskedTurn,
    partly: Plans,
    asked: Mapping[int, int],
    waiting: Mapping[int, int],
) -> tuple[int, Plans]:
    """The block of a plan that is to be asked for now, and all open plans with it.

    An older plan that was left and is the same goes on. What was asked for another is all of its
    block from now on, if that is worth reading; if not, it stays as it is, for later.

    partly: plans that are not fully asked for. asked, waiting: decisions, by block.
    """
    plans, same = dict(turn.plans), None
    for key, old in partly.items():
        worth = asked[key] >= policy.worth_reading(old.plan)
        if same is None and (old.plan.action, old.plan.release) == (plan.action, plan.release):
            same = key
            plans[key] = old._replace(step=turn.step)
        elif worth and waiting[key]:
            plans[key] = old._replace(plan=replace(old.plan, rounds=asked[key]))
    if same is None:
        plans[id] = OpenPlan(plan, 0, turn.step)
    return id if same is None else same, plans
