"""What a session's constructors say of arguments that they do not take; and policies are plain
dataclasses.
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
from dpbandits.policies import POLICIES

PLAYED, WORLD = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4])
RULE = dpb.DPNAS(alpha=0.1, beta=0.05, cap=10**6, epsilon=1)
NOISE = dpb.SimulatedNoise(1)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_still_a_plain_dataclass(name: str) -> None:
    policy = examples(name)[0]
    assert pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy
    parameters = inspect.signature(type(policy)).parameters
    assert set(parameters) == {f.name for f in fields(policy) if f.init}
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: dpb.estimate(RULE, [0.5]), r"estimate needs noise, too"),
        (lambda: dpb.Estimator(RULE), r"Estimator needs noise, too"),
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
    [dpb.estimate, dpb.Estimator],
)
def test_the_example_of_what_is_called_first_works(called: Any) -> None:
    with pytest.raises(TypeError, match="does not take nonsense") as caught:
        called(nonsense=1)
    example = str(caught.value).rpartition("for example ")[2].removesuffix(".")
    eval(example, {"dpbandits": dpb, **vars(dpb)})
