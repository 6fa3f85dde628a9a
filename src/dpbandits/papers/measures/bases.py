"""Measures of what a policy on a matroid recommends. They play it themselves: a sweep keeps regret,
and not which basis was played.
"""

import math

import numpy as np

from dpbandits.core.inputs import Integers
from dpbandits.environments import Environment
from dpbandits.papers.evidence import Evidence, mean_of
from dpbandits.papers.measures.verdicts import Check, Names, NumberList
from dpbandits.policies.contract import Policy, problem_of
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
        problem = problem_of(policy)
        assert problem is not None
        last = last_bases(policy, environment, evidence.rounds(label, s), runs)
        best = np.zeros(problem.arms, np.int64)
        best[list(problem.best(environment.means))] = 1
        checks.append(
            Check(f"{label}, {s}", mean_of((last @ best).astype(np.float64)), at_least, at_most)
        )
    return checks


def last_bases(policy: Policy, environment: Environment, rounds: int, runs: int) -> Integers:
    """Which arms are in the basis played in the last round, 0 or 1, shape (runs, arms)."""
    found = simulate(policy, environment, rounds, runs=runs, seed=SEED, at=[rounds - 1])
    return found.plays - found.plays_at([rounds - 1])[:, 0]
