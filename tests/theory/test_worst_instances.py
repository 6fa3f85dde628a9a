"""What every private policy loses on some instance: no policy loses less, and the number is what
the page says.
"""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpbandits.theory import minimax_lower_bound, private_floor

BUDGETS = (1e-4, 0.01, 0.1, 1.0, 5.0)


@pytest.mark.parametrize("eps", BUDGETS)
def test_floor_is_the_root_and_above_its_closed_form(eps: float) -> None:
    for arms in (2, 5, 20):
        for rounds in (1, 10, 1000, 10**5, 10**8):
            found = private_floor(arms, rounds, eps)
            n = 2 * found / (arms - 1)
            assert (arms - 1) * n == pytest.approx((rounds - n) * math.exp(-eps * n))
            assert found <= (1 - 1 / arms) * rounds / 2  # what uniform play loses there
            x = eps * rounds / (arms - 1)
            if x >= math.e:
                closed = (arms - 1) * (math.log(x) - math.log(math.log(x))) / (2 * eps)
                assert found >= closed * (1 - 1 / arms)


@pytest.mark.parametrize("eps", BUDGETS)
@pytest.mark.parametrize("rounds", [10, 1000, 10**5])
def test_exploring_first_loses_as_much_on_one_of_two_instances(eps: float, rounds: int) -> None:
    """Both arms n times, then one for good: epsilon-DP, its regret a finite sum."""
    worst = []
    for n in np.unique(np.geomspace(1, rounds // 2, 60).astype(int)).tolist():
        coins = np.arange(n + 1)
        law, rest = binom.pmf(coins, n, 0.5), rounds - 2 * n
        taken = (law @ expit(eps * lead / 2) for lead in (-coins, coins - n))
        worst.append((n + rest * max(taken)) / 2)
    assert min(worst) >= private_floor(2, rounds, eps) * (1 - 1e-9)


def test_one_arm_loses_nothing_and_privacy_never_lowers_it() -> None:
    assert minimax_lower_bound(1, 1000) == minimax_lower_bound(1, 1000, 0.1) == 0.0
    free = minimax_lower_bound(5, 10**4)
    assert free == pytest.approx(math.sqrt(5 * 10**4) / 20)
    found = [minimax_lower_bound(5, 10**4, eps) for eps in BUDGETS]
    assert found == sorted(found, reverse=True)
    assert found[0] > free == found[-1]


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "1", True, [1], 10**400])
def test_budgets_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="Expected epsilon="):
        minimax_lower_bound(3, 100, wrong)
