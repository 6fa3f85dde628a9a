"""People of a session whose places are kept a row each: what a call reads of whom it is about, and
what is forgotten after it.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from dpbandits.campaign.people.spacing import Newest
from dpbandits.session.session import Session
from dpbandits.session.storing.parts import waits


class PlaceRows(Protocol):
    """Where places are kept."""

    def used(self, pseudonyms: Sequence[str]) -> Mapping[str, tuple[int, int]]:
        """By pseudonym, the window and the places that were taken in it."""

    def newest(self, pseudonyms: Sequence[str]) -> Mapping[str, Newest]:
        """By pseudonym, the newest decision that is learned from."""


def read_places(session: Session, rows: PlaceRows, who: str) -> None:
    """What is stored of a person. What an earlier call of the same transaction took is not stored
    yet, and stands.
    """
    people, spacing = session._people, session._wheel.spacing
    if people is not None and who not in people.used:
        people.used.update(rows.used([who]))
    if spacing is not None and who not in spacing.newest:
        spacing.newest.update(rows.newest([who]))


def waiting_for(session: Session, who: str, stored: Sequence[int]) -> list[int]:
    """Decisions that wait for a person: stored ones, and those of this transaction."""
    fresh = [seq for seq, (owner, _) in session._owners.items() if owner == who]
    return [seq for seq in dict.fromkeys([*stored, *fresh]) if waits(session, seq)]


def pseudonym_in(session: Session, user: object) -> str | None:
    """What a person is called; None where people are not known."""
    return None if session._people is None else session._people.pseudonym(user)


def forget_decisions(session: Session, rows: PlaceRows, who: str) -> None:
    """Keep of a person only that they may have an unread reward."""
    read_places(session, rows, who)
    if session._wheel.spacing is not None:
        session._wheel.spacing.forget(who, session._wheel.asked)


def fill_places(session: Session, who: str) -> None:
    """Nobody learns from this person any more in the window that is open."""
    people = session._people
    if people is not None:
        people.used[who] = people.period(), people.cap


def not_before(session: Session, latest: float) -> None:
    """The clock of contributions has been as far as this elsewhere."""
    if session._people is not None:
        session._people.not_before(latest)


def window_of(session: Session) -> int | None:
    """The number of the window of contributions that is open; None where people are not known."""
    return None if session._people is None else session._people.period()


def owned_by(session: Session, seq: int, who: str, window: int) -> None:
    """A decision took this person's place."""
    session._owners[seq] = who, window


def forget_places(session: Session) -> None:
    """The next call reads them anew: another process may have given some away."""
    if session._people is not None:
        session._people.used.clear()
    if session._wheel.spacing is not None:
        session._wheel.spacing.newest.clear()
