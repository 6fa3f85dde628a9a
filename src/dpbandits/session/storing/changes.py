"""What a session changed since it was last looked at, so that a durable host writes that and no
more: no call's cost grows with what was decided before.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, final

from dpbandits.campaign.people.register import Place
from dpbandits.campaign.people.spacing import Newest
from dpbandits.policies.contract import Release
from dpbandits.session.decisions import Play
from dpbandits.session.session import Session

Reading = tuple[int, int, int]
"""A coordinate, and the first and the last (exclusive) of its rewards that were read together."""


class AskedPlay(NamedTuple):
    """A decision that was made. place: the person's it was made on, where people come back. due:
    when its time will have passed, where answers are waited for.
    """

    seq: int
    play: Play
    propensity: float | None
    place: Place | None
    due: float | None


class HeardRelease(NamedTuple):
    """One release, and what it read. asked: decisions made until then."""

    step: int
    release: Release
    readings: tuple[Reading, ...]
    asked: int


class SessionChanges(NamedTuple):
    """resolved: decisions that wait no more, and why. unlearned: those that wait still, whose
    rewards will not be read. used: by pseudonym, the window and the places taken in it. newest: by
    pseudonym, the newest decision that is learned from, where no two are read in one release.
    """

    asked: list[AskedPlay]
    resolved: dict[int, str]
    unlearned: list[int]
    releases: list[HeardRelease]
    used: dict[str, tuple[int, int]]
    newest: dict[str, Newest]

    def __repr__(self) -> str:
        return f"SessionChanges(asked={len(self.asked)}, releases={len(self.releases)})"


@final
class NotedPending(dict[int, Play]):
    """Decisions that wait, and a note of those that do no more."""

    def __init__(self, waiting: Iterable[tuple[int, Play]] = ()) -> None:
        super().__init__(waiting)
        self.gone: dict[int, Play] = {}

    def __delitem__(self, id: int) -> None:
        self.gone[id] = self[id]
        super().__delitem__(id)

    def pop(self, id: int, *default: Any) -> Any:
        if id in self:
            self.gone[id] = self[id]
        return super().pop(id, *default)


@final
class Watch:
    """Notes what a session changes. One watch a session, and it sees everything from now on."""

    def __init__(self, session: Session) -> None:
        self.session, wheel = session, session._wheel
        pending = wheel.pending
        self._pending = pending if type(pending) is NotedPending else NotedPending(pending.items())
        self._pending.gone.clear()
        wheel.pending, wheel.heard = self._pending, self._hear
        self._left = session._vault.left()
        self._asked = wheel.asked
        self._resolved = dict[int, str]()
        self._early = dict[int, Play]()  # resolved before it was written that they were asked
        self._unlearned = list[int]()
        self._releases = list[HeardRelease]()

    @property
    def resolved(self) -> Mapping[int, str]:
        """Decisions that wait no more since the last changes were written, and why."""
        return self._resolved

    def note(self, why: str, own: Iterable[int] = ()) -> None:
        """What was resolved since the last note was resolved for this reason: `own`, if any are
        named; then the others' time had passed.
        """
        named, wheel = set(own), self.session._wheel
        if wheel.pending is not self._pending:  # an arm was retired: plays were made anew
            before, self._pending = self._pending, NotedPending(wheel.pending.items())
            gone = before.keys() - wheel.pending.keys()
            self._pending.gone = before.gone | {id: before[id] for id in gone}
            self._unlearned += [
                id for id, play in wheel.pending.items() if id in before and before[id] is not play
            ]
            wheel.pending = self._pending
        for id, play in self._pending.gone.items():
            self._resolved[id] = why if not named or id in named else "passed"
            if id > self._asked:
                self._early[id] = play
        self._pending.gone = {}

    def take_over(self, earlier: SessionChanges) -> None:
        """What a session did that this one goes on from."""
        self._resolved = {**earlier.resolved}
        self._unlearned, self._releases = [*earlier.unlearned], [*earlier.releases]

    def changes(self) -> SessionChanges:
        """Everything since the last time; every call before was noted."""
        session, wheel = self.session, self.session._wheel
        wheel.chosen = wheel.chosen.needed_from(self._asked + 1)
        asked = [self._asked_play(id) for id in range(self._asked + 1, wheel.asked + 1)]
        used = {} if session._people is None else dict(session._people.used)
        newest = {} if session._wheel.spacing is None else dict(session._wheel.spacing.newest)
        found = SessionChanges(asked, self._resolved, self._unlearned, self._releases, used, newest)
        self._asked = wheel.asked
        self._resolved, self._unlearned, self._releases = {}, [], []
        self._early, session._owners = {}, {}
        return found

    def _asked_play(self, id: int) -> AskedPlay:
        session = self.session
        chosen = session._wheel.chosen.at(id)
        window = session._attribution
        due = None if window is None else window.due.get(id)
        play = self._early.get(id) or session._wheel.pending[id]
        place = session._owners.get(id)
        return AskedPlay(id, play, chosen.propensity, place, due)

    def _hear(self, release: Release) -> None:
        left = self.session._vault.left()
        readings = list[Reading]()
        for coordinate, (clock, dropped) in left.items():
            was, dropped_before = self._left.get(coordinate, (0, 0))
            if clock > was and dropped == dropped_before:
                readings.append((coordinate, was, clock))
        self._left = left
        wheel = self.session._wheel
        self._releases.append(
            HeardRelease(self.session._vault.turns, release, tuple(readings), wheel.asked)
        )
