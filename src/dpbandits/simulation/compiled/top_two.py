"""Top-two identification: AdaPTT by batches, CTBTT by blocks of randomised bits, with the law of
the bits.
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
from dpbandits.simulation.compiled.driver import UNLIMITED, Kernel, player
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

IDENTIFIED, DECIDED = range(2)


class TopTwo(NamedTuple):
    """The constants of AdaPTT: `first` is the rounds in an arm's first batch, `keep` the number of
    newest batches behind its mean.
    """

    published: bool
    eps: float
    delta: float
    first: int
    keep: int
    scale: float


class Batches(NamedTuple):
    """By arm, the number of released batches and a ring of the newest; and the identified arm, −1
    before, with its round.
    """

    phases: Any
    totals: Any
    sizes: Any
    identified: Any


@jit
def undecided(arms: int) -> Any:
    return np.array([0 if arms == 1 else -1, 0])


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    ring = np.zeros((2, arms, p.keep), np.int64)
    return Batches(np.zeros(arms, np.int64), ring[0], ring[1], undecided(arms))


@inline
def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    if state.identified[IDENTIFIED] >= 0:
        return UNLIMITED
    return planned(p.first, state.phases[arm] + 1) - planned(p.first, state.phases[arm])


@inline
def choose(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose all arms at first, then the leader and its challenger, until the first of their
    batches is full.
    """
    arms = len(s.n)
    if state.identified[IDENTIFIED] >= 0:
        s.chosen[0] = state.identified[IDENTIFIED]
        return 1, UNLIMITED
    if t == 1:
        for arm in range(arms):
            s.chosen[arm] = arm
    else:
        arms = 2
        s.chosen[0] = leading(s.means, s.n, state.phases, p.eps)
        s.chosen[1] = challenging(s.chosen[0], s.means, s.plays, t - 1, not p.published)
    times = UNLIMITED
    for i in range(arms):
        times = min(times, batch(p, s, state, s.chosen[i]) - s.open_[s.chosen[i]])
    return arms, times


@inline
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Add one noise draw to a batch, which replaces the oldest one in the ring."""
    slot = state.phases[arm] % p.keep
    state.totals[arm, slot], state.sizes[arm, slot] = total + laplace(rng, p.scale), s.open_[arm]
    s.n[arm], s.totals[arm] = state.sizes[arm].sum(), state.totals[arm].sum()
    state.phases[arm] += 1


@inline
def learn(p: Any, s: Any, state: Any, t: int) -> None:
    state.identified[IDENTIFIED] = settled(
        s.means, s.n, state.phases, p.first, p.keep, p.delta, p.eps, p.published
    )
    state.identified[DECIDED] = t if state.identified[IDENTIFIED] >= 0 else 0


@inline
def named(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return state.identified[IDENTIFIED], state.identified[DECIDED]


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
    """The constants of CTBTT: a block is an arm's rounds divided by `lazy`; `scale` is 0, because
    the bits are already noisy.
    """

    delta: float
    lazy: int
    scale: float = 0.0


@jit
def start_bits(p: Any, s: Any) -> Any:
    return undecided(len(s.n))


@inline
def choose_bits(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose all arms at first, then the leader and its challenger, for a share of their rounds so
    far.
    """
    arms = len(s.n)
    if state[IDENTIFIED] >= 0:
        s.chosen[0] = state[IDENTIFIED]
        return 1, UNLIMITED
    if t == 1:
        for arm in range(arms):
            s.chosen[arm] = arm
    else:
        arms = 2
        s.chosen[0] = leading_bits(s.means, s.plays, t - 1)
        s.chosen[1] = challenging_bits(s.chosen[0], s.means, s.plays)
    fewest = UNLIMITED
    for i in range(arms):
        fewest = min(fewest, s.plays[s.chosen[i]])
    return arms, max(1, fewest // p.lazy)


@inline
def batch_bits(p: Any, s: Any, state: Any, arm: int) -> int:
    return 1 if state[IDENTIFIED] < 0 else UNLIMITED


@inline
def learn_bits(p: Any, s: Any, state: Any, t: int) -> None:
    state[IDENTIFIED] = settled_bits(s.means, s.plays, p.delta)
    state[DECIDED] = t if state[IDENTIFIED] >= 0 else 0


@inline
def named_bits(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return state[IDENTIFIED], state[DECIDED]


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
    """Return the kernel, which uses the law of the reports, which are bits."""
    numbers, truth = BitNumbers(float(policy.delta), LAZY), policy.randomizer().keep

    def play(values: Any, probabilities: Any, *rest: Any) -> Any:
        means = probabilities @ values / steps
        ones = truth * means + (1.0 - truth) * (1.0 - means)
        law = np.stack([1.0 - ones, ones], axis=1)
        return play_bits(tuple(numbers), steps, np.array([0, steps]), law, *rest)

    return play
