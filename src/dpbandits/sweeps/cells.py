"""A cell: one policy in one environment at one budget. It is the unit of work, of storage and of
resuming.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpbandits.core.privacy import printed_epsilon
from dpbandits.environments import Environment
from dpbandits.policies.contract import Policy, problem_of
from dpbandits.session.saving import policy_to_data
from dpbandits.simulation.simulate import default_checkpoints
from dpbandits.sweeps.digests import code_digest, digest_of, fingerprint, own_digest
from dpbandits.version import __version__


@dataclass(frozen=True, eq=False)
class Cell:
    """Everything that determines one result, and the names it goes by in tables and figures.

    label: of the policy. setting: the environment's name. epsilon: None without privacy, or under
        zCDP (then `rho` is set).
    at: the rounds at which regret is kept; the last is `rounds`.
    """

    label: str
    setting: str
    policy: Policy
    environment: Environment
    epsilon: float | None
    rho: float | None
    rounds: int
    runs: int
    seed: int
    at: tuple[int, ...]

    @property
    def shuffled(self) -> bool:
        """Whether every run numbers the arms anew: always, but for super arms, whose problem names
        its arms.
        """
        return problem_of(self.policy) is None

    @property
    def hindsight(self) -> bool:
        """Whether regret is that against the best fixed arm in hindsight; else it is pseudo-regret
        (see `Runs.kind`).
        """
        problem = problem_of(self.policy)
        return self.environment.fixed and (problem is None or problem.linear)

    @cached_property
    def key(self) -> str:
        """A hash of all that determines a run's numbers, this package's version and code included;
        names and `runs` do not.
        """
        parts = self.work | {
            "version": __version__,
            "code": code_digest(),
            "own code": own_digest(type(self.policy)),
        }
        return digest_of(parts)[:20]

    @property
    def work(self) -> dict[str, Any]:
        """What is to be played, whatever code plays it."""
        return {
            "policy": policy_to_data(self.policy),
            "environment": fingerprint(self.environment),
            "rounds": self.rounds,
            "seed": self.seed,
            "at": self.at,
            "shuffled": self.shuffled,
        }

    def __str__(self) -> str:
        budget = "" if self.epsilon is None else f", ε = {printed_epsilon(self.epsilon)}"
        return f"{self.label} in {self.setting}{budget}"


def checkpoints(rounds: int, at: list[int] | None) -> tuple[int, ...]:
    """The rounds to keep: those asked for up to `rounds`, and the last; about fifty where none were
    asked for.
    """
    if at is None:
        return tuple(default_checkpoints(rounds).tolist())
    return tuple(sorted({t for t in at if t <= rounds} | {rounds}))


Facts = dict[str, Any]
"""One row of what is known of a cell beside its runs."""
