"""Every shipped check on every policy in the table: a new policy is tested without writing a
test.
"""

from __future__ import annotations

from typing import Any

import pytest

from dpbandits.checks import CHECKS, examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy


def concerns(check: str, policy: Policy) -> bool:
    """Whether the check has something to look at, by what the policy declares."""
    if check in ("replay_is_blind", "loss_within_claim"):
        return policy.guarantee is not None and policy.randomizer() is None
    return check != "only_reports_enter" or policy.randomizer() is not None


OF_EACH = {name: examples(name) for name in POLICIES}
INSTANCES = [policy for instances in OF_EACH.values() for policy in instances]
FIRST = [instances[0] for instances in OF_EACH.values()]


HEAVY = ("compiled_law", "loss_within_claim", "beats_uniform", "answers_far_behind")
"""Checks that take seconds: some 8 of 10 of the time of all."""

FAMILIES = (
    "AnytimeLazyUCB",
    "CUCBDP",
    "DPJointMAT",
    "DPKLUCB",
    "DPNAS",
    "DPRateIMED",
    "DPSE",
    "DPTSMAT",
    "HybridUCB",
    "LDPKLUCB",
    "LazyDPTS",
    "RNMFTNL",
)
"""One policy of each kind of mechanism and of each compiled loop."""


def case(policy: Policy, check: str) -> Any:
    """Heavy checks of the first instance of one policy a family are made in `make test`, all others
    in `make test-all`.
    """
    near = type(policy).__name__ in FAMILIES and any(policy is first for first in FIRST)
    marks = [pytest.mark.long] if check in HEAVY and not near else []
    return pytest.param(policy, check, id=f"{policy!r}-{check}", marks=marks)


CASES = [case(policy, check) for policy in INSTANCES for check in CHECKS if concerns(check, policy)]


@pytest.mark.parametrize(("policy", "check"), CASES)
def test_policy(policy: Policy, check: str) -> None:
    CHECKS[check](policy)


@pytest.mark.parametrize("name", POLICIES)
def test_one_arm(name: str) -> None:
    """A single arm is played for ever, whatever the policy."""
    for policy in examples(name, arms=1):
        CHECKS["hosts_agree"](policy)
        CHECKS["ledger_equals_claim"](policy)
