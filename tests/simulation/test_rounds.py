"""An arm that is played on while it cannot be overtaken is the one that all scores choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.simulation.compiled import rounds
from dpbandits.simulation.compiled.players import kernel_for

MEANS = (
    (0.5, 0.5),
    (0.3, 0.6, 0.59, 0.61),
    (0.03, 0.036),
    (1.0, 0.999),
    (0.0, 0.0, 0.001),
    tuple(np.linspace(0.2, 0.3, 20)),
)
"""Equals and a common case, where arms often stay; clicks and edges, where arms may alternate."""

POLICIES = {
    "KLUCB": lambda arms: dpb.KLUCB(arms=arms, grid=1),
    "KLUCB, c = 3": lambda arms: dpb.KLUCB(arms=arms, c=3, grid=1),
    "LDPKLUCB": lambda arms: dpb.LDPKLUCB(arms=arms, epsilon=1, grid=1),
    "DPUCB": lambda arms: dpb.DPUCB(arms=arms, epsilon=20, horizon=10**6),
    "DPUCB, published": lambda arms: dpb.DPUCB(
        arms=arms, epsilon=500, horizon=10**6, preset="published"
    ),
}
AT = np.array([500, 1_000, 20_000, 100_000])


@pytest.mark.parametrize("chances", MEANS, ids=lambda chances: f"{len(chances)} arms, {chances[0]}")
@pytest.mark.parametrize("name", POLICIES)
def test_the_player_plays_what_all_scores_say(name: str, chances: tuple[float, ...]) -> None:
    """Bit for bit, beside the same loop without streaks."""
    policy: Any = POLICIES[name](len(chances))
    steps = policy.reader.grid.steps
    kernel: Any = kernel_for(policy)
    feedback = rounds.RESPONSE if isinstance(policy, dpb.LDPKLUCB) else rounds.PLAIN
    counter = rounds.TREE if isinstance(policy, dpb.DPUCB) else rounds.EXACT
    by_kl = counter == rounds.EXACT
    kinds = rounds.Kinds(feedback, counter, by_kl, streaks=True, forced=False)
    score = policy.rule.score.__name__
    assert kernel.func is rounds.round_player(score, kinds)
    law = np.stack([1 - np.array(chances), chances], axis=1)
    found = []
    for play in (kernel.func, rounds.round_player(score, kinds._replace(streaks=False))):
        out, rng = np.zeros((len(AT), len(chances)), np.int64), np.random.default_rng(7)
        play(kernel.args[0], steps, np.array([0, steps]), law, AT[-1], AT, rng, out)
        found.append((out.tolist(), rng.random()))
    assert found[0] == found[1]
