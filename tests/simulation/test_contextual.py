"""The compiled way of contextual policies is equal in law to a session's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpbandits as dpb
from dpbandits.core.plan import PublicRng
from dpbandits.policies.contextual import LinearLaw, UniformLaw
from dpbandits.simulation.compiled.contextual import best_arm
from tests.simulation.hosts import ALARM, require_one_law


def visitors() -> dpb.ContextTable:
    rng = np.random.default_rng(3)
    rows = dpb.UnitContexts(rng.normal(size=(300, 3)))(rng.normal(size=(300, 3)))
    return dpb.ContextTable.logistic(rows, rng.normal(size=(3, 4)) * 4)


PLACE = visitors()
GIVEN: dict[str, Any] = {"arms": 3, "features": 4}
POLICIES = [
    dpb.LinTS(**GIVEN),
    dpb.LinTS(**GIVEN, alpha=1.3),
    dpb.LinUCB(**GIVEN, width=0.7),
    dpb.AdaCOFUL(**GIVEN, rho=2, first=50),
    dpb.DPLinTS(**GIVEN, epsilon=4, first=20),
    dpb.DPLinTS(**GIVEN, rho=2, first=20, public_contexts=PLACE.contexts),
    dpb.DPLinUCB(**GIVEN, epsilon=2, first=20, width=1.0),
    dpb.DPLinTS(**GIVEN, rho=1, first=20, release="shaped"),
]


def test_blocks_of_all_arms_grow_with_what_was_read() -> None:
    policy = dpb.AdaCOFUL(**GIVEN, rho=2, first=50, alpha=1.5)
    state = policy.init()
    fits = tuple(fit._replace(read=400, open=10) for fit in state.fits)
    assert policy.all_together(state._replace(fits=fits)) == 0.5 * 1200 - 30


def test_contexts_in_fewer_dimensions_than_features_are_fitted() -> None:
    """The least ridge, in runs whose noise outweighs it."""
    rows = np.random.default_rng(2).uniform(-0.4, 0.4, (100, 1)) * [1, 2, 0, 0.5]
    place = dpb.ContextTable.logistic(rows, [[3, 0, 0, 0], [0, -2, 0, 0], [0, 0, 0, 0]])
    for policy in (
        dpb.LinTS(**GIVEN, regularisation=2e-6, alpha=1.3),
        dpb.AdaCOFUL(**GIVEN, rho="1/8", first=50, regularisation=2e-6),
    ):
        runs = dpb.simulate(policy, place, 20_000, runs=2, seed=1)
        assert runs.plays.sum(axis=1).tolist() == [20_000] * 2


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_compiled_runs_have_the_law_of_sessions(policy: Any) -> None:
    """Plays of each arm, what was earned, and releases."""
    runs = 30 if getattr(policy, "alpha", 0) == 1 else 60  # which plainly fits after each round
    require_one_law(policy, PLACE, (700, runs), among=len(POLICIES))


@pytest.mark.parametrize(
    "policy",
    [POLICIES[4], dpb.JointDPLinTS(**GIVEN, epsilon=4, public_contexts=PLACE.contexts)],
    ids=repr,
)
def test_a_run_depends_on_its_number_and_seed_alone(policy: Any) -> None:
    all_of_them = dpb.simulate(policy, PLACE, 2000, runs=4, seed=5, workers=1)
    two = dpb.simulate(policy, PLACE, 2000, runs=2, seed=5, first=2, workers=2)
    assert np.array_equal(all_of_them.plays[2:], two.plays)
    assert np.array_equal(all_of_them.regret()[2:], two.regret())
    assert np.array_equal(all_of_them.regret([700]), all_of_them.regret([700, 2000])[:, :1])
    assert np.array_equal(all_of_them.regret(), all_of_them.regret([700, 2000])[:, 1])


@pytest.mark.parametrize(
    "policy",
    [
        dpb.LinUCB(**GIVEN),
        dpb.LinUCB(**GIVEN, alpha=1.3),
        dpb.DPLinUCB(**GIVEN, epsilon=4, first=20, width=1.0, public_contexts=PLACE.contexts),
        dpb.DPLinUCB(**GIVEN, rho=1, first=30, public_contexts=PLACE.contexts),
        dpb.DPLinUCB(**GIVEN, rho=1, first=30, release="shaped", width=1.0),
    ],
    ids=repr,
)
def test_where_nothing_is_drawn_but_noise_both_ways_play_the_same_rounds(policy: Any) -> None:
    """Optimism, on a log whose rewards are fixed, with the same noise: sums, public counts, ends of
    blocks, codebooks and fits are the same, or decisions would part.
    """
    rng = np.random.default_rng(4)
    rows = dpb.UnitContexts(rng.normal(size=(800, 3)))(rng.normal(size=(800, 3)))
    log = dpb.ContextTable(rows, rng.integers(0, 2, (800, 3)), logged=True)
    at = list(range(1, 801))
    plain = dpb.simulate(policy, log, 800, at=at, compiled=False)
    quick = dpb.simulate(policy, log, 800, at=at)
    assert np.array_equal(plain.counts, quick.counts)
    assert np.allclose(plain.regret(at), quick.regret(at))
    assert plain.releases == quick.releases
    assert len(set(plain.counts[0, -1])) > 1


def test_long_blocks_are_shaped_alike_in_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their own contexts are not all kept, so matrices are fixed when they open."""
    monkeypatch.setattr("dpbandits.policies.contextual.PrivateLinear.kept_contexts", 10)
    policy = dpb.DPLinUCB(**GIVEN, rho=1, first=30, release="shaped", width=1.0)
    test_where_nothing_is_drawn_but_noise_both_ways_play_the_same_rounds(policy)


def test_arms_are_drawn_as_often() -> None:
    """10,000 draws a side for each of five contexts; a chi-squared test each."""
    rng = np.random.default_rng(5)
    theta = rng.normal(size=(3, 4)) * 0.3
    roots = np.tril(rng.normal(size=(3, 4, 4)))
    law, public = LinearLaw(theta, roots, True, ()), PublicRng(1, 2)
    for x in rng.normal(size=(5, 4)):
        plain = [law.choose(x, (0, 1, 2), public)[0] for _ in range(10_000)]
        quick = [best_arm(x, theta, roots, True, rng) for _ in range(10_000)]
        table = np.array([np.bincount(side, minlength=3) for side in (plain, quick)])
        table = table[:, table.sum(axis=0) > 0]
        assert stats.chi2_contingency(table).pvalue > ALARM / 5


class Learns(dpb.LinTS):
    def update(self, state: Any, plan: Any, release: Any) -> Any:
        return state


class Draws(dpb.DPLinTS):
    def law_of(self, state: Any) -> Any:
        return UniformLaw()


def test_a_subclass_is_played_as_what_it_says() -> None:
    """The compiled way left out what a subclass of LinTS overrides, and failed with another law."""
    for policy in (Learns(**GIVEN), Draws(**GIVEN, epsilon=1, public_contexts=PLACE.contexts)):
        runs = [dpb.simulate(policy, PLACE, 300, seed=1, compiled=way) for way in (True, False)]
        assert np.array_equal(runs[0].plays, runs[1].plays)


def test_laws_are_drawn_as_wide_as_rewards_and_noise_are() -> None:
    """Covariance s₂A⁻¹ + σ²A⁻², where each release adds 1/(2ρ) to σ²."""
    policy = dpb.AdaCOFUL(arms=2, features=3, rho=0.25, variance_of_rewards=0.5)
    information = np.array([np.diag([4.0, 2.0, 5.0]) + 0.5] * 2)
    state: Any = SimpleNamespace(fits=[SimpleNamespace(releases=many) for many in (0, 3)])
    inverse, noise = np.linalg.inv(information), np.array([0.0, 6.0])[:, None, None]
    wanted = 0.5 * inverse + noise * inverse @ inverse
    assert policy.covariances(state, information) == pytest.approx(wanted)
    assert np.triu(policy.roots_of(state, information), 1) == pytest.approx(0, abs=1e-12)
