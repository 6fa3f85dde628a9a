"""The boundary counts the arms of a record itself: no oracle can make one record touch more than
its price covers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpbandits as dpb
from dpbandits.mechanisms import LocalLaplace
from dpbandits.oracles import DecisionSet, Matroid
from dpbandits.policies import CUCB, DPTSMAT, LazyCUCB
from dpbandits.policies.matroid.optimistic import FIRST
from dpbandits.vault import ArmVault


class Says(DecisionSet):
    """Answers what it is told to, whatever its size."""

    def __init__(self, *answer: int, size: int) -> None:
        self.arms, self.size, self.answer = 4, size, answer

    def parameters(self) -> dict[str, Any]:
        return {"answer": self.answer}

    def _best(self, weights: Any) -> Any:
        return self.answer

    def _contains(self, action: Any) -> bool:
        return True


class Grows(Matroid):
    """Rank 1 by its own account; to samples it answers with all three elements."""

    def __init__(self) -> None:
        self._set_rank(3, 1)

    def parameters(self) -> dict[str, Any]:
        return {}

    def _independent(self, arms: Any) -> bool:
        return True

    def _best(self, weights: Any) -> Any:
        return (int(np.argmax(weights)),) if weights.max() in (0.0, FIRST) else (0, 1, 2)


@pytest.mark.parametrize("answer", [(0, 1, 2, 3), (0, 0), (1, 0), ()])
def test_what_is_no_super_arm_is_not_planned(answer: tuple[int, ...]) -> None:
    with pytest.raises(
        ValueError,
        match=r"Expected the oracle Says to answer a super arm, .* size=2 .*Correct its _best",
    ):
        dpb.Session(LazyCUCB(problem=Says(*answer, size=2), epsilon=1), noise=dpb.SimulatedNoise(1))


def test_a_law_that_draws_too_many_arms_is_stopped_at_the_boundary() -> None:
    """A drawn action comes from the matroid itself; the rewards told for it are refused."""
    s = dpb.Session(DPTSMAT(problem=Grows(), epsilon=1), noise=dpb.SimulatedNoise(1), seed=1)
    for _ in range(3):
        s.tell(s.ask(), [1.0])
    decision = s.ask()
    assert len(decision.action) == 3  # type: ignore[arg-type]
    before = s.state, s.ledger, s._vault.private_state()
    for tell in (lambda: s.tell(decision, [1.0] * 3), lambda: s.tell_many([(decision, [1.0] * 3)])):
        with pytest.raises(
            RuntimeError,
            match=r"record of 3 arms, .* pays for 1 different arms.*Nothing was recorded",
        ):
            tell()
    assert (s.state, s.ledger, s._vault.private_state()) == before
    assert s.pending == (decision,)


@pytest.mark.parametrize("where", [(0, 1, 2), (0, 0), (0, -1), (3, 4)])
def test_every_door_refuses(where: tuple[int, ...]) -> None:
    """`check`, `add` and `add_block`; raw rewards, reports and, without privacy, the same."""
    raw: list[Any] = [
        LazyCUCB(problem=dpb.TopK(arms=4, k=2), epsilon=1).mechanism(),
        CUCB(problem=dpb.TopK(arms=4, k=2)).mechanism(),
    ]
    for mechanism in raw:
        vault = ArmVault(mechanism, 4, dpb.SimulatedNoise(1))
        for door in (vault.check, vault.add):
            with pytest.raises(RuntimeError, match="Refused"):
                door(where, [1.0] * len(where))
        with pytest.raises(RuntimeError, match="Refused"):
            vault.add_block(where, np.ones(len(where), np.int64), 1)
        assert vault.public_state()["counts"] == [0] * 4
    randomizer = LocalLaplace(epsilon=1, width=2)  # type: ignore[arg-type]
    local = ArmVault(raw[1], 4, dpb.SimulatedNoise(1), randomizer)
    report = LocalLaplace(epsilon=1, width=3).report([1.0] * len(where), dpb.SimulatedNoise(1))  # type: ignore[arg-type]
    for door in (local.check, local.add):
        with pytest.raises(RuntimeError, match="Refused"):
            door(where, report)
