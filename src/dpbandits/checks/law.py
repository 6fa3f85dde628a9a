"""What many runs of a policy must show. The compiled twin has the laws of the plain hosts: of play
counts, of regret, and of releases; against the event host of events, too. And the policy learns:
it beats whoever knows nothing.
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
"""(rounds, runs) of the round-by-round host; the compiled twin plays more runs of each."""

BY_BATCHES = ((12, 800), (120, 400), (20_000, 200))
"""(rounds, runs) of the event host, for policies that it plays by batches: at short horizons as
many as of the other host, whose decisions it makes.
"""

BY_EVENTS = ((12, 400), (120, 100))
"""(rounds, runs) of the event host, for policies that it plays round by round, too."""

MANY = 100
"""From this number of runs on, the tests use limiting laws."""

MORE = 4
"""How many runs of the compiled twin there are for each run of the slow host."""


def compiled_law(policy: Policy) -> None:
    """The compiled twin's runs have the law of `Session`'s at several horizons, and of the event
    host's.
    """
    # rounds of vectors and oracles take several times as long
    share = 1 if policy.about.feedback == "bandit" else 2
    for rounds, runs in SIZES:
        compare_law(policy, rounds, runs // share, play_rounds)
    by_rounds = policy.about.every_round or policy.about.randomised
    for rounds, runs in BY_EVENTS if by_rounds or policy.randomizer() is not None else BY_BATCHES:
        compare_law(policy, rounds, runs // share, play_events)


def compare_law(policy: Policy, rounds: int, runs: int, host: Callable[..., Path]) -> None:
    """Raise `CheckFailed` if compiled runs of `rounds` rounds differ in law from the host's."""
    rounds = min(rounds, horizon_of(policy))
    environment = Bernoulli(np.linspace(0.85, 0.35, policy.arms) if policy.arms > 1 else [0.5])
    player, compiled = choose_player(policy, environment, rounds, 31, compiled=True)
    if not compiled:
        return  # a third party's policy: it is only ever played the plain way
    marks = np.array([rounds])
    plain = partial(play_plain, policy, environment, rounds, 32, marks, host=host)
    # a Session knows no events; and where arms are drawn afresh each round, the twin counts a
    # streak as one event
    events = host is play_events and not policy.about.randomised
    told = partial(law_of_interest, gaps=environment.gaps, events=events)
    fast = np.stack([told(player(marks, run)) for run in range(MORE * runs)])
    slow = np.stack([told(plain(run)) for run in range(runs)])
    p = smallest_p(slow, fast)
    tests = len(SIZES) + len(BY_BATCHES)
    require(
        p > FALSE_ALARM / tests,
        f"Compiled and plain runs differ in law at {rounds} rounds (p = {p:.1g}).",
    )


def law_of_interest(path: Path, gaps: Floats, events: bool) -> Floats:
    """Play counts, regret (without the last digits, which a sum's order changes) and releases."""
    plays = path.plays[0]
    regret = np.round(plays @ gaps, 6)
    return np.array([*plays, regret, path.releases, *([path.events] if events else [])])


def smallest_p(a: Integers | Floats, b: Integers | Floats) -> float:
    """Bonferroni p-value for equal laws. Each column has a Kolmogorov–Smirnov test, whose false
    alarms on integers are rarer than it says, and, if runs are many, a rank test, which sees
    shifts.
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
