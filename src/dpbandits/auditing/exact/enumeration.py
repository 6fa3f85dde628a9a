"""The law of every decision sequence of an index policy, for every table of 0/1 rewards, by
enumeration.

Between two releases decisions are a map from the released totals to plans. The policy itself draws
that map: its own `plan` is asked at the points of the lattice (see `deciding`). Of the rewards only
each block's sum matters, so blocks are enumerated by their sums.

One decision sequence is followed at a time: which arm is released when is then known, and noise
that no later answer of this sequence contains is summed out at once. That keeps the lattices of
trees and counters small.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpbandits.auditing.effort import Effort
from dpbandits.auditing.exact.branches import (
    BlockSums,
    Branch,
    Laws,
    Mass,
    Step,
    after_round,
    cut,
    dropped_mass,
)
from dpbandits.auditing.exact.deciding import POINTS_AN_ASK, Deciding, TotalRange
from dpbandits.auditing.exact.lattice import Axis, axes_of, carry, mass, totals
from dpbandits.auditing.exact.probe import Blocks, Streams
from dpbandits.core.errors import Unfit
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.policies.base import IndexPolicy, Statistics, StatisticsPolicy
from dpbandits.policies.contract import Policy, Release

POINTS_A_STEP = 10_000
"""Points of a lattice that are summed in the time that one step of the walk takes by itself."""

FOLDS = (IndexPolicy.update, StatisticsPolicy.update)
"""Updates that keep released totals as they are: a total with its noise is followed by adding the
noise to it.
"""


class Enumeration:
    """All decision sequences of `rounds` rounds. effort: counted in points of lattices. cut:
    probability left out on each axis.
    """

    def __init__(self, policy: Policy, rounds: int, effort: Effort, cut: float) -> None:
        if (
            not isinstance(policy.init(), Statistics)
            or policy.about.randomised
            or policy.about.feedback != "bandit"
        ):
            raise Unfit("its decisions are not those of an index over single arms")
        if type(policy).update not in FOLDS:
            raise Unfit("what it remembers is not known to be its released totals and no more")
        self.policy, self.rounds, self.effort, self.cut = policy, rounds, effort, cut
        self.streams, self.rng = Streams(policy.mechanism()), PublicRng(0, 0)
        self.unit = policy.mechanism().grid.steps  # a reward of 1
        self.laws: Laws = {}
        self.deciding = Deciding(policy, effort)
        self.points = self.steps = 0
        self.lost = 0.0  # the most that was left out of any history's probability
        # what releases before the last decision tell of one reward; None: everything
        self.price: Fraction | None = Fraction(0)
        self._path: tuple[int, ...] = ()
        self._reached = 0
        self._maps: dict[Any, tuple[NDArray[np.int16], list[Step]]] = {}

    def run(self) -> Laws:
        arms, never = self.policy.arms, set[tuple[int, ...]]()
        start = Branch(
            self.policy.init(), Step(0, 1, ()), ((),) * arms, (0,) * arms, (), np.ones(())
        )
        first = list(self._split(start, 1))
        for path in product(range(arms), repeat=self.rounds):
            if any(path[:t] in never for t in range(1, self.rounds)):
                continue
            self._path, self._reached = path, 0
            self._walk(1, (), first, 0.0)
            if self._reached < self.rounds:
                never.add(path[: self._reached + 1])
        if self.rng.state() is not None:
            raise Unfit("its plans draw public coins, whose law is not enumerated")
        return self.laws

    def share_of_points(self) -> float:
        """Of the work that was done: what lattices took, and not the walk itself."""
        points = self.points + POINTS_AN_ASK * self.deciding.asked
        return points / max(1, points + POINTS_A_STEP * self.steps)

    def _walk(self, t: int, sums: BlockSums, branches: list[Branch], lost: float) -> None:
        """All block sums that may follow one history; `t` is the round about to be decided. lost:
        probability left out so far.
        """
        points = sum(b.law.size for b in branches)
        self.points, self.steps = self.points + points, self.steps + 1
        self.effort.spend(points + POINTS_A_STEP)
        if self.effort.left() < 0:
            raise Unfit(
                "its decision sequences take longer to enumerate than was allowed; take fewer "
                "rounds, or a larger budget"
            )
        self.lost = max(self.lost, lost)
        group = [b for b in branches if b.step.arm == self._path[t - 1]]
        if not group:
            return
        self._reached = max(self._reached, t)
        if t == self.rounds:
            self.laws.setdefault(self._path, {})[sums] = Mass(
                float(sum(b.law.sum() for b in group)), lost
            )
            return
        moved = [after_round(b) for b in group]
        ending = {b.step.release if b.step.rounds == 0 else () for b in moved}
        if len(ending) > 1:
            raise Unfit("what it releases does not follow from its decisions")
        (coordinates,) = ending
        counts = [moved[0].open[c] for c in coordinates]
        for more in product(*[range(n + 1) for n in counts]):
            ended = [self._ended(b, t, coordinates, more) for b in moved]
            following = [
                after
                for branch, whole in ended
                for after in (self._split(branch, t + 1) if whole else [branch])
            ]
            dropped = sum(
                dropped_mass(before, after) for before, (after, _) in zip(moved, ended, strict=True)
            )
            self._walk(t + 1, (*sums, *zip(more, counts, strict=True)), following, lost + dropped)

    def _ended(
        self, branch: Branch, t: int, coordinates: tuple[int, ...], sums: tuple[int, ...]
    ) -> tuple[Branch, bool]:
        """The branch after round t: as it is inside a plan; released at the end of one, and that it
        ended.
        """
        if branch.step.rounds:
            return branch, False
        blocks, open_ = list(branch.blocks), list(branch.open)
        for c, s in zip(coordinates, sums, strict=True):
            blocks[c], open_[c] = (*blocks[c], (s * self.unit, open_[c])), 0
        answers = tuple(self.streams.answer(blocks[c]) for c in coordinates)
        plan = Hold(branch.step.arm, sum(branch.open) - sum(branch.state.open), branch.step.release)
        release = Release(coordinates, answers, t, ((plan.action, plan.rounds),))
        state = self.policy.update(branch.state, plan, release)
        axes, law = branch.axes, branch.law
        if coordinates:
            to_come = self._path[t : self.rounds - 1]
            axes = tuple(
                a
                for c in range(self.policy.arms)
                for a in self._axes(c, blocks[c], to_come.count(c))
            )
            law = carry(law, branch.axes, axes)
            self._charge(blocks, coordinates)
        return replace(
            branch, state=state, blocks=tuple(blocks), open=tuple(open_), axes=axes, law=law
        ), True

    def _axes(self, arm: int, blocks: Blocks, more: int) -> list[Axis]:
        if not blocks:
            return []
        counts = self.streams.longest(tuple(n for _, n in blocks), more)
        return axes_of(arm, self.streams.draws(counts), len(blocks) - 1, len(counts) - 1, self.cut)

    def _charge(self, blocks: Sequence[Blocks], coordinates: tuple[int, ...]) -> None:
        for c in coordinates:
            price = self.streams.price(tuple(n for _, n in blocks[c]))
            self.price = None if price is None or self.price is None else max(self.price, price)

    def _split(self, branch: Branch, t: int) -> Iterator[Branch]:
        """The branch, divided by the plan that follows at round t."""
        table, low, steps = self._plans(branch, t)
        points = totals(branch.axes, [round(x * self.unit) for x in branch.state.totals])
        ids = table[tuple(p - a for p, a in zip(points, low, strict=True))]
        ids = np.broadcast_to(ids, branch.law.shape)
        for k, step in enumerate(steps):
            law = np.where(ids == k, branch.law, 0.0)
            if law.any():
                yield replace(branch, step=step, law=law)

    def _plans(self, branch: Branch, t: int) -> tuple[NDArray[np.int16], list[int], list[Step]]:
        """Which plan follows at round t, by released totals: the table, its lowest totals, and the
        plans.
        """
        state, left = branch.state, self.rounds - t + 1
        box = tuple(self._range(branch, arm) for arm in range(self.policy.arms))
        ends = tuple(span.ends for span in box)
        blank = state._replace(totals=(0.0,) * self.policy.arms)
        if (blank, ends) not in self._maps:
            steps: list[Step] = []

            def decide(point: tuple[int, ...]) -> int:
                step = cut(
                    self.policy.plan(
                        blank._replace(totals=tuple(x / self.unit for x in point)), self.rng
                    ),
                    left,
                )
                if step not in steps:
                    steps.append(step)
                return steps.index(step)

            self._maps[blank, ends] = self.deciding.on(box, decide), steps
        table, steps = self._maps[blank, ends]
        return table, [a for a, _ in ends], steps

    def _range(self, branch: Branch, arm: int) -> TotalRange:
        """Where the arm's released total may be."""
        inside = [a for a in branch.axes if a.arm == arm and a.active]
        scales = tuple(sorted(scale for a in inside for scale in a.scales))
        law = mass(scales, self.cut)[0] if scales else np.ones(1)
        most = branch.state.rounds[arm] * self.unit
        return TotalRange(law, most, sum(a.reach for a in inside))
