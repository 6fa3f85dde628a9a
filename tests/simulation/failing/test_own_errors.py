"""A policy of the user's own that raises is named, with its round and its error's class and line.
No reward is shown.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import LazyForgetful
from dpbandits.policies.contract import Policy
from dpbandits.simulation.plain import play_rounds

TRIES = 10
SECRET = "0.7314"


@dataclass(frozen=True, kw_only=True)
class Fails(dpb.DPKLUCB):
    """Fails in `verb` once this many arms were released."""

    verb: str = "update"
    after: int = 1

    def plan(self, state: Any, rng: Any) -> Any:
        if self.verb == "plan" and rng.step >= self.after:
            return helper_that_divides(0)
        return super().plan(state, rng)

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        if self.verb == "update" and release.round >= self.after:
            raise LookupError(f"an arm with {SECRET}")
        return super().update(state, plan, release)


def helper_that_divides(by: int) -> float:
    return 1 / by


class Peeping(LazyForgetful):
    """A mechanism that tells what it read."""

    def answer(self, *given: Any) -> Any:
        raise ArithmeticError(f"read {SECRET}")


@dataclass(frozen=True, kw_only=True)
class Reads(dpb.DPKLUCB):
    def mechanism(self) -> Any:
        return Peeping(epsilon=self.budget, grid=dpb.Grid(steps=self.grid))


@dataclass(frozen=True, kw_only=True)
class Plain(dpb.KLUCB):
    """Without privacy: what it is told are rewards."""

    def update(self, state: Any, plan: Any, release: Any) -> Any:
        raise RuntimeError(f"{release.answers[0]} {SECRET}")


PAIR = dpb.Bernoulli([0.6, 0.4])
ROWS = dpb.Table(np.random.default_rng(0).random((500, 2)))


def failed(call: Callable[[], object]) -> dpb.PolicyError:
    with pytest.raises(dpb.PolicyError) as caught:
        call()
    return caught.value


def whole_text(error: BaseException) -> str:
    """Everything that is ever printed of an error, and what hangs on it."""
    said, each = "", error
    while each is not None:
        said += "".join(traceback.format_exception(each))
        each = each.__context__ or each.__cause__  # type: ignore[assignment]
    return said


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(at for at, line in enumerate(lines, 1) if text in line)


def test_it_names_policy_round_class_and_line() -> None:
    policy = Fails(arms=2, epsilon=1, first=TRIES)
    error = failed(lambda: dpb.simulate(policy, PAIR, 1000, runs=3, seed=1))
    line = line_of('raise LookupError(f"an arm')
    said = str(error)
    assert said.startswith(f"Fails failed in update() at round {TRIES} of run 0 in Bernoulli: ")
    assert f"LookupError at {Path(__file__).name}, line {line}." in said
    assert SECRET not in said
    assert isinstance(error, RuntimeError)
    assert isinstance(error.__cause__, LookupError), "of released values: no reward is in it"


def test_it_names_a_later_round_and_the_line_in_a_helper() -> None:
    policy = Fails(arms=2, epsilon=1, first=TRIES, verb="plan", after=2)
    error = failed(lambda: dpb.simulate(policy, PAIR, 1000))
    line = line_of("    return 1 / by")
    assert str(error).startswith(f"Fails failed in plan() at round {2 * TRIES} of run 0")
    assert f"ZeroDivisionError at {Path(__file__).name}, line {line}" in str(error)


@pytest.mark.parametrize("delay", [None, 3])
def test_every_host_knows_the_round(delay: int | None) -> None:
    policy = Fails(arms=2, epsilon=1, first=TRIES)
    log = dpb.LoggedReplay(np.arange(600) % 2, np.ones(600), arms=2)
    environment = PAIR if delay else log
    error = failed(lambda: dpb.simulate(policy, environment, 100, delay=delay))
    at = int(str(error).split("at round ")[1].split()[0])
    assert TRIES <= at <= TRIES + 1 + (delay or 0)


def kinds_behind(error: BaseException) -> set[type[BaseException]]:
    """Of all errors that hang on this one; some may be of tests that were interrupted before."""
    found, left = set[type[BaseException]](), [error.__cause__, error.__context__]
    while left:
        if (one := left.pop()) is not None:
            found.add(type(one))
            left += [one.__cause__, one.__context__]
    return found


def test_what_reads_rewards_is_never_the_cause() -> None:
    error = failed(lambda: dpb.simulate(Reads(arms=2, epsilon=1), PAIR, 1000))
    assert "Reads failed in answer() at round" in str(error)
    assert "ArithmeticError" in str(error)
    assert error.__cause__ is None
    assert ArithmeticError not in kinds_behind(error)
    assert SECRET not in whole_text(error)


def test_without_privacy_the_cause_is_shown_of_made_up_rewards_only() -> None:
    shown = failed(lambda: dpb.simulate(Plain(arms=2), PAIR, 100))
    assert isinstance(shown.__cause__, RuntimeError)
    hidden = failed(lambda: dpb.simulate(Plain(arms=2), ROWS, 100))
    assert hidden.__cause__ is None
    assert RuntimeError in kinds_behind(shown)
    assert RuntimeError not in kinds_behind(hidden)
    assert SECRET not in whole_text(hidden)


def test_it_comes_back_from_another_process() -> None:
    error = failed(lambda: dpb.simulate(Fails(arms=2, epsilon=1), PAIR, 1000))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (dpb.PolicyError, str(error))


def test_a_forecast_names_it_too() -> None:
    error = failed(lambda: dpb.forecast([0.6, 0.4], 1000, 1, policies=[Fails], draws=2))
    assert str(error).startswith("Fails failed in update() at round")


def test_what_is_ours_is_not_renamed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy of this package, and what we say of a policy of the user's own."""

    def broken(*_: object) -> object:
        raise LookupError("ours")

    monkeypatch.setattr(dpb.DPSE, "update", broken)
    with pytest.raises(LookupError, match="ours") as caught:
        dpb.simulate(dpb.DPSE(arms=2, epsilon=1), PAIR, 5000, compiled=False)
    assert not isinstance(caught.value, dpb.PolicyError)

    @dataclass(frozen=True, kw_only=True)
    class NoPlan(dpb.DPKLUCB):
        def plan(self, state: Any, rng: Any) -> Any:
            return "blue"

    with pytest.raises(TypeError, match="to return a Hold, Cycle or Draw"):
        dpb.simulate(NoPlan(arms=2, epsilon=1), PAIR, 100)


@dataclass(frozen=True, kw_only=True)
class Unmade(dpb.DPKLUCB):
    def validate(self) -> None:
        super().validate()
        raise LookupError("no such table")


def test_what_fails_as_it_is_made_is_named() -> None:
    error = failed(lambda: dpb.forecast([0.6, 0.4], 100, 1, policies=[Unmade], draws=2))
    line = line_of('raise LookupError("no such table")')
    said = f"Unmade failed as it was made: LookupError at {Path(__file__).name}, line {line}."
    assert str(error) == said
    with pytest.raises(ValueError, match="alpha"):
        dpb.forecast([0.6, 0.4], 100, 1, policies=[Refuses], draws=2)


@dataclass(frozen=True, kw_only=True)
class Refuses(dpb.DPKLUCB):
    """A wrong argument is one still."""

    alpha: float = 0.5


def test_the_host_itself_is_as_it_was() -> None:
    """Whoever plays a policy in a host of their own sees its own error."""
    with pytest.raises(LookupError, match=SECRET):
        play_rounds(
            Fails(arms=2, epsilon=1),
            PAIR,
            1000,
            np.array([1000]),
            noise=dpb.SimulatedNoise(1),
            seed=1,
            rng=np.random.default_rng(1),
        )
    assert issubclass(Fails, Policy)
