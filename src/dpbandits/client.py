"""The user's side of local privacy: reward in, one noisy report out. Runs on the user's device; nothing here is the server's.

It imports no policy and no server code. The server sends two public texts (`policy`'s randomizer, described by
`messages.randomizer_to_json`, and `Decision.to_json()`); the device sends back one, which `messages.report_from_json` reads.

>>> from dpbandits.noise import SimulatedNoise
>>> description = '{"randomizer": "LocalLaplace", "epsilon": "1", "grid": {"steps": 1, "rounding": "nearest"}, "width": 2}'
>>> client = Client(description, most=1, noise=SimulatedNoise(1), simulated=True)
>>> client.answer('{"id": 7, "action": [0, 3], "observe": [3]}', {3: 1.0})
'{"id": 7, "steps": [-2], "randomizer": "LocalLaplace(epsilon=1, grid=1, width=2)", "noise": "simulated"}'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import final

from dpbandits.mechanisms.rewards import RewardError
from dpbandits.messages import Asked, decision_from_json, randomizer_from_json, report_to_json
from dpbandits.noise import Noise, SecureNoise
from dpbandits.privacy import Guarantee, Real, as_fraction


@final
class Client:
    """One user's device. It answers a decision once, with a report that is epsilon-LDP about that round's rewards.

    Args:
        description: the randomizer, as the server describes it.
        most: the largest epsilon this user agrees to; the server chooses its own, and does not get more.
        noise: secure by default. Simulated noise is not private: it is taken with `simulated=True` only, and its reports say so.

    Raises:
        ValueError: no such description, or it asks for a larger epsilon than `most`.
        TypeError: simulated noise that was not asked for.
    """

    def __init__(self, description: str, *, most: Real, noise: Noise | None = None, simulated: bool = False) -> None:
        self._randomizer = randomizer_from_json(description)
        self._noise = SecureNoise() if noise is None else noise
        self._answered: set[int] = set()
        if self._randomizer.epsilon > as_fraction(most, "most"):
            raise ValueError(f"The server asks for epsilon={self._randomizer.epsilon}, more than the most={most} this user agrees to.")
        if (self._noise.kind == "simulated") is not simulated:
            raise TypeError(f"Expected simulated={not simulated} with {self._noise.kind} noise; for people's data leave both out.")

    def __repr__(self) -> str:
        return f"Client({self._randomizer.name}, {self._noise.kind} noise)"

    @property
    def guarantee(self) -> Guarantee:
        """What each report promises its user against the server and everybody else."""
        return replace(self._randomizer.promise(), noise=self._noise.kind)

    def answer(self, decision: str, reward: float | Mapping[int, float]) -> str:
        """The report on one decision, as the message to send.

        reward: in [0, 1]; after a super arm a mapping from arm to reward. Arms the decision does not observe are left out.

        Raises:
            RewardError: not a number in [0, 1], or one is missing. Nothing was drawn.
            ValueError: no such decision, or it was answered before: a second report on a reward would cost another epsilon.
        """
        asked = decision_from_json(decision)
        if asked.id in self._answered:
            raise ValueError(f"Decision {asked.id} is answered already; a second report would cost another epsilon.")
        report = self._randomizer.report(rewards_for(asked, reward), self._noise)
        self._answered.add(asked.id)
        return report_to_json(asked.id, report)


def rewards_for(asked: Asked, reward: object) -> object:
    """What the report is about: the reward, or of a super arm a list of those that are asked for."""
    several = isinstance(asked.action, tuple)
    if not isinstance(reward, Mapping):
        if several:
            raise RewardError(f"Expected a mapping from arm to reward, got an object of type {type(reward).__name__}. Nothing was drawn.")
        return reward
    missing = [arm for arm in asked.observe if arm not in reward]
    if missing:
        raise RewardError(f"Expected the rewards of arms {list(asked.observe)}; those of {missing} are missing. Nothing was drawn.")
    rewards = [reward[arm] for arm in asked.observe]
    return rewards if several else rewards[0]
