"""The promise with every two options together, to the end of a session that is closed: all rewards
of one person move what is public by no more than is printed; where answers are waited for, so does
whether there is any.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.noise.protocol import Noise
from tests.session.replay import largest_loss
from tests.session.small import document, reward_of

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
    dpb.RNMFTNL(actions=3, epsilon=1),
    dpb.DPLinTS(arms=3, features=2, epsilon=1, first=6, public_contexts=PLACES),
]
BOB = 66
"""His round: its block is open as the session is closed."""


def seen(s: dpb.Session) -> Any:
    """All that is public."""
    table = list(s.decisions()), s.sample_ratio(), s.pending, s.unread
    return document(s)["public"], repr(s), s.statement(), s.events, s.alarms, s.ledger, *table


def played(policy: Any, options: Any, seed: int, records: list[Any], noise: Noise) -> Iterator[Any]:
    """Ann comes in round 7, and where people come back in others. records: what she answers, and
    what Bob does; None: nothing; "expires": somebody says so. Other answers follow, which do not
    count.
    """
    rng, waiting = np.random.default_rng(seed), list[Any]()
    now, times = [0.0], {"period", "attribution_window"} & options.keys()
    timed: Any = {"clock": lambda: now[0]} if times else {}
    s = dpb.Session(policy, noise=noise, seed=seed, **options, **timed)
    people = "privacy_unit" in options
    changes = [s.drop_open, lambda: s.pause_arm(1), lambda: s.resume_arm(1), s.add_arm, s.settle]

    def tell() -> None:
        now[0] += 0.5  # more may be due by then
        decision, value = waiting.pop(int(rng.integers(len(waiting))))
        with suppress(dpb.DecisionError):  # its time may have passed
            if decision.id % 9 == 7:
                s.void(decision)
            elif value == "expires":
                s.expire(decision)
            for each in (value, 0.5) if isinstance(value, float) else ():
                reward = each if s.rewards is None else 3 * each
                is_harm = s.guardrail is not None
                s.tell(decision, (reward, each / 3) if is_harm else reward_of(s, decision, reward))

    for number in range(70):
        now[0] += 0.5
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
        if number % 23 == 22:
            yield seen(s)
    while len(waiting) > 2:
        tell()
    yield seen(s)
    s.close("enough")
    while waiting:
        tell()
    now[0] += 1e3
    s.settle()
    yield seen(s), s.state
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
        others = [0.0]
        if "attribution_window" in options:
            others += [None, "expires"]  # type: ignore[list-item]

        def play(records: list[Any], noise: Noise, policy: Any = policy) -> Any:
            return list(played(policy, options, seed, records, noise))

        found = largest_loss(play, [1.0, 1.0], others, most=9)
        assert found <= price.cost
        worst = max(worst, found / price.cost)
    assert worst == 1, "no run reads what was replaced"
