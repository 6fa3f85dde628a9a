"""Policies are plain dataclasses."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import fields

import pytest

from dpbandits.checks.examples import examples
from dpbandits.policies import POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_still_a_plain_dataclass(name: str) -> None:
    policy = examples(name)[0]
    assert pickle.loads(pickle.dumps(policy)) == copy.deepcopy(policy) == policy
    parameters = inspect.signature(type(policy)).parameters
    assert set(parameters) == {f.name for f in fields(policy) if f.init}
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())
