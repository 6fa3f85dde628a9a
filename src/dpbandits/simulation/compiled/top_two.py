"""Top-two identification: AdaPTT by batches, CTBTT by blocks of randomised bits, whose law it is
given.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.policies import (
    CTBTT,
    AdaPTT,
)
from dpbandits.policies.identification import LAZY
from dpbandits.simulation.compiled.driver import FAR, Kernel, player
from dpbandits.simulation.compiled.jit import (
    challenging,
    challenging_bits,
    inline,
    jit,
    leading,
    leading_bits,
    planned,
    settled,
    settled_bits,
)
from dpbandits.simulation.compiled.parts import laplace

# Top-two identification: AdaPTT by batches, CTBTT by blocks of randomised bits, whose law it is
# given.


FOUND, DECIDED = range(2)


class TopTwo(NamedTuple):
    """first: rounds in an arm's first batch. keep: newest batches of an arm that its mean is of."""

    published: bool
    eps: float
    delta: float
    first: int
    keep: int
    scale: float


class Batches(NamedTuple):
    """Of each arm the batches read and a ring of the newest; the arm found, −1 before, and when."""

    phases: Any
    totals: Any
    sizes: Any
    found: Any


@jit
def undecided(arms: int) -> Any:
    return np.array([0 if arms == 1 else -1, 0])


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    ring = np.zeros((2, arms, p.keep), np.int64)
    return Batches(np.zeros(arms, np.int64), ring[0], ring[1], undecided(arms))


@inline
def batch(p: Any, s: Any, own: Any, arm: int) -> int:
    if own.found[FOUND] >= 0:
        return FAR
    return planned(p.first, own.phases[arm] + 1) - planned(p.first, own.phases[arm])


@inline
def choose(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """All arms at first, then the leader and its challenger, until the first of their batches is
    full.
    """
    arms = len(s.n)
    if own.found[FOUND] >= 0:
        s.chosen[0] = own.found[FOUND]
        return 1, FAR
    if t == 1:
        for arm in range(arms):
            s.chosen[arm] = arm
    else:
        arms = 2
        s.chosen[0] = leading(s.means, s.n, own.phases, p.eps)
        s.chosen[1] = challenging(s.chosen[0], s.means, s.plays, t - 1, not p.published)
    times = FAR
    for i in range(arms):
        times = min(times, batch(p, s, own, s.chosen[i]) - s.open_[s.chosen[i]])
    return arms, times


@inline
def read(p: Any, s: Any, own: Any, arm: int, total: int, rng: Any) -> None:
    """A batch is noised once, and takes the place of the oldest that is kept."""
    slot = own.phases[arm] % p.keep
    own.totals[arm, slot], own.sizes[arm, slot] = total + laplace(rng, p.scale), s.open_[arm]
    s.n[arm], s.totals[arm] = own.sizes[arm].sum(), own.totals[arm].sum()
    own.phases[arm] += 1


@inline
def learn(p: Any, s: Any, own: Any, t: int) -> None:
    own.found[FOUND] = settled(
        s.means, s.n, own.phases, p.first, p.keep, p.delta, p.eps, p.published
    )
    own.found[DECIDED] = t if own.found[FOUND] >= 0 else 0


@inline
def named(p: Any, s: Any, own: Any) -> tuple[int, int]:
    return own.found[FOUND], own.found[DECIDED]


play_top_two = player(
    "top_two",
    Numbers=TopTwo,
    start=start,
    choose=choose,
    batch=batch,
    read=read,
    learn=learn,
    named=named,
    IN_TURN=True,
)


class BitNumbers(NamedTuple):
    """lazy: a block is an arm's rounds divided by it. scale: of noise; the bits have their own."""

    delta: float
    lazy: int
    scale: float = 0.0


@jit
def start_bits(p: Any, s: Any) -> Any:
    return undecided(len(s.n))


@inline
def choose_bits(p: Any, s: Any, own: Any, t: int, rng: Any) -> tuple[int, int]:
    """All arms at first, then the leader and its challenger, for a share of their rounds so far."""
    arms = len(s.n)
    if own[FOUND] >= 0:
        s.chosen[0] = own[FOUND]
        return 1, FAR
    if t == 1:
        for arm in range(arms):
            s.chosen[arm] = arm
    else:
        arms = 2
        s.chosen[0] = leading_bits(s.means, s.plays, t - 1)
        s.chosen[1] = challenging_bits(s.chosen[0], s.means, s.plays)
    fewest = FAR
    for i in range(arms):
        fewest = min(fewest, s.plays[s.chosen[i]])
    return arms, max(1, fewest // p.lazy)


@inline
def batch_bits(p: Any, s: Any, own: Any, arm: int) -> int:
    return 1 if own[FOUND] < 0 else FAR


@inline
def learn_bits(p: Any, s: Any, own: Any, t: int) -> None:
    own[FOUND] = settled_bits(s.means, s.plays, p.delta)
    own[DECIDED] = t if own[FOUND] >= 0 else 0


@inline
def named_bits(p: Any, s: Any, own: Any) -> tuple[int, int]:
    return own[FOUND], own[DECIDED]


play_bits = player(
    "bits",
    Numbers=BitNumbers,
    start=start_bits,
    choose=choose_bits,
    batch=batch_bits,
    learn=learn_bits,
    named=named_bits,
    IN_TURN=True,
)


def top_two(policy: AdaPTT, steps: int) -> Kernel:
    eps, published = float(policy.epsilon), policy.preset == "published"
    numbers = TopTwo(published, eps, float(policy.delta), policy.start, policy.keep, steps / eps)
    return partial(play_top_two, tuple(numbers), steps)


def bits(policy: CTBTT, steps: int) -> Kernel:
    """The loop sees the law of the reports, which are bits."""
    numbers, truth = BitNumbers(float(policy.delta), LAZY), policy.randomizer().keep

    def play(values: Any, probabilities: Any, *rest: Any) -> Any:
        means = probabilities @ values / steps
        ones = truth * means + (1.0 - truth) * (1.0 - means)
        law = np.stack([1.0 - ones, ones], axis=1)
        return play_bits(tuple(numbers), steps, np.array([0, steps]), law, *rest)

    return play
