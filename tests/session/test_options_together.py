"""The promise with every two options together: all rewards of one person move what is
public by no more than is printed.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise.protocol import Noise
from dpbandits.session.saving import as_plain, public_part
from tests.session.replay import largest_loss

A_WHILE, KEY = timedelta(seconds=25), bytes(32)
USERS: dict[str, Any] = {"privacy_unit": "user", "max_contributions": 2, "user_key": KEY}
OPTIONS: dict[str, dict[str, Any]] = {
    "users": USERS,
    "sticky": USERS | {"sticky": True},
    "waits": {"attribution_window": A_WHILE},
    "shuffled": {"assignment": "shuffled"},
    "shares": {"min_share": 0.2},
    "periods": {"min_share": 0.2, "period": 2 * A_WHILE},
    "guardrail": {"guardrail": dpb.Guardrail("refunds", limit=0.3, confidence=0.2)},
    "costs": {"rewards": dpb.Range(0, 3, minimise=True)},
}
POLICIES = [
    dpb.DPRateIMED(arms=3, epsilon=1, first=3),
    dpb.AnytimeLazyUCB(arms=3, epsilon=1),
    dpb.AdaCUCB(arms=3, rho=1),
    dpb.DPUCB(arms=3, epsilon=1, horizon=200),
    dpb.DPJointMAT(problem=dpb.UniformMatroid(arms=3, rank=2), epsilon=1, first=0.3),
]


def played(policy: Any, options: Any, seed: int, ann: Any, noise: Noise) -> Iterator[Any]:
    """Ann comes in round 7, and where people come back in others. None: she does not answer."""
    rng, waiting = np.random.default_rng(seed), list[Any]()
    now, times = [0.0], {"period", "attribution_window"} & options.keys()
    timed: Any = {"clock": lambda: now[0]} if times else {}
    s = dpb.Session(policy, noise=noise, seed=seed, **options, **timed)
    people = "privacy_unit" in options
    changes = [s.drop_open, lambda: s.pause_arm(1), lambda: s.resume_arm(1), s.add_arm, s.settle]

    def tell() -> None:
        decision, value = waiting.pop(int(rng.integers(len(waiting))))
        if value is None or decision not in s.pending:
            return
        reward = value if s.rewards is None else 3 * value
        several = [reward] * len(decision.observe or ())
        s.tell(decision, several or (reward if s.guardrail is None else (reward, value / 3)))

    for number in range(70):
        now[0] += 1.0
        mine = number == 7 or (people and rng.random() < 0.1)
        decision = s.ask(**({"user": "ann" if mine else str(number)} if people else {}))
        waiting.append((decision, ann if mine else float(rng.random() < 0.5)))
        if len(waiting) > 6:
            tell()
        if number % 17 == 16 and (policy.chooses or number < 20):
            changes[number // 17]()
        yield decision
    yield s.statement(), as_plain(public_part(s, s._state, 1))
    s.close("enough")
    now[0] += 1e3
    s.settle()
    yield s.statement(), s.ledger, s.events, list(s.decisions()), str(s.beliefs())


PAIRS = [*combinations(OPTIONS, 2)]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_two_options_together_cost_what_is_printed(pair: tuple[str, str]) -> None:
    options, seed, worst = OPTIONS[pair[0]] | OPTIONS[pair[1]], PAIRS.index(pair), 0
    for policy in POLICIES:
        try:
            price = dpb.Session(policy, noise=dpb.SimulatedNoise(1), **options).guarantee
        except ValueError:  # not for this policy
            continue
        assert price is not None
        power, others = (1, 2)[price.measure == "zCDP"], [0.0]
        if "attribution_window" in options:
            others.append(None)  # type: ignore[arg-type]

        def play(records: list[Any], noise: Noise, policy: Any = policy) -> Any:
            return list(played(policy, options, seed, records[0], noise))

        found = largest_loss(play, [1.0], others, power=power, most=9)
        assert found <= price.cost
        worst = max(worst, found / price.cost)
    assert worst == 1, "no run reads what was replaced"
