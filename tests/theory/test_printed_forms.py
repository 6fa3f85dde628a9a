"""The sums that are computed lie below the closed forms that papers print, and theory's other
numbers have the values and limits they should.
"""

import inspect
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits import theory
from dpbandits.oracles import DecisionSet
from dpbandits.policies.formulas.indices import kl
from dpbandits.policies.super_arm_bounds import super_arm_gaps
from tests.theory.instances import ARMS, MATROIDS, SUPER_ARMS

HORIZONS = (10, 1000, 10**6, 10**12)


def gaps_of(means: tuple[float, ...]) -> list[float]:
    return [max(means) - mean for mean in means if mean < max(means)]


@pytest.mark.parametrize("means", ARMS)
def test_sums_lie_below_what_is_printed(means: tuple[float, ...]) -> None:
    """Auer et al. 2002, Theorem 1; Hu et al. 2024, Theorems 3 (Lemma 19's terms: a batch each) and
    9; Sajed and Sheffet 2019, Lemma 4.2, in its own words: three times the last epoch's terms;
    Cesari and Colomboni 2026.
    """
    gaps, arms = gaps_of(means), len(means)
    for rounds in HORIZONS:
        log_t = math.log(rounds)
        auer = sum(8 * log_t / gap + (1 + math.pi**2 / 3) * gap for gap in gaps)
        assert dpb.UCB1(arms=arms).regret_bound(means, rounds) <= auer * 1.001
        for eps in (0.1, 1.0, 4.0):
            lazy = dpb.AnytimeLazyUCB(arms=arms, epsilon=eps)
            depth = [math.ceil(math.log2(24 * log_t / (gap * min(gap, eps)))) for gap in gaps]
            printed = sum((2.0 ** (d + 2) + 3) * gap for d, gap in zip(depth, gaps, strict=True))
            assert lazy.regret_bound(means, rounds) <= printed + max(gaps)
            leader = dpb.RNMFTNL(actions=arms, epsilon=eps)
            assert leader.regret_bound(means, rounds) <= bracket_sum(means, eps / 2)
            prefix = dpb.PrefixExponential(actions=arms, epsilon=eps)
            cesari = 1000 * math.log(arms) * (1 / min(gaps) + 1 / eps)
            assert prefix.regret_bound(means, rounds) <= cesari
            beta = min(0.5, 1 / rounds)
            elimination = dpb.DPSE(arms=arms, epsilon=eps, beta=beta)
            logs = [math.log(8 * arms * (2 + math.log2(1 / gap)) ** 2 / beta) for gap in gaps]
            sajed = sum(log * (1024 / gap + 96 / eps) for log, gap in zip(logs, gaps, strict=True))
            assert elimination.regret_bound(means, rounds) <= sajed + 2 * max(gaps)


def bracket_sum(means: tuple[float, ...], eps: float) -> float:
    """256 (1 + ln|J|)/min(Δ, ε) over the brackets of gaps."""
    gaps = gaps_of(means)
    levels = Counter(math.floor(math.log2(gap / min(gaps)) + 1e-9) for gap in gaps)
    return max(gaps) + sum(
        256 * (1 + math.log(n)) / min(min(gaps) * 2.0**level, eps) for level, n in levels.items()
    )


@pytest.mark.parametrize("rounds", [100, 10**4, 10**8])
def test_bounds_for_all_instances_hold_the_bounds_of_each(rounds: int) -> None:
    for means in ARMS:
        k = len(means)
        for policy in (
            dpb.UCB1(arms=k),
            dpb.AnytimeLazyUCB(arms=k, epsilon=0.5),
            dpb.DPSE(arms=k, epsilon=0.5, horizon=rounds),
            dpb.DecreasingHedge(actions=k),
            dpb.RNMFTNL(actions=k, epsilon=0.5),
            dpb.NaiveFTNL(actions=k, epsilon=0.5),
            dpb.PrefixExponential(actions=k, epsilon=0.5),
            dpb.TreeFTRL(actions=k, epsilon=0.5, horizon=rounds),
            dpb.TreeFTRL(actions=k, epsilon=0.5, horizon=rounds, preset="published"),
        ):
            everywhere = dpb.instance_independent_bound(policy, rounds)
            assert policy.regret_bound(means, rounds) <= everywhere * (1 + 1e-9), policy
            if policy.about.feedback == "bandit":
                eps = None if policy.guarantee is None else 0.5
                assert theory.minimax_lower_bound(k, rounds, eps) <= everywhere
    for unknown in (dpb.DPIMED(arms=3, epsilon=1), dpb.LazyDPTS(arms=3, epsilon=1)):
        assert math.isnan(dpb.instance_independent_bound(unknown, rounds))


def test_bounds_for_all_instances_are_below_the_rounds_at_last() -> None:
    """A bound of T says nothing; theirs are O(√T) and more slowly growing terms."""
    for policy in (
        dpb.DPSE(arms=5, epsilon=0.1, horizon=10**8),
        dpb.NaiveFTNL(actions=5, epsilon=0.1),
        dpb.PrefixExponential(actions=5, epsilon=0.1),
        dpb.TreeFTRL(actions=5, epsilon=0.1, horizon=10**8, preset="published"),
        dpb.TreeFTRL(actions=5, epsilon=1, horizon=10**8),
    ):
        assert dpb.instance_independent_bound(policy, 10**8) < 10**8 / 20
    prefix = dpb.PrefixExponential(actions=5, epsilon=0.1)
    log_k = math.log(5)
    proved = 9 * math.sqrt(10**8 * log_k) + 24 * log_k / 0.1 + 1
    assert dpb.instance_independent_bound(prefix, 10**8) == pytest.approx(proved)


@pytest.mark.parametrize(("problem", "means"), [*SUPER_ARMS, *MATROIDS])
def test_gaps_are_those_of_super_arms(problem: DecisionSet, means: tuple[float, ...]) -> None:
    """Every feasible set of arms, one by one; on a matroid the least gap may be smaller."""
    found = super_arm_gaps(problem, means)
    assert found is not None
    feasible = [
        tuple(arm for arm in range(problem.arms) if subset >> arm & 1)
        for subset in range(1, 2**problem.arms)
    ]
    values = {a: problem.value(a, means) for a in feasible if problem.contains(a)}
    best = problem.alpha * max(values.values())
    matroid = isinstance(problem, dpb.UniformMatroid | dpb.GraphicMatroid | dpb.LinearMatroid)
    matroid = matroid or isinstance(problem, dpb.PartitionMatroid)
    for arm in range(problem.arms):
        gaps = [best - v for a, v in values.items() if arm in a and best - v > 1e-9]
        least = min(gaps, default=math.inf)
        assert found.least[arm] <= least + 1e-9 if matroid else found.least[arm] == least
    assert found.largest == pytest.approx(max(0.0, best - min(values.values())))


def test_b_of_a_value_that_is_no_sum() -> None:
    """B₁ and B∞."""
    edges = [(arm, arm) for arm in range(5)]
    covered, top = dpb.Coverage(edges, k=2), dpb.TopK(arms=5, k=2)
    assert (covered.b_one, covered.b_max) == (top.b_one, top.b_max) == (1, 2)
    assert dpb.Coverage(edges, k=2, normalised=True).b_max == pytest.approx(2 / 5)
    assert math.isnan(dpb.Influence([(0, 1), (1, 2)], seeds=1).b_one)
    means, rounds = [0.9, 0.8, 0.5, 0.4, 0.3], 10**6
    orders = [
        dpb.CUCBLDP1(problem=p, epsilon=1).regret_order(means, rounds) for p in (covered, top)
    ]
    assert 1 <= orders[0] / orders[1] < 4  # coverage's oracle promises less, so its gaps are less


def test_lai_robbins_is_of_the_laws_own_class() -> None:
    """Coins: kl. Narrow laws: K_inf, which is larger; a two-point law by its closed form."""
    coins = theory.lai_robbins(dpb.Bernoulli([0.5, 0.4]), 1000)
    assert coins == pytest.approx(0.1 * math.log(1000) / kl(0.4, 0.5))
    alike = dpb.Categorical([0, 1], [[0.5, 0.5], [0.6, 0.4]])
    assert theory.lai_robbins(alike, 1000) == pytest.approx(coins)
    narrow = dpb.Uniform([0.45, 0.35], [0.55, 0.45])
    assert theory.lai_robbins(narrow, 1000) < coins / 5
    private = [theory.private_lower_bound(narrow, 1000, eps) for eps in (0.01, 1, 100)]
    assert private[0] > private[1] >= private[2] == pytest.approx(theory.lai_robbins(narrow, 1000))
    assert math.isnan(theory.lai_robbins(dpb.Table(np.full((5, 2), 0.5)), 1000))


def test_full_information_holds_at_every_horizon() -> None:
    for actions in (2, 3, 10, 1000):
        for gap in (0.01, 0.2, 0.9):
            found = [
                theory.full_information_lower_bound(actions, gap, t, epsilon=0.01)
                for t in (1, 2, 100, 10**6)
            ]
            assert found == sorted(found)
            assert all(v <= gap * t for v, t in zip(found, (1, 2, 100, 10**6), strict=True))
            free = theory.full_information_lower_bound(actions, gap, 10**6)
            assert 0 <= free <= found[-1]
    assert theory.full_information_lower_bound(1000, 0.01, 10**8) > math.log(1000) / (256 * 0.01)
    once = 0.3 * (1 - (2 * 0.6 * math.log(1.6 / 0.4) + math.log(2)) / math.log(45))  # n = 1
    assert theory.full_information_lower_bound(45, 0.6, 100) == pytest.approx(once)


def test_lower_bounds_of_worst_instances() -> None:
    found = theory.private_paths_lower_bound(12, 4, 0.5, 10**6, 0.5)
    assert found == pytest.approx(8 * 4 * math.log(10**6) / (64 * (math.exp(0.5) - 1) ** 2 * 0.5))
    assert math.isnan(theory.private_paths_lower_bound(12, 5, 0.5, 10**6, 0.5))
    assert theory.semi_bandit_lower_order(12, 4, 0.5, 10, 1) == pytest.approx(48 * math.log(10) * 3)
    private = theory.full_information_lower_bound(2, 0.5, 100, 0.01)
    assert private == pytest.approx(0.098 * math.log(2) / 0.1)
    named = {"alpha": 0.3, "beta": 0.05, "epsilon": 0.1}
    rule = theory.private_sample_lower_bound(-0.05, 2.0, **named)
    assert rule == pytest.approx(2 * math.log(20) / (12 * 0.1 * 0.3 * 0.05))


def test_stopping_rules_lie_between_their_bounds() -> None:
    """Theorem 3.4, below Theorem 3.3."""
    for mean in (0.5, 0.05, 0.005):
        private = theory.private_sample_lower_bound(mean, 1.0, alpha=0.3, beta=0.05, epsilon=0.1)
        most = dpb.stopping_time_bound(mean, 1.0, alpha=0.3, beta=0.05, epsilon=0.1)
        assert 0 < private < most
    assert theory.private_sample_lower_bound(0.0, 1.0, alpha=0.3, beta=0.05, epsilon=1) == math.inf


NUMBERS = {
    "arms": 4,
    "size": 2,
    "actions": 3,
    "rounds": 100,
    "epsilon": 1,
    "gap": 0.1,
    "mean": 0.1,
    "width": 1,
    "alpha": 0.1,
    "beta": 0.1,
}
OTHERS = {
    "environment": dpb.Bernoulli([0.5, 0.4, 0.3]),
    "matroid": dpb.UniformMatroid(arms=3, rank=1),
    "problem": dpb.UniformMatroid(arms=3, rank=1),
    "policy": dpb.DPKLUCB(arms=3, epsilon=1),
}


@pytest.mark.parametrize("name", [name for name in theory.__all__ if name != "list_policies"])
def test_what_is_no_number_has_no_bound(name: str) -> None:
    """A bound of NaN would pass for "none is known", and some were numbers."""
    bound = getattr(theory, name)
    takes = inspect.signature(bound).parameters
    given: dict[str, Any] = {**NUMBERS, **OTHERS}
    asked = {each: given[each] for each in takes}
    bound(**asked)
    for each in takes.keys() & NUMBERS:
        for wrong in (math.nan, -math.inf, "1", True):
            with pytest.raises(ValueError, match=f"^Expected {each}="):
                bound(**{**asked, each: wrong})
