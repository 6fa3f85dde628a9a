"""Broken privacy and broken hosts must be caught: each mutant fails some shipped check, and the
check it fails is named.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from dpbandits import DPKLUCB, DPUCB, AdaCUCB, AnytimeLazyUCB, HybridUCB, LazyDPTS
from dpbandits.checks import CHECKS
from dpbandits.checks.checks import compiled_law, smallest_p
from dpbandits.core.errors import CheckFailed
from dpbandits.core.plan import Hold, Progress
from dpbandits.mechanisms import Answer, BinaryTree, GaussianBatches, LazyForgetful
from dpbandits.mechanisms import counters as hybrid_module
from dpbandits.policies.contract import Policy, Step
from dpbandits.policies.formulas.indices import IndexNumbers
from dpbandits.session.state import Told, View
from dpbandits.simulation import plain
from dpbandits.vault import OpenBlock, Vault, add_records

Patch = Callable[[pytest.MonkeyPatch], None]


@cache
def passed(check: str, policy: Policy) -> None:
    """The honest policy passes: tried once, for whichever mutants."""
    CHECKS[check](policy)


def leaves_open(patch: pytest.MonkeyPatch, count_of: Callable[[int], int]) -> None:
    """A release leaves its blocks as they were, but for their counts."""
    honest = Vault.release

    def release(self: Vault, books: Any, read: Any, drop: Any = (), *more: Any) -> Any:
        after, answers = honest(self, books, read, drop, *more)
        before = {key: books.blocks[key] for key in read}
        left = {key: OpenBlock(count_of(of.count), of.sums) for key, of in before.items()}
        return after._replace(blocks={**after.blocks, **left}), answers

    patch.setattr(Vault, "release", release)


def sum_stays_open(patch: pytest.MonkeyPatch) -> None:
    """A release empties the count of its block and leaves the sum, which is read again."""
    leaves_open(patch, lambda count: 0)


def block_stays_open(patch: pytest.MonkeyPatch) -> None:
    """A release leaves its block as it was, count and all."""
    leaves_open(patch, lambda count: count)


def after_a_tell(patch: pytest.MonkeyPatch, then: Callable[[View, Told, Any], None]) -> None:
    """Do something more once a reward was recorded."""
    honest = View.apply

    def apply(self: View, event: Any, at: int) -> None:
        play = self.pending.get(event.id)
        honest(self, event, at)
        if type(event) is Told:
            then(self, event, play)

    patch.setattr(View, "apply", apply)


def reward_enters_twice(patch: pytest.MonkeyPatch) -> None:
    """A tell adds its reward a second time."""

    def again(view: View, event: Told, play: Any) -> None:
        add_records(view.blocks, event.parts)

    after_a_tell(patch, again)


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

    def pending(view: View, event: Told, play: Any) -> None:
        view.pending[event.id] = play

    after_a_tell(patch, pending)


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

    opened, following = plain.begin_step, plain.next_step

    def hasty(turn: Step) -> Step:
        return turn._replace(progress=Hasty(turn.plan))

    patch.setattr(plain, "begin_step", lambda *given: hasty(opened(*given)))
    patch.setattr(plain, "next_step", lambda *given: hasty(following(*given)))


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

    def hurry(view: View, event: Told, play: Any) -> None:
        sums = view.blocks[event.counted_as].sums
        plan = view.log.plan
        if sums[0] > 3 * 1024 and isinstance(plan, Hold) and plan.release and view.ready is None:
            view.ready = (event.counted_as,)

    after_a_tell(patch, hurry)


def very_late_rewards_are_lost(patch: pytest.MonkeyPatch) -> None:
    """One in seven rewards that come 30 rounds late is counted, but enters no sum."""
    honest = View.apply

    def apply(self: View, event: Any, at: int) -> None:
        if type(event) is Told and event.id < self.asked - 30 and event.id % 7 == 0:
            event = replace(event, parts=())
        honest(self, event, at)

    patch.setattr(View, "apply", apply)


LAZY = AnytimeLazyUCB(arms=3, epsilon=1)
MUTANTS: list[tuple[Patch, Policy, str]] = [
    (sum_stays_open, LAZY, "loss_within_claim"),
    (sum_stays_open, DPKLUCB(arms=3, epsilon=1, first=3), "loss_within_claim"),
    (block_stays_open, LAZY, "late_and_missing_tells"),
    (block_stays_open, DPUCB(arms=3, epsilon=1, horizon=500), "ledger_equals_claim"),
    (reward_enters_twice, LAZY, "late_and_missing_tells"),
    (reward_enters_twice, DPKLUCB(arms=3, epsilon=1, first=3), "hosts_agree"),
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
    (very_late_rewards_are_lost, DPKLUCB(arms=3, epsilon=1, first=9), "late_rewards"),
]


@pytest.mark.parametrize(
    ("mutate", "policy", "check"), MUTANTS, ids=[f"{m.__name__}-{p.name}" for m, p, _ in MUTANTS]
)
def test_mutant_is_caught(
    mutate: Patch, policy: Policy, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed(check, policy)
    mutate(monkeypatch)
    with pytest.raises(CheckFailed):
        CHECKS[check](policy)


@pytest.mark.long
def test_compiled_noise_at_half_scale_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled twin that draws half the noise has another law of play counts."""
    from dpbandits.simulation.compiled import players

    compiled_law(LAZY)
    honest = players.BUILDERS[AnytimeLazyUCB]
    monkeypatch.setitem(players.BUILDERS, AnytimeLazyUCB, lambda p, g: honest_at(honest, p, g, 1.0))
    with pytest.raises(CheckFailed):
        compiled_law(LAZY)


def honest_at(honest: Any, policy: Any, steps: int, eps: float) -> Any:
    kernel = honest(policy, steps)
    halved = IndexNumbers(*kernel.args[0])._replace(noise=steps / (2 * eps))
    return partial(kernel.func, tuple(halved), steps)


def test_checks_are_seeded() -> None:
    """Two runs of a statistical check see the same runs: a red check stays red."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 50, (200, 3)), rng.integers(0, 50, (4000, 3))
    assert smallest_p(a, b) > 1e-6
    assert smallest_p(a + 8, b) < 1e-6
