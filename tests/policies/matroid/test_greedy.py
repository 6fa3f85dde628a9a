"""Exactly the policies of single arms, the paper's rule in every round, the oracle's bases, also
with noise far outside [0, 1]; and what bounds count.
"""

import math
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks.tape import Tape, random_tape
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.noise import SimulatedNoise
from dpbandits.oracles.linear import tableau
from dpbandits.policies import DPKLMAT, DPTSMAT, DPUCBMAT, KLOSM, OMM, CTSBeta
from dpbandits.policies import matroid as lazy
from dpbandits.policies.base import Statistics
from dpbandits.policies.formulas.indices import crossing, lazy_ucb
from dpbandits.simulation.compiled.parts import improve
from dpbandits.simulation.plain import Path as Run
from dpbandits.simulation.plain import play_events

SEVEN = dpb.LinearMatroid(
    [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (2, 0, 0), (0, 0, 0)]
)
SEVEN_MEANS = np.array([0.80, 0.75, 0.60, 0.20, 0.30, 0.40, 0.70])
TWO = dpb.UniformMatroid(arms=2, rank=1)


def on_tape(policy: Any, tape: Tape, rounds: int) -> Run:
    marks = np.arange(1, rounds + 1)
    return play_events(
        policy, tape, rounds, marks, noise=SimulatedNoise(3), seed=4, rng=np.random.default_rng(5)
    )


@pytest.mark.parametrize(
    ("on_matroid", "alone"),
    [
        (
            DPKLMAT(problem=TWO, epsilon=1, first=4, level=1),
            dpb.DPKLUCB(arms=2, epsilon=1, first=4),
        ),
        (DPUCBMAT(problem=TWO, epsilon=1), dpb.AnytimeLazyUCB(arms=2, epsilon=1)),
        (OMM(problem=TWO), dpb.UCB1(arms=2)),
        (KLOSM(problem=TWO), dpb.KLUCB(arms=2, c=3)),
        (CTSBeta(problem=TWO), dpb.ThompsonBeta(arms=2)),
    ],
    ids=lambda p: type(p).__name__,
)
def test_rank_one_is_the_policy_of_single_arms(on_matroid: Any, alone: Any) -> None:
    """On one tape all that is decided and released is equal, and bounds but for rounding."""
    for rounds in (1000, 10**6):
        bounds = [policy.regret_bound([0.7, 0.4], rounds) for policy in (on_matroid, alone)]
        assert math.isnan(bounds[0]) or bounds[0] == pytest.approx(bounds[1], rel=0.01)
    for seed in range(5):
        one, other = (
            on_tape(policy, random_tape(2, 3000, seed), 3000) for policy in (on_matroid, alone)
        )
        assert np.array_equal(one.plays, other.plays)
        assert one.state == other.state
        assert [e[:4] for e in one.ledger] == [e[:4] for e in other.ledger]


@pytest.mark.parametrize("epsilon", [0.1, 10, 1000])
def test_a_swap_is_found_at_its_round(epsilon: float) -> None:
    """Of elements whose indices meet about now: the first round whose greedy basis is another."""
    problem = dpb.PartitionMatroid(categories=[0, 0, 0, 1, 1, 1, 2, 2], capacities=[1, 2, 1])
    policy, rng = DPUCBMAT(problem=problem, epsilon=epsilon), np.random.default_rng(7)
    swaps = ended = 0
    for _ in range(400):
        n, t, ahead = tuple((2 ** rng.integers(0, 12, 8)).tolist()), int(rng.integers(6, 30)), 12
        meet = np.log(4 * (t + rng.uniform(-4, ahead, 8)))
        bonus = [lazy_ucb(0, k, at, policy.share) for k, at in zip(n, meet.tolist(), strict=True)]
        means = 1 - np.array(bonus)
        s = Statistics(tuple((means * n).tolist()), n, n, n, (0,) * 8, t - 1)
        by_round = [printed_indices(s, r, 4, policy.share) for r in range(t, t + ahead)]
        bases = [problem.best(indices) for indices in by_round]
        first = next((r for r, basis in enumerate(bases) if basis != bases[0]), ahead)
        assert policy.first_swap(s, means, by_round[0], bases[0], ahead) == t + first
        swaps += first < ahead
        if first < min(ahead, policy.hold(s, bases[0]).rounds):
            assert policy.plan(s, PublicRng(0, 0)) == Hold(bases[0], first, ())
            ended += 1
    assert 100 < swaps < 400
    assert ended > 20


def test_few_pairs_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 200 rivals catches up with one of a basis of 30 at most: 200 pairs, not 6000."""
    looked = []

    def spy(*pair: float) -> int:
        looked.append(pair)
        return crossing(*pair)  # type: ignore[arg-type]

    monkeypatch.setattr(lazy, "crossing", spy)
    means, rounds = [0.4, *[0.9] * 29, *[0.39] * 200], (64,) * 30 + (32,) * 200
    totals = tuple(mean * n for mean, n in zip(means, rounds, strict=True))
    s = Statistics(totals, rounds, rounds, rounds, (0,) * 230, 2000)
    policy = DPUCBMAT(problem=dpb.UniformMatroid(arms=230, rank=30), epsilon=10**6)
    level = math.log(30 * 2001)
    scores = [lazy_ucb(m, n, level, policy.share) for m, n in zip(means, rounds, strict=True)]
    scores[0] = max(scores[30:]) + 1e-9  # ahead of its rivals by next to nothing
    policy.first_swap(s, means, scores, tuple(range(30)), 128)
    assert 0 < len(looked) <= 200


def printed_indices(s: Any, t: int, rank: int, share: float) -> list[float]:
    """Line 5 of the paper's Algorithm 2; unseen elements first."""
    log = math.log(rank * t)
    return [
        x / n + math.sqrt(3 * log / n) + 3 * log / (share * n) if n else 1e9
        for x, n in zip(s.totals, s.rounds, strict=True)
    ]


RNG = np.random.default_rng(8)
MATROIDS = [
    SEVEN,
    dpb.LinearMatroid(RNG.integers(0, 2, (40, 8))),
    dpb.LinearMatroid(RNG.integers(-40, 40, (12, 3))),
    dpb.LinearMatroid(RNG.integers(0, 2, (30, 9)), field=2),
    dpb.LinearMatroid(RNG.integers(0, 11, (30, 5)), field=11),
    dpb.LinearMatroid(RNG.integers(0, 1_048_573, (20, 5)), field=1_048_573),
    dpb.UniformMatroid(arms=9, rank=4),
    dpb.TopK(arms=6, k=6),
    dpb.PartitionMatroid(categories=[0, 1, 2, 0, 1, 2, 2, 2, 0], capacities=[2, 0, 3]),
    dpb.GraphicMatroid([(1, 2), (2, 3), (1, 3), (4, 4), (4, 5), (1, 2), (5, 6), (4, 6), (3, 1)]),
    dpb.SpanningTrees(RNG.permutation([(i, j) for i in range(7) for j in range(i)])),
]


@pytest.mark.parametrize("problem", MATROIDS, ids=repr)
def test_exchanges_on_the_tableau_find_the_greedy_basis(problem: Any) -> None:
    """After any weights, with ties and negative ones: the oracle's basis and circuits."""
    found = tableau(problem)
    assert found is not None
    table, basis = found.table.copy(), np.array(found.basis)
    column = np.full(problem.arms, -1)
    column[basis] = np.arange(problem.rank)
    rng = np.random.default_rng(9)
    for step in range(150):
        weights = (
            rng.normal(size=problem.arms)
            if step % 2
            else rng.integers(-3, 3, problem.arms).astype(float)
        )
        order = rng.permutation(problem.arms) if step % 3 else np.argsort(-weights)
        improve(table, basis, column, weights, order, found.prime)
        assert tuple(sorted(basis.tolist())) == problem.best(weights)
    columns = np.argsort(basis)
    assert np.array_equal((table != 0)[:, columns], problem.exchanges(sorted(basis.tolist())))
    assert np.abs(table).max() <= found.prime / 2 + 2


@pytest.mark.parametrize(
    "problem",
    [
        dpb.LinearMatroid(RNG.integers(-(10**6), 10**6, (8, 4))),
        dpb.TransversalMatroid([[0, 1], [1, 2], [2, 3]], arms=4),
        dpb.ExplicitMatroid(arms=3, bases=[(0, 1), (1, 2), (0, 2)]),
    ],
    ids=repr,
)
def test_without_a_tableau_the_plain_way_is_taken(problem: Any) -> None:
    assert tableau(problem) is None
    runs = dpb.simulate(
        DPKLMAT(problem=problem, epsilon=4), dpb.Bernoulli(np.linspace(0.2, 0.8, problem.arms)), 500
    )
    assert runs.plays.sum() == 500 * problem.rank


@pytest.mark.parametrize("cls", [DPUCBMAT, DPTSMAT, DPKLMAT], ids=lambda c: c.__name__)
def test_negative_indices_still_give_bases(cls: type[Any]) -> None:
    """At a tiny budget released means lie far outside [0, 1], on both sides."""
    given = {"first": 5} if cls is DPKLMAT else {}
    policy = cls(problem=SEVEN, epsilon="1/1000", **given)
    path = on_tape(policy, random_tape(7, 400, 6), 400)
    assert min(path.state.totals) < -100
    assert path.plays[-1].sum() == 1200
    assert min(path.plays[-1][:6]) >= 1
    fast = dpb.simulate(policy, dpb.Bernoulli(SEVEN_MEANS), 400, runs=4)
    assert np.all(fast.plays.sum(axis=1) == 1200)
    assert np.all(fast.plays[:, :6] >= 1)


def test_bounds_are_about_pairs() -> None:
    """Of elements outside the best basis and the least better one in it; loops and ties aside."""
    means = SEVEN_MEANS.tolist()
    least = [0.6 - 0.2, 0.6 - 0.3, 0.6 - 0.4]
    order = sum(math.log(1000) / gap for gap in least)
    omm = OMM(problem=SEVEN)
    assert omm.regret_order(means, 1000) == pytest.approx(order)
    bound = omm.regret_bound(means, 10**6)
    assert order < bound < 16 * sum(math.log(10**6) / gap for gap in least)
    log = math.log(3000)
    private = sum(log / gap + 3 * log / (2 / 3) for gap in least)
    assert DPUCBMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000) == pytest.approx(private)
    second = log * sum(1 / gap for gap in (0.8 - 0.4, 0.75 - 0.4, 0.6 - 0.4))
    sampled = DPTSMAT(problem=SEVEN, epsilon=2).regret_order(means, 1000)
    assert sampled == pytest.approx(private + second)  # Theorem 4's second sum
    assert math.isnan(DPKLMAT(problem=SEVEN, epsilon=2).regret_bound(means, 1000))
