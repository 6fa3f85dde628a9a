"""How often the best arm is named, and a wrong one: python -m benchmarks.naming --out
docs/measured/naming.md
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from dpbandits.core.plan import Hold, PublicRng
from dpbandits.policies.contract import open_turn
from dpbandits.session.beliefs import (
    Believed,
    Interval,
    NoiseMoments,
    beliefs,
    best_apart,
    best_compared,
    interval,
)
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


def blocks(setting: Setting, seed: int) -> Iterator[tuple[int, Believed]]:
    """A campaign whose answers come at once, block by block: people so far, and what is known."""
    policy: Any = dpb.recommend(arms=len(setting.means), epsilon=setting.epsilon)
    rng, known = np.random.default_rng([seed, 5]), Believed.of(policy)
    vault = open_vault("bandit", policy.mechanism(), policy.arms, dpb.SimulatedNoise(seed), None)
    steps, state, people, number = vault.vault.grid.steps, policy.init(), 0, 0
    while True:
        plan = open_turn(policy, state, number, partial(PublicRng, seed)).plan
        if not isinstance(plan, Hold) or people + plan.rounds > setting.people:
            return
        arm, count = int(plan.action), plan.rounds  # type: ignore[arg-type]
        means = setting.means_at(np.arange(people, people + count))[:, arm]
        vault.add_block(arm, int((rng.random(count) < means).sum()) * steps, count)
        people, number = people + count, number + 1
        release = vault.release(plan.release, people, ((arm, count),), plan.drop)
        state, known = policy.update(state, plan, release), known.after(release)
        yield people, known


def rounds(setting: Setting, seed: int) -> Iterator[tuple[int, Believed]]:
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
            yield t + 1, session._state.believed


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


def apart(known: Believed) -> int | None:
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
