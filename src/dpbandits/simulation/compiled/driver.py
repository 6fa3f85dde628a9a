"""The one loop over events: choose arms, play them to a release, read their blocks, learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, final

import numpy as np

from dpbandits.simulation.compiled.jit import inline, specialised
from dpbandits.simulation.compiled.parts import (
    block_sum,
    borrowed,
    laplace,
    play,
    play_together,
    seated,
    seats_of,
)

Kernel = Callable[..., Any]
"""Called as kernel(values, probabilities, rounds, checkpoints, rng, out); returns (releases,
events).

A kernel that identifies the best arm appends (arm, rounds it took), arm −1 if it has none yet.
"""


# The one loop over events: choose arms, play them to the next release, read their blocks, learn.
#
# A policy's player is this loop compiled with parts of its own, written like those of the policy:
#
# * `start(p, s)`: its own arrays, `own` in the other parts.
# * `choose(p, s, own, t, rng)`: what round t plays. It writes the arms into `s.chosen` and returns
#   how many they are, and for how many rounds at most.
# * `batch(p, s, own, arm)`: the rewards in the arm's open block at which it is read.
# * `read(p, s, own, arm, total, rng)`: the mechanism's twin: fold an exact sum into `s.totals`,
#   `s.n` and `s.draws`.
# * `learn(p, s, own, t)`: what a finished event changes beside; of an arm in `s.chosen` whose
#   block was read, `s.open_` is 0.
# * `observe(p, s, own, size)`: the arms whose rewards are told, of those played, and how many.
# * `named(p, s, own)`: the arm it identified, or −1, and the rounds that took.
#
# p: the policy's numbers, a named tuple of the player's class `Numbers`. IN_TURN: arms are played
# one after the other, as by `Cycle`, and not together. TOGETHER: what an event reads is one
# release.


FAR = 2**62
"""More rounds than any horizon."""


class Arms(NamedTuple):
    """What every policy's twin counts, one number an arm. Sums are in grid steps, means in rewards.

    plays: rounds. n, draws, totals, means: of what was read. open_: rewards not yet read. chosen:
        room for the arms of an event.
    """

    plays: Any
    n: Any
    draws: Any
    totals: Any
    open_: Any
    means: Any
    chosen: Any


@inline
def start(p: Any, s: Any) -> int:
    return 0


@inline
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    """Lazy and cumulative: a block is noised once (scale 0: never) and stays in the sum."""
    s.totals[arm] += total + (laplace(rng, p.scale) if p.scale > 0.0 else 0)
    s.n[arm] += s.open_[arm]
    s.draws[arm] += 1


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    pass


@inline
def observe(p: Any, s: Any, own: Any, size: int) -> tuple[Any, int]:
    return s.chosen, size


@inline
def named(p: Any, s: Any, own: Any) -> tuple[int, int]:
    return -1, 0


Numbers: Any = None
choose: Any = None
batch: Any = None
"""Every player brings these three."""

IN_TURN, TOGETHER = False, False


def drive(
    numbers: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    seats: Any,
    outs: Any,
    found: Any,
) -> None:
    """One run after the other. found: of each (releases, events, the arm identified or −1, rounds
    that took).

    numbers: as a plain tuple, whose type is found in a tenth of a named one's time. rng: a
        generator of the kind of those at the runs' seats.
    """
    arms = probabilities.shape[0]
    for run in range(len(seats)):
        counts = np.zeros((6, arms), np.int64)
        s = Arms(counts[0], counts[1], counts[2], counts[3], counts[4], np.zeros(arms), counts[5])
        p = Numbers(*numbers)
        own, kept = start(p, s), (checkpoints, outs[run])
        law, own_rng = (values, probabilities), seated(rng, seats[run])
        told = run_events(p, s, own, steps, law, rounds, kept, own_rng)
        found[run, 0], found[run, 1], found[run, 2], found[run, 3] = told


def run_events(
    p: Any, s: Any, own: Any, steps: int, law: Any, rounds: int, kept: Any, rng: Any
) -> tuple[int, int, int, int]:
    """What `drive` makes of its arguments. law: levels and their probabilities. kept: rounds at
    which play counts are kept, and where.
    """
    p, s, own, rng = borrowed(p), borrowed(s), borrowed(own), borrowed(rng)
    (values, probabilities), (checkpoints, out) = borrowed(law), borrowed(kept)
    t, at, releases, events = 0, 0, 0, 0
    while t < rounds:
        size, times = choose(p, s, own, t + 1, rng)
        (told, count), cut = observe(p, s, own, size), False
        if IN_TURN:
            for i in range(size):
                turn = min(times, rounds - t)
                at = play(s.chosen[i], turn, t, s.plays, checkpoints, out, at)
                t, events, cut = t + turn, events + int(turn > 0), turn < times
            if cut:  # the horizon came between two arms: nothing of this cycle is read
                break
        else:
            for i in range(count):
                arm = told[i]
                times = min(times, batch(p, s, own, arm) - s.open_[arm])
            times = min(times, rounds - t)
            at = play_together(s.chosen, size, times, t, s.plays, checkpoints, out, at)
            t, events = t + times, events + 1
        before = releases
        for i in range(count):
            arm = told[i]
            s.open_[arm] += times
            if s.open_[arm] >= batch(p, s, own, arm):
                total = block_sum(rng, arm, s.open_[arm], values, probabilities)
                read(p, s, own, arm, total, rng)
                s.means[arm] = s.totals[arm] / (steps * s.n[arm])
                s.open_[arm], releases = 0, releases + 1
        if TOGETHER:
            releases = min(releases, before + 1)
        learn(p, s, own, t)
    found, decided = named(p, s, own)
    return releases, events, found, decided


@final
class EventPlayer:
    """A compiled player. Called, it plays one run.

    together: plays several in one call, each by bits of its own.
    """

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, numbers: Any, *given: Any) -> tuple[int, ...]:
        *law, rng, out = given
        return self.together(numbers, *law, [rng.bit_generator], out[np.newaxis])[0]

    def together(self, numbers: Any, *given: Any) -> list[tuple[int, ...]]:
        *law, bits, outs = given
        found = np.empty((len(bits), 4), np.int64)
        rng = np.random.Generator(bits[0])
        self.compiled(numbers, *law, rng, seats_of(bits), outs, found)
        return list(map(tuple, found.tolist()))


def player(name: str, **parts: Any) -> EventPlayer:
    """The loop with these parts, compiled when it is first called."""
    parts["run_events"] = specialised(run_events, name, **parts)
    return EventPlayer(specialised(drive, name, **parts))
