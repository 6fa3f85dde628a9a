"""A run that was written down, and what replays of it with one changed record show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from dpbandits.audit.decoding import numbers, shown
from dpbandits.audit.feeding import longest
from dpbandits.audit.hidden import MOST, Sums, Undecided, moved, sums_of
from dpbandits.audit.neighbours import Play
from dpbandits.checks.checks import CheckFailed, replay_is_blind
from dpbandits.checks.tape import Diverged, Draw, Recorder, Tape
from dpbandits.policy import Policy
from dpbandits.simulate.replay import Entered, Replay, transcript

LONGEST = 20_000
"""Rounds a run is prolonged to until something is released."""


class Leak(Exception):
    """A replay diverged. certain: no noise was drawn before, so the answer is a function of the rewards and no epsilon holds."""

    def __init__(self, message: str, certain: bool = False) -> None:
        super().__init__(message)
        self.certain = certain


class Foreign(Exception):
    """The subject does not stand still: the same rewards and the same noise do not give the same run."""


@final
class Witness:
    """A run with at least one release, if need be of more rounds than were asked for."""

    def __init__(self, play: Play) -> None:
        rounds = play.rounds
        while True:
            self.recorder = Recorder(play.seed, base=play.noise)
            self.run = transcript(play.policy, Tape(play.rewards(rounds)), rounds, noise=self.recorder, seed=play.seed)
            if play.policy.about.goal == "estimate":
                self.run.finish()
            if self.run.releases or rounds >= min(LONGEST, longest(play.policy)):
                break
            rounds = min(4 * rounds, LONGEST, longest(play.policy))
        self.seed = play.seed
        self.plans = self._still()

    @property
    def draws(self) -> list[Draw]:
        return self.recorder.draws

    @property
    def rounds(self) -> int:
        return self.run.path.rounds if self.run.path else 0

    def _still(self) -> list[str] | None:
        """The run's plans; None where the policy draws them from a source of its own."""
        both: list[Replay] = []
        for _ in range(2):
            try:
                both.append(self.run.replay({}, self._script(self.draws), seed=self.seed))
            except Diverged as error:
                raise Foreign(str(error)) from None
        if any(replay.at is not None for replay in both):
            raise Foreign("The same rewards and the same noise give other answers: it draws randomness of its own.")
        return both[0].plans if both[0].plans == both[1].plans else None

    @cached_property
    def shown(self) -> bool:
        """The answers determine all noise, so its loss is theirs: each release all of its own, and sums stay sums far away."""
        if not shown(self.run, self.draws):
            return False
        return len(self.draws) > MOST or any(draw.family != "laplace" for draw in self.draws) or self.sums is not None

    def _script(self, draws: Sequence[Draw]) -> Recorder:
        return Recorder(self.seed, script=list(draws))

    @cached_property
    def sums(self) -> Sums | None:
        """How all answers are sums of the noise, if they are."""
        return sums_of(self.run, self.draws)

    @cached_property
    def self_adding(self) -> bool:
        """Noise is drawn for nothing, and added by the mechanism itself."""
        return bool(self.draws) and all(draw.family in ("laplace", "gaussian") and draw.value == 0 for draw in self.draws)

    def replayed(self, event: int, change: Any, asking: bool = False) -> list[Draw]:
        """The draws of the neighbour that gives the same answers. asking: for every plan again, too.

        Raises:
            Leak: there is none, or plans differ.
            Foreign: it cannot be said whether there is one.
        """
        replay, other = self._again(event, change, self.draws, self.seed if asking and self.plans is not None else None)
        if replay.at is not None:
            if self.recorder.coins:
                raise Foreign("Its answers depend on coins, which replays do not follow.")
            if not self.self_adding:
                raise self._leak(event, other)
            other = self._moved(event, change)
        self._same(replay, other, event)
        return other.draws

    def _again(self, event: int, change: Any, draws: Sequence[Draw], seed: int | None) -> tuple[Replay, Recorder]:
        other = self._script(draws)
        try:
            return self.run.replay({event: change}, other, seed=seed), other
        except Diverged as error:
            raise Leak(f"One changed record changes what is asked of the noise: {error}") from None

    def _moved(self, event: int, change: Any) -> Recorder:
        """With noise moved so that what the mechanism makes of it is as it was."""
        if self.sums is None:
            raise Foreign("It draws noise for nothing and uses it in a way that cannot be followed: pass exact values to the noise source.")
        old, new = (
            numbers([answer.answers for *_, answer in self.run.answers(c, self._script(self.draws))]) for c in ({}, {event: change})
        )
        try:
            move = self.sums.move(old - new) if len(old) == len(new) else None
        except Undecided:
            raise Foreign("Whether some noise keeps its answers takes too long to say.") from None
        replay, other = self._again(event, change, moved(self.draws, dict(enumerate(move))), None) if move else (None, self._script(()))
        if replay is None or replay.at is not None:
            raise self._leak(event, other)
        return other

    def _leak(self, event: int, other: Recorder) -> Leak:
        return Leak(
            f"A record changed in the block that begins with round {self.begins(event)} changes what is released, whatever the noise.",
            certain=not self.self_adding and not other.draws and not other.coins,
        )

    def _same(self, replay: Replay, other: Recorder, event: int) -> None:
        if len(other.draws) != len(self.draws):
            raise Leak("One changed record changes how often noise is drawn.")
        if replay.at is None and replay.plans and replay.plans != self.plans:
            raise Leak(
                f"A record changed in the block that begins with round {self.begins(event)} changes a plan, though releases stay the same."
            )

    def begins(self, event: int) -> int:
        block = self.run.events[event]
        return block.start + 1 if isinstance(block, Entered) else 0


def see_blind(policy: Policy) -> None:
    """All rewards swapped at once, through a `Session`: what is played must not move."""
    try:
        replay_is_blind(policy, rounds=min(300, longest(policy)))
    except CheckFailed as error:
        raise Leak(str(error)) from None


def change_of(change: tuple[int, ...]) -> Any:
    return np.array(change) if len(change) > 1 else change[0]
