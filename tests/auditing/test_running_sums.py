"""Level 1 on running sums of whole records: what a record costs is exactly the claim, and broken
twins are caught.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, Block, Mechanism, SignedTree, SquareRoot
from dpbandits.mechanisms.base import Around

HALF, BIT = Fraction(1, 2), Grid(steps=1)
FEW = 12
TREE = SignedTree(epsilon=HALF, leaves=5, actions=2, grid=BIT, base=3)
ROOT = SquareRoot(rho=HALF, leaves=8, actions=2, grid=BIT)


@pytest.mark.parametrize(
    "mechanism",
    [
        TREE,
        SignedTree(epsilon=HALF, leaves=8, actions=3, base=5),
        SignedTree(epsilon=HALF, leaves=9, actions=1),
        ROOT,
        SquareRoot(rho=HALF, leaves=20, actions=1),
        pytest.param(
            SignedTree(epsilon=HALF, leaves=60, actions=2, grid=BIT), marks=pytest.mark.long
        ),
    ],
    ids=repr,
)
def test_running_sums_cost_their_claim(mechanism: Any) -> None:
    result = transcript_level(feed(mechanism), rounds=64, replays=FEW)
    assert result.outcome == "passed", result.evidence
    assert Fraction(result.details["loss"]) == HALF
    if isinstance(mechanism, SignedTree):
        assert result.lower_bound == 0.5


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(
            dpb.TreeFTRL(actions=2, epsilon=HALF, horizon=40, grid=1), marks=pytest.mark.long
        ),
        dpb.TreeFTRL(actions=2, epsilon=HALF, horizon=8, grid=1, play="weights"),
        dpb.RootFTRL(actions=2, rho=HALF, horizon=40, grid=1),
    ],
    ids=repr,
)
def test_policies_cost_their_claim(policy: Any) -> None:
    """Their plans are asked for again, with each record changed and the same answers."""
    result = transcript_level(policy, rounds=40, replays=FEW)
    assert result.outcome == "passed", result.evidence
    assert Fraction(result.details["loss"]) == HALF


class Scaled:
    """Noise at another cost."""

    def __init__(self, noise: Any, times: Fraction) -> None:
        self.noise, self.times, self.kind = noise, times, noise.kind

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return self.noise.joint(values, sensitivity=sensitivity, epsilon=epsilon * self.times)

    def gaussian(self, value: Any, *, sensitivity: int, rho: Fraction) -> Any:
        return self.noise.gaussian(value, sensitivity=sensitivity, rho=rho * self.times)


class Apart(Scaled):
    """A Laplace draw for each action, none of which is shared."""

    def joint(self, values: Any, *, sensitivity: int, epsilon: Fraction) -> Any:
        return tuple(
            self.noise.laplace(value, sensitivity=sensitivity, epsilon=epsilon) for value in values
        )


@dataclass(frozen=True, kw_only=True)
class Twin(Around):
    """The same mechanism with other noise."""

    times: Fraction = Fraction(1)
    apart: bool = False
    actions: int = 2

    @property
    def leaves(self) -> int:
        """The most releases."""
        assert isinstance(self.inner, SignedTree | SquareRoot)
        return self.inner.leaves

    def answer(self, memory: Any, block: Block, noise: Any) -> tuple[Any, tuple[Any, ...]]:
        other = (Apart if self.apart else Scaled)(noise, self.times)
        return self.inner.answer(memory, block, other)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class TakesNothingAway(Around):
    """A tree whose nodes ahead are not taken away: its answers lack their noise."""

    actions: int = 2

    @property
    def leaves(self) -> int:
        """The most releases."""
        assert isinstance(self.inner, SignedTree | SquareRoot)
        return self.inner.leaves

    def answer(self, memory: Any, block: Block, noise: Any) -> tuple[Any, tuple[Any, ...]]:
        memory, answers = self.inner.answer(memory, block, noise)
        assert isinstance(self.inner, SignedTree)
        forgotten = [
            sum(sum(v[action] for v in vectors) for vectors in memory.noise if len(vectors) > 1)
            for action in range(self.actions)
        ]
        unit = self.grid.steps
        return memory, tuple(
            Answer(answer.total + extra / unit, answer.rounds, answer.draws)
            for answer, extra in zip(answers, forgotten, strict=True)
        )


LEVELS = Fraction(TREE.levels)
WIDER = SignedTree(epsilon=HALF, leaves=8, actions=2, grid=BIT, base=5)
BROKEN: list[tuple[str, Mechanism, str | None]] = [
    ("half the noise", Twin(inner=TREE, times=Fraction(2)), "1"),
    ("a level not paid for", Twin(inner=TREE, times=LEVELS / (LEVELS - 1)), "3/4"),
    ("a draw for each action at the cost of one", Twin(inner=TREE, apart=True), "1"),
    ("nodes ahead without noise", TakesNothingAway(inner=WIDER), None),
    ("half the variance", Twin(inner=ROOT, times=Fraction(2)), "1"),
]


@pytest.mark.parametrize(("twin", "loss"), [b[1:] for b in BROKEN], ids=[b[0] for b in BROKEN])
def test_broken_twins_are_caught(twin: Mechanism, loss: str | None) -> None:
    result = transcript_level(feed(twin), rounds=8, replays=FEW)
    assert result.outcome == "failed", result.evidence
    if loss is not None:
        assert result.details["loss"] == loss


def test_too_small_a_sum_of_weights_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the newest block alone, as if a record entered one number only."""
    monkeypatch.setattr(SquareRoot, "share", HALF / 2)
    root = SquareRoot(rho=HALF, leaves=8, actions=2, grid=BIT)
    result = transcript_level(feed(root), rounds=8, replays=FEW)
    assert result.outcome == "failed"
