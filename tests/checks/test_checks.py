"""Every shipped check on every policy in the table: a new policy is tested without writing a
test.
"""

from __future__ import annotations

from typing import Any

import pytest

from dpbandits.checks import CHECKS, check_policy, examples
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from tests.families import COMPILED, NEAR


def concerns(check: str, policy: Policy) -> bool:
    """Whether the check has something to look at, by what the policy declares."""
    if check in ("replay_is_blind", "loss_within_claim"):
        return policy.guarantee is not None and policy.randomizer() is None
    return check != "only_reports_enter" or policy.randomizer() is not None


OF_EACH = {name: examples(name) for name in POLICIES}
INSTANCES = [policy for instances in OF_EACH.values() for policy in instances]
FIRST = [instances[0] for instances in OF_EACH.values()]


EVERYWHERE = (
    "ledger_equals_claim",
    "only_reports_enter",
    "state_is_a_fold",
    "unplanned_drops",
)
"""Safety that takes less than a second: of the first instance of every policy in `make test`."""

LONG = ("beats_uniform", "late_rewards")
"""Checks that take longest and find least; the first of the default policy is in `make test`."""


def is_quick(policy: Policy, check: str) -> bool:
    """What `make test` takes: further checks of the first instance of policies in `NEAR` only."""
    if not any(policy is first for first in FIRST):
        return False
    name = type(policy).__name__
    if check in LONG:
        return name in ("DPKLUCB", "DPRateIMED")
    if check == "compiled_law":
        return name in ("DPKLUCB", "RNMFTNL")
    if check == "loss_within_claim":
        return name in COMPILED
    return check in EVERYWHERE or name in NEAR


def case(policy: Policy, check: str) -> Any:
    marks = [] if is_quick(policy, check) else [pytest.mark.long]
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


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(TypeError, match=r"Expected a policy such as .* got 'DPKLUCB'"):
        check_policy("DPKLUCB")  # type: ignore[arg-type]
