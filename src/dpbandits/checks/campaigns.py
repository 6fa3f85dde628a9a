"""Checks of a policy in a long trial: unplanned drops of open blocks, added and retired arms, very
late rewards.
"""

from contextlib import suppress
from itertools import pairwise
from typing import Any

from dpbandits.checks.checks import horizon_of, require
from dpbandits.checks.sessions import asked, begun, some_rewards, tell_reward
from dpbandits.core.privacy import spent
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session


def unplanned_drops(policy: Policy) -> None:
    """Drop open blocks at any time: they are never released, nothing is released twice, and the
    policy continues.
    """
    rng, session = begun(policy, 31)
    rounds = min(400, horizon_of(policy))
    for round in range(rounds):
        decision = asked(session, rng)
        tell_reward(session, decision, some_rewards(policy, decision, rng))
        if round % 23 == 9:
            before = open_rewards(session)
            session.drop_open()
            require(open_rewards(session) == 0, "A block that was dropped is still open.")
            require(
                bool(session._state.books.ledger.left) or before == 0,
                "What was dropped did not leave its block.",
            )
        if round % 97 == 50:
            session = Session.from_json(session.to_json(), policy=policy, noise=SimulatedNoise(32))
    require_consistent_ledger(session)


def open_rewards(session: Session) -> int:
    """Return the number of rewards in open blocks."""
    return sum(block.count for block in session._current.folded().books.blocks.values())


def require_consistent_ledger(session: Session) -> None:
    """Require that each reward left its block at most once, at the guaranteed cost."""
    spans = dict[int, list[Any]]()
    for line in session.ledger:
        spans.setdefault(line.coordinate, []).append(line)
    for lines in spans.values():
        require(
            all(a.stop <= b.start for a, b in pairwise(lines)),
            "A reward was released more than once.",
        )
    claim = session.policy.guarantee
    expected = 0 if not session.ledger else None if claim is None else claim.cost
    require(
        spent(session.ledger) == expected, "The ledger adds up to something else than the claim."
    )
    view = session._current
    resolved = view.asked - len(view.pending)
    require(resolved == view.records + view.unread, "A decision was recorded twice, or lost.")


def arms_come_and_go(policy: Policy) -> None:
    """Add, pause and retire arms while rewards are pending, for policies that choose. A retired arm
    is never played or released again; its late rewards are accepted and dropped.
    """
    if not policy.chooses:
        return
    rng, session = begun(policy, 34)
    pending = list[Any]()
    for round in range(300):
        pending.append(asked(session, rng))
        if len(pending) > 20:
            decision = pending.pop(0)
            tell_reward(session, decision, some_rewards(session.policy, decision, rng))
        if round == 70:
            with suppress(ValueError):  # of a policy whose constants depend on their number
                session.add_arm("new" if policy.labels else None)
        if round == 100:
            session.pause_arm(0)
            require(
                all(decision.action != 0 for decision in asked(session, rng, 50)),
                "A paused arm was played.",
            )
            session.resume_arm(0)
        if round == 150 and policy.arms > 1:
            session.retire_arm(1)
            lines = [line for line in session.ledger if line.coordinate == 1]
        if round == 200:
            session = Session.from_json(
                session.to_json(), policy=session.policy, noise=SimulatedNoise(35)
            )
    if policy.arms > 1:
        rows = list(session.decisions())
        require(
            all(row.action != 1 for row in rows[-140:] if row.learn), "A retired arm was played."
        )
        require(
            lines == [line for line in session.ledger if line.coordinate == 1],
            "A retired arm was released.",
        )
    require_consistent_ledger(session)


def late_rewards(policy: Policy) -> None:
    """Report every reward 40 rounds late: blocks close by their counts, and the policy
    continues.
    """
    rng, session = begun(policy, 37)
    pending = list[Any]()
    for _ in range(min(600, horizon_of(policy))):
        pending.append(asked(session, rng))
        if len(pending) > 40:
            decision = pending.pop(0)
            tell_reward(session, decision, some_rewards(policy, decision, rng))
    for decision in pending:
        tell_reward(session, decision, some_rewards(policy, decision, rng))
    require_consistent_ledger(session)
    require(session.pending == (), "A decision is still pending.")
