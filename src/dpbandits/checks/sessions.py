"""Checks of a policy in a `Session`: saving and loading, folding the log, late and missing rewards,
refused input; drops of open blocks, and arms that come and go.
"""

import json
from contextlib import suppress
from typing import Any

import numpy as np

from dpbandits.checks.checks import horizon_of, require, require_ledger, require_plain
from dpbandits.checks.tape import Tape, random_tape, visitors
from dpbandits.core.errors import CheckFailed, DecisionError
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.session.decisions import Decision
from dpbandits.session.session import Session
from dpbandits.session.state import Released
from dpbandits.simulation.plain import drawn_feedback

LOST = "A reward was lost or counted twice."


def survives_json(policy: Policy) -> None:
    """A session that is saved and restored at any point decides and releases as the uninterrupted
    one does, though other sessions share its policy.
    """
    rounds, given = min(400, horizon_of(policy)), list[dict[str, Any]]()
    if isinstance(policy, ContextualPolicy):
        rounds = policy.pilot_visitors + 250
        given = [{"context": row} for row in visitors(policy.dimension, rounds, 41)]
    tape = random_tape(policy.arms, rounds, seed=12)
    whole, broken, other = (
        Session(policy, noise=SimulatedNoise(seed), seed=14) for seed in (13, 13, 15)
    )
    last_is_best = 1.0 - tape.rewards
    worlds = Tape(last_is_best), Tape(last_is_best), tape
    rng = np.random.default_rng(0)
    for t in range(rounds):
        if t % 37 == 5 or t < 12:
            text = broken.to_json()
            broken = Session.from_json(text, policy=policy, noise=SimulatedNoise(13))
            require(
                content(text) == content(broken.to_json()),
                f"A loaded session saves differently at round {t}.",
            )
        options = given[t] if given else {}
        sessions = whole, broken, other
        decisions = [session.ask(**options) for session in sessions]
        require(
            decisions[0] == decisions[1],
            f"After loading, decision {t + 1} differs from the uninterrupted session's.",
        )
        for session, world, decision in zip(sessions, worlds, decisions, strict=True):
            tell_reward(
                session,
                decision,
                drawn_feedback(world, policy, decision.action, rng, decision.observe),
            )
        require_plain(whole.state)
        require(whole.state == broken.state, f"After loading, the state differs at round {t + 1}.")
    require(whole.ledger == broken.ledger, "After loading, the ledger differs.")


def content(text: str) -> dict[str, Any]:
    """Return a saved session without the parts that change with each save: its number and the
    seal.
    """
    data: dict[str, Any] = json.loads(text)
    del data["seal"], data["public"]["generation"]
    return data


def state_is_a_fold(policy: Policy) -> None:
    """The public state can be rebuilt from the log of plans and releases alone."""
    rounds = min(400, horizon_of(policy))
    session, journal = Session(policy, noise=SimulatedNoise(15), seed=16), list[Any]()
    session._tables.journal = journal
    world, rng = random_tape(policy.arms, rounds, seed=17), np.random.default_rng(0)
    for _ in range(rounds):
        decision = session.ask()
        tell_reward(
            session, decision, drawn_feedback(world, policy, decision.action, rng, decision.observe)
        )
    state = policy.init()
    for event in journal:
        if isinstance(event, Released) and event.plan is not None:
            state = policy.update(state, event.plan, event.release)
    require(state == session.state, "Folding the releases does not give the session's state.")


def late_and_missing_tells(policy: Policy) -> None:
    """Request in batches, report in any order, expire, and report wrongly: nothing is lost, counted
    twice or released twice.
    """
    rng, session = begun(policy, 18)
    # a joint record is one entry and enters the block of its plan only
    together = policy.reader.together
    whole = policy.about.feedback == "full" or together
    counts = [0] if whole else [0] * policy.arms
    for _ in range(min(60, max(1, horizon_of(policy) // 12))):
        asked(session, rng, int(rng.integers(1, 9)))
        pending = list(session.pending)
        rng.shuffle(pending)
        resolved = pending[: rng.integers(0, len(pending) + 1)]
        for decision in resolved:
            view = session._current
            late = together and view.pending[decision.id].counted_as not in view.plans
            kind = rng.random()
            if kind < 0.2:
                session.expire(decision)
            elif kind < 0.25:
                session.void(decision)
            else:
                tell_reward(session, decision, some_rewards(policy, decision, rng))
            for at in (0,) if whole else decision.observe or (decision.action,):
                # with bandit feedback an action is an arm, which its type does not say
                counts[at] += decision.learn and not late and not 0.2 <= kind < 0.25
        require_refusals(session, resolved)
    books, entered = session._current.folded().books, [0] * len(counts)
    for key, block in books.blocks.items():
        entered[0 if whole else key] += block.count
    for coordinate, (left, _) in books.ledger.left.items():
        entered[max(0, coordinate)] += left
    require(entered == counts, LOST)
    require_consistent_counts(session)


def require_refusals(session: Session, resolved: list[Decision]) -> None:
    """Require that rewards of resolved decisions, and of unknown ones, raise and change nothing."""
    before, rng = content(session.to_json()), np.random.default_rng(0)
    for decision in resolved:
        for wrong in (decision, decision.id, 10**9, -1):
            try:
                tell_reward(session, wrong, some_rewards(session.policy, decision, rng))
            except DecisionError:
                continue
            raise CheckFailed("A second reward, or one for an unknown decision, was accepted.")
    require(content(session.to_json()) == before, "A refused reward changed the session.")


def only_reports_enter(policy: Policy) -> None:
    """In the local model the server refuses a raw reward and records nothing."""
    if policy.randomizer() is None:
        return
    session = Session(policy, noise=SimulatedNoise(21))
    decision = session.ask()
    for raw in (1.0, 0, True, "1"):
        try:
            session.tell(decision, raw)
        except TypeError:
            continue
        raise CheckFailed("The server of a local policy accepted a raw reward.")
    require(session.pending == (decision,), "A refused raw reward resolved the decision.")


def begun(policy: Policy, seed: int) -> tuple[np.random.Generator, Session]:
    """Return a generator, and a session whose first visitors came if it decides by contexts."""
    rng = np.random.default_rng(seed)
    session = Session(policy, noise=SimulatedNoise(seed + 1), seed=seed + 2)
    for _ in range(getattr(policy, "pilot_visitors", 0)):
        session.tell(asked(session, rng), 0.0)
    return rng, session


def asked(session: Session, rng: np.random.Generator, count: int | None = None) -> Any:
    """Ask, for made-up visitors if the policy decides by contexts."""
    policy = session.policy
    if not isinstance(policy, ContextualPolicy):
        return session.ask(count)
    rows = visitors(policy.dimension, count or 1, int(rng.integers(2**31)))
    return session.ask(count, context=rows[0] if count is None else rows)


def some_rewards(policy: Policy, decision: Decision, rng: np.random.Generator) -> Any:
    """Return 0/1 rewards in the shape of this policy's feedback."""
    if policy.about.feedback == "bandit":
        return float(rng.integers(2))
    return rng.integers(2, size=len(decision.observe or range(policy.arms))).astype(float)


def tell_reward(session: Session, decision: Any, reward: Any) -> None:
    """Report a reward, through the user's randomizer if the policy has one."""
    randomizer = session.policy.randomizer()
    seed = int(1e6 * np.sum(reward)) + 23
    session.tell(
        decision, reward if randomizer is None else randomizer.report(reward, SimulatedNoise(seed))
    )


# Long trials: unplanned drops of open blocks, added and retired arms, very late rewards.


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
    require_consistent_counts(session)


def open_rewards(session: Session) -> int:
    """Return the number of rewards in open blocks."""
    return sum(block.count for block in session._current.folded().books.blocks.values())


def require_consistent_counts(session: Session) -> None:
    """Require that each reward is in a block or left it once, at the guaranteed cost, and that each
    decision was resolved once.
    """
    require_ledger(session.policy, session.ledger)
    view = session._current
    resolved = view.asked - len(view.pending)
    require(resolved == view.records + view.unread, "A decision was recorded twice, or lost.")
    left = sum(count for count, _ in session._state.books.ledger.left.values())
    require(
        session.policy.about.feedback == "semi" or left + open_rewards(session) == view.records,
        LOST,
    )


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
    require_consistent_counts(session)


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
    require_consistent_counts(session)
    require(session.pending == (), "A decision is still pending.")
