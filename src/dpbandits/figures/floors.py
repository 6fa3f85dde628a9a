"""The lower bound of a panel, as `theory` knows it for the policies that were played in it."""

import math
from collections.abc import Iterable

import numpy as np

from dpbandits.core.inputs import Floats
from dpbandits.core.privacy import as_fraction
from dpbandits.environments import Independent
from dpbandits.figures.panels import Panel
from dpbandits.policies.contract import problem_of
from dpbandits.sweeps.cells import Cell
from dpbandits.sweeps.results import Results
from dpbandits.theory import lower_bound

DOTTED = "Dotted: the lower bound (a limit of Regret/ln T; no floor at finite T)"
"""What a caption says of the bound for consistent policies."""


def floor_at(results: Results, panel: Panel, rounds: Iterable[int]) -> Floats:
    """The lower bound for ε-DP policies at each of `rounds`; NaN where none is known: without an ε,
    on super arms that are no matroid's, and on those whose rewards depend on each other.
    """
    rounds = list(rounds)
    cell = cell_that_promises(results, panel)
    if cell is None or cell.environment.fixed or tied(cell):
        return np.full(len(rounds), math.nan)
    return np.array([lower_bound(cell.policy, cell.environment, int(t)) for t in rounds])


def final_floor(results: Results, panel: Panel) -> float:
    """The same at the last round that was played in the panel; NaN where none is known."""
    cell = cell_that_promises(results, panel)
    return math.nan if cell is None else float(floor_at(results, panel, [cell.rounds])[0])


def cell_that_promises(results: Results, panel: Panel) -> Cell | None:
    """The first cell in the panel whose policy promises exactly the panel's ε: some presets, as
    printed in a paper, promise more than they are given. One with a trusted curator, if there is
    one: its bound holds for locally private policies, too.
    """
    found = [
        (guarantee.trust == "local", cell)
        for cell in results.cells
        if (cell.setting, cell.epsilon) == (panel.environment, panel.epsilon)
        and panel.epsilon is not None
        and (guarantee := cell.policy.guarantee) is not None
        and guarantee.cost == as_fraction(panel.epsilon, "epsilon")
    ]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def tied(cell: Cell) -> bool:
    """Whether super arms are played whose rewards of one round depend on each other: the bounds
    change one arm's law and leave the others' alone.
    """
    return problem_of(cell.policy) is not None and not isinstance(cell.environment, Independent)
