"""How near a policy comes to the oracle that knows the means, where regret against a share of the
best says nothing: an oracle mostly does better than it promises, and play that knows nothing may.
"""

import math

from dpbandits.checks.law import blind_regret
from dpbandits.papers.evidence import Evidence, mean_of
from dpbandits.papers.measures.verdicts import Check, Names, NumberList
from dpbandits.policies.contract import problem_of


def way_to_oracle(
    evidence: Evidence,
    *,
    labels: list[str],
    last: float,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The value of a round in the last part (`last`) of the rounds, on the way from 0, the oracle's
    answer to random weights, to 1, its answer to the true means.
    """
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            policy, environment = evidence.policies[label, s], evidence.environments[s.environment]
            problem, means = problem_of(policy), environment.means
            assert problem is not None
            best = problem.value(problem.best(means), means)
            knowing = problem.alpha * problem.beta * problem.optimum(means) - best
            blind = blind_regret(policy, environment)
            final, early = evidence.at(label, s), evidence.at(label, s, 1.0 - last)
            rounds = evidence.rounds(label, s) - evidence.kept(label, s, 1.0 - last)
            late = (final - early) / rounds
            share = mean_of((blind - late) / (blind - knowing))
            checks.append(Check(f"{label}, {s}", share, at_least, at_most))
    return checks
