"""The user's side of local privacy: it takes a reward and gives one noisy report. It runs on the
user's device; the server has no part in it.

It imports no policy and no server code. The server sends two public texts: the policy's randomizer,
which `messages.randomizer_to_json` describes, and a decision. The device sends back one text, which
`messages.report_from_json` reads.

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
>>> client.answer(decision, {3: 1.0}) == report  # asked again: the same, free
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
from dpbandits.mechanisms.rewards import tried
from dpbandits.noise.protocol import Noise
from dpbandits.noise.sources import SecureNoise


@final
class Client:
    """One user's device in one campaign. Each report is epsilon-LDP about its rewards; all together
    they cost at most the budget.

    The server chooses what it asks, how often and under which ids. So the budget holds for all
    reports, whatever they are about; and a reward that is named (`datum=`) is reported once:
    whoever asks again is told the same again.

    Args:
        description: the randomizer, as the server describes it, and its campaign.
        most: the largest epsilon of one report this user agrees to; the server chooses its own, and
            does not get more.
        total: the most that all reports of this client may cost: what anybody learns of this user,
            at most. By default `most`: with epsilon = most that is one report. It is forgotten with
            the client.
        budget: in place of `total`, a `FileBudget`, or a budget of your own, which other processes,
            clients and campaigns share.
        noise: by default secure and fresh: a device draws few numbers. Simulated noise is
            not private: it is taken with `simulated=True` only, and its reports say so.

    Raises:
        ValueError: no such description, or it asks for a larger epsilon than `most`.
        TypeError: simulated noise that was not asked for; a total beside a budget, which has its
        own.
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
        """What each report promises its user against the server and everybody else."""
        return replace(self._randomizer.promise(), noise=self._noise.kind)

    def answer(
        self, decision: str, reward: float | Mapping[int, float], *, datum: str | None = None
    ) -> str:
        """The report on one decision, as the message to send. Asked again, it is the same message,
        and free.

        reward: in [0, 1]; after a super arm a mapping from arm to reward. Arms the decision does
            not observe are left out.
        datum: a name for what `reward` is, where decisions may ask about it again: "likes jazz". It
            is reported once, in every campaign with this randomizer; later answers repeat the
            report and are free. (Of a mapping each arm's reward is one.)

        Raises:
            RewardError: not a number in [0, 1], or one is missing. Nothing was drawn.
            BudgetError: less is left than this report costs, or another call of this device is
            under way around this one (a signal handler in the middle of it). No report was made.
            Other threads wait for their turn.
            MessageError: no such message, a decision of another campaign, or of an id that was
            another decision before.
        """
        asked = self._asked(decision)
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
                known = self._new(asked, reward, datum)
            if began != this_process():
                raise forked()
        about, message = json.loads(known)
        if about != digest(asked):
            raise MessageError(
                "Expected a decision this device has not answered, or the same again, got "
                "another one under an old id."
            )
        return str(message)

    def _asked(self, decision: str) -> Asked:
        """A decision of this device's campaign."""
        asked = decision_from_json(decision)
        if asked.campaign != self._campaign:
            raise MessageError(
                "Expected a decision of the campaign this device was given the description of, "
                "got one of another."
            )
        return asked

    def _new(self, asked: Asked, reward: object, datum: str | None) -> str:
        """Make the answer, in this order: check the rewards, pay for the report, draw it, keep
        it.
        """
        steps = self._randomizer.put_on_grid(rewards_for(asked, reward), self._noise)
        if isinstance(steps, list) is not isinstance(asked.action, tuple):
            raise RewardError(
                "Expected the one reward of the arm that was played, got a list. Nothing was drawn."
            )
        keys = self._data(asked, datum, named_by_arm=isinstance(reward, Mapping))
        told = [None if key is None else self._budget.recall(key) for key in keys]
        cost = self._randomizer.epsilon * Fraction(told.count(None), self._randomizer.width)
        if cost:
            self._budget.spend(cost)
        said = tuple(
            self._said(key, step) if old is None else int(old)
            for key, old, step in zip(
                keys, told, steps if isinstance(steps, list) else [steps], strict=True
            )
        )
        report = Report(
            said if isinstance(steps, list) else said[0], self._randomizer.name, self._noise.kind
        )
        answer = json.dumps([digest(asked), report_to_json(asked.id, report, self._campaign)])
        return self._budget.keep(self._key("decision", asked.id), answer) if cost else answer

    def _said(self, key: str | None, steps: int) -> int:
        """One reward, randomised, and kept if it is named. Another process may have kept one first;
        then that one counts.
        """
        drawn = self._randomizer.randomise(steps, self._noise)
        return drawn if key is None else int(self._budget.keep(key, str(drawn)))

    def _data(self, asked: Asked, datum: str | None, *, named_by_arm: bool) -> list[str | None]:
        """The key under which each reward is kept: the same in every campaign with this randomizer
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
    """A short text for what a decision asks. A server may ask about any number of arms, and all
    answers are kept.
    """
    return hashlib.sha256(json.dumps([asked.action, asked.observe]).encode()).hexdigest()


def rewards_for(asked: Asked, reward: object) -> object:
    """What the report is about: the reward, or, for a super arm, a list of the rewards that are
    asked for.
    """
    several = isinstance(asked.action, tuple)
    if not isinstance(reward, Mapping):
        if several:
            raise RewardError(
                "Expected a mapping from arm to reward, got an object of type "
                f"{type(reward).__name__}. Nothing was drawn."
            )
        return reward
    found = {arm: tried(reward.get, arm, reward) for arm in asked.observe}
    missing = [arm for arm, value in found.items() if value is None]
    if missing:
        raise RewardError(
            f"Expected the rewards of arms {list(asked.observe)}; those of {missing} are "
            "missing. Nothing was drawn."
        )
    return list(found.values()) if several else found[asked.observe[0]]
