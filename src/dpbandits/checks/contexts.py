"""Runs of policies that decide by contexts, replayed with one answer replaced; and their checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.checks.checks import require
from dpbandits.checks.tape import Recorder, visitors
from dpbandits.core.errors import Diverged
from dpbandits.mechanisms.cells import STEPS
from dpbandits.noise.protocol import Noise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.session.saving import as_plain, public_part
from dpbandits.session.session import Session
from dpbandits.session.state import Released

HOURS = 12
"""The attribution window of runs that have one; a visitor comes every `STEP` hours."""

STEP = 5
LEAST = 12
"""Answers that a check replaces in every run."""

LONGEST = 20_000
"""Visitors to which a run is prolonged until something is released."""

Answers = tuple[float | None, ...]
"""What each visitor answered; None: nothing."""


class PublicRun(NamedTuple):
    """Everything that anybody sees of a run.

    Args:
        actions: the decisions, and whether they are learned from.
        public: the public part of the session after the last answer.
        released: the noised values of all releases, in whole steps.
        read: the visitors whose answers are learned from.
    """

    actions: list[Any]
    public: dict[str, Any]
    released: list[int]
    read: list[int]

    def same(self, other: PublicRun) -> bool:
        return self[:3] == other[:3]


@final
class ContextRun:
    """A run of a policy on made-up visitors, with noise that is written down.

    Args:
        policy: a contextual one.
        has_window: whether answers are held for an attribution window; some visitors then give
            none.
        seed: of visitors, answers and noise.
        spread: whether answers are between 0 and 1; else they are 0 or 1.
    """

    def __init__(
        self, policy: ContextualPolicy, seed: int, *, has_window: bool, spread: bool
    ) -> None:
        self.policy, self.seed, self.has_window = policy, seed, has_window
        least = 3 * policy.arms
        many = policy.pilot_visitors + 60
        while True:
            self.contexts = visitors(policy.dimension, many, seed)
            rng = np.random.default_rng([seed, 18])
            ends = rng.integers(0, 2, many).astype(float)
            drawn = rng.random(many) if spread else ends
            missing = rng.random(many) < 0.3 * has_window
            self.answers: Answers = tuple(
                None if none else float(answer) for none, answer in zip(missing, drawn, strict=True)
            )
            self.recorder = Recorder(seed)
            self.run = self._played(self.answers, self.recorder)
            if len(self.run.public["ledger"]["lines"]) >= least or many >= LONGEST:
                return
            many = min(LONGEST, 2 * many)

    def _played(self, answers: Answers, noise: Noise) -> PublicRun:
        now = [datetime(2026, 3, 1)]
        options: dict[str, Any] = {}
        if self.has_window:
            options = {
                "attribution_window": timedelta(hours=HOURS),
                "clock": lambda: now[0],
            }
        session = Session(self.policy, noise=noise, seed=self.seed, **options)
        journal = session._tables.journal = list[Any]()
        actions, learned = list[Any](), list[int]()
        for at, (context, answer) in enumerate(zip(self.contexts, answers, strict=True)):
            decision = session.ask(context=context)
            actions.append((decision.action, decision.learn))
            if decision.learn:
                learned.append(at)
            if answer is not None:
                session.tell(decision, answer)
            elif not self.has_window:
                session.expire(decision)
            now[0] += timedelta(hours=STEP)
        session.settle()
        state = session._current.folded()
        public = as_plain(public_part(session, state, 1))
        unit = self.policy.grid * (STEPS if self.policy.layout == "vector" else 1)
        released = [
            round(float(total) * unit)
            for event in journal
            if isinstance(event, Released)
            for answer in event.release.answers
            for total in answer.totals
        ]
        return PublicRun(actions, public, released, learned)

    @property
    def shows_noise(self) -> bool:
        """Whether the noised values themselves are released, each once: then a loss of their noise
        is one of what is seen.
        """
        return self.run.released == [draw.noisy for draw in self.recorder.draws]

    def replaced(self, at: int, answer: float | None) -> Recorder | None:
        """The draws of the run with one answer replaced, in which everything public is the same;
        None if there are none.
        """
        answers = (*self.answers[:at], answer, *self.answers[at + 1 :])
        other = Recorder(self.seed, script=self.recorder.draws)
        try:
            run = self._played(answers, other)
        except Diverged:
            return None
        same = run.same(self.run) and len(other.draws) == len(self.recorder.draws)
        return other if same else None

    def neighbours(self) -> Iterator[tuple[int, float | None]]:
        """Answers that were learned from, and what may come in their place; the first ones and
        others in turn.
        """
        rng = np.random.default_rng([self.seed, 19])
        early, late = self.run.read[:12], rng.permutation(self.run.read[12:]).tolist()
        turns = [at for pair in zip(early, late, strict=False) for at in pair]
        for at in [*turns, *early[len(late) :], *late[len(early) :]]:
            answer = self.answers[at]
            others: list[float | None] = [0.0, 1.0, *([None] if self.has_window else [])]
            yield from ((at, other) for other in others if other != answer)


class ContextLoss(NamedTuple):
    """What replays of runs found.

    Args:
        worst: the largest loss; None: something public changed, whatever the noise.
        outcome: the largest log-ratio of releases as they were.
        round: the visitor whose answer, or record, was replaced.
        replays: how many.
    """

    worst: Fraction | None
    outcome: Fraction
    round: int
    replays: int


def runs_of(policy: ContextualPolicy, seed: int) -> Iterator[ContextRun]:
    """Runs to replay: with 0/1 answers, with a window, and with answers between."""
    yield ContextRun(policy, seed, has_window=False, spread=False)
    yield ContextRun(policy, seed + 1, has_window=True, spread=False)
    yield ContextRun(policy, seed + 2, has_window=False, spread=True)


def largest_loss_in_contexts(runs: Sequence[Any], most: int) -> ContextLoss:
    """Replace what visitors bring one by one, at most so often in each run.

    Args:
        runs: `ContextRun`s, or the like with whole records to replace.
    """
    worst, outcome, round, replays = Fraction(0), Fraction(0), 0, 0
    for run in runs:
        for at, other in islice(run.neighbours(), most):
            replays += 1
            found = run.replaced(at, other)
            if found is None:
                return ContextLoss(None, outcome, at + 1, replays)
            if run.shows_noise:
                outcome = max(outcome, seen_loss(run.recorder, found))
            loss = found.loss()
            if loss > worst:
                worst, round = loss, at + 1
    return ContextLoss(worst, outcome, round, replays)


def seen_loss(before: Recorder, after: Recorder) -> Fraction:
    """By how much likelier the one run's noised values are than the other's, as a logarithm in
    units of the budget; 0 for noise other than Laplace's.
    """
    total = Fraction(0)
    for one, other in zip(before.draws, after.draws, strict=True):
        if one.family != "laplace":
            return Fraction(0)
        gap = abs(one.noisy - other.value) - abs(one.noisy - one.value)
        total += one.cost * Fraction(gap, one.sensitivity)
    return abs(total)


# Checks


def contexts_loss_within_claim(policy: ContextualPolicy) -> None:
    """Replace one answer: everything public stays the same, and the exact privacy loss of all
    releases together never exceeds the guarantee.
    """
    guarantee = policy.guarantee
    if guarantee is None:
        return
    for run in runs_of(policy, 6):
        found = largest_loss_in_contexts([run], LEAST)
        require(
            found.worst is not None,
            f"With the answer of visitor {found.round} replaced, and the noise that gives the same "
            "releases, something public changes.",
        )
        assert found.worst is not None
        require(
            found.worst <= guarantee.cost,
            f"One reward can cost {found.worst}, the claim is {guarantee.cost}.",
        )
        require(found.worst > 0, "No change of a reward changes any release: nothing was seen.")
