"""When will a policy, as it allocates people, have named the best arm? A forecast from released
values: no privacy cost, and no promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dpbandits.core.plan import Cycle, Hold, PublicRng
from dpbandits.mechanisms.base import Answer
from dpbandits.policies.contract import Policy, Release, open_turn
from dpbandits.policies.identification import Identifier
from dpbandits.session.beliefs import ArmHistory, Believed, best_compared

TIMES, RELEASES = 10, 64
"""A name is in sight within so many times the people so far, and so many releases."""


def named_ahead(
    policy: Policy,
    learned: Any,
    step: int,
    seed: int,
    known: Believed,
    among: Sequence[int],
    delta: float,
) -> int | None:
    """Return how many more people the policy takes to name the best arm, if every further block has
    the released mean of its arm; None if that is not in sight, or cannot be foreseen.

    Args:
        learned, step: the policy's state, and the number of its plan.
        known: what was released. among: the arms that are compared.
    """
    first, people = known.arms, 0
    most = TIMES * sum(arm.newest.rounds for arm in first if arm.newest is not None)
    for number in range(step, step + RELEASES):
        plan = open_turn(policy, learned, number, partial(PublicRng, seed)).plan
        if isinstance(plan, Hold) and isinstance(plan.action, int):
            played = {plan.action: plan.rounds}
        elif isinstance(plan, Cycle):
            played = dict.fromkeys(plan.actions, plan.each)
        else:
            return None
        people += sum(played.values())
        if people > most or not plan.release or not set(plan.release) <= played.keys():
            return None
        answers = [answer_of(known, first[arm], arm, played[arm]) for arm in plan.release]
        if None in answers:
            return None
        release = Release(plan.release, tuple(answers), 0, tuple(played.items()))
        learned, known = policy.update(learned, plan, release), known.after(release, among)
        if isinstance(policy, Identifier) and policy.delta <= delta * (1.0 + 1e-9):
            is_named = policy.best_arm(learned) is not None
        else:
            is_named = best_compared(known, among, delta) is not None
        if is_named:
            return people
    return None


def answer_of(known: Believed, first: ArmHistory, arm: int, rounds: int) -> Answer | None:
    """Return the answer to a block of the released mean; None where nothing was released.

    Args:
        first: the arm as it is now, whose mean counts.
    """
    row, now, law = first.newest, known.arms[arm].newest, known.reader.law
    if row is None or now is None or law is None or not first.answers:
        return None
    total = row.total / row.rounds * rounds
    draws = 0 if known.reader.reports else sum(count for _, count in row.draws)
    each = -(-draws // first.answers)
    if law.forgets:
        return Answer(total, rounds, each)
    before = 0 if known.reader.reports else sum(count for _, count in now.draws)
    return Answer(now.total + total, now.rounds + rounds, before + each)
