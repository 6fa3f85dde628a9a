"""Runs of identifying policies: how often they err, when they stop, and what they read."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest, ks_2samp

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.policies import CTBTT, DPSE, AdaPTT, SuccessiveElimination
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy
from dpbandits.policies.formulas import stopping as tt
from dpbandits.policies.formulas.indices import comparison_noise, comparison_radius
from dpbandits.simulation.stopping import identify
from tests.policies.identification.instances import FALSE_ALARM, INSTANCES, pmf_of_windows

CASES: list[tuple[Policy, str]] = [
    (policy, name)
    for name, means in INSTANCES.items()
    for arms in (len(means),)
    for policy in (
        AdaPTT(arms=arms, epsilon=1, delta=0.1),
        AdaPTT(arms=arms, epsilon="1/5", delta=0.3),
        AdaPTT(arms=arms, epsilon=4, delta=0.3, first=1),
        AdaPTT(arms=arms, epsilon=4, delta=0.1, preset="published"),
        CTBTT(arms=arms, epsilon=2, delta=0.1),
        DPSE(arms=arms, epsilon=1, beta=0.1),
        SuccessiveElimination(arms=arms, beta=0.1),
    )
]


@pytest.mark.parametrize(
    ("policy", "name"), CASES, ids=[f"{name}-{policy!r}" for policy, name in CASES]
)
def test_wrong_arms_are_rare(policy: Policy, name: str) -> None:
    """2000 runs; more wrong arms would have probability FALSE_ALARM over all cases, were δ met."""
    delta = getattr(policy, "delta", None) or policy.beta  # type: ignore[attr-defined]
    found = identify(policy, dpb.Bernoulli(INSTANCES[name]), runs=2000, seed=1, cap=10**7)
    assert found.wrong * 2000 <= binom.isf(FALSE_ALARM / len(CASES), 2000, delta)
    assert found.undecided <= (600 if getattr(policy, "preset", "") == "published" else 0)


@pytest.mark.long
@pytest.mark.parametrize("first", [2, 4])
def test_first_test_stops_as_often_as_it_must(first: int) -> None:
    """K = 2: the probability is a double sum, which compiled and plain runs meet."""
    policy = AdaPTT(arms=2, epsilon=3, delta=0.4, first=first, grid=1)
    mu, reach = (0.9, 0.1), 20
    (x, a), (y, b) = (pmf_of_windows(first, m, 3.0, 1, reach) for m in mu)
    stops = {0: 0.0, 1: 0.0, -1: 0.0}
    for i, p in zip(x.tolist(), a.tolist(), strict=True):
        for j, q in zip(y.tolist(), b.tolist(), strict=True):
            stops[
                tt.settled([i / first, j / first], [first] * 2, [1, 1], first, 3, 0.4, 3.0, False)
            ] += p * q
    assert 0.005 < stops[0] < 0.995
    for compiled, runs in ((True, 20_000), (False, 2000)):
        found = identify(
            policy, dpb.Bernoulli(mu), runs=runs, seed=2, cap=2 * first, compiled=compiled
        )
        hits = int((found.arms == 0).sum())
        assert binomtest(hits, runs, stops[0]).pvalue > FALSE_ALARM / 4
        assert set(found.samples.tolist()) == {2 * first}


@pytest.mark.parametrize(
    "policy",
    [
        AdaPTT(arms=3, epsilon=1, delta=0.1),
        AdaPTT(arms=3, epsilon=4, delta=0.3, preset="published"),
        CTBTT(arms=3, epsilon=4, delta=0.1),
        DPSE(arms=3, epsilon=1, beta=0.1),
        SuccessiveElimination(arms=3, beta=0.1),
    ],
    ids=lambda p: p.name,
)
def test_compiled_rounds_have_the_plain_law(policy: Policy) -> None:
    """Kolmogorov–Smirnov on the rounds needed, false alarm 1e-6; DPSE's are nearly constant."""
    means = (
        [0.95, 0.4, 0.3]
        if isinstance(policy, (CTBTT, SuccessiveElimination))
        else INSTANCES["easy"]
    )
    fast = identify(policy, dpb.Bernoulli(means), runs=4000, seed=3)
    slow = identify(policy, dpb.Bernoulli(means), runs=150, seed=4, compiled=False)
    assert slow.undecided == fast.undecided == 0
    assert ks_2samp(fast.samples, slow.samples, method="asymp").pvalue > FALSE_ALARM / 5


@pytest.mark.parametrize(
    ("name", "epsilon", "factor"),
    [("easy", 1, 8), ("ladder", 1, 8), ("easy", "1/10", 3), ("ladder", "1/10", 3)],
)
def test_tight_needs_fewer_rounds_than_published(name: str, epsilon: Any, factor: float) -> None:
    means = INSTANCES[name]
    needed = {
        preset: identify(
            AdaPTT(arms=len(means), epsilon=epsilon, preset=preset),
            dpb.Bernoulli(means),
            delta=0.01,
            runs=300,
            seed=5,
        )
        for preset in ("tight", "published")
    }
    assert needed["tight"].correct == 1
    assert factor * needed["tight"].samples.mean() < needed["published"].samples.mean()


def test_neglected_arms_are_not_forgotten() -> None:
    """Two equal arms lead, the best had bad luck: with the net it is played again."""
    means, pulls = [0.5, 0.5, -30.0], [10_000, 10_000, 100]
    assert tt.challenging(0, means, pulls, 20_100, True) == 2
    assert tt.challenging(0, means, pulls, 20_100, False) == 1
    assert tt.challenging(0, means, pulls, 9_999, True) == 1


def test_after_the_decision_nothing_is_read() -> None:
    policy = AdaPTT(arms=3, epsilon=8, delta=0.3, first=3)
    session, rng = (
        dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1),
        np.random.default_rng(2),
    )
    while policy.best_arm(session.state) is None:
        decision = session.ask()
        session.tell(decision, float(rng.random() < (0.9, 0.2, 0.1)[decision.action]))
    found, releases = policy.best_arm(session.state), session.releases
    assert found == Identified(0, session.state.t)
    for _ in range(500):
        decision = session.ask()
        assert decision.action == 0
        session.tell(decision, 0.0)
    assert (policy.best_arm(session.state), session.releases) == (found, releases)
    assert session.spent == 8


def test_windows_have_their_planned_size_after_drops() -> None:
    """Else a smaller one is tested as if it were the planned one: its size was chosen."""
    policy, rng = AdaPTT(arms=4, epsilon=1, delta=1e-9, first=8), np.random.default_rng(1)
    session, drops = dpb.Session(policy, noise=SimulatedNoise(1)), 0
    for _ in range(600):
        session.tell(session.ask(), float(rng.random() < 0.5))
        if any(session.state.open) and rng.random() < 0.1:
            session.drop_open()
            drops += 1
        for batches, phase in zip(session.state.batches, session.state.phases, strict=True):
            first = phase - len(batches)
            assert sum(n for _, n in batches) == tt.planned(8, phase) - tt.planned(8, first)
    assert drops > 3


@pytest.mark.parametrize("preset", ["pairs", "arms", "one"])
def test_the_best_arm_stays_and_others_are_out_by_the_question_the_bound_names(preset: str) -> None:
    """With probability 1 − beta, so all but a few of 300 runs: false alarm 1e-6 of either count."""
    runs = 300
    policy = dpb.SparseVectorSE(arms=3, epsilon=4, horizon=10**6, beta=0.1, preset=preset)
    share, number, gap = float(policy.mechanism().share(3)), 1, 0.4
    while gap * 2**number < 1 + 2 * (
        2 * comparison_radius(2**number, number, 3, 0.1) + comparison_noise(number, 3, 0.1, share)
    ):
        number += 1
    found = identify(policy, dpb.Bernoulli([0.4, 0.8, 0.4]), runs=runs, seed=2, cap=10**6)
    assert found.undecided == 0
    assert found.wrong * runs <= binom.isf(FALSE_ALARM / 3, runs, 0.1)
    late = int((found.samples > 3 * 2**number).sum())
    assert late <= binom.isf(FALSE_ALARM / 3, runs, 0.1)
