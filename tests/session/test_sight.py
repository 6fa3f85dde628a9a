"""How many more people it takes to name the best arm, as a range: how often it holds, and when
nothing is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.naming import Foreseen, Setting, foreseen
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.noise import SimulatedNoise
from dpbandits.session.beliefs import Sight

NAMES = ["blue", "green"]
MEANS = {"blue": 0.2, "green": 0.5, "red": 0.1}


def played(people: int, policy: Any = None, seed: int = 1, **options: Any) -> Any:
    policy = policy or dpb.recommend(arms=NAMES, epsilon=1)
    s = dpb.Session(policy, noise=SimulatedNoise(seed), seed=seed, **options)
    play(s, people, seed)
    return s


def play(s: Any, people: int, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(people):
        decision = s.ask()
        s.tell(decision, float(rng.random() < MEANS[decision.label]))


@pytest.mark.long
@pytest.mark.parametrize(
    ("setting", "moment"),
    [
        (Setting((0.2, 0.5), 40_000), 1_000),
        (Setting((0.2, 0.35, 0.1), 80_000), 4_000),
        (Setting((0.2, 0.5), 6_000, min_share=0.05), 200),
    ],
    ids=str,
)
def test_the_range_holds_in_eight_of_ten_cases(setting: Setting, moment: int) -> None:
    """Of 60 campaigns, those that had named nobody by then: fewer than this have a probability
    below 10⁻⁶ if the range holds in .8 of the cases.
    """
    runs = [foreseen(setting, seed, [moment]) for seed in range(60)]
    found = [run[moment] for run in runs if moment in run]
    known = [one.held for one in found if one.held is not None]
    assert len(known) > 30
    assert sum(known) >= binom.ppf(1e-6, len(known), 0.8)
    assert sum(one.sight.high is not None for one in found) > len(found) / 4


def test_whether_a_range_held() -> None:
    one = Foreseen(Sight(100, 200, 400), 150, 900)
    assert (one.held, one.is_near) == (True, True)
    assert one._replace(took=99).held is False
    assert one._replace(took=401).is_near is False
    assert one._replace(took=None).held is False  # 900 people were not enough
    assert one._replace(took=None, left=300).held is None
    assert one._replace(took=None, sight=Sight(100, None, None)).held is True


def test_least_shares_are_looked_at_where_a_range_has_no_end() -> None:
    found = played(500, seed=3).beliefs()
    assert found.sight is None or found.sight.high is None
    assert found.at_share is not None
    assert f"With min_share=0.05 it takes {found.at_share.words}." in found.advice
    assert found.at_share.low < 5_000


def test_with_least_shares_the_range_is_of_them() -> None:
    found = played(250, min_share=0.05).beliefs()
    assert found.best is None
    assert found.sight.low < 2_000
    assert found.at_share is None


def test_of_a_policy_that_names_by_itself() -> None:
    policy = dpb.recommend(arms=NAMES, epsilon=1, goal="winner")
    s = played(150, policy)
    found = s.beliefs()
    assert found.best is None
    assert found.sight.low < 3_000
    assert s.beliefs(0.99999).sight.low > found.sight.low, "surer than it is by itself"


def test_it_is_computed_once_for_each_release(monkeypatch: pytest.MonkeyPatch) -> None:
    from dpbandits.session import session as module

    calls, computed = list[int](), module.people_ahead

    def counting(*given: Any) -> Any:
        calls.append(1)
        return computed(*given)

    monkeypatch.setattr(module, "people_ahead", counting)
    s = played(1_600)
    for _ in range(3):
        s.beliefs()
    once = len(calls)
    s.beliefs(0.9)
    assert 1 <= once < len(calls) <= 2 * once + 1
