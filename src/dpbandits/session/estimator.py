"""Stopping rules at work on a stream of values: values in, and once the rule has stopped, one
estimate out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, final

import numpy as np

from dpbandits.core.inputs import refuse_others, whole_number
from dpbandits.core.privacy import Guarantee
from dpbandits.mechanisms.rewards import scaled_value
from dpbandits.noise.protocol import Noise
from dpbandits.policies.stopping import StoppingRule
from dpbandits.session.session import Session
from dpbandits.vault import frameless


class Estimate(NamedTuple):
    """A stopping rule's estimate: the mean, the number of values, whether the cap or the stream's
    end came first, and the guarantee. Public.

    value: within alpha·|mean| of the mean with probability 1 − beta, if not capped.
    guarantee: of the estimate, the number of values and `capped` together; None without privacy.
    """

    value: float
    rounds: int
    capped: bool
    guarantee: Guarantee | None


@final
class Estimator:
    """A stopping rule fed one value at a time. It keeps sums, never values.

    Args:
        rule: `NAS`, `DPNAS` or `DPExponentialNAS`.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is
            no default.

    >>> from dpbandits import NAS, SimulatedNoise
    >>> estimator = Estimator(NAS(alpha=0.5, beta=0.1, cap=100), noise=SimulatedNoise(1))
    >>> estimator.add(1.0) is None
    True
    >>> estimator.finish().value
    1.0
    """

    def __init__(self, rule: StoppingRule, *, noise: Noise) -> None:
        require_rule(rule)
        self._open(Session(rule, noise=noise, seed=0))

    def _open(self, session: Session) -> None:
        assert isinstance(session.policy, StoppingRule)
        self.session, self.rule = session, session.policy
        self._low, self._high = self.rule.range

    def __repr__(self) -> str:
        return f"Estimator({self.rule!r}, {'stopped' if self.result else 'watching'})"

    @property
    def result(self) -> Estimate | None:
        """The estimate; None while the rule watches on."""
        stopped = self.rule.estimate(self.session.state)
        return None if stopped is None else Estimate(*stopped, self.session.guarantee)

    @property
    def offered(self) -> int:
        """Values that were taken so far: recorded."""
        return self.session.resolved

    def add(self, value: object, *, at: int | None = None) -> Estimate | None:
        """One more value; returns the estimate once the rule has stopped (values after that are not
        looked at).

        at: how many values come before this one. A call that was interrupted may have taken its
            value; made again with the same `at` it takes no value twice. Without it compare
            `offered` before the same value is offered again.

        Raises:
            ValueError: `at` is beyond `offered`: values between were never offered.
            RewardError: no number in [low, high]. Nothing was recorded; another value can follow.
            NotRecordedError: the noise source failed before and fails still. Nothing was recorded:
            offer the value again.

        Should the noise source fail after the value has entered, its own error passes through: the
        value is recorded, not to be offered again, and the next call goes on from there.
        """
        try:
            if at is not None and whole_number(at, "at") > self.offered:
                raise ValueError(
                    f"Expected at={at} to be at most {self.offered}, the values offered so far. "
                    "Nothing was recorded."
                )
            if at is not None and at < self.offered:
                self.session.settle()
            elif self.result is None:
                self._take(frameless(self.scaled, value))
        finally:
            del value  # no frame of an error holds it
        return self.result

    def _take(self, reward: float) -> None:
        try:
            self.session.settle()  # before the value enters: what is due may stop the rule
            if self.result is None:
                # most often none: one that an interruption left behind
                waiting = self.session.pending
                self.session.tell(waiting[0] if waiting else self.session.ask(), reward)
        finally:
            del reward

    def finish(self) -> Estimate:
        """No more values come (their number is public): the estimate of those there were, if the
        rule has not stopped before.

        Raises:
            ValueError: there was no value. Nothing was released.
        """
        self.session.finish()
        result = self.result
        assert result is not None
        return result

    def scaled(self, value: object) -> float:
        """A value in [low, high] as a reward in [0, 1]; the error does not show it."""
        return scaled_value(value, self._low, self._high)

    def to_json(self, *, key: bytes | None = None, unsealed: bool = False) -> str:
        """The estimator as it stands, as JSON with a public and a private part: see
        `Session.to_json`.
        """
        return self.session.to_json(key=key, unsealed=unsealed)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        policy: StoppingRule | type[StoppingRule] | None = None,
        noise: Noise | None = None,
        key: bytes | None = None,
    ) -> Estimator:
        """Go on from what `to_json` returned: see `Session.from_json`."""
        session = Session.from_json(text, policy=policy, noise=noise, key=key)
        require_rule(session.policy)
        estimator = cls.__new__(cls)
        estimator._open(session)
        return estimator


def require_rule(rule: object) -> None:
    """Refuse what is no stopping rule, and a class of them."""
    example = "dpbandits.DPNAS(alpha=0.1, beta=0.05, cap=10**6, epsilon=1)"
    refuse_others(rule, StoppingRule, "a stopping rule", example)


def estimate(rule: StoppingRule, stream: Iterable[object], *, noise: Noise) -> Estimate:
    """Return the rule's estimate of a stream's mean. An iterator is read until the rule stops or
    the stream ends, and no further.

    stream: numbers in [low, high]. A list or an array (shape (values,)) is checked whole first, an
        iterator as it is read.

    Raises:
        RewardError: a value is no number in [low, high]; it is not shown. A list or array was not
        read.
        ValueError: there is no value.

    >>> from dpbandits import DPNAS, SimulatedNoise
    >>> policy = DPNAS(alpha=0.5, beta=0.1, cap=10**6, epsilon=1)
    >>> found = estimate(policy, [0.5] * 5000, noise=SimulatedNoise(1))
    >>> 0.25 <= found.value <= 0.75, found.rounds < 5000, found.capped
    (True, True, False)
    >>> print(found.guarantee)
    ε = 1 per round (replace-one), central trust, simulated noise
    """
    estimator, value = Estimator(rule, noise=noise), None
    try:
        if isinstance(stream, np.ndarray) and stream.ndim != 1:
            raise ValueError(f"Expected a stream of numbers, got an array of shape {stream.shape}.")
        if not isinstance(stream, Iterable):
            raise TypeError(
                "Expected a stream of numbers, such as a list, got an object of type "
                f"{type(stream).__name__}."
            )
        if isinstance(stream, (list, tuple, np.ndarray)):
            for value in stream:
                frameless(estimator.scaled, value)
        for value in stream:
            result = estimator.add(value)
            if result is not None:
                return result
        return estimator.finish()
    finally:
        del stream, value  # no frame of an error holds them
