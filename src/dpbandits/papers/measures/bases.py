"""Measures of what a policy on a matroid recommends. They play it themselves: a sweep keeps regret,
and not which basis was played.
"""

import math

import numpy as np

from dpbandits.papers.evidence import Evidence, mean_of
from dpbandits.papers.measures.verdicts import Check, Names, NumberList
from dpbandits.policies.sizes import problem_of
from dpbandits.simulation.simulate import simulate

SEED = 2023


def shared_with_best(
    evidence: Evidence,
    *,
    label: str,
    runs: int,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """How many elements of the basis that is played last are in the best one."""
    checks = []
    for s in evidence.settings([label], environments, epsilons):
        policy, environment = evidence.policies[label, s], evidence.environments[s.environment]
        problem, rounds = problem_of(policy), evidence.rounds(label, s)
        assert problem is not None
        found = simulate(policy, environment, rounds, runs=runs, seed=SEED, at=[rounds - 1])
        last = found.plays - found.plays_at([rounds - 1])[:, 0]
        best = np.zeros(problem.arms, np.int64)
        best[list(problem.best(environment.means))] = 1
        checks.append(
            Check(f"{label}, {s}", mean_of((last @ best).astype(np.float64)), at_least, at_most)
        )
    return checks
