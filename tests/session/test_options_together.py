"""The promise with every two options together, to the end of a session that is closed: all rewards
of one person move what is public by no more than is printed.
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
TOP = dpb.UniformMatroid(arms=3, rank=2)
PLACES = np.random.default_rng(7).uniform(-0.6, 0.6, (100, 2))
POLICIES = [
    dpb.DPRateIMED(arms=3, epsilon=1, first=3),
    dpb.AnytimeLazyUCB(arms=3, epsilon=1),
    dpb.LazyDPTS(arms=3, epsilon=1),
    dpb.AdaCUCB(arms=3, rho=1),
    dpb.DPUCB(arms=3, epsilon=1, horizon=200),
    dpb.HybridUCB(arms=3, epsilon=1),
    dpb.DPJointMAT(problem=TOP, epsilon=1, first=0.3),
    dpb.CUCBDP(problem=TOP, epsilon=1, horizon=200),
    dpb.DPLinTS(arms=3, features=2, epsilon=1, first=6, public_contexts=PLACES),
]
BOB = 66
"""His round: its block is open as the session is closed."""


def played(policy: Any, options: Any, seed: int, records: list[Any], noise: Noise) -> Iterator[Any]:
    """Ann comes in round 7, and where people come back in others. records: what she answers, and
    what Bob does. None: nothing.
    """
    rng, waiting = np.random.default_rng(seed), list[Any]()
    now, times = [0.0], {"period", "attribution_window"} & options.keys()
    timed: Any = {"clock": lambda: now[0]} if times else {}
    s = dpb.Session(policy, noise=noise, seed=seed, **options, **timed)
    people = "privacy_unit" in options
    changes = [s.drop_open, lambda: s.pause_arm(1), lambda: s.resume_arm(1), s.add_arm, s.settle]

    def tell() -> None:
        decision, value = waiting.pop(int(rng.integers(len(waiting))))
        if decision in s.pending and decision.id % 9 == 7:
            s.void(decision)
        if value is None or decision not in s.pending:
            return
        reward = value if s.rewards is None else 3 * value
        several = [reward] * len(decision.observe or ())
        s.tell(decision, several or (reward if s.guardrail is None else (reward, value / 3)))

    for number in range(70):
        now[0] += 1.0
        mine = number == 7 or (people and number != BOB and rng.random() < 0.1)
        how: dict[str, Any] = {"user": "ann" if mine else str(number)} if people else {}
        if hasattr(policy, "features"):
            how["context"] = PLACES[number]
        decision = s.ask(**how)
        other = records[1] if number == BOB else float(rng.random() < 0.5)
        waiting.append((decision, records[0] if mine else other))
        if len(waiting) > 6:
            tell()
        if number % 17 == 16 and (policy.chooses or number < 20):
            changes[number // 17]()
        yield decision
    while len(waiting) > 2:
        tell()
    yield s.statement(), as_plain(public_part(s, s._state, 1))
    s.close("enough")
    while waiting:
        tell()
    now[0] += 1e3
    s.settle()
    yield s.statement(), s.ledger, s.events, list(s.decisions()), s.state
    yield "" if hasattr(policy, "features") else str(s.beliefs())


PAIRS = [*combinations(OPTIONS, 2)]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_two_options_together_cost_what_is_printed(pair: tuple[str, str]) -> None:
    options, seed, worst = OPTIONS[pair[0]] | OPTIONS[pair[1]], PAIRS.index(pair), 0
    if "privacy_unit" in options:
        options = options | {"max_contributions": 2 - seed % 2}
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
            return list(played(policy, options, seed, records, noise))

        found = largest_loss(play, [1.0, 1.0], others, power=power, most=9)
        assert found <= price.cost
        worst = max(worst, found / price.cost)
    assert worst == 1, "no run reads what was replaced"
