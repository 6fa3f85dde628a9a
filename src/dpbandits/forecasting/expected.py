"""What a campaign is expected to have lost to privacy so far, were the means what was released."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.environments import Bernoulli
from dpbandits.forecasting.entrants import Entrant, twin_of
from dpbandits.forecasting.rows import amount
from dpbandits.policies.contract import Policy
from dpbandits.session.beliefs import Belief
from dpbandits.session.ranges import Range
from dpbandits.simulation.simulate import choose_player, simulate

RUNS = 400

MOST_PEOPLE, MOST_ROUNDS = 10**6, 10**7
"""The first so many people, and rounds of all runs together: with more people there are fewer runs.
"""


class ExpectedLoss(NamedTuple):
    """Losses against the best arm for everybody, in the user's units.

    people: whom they are about, the first million at most. loss: of the policy. privacy: loss less
    that of the same policy without privacy, which gets other runs. error: the standard error of
    `privacy`. runs: of each.
    """

    people: int
    loss: float
    privacy: float
    error: float
    runs: int

    def __str__(self) -> str:
        return (
            f"Were the means what was released, the first {self.people:,} people would be expected "
            f"to lose {amount(self.loss)} against the best arm, {amount(self.privacy)} ± "
            f"{amount(2 * self.error)} of it to privacy (two standard errors, "
            f"{self.runs} simulated runs)."
        )


def expected_loss(
    policy: Policy, rows: Sequence[Belief], people: int, ruler: Range | None, seed: int = 0
) -> ExpectedLoss | None:
    """By exact simulation of this policy and of its twin without privacy, from the first person on,
    with coins of the released means. It reads released values only, so it costs no privacy.

    policy: as it is played, whatever became of its arms; it is simulated with those of `rows`.
    people: whom it decided for. None where an arm has no released mean yet, where there is no
    privacy or no twin to compare with, where a policy does not play single arms for their
    rewards, and where it has no fast player.
    """
    means, about = [row.mean for row in rows], policy.about
    if not means or None in means or people < len(means):
        return None
    if about.feedback != "bandit" or about.goal != "regret":
        return None
    people = min(people, MOST_PEOPLE, getattr(policy, "horizon", None) or MOST_PEOPLE)
    ruler, alone = ruler or Range(), replace(policy, arms=len(means))
    twin = twin_of(Entrant(type(policy).__name__, None, alone), people)
    if policy.guarantee is None or twin is None:
        return None
    world = Bernoulli([ruler.to_unit(clipped(mean, ruler)) for mean in means])
    if any(not choose_player(each, world, people, seed, True)[1] for each in (alone, twin.policy)):
        return None
    runs = min(MOST_ROUNDS // people, RUNS)
    ours, plain = (
        regret_of_runs(each, world, people, runs, seed + at) * ruler.span
        for at, each in enumerate((alone, twin.policy))
    )
    error = np.hypot(*(np.std(each, ddof=1) / np.sqrt(runs) for each in (ours, plain)))
    loss = float(ours.mean())
    return ExpectedLoss(people, loss, loss - float(plain.mean()), round(float(error), 9), runs)


def regret_of_runs(policy: Policy, world: Bernoulli, people: int, runs: int, seed: int) -> Floats:
    """Pseudo-regret of each run at its end, shape (runs,)."""
    return simulate(policy, world, people, runs=runs, seed=seed, at=[]).regret()


def clipped(mean: float | None, ruler: Range) -> float:
    """A released mean may lie outside the range, by its noise."""
    return float(np.clip(np.nan if mean is None else mean, float(ruler.low), float(ruler.high)))
