"""Super arms in play: an oracle that fails, regret of what is not linear or costs, arguments."""

from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.policies import CUCB, DPKLCUCB, LazyCUCB
from dpbandits.policies.base import Statistics


def broken(weights: Any) -> list[int]:
    return [0, 1] if weights[0] == 1.0 else answers[-1]


answers: list[list[int]] = []


@pytest.mark.parametrize("wrong", [[0, 1, 2], [0, 0], [0, 9], []])
def test_an_oracle_that_fails_loses_nothing(wrong: list[int]) -> None:
    """A set that is infeasible or too large; what was told stays, and is read once."""
    answers.append(wrong)
    problem = dpb.UserDecisionSet(arms=3, size=2, oracle=broken)
    session = dpb.Session(LazyCUCB(problem=problem, epsilon=100), noise=dpb.SimulatedNoise(1))
    failed = 0
    for _ in range(200):
        try:
            session.tell(session.ask(), [0.0, 0.0])
        except ValueError:
            failed += 1
            break
    assert failed
    before = session.state, session.ledger, session.pending
    for _ in range(2):
        with pytest.raises(dpb.NotRecordedError) as error:
            session.ask()
        assert "super arm" in str(error.value.__cause__)
    assert (session.state, session.ledger, session.pending) == before
    assert session.pending == ()
    answers.append([0, 2])
    assert session.ask().action == (0, 2)
    assert session.ledger == before[1]
    assert session.spent == 100
    assert sum(e.stop - e.start for e in session.ledger) <= 2 * (session.ask().round - 2)


COVER = dpb.Coverage([("a", 1), ("a", 2), ("b", 2), ("c", 3), ("d", 1)], k=2)


@pytest.mark.parametrize(
    "problem",
    [
        COVER,
        pytest.param(dpb.TopKMax(arms=5, k=2), marks=pytest.mark.long),  # its player is compiled
        dpb.Influence([(0, 1), (1, 2), (3, 2), (2, 4), (4, 0)], seeds=2),
    ],
    ids=["coverage", "max", "influence"],
)
def test_regret_of_what_is_not_linear(problem: Any) -> None:
    """Against αβ times the optimum, by the value of what was played."""
    environment = dpb.Bernoulli([0.9, 0.8, 0.1, 0.3, 0.2])
    runs = dpb.simulate(CUCB(problem=problem), environment, 60, runs=2, at=[1, 30, 60])
    assert not problem.linear
    assert runs.earned is not None
    best = problem.alpha * problem.optimum(environment.means)
    assert runs.regret([60])[:, 0] == pytest.approx(60 * best - runs.earned[:, -1])
    assert runs.regret().max() <= 60 * best


def test_costs_are_regret_too() -> None:
    """Paths: fewer rewards of a longer path are no gain; regret is against the cheapest one."""
    problem = dpb.Paths([("a", "b"), ("b", "c"), ("a", "c")], "a", "c")
    environment = dpb.Bernoulli([0.9, 0.9, 0.3])  # costs .1 + .1 against .7
    runs = dpb.simulate(DPKLCUCB(problem=problem, epsilon=50), environment, 2000, runs=3, seed=1)
    plays = runs.plays
    assert runs.regret() == pytest.approx(0.5 * plays[:, 2])
    assert (plays[:, 2] < 400).all()


def test_regret_is_against_the_share_that_the_oracle_promises() -> None:
    problem = dpb.UserDecisionSet(
        arms=2, size=1, oracle=lambda weights: [weights.argmax()], alpha=0.8, beta=0.5
    )
    policy, means = DPKLCUCB(problem=problem, epsilon=50), [0.9, 0.5]
    runs = dpb.simulate(policy, dpb.Bernoulli(means), 200, runs=2, seed=1)
    assert runs.regret() == pytest.approx(0.4 * 0.9 * 200 - runs.plays @ means)
    log = dpb.simulate(policy, dpb.Table([means] * 200), 200, runs=2, seed=1)
    assert log.regret(kind="hindsight") == pytest.approx(0.4 * 0.9 * 200 - log.plays @ means)


@pytest.mark.parametrize(("mean", "action"), [(0.55, (0, 1)), (0.45, (2,))])
def test_an_unread_arm_counts_as_the_largest_mean(mean: float, action: tuple[int, ...]) -> None:
    """Two arms that are known well against one that is not: their sum is held against 1."""
    policy, n = DPKLCUCB(problem=dpb.ExplicitSet([(0, 1), (2,)]), epsilon=1000), 10**6
    rounds = (n, n, 0)
    s = Statistics((mean * n, mean * n, 0.0), rounds, (1, 1, 0), rounds, (0,) * 3, 2 * n)
    assert policy.plan(s, PublicRng(0, 0)).action == action  # type: ignore[union-attr]
