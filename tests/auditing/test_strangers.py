"""What nobody here wrote for the audit: correct mechanisms of unusual shape must not fail, leaks of
unusual shape must not pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from benchmarks.controls.parts import Dishonest

from dpbandits import AdaCUCB
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.plan import Hold, Plan, PublicRng
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    AboveThreshold,
    Answer,
    Block,
    EachAction,
    EachArm,
    LazyForgetful,
    Mechanism,
)
from dpbandits.noise import Noise
from dpbandits.policies.base import PrivatePolicy, Statistics, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About
from tests.auditing.strange import COARSE, ONE, Custom, HandNoisyMax, HandSparseVector

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("subject", "outcome", "loss"),
    [
        # drew twice, told one
        (
            Custom(**COARSE, tell=lambda total, count, draw: (draw(total), draw(total))[0]),
            "passed",
            1,
        ),
        # adds for itself
        (Custom(**COARSE, tell=lambda total, count, draw: total + draw(0)), "passed", 1),
        (Custom(**COARSE, tell=lambda total, count, draw: total + draw(0, 2)), "failed", 2),
        (Custom(**COARSE, tell=lambda total, count, draw: draw(total) + draw(0)), "passed", 1),
        (
            EachArm(inner=AboveThreshold(epsilon=ONE / 2, grid=Grid(steps=1), cap=8), width=2),
            "passed",
            None,
        ),
        (
            EachAction(inner=AboveThreshold(epsilon=ONE / 2, grid=Grid(steps=1), cap=8), actions=2),
            "passed",
            None,
        ),
        (HandNoisyMax(), "not applicable", None),  # three draws, one told: their loss is no proof
        (HandSparseVector(**COARSE), "not applicable", None),
        (
            Custom(
                **COARSE,
                tell=lambda total, count, draw: total + int(np.random.default_rng().geometric(0.5)),
            ),
            "not applicable",
            None,
        ),
        (
            Custom(**COARSE, tell=lambda total, count, draw: draw(total) if count == 1 else total),
            "failed",
            None,
        ),
        (Custom(**COARSE, tell=lambda total, count, draw: total + draw(0) + draw(0)), "passed", 1),
        # Drawn 4 and told 1 in one play, drawn and told 4 in another: every size of loss is priced.
        (
            Custom(
                **COARSE,
                tell=lambda total, count, draw: (
                    (draw(total, 4), draw(total))[1] if count == 1 else draw(total, 4)
                ),
            ),
            "failed",
            4,
        ),
        # Far out only draws of a like weight make up for each other: .001 is sure, 5 the most, and
        # it is 5.
        (
            Custom(**COARSE, tell=lambda total, count, draw: draw(total, 5) + 1000 * draw(0)),
            "not applicable",
            5,
        ),
        (
            Custom(**COARSE, tell=lambda total, count, draw: int(draw(total, 8) >= 200)),
            "not applicable",
            None,
        ),
        (
            Custom(**COARSE, tell=lambda total, count, draw: min(count, max(0, total + draw(0)))),
            "not applicable",
            None,
        ),
        (
            Custom(
                epsilon=ONE,
                grid=Grid(steps=8),
                tell=lambda total, count, draw: total if total % 8 else draw(total),
            ),
            "failed",
            None,
        ),
    ],
)
def test_mechanisms(subject: Mechanism, outcome: str, loss: int | None) -> None:
    """Pricing what was drawn instead of what was told failed the first, and certified 2 against
    it.
    """
    found = transcript_level(feed(subject), rounds=64)
    assert found.outcome == outcome, found
    if loss is not None:
        assert found.details["loss_value"] == pytest.approx(loss, abs=1e-9)
    if outcome == "not applicable":
        assert found.lower_bound == pytest.approx(0.001 if loss == 5 else 0.0, rel=1e-6)


def test_what_is_certified_is_told() -> None:
    """The noised value modulo 8 tells .34 of its epsilon; to shift the noise a little looks as if
    it told all.
    """
    found = transcript_level(
        feed(Custom(**COARSE, tell=lambda total, count, draw: draw(total) % 8)), rounds=64
    )
    assert (found.outcome, found.lower_bound) == ("passed", 0.0)


def test_gaussian_noise_keeps_no_epsilon() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Gauss(Dishonest):
        def start(self) -> list[int]:
            return []

        def step(
            self, memory: list[int], total: int, count: int, noise: Noise
        ) -> tuple[list[int], Answer]:
            return memory, self.said(
                noise.gaussian(total, sensitivity=1, rho=Fraction(9, 10)), count, 1
            )

    found = transcript_level(feed(Gauss(**COARSE)), rounds=64)
    assert (found.outcome, found.lower_bound) == ("failed", float("inf"))


def test_what_a_rule_says_at_its_end_is_looked_at() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Finishing(LazyForgetful):  # type: ignore[misc]  # final for everybody else
        def finish(self, memory: Any, block: Block, noise: Noise) -> tuple[Any, tuple[Any, ...]]:
            return memory, tuple(
                Answer(float(total), count, 0)
                for total, count in zip(block.sums, block.counts, strict=True)
            )

    honest = transcript_level(feed(LazyForgetful(**COARSE), each=7), rounds=64)
    assert honest.outcome == "passed"
    assert transcript_level(feed(Finishing(**COARSE), each=7), rounds=64).outcome == "failed"


SEEN: dict[str, tuple[int, int]] = {}


@dataclass(frozen=True, kw_only=True)
class Peeking(StatisticsPolicy, PrivatePolicy):
    """Broken from round `after` on: its plans follow the newest exact sum, by a way around the
    vault.
    """

    about: ClassVar[About] = About(paper="", algorithm="", bound="")
    after: int = 0
    rule: Any = field(repr=False, default=None)

    def mechanism(self) -> Mechanism:
        def tell(total: int, count: int, draw: Any) -> int:
            SEEN["newest"] = (total, count)
            return int(draw(total))

        return Custom(epsilon=self.budget, grid=Grid(steps=self.grid), tell=tell)

    def plan(self, state: Statistics, rng: PublicRng) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = (
                int(state.totals[0] < state.totals[1])
                if state.t < self.after or self.rule is None
                else self.rule(*SEEN["newest"])
            )
        return Hold(arm, 4, (arm,))

    def regret_bound(self, means: Any, rounds: int) -> float:
        return float("nan")


@pytest.mark.parametrize(
    ("after", "rule", "outcome"),
    [
        (0, None, "passed"),
        (0, lambda total, count: int(total >= 2), "failed"),
        (500, lambda total, count: int(total >= 2), "failed"),  # after all that a short run shows
        # stays the same where all rewards are swapped at once
        (8, lambda total, count: int(abs(2 * total - count) >= 2), "failed"),
    ],
)
def test_plans_that_look_past_the_vault(after: int, rule: Any, outcome: str) -> None:
    found = transcript_level(Peeking(arms=2, epsilon=1, grid=1, after=after, rule=rule))
    assert found.outcome == outcome, found


def test_an_epsilon_is_not_held_against_a_rho() -> None:
    policy = AdaCUCB(arms=2, rho="1/3")
    assert transcript_level(policy, Fraction(2)).lower_bound == float("inf")
    assert transcript_level(policy).outcome == "passed"
