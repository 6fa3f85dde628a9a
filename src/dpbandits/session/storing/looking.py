"""A session that is only looked at, made of what is public; and what was believed after every
release, rebuilt from stored answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from secrets import token_bytes
from typing import Any, ClassVar, NamedTuple, final

from dpbandits.campaign.believing.beliefs import Belief, beliefs
from dpbandits.campaign.believing.believed import Believed
from dpbandits.campaign.believing.rows import ArmHistory
from dpbandits.campaign.people.register import Clock, mark_of_key
from dpbandits.core.privacy import NoiseKind
from dpbandits.mechanisms.base import Answer, Around, Mechanism
from dpbandits.mechanisms.joint import JointAnswer, JointBatch
from dpbandits.mechanisms.sparse_vectors.above_threshold import AboveThreshold, Halt
from dpbandits.noise.protocol import Relay
from dpbandits.policies.contract import Policy, Release
from dpbandits.session.saving.document import with_state
from dpbandits.session.session import Session
from dpbandits.session.standing import SessionEvent
from dpbandits.session.storing.parts import SessionRows, kept_apart, stored_policy


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


def alarms_of(session: Session, when: Callable[[int], str]) -> tuple[SessionEvent, ...]:
    """What somebody should look at (see `Session.alarms`). when: when a decision was made, in
    words.
    """
    return session._alarms(when)


class Silent(Relay):
    """Noise of a session that is looked at: nothing is drawn."""

    kind: ClassVar[NoiseKind] = "secure"

    def ask(self, verb: str, *exact: Any, **price: Any) -> Any:
        raise RuntimeError("This session is only looked at: it releases nothing.")


@final
class SilentSimulation(Silent):
    """The same, of a session whose noise is simulated."""

    kind: ClassVar[NoiseKind] = "simulated"


def session_to_look_at(
    public: Mapping[str, Any],
    rows: SessionRows,
    policy: Policy | type[Policy] | None,
    clock: Clock,
) -> Session:
    """The same session without anything private: no sum, no answer that is held, no memory of its
    mechanism. It shows what is public; it can release nothing.

    Raises:
        ValueError: its parts contradict each other.
    """
    known, said = stored_policy(public, policy, rows)
    key = token_bytes(32)  # nobody is known here by any name
    if said["people"] is not None:
        said["people"] = said["people"] | {"key": mark_of_key(key)}
    whole = with_state(known, said, None)
    noise = Silent() if said["noise"]["kind"] == "secure" else SilentSimulation()
    session = Session._continued(known, whole, None, noise, clock, key, rows.waiting)
    kept_apart(session)
    if session._attribution is not None:
        session._attribution.due = rows.due
    return session
