"""The result of `simulate`: the regret of every run at checkpoints, and curves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from dpbandits.core.inputs import Floats, Integers, numbers_in, shown
from dpbandits.core.privacy import Guarantee
from dpbandits.core.tables import FigureTable, Tabular
from dpbandits.environments.base import Environment
from dpbandits.policies.contract import Policy, problem_of

# The result of a simulation: integer play counts, from which all figures follow.


RegretKind = Literal["pseudo", "hindsight"]
"""Pseudo-regret, or regret against the best fixed arm in hindsight (see `Runs.regret`)."""


class Kept(NamedTuple):
    """Counts of runs at checkpoints (see `Runs`).

    Args:
        counts: shape (runs, checkpoints, arms).
        earned: shape (runs, checkpoints), or None.
        rewards: shape (runs, checkpoints), or None.
    """

    counts: Integers
    earned: Floats | None
    rewards: Floats | None


Recompute = Callable[[Integers], Kept]
"""Plays the same runs with other checkpoints."""


@final
@dataclass(frozen=True, eq=False)
class Runs(Tabular):
    """Independent runs of one policy in one environment.

    As a table it has a row for each run and kept round: run (from 0), round, regret, and plays, a
    list with a count for each arm.

    Attributes:
        policy: the policy.
        environment: the environment.
        rounds: number of rounds.
        seed: seed of all runs.
        checkpoints: kept rounds, shape (checkpoints,).
        counts: play counts, shape (runs, checkpoints, arms).
        releases: number of releases, shape (runs,).
        events: number of choices, shape (runs,). If arms are drawn in each round, a plain run has
            one a round, and a compiled run one for each streak of rounds that it plays at once.
        lengths: rounds played, shape (runs,); below `rounds` only if a log ended.
        acceptance: share of accepted entries of a replayed log, shape (runs,); else None.
        earned: expected value of the super arms played, shape (runs, checkpoints), if it is not a
            sum over arms; of what was played with contexts, or where means change; else None.
        recompute: plays the same runs with other checkpoints; None for stored runs.
        rewards: played rewards, shape (runs, checkpoints), if the environment fixes all rewards
            beforehand (a Table in its order); else None, because sums of independent rounds are
            drawn for releases only.
    """

    policy: Policy
    environment: Environment
    rounds: int
    seed: int
    checkpoints: Integers
    counts: Integers
    releases: Integers
    events: Integers
    lengths: Integers
    acceptance: Floats | None = None
    earned: Floats | None = None
    rewards: Floats | None = None
    recompute: Recompute | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"Runs({self.policy.name}, rounds={self.rounds}, runs={len(self.counts)}, "
            f"seed={self.seed})"
        )

    @property
    def plays(self) -> Integers:
        """Play counts at the end, shape (runs, arms)."""
        return self.counts[:, -1]

    @property
    def guarantee(self) -> Guarantee | None:
        """The policy's guarantee, marked as simulated."""
        guarantee = self.policy.guarantee
        return None if guarantee is None else replace(guarantee, noise="simulated")

    def plays_at(self, at: Sequence[int] | NDArray[np.int64]) -> Integers:
        """Return play counts after the given rounds, shape (runs, len(at), arms).

        For rounds other than `checkpoints` the same seeded runs are played again, so the counts are
        exact.

        Args:
            at: rounds, each from 1 to `rounds`, shape (at,).

        Raises:
            ValueError: a round outside 1 … `rounds`.
        """
        return self._at(at).counts

    def rewards_at(self, at: Sequence[int] | NDArray[np.int64]) -> Floats:
        """Return played rewards up to the given rounds, shape (runs, len(at)), for a Table in its
        order.

        Raises:
            ValueError: a round outside 1 … `rounds`, or an environment that does not fix its
                rewards beforehand.
        """
        rewards = self._at(at).rewards
        if rewards is None:
            raise ValueError(
                "Expected a Table played in its order; realised rewards are not kept for "
                f"{self.environment!r:.80}."
            )
        return rewards

    def _at(self, at: Sequence[int] | NDArray[np.int64]) -> Kept:

        wanted = checked_rounds(at, self.rounds)
        order = np.unique(wanted)
        if np.isin(order, self.checkpoints).all():
            known = np.searchsorted(self.checkpoints, wanted)
            return at_checkpoints(Kept(self.counts, self.earned, self.rewards), known)
        if self.recompute is None:
            raise ValueError(f"These runs were stored at rounds {self.checkpoints.tolist()} only.")
        return at_checkpoints(self.recompute(order), np.searchsorted(order, wanted))

    @property
    def kind(self) -> RegretKind:
        """The default kind of `regret`: "hindsight" if realised rewards are kept, else "pseudo"."""
        return "pseudo" if self.rewards is None else "hindsight"

    def regret(
        self, at: Sequence[int] | NDArray[np.int64] | None = None, kind: RegretKind | None = None
    ) -> Floats:
        """Return the regret after the given rounds.

        There are two kinds, in units of reward:

        * "pseudo": the pseudo-regret Σ_t (best mean − mean played), for independent rounds. For a
        Table in its order the means are those of whole columns, so it ignores losses due to the
        order.
        * "hindsight": the regret against the best fixed arm in hindsight, max_a Σ_t x_{t,a} − Σ_t
        x_{t,a_t}, of realised rewards up to that round, for a Table in its order. It can be
        negative: a policy may be better than every fixed arm.

        With super arms, it is αβ times the value of the best super arm minus the value of the
        played ones; (α, β) are the oracle's. In a `ContextTable` it is against the best arm for
        each visitor, of every policy; where means change (`ChangingMeans`), against the best arm of
        each round (dynamic regret).

        Args:
            at: rounds; None for the end.
            kind: "pseudo" or "hindsight"; None for the environment's default, `self.kind`.

        Returns:
            Shape (runs, len(at)), or (runs,) if `at` is None: then at the end of each run. NaN at
            rounds after the end of a log.

        Raises:
            ValueError: a round outside 1 … `rounds`, another kind, or "hindsight" where realised
                rewards are not kept.
        """
        kind = kind or self.kind
        if kind not in ("pseudo", "hindsight"):
            raise ValueError(f"Expected kind= 'pseudo' or 'hindsight', got {kind!r}.")
        wanted = self.checkpoints[-1:] if at is None else checked_rounds(at, self.rounds)
        regret = self._pseudo(wanted) if kind == "pseudo" else self._hindsight(wanted)
        if at is None:
            return regret[:, 0]
        return np.where(wanted > self.lengths[:, None], np.nan, regret)

    def _pseudo(self, wanted: Integers) -> Floats:
        kept, rounds = self._at(wanted), np.minimum(wanted, self.lengths[:, None])
        problem, means = problem_of(self.policy), self.environment.means
        if problem is None and kept.earned is not None:
            return np.asarray(self.environment.best_until(rounds) - kept.earned)
        if problem is None:  # and what the best arm of all is behind the best for each visitor
            behind = self.environment.best_until(rounds) - means.max() * rounds
            return np.asarray(kept.counts @ self.environment.gaps + behind)
        earned = kept.earned
        if earned is None:
            earned = kept.counts @ (means - 1.0 if problem.costs else means)
        return np.asarray(problem.alpha * problem.beta * problem.optimum(means) * rounds - earned)

    def _hindsight(self, wanted: Integers) -> Floats:
        rewards, problem = self.rewards_at(wanted), problem_of(self.policy)
        everyone = np.arange(self.environment.arms)
        totals = [self.environment.between(0, int(t), everyone) for t in wanted]
        if problem is None:
            return np.array([total.max() for total in totals]) - rewards
        best = [
            problem.alpha * problem.beta * problem.optimum(total / t) * t
            for total, t in zip(totals, wanted, strict=True)
        ]
        return np.array(best) - (
            rewards - self.plays_at(wanted).sum(axis=2) if problem.costs else rewards
        )

    def quantiles(self, q: Sequence[float] | float, at: Sequence[int] | None = None) -> Floats:
        """Return quantiles of the regret over runs, shape (len(q), …); q = 1 is the worst run.

        Args:
            q: one number in [0, 1], or several.
            at: rounds; None: the end (see `regret`).
        """
        levels = numbers_in(q, "q")
        if levels.ndim > 1 or not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(
                f"Expected q={shown(q)} to be one number in [0, 1], or a list of them; 0.99 is "
                "the 99 % quantile."
            )
        return np.quantile(self.regret(at), levels, axis=0, method="higher")

    def summary(self) -> FigureTable:
        """Return mean, standard error, median, 99 %, 99.9 % and worst regret at the end, and mean
        releases and events, as a dict that prints as a table.
        """
        regret = self.regret()
        median, q99, q999, worst = self.quantiles([0.5, 0.99, 0.999, 1.0])
        error = regret.std(ddof=1) / np.sqrt(len(regret)) if len(regret) > 1 else np.nan
        figures = {
            "mean": float(regret.mean()),
            "error": float(error),
            "median": float(median),
            "q99": float(q99),
            "q999": float(q999),
            "worst": float(worst),
            "releases": float(self.releases.mean()),
            "events": float(self.events.mean()),
        }
        title = f"Regret of {self.policy.name} after {self._played} rounds, {len(regret)} runs"
        return FigureTable.of_runs(figures, title, len(regret))

    @property
    def _played(self) -> str:
        """How many rounds were played, in words."""
        least, most = int(self.lengths.min()), int(self.lengths.max())
        if least == self.rounds:
            return f"{self.rounds:,}"
        span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        return f"{span} of {self.rounds:,}"

    def _columns(self) -> dict[str, Any]:
        runs, kept, arms = self.counts.shape
        return {
            "run": np.repeat(np.arange(runs), kept),
            "round": np.tile(self.checkpoints, runs),
            "regret": self.regret(self.checkpoints).ravel(),
            "plays": self.counts.reshape(runs * kept, arms).tolist(),
        }


def at_checkpoints(kept: Kept, where: NDArray[np.intp]) -> Kept:
    """Return these checkpoints of the counts."""
    columns: Any = (None if array is None else array[:, where] for array in kept)
    return Kept(*columns)


def checked_rounds(at: object, last: int) -> Integers:
    """Return a list of rounds from 1 to `last`, shape (len(at),)."""
    try:
        wanted = numbers_in(at, "at")
    except ValueError:
        wanted = np.empty((0, 0))
    if wanted.ndim != 1 or not np.all(
        (wanted >= 1) & (wanted <= last) & (wanted == np.rint(wanted))
    ):
        raise ValueError(
            f"Expected at={shown(at)} to be a list of rounds, whole numbers from 1 to {last}; "
            f"for example at=[{last}]."
        )
    return np.asarray(at, dtype=np.int64)
