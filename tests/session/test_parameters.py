"""What a policy and a session are made with: errors that say what to do, and guarantees that say
what holds.
"""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.service.campaign import Campaign
from dpbandits.service.remote import RemoteCampaign
from dpbandits.service.segments import SegmentedCampaign
from dpbandits.session.segments import SegmentedSession
from tests.session.small import loaded, session


@pytest.mark.parametrize("epsilon", [38, 50, 800, 10**6])
def test_large_epsilon_plays_on(epsilon: int) -> None:
    policy = dpb.DPKLUCB(arms=2, epsilon=epsilon, first=2)
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    for _ in range(60):
        d = s.ask()
        s.tell(d, float(d.action))
    assert s.state.pulls[1] > s.state.pulls[0]
    assert dpb.simulate(policy, dpb.Bernoulli([0.0, 1.0]), 60).plays[0, 1] > 30


@pytest.mark.parametrize(
    "make", [lambda e: dpb.DPKLUCB(arms=2, epsilon=e), lambda e: dpb.AdaCUCB(arms=2, rho=e)]
)
def test_budgets_too_small_for_64_bits_are_refused_at_once(make: Any) -> None:
    with pytest.raises(ValueError, match="coarser grid"):
        make("1e-14")


def test_guarantee_names_its_noise() -> None:
    assert session().guarantee.noise == "simulated"  # type: ignore[union-attr]
    secure = dpb.Session(dpb.DPKLUCB(arms=2, epsilon="1/10"), noise=dpb.SecureNoise())
    assert secure.guarantee == dpb.Guarantee(
        measure="pure",
        epsilon=Fraction(1, 10),
        noise="secure",
        grid=dpb.Grid(steps=1024),
        proof="lazy_cumulative",
    )
    assert dpb.Session(dpb.UCB1(arms=2), noise=dpb.SimulatedNoise(1)).guarantee is None


def test_no_default_noise() -> None:
    with pytest.raises(TypeError):
        dpb.Session(dpb.UCB1(arms=2))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="SecureNoise"):
        dpb.Session(dpb.UCB1(arms=2), noise=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="policy"):
        dpb.Session("UCB1", noise=dpb.SimulatedNoise(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "a lot", None, 0.0])
def test_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        dpb.DPKLUCB(arms=2, epsilon=epsilon)


@pytest.mark.parametrize("arms", [0, -1, 2.0, True, None])
def test_bad_arms(arms: Any) -> None:
    with pytest.raises(ValueError, match="arms"):
        dpb.UCB1(arms=arms)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=0), "horizon"),
        (lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=1.5), "horizon"),
        (lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=9, preset="best"), "preset"),
        (lambda: dpb.SuccessiveElimination(arms=2), "horizon"),
        (lambda: dpb.DPSE(arms=2, epsilon=1, beta=1.0), "beta"),
        (lambda: dpb.AdaPUCB(arms=2, epsilon=1, a=3), "a="),
        (lambda: dpb.AdaCUCB(arms=2, rho=-1), "rho"),
        (lambda: dpb.DPKLUCB(arms=2, epsilon=1, alpha=1.0), "alpha"),
        (lambda: dpb.DPKLUCB(arms=2, epsilon=1, first=0), "first"),
        (lambda: dpb.DPKLUCB(arms=2, epsilon=1, grid=0), "grid"),
        (lambda: dpb.KLUCB(arms=2, c=-1), "c="),
        (lambda: session(default=2.0), "default"),
    ],
)
def test_bad_parameters(make: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        make()


def test_dpse_identifies_the_best_arm() -> None:
    policy = dpb.DPSE(arms=3, epsilon=2, beta=0.05)
    s, rng = dpb.Session(policy, noise=dpb.SimulatedNoise(5)), np.random.default_rng(6)
    assert policy.best_arm(s.state) is None
    for _ in range(30_000):
        d = s.ask()
        s.tell(d, float(rng.random() < (0.1, 0.9, 0.2)[d.action]))
    found = policy.best_arm(s.state)
    assert found is not None
    assert found.arm == 1
    assert 0 < found.rounds <= 30_000


def test_published_presets_report_what_they_hold() -> None:
    hybrid = dpb.HybridUCB(arms=5, epsilon=1, preset="published").guarantee
    assert hybrid is not None
    assert (hybrid.epsilon, hybrid.claimed) == (Fraction(3, 2), Fraction(1))
    tree = dpb.DPUCB(arms=5, epsilon=1, horizon=100, preset="published").guarantee
    assert tree is not None
    assert tree.epsilon == Fraction(1, 5)


@pytest.mark.parametrize(
    "epsilon",
    ["1e400", 10**400, 10**5000, "1e6000000", "1/" + "9" * 9000],
    ids=lambda e: f"{type(e).__name__}",
)
@pytest.mark.parametrize(
    "make",
    [
        lambda e: dpb.DPKLUCB(arms=2, epsilon=e),
        lambda e: dpb.DPKLCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=e),
        lambda e: dpb.LazyCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=e),
        lambda e: dpb.AdaCUCB(arms=2, rho=e),
    ],
)
def test_prices_beyond_all_use_are_refused_at_once(make: Any, epsilon: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected (epsilon|rho)") as error:
        make(epsilon)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize(
    "policy",
    [
        dpb.DPKLUCB(arms=2, epsilon="1e100"),
        dpb.LazyCUCB(problem=dpb.TopK(arms=3, k=2), epsilon=1e100),
    ],
    ids=repr,
)
def test_the_largest_price_can_be_played(policy: Any) -> None:
    s = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)
    for _ in range(60):
        d = s.ask()
        s.tell(d, 1.0 if d.observe is None else [1.0, 0.0])
    assert s.releases > 2


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"default": "0.5"}, "default='0.5'"),
        ({"default": math.nan}, "default=nan"),
        ({"default": 10**400}, "to be a reward"),
        ({"seed": -1}, "seed=-1 to be a whole number of at least 0"),
        ({"seed": "a"}, "seed='a' to be a whole number of at least 0"),
        ({"seed": 1.5}, "seed=1.5 to be a whole number of at least 0"),
    ],
)
def test_seeds_and_defaults_are_read_at_once(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1), **given)
    if "seed" in given:
        with pytest.raises(ValueError, match=what):
            dpb.SimulatedNoise(given["seed"])


def test_numbers_of_other_libraries_can_be_saved() -> None:
    given: dict[str, Any] = {"seed": np.int64(3), "default": np.float32(0.5)}
    s = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(np.int64(1)), **given)  # type: ignore[arg-type]
    again = loaded(s.to_json())
    assert (type(s.seed), s.seed, again.seed, again.default) == (int, 3, 3, 0.5)


@pytest.mark.parametrize(
    "kind", [dpb.Session, SegmentedSession, Campaign, SegmentedCampaign, RemoteCampaign]
)
def test_every_ask_takes_the_same_in_the_same_order(kind: type) -> None:
    """By place or by name: a session took `eligible` by place, and the others refused it."""
    taken = list(inspect.signature(kind.ask).parameters.values())[1:]  # type: ignore[attr-defined]
    names = [each.name for each in taken]
    assert names == ["count", "eligible", "user", "segment", "key"][: len(names)]
    assert len(names) >= 4
    assert {each.kind for each in taken} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


def test_arms_that_are_eligible_may_be_given_by_place() -> None:
    noise, policy = dpb.SimulatedNoise(1), dpb.DPKLUCB(arms=3, epsilon=1)
    with dpb.open_store("memory:") as store:
        campaign = store.create("trial", policy, noise=noise)
        apart = dpb.Session(policy, noise=noise, segments=["DE"])
        for made in (session().ask(2, [1]), campaign.ask(2, [1]), apart.ask(2, [1], None, "DE")):
            assert [decision.action for decision in made] == [1, 1]


@pytest.mark.parametrize("eligible", [np.array(0), np.int64(0), np.array("a")])
def test_one_arm_in_place_of_a_list_is_refused_in_words(eligible: Any) -> None:
    session = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1))
    with pytest.raises(TypeError, match="Expected eligible= to be a list of arms"):
        session.ask(eligible=eligible)
