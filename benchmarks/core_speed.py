"""Speed of the core, beside that of another checkout: `python -m benchmarks.core_speed --against
PATH/src`.

Pairs of ask and tell in a second, also by contexts; the time of a call that releases, with
simulated noise; compiled runs in a second; and the time of the import. Each checkout is measured in
processes of its own, by turns, in seconds of the processor, and the best of all turns counts: so a
machine that is busy with other things slows neither more than the other. Without `--against` this
checkout is measured alone.

    --only REGEX    the rows to measure, such as "pairs: DP" or "^compiled"
    --turns 3       processes of each checkout
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]
SHORT, TRIES = 0.1, 5
"""Seconds that one measurement takes about, and how many are made in each process."""

ENOUGH = 60
"""Releasing calls of which the median is taken."""

Measured = dict[str, float]
"""By row, what was measured. Names of rows begin with their kind."""

KINDS = {
    "pairs": ("pairs of ask and tell a second", True),
    "contexts": ("pairs of DPLinTS a second", True),
    "release": ("µs of a call that releases", False),
    "compiled": ("compiled runs a second", True),
    "import": ("", False),
}
"""By kind of row: what is measured, and whether more is better."""


def policies() -> dict[str, Any]:
    """One instance of every policy, and some that are larger."""
    from tests.net.scenarios import FIRST

    import dpbandits as dpb

    found = dict(FIRST)
    twelve = dpb.UniformMatroid(arms=12, rank=4)
    rule = {"alpha": 0.01, "beta": 0.01, "low": 0, "high": 1, "cap": 10**6}
    found |= {
        "NAS": dpb.NAS(**rule),
        "DPNAS": dpb.DPNAS(epsilon=1, **rule),
        "DPExponentialNAS": dpb.DPExponentialNAS(epsilon=1, **rule),
        "DPKLUCB, 5 arms": dpb.DPKLUCB(arms=5, epsilon=1),
        "DPRateIMED, 200 arms": dpb.DPRateIMED(arms=200, epsilon=1),
        "DPJointMAT, 4 of 12": dpb.DPJointMAT(problem=twelve, epsilon=1),
        "TreeFTRL": dpb.TreeFTRL(actions=10, epsilon=1, horizon=20_000),
    }
    return found


def feedback(policy: Any) -> Callable[[Any], Any]:
    """What is told of a decision, made beforehand."""
    import dpbandits as dpb

    randomizer, users, kind = policy.randomizer(), dpb.SimulatedNoise(9), policy.about.feedback

    def told(reward: Any) -> Any:
        return reward if randomizer is None else randomizer.report(reward, users)

    coins = [told(float(at % 3 > 0)) for at in range(997)] if kind == "bandit" else []
    if kind == "bandit":
        return lambda decision: coins[decision.id % 997]
    if kind == "full":
        rows = [told([float((at + arm) % 3 > 0) for arm in range(policy.arms)]) for at in range(7)]
        return lambda decision: rows[decision.id % 7]
    made = dict[int, Any]()

    def of_arms(decision: Any) -> Any:
        many = len(decision.observe)
        if many not in made:
            made[many] = told([1.0] * many)
        return made[many]

    return of_arms


def pairs_a_second(policy: Any) -> float:
    """The best of some sessions."""
    import dpbandits as dpb

    pairs, best, of = 500, 0.0, feedback(policy)
    most = min(60_000, getattr(policy, "horizon", None) or 60_000)
    tries = 0
    while tries < TRIES:
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=7)
        ask, tell, start = session.ask, session.tell, time.process_time()
        for _ in range(pairs):
            decision = ask()
            tell(decision, of(decision))
        took = time.process_time() - start
        if took < SHORT and pairs < most:
            pairs = min(most, 2 * pairs)
            continue
        best, tries = max(best, pairs / took), tries + 1
    return best


def pairs_in_contexts(between: bool) -> float:
    """Of 50,000 rounds with 10 arms and 21 features; or of the best 500 without a release."""
    import numpy as np

    import dpbandits as dpb

    measured = np.random.default_rng(1).normal(size=(2_000, 20))
    contexts, best = list(dpb.UnitContexts(measured)(measured)), 0.0
    for seed in range(1, 4):
        policy = dpb.DPLinTS(arms=10, features=21, epsilon=1)
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
        ask, tell, total = session.ask, session.tell, 0.0
        for begin in range(0, 50_000, 500):
            releases, start = session.releases, time.process_time()
            for at in range(begin, begin + 500):
                tell(ask(context=contexts[at % 2_000]), float(at % 3 > 0))
            took = time.process_time() - start
            total += took
            if between and begin and session.releases == releases:
                best = max(best, 500 / took)
        best = best if between else max(best, 50_000 / total)
    return best


def releasing_call(policy: Any) -> float:
    """Median microseconds of the calls that release."""
    import dpbandits as dpb

    of, times = feedback(policy), list[float]()
    for seed in range(1, 40):
        session = dpb.Session(policy, noise=dpb.SimulatedNoise(seed), seed=seed)
        for _ in range(3000):
            decision, before = session.ask(), session.releases
            outcome, start = of(decision), time.perf_counter()
            session.tell(decision, outcome)
            took = time.perf_counter() - start
            if session.releases > before:
                times.append(took)
            if len(times) >= 20 * seed:
                break
        if len(times) >= ENOUGH:
            break
    return 1e6 * statistics.median(times) if times else float("nan")


def compiled_runs_a_second(policy: Any) -> float:
    """The best of some batches of runs, on one core; 0 where nothing is compiled."""
    import numpy as np

    import dpbandits as dpb

    every = policy.about.every_round or policy.about.feedback != "bandit"
    rounds = min(20_000 if every else 10**6, getattr(policy, "horizon", None) or 10**9)
    world = dpb.Bernoulli(np.linspace(0.75, 0.25, policy.arms))

    def took(runs: int, seed: int) -> float:
        start = time.process_time()
        dpb.simulate(policy, world, rounds, runs=runs, seed=seed, at=[], workers=1, compiled=True)
        return time.process_time() - start

    try:
        took(1, 1)  # compiles
    except (TypeError, ValueError):
        return 0.0
    runs = 1
    while took(runs, 2) < SHORT and runs < 2**14:
        runs *= 2
    return max(runs / took(runs, seed) for seed in range(3, 3 + TRIES))


def rows(only: str) -> Iterator[tuple[str, Callable[[], float]]]:
    """What there is to measure in a process that has the library."""
    kinds = {
        "pairs": pairs_a_second,
        "release": releasing_call,
        "compiled": compiled_runs_a_second,
    }
    import dpbandits as dpb

    for name, between in (("in all", False), ("between releases", True)):
        if hasattr(dpb, "DPLinTS") and re.search(only, f"contexts: {name}"):
            yield f"contexts: {name}", partial(pairs_in_contexts, between)
    found = policies()
    for kind, measure in kinds.items():
        for name, policy in found.items():
            if kind == "compiled" and policy.about.goal == "estimate":
                continue
            if re.search(only, f"{kind}: {name}"):
                yield f"{kind}: {name}", lambda m=measure, p=policy: m(p)  # type: ignore[misc]


def measure(only: str) -> Measured:
    """All rows, in this process."""
    start = time.process_time()
    import dpbandits

    found = {
        "import: ms": 1e3 * (time.process_time() - start),
        "import: own modules": float(sum(name.startswith("dpbandits") for name in sys.modules)),
    }
    source = Path(str(dpbandits.__file__)).resolve().parents[1]
    expected = os.environ["PYTHONPATH"].partition(os.pathsep)[0]
    if source != Path(expected).resolve():
        raise SystemExit(f"Expected dpbandits from {expected}, got {source}.")
    found = {name: value for name, value in found.items() if re.search(only, name)}
    return found | {name: call() for name, call in rows(only)}


def measured_in(source: Path, only: str) -> Measured:
    """All rows, by a process of its own with this source, and with the policies of its tests."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", "--only", only],
        cwd=source.parent,
        # threads of BLAS that wait would count as the processor's time
        env=os.environ
        | {"PYTHONPATH": f"{source}{os.pathsep}{source.parent}", "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: Measured = json.loads(done.stdout.splitlines()[-1])
    return found


def is_better(row: str) -> bool:
    """Whether more of it is better."""
    return KINDS[row.partition(":")[0]][1]


def best_of(found: list[Measured]) -> Measured:
    return {row: (max if is_better(row) else min)(turn[row] for turn in found) for row in found[0]}


def table(here: Measured, there: Measured | None) -> Iterator[str]:
    """Lines of text. A ratio below 1 says that this checkout is the slower one."""
    there, kind = there or {}, ""
    for row, value in here.items():
        if value in (0.0,) or value != value:
            continue
        if row.partition(":")[0] != kind:
            kind = row.partition(":")[0]
            yield f"\n{KINDS[kind][0]:34} {'here':>12} {'other':>12} {'speed':>7}"
        other = there.get(row)
        name = row.partition(": ")[2] if kind != "import" else row
        if not other or other != other:
            yield f"{name:34} {value:12,.1f}"
            continue
        ratio = value / other if is_better(row) else other / value
        yield f"{name:34} {value:12,.1f} {other:12,.1f} {ratio:7.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--against", type=Path, help="the src folder of another checkout")
    parser.add_argument("--only", default="", help="a regular expression of rows")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.only)))
        return
    sources = [HERE / "src", *([] if given.against is None else [given.against.resolve()])]
    found: list[list[Measured]] = [[] for _ in sources]
    for turn in range(given.turns):
        for source, turns in zip(sources, found, strict=True):
            print(f"turn {turn + 1} of {given.turns}: {source}", file=sys.stderr, flush=True)
            turns.append(measured_in(source, given.only))
    here, *others = map(best_of, found)
    print(*table(here, others[0] if others else None), sep="\n")


if __name__ == "__main__":
    main()
