"""Statistical checks of a policy. Compiled runs have the law of plain runs: of play counts, regret,
releases and events. And the policy learns: its regret is below that of uniform play.
"""

from functools import partial

import numpy as np

from dpbandits.checks.checks import horizon_of, require
from dpbandits.core.inputs import Floats, Integers
from dpbandits.environments import Bernoulli
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.plain import Path, play_events
from dpbandits.simulation.simulate import choose_player, play_plain

FALSE_ALARM = 1e-6
"""Probability that one call of `compiled_law` fails although the laws are equal."""

BY_ROUNDS = ((12, 800, 3200), (120, 200, 800), (1200, 21, 252))
"""(rounds, plain runs, compiled runs) for policies that are played round by round. Where plain runs
take long there are more compiled ones for each: 21 and 252 tell as much as 24 and 96.
"""

BY_BATCHES = ((12, 800, 3200), (120, 400, 1600), (20_000, 200, 800))
"""The same for policies that are played block by block."""

MANY = 100
"""From this number of runs on, the tests use limiting laws."""


def compiled_law(policy: Policy) -> None:
    """Compare compiled runs with runs of the event simulation at several horizons. What a `Session`
    decides and releases is that simulation's, to the last digit (`hosts_agree`).
    """
    # rounds of vectors and oracles take several times as long
    share = 1 if policy.about.feedback == "bandit" else 2
    single = policy.about.every_round or policy.about.randomised or policy.randomizer() is not None
    for rounds, plain, compiled in BY_ROUNDS if single else BY_BATCHES:
        compare_law(policy, rounds, plain // share, compiled // share)


def compare_law(policy: Policy, rounds: int, plain: int, compiled: int) -> None:
    """Raise `CheckFailed` if so many compiled runs of `rounds` rounds differ in law from so many
    plain ones.
    """
    rounds = min(rounds, horizon_of(policy))
    environment = Bernoulli(np.linspace(0.85, 0.35, policy.arms) if policy.arms > 1 else [0.5])
    player, is_compiled = choose_player(policy, environment, rounds, 31, compiled=True)
    if not is_compiled:
        return  # a user-defined policy has no compiled runs
    marks = np.array([rounds])
    play = partial(play_plain, policy, environment, rounds, 32, marks, host=play_events)
    # if arms are drawn each round, a compiled run counts a streak as one event
    figures = partial(figures_of, gaps=environment.gaps, events=not policy.about.randomised)
    fast = np.stack([figures(player(marks, run)) for run in range(compiled)])
    slow = np.stack([figures(play(run)) for run in range(plain)])
    p = smallest_p(slow, fast)
    require(
        p > FALSE_ALARM / len(BY_ROUNDS),
        f"Compiled and plain runs differ in law at {rounds} rounds (p = {p:.1g}).",
    )


def figures_of(path: Path, gaps: Floats, events: bool) -> Floats:
    """Return play counts, regret (without the last digits, which depend on the order of a sum) and
    releases.
    """
    plays = path.plays[0]
    regret = np.round(plays @ gaps, 6)
    return np.array([*plays, regret, path.releases, *([path.events] if events else [])])


def smallest_p(a: Integers | Floats, b: Integers | Floats) -> float:
    """Return the Bonferroni p-value for equal laws.

    Each column has a Kolmogorov–Smirnov test, which is conservative on integers, and, with many
    runs, a rank test, which detects shifts.
    """
    from scipy.stats import ks_2samp, mannwhitneyu

    many = min(len(a), len(b)) >= MANY
    values = [
        float(ks_2samp(x, y, method="asymp" if many else "exact").pvalue)
        for x, y in zip(a.T, b.T, strict=True)
    ]
    if many:
        values += [
            float(mannwhitneyu(x, y, method="asymptotic").pvalue)
            for x, y in zip(a.T, b.T, strict=True)
            if np.ptp([*x, *y])
        ]
    return min(1.0, min(values) * len(values))


def beats_uniform(policy: Policy) -> None:
    """On an easy instance, whose best arm is the last one, the regret is below that of uniform
    play.
    """
    if policy.arms == 1:
        return
    from dpbandits.environments import Bernoulli
    from dpbandits.simulation.simulate import choose_player, simulate

    environment = Bernoulli([0.05] * (policy.arms - 1) + [0.95])
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
    """Return the regret per round of uninformed play: a random arm, or the best super arm for
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
