"""A budget over campaigns. Each campaign is an interactive mechanism, and they compose: the sum of
their guarantees is at most the budget (Haney et al. 2023). Only guarantees of one kind are added:
the first campaign of a scope fixes the kind.
"""

from datetime import timedelta
from fractions import Fraction
from typing import NamedTuple

from dpbandits.core.privacy import Guarantee, printed
from dpbandits.service.rows.records import ScopeKind, ScopeRow


class Scope(NamedTuple):
    """A budget over campaigns, and how much of it campaigns have taken.

    unit, window, trust, noise: what the epsilons of its campaigns are about, fixed by the first
        campaign; None before it. unit: "round" or "user". window: of contributions, None where a
        cap is for ever. trust: "central" or "local". noise: "secure" or "simulated".
    """

    name: str
    epsilon: Fraction
    spent: Fraction
    unit: str | None = None
    window: timedelta | None = None
    trust: str | None = None
    noise: str | None = None

    @property
    def left(self) -> Fraction:
        """What further campaigns may take."""
        return self.epsilon - self.spent


def scope_of(row: ScopeRow) -> Scope:
    """A scope as callers see it."""
    window = None if row.window is None else timedelta(seconds=row.window)
    known = row.name, Fraction(row.epsilon), Fraction(row.spent)
    return Scope(*known, row.unit, window, row.trust, row.noise)


def joined(
    scope: ScopeRow, campaign: str, guarantee: Guarantee | None, window: timedelta | None
) -> ScopeRow:
    """The scope once a campaign has joined it.

    window: of the campaign's contributions.

    Raises:
        ValueError: the campaign has no epsilon, or more than is left, or its guarantee is of
            another kind than those of the scope.
    """
    if guarantee is None or guarantee.epsilon is None:
        raise ValueError(
            "Expected a policy with an epsilon: a scope adds up epsilons, and this one has none. "
            "Nothing was created."
        )
    cost, spent, most = guarantee.epsilon, Fraction(scope.spent), Fraction(scope.epsilon)
    seconds = None if window is None else window.total_seconds()
    kind = ScopeKind(guarantee.unit, seconds, guarantee.trust, guarantee.noise)
    if scope.unit is not None and scope.kind != kind:
        raise ValueError(
            f"The scope {scope.name!r} adds up guarantees {words_of(scope.kind)}, which its first "
            f"campaign fixed; {campaign!r} has one {words_of(kind)}. Make another scope for it. "
            "Nothing was created."
        )
    if spent + cost > most:
        raise ValueError(
            f"The scope {scope.name!r} has a budget of {printed(most)}, of which its campaigns "
            f"took {printed(spent)}; {campaign!r} would take {printed(cost)} more. Nothing was "
            "created."
        )
    if scope.unit is None and spent:
        raise ValueError(
            f"The scope {scope.name!r} was begun by an earlier version, which did not record what "
            f"its guarantees are about. Make another scope for {campaign!r}. Nothing was created."
        )
    return scope._replace(spent=str(spent + cost), **kind._asdict())


def words_of(kind: ScopeKind) -> str:
    """A kind of guarantee in words.

    >>> words_of(ScopeKind("user", 604800.0, "central", "secure"))
    'per user and window of 7 days, central trust, secure noise'
    """
    span = ""
    if kind.window is not None:
        span = f" and window of {timedelta(seconds=kind.window)}".removesuffix(", 0:00:00")
    return f"per {kind.unit}{span}, {kind.trust} trust, {kind.noise} noise"
