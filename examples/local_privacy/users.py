"""The users of the local privacy demonstration: a process of its own, with nothing of the server in
it.

Reads lines from standard input: the randomizer's description, then decisions. Each decision goes to
a new user, who has rewards of its own for all arms and writes one line, the report. Rewards never
leave this process.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from typing import TextIO

from dpbandits.local.client import Client
from dpbandits.noise.sources import SimulatedNoise


def answer_all(
    lines: TextIO,
    out: TextIO,
    *,
    means: Sequence[float],
    values: tuple[float, float],
    most: str,
    seed: int,
    simulated: bool,
) -> None:
    """Answer every decision on `lines`. Arm i is worth the larger of `values` to a share means[i]
    of the users.
    """
    world, noises = random.Random(seed), SimulatedNoise(seed)
    low, high = sorted(values)
    description = lines.readline()
    for line in lines:
        # a new user's device
        client = Client(
            description, most=most, noise=noises if simulated else None, simulated=simulated
        )
        likes = {arm: high if world.random() < mean else low for arm, mean in enumerate(means)}
        print(client.answer(line, likes), file=out, flush=True)


def answer_decisions() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--means",
        required=True,
        help="for each arm, the share of users who like it, joined by commas",
    )
    parser.add_argument(
        "--values", default="0.2718281828,0.7310585786", help="the two rewards a user may have"
    )
    parser.add_argument("--most", required=True, help="the largest epsilon users agree to")
    parser.add_argument("--seed", type=int, default=0, help="of the users' rewards")
    parser.add_argument(
        "--simulated", action="store_true", help="seeded noise that protects nobody, for tests"
    )
    given = parser.parse_args()
    low, high = (float(value) for value in given.values.split(","))
    means = [float(mean) for mean in given.means.split(",")]
    answer_all(
        sys.stdin,
        sys.stdout,
        means=means,
        values=(low, high),
        most=given.most,
        seed=given.seed,
        simulated=given.simulated,
    )


if __name__ == "__main__":
    answer_decisions()
