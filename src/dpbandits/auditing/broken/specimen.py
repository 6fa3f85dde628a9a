"""What a specimen is, and how one is made of an honest policy. Everything in this folder is BROKEN
ON PURPOSE: it tests auditors.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, final

from dpbandits.mechanisms import Answer, Mechanism, Pure
from dpbandits.policies.contract import Policy

ONE = Fraction(1)


@final
@dataclass(frozen=True)
class Specimen:
    """A broken thing an auditor must catch.

    make: makes the subject itself: a policy or a bare mechanism.
    caught_by: the level that must fail it: "transcript", "exact law", "statistical" or "report
        law".
    truth: what it really promises.
    claim: the epsilon it claims; None: what it promises itself, which may be a rho.
    """

    name: str
    what: str
    make: Callable[[], Any]
    caught_by: str
    truth: str
    claim: Fraction | None = Fraction(1)


def with_mechanism(honest: Policy, breaks: Callable[[Any], Mechanism]) -> Policy:
    """The same policy on a broken mechanism. `breaks` is given the honest one, so a smaller version
    of the policy is broken, too.
    """
    cls = type(honest)

    def mechanism(self: Any) -> Mechanism:
        return breaks(cls.mechanism(self))

    broken = type(
        f"Broken{cls.__name__}", (cls,), {"mechanism": mechanism, "__doc__": "BROKEN ON PURPOSE."}
    )
    made: Policy = broken(**{f.name: getattr(honest, f.name) for f in fields(honest) if f.init})
    return made


@dataclass(frozen=True, kw_only=True)
class Dishonest(Pure):
    """A mechanism for one arm that promises epsilon and does not keep it. Says whose proof it
    borrows.
    """

    proof = "lazy_forgetful"

    def said(self, total: int, rounds: int, draws: int) -> Answer:
        return Answer(total / self.grid.steps, rounds, draws)
