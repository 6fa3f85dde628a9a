"""What is done to a session at work besides asking and telling: arms come and go, a decision
expires or is void, open blocks are dropped, a rule finishes.

All of it is public, so it costs no privacy; what is dropped was never read. Interrupted, each of
these calls can be made again: it goes on from where it was.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from dpbandits.campaign.roster import ArmStanding, Roster
from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.plan import Hold
from dpbandits.session.decisions import Decision, Play, find_pending
from dpbandits.session.options import require_choice
from dpbandits.session.reports import Reports
from dpbandits.session.standing import SessionEvent
from dpbandits.session.wheel.turn import settle


class LiveSession(Reports):
    """A session whose arms come and go."""

    def add_arm(self, label: str | None = None) -> int:
        """A new arm, from the next decision on: its first block comes first. Returns its number.

        label: its name, where arms have names; never one that was used before.

        Raises:
            ValueError: a name that is taken, or missing; or the policy's constants depend on the
            number of arms, or it plays something else than arms. Nothing was changed.
        """
        self._gate.enter()
        try:
            wheel = self._wheel
            settle(wheel)
            self._fold()
            require_choice(self.policy, "add_arm")
            roster = wheel.roster.joined(label)
            arms = len(roster.standing)
            if self._assignment is not None:
                self._assignment.require_room(arms)
            policy = wheel.policy.with_arms(tuple(roster.labels) or arms)
            state = wheel.policy.widened(wheel.turn.state, arms)
            wheel.grow(policy, state, roster)
            self._note("add", arms - 1)
            return arms - 1
        finally:
            self._gate.leave()

    def retire_arm(self, arm: str | int) -> None:
        """Never play an arm again. What came since its last release is thrown away unread, and so
        are answers that come late.

        Raises:
            ValueError: no such arm, or none would be left; or the policy cannot choose among some
            of its arms.
        """
        self._stand(arm, "retired", "retire")

    def pause_arm(self, arm: str | int) -> None:
        """Play an arm no more until `resume_arm`. Answers that come meanwhile count."""
        self._stand(arm, "paused", "pause")

    def resume_arm(self, arm: str | int) -> None:
        """Play a paused arm again."""
        self._stand(arm, "active", "resume")

    @discreet
    def void(self, decision: Decision | int) -> None:
        """A decision that was never carried out: nobody was shown it, no reward will come. Nothing
        is recorded, and another decision takes its place. Where nobody answered, `expire` it.

        Raises:
            DecisionError: unknown id, or resolved before.
        """
        self._gate.enter()
        try:
            settle(self._wheel)
            self._fold()
            wheel = self._wheel
            id, _ = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
            noted = set[int]() if self._unanswered is None else self._unanswered.void
            with self._noted_in(noted, id):
                wheel.leave_unread(id)
            self._vault.held.pop(id, None)
            if self._attribution is not None:
                self._attribution.forget(id)
            place = self._owners.pop(id, None)
            if self._people is not None and place is not None:
                self._people.free(place)
                if self._wheel.spacing is not None:
                    self._wheel.spacing.void(place[0], id)
        finally:
            self._gate.leave()

    def drop_open(self) -> None:
        """Throw away, unread, all rewards that came since the last releases, and begin the plan
        anew. Decisions that wait still take their rewards.
        """
        self._gate.enter()
        try:
            settle(self._wheel)
            self._fold()
            self._events = (*self._events, SessionEvent("drop", None, self._wheel.asked))
            self._wheel.drop(None)
        finally:
            self._gate.leave()

    def settle(self) -> None:
        """Make what an earlier call's error left due, a release or a plan; most often there is
        nothing to do.

        Raises:
            NotRecordedError: it failed again.
        """
        self._gate.enter()
        try:
            settle(self._wheel)
            self._fold()
        finally:
            self._gate.leave()

    @discreet
    def expire(self, decision: Decision | int) -> None:
        """No reward came: the declared default enters instead (in the local model: a report of the
        default). With an attribution window it enters when the time has passed, as without this
        call.

        Raises:
            DecisionError: unknown id, or resolved before.
        """
        self._gate.enter()
        try:
            wheel = self._wheel
            if self._attribution is None:
                settle(wheel)
            id, play = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
            self._require_time(id)
            if self._attribution is None:
                self._expire(id, play)
        finally:
            self._gate.leave()

    def _expire(self, id: int, play: Play) -> None:
        """The default enters."""
        noted = set[int]() if self._unanswered is None else self._unanswered.expired
        with self._noted_in(noted, id):
            self._wheel.tell(id, play, None, self._default_steps(play))

    @contextmanager
    def _noted_in(self, ids: set[int], id: int) -> Iterator[None]:
        """Note that nobody answered, before the decision is resolved: an interruption between the
        two would count it as answered. It stays noted where what it completes fails.
        """
        ids.add(id)
        try:
            yield
        finally:
            if id in self._wheel.pending:
                ids.discard(id)

    def finish(self) -> None:
        """No more rewards come, and their number is public: a stopping rule that has not halted
        gives its answer now.

        A rule that has halted has nothing to add. Rewards told afterwards are never read.

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: no reward was ever told. Nothing was released.
        """
        if self.policy.about.goal != "estimate":
            raise TypeError(
                f"Expected a stopping rule, which may finish; {self.policy.name} plays on for as "
                "long as it is asked. To end a session, ask no more; to end a campaign of a "
                "store, close it: campaign.close(why)."
            )
        self._gate.enter()
        try:
            self._wheel.go_on()
            if isinstance(self.plan, Hold) and self.plan.release:
                self._wheel.finish()
        finally:
            self._gate.leave()

    def _stand(self, arm: str | int, to: ArmStanding, what: str) -> None:
        self._gate.enter()
        try:
            settle(self._wheel)
            self._fold()
            number, roster = self._moved(arm, to, what)
            if roster != self._wheel.roster:
                self._note(what, number)  # first, for a block may be dropped next
                self._wheel.roster = roster
            if to == "retired":
                self._wheel.take_out(number)
            else:
                self._wheel.look_again()
        finally:
            self._gate.leave()

    def _moved(self, arm: str | int, to: ArmStanding, what: str) -> tuple[int, Roster]:
        """The arm's number, and the roster once it stands there.

        Raises:
            ValueError: it cannot.
        """
        require_choice(self.policy, f"{what}_arm")
        number = self._wheel.roster.number(arm)
        roster = self._wheel.roster.moved(number, to)
        if roster.active == ():
            raise ValueError(
                f"Expected an arm to be left in play; {roster.name(number)} is the last one. "
                "Add or resume another one first."
            )
        return number, roster

    def _note(self, what: str, arm: int) -> None:
        names = self._wheel.roster.labels
        event = SessionEvent(what, names[arm] if names else arm, self._wheel.asked)
        mine = [each.what for each in self._events if each.arm == event.arm]
        # an interrupted call that is made again notes nothing more
        again = mine[-1:] == [what]
        if what == "resume":  # an arm may have been suspended since
            stops = [each.what for each in self.events if each.arm == event.arm]
            again &= mine.count(what) >= stops.count("pause") + stops.count("suspend")
        if not again:
            self._events = (*self._events, event)
