"""Answers are told of decisions. Told of an arm's name or of a list they were lost, and the call
answered "unknown", which nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import dpbandits as dpb
from dpbandits.terminal.cli import app
from tests.service.http.web import client_of, remote

SECRET = 0.7314


@pytest.fixture(params=["near", "segments", "far"])
def trial(request: pytest.FixtureRequest) -> Iterator[Any]:
    with dpb.open_store("memory:", noise=dpb.SimulatedNoise(1)) as store:
        options = {"segments": ["DE"]} if request.param == "segments" else {}
        made = store.create("trial", dpb.recommend(arms=["a", "b"], epsilon=1), **options)
        yield remote(client_of(store))["trial"] if request.param == "far" else made


def asked(trial: Any, count: int) -> Any:
    return trial.ask(count, segment="DE" if getattr(trial, "segments", ()) else None)


def test_an_arm_s_name_is_no_decision(trial: Any) -> None:
    for wrong in ("a", "0" * 31, "0" * 31 + "G", ""):
        with pytest.raises(ValueError, match="an arm's name") as said:
            trial.tell(wrong, SECRET)
        assert str(SECRET) not in str(said.value)
    assert trial.tell("0" * 32, 1) == "unknown"
    (decision,) = asked(trial, 1)
    assert trial.tell(decision.id, 1) == "recorded"


@pytest.mark.parametrize("wrong", [0, SECRET, None, {"id": 1}, b"0" * 32])
def test_what_is_no_text_is_none(trial: Any, wrong: Any) -> None:
    for call in (
        lambda: trial.tell(wrong, 1),
        lambda: trial.tell_many([(wrong, 1)]),
        lambda: trial.expire(wrong),
        lambda: trial.void(wrong),
    ):
        with pytest.raises(TypeError, match="Expected a decision") as said:
            call()
        assert str(SECRET) not in str(said.value)


def test_a_list_of_decisions_is_not_one(trial: Any) -> None:
    made = asked(trial, 2)
    for verb in (trial.expire, trial.void):
        with pytest.raises(TypeError, match="one by one"):
            verb(made)
    assert trial.summary().waiting == 2
    assert trial.expire(*made) == ["recorded"] * 2


@pytest.mark.parametrize("pairs", [{"a": SECRET}, [SECRET], [("a", SECRET, 1)], ["ab"]])
def test_what_is_no_pair_is_said_and_not_shown(trial: Any, pairs: Any) -> None:
    (decision,) = asked(trial, 1)
    with pytest.raises(TypeError, match=r"entry 1 \(counted from 0\) of 2 is an") as said:
        trial.tell_many([(decision, 1), *pairs])
    assert str(SECRET) not in str(said.value)
    assert trial.summary().told == 0


class Told(tuple[Any, ...]):
    """A record with code of its own, which says what is in it."""

    def __iter__(self) -> Any:
        raise KeyError(*map(str, self[:]))

    __len__ = __iter__


@pytest.mark.parametrize("place", ["pairs", "pair", "reward"])
def test_code_that_records_bring_along_is_not_repeated(trial: Any, place: str) -> None:
    (decision,) = asked(trial, 1)
    record = Told((SECRET,))
    given = {"pairs": record, "pair": [record], "reward": [(decision, record)]}[place]
    with pytest.raises((TypeError, ValueError), match="Expected") as said:
        trial.tell_many(given)
    assert str(SECRET) not in str(said.value)
    assert said.value.__context__ is None
    assert trial.tell(decision, np.array(0.5)) == "recorded"


def test_an_error_of_what_makes_the_pairs_is_said(trial: Any) -> None:
    """It was taken for one of the records'."""
    decisions = asked(trial, 2)

    def fetched(decision: Any) -> Any:
        raise ConnectionError("the shop is away")

    for pairs in (map(fetched, decisions), filter(fetched, [(decisions[0], 0.5)])):
        with pytest.raises(ConnectionError, match="the shop is away"):
            trial.tell_many(pairs)
    with pytest.raises(TypeError, match="Are all that it zips of one length"):
        trial.tell_many(zip(decisions, [0.5], strict=True))
    assert trial.summary().told == 0


def test_the_command_does_not_take_an_answer_to_nothing(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path / 'trial.db'}"

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(app, ["campaign", *arguments, "--store", store])

    assert run("create", "trial", "--arms", "a,b", "--epsilon", "1").exit_code == 0
    found = run("tell", "trial", "a", "1")
    assert found.exit_code == 2
    assert "an arm's name" in " ".join(found.stderr.split())
    found = run("tell", "trial", "0" * 32, "1")
    assert found.exit_code == 2
    assert "the id of a decision" in " ".join(found.stderr.split())


def test_an_address_with_two_slashes_is_put_right() -> None:
    with pytest.raises(ValueError, match=r"three slashes, got 'sqlite://trial\.db'"):
        dpb.open_store("sqlite://trial.db")
    with pytest.raises(ValueError, match="'memory:'"):
        dpb.open_store("sqlite://")
