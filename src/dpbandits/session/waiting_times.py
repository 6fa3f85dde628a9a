"""Answers that count only once their time has passed, told or not: see
`campaign/attribution.py`. Nothing public tells who answered.
"""

from dpbandits.session.decisions import Play, find_pending
from dpbandits.session.standing import Standing
from dpbandits.session.turn import settle


class WaitingTimes(Standing):
    """A session that may wait for answers during a fixed time."""

    def _hold(self, decision: object, reward: object) -> None:
        """Keep an answer until its time has passed. The first one stays: what comes again is
        checked and dropped, and nobody can tell.
        """
        caller = self._gate.enter(1)
        try:
            settle(self._wheel)
            self._fold()
            wheel, vault = self._wheel, self._vault
            id, play = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
            steps = vault.on_grid(play.observe or play.action, reward)
            vault.held.setdefault(id, steps)
        finally:
            self._gate.leave(caller)

    def _fold(self) -> None:
        """Record, in the order of asking, every decision whose time has passed: what was told, or
        the default.
        """
        window, wheel, held = self._attribution, self._wheel, self._vault.held
        if window is None:
            return
        for id in window.passed(wheel.pending.__contains__):
            settle(wheel)
            play = wheel.pending[id]
            wheel.record(id, play, held[id] if id in held else self._default_steps(play))
            held.pop(id, None)
        for id in [id for id in held if id not in wheel.pending]:
            del held[id]

    def _default_steps(self, play: Play) -> object:
        """What enters where nobody answered."""
        rewards = self._default_of(play)
        if self._randomizer is not None:
            rewards = self._randomizer.report(rewards, self._noise)
        return self._vault.on_grid(play.observe or play.action, rewards)

    def _default_of(self, play: Play) -> object:
        """The declared default, for each arm that is observed."""
        if self.policy.about.feedback == "bandit":
            return self.default
        return [self.default] * len(play.observe or range(self.policy.arms))
