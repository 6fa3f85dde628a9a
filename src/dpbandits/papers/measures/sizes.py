"""How regret grows with a size that environments have by name: K of super arms, whose gaps and
numbers of arms move with it.
"""

import math
from collections.abc import Sequence

from dpbandits.core.privacy import printed_epsilon
from dpbandits.papers.evidence import Evidence, contrast
from dpbandits.papers.measures.growth import slope_weights
from dpbandits.papers.measures.verdicts import Check, NumberList


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
    if len(environments) != len(sizes):
        raise ValueError(
            f"Expected a size for each of {len(environments)} environments, got {len(sizes)}."
        )
    weights, checks = slope_weights(sizes), []
    for label in labels:
        found = [evidence.settings([label], [name], epsilons) for name in environments]
        for settings in zip(*found, strict=True):
            slope = contrast([evidence.at(label, s) for s in settings], weights, log=False)
            what = f"exponent of {label}, ε = {printed_epsilon(settings[0].epsilon)}"
            checks.append(Check(what, slope, at_least, at_most))
    return checks
