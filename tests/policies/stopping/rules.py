"""Every stopping rule with small parameters, and the tail of its noise."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.policies.stopping import StoppingRule

RULES: tuple[tuple[type[Any], dict[str, Any]], ...] = (
    (dpb.NAS, {}),
    (dpb.DPNAS, {"epsilon": 1}),
    (dpb.DPExponentialNAS, {"epsilon": 1}),
)


def built(**kwargs: Any) -> list[StoppingRule]:
    return [
        cls(**{"alpha": 0.5, "beta": 0.05, "cap": 10**6, "grid": 1} | own | kwargs)
        for cls, own in RULES
    ]


EVERY = pytest.mark.parametrize("rule", built(), ids=lambda rule: rule.name)


def upper(scale: float, x: int) -> float:
    """P[discrete Laplace >= x]."""
    p = math.exp(-1 / scale)
    return p**x / (1 + p) if x > 0 else 1 - p ** (1 - x) / (1 + p)
