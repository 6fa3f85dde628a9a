"""Successive elimination, with and without privacy: one event an arm and epoch (or pass)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.policies import (
    DPSE,
)
from dpbandits.simulation.compiled.driver import FAR, Kernel, player
from dpbandits.simulation.compiled.jit import elimination_width, epoch, inline, jit, next_guess
from dpbandits.simulation.compiled.parts import laplace

# Successive elimination, with and without privacy: one event an arm and epoch (or pass).


STAGE, LEFT, GUESS, DECIDED = range(4)


class Numbers(NamedTuple):
    """private: DP-SE by epochs, else single passes. guess: of the horizon; 0: none. squared: so
    guesses grow, else they are doubled.
    """

    private: bool
    eps: float
    beta: float
    guess: int
    squared: bool
    scale: float


@jit
def start(p: Any, s: Any) -> Any:
    """Stage, arms left (so many of `chosen`), guess, and the round after which one was left."""
    own = np.array([1, 0, p.guess, 0])
    restart(s, own)
    return own


@jit
def restart(s: Any, own: Any) -> None:
    own[STAGE], own[LEFT], own[DECIDED] = 1, len(s.n), 0
    for arm in range(len(s.n)):
        s.chosen[arm] = arm


@jit
def stage(p: Any, s: Any, own: Any) -> tuple[int, float]:
    """Rounds of each arm, and the width of elimination."""
    if p.private:
        beta = p.beta if own[GUESS] == 0 else 1.0 / own[GUESS]
        return epoch(own[STAGE], own[LEFT], beta, p.eps)
    return 1, elimination_width(own[STAGE], len(s.n), p.beta)


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    if own[LEFT] > 1:
        return own[LEFT], stage(p, s, own)[0]
    return 1, max(1, own[GUESS] - t + 1) if own[GUESS] > 0 else FAR


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    """All that an epoch told is read at its end; of an arm that is alone nothing."""
    return 1 if own[LEFT] > 1 else FAR


@inline
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    if p.private:
        s.totals[arm], s.n[arm] = total + laplace(rng, p.scale), s.open_[arm]
    else:
        s.totals[arm] += total
        s.n[arm] += s.open_[arm]


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    if own[LEFT] > 1:
        width, alive, left = stage(p, s, own)[1], s.chosen[: own[LEFT]], 0
        top = s.means[alive].max()
        for arm in alive:
            if top - s.means[arm] <= width:
                alive[left], left = arm, left + 1
        own[STAGE], own[LEFT] = own[STAGE] + 1, left
        own[DECIDED] = t if left == 1 else 0
    if 0 < own[GUESS] <= t:
        own[GUESS] = next_guess(own[GUESS], t, p.squared)
        restart(s, own)


@inline
def named(p: Any, s: Any, own: Any) -> tuple[int, int]:
    return s.chosen[0] if own[LEFT] == 1 else -1, own[DECIDED]


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
