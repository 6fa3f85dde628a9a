"""How often the best arm is named, and a wrong one: python -m benchmarks.naming --out
benchmarks/results/naming.csv
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.naming_players import REWARDS, Setting, Turn, turns
from benchmarks.table import read, write_columns
from dpbandits.environments.changing import Drift
from dpbandits.session.beliefs import (
    Interval,
    ReleaseHistory,
    Sight,
    beliefs,
    best_apart,
    best_compared,
    interval,
)
from dpbandits.session.naming import FUTURES, likeliest, named_ahead, people_ahead

DELTA = 0.05
COLUMNS = ("table", "setting", "people", "what", "measured")
NOTE = """A campaign names an arm at .95 confidence. The policy is the one that dpb.recommend
returns, at ε = 1 unless it says otherwise; rewards are 0 or 1. "by intervals": by the rule before,
the arm's interval lies above all others', at the end.
The evidence was tuned on means (.3, .6), (.1, .3), (.5, .4), (.05, .09) at ε = 1, (.3, .6) at
ε = .25, .5 and 3, (.3, .6, .4) and, within periods, (.3, .36), too: none of these is below.
Ranges of further people were tuned on (.2, .5), (.3, .5), (.2, .35, .1) and (.62, .35, .48, .2).
"""

Cells = Iterator[tuple[str, str]]
"""What was measured, and what came out."""


class Outcome(NamedTuple):
    """What one campaign came to.

    Args:
        named: the arm that was named first, and after how many people; None: none.
        apart: the arm whose interval was above all others' at the end; None: none.
    """

    named: tuple[int, int] | None
    apart: int | None


def outcome(setting: Setting, seed: int) -> Outcome:
    """Play a campaign to its end."""
    named, known = None, None
    for people, known, *_ in turns(setting, seed):
        if named is None and best_compared(known, range(len(known.arms)), DELTA) is not None:
            best = beliefs(known, 1.0 - DELTA).best  # None while the mean of an arm has changed
            named = None if best is None else (int(best), people)
    assert known is not None
    return Outcome(named, apart(known))


def apart(known: ReleaseHistory) -> int | None:
    """The arm that is named by intervals."""
    found = dict[int, Interval]()
    for arm in range(len(known.arms)):
        each = interval(known, arm, DELTA)
        if each is None:
            return None
        found[arm] = each
    return best_apart(found)


def wrong(setting: Setting, arm: int) -> bool:
    """Whether an arm is not the best one alone."""
    means = np.array(setting.means)
    return bool(means[arm] < means.max() or (means == means.max()).sum() > 1)


def winner(setting: Setting, seed: int) -> tuple[int, int] | None:
    """The arm that `goal="winner"` names, and after how many people; None: none."""
    session = dpb.Session(setting.policy("winner"), noise=dpb.SimulatedNoise(seed), seed=seed)
    rng, releases = np.random.default_rng([seed, REWARDS]), 0
    for t in range(setting.people):
        decision = session.ask()
        arm = int(decision.action)  # type: ignore[arg-type]  # one arm
        session.tell(decision, float(rng.random() < setting.means[arm]))
        if session.releases != releases:
            releases, best = session.releases, session.beliefs(1.0 - DELTA).best
            if best is not None:
                return int(best), t + 1
    return None


class Foreseen(NamedTuple):
    """What was foreseen after some people, and how many more it took; None: not by the end, which
    came `left` people later.

    Args:
        known: what somebody would foresee who knows the means. Infinity: not in sight.
    """

    sight: Sight
    known: float
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
        return self.took is not None and near(self.sight.middle, self.took)


def near(middle: float | None, took: int) -> bool:
    """Whether a number is within a factor of two of another one."""
    return middle is not None and took <= 2 * middle <= 4 * took


def foreseen_by_means(turn: Turn, setting: Setting, seed: int) -> float:
    """How many more people it takes, by one who knows the means: what nobody can do better."""
    among, rng = range(len(setting.means)), np.random.default_rng([seed, turn.number])
    means = dict(enumerate(setting.means))
    at = turn.policy, turn.state, turn.number, seed, turn.known, among, DELTA, setting.drawn, means
    counts = [named_ahead(*at, rng) for _ in range(FUTURES)]
    return likeliest(sorted(math.inf if count is None else count for count in counts))


def foreseen(setting: Setting, seed: int, moments: Sequence[int]) -> dict[int, Foreseen]:
    """Play a campaign, and ask after so many people how many more it takes; by moment."""
    left, asked, took = list(moments), dict[int, tuple[int, Sight, float]](), None
    among, last = range(len(setting.means)), 0
    for turn in turns(setting, seed):
        last = turn.people
        if best_compared(turn.known, among, DELTA) is not None:
            took = turn.people
            break
        while left and turn.people >= left[0]:
            at = turn.policy, turn.state, turn.number, seed, turn.known, among, DELTA
            sight = people_ahead(*at, setting.drawn)
            if sight is not None:
                asked[left[0]] = turn.people, sight, foreseen_by_means(turn, setting, seed)
            left.pop(0)
    return {
        moment: Foreseen(sight, known, None if took is None else took - people, last - people)
        for moment, (people, sight, known) in asked.items()
    }


LEAST = 0.05
WAVES = tuple(Drift(size, "wave", periods=many) for size in (0.1, 0.02) for many in (1.0, 10.0))

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
    Setting((0.1, 0.1), drift=Drift(0.4)),
    Setting((0.2, 0.2), drift=Drift(0.2, "step")),
    Setting((0.3, 0.3), drift=Drift(0.06)),
)


def in_periods(means: tuple[float, ...], drift: Drift | None = None, delay: int = 0) -> Setting:
    return Setting(means, 6_000, drift, min_share=LEAST, periods=10, delay=delay)


PERIODS = (
    in_periods((0.1, 0.1), Drift(0.4)),
    in_periods((0.2, 0.2), Drift(0.2, "step", at=0.47)),
    in_periods((0.3, 0.3), Drift(0.06)),
    *(in_periods((0.3, 0.3), wave) for wave in WAVES),
    in_periods((0.1, 0.1, 0.1, 0.1), Drift(0.4)),
    in_periods((0.2, 0.2, 0.2, 0.2), Drift(0.2, "step", at=0.47)),
    in_periods((0.3, 0.3, 0.3, 0.3), WAVES[1]),
    in_periods((0.1, 0.1), Drift(0.4), delay=200),
    in_periods((0.3, 0.3)),
)
"""Arms that are equal at each moment, and compared within periods."""

POWER = (
    Setting((0.2, 0.5)),
    Setting((0.2, 0.5), epsilon="1/2"),
    Setting((0.2, 0.35, 0.1), 128_000),
    Setting((0.62, 0.35, 0.48, 0.2), 20_000),
    Setting((0.03, 0.036), 300_000),
    Setting((0.2, 0.5), 3_000, min_share=LEAST),
    Setting((0.2, 0.35, 0.1), 3_000, min_share=LEAST),
    Setting((0.2, 0.5), 3_000, min_share=LEAST, periods=10),
    Setting((0.2, 0.35, 0.1), 6_000, min_share=LEAST, periods=10),
    Setting((0.2, 0.25), 24_000, min_share=LEAST, periods=20),
    Setting((0.1, 0.2), 6_000, Drift(0.4), min_share=LEAST, periods=10),
)

WINNERS = (
    Setting((0.2, 0.5), 3_000),
    Setting((0.2, 0.35, 0.1), 12_000),
    Setting((0.62, 0.35, 0.48, 0.2), 12_000),
)

SIGHTS = (
    (Setting((0.25, 0.5), 40_000), (500, 1_000, 2_000, 4_000)),
    (Setting((0.4, 0.15, 0.25), 60_000), (1_000, 2_000, 4_000, 8_000)),
    (Setting((0.3, 0.6, 0.4, 0.45), 60_000), (2_000, 4_000, 8_000)),
    (Setting((0.25, 0.5), 3_000, min_share=LEAST), (250, 400)),
)


def false_cells(setting: Setting, runs: int) -> Cells:
    found = [outcome(setting, seed) for seed in range(runs)]
    named = sum(each.named is not None and wrong(setting, each.named[0]) for each in found)
    old = sum(each.apart is not None and wrong(setting, each.apart) for each in found)
    yield "named wrongly", f"{named:,} of {runs:,}"
    yield "wrong by intervals", f"{old:,} of {runs:,}"


def named_cells(setting: Setting, found: Sequence[tuple[int, int] | None]) -> Cells:
    runs, best = len(found), int(np.argmax(setting.means))
    right = sorted(each[1] for each in found if each and each[0] == best)
    yield "named", f"{len(right) / runs:.0%} of {runs:,}"
    yield "named wrongly", f"{sum(each is not None and each[0] != best for each in found)}"
    if 2 * len(right) >= runs:
        yield "half by", f"{right[(runs + 1) // 2 - 1]:,}"


def power_cells(setting: Setting, runs: int) -> Cells:
    found = [outcome(setting, 10**6 + seed) for seed in range(runs)]
    yield from named_cells(setting, [each.named for each in found])
    best = int(np.argmax(setting.means))
    yield "by intervals", f"{sum(each.apart == best for each in found) / runs:.0%}"


def winner_cells(setting: Setting, runs: int) -> Cells:
    yield from named_cells(setting, [winner(setting, 10**6 + seed) for seed in range(runs)])


def sight_rows(runs: int) -> Iterator[tuple[str, str, str, str]]:
    for setting, moments in SIGHTS:
        found = [foreseen(setting, 2 * 10**6 + seed, moments) for seed in range(runs)]
        for moment in moments:
            each = [run[moment] for run in found if moment in run]
            known = [one for one in each if one.held is not None]
            ends = [one for one in each if one.sight.low and one.sight.high]
            wide = sorted((one.sight.high or 1) / (one.sight.low or 1) for one in ends)
            middles = [one for one in each if one.sight.middle is not None]
            known_by = [one for one in each if math.isfinite(one.known)]
            nearby = sum(one.took is not None and near(one.known, one.took) for one in known_by)
            for what, measured in (
                ("asked", f"{len(each)} of {runs}"),
                ("range held", f"{sum(bool(one.held) for one in known)} of {len(known)}"),
                ("ranges with an end", f"{len(ends)}"),
                ("upper end over lower one", f"{wide[len(wide) // 2]:.1f}" if wide else ""),
                ("near, means known", f"{nearby} of {len(known_by)}"),
                ("middle near", f"{sum(one.is_near for one in middles)} of {len(middles)}"),
            ):
                yield str(setting), f"{moment:,}", what, measured


def cells_of(
    settings: Sequence[Setting], cells: Callable[[Setting, int], Cells], runs: int
) -> Iterator[tuple[str, str, str, str]]:
    for setting in settings:
        for what, measured in cells(setting, runs):
            yield str(setting), f"{setting.people:,}", what, measured


TABLES: dict[str, Callable[[int, int], Iterator[tuple[str, str, str, str]]]] = {
    "periods": lambda many, few: cells_of(PERIODS, false_cells, many),
    "wrong names": lambda many, few: cells_of(EQUAL, false_cells, many),
    "rates that change": lambda many, few: cells_of(DRIFTS, false_cells, many),
    "power": lambda many, few: cells_of(POWER, power_cells, few),
    'goal="winner"': lambda many, few: cells_of(WINNERS, winner_cells, few),
    "how many more": lambda many, few: sight_rows(few),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/naming.csv"))
    parser.add_argument("--runs", type=int, default=2_000, help="in which each name is wrong")
    parser.add_argument("--few", type=int, default=200, help="in which power is measured")
    parser.add_argument("--only", nargs="*", choices=TABLES, help="tables; others are kept")
    given = parser.parse_args()
    command = "python -m benchmarks.naming --out benchmarks/results/naming.csv"
    kept = read(given.out) if given.only and given.out.is_file() else []
    rows = {name: [tuple(row.values()) for row in kept if row["table"] == name] for name in TABLES}
    for name in given.only or TABLES:
        rows[name] = []
        for row in TABLES[name](given.runs, given.few):
            rows[name].append((name, *row))
            print(*row, sep="; ", flush=True)
            if row[2] in ("wrong by intervals", "by intervals", "middle near"):
                every = [each for table in rows.values() for each in table]
                write_columns(given.out, command, COLUMNS, every, NOTE)
        every = [each for table in rows.values() for each in table]
        write_columns(given.out, command, COLUMNS, every, NOTE)


if __name__ == "__main__":
    main()
