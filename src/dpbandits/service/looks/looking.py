"""A campaign that is looked at by a process that may do nothing else: it reads public rows, never a
private one, and changes neither database nor witness.
"""

import time
from collections.abc import Callable
from typing import final

from dpbandits.core.calls.gate import Home
from dpbandits.core.errors import StoreError, WitnessError
from dpbandits.service.call_lock import CallLock
from dpbandits.service.looks.campaign import Seen
from dpbandits.service.rows.backend import Backend, CampaignRows
from dpbandits.service.rows.records import CampaignRow
from dpbandits.service.turns.fence import mark_of
from dpbandits.service.turns.working import CampaignSetting, Working, working_at
from dpbandits.service.witness import Mark, WitnessFile

PATIENCE, PAUSE = 5.0, 0.01
"""Seconds that a release which is committed may take to be witnessed; and between two looks."""

PUT_BACK = (
    "The database is behind its witness: it was put back. Whoever serves it fences it with the "
    "next call, or `dpbandits campaign fence` does; until then nothing of this campaign is shown."
)
STRANGE = (
    "The witness does not know this campaign. Name the one of whoever serves the store, with "
    "witness= or --witness."
)
UNSEEN = (
    "The newest release of this campaign is not witnessed, so nothing is shown. Whoever serves the "
    "campaign makes that good with the next call."
)


@final
class Looking:
    """One campaign of a store, for all threads of a process that only looks."""

    def __init__(
        self, row: CampaignRow, backend: Backend, witness: WitnessFile, setting: CampaignSetting
    ) -> None:
        self.row, self.backend, self.witness, self.setting = row, backend, witness, setting
        self._lock, self._home = CallLock(), Home()
        self._work: Working | None = None

    def look(self, look: Callable[[Working, CampaignRows], Seen]) -> Seen:
        """Look at a campaign as it stands; nothing that is not witnessed is shown.

        Raises:
            StoreError: the database was put back, or its newest release is not witnessed.
        """
        if not self._home.here:  # a forked child waits for no thread of its parent's
            self._lock, self._home, self._work = CallLock(), Home(), None
        until = time.monotonic() + PATIENCE
        while True:
            with self._lock:
                seen = self.witness.marks()
                with self.backend.reading(self.row.uid) as rows:
                    if self._is_witnessed(rows, seen):
                        return look(self._current(rows), rows)
            if time.monotonic() > until:
                raise StoreError(UNSEEN)
            time.sleep(PAUSE)

    def _is_witnessed(self, rows: CampaignRows, seen: dict[str, Mark]) -> bool:
        """Whether all that these rows hold was witnessed. seen: the marks before they were read,
        behind which no database falls that was not put back.

        Raises:
            StoreError: it was put back.
            WitnessError: this is not its witness.
        """
        whole = self.row.group != self.row.uid
        heads = rows.heads() if whole else {self.row.uid: rows.head()}
        for uid, head in heads.items():
            last, now = seen.get(uid), mark_of(head)
            if now == last:
                continue
            if last is None:
                raise WitnessError(STRANGE)
            if (now.generation, now.step) <= (last.generation, last.step):
                raise StoreError(PUT_BACK)
            if not self.witness.knows(uid, now):
                return False
        return True

    def _current(self, rows: CampaignRows) -> Working:
        before, self._work = self._work, None
        self._work = working_at(self.row, rows, self.setting, before)
        return self._work
