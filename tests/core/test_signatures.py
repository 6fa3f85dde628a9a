"""A constructor called with arguments it does not take says which it takes, for every policy,
problem and environment.
"""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import fields
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.checks.examples import examples
from dpbandits.local.client import Client
from dpbandits.oracles import PROBLEMS
from dpbandits.policies import POLICIES

PLAYED, WORLD = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4])
RULE = dpb.DPNAS(alpha=0.1, beta=0.05, cap=10**6, epsilon=1)
NOISE = dpb.SimulatedNoise(1)

CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (
        dpb.DPKLMAT,
        (),
        {"arms": 5},
        (
            r"DPKLMAT does not take arms \(it is problem here\).*for example DPKLMAT\(epsilon=1, "
            r"problem="
        ),
    ),
    (
        dpb.RNMFTNL,
        (),
        {"arms": 3},
        r"RNMFTNL does not take arms \(it is actions here\).*RNMFTNL\(epsilon=1, actions=5\)",
    ),
    (
        dpb.AdaCUCB,
        (),
        {"epsilon": 1},
        r"does not take epsilon .*its budget is rho.*AdaCUCB\(arms=5, rho=0.1\)",
    ),
    (dpb.KLUCB, (), {"arms": 5, "epsilon": 1}, r"does not take epsilon \(it has no budget\)"),
    (dpb.DPKLUCB, (), {"arm": 5, "epsilon": 1}, r"does not take arm \(did you mean arms\?\)"),
    (
        dpb.DPKLUCB,
        (),
        {"arms": 5},
        r"DPKLUCB needs epsilon, too. It takes arms, epsilon, .*DPKLUCB\(arms=5, epsilon=1\)",
    ),
    (dpb.DPKLUCB, (5, 1), {}, "takes its arguments by name, got 2 without"),
    (
        dpb.DPKLUCB,
        (),
        {"arms": 5, "epsilon": 1, "horizon": 9},
        "does not take horizon .it plays for as long as it is asked",
    ),
    (
        dpb.ThompsonBeta,
        (),
        {"arms": 5, "grid": 1},
        "does not take grid .a coin rounds its rewards to 0 or 1",
    ),
    (dpb.CTSBeta, (), {"problem": None, "grid": 1}, "does not take grid .a coin rounds"),
    (dpb.DPNAS, (), {"epsilon": 1}, "needs alpha and beta and cap, too"),
    (
        dpb.Bernoulli,
        (0.5, 0.4),
        {},
        r"takes at most 1 arguments without a name, got 2.*Bernoulli\(means=\[0.5, 0.4\]\)",
    ),
    (dpb.Bernoulli, (), {}, "Bernoulli needs means. It takes means"),
    (dpb.UniformMatroid, (), {"arms": 5}, "UniformMatroid needs rank, too"),
    (
        dpb.LoggedReplay,
        ([0], [1]),
        {},
        r"LoggedReplay needs arms, too.*LoggedReplay\(\[0, 1, 0\], \[1, 0, 0\], arms=2\)",
    ),
]


@pytest.mark.parametrize(("cls", "given", "named", "words"), CALLS)
def test_a_wrong_call_says_what_is_wanted(
    cls: Any, given: tuple[Any, ...], named: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError, match=words) as caught:
        cls(*given, **named)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, (
        "Python's own words do not stand before ours"
    )


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_explains_itself_with_an_example_that_works(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} does not take nonsense") as caught:
        POLICIES[name](nonsense=1)
    example = str(caught.value).rpartition("for example ")[2].removesuffix(".")
    assert isinstance(eval(example, {"dpbandits": dpb, **POLICIES}), POLICIES[name])


@pytest.mark.parametrize(
    "cls",
    [
        *PROBLEMS.values(),
        dpb.Bernoulli,
        dpb.Beta,
        dpb.Categorical,
        dpb.LoggedReplay,
        dpb.Table,
        dpb.Uniform,
    ],
)
def test_every_problem_and_environment_gives_an_example_that_works(cls: type) -> None:
    with pytest.raises(TypeError, match="does not take nonsense") as caught:
        cls(nonsense=1)
    example = str(caught.value).rpartition("for example ")[2].removesuffix(".")
    assert isinstance(eval(example, vars(dpb)), cls)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_still_a_plain_dataclass(name: str) -> None:
    policy = examples(name)[0]
    assert pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy
    parameters = inspect.signature(type(policy)).parameters
    assert set(parameters) == {f.name for f in fields(policy) if f.init}
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


def test_errors_from_within_a_constructor_pass_through() -> None:
    class Own(dpb.Environment):
        def __init__(self, count: int) -> None:
            raise TypeError("mine")

        def draw(self, action: Any, rng: Any) -> float:
            return 0.0

        def block(self, action: Any, rounds: Any, grid: Any, rng: Any) -> int:
            return 0

    with pytest.raises(TypeError, match=r"^mine$"):
        Own(1)
    with pytest.raises(TypeError, match="Own needs count"):
        Own()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dpb.recommend(5, 1), r"recommend takes its arguments by name, got 2 without"),
        (lambda: dpb.recommend(arms=5, eps=1), r"does not take eps \(did you mean epsilon\?\)"),
        (lambda: dpb.recommend(arms=5), r"needs epsilon, too.*recommend\(arms=5, epsilon=1\)"),
        (lambda: dpb.forecast([0.5, 0.4], 100), r"forecast needs epsilon, too.*Prior\(base=\.03"),
        (lambda: dpb.simulate(PLAYED, WORLD), r"simulate needs rounds, too.* 10_000\)\.$"),
        (lambda: dpb.identify(PLAYED, WORLD, 10), r"at most 2 arguments without a name, got 3"),
        (lambda: dpb.estimates(RULE, WORLD), r"estimates needs runs, too"),
        (lambda: dpb.estimate(RULE, [0.5]), r"estimate needs noise, too"),
        (lambda: dpb.Estimator(RULE), r"Estimator needs noise, too"),
        (lambda: dpb.SimulatedNoise(), r"SimulatedNoise needs seed\. .*SimulatedNoise\(seed=1\)"),
        (lambda: dpb.SecureNoise(1), r"SecureNoise takes its arguments by name, got 1 without"),
        (
            lambda: dpb.lower_bound(),
            r"lower_bound needs policy.*Bernoulli\(\[0\.5, 0\.4\]\), 10_000\)",
        ),
        (lambda: Client(), r"Client needs description and most\. .*description=session\."),
        (lambda: Client("{}"), r"Client needs most, too"),
    ],
)
def test_what_is_called_first_explains_itself_too(call: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said) as caught:
        call()
    assert "__init__" not in str(caught.value)


@pytest.mark.parametrize(
    "called",
    [
        dpb.simulate,
        dpb.identify,
        dpb.estimates,
        dpb.estimate,
        dpb.SecureNoise,
        dpb.Estimator,
        dpb.lower_bound,
    ],
)
def test_the_example_of_what_is_called_first_works(called: Any) -> None:
    with pytest.raises(TypeError, match="does not take nonsense") as caught:
        called(nonsense=1)
    example = str(caught.value).rpartition("for example ")[2].removesuffix(".")
    eval(example, {"dpbandits": dpb, **vars(dpb)})
