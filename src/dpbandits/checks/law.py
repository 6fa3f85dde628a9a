"""Statistical checks of a policy. Compiled runs have the law of plain runs: of play counts, regret
and releases (and of events, for the event simulator). And the policy learns: its regret is below
that of uniform play.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from dpbandits.checks.checks import horizon_of, require
from dpbandits.core.inputs import Floats, Integers
from dpbandits.environments import Bernoulli
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.simulation.plain import Path, play_events, play_rounds
from dpbandits.simulation.simulate import choose_player, play_plain

FALSE_ALARM = 1e-6
"""Probability that one call of `compiled_law` fails although the laws are equal."""

SIZES = ((12, 800), (120, 200), (1200, 24))
"""(rounds, runs) of the round-by-round simulation; there are more compiled runs of each."""

BY_BATCHES = ((12, 800), (120, 400), (20_000, 200))
"""(rounds, runs) of the event simulation, for policies by batches: at short horizons, the same
number of runs as for the round-by-round simulation.
"""

BY_EVENTS = ((12, 400), (120, 100))
"""(rounds, runs) of the event simulation, for policies that it plays round by round."""

MANY = 100
"""From this number of runs on, the tests use limiting laws."""

MORE = 4
"""Compiled runs for each plain run."""


def compiled_law(policy: Policy) -> None:
    """Compare compiled runs with runs of `Session` at several horizons, and with the event
    simulation.
    """
    # rounds of vectors and oracles take several times as long
    share = 1 if policy.about.feedback == "bandit" else 2
    for rounds, runs in SIZES:
        compare_law(policy, rounds, runs // share, play_rounds)
    by_rounds = policy.about.every_round or policy.about.randomised
    for rounds, runs in BY_EVENTS if by_rounds or policy.randomizer() is not None else BY_BATCHES:
        compare_law(policy, rounds, runs // share, play_events)


def compare_law(policy: Policy, rounds: int, runs: int, host: Callable[..., Path]) -> None:
    """Raise `CheckFailed` if compiled runs of `rounds` rounds differ in law from runs of `host`."""
    rounds = min(rounds, horizon_of(policy))
    environment = Bernoulli(np.linspace(0.85, 0.35, policy.arms) if policy.arms > 1 else [0.5])
    player, compiled = choose_player(policy, environment, rounds, 31, compiled=True)
    if not compiled:
        return  # a user-defined policy has no compiled runs
    marks = np.array([rounds])
    plain = partial(play_plain, policy, environment, rounds, 32, marks, host=host)
    # a Session has no events; if arms are drawn each round, a compiled run counts a streak as one
    events = host is play_events and not policy.about.randomised
    figures = partial(figures_of, gaps=environment.gaps, events=events)
    fast = np.stack([figures(player(marks, run)) for run in range(MORE * runs)])
    slow = np.stack([figures(plain(run)) for run in range(runs)])
    p = smallest_p(slow, fast)
    tests = len(SIZES) + len(BY_BATCHES)
    require(
        p > FALSE_ALARM / tests,
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
