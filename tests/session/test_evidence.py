"""Evidence that one arm is above another: its law, and the names that it gives."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from benchmarks.naming import DELTA, PERIODS, Setting, foreseen, outcome, winner, wrong
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

import dpbandits as dpb
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.session.beliefs import ReleaseHistory, best_compared
from dpbandits.session.evidence import Compared, PairEvidence, ReleasedRow, required
from dpbandits.session.naming import likeliest, mean_curve
from tests.session.small import begun, loaded, play, play_by_chance

MOST = 1e-6
"""The false alarm of a test on counts."""

LAWS = {
    "laplace": AnswerLaw("laplace", 1.0),
    "little noise": AnswerLaw("laplace", 20.0),
    "gaussian": AnswerLaw("gaussian", 0.5),
    "none": AnswerLaw("none"),
}


def expected(
    law: AnswerLaw, mean: float, rounds: int, draws: int, leads: bool, blind: bool = False
) -> float:
    """The mean of an arm's evidence at its own mean, over rewards and noise, by quadrature."""
    pairs = PairEvidence(law, 0.0)
    if blind:  # to the noise
        pairs._noise = dict.fromkeys((True, False), SimpleNamespace(of=lambda draws: 0.0))  # type: ignore[arg-type]
    scale = 1.0 / law.cost if law.family == "laplace" else 1.0
    reach = scale * np.linspace(-40.0, 40.0, 801) if law.family != "none" else np.zeros(1)
    density = np.ones(1)
    if law.family == "laplace":
        density = law.cost / 2.0 * np.exp(-law.cost * np.abs(reach))
    elif law.family == "gaussian":
        density = np.exp(-reach * reach * law.cost) * math.sqrt(law.cost / math.pi)
    density = density / density.sum()
    noise, kinds = density, ((1, draws),) if law.family != "none" else ()
    for _ in range(draws - 1 if kinds else 0):
        noise = np.convolve(noise, density, mode="same")
    found = 0.0
    for total in range(rounds + 1):
        values = [
            float(
                pairs._evidence(
                    ReleasedRow(1, total + z, rounds, kinds), np.array([mean]), leads=leads
                )[0]
            )
            for z in reach
        ]
        found += float(binom.pmf(total, rounds, mean) * (noise * np.exp(values)).sum())
    return found


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("leads", [True, False])
def test_evidence_at_the_true_mean_is_one_in_the_mean(name: str, leads: bool) -> None:
    """Exactly, for rewards of 0 and 1: it is a martingale. Forgetting the noise breaks it."""
    for mean, rounds, draws in ((0.3, 6, 1), (0.8, 4, 2)):
        assert expected(LAWS[name], mean, rounds, draws, leads) == pytest.approx(1.0, abs=0.005)
    if name == "laplace":
        blind = expected(LAWS[name], 0.3, 6, 4, leads, blind=True)
        assert blind > 1.05


rows = st.builds(
    lambda share, rounds, noise, draws: ReleasedRow(
        1, share * rounds + noise, rounds, ((1, draws),)
    ),
    st.floats(0, 1),
    st.integers(1, 5_000),
    st.floats(-20, 20),
    st.integers(1, 12),
)


@settings(max_examples=60, deadline=None)
@given(rows, rows, st.sampled_from([0.0, 0.01]), st.floats(0, 1))
def test_what_is_computed_is_below_the_product_at_every_mean(
    leads: ReleasedRow, trails: ReleasedRow, rounding: float, mean: float
) -> None:
    pairs = PairEvidence(LAWS["laplace"], rounding)
    over = pairs._evidence(leads, np.array([min(1.0, mean + rounding)]), leads=True)
    under = pairs._evidence(trails, np.array([max(0.0, mean - rounding)]), leads=False)
    assert pairs.above(leads, trails) <= float(over[0] + under[0]) + 1e-6


def test_whom_evidence_names_is_compared() -> None:
    """It is computed for arms only whose means are some way apart."""
    history, shares = ReleaseHistory.of(dpb.DPRateIMED(arms=2, epsilon=1)), (0.001, 0.01, 0.1, 0.5)
    for people, more, less in product((50, 500, 5_000, 50_000), shares, shares):
        leads, trails = (ReleasedRow(1, of * people, people, ((1, 3),)) for of in (more, less))
        above = history.reader.pairs.above(leads, trails)
        assert above < required(0, 2, DELTA) or history._may_be_apart(leads, trails)


def test_shares_of_the_failure_probability_add_up() -> None:
    for first in (2, 5):
        total = 0.0
        for arm in range(500):
            rivals = arm + 1 if arm >= first else 1  # an added one may be chosen by what was seen
            total += rivals * sum(math.exp(-required(arm, first, DELTA, out)) for out in range(500))
        assert 0.999 * DELTA < total <= DELTA


def test_arms_that_are_taken_out_give_no_second_tries() -> None:
    """A wrong name is above the first arm that is no worse, or, by more, above the next."""
    history = ReleaseHistory.of(dpb.DPRateIMED(arms=4, epsilon=1))
    least = [required(0, 4, DELTA, out) for out in range(4)]
    sets = [each for many in (1, 2, 3) for each in combinations((1, 2, 3), many)]
    for known in product([0.0, *(each + 0.1 for each in least)], repeat=3):
        pairs = {(0, other): Compared(each, 1) for other, each in enumerate(known, 1)}
        now = replace(history, compared=pairs)
        named = [each for each in sets if best_compared(now, (0, *each), DELTA) == 0]
        for in_play, no_worse in product(named, sets):
            tries = [known[other - 1] >= more for other, more in zip(no_worse, least, strict=False)]
            assert any(tries) or not {*in_play} & {*no_worse}


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(Setting((0.3, 0.3), 600, delay=100), marks=pytest.mark.long),
        PERIODS[10]._replace(people=3_000),
        pytest.param(Setting((0.4, 0.4, 0.1), 4_000), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_wrong_names_are_rare(setting: Setting) -> None:
    """More than allowed has a chance of 10⁻⁶ at most, were δ what it says."""
    runs = 200 if setting.in_blocks else 60
    found = [outcome(setting, seed) for seed in range(runs)]
    many = sum(each.named is not None and wrong(setting, each.named[0]) for each in found)
    assert binom.sf(many - 1, runs, DELTA) > MOST


def test_the_best_arm_is_named_where_intervals_name_nobody() -> None:
    setting = Setting((0.2, 0.5))
    found = [outcome(setting, seed) for seed in range(40)]
    assert sum(each.named is not None for each in found) >= 16
    assert sum(each.named is not None and each.named[0] == 1 for each in found) >= 15
    assert sum(each.apart is not None for each in found) < 16


def test_a_policy_that_is_to_name_a_winner_does_so_by_itself() -> None:
    found = [winner(Setting((0.2, 0.5), 3_000), seed) for seed in range(20)]
    assert sum(each is not None and each[0] == 1 for each in found) >= 18


# In sessions


def named_session() -> Any:
    """A session that names its second arm."""
    rng = np.random.default_rng(1)
    policy = dpb.DPRateIMED(arms=["a", "b"], epsilon=1)
    s = begun(policy, min_share=0.1)
    while s.releases % 5 or s.beliefs().best is None:
        decision = s.ask()
        s.tell(decision, float(rng.random() < (0.2, 0.8)[decision.action]))
        assert s._current.asked < 5_000
    return s


def test_a_name_stays_until_a_compared_arm_has_changed() -> None:
    s = named_session()
    assert s.beliefs().best == "b"
    assert "stays the same" in s.beliefs().advice
    for _ in range(300):  # its estimate gets worse, and the evidence of before stands
        decision = s.ask()
        s.tell(decision, 0.55 if decision.label == "b" else 0.2)
    assert s.beliefs().best == "b"
    assert loaded(s).beliefs().best == "b"
    while s.releases % 5 or not s.beliefs().changed:
        decision = s.ask()
        s.tell(decision, 0.0)
        assert s._current.asked < 20_000
    assert s.beliefs().best is None


# How many more people it takes to name the best arm


MEANS = {"blue": 0.2, "green": 0.5}


@given(st.lists(st.integers(1, 10**6) | st.just(math.inf), min_size=1, max_size=30))
def test_the_middle_is_near_as_many_futures_as_can_be(counts: list[float]) -> None:
    counts = sorted(counts)
    middle = likeliest(counts)
    assert (middle == math.inf) == math.isinf(counts[len(counts) // 2])
    if middle != math.inf:
        finite = [each for each in counts if each < math.inf]
        near = [sum(low <= each <= 4 * low for each in finite) for low in finite]
        found = sum(
            each <= 2 * middle * (1 + 1e-9) and middle * (1 - 1e-9) <= 2 * each for each in counts
        )
        assert found == max(near)


def test_sums_of_reports_are_foreseen_between_their_means() -> None:
    s = begun(dpb.LDPKLUCB(arms=2, epsilon=1))
    play(s, 300, 1.0)
    zero, one = s._state.history.reader.ends
    _, means = mean_curve(s._state.history, 0)
    assert 0 < zero <= means.min() < means.max() <= one < 1


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
    """Of 60 campaigns: fewer would have a probability below 10⁻⁶ if it holds in .8 of the cases."""
    runs = [foreseen(setting, seed, [moment]) for seed in range(60)]
    found = [run[moment] for run in runs if moment in run]
    known = [one.held for one in found if one.held is not None]
    assert len(known) > 30
    assert sum(known) >= binom.ppf(1e-6, len(known), 0.8)
    assert sum(one.sight.high is not None for one in found) > len(found) / 4


def test_people_who_have_come_since_the_last_release_do_not_come_again() -> None:
    policy, rng = dpb.DPKLUCB(arms=["blue", "green"], epsilon=1), np.random.default_rng(1)
    s = begun(policy, min_share=0.2)
    while s.releases < 6:
        play_by_chance(s, 1, MEANS, rng)
    before = s._sight(0.05, None)
    play_by_chance(s, 20, MEANS, rng)
    assert s.releases == 6
    assert s._sight(0.05, None) == tuple(each - 20 for each in before)
    s.pause_arm("blue")
    assert s._sight(0.05, None) is None


def test_least_shares_are_looked_at_where_a_range_has_no_end() -> None:
    policy = dpb.recommend(arms=["blue", "green"], epsilon=1)
    s = begun(policy, noise=dpb.SimulatedNoise(3), seed=3)
    play_by_chance(s, 500, MEANS, np.random.default_rng(3))
    found = s.beliefs()
    assert found.sight is None or found.sight.high is None
    assert found.at_share is not None
    assert "As people are allocated, it takes" in found.advice
    assert (
        f"min_share=0.05, which has to be given at its start, it takes {found.at_share.words}."
        in found.advice
    )
    assert found.at_share.low < 5_000


def test_the_least_share_of_a_single_arm_is_foreseen() -> None:
    """Of 49 ranges 1 held: they were of a trial in which the control arm had no share."""
    policy = dpb.recommend(arms=["blue", "green"], epsilon=1)
    s = begun(policy, min_share={"blue": 0.3})
    play_by_chance(s, 100, MEANS, np.random.default_rng(1))
    found = s.beliefs()
    assert found.best is None
    assert found.sight.high < 1_500


def test_of_a_policy_that_names_by_itself() -> None:
    s = begun(dpb.recommend(arms=["blue", "green"], epsilon=1, goal="winner"))
    play_by_chance(s, 150, MEANS, np.random.default_rng(1))
    found = s.beliefs()
    assert found.best is None
    assert found.sight.low < 3_000
    assert s.beliefs(0.99999).sight.low > found.sight.low, "surer than it is by itself"
