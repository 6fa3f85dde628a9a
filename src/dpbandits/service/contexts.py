"""Contexts of a campaign in rows: those that the next codebooks need, the public counts beside open
blocks, and the policy with its state, which only a release or a new arm replaces.

All of it is public. A sum over the rows lies in the sealed private row, and a hash of the policy
and of its state in the head: rows that were edited, deleted or put back are found out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, final

import numpy as np
from msgspec.structs import replace as replaced

from dpbandits.core.errors import EditedRowsError
from dpbandits.core.inputs import Floats
from dpbandits.mechanisms.cells import PublicCounts
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.service.database import Rows
from dpbandits.service.sealing import BLOCK, EDITED, WHOLE, keyed_number
from dpbandits.service.tables import (
    FIRST_VISITORS,
    CellRow,
    ContextChange,
    ContextRow,
    LearnedRow,
)
from dpbandits.session.contexts import (
    Contexts,
    packed,
    packed_counts,
    unpacked,
    unpacked_counts,
)
from dpbandits.session.saving import as_plain, learned_of, policy_from_data, policy_to_data
from dpbandits.session.session import Session
from dpbandits.session.storing import (
    ChangeRecorder,
    ContextualParts,
    context_changes,
)

POLICY, STATE = "policy", "state"
"""Names of the rows that the head has hashes of."""


class KeptContext(NamedTuple):
    """A context, and whose it is where people are known."""

    context: Floats
    pseudonym: str | None
    mark: int


class LargePart(NamedTuple):
    """A policy or its state, and the hash of its row."""

    value: Any
    hash: str


@final
class ContextRows:
    """The rows of a campaign whose policy decides by contexts, as they are in memory.

    Args:
        key: of the sum over them, secret.

    Attributes:
        owners: by pending decision, whose it is.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._rows = dict[int, dict[int, KeptContext]]()  # by arm and number, in order
        self._cells = dict[int, dict[int, bytes]]()  # by arm and cell, as written
        self._open: Mapping[int, PublicCounts] = {}  # what these are of
        self._large = dict[str, LargePart]()
        self._total, self._records = 0, 0
        self._written = dict[tuple[int, int], KeptContext]()  # since the last change, as below
        self._gone = set[tuple[int, int]]()
        self._followed, self._anew = 0, False
        self.owners = dict[int, str]()

    def __repr__(self) -> str:
        return f"ContextRows({sum(map(len, self._rows.values()))})"

    # Loading

    def load(
        self,
        uid: str,
        rows: Rows,
        since: int,
        public: Mapping[str, Any],
        given: Policy | type[Policy] | None,
    ) -> ContextualParts:
        """Read what was written since a version (0: all), and return what a session needs of it.

        Args:
            public: the public part of the session.
            given: the policy or its class, if it is user-defined.

        Raises:
            EditedRowsError: the policy or its state are not those that were written.
        """
        read, asked = partial(rows.learned, uid), public["asked"]
        policy: ContextualPolicy = self._loaded(
            POLICY, public["policy"], read, lambda data: policy_from_data(data, given)
        )
        learned = self._loaded(
            STATE, public["learned"], read, lambda data: learned_of(policy, data, asked)
        )
        try:
            for row in rows.contexts(uid, since):
                self._keep(row.arm, row.number, bytes(row.body), row.pseudonym)
            for arm in [arm for arm in self._rows if arm != FIRST_VISITORS]:
                self._without_oldest(arm, policy.kept_contexts)
            if not learned.in_pilot:
                self._drop_arm(FIRST_VISITORS)
            self._load_cells(rows.open_cells(uid))
            contexts = self._contexts(policy, learned)
            self._open = contexts.open
        except (ValueError, TypeError, LookupError, OverflowError):
            raise EditedRowsError(EDITED) from None
        self._begin(int(public["records"]))
        return ContextualParts(policy, learned, contexts)

    def _loaded(
        self,
        what: str,
        said: Mapping[str, str],
        read: Callable[[str], str | None],
        made: Callable[[Any], Any],
    ) -> Any:
        """Return the policy or its state, made anew where it is another one now.

        Args:
            what: `POLICY` or `STATE`.
            said: what the head says of it.
            read: reads the text of its row.
            made: makes it of that text's data.
        """
        known, hash = self._large.get(what), said["sha256"]
        if known is None or known.hash != hash:
            data = json.loads(checked_text(read(what), hash))
            known = self._large[what] = LargePart(made(data), hash)
        return known.value

    def _load_cells(self, stored: Iterable[CellRow]) -> None:
        """Open blocks are few rows, and all of them are read."""
        for arm, cells in self._cells.items():
            for cell, body in cells.items():
                self._total -= self._mark(f"cell {arm} {cell}", body)
        self._cells = {}
        for arm, cell, body in stored:
            self._cells.setdefault(arm, {})[cell] = bytes(body)
            self._total += self._mark(f"cell {arm} {cell}", bytes(body))

    def _contexts(self, policy: ContextualPolicy, learned: Any) -> Contexts:
        counts = {
            arm: unpacked_counts(cells, policy, learned, arm) for arm, cells in self._cells.items()
        }
        return Contexts(counts, self._recent(policy.arms), self._of_arm(FIRST_VISITORS))

    def _recent(self, arms: int) -> tuple[tuple[Floats, ...], ...]:
        every = map(self._of_arm, range(arms))
        return tuple((np.array(rows),) if rows else () for rows in every)

    def _of_arm(self, arm: int) -> tuple[Floats, ...]:
        return tuple(row.context for row in self._rows.get(arm, {}).values())

    # The sum over all rows

    def digest(self) -> str:
        """The sum as text, always of one length."""
        return f"{self._total % WHOLE:032x}"

    def _mark(self, place: str, body: bytes) -> int:
        return keyed_number(place.encode() + b"|" + body, self._key, BLOCK)

    # Changes

    def _begin(self, records: int) -> None:
        """All changes are written."""
        self._written, self._gone = {}, set()
        self._followed, self._anew, self._records = 0, False, records

    def _keep(self, arm: int, number: int, body: bytes, pseudonym: str | None) -> KeptContext:
        mark = self._mark(f"context {arm} {number} {pseudonym}", body)
        row = KeptContext(unpacked(body), pseudonym, mark)
        self._total += mark
        self._rows.setdefault(arm, {})[number] = row
        return row

    def _add(self, arm: int, number: int, context: Floats, pseudonym: str | None) -> None:
        self._written[arm, number] = self._keep(arm, number, packed(context), pseudonym)

    def _drop(self, arm: int, number: int) -> None:
        row = self._rows[arm].pop(number)
        self._total -= row.mark
        if self._written.pop((arm, number), None) is None:
            self._gone.add((arm, number))

    def _drop_arm(self, arm: int) -> None:
        for number in list(self._rows.get(arm, ())):
            self._drop(arm, number)

    def _without_oldest(self, arm: int, kept: int) -> None:
        rows = self._rows.get(arm, {})
        for number in list(islice(rows, max(0, len(rows) - kept))):
            self._drop(arm, number)

    def owners_of_asked(self, watch: ChangeRecorder) -> dict[int, str]:
        """Of decisions that were made since the last change, whose they are."""
        new = (seq for seq, _ in context_changes(watch.journal).asked)
        return {seq: self.owners[seq] for seq in new if seq in self.owners}

    def follow(self, session: Session, watch: ChangeRecorder) -> None:
        """Bring the rows up to what the session did since."""
        policy = session.policy
        assert isinstance(policy, ContextualPolicy)
        changes = context_changes(islice(watch.journal, self._followed, None))
        self._followed = len(watch.journal)
        if session.state.in_pilot:  # contexts for the first codebooks are still collected
            for seq, context in changes.asked:
                self._add(FIRST_VISITORS, seq, context, self.owners.get(seq))
        else:
            self._drop_arm(FIRST_VISITORS)
        for seq, arm, context in changes.recorded:
            self._records += 1
            if policy.kept_contexts:
                self._add(arm, self._records, context, self.owners.get(seq))
        for arm in {arm for _, arm, _ in changes.recorded}:
            self._without_oldest(arm, policy.kept_contexts)
        for seq in changes.resolved:
            self.owners.pop(seq, None)

    def erase(self, session: Session, pseudonym: str) -> None:
        """Forget a person's contexts, in the session, too. What was released stays.

        Where noise is shaped by a block's own contexts, older ones of the arm go, too: the last of
        those that are left would pass for the block's, and its noise would not cover who is gone.
        """
        is_shaped = getattr(session.policy, "layout", "") == "shaped"
        for arm, rows in self._rows.items():
            theirs = [number for number, row in rows.items() if row.pseudonym == pseudonym]
            if is_shaped and theirs:
                theirs = [number for number in rows if number <= theirs[-1]]
            for number in theirs:
                self._drop(arm, number)
        state, recent = session._current.folded(), self._recent(session.policy.arms)
        assert state.contexts is not None
        kept = state.contexts._replace(recent=recent, pilot=self._of_arm(FIRST_VISITORS))
        session._replace_state(replaced(state, contexts=kept))

    def restart(self) -> None:
        """The policy begins anew, and knows of no contexts."""
        self._rows, self._cells, self._open, self._large, self._total = {}, {}, {}, {}, 0
        self._written, self._gone, self._anew = {}, set(), True

    def change(self, session: Session, watch: ChangeRecorder, version: int) -> ContextChange:
        """What is to be written since the last change. The journal is as it was then."""
        self.follow(session, watch)
        learned = self._changed_large(session)
        cells, emptied = self._changed_cells(session)
        rows = [
            ContextRow(arm, number, row.pseudonym, version, packed(row.context))
            for (arm, number), row in self._written.items()
        ]
        change = ContextChange(rows, sorted(self._gone), self._anew, cells, emptied, learned)
        self._begin(session._current.records)
        return change

    def _changed_large(self, session: Session) -> list[LearnedRow]:
        changed = list[LearnedRow]()
        for what, value in ((POLICY, session.policy), (STATE, session.state)):
            known = self._large.get(what)
            if known is not None and known.value is value:
                continue
            data = policy_to_data(value) if what == POLICY else as_plain(value)
            body = json.dumps(data, separators=(",", ":"), sort_keys=True)
            hash = hashlib.sha256(body.encode()).hexdigest()
            self._large[what] = LargePart(value, hash)
            if known is None or known.hash != hash:
                changed.append(LearnedRow(what, body))
        return changed

    def _changed_cells(self, session: Session) -> tuple[list[CellRow], list[tuple[int, int]]]:
        contexts = session._current.folded().contexts
        assert contexts is not None
        now, written, self._open = contexts.open, self._open, contexts.open
        changed, emptied = list[CellRow](), list[tuple[int, int]]()
        for arm in sorted({*now, *written}):
            if now.get(arm) is written.get(arm):
                continue
            before = self._cells.get(arm, {})
            after = packed_counts(now[arm]) if arm in now else {}
            for cell, body in after.items():
                if before.get(cell) != body:
                    self._total += self._mark(f"cell {arm} {cell}", body)
                    changed.append(CellRow(arm, cell, body))
            for cell, body in before.items():
                if after.get(cell) != body:
                    self._total -= self._mark(f"cell {arm} {cell}", body)
                if cell not in after:
                    emptied.append((arm, cell))
            self._cells[arm] = after
        self._cells = {arm: cells for arm, cells in self._cells.items() if cells}
        return changed, emptied

    def hashes(self) -> dict[str, Any]:
        """What the head says in place of the policy and of its state."""
        policy, state = (self._large[what].hash for what in (POLICY, STATE))
        return {"policy": {"sha256": policy}, "learned": {"sha256": state}}


def checked_text(body: str | None, hash: str) -> str:
    """The text of a row that the head has the hash of.

    Raises:
        EditedRowsError: it is another one, or there is none.
    """
    if body is None or hashlib.sha256(body.encode()).hexdigest() != hash:
        raise EditedRowsError(EDITED)
    return body


def has_contexts(public: Mapping[str, Any]) -> bool:
    """Whether the policy of a stored session decides by contexts.

    Args:
        public: the public part of the session.
    """
    return isinstance(public["policy"], dict) and "sha256" in public["policy"]


def small_answers(answers: Sequence[Any]) -> list[Any]:
    """Answers about arms as a release keeps them for ever: the noised sums of the cells, and the
    records behind each. Contexts are left out.
    """
    return [
        [each.totals, each.rounds, each.public.counts, each.public.negatives] for each in answers
    ]
