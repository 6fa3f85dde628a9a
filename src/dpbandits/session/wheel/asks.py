"""The half of the wheel that is asked: public counts in, decisions out. No reward comes near it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dpbandits.campaign.assignment import Assignment
from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.roster import Roster
from dpbandits.core.plan import FOREVER, Action, Cycle, Draw, Hold, Plan, PublicRng
from dpbandits.policies import turn as wheel
from dpbandits.policies.contract import Policy
from dpbandits.policies.statistics import Statistics
from dpbandits.policies.turn import open_turn
from dpbandits.session.decisions import Decision, Play
from dpbandits.session.wheel.chosen import HowChosen, KeptChoices
from dpbandits.session.wheel.offers import (
    AskedTurn,
    Offer,
    asked_after,
    beyond,
    offer_of,
    rounds_of,
)
from dpbandits.session.wheel.overdue import (
    DelayedBlock,
    OpenBlock,
    Outstanding,
    Overdue,
    Waiting,
    delayed_blocks,
    looked_through,
    outstanding_in,
    overtaken_before,
)
from dpbandits.vault import Vault

NEW = tuple.__new__
"""Makes a named tuple in half the time of its own constructor."""

TellClaim = tuple[int, Action | None, int, int, int, int | None, int]
"""A tell that is under way, and what stood before it. A plain tuple, for one is made for every
reward: its decision's id; what is told (None if it does not count in this turn); how often that was
told in this turn; the vault's records; rewards lost; decisions whose answers are not read, if this
one's is not (else None); how many answers came about as late.
"""


class Asks:
    """What a wheel is asked: the next decision, by the plan under way or ahead of it.

    asked: decisions made. pending: those that wait for their rewards, by id. lost: rewards whose
        tell was interrupted once claimed. unread: decisions that are resolved and were not to be
        read.
    chosen: how decisions came about.
    roster: the arms, and which of them may be played. waiting: what waits and is not overdue, by
        action; kept up from when asks run ahead of tells, None before.
    late: answers by how late they came (see `overdue.bucket_of`), but for those that came before
        the next decision; None where no request is ever overdue: each answer has its time, or
        blocks are neither an arm's nor a plan's. overdue: which requests are.
    busy: a call is under way, was interrupted or left something due; `go_on` first. A tell leaves
        its claim here.
    newest: the decision that `ask` made last, whether it was handed out or not. Most often it is
        told next, and known by itself.
    """

    def __init__(self, policy: Policy, vault: Vault, seed: int) -> None:
        self.policy, self.vault, self.public = policy, vault, partial(PublicRng, seed)
        self.semi = policy.about.feedback == "semi"
        self.roster = Roster.of(policy.arms, policy.labels)
        self.pending: dict[int, Play] = {}
        self.asked = self.lost = self.unread = 0
        self.busy: bool | TellClaim = False
        self.chosen = KeptChoices()
        self.waiting: Waiting | None = None
        by_arm = policy.about.feedback == "bandit"
        self.late: dict[int, int] | None = {} if by_arm or vault.together else None
        self.overdue = Overdue()
        self._overtaken = -1, 0
        self.newest: Decision | None = None
        believed = Believed.of(policy, policy.labels)
        self.turn = self.asked_about(open_turn(policy, policy.init(), 0, self.public), believed)

    def asked_about(self, opened: wheel.Turn, believed: Believed) -> AskedTurn:
        """An opened turn, to be asked about from the next decision on. What waits already may fill
        its plan, and an arm may be out of play: then the first ask looks ahead.
        """
        plan, first = opened.plan, self.asked
        if not self.pending:
            self.nobody_waits()
        if isinstance(plan, Cycle) and self.late is not None:  # it may be asked for once more
            check = min(self.overdue.check, first + 1 + len(plan.actions) * plan.each)
            self.overdue = self.overdue._replace(check=check)
        ahead = self.roster.active is not None or (self.pending and isinstance(plan, Hold))
        last = 0 if ahead else min(FOREVER, first + rounds_of(plan))
        offer = offer_of(plan, first + 1, last, self.semi, self.roster.labels)
        self.note(first + 1, offer.only)
        return asked_after(first, opened, offer, believed, self.overdue.check)

    def nobody_waits(self) -> None:
        self.waiting = None
        self.overdue = self.overdue._replace(blocks={}, check=FOREVER)

    def ask(self, campaign: str) -> Decision:
        """The next decision."""
        id, turn = self.asked + 1, self.turn
        if id > turn.last:
            turn = self.look_ahead(id)
        play = turn.only or self.drawn(turn, id)
        waiting = self.waiting
        fields = (id, play.action, id, play.observe, campaign, play.label, play.learn)
        self.newest = made = NEW(Decision, fields)
        self.busy = True
        self.pending[id] = play
        if waiting is not None:
            self.wait_for(id, play, waiting)
        self.asked = id
        self.busy = False
        return made

    def wait_for(self, id: int, play: Play, waiting: Waiting) -> None:
        """A request more that waits."""
        key = play.block or play.observe or play.action
        of = waiting.get(key)
        if of is None:
            of = waiting[key] = Outstanding(self.overdue.of(key).edge)
        of.add(id)

    def ask_many(
        self, count: int, eligible: Sequence[int] | None = None
    ) -> Iterable[tuple[int, Play]]:
        """The next so many, all or none of them: they are made when the last one is.

        eligible: the arms to choose from; None: all that are in play.
        """
        plays = dict[int, Play]()
        self.busy = True
        for id in range(self.asked + 1, self.asked + count + 1):
            if eligible is None:
                turn = self.look_ahead(id) if id > self.turn.last else self.turn
                play = turn.only or self.drawn(turn, id)
            else:
                self.check_overdue(id)
                arm, propensity = self.choice(eligible)
                play = self.play_of(arm)
                self.note(id, play, propensity)
            plays[id] = self.pending[id] = play
            if self.waiting is not None:
                self.wait_for(id, play, self.waiting)
        self.asked += count
        if eligible is not None:
            self.look_again()
        self.busy = False
        return plays.items()

    def ask_unread(self, eligible: Sequence[int] | None) -> tuple[int, Play]:
        """A decision that nobody learns from: what is known to be best. Only the count of decisions
        moves on.
        """
        id, turn = self.asked + 1, self.turn
        if self.policy.about.feedback == "bandit":
            arms = range(self.policy.arms) if self.roster.active is None else self.roster.active
            play = self.play_of(turn.believed.leader(eligible or arms), learn=False)
        else:
            play = replace(turn.only or self.drawn(turn, id), learn=False)
        self.busy = True
        self.note(id, play)
        self.look_again()
        self.pending[id] = play
        self.asked = id
        self.busy = False
        return id, play

    def ask_drawn(
        self, assignment: Assignment, seed: int, eligible: Sequence[int]
    ) -> tuple[int, Play, list[float]]:
        """A decision for an arm that is drawn; and the law it was drawn from, by eligible arm,
        given what the policy would have played.
        """
        id, state = self.asked + 1, self.turn.state
        self.check_overdue(id)
        beyond = self.beyond()
        rooms = {
            arm: max(0, (self.policy.room(state, arm) or 1) - beyond.get(arm, 0))
            for arm in eligible
            if not state.rounds[arm]
        }
        planned, certain = self.choice(eligible)
        law = assignment.law(rooms, planned, eligible)
        arm, share = assignment.drawn(law, eligible, seed, id)
        # what was drawn from a posterior is not kept, and without it nobody knows the law
        unknown = certain is None and assignment.needs_plan(rooms, len(eligible))
        play = self.play_of(arm)
        self.busy = True
        self.look_again()
        self.note(id, play, None if unknown else share)
        self.pending[id] = play
        if self.waiting is not None:
            self.wait_for(id, play, self.waiting)
        self.asked = id
        self.busy = False
        return id, play, law

    def play_of(self, arm: int, *, learn: bool = True) -> Play:
        return Play(arm, None, self.roster.labels.of(arm), learn)

    def look_ahead(self, id: int) -> AskedTurn:
        """What to ask for from this decision on, now that the plan is fully asked for, or part of
        it waits already.
        """
        self.check_overdue(id)
        turn, labels = self.turn, self.roster.labels
        if id <= turn.offer.last:
            self.turn = turn = turn.with_offer(turn.offer, self.overdue.check)
            return turn
        plan: Plan | None = self.topped_up(id)
        if plan is None:
            plan = self.policy.ahead(turn.state, self.beyond(), turn.rng, self.roster.active)
        if plan is not None:
            last = min(FOREVER, id - 1 + rounds_of(plan))
            offer = offer_of(plan, id, last, self.semi, labels)
        elif isinstance(turn.plan, Cycle) and turn.offer.plan is not turn.plan:
            offer = offer_of(turn.plan, id, FOREVER, self.semi, labels)
        else:
            offer = turn.offer._replace(last=FOREVER)
        self.note(id, offer.only)
        self.check_after(offer)
        self.turn = turn = turn.with_offer(offer, self.overdue.check)
        return turn

    def topped_up(self, id: int) -> Hold | None:
        """Of a plan that plays arms in turn and was asked for in full: an arm in place of whose
        overdue requests others are asked for.
        """
        turn, plan = self.turn, self.turn.plan
        if not isinstance(plan, Cycle) or id <= turn.first + len(plan.actions) * plan.each:
            return None
        if not any(self.overdue.of(arm).many for arm in plan.actions):
            return None
        asked = self.beyond()
        for arm in plan.actions:
            left = plan.each - asked.get(arm, 0)
            if left > 0:
                return Hold(arm, left, ())
        return None

    def check_after(self, offer: Offer) -> None:
        """Requests are looked through no later than when an offer was asked for in full."""
        if self.late is not None:
            check = min(self.overdue.check, offer.last + 1)
            self.overdue = self.overdue._replace(check=check)

    def check_overdue(self, id: int) -> None:
        """Look through what waits, if it is time to before decision `id`; where requests turn out
        to be overdue, others are asked for in their place.
        """
        before = self.overdue
        if self.late is None or id < before.check < FOREVER:
            return
        busy, self.busy = self.busy, True
        delays = self.late, self.vault.records
        waiting = self.outstanding()
        places = self.open_block, self.overtaken_before
        found = looked_through(before, waiting, self.pending, delays, id - 1, *places)
        if found.total > before.total:
            found = found._replace(noticed=self.noticed(found, id - 1))
            self.renew_offer(before, found)
        self.overdue = found
        if self.turn.offer.last >= id:
            self.check_after(self.turn.offer)
        self.busy = busy

    def overtaken_before(self, asked: int) -> int:
        """See there; looked for anew only if a decision was resolved since."""
        resolved = asked - len(self.pending)
        if self._overtaken[0] != resolved:
            self._overtaken = resolved, overtaken_before(self.pending, asked)
        return self._overtaken[1]

    def renew_offer(self, before: Overdue, found: Overdue) -> None:
        """Go on with an arm that is being asked for, where its own requests alone turned out to be
        overdue; else look anew what to ask for.
        """
        keys = [key for key, of in found.blocks.items() if of.many > before.of(key).many]
        turn, offer = self.turn, self.turn.offer
        only = offer.only
        if offer.last and only is not None and not only.block and keys == [only.action]:
            last = min(FOREVER, offer.last + found.total - before.total)
            self.turn = turn.with_offer(offer._replace(last=last))
        else:
            self.look_again()

    def noticed(self, overdue: Overdue, asked: int) -> tuple[tuple[int, int], ...]:
        """Arms whose first block was found to wait for overdue requests, and when."""
        known = dict(overdue.noticed)
        found = self.delayed(overdue)
        return (*overdue.noticed, *((of.arm, asked) for of in found if of.arm not in known))

    def delayed(self, overdue: Overdue | None = None) -> list[DelayedBlock]:
        """First blocks that wait for overdue requests."""
        overdue = overdue or self.overdue
        if not any(of.many for of in overdue.blocks.values()):
            return []
        left = self.vault.left().items()
        released = {arm for arm, (clock, dropped) in left if clock > dropped}
        return delayed_blocks(overdue, self.pending, self.open_block, released)

    def open_block(self, key: Any) -> OpenBlock | None:
        """The open block that an arm's answers fill; None where nothing but a plan closes one, and
        that asks for what is missing by itself.
        """
        turn = self.turn
        if type(key) is not int:
            return None
        told, room = turn.progress.told.get(key, 0), self.policy.room(turn.state, key)
        if room is not None:
            known = turn.state if isinstance(turn.state, Statistics) else None
            before = 0 if known is None else known.open[key]
            is_first = known is None or not known.rounds[key]
            return OpenBlock(room + before, told + before, (key,), is_first)
        if isinstance(turn.plan, Cycle) and key in turn.plan.actions:
            return OpenBlock(turn.plan.each, told, (key,), False)
        return None

    def drawn(self, turn: AskedTurn, id: int) -> Play:
        """What decision `id` plays, where each plays its own."""
        play = turn.play(id, self.semi, self.roster.labels)
        cycles = not isinstance(turn.offer.plan, Draw)
        self.chosen.note(id, HowChosen(play.action, 1.0 if cycles else None, True))
        return play

    def note(self, since: int, play: Play | None, propensity: float | None = 1.0) -> None:
        """How decisions come about from this one on. A note about one that was never made is
        overwritten.
        """
        if play is not None:
            self.chosen.note(since, HowChosen(play.action, propensity, play.learn))

    def choice(self, eligible: Sequence[int]) -> tuple[int, float | None]:
        """Which of these arms is to be played next; None where it was drawn from a posterior, else
        1.
        """
        turn, id = self.turn, self.asked + 1
        plan = self.policy.ahead(turn.state, self.beyond(), turn.rng, eligible)
        assert plan is not None
        arm = plan.action_at(0, id, turn.rng)
        assert isinstance(arm, int)
        return arm, None if isinstance(plan, Draw) else 1.0

    def beyond(self) -> dict[Action, int]:
        """By action, the rounds asked for that the turn's state does not know of."""
        return beyond(self.outstanding(), self.turn.progress)

    def outstanding(self) -> Waiting:
        """What waits and is not overdue."""
        if self.waiting is None:
            self.waiting = outstanding_in(self.pending, self.overdue)
        return self.waiting

    def look_again(self) -> None:
        """The next ask looks anew what to ask for."""
        self.turn = self.turn.with_offer(self.turn.offer._replace(last=0))
