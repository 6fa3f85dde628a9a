"""What late answers cost: python -m benchmarks.delays --out benchmarks/results/delays.csv

Every answer comes so many rounds late; the loss is compared with the loss without delay plus
1.2 × delay × mean gap, which but for the factor nobody can avoid.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb
from benchmarks.table import write_columns

POLICIES = ("DPRateIMED", "DPKLUCB", "AnytimeLazyUCB", "LazyDPTS", "LDPKLUCB")
SEVERAL = ("DPJointMAT", "DPJointCUCB")
FACTOR = 1.2

COLUMNS = ("table", "policy", "delay", "loss", "error", "bound", "met")
NOTE = """Every answer comes so many rounds late, or after a random number of rounds with that mean
(geometric). Loss: mean pseudo-regret, and its standard error; super arms in the order given,
ε = 1; arms of the others in a random order. Bound: the loss without delay + 1.2 × delay × mean gap
of the arms; a delay's worth of rounds is played before anything is known, whatever one does
(Joulani, György and Szepesvári 2013). Of super arms the mean gap is that of random feasible ones.
"met" compares the two means, whatever their errors.
"""


class Setting(NamedTuple):
    """An instance, its delays, and how much longer than one run of the others it may be played.

    size: arms that are played at a time.
    """

    name: str
    means: tuple[float, ...]
    rounds: int
    delays: tuple[int, ...]
    share: float
    size: int = 1

    @property
    def gap(self) -> float:
        """Mean gap: of arms; of super arms, of random ones."""
        best = sorted(self.means)[-self.size :]
        return sum(best) - self.size * sum(self.means) / len(self.means)

    def policy(self, name: str) -> Any:
        made: Any = getattr(dpb, name)
        if self.size == 1:
            return made(arms=len(self.means), epsilon=1)
        problem = dpb.UniformMatroid(arms=len(self.means), rank=self.size)
        return made(problem=problem, epsilon=1)


SETTINGS = (
    Setting("3.6 % against 3 %, 20,000 visitors", (0.036, 0.03), 20_000, (2_000, 5_000), 1.0),
    Setting(
        "five classic means, 10⁵ rounds",
        (0.75, 0.625, 0.5, 0.375, 0.25),
        100_000,
        (2_500, 5_000),
        0.15,
    ),
    Setting(
        "three of ten arms at .6 and .5, 20,000 rounds",
        (0.5, 0.6, 0.5, 0.5, 0.6, 0.5, 0.5, 0.5, 0.6, 0.5),
        20_000,
        (2_000, 5_000),
        0.5,
        3,
    ),
)


def losses(policy: Any, setting: Setting, delay: Any, runs: int) -> tuple[float, float]:
    """Mean pseudo-regret, and its standard error."""
    environment = dpb.Bernoulli(list(setting.means))
    played = dpb.simulate(
        policy,
        environment,
        setting.rounds,
        runs=runs,
        seed=7,
        delay=delay,
        shuffle=setting.size == 1,
    )
    regret = played.regret()
    return float(np.mean(regret)), float(np.std(regret) / np.sqrt(runs))


def rows(setting: Setting, name: str, runs: int) -> Iterator[tuple[str, ...]]:
    policy, gap = setting.policy(name), setting.gap
    base, error = losses(policy, setting, 0, runs)
    yield name, "none", f"{base:.1f}", f"{error:.1f}", "", ""
    laws: list[tuple[str, int, Any]] = [(f"{delay:,}", delay, delay) for delay in setting.delays]
    mean = setting.delays[0]
    laws.append((f"random, mean {mean:,}", mean, dpb.GeometricDelay(mean=mean)))
    for shown, delay, law in laws:
        loss, error = losses(policy, setting, law, runs)
        bound = base + FACTOR * delay * gap
        met = "yes" if loss <= bound else "NO"
        yield name, shown, f"{loss:.1f}", f"{error:.1f}", f"{bound:.1f}", met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/delays.csv"))
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--policies", nargs="*", default=(*POLICIES, *SEVERAL))
    parser.add_argument("--settings", nargs="*", type=int, default=range(len(SETTINGS)))
    given = parser.parse_args()
    found = list[tuple[str, ...]]()
    for setting in (SETTINGS[place] for place in given.settings):
        names = [name for name in given.policies if (name in SEVERAL) is (setting.size > 1)]
        runs = max(3, round(given.runs * setting.share))
        for name in names:
            for row in rows(setting, name, runs):
                print(*row, flush=True)
                found.append((f"{setting.name}: {runs} runs", *row))
    command = f"python -m benchmarks.delays --runs {given.runs} --out {given.out}"
    write_columns(given.out, command, COLUMNS, found, NOTE)


if __name__ == "__main__":
    main()
