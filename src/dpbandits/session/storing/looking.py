"""What was believed after every release: a session's beliefs, rebuilt from stored answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dpbandits.campaign.believing.beliefs import Belief, beliefs
from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.rows import ArmHistory
from dpbandits.mechanisms.above_threshold import AboveThreshold, Halt
from dpbandits.mechanisms.base import Answer, Around, Mechanism
from dpbandits.mechanisms.joint import JointAnswer, JointBatch
from dpbandits.policies.contract import Release
from dpbandits.session.session import Session


class Onlooker(NamedTuple):
    """How a session's releases are looked at: the beginning, the user's units, and whether its
    answers say anything of means.
    """

    session: Session
    nothing: Believed

    @classmethod
    def of(cls, session: Session) -> "Onlooker":
        now = session._wheel.turn.believed
        return cls(session, replace(now, arms=tuple(ArmHistory(arm.label) for arm in now.arms)))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(arm.label for arm in self.nothing.arms)

    def after(
        self, history: Believed, coordinates: Sequence[int], answers: Sequence[Any]
    ) -> Believed:
        """The history after one stored release."""
        if history.reader.law is None:
            return history
        typed = tuple(typed_answer(history.reader.mechanism, each) for each in answers)
        return history.after(Release(tuple(coordinates), typed, 0, ()))

    def rows(self, history: Believed, confidence: float) -> tuple[Belief, ...]:
        """Of each arm, what was believed then."""
        return beliefs(history, confidence, ruler=self.session.rewards, among=()).rows


def typed_answer(mechanism: Mechanism, answer: Any) -> Any:
    """An answer as its mechanism gave it. JSON keeps its numbers, and not their names."""
    while isinstance(mechanism, Around):
        mechanism = mechanism.inner
    if answer is None:
        return None
    if isinstance(mechanism, JointBatch):
        return JointAnswer(*answer)
    return Halt(*answer) if isinstance(mechanism, AboveThreshold) else Answer(*answer)
