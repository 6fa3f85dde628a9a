"""Index policies that release after every round, in one compiled loop over rounds."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from dpbandits.mechanisms import SignedCounter
from dpbandits.policies import DPUCB, LDPKLUCB, LDPUCB, DPUCBBound, HybridUCB
from dpbandits.policies.formulas.indices import IndexNumbers, IndexRule, kl_ucb_score
from dpbandits.simulation.compiled.driver import Kernel
from dpbandits.simulation.compiled.jit import (
    FORMULAS,
    clip01,
    forced_rounds,
    inline,
    kl,
    kl_level,
    specialised,
)
from dpbandits.simulation.compiled.parts import (
    argmax,
    borrowed,
    copy_to,
    hybrid_leaf,
    laplace,
    popcount,
    reward,
    signed_leaf,
    signed_sizes,
    tree_leaf,
)

# Scores are the policy's formulas (`policies/formulas/indices.py`), compiled. Memory is independent
# of the rounds.
#
# KL-UCB's scores are expensive: an arm is played without them while it cannot be overtaken. A score
# grows only with t while its arm is not played. So the others' scores at a later round, the bar,
# are above theirs until then, and the played arm has the largest score as long as its score at an
# earlier round is above the bar: one divergence tells. If that is undecided, all scores are
# computed. The decisions equal those of all scores, bit for bit: SLACK and ROUNDING are larger than
# rounding errors.


PLAIN, LOCAL_LAPLACE, RESPONSE = range(3)
EXACT, POWERS, DOUBLING, PRINTED, TREE, SIGNED = range(6)

ARM, BAR, SINCE, UNTIL, SPAN = range(5)
"""Entries of a streak: the played arm; the bar; the level from which it is valid, and the round
until which it is; and the number of rounds of the next bar.
"""

SLACK, ROUNDING = 1e-11, 1e-14
"""Margins of scores, and of divergences."""


class Numbers(NamedTuple):
    """The constants of a policy.

    Args:
        rule: of its formulas.
        noise: scale of the noise of reports or of a counter's nodes, in grid steps.
        keep: probability that a randomised bit is the true one.
        half: the largest digit of a signed tree.
        slots: numbers of a counter's noise.
    """

    rule: IndexNumbers
    noise: float
    keep: float
    half: int
    slots: int


class Tracked(NamedTuple):
    """Counts by arm: rounds, sum in grid steps, mean, score; nodes of its counter (of a signed tree
    its digits, and its noise); and its segment's number, leaves and exact sum while open, and noisy
    sum of the closed ones. And the streak (see above).
    """

    n: Any
    sums: Any
    means: Any
    scores: Any
    exact: Any
    noised: Any
    segments: Any
    streak: Any


SCORE: Any = None
KINDS: Any = None
"""A policy's formula, and its `Kinds`. Set for each policy."""


class Kinds(NamedTuple):
    """Properties of a policy, constants to the compiler.

    Args:
        feedback: what the server gets of a reward.
        counter: how rewards are added.
        streaks: True if scores are KL-UCB's, and an arm is played while it cannot be overtaken.
        forced: True if the arm with the fewest rounds is played first while these are too few.
    """

    feedback: int
    counter: int
    streaks: bool
    forced: bool


def score_at(p: Any, s: Any, arm: int, log_t: float) -> float:
    draws = 0
    if KINDS.counter == TREE:
        draws = popcount(s.n[arm])
    elif KINDS.counter == SIGNED:
        draws = s.exact[arm, -1]
    return SCORE(p.rule, s.means[arm], s.n[arm], draws, log_t, 0.0)


def still_best(t: int, p: Any, s: Any) -> bool:
    """Return whether the arm played before surely has the largest score at round t."""
    streak = s.streak
    if t > streak[UNTIL]:
        return False
    arm, bar = int(streak[ARM]), streak[BAR]
    mean = clip01(s.means[arm])
    if mean >= bar:
        return True
    return bar < 1.0 and kl(mean, bar) + ROUNDING < streak[SINCE] / s.n[arm]


def set_bar(t: int, arm: int, p: Any, s: Any) -> None:
    """Set the bar after all scores were computed for round t and `arm` had the largest, if it had
    it before, too.
    """
    streak = s.streak
    again = arm == streak[ARM]
    # a bar that expired was too near in time, one that was reached was too far
    if again and t > streak[UNTIL]:
        streak[SPAN] = min(2.0 * streak[SPAN], 1e15)
    elif streak[UNTIL] > 0.0:
        streak[SPAN] = max(1.0, 0.5 * streak[SPAN])
    streak[ARM], streak[UNTIL] = arm, 0.0
    if again:
        until, bar = t + int(streak[SPAN]), -math.inf
        for other in range(len(s.n)):
            if other != arm:
                bar = max(bar, score_at(p, s, other, math.log(until)))
        since = kl_level(math.log(t), p.rule.constant)
        streak[BAR], streak[SINCE], streak[UNTIL] = bar + SLACK, since, until


def set_scores(t: int, p: Any, s: Any) -> None:
    """Compute every arm's score at round t; a separate loop, so that the compiler vectorises it."""
    log_t, fewest = math.log(t), s.n[0]
    for arm in range(len(s.n)):
        fewest = min(fewest, s.n[arm])
        s.scores[arm] = score_at(p, s, arm, log_t)
    if KINDS.forced and fewest <= forced_rounds(t):
        for arm in range(len(s.n)):
            s.scores[arm] = -s.n[arm]


def arm_to_play(t: int, p: Any, s: Any) -> int:
    """Return the arm with the largest score at round t, the lowest on a tie."""
    if KINDS.streaks and still_best(t, p, s):
        return int(s.streak[ARM])
    set_scores(t, p, s)
    arm: int = argmax(s.scores)
    if KINDS.streaks:
        set_bar(t, arm, p, s)
    return arm


def server_view(x: int, steps: int, p: Any, rng: Any) -> int:
    """Return what the server gets of a reward of x grid steps."""
    if KINDS.feedback == LOCAL_LAPLACE:
        return x + laplace(rng, p.noise)
    if KINDS.feedback == RESPONSE:
        bit = rng.random() * steps < x
        return steps if bit == (rng.random() < p.keep) else 0
    return x


def added_to_sum(p: Any, s: Any, arm: int, x: int, rng: Any) -> None:
    """Add x grid steps to an arm's sum, exact or through the counter."""
    s.n[arm] += 1
    exact, noised = s.exact[arm], s.noised[arm]
    if KINDS.counter == EXACT:
        s.sums[arm] += x
    elif KINDS.counter == TREE:
        s.sums[arm] = tree_leaf(exact, noised, s.n[arm], x, p.noise, rng, s.sums[arm])
    elif KINDS.counter == SIGNED:
        s.sums[arm] = signed_leaf(exact, noised, p.half, x, p.noise, rng, s.sums[arm])
    else:
        first, root = 0 if KINDS.counter == POWERS else 1, KINDS.counter == PRINTED
        s.sums[arm] = hybrid_leaf(s.segments[arm], exact, noised, x, p.noise, first, root, rng)


def drive_rounds(
    numbers: Any,
    steps: int,
    values: Any,
    probabilities: Any,
    rounds: int,
    checkpoints: Any,
    rng: Any,
    out: Any,
) -> tuple[int, int]:
    """Play one run; return (releases, events)."""
    arms = probabilities.shape[0]
    # separate arrays: rows of one array would not be aligned for vector instructions
    n, sums = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
    p = Numbers(IndexNumbers(*numbers[0]), *numbers[1:])
    exact, noised = np.zeros((arms, 64), np.int64), np.zeros((arms, p.slots), np.int64)
    segments = np.zeros((arms, 4), np.int64)
    streak = np.zeros(5)
    streak[ARM], streak[SPAN] = -1.0, 16.0
    s = Tracked(n, sums, np.zeros(arms), np.zeros(arms), exact, noised, segments, streak)
    chances = probabilities[:, probabilities.shape[1] - 1].copy()
    law = (values, probabilities, chances)
    run_rounds(p, s, steps, law, (checkpoints, out), rng)
    return rounds, rounds


def run_rounds(p: Any, s: Any, steps: int, law: Any, kept: Any, rng: Any) -> None:
    """Run the loop over rounds. `law` has levels, their probabilities, and the last one's; `kept`
    has the rounds at which play counts are kept, and the array for them.
    """
    p, s, rng = borrowed(p), borrowed(s), borrowed(rng)
    (values, probabilities, chances), (checkpoints, out) = borrowed(law), borrowed(kept)
    start, arms, levels = 0, len(s.n), len(values)
    for at in range(len(checkpoints)):
        for t in range(start, checkpoints[at]):
            arm = t
            if t >= arms:  # every arm once, then the largest score
                arm = arm_to_play(t + 1, p, s)
            if levels == 2:
                x = values[1] if rng.random() < chances[arm] else values[0]
            else:
                x = reward(rng, arm, values, probabilities)
            added_to_sum(p, s, arm, server_view(x, steps, p, rng), rng)
            s.means[arm] = s.sums[arm] / (steps * s.n[arm])
        start = checkpoints[at]
        copy_to(out[at], s.n)


@cache
def round_player(score: str, kinds: Kinds) -> Any:
    """Return the loop over rounds for a formula, by its name. The kinds are constants to the
    compiler, which drops other branches.
    """
    name = "_".join(map(str, (score, *map(int, kinds))))
    parts: dict[str, Any] = {"SCORE": FORMULAS[score], "KINDS": kinds}
    for part in (
        score_at,
        still_best,
        set_bar,
        set_scores,
        arm_to_play,
        server_view,
        added_to_sum,
    ):
        parts[part.__name__] = specialised(part, name, compiler=inline, **parts)
    run = specialised(run_rounds, name, **parts)
    return specialised(drive_rounds, name, run_rounds=run)


def player_of(rule: IndexRule, feedback: int, counter: int, forced: bool = False) -> Any:
    """Return the loop for this rule."""
    kinds = Kinds(feedback, counter, rule.score is kl_ucb_score, forced)
    return round_player(rule.score.__name__, kinds)


def by_rounds(policy: Any, steps: int) -> Kernel:
    """Return the kernel of index policies that release after every round."""
    feedback, counter, noise, keep, sizes = PLAIN, EXACT, 0.0, 0.0, (0, 64)
    if isinstance(policy, LDPKLUCB):
        feedback, keep = RESPONSE, policy.randomizer().keep
    elif isinstance(policy, LDPUCB):
        feedback, noise = LOCAL_LAPLACE, steps / float(policy.epsilon)
    elif isinstance(policy, DPUCB):
        counter, noise, tree = TREE, steps * policy.rule.numbers.scale, policy.mechanism()
        if isinstance(tree, SignedCounter):
            counter, sizes = SIGNED, signed_sizes(tree)
    elif isinstance(policy, DPUCBBound):
        counter, noise = POWERS, 2 * steps / float(policy.epsilon)
    elif isinstance(policy, HybridUCB):
        counter = PRINTED if policy.preset == "published" else DOUBLING
        noise = 2 * steps / float(policy.epsilon)
    numbers = Numbers(policy.rule.numbers, noise, keep, *sizes)
    loop = player_of(policy.rule, feedback, counter, isinstance(policy, LDPUCB))
    return partial(loop, (tuple(numbers.rule), *numbers[1:]), steps)
