"""What the refused things are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dpbandits as dpb

Refusals = dict[str, tuple[Callable[[], object], type[Exception], str]]
"""What is tried, by name: the call, its error, and words of that."""

POLICY, COINS = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4])
RULE = dpb.DPNAS(alpha=0.5, beta=0.1, cap=1000, epsilon=1)
UNIFORM = dpb.UniformMatroid(arms=4, rank=2)
NAN, HUGE = float("nan"), 10**5000


def runs() -> dpb.Runs:
    return dpb.simulate(dpb.UCB1(arms=2), COINS, 10, runs=3)


def audited(**arguments: Any) -> dpb.AuditReport:
    return dpb.audit("AnytimeLazyUCB", **{"levels": ["transcript"], "budget": 1} | arguments)
