"""The loop of `driver.py` for dependent rewards of one round: a random row of a table each round.
Sums are added as rounds are played, because the law of a block does not determine them.

Its parts are those of the policy's other player.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpbandits.simulation.compiled.driver import Arms, learn, observe, start
from dpbandits.simulation.compiled.jit import jit, specialised
from dpbandits.simulation.compiled.parts import binomial, borrowed, play_together

start, learn, observe = start, learn, observe
Numbers: Any = None
choose: Any = None
batch: Any = None
read: Any = None
"""Every player defines these four, and others of these if it needs them."""


@jit
def add_rows(rows: Any, times: int, observed: Any, count: int, sums: Any, rng: Any) -> None:
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


def drive_together(
    numbers: Any, steps: int, rows: Any, rounds: int, checkpoints: Any, rng: Any, out: Any
) -> tuple[int, int]:
    """Play one run; return (releases, events)."""
    counts = np.zeros((7, rows.shape[1]), np.int64)
    s = Arms(
        counts[0], counts[1], counts[2], counts[3], counts[4], np.zeros(rows.shape[1]), counts[5]
    )
    p = Numbers(*numbers)
    state = start(p, s)
    return run_together(p, s, state, steps, (rows, counts[6]), rounds, (checkpoints, out), rng)


def run_together(
    p: Any, s: Any, state: Any, steps: int, world: Any, rounds: int, kept: Any, rng: Any
) -> tuple[int, int]:
    """Run the loop. `world` has rows, and the sums of open blocks; `kept` has the rounds at which
    play counts are kept, and the array for them.
    """
    p, s, state, rng = borrowed(p), borrowed(s), borrowed(state), borrowed(rng)
    (rows, sums), (checkpoints, out) = borrowed(world), borrowed(kept)
    t, at, releases, events = 0, 0, 0, 0
    while t < rounds:
        size, times = choose(p, s, state, t + 1, rng)
        observed, count = observe(p, s, state, size)
        for i in range(count):
            times = min(times, batch(p, s, state, observed[i]) - s.open_[observed[i]])
        times = min(times, rounds - t)
        at = play_together(s.chosen, size, times, t, s.plays, checkpoints, out, at)
        add_rows(rows, times, observed, count, sums, rng)
        t, events = t + times, events + 1
        for i in range(count):
            arm = observed[i]
            s.open_[arm] += times
            if s.open_[arm] >= batch(p, s, state, arm):
                read(p, s, state, arm, sums[arm], rng)
                s.means[arm] = s.totals[arm] / (steps * s.n[arm])
                s.open_[arm], sums[arm], releases = 0, 0, releases + 1
        learn(p, s, state, t)
    return releases, events


def player_together(name: str, **parts: Any) -> Any:
    """Return the loop with these parts, compiled at its first call."""
    parts["run_together"] = specialised(run_together, name, **parts)
    return specialised(drive_together, name, **parts)
