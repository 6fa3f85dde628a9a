"""Trials that are played to see what they lose and when a winner is named: with least shares of
arms, rates that change, people who never answer, late answers, periods, and arms that come and go.

Whole blocks are played at once where answers come at once, whole periods where shares stand still
within them. Without periods, late answers and people who never answer are played in a `Session`,
person by person, and so are arms that come and go. The rewards are drawn, the noise is simulated,
and the evidence is that of `beliefs`.

And worlds in which no arm is best for everybody: visitors differ (policies that decide by
contexts), or rates change at random times.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpbandits.core.contexts import UnitContexts, by_name, checked_rows
from dpbandits.core.inputs import MOST, Floats, Integers, number_within, whole_number
from dpbandits.core.plan import Cycle, Draw, Hold, Plan, Progress, PublicRng
from dpbandits.environments.changing import ChangingMeans, Drift
from dpbandits.environments.tables import ContextTable
from dpbandits.forecasting.outcome import EachRate, Prior, drawn_means
from dpbandits.mechanisms import Block
from dpbandits.noise.sources import SimulatedNoise
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.arms import Assignment
from dpbandits.session.beliefs import (
    ReleaseHistory,
    best_compared,
    changed_of,
    interval,
)
from dpbandits.session.ranges import Range
from dpbandits.session.session import Session
from dpbandits.session.times import OpenPeriod
from dpbandits.simulation.plain import NEVER, DelayLaw, drawn_delay

PARTS = 200
"""Rates that change are taken as constant over a part of the trial of this length."""

COINS = 6
"""Sets the stream of a played trial's rewards apart from others."""


class Spread(NamedTuple):
    """The law of single rewards of mean m and standard deviation s in [0, 1]: two values, m ± s,
    or, where one of these lies outside, that end and the value that goes with it.

    Args:
        low, high: the values. chance: of the high one. All of them in the shape of the means.
    """

    low: Floats
    high: Floats
    chance: Floats

    @classmethod
    def of(cls, means: Any, sd: Any) -> Spread:
        """Of means of any shape, and standard deviations that they can have."""
        means = np.asarray(means, np.float64)
        square = np.broadcast_to(np.square(sd), means.shape)
        with np.errstate(divide="ignore", invalid="ignore"):
            at_top = np.where(means < 1.0, means - square / (1.0 - means), means)
            low = np.where(means + sd > 1.0, at_top, np.maximum(0.0, means - sd))
            above = np.where(square > 0.0, square / (means - low), 0.0)
            chance = np.where(above > 0.0, (means - low) / (means - low + above), 0.0)
        return cls(np.maximum(0.0, low), np.minimum(1.0, means + above), chance)

    def steps(self, luck: Floats, steps: int) -> Integers:
        """Rewards in steps of a grid, by even luck in [0, 1]; of the two steps beside a value one
        is drawn, so that means stay.
        """
        is_high = luck < self.chance
        rest = np.where(is_high, luck / np.maximum(self.chance, 1e-300), 0.0)
        rest = np.where(is_high, rest, (luck - self.chance) / np.maximum(1.0 - self.chance, 1e-300))
        value = np.where(is_high, self.high, self.low) * steps
        whole = np.floor(value)
        return np.asarray(whole + (rest < value - whole), np.int64)


class Conditions(NamedTuple):
    """Of a trial.

    Args:
        visitors: people who are asked.
        assignment: the arms' least shares; None: they have none.
        silent: the share of people who never answer.
        drift: how rates change; None: they stay.
        delay: after how many further people answers come; None: at once.
        period: people in a period; 0: there are none.
        sd: the standard deviation of an arm's single rewards, shape (arms,); None: they are 0 or 1.
        present: by arm, the visitors who come before it, and those who come before it goes; empty:
            all arms stay.
    """

    visitors: int
    assignment: Assignment | None = None
    silent: float = 0.0
    drift: Drift | None = None
    delay: DelayLaw | None = None
    period: int = 0
    sd: Floats | None = None
    present: tuple[tuple[int, int], ...] = ()

    def in_play(self, arms: int, before: int) -> list[int]:
        """Return the arms in play for the visitor whom so many came before."""
        present = self.present or ((0, self.visitors),) * arms
        return [arm for arm, (since, until) in enumerate(present) if since <= before < until]

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """Visitors before the first, and up to the last one, of each stretch of the same arms."""
        ends = {time for times in self.present for time in times}
        return list(pairwise(sorted({0, self.visitors, *ends})))

    def out_of_reach(self, means: Floats) -> float:
        """Return by how much the best of arms with these means is better than the best one in play,
        added up over all visitors.
        """
        each = [
            (stop - start) * float(means.max() - means[self.in_play(len(means), start)].max())
            for start, stop in self.stretches
        ]
        return sum(each)

    def rewards(self, means: Any, arms: Any, luck: Any, steps: int) -> Any:
        """Return rewards of arms with these means, in steps of a grid, by even luck in [0, 1]."""
        if self.sd is None:
            return steps * (luck < means)
        return Spread.of(means, self.sd[arms]).steps(luck, steps)

    @property
    def are_plain(self) -> bool:
        """Whether nothing but answers that are late sets the trial apart from a simulation."""
        return not (self.assignment or self.silent or self.drift or self.period or self.present)

    def takes(self, policy: Policy) -> bool:
        """Return whether a policy can be played: in a session whose arms have least shares, or come
        and go, it has to choose among some of them.
        """
        in_a_session = self.present or self.silent or self.delay is not None
        return policy.chooses or not (in_a_session and (self.present or self.assignment))

    def rates(self, means: Floats) -> Floats:
        """Return the means over the trial, shape (parts, arms): of one part where they stay.

        Raises:
            ValueError: one of them leaves [0, 1].
        """
        path = means[None, :]
        if self.drift is not None:
            times = (np.arange(PARTS) + 0.5) / PARTS
            path = path + self.drift.added(times, len(means))
        if not ((path >= 0.0) & (path <= 1.0)).all():
            raise ValueError(
                "Expected rates that stay in the range of rewards while they change; one goes from "
                f"{path.min():.4g} to {path.max():.4g} of it. Give a smaller drift."
            )
        most = np.sqrt(path * (1.0 - path))
        if self.sd is not None and not (self.sd <= most * (1.0 + 1e-9)).all():
            part, arm = np.unravel_index((self.sd - most).argmax(), most.shape)
            raise ValueError(
                f"Expected sd= that rewards can have: with a mean {path[part, arm]:.4g} of the way "
                f"through their range they spread by {most[part, arm]:.4g} of it at most, when all "
                f"of them are at its ends; {self.sd[arm]:.4g} was asked for."
            )
        return np.asarray(path)


class PlayedTrial(NamedTuple):
    """What came of a trial.

    Args:
        plays: how often each arm was shown by each kept round, shape (rounds, arms).
        loss: against the arm that is best over the trial of those in play, for everybody, in mean
            rewards.
        named: the arm that was named first, and after how many people; None: none was.
        widths: of the final intervals, shape (arms,); 1 where nothing was released.
    """

    plays: Integers
    loss: float
    named: tuple[int, int] | None
    widths: Floats


def play_trial(
    policy: Policy, means: Floats, at: Integers, how: Conditions, seed: int, delta: float
) -> PlayedTrial:
    """Play a trial.

    Args:
        means: of the arms at the beginning, shape (arms,).
        at: increasing rounds at which plays are kept, the last one the end.
        delta: the most probability of a wrong name.
    """
    rates, arms = how.rates(means), len(means)
    kept, shown_at = np.zeros((len(at), arms), np.int64), np.zeros(arms, np.int64)
    earned, people, place, named = 0.0, 0, 0, None
    known, came = ReleaseHistory.of(policy), max((since for since, _ in how.present), default=0)
    for asked, worth, history in turns_of(policy, rates, at, how, seed):
        before, people = people, people + int(asked.sum())
        while place < len(at) and at[place] <= people:  # a block of one arm, as a rule
            share = (int(at[place]) - before) / max(1, people - before)
            kept[place] = shown_at + np.rint(asked * share).astype(np.int64)
            place += 1
        shown_at = shown_at + asked
        earned += worth
        if history is not None:
            known = history
            among, is_open = how.in_play(arms, people - 1), named is None and people > came
            found = best_compared(known, among, delta) if is_open else None
            if found is not None and (known.within is not None or not has_changed(known, delta)):
                named = found, people
    kept[place:] = shown_at
    widths = np.ones(arms) if policy.guarantee is None else final_widths(known, delta)
    average = rates.mean(axis=0)
    loss = float(average.max()) * people - how.out_of_reach(average) - earned
    return PlayedTrial(kept, loss, named, widths)


class Turn(NamedTuple):
    """Some of a trial's people.

    Args:
        asked: how many were shown each arm, shape (arms,).
        worth: the sum of their mean rewards.
        known: what is known after them; None: nothing new, or the policy is not private.
    """

    asked: Integers
    worth: float
    known: ReleaseHistory | None


def turns_of(
    policy: Policy, rates: Floats, at: Integers, how: Conditions, seed: int
) -> Iterator[Turn]:
    """Play a trial in the way that is fastest for it."""
    if how.present:
        return in_a_session(policy, rates, at, how, seed)
    if how.period:
        return in_periods(policy, rates, at, how, seed)
    if how.delay is not None or how.silent:
        return in_a_session(policy, rates, at, how, seed)
    if policy.about.every_round:
        return one_by_one(policy, rates, at, how, seed)
    return steps_of(policy, rates, how, seed)


def in_a_session(
    policy: Policy, rates: Floats, at: Integers, how: Conditions, seed: int
) -> Iterator[Turn]:
    """Play a trial person by person, as `Session` does. A policy without privacy, which no session
    plays in periods, reads each answer as it comes.
    """
    rng, options = np.random.default_rng([seed, COINS]), dict[str, Any]()
    if how.assignment is not None:
        shares = how.assignment.shares
        options["min_share"] = dict(shares) if shares else how.assignment.min_share
    noise, people, steps = SimulatedNoise(seed), how.visitors, policy.reader.grid.steps
    t, arms, is_private = 0, policy.arms, policy.guarantee is not None
    if how.period and is_private:
        options |= {"period": timedelta(seconds=how.period), "clock": lambda: t}
    if how.present:
        policy = replace(policy, arms=len(how.in_play(arms, 0)))
    session = Session(policy, noise=noise, seed=seed, max_pending=10**7, **options)
    luck = rng.random(people)
    comes = answers_of(how, rng)
    late = list[tuple[int, int, Any, float]]()
    asked, worth, releases = np.zeros(arms, np.int64), 0.0, 0
    ends = set(at.tolist())
    for t in range(people):
        for arm, (since, until) in enumerate(how.present):
            if since == t > 0:
                session.add_arm()
            if until == t:
                session.retire_arm(arm)
        decision = session.ask()
        means = rates[t * len(rates) // people]
        mean = float(means[decision.action])
        asked[decision.action] += 1
        worth += mean
        if comes[t] < people:
            reward = float(how.rewards(mean, decision.action, luck[t], steps) / steps)
            heapq.heappush(late, (int(comes[t]), t, decision, reward))
        while late and late[0][0] <= t:
            session.tell(*heapq.heappop(late)[2:])
        news = is_private and session.releases != releases
        if news or t + 1 in ends:
            releases = session.releases
            yield Turn(asked, worth, session._state.history if news else None)
            asked, worth = np.zeros(arms, np.int64), 0.0


def one_by_one(
    policy: Any, rates: Floats, at: Integers, how: Conditions, seed: int
) -> Iterator[Turn]:
    """Play a trial of a policy that reads every answer at once, without privacy."""
    rng, people, noise = np.random.default_rng([seed, COINS]), how.visitors, SimulatedNoise(seed)
    coins, luck = rng.random(people).tolist(), rng.random(people).tolist()
    assignment, arms = how.assignment or Assignment(False, 0.0), range(policy.arms)
    edges = [np.cumsum(assignment.law({}, planned, arms)).tolist() for planned in arms]
    mechanism, state, path = policy.reader, policy.init(), rates.tolist()
    memory, steps, ends = mechanism.init(len(arms)), mechanism.grid.steps, set(at.tolist())
    asked, worth = np.zeros(len(arms), np.int64), 0.0
    for t in range(people):
        plan = policy.plan(state, public := PublicRng(seed, t))
        planned = plan.action_at(0, t + 1, public)
        arm = min(bisect_right(edges[planned], coins[t]), arms[-1])
        mean = path[t * len(path) // people][arm]
        asked[arm] += 1
        worth += mean
        block = Block((arm,), (int(how.rewards(mean, arm, luck[t], steps)),), (1,))
        memory, answers = mechanism.answer(memory, block, noise)
        release = Release((arm,), tuple(answers), t + 1, ((arm, 1),))
        state = policy.update(state, Hold(arm, 1, (arm,)), release)
        if t + 1 in ends:
            yield Turn(asked, worth, None)
            asked, worth = np.zeros(len(arms), np.int64), 0.0


def answers_of(how: Conditions, rng: np.random.Generator) -> Integers:
    """Return by whom each person's answer has come, shape (people,); `NEVER` where none comes."""
    people, law = how.visitors, how.delay
    comes = np.arange(people)
    if law is not None:
        comes += np.array([drawn_delay(law, rng) for _ in range(people)], np.int64)
    return np.where(rng.random(people) < how.silent, NEVER, comes) if how.silent else comes


def in_periods(
    policy: Policy, rates: Floats, at: Integers, how: Conditions, seed: int
) -> Iterator[Turn]:
    """Play a trial with periods: whole stretches of answers at a time."""
    rng, people = np.random.default_rng([seed, COINS]), how.visitors
    coins, luck, comes = rng.random(people), rng.random(people), answers_of(how, rng)
    start = 0
    for end in periods_of(policy, rates, how, coins, luck, comes, seed):
        stop = start + len(end.drawn)
        parts = np.arange(start, stop) * len(rates) // people
        worth = rates[parts, end.drawn]
        inner = at[(at > start) & (at < stop)] - start
        for first, last in pairwise([0, *inner.tolist(), stop - start]):
            asked = np.bincount(end.drawn[first:last], minlength=policy.arms)
            known = end.known if last == stop - start and policy.guarantee is not None else None
            yield Turn(asked, float(worth[first:last].sum()), known)
        start = stop


class PeriodEnd(NamedTuple):
    """A trial at the end of a period.

    Args:
        drawn: the arm of each of the period's people.
        known, state: what is known, and the policy's state.
        number: of releases.
    """

    drawn: Integers
    known: ReleaseHistory
    state: Any
    number: int


def periods_of(
    policy: Any,
    rates: Floats,
    how: Conditions,
    coins: Floats,
    luck: Floats,
    comes: Integers,
    seed: int,
) -> Iterator[PeriodEnd]:
    """Play a trial with periods: what a `Session` does, with whole stretches of answers added at a
    time. A policy without privacy, which no session plays in periods, reads all answers of a period
    at its end.

    Args:
        rates: means over the trial, shape (parts, arms).
        coins: by which arms are drawn, shape (people,).
        luck: by which rewards are drawn, shape (people,).
        comes: by whom each person's answer has come, shape (people,).
        seed: of the noise.
    """
    people, arms, noise, length = len(coins), range(policy.arms), SimulatedNoise(seed), how.period
    assignment = how.assignment
    assert assignment is not None
    mechanism, state, number = policy.reader, policy.init(), 0
    memory, steps, records = mechanism.init(policy.arms), mechanism.grid.steps, 0
    known, period = ReleaseHistory.of(policy, periods=True), OpenPeriod()
    drawn, law_of = np.zeros(people, np.intp), np.zeros(people, np.intp)
    order = np.argsort(comes, kind="stable")
    in_order = comes[order]
    for start in range(0, people, length):
        stop, planned = min(start + length, people), None
        if all(state.rounds):
            ahead = policy.ahead(state, {}, PublicRng(seed, number), arms)
            planned = ahead.action_at(0, start + 1, PublicRng(seed, number))
        law = assignment.fixed_law(planned, arms)
        period = period.fixed(start, planned).drawn(start + 1, law)
        edges = np.cumsum(law)
        drawn[start:stop] = np.minimum(np.searchsorted(edges, coins[start:stop], "right"), arms[-1])
        law_of[start:stop] = period.laws[-1].since
        told_now = order[slice(*np.searchsorted(in_order, [start, stop]))]
        answered = drawn[told_now]
        means = rates[told_now * len(rates) // people, answered]
        rewards = how.rewards(means, answered, luck[told_now], steps)
        places = [np.flatnonzero(answered == arm) for arm in arms]
        sums = [np.concatenate([[0], np.cumsum(rewards[place])]) for place in places]
        told, block, at = [0] * len(law), {arm: [0, 0] for arm in arms}, -1
        counts, plan = dict[int, int](), policy.plan(state, PublicRng(seed, number))
        while at < len(told_now) - 1:
            ends = dict[int, int]()
            if policy.guarantee is not None:
                ends = {
                    int(places[arm][last]): arm
                    for arm in arms
                    if (last := told[arm] + policy.room(state, arm) - 1) < len(places[arm])
                }
            at, counts = min(ends, default=len(told_now) - 1), {}
            for arm in arms:
                now = int(np.searchsorted(places[arm], at, "right"))
                if now > told[arm]:
                    block[arm][0] += int(sums[arm][now] - sums[arm][told[arm]])
                    block[arm][1] += now - told[arm]
                    counts[arm], told[arm] = now - told[arm], now
            records += sum(counts.values())
            if at not in ends:
                break
            full = ends[at]
            memory, answers = mechanism.answer(memory, block_of(block, (full,)), noise)
            release = Release((full,), tuple(answers), records, tuple(counts.items()))
            state, known = policy.update(state, plan, release), known.after(release)
            number, counts, block[full] = number + 1, {}, [0, 0]
            plan = policy.plan(state, PublicRng(seed, number))
        by_law = zip(law_of[told_now].tolist(), answered.tolist(), strict=True)
        for since, arm in dict.fromkeys(by_law):
            period = period.recorded(since, arm)
        read = tuple(arm for arm in arms if block[arm][1])
        memory, answers = mechanism.answer(memory, block_of(block, read), noise)
        release = Release(read, tuple(answers), records, tuple(counts.items()))
        known, period = known.after(release, arms, period.ended(arms)), period.next(stop)
        if read:
            state, number = policy.update(state, plan, release), number + 1
        yield PeriodEnd(drawn[start:stop], known, state, number)


def block_of(open_: dict[int, list[int]], read: tuple[int, ...]) -> Block:
    sums, counts = (tuple(open_[arm][part] for arm in read) for part in (0, 1))
    return Block(read, sums, counts)


def steps_of(policy: Any, rates: Floats, how: Conditions, seed: int) -> Iterator[Turn]:
    """Play a trial whose answers come at once, block by block."""
    rng, noise, arms = np.random.default_rng([seed, COINS]), SimulatedNoise(seed), policy.arms
    mechanism, state, known = policy.reader, policy.init(), ReleaseHistory.of(policy)
    memory, steps = mechanism.init(arms), mechanism.grid.steps
    sums, counts = [0] * arms, [0] * arms
    people, number, length = 0, 0, len(rates)
    while people < how.visitors:
        public = PublicRng(seed, number)
        plan: Plan = policy.plan(state, public)
        progress = Progress(plan, partial(policy.room, state))
        rooms = None if how.assignment is None else [policy.room(state, arm) for arm in range(arms)]
        due: tuple[int, ...] | None = None
        while due is None and people < how.visitors:
            part = min(length - 1, people * length // how.visitors)
            left = how.visitors - people
            if length > 1:
                left = min(left, max(1, (part + 1) * how.visitors // length - people))
            asked = next_people(
                policy, state, plan, progress, rooms, how, public, rng, left, people + 1
            )
            for arm in np.flatnonzero(asked).tolist():
                many = int(asked[arm])
                if how.sd is None:
                    sums[arm] += int(rng.binomial(many, rates[part, arm])) * steps
                else:
                    luck = rng.random(many)
                    sums[arm] += int(how.rewards(rates[part, arm], arm, luck, steps).sum())
                counts[arm] += many
                ended = progress.count(arm, many)  # perhaps with nothing to release
                due = due if ended is None else ended
            people += int(asked.sum())
            if due is None:
                yield Turn(asked, float(asked @ rates[part]), None)
        if due is None:
            return
        read = tuple(arm for arm in due if counts[arm])
        block = Block(read, tuple(sums[arm] for arm in read), tuple(counts[arm] for arm in read))
        memory, answers = mechanism.answer(memory, block, noise)
        for arm in (*read, *plan.drop):
            sums[arm] = counts[arm] = 0
        told = tuple(sorted((arm, times) for arm, times in progress.told.items()))
        release = Release(read, tuple(answers), people, told)
        state, number = policy.update(state, plan, release), number + 1
        if policy.guarantee is not None:
            known = known.after(release)
        yield Turn(asked, float(asked @ rates[part]), None if policy.guarantee is None else known)


def next_people(
    policy: Any,
    state: Any,
    plan: Plan,
    progress: Progress,
    rooms: list[int | None] | None,
    how: Conditions,
    public: PublicRng,
    rng: np.random.Generator,
    most: int,
    round: int,
) -> Integers:
    """Return how many of the next people are shown each arm: as many as fill no more than one
    block.

    Args:
        rooms: by arm, what its block needs when the plan is made; None without least shares.
        most: of them. round: that of the first of them.
    """
    arms, told = policy.arms, progress.told
    found = np.zeros(arms, np.int64)
    if rooms is None:
        if isinstance(plan, Hold):
            arm: Any = plan.action
            found[arm] = min(most, plan.rounds - told.get(arm, 0))
        elif isinstance(plan, Cycle):
            for action in plan.actions:
                missing = plan.each - told.get(action, 0)
                if missing > 0:
                    found[action] = min(most, missing)
                    break
        else:
            drawn, left = list[Any](), [plan.limits[arm] - told.get(arm, 0) for arm in range(arms)]
            if plan.total is not None:
                most = min(most, plan.total - sum(told.values()))
            while len(drawn) < most and not (drawn and left[drawn[-1]] == 0):
                drawn.append(plan.action_at(0, round + len(drawn), public))
                left[drawn[-1]] -= 1
            found += np.bincount(drawn, minlength=arms)
        return found
    ahead = policy.ahead(state, told, public, None)
    planned = ahead.action_at(0, round, public)
    assert how.assignment is not None
    law = how.assignment.law({}, planned, range(arms))
    each = [max(1, (room or 1) - told.get(arm, 0)) for arm, room in enumerate(rooms)]
    many = 1 if isinstance(ahead, Draw) else min(most, *each)
    return np.asarray(rng.multinomial(many, np.array(law) / sum(law)), np.int64)


def has_changed(known: ReleaseHistory, delta: float) -> bool:
    return bool(changed_of(known, intervals_of(known, delta), delta))


def intervals_of(known: ReleaseHistory, delta: float) -> dict[int, Any]:
    found = {arm: interval(known, arm, delta) for arm in range(len(known.arms))}
    return {arm: each for arm, each in found.items() if each is not None}


def final_widths(known: ReleaseHistory, delta: float) -> Floats:
    """Return the widths of all intervals, shape (arms,)."""
    found = intervals_of(known, delta)
    return np.array(
        [
            found[arm].high - found[arm].low if arm in found else 1.0
            for arm in range(len(known.arms))
        ]
    )


# Worlds in which no arm is best for everybody.


ROWS = 2_000
"""Visitors that are made up where only the number of features is given."""

MOST_PIECES = 1_000
"""Times that rates may be drawn anew in a trial, as expected."""

WEIGHTS, MADE_UP, CHANGES = 3, 4, 5
"""Set the streams of laws, of made-up visitors and of changes apart from all others."""


@dataclass(frozen=True)
class Visitors:
    """What is said of visitors.

    Args:
        contexts: of visitors like those to come, shape (rows, features).
        spread: the standard deviation over visitors of an arm's rate, as a share of the rate.
        words: in words.
    """

    contexts: Floats
    spread: float
    words: str
    usual: ClassVar[tuple[str, str]] = ("DPLinTS", "DPRateIMED")

    @property
    def known(self) -> dict[str, Any]:
        """What policies are told."""
        return {"features": self.contexts.shape[1]}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with."""
        return True

    @classmethod
    def given(cls, features: Any, spread: object | None, seed: int) -> Visitors:
        """
        Args:
            features: how many there are, or contexts, shape (rows, features).
            spread: None: a half.

        Raises:
            ValueError: neither; or the spread is no number of at least 0.
        """
        what = "the standard deviation over visitors of an arm's rate, as a share of the rate"
        share = 0.5 if spread is None else number_within(spread, "spread", 0, 10, of=what)
        features = by_name(features, None)
        if isinstance(features, (list, tuple, np.ndarray)) and np.ndim(features) == 2:
            rows = np.asarray(features)
            contexts = checked_rows(rows, rows.shape[1], "features")
            if len(contexts) < 2:
                raise ValueError("Expected features= to be at least two contexts.")
            said = f"{len(contexts):,} given contexts of {contexts.shape[1]} features"
        else:
            many = whole_number(features, "features", 2, 1_000)
            rng = np.random.default_rng([seed, MADE_UP])
            measured = rng.normal(size=(ROWS, many - 1))
            contexts = UnitContexts(measured)(measured)
            said = f"made-up visitors of {many} features, a constant among them"
        return cls(contexts, share, f"visitors: {said}; spread of a rate over them: {share:.0%}")

    def world(self, means: Floats, seed: int, draw: int) -> ContextTable:
        """Visitors of one draw: each arm's rate varies along a direction of its own.

        Args:
            means: of each arm over all visitors, shape (arms,).
        """
        rng = np.random.default_rng([seed, draw, WEIGHTS])
        along = self.contexts @ rng.normal(size=(self.contexts.shape[1], len(means)))
        along -= along.mean(axis=0)
        along /= np.maximum(along.std(axis=0), 1e-12)
        return ContextTable(self.contexts, rates_about(means, self.spread * means * along))


def rates_about(means: Floats, deviations: Floats) -> Floats:
    """Return rates in [0, 1] of these means that deviate so, as far as they can there.

    Args:
        means: shape (arms,).
        deviations: shape (visitors, arms).
    """
    low, high = -deviations.max(axis=0), 1.0 - deviations.min(axis=0)  # all are 0, or all 1
    for _ in range(60):
        middle = (low + high) / 2.0
        is_above = np.clip(middle + deviations, 0.0, 1.0).mean(axis=0) > means
        low, high = np.where(is_above, low, middle), np.where(is_above, middle, high)
    return np.asarray(np.clip(low + deviations, 0.0, 1.0))


@dataclass(frozen=True)
class Lasting:
    """Rates that are drawn anew, with which arm has which, at random times.

    Args:
        lasting: visitors from one time to the next, on average.
        prior: what the rates may be at a time. ruler: the range of rewards.
        visitors: in the trial.
    """

    lasting: int
    prior: Prior | EachRate
    ruler: Range
    visitors: int
    usual: ClassVar[tuple[str, str]] = ("DPKalmanTS", "DPRateIMED")

    @classmethod
    def given(
        cls, lasting: object, prior: Prior | EachRate, ruler: Range, visitors: int
    ) -> Lasting:
        """
        Raises:
            ValueError: not a whole number, or one for which rates change too often.
        """
        least = -(-visitors // MOST_PIECES)
        return cls(whole_number(lasting, "lasting", least, MOST), prior, ruler, visitors)

    @property
    def known(self) -> dict[str, Any]:
        """What policies are told."""
        return {"lasting": self.lasting}

    def takes(self, baseline: type[Policy]) -> bool:
        """Whether this is played to be compared with; others would take minutes."""
        return "lasting" in {field.name for field in fields(baseline)}

    @property
    def words(self) -> str:
        return (
            f"they last {self.lasting:,} visitors on average, then they and which arm has which "
            "are drawn anew; losses are against the arm that is best at each time"
        )

    def world(self, seed: int, draw: int) -> ChangingMeans:
        rng = np.random.default_rng([seed, draw, CHANGES])
        changes = rng.binomial(self.visitors - 1, 1.0 / self.lasting)
        starts = np.sort(rng.choice(self.visitors - 1, changes, replace=False)) + 1
        rates = drawn_means(self.prior, self.ruler, changes + 1, int(rng.integers(2**32)))
        return ChangingMeans(rng.permuted(rates, axis=1), [0, *starts], self.visitors)


World = ContextTable | ChangingMeans
