"""Sessions for people whom a policy does not decide for: one arm is in play, and of some nobody
learns.
"""

from dpbandits.session.decisions import Decision
from dpbandits.session.options import too_many_pending
from dpbandits.session.session import Session


def play_only(session: Session, arm: int) -> None:
    """Before the first decision: no other arm is in play."""
    session._wheel.roster = session._wheel.roster.only(arm)
    session._wheel.look_again()


def ask_unread(session: Session, count: int) -> list[Decision]:
    """So many decisions, or none, for what is known to be best: their `learn` is False, and their
    rewards are taken and never read. No place of a person is taken.

    Raises:
        RuntimeError: more decisions than `max_pending` would wait. None was made.
    """
    wheel = session._wheel
    session._gate.enter()
    try:
        wheel.go_on()
        session._fold()
        if len(wheel.pending) + count > session.max_pending:
            raise too_many_pending(len(wheel.pending), count, session.max_pending)
        plays = [wheel.ask_unread(None) for _ in range(count)]
        session._wait_for(plays)
        return [play.decision(id, session.campaign) for id, play in plays]
    finally:
        session._gate.leave()
