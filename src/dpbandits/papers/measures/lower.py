"""Regret beside what a theorem says no policy can be below."""

from collections.abc import Sequence

from dpbandits.papers.evidence import Evidence, contrast
from dpbandits.papers.measures.growth import size_of
from dpbandits.papers.measures.verdicts import Check, NumberList
from dpbandits.theory import private_paths_lower_bound


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
    if len(environments) != len(sizes):
        raise ValueError(
            f"Expected a size for each of {len(environments)} environments, got {len(sizes)}."
        )
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
