"""The table of every policy and what it can do."""

from __future__ import annotations

from typing import NamedTuple, final

from dpbandits.core.tables import aligned
from dpbandits.policies import POLICIES


class PolicyRow(NamedTuple):
    """One policy's capabilities, as declared by the policy."""

    name: str
    privacy: str  # none, pure, zCDP, local
    feedback: str  # bandit: the played arm's reward; full: every action's
    paper: str
    algorithm: str
    bound: str
    horizon: bool  # must be known
    releases: str  # "every round" or "by batches"
    randomised: bool
    twin: str  # non-private counterpart
    chooses: bool  # among some of its arms: eligible=, arms that come and go


@final
class PolicyRows(tuple[PolicyRow, ...]):
    """Policies with their capabilities, which print as a table."""

    __slots__ = ()

    def __repr__(self) -> str:
        rows = [(row.name, row.privacy, row.feedback, row.releases, row.paper) for row in self]
        return aligned([("name", "privacy", "feedback", "releases", "paper"), *rows], left=5)

    __str__ = __repr__


def list_policies() -> PolicyRows:
    """Every policy with its capabilities, non-private ones first. A tuple of `PolicyRow`, which
    prints as a table.

    >>> [row.name for row in list_policies() if row.privacy == "zCDP"]
    ['AdaCUCB']
    """
    return PolicyRows(
        PolicyRow(
            name=name,
            privacy=about.privacy,
            feedback=about.feedback,
            paper=about.paper,
            algorithm=about.algorithm,
            bound=about.bound,
            horizon=about.needs_horizon,
            releases="every round" if about.every_round else "by batches",
            randomised=about.randomised,
            twin=about.twin,
            chooses=cls.chooses,
        )
        for name, cls, about in ((name, cls, cls.about) for name, cls in POLICIES.items())
    )
