"""The half of the wheel that is asked: public counts in, decisions out. No reward comes near it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from dpbandits.campaign.assignment import Assignment
from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.roster import Roster
from dpbandits.core.plan import FOREVER, Action, Draw, Hold, PublicRng
from dpbandits.policies import turn as wheel
from dpbandits.policies.contract import Policy
from dpbandits.policies.turn import open_turn
from dpbandits.session.decisions import Decision, Play
from dpbandits.session.wheel.chosen import HowChosen, KeptChoices
from dpbandits.session.wheel.offers import (
    AskedTurn,
    Waiting,
    asked_after,
    beyond,
    offer_of,
    rounds_of,
    waiting_in,
)
from dpbandits.vault import Vault

NEW = tuple.__new__
"""Makes a named tuple in half the time of its own constructor."""

TellClaim = tuple[int, Action | None, int, int, int, int | None]
"""A tell that is under way, and what stood before it. A plain tuple, for one is made for every
reward: its decision's id; what is told (None if it does not count in this turn); how often that was
told in this turn; the vault's records; rewards lost; decisions whose answers are not read, if this
one's is not (else None).
"""


class Asks:
    """What a wheel is asked: the next decision, by the plan under way or ahead of it.

    asked: decisions made. pending: those that wait for their rewards, by id. lost: rewards whose
        tell was interrupted once claimed. unread: decisions that are resolved and were not to be
        read.
    chosen: how decisions came about.
    roster: the arms, and which of them may be played. waiting: what waits, by action; kept up from
        when asks run ahead of tells, None before.
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
        self.newest: Decision | None = None
        believed = Believed.of(policy, policy.labels)
        self.turn = self.asked_about(open_turn(policy, policy.init(), 0, self.public), believed)

    def asked_about(self, opened: wheel.Turn, believed: Believed) -> AskedTurn:
        """An opened turn, to be asked about from the next decision on. What waits already may fill
        its plan, and an arm may be out of play: then the first ask looks ahead.
        """
        plan, first = opened.plan, self.asked
        if not self.pending:
            self.waiting = None
        ahead = self.roster.active is not None or (self.pending and isinstance(plan, Hold))
        last = 0 if ahead else min(FOREVER, first + rounds_of(plan))
        offer = offer_of(plan, first + 1, last, self.semi, self.roster.labels)
        self.note(first + 1, offer.only)
        return asked_after(first, opened, offer, believed)

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
            where = play.observe or play.action
            waiting[where] = waiting.get(where, 0) + 1
        self.asked = id
        self.busy = False
        return made

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
                arm, propensity = self.choice(eligible)
                play = self.play_of(arm)
                self.note(id, play, propensity)
            plays[id] = self.pending[id] = play
            if self.waiting is not None:
                where = play.observe or play.action
                self.waiting[where] = self.waiting.get(where, 0) + 1
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
        id, state, beyond = self.asked + 1, self.turn.state, self.beyond()
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
            self.waiting[arm] = self.waiting.get(arm, 0) + 1
        self.asked = id
        self.busy = False
        return id, play, law

    def play_of(self, arm: int, *, learn: bool = True) -> Play:
        return Play(arm, None, self.roster.labels.of(arm), learn)

    def look_ahead(self, id: int) -> AskedTurn:
        """What to ask for from this decision on, now that the plan is fully asked for, or part of
        it waits already.
        """
        turn = self.turn
        plan = self.policy.ahead(turn.state, self.beyond(), turn.rng, self.roster.active)
        if plan is None:
            offer = turn.offer._replace(last=FOREVER)
        else:
            offer = offer_of(
                plan, id, min(FOREVER, id - 1 + rounds_of(plan)), self.semi, self.roster.labels
            )
        self.note(id, offer.only)
        self.turn = turn = turn.with_offer(offer)
        return turn

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
        if self.waiting is None:
            self.waiting = waiting_in(self.pending.values())
        return beyond(self.waiting, self.turn.progress)

    def look_again(self) -> None:
        """The next ask looks anew what to ask for."""
        self.turn = self.turn.with_offer(self.turn.offer._replace(last=0))
