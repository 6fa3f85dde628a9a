"""A forecast: exact runs, the user's units, and what can be checked by hand."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.forecasting.forecast import world_of
from dpbandits.forecasting.outcome import EQUAL, EachRate, Forecast, drawn_means, rates_given
from dpbandits.forecasting.trials import Lasting, Visitors

RATES, PEOPLE, DRAWS, SEED = [0.5, 0.4, 0.3], 300, 4, 2
PRIOR, SPANS = dpb.Prior(base=0.3, best=0.5, arms=3), [(0.4, 0.6), 0.5, (0.1, 0.2)]
ROWS = np.random.default_rng(1).normal(size=(50, 3)) / 9
GIVEN: Any = {"arms": 3, "epsilon": 1}
TWINS: Any = {dpb.DPRateIMED(**GIVEN): dpb.KLUCB(arms=3), dpb.DPKLUCB(**GIVEN): dpb.KLUCB(arms=3)}
LINEAR: Any = dpb.DPLinTS(**GIVEN, features=3), dpb.LinTS(arms=3, features=3)
KALMAN: Any = dpb.DPKalmanTS(**GIVEN, lasting=60), dpb.KalmanTS(arms=3, lasting=60)
CAPPED = {"noise": dpb.SimulatedNoise(1), "privacy_unit": "user", "max_contributions": 4}
OF_USERS = dpb.Session(dpb.DPRateIMED(arms=3, epsilon=1), **CAPPED).policy


def drawn(prior: Any) -> list[dpb.Bernoulli]:
    return [dpb.Bernoulli(each) for each in drawn_means(prior, dpb.Range(0, 1), DRAWS, SEED)]


COINS = [dpb.Bernoulli(RATES)] * DRAWS
AGREES: dict[str, tuple[dict[str, Any], list[Any], Any]] = {
    "numbers": ({}, COINS, TWINS),
    "a prior": ({"rates": PRIOR}, drawn(PRIOR), TWINS),
    "ranges": ({"rates": SPANS}, drawn(rates_given(SPANS)), TWINS),
    "late": ({"delay": 50}, COINS, TWINS),
    "euros": ({"rates": [100, 80, 60], "rewards": dpb.Range(0, 200)}, COINS, TWINS),
    "costs": (
        {"rates": [100, 120, 140], "rewards": dpb.Range(0, 200, minimise=True)},
        COINS,
        TWINS,
    ),
    "points": (
        {"rates": [5, 4, 3], "rewards": dpb.Range(0, 10), "sd": [2, 1, 0]},
        [world_of(np.array(RATES), np.array([0.2, 0.1, 0.0]))] * DRAWS,
        TWINS,
    ),
    "people who come back": ({"max_contributions": 4}, COINS, {OF_USERS: dpb.KLUCB(arms=3)}),
    "people who come once": ({"max_contributions": 1}, COINS, TWINS),
    "visitors": (
        {"features": ROWS, "spread": 0.7},
        [Visitors.given(ROWS, 0.7, SEED).world(np.array(RATES), SEED, d) for d in range(DRAWS)],
        TWINS | {LINEAR[0]: LINEAR[1]},
    ),
    "for a time": (
        {"lasting": 60},
        [Lasting(60, rates_given(RATES), dpb.Range(), PEOPLE).world(SEED, d) for d in range(DRAWS)],
        dict.fromkeys(TWINS) | {KALMAN[0]: KALMAN[1]},
    ),
}
"""What is given, a world for each draw, and policies with their twins without privacy."""


@pytest.mark.parametrize("case", AGREES)
def test_a_row_is_what_simulations_lose(case: str) -> None:
    """Draw d is run d of `simulate`; privacy costs the difference to the twin."""
    options, worlds, twins = AGREES[case]
    names = [policy.name for policy in twins]
    given: dict[str, Any] = {"rates": RATES, "visitors": PEOPLE, "epsilon": 1, "draws": DRAWS}
    found = dpb.forecast(**{**given, "seed": SEED, "policies": names, **options})
    span = options.get("rewards", dpb.Range()).span

    def lost(policy: Any) -> Any:
        how = {"seed": SEED, "delay": options.get("delay"), "workers": 1}
        runs = [dpb.simulate(policy, w, PEOPLE, first=d, **how) for d, w in enumerate(worlds)]
        return np.array([each.regret()[0] for each in runs]) * span

    def error(each: Any) -> Any:
        return pytest.approx(each.std(ddof=1) / DRAWS**0.5, abs=1e-9)

    best = np.array([float(world.best_until(PEOPLE)) for world in worlds])
    shared = (best - [PEOPLE * world.means.mean() for world in worlds]) * span
    assert found.row(EQUAL).loss == pytest.approx(shared.mean())
    for policy, twin in twins.items():
        row, ours = found.row(policy.name, 1), lost(policy)
        assert row.loss == pytest.approx(ours.mean(), rel=1e-12)
        assert row.worst == pytest.approx(ours.max(), rel=1e-12)
        assert row.error == error(ours)
        assert row.saved == pytest.approx((shared - ours).mean())
        assert row.saved_error == error(shared - ours)
        if twin is None:
            assert row.privacy is row.privacy_error is None
        else:
            cost = ours - lost(twin)
            plain = found.row(twin.name)
            assert plain.loss == pytest.approx((ours - cost).mean(), rel=1e-12)
            assert plain.privacy is plain.privacy_error is None
            assert row.privacy == pytest.approx(cost.mean(), rel=1e-9)
            assert row.privacy_error == error(cost)
    cap = options.get("max_contributions")
    said = f"ε per user of at most {cap} learned rounds (ε/{cap} each)"
    assert (said in found.title) == (cap is not None)


@cache
def small() -> Forecast:
    return dpb.forecast(RATES, 3000, [1, "1/2"], policies=["DPKLUCB", dpb.AdaPUCB], draws=30)


def test_rows_come_in_order() -> None:
    assert [(row.policy, row.epsilon) for row in small()] == [
        ("DPKLUCB", 0.5),
        ("DPKLUCB", 1.0),
        ("AdaPUCB", 0.5),
        ("AdaPUCB", 1.0),
        ("KLUCB", None),
        ("UCB1", None),
        (EQUAL, None),
    ]
    assert small().units == "conversions"
    assert dpb.forecast([5, 4], 9, 1, draws=2, rewards=dpb.Range(0, 10)).units == "units of reward"
    assert small().to_polars().shape == (len(small()), 15)
    with pytest.raises(KeyError, match=r"Nothing was forecast .*, but of .'DPKLUCB', 0.5"):
        small().row("DPKLUCB", 7.0)


def test_a_spread_is_said() -> None:
    asked: dict[str, Any] = {"rewards": dpb.Range(0, 10), "draws": 2, "policies": "DPKLUCB"}
    found = dpb.forecast([6, 4], 100, 1, sd=[2, 1], **asked)
    assert "rewards: single ones have the standard deviation [2, 1]" in str(found)
    half = dpb.forecast([6, 4], 100, 1, sd=np.array([0.5, 1]), **asked)
    assert "the standard deviation [0.5, 1.0]" in str(half)
    assert "each is played as 0 or 10" in str(dpb.forecast([6, 4], 100, 1, **asked))
    assert "rewards:" not in str(dpb.forecast([0.6, 0.4], 100, 1, draws=2))


def test_the_epsilon_that_can_be_afforded() -> None:
    half, one = small().row("DPKLUCB", "1/2"), small().row("DPKLUCB", 1.0)
    assert one.loss < half.loss
    assert small().within(half.loss, "DPKLUCB") == half
    assert small().within((half.loss + one.loss) / 2, "DPKLUCB") == one
    assert small().within(one.loss / 1000) is None
    assert half.privacy is not None
    assert small().within(half.privacy, "DPKLUCB", of="privacy") == half
    with pytest.raises(ValueError, match="loss="):
        small().within("much")  # type: ignore[arg-type]


def test_more_visitors_name_the_best_arm() -> None:
    few = dpb.forecast([0.6, 0.3], 300, 1, draws=10)
    many = dpb.forecast([0.6, 0.3], 20_000, 1, draws=10)
    assert few.row("DPRateIMED", 1.0).named is None
    assert 0 < (many.row(EQUAL).named or 0) < (many.row("DPRateIMED", 1.0).named or 10**9)


def test_progress_is_told_up_to_the_end() -> None:
    told: list[tuple[int, int]] = []
    dpb.forecast([0.5, (0.3, 0.4)], 100, 1, draws=25, progress=lambda *now: told.append(now))
    assert told[-1] == (75, 75), "two policies; and when the private one names a winner"
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_a_prior_holds_what_it_says() -> None:
    prior, rng = dpb.Prior(base=0.03, best=0.2, arms=5), np.random.default_rng(1)
    first = set()
    for _ in range(200):
        rates = prior.draw(rng)
        assert rates.shape == (5,)
        assert rates.min() == 0.03
        assert rates.max() == pytest.approx(0.036)
        first.add(int(rates.argmax()))
    assert first == set(range(5)), "arms come in a random order"
    spans = rates_given([(0.1, 0.2), 0.3])
    assert isinstance(spans, EachRate)
    drawn = drawn_means(spans, dpb.Range(0, 1), 50, 0)
    assert ((drawn[:, 0] >= 0.1) & (drawn[:, 0] <= 0.2)).all()
    assert (drawn[:, 1] == 0.3).all()
    assert (drawn_means(spans, dpb.Range(0, 1), 20, 0) == drawn[:20]).all()


def test_with_late_answers_a_name_is_that_of_sessions() -> None:
    """Intervals at expected totals were apart in each draw, where few sessions name anybody."""
    late = dpb.forecast([0.1, 0.6], 400, 1, delay=80, draws=10).row("DPRateIMED", 1)
    assert 0 < (late.chance_named or 0) < 1


def test_with_late_answers_fewer_draws_are_played_and_each_is_told() -> None:
    """Two hundred draws of what is played round by round had not ended after ten minutes."""
    told = list[tuple[int, int]]()
    found = dpb.forecast([0.6, 0.4], 60, 1, delay=5, progress=lambda *now: told.append(now))
    assert found.draws == 40
    assert told == [(done, 120) for done in range(121)]
    assert dpb.forecast([0.6, 0.4], 60, 1).draws == 200
