"""Numbers that the proofs state, counted again."""

from fractions import Fraction
from typing import Any

import pytest

from dpbandits.core.privacy import Grid
from dpbandits.mechanisms import Hybrid
from dpbandits.mechanisms.counters import segment_size


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
