"""What a reasonable person tries and cannot have: every refusal says what was expected, what came
and what to write instead. The calls are in refused.txt.
"""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits import mechanisms
from dpbandits.checks import check_policy
from dpbandits.local.budget import MemoryBudget
from dpbandits.mechanisms.rewards import checked_reward, checked_rewards, scaled_value
from dpbandits.oracles import problem_from_data

POLICY, COINS = dpb.DPKLUCB(arms=2, epsilon=1), dpb.Bernoulli([0.5, 0.4])
RULE = dpb.DPNAS(alpha=0.5, beta=0.1, cap=1000, epsilon=1)
RUNS = dpb.simulate(POLICY, COINS, 10, runs=3, compiled=False)


def audited(**arguments: Any) -> dpb.AuditReport:
    return dpb.audit("AnytimeLazyUCB", **{"levels": ["transcript"], "budget": 1} | arguments)


NAMES = {
    "dpb": dpb,
    "mechanisms": mechanisms,
    "MemoryBudget": MemoryBudget,
    "check_policy": check_policy,
    "checked_reward": checked_reward,
    "checked_rewards": checked_rewards,
    "scaled_value": scaled_value,
    "problem_from_data": problem_from_data,
    "audited": audited,
    "POLICY": POLICY,
    "COINS": COINS,
    "RULE": RULE,
    "RUNS": RUNS,
    "UNIFORM": dpb.UniformMatroid(arms=4, rank=2),
    "SETS": dpb.ExplicitSet([(0, 1), (0, 2), (0, 3), (4, 5)]),
    "CHANGING": dpb.ChangingMeans([[0.2, 0.4]], [0], 50),
    "ROWS": np.full((50, 3), 0.5),
    "VISITORS": dpb.ContextTable(np.full((50, 3), 0.5), np.full((50, 2), 0.5)),
    "oracle": lambda weights: (0,),
    "np": np,
    "Decimal": Decimal,
    "NAN": math.nan,
    "INF": math.inf,
    "HUGE": 10**5000,
}
ERRORS = {"TypeError": TypeError, "RewardError": dpb.RewardError}
REFUSED = dict(
    line.split(" => ")
    for line in Path(__file__).with_name("refused.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)


@pytest.mark.parametrize("call", REFUSED)
def test_a_refusal_says_what_to_write(call: str) -> None:
    kind, _, words = REFUSED[call].rpartition("Error: ")
    error = ERRORS[f"{kind}Error"] if kind else ValueError
    with pytest.raises(error, match=words) as caught:
        eval(call, NAMES)
    assert len(str(caught.value)) < 500, "short enough to be read"


def test_a_reward_is_not_shown() -> None:
    for call in (
        lambda: dpb.Table([["0.7314"]]),
        lambda: dpb.LoggedReplay([0], ["0.7314"], arms=1),
        lambda: dpb.Table([[0.5], [7.314]]),
        lambda: dpb.LoggedReplay([0], [7.314], arms=1),
        lambda: checked_reward(7.314),
    ):
        with pytest.raises(ValueError, match="Expected") as caught:
            call()
        assert "7314" not in str(caught.value)
        assert "7.314" not in str(caught.value)


WHOLE: dict[str, Callable[[Any], object]] = {
    "arms": lambda n: dpb.UCB1(arms=n).arms,
    "actions": lambda n: dpb.NaiveFTNL(actions=n, epsilon=1).actions,
    "grid": lambda n: dpb.UCB1(arms=2, grid=n).grid,
    "private grid": lambda n: dpb.DPSE(arms=2, epsilon=1, grid=n).grid,
    "steps": lambda n: dpb.Grid(steps=n).steps,
    "horizon": lambda n: dpb.DPUCB(arms=2, epsilon=1, horizon=n).horizon,
    "first": lambda n: dpb.DPKLUCB(arms=2, epsilon=1, first=n).first,
    "first of AdaPTT": lambda n: dpb.AdaPTT(arms=2, epsilon=1, first=n).first,
    "cap": lambda n: dpb.NAS(alpha=0.1, beta=0.1, cap=n).cap,
    "rounds": lambda n: dpb.simulate(POLICY, COINS, n, compiled=False).rounds,
    "runs": lambda n: len(dpb.simulate(POLICY, COINS, 10, runs=n, compiled=False).plays),
    "seed": lambda n: dpb.simulate(POLICY, COINS, 10, seed=n, compiled=False).seed,
    "cap of identify": lambda n: (
        dpb.identify(dpb.DPSE(arms=2, epsilon=1, beta=0.1), COINS, cap=n).cap
    ),
    "arms of a problem": lambda n: dpb.TopK(arms=n, k=1).arms,
}


@pytest.mark.parametrize("case", WHOLE)
def test_whole_numbers_of_any_kind_are_taken_and_kept_plain(case: str) -> None:
    for kind in (np.int64, np.int32, np.uint8, np.array):
        found = WHOLE[case](kind(7))  # type: ignore[operator]
        assert found == 7
        assert type(found) is int


def test_numbers_of_any_kind_are_taken_and_kept_plain() -> None:
    for given in (np.float32(2), np.float64(2), Fraction(2), np.int64(2)):
        kept = dpb.DPKLUCB(arms=2, epsilon=1, alpha=given).alpha
        assert kept == 2
        assert type(kept) in (int, float)
    assert dpb.DPKLUCB(arms=2, epsilon=np.float64(0.1)).epsilon == Fraction(1, 10)
