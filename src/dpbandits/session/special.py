"""Decisions that do not come from the plan alone: by chance, and for people who come back."""

from collections.abc import Iterable

from dpbandits.campaign.people.spacing import BEING_MADE, NOBODY
from dpbandits.session.decisions import Decision, Eligible, Play
from dpbandits.session.live import LiveSession
from dpbandits.session.options import require_choice, require_user, too_many_pending
from dpbandits.session.wheel.asks import Asks


class SpecialAsks(LiveSession):
    """A session that draws arms, or counts how often it learns from a person. A place is taken
    before anything else, and given back only by a decision that was never carried out.
    """

    def _ask_many(self, count: int, eligible: Eligible, user: str | int | None) -> list[Decision]:
        """So many decisions, or none."""
        wheel, people = self._wheel, self._people
        self._gate.enter()
        try:
            require_user(people, user)
            wheel.go_on()
            self._fold()
            chosen = None
            if eligible is not None:
                require_choice(self.policy, "eligible=")
                chosen = self._wheel.roster.numbers(eligible)
            if len(wheel.pending) + count > self.max_pending:
                raise too_many_pending(len(wheel.pending), count, self.max_pending)
            who = None if people is None else people.pseudonym(user)
            plays = self._plays(count, who, chosen)
            return [play.decision(id, self.campaign) for id, play in plays]
        finally:
            self._gate.leave()

    def _plays(
        self, count: int, who: str | None, eligible: tuple[int, ...] | None
    ) -> Iterable[tuple[int, Play]]:
        """So many decisions: by the plan, or by chance; for a person, while a place is left."""
        wheel, people, draws = self._wheel, self._people, self._draws(eligible)
        if people is None and not draws:
            made = list(wheel.ask_many(count, eligible))
            self._wait_for(made)
            return made
        plays = list[tuple[int, Play]]()
        period = 0 if people is None else people.period()  # the clock is a caller's, and may fail
        for _ in range(count):
            if who is not None and not self._take(who, period):
                plays.append(wheel.ask_unread(eligible))
                continue
            plays.append(self._drawn(eligible) if draws else one_of(wheel, eligible))
            if who is not None:
                self._took(who, period, *plays[-1])
        if len(self._owners) > 2 * len(wheel.pending) + 1_000:  # most wait no more
            waiting = wheel.pending
            self._owners = {id: place for id, place in self._owners.items() if id in waiting}
        self._wait_for(plays)
        return plays

    def _take(self, who: str, period: int) -> bool:
        """Take a person's place, if one is left and no other reward of theirs may be unread."""
        people, spacing, wheel = self._people, self._wheel.spacing, self._wheel
        assert people is not None
        if spacing is None:
            return people.take(who, period)
        filled = set(range(wheel.policy.arms)).difference(self._vault.emptied())
        newest, _ = spacing.newest.get(who, NOBODY)
        play = wheel.pending.get(newest)  # of a retired arm nobody learns any more
        waiting = {newest} if play is not None and play.learn else ()
        if not spacing.is_free(who, waiting, filled) or not people.take(who, period):
            return False
        spacing.newest[who] = wheel.asked + 1, BEING_MADE
        return True

    def _took(self, who: str, period: int, id: int, play: Play) -> None:
        """A person's place became this decision."""
        self._owners[id] = who, period
        if self._wheel.spacing is not None:
            assert isinstance(play.action, int)
            self._wheel.spacing.newest[who] = id, play.action

    def _draws(self, eligible: tuple[int, ...] | None) -> bool:
        """Whether decisions are drawn now: an arm has its least share, or first blocks are open."""
        if self._assignment is None:
            return False
        rounds = self._wheel.turn.state.rounds
        arms = self._wheel.roster.in_play if eligible is None else eligible
        return self._assignment.min_share > 0 or not all(rounds[arm] for arm in arms)

    def _wait_for(self, plays: Iterable[tuple[int, Play]]) -> None:
        """Their answers have a time from now on."""
        if self._attribution is not None:
            self._attribution.asked(id for id, _ in plays)

    def _drawn(self, eligible: tuple[int, ...] | None) -> tuple[int, Play]:
        """A decision that is drawn by chance."""
        assert self._assignment is not None
        arms = self._wheel.roster.in_play if eligible is None else eligible
        id, play, law = self._wheel.ask_drawn(self._assignment, self.seed, arms)
        shares = dict(zip(arms, law, strict=True))
        probabilities = [shares.get(arm, 0.0) for arm in range(self.policy.arms)]
        assert isinstance(play.action, int)
        traffic = self._traffic
        while len(traffic.counts) < self.policy.arms:
            traffic = traffic.with_arm()
        self._traffic = traffic.played(probabilities, play.action)
        return id, play


def one_of(wheel: Asks, eligible: tuple[int, ...] | None) -> tuple[int, Play]:
    ((id, play),) = wheel.ask_many(1, eligible)
    return id, play
