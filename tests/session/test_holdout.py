"""Who is on which side: a share as declared, a person's side for ever, and shares that are none."""

from __future__ import annotations

import pytest
from scipy.stats import binom

from dpbandits.session.holdout import hashed_place, rule_of

ALARM = 1e-6
PEOPLE = 20_000
KEY = bytes(range(32))


def test_hashed_people_are_shared_out_as_declared() -> None:
    """20,000 people with holdout=.05, within exact binomial bounds at 10⁻⁶ (two-sided)."""
    rule = rule_of(".05", 0)
    places = [hashed_place(f"person {number}", KEY) for number in range(PEOPLE)]
    held = [rule.side(place) for place in places].count("holdout")
    assert binom.ppf(ALARM / 2, PEOPLE, 0.05) <= held <= binom.isf(ALARM / 2, PEOPLE, 0.05)


def test_places_are_of_the_key_and_the_name() -> None:
    assert hashed_place("anna", KEY) == hashed_place("anna", KEY)
    assert hashed_place("anna", KEY) != hashed_place("anna", bytes(32))
    assert hashed_place("1", KEY) == hashed_place(1, KEY) != hashed_place("01", KEY)
    assert hashed_place("1", KEY) != hashed_place(1, KEY, typed=True)
    with pytest.raises(TypeError, match="own name or number"):
        hashed_place(1.5, KEY)


@pytest.mark.parametrize("holdout", [0, 1, 2, -0.1, "many", float("nan"), True, [0.1], None])
def test_shares_that_are_none(holdout: object) -> None:
    with pytest.raises(ValueError, match="holdout"):
        rule_of(holdout, 0)
