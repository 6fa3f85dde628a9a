"""`dpb.forecast`: before a trial, what will privacy cost?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import LARGEST_SEED, MOST, Floats, Integers, whole_number
from dpbandits.forecasting.entrants import Entrant, entrants, twin_of
from dpbandits.forecasting.naming import Schedule, named_after, plain_schedule, schedule_of
from dpbandits.forecasting.outcome import Forecast
from dpbandits.forecasting.plays import counted_rounds, plays_of
from dpbandits.forecasting.prior import EachRate, Prior, RateSpan, drawn_means, rates_given
from dpbandits.forecasting.rows import EQUAL, Foreseen
from dpbandits.policies.contract import Policy
from dpbandits.session.people import MOST_CONTRIBUTIONS
from dpbandits.session.ranges import Range
from dpbandits.simulation.delays import DelayLaw

MOST_DRAWS = 10**6

DRAWS, LATE_DRAWS = 200, 40
"""How often a trial is played if nobody says: late answers are played round by round."""

COUNTS = 3
"""Sets the stream of an A/B test's conversions apart from all others."""


class ForecastTrial(NamedTuple):
    """What all policies are tried on. means: shape (draws, arms); kept: rounds with counts."""

    means: Floats
    kept: Integers
    visitors: int
    seed: int
    steady: bool
    span: float
    delay: int | DelayLaw | None = None


def forecast(
    rates: Prior | Sequence[RateSpan],
    visitors: int,
    epsilon: Sequence[Any] | Any,
    *,
    policies: Sequence[str | type[Policy]] | None = None,
    delay: int | DelayLaw | None = None,
    max_contributions: int | None = None,
    seed: int = 0,
    draws: int | None = None,
    units: str | None = None,
    rewards: Range | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Forecast:
    """What a trial is expected to lose to privacy, to learning and to equal shares, by exact
    simulation over draws of what the rates may be.

    The noise is simulated, and nobody's data is read. Where all rates are given as numbers, run d
    is that of `simulate(policy, Bernoulli(rates), visitors, seed=seed)`.

    Args:
        rates: a number, or a range (low, high), for each arm; or a `Prior`.
        visitors: people in the trial.
        epsilon: one or several budgets.
        policies: names or classes of policies; by default what `recommend` returns.
        delay: rounds by which answers come late, a number or a law, as for `simulate`; by default
            none. Late answers are played round by round: of 20,000 visitors a draw takes about .2
            seconds for a private policy, and 1.4 for one without privacy, which reads each answer.
        max_contributions: of people who come back, the most rounds in which one is learned from, as
            of a session with privacy_unit="user": ε is then what is promised to a user, and each
            round is played with that share of it. `visitors` are the rounds that are learned from;
            what is shown to people beyond their cap is not played. By default everybody comes once.
        seed: of draws and runs.
        draws: how often rates are drawn and the trial is played; by default 200 times, or 40 where
            answers are late.
        units: what a reward is, in words; by default "conversions", or "units of reward" with
            `rewards=`.
        rewards: the range of rewards in the user's units, in which rates are then given; by default
            conversions, 0 or 1. Every reward is played as one end of the range or the other, with
            the mean that is given: no rewards of this mean spread more.
        progress: is called with the runs done and the runs in all, first once all is checked.

    Raises:
        ValueError: rates outside the range of rewards, or a number or policy that cannot be used.

    >>> found = forecast([.5, .4], visitors=2000, epsilon=[.5, 1], draws=10)
    >>> [(row.policy, row.epsilon) for row in found]
    [('DPRateIMED', 0.5), ('DPRateIMED', 1.0), ('KLUCB', None), ('equal shares', None)]
    """
    prior, ruler = rates_given(rates), rewards or Range()
    visitors = whole_number(visitors, "visitors", prior.arms, MOST)
    usual = DRAWS if delay is None else LATE_DRAWS
    draws = usual if draws is None else whole_number(draws, "draws", 2, MOST_DRAWS)
    seed = whole_number(seed, "seed", 0, LARGEST_SEED)
    cap = max_contributions
    if cap is not None:
        cap = whole_number(cap, "max_contributions", 1, MOST_CONTRIBUTIONS)
    groups = entrants(policies, epsilon, prior.arms, visitors, cap or 1)
    means = drawn_means(prior, ruler, draws, seed)
    steady = isinstance(prior, EachRate) and prior.steady
    trial = ForecastTrial(
        means, counted_rounds(visitors), visitors, seed, steady, ruler.span, delay
    )
    rows = foreseen(groups, trial, progress)
    about = f"rates: {prior}; rewards: {ruler.words}"
    if units is None:
        units = "conversions" if rewards is None else "units of reward"
    return Forecast(rows, visitors, draws, prior.arms, seed, units, about, cap)


def foreseen(
    groups: list[list[Entrant]], trial: ForecastTrial, progress: Callable[[int, int], None] | None
) -> tuple[Foreseen, ...]:
    """All rows: policies, what they are without privacy, equal shares."""
    plain = {twin.label: twin for group in groups if (twin := twin_of(group[0], trial.visitors))}
    everything = [*plain.values(), *(entrant for group in groups for entrant in group)]
    done, total = 0, len(everything) * len(trial.means)

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    tell(0)
    equal = equal_shares(trial)
    shares = losses(equal, trial)
    without, rows, compared = dict[str, Floats](), list[Foreseen](), list[Foreseen]()
    for entrant in everything:
        policy = entrant.policy
        size = (trial.means, trial.visitors, trial.seed, trial.steady)
        plays = plays_of(policy, *size, tell, trial.delay)
        schedule = schedule_of(policy, trial.visitors)
        if entrant.epsilon is None:
            without[entrant.label] = losses(plays, trial)
            compared.append(foreseen_row(entrant, plays, None, shares, schedule, trial))
        else:
            same = without.get(policy.about.twin)
            rows.append(foreseen_row(entrant, plays, same, shares, schedule, trial))
    last = foreseen_row(None, equal, None, shares, plain_schedule(trial.means.shape[1]), trial)
    return (*rows, *compared, last)


def foreseen_row(
    entrant: Entrant | None,
    plays: Integers,
    twin: Floats | None,
    shares: Floats,
    schedule: Schedule | None,
    trial: ForecastTrial,
) -> Foreseen:
    """A row from play counts. entrant: None for equal shares. twin, shares: losses of the same
    without privacy, of equal shares.
    """
    loss = losses(plays, trial)
    named = np.inf
    if schedule is not None:
        named = float(np.median(named_after(schedule, plays, trial.means, trial.kept)))
    q95, q99 = np.quantile(loss, [0.95, 0.99], method="higher").tolist()
    return Foreseen(
        EQUAL if entrant is None else entrant.label,
        None if entrant is None else entrant.epsilon,
        float(loss.mean()),
        standard_error(loss),
        None if twin is None else float((loss - twin).mean()),
        float((shares - loss).mean()),
        q95,
        q99,
        float(loss.max()),
        highest_mean(plays, trial) if entrant is None else share_of_best(trial, plays[:, -1]),
        round(named) if np.isfinite(named) else None,
        None if twin is None else standard_error(loss - twin),
        standard_error(shares - loss),
    )


def standard_error(each: Floats) -> float:
    """Of the mean of these draws."""
    return float(each.std(ddof=1) / np.sqrt(len(each)))


def losses(plays: Integers, trial: ForecastTrial) -> Floats:
    """What each draw lost by the end, in the user's units, shape (draws,)."""
    gaps = trial.means.max(axis=1, keepdims=True) - trial.means
    return np.asarray((gaps * plays[:, -1]).sum(axis=1) * trial.span)


def highest_mean(plays: Integers, trial: ForecastTrial) -> float:
    """How often the best arm has the highest mean of all at the end, without privacy."""
    rng = np.random.default_rng([trial.seed, len(plays), COUNTS])
    return share_of_best(trial, rng.binomial(plays[:, -1], trial.means) / plays[:, -1])


def share_of_best(trial: ForecastTrial, scores: Any) -> float:
    best = trial.means == trial.means.max(axis=1, keepdims=True)
    return float(best[np.arange(len(scores)), scores.argmax(axis=1)].mean())


def equal_shares(trial: ForecastTrial) -> Integers:
    """Play counts of an A/B test: arms in turn."""
    arms = trial.means.shape[1]
    counts = (trial.kept[:, None] + np.arange(arms - 1, -1, -1)) // arms
    return np.broadcast_to(counts, (len(trial.means), *counts.shape))
