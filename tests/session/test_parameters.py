"""What a policy and a session are made with: errors that say what to do, and guarantees that say
what holds.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import EachAction, LazyForgetful
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policies import RNMFTNL, NaiveFTNL
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


POLICY = dpb.DPKLUCB(arms=2, epsilon=1)


def test_no_default_noise() -> None:
    with pytest.raises(TypeError, match="noise"):
        dpb.Session(dpb.UCB1(arms=2))  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="attribution_windows"):  # an option that there is not
        dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), attribution_windows=3)  # type: ignore[call-arg]
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


@pytest.mark.parametrize("eligible", [np.array(0), np.int64(0), np.array("a")])
def test_one_arm_in_place_of_a_list_is_refused_in_words(eligible: Any) -> None:
    session = dpb.Session(dpb.DPKLUCB(arms=2, epsilon=1), noise=dpb.SimulatedNoise(1))
    with pytest.raises(TypeError, match="Expected eligible= to be a list of arms"):
        session.ask(eligible=eligible)


class Cheap(dpb.DPKLUCB):
    """Says that it keeps a tenth of what its mechanism promises."""

    @property
    def guarantee(self) -> Any:  # type: ignore[override]
        return replace(self.mechanism().guarantee, epsilon=Fraction(1, 10))  # type: ignore[type-var]


class Lavish(dpb.DPKLUCB):
    """Its mechanism spends a hundred times its budget."""

    def mechanism(self) -> LazyForgetful:  # type: ignore[override]
        return LazyForgetful(epsilon=100 * self.budget)


class Quiet(dpb.DPKLUCB):
    """Says that it is private, and keeps nothing."""

    about: ClassVar[Any] = replace(dpb.DPKLUCB.about, privacy="none")


class Fifty(NaiveFTNL):
    def mechanism(self) -> Mechanism:  # type: ignore[override]
        return EachAction(inner=LazyForgetful(epsilon=self.budget), actions=1)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (Cheap(arms=2, epsilon=1), "says that it guarantees"),
        (Lavish(arms=2, epsilon=1), "has a budget of 1; its mechanism spends 100"),
        (Quiet(arms=2, epsilon=1), 'says privacy="none"'),
        (Fifty(actions=50, epsilon=1), "Expected a record of 1 actions"),
    ],
    ids=lambda x: type(x).__name__,
)
def test_words_and_mechanism_agree(policy: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        dpb.Session(policy, noise=dpb.SimulatedNoise(1))


def test_the_guarantee_is_that_of_the_open_vault() -> None:
    s = session()
    with pytest.raises(AttributeError):
        s.policy = dpb.DPKLUCB(arms=3, epsilon="1/1000")  # type: ignore[misc]
    assert s.guarantee.epsilon == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "noise",
    [dpb.SecureNoise, dpb.SimulatedNoise, None, 7, object()],
    ids=lambda noise: getattr(noise, "__name__", type(noise).__name__),
)
def test_noise_is_a_source_and_not_its_class(noise: Any) -> None:
    with pytest.raises(TypeError, match=r"Expected noise="):
        dpb.Session(dpb.UCB1(arms=1), noise=noise)


@pytest.mark.parametrize("count", [True, 2.0, "3", -1, None])
def test_counts_are_whole_numbers(count: Any) -> None:
    s = session()
    if count is None:
        assert [d.id for d in s.ask(np.int64(3))] == [1, 2, 3]  # type: ignore[call-overload]
        return
    with pytest.raises(ValueError, match=r"Expected count=.* to be a whole number of at least 0"):
        s.ask(count)
    assert s.pending == ()


def test_a_seed_that_no_document_could_hold_is_refused() -> None:
    """A session is called by its seed: it was saved with a name that was too long to be loaded."""
    longest = dpb.Session(dpb.UCB1(arms=1), noise=dpb.SimulatedNoise(1), seed=16**200 - 1)
    assert loaded(longest.to_json()).seed == longest.seed
    for seed in (16**200, 10**5000):
        with pytest.raises(ValueError, match="200 hexadecimal digits"):
            dpb.Session(dpb.UCB1(arms=1), noise=dpb.SimulatedNoise(1), seed=seed)
        with pytest.raises(ValueError, match="200 hexadecimal digits"):
            dpb.SimulatedNoise(seed)


@pytest.mark.parametrize("arms", ["blue,green", "blue, green"])
def test_names_in_one_text_are_no_arms(arms: Any) -> None:
    with pytest.raises(ValueError, match=r"write arms=\['blue', 'green'\]\.$"):
        dpb.DPKLUCB(arms=arms, epsilon=1)
    with pytest.raises(ValueError, match="write arms=5, without quotes"):
        dpb.DPKLUCB(arms="5", epsilon=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [True, False, np.True_])
def test_a_boolean_is_no_number(answer: Any) -> None:
    """True came as seed 1 and reward 1, for Python says that it is a whole number."""
    noise = dpb.SimulatedNoise(1)
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number"):
        dpb.SimulatedNoise(answer)
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number"):
        dpb.Session(POLICY, noise=noise, seed=answer)
    with pytest.raises(ValueError, match=r"Expected default=.* to be a reward"):
        dpb.Session(POLICY, noise=noise, default=answer)
    with pytest.raises(ValueError, match=r"Expected default=.* to be a reward"):
        dpb.Session(POLICY, noise=noise, default=answer, rewards=dpb.Range(0, 10))


@pytest.mark.parametrize("default", [0, 1, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)])
def test_numbers_of_any_kind_are_defaults(default: Any) -> None:
    s = dpb.Session(POLICY, noise=dpb.SimulatedNoise(1), default=default)
    assert type(s.default) is float
    assert s.default == float(default)


@pytest.mark.parametrize("seed", ["x", True, int, 1.5, -1])
def test_the_seed_of_segments_is_a_seed(seed: Any) -> None:
    """It was added to their places before it was looked at."""
    with pytest.raises(ValueError, match=r"Expected seed=.* to be a whole number of at least 0"):
        dpb.SegmentedSession(POLICY, noise=dpb.SimulatedNoise(1), segments=["a", "b"], seed=seed)


def test_policies_of_full_information_keep_their_width() -> None:
    """The guard on actions does not refuse ours."""
    for policy in (
        NaiveFTNL(actions=50, epsilon=1),
        RNMFTNL(actions=50, epsilon=1, preset="published"),
    ):
        assert dpb.Session(policy, noise=dpb.SimulatedNoise(1)).guarantee is not None
