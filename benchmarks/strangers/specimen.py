"""What is said of a specimen before it is audited."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Specimen(NamedTuple):
    """Something to audit, and what is true of it.

    kind: of what it is. what: is wrong with it, or odd. claim: the epsilon it is held to.
    truth: its true loss. right: whether the claim holds.
    """

    name: str
    kind: str
    what: str
    subject: Any
    claim: float
    truth: str
    right: bool = False
    arms: int | None = None


def two_sided(rng: np.random.Generator, scale: float) -> int:
    """Discrete Laplace noise, P[z] proportional to e^(−|z|/scale)."""
    return int(rng.exponential(scale)) - int(rng.exponential(scale))


def tenths(reward: float) -> int:
    return round(10 * float(reward))
