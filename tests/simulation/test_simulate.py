"""Simulation: one path a (seed, run), whatever is around it; regret at any round; exact small
cases.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.checks import examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import size_argument
from dpbandits.simulation.compiled.players import RunPlayer, compiled_player
from tests.families import COMPILED
from tests.simulation.hosts import require_one_law

ENV = dpb.Bernoulli([0.8, 0.5, 0.3])
SEVERAL = [name for name, cls in POLICIES.items() if size_argument(cls) in ("arms", "actions")]
"""A stopping rule has one arm: see tests/policies/stopping. Super arms have environments of their
own: see tests/policies/super_arms.
"""

SETTLED = ("DPSE", "SparseVectorSE", "SuccessiveElimination", "FollowTheLeader")
"""What a seed changes comes after their first passes over all arms, or never."""


def played_long(name: str, arms: int = 3) -> Any:
    """The first example that is made for as many rounds as are played here."""
    return next(
        each for each in examples(name, arms=arms) if (getattr(each, "horizon", None) or 500) >= 500
    )


@pytest.mark.parametrize("name", SEVERAL)
def test_runs_of_a_policy(name: str) -> None:
    """By other workers and runs, with checkpoints, run by run, regret at any round."""
    policy = played_long(name)
    runs = dpb.simulate(policy, ENV, 300, runs=5, seed=3, workers=2)
    few = dpb.simulate(policy, ENV, 300, runs=3, seed=3, workers=1, at=[10, 150, 299])
    other = dpb.simulate(policy, ENV, 300, runs=3, seed=4, workers=1)
    assert np.array_equal(runs.plays_at([300])[:3], few.plays_at([300]))
    assert not np.array_equal(other.counts, runs.counts[:3]) or name in SETTLED
    if name in COMPILED:
        many, two = (
            dpb.simulate(policy, ENV, 300, runs=n, seed=3, workers=w, compiled=False).counts
            for n, w in ((3, 2), (2, 1))
        )
        assert np.array_equal(many[:2], two)

    odd = [17, 1, 123, 150, 299, 300]
    plays = runs.plays_at(odd)
    assert plays.shape == (5, 6, 3)
    assert (plays.sum(axis=2) == np.array(odd)).all()
    assert np.array_equal(plays[:3, 3:], few.plays_at([150, 299, 300]))
    assert np.array_equal(plays[:, -1], runs.plays)
    assert (np.diff(plays[:, np.argsort(odd)], axis=1) >= 0).all()
    assert np.array_equal(runs.regret([300])[:, 0], runs.regret())
    assert runs.regret(odd) == pytest.approx(plays @ ENV.gaps)

    player = compiled_player(policy, ENV, 300, 3)
    if isinstance(player, RunPlayer):
        marks = np.array([100, 300])
        for run, path in zip(range(5, 11), player.several(marks, range(5, 11)), strict=True):
            alone = player(marks, run)
            assert np.array_equal(path.plays, alone.plays)
            assert path._replace(plays=marks) == alone._replace(plays=marks)
    else:
        assert not hasattr(player, "in_one_call")


def test_quantiles_and_summary() -> None:
    runs = dpb.simulate(dpb.DPKLUCB(arms=3, epsilon=1), ENV, 3000, runs=50, seed=1)
    regret = np.sort(runs.regret())
    assert runs.quantiles([0.0, 1.0]).tolist() == [regret[0], regret[-1]]
    assert runs.quantiles(0.5, at=[100, 3000]).shape == (2,)
    summary = runs.summary()
    assert "after 3,000 rounds, 50 runs" in str(summary)
    assert summary["mean"] == pytest.approx(regret.mean())
    assert summary["median"] <= summary["q99"] <= summary["q999"] <= summary["worst"] == regret[-1]
    assert runs.guarantee is not None
    assert runs.guarantee.noise == "simulated"


def discrete_laplace(scale: float, reach: int) -> np.ndarray[Any, Any]:
    k = np.arange(-reach, reach + 1)
    q = math.exp(-1 / scale)
    mass: np.ndarray[Any, Any] = (1 - q) / (1 + q) * q ** np.abs(k)
    return mass


@pytest.mark.parametrize(
    "policy",
    [dpb.AdaPUCB(arms=2, epsilon=1, grid=1), dpb.AnytimeLazyUCB(arms=2, epsilon=1, grid=1)],
)
@pytest.mark.parametrize("compiled", [True, False])
def test_third_decision_has_its_exact_law(policy: Any, compiled: bool) -> None:
    """Arm 0 is played iff X0 + Z0 >= X1 + Z1. False-alarm rate 1e-6."""
    means, runs, reach = (0.7, 0.4), 40_000 if compiled else 6000, 60
    laws = [np.convolve([1 - p, p], discrete_laplace(1.0, reach)) for p in means]
    exact = float(sum(laws[0][i] * laws[1][: i + 1].sum() for i in range(len(laws[0]))))
    plays = dpb.simulate(
        policy, dpb.Bernoulli(means), 3, runs=runs, seed=7, compiled=compiled
    ).plays
    first = (plays[:, 0] == 2).sum()
    assert abs(first - runs * exact) < 4.9 * math.sqrt(runs * exact * (1 - exact))


PRESETS = {"DPUCB, signed": dpb.DPUCB(arms=3, epsilon=20, horizon=200, preset="signed")}
"""Presets that have a loop of their own."""

LEVELS = dpb.Categorical([0, 0.4, 1], [[0.1, 0.3, 0.6], [0.5, 0.3, 0.2], [0.3, 0.6, 0.1]])
BOUNDED = [dpb.Uniform([0.2, 0.0, 0.1], [0.9, 0.6, 0.7]), dpb.Beta([2, 0.5, 1], [1, 0.7, 2])]
PLAYED = {name: (name, LEVELS) for name in (*SEVERAL, *PRESETS) if name != "SparseVectorSE"}
PLAYED |= {
    f"{name}, {environment!r}": (name, environment)
    for name in ("AdaPUCB", "UCB1", "LazyDPTS")
    for environment in BOUNDED
}


@pytest.mark.parametrize("case", PLAYED)
def test_other_rewards_have_one_law_in_both_hosts(case: str) -> None:
    """Every compiled twin on rewards that are not 0/1 (`SparseVectorSE` has none)."""
    name, environment = PLAYED[case]
    policy = PRESETS.get(name) or examples(name)[0]
    require_one_law(policy, environment, (100, 300), among=1)


@pytest.mark.parametrize("name", SEVERAL)
def test_certain_rewards_and_ties(name: str) -> None:
    """Means 0 and 1, and all means equal: no division by zero, no regret where there is none."""
    policy = played_long(name, arms=2)
    assert dpb.simulate(policy, dpb.Bernoulli([1.0, 0.0]), 500, runs=2).plays.sum() == 1000
    assert dpb.simulate(policy, dpb.Bernoulli([0.5, 0.5]), 500, runs=2).regret().sum() == 0


# An error of a policy of the user's own comes as it is, with a note that says what was played


@dataclass(frozen=True, kw_only=True)
class Fails(dpb.DPKLUCB):
    """Fails in its first update."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        raise LookupError("no such table")


@dataclass(frozen=True, kw_only=True)
class Unmade(dpb.DPKLUCB):
    def validate(self) -> None:
        super().validate()
        raise LookupError("no such table")


@pytest.mark.parametrize("kind", [Fails, Unmade])
def test_a_forecast_hides_no_error(kind: type[dpb.Policy]) -> None:
    with pytest.raises(LookupError, match="no such table"):
        dpb.forecast([0.6, 0.4], 1000, 1, policies=[kind], draws=2)


# Regret against independent references (T = 10⁶, means .75 .625 .5 .375 .25) and over settings


ENVIRONMENT = dpb.Bernoulli([0.75, 0.625, 0.5, 0.375, 0.25])
# policy, reference mean; the references are rounded means of other programs: they are known to
# about 3 %
REFERENCES = [
    (dpb.AnytimeLazyUCB(arms=5, epsilon=0.5), 3270, 2000),
    (dpb.LazyDPTS(arms=5, epsilon=0.5), 1240, 400),
    (dpb.AdaPKLUCB(arms=5, epsilon=0.5), 2100, 2000),
    (dpb.DPSE(arms=5, epsilon=0.5, horizon=10**6), 3900, 2000),
    (dpb.DPKLUCB(arms=5, epsilon=0.5), 180, 2000),
    *(
        pytest.param(policy, reference, 20_000, marks=pytest.mark.long)
        for policy, reference in (
            (dpb.RNMFTNL(actions=5, epsilon=0.1, preset="published"), 48.4),
            (dpb.RNMFTNL(actions=5, epsilon=0.1), 95.2),
        )
    ),
]


@pytest.mark.parametrize(
    ("policy", "reference", "runs"),
    REFERENCES,
    ids=lambda x: x.name if isinstance(x, dpb.Policy) else str(x),
)
def test_reference(policy: dpb.Policy, reference: float, runs: int) -> None:
    """Mean regret within 3 % of the reference plus five standard errors."""
    s = dpb.simulate(policy, ENVIRONMENT, 10**6, runs=runs, seed=11, at=[]).summary()
    assert abs(s["mean"] - reference) < 0.03 * reference + 5 * s["error"]


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1])
def test_default_has_thin_tails(epsilon: float) -> None:
    """2,000 runs; `make measured` plays 20,000 (docs/measured/regret.md)."""
    policy = dpb.DPKLUCB(arms=5, epsilon=epsilon)
    s = dpb.simulate(policy, ENVIRONMENT, 10**6, runs=2000, seed=12, at=[]).summary()
    assert s["q999"] < 3 * s["mean"]
    assert s["mean"] < 1.4 * dpb.lower_bound(policy, ENVIRONMENT, 10**6)
