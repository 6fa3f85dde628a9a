"""A cell: one policy in one environment at one budget. It is the unit of work, of storage and of
resuming.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import getfile
from pathlib import Path
from typing import Any

import numpy as np

from dpbandits.core.privacy import as_fraction, printed
from dpbandits.environments import Environment
from dpbandits.policies import POLICIES
from dpbandits.policies.contract import Policy
from dpbandits.policies.sizes import problem_of
from dpbandits.session.saving.policy import policy_to_data
from dpbandits.simulation.arguments import default_checkpoints
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
        budget = (
            f", ε = {printed(as_fraction(self.epsilon, 'epsilon'))}"
            if self.epsilon is not None
            else ""
        )
        return f"{self.label} in {self.setting}{budget}"


def digest_of(data: Any) -> str:
    """A hash of plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


@cache
def code_digest() -> str:
    """A hash of the whole package's code: within one version, too, an edited formula must not find
    old results.
    """
    modules = sorted(Path(__file__).parents[1].rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in modules)).hexdigest()


@cache
def own_digest(cls: type[Policy]) -> str:
    """A hash of the file that a policy of the user's own is written in; empty for ours."""
    if POLICIES.get(cls.__name__) is cls:
        return ""
    try:
        return hashlib.sha256(Path(getfile(cls)).read_bytes()).hexdigest()
    except (TypeError, OSError):  # made where there is no file
        return "no file"


def fingerprint(environment: Environment) -> dict[str, Any]:
    """The environment's class and its public data; arrays by their hash."""
    public = {name: value for name, value in vars(environment).items() if not name.startswith("_")}
    return {"class": type(environment).__name__} | {
        name: hashed(value) for name, value in sorted(public.items())
    }


def hashed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [
            str(value.dtype),
            list(value.shape),
            hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest(),
        ]
    return value if isinstance(value, (bool, int, float, str)) else repr(value)


def checkpoints(rounds: int, at: list[int] | None) -> tuple[int, ...]:
    """The rounds to keep: those asked for up to `rounds`, and the last; about fifty where none were
    asked for.
    """
    if at is None:
        return tuple(default_checkpoints(rounds).tolist())
    return tuple(sorted({t for t in at if t <= rounds} | {rounds}))


Facts = dict[str, Any]
"""One row of what is known of a cell beside its runs."""
