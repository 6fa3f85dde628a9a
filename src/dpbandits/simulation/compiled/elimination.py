"""Successive elimination, with and without privacy: one event per arm and epoch (or pass)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.policies import (
    DPSE,
)
from dpbandits.simulation.compiled.driver import UNLIMITED, Kernel, player
from dpbandits.simulation.compiled.jit import elimination_width, epoch, inline, jit, next_guess
from dpbandits.simulation.compiled.parts import laplace

STAGE, LEFT, GUESS, DECIDED = range(4)


class Numbers(NamedTuple):
    """The constants of the policy.

    Args:
        private: True for DP-SE by epochs, else single passes.
        eps: ε.
        beta: failure probability.
        guess: guess of the horizon; 0: none.
        squared: True if guesses are squared, else doubled.
        scale: of the noise, in grid steps.
    """

    private: bool
    eps: float
    beta: float
    guess: int
    squared: bool
    scale: float


@jit
def start(p: Any, s: Any) -> Any:
    """Return stage, number of remaining arms (the first of `chosen`), guess, and the round after
    which one was left.
    """
    state = np.array([1, 0, p.guess, 0])
    restart(s, state)
    return state


@jit
def restart(s: Any, state: Any) -> None:
    state[STAGE], state[LEFT], state[DECIDED] = 1, len(s.n), 0
    for arm in range(len(s.n)):
        s.chosen[arm] = arm


@jit
def stage(p: Any, s: Any, state: Any) -> tuple[int, float]:
    """Return the rounds of each arm, and the width of elimination."""
    if p.private:
        beta = p.beta if state[GUESS] == 0 else 1.0 / state[GUESS]
        return epoch(state[STAGE], state[LEFT], beta, p.eps)
    return 1, elimination_width(state[STAGE], len(s.n), p.beta)


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    if state[LEFT] > 1:
        return state[LEFT], stage(p, s, state)[0]
    return 1, max(1, state[GUESS] - t + 1) if state[GUESS] > 0 else UNLIMITED


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    """All rewards of an epoch are released at its end; of a single remaining arm nothing."""
    return 1 if state[LEFT] > 1 else UNLIMITED


@inline
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    if p.private:
        s.totals[arm], s.n[arm] = total + laplace(rng, p.scale), s.open_[arm]
    else:
        s.totals[arm] += total
        s.n[arm] += s.open_[arm]


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    if state[LEFT] > 1:
        width, alive, left = stage(p, s, state)[1], s.chosen[: state[LEFT]], 0
        top = s.means[alive].max()
        for arm in alive:
            if top - s.means[arm] <= width:
                alive[left], left = arm, left + 1
        state[STAGE], state[LEFT] = state[STAGE] + 1, left
        state[DECIDED] = t if left == 1 else 0
    if 0 < state[GUESS] <= t:
        state[GUESS] = next_guess(state[GUESS], t, p.squared)
        restart(s, state)


@inline
def named(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return s.chosen[0] if state[LEFT] == 1 else -1, state[DECIDED]


play_elimination = player(
    "elimination",
    Numbers=Numbers,
    start=start,
    choose=choose,
    batch=batch,
    read=read,
    learn=learn,
    named=named,
    IN_TURN=True,
)


def successive(policy: Any, steps: int) -> Kernel:
    private = isinstance(policy, DPSE)
    eps, guess = float(policy.epsilon) if private else 1.0, policy.init().guess
    beta, squared = float(policy.beta or 0.5), getattr(policy, "preset", "") == "squared"
    numbers = Numbers(private, eps, beta, guess, squared, steps / eps)
    return partial(play_elimination, tuple(numbers), steps)
