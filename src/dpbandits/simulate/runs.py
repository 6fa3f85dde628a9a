"""What a simulation returns: integer play counts, from which everything else follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from dpbandits.environments.base import Environment, Floats, Integers
from dpbandits.policy import Policy
from dpbandits.privacy import Guarantee

Recompute = Callable[[Integers], Integers]
"""Play counts, shape (runs, checkpoints, arms), of the same runs at other checkpoints."""


@final
@dataclass(frozen=True, eq=False)
class Runs:
    """Independent runs of one policy in one environment.

    plays: play counts at the end, shape (runs, arms). releases, events: counts per run, shape (runs,).
    lengths: rounds played, shape (runs,); below `rounds` only where a log ran out. acceptance: of a replayed log, else None.
    """

    policy: Policy
    environment: Environment
    rounds: int
    seed: int
    checkpoints: Integers
    counts: Integers  # (runs, checkpoints, arms)
    releases: Integers
    events: Integers
    lengths: Integers
    acceptance: Floats | None = None
    recompute: Recompute | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return f"Runs({self.policy.name}, rounds={self.rounds}, runs={len(self.counts)}, seed={self.seed})"

    @property
    def plays(self) -> Integers:
        return self.counts[:, -1]

    @property
    def guarantee(self) -> Guarantee | None:
        """The policy's guarantee, marked as simulated."""
        guarantee = self.policy.guarantee
        return None if guarantee is None else replace(guarantee, noise="simulated")

    def plays_at(self, at: Sequence[int] | NDArray[np.int64]) -> Integers:
        """Play counts after the given rounds, shape (runs, len(at), arms).

        Rounds other than `checkpoints` are found by playing the same seeded runs again: exact, nothing is interpolated.

        Raises:
            ValueError: a round outside 1 … `rounds`.
        """
        wanted = np.asarray(at, dtype=np.int64)
        if wanted.ndim != 1 or np.any(wanted < 1) or np.any(wanted > self.rounds):
            raise ValueError(f"Expected at= to be a list of rounds from 1 to {self.rounds}, got {at!r}.")
        order = np.unique(wanted)
        if np.isin(order, self.checkpoints).all():
            return self.counts[:, np.searchsorted(self.checkpoints, wanted)]
        if self.recompute is None:
            raise ValueError(f"These runs were stored at rounds {self.checkpoints.tolist()} only.")
        return self.recompute(order)[:, np.searchsorted(order, wanted)]

    def regret(self, at: Sequence[int] | NDArray[np.int64] | None = None) -> Floats:
        """Pseudo-regret Σ_t (best mean − mean played): shape (runs, len(at)), or (runs,) at the end if `at` is None."""
        plays = self.plays if at is None else self.plays_at(at)
        regret: Floats = plays @ self.environment.gaps
        return regret

    def quantiles(self, q: Sequence[float] | float, at: Sequence[int] | None = None) -> Floats:
        """Quantiles of the regret over runs, shape (len(q), …); q = 1 is the worst run."""
        return np.quantile(self.regret(at), q, axis=0, method="higher")

    def summary(self) -> dict[str, float]:
        """Mean, its standard error, median, 99 %, 99.9 % and worst regret at the end; mean releases and events."""
        regret = self.regret()
        median, q99, q999, worst = self.quantiles([0.5, 0.99, 0.999, 1.0])
        error = regret.std(ddof=1) / np.sqrt(len(regret)) if len(regret) > 1 else np.nan
        return {
            "mean": float(regret.mean()),
            "error": float(error),
            "median": float(median),
            "q99": float(q99),
            "q999": float(q999),
            "worst": float(worst),
            "releases": float(self.releases.mean()),
            "events": float(self.events.mean()),
        }
