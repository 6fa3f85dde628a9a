"""A report made with noise: written down, made again of other rewards with the same noised values,
and what those values cost.
"""

import random
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, final

from dpbandits.auditing.local.coin_law import ENDLESS
from dpbandits.auditing.played_noise import PlayedNoise
from dpbandits.auditing.shown_noise import log_ratio
from dpbandits.checks.tape import RecordedDraw, Recorder, loss
from dpbandits.core.errors import Changed, Diverged, NotSteps
from dpbandits.mechanisms.randomizers import Randomizer
from dpbandits.noise.sources import SimulatedNoise

SOURCES = 4
"""Noises each reward is written down with: two as they fall, one pushed far up, one far down."""

SHIFTS = [
    *(d for d in range(-32, 33) if d),
    *(sign * 2**k for k in range(6, 40) for sign in (1, -1)),
]
"""Other noised values that must make other reports, if a report is to tell which one it was made
of.
"""


class Recording(NamedTuple):
    """One report, the noise it was made with, and how many coins; and the randomizer's name, which
    goes with it.
    """

    steps: int
    report: int
    draws: list[RecordedDraw]
    coins: int
    source: int
    name: str


@final
class OwnCoins:
    """The noise of another source; coins apart, so that a replay throws the same ones whatever
    noise it draws.
    """

    def __init__(self, noise: Any, seed: int) -> None:
        self._noise, self._coins, self._asked = noise, random.Random(seed), 0

    def uniform(self) -> float:
        return self._coins.random()

    def __getattr__(self, name: str) -> Any:
        self._asked += 1
        if self._asked > ENDLESS:  # noise pushed to one side may never be what it waits for
            raise NotSteps("it draws noise again and again")
        return getattr(self._noise, name)


def recorded(randomizer: Randomizer, steps: int, source: int) -> Recording:
    """A report of this reward with the source of this number."""
    pushed = source >= SOURCES // 2
    noise = PlayedNoise(source, up=source % 2 == 0) if pushed else SimulatedNoise(source)
    base: Any = OwnCoins(noise, source)
    seen = Recorder(source, base=base)
    report = randomizer.randomise(steps, seen)
    return Recording(steps, report, seen.draws, seen.coins, source, randomizer.name)


def replayed(
    randomizer: Randomizer, run: Recording, steps: int, shift: int = 0
) -> tuple[int, Recorder]:
    """The report of another reward with the same coins and noised values (each moved by `shift`),
    and what the noise was asked.

    Raises:
        Diverged: the noise is asked for something else.
    """
    base: Any = OwnCoins(None, run.source)
    script = [draw._replace(noisy=draw.noisy + shift) for draw in run.draws] if shift else run.draws
    seen = Recorder(run.source, script=script, base=base)
    report = randomizer.randomise(steps, seen)
    if (len(seen.draws), seen.coins) != (len(run.draws), run.coins):
        raise Diverged(
            "The replay draws less noise than the recording, or throws another number of coins."
        )
    return report, seen


def same_again(randomizer: Randomizer, run: Recording) -> bool:
    """Whether the same reward with the same noise makes the same report: if not, there is
    randomness that is not seen.
    """
    try:
        return replayed(randomizer, run, run.steps)[0] == run.report
    except Diverged:
        return False


def determined(randomizer: Randomizer, run: Recording) -> bool:
    """Whether the report tells which noised value it was made of, so that the loss of the value is
    that of the report.
    """
    if run.coins or len(run.draws) != 1:
        return False
    mirrored = (-2 * run.draws[0].noisy, randomizer.grid.steps - 2 * run.draws[0].noisy)
    shifts = (shift for shift in (*SHIFTS, *mirrored) if shift)
    try:
        return all(replayed(randomizer, run, run.steps, shift)[0] != run.report for shift in shifts)
    except Diverged:  # it goes on by what it drew: who knows how it comes back to this report
        return False


class Price(NamedTuple):
    """Rewards `steps` and `other`: the loss of the noised values, and what the ones that were drawn
    tell.
    """

    loss: Fraction
    told: Fraction | float
    steps: int
    other: int


def report_price(randomizer: Randomizer, run: Recording, others: Iterable[int]) -> Price:
    """The dearest of the other rewards, all replayed.

    Raises:
        Changed: the noise is asked for something else, or the report is another one though the
        noise stays.
    """
    found = []
    for other in others:
        seen = same_report(randomizer, run, other)
        ratio = log_ratio(run.draws, seen.draws) or Fraction(0)
        found.append(Price(loss(run.draws, seen.draws), max(ratio, -ratio), run.steps, other))
    return max(found, key=lambda p: p.loss)


def same_report(randomizer: Randomizer, run: Recording, other: int) -> Recorder:
    """The noise's view of how another reward makes the same report: with the same noised values; or
    with one that is moved by as much as the report has to be, which is what it takes where a reward
    is added to noise on nothing.
    """
    pair = (
        f"a reward of {Fraction(other, randomizer.grid.steps)} in place of "
        f"{Fraction(run.steps, randomizer.grid.steps)}"
    )
    try:
        report, seen = replayed(randomizer, run, other)
        if report != run.report and len(run.draws) == 1:
            report, seen = replayed(randomizer, run, other, run.report - report)
    except Diverged as error:
        raise Changed(f"what is asked of the noise changes with {pair}: {error}") from None
    if report != run.report:
        raise Changed(f"the report changes though the noise stays, with {pair}")
    return seen
