"""What a cell comes to: regret curves of every run, and one row of facts."""

from dataclasses import replace
from fractions import Fraction
from time import perf_counter

import numpy as np
import polars as pl

from dpbandits.core.privacy import printed_epsilon, spent
from dpbandits.simulation.runs import Runs
from dpbandits.simulation.simulate import play_plain, simulate
from dpbandits.sweeps.cells import Cell, Facts
from dpbandits.theory import lower_bound, regret_order, upper_bound
from dpbandits.version import __version__

LEDGER_ROUNDS = 2_000
"""Rounds played to read a ledger where every round costs time; batch policies play the whole
horizon.
"""


def measure(cell: Cell, workers: int | None = 1, first: int = 0) -> tuple[pl.DataFrame, Facts]:
    """Play the cell's runs from number `first` on. The frame has a row for each run and kept round;
    see `curve_of`.

    An error has a note that says which cell it came from.
    """
    try:
        return measured(cell, workers, first)
    except Exception as error:
        budget = "" if cell.epsilon is None else f" at ε = {printed_epsilon(cell.epsilon)}"
        error.add_note(f"{cell.label}{budget} on {cell.setting}.")
        raise


def measured(cell: Cell, workers: int | None, first: int) -> tuple[pl.DataFrame, Facts]:
    """See `measure`."""
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
