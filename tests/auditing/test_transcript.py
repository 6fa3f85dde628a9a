"""Level 1: the exact loss is the claim of tight mechanisms, and shows what is broken."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpbandits as dpb
from dpbandits import DPKLUCB, DPUCB, AnytimeLazyUCB, HybridUCB
from dpbandits.auditing import replays
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.checks import examples
from dpbandits.checks.checks import horizon_of
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import (
    Answer,
    BinaryTree,
    Block,
    EachAction,
    EachArm,
    Hybrid,
    JointBatch,
    LazyCumulative,
    LazyForgetful,
    Mechanism,
    NoisyMax,
    SignedCounter,
    SignedTree,
    SquareRoot,
)
from dpbandits.mechanisms.base import Around
from dpbandits.mechanisms.counters import Logarithmic
from dpbandits.noise.protocol import Relay
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from tests.checks.test_mutants import (
    Patch,
    decisions_peek,
    exact_sum_returned,
    hybrid_does_not_split,
    laplace_scale_halved,
    sum_stays_open,
    tree_does_not_split,
)

HALF, BITS = Fraction(1, 2), Grid(steps=1)
FEW = 16
"""Neighbours replayed of every run; benchmarks/controls replays more."""

TIGHT = [
    LazyForgetful(epsilon=HALF),
    LazyCumulative(epsilon=HALF),
    BinaryTree(epsilon=HALF, leaves=16),
    BinaryTree(epsilon=HALF, leaves=13),
    Logarithmic(epsilon=HALF),
    Hybrid(epsilon=HALF),
    Hybrid(epsilon=HALF, segments="doubling"),
    Hybrid(epsilon=HALF, segments="doubling", root=True),
    NoisyMax(epsilon=HALF, grid=Grid(steps=64)),
    NoisyMax(epsilon=HALF, selection="exponential"),
    NoisyMax(epsilon=HALF, selection="permute-and-flip"),
    EachArm(inner=LazyForgetful(epsilon=HALF), width=3),
    EachAction(inner=LazyForgetful(epsilon=HALF), actions=3),
    JointBatch(epsilon=HALF, size=3),
    JointBatch(epsilon=HALF, size=3, grid=Grid(steps=1)),
]


def loss(policy: Policy, **options: Any) -> Fraction:
    return Fraction(transcript_level(policy, **options).details["loss"])


EVERY = 32
"""The rounds of policies that release every round."""


def instances() -> list[Policy]:
    """Made for as many rounds as are played: at longer horizons a run loses less."""
    return [
        replace(p, horizon=EVERY) if p.about.every_round and p.about.needs_horizon else p
        for name in POLICIES
        for p in examples(name, arms=2)
        if p.guarantee is not None and p.randomizer() is None
    ]


INSTANCES = instances()


@pytest.mark.long
@pytest.mark.parametrize("policy", INSTANCES, ids=repr)
def test_registered_policies_keep_their_claim(policy: Policy) -> None:
    """Rounds are few: benchmarks.controls takes more."""
    rounds = min(64 if policy.about.every_round else 256, horizon_of(policy))
    result = transcript_level(policy, rounds=rounds, replays=FEW)
    assert result.outcome == "passed", result.evidence
    assert result.lower_bound <= float(policy.guarantee.cost) * (1 + 1e-12)  # type: ignore[union-attr]


SIMPLE = [p for p in INSTANCES if not p.about.every_round and not p.about.randomised]


@pytest.mark.long
@settings(max_examples=15, deadline=None, derandomize=True)
@given(policy=st.sampled_from(SIMPLE), seed=st.integers(0, 10**6), rounds=st.integers(1, 400))
def test_no_run_costs_more_than_the_claim(policy: Policy, seed: int, rounds: int) -> None:
    result = transcript_level(
        policy, rounds=min(rounds, horizon_of(policy)), seed=seed, replays=FEW
    )
    assert result.outcome != "failed", result.evidence


@pytest.mark.long
@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    leaves=st.integers(1, 40),
    epsilon=st.fractions(Fraction(1, 50), 8, max_denominator=50),
    arms=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_trees_and_lazy_policies_of_any_size(
    leaves: int, epsilon: Fraction, arms: int, seed: int
) -> None:
    assert (
        loss(feed(BinaryTree(epsilon=epsilon, leaves=leaves)), rounds=64, seed=seed, replays=FEW)
        <= epsilon
    )
    assert (
        loss(AnytimeLazyUCB(arms=arms, epsilon=epsilon), rounds=200, seed=seed, replays=FEW)
        == epsilon
    )


LAZY, CUMULATIVE = AnytimeLazyUCB(arms=3, epsilon=1), DPKLUCB(arms=3, epsilon=1, first=3)
MUTANTS: list[tuple[Patch, Policy]] = [
    (sum_stays_open, LAZY),
    (sum_stays_open, CUMULATIVE),
    (laplace_scale_halved, LAZY),
    (tree_does_not_split, DPUCB(arms=3, epsilon=1, horizon=500)),
    (hybrid_does_not_split, HybridUCB(arms=3, epsilon=1)),
    (exact_sum_returned, LAZY),
    (decisions_peek, LAZY),
]


@pytest.mark.parametrize(
    ("mutate", "policy"), MUTANTS, ids=[f"{m.__name__}-{p.name}" for m, p in MUTANTS]
)
def test_mutants_are_caught(mutate: Patch, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate(monkeypatch)
    result = transcript_level(policy, rounds=32, replays=FEW)
    assert result.outcome == "failed"


@pytest.mark.long
def test_every_pair_is_replayed_if_there_are_replays_enough() -> None:
    some, all_ = (
        transcript_level(LAZY, rounds=2000, replays=replays).details for replays in (20, 10_000)
    )
    assert all_["pairs"] == all_["of"] >= 200
    assert all_["rounds"] == 2000
    assert some["pairs"] < some["of"] == all_["of"]


# Sums that are released together, and running sums of whole records.


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_a_record_of_one_arm_costs_what_a_whole_record_does(
    arm: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Released together, a record that moves one sum has no discount (proofs/joint_batch.md)."""

    def moves(steps: Any, full: int, unit: int, rng: Any) -> Any:
        alone = np.where(np.arange(len(steps)) == arm, unit, 0)
        return [alone, -alone]

    monkeypatch.setattr(replays, "wishes", moves)
    joint = JointBatch(epsilon=HALF, size=3, grid=Grid(steps=1))
    result = transcript_level(feed(joint), rounds=8, replays=FEW)
    assert result.outcome == "passed"
    assert Fraction(result.details["loss"]) == HALF
    assert result.lower_bound == float(HALF)
    assert np.flatnonzero(result.details["change"]).tolist() == [arm]


TREE = SignedTree(epsilon=HALF, leaves=5, actions=2, grid=BITS, base=3)
ROOT = SquareRoot(rho=HALF, leaves=8, actions=2, grid=BITS)


SUMS = [
    TREE,
    SignedTree(epsilon=HALF, leaves=8, actions=3, base=5),
    SignedTree(epsilon=HALF, leaves=9, actions=1),
    SignedCounter(epsilon=HALF, leaves=9, base=3),
    ROOT,
    SquareRoot(rho=HALF, leaves=20, actions=1),
    pytest.param(SignedTree(epsilon=HALF, leaves=60, actions=2, grid=BITS), marks=pytest.mark.long),
]
POLICIES_OF_SUMS = [
    pytest.param(dpb.TreeFTRL(actions=2, epsilon=HALF, horizon=40, grid=1), marks=pytest.mark.long),
    dpb.TreeFTRL(actions=2, epsilon=HALF, horizon=8, grid=1, play="weights"),
    dpb.RootFTRL(actions=2, rho=HALF, horizon=12, grid=1),
]


@pytest.mark.parametrize("subject", [*TIGHT, *SUMS, *POLICIES_OF_SUMS], ids=repr)
def test_the_claim_is_what_is_lost(subject: Any) -> None:
    """Exactly; and of Laplace noise an outcome is found that tells just as much. Plans of policies
    are asked for again, with each record changed and the same answers.
    """
    policy = feed(subject) if isinstance(subject, Mechanism) else subject
    rounds, claim = (32, subject.guarantee.epsilon) if subject in TIGHT else (64, HALF)
    result = transcript_level(policy, rounds=40 if policy is subject else rounds, replays=FEW)
    assert result.outcome == "passed", result.evidence
    assert Fraction(result.details["loss"]) == claim
    if subject in TIGHT:
        assert result.lower_bound <= claim * (1 + 1e-12)
    if policy is not subject and not isinstance(subject, NoisyMax | SquareRoot):
        assert result.lower_bound == float(claim)


class Scaled(Relay):
    """Noise at another cost, and where `apart`, a draw for each action, none of which is shared."""

    def __init__(self, noise: Any, times: Fraction, apart: bool) -> None:
        self.noise, self.times, self.apart, self.kind = noise, times, apart, noise.kind

    def ask(self, verb: str, *exact: Any, **cost: Any) -> Any:
        cost |= {name: cost[name] * self.times for name in {"epsilon", "rho"} & cost.keys()}
        if verb == "joint" and self.apart:
            return tuple(self.noise.laplace(value, **cost) for value in exact[0])
        return getattr(self.noise, verb)(*exact, **cost)


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
        return self.inner.answer(memory, block, Scaled(noise, self.times, self.apart))


class TakesNothingAway(Twin):
    """A tree whose nodes ahead are not taken away: its answers lack their noise."""

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


LONE = replace(TREE, actions=1)  # which is replayed in a third of the time
UNPAID = Fraction(TREE.levels, TREE.levels - 1)
WIDER = SignedTree(epsilon=HALF, leaves=8, actions=2, grid=BITS, base=5)
BROKEN: list[tuple[str, Mechanism, str | None]] = [
    ("a level not paid for", Twin(inner=LONE, actions=1, times=UNPAID), "3/4"),
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
    root = SquareRoot(rho=HALF, leaves=8, actions=2, grid=BITS)
    result = transcript_level(feed(root), rounds=8, replays=FEW)
    assert result.outcome == "failed"


def test_a_choice_is_not_priced_in_rho() -> None:
    """What costs ε costs ε²/2 in rho."""
    chosen = feed(NoisyMax(epsilon=1, selection="exponential", grid=BITS))
    result = transcript_level(chosen, rounds=16, replays=1, rho=HALF)
    assert result.outcome == "not applicable", result.evidence
