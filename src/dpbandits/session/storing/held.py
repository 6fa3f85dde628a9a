"""Answers that are held, of a session whose rows keep them: it knows those only that a call needs,
and none between two calls.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpbandits.session.session import Session


def are_held(session: Session) -> bool:
    """Whether answers are held until their time has passed."""
    return session._attribution is not None


def due_now(session: Session) -> list[int]:
    """The decisions that wait and whose time has passed, oldest first."""
    window, waiting = session._attribution, session._wheel.pending
    return [] if window is None else [id for id in window.due_now() if id in waiting]


def put_in(session: Session, answers: Mapping[int, Any]) -> None:
    """Let the session know answers that are kept, in grid steps.

    Raises:
        DamagedSessionError: they are no answers to these decisions; none is shown.
    """
    session._vault.restore_held([list(each) for each in answers.items()], session._wheel.pending)


def known_answers(session: Session) -> dict[int, Any]:
    """All answers that the session knows, in grid steps as JSON takes them."""
    held = session._vault.held
    return {id: np.asarray(steps).tolist() for id, steps in held.items()}


def take_out(session: Session) -> None:
    """From now on the session knows none of them."""
    session._vault.held = {}


def blank_of(session: Session, observe: Sequence[int] | None) -> int | list[int]:
    """Zeros, of the form that the answer to a decision has."""
    return session._vault.blank(observe)
