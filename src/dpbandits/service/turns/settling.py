"""What is due is made before a call: releases, and answers whose time has passed. It is a step of
its own, which stands whatever the call then says: a call that is refused has no say in how often a
block's noise is drawn.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dpbandits.core.errors import (
    DamagedSessionError,
    StoreError,
    UnlearnedError,
    WitnessError,
)
from dpbandits.service.sealing import edited_decisions
from dpbandits.service.turns.asks import Scratch
from dpbandits.service.turns.working import Working
from dpbandits.session.storing import are_held, due_now, put_in, take_out

NO_LEARNING = (
    "A release was made, and what a policy of your own makes of it failed ({kind}: see the cause). "
    "The release is given up, and nothing that it read is read again: the next call fences the "
    "campaign, and goes on. Correct the policy."
)


@contextmanager
def releases_kept(work: Working, failures: tuple[type[Exception], ...]) -> Iterator[None]:
    """What is released meanwhile is written, or given up: an error that comes after it may depend
    on its noise. Where noise or database fail themselves the block may be drawn again.

    failures: of the database.

    Raises:
        UnlearnedError: a release was made and cannot be written.
    """
    before, failed = work.session.releases, None
    try:
        yield
    except Exception as error:
        away = isinstance(error, (StoreError, WitnessError, *failures))
        if away or work.session.releases == before:
            raise
        failed = error
    if failed is not None:
        raise UnlearnedError(NO_LEARNING.format(kind=type(failed).__name__)) from failed


def settle(work: Working, scratch: Scratch) -> None:
    """Make what is due by now.

    Raises:
        EditedRowsError: answers that are held are not those that were written.
        NotRecordedError: a release failed.
    """
    with answers_of(work, scratch, due_now(work.session)):
        work.session.settle()


@contextmanager
def answers_of(work: Working, scratch: Scratch, seqs: Sequence[int]) -> Iterator[None]:
    """The session knows the answers to these decisions meanwhile, as far as there are any."""
    if not are_held(work.session):
        yield
        return
    answers, damaged = kept_answers(work, scratch, seqs), False
    try:
        put_in(work.session, answers)
    except DamagedSessionError:
        damaged = True
    if damaged:  # without a key, anybody may have written them
        raise edited_decisions()
    try:
        yield
    finally:
        take_out(work.session)


def kept_answers(work: Working, scratch: Scratch, seqs: Sequence[int]) -> dict[int, Any]:
    """The answers to those of these decisions that were answered.

    Raises:
        EditedRowsError: the row of one of them is missing, or another one.
    """
    found = {seq: scratch.told[seq] for seq in seqs if seq in scratch.told}
    stored = [seq for seq in seqs if seq in work.waiting.rows and seq not in found]
    bodies = scratch.rows.held(stored) if stored else {}
    for seq in stored:
        if seq not in bodies:
            raise edited_decisions()
        told, steps = work.seal.opened_held(bodies[seq], seq, work.waiting.rows[seq].nonce)
        if told:
            found[seq] = steps
    return found
