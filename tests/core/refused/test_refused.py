"""What a reasonable person tries and cannot have: every refusal says what was expected, what came
and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms.rewards import checked_reward
from tests.core.refused.audits import AUDITS
from tests.core.refused.numbers import NUMBERS
from tests.core.refused.parts import COINS, POLICY, audited
from tests.core.refused.worlds import WORLDS

REFUSED = NUMBERS | WORLDS | AUDITS


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_says_what_to_write(case: str) -> None:
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words) as caught:
        call()
    assert len(str(caught.value)) < 500, "short enough to be read"


def test_a_reward_is_not_shown() -> None:
    for call in (
        lambda: dpb.Table([["0.7314"]]),
        lambda: dpb.LoggedReplay([0], ["0.7314"], arms=1),
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
    "rounds": lambda n: dpb.simulate(POLICY, COINS, n).rounds,
    "runs": lambda n: len(dpb.simulate(POLICY, COINS, 10, runs=n).plays),
    "seed": lambda n: dpb.simulate(POLICY, COINS, 10, seed=n).seed,
    "cap of identify": lambda n: (
        dpb.identify(dpb.SuccessiveElimination(arms=2, beta=0.1), COINS, cap=n).cap
    ),
    "arms of a problem": lambda n: dpb.TopK(arms=n, k=1).arms,
}


@pytest.mark.parametrize("case", WHOLE)
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, lambda n: np.array(n)])
def test_whole_numbers_of_any_kind_are_taken_and_kept_plain(
    case: str, kind: Callable[[int], Any]
) -> None:
    found = WHOLE[case](kind(7))
    assert found == 7
    assert type(found) is int


def test_numbers_of_any_kind_are_taken_and_kept_plain() -> None:
    from fractions import Fraction

    for given in (np.float32(2), np.float64(2), Fraction(2), np.int64(2)):
        kept = dpb.DPKLUCB(arms=2, epsilon=1, alpha=given).alpha
        assert kept == 2
        assert type(kept) in (int, float)
    assert dpb.DPKLUCB(arms=2, epsilon=np.float64(0.1)).epsilon == Fraction(1, 10)


def test_an_audit_takes_numpy_numbers() -> None:
    """How far it comes in a budget is the machine's affair, so only a number of runs is judged."""
    given = {"arms": np.int64(2), "seed": np.int64(1), "rounds": np.int32(4)}
    assert audited(**given, runs=np.int64(60), workers=np.int64(1)).passed
    assert [level.level for level in audited(**given, budget=np.float64(1)).levels] == [
        "transcript"
    ]


def test_a_bound_at_one_round_is_a_number() -> None:
    assert dpb.upper_bound(dpb.HybridUCB(arms=2, epsilon=1), COINS, 1) >= 0
