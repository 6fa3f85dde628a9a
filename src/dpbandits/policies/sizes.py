"""How a policy knows over what it decides."""

from dataclasses import fields

from dpbandits.oracles.base import DecisionSet
from dpbandits.policies.contract import Policy


def problem_of(policy: Policy) -> DecisionSet | None:
    """Which super arms it may play (its field `problem`); None for a policy that plays single
    arms.
    """
    problem: DecisionSet | None = getattr(policy, "problem", None)
    return problem


def size_argument(cls: type[Policy]) -> str | None:
    """By which argument a constructor learns the number of arms: problem, actions or arms; None
    where it is always one.
    """
    takes = {field.name for field in fields(cls) if field.init}
    return next((name for name in ("problem", "actions", "arms") if name in takes), None)
