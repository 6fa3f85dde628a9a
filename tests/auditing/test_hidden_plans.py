"""Policies that look past the vault: other rewards change a plan, though releases stay the same."""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpbandits import audit
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.plan import Hold, Plan
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer, Mechanism
from dpbandits.mechanisms.base import Pure
from dpbandits.noise import Noise
from dpbandits.policies.base import PrivatePolicy, StatisticsPolicy, first_unseen
from dpbandits.policies.contract import About

EXACT = [0, 0]
"""Sum and records of the newest block, which no policy should see."""


@dataclass(frozen=True, kw_only=True)
class Noting(Pure):
    """Answers as it should, and keeps the exact sum elsewhere."""

    proof = "lazy_forgetful"
    adds: bool = False  # adds the noise by itself

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        EXACT[:] = total, count
        given, added = (0, total) if self.adds else (total, 0)
        noisy = noise.laplace(given, sensitivity=self.grid.steps, epsilon=self.epsilon) + added
        return memory, Answer(noisy / self.grid.steps, count, 1)


@dataclass(frozen=True, kw_only=True)
class Interim(StatisticsPolicy, PrivatePolicy):
    """Looks at the newest exact block once. Its rule says the same where all rewards are
    swapped.
    """

    about = About(paper="", algorithm="", bound="")
    at: int = 160
    adds: bool = False

    def mechanism(self) -> Mechanism:
        return Noting(epsilon=self.budget, grid=Grid(steps=self.grid), adds=self.adds)

    def plan(self, state: Any, rng: Any) -> Plan:
        arm = first_unseen(state)
        if arm is None:
            arm = int(state.totals[0] * state.rounds[1] < state.totals[1] * state.rounds[0])
        if state.t == self.at and abs(2 * EXACT[0] - EXACT[1]) >= 2:
            arm = 1 - arm
        return Hold(arm, 4, (arm,))

    def regret_bound(self, means: Any, rounds: int) -> float:
        return float("nan")


def interim(at: int, *, adds: bool = False) -> Interim:
    return Interim(arms=2, epsilon=1, grid=1, at=at, adds=adds)


@pytest.mark.parametrize("at", [164, 180, 204])
def test_a_look_past_the_vault_is_seen_in_short_runs(at: int) -> None:
    """It passed, with every neighbour replayed: in most of them no plan was asked for."""
    found = transcript_level(interim(at), rounds=256, replays=80)
    assert found.outcome == "failed", found


@pytest.mark.parametrize("at", [100, 120, 160, 600, 1800])
def test_a_look_past_the_vault_is_seen_by_a_number_of_runs(at: int) -> None:
    """With any number of runs 40 neighbours were replayed, and all of these passed."""
    assert audit(interim(at), levels=["transcript"], runs=100).failed


def test_a_look_past_the_vault_is_seen_where_noise_has_to_move() -> None:
    """Then no plan was asked for at all."""
    found = transcript_level(interim(20, adds=True), rounds=40, replays=30)
    assert found.outcome == "failed", found


def test_the_report_says_in_how_many_neighbours_plans_were_asked_for() -> None:
    found = transcript_level(interim(10**6), Fraction(1), rounds=64, replays=12)
    assert found.outcome == "passed", found
    assert found.details["asked"] == found.details["pairs"] > 0
    assert f"plans asked for again in {found.details['asked']}" in found.evidence


def test_more_runs_replay_more_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them, as with any number of runs, 40 were replayed of each written run."""
    asked = []

    def level(policy: Any, claim: Any, **options: Any) -> Any:
        asked.append((options["replays"], options["budget"]))
        return transcript_level(policy, claim, rounds=16, replays=1)

    monkeypatch.setattr(sys.modules["dpbandits.auditing.audit"], "transcript_level", level)
    for runs in (100, 20_000):
        audit(interim(10**6), levels=["transcript"], runs=runs)
    assert asked == [(40, None), (800, None)]


@dataclass(frozen=True, kw_only=True)
class OwnPlans(Interim):
    """Its plans come by coins of its own."""

    def plan(self, state: Any, rng: Any) -> Plan:
        arm = random.randrange(2) if first_unseen(state) is None else first_unseen(state)
        return Hold(arm, 4, (arm,))


def test_plans_by_coins_of_its_own_do_not_pass() -> None:
    """They passed, and nobody had compared them."""
    policy = OwnPlans(arms=2, epsilon=1, grid=1)
    found = transcript_level(policy, rounds=64, replays=12)
    assert found.outcome == "not applicable", found
