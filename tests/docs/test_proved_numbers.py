"""Numbers that the proofs state, counted again."""

import math
from fractions import Fraction
from typing import Any

import pytest

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Hybrid
from dpbandits.mechanisms.counters import segment_size
from dpbandits.policies.formulas.indices import d_eps


class Prices:
    """A noise source that adds nothing and sums up what a record of size one pays."""

    kind = "simulated"

    paid = Fraction(0)

    def laplace(self, value: int, *, sensitivity: int, epsilon: Fraction) -> int:
        self.paid += abs(value) * epsilon / sensitivity
        return value


def paid(mechanism: Hybrid, leaves: int, record: int) -> Fraction:
    """What a reward of one in leaf `record`, all others zero, pays over `leaves` leaves."""
    prices, memory = Prices(), mechanism.start()
    for leaf in range(1, leaves + 1):
        memory, _ = mechanism.step(memory, int(leaf == record), 1, prices)  # type: ignore[arg-type]
    return prices.paid


@pytest.mark.parametrize("segments", ["powers", "doubling"])
@pytest.mark.parametrize("root", [False, True])
def test_hybrid_price_by_segment(segments: Any, root: bool) -> None:
    """hybrid: ε a record if corrected; ε(1 + 1/(2r)) in a segment of 2^r leaves as published; ε/2
    in a segment of one.
    """
    hybrid = Hybrid(epsilon=Fraction(1), segments=segments, root=root, grid=Grid(steps=1))
    worst: dict[int, Fraction] = {}
    leaf = 0
    for segment in range(7):
        size = segment_size(segment, segments)
        r = size.bit_length() - 1
        prices = [paid(hybrid, 130, leaf + i) for i in range(1, size + 1) if leaf + i <= 130]
        leaf += size
        worst[r] = max(worst.get(r, Fraction(0)), *prices)
    for r, cost in worst.items():
        assert cost == (Fraction(1, 2) if r == 0 else 1 + Fraction(1, 2 * r) if root else 1)
    assert max(worst.values()) == hybrid.guarantee.cost


def test_discrete_laplace_facts() -> None:
    """discrete_noise 3 to 6: moments, convex order, coupling and tail."""
    for a in (1e-3, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0):
        p, slack = math.exp(-a), 1 + 1e-9
        variance = 2 * p / (1 - p) ** 2
        assert variance == pytest.approx(1 / (2 * math.sinh(a / 2) ** 2))
        assert variance <= 2 / a**2
        for share in (0.1, 0.5, 0.9, 0.99):
            moment = math.sinh(a / 2) ** 2 / (
                math.sinh(a * (1 + share) / 2) * math.sinh(a * (1 - share) / 2)
            )
            assert moment <= slack / (1 - share**2)
        for step in range(1, 201):
            x = step / 20
            k = math.floor(x)
            tail = 2 * p ** math.ceil(x) / (1 + p)
            assert (
                tail
                <= (1 + math.tanh(a / 2)) * math.exp(-a * x) * slack
                <= (1 + a / 2) * math.exp(-a * x) * slack**2
            )
            # integrated tails
            assert (
                p**k * (p / (1 - p * p) - (x - k) * p / (1 + p))
                <= math.exp(-a * x) / (2 * a) * slack
            )
            # P[X > x], between the continuous tails one step further and one step nearer
            above = p ** (k + 1) / (1 + p)
            nearer = math.exp(-a * (x - 1)) / 2 if x >= 1 else 1 - math.exp(-a * (1 - x)) / 2
            assert math.exp(-a * (x + 1)) / 2 <= above * slack <= nearer * slack**2


def test_divergence_is_at_least_what_dp_klucb_says() -> None:
    """dp_klucb: d_ε(x, x + Δ) >= min(εΔ/2, 2Δ²)."""
    for eps in (0.05, 0.5, 1.0, 5.0):
        for i in range(1, 20):
            for j in range(i + 1, 20):
                gap = (j - i) / 20
                assert d_eps(i / 20, j / 20, eps) >= min(eps * gap / 2, 2 * gap * gap) * (1 - 1e-12)
