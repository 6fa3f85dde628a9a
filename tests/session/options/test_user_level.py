"""The promise to a user, found by replay: two tables that differ in all rewards of one user, and
the same answers. What the noise is asked to hide, at its price, is at most the printed epsilon, or
rho; where the cap is broken on purpose it is more.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.session.people import Register
from dpbandits.policies import DPKLUCB, AdaCUCB, AnytimeLazyUCB, LazyDPTS

ROUNDS = 400


class Told(dpb.SimulatedNoise):
    """Answers what was written beforehand, whatever the sums are, and keeps what it was to hide."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.script = np.random.default_rng(seed)
        self.hidden: list[tuple[int, Fraction]] = []

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        self.hidden.append((value, epsilon / sensitivity))
        return int(self.script.integers(0, 1024))

    def gaussian(self, value: int, *, sensitivity: int, rho: Fraction) -> int:
        self.hidden.append((value, rho / sensitivity**2))
        return int(self.script.integers(0, 1024))


def played(
    policy: Any, cap: int, ann: float, seed: int, **options: Any
) -> tuple[list[Any], Told, dpb.Session]:
    """Ann comes in one round of three; her rewards are all 0 or all 1. Answers come late."""
    noise, rng = Told(seed), np.random.default_rng(seed)
    session = dpb.Session(
        policy, noise=noise, seed=seed, privacy_unit="user", max_contributions=cap, **options
    )
    waiting, actions = list[Any](), list[Any]()
    for round in range(ROUNDS):
        user = "ann" if rng.random() < 1 / 3 else f"user {round}"
        others = float(rng.random() < 0.5)
        decision = session.ask(user=user)
        actions.append((decision.action, decision.learn))
        waiting.append((decision, ann if user == "ann" else others))
        if len(waiting) > 7:
            session.tell(*waiting.pop(int(rng.integers(0, 4))))
    return actions, noise, session


def loss(policy: Any, cap: int, seed: int, **options: Any) -> Fraction:
    """The largest log-ratio of the two laws of what was answered; of normal noise, whose shift d
    costs (d/sensitivity)² rho, their Rényi divergence over its order.
    """
    actions, low, _ = played(policy, cap, 0.0, seed, **options)
    same, high, _ = played(policy, cap, 1.0, seed, **options)
    assert actions == same, "a decision depends on more than the answers"
    pairs = list(zip(low.hidden, high.hidden, strict=True))
    assert len(pairs) > 5
    power = 1 if policy.about.privacy == "pure" else 2
    return sum((abs(a - b) ** power * price for (a, price), (b, _) in pairs), Fraction(0))


POLICIES = [
    DPKLUCB(arms=2, epsilon=1, first=4),
    AnytimeLazyUCB(arms=2, epsilon=1),
    LazyDPTS(arms=2, epsilon=1),
    AdaCUCB(arms=2, rho=1),
]


@pytest.mark.parametrize("cap", [1, 2, 3])
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_users_loss_is_at_most_the_printed_price(policy: Any, cap: int) -> None:
    losses = [loss(policy, cap, seed) for seed in range(5)]
    _, _, session = played(policy, cap, 0.0, 0)
    assert session.guarantee is not None
    assert 1 in (session.guarantee.epsilon, session.guarantee.rho)
    assert max(losses) == 1, "no run reads all of a user's learned rounds: the test misses its aim"


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_a_broken_cap_is_found(policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the places, twice the loss; under zCDP up to four times, where all are in one block."""
    honest = Register.take

    def generous(self: Register, who: str, period: int) -> bool:
        self.cap *= 2
        try:
            return honest(self, who, period)
        finally:
            self.cap //= 2

    monkeypatch.setattr(Register, "take", generous)
    found = max(loss(policy, 2, seed) for seed in range(5))
    assert found == 2 if policy.about.privacy == "pure" else 2 < found <= 4


def test_rounds_of_one_release_add_up_before_they_are_squared() -> None:
    """The control: a policy at ρ/k, for which ρ = 1 would be right if a user's rounds were each in
    a release of their own. They are not, and the loss is twice that.
    """
    at_half = AdaCUCB(arms=2, rho=2)  # its session plays it at 2/2²
    assert max(loss(at_half, 2, seed) for seed in range(5)) == 2
