"""Broken privacy and broken hosts must be caught: each mutant fails some shipped check, and the
check it fails is named.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpbandits import DPKLUCB, DPUCB, AdaCUCB, AnytimeLazyUCB, HybridUCB, LazyDPTS
from dpbandits.checks import CHECKS
from dpbandits.core.errors import CheckFailed, LedgerError
from dpbandits.core.plan import Hold, Progress
from dpbandits.mechanisms import Answer, BinaryTree, GaussianBatches, LazyForgetful
from dpbandits.mechanisms import hybrid as hybrid_module
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.policies.turn import Turn
from dpbandits.session import Session
from dpbandits.session.wheel.turn import Wheel
from dpbandits.simulation import plain
from dpbandits.vault import ArmVault

Patch = Callable[[pytest.MonkeyPatch], None]


def caught(check: str, policy: Policy) -> None:
    with pytest.raises(CheckFailed):
        CHECKS[check](policy)


def sum_stays_open(patch: pytest.MonkeyPatch) -> None:
    """A release empties the count of its block and leaves the sum: the next release reads the same
    rewards again.
    """
    honest = ArmVault._close

    def close(self: ArmVault, coordinates: Any, *rest: Any) -> Any:
        before = {c: self._open[c][0] for c in coordinates}
        answer = honest(self, coordinates, *rest)
        for c in coordinates:
            self._open[c] = (before[c], *self._open[c][1:])
        return answer

    patch.setattr(ArmVault, "_close", close)


def block_stays_open(patch: pytest.MonkeyPatch) -> None:
    """A release leaves its block as it was, count and all."""
    honest = ArmVault._close

    def close(self: ArmVault, coordinates: Any, *rest: Any) -> Any:
        before = {c: self._open[c] for c in coordinates}
        answer = honest(self, coordinates, *rest)
        for c in coordinates:
            self._open[c] = before[c]
        return answer

    patch.setattr(ArmVault, "_close", close)


def reward_enters_twice(patch: pytest.MonkeyPatch) -> None:
    """A tell adds its reward a second time."""
    honest = Wheel.tell

    def tell(self: Wheel, id: int, play: Any, reward: object) -> None:
        self.vault.add(play.observe or play.action, reward)
        honest(self, id, play, reward)

    patch.setattr(Wheel, "tell", tell)


def tree_does_not_split(patch: pytest.MonkeyPatch) -> None:
    """Every node of the tree gets the whole epsilon."""
    patch.setattr(BinaryTree, "share", property(lambda self: self.epsilon))


def hybrid_does_not_split(patch: pytest.MonkeyPatch) -> None:
    """The open segment's tree gets twice its half."""
    honest = hybrid_module.add_leaf
    patch.setattr(
        hybrid_module,
        "add_leaf",
        lambda nodes, leaf, x, eps, s, noise: honest(nodes, leaf, x, eps * 2, s, noise),
    )


def tells_repeat(patch: pytest.MonkeyPatch) -> None:
    """A decision that was told stays open for another tell."""
    honest = Wheel.tell

    def tell(self: Wheel, id: int, play: Any, reward: object) -> None:
        honest(self, id, play, reward)
        self.pending[id] = play

    patch.setattr(Wheel, "tell", tell)


def exact_sum_returned(patch: pytest.MonkeyPatch) -> None:
    """The mechanism forgets its noise."""
    patch.setattr(
        LazyForgetful,
        "step",
        lambda self, memory, total, count, noise: (None, Answer(total / self.grid.steps, count, 1)),
    )


def early_at_horizon(patch: pytest.MonkeyPatch) -> None:
    """The event simulator releases a block one round before it is full."""

    class Hasty(Progress):
        def __init__(self, plan: Any) -> None:
            super().__init__(
                Hold(plan.action, plan.rounds - 1, plan.release)
                if isinstance(plan, Hold) and plan.rounds > 1
                else plan
            )

    opened, following = plain.open_turn, plain.next_turn

    def hasty(turn: Turn) -> Turn:
        return turn._replace(progress=Hasty(turn.plan))

    patch.setattr(plain, "open_turn", lambda *given: hasty(opened(*given)))
    patch.setattr(plain, "next_turn", lambda *given: hasty(following(*given)))


def laplace_scale_halved(patch: pytest.MonkeyPatch) -> None:
    """The mechanism asks for half the noise it promises."""

    def step(self: LazyForgetful, memory: None, total: int, count: int, noise: Any) -> Any:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=2 * self.epsilon)
        return None, Answer(noisy / self.grid.steps, count, 1)

    patch.setattr(LazyForgetful, "step", step)


def gaussian_scale_halved(patch: pytest.MonkeyPatch) -> None:
    def step(self: GaussianBatches, memory: None, total: int, count: int, noise: Any) -> Any:
        noisy = noise.gaussian(total, sensitivity=self.grid.steps, rho=4 * self.rho)
        return None, Answer(noisy / self.grid.steps, count, 1)

    patch.setattr(GaussianBatches, "step", step)


def decisions_peek(patch: pytest.MonkeyPatch) -> None:
    """A batch ends early when the raw sum is high: the request for a release depends on rewards."""
    honest = Wheel.tell

    def tell(self: Wheel, id: int, play: Any, reward: object) -> None:
        plan, progress = self.turn.plan, self.turn.progress
        if self.vault._open[play.action][0] > 3 * 1024 and isinstance(plan, Hold) and plan.release:
            sooner = progress.told.get(play.action, 0) + 1
            progress._goals[play.action] = min(sooner, progress._goals[play.action])
        honest(self, id, play, reward)

    patch.setattr(Wheel, "tell", tell)


LAZY = AnytimeLazyUCB(arms=3, epsilon=1)
MUTANTS: list[tuple[Patch, Policy, str]] = [
    (sum_stays_open, LAZY, "loss_within_claim"),
    (sum_stays_open, DPKLUCB(arms=3, epsilon=1, first=3), "loss_within_claim"),
    (tree_does_not_split, DPUCB(arms=3, epsilon=1, horizon=500), "loss_within_claim"),
    (hybrid_does_not_split, HybridUCB(arms=3, epsilon=1), "loss_within_claim"),
    (tells_repeat, LAZY, "late_and_missing_tells"),
    (exact_sum_returned, LAZY, "replay_is_blind"),
    (exact_sum_returned, LazyDPTS(arms=3, epsilon=1), "replay_is_blind"),
    (early_at_horizon, LAZY, "hosts_agree"),
    (early_at_horizon, DPKLUCB(arms=3, epsilon=1, first=3), "hosts_agree"),
    (laplace_scale_halved, LAZY, "loss_within_claim"),
    (gaussian_scale_halved, AdaCUCB(arms=3, rho=1), "loss_within_claim"),
    (decisions_peek, LAZY, "replay_is_blind"),
]


@pytest.mark.parametrize(
    ("mutate", "policy", "check"), MUTANTS, ids=[f"{m.__name__}-{p.name}" for m, p, _ in MUTANTS]
)
def test_mutant_is_caught(
    mutate: Patch, policy: Policy, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    CHECKS[check](policy)  # the honest one passes
    mutate(monkeypatch)
    caught(check, policy)


@pytest.mark.parametrize(
    "mutate",
    [block_stays_open, reward_enters_twice, tells_repeat],
    ids=lambda mutate: mutate.__name__,
)
@pytest.mark.parametrize(
    "policy", [LAZY, DPUCB(arms=3, epsilon=1, horizon=500)], ids=lambda policy: policy.name
)
def test_the_ledger_fails(mutate: Patch, policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts or reads a reward twice is seen by the ledger itself, in a plain session, before
    anything of it is released.
    """
    mutate(monkeypatch)
    session = Session(policy, noise=SimulatedNoise(1), seed=1)
    with pytest.raises(LedgerError, match=r"does not add up.*Nothing was released"):
        play(session, 60)
    assert session.spent in (0, 1)


def play(session: Session, rounds: int) -> None:
    for _ in range(rounds):
        session.tell(session.ask(), 1.0)
