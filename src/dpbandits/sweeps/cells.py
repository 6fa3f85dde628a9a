"""A cell: one policy in one environment at one budget. It is the unit of work, of storage and of
resuming. What it measures: regret curves of every run, and one row of facts.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl

from dpbandits.core.privacy import as_fraction, printed, spent
from dpbandits.environments import Environment
from dpbandits.policies.contract import Policy
from dpbandits.policies.sizes import problem_of
from dpbandits.session.saving.policy import policy_to_data
from dpbandits.simulation.arguments import default_checkpoints
from dpbandits.simulation.runs import Runs
from dpbandits.simulation.simulate import play_plain, simulate
from dpbandits.sweeps.digests import code_digest, digest_of, fingerprint, own_digest
from dpbandits.theory.bounds import lower_bound, regret_order, upper_bound
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


def checkpoints(rounds: int, at: list[int] | None) -> tuple[int, ...]:
    """The rounds to keep: those asked for up to `rounds`, and the last; about fifty where none were
    asked for.
    """
    if at is None:
        return tuple(default_checkpoints(rounds).tolist())
    return tuple(sorted({t for t in at if t <= rounds} | {rounds}))


LEDGER_ROUNDS = 2_000
"""Rounds played to read a ledger where every round costs time; batch policies play the whole
horizon.
"""

Facts = dict[str, Any]


def measure(cell: Cell, workers: int | None = 1, first: int = 0) -> tuple[pl.DataFrame, Facts]:
    """Play the cell's runs from number `first` on. The frame has a row for each run and kept round;
    see `curve_of`.
    """
    start = perf_counter()
    runs = simulate(
        cell.policy,
        cell.environment,
        cell.rounds,
        runs=cell.runs - first,
        seed=cell.seed,
        workers=workers,
        at=cell.at,
        shuffle=cell.shuffled,
        first=first,
    )
    frame = curve_of(runs, first)
    return frame, facts_of(cell) | {"seconds": perf_counter() - start}


def curve_of(runs: Runs, first: int = 0) -> pl.DataFrame:
    """Long table: run, round, regret up to that round, and the run's releases and events at its
    end.
    """
    regret = runs.regret(at=runs.checkpoints)
    count, marks = regret.shape
    return pl.DataFrame(
        {
            "run": np.repeat(np.arange(first, first + count, dtype=np.int32), marks),
            "round": np.tile(runs.checkpoints, count),
            "regret": regret.ravel(),
            "releases": np.repeat(runs.releases, marks),
            "events": np.repeat(runs.events, marks),
        }
    )


def facts_of(cell: Cell) -> Facts:
    """What is known of a cell beside its runs: theory, guarantee, and what a real ledger says was
    spent.
    """
    # bounds are for independent rounds
    guarantee, fixed = cell.policy.guarantee, cell.environment.fixed
    return {
        "class": type(cell.policy).__name__,
        "twin": cell.policy.about.twin,
        "paper": cell.policy.about.paper,
        "lower_bound": None
        if fixed
        else finite_or_none(lower_bound(cell.policy, cell.environment, cell.rounds)),
        "upper_bound": None
        if fixed
        else finite_or_none(upper_bound(cell.policy, cell.environment, cell.rounds)),
        "regret_order": None
        if fixed
        else finite_or_none(regret_order(cell.policy, cell.environment, cell.rounds)),
        "guarantee": None if guarantee is None else str(replace(guarantee, noise="simulated")),
        "claimed": None if guarantee is None else str(guarantee.cost),
        "spent": None if guarantee is None else text_of(ledger_total(cell)),
        "version": __version__,
    }


def ledger_total(cell: Cell) -> Fraction | None:
    """The exact total of run 0's ledger, played plainly through the real vault.

    Where plain play costs time every round, the first `LEDGER_ROUNDS` rounds stand for all (every
    reward costs the same), or as many more as the first release takes.
    """
    about = cell.policy.about
    slow = about.every_round or about.randomised or cell.environment.logged
    rounds = min(cell.rounds, LEDGER_ROUNDS) if slow else cell.rounds
    while True:
        path = play_plain(cell.policy, cell.environment, rounds, cell.seed, np.array([rounds]), 0)
        if path.releases or rounds == cell.rounds:
            return spent(path.ledger)
        rounds = min(cell.rounds, 4 * rounds)


def text_of(total: Fraction | None) -> str | None:
    return None if total is None else str(total)


def finite_or_none(value: float) -> float | None:
    """NaN (no bound is proved) as None, which JSON and tables can hold."""
    return value if np.isfinite(value) else None
