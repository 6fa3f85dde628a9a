"""Several tells at a time, of any segments: all pairs are checked before the first is told."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dpbandits.session.decisions import find_pending, resolved
from dpbandits.session.pairs import Answered, ReadPair, hold_pairs, note_resolved, pair_refused
from dpbandits.session.session import Session
from dpbandits.session.wheel.turn import settle

SegmentPair = tuple[Session, ReadPair]
"""A pair that was read, and whose segment it is of."""


def read_of_segments(
    pairs: Sequence[Answered], session_of: Callable[[Any], Session]
) -> list[SegmentPair]:
    """Each pair read once; all are refused for one wrong one, and the error says which.

    session_of: the segment of a decision, or an error.
    """
    read, seen, refused = list[SegmentPair](), set[tuple[str, int]](), None
    try:
        for decision, reward in pairs:
            session = session_of(decision)
            wheel, campaign = session._wheel, session.campaign
            id, play = find_pending(decision, wheel.pending, wheel.asked, campaign)
            if (campaign, id) in seen:
                raise resolved()
            seen.add((campaign, id))
            session._require_time(id)
            plain = wheel.vault.check(play.observe or play.action, reward)
            read.append((session, (id, play, plain)))
    except Exception as error:
        refused = pair_refused(error, pairs, len(read))
    if refused is not None:  # outside the handler, for the first error would say more
        raise refused
    return read


def tell_segments(read: Sequence[SegmentPair]) -> None:
    """Tell pairs that were read, in their order, or keep them until their time has passed."""
    sessions = sessions_in(session for session, _ in read)
    if sessions and sessions[0]._attribution is not None:  # an option is the same for all
        for session in sessions:
            hold_pairs([pair for own, pair in read if own is session], session._vault)
        return
    before = waiting_now(sessions)
    try:
        for session, (id, play, reward) in read:
            settle(session._wheel)
            session._wheel.tell(id, play, reward)
    except BaseException as error:
        note_resolved(error, before - waiting_now(sessions), len(read))
        raise


def sessions_in(sessions: Iterable[Session]) -> list[Session]:
    """Each of them once."""
    return list({id(session): session for session in sessions}.values())


def waiting_now(sessions: Iterable[Session]) -> int:
    return sum(len(session._wheel.pending) for session in sessions)
