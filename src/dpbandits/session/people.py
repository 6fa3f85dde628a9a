"""Decisions for people who come back: a place is taken before anything else, and given back only by
a decision that was never carried out.
"""

from collections.abc import Sequence

from dpbandits.campaign.register import Register
from dpbandits.session.decisions import Play
from dpbandits.session.turn import Wheel


def require_user(people: Register | None, user: object) -> None:
    """Refuse a decision that does not say for whom it is, or says so where nobody counts.

    Raises:
        ValueError: so it is.
    """
    if people is not None and user is None:
        raise ValueError(
            "Expected user=: this session promises something to each user, so it has to know whose "
            "decision it is. None was made."
        )
    if people is None and user is not None:
        raise ValueError(
            "Expected no user=: this session counts each reward as another person's. Make it with "
            "privacy_unit='user' and max_contributions=. None was made."
        )


def ask_of(
    who: str, people: Register, wheel: Wheel, eligible: Sequence[int] | None
) -> tuple[int, Play]:
    """A decision for this person: to learn from while a place is left. Interrupted, it costs the
    place at worst.
    """
    period = people.period()
    people.keep(wheel.pending)
    if not people.take(who, period):
        return wheel.ask_unread(eligible)
    ((id, play),) = wheel.ask_many(1, eligible)
    people.owns(id, who, period)
    return id, play
