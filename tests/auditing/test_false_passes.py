"""What passed and leaks: things that a replay did not compare, or that nobody handed a mechanism.
Each claims epsilon = 1 and keeps none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpbandits import audit
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer
from dpbandits.mechanisms.base import Pure
from dpbandits.noise import Noise
from dpbandits.noise.protocol import Values
from dpbandits.policies.base import IndexPolicy, PrivatePolicy, Statistics
from dpbandits.policies.contract import About

ONE, FEW = Fraction(1), 12
"""The budget, and how many neighbours are replayed in each run."""


@dataclass(frozen=True, kw_only=True)
class Lap(Pure):
    """Correct. What is derived from it tells more."""

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return [0]

    def noised(self, total: int, noise: Noise, times: int = 1) -> float:
        noisy = noise.laplace(total, sensitivity=self.grid.steps, epsilon=self.epsilon * times)
        return noisy / self.grid.steps

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return [memory[0] + 1], Answer(self.noised(total, noise), count, 1)


class TrueForOne(Lap):
    """`True` equals 1, and is written otherwise."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        draws = True if 2 * total > count else 1
        return memory, Answer(self.noised(total, noise), count, draws)


class SignOfZero(Lap):
    """-0.0 equals 0.0, and is written otherwise."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        noisy = self.noised(total, noise)
        return memory, Answer(-0.0 if noisy == 0 and total else noisy, count, 1)


class Noted(Answer):
    """It has room."""


class LeftFromDebugging(Lap):
    """The exact sum is an attribute of the answer."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        answer = Noted(self.noised(total, noise), count, 1)
        answer.exact = total  # type: ignore[attr-defined]
        return memory, answer


class Near(float):
    """Calls everything equal."""

    __hash__ = float.__hash__

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


class EqualToAll(Lap):
    """The exact sum, in a number that equals every other one."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return memory, Answer(Near(total + 0 * self.noised(total, noise)), count, 1)


class Begins(Lap):
    """Says that it takes one release, and goes on: without noise."""

    leaves = 1

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        if memory[0] == 0:
            return super().step(memory, total, count, noise)
        return memory, Answer(total, count, 1)


class Beside(Lap):
    """All coordinates of a release at once, with the mistakes that this invites."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return self.steps([memory], (total,), (count,), noise)[0]


class OneDrawForAll(Beside):
    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> list[tuple[Any, Any]]:
        draw = self.noised(0, noise)
        parts = zip(memories, totals, counts, strict=True)
        return [(memory, Answer(int(total) + draw, n, 1)) for memory, total, n in parts]


class ToldToTheOthers(Beside):
    def steps(
        self, memories: list[Any], totals: Values, counts: Sequence[int], noise: Noise
    ) -> list[tuple[Any, Any]]:
        told = [self.noised(int(totals[0]), noise), *([float(totals[0])] * (len(counts) - 1))]
        return [
            (memory, Answer(total, n, 1))
            for memory, total, n in zip(memories, told, counts, strict=True)
        ]


REPLAYED = [TrueForOne, SignOfZero, Begins, ToldToTheOthers]


@pytest.mark.parametrize("wrong", [*REPLAYED, OneDrawForAll], ids=lambda wrong: wrong.__name__)
def test_what_passed_and_leaks_is_failed(wrong: type[Lap]) -> None:
    """All but the last, of which nothing could be said, passed."""
    found = transcript_level(feed(wrong()), rounds=64, replays=FEW)
    assert found.outcome == "failed", found


@pytest.mark.parametrize("wrong", [LeftFromDebugging, EqualToAll])
def test_answers_that_are_no_plain_values_do_not_pass(wrong: type[Lap]) -> None:
    found = transcript_level(feed(wrong()), rounds=64, replays=FEW)
    assert found.outcome == "not applicable", found
    assert "cannot be compared" in found.evidence


@pytest.mark.long
@pytest.mark.parametrize("wrong", [OneDrawForAll, ToldToTheOthers])
def test_runs_show_what_coordinates_tell_of_each_other(wrong: type[Lap]) -> None:
    report = audit(wrong(), levels=["statistical"], runs=5000, workers=1)
    assert report.failed, report


def test_what_is_correct_still_passes() -> None:
    assert transcript_level(feed(Lap()), rounds=64, replays=FEW).outcome == "passed"


class HalfForSecure(Lap):
    """A way of its own for secure noise, with half of it."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        times = 2 if noise.kind == "secure" else 1
        return memory, Answer(self.noised(total, noise, times), count, 1)


def test_a_way_of_its_own_for_secure_noise_does_not_pass() -> None:
    """It passed: only simulated noise was ever handed to it."""
    found = transcript_level(feed(HalfForSecure()), rounds=64, replays=FEW)
    assert found.outcome == "not applicable", found
    assert "kind of noise" in found.evidence


class ManySizes(Lap):
    """Twelve releases with a second draw that nobody is told, each of another size; later ones
    are told at twice epsilon.
    """

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        release = memory[0] + 1
        told = self.noised(total, noise, 1 if release <= 12 else 2)
        if release <= 12:
            self.noised(total, noise, release + 1)
        return [release], Answer(told, count, 1)


class LaterByCoin(Lap):
    """Correct for nine releases; then half of them are told without noise."""

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        release = memory[0] + 1
        if release > 9 and noise.uniform() < 0.5:
            return [release], Answer(total / self.grid.steps, count, 1)
        return [release], Answer(self.noised(total, noise), count, 1)


@dataclass(frozen=True, kw_only=True)
class Follows(IndexPolicy, PrivatePolicy):
    about = About(paper="", algorithm="", bound="", every_round=True)

    def mechanism(self) -> LaterByCoin:
        return LaterByCoin(epsilon=self.budget, grid=Grid(steps=self.grid))

    def scores(self, s: Statistics, t: int) -> list[float]:
        return [total / n for total, n in zip(s.totals, s.rounds, strict=True)]
