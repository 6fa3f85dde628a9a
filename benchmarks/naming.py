"""How often the best arm is named, and a wrong one: python -m benchmarks.naming --out
docs/measured/naming.md
"""

from __future__ import annotations

import argparse
import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.policies.contract import begin_step
from dpbandits.session.beliefs import (
    Interval,
    NoiseMoments,
    ReleaseHistory,
    Sight,
    beliefs,
    best_apart,
    best_compared,
    interval,
)
from dpbandits.session.naming import people_ahead
from dpbandits.vault import open_vault

DELTA = 0.05
MOST = 1e-6
"""The false alarm of the line "allowed": more wrong names than it are that unlikely at 5 %."""

HEAD = """# Naming a winner

`python -m benchmarks.naming` writes this page. A campaign names an arm at .95 confidence when the
evidence against each other arm, compared in pairs ([proof](../../proofs/evidence.md)), is large
enough at some release. "By intervals" is the rule before: the arm's interval lies above all
others'. The policy is the one that `dpb.recommend` returns, at ε = 1 unless it says otherwise;
rewards are 0 or 1. The grid of the evidence was chosen on means (.3, .6), (.1, .3), (.5, .4) and
(.05, .09) at ε = 1, (.3, .6) at ε = .5 and 3, and (.3, .6, .4): none of these is below.
"""


class Setting(NamedTuple):
    """A kind of campaign.

    Args:
        means: of the arms at the beginning; last: at the end, None for the same.
        people: how many are asked for.
        step: whether means change at once, half-way; else steadily.
        epsilon: the budget.
        delay: after so many further people answers come, at most.
        silent: how many of them never do.
        min_share: see `Session`.
    """

    means: tuple[float, ...]
    people: int = 12_000
    last: tuple[float, ...] | None = None
    step: bool = False
    epsilon: str = "1"
    delay: int = 0
    silent: float = 0.0
    min_share: float | None = None

    @property
    def in_blocks(self) -> bool:
        """Whether whole blocks can be drawn at once."""
        return not (self.delay or self.silent or self.min_share)

    def means_at(self, people: Any) -> Any:
        """Return the means for these people, shape (people, arms)."""
        share = np.asarray(people, np.float64)[:, None] / self.people
        if self.step:
            share = (share >= 0.5).astype(np.float64)
        first, last = np.array(self.means), np.array(self.last or self.means)
        return first + share * (last - first)

    def __str__(self) -> str:
        words = [", ".join(f"{mean:g}" for mean in self.means)]
        if self.last is not None:
            how = "then" if self.step else "rising to"
            words.append(f"{how} {', '.join(f'{mean:g}' for mean in self.last)}")
        words += [f"ε = {self.epsilon}"] if self.epsilon != "1" else []
        words += [f"answers up to {self.delay:,} people late"] if self.delay else []
        words += [f"{self.silent:.0%} never answer"] if self.silent else []
        words += [f"`min_share={self.min_share:g}`"] if self.min_share else []
        return "; ".join(words)


class Outcome(NamedTuple):
    """What one campaign came to.

    Args:
        named: the arm that was named first, and after how many people; None: none.
        apart: the arm whose interval was above all others' at the end; None: none.
    """

    named: tuple[int, int] | None
    apart: int | None


class Turn(NamedTuple):
    """A campaign after a release: people so far, what is known, and how the policy goes on."""

    people: int
    known: ReleaseHistory
    policy: Any
    state: Any
    number: int


def blocks(setting: Setting, seed: int) -> Iterator[tuple[int, ReleaseHistory]]:
    """A campaign whose answers come at once, block by block: people so far, and what is known."""
    for turn in turns(setting, seed):
        yield turn.people, turn.known


def turns(setting: Setting, seed: int) -> Iterator[Turn]:
    policy: Any = dpb.recommend(arms=len(setting.means), epsilon=setting.epsilon)
    rng, known = np.random.default_rng([seed, 5]), ReleaseHistory.of(policy)
    vault = open_vault("bandit", policy.mechanism(), policy.arms, dpb.SimulatedNoise(seed), None)
    steps, state, people, number = vault.vault.grid.steps, policy.init(), 0, 0
    while True:
        plan = begin_step(policy, state, number, partial(PublicRng, seed)).plan
        if not isinstance(plan, Hold) or people + plan.rounds > setting.people:
            return
        arm, count = int(plan.action), plan.rounds  # type: ignore[arg-type]
        means = setting.means_at(np.arange(people, people + count))[:, arm]
        vault.add_block(arm, int((rng.random(count) < means).sum()) * steps, count)
        people, number = people + count, number + 1
        release = vault.release(plan.release, people, ((arm, count),), plan.drop)
        state, known = policy.update(state, plan, release), known.after(release)
        yield Turn(people, known, policy, state, number)


def session_turns(setting: Setting, seed: int) -> Iterator[Turn]:
    """The same in a `Session`, person by person, with least shares."""
    policy: Any = dpb.recommend(arms=len(setting.means), epsilon=setting.epsilon)
    noise, rng = dpb.SimulatedNoise(seed), np.random.default_rng([seed, 5])
    session, releases = dpb.Session(policy, noise=noise, seed=seed, min_share=setting.min_share), 0
    for t in range(setting.people):
        decision = session.ask()
        arm = int(decision.action)  # type: ignore[arg-type]  # one arm
        session.tell(decision, float(rng.random() < setting.means[arm]))
        if session.releases != releases:
            releases, now = session.releases, session._state
            yield Turn(t + 1, now.history, now.policy, now.learned, now.step)


class Foreseen(NamedTuple):
    """What was foreseen after some people, and how many more it took; None: not by the end, which
    came `left` people later.
    """

    sight: Sight
    took: int | None
    left: int

    @property
    def held(self) -> bool | None:
        """Whether the range held; None: nobody knows, for the campaign ended before."""
        low, _, high = (math.inf if each is None else each for each in self.sight)
        if self.took is None:
            return False if high < self.left else True if high == math.inf else None
        return low <= self.took <= high

    @property
    def is_near(self) -> bool:
        """Whether the middle was within a factor of two."""
        middle = self.sight.middle
        return None not in (middle, self.took) and self.took <= 2 * middle <= 4 * self.took  # type: ignore[operator]


def foreseen(setting: Setting, seed: int, moments: Sequence[int]) -> dict[int, Foreseen]:
    """Play a campaign, and ask after so many people how many more it takes; by moment."""
    left, asked, took = list(moments), dict[int, tuple[int, Sight]](), None
    among, last = range(len(setting.means)), 0
    for turn in (session_turns if setting.min_share else turns)(setting, seed):
        last = turn.people
        if best_compared(turn.known, among, DELTA) is not None:
            took = turn.people
            break
        while left and turn.people >= left[0]:
            at = turn.policy, turn.state, turn.number, seed, turn.known, among, DELTA
            sight = people_ahead(*at, setting.min_share)
            if sight is not None:
                asked[left[0]] = turn.people, sight
            left.pop(0)
    return {
        moment: Foreseen(sight, None if took is None else took - people, last - people)
        for moment, (people, sight) in asked.items()
    }


SIGHTS = (
    (Setting((0.25, 0.5), 40_000), (500, 1_000, 2_000, 4_000)),
    (Setting((0.4, 0.15, 0.25), 60_000), (1_000, 2_000, 4_000, 8_000)),
    (Setting((0.3, 0.6, 0.4, 0.45), 60_000), (2_000, 4_000, 8_000)),
    (Setting((0.25, 0.5), 3_000, min_share=0.05), (250, 400)),
)


def sight_rows(runs: int) -> Iterator[list[str]]:
    for setting, moments in SIGHTS:
        found = [foreseen(setting, 2 * 10**6 + seed, moments) for seed in range(runs)]
        for moment in moments:
            each = [run[moment] for run in found if moment in run]
            known = [one for one in each if one.held is not None]
            ends = [one for one in each if one.sight.low and one.sight.high]
            wide = sorted((one.sight.high or 1) / (one.sight.low or 1) for one in ends)
            middles = [one for one in each if one.sight.middle is not None]
            yield [
                str(setting),
                f"{moment:,}",
                f"{len(each)}",
                f"{sum(bool(one.held) for one in known)} of {len(known)}",
                f"{len(ends)}",
                f"{wide[len(wide) // 2]:.1f}" if wide else "",
                f"{sum(one.is_near for one in middles)} of {len(middles)}",
            ]


def rounds(setting: Setting, seed: int) -> Iterator[tuple[int, ReleaseHistory]]:
    """A campaign in a `Session`, person by person."""
    policy = dpb.recommend(arms=len(setting.means), epsilon=setting.epsilon)
    options = {} if setting.min_share is None else {"min_share": setting.min_share}
    noise, rng = dpb.SimulatedNoise(seed), np.random.default_rng([seed, 5])
    session = dpb.Session(policy, noise=noise, seed=seed, max_pending=10**6, **options)  # type: ignore[arg-type]
    means, late = setting.means_at(np.arange(setting.people)), list[tuple[int, int, Any, float]]()
    coins, waits = rng.random(setting.people), rng.integers(0, setting.delay + 1, setting.people)
    answers, releases = rng.random(setting.people) >= setting.silent, 0
    for t in range(setting.people):
        decision = session.ask()
        reward = float(coins[t] < means[t, decision.action])
        if answers[t]:
            heapq.heappush(late, (t + int(waits[t]), t, decision, reward))
        while late and late[0][0] <= t:
            session.tell(*heapq.heappop(late)[2:])
        if session.releases != releases:
            releases = session.releases
            yield t + 1, session._state.history


def winner(setting: Setting, seed: int) -> tuple[int, int] | None:
    """The arm that `goal="winner"` names, and after how many people; None: none."""
    policy = dpb.recommend(arms=len(setting.means), epsilon=setting.epsilon, goal="winner")
    session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
    rng, releases = np.random.default_rng([seed, 5]), 0
    for t in range(setting.people):
        decision = session.ask()
        arm = int(decision.action)  # type: ignore[arg-type]  # one arm
        session.tell(decision, float(rng.random() < setting.means[arm]))
        if session.releases != releases:
            releases, best = session.releases, session.beliefs(1.0 - DELTA).best
            if best is not None:
                return int(best), t + 1
    return None


def apart(known: ReleaseHistory) -> int | None:
    """The arm that is named by intervals."""
    assert known.reader.law is not None
    noise, found = NoiseMoments(known.reader.law), dict[int, Interval]()
    for arm in range(len(known.arms)):
        each = interval(known, arm, DELTA, noise)
        if each is None:
            return None
        found[arm] = each
    return best_apart(found)


def outcome(setting: Setting, seed: int) -> Outcome:
    """Play a campaign to its end."""
    named, known = None, None
    for people, known in (blocks if setting.in_blocks else rounds)(setting, seed):
        arms = range(len(known.arms))
        if named is None and best_compared(known, arms, DELTA) is not None:
            best = beliefs(known, 1.0 - DELTA).best  # None while the mean of an arm has changed
            named = None if best is None else (int(best), people)
    return Outcome(named, None if known is None else apart(known))


def wrong(setting: Setting, arm: int) -> bool:
    """Whether an arm is not the best one alone, over all of the campaign."""
    means = np.array(setting.means) + np.array(setting.last or setting.means)
    return bool(means[arm] < means.max() or (means == means.max()).sum() > 1)


EQUAL = (
    Setting((0.3, 0.3)),
    Setting((0.05, 0.05), 30_000),
    Setting((0.5, 0.5), epsilon="1/2"),
    Setting((0.3, 0.3, 0.3, 0.3)),
    Setting((0.05, 0.05, 0.05, 0.05), 30_000),
    Setting((0.4, 0.4, 0.1, 0.1)),
    Setting((0.2, 0.21)),
    Setting((0.3, 0.3), 1_000, delay=200),
    Setting((0.3, 0.3, 0.3, 0.3), 1_000, delay=200),
    Setting((0.3, 0.3), 1_000, silent=0.2),
    Setting((0.3, 0.3, 0.3, 0.3), 1_000, silent=0.2),
)
"""Nobody is the best alone, or only just: each name is wrong, or nearly so."""

DRIFTS = (
    Setting((0.1, 0.1), last=(0.5, 0.5)),
    Setting((0.2, 0.2), last=(0.4, 0.4), step=True),
    Setting((0.3, 0.3), last=(0.36, 0.36)),
)

POWER = (
    Setting((0.2, 0.5)),
    Setting((0.2, 0.5), epsilon="1/2"),
    Setting((0.2, 0.35, 0.1), 128_000),
    Setting((0.62, 0.35, 0.48, 0.2), 20_000),
    Setting((0.03, 0.036), 300_000),
    Setting((0.2, 0.5), 3_000, min_share=0.05),
    Setting((0.2, 0.35, 0.1), 3_000, min_share=0.05),
)


WINNERS = (
    Setting((0.2, 0.5), 3_000),
    Setting((0.2, 0.35, 0.1), 12_000),
    Setting((0.62, 0.35, 0.48, 0.2), 12_000),
)


def winner_rows(settings: tuple[Setting, ...], runs: int) -> Iterator[list[str]]:
    for setting in settings:
        found = [winner(setting, 10**6 + seed) for seed in range(runs)]
        best = int(np.argmax(setting.means))
        right = sorted(each[1] for each in found if each and each[0] == best)
        others = sum(each is not None and each[0] != best for each in found)
        half = f"{right[(runs + 1) // 2 - 1]:,}" if 2 * len(right) >= runs else ""
        yield [
            str(setting),
            f"{setting.people:,}",
            f"{len(right) / runs:.0%}",
            half,
            f"{others}",
        ]


def false_rows(settings: tuple[Setting, ...], runs: int) -> Iterator[list[str]]:
    for setting in settings:
        found = [outcome(setting, seed) for seed in range(runs)]
        named = sum(each.named is not None and wrong(setting, each.named[0]) for each in found)
        old = sum(each.apart is not None and wrong(setting, each.apart) for each in found)
        yield [
            str(setting),
            f"{setting.people:,}",
            f"{named:,} of {runs:,}",
            f"{old:,} of {runs:,}",
        ]


def power_rows(settings: tuple[Setting, ...], runs: int) -> Iterator[list[str]]:
    for setting in settings:
        found = [outcome(setting, 10**6 + seed) for seed in range(runs)]
        best = int(np.argmax(setting.means))
        right = [each.named[1] for each in found if each.named and each.named[0] == best]
        others = sum(each.named is not None and each.named[0] != best for each in found)
        old, half = sum(each.apart == best for each in found), ""
        if 2 * len(right) >= runs:
            half = f"{sorted(right)[(runs + 1) // 2 - 1]:,}"
        yield [
            str(setting),
            f"{setting.people:,}",
            f"{len(right) / runs:.0%}",
            half,
            f"{old / runs:.0%}",
            f"{others}",
        ]


def table(head: list[str], rows: Iterator[list[str]]) -> str:
    found = list[str]()
    for row in (head, ["---"] * len(head)):
        found.append(f"| {' | '.join(row)} |")
    for row in rows:
        found.append(f"| {' | '.join(row)} |")
        print(found[-1], flush=True)
    return "\n".join(found)


FALSE_HEAD = ["means", "people", "named", "by intervals, at the end"]
POWER_HEAD = ["means", "people", "named", "half by", "by intervals", "wrong"]
SIGHT_HEAD = ["means", "after", "asked", "held", "with an end", "times as many", "middle near"]
WINNER_HEAD = ["means", "people", "named", "half by", "wrong"]


def page(runs: int, few: int) -> str:
    """
    Args:
        runs: campaigns in which each name is wrong. few: those of which the power is shown.
    """
    parts: list[tuple[str, str, Callable[[], str]]] = [
        (
            "Wrong names",
            "At most 5 % of campaigns may name an arm that is not the best alone, at any release.",
            lambda: table(FALSE_HEAD, false_rows(EQUAL, runs)),
        ),
        (
            "Rates that change",
            "Without `min_share=` a name assumes that rates stay. These arms are equal at every "
            "moment, and their common rate changes. Nothing is proved here; at most 1 in 10 was "
            "aimed at.",
            lambda: table(FALSE_HEAD, false_rows(DRIFTS, runs)),
        ),
        (
            "Power",
            f'Of {few:,} campaigns each. "half by": people by whom half of them named it.',
            lambda: table(POWER_HEAD, power_rows(POWER, few)),
        ),
        (
            "A policy that names by itself",
            '`dpb.recommend(arms=…, epsilon=1, goal="winner")`, a top-two policy with a test of '
            f"its own. Of {few:,} campaigns each.",
            lambda: table(WINNER_HEAD, winner_rows(WINNERS, few)),
        ),
        (
            "How many more people?",
            f"Of {few:,} campaigns each, those that had named nobody after so many people were "
            'asked how many more it takes. "held": the range held; it is meant to in 8 of 10 '
            "cases, also where it has no end. Its ends were chosen on means (.2, .5), (.3, .5), "
            "(.2, .35, .1), (.62, .35, .48, .2) and, with least shares, (.2, .5): none of these is "
            "below. Campaigns that ended before that was known are left out. "
            '"times as many": the upper end over the lower one, in the median. "middle near": the '
            "number in its middle was within a factor of two.",
            lambda: table(SIGHT_HEAD, sight_rows(few)),
        ),
    ]
    text = [HEAD]
    for title, words, rows in parts:
        text.append(f"## {title}\n\n{words}\n\n{rows()}\n")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/measured/naming.md"))
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--few", type=int, default=200)
    given = parser.parse_args()
    given.out.write_text(page(given.runs, given.few), encoding="utf-8")


if __name__ == "__main__":
    main()
