"""How far an arm's law is from one that would be best: what asymptotic lower bounds divide by."""

from __future__ import annotations

import math

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.core.privacy import Grid
from dpbandits.environments.base import Environment
from dpbandits.policies.formulas.divergences import d_eps, kl

FINE = Grid(steps=1024)  # the law's grid; 0/1 rewards are unchanged
SEARCH = 120  # golden sections, to the last bit
GOLD = (math.sqrt(5.0) - 1.0) / 2.0


def k_inf(values: Floats, probabilities: Floats, mean: float) -> float:
    """The least relative entropy of this law to a law on [0, 1] with a larger mean.

    max over 0 <= λ <= 1/(1 − mean) of E ln(1 − λ(X − mean)) (Honda and Takemura 2010), a concave
    function; kl for a 0/1 law.
    """
    if mean >= 1.0:
        return math.inf

    def gained(share: float) -> float:
        inside = 1.0 - share * (values - mean) / (1.0 - mean)
        return float(np.sum(probabilities * np.log(np.maximum(inside, 1e-300))))

    low, high = 0.0, 1.0
    for _ in range(SEARCH):
        a, b = high - GOLD * (high - low), low + GOLD * (high - low)
        low, high = (low, b) if gained(a) > gained(b) else (a, high)
    return max(0.0, gained((low + high) / 2.0))


class Distances:
    """Of every worse arm of an environment, how hard it is to rule out that it is the best.

    Of 0/1 laws: kl and d_eps, for policies consistent on 0/1 laws. Of others: K_inf, and the share
    p = Δ/(1 − μ) of rewards that must become 1, for policies consistent on all laws on [0, 1].
    """

    def __init__(self, environment: Environment) -> None:
        self.means, self.best = environment.means, float(environment.means.max())
        law = environment.lattice(FINE)
        self.known = law is not None
        if law is not None:
            used = law.probabilities.max(axis=0) > 0.0
            self.values = law.values[used] / FINE.steps
            self.probabilities = law.probabilities[:, used]
            self.coins = bool(np.all((self.values == 0.0) | (self.values == 1.0)))

    def worse(self) -> list[int]:
        return [arm for arm, mean in enumerate(self.means.tolist()) if mean < self.best]

    def entropy(self, arm: int) -> float:
        """kl or K_inf to the best mean."""
        if self.coins:
            return kl(float(self.means[arm]), self.best)
        return k_inf(self.values, self.probabilities[arm], self.best)

    def moved(self, arm: int) -> float:
        """The share of rewards that another law with the best mean differs in, at least."""
        gap = self.best - float(self.means[arm])
        return gap if self.coins else gap / (1.0 - float(self.means[arm]))

    def private(self, arm: int, epsilon: float) -> float:
        """d_eps, or the smaller of K_inf and epsilon·p."""
        if self.coins:
            return d_eps(float(self.means[arm]), self.best, epsilon)
        return min(self.entropy(arm), epsilon * self.moved(arm))
