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


def case(policy: Policy, check: str) -> Any:
    """The law of a policy's first instance is compared in `make test`, of the others in
    `make test-all`.
    """
    long = check == "compiled_law" and not any(policy is first for first in FIRST)
    return pytest.param(
        policy, check, id=f"{policy!r}-{check}", marks=[pytest.mark.long] if long else []
    )


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
