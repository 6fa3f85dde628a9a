"""Real data as an environment: a log of decisions somebody else made."""

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbandits.core.arrays import Integers
from dpbandits.core.errors import EnvironmentExhausted
from dpbandits.core.inputs import MOST_ARMS, numbers_in, whole_number
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment


@final
class LoggedReplay(Environment):
    """Replay of logged decisions by rejection sampling (Li, Chu, Langford and Wang 2011): unbiased
    under random logging.

    A round walks down the log to the next entry whose action is the policy's; entries passed over
    are lost. Under uniform logging one entry in `arms` is accepted. Other propensities are evened
    out: an entry with propensity p is first kept with probability (smallest propensity)/p.

    actions, rewards: shape (entries,). propensities: shape (entries,), the logging policy's
        probability of what it did.
    """

    logged = True

    def __init__(
        self,
        actions: ArrayLike,
        rewards: ArrayLike,
        *,
        arms: int,
        propensities: ArrayLike | None = None,
    ) -> None:
        arms = whole_number(arms, "arms", 1, MOST_ARMS)
        self.actions = whole_actions(actions, arms)
        self.rewards = numbers_in(rewards, "rewards", secret=True)
        n = len(self.actions)
        if self.rewards.shape != (n,):
            raise ValueError(
                f"Expected a reward for each of the {n} actions, got shape {self.rewards.shape}."
            )
        outside = np.flatnonzero(~((self.rewards >= 0) & (self.rewards <= 1)))
        if len(outside):
            raise ValueError(
                f"Expected rewards in [0, 1]; that of entry {outside[0]} is not (rescale, or "
                "drop what is missing)."
            )
        self.keep = self._keep(propensities, n)
        # Kept entries are what a policy meets, so they count in the means as often as they are
        # kept.
        self.means = np.bincount(self.actions, self.rewards * self.keep, arms) / np.bincount(
            self.actions, self.keep, arms
        )
        self._next = self.accepted = 0

    def __repr__(self) -> str:
        return f"LoggedReplay(entries={len(self.actions)}, arms={self.arms})"

    @property
    def acceptance(self) -> float:
        """Accepted entries over entries walked, so far; NaN before the first."""
        return self.accepted / self._next if self._next else float("nan")

    @property
    def expected_acceptance(self) -> float:
        """The rate a policy should see: (mean probability of being kept)/arms."""
        return float(self.keep.mean()) / self.arms

    def fresh(self) -> Self:
        return self._with(_next=0, accepted=0)

    def draw(self, action: int, rng: np.random.Generator) -> float:
        while self._next < len(self.actions):
            i = self._next
            self._next += 1
            if self.actions[i] == action and (self.keep[i] >= 1 or rng.random() < self.keep[i]):
                self.accepted += 1
                return float(self.rewards[i])
        raise EnvironmentExhausted(f"The log of {len(self.actions)} entries is used up.")

    def block(self, action: int, rounds: int, grid: Grid, rng: np.random.Generator) -> int:
        raise TypeError(
            "A log is replayed round by round: which entry comes next depends on every earlier "
            "action."
        )

    @staticmethod
    def _keep(propensities: ArrayLike | None, n: int) -> NDArray[np.float64]:
        if propensities is None:
            return np.ones(n)
        p = numbers_in(propensities, "propensities")
        if p.shape != (n,) or not np.all((p > 0) & (p <= 1)):
            raise ValueError(
                f"Expected {n} propensities in (0, 1], one an entry; got shape {p.shape}, or one "
                "outside."
            )
        return np.asarray(p.min() / p)


def whole_actions(actions: ArrayLike, arms: int) -> Integers:
    """A non-empty vector of arm numbers, each of which occurs."""
    try:
        given = np.asarray(actions)
    except ValueError:
        raise ValueError(
            "Expected actions to be a list of whole numbers, got lists of unequal length."
        ) from None
    if given.ndim != 1 or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(
            f"Expected actions to be a non-empty list of whole numbers, got shape {given.shape} "
            f"of {given.dtype}."
        )
    if given.min() < 0 or given.max() >= arms:
        raise ValueError(
            f"Expected actions from 0 to {arms - 1}, found {given.min()} to {given.max()}."
        )
    whole: Integers = given.astype(np.int64)
    counts = np.bincount(whole, minlength=arms)
    if counts.min() == 0:
        raise ValueError(
            f"Arm {counts.argmin()} never occurs in the log: nothing can be replayed for it."
        )
    return whole
