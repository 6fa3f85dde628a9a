"""Identification: successive elimination, with and without privacy, one event per arm and epoch (or
pass); and top-two policies, by batches or by blocks of randomised bits. And stopping rules: NAS,
DP-NAS and DP exponential NAS, in one loop over tests (one per value, or per doubling).
"""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.environments.base import Environment
from dpbandits.policies import (
    CTBTT,
    DPSE,
    AdaPTT,
)
from dpbandits.policies.identification import LAZY
from dpbandits.policies.stopping import DPExponentialNAS, StoppingRule, Watching
from dpbandits.simulation.compiled.driver import (
    UNLIMITED,
    EventPlayer,
    Kernel,
    generator,
    law_of,
    player,
)
from dpbandits.simulation.compiled.jit import (
    challenging,
    challenging_bits,
    elimination_width,
    epoch,
    inline,
    jit,
    leading,
    leading_bits,
    nas_bar,
    next_guess,
    planned,
    private_bar,
    settled,
    settled_bits,
    specialised,
)
from dpbandits.simulation.compiled.parts import block_sum, laplace, reward
from dpbandits.simulation.plain import Path

STAGE, LEFT, GUESS, SINCE = range(4)


class EliminationNumbers(NamedTuple):
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
def start_elimination(p: Any, s: Any) -> Any:
    """Return stage, number of remaining arms (the first of `chosen`), guess, and the round after
    which one was left.
    """
    state = np.array([1, 0, p.guess, 0])
    restart(s, state)
    return state


@jit
def restart(s: Any, state: Any) -> None:
    state[STAGE], state[LEFT], state[SINCE] = 1, len(s.n), 0
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
def choose_alive(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    if state[LEFT] > 1:
        return state[LEFT], stage(p, s, state)[0]
    return 1, max(1, state[GUESS] - t + 1) if state[GUESS] > 0 else UNLIMITED


@inline
def batch_of_epoch(p: Any, s: Any, state: Any, arm: int) -> int:
    """All rewards of an epoch are released at its end; of a single remaining arm nothing."""
    return 1 if state[LEFT] > 1 else UNLIMITED


@inline
def read_epoch(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    if p.private:
        s.totals[arm], s.n[arm] = total + laplace(rng, p.scale), s.open_[arm]
    else:
        s.totals[arm] += total
        s.n[arm] += s.open_[arm]


@inline
def eliminate(p: Any, s: Any, state: Any, t: int) -> None:
    if state[LEFT] > 1:
        width, alive, left = stage(p, s, state)[1], s.chosen[: state[LEFT]], 0
        top = s.means[alive].max()
        for arm in alive:
            if top - s.means[arm] <= width:
                alive[left], left = arm, left + 1
        state[STAGE], state[LEFT] = state[STAGE] + 1, left
        state[SINCE] = t if left == 1 else 0
    if 0 < state[GUESS] <= t:
        state[GUESS] = next_guess(state[GUESS], t, p.squared)
        restart(s, state)


@inline
def survivor(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return s.chosen[0] if state[LEFT] == 1 else -1, state[SINCE]


play_elimination = player(
    "elimination",
    Numbers=EliminationNumbers,
    start=start_elimination,
    choose=choose_alive,
    batch=batch_of_epoch,
    read=read_epoch,
    learn=eliminate,
    named=survivor,
    IN_TURN=True,
)


def successive(policy: Any, steps: int) -> Kernel:
    private = isinstance(policy, DPSE)
    eps, guess = float(policy.epsilon) if private else 1.0, policy.init().guess
    beta, squared = float(policy.beta or 0.5), getattr(policy, "preset", "") == "squared"
    numbers = EliminationNumbers(private, eps, beta, guess, squared, steps / eps)
    return partial(play_elimination, tuple(numbers), steps)


# Top-two identification: AdaPTT by batches, CTBTT by blocks of randomised bits, with the law of
# the bits.


IDENTIFIED, DECIDED = range(2)


class TopTwo(NamedTuple):
    """The constants of AdaPTT and CTBTT.

    Args:
        published: the preset of AdaPTT.
        eps: ε.
        delta: failure probability.
        first: rounds in an arm's first batch.
        keep: number of newest batches behind an arm's mean.
        scale: of the noise, in grid steps; 0 for bits, which are already noisy.
    """

    published: bool
    eps: float
    delta: float
    first: int
    keep: int
    scale: float


class Batches(NamedTuple):
    """By arm, the number of released batches and a ring of the newest, which bits do not use; and
    the identified arm, −1 before, with its round.
    """

    phases: Any
    totals: Any
    sizes: Any
    identified: Any


BITS: Any = None
"""Whether the policy is CTBTT. Set for each of both."""


@jit
def start(p: Any, s: Any) -> Any:
    arms = len(s.n)
    ring = np.zeros((2, arms, p.keep), np.int64)
    identified = np.array([0 if arms == 1 else -1, 0])
    return Batches(np.zeros(arms, np.int64), ring[0], ring[1], identified)


def batch(p: Any, s: Any, state: Any, arm: int) -> int:
    if state.identified[IDENTIFIED] >= 0:
        return UNLIMITED
    if BITS:
        return 1
    return planned(p.first, state.phases[arm] + 1) - planned(p.first, state.phases[arm])


def choose_two(p: Any, s: Any, state: Any, t: int, rng: Any) -> tuple[int, int]:
    """Choose all arms at first, then the leader and its challenger: until the first of their
    batches is full, or for a share of their rounds so far.
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
        if BITS:
            s.chosen[0] = leading_bits(s.means, s.plays, t - 1)
            s.chosen[1] = challenging_bits(s.chosen[0], s.means, s.plays)
        else:
            s.chosen[0] = leading(s.means, s.n, state.phases, p.eps)
            s.chosen[1] = challenging(s.chosen[0], s.means, s.plays, t - 1, not p.published)
    times = UNLIMITED
    for i in range(arms):
        arm = s.chosen[i]
        times = min(times, s.plays[arm] if BITS else batch(p, s, state, arm) - s.open_[arm])
    return arms, max(1, times // LAZY) if BITS else times


@inline
def read(p: Any, s: Any, state: Any, arm: int, total: int, rng: Any) -> None:
    """Add one noise draw to a batch, which replaces the oldest one in the ring."""
    slot = state.phases[arm] % p.keep
    state.totals[arm, slot], state.sizes[arm, slot] = total + laplace(rng, p.scale), s.open_[arm]
    s.n[arm], s.totals[arm] = state.sizes[arm].sum(), state.totals[arm].sum()
    state.phases[arm] += 1


def settle(p: Any, s: Any, state: Any, t: int) -> None:
    if BITS:
        state.identified[IDENTIFIED] = settled_bits(s.means, s.plays, p.delta)
    else:
        state.identified[IDENTIFIED] = settled(
            s.means, s.n, state.phases, p.first, p.keep, p.delta, p.eps, p.published
        )
    state.identified[DECIDED] = t if state.identified[IDENTIFIED] >= 0 else 0


@inline
def named(p: Any, s: Any, state: Any) -> tuple[int, int]:
    return state.identified[IDENTIFIED], state.identified[DECIDED]


def player_of_two(name: str, bits: bool, **parts: Any) -> EventPlayer:
    parts["BITS"] = bits
    for part, template in (("batch", batch), ("choose", choose_two), ("learn", settle)):
        parts[part] = specialised(template, name, compiler=inline, **parts)
    return player(name, Numbers=TopTwo, start=start, named=named, IN_TURN=True, **parts)


play_top_two = player_of_two("top_two", False, read=read)
play_bits = player_of_two("bits", True)


def top_two(policy: AdaPTT, steps: int) -> Kernel:
    eps, published = float(policy.epsilon), policy.preset == "published"
    kept = policy.start, policy.keep
    numbers = TopTwo(published, eps, float(policy.delta), *kept, steps / eps)
    return partial(play_top_two, tuple(numbers), steps)


def bits(policy: CTBTT, steps: int) -> Kernel:
    """Return the kernel, which uses the law of the reports, which are bits."""
    numbers = TopTwo(False, 1.0, float(policy.delta), 1, 1, 0.0)
    truth = policy.randomizer().keep

    def play(values: Any, probabilities: Any, *rest: Any) -> Any:
        means = probabilities @ values / steps
        ones = truth * means + (1.0 - truth) * (1.0 - means)
        law = np.stack([1.0 - ones, ones], axis=1)
        return play_bits(tuple(numbers), steps, np.array([0, steps]), law, *rest)

    return play


# Stopping rules.


LARGE = 2.0**62
"""In grid steps: no sum reaches this, so a bar above it is never reached."""


class StoppingNumbers(NamedTuple):
    """The constants of a rule: shift and unit are numerator and denominator of the value of a
    reward of 0, in grid steps.
    """

    alpha: float
    beta: float
    eps: float
    cap: int
    shift: int
    unit: int


@inline
def reached(
    private: bool, p: Any, steps: int, t: int, total: int, tests: int, threshold: int, rng: Any
) -> bool:
    """Return whether t values with the sum `total` are beyond the bar of this test."""
    if private:
        bar = steps * private_bar(t, math.log(tests), p.alpha, p.beta, p.eps)
    else:
        bar = steps * nas_bar(t, p.alpha, p.beta)
    distance = abs(p.shift * t + p.unit * total)
    if p.unit != 1:
        distance //= p.unit
    if private:
        distance += laplace(rng, 6.0 * (steps / p.eps)) - threshold
    return bar < LARGE and distance >= math.ceil(bar)


PRIVATE: Any = None
DOUBLING: Any = None
"""Set for each kind of rule."""


def run_tests(
    numbers: Any, steps: int, values: Any, probabilities: Any, rounds: int, rng: Any
) -> tuple[int, int, bool, int]:
    """Return the values taken when it stopped (0: not within `rounds`), their noisy sum in grid
    steps, whether it was capped, and the number of tests.
    """
    p = StoppingNumbers(*numbers)
    t, total, tests, levels = 0, 0, 0, len(values)
    chance, last = probabilities[0, levels - 1], min(rounds, p.cap)
    threshold = laplace(rng, 6.0 * (steps / p.eps)) if PRIVATE else 0
    while True:
        size = min(1 << (tests + 1), p.cap) - t if DOUBLING else 1
        if t + size > last:
            return 0, 0, False, tests
        if DOUBLING:
            total += block_sum(rng, 0, size, values, probabilities)
        elif levels == 2:
            total += values[1] if rng.random() < chance else values[0]
        else:
            total += reward(rng, 0, values, probabilities)
        t, tests = t + size, tests + 1
        above = reached(PRIVATE, p, steps, t, total, tests, threshold, rng)
        if above or t >= p.cap:
            noise = laplace(rng, 2.0 * (steps / p.eps)) if PRIVATE else 0
            return t, total + noise, not above, tests


@cache
def stopper(private: bool, doubling: bool) -> Any:
    """Return the loop for one kind of rule; the two flags are constants to the compiler."""
    return specialised(run_tests, f"{private}_{doubling}", PRIVATE=private, DOUBLING=doubling)


def watched(policy: Any, steps: int) -> Any:
    """Return the kernel for `simulate`: a single arm's play counts, and tests as releases."""
    run = loop(policy)
    doubling = isinstance(policy, DPExponentialNAS)
    return None if run is None else partial(count_tests, run, doubling, policy.cap)


def count_tests(
    run: Any,
    doubling: bool,
    cap: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Return the number of tests, and of events: rounds after the last test are one more event."""
    tests = run(values, probabilities, rounds, rng)[3]
    out[:, 0] = checkpoints
    read = min(1 << tests, cap) if doubling and tests else tests
    return tests, tests + (read < rounds)


def loop(policy: StoppingRule) -> Any:
    """Return the compiled loop with this rule's numbers; None if they are too large for machine
    integers.
    """
    mechanism: Any = policy.reader
    shift, unit = mechanism.offset
    steps = mechanism.grid.steps
    if policy.cap * (abs(shift) + unit * steps) >= LARGE:
        return None
    eps = float(mechanism.epsilon or 1)
    stop = stopper(mechanism.epsilon is not None, isinstance(policy, DPExponentialNAS))
    numbers = StoppingNumbers(float(policy.alpha), float(policy.beta), eps, policy.cap, shift, unit)
    return partial(stop, tuple(numbers), steps)


def stopping_player(
    policy: StoppingRule, environment: Environment, seed: int
) -> partial[Path] | None:
    """Return a function of (checkpoints, run) that plays one run to its end; None if it cannot be
    compiled.
    """
    run = loop(policy)
    if run is None:
        return None
    stop = partial(run, *law_of(policy, environment), policy.cap)
    return partial(stop_run, policy.mechanism().mean, stop, seed)


def stop_run(mean: Any, stop: Any, seed: int, checkpoints: Integers, run: int) -> Path:
    read, total, capped, tests = stop(generator(seed, run))
    return Path(
        np.array([[read]]),
        read,
        tests,
        tests,
        state=Watching(read, mean(read, total), read, capped),
    )
