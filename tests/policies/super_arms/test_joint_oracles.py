"""Joint releases with oracles of every kind, and one that does not keep to what it says."""

from typing import Any

import pytest

import dpbandits as dpb
from dpbandits.checks import check_policy
from dpbandits.noise import SimulatedNoise
from dpbandits.oracles import DecisionSet
from tests.oracles.instances import draw


@pytest.mark.long
@pytest.mark.parametrize("kind", ["pairing", "coverage", "influence"])
def test_every_oracle_is_played_by_every_host(kind: str) -> None:
    """The checks hold session, audit and simulation to one tape, and to the ledger."""
    check_policy(dpb.DPJointCUCB(problem=draw(kind, 1), epsilon=4))


class Grows(DecisionSet):
    """BROKEN: its largest super arm is a pair; later it answers three arms, or none."""

    def __init__(self, later: tuple[int, ...]) -> None:
        self.arms, self.size, self.answered, self.later = 4, 2, 0, later

    def _best(self, weights: Any) -> tuple[int, ...]:
        self.answered += 1
        pairs = ((0, 1), (2, 3))
        return self.later if self.answered > 12 else pairs[self.answered % 2]

    def _contains(self, action: tuple[int, ...]) -> bool:
        return 0 < len(action) <= 2

    def parameters(self) -> dict[str, Any]:
        return {}


@pytest.mark.parametrize("later", [(0, 1, 2), ()])
def test_an_oracle_whose_answers_change_size_is_refused(later: tuple[int, ...]) -> None:
    """The noise is for two rewards a record; three would pay more than epsilon."""
    said = r"oracle Grows to answer a super arm, .* 1 to size=2 different arms; got .*its size; "

    def policy() -> Any:
        return dpb.DPJointCUCB(problem=Grows(later), epsilon=1)

    session = dpb.Session(policy(), noise=SimulatedNoise(1), seed=1)

    def play() -> None:
        for _ in range(3_000):
            decision = session.ask()
            assert len(decision.observe) == 2
            session.tell(decision, [0.5, 0.5])

    with pytest.raises(ValueError, match=said):
        play()
    assert session.spent <= 1
    with pytest.raises(ValueError, match=said):
        dpb.simulate(policy(), dpb.Bernoulli([0.5] * 4), 3_000, runs=1, workers=1)
