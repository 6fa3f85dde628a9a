"""The user's side of local privacy: turn a reward into one noisy report. It runs on the user's
device.

It imports no policy and no server code. The server sends two public texts: the policy's randomizer
(`messages.randomizer_to_json`) and a decision. The device sends back one text
(`messages.report_from_json` reads it).

>>> from dpbandits.noise import SimulatedNoise
>>> description = (
...     '{"version": 1, "campaign": "films", "randomizer": "LocalLaplace", "epsilon": "1", '
...     '"grid": {"steps": 1, "rounding": "nearest"}, "width": 2}'
... )
>>> client = Client(description, most=1, noise=SimulatedNoise(1), simulated=True)
>>> decision = '{"version": 1, "campaign": "films", "id": 7, "action": [0, 3], "observe": [3]}'
>>> report = client.answer(decision, {3: 1.0})
>>> report[:85]
'{"version": 1, "campaign": "films", "id": 7, "steps": [-2], "randomizer": "LocalLapla'
>>> client.answer(decision, {3: 1.0}) == report  # a repeated request costs nothing
True
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import final

from dpbandits.core.errors import MessageError, RewardError
from dpbandits.core.inputs import checked_noise, is_blank, normalised
from dpbandits.core.locks import CallLock, this_process
from dpbandits.core.privacy import Guarantee, Real, as_fraction
from dpbandits.local.budget import (
    Budget,
    MemoryBudget,
    forked,
    require_device_budget,
    under_way,
)
from dpbandits.local.messages import (
    Asked,
    decision_from_json,
    randomizer_from_json,
    randomizer_to_json,
    report_to_json,
)
from dpbandits.mechanisms.randomizers import Report
from dpbandits.mechanisms.rewards import read_or_none
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise


@final
class Client:
    """One user's device in one campaign.

    The server chooses which decisions it sends, how many and under which ids. So the budget limits
    all reports together, and a named reward (`datum=`) is randomised once: repeated requests get
    the same report.

    Guarantee: each report is ε-LDP for its rewards; all reports together cost at most the budget.

    Args:
        description: the randomizer and its campaign, as the server describes them.
        most: the largest ε of one report that this user accepts. The server chooses its own ε up to
            it.
        total: the most that all reports of this client may cost, as ε. By default `most`: with
            epsilon = most that is one report. It is forgotten with the client.
        budget: in place of `total`, a `FileBudget` or a user-defined budget, shared with other
            processes, clients and campaigns.
        noise: by default secure and fresh, because a device draws few numbers. Simulated noise is
            not private.
        simulated: must be True with simulated noise; its reports say so.

    Raises:
        ValueError: not a valid description, or its ε exceeds `most`.
        TypeError: simulated noise without `simulated=True`, or a total beside a budget.
    """

    def __init__(
        self,
        description: str,
        *,
        most: Real,
        total: Real | None = None,
        budget: Budget | None = None,
        noise: Noise | None = None,
        simulated: bool = False,
    ) -> None:
        self._campaign, self._randomizer = randomizer_from_json(description)
        self._noise = SecureNoise(fresh=True) if noise is None else checked_noise(noise)
        if self._randomizer.epsilon > as_fraction(most, "most"):
            raise ValueError(
                f"The server asks for epsilon={self._randomizer.epsilon}, more than the "
                f"most={most} this user agrees to."
            )
        if (self._noise.kind == "simulated") is not simulated:
            raise TypeError(
                f"Expected simulated={not simulated} with {self._noise.kind} noise; for people's "
                "data leave both out."
            )
        if budget is not None and total is not None:
            raise TypeError(
                "Expected total= or budget=, not both: a budget has a total of its own."
            )
        if budget is not None:
            require_device_budget(budget)
        self._budget = MemoryBudget(most if total is None else total) if budget is None else budget
        self._lock = CallLock(under_way)

    def __repr__(self) -> str:
        return f"Client({self._randomizer.name}, {self._noise.kind} noise)"

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of each report, against the server and everybody else."""
        return replace(self._randomizer.guarantee, noise=self._noise.kind)

    def answer(
        self, decision: str, reward: float | Mapping[int, float], *, datum: str | None = None
    ) -> str:
        """Return the report on one decision, as the message to send. A repeated request returns the
        same message at no cost.

        Args:
            decision: the server's message.
            reward: a number in [0, 1]; for a super arm a mapping from arm to reward. Arms that the
                decision does not observe are ignored.
            datum: a name for what `reward` measures, such as "likes jazz", if several decisions may
                ask about it. It is randomised once for every campaign with this randomizer; later
                answers repeat the report at no cost. In a mapping, each arm's reward is a separate
                datum.

        Returns:
            The message, JSON text.

        Raises:
            RewardError: not a number in [0, 1], or one is missing. Nothing was drawn.
            BudgetError: the budget does not cover this report, or another call of this device is
                running in this thread (a signal handler in the middle of it). No report was made.
                Other threads wait.
            MessageError: not a valid message, a decision of another campaign, or a decision that
                differs from an earlier one with this id.
        """
        asked = decision_from_json(decision)
        if asked.campaign != self._campaign:
            raise MessageError(
                "Expected a decision of the campaign this device was given the description of, "
                "got one of another."
            )
        if datum is not None and type(datum) is not str:
            raise TypeError(
                "Expected datum= to be a name such as 'likes jazz', got an object of type "
                f"{type(datum).__name__}."
            )
        if datum is not None and is_blank(datum):
            raise ValueError("Expected datum= to be a name such as 'likes jazz', got an empty one.")
        with self._lock.held():
            began = this_process()
            known = self._budget.recall(self._key("decision", asked.id))
            if known is None:
                known = self._new_answer(asked, reward, datum)
            if began != this_process():
                raise forked()
        about, message = json.loads(known)
        if about != digest(asked):
            raise MessageError(
                "Expected a decision this device has not answered, or the same again, got "
                "another one under an old id."
            )
        return str(message)

    def _new_answer(self, asked: Asked, reward: object, datum: str | None) -> str:
        """Create the answer. In this order: check the rewards, charge the budget, draw the report,
        store it.
        """
        steps = self._randomizer.put_on_grid(rewards_for(asked, reward), self._noise)
        if isinstance(steps, list) is not isinstance(asked.action, tuple):
            raise RewardError(
                "Expected the one reward of the arm that was played, got a list. Nothing was drawn."
            )
        keys = self._datum_keys(asked, datum, named_by_arm=isinstance(reward, Mapping))
        reported = [None if key is None else self._budget.recall(key) for key in keys]
        cost = self._randomizer.epsilon * Fraction(reported.count(None), self._randomizer.width)
        if cost:
            self._budget.spend(cost)
        steps_sent = tuple(
            self._randomised(key, step) if old is None else int(old)
            for key, old, step in zip(
                keys, reported, steps if isinstance(steps, list) else [steps], strict=True
            )
        )
        report = Report(
            steps_sent if isinstance(steps, list) else steps_sent[0],
            self._randomizer.name,
            self._noise.kind,
        )
        answer = json.dumps([digest(asked), report_to_json(asked.id, report, self._campaign)])
        return self._budget.keep(self._key("decision", asked.id), answer) if cost else answer

    def _randomised(self, key: str | None, steps: int) -> int:
        """Randomise one reward, and store the result if it is named. If another process stored one
        first, return that one.
        """
        drawn = self._randomizer.randomise(steps, self._noise)
        return drawn if key is None else int(self._budget.keep(key, str(drawn)))

    def _datum_keys(
        self, asked: Asked, datum: str | None, *, named_by_arm: bool
    ) -> list[str | None]:
        """Return the key of each reward's report: the same in every campaign with this randomizer
        and kind of noise.
        """
        if datum is None:
            return [None] * len(asked.observe)
        made_by = [randomizer_to_json(self._randomizer), self._noise.kind]
        return [
            json.dumps(["datum", *made_by, normalised(datum), arm if named_by_arm else None])
            for arm in asked.observe
        ]

    def _key(self, *what: object) -> str:
        return json.dumps([*what, self._campaign, self._noise.kind])


def digest(asked: Asked) -> str:
    """Return a short text that identifies the content of a decision. It is stored with every
    answer, and a decision may observe any number of arms.
    """
    return hashlib.sha256(json.dumps([asked.action, asked.observe]).encode()).hexdigest()


def rewards_for(asked: Asked, reward: object) -> object:
    """Return the rewards of the report: the reward, or for a super arm a list of its observed
    rewards.
    """
    several = isinstance(asked.action, tuple)
    if not isinstance(reward, Mapping):
        if several:
            raise RewardError(
                "Expected a mapping from arm to reward, got an object of type "
                f"{type(reward).__name__}. Nothing was drawn."
            )
        return reward
    rewards = {arm: read_or_none(reward.get, arm, reward) for arm in asked.observe}
    missing = [arm for arm, value in rewards.items() if value is None]
    if missing:
        raise RewardError(
            f"Expected the rewards of arms {list(asked.observe)}; those of {missing} are "
            "missing. Nothing was drawn."
        )
    return list(rewards.values()) if several else rewards[asked.observe[0]]
