"""A run that was written down, and what replays of it with one changed record show."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from dpbandits.auditing.effort import Effort, Work
from dpbandits.auditing.transcript.neighbours import AuditRun
from dpbandits.auditing.transcript.noise_sums import (
    MOST,
    NoiseSums,
    answered,
    moved,
    sums_of,
)
from dpbandits.auditing.transcript.outside_randomness import (
    BY_ITSELF,
    ITS_KIND,
    OWN_COINS,
    TIMES,
    UNEVEN,
    Outside,
    heeds_kind,
)
from dpbandits.auditing.transcript.shown_noise import ADDED, shows_noise
from dpbandits.checks.tape import RecordedDraw, Recorder
from dpbandits.core.errors import Diverged, Foreign, Leak, Unclear, Undecided
from dpbandits.core.inputs import Floats
from dpbandits.simulation.transcript import Entered, Replay


@final
class Witness:
    """A written run. It is prolonged until it has a release, if that is possible."""

    def __init__(self, play: AuditRun, effort: Effort | None = None) -> None:
        """effort: for everything that is done with this run; by default without a limit."""
        self.effort = effort or Work()
        self.recorder, self.run = play.written()
        self.seed = play.seed
        both = [self._unchanged(self.seed).plans for _ in range(2)]
        # None where the policy draws them from a source of its own
        self.plans = both[0] if both[0] == both[1] else None
        if heeds_kind(self.run, self.recorder):
            raise Foreign(ITS_KIND)

    @property
    def draws(self) -> list[RecordedDraw]:
        return self.recorder.draws

    @property
    def rounds(self) -> int:
        return self.run.path.rounds if self.run.path else 0

    def _unchanged(self, seed: int | None) -> Replay:
        """Replay the unchanged table: with the same noise and coins everything must stay the same,
        also the values that are handed to the noise.
        """
        try:
            seen = self.script(self.draws)
            replay = self.run.replay({}, seen, seed=seed)
        except Diverged:
            raise Foreign(OWN_COINS) from None
        if replay.at is not None or seen.draws != self.draws or seen.thrown != self.recorder.thrown:
            raise Foreign(OWN_COINS)
        return replay

    def confirm(self, event: int, change: Any, after: list[RecordedDraw]) -> None:
        """Replay a pair, and the unchanged table, again and again. after: the neighbour's draws.

        Raises:
            Foreign: the results differed, or randomness was used that the noise source did not
                give.
        """
        self.always(lambda: self._replayed(event, change).draws, after)

    def always(
        self,
        again: Callable[[], list[RecordedDraw] | str],
        first: list[RecordedDraw] | str,
        asking: bool = False,
    ) -> None:
        plans = self.plans if asking else None
        try:
            with Outside() as outside:
                for _ in range(TIMES):
                    if self.effort.left_to_confirm() <= 0:
                        raise Foreign(
                            "There was no time to repeat what was seen, and see whether it "
                            "always comes out the same."
                        )
                    if (
                        self._unchanged(None if plans is None else self.seed).plans != (plans or [])
                        or again() != first
                    ):
                        raise Foreign(OWN_COINS)
        except Leak:
            raise Foreign(OWN_COINS) from None
        if outside.used:
            raise Foreign(OWN_COINS)

    @cached_property
    def shown(self) -> bool:
        """Whether the answers determine all noise, so that its loss is theirs: each release
        determines its own noise, and sums stay sums far away. Coins never count as shown: another
        coin may hide what one coin tells.
        """
        if self.recorder.coins or not shows_noise(self.run, self.draws):
            return False
        return (
            len(self.draws) > MOST
            or any(draw.family != "laplace" for draw in self.draws)
            or self.sums is not None
        )

    def script(self, draws: Sequence[RecordedDraw]) -> Recorder:
        return Recorder(self.seed, script=list(draws), tosses=self.recorder.thrown)

    @cached_property
    def drawn(self) -> dict[int, int]:
        """The draws of each release."""
        again, before, found = self.script(self.draws), 0, dict[int, int]()
        for at, *_ in self.run.answers({}, again):
            found[at], before = len(again.draws) - before, len(again.draws)
        return found

    @cached_property
    def sums(self) -> NoiseSums | None:
        """How all answers are sums of the noise, if they are."""
        return None if self.recorder.coins else sums_of(self.run, self.draws, self.effort)

    @cached_property
    def self_adding(self) -> bool:
        """Whether the mechanism draws noise for a value that is always 0, and adds it itself."""
        return bool(self.draws) and all(
            draw.family in ADDED and not np.any(draw.value) for draw in self.draws
        )

    def replayed(self, event: int, change: Any, asking: bool = False) -> list[RecordedDraw]:
        """The draws with which the neighbour gives the same answers. asking: also ask the policy
        for every plan again.

        Raises:
            Leak: there are none, or plans differ, in every replay.
            Unclear: it cannot be said whether there are any.
            Foreign: other replays came out differently.
        """
        try:
            return self._replayed(event, change, asking).draws
        except Leak as leak:
            if self.recorder.coins:
                raise Unclear(
                    f"{leak} Whether other coins make up for it, replays cannot say."
                ) from None
            self.always(lambda: self._text(event, change, asking), str(leak), asking)
            raise

    def _text(self, event: int, change: Any, asking: bool) -> str:
        """The leak's message; an empty text if there is none."""
        try:
            self._replayed(event, change, asking)
        except Leak as leak:
            return str(leak)
        return ""

    def _replayed(self, event: int, change: Any, asking: bool = False) -> Recorder:
        seed = self.seed if asking and self.plans is not None else None
        replay, other = self._again(event, change, self.draws, seed)
        if replay.at is not None:
            # so far a function of the rewards: of these it cannot answer what it did
            if not other.draws and not other.coins:
                raise self._leak(event, certain=True)
            if len(other.draws) != sum(self.drawn[at] for at in self.drawn if at <= replay.at):
                raise Unclear(UNEVEN)
            replay, other = self._moved(event, change, seed)
        self._same(replay, other, event)
        return other

    def _again(
        self, event: int, change: Any, draws: Sequence[RecordedDraw], seed: int | None
    ) -> tuple[Replay, Recorder]:
        other = self.script(draws)
        try:
            return self.run.replay({event: change}, other, seed=seed), other
        except Diverged as error:
            raise Unclear(
                "One changed record changes what is asked of the noise, and replays cannot say "
                f"what that tells: {error}"
            ) from None

    def _moved(self, event: int, change: Any, seed: int | None) -> tuple[Replay, Recorder]:
        """Replay with noise moved so that the mechanism's answers stay the same. It is a leak if
        the answers of both runs are the same sums of their noise, near and far, and no move of the
        noise makes up for the record.
        """
        if self.sums is None:
            raise Unclear(BY_ITSELF)
        gap = self._gap(self.sums, event, change)
        try:
            move = self.sums.move(gap)
        except Undecided:
            raise Foreign("Whether some noise keeps its answers takes too long to say.") from None
        if move is None:
            raise self._leak(event)
        replay, other = self._again(event, change, moved(self.draws, dict(enumerate(move))), seed)
        if replay.at is not None:
            raise self._leak(event) if self.sums.unique() else Unclear(BY_ITSELF)
        return replay, other

    def _gap(self, sums: NoiseSums, event: int, change: Any) -> Floats:
        """By how much the noise has to move the neighbour's answers, if it moves them as it does
        the run's.

        Raises:
            Leak: a number that no noise moves differs between the two runs.
            Unclear: the neighbour may make other sums of its noise, say with its sign turned, so it
                is not known how their answers come to agree.
        """
        old = answered(self.run, self.draws)
        try:
            new = sums.neighbour(self.run, {event: change})
        except Diverged:
            raise Unclear(UNEVEN) from None
        if (
            len(old) != len(new.answers)
            or ((old != new.answers) & new.still & ~sums.matrix.any(axis=1)).any()
        ):
            raise self._leak(event)
        if not new.fits:
            raise Unclear(BY_ITSELF)
        return old - new.answers

    def _leak(self, event: int, certain: bool = False) -> Leak:
        text = f"A record changed in the block that begins with round {self.begins(event)} "
        return Leak(text + "changes what is released, whatever the noise.", certain)

    def _same(self, replay: Replay, other: Recorder, event: int) -> None:
        if len(other.draws) != len(self.draws):
            raise Unclear(UNEVEN)
        if replay.at is None and replay.plans and replay.plans != self.plans:
            raise Leak(
                f"A record changed in the block that begins with round {self.begins(event)} "
                "changes a plan, though releases stay the same."
            )

    def begins(self, event: int) -> int:
        block = self.run.events[event]
        return block.start + 1 if isinstance(block, Entered) else 0
