"""Late answers in simulations: when they come, from which laws, and what they cost."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.core.inputs import Integers
from dpbandits.policies import DPKLUCB, LDPKLUCB, DPJointMAT, DPRateIMED, LazyDPTS
from dpbandits.simulation.plain import play_rounds
from dpbandits.simulation.simulate import play_plain

ENVIRONMENT = dpb.Bernoulli([0.75, 0.5])
TOP = dpb.UniformMatroid(arms=4, rank=2)
POLICIES = [
    DPKLUCB(arms=2, epsilon=1, first=4),
    DPRateIMED(arms=2, epsilon=1),
    LazyDPTS(arms=2, epsilon=1),
    LDPKLUCB(arms=2, epsilon=1),
]


class Backwards:
    """A law of a caller's own: later decisions are answered first, ten at a time."""

    def __init__(self) -> None:
        self.asked = 0

    def sample(self, rng: np.random.Generator) -> int:
        self.asked += 1
        return 2 * ((10 - self.asked) % 10)


def played(policy: Any, delay: Any, rounds: int = 300, runs: int = 1) -> Integers:
    runs_of = dpb.simulate(policy, ENVIRONMENT, rounds, runs=runs, seed=3, delay=delay, workers=1)
    return np.asarray(runs_of.plays_at([rounds // 2, rounds]))


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_no_delay_is_a_session_told_at_once(policy: Any) -> None:
    marks = np.array([150, 300])
    for run in range(3):
        path = play_plain(policy, ENVIRONMENT, 300, 3, marks, run, host=partial(play_rounds))
        late = dpb.simulate(policy, ENVIRONMENT, 300, seed=3, delay=0, first=run, at=[150])
        assert np.array_equal(late.plays_at([150, 300])[0], path.plays)


@pytest.mark.parametrize("policy", POLICIES[:2], ids=lambda policy: policy.name)
def test_laws_that_are_the_same_number_play_the_same(policy: Any) -> None:
    for number, laws in (
        (0, (dpb.FixedDelay(0), dpb.GeometricDelay(mean=0), dpb.UniformDelay(0, 0))),
        (25, (dpb.FixedDelay(25), dpb.UniformDelay(25, 25))),
    ):
        for law in laws:
            assert np.array_equal(played(policy, law), played(policy, number))
    assert not np.array_equal(played(policy, 120), played(policy, 0)), "a delay changes nothing"


@pytest.mark.parametrize("delay", [1, 7, 40])
def test_an_answer_comes_so_many_rounds_late(delay: int) -> None:
    """The first block is of four rounds: it is released once the fourth answer has come."""
    policy = POLICIES[0]
    for rounds, releases in ((delay + 3, 0), (delay + 4, 1)):
        runs = dpb.simulate(policy, ENVIRONMENT, rounds, seed=3, delay=delay)
        assert runs.releases.tolist() == [releases]


@pytest.mark.parametrize("delay", [10**9, 2**62])
def test_answers_after_the_last_round_are_never_told(delay: int) -> None:
    runs = dpb.simulate(POLICIES[0], ENVIRONMENT, 100, runs=2, seed=3, delay=delay)
    assert runs.releases.tolist() == [0, 0]
    assert runs.plays_at([100]).sum(axis=2).tolist() == [[100], [100]]


def test_the_laws() -> None:
    """Of 40,000 draws a mean within six standard errors: wrong with probability below 10⁻⁸."""
    rng = np.random.default_rng(5)
    draws = np.array([dpb.GeometricDelay(mean=20).sample(rng) for _ in range(40_000)])
    assert draws.min() == 0
    assert abs(draws.mean() - 20) < 6 * np.sqrt(20 * 21 / 40_000)
    # memoryless: of those that wait for 20 more rounds, the rest of the wait is as long
    rest = draws[draws >= 20] - 20
    assert abs(rest.mean() - 20) < 6 * np.sqrt(20 * 21 / len(rest))
    draws = np.array([dpb.UniformDelay(3, 6).sample(rng) for _ in range(40_000)])
    counts = np.bincount(draws)
    assert counts[:3].tolist() == [0, 0, 0]
    assert abs(counts[3:] - 10_000).max() < 6 * np.sqrt(40_000 * 3 / 16)
    assert {dpb.FixedDelay(4).sample(rng) for _ in range(5)} == {4}
    law = dpb.LostAnswers(0.3, delay=dpb.UniformDelay(1, 3))
    draws = np.array([law.sample(rng) for _ in range(40_000)])
    assert abs((draws > 10**9).mean() - 0.3) < 6 * np.sqrt(0.21 / 40_000)
    assert set(draws[draws < 10**9]) == {1, 2, 3}


@pytest.mark.parametrize("late", [-1, 1.5, float("nan")])
def test_a_law_has_to_draw_rounds(late: Any) -> None:
    law: Any = SimpleNamespace(sample=lambda rng: late)
    for play in (
        lambda: played(POLICIES[0], law, 2),
        lambda: dpb.forecast([0.2, 0.3], 30, 1, draws=2, delay=law, silent=0.1),
    ):
        with pytest.raises(ValueError, match=r"Expected sample\(rng\)=.* whole number of rounds"):
            play()


@pytest.mark.parametrize(
    "law", [dpb.LostAnswers(0.2, delay=9), dpb.GeometricDelay(mean=30), Backwards()]
)
def test_random_delays_are_a_function_of_the_run(law: Any) -> None:
    for policy in (POLICIES[0], POLICIES[3]):
        if not isinstance(law, Backwards):  # that one counts
            together = played(policy, law, runs=3)
            assert np.array_equal(together, played(policy, law, runs=3))
            alone = dpb.simulate(
                policy, ENVIRONMENT, 300, seed=3, delay=law, first=2, at=[150]
            ).plays_at([150, 300])
            assert np.array_equal(together[2], alone[0])
        assert played(policy, law)[0, -1].sum() == 300


def test_super_arms_take_late_answers() -> None:
    environment = dpb.Bernoulli([0.2, 0.4, 0.6, 0.8])
    policy = DPJointMAT(problem=TOP, epsilon=4, first=1.0)
    for law in (30, dpb.UniformDelay(0, 60), dpb.GeometricDelay(mean=30)):
        runs = dpb.simulate(policy, environment, 400, runs=2, seed=3, delay=law, workers=1)
        assert runs.plays_at([400]).sum(axis=2).tolist() == [[800], [800]]
        assert (runs.releases > 0).all()


@pytest.mark.parametrize("law", [dpb.FixedDelay(300), dpb.GeometricDelay(mean=300)])
@pytest.mark.parametrize("policy", POLICIES[:2], ids=lambda policy: policy.name)
def test_a_delay_costs_no_more_than_itself(policy: Any, law: Any) -> None:
    """At most 1.2 × delay × mean gap more; sixteen runs each, four standard errors."""
    loss, base = (
        dpb.simulate(policy, ENVIRONMENT, 3_000, runs=16, seed=1, delay=delay).regret()
        for delay in (law, 0)
    )
    allowed = 4 * np.hypot(loss.std(), base.std()) / 4
    assert loss.mean() <= base.mean() + 1.2 * 300 * 0.125 + allowed
    assert loss.mean() > base.mean(), "the delay changes nothing: the test misses its aim"
