"""Database and witness, compared at the start of every transaction: a crash is made good, a
database that was restored from a copy is fenced.

A fence gives up what the copy may have lost: all open blocks are dropped unread, decisions that
wait are void, answers that are held are deleted, and nobody who came back is learned from before
the next window. So every record is read at most once over both timelines. Proof: proofs/fence.md.
"""

from dataclasses import replace
from typing import Any

from dpbandits.core.errors import WitnessError
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import (
    EventRow,
    HeadRow,
    ReadingRow,
    RowChange,
    latest_of,
    said_in,
    unseen_steps,
)
from dpbandits.service.turns.working import (
    CampaignSetting,
    Working,
)
from dpbandits.service.turns.writing import change_in, next_chain
from dpbandits.service.witness import Mark, WitnessFile
from dpbandits.session.storing import (
    begin_anew,
    give_up,
    keeps_exact_sums,
    not_before,
    price_of,
    window_of,
)


def mark_of(head: HeadRow) -> Mark:
    """How far a campaign has come, for its witness."""
    return Mark(head.generation, head.step, head.chain)


def is_behind(head: HeadRow, uid: str, witness: WitnessFile) -> bool:
    """Whether the database lost something that was shown.

    Raises:
        WitnessError: the witness is the one that lost something, or is another one.
    """
    if witness.path is None:
        return False
    seen, now = witness.latest(uid), mark_of(head)
    if seen == now:
        return False
    if seen is None:
        raise WitnessError(
            f"The witness {witness.path} does not know this campaign. If it is another file, open "
            "the store with witness= of the right one. If the witness is lost, nobody can say "
            "whether the database is the newest: `dpbandits campaign fence` gives up what may have "
            "been read, and goes on."
        )
    if is_ahead(head, seen):
        return False
    if (seen.generation, seen.step) < (head.generation, head.before):
        raise WitnessError(
            f"The witness {witness.path} is older than the database: it was put back. Put back the "
            "newest one; if that is lost, `dpbandits campaign fence` gives up what may have been "
            "read, and goes on."
        )
    return True


def is_ahead(head: HeadRow, seen: Mark | None) -> bool:
    """Whether the newest transaction alone is not witnessed yet: a crash came between."""
    return seen is not None and seen.chain == head.chain_before and seen.step == head.before


def was_put_back(work: Working, rows: CampaignRows, witness: WitnessFile) -> bool:
    """Whether a campaign has to be fenced: it is behind, or another one of its segments is. They
    count their people together, and so give up what they may have lost together. Where none is,
    what a crash left unwitnessed is witnessed now.
    """
    if witness.path is None:
        return False
    heads = {work.row.uid: work.head}
    if work.row.group != work.row.uid:
        heads = rows.heads()
    if any(is_behind(head, uid, witness) for uid, head in heads.items()):
        return True
    for uid, head in heads.items():
        seen, now = witness.latest(uid), mark_of(head)
        if seen != now:
            witness.add(uid, now, seen, latest_of(head))
    return False


def fence(
    work: Working, rows: CampaignRows, setting: CampaignSetting, witness: WitnessFile, now: float
) -> HeadRow:
    """Go on from a copy that may have lost something: nothing is read of it that may have been
    read. Returns the head as it is written.

    A newest transaction that its witness never saw was shown to nobody, and what it read may have
    been read and shown on the other timeline: its releases stay unseen, and the policy begins anew.
    """
    seen, unseen = witness.latest(work.row.uid), list[list[int]]()
    # whoever puts a whole machine back puts its clock back, too: the window that is closed is the
    # one in which the lost timeline was seen last
    not_before(work.session, witness.latest_time(work.row.uid))
    if seen is not None and not witness.knows(work.row.uid, mark_of(work.head)):
        unseen = [[work.head.before + 1, work.head.step]]
    seen = seen or mark_of(work.head)
    generation = max(seen.generation, work.head.generation) + 1
    chain = next_chain(seen.chain, "fence", generation)
    step = max(seen.step, work.head.step) + 1
    lost = ReadingRow(
        seen.generation, 0, 0, 0, price_of(work.session), step, "lost", work.head.version + 1
    )
    anew = bool(unseen) or keeps_exact_sums(work.session)
    begin_again(work, anew)
    unseen = [*unseen_steps(work.head), *unseen]
    work.head = work.head._replace(generation=generation, step=step, chain=chain)
    notes: dict[str, Any] = {"closed_window": window_of(work.session), "unseen": unseen}
    if anew:
        notes["fresh_since"] = generation
    change = change_in(
        work,
        now,
        notes=notes,
        events=[EventRow(now, "fence", f"generation {generation}", work.head.asked, None)],
        lost=[lost],
    )
    # where the witness stands now: should what follows be cut off, it is taken up from there
    head = change.head._replace(before=seen.step, chain_before=seen.chain)
    rows.write(work.sealed(replace(change, head=head, give_up=True)))
    return head


def begin_again(work: Working, whole: bool) -> None:
    """Give up all that is open. whole: the policy begins anew, too."""
    give_up(work.session)
    work.watch.note_lost()
    if whole:
        begin_anew(work.session)


def to_be_written(change: RowChange, head: HeadRow) -> RowChange | None:
    """What is written of a change; None: nothing that anybody could notice.

    Answers that are held alone leave the head as it was: a new version of it, a public row, would
    say that somebody answered.
    """
    nothing = not (
        change.asked
        or change.resolved
        or change.unlearned
        or change.releases
        or change.used
        or change.events
        or change.responses
    )
    if not nothing or change.head.closed != head.closed:
        return change
    said, before = ({**said_in(each), "turns": None} for each in (change.head, head))
    if said != before:
        return change
    return replace(change, head=head) if change.held else None
