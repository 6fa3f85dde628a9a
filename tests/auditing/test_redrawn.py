"""Noise that is drawn again until it pleases, under an audit that pushes noise to one side."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from dpbandits.auditing.played_noise import AGAIN, PATIENCE, PUSHED, PlayedNoise
from dpbandits.auditing.report import LevelResult
from dpbandits.auditing.subjects import feed
from dpbandits.auditing.transcript import transcript_level
from dpbandits.core.errors import Foreign
from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Answer
from dpbandits.mechanisms.base import Pure
from dpbandits.noise import Noise

ONE = Fraction(1)


@dataclass(frozen=True, kw_only=True)
class Redraws(Pure):
    """`draws` asks for noise until it likes what comes."""

    epsilon: Fraction = ONE
    grid: Grid = Grid(steps=1)
    draws: Any = None
    proof = "lazy_forgetful"

    def start(self) -> list[int]:
        return []

    def step(self, memory: Any, total: int, count: int, noise: Noise) -> tuple[Any, Any]:
        return memory, Answer(self.draws(total, count, noise), count, 1)


def together(total: int, count: int, noise: Noise) -> float:
    """Two questions in turn: neither is asked twice in a row."""
    while True:
        ones = noise.laplace(total, sensitivity=1, epsilon=ONE / 4)
        zeros = noise.laplace(count - total, sensitivity=1, epsilon=ONE / 4)
        if ones >= 0 and zeros >= 0:
            return ones / max(1, ones + zeros)


def ever_larger(total: int, count: int, noise: Noise) -> float:
    """With half of what is left of the budget each time, so no question comes twice."""
    epsilon = ONE / 2
    while True:
        noisy = noise.laplace(total, sensitivity=1, epsilon=epsilon)
        if 0 <= noisy <= count:
            return float(noisy)
        epsilon /= 2


def never(total: int, count: int, noise: Noise) -> float:
    while noise.laplace(total, sensitivity=1, epsilon=ONE) < 10**9:
        pass
    return 0.0


def never_by_coins(total: int, count: int, noise: Noise) -> float:
    while noise.uniform() < 2:
        pass
    return 0.0


def audited(draws: Any) -> LevelResult:
    return transcript_level(feed(Redraws(draws=draws)), rounds=16, replays=12)


def test_two_numbers_redrawn_together_end() -> None:
    """An audit waited for ever: the pushed noise never was what both had to be."""
    assert audited(together).outcome == "not applicable"


def test_ever_larger_noise_is_no_error() -> None:
    """A correct mechanism ended in an OverflowError."""
    found = audited(ever_larger)
    assert found.outcome == "not applicable"
    assert "larger than any float" in found.evidence


@pytest.mark.parametrize("draws", [never, never_by_coins])
def test_what_never_ends_is_given_up(draws: Any) -> None:
    found = audited(draws)
    assert found.outcome == "not applicable"
    assert f"more than {PATIENCE:,} times" in found.evidence


def asked(noise: PlayedNoise, value: int) -> int:
    """The noise that is added."""
    return noise.laplace(value, sensitivity=1, epsilon=ONE) - value


def test_noise_falls_freely_after_a_while_and_is_pushed_again_in_the_next_release() -> None:
    noise = PlayedNoise(1, up=True)
    for _ in range(2):
        noise.begin()
        assert all(asked(noise, value) > 0 for _ in range(AGAIN) for value in (3, 4))
        assert min(asked(noise, 3) for _ in range(20)) <= 0
        assert all(asked(noise, value) > 0 for value in range(10, PUSHED - 2 * AGAIN - 10))


def test_a_release_is_given_up_by_what_it_alone_asks_for() -> None:
    noise = PlayedNoise(1)
    for _ in range(2):
        noise.begin()
        for _ in range(PATIENCE):
            noise.uniform()
    with pytest.raises(Foreign, match="may have gone on for ever"):
        noise.uniform()
