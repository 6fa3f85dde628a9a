"""A forecast: exact runs, the user's units, and what can be checked by hand."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.forecasting.outcome import EQUAL, EachRate, Forecast, drawn_means, rates_given

RATES, VISITORS = [0.5, 0.4, 0.3], 3000


@cache
def small() -> Forecast:
    return dpb.forecast(RATES, VISITORS, [1, "1/2"], policies=["DPKLUCB", dpb.AdaPUCB], draws=30)


def test_it_agrees_with_simulate() -> None:
    """The same seeds play the same runs; privacy costs the difference to the twin."""
    lost, equal = {}, small().row(EQUAL)
    for row in small().rows[:-1]:
        cls: Any = getattr(dpb, row.policy)
        budget = {} if row.epsilon is None else {"epsilon": row.epsilon}
        policy = cls(arms=3, **budget)
        regret = dpb.simulate(policy, dpb.Bernoulli(RATES), VISITORS, runs=30, seed=0).regret()
        lost[row.policy, row.epsilon] = regret
        assert row.loss == pytest.approx(regret.mean(), rel=1e-12)
        assert row.worst == pytest.approx(regret.max(), rel=1e-12)
        assert row.error == pytest.approx(regret.std(ddof=1) / 30**0.5, rel=1e-9)
        assert row.saved == pytest.approx(equal.loss - row.loss)
        assert row.saved_error == pytest.approx(row.error), "equal shares lose a constant"
    for epsilon in (0.5, 1.0):
        cost, row = lost["DPKLUCB", epsilon] - lost["KLUCB", None], small().row("DPKLUCB", epsilon)
        assert row.privacy == pytest.approx(cost.mean(), rel=1e-9)
        assert row.privacy_error == pytest.approx(cost.std(ddof=1) / 30**0.5, rel=1e-9)
    plain = small().row("KLUCB")
    assert plain.privacy is plain.privacy_error is None


def test_a_draw_of_a_prior_is_a_run_of_simulate() -> None:
    prior = dpb.Prior(base=0.3, best=0.5, arms=3)
    found = dpb.forecast(prior, 500, 1, draws=12, seed=5)
    means = drawn_means(prior, dpb.Range(0, 1), 12, 5)
    policy = dpb.DPRateIMED(arms=3, epsilon=1)
    losses = [
        dpb.simulate(policy, dpb.Bernoulli(row), 500, seed=5, first=draw).regret()[0]
        for draw, row in enumerate(means)
    ]
    assert found.row("DPRateIMED", 1.0).loss == pytest.approx(np.mean(losses), rel=1e-12)


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
    assert small().to_polars().shape == (len(small()), 15)
    with pytest.raises(KeyError, match=r"Nothing was forecast .*, but of .'DPKLUCB', 0.5"):
        small().row("DPKLUCB", 7.0)


def test_units_are_the_users() -> None:
    """Revenues up to 200 are rates of conversion, scaled; costs are turned round."""
    unit = small().row("DPKLUCB", 1.0)
    for ruler, rates in (
        (dpb.Range(0, 200), [100, 80, 60]),
        (dpb.Range(0, 200, minimise=True), [100, 120, 140]),
    ):
        asked: dict[str, Any] = {"rewards": ruler, "units": "euros", "policies": "DPKLUCB"}
        found = dpb.forecast(rates, VISITORS, 1, draws=30, **asked)
        assert found.row("DPKLUCB", 1.0).loss == pytest.approx(200 * unit.loss)
        assert "euros" in found.title
    assert small().units == "conversions"
    assert dpb.forecast([5, 4], 9, 1, draws=2, rewards=dpb.Range(0, 10)).units == "units of reward"


def test_a_spread_is_played_and_said() -> None:
    """By `simulate` with a law of this mean and spread; what no reward can have is refused."""
    asked: dict[str, Any] = {"rewards": dpb.Range(0, 10), "draws": 4, "policies": "DPKLUCB"}
    found = dpb.forecast([6, 4], 500, 1, sd=[2, 1], **asked)
    law = dpb.Categorical([0.3, 0.4, 0.5, 0.8], [[0, 0.5, 0, 0.5], [0.5, 0, 0.5, 0]])
    runs = dpb.simulate(dpb.DPKLUCB(arms=2, epsilon=1), law, 500, runs=40, seed=0)
    loss, regret = found.row("DPKLUCB", 1.0).loss / 10, runs.regret()
    assert abs(loss - regret.mean()) < 5 * regret.std() * (1 / 4 + 1 / 40) ** 0.5
    assert "rewards: single ones have the standard deviation [2, 1]" in str(found)
    half = dpb.forecast([6, 4], 100, 1, sd=np.array([0.5, 1]), **asked)
    assert "the standard deviation [0.5, 1.0]" in str(half)
    assert "each is played as 0 or 10" in str(dpb.forecast([6, 4], 100, 1, **asked))
    assert "rewards:" not in str(dpb.forecast([0.6, 0.4], 100, 1, draws=2))
    for wrong in (-1, "2", [1], [1, 2, 3], float("nan"), 5.1):
        with pytest.raises(ValueError, match="sd="):
            dpb.forecast([6, 4], 500, 1, sd=wrong, **asked)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="sd="):
        dpb.forecast(dpb.Prior(base=4, best=0.5), 500, 1, sd=[1, 2], **asked)
    with pytest.raises(ValueError, match="sd="):
        dpb.forecast([6, 4], 500, 1, sd=1, features=3, rewards=dpb.Range(0, 10))


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
    assert many.row(EQUAL).named is not None
    named = many.row("DPRateIMED", 1.0).named
    assert named is None or named > (many.row(EQUAL).named or 0)


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


def test_late_answers_are_those_of_simulate() -> None:
    found = dpb.forecast([0.6, 0.4], 300, 1, delay=50, draws=4, seed=2)
    policy, environment = dpb.DPRateIMED(arms=2, epsilon=1), dpb.Bernoulli([0.6, 0.4])
    runs = dpb.simulate(policy, environment, 300, runs=4, seed=2, delay=50)
    assert found.row("DPRateIMED", 1.0).loss == pytest.approx(float(runs.regret().mean()))
    drawn = dpb.forecast([0.6, (0.4, 0.4)], 300, 1, delay=50, draws=4, seed=2)
    assert drawn.row("DPRateIMED", 1.0).loss == pytest.approx(found.row("DPRateIMED", 1.0).loss)


def test_with_late_answers_a_name_is_that_of_sessions() -> None:
    """Intervals at expected totals were apart in each draw, where few sessions name anybody."""
    late = dpb.forecast([0.1, 0.6], 400, 1, delay=80, draws=10).row("DPRateIMED", 1)
    assert late.chance_named is not None
    assert 0 < late.chance_named < 1


def test_with_late_answers_fewer_draws_are_played_and_each_is_told() -> None:
    """Two hundred draws of what is played round by round had not ended after ten minutes."""
    told = list[tuple[int, int]]()
    found = dpb.forecast([0.6, 0.4], 60, 1, delay=5, progress=lambda *now: told.append(now))
    assert found.draws == 40
    assert told == [(done, 120) for done in range(121)]
    assert dpb.forecast([0.6, 0.4], 60, 1).draws == 200
