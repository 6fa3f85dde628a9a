"""Every stopping rule with small parameters, and the tail of its noise."""

import math
from typing import Any

import pytest

import dpbandits as dpb

OWN: dict[str, Any] = {"alpha": 0.5, "beta": 0.05, "cap": 10**6, "grid": 1}
EVERY = pytest.mark.parametrize(
    "rule",
    [dpb.NAS(**OWN), dpb.DPNAS(epsilon=1, **OWN), dpb.DPExponentialNAS(epsilon=1, **OWN)],
    ids=lambda rule: rule.name,
)


def upper(scale: float, x: int) -> float:
    """P[discrete Laplace >= x]."""
    p = math.exp(-1 / scale)
    return p**x / (1 + p) if x > 0 else 1 - p ** (1 - x) / (1 + p)
