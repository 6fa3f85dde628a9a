"""Reports of strangers: what they say is looked at before it is believed, and what is no report is
named in a sentence.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpbandits import audit
from dpbandits.auditing.recounting.recount import replay
from dpbandits.mechanisms import Answer

Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def written() -> str:
    return audit("AnytimeLazyUCB", epsilon=1, runs=200, workers=1, levels=["statistical"]).to_json()


def details(report: dict[str, Any]) -> dict[str, Any]:
    seen: dict[str, Any] = report["levels"][0]["details"]
    return seen


def beyond_rewards(report: dict[str, Any]) -> None:
    """A record of 40 in place of 0: what is right for rewards leaks that."""
    a = np.zeros((8, 2))
    b = a.copy()
    b[0] = 40.0
    details(report).update(tables=[a.tolist(), b.tolist()])


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (beyond_rewards, r"rewards in \[0, 1\]"),
        (lambda r: details(r)["tables"][0][0].__setitem__(0, math.nan), r"rewards in \[0, 1\]"),
        (
            lambda r: details(r).update(tables=[[[0.0], [0.0, 1.0]], [[0.0]]]),
            "two tables of numbers",
        ),
        (lambda r: details(r).update(runs=10**9), "whole number from 1 to"),
        (lambda r: details(r).update(runs=1e30), "whole number from 1 to"),
        (lambda r: details(r).update(alpha=1e-300), "may be wrong with probability"),
        (lambda r: details(r).update(counts=[0.5] * 4), "four counts, whole numbers"),
        (lambda r: details(r).update(counts=["1", "2", "3", "4"]), "four counts, whole numbers"),
        (lambda r: details(r).pop("event"), "event is missing"),
        (
            lambda r: details(r).update(event={"score": "bins"}),
            "event to be one that an audit wrote",
        ),
        (lambda r: r["setting"].update(rounds="x"), "rounds='x' to be a whole number"),
        (lambda r: r["setting"].update(rounds=[1]), "to be a whole number"),
        (lambda r: r["setting"].update(rounds=math.inf), "to be a whole number"),
        (lambda r: r["setting"].update(rounds=10**12), "whole number from 1 to"),
        (lambda r: r["setting"].update(seed="a"), "seed='a' to be a whole number"),
        (lambda r: r["setting"].update(arms=3), "tables of 3 arms, as the subject has"),
        (lambda r: r["setting"]["made"].update(subject=["x"]), "subject to be a name"),
        (lambda r: r["levels"].append(r["levels"][0]), "one statistical level"),
        (lambda r: r.pop("claim"), "with a claim"),
        (lambda r: r.update(claim="1/0"), "claim to be a number > 0"),
        (lambda r: r.update(claim="nan"), "claim to be a number > 0"),
        (lambda r: r.update(setting=[]), "setting of the report"),
        (lambda r: r.update(levels={"a": 1}), "levels of the report"),
        (lambda r: r.update(levels=["x"]), "a level of the report"),
    ],
)
def test_what_is_no_report_is_named(written: str, edit: Edit, says: str) -> None:
    report = json.loads(written)
    edit(report)
    with pytest.raises(ValueError, match=says):
        replay(report)


def test_what_was_not_recounted_is_said(written: str) -> None:
    """A forged certificate beside an honest level went through without a word."""
    report = json.loads(written)
    del report["setting"]["made"]
    assert not any("recounted:" in line and "ε" not in line for line in replay(report).lines)
    report["levels"].append({"level": "transcript", "outcome": "failed", "lower_bound": 517})
    report["verdict"] = "failed"
    found = replay(report)
    assert found.verdict != "failed"
    assert any("'failed', is not supported" in line for line in found.lines)
    assert "not recounted: transcript" in found.lines


def long_by_data(rewards: Any) -> list[int]:
    return [1] * int(rewards.sum() + 1)


def huge(rewards: Any) -> int:
    return 10**400


@pytest.mark.parametrize(
    ("function", "says"), [(long_by_data, "as many numbers, got"), (huge, "that a float holds")]
)
def test_answers_that_cannot_be_compared_are_named(function: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        audit(function, 1, runs=100, workers=1)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("high", "answer with numbers"),
        ({"v": 1}, "answer with numbers"),
        (Answer(10**400, 1, 1), "that a float holds"),
    ],
)
def test_answers_of_a_mechanism_that_are_no_numbers_are_named(answer: Any, says: str) -> None:
    from dpbandits.auditing.subjects import numbers_of

    with pytest.raises(ValueError, match=says):
        numbers_of(answer)
