"""People who never answer: python -m benchmarks.silence --out benchmarks/results/silence.csv

The share of people who get the best arm, where some never answer, beside the share where all do.
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import write_columns
from dpbandits.session.overdue import RARE, TIMES

SILENT = (0.0, 0.001, 0.01, 0.05, 0.3)
ALLOWED = (0.0, 0.03, 0.03, 0.03, 0.06)
"""By how much the share may be below the complete case's, for each of these."""

NAMED = 40_000
"""People after whom an identification is given up."""

COLUMNS = ("table", "policy", "silent", "measured", "error", "met")
NOTE = f"""Each person is silent with the
probability in column "silent", whatever they get; nobody records anything for them, and nobody
expires them. The others answer before the next person comes, unless it says otherwise. ε = 1.

A request is overdue that is older than {TIMES} times the {100 - 100 // RARE} % quantile of the
delays of answers, and in a first block older than the block's size; another person is then asked in
its place (why, and with which constants: decision 5).
Constants were chosen on means (.1, .2, .35), (.15, .3, .25), (.15, .4, .25) and (.2, .8, .4).

"as many answers": the complete case with 70 % of the people, so that as many answers come as with
30 % silent; no rule can be expected to do better than that. Measured: the best arm's share, people,
or the share of the arm whose people never answer. "met": at most .03 below the complete
case at .1, 1 and 5 % silent, and at most .06 at 30 %; it compares means, whatever their errors.
"""


class Setting(NamedTuple):
    """means: of arms. people: how many are asked for. assignment: see `Session`. delay: after so
    many further people answers come. added: the mean of an arm that comes half-way. eligible:
    whether each arm is eligible with probability .7. segments: how many.
    """

    title: str
    policies: tuple[str, ...]
    means: tuple[float, ...]
    people: int = 5_000
    assignment: str = "shuffled"
    delay: int = 0
    added: float | None = None
    eligible: bool = False
    segments: int = 0


FOUR = (0.62, 0.35, 0.48, 0.2)
INDEX = ("DPRateIMED", "DPKLUCB", "LDPKLUCB")

SETTINGS = (
    Setting(
        "Three arms at .10, .20 and .35, 5,000 people",
        (*INDEX, "LazyDPTS", "AdaPUCB"),
        (0.1, 0.2, 0.35),
    ),
    Setting("Four arms at .62, .35, .48 and .20, 5,000 people", INDEX, FOUR),
    Setting("The same, first blocks one after the other", INDEX[:2], FOUR, assignment="planned"),
    Setting(
        "Two arms at .45 and .7, answers 300 people late, 5,000 people",
        INDEX,
        (0.45, 0.7),
        delay=300,
    ),
    Setting(
        "Three arms at .3, .5 and .4 and, half-way, one at .8, 5,000 people",
        INDEX[:2],
        (0.3, 0.5, 0.4),
        added=0.8,
    ),
    Setting(
        "Four arms at .62, .35, .48 and .20, each eligible for 70 % of 5,000 people",
        INDEX[:2],
        FOUR,
        assignment="planned",
        eligible=True,
    ),
    Setting(
        "Two arms at .3 and .55 in each of two segments of 2,500 people",
        INDEX[:2],
        (0.3, 0.55),
        segments=2,
    ),
    Setting(
        "Two at a time of six arms at .15, .75, .3, .35, .85 and .25, 5,000 people",
        ("DPJointMAT", "DPJointCUCB"),
        (0.15, 0.75, 0.3, 0.35, 0.85, 0.25),
        assignment="planned",
    ),
)


def made(name: str, arms: int) -> Any:
    """A policy for so many arms; for super arms, of two of them."""
    cls: Any = getattr(dpb, name)
    if name.startswith("DPJoint"):
        return cls(problem=dpb.UniformMatroid(arms=arms, rank=2), epsilon=1)
    return cls(arms=arms, epsilon=1)


def play(policy: Any, setting: Setting, people: int, silent: float, seed: int) -> float:
    """The share of people who get the best arm that they can get."""
    rng, means, best = np.random.default_rng([seed, 11]), list(setting.means), 0.0
    noise, late = dpb.SimulatedNoise(seed), list[tuple[int, int, Any, Any]]()
    names = [f"s{k}" for k in range(setting.segments)]
    kind: Any = dpb.SegmentedSession if names else dpb.Session
    session = kind(
        policy,
        noise=noise,
        seed=seed,
        max_pending=10**6,
        assignment=setting.assignment,
        **({"segments": names} if names else {}),
    )
    randomizer = policy.randomizer()
    for t in range(people):
        if setting.added is not None and t == people // 2:
            session.add_arm()
            means.append(setting.added)
        arms, how = list(range(len(means))), dict[str, Any]()
        if setting.eligible:
            arms = [arm for arm in arms if rng.random() < 0.7] or arms
            how = {"eligible": arms}
        if names:
            how = {"segment": names[t % len(names)]}
        decision = session.ask(**how)
        action = decision.action if isinstance(decision.action, tuple) else (decision.action,)
        top = sorted(arms, key=lambda arm: -means[arm])[: len(action)]
        best += len(set(top) & set(action)) / len(action)
        rewards: Any = [float(rng.random() < means[arm]) for arm in action]
        rewards = rewards if decision.observe is not None else rewards[0]
        if rng.random() >= silent:
            report = rewards if randomizer is None else randomizer.report(rewards, noise)
            heapq.heappush(late, (t + setting.delay, t, decision, report))
        while late and late[0][0] <= t:
            session.tell(*heapq.heappop(late)[2:])
    return best / people


def shares(
    name: str, setting: Setting, people: int, silent: float, runs: int
) -> tuple[float, float]:
    """Mean share of the best arm, and its standard error."""
    found = [
        play(made(name, len(setting.means)), setting, people, silent, seed) for seed in range(runs)
    ]
    return float(np.mean(found)), float(np.std(found) / np.sqrt(runs))


Cells = tuple[str, str, str, str, str]
"""Policy, who is silent, what was measured, its standard error, whether it is as asked."""


def rows(name: str, setting: Setting, runs: int) -> Iterator[Cells]:
    found = [shares(name, setting, setting.people, silent, runs) for silent in SILENT]
    fewer, _ = shares(name, setting, round(setting.people * (1 - SILENT[-1])), 0.0, runs)
    for silent, (mean, error), most in zip(SILENT, found, ALLOWED, strict=True):
        met = "" if not silent else "yes" if found[0][0] - mean <= most else "NO"
        yield name, shown(silent), f"{mean:.3f}", f"{error:.3f}", met
    yield name, "as many answers", f"{fewer:.3f}", "", ""


def shown(silent: float) -> str:
    return "complete" if not silent else f"{100 * silent:g} %"


IDENTIFIERS: dict[str, Callable[[], Any]] = {
    "DPSE": lambda: dpb.DPSE(arms=3, epsilon=1, beta=0.05),
    "AdaPTT": lambda: dpb.AdaPTT(arms=3, epsilon=1, delta=0.05),
    "CTBTT": lambda: dpb.CTBTT(arms=3, epsilon=1, delta=0.05),
}
TRIED = (0.3, 0.85, 0.5)


def named_after(policy: Any, silent: float, seed: int) -> int:
    """People until the best arm is named."""
    rng, noise = np.random.default_rng([seed, 12]), dpb.SimulatedNoise(seed)
    session = dpb.Session(policy, noise=noise, seed=seed, max_pending=10**6)
    randomizer = policy.randomizer()
    for t in range(NAMED):
        if policy.best_arm(session.state) is not None:
            return t
        decision = session.ask()
        reward: Any = float(rng.random() < TRIED[int(decision.action)])
        if rng.random() >= silent:
            session.tell(
                decision, reward if randomizer is None else randomizer.report(reward, noise)
            )
    return NAMED


def identification(runs: int) -> Iterator[Cells]:
    for name, policy in IDENTIFIERS.items():
        for silent in SILENT:
            people = [named_after(policy(), silent, seed) for seed in range(runs)]
            yield name, shown(silent), f"{np.mean(people):.0f}", "", ""


def broken_share(name: str, seed: int) -> float:
    """The share of 5,000 people who get an arm whose people never answer."""
    rng, means = np.random.default_rng([seed, 13]), FOUR
    session = dpb.Session(
        made(name, len(FOUR)),
        noise=dpb.SimulatedNoise(seed),
        seed=seed,
        max_pending=10**6,
        assignment="shuffled",
    )
    shown = 0
    for _ in range(5_000):
        decision = session.ask()
        arm = int(decision.action)  # type: ignore[arg-type]  # these policies play single arms
        shown += arm == 1
        if arm != 1:
            session.tell(decision, float(rng.random() < means[arm]))
    return shown / 5_000


BROKEN = "Four arms at .62, .35, .48 and .20; nobody who gets the second one answers: its share"
"""Of 5,000 people; patience doubles with every block's worth of requests in vain."""


def broken(runs: int) -> Iterator[Cells]:
    for name in ("DPRateIMED", "DPKLUCB"):
        found = [broken_share(name, seed) for seed in range(runs)]
        yield name, "its people", f"{np.mean(found):.3f}", "", ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/silence.csv"))
    parser.add_argument("--runs", type=int, default=20)
    given = parser.parse_args()
    tables = {
        setting.title: (
            cells for name in setting.policies for cells in rows(name, setting, given.runs)
        )
        for setting in SETTINGS
    }
    tables["People until the best of .3, .85 and .5 is named"] = identification(given.runs)
    tables[BROKEN] = broken(given.runs)
    found = list[tuple[str, ...]]()
    for title, lines in tables.items():
        for line in lines:
            print(title, *line, sep=" | ", flush=True)
            found.append((title, *line))
    command = f"python -m benchmarks.silence --runs {given.runs} --out {given.out}"
    write_columns(given.out, command, COLUMNS, found, NOTE)


if __name__ == "__main__":
    main()
