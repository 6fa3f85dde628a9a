"""Audits that cannot be made, and values that are missing."""

from __future__ import annotations

import dpbandits as dpb
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value
from tests.core.refused.parts import (
    NAN,
    Refusals,
    audited,
)

AUDITS: Refusals = {
    # the audit
    "audit(arms=True)": (lambda: audited(arms=True), ValueError, "arms=True"),
    "audit(rounds='8')": (
        lambda: audited(rounds="8"),
        ValueError,
        "write rounds=8, without quotes",
    ),
    "audit(seed=-1)": (
        lambda: audited(seed=-1),
        ValueError,
        "seed=-1 to be a whole number of at least 0",
    ),
    "audit(workers=None)": (lambda: audited(workers=None), ValueError, "workers=None"),
    "audit(budget=True)": (
        lambda: audited(budget=True),
        ValueError,
        "budget=True to be a finite number of seconds",
    ),
    "audit(levels=5)": (
        lambda: audited(levels=5),
        ValueError,
        "levels, a list of some of transcript",
    ),
    "audit(levels='transcript')": (
        lambda: audited(levels="transcript"),
        ValueError,
        "For example levels=",
    ),
    "audit(levels=[])": (lambda: audited(levels=[]), ValueError, r"got \[\]. For example"),
    "audit(None)": (
        lambda: dpb.audit(None, levels=["transcript"]),
        TypeError,
        "Expected a policy, a mechanism, a randomizer, a function",
    ),
    # missing values
    "a reward that is NaN": (
        lambda: checked_reward(NAN),
        dpb.RewardError,
        "a missing value .*Expire the decision",
    ),
    "rewards with NaN": (
        lambda: checked_rewards([0.5, NAN], 2),
        dpb.RewardError,
        "entry 1 is NaN, a missing value .*Expire the decision",
    ),
    "a value that is NaN": (
        lambda: scaled_value(NAN, 0, 1),
        dpb.RewardError,
        "Leave missing values out",
    ),
    "a reward too large": (lambda: checked_reward(2), dpb.RewardError, "Rescale it"),
}
