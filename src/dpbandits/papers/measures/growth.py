"""Measures of rates: how regret grows with K, 1/Δ and 1/ε, and where it lies between two bounds.

Sizes come from the environments: K is the number of arms, Δ the smallest gap.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import printed_epsilon
from dpbandits.papers.evidence import CellSetting, Evidence, contrast
from dpbandits.papers.measures.verdicts import Check, Names, NumberList
from dpbandits.theory import full_information_lower_bound


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
    if len(environments) != len(sizes):
        raise ValueError(
            f"Expected a size for each of {len(environments)} environments, got {len(sizes)}."
        )
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
