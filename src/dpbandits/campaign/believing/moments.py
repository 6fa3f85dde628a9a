"""The noise inside released totals: its logarithmic moments and its variance, by the kinds of draws
that a mechanism says are there.

Source: THEORY of joint releases, proofs/beliefs.md. The moments are those of the continuous laws,
which are no smaller than the discrete ones'.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from dpbandits.core.arrays import Floats
from dpbandits.mechanisms.meaning import AnswerLaw, NoiseDraws
from dpbandits.policies.formulas.joint import joint_variance, log_moment

WIDER = 1.0 + 2.0**-40
"""Scales of noise are rounded up where they are drawn, by less than this."""

LARGEST_THETA = 16.0
"""No theta beyond is of use: e^−16 is nothing beside a mean."""

HALVINGS, NEAR = 2.0 ** -np.arange(16.0), 1.0 - 2.0 ** -np.arange(2.0, 8.0)


def thetas(law: AnswerLaw) -> Floats:
    """The 16 fixed values at which bounds are computed, shape (16,): by halves from the largest of
    use; where the noise's moments end before that, by halves of that end, and six close to it.
    """
    if law.family in ("laplace", "joint"):
        if law.price <= 2.0:
            return law.price * np.concatenate([HALVINGS[1:11], NEAR])
        if law.price < 2.0 * LARGEST_THETA:
            return law.price * HALVINGS / 2.0
    return LARGEST_THETA * HALVINGS


def draw_moment(law: AnswerLaw, kind: int, theta: float) -> float:
    """ln E e^(theta z) of one draw, infinite from where it does not exist."""
    if law.family == "gaussian":
        return theta * theta * kind * WIDER / (4.0 * law.price)
    wide = kind if law.family == "laplace" else 1
    share = theta * wide * WIDER / law.price
    if share >= 1.0:
        return math.inf
    return log_moment(1 if law.family == "laplace" else kind, share)


def draw_variance(law: AnswerLaw, kind: int) -> float:
    """Of one draw, in squared reward units."""
    match law.family:
        case "gaussian":
            return kind / (2.0 * law.price)
        case "joint":
            return joint_variance(kind, law.price)
        case _:
            return 2.0 * kind * kind / (law.price * law.price)


def draws_variance(law: AnswerLaw, draws: NoiseDraws) -> float:
    return math.fsum(count * draw_variance(law, kind) for kind, count in draws)


class NoiseMoments:
    """The moments of all draws of one law at its 16 thetas; each kind's are computed once."""

    def __init__(self, law: AnswerLaw) -> None:
        self.law, self.thetas = law, thetas(law)
        self._known: dict[int, Floats] = {}

    def of(self, draws: NoiseDraws) -> Floats:
        """ln E e^(theta z) of all these draws together, shape (16,)."""
        total = np.zeros(len(self.thetas))
        for kind, count in draws:
            if count > 0:
                total += count * self._kind(kind)
        return total

    def of_each(self, several: Iterable[NoiseDraws]) -> Floats:
        """The same, a row for each."""
        rows = [self.of(draws) for draws in several]
        return np.stack(rows) if rows else np.zeros((0, len(self.thetas)))

    def _kind(self, kind: int) -> Floats:
        found = self._known.get(kind)
        if found is None:
            each = [draw_moment(self.law, kind, float(theta)) for theta in self.thetas]
            found = self._known[kind] = np.array(each)
        return found
