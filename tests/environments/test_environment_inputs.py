"""What environments refuse, and how they say it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dpbandits as dpb

REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "no arms": (
        lambda: dpb.Bernoulli([]),
        r"means to be a list of at least one number, such as .*, got shape \(0,\)",
    ),
    "one number": (
        lambda: dpb.Bernoulli(0.5),
        r"list of at least one number, such as .*, got shape \(\)",
    ),
    "two dimensions": (lambda: dpb.Bernoulli([[0.5]]), r"got shape \(1, 1\)"),
    "no coin": (lambda: dpb.SharedCoins([0.5], [0, 1]), "from 0 to 0, one an arm; arm 1 has 1"),
    "half a coin": (lambda: dpb.SharedCoins([0.5, 0.4], [0.5]), "arm 0 has 0.5"),
    "arms without coins": (lambda: dpb.SharedCoins([0.5], []), r"got shape \(0,\)"),
    "NaN mean": (lambda: dpb.Bernoulli([0.5, np.nan]), r"in \[0, 1\]; entry 1 is nan"),
    "mean above 1": (lambda: dpb.Bernoulli([1.5]), r"entry 0 is 1\.5"),
    "value below 0": (lambda: dpb.Categorical([-1, 1], [[0.5, 0.5]]), r"values in \[0, 1\]"),
    "no values": (lambda: dpb.Categorical([], [[]]), "values to be a list of at least one"),
    "row too short": (
        lambda: dpb.Categorical([0, 1], [[1.0]]),
        r"shape \(arms, 2\).*got shape \(1, 1\)",
    ),
    "no rows": (lambda: dpb.Categorical([0, 1], np.zeros((0, 2))), r"got shape \(0, 2\)"),
    "sum below 1": (lambda: dpb.Categorical([0, 1], [[0.5, 0.4]]), "summing to 1"),
    "negative": (lambda: dpb.Categorical([0, 1], [[1.5, -0.5]]), "none negative"),
    "NaN probability": (lambda: dpb.Categorical([0, 1], [[np.nan, 1]]), "none negative"),
    "low above high": (lambda: dpb.Uniform([0.5], [0.4]), "low <= high"),
    "unequal lengths": (lambda: dpb.Uniform([0.1, 0.2], [0.5]), "equal length"),
    "high above 1": (lambda: dpb.Uniform([0.1], [1.5]), r"high in \[0, 1\]"),
    "NaN low": (lambda: dpb.Uniform([np.nan], [0.5]), r"low in \[0, 1\]"),
    "shape 0": (lambda: dpb.Beta([0], [1]), "all finite and > 0"),
    "NaN shape": (lambda: dpb.Beta([1], [np.nan]), "all finite and > 0"),
    "infinite shape": (lambda: dpb.Beta([np.inf], [1]), "all finite and > 0"),
    "unequal shapes": (lambda: dpb.Beta([1, 2], [1]), "equal length"),
    "no shapes": (lambda: dpb.Beta([], []), "at least one of each"),
    "empty table": (
        lambda: dpb.Table([]),
        r"shape \(rounds, arms\) with at least one of each, got shape \(0,\)",
    ),
    "table without arms": (lambda: dpb.Table([[], []]), r"got shape \(2, 0\)"),
    "table of one dimension": (lambda: dpb.Table([0.5]), r"got shape \(1,\)"),
    "NaN in a table": (
        lambda: dpb.Table([[0.5, np.nan]]),
        r"row 0, arm 1 is not \(rescale, or fill what is missing\)",
    ),
    "table above 1": (lambda: dpb.Table([[0.5], [37.25]]), "row 1, arm 0 is not"),
    "empty log": (lambda: dpb.LoggedReplay([], [], arms=1), "non-empty list of whole numbers"),
    "fractional action": (
        lambda: dpb.LoggedReplay([0.5], [1], arms=1),
        "whole numbers, got shape .* of float64",
    ),
    "unknown action": (
        lambda: dpb.LoggedReplay([0, 2], [1, 1], arms=2),
        "actions from 0 to 1, got 0 to 2",
    ),
    "negative action": (lambda: dpb.LoggedReplay([-1, 0], [1, 1], arms=2), "got -1 to 0"),
    "arm without entry": (lambda: dpb.LoggedReplay([0, 2], [1, 1], arms=3), "Arm 1 never occurs"),
    "too few rewards": (
        lambda: dpb.LoggedReplay([0, 0], [1], arms=1),
        r"each of the 2 actions, got shape \(1,\)",
    ),
    "NaN in a log": (
        lambda: dpb.LoggedReplay([0, 0], [1, np.nan], arms=1),
        "that of entry 1 is not",
    ),
    "log above 1": (lambda: dpb.LoggedReplay([0], [37.25], arms=1), "that of entry 0 is not"),
    "propensity 0": (
        lambda: dpb.LoggedReplay([0], [1], arms=1, propensities=[0]),
        r"1 propensities in \(0, 1\]",
    ),
    "NaN propensity": (
        lambda: dpb.LoggedReplay([0], [1], arms=1, propensities=[np.nan]),
        "propensities in",
    ),
    "too few propensities": (
        lambda: dpb.LoggedReplay([0, 0], [1, 1], arms=1, propensities=[1]),
        r"2 propensities .* got shape \(1,\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_words(case: str) -> None:
    make, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as caught:
        make()
    assert "37.25" not in str(caught.value)  # a reward is somebody's datum: never shown


def test_reprs_show_no_rewards() -> None:
    assert repr(dpb.Table([[0.123, 0.456]])) == "Table(rounds=1, arms=2, resample=False)"
    assert (
        repr(dpb.LoggedReplay([0, 0], [0.123, 0.456], arms=1)) == "LoggedReplay(entries=2, arms=1)"
    )
    assert repr(dpb.Bernoulli([0.25, 1 / 3])) == "Bernoulli([0.25, 0.333333])"
