"""The check that a policy learns: it has to beat whoever knows nothing."""

from __future__ import annotations

import numpy as np

from dpbandits.checks.checks import horizon_of, require
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy, problem_of


def beats_uniform(policy: Policy) -> None:
    """On an easy instance the regret is below that of uniform play."""
    if policy.arms == 1:
        return
    from dpbandits.environments import Bernoulli
    from dpbandits.simulation.simulate import choose_player, simulate

    environment = Bernoulli([0.95] + [0.05] * (policy.arms - 1))
    _, compiled = choose_player(policy, environment, 1000, 22, compiled=True)
    fast = compiled or not (policy.about.every_round or policy.about.randomised)
    rounds = min(100_000 if fast else 3_000, horizon_of(policy))
    runs = simulate(policy, environment, rounds, runs=10 if fast else 3, seed=22, at=[rounds])
    uniform = rounds * blind_regret(policy, environment)
    require(
        runs.regret().mean() < uniform,
        (
            f"Mean regret {runs.regret().mean():.0f} in {rounds} rounds; uniform play has "
            f"{uniform:.0f}."
        ),
    )


def blind_regret(policy: Policy, environment: Environment) -> float:
    """The regret per round of play that knows nothing: a random arm, or the best super arm for
    random weights.
    """
    problem = problem_of(policy)
    if problem is None:
        return float(environment.gaps.mean())
    rng = np.random.default_rng(23)
    values = [
        problem.value(problem.best(rng.random(problem.arms)), environment.means) for _ in range(100)
    ]
    return problem.alpha * problem.beta * problem.optimum(environment.means) - float(
        np.mean(values)
    )
