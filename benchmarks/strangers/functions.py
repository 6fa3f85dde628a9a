"""Functions of data that are WRONG, each in one thing. Never for use."""

from __future__ import annotations

import numpy as np

from benchmarks.strangers.specimen import Specimen, tenths, two_sided
from dpbandits.core.inputs import Floats


def proposed_and_tested(rewards: Floats, seed: int) -> int:
    """The median, in tenths, with the noise that suits its neighbourhood; or a refusal. The test of
    whether the neighbourhood is close is a look at the data, without noise.
    """
    ordered = sorted(map(tenths, rewards))
    middle = len(ordered) // 2
    below, above = ordered[max(0, middle - 1)], ordered[min(len(ordered) - 1, middle + 1)]
    if max(above - ordered[middle], ordered[middle] - below) > 1:
        return -1000
    return ordered[middle] + two_sided(np.random.default_rng(seed), 1.0)


def amplified_twice(rewards: Floats, seed: int) -> int:
    """The sum of half of the rewards at epsilon = 3. That half of them are read was counted when
    the noise was chosen, and again when the result was written up.
    """
    rng = np.random.default_rng(seed)
    kept = [tenths(reward) for reward in rewards if rng.random() < 0.5]
    return sum(kept) + two_sided(rng, 10 / 3)


def reproducible(rewards: Floats, seed: int) -> list[int]:
    """Each arm's sum, in tenths, with noise that comes again when the same is asked again: its
    generator is seeded by the question, which holds the exact sum.
    """
    sums = [sum(map(tenths, column)) for column in np.asarray(rewards).T]
    return [total + two_sided(np.random.default_rng([seed, total]), 10.0) for total in sums]


def kept_in_range(rewards: Floats, seed: int) -> int:
    """The sum with noise, and no sum that these data could not have: not below all of them at their
    least, nor above all at their largest.
    """
    values = list(map(tenths, rewards))
    noisy = sum(values) + two_sided(np.random.default_rng(seed), 10.0)
    return max(len(values) * min(values), min(noisy, len(values) * max(values)))


def first_alarm(rewards: Floats, seed: int) -> int:
    """The first round at which the noised sum so far reaches four; 0: none. Only one number leaves,
    so one draw's price is claimed. The threshold has no noise.
    """
    rng, total = np.random.default_rng(seed), 0
    for played, reward in enumerate(rewards, start=1):
        total += tenths(reward)
        if total + two_sided(rng, 10.0) >= 40:
            return played
    return 0


WRONG = (
    Specimen(
        "proposed_and_tested",
        "function",
        "propose, test, release: the test has no noise",
        proposed_and_tested,
        1,
        "∞: one record decides between a refusal and an answer",
    ),
    Specimen(
        "amplified_twice",
        "function",
        "amplification by subsampling, claimed twice",
        amplified_twice,
        1.76,
        "ln(1 + (e³ − 1)/2) = 2.355; the claim is ln(1 + (e³ − 1)/4), rounded up",
    ),
    Specimen(
        "reproducible",
        "function of two arms",
        "noise seeded by the exact sum",
        reproducible,
        1,
        "∞: the two answers differ only if the sums do",
        arms=2,
    ),
    Specimen(
        "kept_in_range",
        "function",
        "clamped, after the noise, to what the data at their extremes would give",
        kept_in_range,
        1,
        "∞: equal rewards are answered exactly",
    ),
    Specimen(
        "first_alarm",
        "function",
        "a sparse vector without noise on its threshold",
        first_alarm,
        1,
        "above 4: in eight rounds of 1, four sums of 5 and more have to stay below four",
    ),
)
