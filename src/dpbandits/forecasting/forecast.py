"""`dpb.forecast`: before a trial, what will privacy cost? And what a running campaign is expected
to have lost to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from dpbandits.core.inputs import (
    LARGEST_SEED,
    MOST,
    Floats,
    Integers,
    as_int,
    number_within,
    real_number,
    shown,
    whole_number,
)
from dpbandits.core.plan import Draw, PublicRng, fewest_rounds
from dpbandits.core.privacy import as_fraction
from dpbandits.environments import Bernoulli, Categorical, Environment
from dpbandits.environments.changing import Drift
from dpbandits.forecasting.outcome import (
    EQUAL,
    EachRate,
    Forecast,
    Foreseen,
    Prior,
    RateSpan,
    amount,
    drawn_means,
    rates_given,
)
from dpbandits.forecasting.trials import (
    Conditions,
    Lasting,
    PlayedTrial,
    Spread,
    Visitors,
    World,
    play_trial,
)
from dpbandits.mechanisms import Block
from dpbandits.mechanisms.base import AnswerLaw
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, Release
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.named import EVERY_POLICY, NO_ABOUT, close_to
from dpbandits.policies.recommended import RECOMMENDED
from dpbandits.session.arms import Assignment, assignment_of
from dpbandits.session.beliefs import (
    GROWTH,
    Belief,
    MeanReader,
    ReleaseHistory,
    least_bounds,
    level,
    row_levels,
)
from dpbandits.session.evidence import NoiseMoments
from dpbandits.session.options import checked_rewards_range
from dpbandits.session.people import MOST_CONTRIBUTIONS, policy_for_users
from dpbandits.session.ranges import Range
from dpbandits.session.times import require_comparable
from dpbandits.simulation.plain import DelayLaw, checked_delay, drawn_delay
from dpbandits.simulation.simulate import choose_player, simulate

# Which policies are compared, at which ε, and what each is compared with.


DEFAULT = RECOMMENDED[:1]
"""What is forecast where no policies are named."""


@dataclass(frozen=True)
class Entrant:
    """A policy under a label. epsilon: what is promised to a user; None: no privacy."""

    label: str
    epsilon: float | None
    policy: Policy


Among = Visitors | Lasting | None
"""What sets worlds apart from trials with one best arm; None: nothing."""


def entrants(
    policies: Sequence[str | type[Policy]] | None,
    epsilons: Sequence[Any] | Any,
    arms: int,
    visitors: int,
    cap: int,
    among: Among,
) -> list[Entrant]:
    """Each policy at every ε, small ones first.

    cap: rounds in which one user is learned from at most, as of a session; each of them gets that
        share of ε.

    Raises:
        ValueError: no such policy, one that does not play single arms at an ε, or no ε.
    """
    given: Any = epsilons if isinstance(epsilons, (list, tuple)) else [epsilons]
    budgets = sorted({as_fraction(epsilon, "epsilon") for epsilon in given})
    usual = DEFAULT if among is None else among.usual
    named = usual if policies is None else policies
    if isinstance(named, (str, type)) or not isinstance(named, Iterable):
        named = [named]
    if not budgets or not named:
        raise ValueError("Expected one ε and one policy at least: epsilon=[.5, 1], for example.")
    found = list[Entrant]()
    for cls in dict.fromkeys(forecast_class(name, among) for name in named):
        whole = [
            (epsilon, built(cls, arms, visitors, among, epsilon=epsilon)) for epsilon in budgets
        ]
        made = [(epsilon, policy_for_users(policy, cap)) for epsilon, policy in whole]
        found += [Entrant(cls.__name__, float(epsilon), policy) for epsilon, policy in made]
    return found


def forecast_class(name: object, among: Among) -> type[Policy]:
    """The class that is meant, by itself or by its name."""
    cls: Any = EVERY_POLICY.get(name) if isinstance(name, str) else name
    usual = DEFAULT if among is None else among.usual
    if not (isinstance(cls, type) and issubclass(cls, Policy)):
        close = close_to(name, EVERY_POLICY) if isinstance(name, str) else ""
        raise ValueError(
            f"Expected policies={shown(name)} to be a policy's name or class, such as "
            f"{usual[0]!r}{close}; `dpbandits list` and dpbandits.list_policies() list them."
        )
    takes, about = {field.name for field in fields(cls)}, getattr(cls, "about", None)
    if about is None:
        raise ValueError(f"{NO_ABOUT} {cls.__name__} says nothing.")
    if about.feedback != "bandit" or about.goal != "regret" or not {"arms", "epsilon"} <= takes:
        raise ValueError(
            f"Expected policies that play single arms at an ε, got {cls.__name__}: a forecast is "
            "for A/B tests and their like."
        )
    missing = {"features", "lasting"} & takes - set({} if among is None else among.known)
    if missing and among is not None:
        raise ValueError(
            f"Expected policies that play with {next(iter(among.known))}= or without, such as "
            f"{usual[0]!r}, got {cls.__name__}, which takes {missing.pop()}."
        )
    if "features" in missing:
        raise ValueError(
            f"{cls.__name__} decides by contexts: say how many features there are, features=8, or "
            "give contexts like those to come."
        )
    if missing:
        raise ValueError(
            f"{cls.__name__} is for rates that change: say for how many visitors they last, "
            "lasting=10_000, say."
        )
    return cls


def built(
    cls: type[Policy], arms: int, visitors: int, among: Among = None, **budget: Any
) -> Policy:
    """An instance for so many arms; it knows how many visitors come if it can."""
    known = {"horizon": visitors} | ({} if among is None else among.known)
    if issubclass(cls, JointDPLinTS) and isinstance(among, Visitors):
        known["public_contexts"] = among.contexts  # its cells are of such people
    takes = {field.name for field in fields(cls)}
    return cls(arms=arms, **{name: each for name, each in known.items() if name in takes}, **budget)


def baselines_of(
    private: Sequence[Entrant], visitors: int, among: Among = None
) -> dict[str, Entrant]:
    """The same without privacy, by label."""
    found = dict[str, Entrant]()
    for entrant in private:
        cls = EVERY_POLICY.get(entrant.policy.about.baseline)
        if cls is None or not (takes_part(cls) if among is None else among.takes(cls)):
            continue
        policy = built(cls, entrant.policy.arms, visitors, among)
        found[cls.__name__] = Entrant(cls.__name__, None, policy)
    return found


def takes_part(baseline: type[Policy]) -> bool:
    """Whether it is compared with: what means that change lose is not forecast from means that
    stand still, nor by contexts where there are none.
    """
    return not {"lasting", "features"} & {field.name for field in fields(baseline)}


# How often every policy plays every arm in each draw of the rates: exact runs, by `simulate`.


KEPT = 24
"""Rounds at which play counts are kept, by ratio."""

TellDone = Callable[[int], None]
"""Is told how many more runs are done."""


def counted_rounds(visitors: int) -> Integers:
    """Increasing rounds, the last the end."""
    rounds = np.rint(np.geomspace(min(visitors, 10), visitors, KEPT)).astype(np.int64)
    return np.unique(np.append(rounds, visitors))


def plays_of(
    policy: Policy,
    means: Floats,
    visitors: int,
    seed: int,
    tell: TellDone,
    delay: int | DelayLaw | None = None,
    sd: Floats | None = None,
) -> Integers:
    """Play counts at `counted_rounds`, shape (draws, rounds, arms). Draw d is run number d of
    `simulate` with this seed and that draw's means. sd: of an arm's single rewards, shape (arms,).
    """
    at = counted_rounds(visitors).tolist()

    def play(draw: int) -> Integers:
        world = world_of(means[draw], sd)
        runs = simulate(
            policy, world, visitors, seed=seed, at=at, first=draw, workers=1, delay=delay
        )
        return runs.counts[0]

    found = [play(0)]  # compiles the player
    tell(1)
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        for plays in pool.map(play, range(1, len(means))):
            found.append(plays)
            tell(1)
    finally:  # who stops early waits for no run that has not begun
        pool.shutdown(cancel_futures=True)
    return np.stack(found)


FINEST = 1024
"""Steps of the grid on which rewards lie that have a standard deviation."""


def world_of(means: Floats, sd: Floats | None) -> Environment:
    """Rewards of these means: 0 or 1, or of this standard deviation, shape (arms,), each value
    shared out between the two steps beside it, so that means stay.
    """
    if sd is None:
        return Bernoulli(means)
    law, rows = Spread.of(means, sd), np.zeros((len(means), FINEST + 2))
    arms = np.arange(len(means))
    for value, chance in ((law.low, 1.0 - law.chance), (law.high, law.chance)):
        step = np.floor(value * FINEST).astype(np.int64)
        rest = value * FINEST - step
        np.add.at(rows, (arms, step), chance * (1.0 - rest))
        np.add.at(rows, (arms, step + 1), chance * rest)
    levels = np.flatnonzero(rows.any(axis=0))
    return Categorical(levels / FINEST, rows[:, levels])


# After how many visitors the best arm can be named: the intervals of `beliefs`, at play counts as
# simulated and released totals as expected.


CONFIDENCE = 0.95

MOST_RELEASES = 3000
"""Releases of an arm that are played to learn its draws; later ones bring none, but for reports."""


class Schedule(NamedTuple):
    """What an arm's releases have inside: rounds, increasing, and the noise's moments, shape
    (releases, thetas). levels: ln(1/share) of each theta, for one arm on one side, shape
    (releases,). ends: as in `MeanReader`. grows: whether every reward brings a draw. onward:
    whether rounds beyond the last of these are released, too. redraws: whether noise is drawn anew;
    then the rows are those that `beliefs` keeps, and an interval is what all so far have in common.
    """

    rounds: Integers
    moments: Floats
    thetas: Floats
    levels: Floats
    ends: tuple[float, float]
    grows: bool
    onward: bool
    redraws: bool = False


def schedule_of(policy: Policy, visitors: int) -> Schedule | None:
    """None where answers say nothing of means, or a single arm is never released."""
    if MeanReader.of(policy).law is None:
        return None
    alone = one_arm_alone(replace(policy, arms=1), visitors)
    law, kept = alone.reader.law, alone.arms[0].kept
    if law is None or not kept:
        return None
    noise = NoiseMoments(law)
    u = level(ReleaseHistory.of(policy), 0, 1.0 - CONFIDENCE, len(noise.thetas))
    levels = row_levels(len(kept), u, law.redraws)
    rounds = np.array([row.rounds for row in kept])
    moments = noise.of_each(row.draws for row in kept)
    onward = alone.arms[0].answers == MOST_RELEASES
    reader = alone.reader
    return Schedule(
        rounds, moments, noise.thetas, levels, reader.ends, reader.reports, onward, law.redraws
    )


def plain_schedule(arms: int) -> Schedule:
    """Of an experiment without noise whose counts are known at every visitor."""
    noise = NoiseMoments(AnswerLaw("none"))
    u = float(np.log(2.0 * len(noise.thetas) * (arms + 1) / (1.0 - CONFIDENCE)))
    nothing = np.zeros((1, len(noise.thetas)))
    return Schedule(np.array([1]), nothing, noise.thetas, np.array([u]), (0.0, 1.0), False, True)


def one_arm_alone(policy: Policy, visitors: int) -> ReleaseHistory:
    """All releases of an arm that is played by itself; rewards are nobody's."""
    mechanism, noise = policy.reader, SimulatedNoise(0)
    growth = GROWTH if mechanism.law is not None and mechanism.law.redraws else 1.0
    history, state, t = ReleaseHistory.of(policy, growth=growth), policy.init(), 0
    memory = mechanism.init(1)
    for step in range(MOST_RELEASES):
        plan = policy.plan(state, PublicRng(0, step))
        rounds = fewest_rounds(plan)
        release = () if isinstance(plan, Draw) else plan.release
        if t + rounds > visitors or not (release or isinstance(plan, Draw)):
            break
        t += rounds
        memory, answers = mechanism.answer(memory, Block((0,), (0,), (rounds,)), noise)
        released = Release((0,), answers, t, ((0, rounds),))
        history, state = history.after(released), policy.update(state, plan, released)
    return history


def named_after(schedule: Schedule, plays: Integers, means: Floats, kept: Integers) -> Floats:
    """The first kept round at which the best arm's interval lies above all others', infinite if
    none; shape (draws,).

    plays: shape (draws, rounds, arms). means: shape (draws, arms). kept: the rounds.
    """
    low, high = expected_bounds(schedule, plays, means)
    best = means.argmax(axis=1)[:, None, None]
    lowest = np.take_along_axis(low, best, axis=2)[:, :, 0]
    np.put_along_axis(high, best, -1.0, axis=2)
    apart = lowest > high.max(axis=2)
    first = apart.argmax(axis=1)
    return np.where(apart.any(axis=1), kept[first].astype(np.float64), np.inf)


def expected_bounds(schedule: Schedule, plays: Integers, means: Floats) -> tuple[Floats, Floats]:
    """Low and high for every mean of what is summed, in the shape of plays."""
    (zero, one), at = schedule.ends, np.searchsorted(schedule.rounds, plays, side="right") - 1
    later = (at == len(schedule.rounds) - 1) & schedule.onward
    released = np.where(later, plays, schedule.rounds[at])
    rounds = np.maximum(1.0, released.ravel().astype(np.float64))
    moments = schedule.moments[at.ravel()]
    if schedule.grows:
        moments = moments * (rounds / schedule.rounds[at.ravel()])[:, None]
    summed = np.broadcast_to((zero + means * (one - zero))[:, None, :], plays.shape).ravel()
    u = schedule.levels[at.ravel()]
    high = least_bounds(rounds * summed, rounds, moments, u, schedule.thetas)
    low = 1.0 - least_bounds(rounds * (1.0 - summed), rounds, moments, u, schedule.thetas)
    low, high = low.reshape(plays.shape), high.reshape(plays.shape)
    if schedule.redraws:  # what the intervals so far have in common
        of_arm, size = schedule.rounds[:, None], (len(means), len(schedule.rounds), means.shape[1])
        rows = expected_bounds(
            schedule._replace(redraws=False), np.broadcast_to(of_arm, size), means
        )
        lows, highs = np.maximum.accumulate(rows[0], 1), np.minimum.accumulate(rows[1], 1)
        low = np.maximum(low, np.take_along_axis(lows, np.maximum(at, 0), 1))
        high = np.minimum(high, np.take_along_axis(highs, np.maximum(at, 0), 1))
    return np.where(at < 0, 0.0, low), np.where(at < 0, 1.0, high)


# `dpb.forecast`: before a trial, what will privacy cost?


MOST_DRAWS = 10**6

DRAWS, LATE_DRAWS = 200, 40
"""How often a trial is played if nobody says: late answers are played round by round."""

DELAYS = 200
"""Of answers, from which it is expected how many have come."""

COUNTS = 3
"""Sets the stream of an A/B test's conversions apart from all others."""


class ForecastTrial(NamedTuple):
    """What all policies are tried on. means: on average over the trial, shape (draws, arms); kept:
    rounds with counts; how: conditions; first: the means before any drift.
    """

    means: Floats
    kept: Integers
    visitors: int
    seed: int
    span: float
    delay: int | DelayLaw | None
    how: Conditions
    first: Floats

    @property
    def stay(self) -> list[int]:
        """The arms in play at the end."""
        return self.how.in_play(self.means.shape[1], self.visitors - 1)

    def answered(self, plays: Integers) -> Integers:
        """Return how many of the plays by each kept round are answered by then, as expected."""
        law, rng = self.how.delay, np.random.default_rng(self.seed)
        late = [0] if law is None else [drawn_delay(law, rng) for _ in range(DELAYS)]
        since, rounds = np.maximum(0, self.kept[:, None] - late), (0, *self.kept)
        each = [np.interp(since, rounds, one).mean(axis=1) for one in np.eye(len(rounds))[1:]]
        shares = (1.0 - self.how.silent) * np.stack(each, axis=1)
        return np.floor(np.einsum("tk,dka->dta", shares, plays)).astype(np.int64)


def forecast(
    rates: Prior | Sequence[RateSpan],
    visitors: int,
    epsilon: Sequence[Any] | Any,
    *,
    policies: Sequence[str | type[Policy]] | None = None,
    delay: int | DelayLaw | None = None,
    min_share: float | Mapping[Any, float] | None = None,
    silent: float = 0.0,
    drift: Drift | None = None,
    period: int | None = None,
    present: Mapping[Any, tuple[int, int]] | None = None,
    arms: Sequence[str] | None = None,
    max_contributions: int | None = None,
    seed: int = 0,
    draws: int | None = None,
    units: str | None = None,
    rewards: Range | None = None,
    sd: float | Sequence[float] | None = None,
    progress: Callable[[int, int], None] | None = None,
    features: Any = None,
    spread: float | None = None,
    lasting: int | None = None,
) -> Forecast:
    """Forecast what a trial loses to privacy, to learning and to equal shares, by exact simulation
    over draws of the expected rates.

    The noise is simulated, and nobody's data is read. Where all rates are given as numbers, run d
    is that of `simulate(policy, Bernoulli(rates), visitors, seed=seed)`. Guardrails are not played
    (see `Guardrail.people`); their noise has arms named later. Each segment is a trial of its own;
    holdout people are no visitors. An attribution window is a `delay`, where who is silent counts
    as 0 within the rates; not with `period`, where it counts answers in the period of the decision.

    Args:
        rates: a number, or a range (low, high), for each arm; or a `Prior`.
        visitors: people in the trial.
        epsilon: one or several budgets.
        policies: names or classes of policies; by default what `recommend` returns. `LazyDPTS`,
            which draws every arm, is played round by round: of 50,000 visitors a draw takes about
            half a second.
        delay: rounds by which answers come late, a number or a law, as for `simulate`; by default
            none. Late answers are played round by round: of 20,000 visitors a draw takes about .5
            seconds for a private policy, and 1.4 for one without privacy, which reads each answer.
        min_share: each arm's least share of people, as of a session; or {"usual": .3}, those of
            single arms.
        silent: the share of people who never answer, of every arm alike. Their decisions stay open.
        drift: how rates change over the trial, in the user's units.
        period: visitors in a period of a session with `period=`: arms are compared within each. It
            needs a least share of every arm. What has no privacy reads a period's answers at its
            end. With any of these four, policies have to release single arms with noise that is
            never drawn anew. With `silent` people, or a `delay` and one of these, but without
            periods, a draw with 3,000 visitors takes about a second.
        present: arms that are added or retired, by their names or numbers: for which visitors each
            is in play, such as {"usual": (0, 2_000), "new": (500, 3_000)}, from the 501st to the
            3,000th. Losses are then against the best arm in play, a name is one among them once all
            have come, and with periods what has no privacy reads each answer as it comes. An added
            arm has no least share of its own. A draw takes as long as with a `delay`.
        arms: their names, of which `min_share` and `present` may speak; in the order of `rates`,
            added ones last, as they come. With a `Prior` they are named there, the one of today
            first.
        max_contributions: of people who come back, the most rounds in which one is learned from, as
            of a session with privacy_unit="user": ε is then what is promised to a user, and each
            round is played with that share of it. `visitors` are the rounds that are learned from;
            what is shown to people beyond their cap is not played. By default everybody comes once.
        seed: of draws and runs.
        draws: how often rates are drawn and the trial is played; by default 200 times, or 40 where
            answers are late, rates change, people are silent, arms have least shares, or there are
            periods. When a winner is named is looked at in 100 of them at most.
        units: what a reward is, in words; by default "conversions", or "units of reward" with
            `rewards=`.
        rewards: the range of rewards in the user's units, in which rates are then given; by default
            conversions, 0 or 1. Without `sd`, every reward is played as one end of the range or the
            other, with the mean that is given: no rewards of this mean spread more.
        sd: the standard deviation of single rewards about their arm's mean, in the user's units:
            one number, or one for each of `rates`. They are played as two values on a fine grid
            with this mean and standard deviation. Rewards that spread less are less a matter of
            luck; but names and intervals hold for any rewards in the range, so what makes these
            better is a narrower range.
        progress: is called with the runs done and the runs in all, first once all is checked.
        features: for policies that decide by what is known of each visitor, how many numbers that
            is; or contexts of visitors like those to come, shape (rows, features), each of norm at
            most 1. `rates` are then each arm's over all visitors, and losses are against the arm
            that is best for each visitor. By default `DPLinTS` is compared with `DPRateIMED`, in 40
            draws. It is played without `public_contexts=`, so its first visitors get a random arm;
            with them it loses less. Nobody is named: an arm that is best for all is not looked for.
        spread: with `features`, the standard deviation over visitors of an arm's rate, as a share
            of the rate, by default .5; less where rates would leave their range, which keep their
            mean. How a rate depends on the features is drawn anew in each draw.
        lasting: for rates that change: for how many visitors they last, on average. At random times
            all rates are drawn anew, and with them which arm has which. Losses are against the arm
            that is best at each time; policies that have a `lasting` of their own get this number.
            By default `DPKalmanTS` is compared with `DPRateIMED`, in 40 draws. Nobody is named, and
            only what has a `lasting` is compared with itself without privacy.

    Raises:
        ValueError: rates outside the range of rewards, or a number or policy that cannot be used.

    >>> found = forecast([.2, .5], visitors=3000, epsilon=1, min_share=.05, draws=10)
    >>> found.row("DPRateIMED", 1.0).chance_named > .5
    True
    >>> points = {"rewards": Range(0, 60), "sd": [5, 8], "units": "points"}
    >>> forecast([40, 30], 300, 1, policies="DPKLUCB", draws=2, **points).title
    'Expected loss in points, 300 visitors, 2 arms, 2 draws'
    >>> done = []
    >>> told = lambda runs, of: done.append((runs, of))
    >>> found = forecast([.2, .3], 300, 1, features=3, spread=.3, draws=2, progress=told)
    >>> done[0][0], done[-1][0] == done[-1][1]
    (0, True)
    >>> found = forecast([.5, .4], visitors=2000, epsilon=[.5, 1], draws=10)
    >>> [(row.policy, row.epsilon) for row in found]
    [('DPRateIMED', 0.5), ('DPRateIMED', 1.0), ('KLUCB', None), ('equal shares', None)]
    """
    prior, ruler = rates_given(rates, arms), checked_rewards_range(rewards, False) or Range()
    visitors = whole_number(visitors, "visitors", prior.size, MOST)
    law = None if delay is None else checked_delay(delay)
    shares = shares_given(min_share, prior)
    how = conditions_of(visitors, shares, silent, drift, law, period, ruler)
    how = how._replace(
        sd=spread_given(sd, prior, ruler), present=present_given(present, prior, visitors, shares)
    )
    if how.present and drift is not None and not drift.is_common:
        raise ValueError(
            f"Expected drift={shown(drift)} to have one size for all arms beside present=: losses "
            "are against each arm's mean over the whole trial."
        )
    if units is None:
        units = "conversions" if rewards is None else "units of reward"
    apart = features is not None or lasting is not None
    usual = DRAWS if delay is None and how.are_plain and not apart else LATE_DRAWS
    draws = usual if draws is None else whole_number(draws, "draws", 2, MOST_DRAWS)
    seed = whole_number(seed, "seed", 0, LARGEST_SEED)
    cap = max_contributions
    if cap is not None:
        cap = whole_number(cap, "max_contributions", 1, MOST_CONTRIBUTIONS)
    among: Among = None
    if spread is not None and features is None:
        raise ValueError(f"Expected features= beside spread={shown(spread)}: it is over visitors.")
    if apart:
        both = features is not None and lasting is not None
        if delay is not None or sd is not None or not how.are_plain or both:
            raise ValueError(
                "Expected features= or lasting= alone, without one another and without delay=, "
                "min_share=, silent=, drift=, period=, present= and sd=: such trials are not "
                "forecast."
            )
        among = (
            Visitors.given(features, spread, seed)
            if lasting is None
            else Lasting.given(lasting, prior, ruler, visitors)
        )
    private = entrants(policies, epsilon, prior.size, visitors, cap or 1, among)
    if among is None:
        first = drawn_means(prior, ruler, draws, seed)
        means = np.stack([how.rates(row).mean(axis=0) for row in first])
        kept = counted_rounds(visitors)
        trial = ForecastTrial(means, kept, visitors, seed, ruler.span, delay, how, first)
        rows = foreseen(private, trial, progress)
    else:
        if isinstance(among, Visitors):
            drawn = enumerate(drawn_means(prior, ruler, draws, seed))
            worlds: list[Any] = [among.world(each, seed, draw) for draw, each in drawn]
        else:
            worlds = [among.world(seed, draw) for draw in range(draws)]
        plain = baselines_of(private, visitors, among)
        rows = foreseen_in_worlds(private, plain, worlds, visitors, seed, ruler.span, progress)
    said = [
        f"rates: {prior}",
        f"rewards: {ruler.words}",
        "" if among is None else among.words,
        "" if shares is None else shares.least_words(prior.labels),
        f"{how.silent:g} of people never answer" if how.silent else "",
        "" if drift is None else str(drift),
        "" if delay is None else f"answers come late: {delay}",
        f"periods of {period:,} visitors" if period else "",
        f"in play for visitors {dict(present)}" if present else "",
    ]
    about, played_as = "; ".join(filter(None, said)), played_words(rewards, sd)
    return Forecast(rows, visitors, draws, prior.size, seed, units, about, cap, played_as)


def present_given(
    present: object, prior: Prior | EachRate, visitors: int, shares: Assignment | None
) -> tuple[tuple[int, int], ...]:
    """For which visitors each arm is in play; empty: all are for everybody.

    Raises:
        ValueError: no such visitors, or an arm that cannot come then.
    """
    if present is None:
        return ()
    known = dict(enumerate(prior.labels or range(prior.size)))
    times = dict.fromkeys(known, (0, visitors))
    for name, given in present.items() if isinstance(present, Mapping) else [(None, None)]:
        arm = next((arm for arm in known if name in (arm, known[arm])), None)
        pair = given if isinstance(given, (tuple, list)) and len(given) == 2 else (None, None)
        since, until = map(as_int, pair)
        if arm is None or since is None or until is None or not 0 <= since < until <= visitors:
            raise ValueError(
                f"Expected present={shown(present)} to say for which visitors an arm is in play, "
                f"by its name or number, such as {{{known[0]!r}: (0, {visitors // 2})}}, within "
                f"the trial's {visitors:,}."
            )
        times[arm] = since, until
    found = Conditions(visitors, present=tuple(times.values()))
    starts = [since for since, _ in found.present]
    ever = all(found.in_play(prior.size, start) for start, _ in found.stretches)
    single = {} if shares is None else shares.shares
    if starts != sorted(starts) or not ever or any(starts[arm] for arm, _ in single):
        raise ValueError(
            f"Expected present={shown(present)} to leave an arm in play for everybody, with added "
            "arms last in rates, as they come, and without a least share of their own."
        )
    return found.present


def spread_given(sd: object, prior: Prior | EachRate, ruler: Range) -> Floats | None:
    """The standard deviation of each arm's rewards, in parts of their range; None: not given.

    Raises:
        ValueError: it is no such number, or list of them.
    """
    if sd is None:
        return None
    several = isinstance(sd, (list, tuple, np.ndarray))
    given: list[Any] = list(sd) if several else [sd] * prior.size  # type: ignore[call-overload]
    numbers = [real_number(each) for each in given]
    fits = len(given) == prior.size and not (several and isinstance(prior, Prior))
    if not fits or any(number is None or not 0.0 <= number <= 1e308 for number in numbers):
        raise ValueError(
            f"Expected sd={shown(sd)} to be the standard deviation of single rewards: a number of "
            f"at least 0, or where rates are a list, {prior.size} of them, one a rate."
        )
    return np.array(numbers, np.float64) / ruler.span


def played_words(rewards: Range | None, sd: object) -> str:
    """How single rewards are played; empty for conversions, which are 0 or 1."""
    if sd is not None:
        each = np.array(sd).tolist()
        return f"single ones have the standard deviation {each} about their arm's mean"
    if rewards is None:
        return ""
    low, high = float(rewards.low), float(rewards.high)
    return (
        f"each is played as {low:g} or {high:g}, which is the most that rewards can spread; sd= "
        "says how much yours do"
    )


def shares_given(min_share: object, prior: Prior | EachRate) -> Assignment | None:
    """The arms' least shares; None if they have none.

    Raises:
        ValueError: shares that cannot be, or of arms without a name or a place.
    """
    labels = prior.labels or None
    if isinstance(min_share, Mapping) and labels is None:
        if isinstance(prior, Prior):
            raise ValueError(
                "Expected the arms to have names where min_share= is of single arms: "
                "Prior(base=.2, best=.5, arms=['usual', 'new']), the arm of today first."
            )
        if any(isinstance(arm, str) for arm in min_share):
            raise ValueError(
                f"Expected the arms' names beside min_share={shown(dict(min_share))}, in the order "
                "of the rates: arms=['usual', 'new']."
            )
    assignment = assignment_of("planned", min_share, prior.size, labels)
    return assignment if assignment is not None and assignment.has_least else None


def conditions_of(
    visitors: int,
    shares: Assignment | None,
    silent: float,
    drift: Drift | None,
    delay: DelayLaw | None,
    period: int | None,
    ruler: Range,
) -> Conditions:
    """What a trial is played under, its drift in parts of the range of rewards.

    Raises:
        ValueError, TypeError: an option out of its range, or of another kind.
    """
    share = number_within(silent, "silent", 0, 1, "[)", of="a share of people")
    if drift is not None and not isinstance(drift, Drift):
        raise TypeError(f"Expected drift={shown(drift)} to be dpbandits.Drift(0.2), say, or None.")
    if drift is not None:
        scale = (-1.0 if ruler.minimise else 1.0) / ruler.span
        several = drift.size if isinstance(drift.size, tuple) else None
        size = tuple(scale * each for each in several) if several else scale * drift.size  # type: ignore[operator]
        drift = replace(drift, size=size)
    length = 0 if period is None else whole_number(period, "period", 1, visitors)
    return Conditions(visitors, shares, share, drift, delay, length)


class Told:
    """Tells how many runs are done of all that are played."""

    def __init__(self, progress: Callable[[int, int], None] | None, total: int) -> None:
        self.progress, self.done, self.total = progress, 0, total
        self(0)

    def __call__(self, more: int) -> None:
        self.done += more
        if self.progress is not None:
            self.progress(self.done, self.total)


def foreseen(
    private: list[Entrant], trial: ForecastTrial, progress: Callable[[int, int], None] | None
) -> tuple[Foreseen, ...]:
    """All rows: policies, what they are without privacy, equal shares."""
    plain = baselines_of(private, trial.visitors)
    if not trial.how.are_plain:
        for entrant in private:
            require_played(entrant, trial.how)
    everything = [*(each for each in plain.values() if trial.how.takes(each.policy)), *private]
    named_draws = min(len(trial.means), NAMED_DRAWS) if trial.how.are_plain else 0
    played_too = sum(is_played(entrant.policy) for entrant in private)
    tell = Told(progress, len(everything) * len(trial.means) + played_too * named_draws)
    equal = equal_shares(trial)
    outcomes = list[Outcome]()
    for entrant in everything:
        policy = entrant.policy
        if trial.how.are_plain:
            size = (trial.means, trial.visitors, trial.seed)
            plays = plays_of(policy, *size, tell, trial.delay, trial.how.sd)
            loss = losses(plays, trial)
        else:
            found = [played(policy, trial, draw, tell) for draw in range(len(trial.means))]
            plays = np.stack([each.plays for each in found])
            loss = np.array([each.loss for each in found]) * trial.span
        if entrant.epsilon is not None and is_played(policy):
            if trial.how.are_plain:
                found = [played(policy, trial, draw, tell) for draw in range(named_draws)]
            names = names_played(found, trial)
        else:
            names = names_expected(schedule_of(policy, trial.visitors), plays, trial)
        outcomes.append(Outcome(loss, share_of_best(trial, plays[:, -1]), names))
    names = names_expected(plain_schedule(trial.means.shape[1]), equal, trial)
    last = Outcome(losses(equal, trial), highest_mean(equal, trial), names)
    return table_of(everything, outcomes, last, trial.span)


class Outcome(NamedTuple):
    """What trials of one entrant showed: each draw's loss, how often the best arm was shown most,
    and when it is named.
    """

    loss: Floats
    leads: float
    names: Names


def table_of(
    everything: Sequence[Entrant], outcomes: Sequence[Outcome], equal: Outcome, span: float
) -> tuple[Foreseen, ...]:
    """A row for each entrant, what has privacy first, and for equal shares."""
    without, rows, compared = dict[str, Floats](), list[Foreseen](), list[Foreseen]()
    for entrant, outcome in zip(everything, outcomes, strict=True):
        if entrant.epsilon is None:
            without[entrant.label], same, found = outcome.loss, None, compared
        else:
            same, found = without.get(entrant.policy.about.baseline), rows
        row = foreseen_row(entrant.label, entrant.epsilon, outcome, same, equal.loss, span)
        found.append(row)
    return (*rows, *compared, foreseen_row(EQUAL, None, equal, None, equal.loss, span))


NAMED_DRAWS = 100
"""Draws in which it is looked at when a winner is named."""


def is_played(policy: Policy) -> bool:
    """Whether a policy's trials can be played in blocks, and its arms are compared in pairs."""
    return policy.randomizer() is None and MeanReader.of(policy).alone


def can_be_played(policy: Policy) -> bool:
    """Whether it is for arms with least shares, say."""
    return is_played(policy) and policy.chooses


def require_played(entrant: Entrant, how: Conditions) -> None:
    """Refuse a policy whose trials cannot be played under conditions.

    Raises:
        ValueError: it is one.
    """
    if not can_be_played(entrant.policy):
        raise ValueError(
            "min_share=, silent=, drift=, period= and present= are for policies that release "
            f"blocks of single arms, such as {DEFAULT[0]}; {entrant.label} does not. Leave them "
            "out, or name other policies."
        )
    if how.period:
        require_comparable(entrant.policy, how.assignment)


def played(policy: Policy, trial: ForecastTrial, draw: int, tell: TellDone) -> PlayedTrial:
    seed, delta = trial.seed + draw, 1.0 - CONFIDENCE
    found = play_trial(policy, trial.first[draw], trial.kept, trial.how, seed, delta)
    tell(1)
    return found


class Names(NamedTuple):
    """When the best arm is named. named: the median of people; infinite if most never come to it.
    chance: that it is named by the end. width: of a final interval, on average, in [0, 1].
    """

    named: float
    chance: float | None
    width: float | None


NOBODY = Names(np.inf, None, None)
"""No arm is looked for that is best for all."""


def names_played(found: Sequence[PlayedTrial], trial: ForecastTrial) -> Names:
    """By trials that were played; a wrong name counts as none."""
    when = list[float]()
    for draw, each in enumerate(found):
        means = trial.means[draw]
        is_right = each.named is not None and is_best_alone(means, *each.named, trial.how)
        when.append(float(each.named[1]) if each.named is not None and is_right else np.inf)
    width = float(np.mean([each.widths.mean() for each in found]))
    return Names(middle_of(when), float(np.isfinite(when).mean()), width)


def is_best_alone(means: Floats, arm: int, people: int, how: Conditions) -> bool:
    among = means[how.in_play(len(means), people - 1)]
    return bool(means[arm] == among.max() and (among == among.max()).sum() == 1)


def middle_of(when: Sequence[float]) -> float:
    """The median, of which infinite ones may be a half."""
    return float(np.sort(when)[len(when) // 2])


def names_expected(schedule: Schedule | None, plays: Integers, trial: ForecastTrial) -> Names:
    """By the intervals at expected totals, of what is not played in blocks."""
    if schedule is None:
        return NOBODY
    answered, when = trial.answered(plays), np.full(len(trial.means), np.inf)
    for start, stop in trial.how.stretches:
        among = trial.how.in_play(trial.means.shape[1], start)
        of = (trial.kept > start) & (trial.kept <= stop)
        if len(among) > 1 and of.any():
            shown_to = answered[:, of][:, :, among]
            found = named_after(schedule, shown_to, trial.means[:, among], trial.kept[of])
            when = np.minimum(when, found)
    low, high = expected_bounds(schedule, answered[:, -1:], trial.means)
    return Names(
        middle_of(when.tolist()), float(np.isfinite(when).mean()), float((high - low).mean())
    )


def foreseen_row(
    label: str,
    epsilon: float | None,
    outcome: Outcome,
    baseline: Floats | None,
    shares: Floats,
    span: float,
) -> Foreseen:
    """A row. baseline, shares: losses of the same without privacy, of equal shares. span: of
    rewards.
    """
    loss, leads, names = outcome
    q95, q99 = np.quantile(loss, [0.95, 0.99], method="higher").tolist()
    return Foreseen(
        label,
        epsilon,
        float(loss.mean()),
        standard_error(loss),
        None if baseline is None else float((loss - baseline).mean()),
        float((shares - loss).mean()),
        q95,
        q99,
        float(loss.max()),
        leads,
        round(names.named) if np.isfinite(names.named) else None,
        None if baseline is None else standard_error(loss - baseline),
        standard_error(shares - loss),
        names.chance,
        None if names.width is None else names.width * span,
    )


def standard_error(each: Floats) -> float:
    """Of the mean of these draws; 0 where they differ by rounding alone."""
    found = float(each.std(ddof=1) / np.sqrt(len(each)))
    return found if found > 1e-12 * float(np.abs(each).max()) else 0.0


def losses(plays: Integers, trial: ForecastTrial) -> Floats:
    """What each draw lost by the end, in the user's units, shape (draws,)."""
    gaps = trial.means.max(axis=1, keepdims=True) - trial.means
    out_of_reach = np.array([trial.how.out_of_reach(means) for means in trial.means])
    return np.asarray(((gaps * plays[:, -1]).sum(axis=1) - out_of_reach) * trial.span)


def highest_mean(plays: Integers, trial: ForecastTrial) -> float:
    """How often the best arm has the highest mean of all at the end, without privacy."""
    rng = np.random.default_rng([trial.seed, len(plays), COUNTS])
    shown, sd = trial.answered(plays)[:, -1], trial.how.sd
    law: Any = (0.0, 1.0, trial.means) if sd is None else Spread.of(trial.means, sd)
    low, high, chance = law
    scores = low + (high - low) * rng.binomial(shown, chance) / np.maximum(1, shown)
    return share_of_best(trial, np.where(shown > 0, scores, -1.0))


def share_of_best(trial: ForecastTrial, scores: Any) -> float:
    means, scores = trial.means[:, trial.stay], scores[:, trial.stay]
    best = means == means.max(axis=1, keepdims=True)
    return float(best[np.arange(len(scores)), scores.argmax(axis=1)].mean())


def equal_shares(trial: ForecastTrial) -> Integers:
    """Play counts of an A/B test: arms in turn."""
    counts = np.zeros((len(trial.kept), trial.means.shape[1]), np.int64)
    for start, stop in trial.how.stretches:
        among = trial.how.in_play(trial.means.shape[1], start)
        many = np.clip(trial.kept - start, 0, stop - start)[:, None]
        counts[:, among] += (many + np.arange(len(among) - 1, -1, -1)) // len(among)
    return np.broadcast_to(counts, (len(trial.means), *counts.shape))


# The same in worlds in which no arm is best for everybody.


def foreseen_in_worlds(
    private: list[Entrant],
    plain: dict[str, Entrant],
    worlds: Sequence[World],
    rounds: int,
    seed: int,
    span: float,
    progress: Callable[[int, int], None] | None,
) -> tuple[Foreseen, ...]:
    """All rows: policies, what they are without privacy, equal shares."""
    tell = Told(progress, (len(private) + len(plain)) * len(worlds))
    most = np.array([float(world.best_until(rounds)) for world in worlds])
    means = np.stack([world.means for world in worlds])
    mean, best = rounds * means.mean(axis=1), means.argmax(axis=1)
    everything, outcomes = [*plain.values(), *private], list[Outcome]()
    for entrant in everything:
        found = [
            lost_in(world, entrant.policy, rounds, seed, draw, tell)
            for draw, world in enumerate(worlds)
        ]
        loss = np.array([lost for lost, _ in found]) * span
        leads = float((np.array([most_played for _, most_played in found]) == best).mean())
        outcomes.append(Outcome(loss, leads, NOBODY))
    shown = (rounds + np.arange(means.shape[1])[::-1]) // means.shape[1]  # arms in turn
    scores = np.random.default_rng([seed, len(worlds), COUNTS]).binomial(shown, means) / shown
    leads = float((scores.argmax(axis=1) == best).mean())
    return table_of(everything, outcomes, Outcome((most - mean) * span, leads, NOBODY), span)


def lost_in(
    world: World, policy: Policy, rounds: int, seed: int, draw: int, tell: TellDone
) -> tuple[float, int]:
    """What one run lost against the arm that is best for each visitor or at each time, and the arm
    that it played most.
    """
    runs = simulate(policy, world, rounds, seed=seed, at=[rounds], first=draw, workers=1)
    tell(1)
    return float(runs.regret()[0]), int(runs.plays[0].argmax())


# What a campaign is expected to have lost to privacy so far, were the means what was released.


RUNS = 400

MOST_PEOPLE, MOST_ROUNDS = 10**6, 10**7
"""The first so many people, and rounds of all runs together: with more people there are fewer runs.
With more than `FEW_ARMS` both are fewer, because a round takes longer.
"""

FEW_ARMS = 10

MOST_SHARED, SHARED_ROUNDS = 5_000, 50_000
"""The same with least shares, where runs are played as trials of `forecast` are."""


class ExpectedLoss(NamedTuple):
    """Losses against the best arm for everybody, in the user's units.

    people: whose outcomes were recorded, the first million at most, or 5,000 with least shares,
        and fewer with more than ten arms. loss: of the policy. privacy: loss less that of the same
        policy without privacy, which gets other runs. error: the standard error of `privacy`. runs:
        of each.
    """

    people: int
    loss: float
    privacy: float
    error: float
    runs: int

    def __str__(self) -> str:
        return (
            f"Were the means what was released, the first {self.people:,} rounds whose outcomes "
            f"were recorded would be expected to lose {amount(self.loss)} against the best arm, "
            f"{amount(self.privacy)} ± {amount(2 * self.error)} of it to privacy (two standard "
            f"errors, {self.runs} simulated runs)."
        )


def expected_loss(
    policy: Policy,
    rows: Sequence[Belief],
    people: int,
    ruler: Range | None,
    least: Assignment | None = None,
) -> ExpectedLoss | None:
    """By exact simulation of this policy and of its baseline without privacy, from the first person
    on, with coins of the released means and answers that come at once. It reads released values
    only, so it costs no privacy.

    rows: of the policy's arms. people: whom it learned from. least: the arms' least shares, which
    the baseline has, too. None where an arm has no released mean yet, where there is no privacy or
    no baseline to compare with, where a policy does not play single arms for their rewards, and
    where it has no fast player, or with least shares no blocks of single arms.
    """
    means, about = [row.mean for row in rows], policy.about
    if not means or None in means or people < len(means):
        return None
    if about.feedback != "bandit" or about.goal != "regret":
        return None
    longer = max(1.0, len(means) / FEW_ARMS)
    most_people, rounds = (
        (MOST_PEOPLE, MOST_ROUNDS) if least is None else (MOST_SHARED, SHARED_ROUNDS)
    )
    most = int(most_people / longer)
    people = min(people, most, getattr(policy, "horizon", None) or most)
    ruler = ruler or Range()
    baselines = baselines_of([Entrant(type(policy).__name__, None, policy)], people)
    if policy.guarantee is None or not baselines:
        return None
    both = policy, next(iter(baselines.values())).policy
    units = np.array([ruler.to_unit(clipped(mean, ruler)) for mean in means])
    runs = min(int(rounds / longer) // people, RUNS)
    if least is None:
        world = Bernoulli(units)
        if not all(choose_player(each, world, people, 0, True)[1] for each in both):
            return None
        each_run = [
            simulate(each, world, people, runs=runs, seed=seed, at=[]).regret()
            for seed, each in enumerate(both)
        ]
    elif can_be_played(policy):
        how, at = Conditions(people, least), np.array([people])
        each_run = [
            np.array([play_trial(each, units, at, how, seed, 0.05).loss for seed in seeds])
            for each, seeds in zip(both, (range(runs), range(runs, 2 * runs)), strict=True)
        ]
    else:
        return None
    ours, plain = (lost * ruler.span for lost in each_run)
    error = np.hypot(*(np.std(each, ddof=1) / np.sqrt(runs) for each in (ours, plain)))
    loss = float(ours.mean())
    return ExpectedLoss(people, loss, loss - float(plain.mean()), round(float(error), 9), runs)


def clipped(mean: float | None, ruler: Range) -> float:
    """A released mean may lie outside the range, by its noise."""
    return float(np.clip(np.nan if mean is None else mean, float(ruler.low), float(ruler.high)))
