"""Calls that wait to be done, and what they come to once a transaction did them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from sys import _getframe
from types import FrameType
from typing import Any, Protocol

from dpbandits.core.calls.forgetting import forget
from dpbandits.core.errors import StoreError, WitnessError
from dpbandits.service.rows.records import RowChange
from dpbandits.service.turns.asks import AskedDecisions, AskOp, CampaignDecision, Scratch
from dpbandits.service.turns.working import Working
from dpbandits.service.turns.writing import change_in, compact
from dpbandits.session.decisions import Decision
from dpbandits.session.storing import counts_of


class Op(Protocol):
    """A call: what it does to a campaign, and what it answers. Whatever refuses it does so before
    anything was changed.
    """

    def settles(self, work: Working) -> bool:
        """Whether what is due is made before it: that stands, whatever the call then says."""

    def run(self, work: Working, scratch: Scratch) -> Any: ...


class Ticket:
    """A call that waits to be done."""

    __slots__ = ("done", "error", "op", "refused", "value")

    def __init__(self, op: Op) -> None:
        self.op, self.done = op, False
        self.value: Any = None
        self.error: Exception | None = None
        self.refused: Exception | None = None

    def refuse(self, error: Exception) -> None:
        """Fail with this error, from where the call was done on."""
        self.error = told_from(error, _getframe(1))

    def refuse_later(self, error: Exception) -> None:
        """The same, once the transaction stands that says so: the error may tell of a release that
        it made.
        """
        self.refused = told_from(error, _getframe(1))

    def answer(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.value


def told_from(error: Exception, caller: FrameType) -> Exception:
    """An error as it is told to whoever made the call. Who caught it did calls of others as well,
    whose answers are in the variables there.
    """
    trace = error.__traceback__
    forget(error, caller)
    while trace is not None and trace.tb_frame is caller:
        trace = trace.tb_next
    return error.with_traceback(trace)


UNDONE = object()


def standing(work: Working) -> object:
    """What a refused call leaves as it was."""
    session = work.session
    return counts_of(session), session.releases, session.unread, session.events


def own(error: StoreError | WitnessError) -> StoreError | WitnessError:
    """The same error once more: raised in several threads, one would have the frames of all."""
    made = type(error)(*error.args).with_traceback(error.__traceback__)
    made.__cause__ = error.__cause__
    return made


def interrupted() -> StoreError:
    return StoreError(
        "Another call that was done together with this one was interrupted, and whether this one "
        "stands is not known. Make it again: no reward is counted twice."
    )


def change_after(work: Working, scratch: Scratch) -> RowChange:
    """What the calls of a transaction come to."""
    return change_in(
        work,
        scratch.now,
        eligible=scratch.eligible,
        events=scratch.events,
        responses=scratch.responses,
        notes=scratch.notes,
        closed=scratch.closed,
        told=scratch.told,
    )


def answers_named(
    batch: Sequence[Ticket], answers: Sequence[Any], change: RowChange, work: Working
) -> tuple[list[Any], RowChange]:
    """Answers with decisions under their names, and what is kept of them for calls that are made
    again.
    """
    known = {row.seq: row.propensity for row in change.asked}
    nonce = change.asked[0].nonce if change.asked else 0  # one for all that a transaction made
    found, kept = list[Any](), dict(change.responses)
    for ticket, answer in zip(batch, answers, strict=True):
        if not isinstance(answer, AskedDecisions):
            found.append(answer)
            continue
        names = work.ids.names(nonce, change.head.generation, (each.id for each in answer.plays))
        found.append(under_names(answer.plays, names, known))
        if isinstance(ticket.op, AskOp) and ticket.op.key is not None:
            place = work.seal.call_place(ticket.op.principal, ticket.op.key)
            kept[place] = compact([ticket.op.mark(work), found[-1]])
    return found, replace(change, responses=kept) if kept else change


def under_names(
    asked: Iterable[Decision], names: Iterable[str], propensities: dict[int, float | None]
) -> list[CampaignDecision]:
    """Decisions under the names by which callers know them."""
    return [
        CampaignDecision(name, *decision[1:], propensities[decision.id])
        for name, decision in zip(names, asked, strict=True)
    ]
