"""The loop over events: choose arms, play them until a release, release their blocks, learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, final

import numpy as np

from dpbandits.core.inputs import Floats, Integers
from dpbandits.environments.base import Environment
from dpbandits.policies.base import Identified
from dpbandits.policies.contract import Policy
from dpbandits.simulation.compiled.jit import inline, jit, specialised
from dpbandits.simulation.compiled.parts import (
    binomial,
    block_sum,
    borrowed,
    laplace,
    play,
    play_together,
    seated,
    seats_of,
)
from dpbandits.simulation.plain import Path

Kernel = Callable[..., Any]
"""Called as kernel(values, probabilities, rounds, checkpoints, rng, out); returns (releases,
events).

A kernel that identifies the best arm appends (arm, its number of rounds), arm −1 for none.
"""


# A policy's player is this loop compiled with these parts:
#
# * `start(p, s)`: return the policy's arrays, `state` in the other parts.
# * `choose(p, s, state, t, rng)`: choose the arms of round t. It writes them into `s.chosen` and
#   returns their number and the most rounds to play them.
# * `batch(p, s, state, arm)`: return the rewards in the arm's open block at which it is released.
# * `read(p, s, state, arm, total, rng)`: the mechanism: fold an exact sum into `s.totals`, `s.n`
#   and `s.draws`.
# * `learn(p, s, state, t)`: update after an event; `s.open_` is 0 for arms in `s.chosen` whose
#   block was released.
# * `observe(p, s, state, size)`: return the played arms whose rewards are recorded, and the number.
# * `named(p, s, state)`: return the identified arm, or −1, and its number of rounds.
#
# p: the policy's numbers, a named tuple of the player's class `Numbers`. IN_TURN: arms are played
# one after the other, as by `Cycle`, and not together. TOGETHER: the blocks of an event are one
# release.
#
# A run is played by a law for each arm or, where the rewards of one round are dependent, on the
# rows of a table (`SHARED`). Then sums are added as rounds are played, because no law of an arm
# determines that of a block: in place of levels and probabilities the loop has the rows and the
# sums of open blocks, and these parts:
#
# * `add_rows(rows, times, observed, count, sums, rng)`: add the sums of `times` rounds for the
#   first `count` arms of `observed`.
# * `block_total(rng, arm, n, rows, sums)`: return the sum of an arm's open block, which is emptied.


UNLIMITED = 2**62
"""More rounds than any horizon."""


class Arms(NamedTuple):
    """The counts of every player, one number per arm. Sums are in grid steps, means in rewards.

    Args:
        plays: rounds played.
        n: released rewards.
        draws: noise draws in `totals`.
        totals: released sums.
        open_: rewards not released yet.
        means: released means.
        chosen: arms of an event.
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
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Lazy and cumulative: a block gets one noise draw (scale 0: none) and remains in the sum."""
    s.totals[arm] += total + (laplace(rng, p.scale) if p.scale > 0.0 else 0)
    s.n[arm] += s.open_[arm]
    s.draws[arm] += 1


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    pass


@inline
def observe(p: Any, s: Any, state: Any, size: int) -> tuple[Any, int]:
    return s.chosen, size


@inline
def named(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return -1, 0


@inline
def add_rows(rows: Any, times: int, observed: Any, count: int, sums: Any, rng: Any) -> None:
    pass


block_total: Any = block_sum

Numbers: Any = None
choose: Any = None
batch: Any = None
"""Every player defines these three."""

IN_TURN, TOGETHER, SHARED = False, False, False


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
    results: Any,
) -> None:
    """Play one run after the other. `results` gets for each (releases, events, the identified arm
    or −1, its number of rounds). If SHARED, `values` are rows, and `probabilities` has an entry for
    each arm.

    `numbers` is a plain tuple, whose type is determined ten times as fast as a named one's. `rng`
    is a generator of the kind of those at the runs' seats.
    """
    arms = probabilities.shape[0]
    for run in range(len(seats)):
        counts = np.zeros((6, arms), np.int64)
        s = Arms(counts[0], counts[1], counts[2], counts[3], counts[4], np.zeros(arms), counts[5])
        p = Numbers(*numbers)
        state, kept = start(p, s), (checkpoints, outs[run])
        if SHARED:
            law = values, np.zeros(arms, np.int64)
        else:
            law = values, probabilities
        run_rng = seated(rng, seats[run])
        result = run_events(p, s, state, steps, law, rounds, kept, run_rng)
        results[run, 0], results[run, 1], results[run, 2], results[run, 3] = result


def run_events(
    p: Any, s: Any, state: Any, steps: int, law: Any, rounds: int, kept: Any, rng: Any
) -> tuple[int, int, int, int]:
    """Run one simulation. `law` has levels and their probabilities, or rows and sums; `kept` has
    the rounds at which play counts are kept, and the array for them.
    """
    p, s, state, rng = borrowed(p), borrowed(s), borrowed(state), borrowed(rng)
    (values, probabilities), (checkpoints, out) = borrowed(law), borrowed(kept)
    t, at, releases, events = 0, 0, 0, 0
    while t < rounds:
        size, times = choose(p, s, state, t + 1, rng)
        (observed, count), cut = observe(p, s, state, size), False
        if IN_TURN:
            for i in range(size):
                played = min(times, rounds - t)
                at = play(s.chosen[i], played, t, s.plays, checkpoints, out, at)
                t, events, cut = t + played, events + int(played > 0), played < times
            if cut:  # the horizon is between two arms: nothing of this cycle is released
                break
        else:
            for i in range(count):
                arm = observed[i]
                times = min(times, batch(p, s, state, arm) - s.open_[arm])
            times = min(times, rounds - t)
            at = play_together(s.chosen, size, times, t, s.plays, checkpoints, out, at)
            t, events = t + times, events + 1
        add_rows(values, times, observed, count, probabilities, rng)
        before = releases
        for i in range(count):
            arm = observed[i]
            s.open_[arm] += times
            if s.open_[arm] >= batch(p, s, state, arm):
                total = block_total(rng, arm, s.open_[arm], values, probabilities)
                read(p, s, state, arm, total, rng)
                s.means[arm] = s.totals[arm] / (steps * s.n[arm])
                s.open_[arm], releases = 0, releases + 1
        if TOGETHER:
            releases = min(releases, before + 1)
        learn(p, s, state, t)
    identified, decided = named(p, s, state)
    return releases, events, identified, decided


@final
class EventPlayer:
    """A compiled player of one run. Its method `together` plays several in one call, each with its
    bit generator.
    """

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def __call__(self, numbers: Any, *given: Any) -> tuple[int, ...]:
        *law, rng, out = given
        return self.together(numbers, *law, [rng.bit_generator], out[np.newaxis])[0]

    def together(self, numbers: Any, *given: Any) -> list[tuple[int, ...]]:
        *law, bits, outs = given
        results = np.empty((len(bits), 4), np.int64)
        rng = np.random.Generator(bits[0])
        self.compiled(numbers, *law, rng, seats_of(bits), outs, results)
        return list(map(tuple, results.tolist()))


def player(name: str, **parts: Any) -> EventPlayer:
    """Return the loop with these parts, compiled at its first call."""
    parts["run_events"] = specialised(run_events, name, **parts)
    return EventPlayer(specialised(drive, name, **parts))


# The parts for a random row of a table each round.


@jit
def add_random_rows(rows: Any, times: int, observed: Any, count: int, sums: Any, rng: Any) -> None:
    """Add the sums of `times` random rows for the first `count` arms of `observed`."""
    people = len(rows)
    if times < people:
        for _ in range(times):
            row = int(rng.random() * people)
            for i in range(count):
                sums[observed[i]] += rows[row, observed[i]]
        return
    left = times
    for row in range(people):  # how often each row was played: multinomial
        played = binomial(rng, left, 1.0 / (people - row))
        for i in range(count):
            sums[observed[i]] += played * rows[row, observed[i]]
        left -= played


@inline
def taken(rng: Any, arm: int, n: int, rows: Any, sums: Any) -> int:
    total = sums[arm]
    sums[arm] = 0
    return total


def player_together(name: str, rows: Any = add_random_rows, **parts: Any) -> EventPlayer:
    """Return the loop with these parts, for dependent rewards of one round."""
    shared = {"SHARED": True, "add_rows": rows, "block_total": taken}
    return player(f"{name}_together", **parts, **shared)


# Players of runs.


def law_of(policy: Policy, environment: Environment) -> tuple[Integers, Floats]:
    """Return the levels of rewards and their probabilities, shapes (levels,) and (arms, levels)."""
    lattice = environment.lattice(policy.reader.grid)
    assert lattice is not None  # or no compiled player is asked for
    return (
        np.ascontiguousarray(lattice.values, np.int64),
        np.ascontiguousarray(lattice.probabilities, np.float64),
    )


def kind_of(policy: Policy) -> type[np.number[Any]]:
    """Return the type of play counts: weights are parts of a play."""
    return np.float64 if policy.weighted else np.int64


def generator(seed: int, run: int) -> np.random.Generator:
    """Return the generator of a run."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, run])))


@final
@dataclass(frozen=True)
class RunPlayer:
    """Plays runs by a kernel with the law of the rewards and the number of rounds. `kind` is the
    type of its counts. `keeps`: the field of `Path` to which the kernel's last argument belongs,
    numbers at the checkpoints; empty: it takes none.
    """

    kernel: partial[Any]
    arms: int
    kind: type[np.number[Any]]
    rounds: int
    seed: int
    keeps: Literal["", "earned", "rewards"] = ""

    def __call__(self, checkpoints: Integers, run: int) -> Path:
        return self.several(checkpoints, range(run, run + 1))[0]

    @property
    def in_one_call(self) -> bool:
        """True if the kernel plays several runs at once."""
        return isinstance(self.kernel.func, EventPlayer)

    def several(self, checkpoints: Integers, runs: range) -> list[Path]:
        """Play these runs, in one call if possible."""
        outs = np.empty((len(runs), len(checkpoints), self.arms), self.kind)
        rngs = [generator(self.seed, run) for run in runs]
        figures: list[dict[str, Any]] = [
            {self.keeps: np.zeros(len(checkpoints))} if self.keeps else {} for _ in runs
        ]
        play: Any = self.kernel.func
        if self.in_one_call:
            bits = [rng.bit_generator for rng in rngs]
            results = play.together(*self.kernel.args, checkpoints, bits, outs)
        else:
            results = [
                self.kernel(checkpoints, rng, out, *kept.values())
                for rng, out, kept in zip(rngs, outs, figures, strict=True)
            ]
        return [
            Path(
                out,
                self.rounds,
                releases,
                events,
                found=Identified(*identified) if identified and identified[0] >= 0 else None,
                **kept,
            )
            for out, (releases, events, *identified), kept in zip(
                outs, results, figures, strict=True
            )
        ]


def on_rows(kernel: Kernel, rows: Integers | Floats, rounds: int, seed: int) -> RunPlayer:
    """Return the player of runs on rows, shape (…, arms), whose order does not matter."""
    arms = rows.shape[1]
    bound = partial(kernel, np.ascontiguousarray(rows), np.zeros(arms), rounds)
    return RunPlayer(bound, arms, np.int64, rounds, seed)
