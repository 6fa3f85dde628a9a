"""A budget over campaigns. Each campaign is an interactive mechanism, and they compose: the sum of
what they promise is at most the budget (Haney et al. 2023).
"""

from fractions import Fraction
from typing import NamedTuple

from dpbandits.core.privacy import Guarantee, printed
from dpbandits.service.rows.records import ScopeRow


class Scope(NamedTuple):
    """A budget over campaigns, and how much of it campaigns have taken."""

    name: str
    epsilon: Fraction
    spent: Fraction

    @property
    def left(self) -> Fraction:
        """What further campaigns may take."""
        return self.epsilon - self.spent


def joined(scope: ScopeRow, campaign: str, guarantee: Guarantee | None) -> ScopeRow:
    """The scope once a campaign has joined it.

    Raises:
        ValueError: the campaign promises no epsilon, or more than is left.
    """
    if guarantee is None or guarantee.epsilon is None:
        raise ValueError(
            "Expected a policy with an epsilon: a scope adds up epsilons, and this one has none. "
            "Nothing was created."
        )
    cost, spent, most = guarantee.epsilon, Fraction(scope.spent), Fraction(scope.epsilon)
    if spent + cost > most:
        raise ValueError(
            f"The scope {scope.name!r} has a budget of {printed(most)}, of which its campaigns "
            f"took {printed(spent)}; {campaign!r} would take {printed(cost)} more. Nothing was "
            "created."
        )
    return scope._replace(spent=str(spent + cost))
