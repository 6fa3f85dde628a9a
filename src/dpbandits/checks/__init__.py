"""Checks of user-defined policies, mechanisms, environments and noise sources."""

from collections.abc import Callable, Mapping
from typing import Any

from dpbandits.checks.checks import (
    beats_uniform,
    compiled_law,
    hosts_agree,
    ledger_equals_claim,
    loss_within_claim,
    replay_is_blind,
    state_is_plain,
)
from dpbandits.checks.contexts import (
    contexts_loss_within_claim,
    outputs_are_releases,
    releases_survive_json,
)
from dpbandits.checks.environment import check_environment
from dpbandits.checks.examples import examples
from dpbandits.checks.mechanism import check_mechanism
from dpbandits.checks.noise import check_noise
from dpbandits.checks.sessions import (
    arms_come_and_go,
    late_and_missing_tells,
    late_rewards,
    only_reports_enter,
    state_is_a_fold,
    survives_json,
    unplanned_drops,
)
from dpbandits.core.errors import CheckFailed
from dpbandits.core.inputs import refuse_others
from dpbandits.policies.contextual import ContextualPolicy
from dpbandits.policies.contract import Policy
from dpbandits.policies.joint_contexts import JointDPLinTS

CHECKS: dict[str, Callable[[Policy], None]] = {
    check.__name__: check
    for check in (
        state_is_plain,
        hosts_agree,
        replay_is_blind,
        loss_within_claim,
        ledger_equals_claim,
        survives_json,
        state_is_a_fold,
        late_and_missing_tells,
        late_rewards,
        unplanned_drops,
        arms_come_and_go,
        only_reports_enter,
        beats_uniform,
        compiled_law,
    )
}

CONTEXT_CHECKS: dict[str, Callable[[ContextualPolicy], None]] = {
    check.__name__: check
    for check in (
        contexts_loss_within_claim,
        survives_json,
        late_and_missing_tells,
        late_rewards,
        unplanned_drops,
        arms_come_and_go,
    )
}
"""Of policies that decide by contexts."""

JOINT_CHECKS: dict[str, Callable[[JointDPLinTS], None]] = {
    check.__name__: check for check in (outputs_are_releases, releases_survive_json)
}
"""Of policies whose contexts and decisions are private."""

__all__ = [
    "CHECKS",
    "CONTEXT_CHECKS",
    "JOINT_CHECKS",
    "CheckFailed",
    "check_environment",
    "check_mechanism",
    "check_noise",
    "check_policy",
    "examples",
]


def check_policy(policy: Policy) -> None:
    """Run every check on a policy.

    A check takes up to some seconds, so give a small instance (three arms, epsilon about 1, small
    batches), with a grid above 1: at one step a wrong sensitivity has no effect.

    Args:
        policy: an instance of a user-defined policy.

    Raises:
        CheckFailed: the first violation.
        TypeError: not a policy.
    """
    refuse_others(policy, Policy, "a policy", "YourPolicy(arms=3, epsilon=1)")
    checks: Mapping[str, Callable[[Any], None]] = CHECKS
    if isinstance(policy, ContextualPolicy):
        checks = CONTEXT_CHECKS
    elif isinstance(policy, JointDPLinTS):
        checks = JOINT_CHECKS
    for check in checks.values():
        check(policy)
