"""Full information: policies by epochs, and policies with a release every round; for independent
rewards by their laws, or for whole records.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from dpbandits.environments.base import Environment
from dpbandits.mechanisms import EachAction, SignedTree, SquareRoot
from dpbandits.mechanisms.base import Mechanism
from dpbandits.mechanisms.counters import FINE, INVERSE_PI, WIDTH, BinaryTree, cells_at
from dpbandits.policies import (
    DecreasingHedge,
    FollowTheLeader,
    NaiveFTNL,
    PrefixExponential,
    RootFTRL,
    TreeFTRL,
)
from dpbandits.policies.contract import Policy
from dpbandits.simulation.compiled.driver import Kernel, RunPlayer, kind_of, on_rows
from dpbandits.simulation.compiled.jit import ftrl_rate, hedge_rate, inline, jit
from dpbandits.simulation.compiled.matroid import RULES, on_matroid
from dpbandits.simulation.compiled.parts import (
    argmax,
    block_sum,
    copy_to,
    gaussian,
    joint_radius,
    laplace,
    play,
    reward,
)
from dpbandits.simulation.compiled.super_arms import OPTIMISTIC, optimistic

# The noise of running sums of whole records: a binary tree for each action, a signed tree with
# joint draws, the square-root factorisation. It does not depend on rewards, so they are added to
# it.


BINARY, SIGNED, ROOT = range(3)


class Counter(NamedTuple):
    """The constants of a counter: `scale` is that of a draw's noise in grid steps, `half` the
    largest digit of a signed tree.
    """

    kind: int
    levels: int
    half: int
    scale: float
    slots: int


def counter_of(mechanism: Mechanism, rounds: int) -> Counter:
    """Return the constants of a mechanism of whole records; for no noise those of no counter."""
    steps = mechanism.grid.steps
    match mechanism:
        case SignedTree():
            scale, half = steps / float(mechanism.share), mechanism.half
            return Counter(SIGNED, mechanism.levels, half, scale, mechanism.levels * (half + 1))
        case SquareRoot():
            scale = FINE * steps / math.sqrt(2.0 * float(mechanism.share))
            slots = sum(1 for _ in cells_at(rounds)) + 2 * WIDTH
            return Counter(ROOT, 1, 0, scale, slots)
        case EachAction(inner=BinaryTree() as tree):
            return Counter(BINARY, tree.levels, 0, steps / float(tree.share), tree.levels)
    return Counter(BINARY, 1, 0, 0.0, 1)


class State(NamedTuple):
    """The noise of all actions now; by slot and action, its parts; and by slot or level, the
    numbers that tell where they belong.
    """

    now: Any
    parts: Any
    places: Any
    sizes: Any


@jit
def begin(c: Any, actions: int) -> Any:
    return State(
        np.zeros(actions),
        np.zeros((c.slots, actions)),
        np.zeros(c.slots, np.int64),
        np.zeros(c.slots, np.int64),
    )


@jit
def binary_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Draw the nodes that this leaf completes; `now` becomes the noise of the padded sums."""
    done, spare, left = 0, c.levels, leaf
    while leaf >> done & 1 == 0:
        done += 1
    while left > 0:
        spare -= left & 1
        left >>= 1
    for action in range(len(s.now)):
        for level in range(done):
            s.parts[level, action] = 0.0
        s.parts[done, action] = laplace(rng, c.scale)
        total = s.parts[:, action].sum()
        for _ in range(spare):
            total += laplace(rng, c.scale)
        s.now[action] = total


@jit
def draw_jointly(c: Any, part: Any, now: Any, sign: float, rng: Any) -> None:
    """Add a joint draw to a part of the noise and, with this sign, to the noise."""
    radius = joint_radius(rng, len(now), c.scale)
    for action in range(len(now)):
        draw = rng.integers(-radius, radius + 1)
        part[action] += draw
        now[action] += sign * draw


@jit
def signed_leaf(c: Any, s: Any, rng: Any) -> None:
    """Go on by one leaf. A level has a slot for the sum of its nodes, or one for each node to be
    taken away; `places` are the digits.
    """
    for level in range(c.levels):
        digit, first = s.places[level], level * (c.half + 1)
        if digit < 0:
            part = s.parts[first - digit]
            s.now[:] += part
            part[:] = 0.0
            s.places[level] += 1
            return
        if digit < c.half:
            draw_jointly(c, s.parts[first], s.now, 1.0, rng)
            s.places[level] += 1
            return
        s.now[:] -= s.parts[first]
        s.parts[first][:] = 0.0
        for node in range(1, c.half + 1):
            draw_jointly(c, s.parts[first + node], s.now, -1.0, rng)
        s.places[level] = -c.half


@jit
def root_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Go on by one block: cells that are old enough are joined, and the newest block's error is
    what its noise and the older ones' errors leave. `places` are the cells' first blocks, and the
    last of the sizes is their number.
    """
    newest, count, kept, at = leaf - 1, s.sizes[-1], 0, 0
    actions = len(s.now)
    while at < count:
        start, size = s.places[at], s.sizes[at]
        joined = 1
        if (
            at + 1 < count
            and start % (2 * size) == 0
            and newest - start >= WIDTH * 2 * size
            and s.sizes[at + 1] == size
        ):
            joined = 2
        for action in range(actions):
            error = s.parts[at, action]
            if joined == 2:
                error += s.parts[at + 1, action]
            s.parts[kept, action] = error
        s.places[kept], s.sizes[kept] = start, joined * size
        kept, at = kept + 1, at + joined
    for action in range(actions):
        s.parts[kept, action] = gaussian(rng, c.scale) / FINE
    for cell in range(kept):
        age = newest - s.places[cell] - s.sizes[cell] + 1
        weight = math.floor(math.sqrt(4 * INVERSE_PI // (4 * age + 1))) / FINE
        for action in range(actions):
            s.parts[kept, action] -= weight * s.parts[cell, action]
    for action in range(actions):
        s.now[action] += s.parts[kept, action]
    s.places[kept], s.sizes[kept] = newest, 1
    s.sizes[-1] = kept + 1


@jit
def add_leaf(c: Any, s: Any, leaf: int, rng: Any) -> None:
    """Set the noise of every action's sum after this many rounds."""
    if c.kind == BINARY:
        binary_leaf(c, s, leaf, rng)
    elif c.kind == SIGNED:
        signed_leaf(c, s, rng)
    else:
        root_leaf(c, s, leaf, rng)


# Policies by epochs. Memory and time of an epoch are those of one pass over the actions.


LAPLACE, GUMBEL, EXPONENTIAL = range(3)

OVERLOOKED = 64.0 * math.log(2.0) + math.log(62.0)
"""−ln of the probability that an epoch may ignore: 62 epochs have 2^−64 together."""


@inline
def noise_of(noise: int, scale: float, rng: Any) -> float:
    """Draw the noise of one sum."""
    if noise == LAPLACE:
        return float(laplace(rng, scale))
    draw = rng.standard_exponential()
    return -scale * math.log(draw) if noise == GUMBEL else scale * draw


@inline
def largest_sum(mean: float, rounds: int, low: float, high: float, log_odds: float) -> float:
    """Return a value that the sum of `rounds` rewards in [low, high] exceeds with probability at
    most e^−log_odds (Bernstein).
    """
    third = (high - low) * log_odds / 3.0
    spread = 2.0 * rounds * (mean - low) * (high - mean) * log_odds
    return min(rounds * high, rounds * mean + third + math.sqrt(third * third + spread))


@jit
def noisy_winner(
    noise: int, scale: float, rounds: int, values: Any, probabilities: Any, means: Any, rng: Any
) -> int:
    """Return the action with the largest noisy sum of `rounds` fresh rewards, the lowest on a tie;
    sums are drawn and compared one by one.

    The action with the largest mean comes first. For another one the sum is not drawn if its noise
    cannot make it win, nor the noise if no noise could. Events of total probability 2^−64 are
    ignored, less than the resolution of a uniform number. So most actions take one comparison.
    """
    actions, low, high = len(means), float(values[0]), float(values[-1])
    log_odds = OVERLOOKED + math.log(2.0 * actions)
    widest = (high - low) * math.sqrt(0.5 * rounds * log_odds) + scale * log_odds  # Hoeffding
    winner = argmax(means)
    top = block_sum(rng, winner, rounds, values, probabilities) + noise_of(noise, scale, rng)
    first = winner
    for action in range(actions):
        mean = means[action]
        if action == first or rounds * mean + widest < top:
            continue
        most = largest_sum(mean, rounds, low, high, log_odds) + 1e-9 * rounds * high
        if most + scale * log_odds < top:
            continue
        draw = noise_of(noise, scale, rng)
        if most + draw < top:
            continue
        score = block_sum(rng, action, rounds, values, probabilities) + draw
        if score > top or (score == top and action < winner):
            winner, top = action, score
    return winner


@jit
def play_epochs(
    noise: int,
    scale: float,
    prefix: bool,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Play epochs of 1, 2, 4, … rounds; with `prefix`, only a random first part of each is
    released. Return (releases, events).
    """
    plays = np.zeros(probabilities.shape[0], out.dtype)
    means = (probabilities * values).sum(axis=1)  # in grid steps
    t, at, releases, events, action, length = 0, 0, 0, 0, 0, 1
    while t < rounds:
        read = length // 2 + 1 + int(rng.random() * (length - length // 2)) if prefix else length
        at = play(action, min(length, rounds - t), t, plays, checkpoints, out, at)
        events += 1
        if t + read > rounds:
            break
        action = noisy_winner(noise, scale, read, values, probabilities, means, rng)
        releases += 1
        if read < length and t + read < rounds:
            events += 1
        t, length = t + length, 2 * length
    return releases, events


# Policies with a release every round: follow the leader, Decreasing Hedge, FTRL on a tree; for
# independent rewards by their laws, or for whole records.


LEADER, HEDGE, FTRL = range(3)


class Hedging(NamedTuple):
    """The constants of a policy; `steps` are grid steps per unit of reward."""

    rule: int
    weighted: bool
    horizon: int
    steps: int


class World(NamedTuple):
    """The environment: records (no row: independent rewards by their laws), and the rewards to add
    up as actions earn them, perhaps none.
    """

    records: Any
    drawn: bool
    rewards: Any


@jit
def weigh(rate: float, totals: Any, weights: Any) -> None:
    """Set weights proportional to exp(rate · total)."""
    top, mass = totals.max(), 0.0
    for action in range(len(totals)):
        weights[action] = math.exp(rate * (totals[action] - top))
        mass += weights[action]
    for action in range(len(totals)):
        weights[action] /= mass


@jit
def drawn(rng: Any, weights: Any) -> int:
    u = rng.random()
    for action in range(len(weights) - 1):
        u -= weights[action]
        if u < 0.0:
            return action
    return len(weights) - 1


@inline
def set_rewards(t: int, law: Any, records: Any, drawn_rows: bool, rng: Any, new: Any) -> int:
    """Set the rewards of round t + 1: independent ones by their laws or, with records, those of a
    row; return the row's number.
    """
    values, probabilities = law
    if len(records) == 0:
        for action in range(len(new)):
            new[action] = reward(rng, action, values, probabilities)
        return -1
    row = int(rng.random() * len(records)) if drawn_rows else t
    copy_to(new, records[row])
    return row


@inline
def keep(t: int, plays: Any, gain: float, checkpoints: Any, out: Any, gained: Any, at: int) -> int:
    """Keep the counts if round t is a checkpoint; return the next checkpoint's index."""
    while at < len(checkpoints) and checkpoints[at] <= t:
        copy_to(out[at], plays)
        if len(gained) > 0:
            gained[at] = gain
        at += 1
    return at


@jit
def set_stakes(p: Any, t: int, totals: Any, weights: Any, rng: Any) -> None:
    """Set the weights that round t plays: 1 for a single action."""
    if p.rule == LEADER:
        action = argmax(totals)
    else:
        actions = len(totals)
        rate = hedge_rate(t, actions) if p.rule == HEDGE else ftrl_rate(p.horizon, actions)
        weigh(rate / p.steps, totals, weights)
        if p.weighted:
            return
        action = drawn(rng, weights)
    weights[:] = 0.0
    weights[action] = 1.0


@jit
def play_every_round(
    numbers: Any,
    world: Any,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
    gained: Any,
) -> tuple[int, int]:
    """Play one run; return (releases, events). `gained` gets the earned rewards at every
    checkpoint; it may be empty.
    """
    p, w, actions = Hedging(*numbers[0]), World(*world), out.shape[1]
    counter = Counter(*numbers[1])
    noise = begin(counter, actions)
    plays, totals, sums = np.zeros(actions, out.dtype), np.zeros(actions), np.zeros(actions)
    new, weights = np.zeros(actions, np.int64), np.zeros(actions)
    at, gain = 0, 0.0
    for t in range(rounds):
        set_stakes(p, t + 1, totals, weights, rng)
        row = set_rewards(t, (values, probabilities), w.records, w.drawn, rng, new)
        for action in range(actions):
            plays[action] += weights[action]
            if len(gained) > 0:
                gain += weights[action] * w.rewards[row, action]
            sums[action] += new[action]
        at = keep(t + 1, plays, gain, checkpoints, out, gained, at)
        if p.rule == FTRL:
            add_leaf(counter, noise, t + 1, rng)
        for action in range(actions):
            totals[action] = sums[action] + noise.now[action]
    return rounds, rounds


# Players on whole records: the rows of a table.


HEDGING: dict[type[Policy], int] = {
    FollowTheLeader: LEADER,
    DecreasingHedge: HEDGE,
    TreeFTRL: FTRL,
    RootFTRL: FTRL,
}

NOTHING = np.zeros(0), np.zeros((0, 1))
"""No rewards to add up, by checkpoints and by rounds."""


def hedging_numbers(policy: Any, steps: int) -> tuple[Any, ...]:
    """Return the fields of `Hedging` and of `Counter`."""
    horizon = policy.horizon if isinstance(policy, TreeFTRL | RootFTRL) else 1
    rule = HEDGING[type(policy)], policy.weighted, horizon, steps
    return rule, tuple(counter_of(policy.reader, horizon))


def independent(arms: int) -> tuple[Any, ...]:
    """Return a world without records: rewards are drawn by their laws."""
    return np.zeros((0, arms), np.int64), False, NOTHING[1]


def every_record(numbers: Any, world: Any, values: Any, probabilities: Any, *rest: Any) -> Any:
    """Play independent rewards."""
    return play_every_round(numbers, world, values, probabilities, *rest, NOTHING[0])


def record_player(
    policy: Policy, environment: Environment, rounds: int, seed: int
) -> RunPlayer | None:
    """Return the player of runs on the environment's records; None without a compiled one."""
    grid = policy.reader.grid
    records = environment.rows_on(grid)
    assert records is not None  # or no compiled player is asked for
    if type(policy) in HEDGING:
        loop: Any = every_record if records.drawn else play_every_round
        rewards = NOTHING[1] if records.drawn else np.ascontiguousarray(records.rewards, np.float64)
        world = np.ascontiguousarray(records.steps), records.drawn, rewards
        law = np.zeros(1, np.int64), np.zeros((1, 1))
        kernel = partial(loop, hedging_numbers(policy, grid.steps), world, *law, rounds)
        keeps: Literal["", "rewards"] = "" if records.drawn else "rewards"
        return RunPlayer(kernel, policy.arms, kind_of(policy), rounds, seed, keeps)
    build = on_matroid if type(policy) in RULES else optimistic
    if not records.drawn or type(policy) not in (*RULES, *OPTIMISTIC):
        return None
    kernel_on = build(policy, grid.steps, together=True)
    return None if kernel_on is None else on_rows(kernel_on, records.steps, rounds, seed)


def leaders(policy: Any, steps: int) -> Kernel:
    """Return the kernel of epochs with one action. Every kind of noise has scale 2/ε, except for
    the sums of NaiveFTNL, at ε/K each, with scale K/ε.
    """
    if isinstance(policy, NaiveFTNL):
        return partial(
            play_epochs,
            LAPLACE,
            steps * policy.actions / float(policy.epsilon),
            False,
        )
    mechanism = policy.reader
    noise = {
        "laplace": LAPLACE,
        "exponential": GUMBEL,
        "permute-and-flip": EXPONENTIAL,
    }[mechanism.selection]
    return partial(
        play_epochs,
        noise,
        2 * steps / float(mechanism.epsilon),
        isinstance(policy, PrefixExponential),
    )


def hedging(policy: Any, steps: int) -> Kernel:
    return partial(every_record, hedging_numbers(policy, steps), independent(policy.arms))
