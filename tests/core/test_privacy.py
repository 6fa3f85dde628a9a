"""Guarantees and ledgers are exact."""

import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbandits.core.plan import Cycle, Hold, Progress
from dpbandits.core.privacy import (
    Entry,
    Grid,
    Guarantee,
    as_fraction,
    printed,
    printed_epsilon,
    spent,
)
from dpbandits.mechanisms import LazyForgetful
from dpbandits.noise import SimulatedNoise
from dpbandits.simulation.plain import OpenVault
from dpbandits.vault import Vault
from papers.evidence import CellSetting

ONE = Fraction(1)


def test_epsilon_is_the_decimal_that_was_written() -> None:
    assert as_fraction(0.1, "epsilon") == Fraction(1, 10)
    assert as_fraction("1/3", "epsilon") == Fraction(1, 3)
    assert as_fraction(Decimal("0.3"), "epsilon") == Fraction(3, 10)


def test_ledger_matches_a_naive_sum_over_records() -> None:
    assert spent([]) == 0
    assert spent([Entry(0, 0, 5, ONE), Entry(1, 0, 1, None)]) is None
    rng = random.Random(1)
    for _ in range(200):
        entries = [
            Entry(
                rng.randrange(2),
                a := rng.randrange(10),
                a + rng.randrange(1, 6),
                Fraction(rng.randrange(1, 4), 3),
            )
            for _ in range(6)
        ]
        naive = max(
            sum((e.cost or 0) for e in entries if e.coordinate == c and e.start <= j < e.stop)
            for c in range(2)
            for j in range(20)
        )
        assert spent(entries) == naive


def test_blocks_outside_their_range_are_refused() -> None:
    vault = OpenVault(
        Vault("bandit", LazyForgetful(epsilon=ONE, grid=Grid(steps=4)), 1, SimulatedNoise(1))
    )
    for steps in (-1, 13):
        with pytest.raises(ValueError, match=r"\[0, 3\]"):
            vault.add_block(0, steps, 3)


@pytest.mark.parametrize("steps", [0, -1, 1.5, 2**21, None])
def test_bad_grid(steps: Any) -> None:
    with pytest.raises(ValueError, match="grid"):
        Grid(steps=steps)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1"),
        ("0.1", "0.1"),
        ("1/3", "1/3"),
        ("1.0000004", "1.0000004"),
        ("22/7", "22/7"),
        ("1e-20", "1E-20"),
        ("123456789/1000000007", "0.123457"),
        ("1.00000000000001", "1.00001"),
        ("3333333333333333/10000000000000000", "0.333334"),
    ],
)
def test_a_printed_guarantee_never_says_less(value: str, text: str) -> None:
    exact = Fraction(value)
    guarantee = Guarantee(measure="pure", epsilon=exact, zero_out=exact / 2, claimed=exact / 4)
    assert str(guarantee).startswith(f"ε = {text} per round")
    assert Fraction(text) >= exact
    assert f"{printed(exact / 2)} under zero-out" in str(guarantee)
    assert f"claims {printed(exact / 4)}" in str(guarantee)
    assert repr(exact) in repr(guarantee)


@given(st.fractions(min_value=Fraction(1, 10**30), max_value=10**30, max_denominator=10**30))
def test_no_number_of_a_guarantee_is_rounded_down(value: Fraction) -> None:
    assert value <= Fraction(printed(value)) <= value * (1 + Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(0.1, "0.1"), (1e5, "100000"), (1.0000004, "1.0000004"), (1 / 3, "1/3"), (0.3333, "0.3333")],
)
def test_an_epsilon_that_results_keep_is_printed_exactly_or_rounded_up(
    epsilon: float, text: str
) -> None:
    assert printed_epsilon(epsilon) == text
    assert str(CellSetting("one", epsilon)) == f"one, ε = {text}"


def test_progress_counts_public_tells_only() -> None:
    progress = Progress(Hold(1, 3, (1,)))
    assert [progress.count(0), progress.count(1, 2), progress.count(1)] == [None, None, (1,)]
    assert progress.told == {0: 1, 1: 3}
    cycle = Progress(Cycle((0, 2), 2, (0, 2)))
    assert [cycle.count(2, 5), cycle.count(0), cycle.count(0)] == [None, None, (0, 2)]
    one = Progress(Cycle((0, 1), 2, (0, 1)))
    assert [one.count(0) for _ in range(4)] == [None] * 4, "an arm fills its own part only"
    assert [one.count(1), one.count(1)] == [None, (0, 1)]
