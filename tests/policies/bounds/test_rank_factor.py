"""The rank's factor on uniform matroids: proofs/uniform_matroid.md."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpbandits.policies.arm_bounds import harmonic, rank_factor


def test_by_hand() -> None:
    assert rank_factor([0.5]) == 1.0
    assert rank_factor([0.3, 0.3, 0.3]) == pytest.approx(1.0)  # equal gaps: no factor
    assert rank_factor([0.4, 0.2]) == pytest.approx((0.3 - 0.2) / 0.4 + 1.0)
    assert harmonic(3) == pytest.approx(11 / 6)


@pytest.mark.parametrize("size", [2, 5, 17])
def test_stays_below_its_bounds(size: int) -> None:
    rng = np.random.default_rng(size)
    for spread in (0.1, 3.0, 30.0):
        gaps = np.sort(np.exp(-spread * rng.random(size)))[::-1]
        most = min(harmonic(size), 1 + math.log(gaps[0] / gaps[-1]))
        assert 1.0 - 1e-12 <= rank_factor(gaps) <= most + 1e-12
    steep = 1e-3 ** np.arange(size)
    assert rank_factor(steep) == pytest.approx(harmonic(size), rel=2e-3)
