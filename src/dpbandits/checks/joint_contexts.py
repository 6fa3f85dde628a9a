"""Outputs are releases: runs of policies whose contexts and decisions are private, replayed with
one visitor's whole record replaced; and their checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.checks.checks import require
from dpbandits.checks.contexts import LEAST, largest_loss_in_contexts
from dpbandits.checks.tape import Recorder, visitors
from dpbandits.core.errors import ClosedError, DecisionError, Diverged, NotRecordedError
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import JointDPSession

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
        self.visitors: tuple[Visitor, ...] = tuple(
            Visitor(context, None if none else float(end), wait)
            for context, none, end, wait in zip(
                visitors(policy.dimension, many, seed), silent, ends, waits, strict=True
            )
        )
        self.recorder = Recorder(seed)
        self.actions, self.shown = self._played(self.visitors, self.recorder)
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
        people = (*self.visitors[:at], visitor, *self.visitors[at + 1 :])
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
        for at in rng.permutation(len(self.visitors)).tolist():
            visitor = self.visitors[at]
            other = self.visitors[int(rng.integers(len(self.visitors)))]
            flipped = 1.0 - (visitor.answer or 0.0)
            yield at, visitor._replace(context=-visitor.context, answer=flipped)
            yield at, visitor._replace(answer=flipped, wait=int(rng.integers(MOST_WAIT)))
            yield at, other._replace(answer=None)
            yield at, visitor._replace(context=np.full_like(visitor.context, np.nan))


def joint_runs_of(policy: JointDPLinTS, seed: int, host: Host = JointDPSession) -> list[JointRun]:
    """Runs to replay: with answers at once, and with late and missing ones."""
    return [JointRun(policy, seed + late, late=bool(late), host=host) for late in (0, 1)]


# Checks


def outputs_are_releases(policy: JointDPLinTS, host: Host = JointDPSession) -> None:
    """Replace a visitor's context, answer and waiting time: with the same noised counts all that is
    shown is the same, and the exact loss of all releases together is within the guarantee.
    """
    found = largest_loss_in_contexts(joint_runs_of(policy, 6, host), LEAST)
    require(
        found.worst is not None,
        f"With the record of visitor {found.round} replaced, and the noise that gives the same "
        "counts, something that others see changes.",
    )
    assert found.worst is not None
    require(
        found.worst <= policy.guarantee.cost,  # type: ignore[union-attr]
        f"One record can cost {found.worst}, the claim is {policy.budget}.",
    )
    require(found.worst > 0, "No change of a record changes any release: nothing was seen.")


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
            broken = JointDPSession.from_json(text, noise=SimulatedNoise(42))
        pair = whole.ask(context), broken.ask(context)
        require(pair[0].action == pair[1].action, f"After loading, decision {at + 1} differs.")
        waiting.append(pair)
        if at % 3:
            reward = float(rng.integers(2))
            for session, decision in zip((whole, broken), waiting.pop(0), strict=True):
                session.tell(decision, reward)
    require(whole.public() == broken.public(), "After loading, what is shown differs.")
