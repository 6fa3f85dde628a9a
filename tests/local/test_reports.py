"""Reports are cut off at a public bound: what a broken client can do to a sum is limited, and what
a report tells stays what it was.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.auditing.foreign import RandomizerSubject
from dpbandits.auditing.statistical import statistical_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import LocalLaplace, RandomizedResponse
from dpbandits.mechanisms.randomizers import Report


class Huge(dpb.SimulatedNoise):
    """A draw far beyond what ever comes up."""

    def laplace(self, value: int, **_: Any) -> int:
        return value + self.seed * 2**59 - 2**58


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 100), Fraction(1, 3), Fraction(1), Fraction(50), Fraction(1000)]
)
@pytest.mark.parametrize("width", [1, 4])
def test_the_bound_is_sixty_scales(epsilon: Fraction, width: int) -> None:
    randomizer = LocalLaplace(epsilon=epsilon, width=width, grid=Grid(steps=7))
    exact = 60 * 7 * width / epsilon
    assert exact <= randomizer.reach < exact + 1
    assert randomizer.randomise(7, Huge(1)) == 7 + randomizer.reach
    assert randomizer.randomise(0, Huge(0)) == -randomizer.reach
    for step in (7 + randomizer.reach, -randomizer.reach):
        beyond = step + (1 if step > 0 else -1)
        assert randomizer.accepts(step)
        assert randomizer.accepts((3, step))
        assert not randomizer.accepts(beyond)
        assert not randomizer.accepts((3, beyond))


def test_a_broken_client_cannot_ruin_a_sum() -> None:
    policy = dpb.LDPUCB(arms=2, epsilon=1, grid=1)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    d = s.ask()
    name = policy.randomizer().name
    for steps in (2**59, -(2**59), 62, -61):
        with pytest.raises(dpb.RewardError, match="damaged"):
            s.tell(d, Report(steps, name, "simulated"))
    s.tell(d, Report(61, name, "simulated"))
    assert not RandomizedResponse(epsilon=Fraction(1)).accepts(1)


@pytest.mark.parametrize("reach", [0, 60])
def test_cutting_off_costs_nothing(reach: int) -> None:
    """However near the bound is, reports do not show more than the claim; those of twice the reward
    do. Wrong with probability 1e-6.
    """
    kind = type("Near", (LocalLaplace,), {"reach": reach})
    leaky = type(
        "Leaky",
        (kind,),
        {"randomise": lambda self, steps, noise: LocalLaplace.randomise(self, 2 * steps, noise)},
    )
    for made, outcome in ((kind, "not refuted"), (leaky, "failed")):
        subject = RandomizerSubject(made(epsilon=Fraction(1), grid=Grid(steps=1)))
        found = statistical_level(subject, Fraction(1), runs=3_000, workers=1)
        assert found.outcome == outcome, found.evidence
