"""Level 2, exact law: the probability of every decision sequence of a few rounds, and the largest
loss between neighbours.
"""

import math
import time
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpbandits.auditing.effort import Effort, Work
from dpbandits.auditing.exact.branches import Laws, missing_mass, worst_pair
from dpbandits.auditing.exact.enumeration import Enumeration
from dpbandits.auditing.exact.lattice import CUTS
from dpbandits.auditing.exact.probe import LargestLoss
from dpbandits.auditing.exact.selection import noisy_max_loss, of_epochs
from dpbandits.auditing.mechanism_policy import first_release
from dpbandits.auditing.report import LevelResult, Outcome
from dpbandits.auditing.transcript.outside_randomness import Outside
from dpbandits.core.errors import Unfit
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, size_argument
from dpbandits.simulation.transcript import decisions

__all__ = ["LEVEL", "POINTS", "deepest_law", "exact_law", "noisy_max_loss", "small"]

LEVEL = "exact law"
SLACK = 1e-9
"""A certified loss this far above the claim is rounding."""

POINTS = 4e8
"""Points of lattices that are summed at most, where nobody says otherwise: about twenty seconds."""


def exact_law(
    policy: Policy,
    rounds: int = 8,
    effort: Effort | None = None,
    *,
    claim: Fraction | None = None,
    arms: int = 2,
    grid: int = 1,
) -> LevelResult:
    """The exact loss of the first `rounds` decisions: the largest log-ratio over all sequences, all
    tables of 0/1 rewards and all replacements of one round.

    policy: an index policy, or one that follows a leader by epochs; its small version is audited,
        with `arms` arms and rewards on `grid`, everything else as it is. Its own `plan`, `update`
        and mechanism are run, nothing is written down again here.
    claim: epsilon; by default the policy's own guarantee. effort: in points of lattices, by default
        `POINTS`, or in seconds.

    Of the result: `lower_bound` is certified (the probability left out by the lattice is taken
    against it), and the exact loss of that pair is at most `error` higher. `attainable` is what the
    releases made before the last decision tell about one reward together, at most, or the claim if
    that is less: no policy with these releases shows more in so many rounds, whatever it decides
    with them. So a loss far below the claim means a short run, not strong privacy, when
    `attainable` is low, and decisions that show little of their releases otherwise. 0: nothing is
    released that early.
    """
    start = time.monotonic()
    try:
        found = small_law(policy, rounds, effort or Work(POINTS), claim, arms, grid)
    except Unfit as reason:
        found = LevelResult(LEVEL, "not applicable", evidence=f"No exact law: {reason}.")
    return replace(found, seconds=time.monotonic() - start)


def small_law(
    policy: Policy, rounds: int, effort: Effort, claim: Fraction | None, arms: int, grid: int
) -> LevelResult:
    """The exact loss of the policy's small version.

    Raises:
        Unfit: it claims no epsilon, or its law is out of reach.
    """
    guarantee = policy.guarantee
    if claim is None and guarantee is not None and guarantee.measure == "pure":
        claim = guarantee.epsilon
    if claim is None:
        raise Unfit("it claims no epsilon")
    if policy.randomizer() is not None:
        raise Unfit("it is private before the server: the law of its reports is audited instead")
    subject = small(policy, rounds, arms, grid)
    if first_release(subject) >= rounds:
        return nothing_released(rounds)
    loss, error, price, evidence, details = law_of(subject, rounds, effort)
    attainable = float(claim if price is None else min(claim, price))
    if attainable == 0:
        return nothing_released(rounds)
    details = {"arms": arms, "grid": grid, "rounds": rounds} | details
    outcome: Outcome = "failed" if loss > claim + SLACK else "passed"
    return LevelResult(LEVEL, outcome, loss, attainable, error, evidence=evidence, details=details)


def deepest_law(
    policy: Policy, rounds: int = 8, effort: Effort | None = None, *, claim: Fraction | None = None
) -> LevelResult:
    """The exact law of as many decisions, up to `rounds`, as the effort allows: of 4, then 6, then
    all.
    """
    effort = effort or Work(POINTS)
    start, found = time.monotonic(), None
    for few in (*(n for n in (4, 6) if n < rounds), rounds):
        deeper = exact_law(policy, few, effort, claim=claim)
        if found is None or found.outcome == "not applicable" or deeper.outcome != "not applicable":
            found = deeper
        if found.outcome == "failed" or effort.left() <= 0:
            break
    assert found is not None
    return replace(found, seconds=time.monotonic() - start)


def nothing_released(rounds: int) -> LevelResult:
    evidence = f"Nothing is released before decision {rounds}: there is nothing to see."
    return LevelResult(LEVEL, "not applicable", 0.0, 0.0, evidence=evidence)


PLAYED = 16
"""Short runs in which a policy is watched for coins of its own."""


def tosses(policy: Policy, rounds: int) -> bool:
    """Whether it draws from anywhere but its noise source and the public randomness."""
    tables = [
        np.random.default_rng(run).integers(0, 2, (rounds, policy.arms)).astype(float)
        for run in range(PLAYED)
    ]
    with Outside() as outside:
        for run, table in enumerate(tables):
            decisions(policy, table, noise=SimulatedNoise(run), seed=run)
    return outside.used


def law_of(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """The worst that decisions tell, by the way that suits the policy.

    Raises:
        Unfit: its law is out of reach.
    """
    with Outside(calls=False) as outside:
        found = (
            of_epochs(policy, rounds, effort)
            if policy.about.feedback == "full"
            else of_indices(policy, rounds, effort)
        )
    if outside.used or tosses(policy, rounds):
        raise Unfit(
            "it draws randomness that is neither its noise source's nor public, whose law is not "
            "enumerated"
        )
    return found


def small(policy: Policy, rounds: int, arms: int, grid: int) -> Policy:
    """The same policy with few arms and a coarse grid.

    Raises:
        Unfit: it has no such version, or cannot be played for so many rounds.
    """
    names = {f.name for f in fields(policy) if f.init}
    size = size_argument(type(policy))
    if size not in ("arms", "actions") or "grid" not in names:
        raise Unfit("it does not play single arms")
    if policy.about.needs_horizon and 0 < (getattr(policy, "horizon", None) or 0) < rounds:
        raise Unfit(f"it is made for fewer than {rounds} rounds")
    if rounds < 2 or arms < 2:
        raise ValueError(f"Expected rounds={rounds} and arms={arms} to be at least 2.")
    changes: dict[str, Any] = {size: arms, "grid": grid}
    return replace(policy, **changes)


ENOUGH = 1e-9
"""Error below which a finer lattice is not worth its time."""


def of_indices(policy: Policy, rounds: int, effort: Effort) -> LargestLoss:
    """By enumeration: on a coarse lattice, then on the finest that the effort and memory allow."""
    coarse, *finer = CUTS
    before, first = effort.left(), Enumeration(policy, rounds, effort, coarse)
    found = summary(first.run(), first, coarse)
    cost = before - effort.left()
    for cut in reversed(finer):
        # Axes grow like ln(1/cut), and there are seldom more than three long ones; the steps of the
        # walk stay as many.
        grows = 1 + first.share_of_points() * ((math.log(cut) / math.log(coarse)) ** 3 - 1)
        if found[1] > ENOUGH and cost * grows < effort.left():
            with suppress(Unfit):  # too large, or slower than was thought
                fine = Enumeration(policy, rounds, effort, cut)
                return summary(fine.run(), fine, cut)
    return found


def summary(laws: Laws, enumeration: Enumeration, cut: float) -> LargestLoss:
    lost, price = enumeration.lost, enumeration.price
    worst = worst_pair(laws, lost)
    details: dict[str, Any] = {
        "sequences": len(laws),
        "tables": sum(map(len, laws.values())),
        "cut": cut,
        "missing_mass": missing_mass(laws),
        "asked": enumeration.deciding.how,
        "decisions": [arm + 1 for arm in worst.decisions],
        "block_sums": list(worst.sums),
    }
    if not worst.decisions:
        return (
            0.0,
            0.0,
            price,
            f"No decision depends on a reward in {enumeration.rounds} rounds"
            + (f", but for runs of probability {lost:.1g} at most" * (lost > 0))
            + ".",
            details,
        )
    played = " ".join(str(arm + 1) for arm in worst.decisions)
    blocks = ", ".join(map(str, worst.sums))
    evidence = (
        f"arms {played} with block sums {blocks}, where that of block {worst.block + 1} turns "
        f"{worst.other} by one changed reward"
    )
    return worst.loss, worst.error, price, evidence, details
