"""Late answers in simulations: when they come, from which laws, and what they cost."""

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.policies import DPKLUCB, LDPKLUCB, DPJointMAT, DPRateIMED, LazyDPTS

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


def by_hand(policy: Any, law: Any, run: int) -> list[list[int]]:
    """Plays by the half and by the end of a session that is told the answers as they come."""
    noise, public, coins = np.random.SeedSequence([3, run]).generate_state(3, np.uint64).tolist()
    rng, delays, source = (
        np.random.default_rng(coins),
        np.random.default_rng([public, 2]),
        dpb.SimulatedNoise(noise),
    )
    session = dpb.Session(policy, noise=source, seed=public)
    randomizer, due, actions = policy.randomizer(), defaultdict[int, list[Any]](list), list[Any]()
    for t in range(300):
        decision: Any = session.ask()
        actions.append(decision.action)
        late = law if isinstance(law, int) else law.sample(delays)
        due[t + late].append((decision, ENVIRONMENT.draw(decision.action, rng)))
        for told, reward in due.pop(t, []):
            session.tell(told, reward if randomizer is None else randomizer.report(reward, source))
    return [np.bincount(actions[:at], minlength=2).tolist() for at in (150, 300)]


LATE = dpb.LostAnswers(0.2, delay=9), dpb.GeometricDelay(mean=30), dpb.UniformDelay(0, 60)


@pytest.mark.parametrize("law", [0, 2**62, dpb.FixedDelay(25), *LATE, Backwards], ids=repr)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_answers_come_as_late_as_was_drawn(policy: Any, law: Any) -> None:
    """A run depends on its number alone; of `Backwards`, which counts, each is played anew."""
    how = {"seed": 3, "at": [150], "workers": 1}
    for first in (0, 2):
        late, again = (law() if law is Backwards else law for _ in range(2))
        runs = dpb.simulate(policy, ENVIRONMENT, 300, first=first, delay=late, **how)
        assert runs.plays_at([150, 300])[0].tolist() == by_hand(policy, again, first)


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
        lambda: dpb.simulate(POLICIES[0], ENVIRONMENT, 2, delay=law),
        lambda: dpb.forecast([0.2, 0.3], 30, 1, draws=2, delay=law, silent=0.1),
    ):
        with pytest.raises(ValueError, match=r"Expected sample\(rng\)=.* whole number of rounds"):
            play()


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
