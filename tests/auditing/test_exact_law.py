"""Level 2: known values, the claim as a ceiling, the numerical error, and that what is out of reach
is said.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from benchmarks.controls.known import Redrawn, remade_as
from benchmarks.controls.parts import with_mechanism

from dpbandits import (
    DPKLUCB,
    DPSE,
    DPUCB,
    LDPUCB,
    RNMFTNL,
    UCB1,
    AdaCUCB,
    AnytimeLazyUCB,
    DPUCBBound,
    HybridUCB,
    NaiveFTNL,
)
from dpbandits.auditing.effort import Work
from dpbandits.noise import SimulatedNoise
from dpbandits.policies.contract import Policy
from dpbandits.simulation.transcript import decisions
from tests.auditing.exact_law import Enumeration, Streams, exact_law

ONE = Fraction(1)
QUICK: list[Policy] = [
    AnytimeLazyUCB(arms=2, epsilon=1),
    DPKLUCB(arms=2, epsilon=1, first=1),
    RNMFTNL(actions=2, epsilon=1, selection="permute-and-flip"),
    NaiveFTNL(actions=2, epsilon=1),
]


@pytest.mark.parametrize("policy", QUICK, ids=repr)
@pytest.mark.parametrize("rounds", [4, 8])
def test_loss_is_seen_and_never_above_the_claim(policy: Policy, rounds: int) -> None:
    found = exact_law(policy, rounds)
    assert found.outcome == "passed", found
    assert 0.5 < found.lower_bound <= found.lower_bound + found.error <= 1 + 1e-7
    assert found.attainable == 1
    # an axis an arm and release
    assert (
        found.details.get("missing_mass", 0.0) <= 2 * rounds * found.details.get("cut", 0.0) + 1e-12
    )


@pytest.mark.parametrize(
    "policy",
    [
        DPUCB(arms=2, epsilon=1, horizon=4),
        HybridUCB(arms=2, epsilon=1),
        DPUCBBound(arms=2, epsilon=1),
    ],
    ids=repr,
)
def test_counters_show_no_more_than_the_nodes_that_are_out(policy: Policy) -> None:
    """Within four rounds a reward is in two of a tree's nodes at most: decisions cannot show the
    rest of the claim.
    """
    found = exact_law(policy, 4)
    assert found.outcome == "passed"
    assert found.attainable is not None
    assert 0.3 < found.lower_bound <= found.attainable < 1


@pytest.mark.long
def test_known_values_on_a_finer_grid() -> None:
    """The figures of an independent program, on its grid of 1/16."""
    policy = AnytimeLazyUCB(arms=2, epsilon=1)
    assert exact_law(policy, 4, grid=16).lower_bound == pytest.approx(0.59994, abs=1e-5)
    assert exact_law(policy, 6, Work(2e9), grid=16).lower_bound == pytest.approx(0.998585, abs=1e-6)


def test_known_values_on_the_coarse_grid() -> None:
    policy = AnytimeLazyUCB(arms=2, epsilon=1)
    known = {4: 0.7032924952, 6: 0.9995320237, 8: 0.9997423295}
    assert {T: round(exact_law(policy, T).lower_bound, 8) for T in known} == {
        T: round(x, 8) for T, x in known.items()
    }


@pytest.mark.long
def test_releasing_old_rewards_again_shows_late() -> None:
    """Running sums with fresh noise: a reward pays twice from its second release on, which
    decisions show only once that is in.
    """
    broken = with_mechanism(AnytimeLazyUCB(arms=2, epsilon=1), remade_as(Redrawn))
    assert exact_law(broken, 6, claim=ONE).outcome == "passed"
    late = exact_law(broken, 8, claim=ONE)
    assert late.outcome == "failed"
    assert late.lower_bound > 1.5


def test_published_constants() -> None:
    policy = RNMFTNL(actions=2, epsilon=1, preset="published")
    assert exact_law(policy, claim=ONE).outcome == "failed"
    assert exact_law(policy).outcome == "passed"  # 2 epsilon is what it promises here
    printed = HybridUCB(arms=2, epsilon=1, preset="published")
    assert Streams(printed.mechanism()).cost((1, 1, 1, 1)) == Fraction(3, 2)
    assert Streams(HybridUCB(arms=2, epsilon=1).mechanism()).cost((1, 1, 1, 1)) == 1


def test_three_arms() -> None:
    found = exact_law(AnytimeLazyUCB(arms=3, epsilon=2), 5, arms=3)
    assert found.outcome == "passed"
    assert 1.9 < found.lower_bound <= 2


@pytest.mark.long
def test_frequencies_are_the_exact_probabilities() -> None:
    """20,000 simulated runs of the real policy on one table: every sequence within 5.5 standard
    errors (false alarm below 1e-6).
    """
    policy, runs, table = AnytimeLazyUCB(arms=2, epsilon=1, grid=1), 20_000, [[1.0, 0.0]] * 6
    noise = SimulatedNoise(5)
    seen = Counter(tuple(decisions(policy, table, noise=noise, seed=i)) for i in range(runs))
    laws = Enumeration(policy, 6, Work(), 1e-12).run()
    for played, tables in laws.items():
        (law,) = [p.low for sums, p in tables.items() if rewards_of(played, sums) == table[0]]
        assert abs(seen.get(played, 0) - runs * law) <= 5.5 * math.sqrt(runs * law) + 1, played


def rewards_of(played: Any, sums: Any) -> list[float] | None:
    """What each arm earned in every round, if that was the same in all of them: here blocks of arm
    1 are full, those of arm 2 empty.
    """
    arms = [0, 1] + [a for a, n in block_order(played)]
    ok = all(s == (n if arm == 0 else 0) for arm, (s, n) in zip(arms, sums, strict=True))
    return [1.0, 0.0] if ok else None


def block_order(played: Any) -> list[tuple[int, int]]:
    """Later blocks of Anytime-Lazy-UCB, by the round they end in: arm and size."""
    size, open_, found = [1, 1], [0, 0], []
    for arm in played[2:-1]:
        open_[arm] += 1
        if open_[arm] == 2 * size[arm]:
            size[arm], open_[arm] = open_[arm], 0
            found.append((arm, size[arm]))
    return found


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        (UCB1(arms=2), "claims no epsilon"),
        (AdaCUCB(arms=2, rho=1), "claims no epsilon"),
        (LDPUCB(arms=2, epsilon=1), "reports"),
        (DPUCB(arms=2, epsilon=1, horizon=5), "fewer than 8"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_what_does_not_apply_says_why(policy: Policy, why: str) -> None:
    found = exact_law(policy)
    assert (found.outcome, found.attainable) == ("not applicable", None)
    assert why in found.evidence


@pytest.mark.parametrize(
    "policy", [DPKLUCB(arms=2, epsilon=1), DPSE(arms=2, epsilon=1, beta=0.1)], ids=repr
)
def test_before_the_first_release_there_is_nothing_to_attain(policy: Policy) -> None:
    found = exact_law(policy)
    assert (found.outcome, found.lower_bound, found.attainable) == ("not applicable", 0.0, 0.0)


def test_that_nothing_was_seen_is_said_of_the_rounds_looked_at() -> None:
    """It read as if no decision ever depended on a reward."""
    found = exact_law(AnytimeLazyUCB(arms=2, epsilon=1, grid=1), 2)
    assert "in 2 rounds" in found.evidence
