"""What was believed after the releases of a campaign, from stored answers; and who was shown what
of late. Public.
"""

from collections import Counter
from typing import NamedTuple, final

from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import ReleaseRow, fresh_since
from dpbandits.service.turns.working import Working, frozen_json
from dpbandits.session.beliefs import Belief, Believed
from dpbandits.session.storing import Onlooker

MOST = 60
"""Moments that are kept."""

AT_ONCE = 5_000
"""Releases that are read at a time."""

CONFIDENCE = 0.95


class Moment(NamedTuple):
    """What was believed after one release. asked: decisions until then."""

    step: int
    asked: int
    arms: tuple[Belief, ...]


class Shown(NamedTuple):
    """How often an arm (or action) was shown among the newest decisions."""

    label: str
    decisions: int


class Recent(NamedTuple):
    """The newest decisions, after `after` up to `until`, by what was shown."""

    after: int
    until: int
    arms: tuple[Shown, ...]


@final
class Trail:
    """Beliefs of one campaign over its releases, at most `MOST` of them and the newest. Every
    release is folded in once; as they become many, every second moment is let go.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._begin()

    def _begin(self) -> None:
        self._step, self._folded, self._stride = 0, 0, 1
        self._history: Believed | None = None
        self._kept = list[tuple[int, Moment]]()
        self._last: Moment | None = None

    def follow(self, work: Working, rows: CampaignRows) -> tuple[Moment, ...]:
        """All that is kept, the newest release at the end. Nobody else is inside."""
        look, since = Onlooker.of(work.session), fresh_since(work.head)
        key, before = (work.head.generation, since, look.labels), self._key
        self._key = None  # should a reading fail, the next call begins anew
        if key != before or self._step > work.head.step:
            self._begin()
        while self._step < work.head.step:
            until = min(work.head.step, self._step + AT_ONCE)
            for row in rows.releases(self._step, until):
                if row.generation >= since:
                    self._fold(row, look, row.step == work.head.step)
            self._step = until
        self._key = key
        kept = [moment for _, moment in self._kept]
        if self._last is not None and self._last not in kept[-1:]:
            kept.append(self._last)
        return tuple(kept)

    def _fold(self, row: ReleaseRow, look: Onlooker, last: bool) -> None:
        before = look.nothing if self._history is None else self._history
        coordinates, answers = frozen_json(row.coordinates), frozen_json(row.answers)
        self._history = look.after(before, coordinates, answers)
        self._folded += 1
        chosen = self._folded % self._stride == 0
        if not (chosen or last):
            return
        self._last = Moment(row.step, row.asked, look.rows(self._history, CONFIDENCE))
        if chosen:
            self._kept.append((self._folded, self._last))
        if len(self._kept) >= MOST:
            self._stride *= 2
            self._kept = [each for each in self._kept if each[0] % self._stride == 0]


def recent(work: Working, rows: CampaignRows, newest: int) -> Recent:
    """What was shown in the newest decisions: their number does not grow with a campaign."""
    after = max(0, work.head.asked - newest)
    counts = Counter(
        str(frozen_json(row.action if row.label is None else row.label))
        for row in rows.decisions(after, newest)
    )
    named = dict.fromkeys(str(name) for name, _ in work.session.arms)
    if work.session.policy.about.feedback != "bandit":
        named = dict.fromkeys(sorted(counts))
    arms = tuple(Shown(name, counts[name]) for name in named)
    return Recent(after, work.head.asked, arms)
