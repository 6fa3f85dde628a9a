"""Who is on which side: shares as declared, a person's side as fixed, and rules that are none."""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction

import pytest
from scipy.stats import binom

from dpbandits.session.holdout import HoldoutRule, RampStep, hashed_place, rule_of, time_of

ALARM = 1e-6
PEOPLE = 20_000
KEY = bytes(range(32))
RAMP = [("2026-12-01", ".1"), ("2026-12-08", 1)]


def test_hashed_people_are_shared_out_as_declared() -> None:
    """20,000 people with holdout=.05 at three dates: six shares, each within exact binomial bounds
    at 10⁻⁶/6 (two-sided).
    """
    rule = rule_of(".05", RAMP, 0)
    places = [hashed_place(f"person {number}", KEY) for number in range(PEOPLE)]
    tail = ALARM / 6 / 2
    for day, share in (("2026-11-30", 0.0), ("2026-12-07", 0.1), ("2026-12-08", 1.0)):
        sides = [rule.side(place, time_of(day)) for place in places]
        expected = {"holdout": 0.05, "policy": 0.95 * share}
        for side, chance in expected.items():
            least, most = binom.ppf(tail, PEOPLE, chance), binom.isf(tail, PEOPLE, chance)
            assert least <= sides.count(side) <= most, (day, side)


def test_a_holdout_person_stays_one_and_who_met_the_policy_stays_with_it() -> None:
    rule = rule_of(".2", [("2026-12-01", ".1"), ("2026-12-02", ".1"), ("2026-12-08", ".7")], 0)
    days = [time_of(f"2026-{day}") for day in ("11-30", "12-01", "12-02", "12-08")]
    for number in range(500):
        sides = [rule.side(hashed_place(number, KEY), day) for day in days]
        assert sides.count("holdout") in (0, 4)
        assert "control" not in sides[sides.index("policy") :] if "policy" in sides else True
        assert sides[0] != "policy"


def test_places_are_of_the_key_and_the_name() -> None:
    assert hashed_place("anna", KEY) == hashed_place("anna", KEY)
    assert hashed_place("anna", KEY) != hashed_place("anna", bytes(32))
    assert hashed_place("1", KEY) == hashed_place(1, KEY) != hashed_place("01", KEY)
    assert hashed_place("1", KEY) != hashed_place(1, KEY, typed=True)
    with pytest.raises(TypeError, match="own name or number"):
        hashed_place(1.5, KEY)


def test_dates_are_in_utc_unless_they_say_another_zone() -> None:
    midnight = datetime(2026, 12, 1, tzinfo=UTC).timestamp()
    assert time_of("2026-12-01") == time_of(date(2026, 12, 1)) == midnight
    assert time_of(datetime(2026, 12, 1)) == midnight  # a naive one is meant
    assert time_of("2026-12-01T01:00:00+01:00") == midnight


def test_a_rule_is_the_same_after_a_trip_through_json() -> None:
    rule = rule_of(0.05, RAMP, 2)
    assert rule.holdout == Fraction(1, 20)
    assert HoldoutRule.restored(rule.to_data()) == rule
    assert rule.sides == ("policy", "holdout", "control")
    assert rule_of(None, RAMP, 0).sides == ("policy", "control")
    assert rule_of(".05", None, 0).sides == ("policy", "holdout")
    assert rule_of(".05", None, 0).share(0.0) == 1
    assert RampStep(0.0, Fraction(1)).share == 1


@pytest.mark.parametrize("holdout", [0, 1, 2, -0.1, "many", float("nan"), True, [0.1]])
def test_shares_that_are_none(holdout: object) -> None:
    with pytest.raises(ValueError, match="holdout"):
        rule_of(holdout, None, 0)


@pytest.mark.parametrize(
    "ramp",
    [
        [],
        7,
        "2026-12-01",
        [("2026-12-01",)],
        [("soon", 1)],
        [(7, 1)],
        [("2026-12-01", 0)],
        [("2026-12-01", 2)],
        [("2026-12-01", ".5"), ("2026-12-02", ".4")],
        [("2026-12-02", ".5"), ("2026-12-01", ".6")],
        [("2026-12-01", ".5"), ("2026-12-01", ".6")],
        [(f"{year}-01-01", 1) for year in range(1000, 2001)],
    ],
)
def test_ramps_that_are_none(ramp: object) -> None:
    with pytest.raises(ValueError, match="ramp"):
        rule_of(None, ramp, 0)
