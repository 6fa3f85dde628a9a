"""DPRateIMED: the leader among many arms, its arguments, and how long its batches are."""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies.base import IndexPolicy, Statistics, largest_below
from dpbandits.policies.cumulative import MANY, above_indices
from dpbandits.policies.formulas import indices
from dpbandits.policies.formulas.indices import (
    MARGIN,
    RUNG,
    IndexNumbers,
    discounted,
    exact_rate,
    next_rung,
    rate_imed_batch,
)


def statistics(rng: np.random.Generator, arms: int) -> Statistics:
    """Released values of any size; many of them alike, and some at the ends or beyond."""
    rounds = rng.choice([1, 3, 32, 48, 10**4, 10**9], arms)
    kind = int(rng.integers(4))
    means = [
        rng.random(arms),
        np.round(rng.random(arms), 1),
        rng.normal(0.5, 3.0, arms),
        -rng.random(arms),
    ][kind]
    totals, counts = tuple((means * rounds).tolist()), tuple(rounds.tolist())
    draws = tuple(rng.integers(1, 9, arms).tolist())
    return Statistics(totals, counts, draws, counts, (0,) * arms, sum(counts))


@pytest.mark.parametrize(
    ("cls", "presets"),
    [(dpb.DPRateIMED, dpb.DPRateIMED.presets), (dpb.DPKLUCB, ("default", "robust"))],
)
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", 1, 20, 2000])
def test_the_leader_among_many_has_the_largest_score(epsilon: Any, cls: Any, presets: Any) -> None:
    """With any preset; each bound is above its score."""
    for preset in presets:
        rng, policy = np.random.default_rng(5), cls(arms=MANY, epsilon=epsilon, preset=preset)
        for _ in range(100):
            s = statistics(rng, MANY)
            for t in (MANY + 1, s.t + 1, 2**62) if cls is dpb.DPKLUCB else (s.t + 1,):
                assert policy.leader(s, t) == IndexPolicy.leader(policy, s, t)
                if cls is dpb.DPKLUCB:
                    level = indices.kl_level(math.log(t), policy.c)
                    given = np.array(s.totals), np.array(s.rounds), level, float(policy.epsilon)
                    bounds = above_indices(*given)
                else:
                    means = np.clip(np.array(s.totals) / np.array(s.rounds), 0.0, 1.0)
                    bounds = policy.ceilings(s, means)
                assert np.all(bounds >= policy.scores(s, t))


def test_few_scores_are_computed() -> None:
    """Of a thousand arms alike in rounds the bounds leave a handful: they are close."""
    rng, rounds = np.random.default_rng(1), (48,) * 1000
    totals = rng.normal(0.5, 0.1, 1000) * 48
    policy = dpb.DPRateIMED(arms=1000, epsilon=1)
    s = Statistics(tuple(totals.tolist()), rounds, (2,) * 1000, rounds, (0,) * 1000, 48_000)
    bounds = policy.ceilings(s, np.clip(totals / 48, 0.0, 1.0))
    assert np.count_nonzero(bounds >= max(policy.scores(s, 48_001))) < 20
    asked, level = list[int](), math.log(10**5)

    def index(arm: int) -> float:
        asked.append(arm)
        return indices.dp_klucb(float(totals[arm]) / 48, 48, level, 1.0)

    largest_below(above_indices(totals, np.array(rounds), level, 1.0), index)
    assert len(asked) < 20


def ladder(first: int, most: int) -> list[int]:
    rungs = [first]
    while rungs[-1] < most:
        rungs.append(next_rung(rungs[-1], first))
    return rungs


@pytest.mark.parametrize("first", [1, 7, 32, 320])
def test_rungs_lie_ever_closer_together(first: int) -> None:
    """Their ratio tends to 1, and there are O((ln n)^1.5) of them."""
    rungs = ladder(first, 10**12)
    assert rungs[1] == first + math.ceil(RUNG * first)
    growth = np.array(rungs[1:], float) / np.array(rungs[:-1], float)
    large = growth[np.array(rungs[:-1]) > 1000 / RUNG]
    assert np.all(np.diff(large) < 0.01 * RUNG)
    assert large[-1] < 1.0 + 0.25 * RUNG
    assert len(rungs) < first + 10 + 3.0 * (math.log(10**12) ** 1.5) / RUNG


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(
    ("level", "doubt", "trust"), [(1.0, 0.0, 1.0), (2.0, 0.0, 1.0), (1.5, 4.0, 0.6)]
)
def test_an_arm_that_is_behind_is_played_until_it_would_be_settled(
    epsilon: float, level: float, doubt: float, trust: float
) -> None:
    """To the first rung past what its index asks for, grown by more than alpha but once."""
    first, alpha, rng, ends = math.ceil(32 / epsilon), 3.0, np.random.default_rng(3), set()
    for _ in range(500):
        rungs = ladder(first, 200 * first)
        n, draws = rungs[int(rng.integers(len(rungs) - 12))], int(rng.integers(1, 9))
        best, leading = float(rng.uniform(0.05, 1.0)), int(rng.integers(first, 10**6))
        mean = float(rng.uniform(-0.2, best))
        p = IndexNumbers(epsilon, level, first, alpha, doubt=doubt, trust=trust)
        total = n + rate_imed_batch(p, mean, n, draws - 1, 0, best, leading)

        asked = level * math.log(leading) + MARGIN
        settled = {
            at: discounted(exact_rate(mean, best, at, draws, epsilon), doubt, trust)
            >= asked - level * math.log(at)
            for at in rungs
        }
        before = rungs[rungs.index(total) - 1]
        assert before >= n
        assert before == n or (before < alpha * n and not settled[before])
        assert total >= alpha * n or settled[total]
        ends.add((before == n, settled[total]))
    assert len(ends) == 3  # at once, later, and not at all


@pytest.mark.parametrize(
    ("epsilon", "doubt"),
    [("10", 0.28), ("1", 0.28), ("1/2", 0.78), ("1/10", 1.18), ("1/1000", 1.279)],
)
def test_the_balanced_doubt_is_larger_where_noise_is_more(epsilon: str, doubt: float) -> None:
    """On a line up to ε = 1; preset "safe" doubts as much everywhere."""
    policy = dpb.DPRateIMED(arms=3, epsilon=epsilon)
    assert policy.discount == (pytest.approx(doubt, abs=1e-3), 0.75)
    assert dpb.DPRateIMED(arms=3, epsilon=epsilon, preset="safe").discount == (4.0, 0.6)


def test_evidence_of_preset_safe_counts_for_less() -> None:
    """A low arm is played again as soon as its discounted rate has it, not its whole one."""
    n, best, rate = 48, 0.6, exact_rate(0.1, 0.6, 48, 1, 1)
    policy = dpb.DPRateIMED(arms=2, epsilon=1, preset="safe")
    due = n * math.exp(discounted(rate, 4.0, 0.6) / 1.5)
    assert due < 0.1 * n * math.exp(rate / 1.5)
    for leading, played in ((math.floor(due), 0), (math.ceil(due) + 1, 1)):
        totals, rounds = (best * leading, 0.1 * n), (leading, n)
        s = Statistics(totals, rounds, (2, 1), rounds, (0, 0), sum(rounds))
        assert policy.leader(s, s.t + 1) == played
