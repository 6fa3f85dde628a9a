"""Every shipped check on every policy in the table: a new policy is tested without writing a test."""

from __future__ import annotations

import pytest

from dpbandits.checks import CHECKS, examples
from dpbandits.policies import POLICIES
from dpbandits.policy import Policy

INSTANCES = [policy for name in POLICIES for policy in examples(name)]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("policy", INSTANCES, ids=repr)
def test_policy(policy: Policy, check: str) -> None:
    CHECKS[check](policy)


@pytest.mark.parametrize("name", POLICIES)
def test_one_arm(name: str) -> None:
    """A single arm is played for ever, whatever the policy."""
    for policy in examples(name, arms=1):
        CHECKS["hosts_agree"](policy)
        CHECKS["ledger_equals_claim"](policy)
