"""Every shipped check on every policy in the table: a new policy is tested without writing a
test.
"""

from __future__ import annotations

import pytest

from dpbandits.checks import CHECKS, examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy

INSTANCES = [policy for name in POLICIES for policy in examples(name)]


def concerns(check: str, policy: Policy) -> bool:
    """Whether the check has something to look at, by what the policy declares."""
    if check in ("replay_is_blind", "loss_within_claim"):
        return policy.guarantee is not None and policy.randomizer() is None
    return check != "only_reports_enter" or policy.randomizer() is not None


PAIRS = [(policy, check) for policy in INSTANCES for check in CHECKS if concerns(check, policy)]


@pytest.mark.parametrize(
    ("policy", "check"), PAIRS, ids=[f"{policy!r}-{check}" for policy, check in PAIRS]
)
def test_policy(policy: Policy, check: str) -> None:
    CHECKS[check](policy)


@pytest.mark.parametrize("name", POLICIES)
def test_one_arm(name: str) -> None:
    """A single arm is played for ever, whatever the policy."""
    for policy in examples(name, arms=1):
        CHECKS["hosts_agree"](policy)
        CHECKS["ledger_equals_claim"](policy)
