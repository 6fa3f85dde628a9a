"""What was released of each arm, in few numbers: all that beliefs are made of. Public, never
changed in place, and plain data that JSON can hold.

Every release is folded in by `after`. Rows are kept as the public counts grow, a tenth at a time,
so a policy that releases every round leaves some dozens of rows an arm, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from dpbandits.campaign.believing.moments import draws_variance
from dpbandits.campaign.believing.rows import (
    ArmHistory,
    ReleasedRow,
    mirrored_row,
    restored_arm,
    row_data,
    rows_together,
)
from dpbandits.core.inputs import shown
from dpbandits.core.plan import EVERY
from dpbandits.core.values import damaged, entries, part, whole
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.meaning import AnswerLaw, NoisedSum
from dpbandits.policies.contract import Policy, Release

GROWTH = 1.1
"""A row is kept when its count has grown by this factor since the row before."""


LARGE, ENOUGH = 4.0, 16.0
"""Standard deviations of its noise that a block has people, or all so far have, when an arm's
first row is kept.
"""


@dataclass(frozen=True)
class MeanReader:
    """How a policy's answers are read. law: the noise in totals; None: they say nothing of means.

    ends: the mean of what is summed, for a reward of 0 and of 1. reports: each reward is a report
        with a draw of its own. rounding: how far a reward may lie from its grid step.
    """

    mechanism: Mechanism
    law: AnswerLaw | None
    ends: tuple[float, float] = (0.0, 1.0)
    reports: bool = False
    rounding: float = 0.0

    @classmethod
    def of(cls, policy: Policy) -> MeanReader:
        mechanism, randomizer = policy.reader, policy.randomizer()
        grid = mechanism.grid if randomizer is None else randomizer.grid
        # a grid of one step is for rewards of 0 and 1, which it holds as they are
        whole = grid.rounding == "bernoulli" or getattr(policy, "grid", 0) == 1 or grid.steps == 1
        rounding = 0.0 if whole else 0.5 / grid.steps
        if randomizer is None:
            return cls(mechanism, mechanism.law, rounding=rounding)
        law = None if mechanism.law is None else randomizer.law
        noisy = law is not None and law.family != "none"
        return cls(mechanism, law, randomizer.ends, noisy, rounding)

    def says(self, answer: Any, release: int) -> NoisedSum | None:
        said = self.mechanism.says(answer, release) if self.law is not None else None
        if said is None or not self.reports:
            return said
        return said._replace(draws=((1, said.rounds),))


@final
@dataclass(frozen=True)
class Believed:
    """What was released so far, of every arm there ever was.

    first: arms at the start. growth: see `GROWTH`.

    >>> import dpbandits as dpb
    >>> from dpbandits.mechanisms import Answer
    >>> from dpbandits.policies.contract import Release
    >>> history = Believed.of(dpb.DPKLUCB(arms=2, epsilon=1))
    >>> answer = Answer(total=20.5, rounds=32, draws=1)
    >>> history = history.after(Release((0,), (answer,), 32, ((0, 32),)))
    >>> history.arms[0].newest
    ReleasedRow(release=1, total=20.5, rounds=32, draws=((1, 1),))
    """

    reader: MeanReader
    arms: tuple[ArmHistory, ...]
    first: int
    growth: float = GROWTH

    @classmethod
    def of(
        cls, policy: Policy, labels: Sequence[str] | None = None, growth: float = GROWTH
    ) -> Believed:
        """Before anything was released. labels: the arms' names; by default their numbers."""
        names = list(map(str, range(policy.arms))) if labels is None else list(labels)
        if len(names) != policy.arms:
            raise ValueError(
                f"Expected labels={shown(labels)} to be {policy.arms} names, one an arm."
            )
        return cls(MeanReader.of(policy), tuple(map(ArmHistory, names)), policy.arms, growth)

    def with_arm(self, label: str) -> Believed:
        """One more arm, added while the others are at work."""
        return replace(self, arms=(*self.arms, ArmHistory(label)))

    @property
    def mirrored(self) -> Believed:
        """The same releases as if of 1 less each reward: where the smallest mean is the best."""
        ends = sum(self.reader.ends)
        arms = (
            arm._replace(
                kept=tuple(mirrored_row(row, ends) for row in arm.kept),
                newest=None if arm.newest is None else mirrored_row(arm.newest, ends),
            )
            for arm in self.arms
        )
        return replace(self, arms=tuple(arms))

    def leader(self, arms: Sequence[int]) -> int:
        """The arm with the largest released mean among these; the first where nothing was
        released.
        """
        rows = {arm: self.arms[arm].newest for arm in arms}
        means = {arm: row.total / row.rounds for arm, row in rows.items() if row is not None}
        return max(means, key=means.__getitem__) if means else arms[0]

    def after(self, release: Release) -> Believed:
        """The history with one more release."""
        whole_record = release.coordinates == (EVERY,)
        coordinates = range(len(release.answers)) if whole_record else release.coordinates
        if self.reader.law is None or not release.answers:
            return self
        arms = list(self.arms)
        for arm, answer in zip(coordinates, release.answers, strict=True):
            arms[arm] = self._answered(arms[arm], answer)
        return Believed(self.reader, tuple(arms), self.first, self.growth)

    def _answered(self, arm: ArmHistory, answer: Any) -> ArmHistory:
        number = arm.answers + 1
        said = self.reader.says(answer, number)
        if said is None or said.rounds == 0:
            return arm._replace(answers=number)
        row, law = ReleasedRow(number, *said), self.reader.law
        assert law is not None
        starts = not arm.kept and self._starts(arm, row, law)
        if law.forgets and arm.newest is not None and not starts:
            row = rows_together(arm.newest, row)
        keeps = starts or (bool(arm.kept) and self._keeps(arm.kept[-1], row, law))
        return ArmHistory(arm.label, number, (*arm.kept, row) if keeps else arm.kept, row)

    @staticmethod
    def _starts(arm: ArmHistory, row: ReleasedRow, law: AnswerLaw) -> bool:
        """Whether an arm's rows start with this one. Answers that forget may be left out before:
        the first blocks of a policy that doubles them are smaller than their noise.
        """
        before, draws = (0, ()) if arm.newest is None else (arm.newest.rounds, arm.newest.draws)
        own = draws_variance(law, row.draws)
        so_far = math.sqrt(draws_variance(law, draws) + own)
        large = row.rounds >= LARGE * math.sqrt(own) or before + row.rounds >= ENOUGH * so_far
        return large or not law.forgets

    def _keeps(self, last: ReleasedRow, row: ReleasedRow, law: AnswerLaw) -> bool:
        """Whether a row is kept after the last one: by the number of the answer alone where noise
        is drawn anew, for there the rows have to be settled beforehand.
        """
        if law.redraws:
            return row.release >= max(last.release + 1, math.ceil(self.growth * last.release))
        return row.rounds >= self.growth * last.rounds

    def to_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {
            "first": self.first,
            "growth": self.growth,
            "arms": [
                [arm.label, arm.answers, [row_data(row) for row in arm.kept], row_data(arm.newest)]
                for arm in self.arms
            ],
        }

    @classmethod
    def restored(cls, policy: Policy, data: object) -> Believed:
        """What `to_data` wrote.

        Raises:
            DamagedSessionError: it is not that, of this policy.
        """
        return cls.reread(MeanReader.of(policy), data)

    @classmethod
    def reread(cls, reader: MeanReader, data: object) -> Believed:
        """The same, of answers that are read so."""
        found = part(data, "beliefs", "first", "growth", "arms")
        growth = found["growth"]
        if type(growth) not in (int, float) or not 1.0 <= growth <= 1000.0:
            raise damaged("beliefs.growth is no factor of at least 1")
        first = whole(found["first"], "beliefs.first", 1)
        arms = tuple(map(restored_arm, entries(found["arms"], "beliefs.arms")))
        if first > len(arms):
            raise damaged("beliefs.arms are fewer than at the start")
        return cls(reader, arms, first, float(growth))
