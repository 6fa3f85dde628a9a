"""What a policy and a session are made with: what is refused at once, and guarantees that say what
holds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import EachAction, LazyForgetful
from dpbandits.mechanisms.base import Mechanism
from dpbandits.policies import NaiveFTNL
from tests.session.small import loaded, session

POLICY = dpb.DPKLUCB(arms=2, epsilon=1)
NOISE = dpb.SimulatedNoise(1)
TOP = dpb.TopK(arms=3, k=2)
HUGE = ["1e400", 10**400, 10**5000, "1e6000000", "1/" + "9" * 9000]
SEEDS: list[Any] = [-1, "a", 1.5, True, np.True_, int, 16**200, 10**5000]


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


def kl(**given: Any) -> Callable[[], Any]:
    return lambda: dpb.DPKLUCB(**{"arms": 2, "epsilon": 1, **given})


def of(policy: Any = POLICY, **given: Any) -> Callable[[], Any]:
    return lambda: dpb.Session(policy, **{"noise": NOISE, **given})


MAKERS: list[Callable[[Any], Any]] = [
    lambda e: dpb.DPKLUCB(arms=2, epsilon=e),
    lambda e: dpb.DPKLCUCB(problem=TOP, epsilon=e),
    lambda e: dpb.LazyCUCB(problem=TOP, epsilon=e),
    lambda e: dpb.AdaCUCB(arms=2, rho=e),
]
REFUSED: dict[str, tuple[type[Exception], list[Callable[[], Any]]]] = {
    "epsilon": (
        ValueError,
        [kl(epsilon=e) for e in (0, -1, math.nan, math.inf, "a lot", None, 0.0, "1e-14")],
    ),
    "a budget beyond all use": (
        ValueError,
        [lambda make=make, e=e: make(e) for make in MAKERS for e in HUGE],
    ),
    "rho": (ValueError, [lambda e=e: dpb.AdaCUCB(arms=2, rho=e) for e in (-1, "1e-14")]),
    "arms": (
        ValueError,
        [kl(arms=arms) for arms in (0, -1, 2.0, True, None, "5", "blue,green", "blue, green")],
    ),
    "a parameter": (
        ValueError,
        [
            lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=0),
            lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=1.5),  # type: ignore[arg-type]
            lambda: dpb.DPUCB(arms=2, epsilon=1, horizon=9, preset="best"),  # type: ignore[arg-type]
            lambda: dpb.SuccessiveElimination(arms=2),
            lambda: dpb.DPSE(arms=2, epsilon=1, beta=1.0),
            lambda: dpb.AdaPUCB(arms=2, epsilon=1, a=3),
            kl(alpha=1.0),
            kl(first=0),
            kl(grid=0),
            lambda: dpb.KLUCB(arms=2, c=-1),
        ],
    ),
    "default": (
        ValueError,
        [of(default=each) for each in (2.0, "0.5", math.nan, 10**400, True, np.True_)]
        + [of(default=each, rewards=dpb.Range(0, 10)) for each in (True, False)],
    ),
    "seed": (
        ValueError,
        [of(seed=seed) for seed in SEEDS]
        + [lambda seed=seed: dpb.SimulatedNoise(seed) for seed in SEEDS]
        + [
            lambda seed=seed: dpb.SegmentedSession(POLICY, noise=NOISE, segments=["a"], seed=seed)
            for seed in SEEDS
        ],
    ),
    "noise": (
        TypeError,
        [of(noise=each) for each in (dpb.SecureNoise, dpb.SimulatedNoise, None, 7, object())]
        + [lambda: dpb.Session(POLICY)],  # type: ignore[call-arg]  # there is no default
    ),
    "another option": (TypeError, [of(attribution_windows=3), of(policy="UCB1")]),
    "one arm in place of a list": (
        TypeError,
        [
            lambda each=each: session().ask(eligible=each)
            for each in (np.array(0), np.int64(0), np.array("a"))
        ],
    ),
    "count": (
        ValueError,
        [lambda count=count: session().ask(count) for count in (True, 2.0, "3", -1)],
    ),
    "words that are not the mechanism's": (
        ValueError,
        [
            of(Cheap(arms=2, epsilon=1)),
            of(Lavish(arms=2, epsilon=1)),
            of(Quiet(arms=2, epsilon=1)),
            of(Fifty(actions=50, epsilon=1)),
        ],
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_is_refused_in_few_words(what: str) -> None:
    error, calls = REFUSED[what]
    for at, call in enumerate(calls):
        with pytest.raises(error) as raised:
            call()
        assert 20 < len(str(raised.value)) < 400, at


def test_numbers_of_any_kind_are_taken() -> None:
    assert [d.id for d in session().ask(np.int64(3))] == [1, 2, 3]  # type: ignore[call-overload]
    for default in (0, 1, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)):
        s = of(seed=np.int64(3), noise=dpb.SimulatedNoise(np.int64(1)), default=default)()  # type: ignore[arg-type]
        again = loaded(s.to_json())
        assert (type(s.seed), s.seed, again.seed) == (int, 3, 3)
        assert (type(s.default), s.default, again.default) == (float, default, default)
    longest = of(seed=16**200 - 1)()
    assert loaded(longest.to_json()).seed == longest.seed


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


def test_published_presets_report_what_they_hold() -> None:
    hybrid = dpb.HybridUCB(arms=5, epsilon=1, preset="published").guarantee
    assert hybrid is not None
    assert (hybrid.epsilon, hybrid.claimed) == (Fraction(3, 2), Fraction(1))
    tree = dpb.DPUCB(arms=5, epsilon=1, horizon=100, preset="published").guarantee
    assert tree is not None
    assert tree.epsilon == Fraction(1, 5)


def test_the_guarantee_is_that_of_the_open_vault() -> None:
    s = session()
    with pytest.raises(AttributeError):
        s.policy = dpb.DPKLUCB(arms=3, epsilon="1/1000")  # type: ignore[misc]
    assert s.guarantee.epsilon == 1  # type: ignore[union-attr]
