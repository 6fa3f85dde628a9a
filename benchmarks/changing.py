"""Dynamic regret where means change: python -m benchmarks.changing

Instances are drawn with seeds from `FRESH` on; constants were chosen on seeds below 100.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpbandits as dpb

ROUNDS, ARMS, LASTING = 100_000, 5, 20_000
FRESH = 1_000
"""The first seed of instances that nothing was tuned on."""

STILL = [0.75, 0.625, 0.5, 0.375, 0.25]

HEAD = f"""# Means that change

`python -m benchmarks.changing` wrote this page. Dynamic regret after {ROUNDS:,} rounds of {ARMS}
arms: against the best arm of each round, mean ± standard error over instances, one run each.

* pieces: means .25 to .75, evenly spaced, in a new order at random rounds.
* drift: each mean walks at random, a step of deviation .03 every 250 rounds.
* seasons: each mean swings by .25 with a period of {LASTING:,} rounds.
* nothing changes: means {STILL}, in a random order.

One fixed setting, `lasting={LASTING:_}`, for all columns. The constants (`width`, `surprise`,
`looks`) were chosen at ε = 1 on instances of other seeds. "Wanted" was asked for before it was
built.
"""

Place = Callable[[int], dpb.Environment]


def places(rounds: int) -> dict[str, Place]:
    make = dpb.ChangingMeans
    return {
        "5 pieces": lambda seed: make.abrupt(ARMS, rounds, 5, seed=seed),
        "20 pieces": lambda seed: make.abrupt(ARMS, rounds, 20, seed=seed),
        "drift": lambda seed: make.drift(ARMS, rounds, seed=seed),
        "seasons": lambda seed: make.seasonal(ARMS, rounds, LASTING, seed=seed),
        "nothing changes": lambda seed: dpb.Bernoulli(
            np.random.default_rng(seed).permutation(STILL)
        ),
    }


class Entrant(NamedTuple):
    name: str
    budget: str
    policy: Any


def entrants() -> list[Entrant]:
    given: dict[str, Any] = {"arms": ARMS, "lasting": LASTING}
    found = [Entrant("KalmanTS", "–", dpb.KalmanTS(**given))]
    for epsilon in ("1", "1/10"):
        budget = f"ε = {epsilon}"
        plain = dpb.DPKalmanTS(**given, epsilon=epsilon)
        restarts = dpb.DPKalmanTS(**given, epsilon=epsilon, preset="restarts")
        fixed: list[Any] = [
            kind(arms=ARMS, epsilon=epsilon)
            for kind in (dpb.DPRateIMED, dpb.DPKLUCB, dpb.AnytimeLazyUCB)
        ]
        found += [Entrant("DPKalmanTS", budget, plain)]
        found += [Entrant('DPKalmanTS, "restarts"', budget, restarts)]
        found += [Entrant(each.name, budget, each) for each in fixed]
    return found


WANTED = {"5 pieces": 1_760, "20 pieces": 3_560, "drift": 1_430}
"""Of DPKalmanTS at ε = 1."""


def regrets(policy: Any, place: Place, rounds: int, instances: int) -> Any:
    return np.array(
        [
            dpb.simulate(policy, place(FRESH + i), rounds, seed=i, at=[rounds], workers=1).regret()[
                0
            ]
            for i in range(instances)
        ]
    )


def page(rounds: int, instances: int) -> str:
    kinds = places(rounds)
    rows = [
        "| policy | budget | " + " | ".join(kinds) + " |",
        "|" + "---|" * (2 + len(kinds)),
        "| wanted | ε = 1 | "
        + " | ".join(f"≤ {WANTED[kind]:,}" if kind in WANTED else "" for kind in kinds)
        + " |",
    ]
    for entrant in entrants():
        cells = []
        for place in kinds.values():
            found = regrets(entrant.policy, place, rounds, instances)
            error = found.std(ddof=1) / np.sqrt(instances)
            cells.append(f"{found.mean():,.0f} ± {error:,.0f}")
        rows.append(f"| {entrant.name} | {entrant.budget} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return "\n".join([HEAD, f"{instances} instances a column.\n", *rows, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--out", type=Path, default=Path("docs/measured/changing.md"))
    asked = parser.parse_args()
    asked.out.write_text(page(asked.rounds, asked.instances), encoding="utf-8")


if __name__ == "__main__":
    main()
