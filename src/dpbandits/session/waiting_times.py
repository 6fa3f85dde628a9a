"""Answers that count only once their time has passed, told or not: see
`campaign/attribution.py`. Nothing public tells who answered.
"""

from dpbandits.core.errors import DecisionError
from dpbandits.session.decisions import Play, find_pending
from dpbandits.session.pairs import Answered, hold_pairs, read_pairs
from dpbandits.session.standing import Standing
from dpbandits.session.wheel.turn import settle


class WaitingTimes(Standing):
    """A session that may wait for answers during a fixed time."""

    def _hold(self, decision: object, reward: object) -> None:
        """Keep an answer until its time has passed. The first one stays: what comes again is
        checked and dropped, and nobody can tell. Nothing else is done, not even what is due: else
        one could tell by it that somebody answered.
        """
        wheel = self._wheel
        id, play = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
        self._require_time(id)
        hold_pairs([(id, play, reward)], self._vault)

    def _hold_pairs(self, pairs: list[Answered]) -> None:
        """The same for several at a time: all of them, or none."""
        read = read_pairs(pairs, self._wheel, self.campaign)
        for id, _, _ in read:
            self._require_time(id)
        hold_pairs(read, self._vault)

    def _fold(self) -> None:
        """Record, in the order of asking, every decision whose time has passed: what was told, or
        the default.
        """
        window, wheel, held = self._attribution, self._wheel, self._vault.held
        if window is None:
            return
        if len(window.due) < len(wheel.pending):  # an ask was interrupted as it ended
            window.asked(wheel.pending)
        for id in window.passed(wheel.pending.__contains__):
            settle(wheel)
            play = wheel.pending[id]
            steps = held[id] if id in held else self._default_steps(play)
            wheel.tell(id, play, None, steps)
            held.pop(id, None)

    def _require_time(self, id: int) -> None:
        """Refuse an answer whose time has passed, whether that was looked at since or not."""
        if self._attribution is not None and self._attribution.over(id):
            raise DecisionError(
                "This decision's time has passed, and what came until then counts. Nothing was "
                "recorded."
            )

    def _default_steps(self, play: Play) -> object:
        """What enters where nobody answered."""
        rewards = self._default_of(play)
        if self._randomizer is not None:
            rewards = self._randomizer.report(rewards, self._noise)
        return self._vault.on_grid(play.observe or play.action, rewards)

    def _default_of(self, play: Play) -> object:
        """The declared default, for each arm that is observed."""
        if self.guardrail is not None:
            return self.default, self.guardrail.default
        if self.policy.about.feedback == "bandit":
            return self.default
        return [self.default] * len(play.observe or range(self.policy.arms))
