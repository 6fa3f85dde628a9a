"""Checks of a policy in a long trial: open blocks dropped though no plan said so, arms that come
and go, answers that come very late.
"""

from itertools import pairwise
from typing import Any

import numpy as np

from dpbandits.checks.checks import horizon_of, require
from dpbandits.checks.sessions import some_rewards, tell_reward
from dpbandits.core.privacy import spent
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.session.session import Session


def unplanned_drops(policy: Policy) -> None:
    """Open blocks are dropped at any time: nothing in them is ever read, nothing is read twice, and
    the policy goes on.
    """
    rng, session = np.random.default_rng(31), Session(policy, noise=SimulatedNoise(32), seed=33)
    rounds = min(400, horizon_of(policy))
    for round in range(rounds):
        decision = session.ask()
        tell_reward(session, decision, some_rewards(policy, decision, rng))
        if round % 23 == 9:
            before = unread_rewards(session)
            session.drop_open()
            require(unread_rewards(session) == 0, "A block that was dropped is still open.")
            require(
                bool(session._state.books.ledger.left) or before == 0,
                "What was dropped did not leave its block.",
            )
        if round % 97 == 50:
            session = Session.from_json(session.to_json(), policy=policy, noise=SimulatedNoise(32))
    require_sound(session)


def unread_rewards(session: Session) -> int:
    """Rewards in open blocks."""
    return sum(block.count for block in session._seen.folded().books.blocks.values())


def require_sound(session: Session) -> None:
    """Each reward left its block once at most, at the promised price."""
    spans = dict[int, list[Any]]()
    for line in session.ledger:
        spans.setdefault(line.coordinate, []).append(line)
    for lines in spans.values():
        require(
            all(a.stop <= b.start for a, b in pairwise(lines)), "A reward was read more than once."
        )
    claim = session.policy.guarantee
    price = 0 if not session.ledger else None if claim is None else claim.cost
    require(spent(session.ledger) == price, "The ledger adds up to something else than the claim.")
    view = session._seen
    resolved = view.asked - len(view.pending)
    require(resolved == view.records + view.unread, "A decision was recorded twice, or lost.")


def arms_come_and_go(policy: Policy) -> None:
    """An arm is added, paused and retired while answers are awaited: a retired one is never played
    and never read again, and its late answers are taken and dropped. For policies that choose.
    """
    if not policy.chooses:
        return
    rng, session = np.random.default_rng(34), Session(policy, noise=SimulatedNoise(35), seed=36)
    waiting = list[Any]()
    for round in range(300):
        waiting.append(session.ask())
        if len(waiting) > 20:
            decision = waiting.pop(0)
            tell_reward(session, decision, some_rewards(session.policy, decision, rng))
        if round == 100:
            session.pause_arm(0)
            require(
                all(decision.action != 0 for decision in session.ask(50)),
                "A paused arm was played.",
            )
            session.resume_arm(0)
        if round == 150 and policy.arms > 1:
            session.retire_arm(1)
            read = [line for line in session.ledger if line.coordinate == 1]
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
            read == [line for line in session.ledger if line.coordinate == 1],
            "A retired arm was read.",
        )
    require_sound(session)


def answers_far_behind(policy: Policy) -> None:
    """Every answer comes 40 rounds late: blocks close, by their own counts, and the policy goes
    on."""
    rng, session = np.random.default_rng(37), Session(policy, noise=SimulatedNoise(38), seed=39)
    waiting = list[Any]()
    for _ in range(min(600, horizon_of(policy))):
        waiting.append(session.ask())
        if len(waiting) > 40:
            decision = waiting.pop(0)
            tell_reward(session, decision, some_rewards(policy, decision, rng))
    for decision in waiting:
        tell_reward(session, decision, some_rewards(policy, decision, rng))
    require_sound(session)
    require(session.pending == (), "A decision still waits.")
