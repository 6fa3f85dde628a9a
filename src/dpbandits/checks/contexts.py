"""Runs of policies that decide by contexts, replayed with what one visitor brings replaced; and
their checks.

Where contexts are public, one answer is replaced. Where contexts and decisions are private, too,
it is a visitor's whole record, and outputs are releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.checks.checks import require
from dpbandits.checks.tape import Recorder, in_turn, visitors
from dpbandits.core.errors import (
    CheckFailed,
    ClosedError,
    DecisionError,
    Diverged,
    NotRecordedError,
)
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.cells import STEPS
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import JointDPSession
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
            self.brought: Answers = tuple(
                None if none else float(answer) for none, answer in zip(missing, drawn, strict=True)
            )
            self.recorder = Recorder(seed)
            self.run = self._played(self.brought, self.recorder)
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
        answers = (*self.brought[:at], answer, *self.brought[at + 1 :])
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
        for at in in_turn(self.run.read[:12], rng.permutation(self.run.read[12:]).tolist()):
            answer = self.brought[at]
            others: list[float | None] = [0.0, 1.0, *([None] if self.has_window else [])]
            yield from ((at, other) for other in others if other != answer)


def runs_of(policy: ContextualPolicy, seed: int) -> Iterator[ContextRun]:
    """Runs to replay: with 0/1 answers, with a window, and with answers between."""
    yield ContextRun(policy, seed, has_window=False, spread=False)
    yield ContextRun(policy, seed + 1, has_window=True, spread=False)
    yield ContextRun(policy, seed + 2, has_window=False, spread=True)


# Of policies whose contexts and decisions are private.


MOST_WAIT = 40
"""Asks after which the latest answers come."""

SHORT = 6
"""Visitors in a first block: there are releases soon, and many."""

Host = Callable[..., JointDPSession]


class Visitor(NamedTuple):
    """A person's whole record.

    Args:
        context: shape (features,).
        answer: 0 or 1; None: they never answer.
        wait: asks until the answer comes.
    """

    context: Any
    answer: float | None
    wait: int


def shown(session: JointDPSession) -> list[Any]:
    """All that a session shows to anybody but the person of a decision."""
    private = session._private()
    return [
        repr(session),
        session.public(),
        session.snapshot,
        session.statement(),
        session.ledger,
        session.guarantee,
        repr(session.state),
        [each.counts.tolist() for each in session.released],
        (len(private.counts), len(private.waiting)),
        refusal_of(session),
    ]


def refusal_of(session: JointDPSession) -> str:
    """What somebody hears who has no word."""
    try:
        session.tell("0" * 32, 1.0)
    except (DecisionError, ClosedError) as error:
        return str(error)
    return "taken"


@final
class JointRun:
    """A run on made-up visitors, with noise that is written down.

    Args:
        policy: it is played with short blocks.
        seed: of visitors and noise.
        late: whether answers come late and some never.
        host: what plays it.
    """

    def __init__(
        self, policy: JointDPLinTS, seed: int, *, late: bool, host: Host = JointDPSession
    ) -> None:
        self.policy = replace(policy, first=SHORT * policy.arms, alpha=1.01)
        self.seed, self.host = seed, host
        many = 3 * SHORT * policy.arms + MOST_WAIT
        rng = np.random.default_rng([seed, 18])
        ends = rng.integers(0, 2, many).tolist()
        silent = rng.random(many) < 0.3 * late
        waits = rng.integers(0, MOST_WAIT * late + 1, many).tolist()
        self.brought: tuple[Visitor, ...] = tuple(
            Visitor(context, None if none else float(end), wait)
            for context, none, end, wait in zip(
                visitors(policy.dimension, many, seed), silent, ends, waits, strict=True
            )
        )
        self.recorder = Recorder(seed)
        self.actions, self.shown = self._played(self.brought, self.recorder)
        self.shows_noise = True  # every count is released, each once

    def _played(
        self, people: Sequence[Visitor], noise: Recorder
    ) -> tuple[list[Any], list[list[Any]]]:
        """By visitor the decision and whether their answer was taken, and what is shown after every
        ask and in the end. The latest answers come too late.
        """
        session = self.host(self.policy, noise=noise, seed=self.seed, waits=MOST_WAIT)
        due = dict[int, list[tuple[int, Any, float]]]()
        actions, found = list[Any](), list[Any]()
        for at, visitor in enumerate(people):
            try:
                decision = session.ask(visitor.context)
            except ValueError:  # their context is refused
                actions.append([-1, False])
            else:
                actions.append([decision.action, False])
                if visitor.answer is not None:
                    due.setdefault(at + visitor.wait, []).append((at, decision, visitor.answer))
            for owner, each, answer in due.pop(at, []):
                with suppress(DecisionError):
                    session.tell(each, answer)
                    actions[owner][1] = True
            found.append([repr(session), session.releases, session.asked])
        found.append(shown(session))
        session.close()
        return actions, [*found, shown(session)]

    def replaced(self, at: int, visitor: Visitor) -> Recorder | None:
        """The draws of the run with one visitor replaced, in which all others get the same
        decisions and all that is shown is the same; None if there are none.
        """
        people = (*self.brought[:at], visitor, *self.brought[at + 1 :])
        other = Recorder(self.seed, script=self.recorder.draws)
        try:
            actions, found = self._played(people, other)
        except (Diverged, NotRecordedError):
            return None
        mine, others = self.actions.copy(), actions.copy()
        mine[at] = others[at] = -1  # their own decision is theirs
        same = found == self.shown and others == mine
        return other if same and len(other.draws) == len(self.recorder.draws) else None

    def neighbours(self) -> Iterator[tuple[int, Visitor]]:
        """Visitors in turn, and who may come in their place."""
        rng = np.random.default_rng([self.seed, 19])
        for at in rng.permutation(len(self.brought)).tolist():
            visitor = self.brought[at]
            other = self.brought[int(rng.integers(len(self.brought)))]
            flipped = 1.0 - (visitor.answer or 0.0)
            yield at, visitor._replace(context=-visitor.context, answer=flipped)
            yield at, visitor._replace(answer=flipped, wait=int(rng.integers(MOST_WAIT)))
            yield at, other._replace(answer=None)
            yield at, visitor._replace(context=np.full_like(visitor.context, np.nan))


def joint_runs_of(policy: JointDPLinTS, seed: int, host: Host = JointDPSession) -> list[JointRun]:
    """Runs to replay: with answers at once, and with late and missing ones."""
    return [JointRun(policy, seed + late, late=bool(late), host=host) for late in (0, 1)]


# What replays show.


class ContextLoss(NamedTuple):
    """What replays of runs found.

    Args:
        worst: the largest loss; None: something public changed, whatever the noise.
        outcome: the largest log-ratio of releases as they were.
        round: the visitor whose answer, or record, was replaced.
        replays: how many.
        changed: where something public changed, the run, the visitor and what came in its place.
    """

    worst: Fraction | None
    outcome: Fraction
    round: int
    replays: int
    changed: tuple[Any, int, Any] | None = None


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
                return ContextLoss(None, outcome, at + 1, replays, (run, at, other))
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
        require_within([run], guarantee, "answer", "public changes")


def outputs_are_releases(policy: JointDPLinTS, host: Host = JointDPSession) -> None:
    """Replace a visitor's context, answer and waiting time: with the same noised counts all that is
    shown is the same, and the exact loss of all releases together is within the guarantee.
    """
    assert policy.guarantee is not None
    runs = joint_runs_of(policy, 6, host)
    require_within(runs, policy.guarantee, "record", "that others see changes")


def require_within(runs: Sequence[Any], guarantee: Guarantee, replaced: str, changes: str) -> None:
    """Require that all that is shown stays the same in replays, at a loss within the guarantee.

    Args:
        replaced: what of a visitor. changes: what is wrong if something changes.
    """
    found = largest_loss_in_contexts(runs, LEAST)
    if found.worst is None:
        raise CheckFailed(
            f"With the {replaced} of visitor {found.round} replaced, and the noise that gives the "
            f"same releases, something {changes}."
        )
    require(
        found.worst <= guarantee.cost,
        f"One {replaced} can cost {found.worst}, the claim is {guarantee.cost}.",
    )
    require(found.worst > 0, f"No change of a {replaced} changes any release: nothing was seen.")


def releases_survive_json(policy: JointDPLinTS) -> None:
    """A session that is saved and restored at any point decides and releases as the uninterrupted
    one does, late answers included.
    """
    policy = replace(policy, first=SHORT * policy.arms)
    many, rng = 40 * policy.arms, np.random.default_rng(40)
    noise = [SimulatedNoise(42) for _ in range(2)]
    whole, broken = (JointDPSession(policy, noise=each, seed=43) for each in noise)
    waiting = list[Any]()
    for at, context in enumerate(visitors(policy.dimension, many, 41)):
        if at % 17 == 3:
            text = broken.to_json()
            broken = JointDPSession.from_json(text, policy=policy, noise=SimulatedNoise(42))
        pair = whole.ask(context), broken.ask(context)
        require(pair[0].action == pair[1].action, f"After loading, decision {at + 1} differs.")
        waiting.append(pair)
        if at % 3:
            reward = float(rng.integers(2))
            for session, decision in zip((whole, broken), waiting.pop(0), strict=True):
                session.tell(decision, reward)
    require(whole.public() == broken.public(), "After loading, what is shown differs.")
