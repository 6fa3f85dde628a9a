"""How a claim is measured: functions of the evidence, each of which compares numbers with the
claim's threshold. A measure returns one `Check` a comparison; `paper.judge` makes a verdict of
them.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from itertools import pairwise, permutations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from dpbandits.checks.checks import blind_regret
from dpbandits.core.inputs import Booleans, Floats, Integers
from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Bernoulli, Environment
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.policies.formulas.stopping import stopping_time_bound
from dpbandits.simulation.simulate import simulate
from dpbandits.simulation.stopping import Estimates, estimates, identify
from dpbandits.theory import (
    full_information_lower_bound,
    instance_independent_bound,
    minimax_lower_bound,
    private_paths_lower_bound,
    private_sample_lower_bound,
    upper_bound,
)
from papers.evidence import (
    CellSetting,
    Evidence,
    Measurement,
    contrast,
    mean_of,
    ratio_of,
)

# How a claim is measured: small functions of the evidence, each of which compares numbers with the
# claim's threshold.
#
# A measure returns one `Check` a comparison; `papers.paper.judge` makes a verdict of them.


MISS = 0.05
"""Error rate of a verdict: see `Check.holds` and `Check.fails`."""

Names = Sequence[str] | None
NumberList = Sequence[float] | None


class Check(NamedTuple):
    """One number, and the range the claim says it is in."""

    what: str
    estimate: Measurement
    at_least: float = -math.inf
    at_most: float = math.inf

    @property
    def holds(self) -> bool:
        """The whole 95 % interval is in the range. Asked of every comparison at once, so no
        correction is needed.
        """
        low, high = self.estimate.interval(MISS)
        return self.at_least <= low and high <= self.at_most

    def fails(self, looks: int) -> bool:
        """The whole interval is outside; it is wider, because one failure in any of `looks`
        comparisons refutes the claim.
        """
        low, high = self.estimate.interval(MISS / looks)
        return high < self.at_least or low > self.at_most

    @property
    def margin(self) -> float:
        """How far the number is inside the range, as a share of the nearest threshold; negative
        outside.
        """
        value = self.estimate.value
        above = (
            (value - self.at_least) / self.at_least if math.isfinite(self.at_least) else math.inf
        )
        below = (self.at_most - value) / self.at_most if math.isfinite(self.at_most) else math.inf
        return min(above, below)

    @property
    def asked(self) -> str:
        low, high = f"at least {self.at_least:.3g}", f"at most {self.at_most:.3g}"
        return " and ".join(
            text for text, end in ((low, self.at_least), (high, self.at_most)) if math.isfinite(end)
        )


def regret_ratio(
    evidence: Evidence,
    *,
    over: Sequence[str],
    under: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Final regret of each policy in `over`, divided by that of `under`."""
    return [
        Check(f"{label} / {under}, {s}", evidence.ratio(label, under, s), at_least, at_most)
        for label in over
        for s in evidence.settings([label, under], environments, epsilons)
    ]


def lowest(
    evidence: Evidence,
    *,
    label: str,
    others: Sequence[str],
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The policy has the lowest final regret: every other one's is at least as large."""
    return regret_ratio(
        evidence,
        over=others,
        under=label,
        at_least=1.0,
        environments=environments,
        epsilons=epsilons,
    )


def similar(
    evidence: Evidence,
    *,
    one: str,
    other: str,
    within: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The two final regrets differ by at most the factor `within`, either way."""
    return regret_ratio(
        evidence,
        over=[one],
        under=other,
        at_least=1.0 / within,
        at_most=within,
        environments=environments,
        epsilons=epsilons,
    )


def late_share(
    evidence: Evidence,
    *,
    label: str,
    last: float,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The share of the final regret that came in the last part (`last`) of the rounds: 0 for a
    curve that is flat by then, and for a run without any regret.
    """
    checks = []
    for s in evidence.settings([label], environments, epsilons):
        final = evidence.at(label, s)
        late = final - evidence.at(label, s, 1.0 - last)
        shares = np.divide(late, final, out=np.zeros_like(late), where=final != 0.0)
        checks.append(Check(f"{label}, {s}", mean_of(shares), at_least, at_most))
    return checks


def spread_over_epsilon(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    at_most: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Between any two budgets final regret differs by at most this factor, in each environment."""
    return [
        Check(
            f"{label}, {a} over ε = {printed_epsilon(b.epsilon)}",
            ratio_of(evidence.at(label, a), evidence.at(label, b)),
            at_most=at_most,
        )
        for label in labels
        for a, b in permutations(evidence.settings([label], environments, epsilons), 2)
        if a.environment == b.environment
    ]


def falls_with_epsilon(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    rise: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """From each budget to the next larger one final regret rises by no more than the share `rise`,
    and it falls from first to last.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments, epsilons)
        for name in dict.fromkeys(s.environment for s in settings):
            by_budget = sorted(s for s in settings if s.environment == name)
            steps = [(a, b, 1.0 + rise) for a, b in pairwise(by_budget)] + [
                (by_budget[0], by_budget[-1], 1.0)
            ]
            for small, large, most in steps:
                ratio = ratio_of(evidence.at(label, large), evidence.at(label, small))
                checks.append(
                    Check(
                        f"{label}, {large} over ε = {printed_epsilon(small.epsilon)}",
                        ratio,
                        at_most=most,
                    )
                )
    return checks


# Measures of rates: how regret grows with K, 1/Δ and 1/ε, and where it lies between two bounds.
#
# Sizes come from the environments: K is the number of arms, Δ the smallest gap.


class Size(NamedTuple):
    """What a rate is a function of."""

    arms: int
    gap: float
    epsilon: float

    @property
    def rate(self) -> float:
        """ln K/min(Δ, ε)."""
        return math.log(self.arms) / min(self.gap, self.epsilon)


VARIABLES: dict[str, tuple[str, Callable[[Size], float]]] = {
    "K": ("arms", lambda size: size.arms),
    "ln K": ("arms", lambda size: math.log(size.arms)),
    "1/Δ": ("gap", lambda size: 1.0 / size.gap),
    "1/ε": ("epsilon", lambda size: 1.0 / size.epsilon),
}
"""What regret may grow with: the coordinate of `Size` that moves, and its value."""

UPPER = 256.0
"""The same paper, proof of theorem 9: the sum over brackets ℓ of 256 (1 + ln|J_ℓ|)/min(Δ_ℓ, ε)."""


def growth(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    of: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The exponent p of regret ∝ of**p ("K", "ln K", "1/Δ" or "1/ε"): a least-squares slope of
    logarithms, all else being equal.

    Raises:
        ValueError: two environments are equally large, so that all else is not equal; name those to
        compare.
    """
    moves, value = VARIABLES[of]
    checks = []
    for label in labels:
        groups: dict[Size, list[tuple[float, CellSetting]]] = {}
        for s in evidence.settings([label], environments, epsilons):
            size = size_of(evidence, s)
            groups.setdefault(size._replace(**{moves: 0}), []).append((value(size), s))
        for rest, points in groups.items():
            if len({x for x, _ in points}) < len(points):
                raise ValueError(
                    f"Expected environments that differ in {of}; two have {rest} beside it."
                )
            if len(points) > 1:
                samples = [evidence.at(label, s) for _, s in points]
                slope = contrast(samples, slope_weights([x for x, _ in points]), log=False)
                what = f"exponent of {of}, {label}, {fixed_coordinates(rest, moves)}"
                checks.append(Check(what, slope, at_least, at_most))
    return checks


def follows_rate(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    within: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Regret · min(Δ, ε)/ln K differs from its geometric mean over all settings by at most the
    factor `within`, either way.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments, epsilons)
        samples = [evidence.at(label, s) / size_of(evidence, s).rate for s in settings]
        for i, s in enumerate(settings):
            weights = [float(i == j) - 1.0 / len(settings) for j in range(len(settings))]
            checks.append(Check(f"{label}, {s}", contrast(samples, weights), 1.0 / within, within))
    return checks


def environment_ratio(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Sequence[str],
    against: Sequence[str],
    at_least: float = -math.inf,
    at_most: float = math.inf,
    epsilons: NumberList = None,
) -> list[Check]:
    """Regret in each environment over that in the one at the same place of `against`, at the same
    ε.
    """
    return [
        Check(
            f"{label}, {s} over {other}",
            contrast([evidence.at(label, s), evidence.at(label, twin)], [1.0, -1.0]),
            at_least,
            at_most,
        )
        for label in labels
        for name, other in zip(environments, against, strict=True)
        for s in evidence.settings([label], [name], epsilons)
        for twin in evidence.settings([label], [other], [s.epsilon])
    ]


def ratio_growth(
    evidence: Evidence,
    *,
    over: str,
    under: str,
    environments: Sequence[str],
    sizes: Sequence[float],
    at_least: float = -math.inf,
    at_most: float = math.inf,
    epsilons: NumberList = None,
) -> list[Check]:
    """The exponent p of regret(over)/regret(under) ∝ size**p, where the environments have these
    sizes: a slope of logarithms, at each ε.
    """
    require_sizes(environments, sizes)
    weights, checks = slope_weights(sizes), []
    for epsilon in sorted(
        {s.epsilon for s in evidence.settings([over, under], environments, epsilons)}
    ):
        settings = [
            s for name in environments for s in evidence.settings([over, under], [name], [epsilon])
        ]
        samples = [evidence.at(label, s) for label in (over, under) for s in settings]
        slope = contrast(samples, [*weights, *(-w for w in weights)], log=False)
        checks.append(
            Check(
                f"exponent of {over} / {under}, ε = {printed_epsilon(epsilon)}",
                slope,
                at_least,
                at_most,
            )
        )
    return checks


def between_bounds(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Full information: regret over the lower bound, with its proof's constant; at least 1, and at
    most what the upper bound is over it.
    """
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            size = size_of(evidence, s)
            low = full_information_lower_bound(
                size.arms, size.gap, evidence.rounds(label, s), s.epsilon
            )
            high = sum(
                UPPER * (1.0 + math.log(n)) / min(gap, s.epsilon)
                for gap, n in brackets(gaps_of(evidence, s))
            )
            regret = contrast([evidence.at(label, s)], [1.0], scale=1.0 / low)
            checks.append(Check(f"{label}, {s}, over the lower bound", regret, 1.0, high / low))
    return checks


def gaps_of(evidence: Evidence, setting: CellSetting) -> Floats:
    """The gaps above 0, without what rounding left in them."""
    gaps = evidence.environments[setting.environment].gaps
    return np.round(gaps[gaps > 0], 12)


def size_of(evidence: Evidence, setting: CellSetting) -> Size:
    return Size(
        evidence.environments[setting.environment].arms,
        float(gaps_of(evidence, setting).min()),
        setting.epsilon,
    )


def brackets(gaps: Floats) -> list[tuple[float, int]]:
    """2**(ℓ−1) times the smallest gap, and how many gaps are at least that and below its double,
    where there are any.
    """
    levels, counts = np.unique(np.floor(np.log2(gaps / gaps.min()) + 1e-9), return_counts=True)
    return [
        (float(gaps.min() * 2.0**level), int(count))
        for level, count in zip(levels, counts, strict=True)
    ]


def slope_weights(values: Sequence[float]) -> list[float]:
    """Weights that make a sum of logarithms the least-squares slope on the logarithm of
    `values`.
    """
    x = np.log(values)
    x -= x.mean()
    return [float(weight) for weight in x / (x @ x)]


def fixed_coordinates(rest: Size, moves: str) -> str:
    """The coordinates that stay."""
    texts = {"arms": f"K = {rest.arms}", "gap": f"Δ = {rest.gap:g}"}
    if moves != "epsilon":
        texts["epsilon"] = f"ε = {printed_epsilon(rest.epsilon)}"
    return ", ".join(text for name, text in texts.items() if name != moves)


# Regret beside what a theorem says no policy can be below.


def over_paths_bound(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Sequence[str],
    sizes: Sequence[int],
    at_least: float = 1.0,
    epsilons: NumberList = None,
) -> list[Check]:
    """Disjoint paths of so many arms each, one or more, all of which are behind by the same: final
    regret over the lower bound for ε-LDP policies (Chen et al. 2020, Theorem 6; with paths of one
    arm it is their Theorem 5, with B∞ = 1).

    Raises:
        ValueError: not as many sizes as environments, or the theorem does not speak of such a gap.
    """
    require_sizes(environments, sizes)
    checks = []
    for label in labels:
        for name, size in zip(environments, sizes, strict=True):
            for s in evidence.settings([label], [name], epsilons):
                arms, gap, epsilon = size_of(evidence, s)
                rounds = evidence.rounds(label, s)
                low = private_paths_lower_bound(arms, size, size * gap, rounds, epsilon)
                if not low > 0.0:
                    raise ValueError(
                        f"Expected {name} to have paths of {size} arms and a gap of each arm below "
                        f".35, got {arms} arms and {gap:g}."
                    )
                regret = contrast([evidence.at(label, s)], [1.0], scale=1.0 / low)
                checks.append(Check(f"{label}, {s}, over the lower bound", regret, at_least))
    return checks


# How regret grows with a size that environments have by name: K of super arms, whose gaps and
# numbers of arms move with it.


def size_growth(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Sequence[str],
    sizes: Sequence[float],
    at_least: float = -math.inf,
    at_most: float = math.inf,
    epsilons: NumberList = None,
) -> list[Check]:
    """The exponent p of regret ∝ size**p, where the environments have these sizes: a slope of
    logarithms, of each policy at each ε.

    Raises:
        ValueError: not as many sizes as environments.
    """
    require_sizes(environments, sizes)
    weights, checks = slope_weights(sizes), []
    for label in labels:
        found = [evidence.settings([label], [name], epsilons) for name in environments]
        for settings in zip(*found, strict=True):
            slope = contrast([evidence.at(label, s) for s in settings], weights, log=False)
            what = f"exponent of {label}, ε = {printed_epsilon(settings[0].epsilon)}"
            checks.append(Check(what, slope, at_least, at_most))
    return checks


def size_growth_without_privacy(
    evidence: Evidence,
    *,
    label: str,
    environments: Sequence[str],
    sizes: Sequence[float],
    at_least: float = -math.inf,
    at_most: float = math.inf,
) -> list[Check]:
    """The exponent p of regret ∝ size**p of a policy without privacy, where the environments have
    these sizes.
    """
    require_sizes(environments, sizes)
    samples = [without_privacy(evidence, label, name) for name in environments]
    slope = contrast(samples, slope_weights(sizes), log=False)
    return [Check(f"exponent of {label}", slope, at_least, at_most)]


def slope_growth(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Sequence[str],
    sizes: Sequence[float],
    since: float,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    epsilons: NumberList = None,
) -> list[Check]:
    """The exponent p of slope ∝ size**p: a slope is what regret gained after the share `since` of
    the rounds, over what ln T gained.
    """
    require_sizes(environments, sizes)

    def slopes(label: str, s: CellSetting) -> Floats:
        early, last = evidence.kept(label, s, since), evidence.rounds(label, s)
        gained = evidence.at(label, s) - evidence.at(label, s, since)
        return np.asarray(gained / math.log(last / early))

    weights, checks = slope_weights(sizes), []
    for label in labels:
        found = [evidence.settings([label], [name], epsilons) for name in environments]
        for settings in zip(*found, strict=True):
            slope = contrast([slopes(label, s) for s in settings], weights, log=False)
            what = f"exponent of the slope of {label}, ε = {printed_epsilon(settings[0].epsilon)}"
            checks.append(Check(what, slope, at_least, at_most))
    return checks


def require_sizes(environments: Sequence[str], sizes: Sequence[float]) -> None:
    """Refuse another number of sizes than environments."""
    if len(environments) != len(sizes):
        raise ValueError(
            f"Expected a size for each of {len(environments)} environments, got {len(sizes)}."
        )


# Measures of returns: what a policy earns a round beside the optimum and beside a policy without
# privacy, what privacy costs in regret, and how regret grows.


GROUPS = 10
"""Parts that the runs are split into, so that a number made of many means has an error."""


def share_of_optimum(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    optimum: float,
    at_least: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Mean return a round over all rounds, as a share of the optimum."""
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            share = 1.0 - evidence.at(label, s) / (evidence.rounds(label, s) * optimum)
            checks.append(Check(f"{label}, {s}", mean_of(share), at_least=at_least))
    return checks


def return_ratio(
    evidence: Evidence,
    *,
    over: str,
    under: str,
    optimum: float,
    at_least: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Mean return a round of a private policy, divided by that of one without privacy."""
    checks = []
    for s in evidence.settings([over], environments, epsilons):
        rounds = evidence.rounds(over, s)
        returns = [
            optimum - regret / rounds
            for regret in (evidence.at(over, s), without_privacy(evidence, under, s.environment))
        ]
        checks.append(Check(f"{over} / {under}, {s}", ratio_of(*returns), at_least=at_least))
    return checks


def price_ratio(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    under: str,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Final regret of each private policy, divided by that of one without privacy."""
    return [
        Check(
            f"{label} / {under}, {s}",
            ratio_of(evidence.at(label, s), without_privacy(evidence, under, s.environment)),
            at_least,
            at_most,
        )
        for label in labels
        for s in evidence.settings([label], environments, epsilons)
    ]


def price_between_environments(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    without: str,
    environments: Sequence[str],
    against: Sequence[str],
    within: float,
    epsilons: NumberList = None,
) -> list[Check]:
    """What privacy adds, final regret less that of a policy without privacy, in each environment
    over that in the one at the same place of `against`, at the same ε.
    """

    def price(label: str, setting: CellSetting) -> Floats:
        """Of each run; runs are independent, so any run of the other will do."""
        private = evidence.at(label, setting)
        free = without_privacy(evidence, without, setting.environment)
        runs = min(len(private), len(free))
        return private[:runs] - free[:runs]

    return [
        Check(
            f"price of {label}, {s} over {other}",
            ratio_of(price(label, s), price(label, twin)),
            1.0 / within,
            within,
        )
        for label in labels
        for name, other in zip(environments, against, strict=True)
        for s in evidence.settings([label], [name], epsilons)
        for twin in evidence.settings([label], [other], [s.epsilon])
    ]


def without_privacy(evidence: Evidence, label: str, environment: str) -> Floats:
    """Final regret of every run of a policy without privacy, shape (runs,).

    Raises:
        LookupError: there are no results of it.
    """
    frame = evidence.curves.filter(
        pl.col("epsilon").is_null()
        & (pl.col("label") == label)
        & (pl.col("environment") == environment)
    )
    if frame.is_empty():
        raise LookupError(f"No setting has results of {label} in {environment}.")
    return (
        frame.filter(pl.col("round") == frame["round"].max())
        .sort("run")["regret"]
        .to_numpy()
        .astype(np.float64)
    )


def log_rate(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    share: float,
    within: float,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Regret/ln n at the end over regret/ln n after `share` of the rounds: near 1 once it has
    converged.
    """
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            rounds = evidence.rounds(label, s)
            early = share * rounds
            ratio = ratio_of(
                evidence.at(label, s) / math.log(rounds),
                evidence.at(label, s, share) / math.log(early),
            )
            checks.append(Check(f"{label}, {s}", ratio, 1.0 / within, within))
    return checks


def straight_line(
    evidence: Evidence, *, labels: Sequence[str], at_least: float, environments: Names = None
) -> list[Check]:
    """R² of the least-squares line of mean regret against 1/ε, over all budgets; its error from ten
    groups of runs.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments)
        x = np.array([1.0 / s.epsilon for s in settings])
        groups = np.stack(
            [
                [part.mean() for part in np.array_split(evidence.at(label, s), GROUPS)]
                for s in settings
            ],
            axis=1,
        )
        squares = np.array([np.corrcoef(x, y)[0, 1] ** 2 for y in groups])
        checks.append(
            Check(f"{label}, R² over {len(x)} budgets", mean_of(squares), at_least=at_least)
        )
    return checks


# How near a policy comes to the oracle that knows the means, where regret against a share of the
# best says nothing: an oracle mostly does better than it promises, and play that knows nothing
# may.


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


# Measures of what a policy on a matroid recommends. They play it themselves: a sweep keeps regret,
# and not which basis was played.


BASES_SEED = 2023


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
    found = simulate(policy, environment, rounds, runs=runs, seed=BASES_SEED, at=[rounds - 1])
    return found.plays - found.plays_at([rounds - 1])[:, 0]


# Measures of claims on stopping rules. They play the rules themselves, on values −1 and 1 (R = 1):
# a sweep says nothing of them.


STOPPING_SEED = 2019


def halts_right(
    evidence: Evidence,
    *,
    rules: Sequence[str],
    means: Sequence[float],
    alphas: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    runs: int,
) -> list[Check]:
    """Share of the runs that halt at an estimate within alpha·|mean| of the mean: at least 1 −
    beta.
    """
    checks = []
    for rule, mean, alpha, budget in itertools.product(rules, means, alphas, budgets):
        found = stopped_runs(rule, runs, mean=mean, alpha=alpha, beta=beta, budget=budget)
        what = f"{rule}, μ = {mean:g}, α = {alpha:g}, ε = {printed_epsilon(budget)}"
        checks.append(Check(what, share_of(found.right & ~found.capped), at_least=1.0 - beta))
    return checks


def stops_in_time(
    evidence: Evidence,
    *,
    rule: str,
    means: Sequence[float],
    alphas: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    runs: int,
) -> list[Check]:
    """Share of the runs that halt within 2000(t₀ + t₁ + t₂) values: at least 1 − beta."""
    checks = []
    for mean, alpha, budget in itertools.product(means, alphas, budgets):
        found = stopped_runs(rule, runs, mean=mean, alpha=alpha, beta=beta, budget=budget)
        bound = stopping_time_bound(mean, 1.0, alpha=alpha, beta=beta, epsilon=budget)
        what = (
            f"{rule}, μ = {mean:g}, α = {alpha:g}, ε = {printed_epsilon(budget)}, latest "
            f"{found.rounds.max() / bound:.1g} of the bound"
        )
        checks.append(
            Check(what, share_of(~found.capped & (found.rounds <= bound)), at_least=1.0 - beta)
        )
    return checks


def extra_values_slope(
    evidence: Evidence,
    *,
    along: str,
    values: Sequence[float],
    at_least: float,
    at_most: float,
    runs: int,
    mean: float = 0.5,
    alpha: float = 0.2,
    beta: float = 0.05,
    budget: float = 0.3,
) -> list[Check]:
    """How the values DP-NAS takes beyond NAS grow with 1/x, x the parameter `along`, between
    neighbouring `values`: d ln extra/d ln(1/x).

    Of beta it is the growth with ln(1/beta). NAS is played with beta/4, which gives it the
    confidence radius of DP-NAS.
    """
    fixed = {"mean": mean, "alpha": alpha, "beta": beta, "budget": budget}
    points = [(x, *extra_values(runs, **fixed | {along: x})) for x in values]
    checks = []
    for (x, a, error_a), (y, b, error_b) in pairwise(points):
        step = math.log(math.log(y) / math.log(x)) if along == "beta" else math.log(x / y)
        slope = Measurement(
            math.log(b / a) / step,
            math.hypot(error_a / a, error_b / b) / abs(step),
            runs - 1,
            log=False,
        )
        checks.append(Check(f"{along} from {x:g} to {y:g}", slope, at_least, at_most))
    return checks


def extra_values(runs: int, *, beta: float, **fixed: float) -> tuple[float, float]:
    """Mean number of values DP-NAS takes beyond NAS, and its standard error."""
    private, plain = (
        stopped_runs("DPNAS", runs, beta=beta, **fixed),
        stopped_runs("NAS", runs, beta=beta / 4, **fixed),
    )
    error = math.sqrt(sum(float(found.rounds.var(ddof=1)) for found in (private, plain)) / runs)
    return float(private.rounds.mean() - plain.rounds.mean()), error


def stopped_runs(
    rule: str, runs: int, *, mean: float, alpha: float, beta: float, budget: float
) -> Estimates:
    """The rule on independent values −1 and 1 of this mean, with a cap it does not need."""
    arguments: dict[str, Any] = {
        "alpha": alpha,
        "beta": beta,
        "cap": 2**50,
        "low": -1,
        "high": 1,
        "grid": 1,
    }
    cls = POLICIES[rule]
    if cls.about.privacy != "none":
        arguments["epsilon"] = budget
    # only stopping rules are named here
    made: Any = cls(**arguments)
    return estimates(made, Bernoulli([(1.0 + mean) / 2.0]), runs=runs, seed=STOPPING_SEED)


def share_of(hits: Booleans) -> Measurement:
    """A share, with two made-up hits and two misses (Agresti and Coull), so that a share of 1 has
    an error, too.
    """
    n = len(hits) + 4
    share = (int(hits.sum()) + 2) / n
    return Measurement(share, math.sqrt(share * (1.0 - share) / n), n, log=False)


# What a paper's main theorems say regret grows with, and the bounds with all constants.


def log_growth(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    share: float,
    at_least: float = -math.inf,
    at_most: float = math.inf,
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """The exponent p of regret ∝ (ln T)**p between `share` of the rounds and all of them, the mean
    over the settings: batches that double make it jump in each.

    Both regrets are of the same runs, and are treated as independent: the interval is too wide.
    """
    checks = []
    for label in labels:
        settings = evidence.settings([label], environments, epsilons)
        samples, weights = [], []
        for s in settings:
            early, last = evidence.kept(label, s, share), evidence.rounds(label, s)
            step = len(settings) * math.log(math.log(last) / math.log(early))
            samples += [evidence.at(label, s), evidence.at(label, s, share)]
            weights += [1.0 / step, -1.0 / step]
        what = f"exponent of ln T, {label}, {len(settings)} settings"
        checks.append(Check(what, contrast(samples, weights, log=False), at_least, at_most))
    return checks


def below_bound(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Names = None,
    epsilons: NumberList = None,
) -> list[Check]:
    """Final regret over `upper_bound`, which has all constants: at most 1."""
    checks = []
    for label in labels:
        for s in evidence.settings([label], environments, epsilons):
            rounds = evidence.rounds(label, s)
            policy = evidence.policies[label, s]
            bound = upper_bound(policy, evidence.environments[s.environment], rounds)
            share = mean_of(evidence.at(label, s) / bound)
            checks.append(Check(f"{label}, {s}, over its bound", share, at_most=1.0))
    return checks


WORST_GAPS = np.geomspace(1e-6, 0.9, 200)
"""Gaps over which the lower bound for full information is largest at some T."""


def within_minimax(
    evidence: Evidence,
    *,
    labels: Sequence[str],
    environments: Sequence[str],
    epsilons: NumberList = None,
) -> list[Check]:
    """The largest final regret over environments of one size, over the lower bound on the worst
    instance: at least 1, and at most what the bound for all instances is over it.
    """
    checks = []
    for label in labels:
        by_budget: dict[float, list[CellSetting]] = {}
        for s in evidence.settings([label], environments, epsilons):
            by_budget.setdefault(s.epsilon, []).append(s)
        for epsilon, settings in by_budget.items():
            worst = max(settings, key=lambda s: float(evidence.at(label, s).mean()))
            policy, rounds = evidence.policies[label, worst], evidence.rounds(label, worst)
            floor = minimax_lower_bound(policy.arms, rounds, epsilon)
            if policy.about.feedback == "full":
                floor = max(
                    full_information_lower_bound(policy.arms, float(gap), rounds, epsilon)
                    for gap in WORST_GAPS
                )
            high = instance_independent_bound(policy, rounds) / floor
            ratio = contrast([evidence.at(label, worst)], [1.0], scale=1.0 / floor)
            most = math.inf if math.isnan(high) else high
            checks.append(Check(f"{label}, {worst}, over the floor", ratio, 1.0, most))
    return checks


def pulls_within(
    evidence: Evidence,
    *,
    arms: int,
    gaps: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    rounds: int,
    runs: int,
) -> list[Check]:
    """Share of DP-SE's runs in which every wrong arm is pulled at most (171 L/Δ + 32 L/ε + 3)/Δ
    times, L = ln(8K(lg T + 1)²/β), the constants of `theory.elimination_worst`: at least 1 − beta.
    """
    log = math.log(8.0 * arms * (math.log2(rounds) + 1.0) ** 2 / beta)
    checks = []
    for gap, budget in itertools.product(gaps, budgets):
        policy: Any = POLICIES["DPSE"](arms=arms, epsilon=budget, beta=beta, grid=1)  # type: ignore[call-arg]
        environment = Bernoulli([0.5 + gap] + [0.5] * (arms - 1))
        found = simulate(policy, environment, rounds, runs=runs, seed=STOPPING_SEED, at=[rounds])
        most = min(float(rounds), (171.0 * log / gap + 32.0 * log / budget + 3.0) / gap)
        right = np.asarray((found.plays[:, 1:] <= most).all(axis=1))
        what = f"K = {arms}, Δ = {gap:g}, ε = {printed_epsilon(budget)}"
        checks.append(Check(what, share_of(right), at_least=1.0 - beta))
    return checks


def identification_growth(
    evidence: Evidence,
    *,
    along: str,
    values: Sequence[float],
    arms: int,
    beta: float,
    runs: int,
    at_least: float,
    at_most: float,
    gap: float = 0.4,
    budget: float = 10.0,
) -> list[Check]:
    """The exponent p of the rounds until DP-SE names an arm in 1/x, x the "gap" or the "budget"."""
    samples = []
    for x in values:
        at = {"gap": gap, "budget": budget} | {along: x}
        policy: Any = POLICIES["DPSE"](arms=arms, epsilon=at["budget"], beta=beta, grid=1)  # type: ignore[call-arg]
        environment = Bernoulli([0.5 + at["gap"]] + [0.5] * (arms - 1))
        found = identify(policy, environment, delta=beta, runs=runs, seed=STOPPING_SEED)
        samples.append(np.asarray(found.samples, np.float64))
    slope = contrast(samples, slope_weights([1.0 / x for x in values]), log=False)
    return [Check(f"exponent of 1/{along}", slope, at_least, at_most)]


def takes_more_than_floor(
    evidence: Evidence,
    *,
    rules: Sequence[str],
    means: Sequence[float],
    alphas: Sequence[float],
    budgets: Sequence[float],
    beta: float,
    runs: int,
) -> list[Check]:
    """Share of the runs that take more values than R ln(1/β)/(12εα|μ|): at least ¼."""
    checks = []
    for rule, mean, alpha, budget in itertools.product(rules, means, alphas, budgets):
        found = stopped_runs(rule, runs, mean=mean, alpha=alpha, beta=beta, budget=budget)
        floor = private_sample_lower_bound(mean, 1.0, alpha=alpha, beta=beta, epsilon=budget)
        what = f"{rule}, μ = {mean:g}, α = {alpha:g}, ε = {printed_epsilon(budget)}"
        checks.append(Check(what, share_of(found.rounds > floor), at_least=0.25))
    return checks


# What claims measure, by name.


MEASURES: dict[str, Callable[..., list[Check]]] = {
    measure.__name__: measure
    for measure in (
        regret_ratio,
        lowest,
        similar,
        late_share,
        spread_over_epsilon,
        falls_with_epsilon,
        growth,
        follows_rate,
        environment_ratio,
        ratio_growth,
        between_bounds,
        over_paths_bound,
        size_growth,
        size_growth_without_privacy,
        slope_growth,
        share_of_optimum,
        return_ratio,
        price_ratio,
        price_between_environments,
        log_rate,
        straight_line,
        way_to_oracle,
        shared_with_best,
        halts_right,
        stops_in_time,
        extra_values_slope,
        log_growth,
        below_bound,
        within_minimax,
        pulls_within,
        identification_growth,
        takes_more_than_floor,
    )
}
