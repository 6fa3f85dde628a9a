"""Policies that decide by contexts, in environments with contexts: through a `Session`; and those
whose contexts are private, block by block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.core.inputs import Floats, Integers, shown
from dpbandits.core.plan import EVERY
from dpbandits.core.privacy import Entry
from dpbandits.environments.base import Environment
from dpbandits.environments.tables import ContextTable
from dpbandits.mechanisms.base import Block
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.session.releases_only import JointDPSession
from dpbandits.session.session import Session
from dpbandits.simulation.plain import Path


def require_contexts(policy: Policy, environment: Environment, *, plain: bool) -> None:
    """Refuse a contextual policy without an environment that has such contexts.

    Args:
        plain: whether it is played as it is, without delays and shuffled arms.

    Raises:
        ValueError: they do not fit, or something was asked for that contexts do not have.
    """
    if not isinstance(policy, (ContextualPolicy, JointDPLinTS)):
        return
    if not isinstance(environment, ContextTable):
        raise ValueError(
            f"{policy.name} decides by contexts, and {type(environment).__name__} has none. Play "
            "it in a dpbandits.ContextTable."
        )
    if policy.dimension != environment.features:
        raise ValueError(
            f"The policy has features={policy.dimension}, the contexts have {environment.features}"
            " numbers; they must be equal."
        )
    named, names = policy.feature_names, environment.names
    if named is not None and names is not None and names != list(named):
        raise ValueError(
            "Expected the columns of the contexts in the order of the features, "
            f"{list(named[:8])}; got {shown(names)}."
        )
    if not plain:
        raise ValueError(
            f"{policy.name} decides by contexts: delay= and shuffle= are not for it. Play late "
            "answers through a Session."
        )


def play_contexts(
    policy: Policy,
    environment: Environment,
    rounds: int,
    checkpoints: Integers,
    *,
    noise: Noise,
    seed: int,
    rng: np.random.Generator,
) -> Path:
    """Play one run round by round through a `Session`."""
    visitors: Any = environment.fresh()
    session, kept = Session(policy, noise=noise, seed=seed), Marks(checkpoints, policy.arms)
    while kept.t < rounds:
        row = visitors.visit(rng)
        decision = session.ask(context=visitors.contexts[row])
        arm: Any = decision.action
        session.tell(decision, visitors.reward(row, arm, rng))
        kept.add(np.array([arm]), visitors.chances[[row], arm])
    return kept.path(session.releases, session.state, session.ledger)


class Marks:
    """Plays and what they earned so far, and at each checkpoint."""

    def __init__(self, marks: Integers, arms: int) -> None:
        self.marks, self.at, self.t = marks, 0, 0
        self.plays, self.earned = np.zeros(arms, np.int64), np.zeros(1)
        self.plays_at = np.zeros((len(marks), arms), np.int64)
        self.earned_at = np.zeros(len(marks))

    @property
    def left(self) -> bool:
        return self.at < len(self.marks)

    @property
    def next(self) -> int:
        return int(self.marks[self.at])

    def add(self, arms: Integers, chances: Floats) -> None:
        """Count rounds of these arms, with these mean rewards."""
        end, many = self.t + len(arms), len(self.plays)
        while self.left and self.next <= end:
            first = self.next - self.t  # of them, up to the checkpoint
            self.plays_at[self.at] = self.plays + np.bincount(arms[:first], minlength=many)
            self.earned_at[self.at] = self.earned[0] + float(chances[:first].sum())
            self.at += 1
        self.plays += np.bincount(arms, minlength=many)
        self.earned[0] += float(chances.sum())
        self.t = end

    def keep(self) -> None:
        while self.left and self.t >= self.next:
            self.plays_at[self.at], self.earned_at[self.at] = self.plays, self.earned[0]
            self.at += 1

    def path(self, releases: int, state: Any = None, ledger: tuple[Entry, ...] = ()) -> Path:
        """Return the run, after its last checkpoint."""
        return Path(self.plays_at, self.t, releases, self.t, ledger, state, earned=self.earned_at)


# Policies whose contexts and decisions are private, on the rows of a table.
#
# Within a block the snapshot is fixed, so a whole block is played at once. Equal in law to a
# `JointDPSession`, which plays the plain way; the tests hold it to that.


AT_ONCE = 2**22
"""Posterior draws that are held at once."""


def play_joint(
    policy: JointDPLinTS,
    table: ContextTable,
    rounds: int,
    seed: int,
    at_once: bool,
    checkpoints: Integers,
    run: int,
) -> Path:
    """Play a run, block by block (`at_once`), or one ask after the other in a session."""
    seeds = np.random.SeedSequence([seed, run]).generate_state(3, np.uint64).tolist()
    noise, public, feedback = SimulatedNoise(seeds[0]), seeds[1] >> 1, seeds[2]
    rng = np.random.default_rng(feedback)
    played = Marks(checkpoints, policy.arms)
    if not at_once:
        session = JointDPSession(policy, noise=noise, seed=public)
        while played.t < rounds:
            row = next_rows(table, played.t, 1, rng)
            decision = session.ask(table.contexts[row[0]])
            ones = drawn_rewards(table, played, row, np.array([decision.action]), rng)
            session.tell(decision, float(ones[0]))
        return played.path(len(session.ledger), session.state, session.ledger)
    state, ledger, most = policy.init(), list[Entry](), max(1, AT_ONCE // policy.arms)
    while played.t < rounds:
        start, snapshot, counts = played.t, policy.snapshot(state), np.zeros(1, np.int64)
        stop = start + policy.length(state)
        while played.t < min(stop, rounds):
            row = next_rows(table, played.t, min(stop - played.t, rounds - played.t, most), rng)
            contexts = table.contexts[row]
            arms = snapshot.choices(contexts, rng)
            ones = drawn_rewards(table, played, row, arms, rng)
            places = (arms * snapshot.cells + snapshot.cell_of(contexts)) * 2 + ones
            counts = counts + np.bincount(places, minlength=int(np.prod(policy.shape)))
        if played.t < rounds:  # a block at the very end is read by nobody
            block = Block((EVERY,), counts, (stop - start,))
            _, (answer,) = policy.reader.answer(None, block, noise)
            state = policy.learned(state, answer)
            ledger.append(Entry(EVERY, start, stop, policy.budget))
    return played.path(len(ledger), state, tuple(ledger))


def next_rows(table: ContextTable, t: int, many: int, rng: np.random.Generator) -> Integers:
    """Return the next visitors after round t."""
    if table.in_order:
        return np.arange(t, t + many)
    return rng.integers(0, len(table.contexts), many)


def drawn_rewards(
    table: ContextTable, played: Marks, rows: Integers, arms: Integers, rng: np.random.Generator
) -> Integers:
    """Play these arms for these visitors; return their rewards, 0 or 1."""
    chances = table.chances[rows, arms]
    played.add(arms, chances)
    return (rng.random(len(rows)) < chances).astype(np.int64)
