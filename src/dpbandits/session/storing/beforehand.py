"""What a session would refuse, seen before anything is changed: its segments change together."""

from typing import Literal

from dpbandits.campaign.roster import ArmStanding
from dpbandits.session.session import Session

ArmMove = Literal["retire", "pause", "resume"]

MOVES: dict[ArmMove, ArmStanding] = {"retire": "retired", "pause": "paused", "resume": "active"}
"""By verb, where an arm stands afterwards."""


def require_move(session: Session, arm: str | int, verb: ArmMove) -> None:
    """
    Raises:
        ValueError: the arm cannot be moved.
    """
    session._moved(arm, MOVES[verb], verb)


def require_joined(session: Session, label: str | None) -> None:
    """
    Raises:
        ValueError: no arm of this name can be added.
    """
    session._wheel.roster.joined(label)


def require_reward(session: Session, seq: int, reward: object) -> None:
    """
    Raises:
        RewardError: it is none for this decision, if that waits. It is not shown.
    """
    play = session._wheel.pending.get(seq)
    if play is not None:
        session._vault.check(play.observe or play.action, reward)
