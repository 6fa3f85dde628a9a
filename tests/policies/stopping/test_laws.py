"""Exact laws of small cases, the same for all hosts."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.mechanisms import AboveThreshold
from dpbandits.noise import SecureNoise, SimulatedNoise
from dpbandits.policies.stopping import StoppingRule
from tests.policies.stopping.rules import upper


def exact_law(rule: StoppingRule, mean: float) -> dict[tuple[int, bool], float]:
    """P[rounds, capped] for 0/1 rewards, by enumeration (tail left out: below 1e-9)."""
    mechanism = rule.mechanism()
    scale = 6 * mechanism.grid.steps / float(mechanism.epsilon or 1)
    reach = math.ceil(22 * scale)
    thresholds = range(-reach, reach + 1) if mechanism.epsilon else [0]
    p = math.exp(-1 / scale)
    law: Counter[tuple[int, bool]] = Counter()
    for rewards in itertools.product((0, 1), repeat=rule.cap):
        weight = mean ** sum(rewards) * (1 - mean) ** (rule.cap - sum(rewards))
        for b in thresholds:
            alive = weight * ((1 - p) / (1 + p) * p ** abs(b) if mechanism.epsilon else 1)
            t = 0
            while True:
                t = min(rule.following(t), rule.cap)
                total = mechanism.grid.steps * sum(rewards[:t])
                short = mechanism.bar_at(t) + b - mechanism.distance(t, total)
                yes = upper(scale, short) if mechanism.epsilon else float(short <= 0)
                law[t, False] += alive * yes
                alive *= 1 - yes
                if t == rule.cap:
                    law[t, True] += alive
                    break
    return law


SMALL = [
    dpb.NAS(alpha=0.9, beta=0.9, cap=7, low=1, high=2, grid=1),
    dpb.DPNAS(alpha=0.9, beta=0.9, epsilon=8, cap=4, low=3, high=4, grid=1),
    dpb.DPNAS(alpha=0.9, beta=0.9, epsilon=8, cap=3, low="-37/10", high="-27/10", grid=2),
    dpb.DPExponentialNAS(alpha=0.9, beta=0.9, epsilon=8, cap=5, low=2, high=3, grid=1),
]


@pytest.mark.parametrize("rule", SMALL, ids=repr)
@pytest.mark.parametrize("compiled", [True, False])
def test_stopping_time_has_its_exact_law(rule: Any, compiled: bool) -> None:
    """Every outcome's frequency against enumeration; false-alarm rate 1e-6 an outcome."""
    runs = 20_000 if compiled else 3000
    found = dpb.estimates(rule, dpb.Bernoulli([0.8]), runs=runs, seed=2, compiled=compiled)
    seen = Counter(zip(found.rounds.tolist(), found.capped.tolist(), strict=True))
    law = exact_law(rule, 0.8)
    assert sum(law.values()) == pytest.approx(1, abs=1e-8)
    assert sum(p > 0.01 for p in law.values()) > 1, "the case decides nothing"
    assert set(seen) <= set(law)
    for outcome, p in law.items():
        assert binom.cdf(seen[outcome], runs, min(1, p + 1e-9)) > 5e-7, (outcome, p)
        assert binom.sf(seen[outcome] - 1, runs, p) > 5e-7 or p < 1e-12, (outcome, p)


def test_without_noise_the_bar_is_reached_where_it_is_met() -> None:
    mechanism = AboveThreshold(epsilon=None, grid=dpb.Grid(steps=1), cap=9, bar=lambda count: 3.0)
    memory, halts = mechanism.start(), list[bool]()
    while not any(halts):
        memory, halt = mechanism.step(memory, 1, 1, SimulatedNoise(1))
        halts.append(halt is not None)
    assert halts == [False, False, True]


@pytest.mark.parametrize("source", [SimulatedNoise(3), SecureNoise()], ids=repr)
def test_a_question_has_the_law_of_its_noise(source: Any) -> None:
    """P[X >= bar + threshold − value]; false-alarm rate 1e-6 (secure noise has no seed)."""
    runs = 4000
    for short in (-3, 0, 2):
        yes = sum(
            source.exceeds(10, 12, short - 2, sensitivity=2, epsilon=Fraction(1))
            for _ in range(runs)
        )
        p = upper(2.0, short)
        assert binom.cdf(yes, runs, p) > 5e-7
        assert binom.sf(yes - 1, runs, p) > 5e-7
