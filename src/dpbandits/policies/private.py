"""Policies with pure differential privacy, and the budgets they may be given."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from dpbandits.core.privacy import Grid, as_fraction
from dpbandits.policies.contract import Policy


def require_budget(price: Fraction, grid: int, name: str, parts: Fraction = Fraction(1)) -> None:
    """Refuse budgets whose noise, shared out over a record's `parts` and a counter's levels, might
    not fit into 64 bits.
    """
    if grid * parts / price > 2**40:
        shared = f" shared out over {round(parts):,} parts" if parts > 1 else ""
        raise ValueError(
            f"Expected {name} >= {float(grid * parts / 2**40):.1g} for grid={grid}{shared}, got "
            f"{float(price):.1g}. "
            "Use a coarser grid or a larger budget."
        )


def parts_of(policy: PrivatePolicy) -> Fraction:
    """Over how many parts the budget is shared out before any noise is drawn: arms of a super arm,
    actions of a record, trees.
    """
    randomizer = policy.randomizer()
    if randomizer is not None:
        return Fraction(randomizer.width)
    mechanism = policy.mechanism()
    one = getattr(mechanism, "inner", mechanism).promise()
    return policy.budget / one.epsilon if one is not None and one.epsilon else Fraction(1)


@dataclass(frozen=True, kw_only=True)
class PrivatePolicy(Policy):
    """A policy with pure differential privacy.

    Args:
        epsilon: budget for one round's reward; a float is read as the decimal it is written as.
    """

    epsilon: Fraction | float | str
    grid: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", as_fraction(self.epsilon, "epsilon"))
        require_budget(self.budget, Grid(steps=self.grid).steps, "epsilon")
        super().__post_init__()
        parts = parts_of(self)
        if parts > 1:
            require_budget(self.budget, self.grid, "epsilon", parts)

    @final
    @property
    def budget(self) -> Fraction:
        return as_fraction(self.epsilon, "epsilon")
