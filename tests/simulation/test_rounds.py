"""An arm that is played on while it cannot be overtaken is the one that all scores choose."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import SignedCounter
from dpbandits.mechanisms.counters import digits_of
from dpbandits.simulation.compiled import rounds
from dpbandits.simulation.compiled.parts import signed_leaf, signed_sizes
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
}


@pytest.mark.parametrize("leaves", [13, 400])
def test_a_compiled_signed_tree_is_that_of_the_mechanism(leaves: int) -> None:
    """After every leaf the digits are the mechanism's, and the noise of the sum is that of its
    nodes, those to be taken away with their sign.
    """

    tree = SignedCounter(epsilon=Fraction(1), leaves=leaves, base=5, grid=dpb.Grid(steps=4))
    half, slots = signed_sizes(tree)
    digits, parts = np.zeros(64, np.int64), np.zeros(slots, np.int64)
    rng, source = np.random.default_rng(1), dpb.SimulatedNoise(1)
    memory: Any = tree.start()
    prefix = exact = 0
    for leaf in range(1, leaves + 1):
        prefix, exact = (
            signed_leaf(digits, parts, half, leaf % 5, 9.0, rng, prefix),
            exact + leaf % 5,
        )
        memory, answer = tree.step(memory, leaf % 5, 1, source)
        signed = digits_of(leaf, 2 * half + 1, tree.levels)
        assert digits[: tree.levels].tolist() == signed
        assert digits[-1] == answer.draws
        noise = 0
        for level, digit in enumerate(signed):
            first = level * (half + 1)
            noise += parts[first] if digit > 0 else -parts[first + 1 : first + 1 - digit].sum()
        assert prefix - exact == noise


AT = np.array([500, 1_000, 20_000, 100_000])


@pytest.mark.parametrize("chances", MEANS, ids=lambda chances: f"{len(chances)} arms, {chances[0]}")
@pytest.mark.parametrize("name", POLICIES)
def test_the_player_plays_what_all_scores_say(name: str, chances: tuple[float, ...]) -> None:
    """Bit for bit, beside the same loop without streaks."""
    policy: Any = POLICIES[name](len(chances))
    steps = policy.reader.grid.steps
    kernel: Any = kernel_for(policy)
    feedback = rounds.RESPONSE if isinstance(policy, dpb.LDPKLUCB) else rounds.PLAIN
    kinds = rounds.Kinds(feedback, rounds.EXACT, streaks=True, forced=False)
    score = policy.rule.score.__name__
    assert kernel.func is rounds.round_player(score, kinds)
    law = np.stack([1 - np.array(chances), chances], axis=1)
    found = []
    for play in (kernel.func, rounds.round_player(score, kinds._replace(streaks=False))):
        out, rng = np.zeros((len(AT), len(chances)), np.int64), np.random.default_rng(7)
        play(kernel.args[0], steps, np.array([0, steps]), law, AT[-1], AT, rng, out)
        found.append((out.tolist(), rng.random()))
    assert found[0] == found[1]
