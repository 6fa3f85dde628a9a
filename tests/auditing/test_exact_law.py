"""The exact law of the decisions of small policies, by playing every value of the noise, against
the claims and the simulations.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import pytest
from benchmarks.controls.known import Redrawn, half, remade_as
from benchmarks.controls.parts import with_mechanism

from dpbandits import AnytimeLazyUCB, NaiveFTNL, SimulatedNoise
from dpbandits.core.privacy import NoiseKind
from dpbandits.noise.protocol import Relay
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import decisions

Law = dict[tuple[Any, ...], float]


class NextValue(Exception):
    """A draw that the script has no value for; its scale."""


class Scripted(Relay):
    """Laplace noise by a script."""

    kind: ClassVar[NoiseKind] = "simulated"

    def __init__(self, script: tuple[int, ...]) -> None:
        self.left = list(script)

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        assert verb == "laplace", verb
        if not self.left:
            raise NextValue(cost["sensitivity"] / cost["epsilon"])
        return exact[0] + self.left.pop(0)


def law_of(policy: Policy, table: Any, tail: float = 1e-5) -> Law:
    """The probability of each sequence of decisions, but for a mass of `tail` a draw."""
    law: Law = defaultdict(float)
    todo: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while todo:
        script, chance = todo.pop()
        try:
            law[tuple(decisions(policy, table, noise=Scripted(script), seed=0))] += chance
        except NextValue as draw:
            a = math.exp(-1 / float(draw.args[0]))
            far = math.ceil(math.log(tail) / math.log(a))
            todo += [
                ((*script, z), chance * (1 - a) / (1 + a) * a ** abs(z))
                for z in range(-far, far + 1)
            ]
    return law


def loss(policy: Policy, rounds: int) -> float:
    """The largest log-ratio over pairs of tables that differ in the first record of an arm."""
    laws, worst = dict[tuple[int, ...], Law](), 0.0
    for first in np.ndindex(2, 2):
        table = np.tile([1.0, 0.0], (rounds, 1))
        table[0, 0], table[1, 1] = first  # the first records of either arm
        laws[first] = law_of(policy, table.tolist())
    for one, other in (((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 1), (1, 1))):
        for p, q in ((laws[one], laws[other]), (laws[other], laws[one])):
            worst = max(worst, *(math.log(p[x] / q.get(x, 1e-9)) for x in p if p[x] > 1e-3))
    return worst


LOUD = AnytimeLazyUCB(arms=2, epsilon=3, grid=1)


def test_decisions_lose_something_and_no_more_than_the_claim() -> None:
    assert 2 < loss(LOUD, 5) <= 3 + 0.03


@pytest.mark.long
def test_known_value() -> None:
    """That of an independent program."""
    quiet = AnytimeLazyUCB(arms=2, epsilon=1, grid=1)
    assert loss(quiet, 4) == pytest.approx(0.7032924952, abs=1e-4)


@pytest.mark.parametrize(
    ("breaks", "rounds"), [(half, 5), pytest.param(remade_as(Redrawn), 8, marks=pytest.mark.long)]
)
def test_broken_twins_lose_more(breaks: Callable[[Any], Any], rounds: int) -> None:
    """Half of the noise; and running sums that are noised afresh, by which a record pays again."""
    assert loss(with_mechanism(LOUD, breaks), rounds) > 3.1


@pytest.mark.parametrize(
    "policy",
    [LOUD, pytest.param(NaiveFTNL(actions=2, epsilon=3, grid=1), marks=pytest.mark.long)],
    ids=repr,
)
def test_simulated_runs_have_the_exact_law(policy: Policy) -> None:
    """Every sequence within 6 standard errors: false alarm below 1e-6."""
    runs, table = 4_000, [[1.0, 0.0]] * 4
    noise = SimulatedNoise(5)
    seen = Counter(tuple(decisions(policy, table, noise=noise, seed=i)) for i in range(runs))
    law = law_of(policy, table)
    assert sum(law.values()) == pytest.approx(1, abs=1e-3)
    assert len(law) > 1
    for played in law.keys() | seen.keys():
        wanted = runs * law.get(played, 0.0)
        assert abs(seen[played] - wanted) <= 6 * math.sqrt(wanted) + 6, played
