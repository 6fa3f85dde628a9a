"""Host 1: ask and tell in process. `ask` reads public state only; `tell` hands the reward to the vault and forgets it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, final, overload

from dpbandits.documents import read_document, write_document
from dpbandits.noise import Noise, noise_from_state
from dpbandits.plan import Plan, Progress, PublicRng
from dpbandits.policy import Policy
from dpbandits.privacy import Entry, Guarantee
from dpbandits.privacy import spent as spent_of
from dpbandits.vault import Vault


class Decision(NamedTuple):
    """Public: play `action` in round `round` (counted from 1) and tell the reward under `id`."""

    id: int
    action: int
    round: int


class DecisionError(LookupError):
    """A tell or expiry for a decision that is unknown or already resolved. Nothing was recorded."""


@final
class Session:
    """A policy at work. Every decision is resolved exactly once: told, or expired.

    Tells may come late and in any order: a reward enters the block of its arm that is open when it arrives. More may be
    asked than the plan holds; the plan goes on until its own count of tells is reached. One thread at a time.

    Args:
        policy: any policy.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is no default.
        seed: seed of the public randomness (posterior samples); drawn if not given. It is not a secret.
        default: the reward that enters for an expired decision.
    """

    def __init__(self, policy: Policy, *, noise: Noise, seed: int | None = None, default: float = 0.0) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"Expected a policy such as dpbandits.DPKLUCB(arms=5, epsilon=1), got {type(policy).__name__}.")
        if not hasattr(noise, "laplace"):
            raise TypeError("Expected noise=SecureNoise() (people's data) or noise=SimulatedNoise(seed) (experiments).")
        noise = noise.own()
        self.policy, self._noise = policy, noise
        self.seed = secrets.randbits(63) if seed is None else seed
        self._randomizer = policy.randomizer()
        self._vault = Vault(policy.mechanism(), policy.arms, noise, self._randomizer)
        if not 0.0 <= default <= 1.0:
            raise ValueError(f"Expected default={default!r} to be a reward in [0, 1].")
        self.default = default
        self.state: Any = policy.init()
        self._pending: dict[int, int] = {}  # decision id -> action
        self._asked = self._resolved = 0
        self._step = 0
        self._finished: tuple[int, ...] | None = None  # coordinates to release, once the plan is complete
        self._open_plan()

    def __repr__(self) -> str:
        return f"Session({self.policy!r}, asked={self._asked}, told={self._resolved}, releases={self._vault.releases})"

    @overload
    def ask(self) -> Decision: ...
    @overload
    def ask(self, count: int) -> list[Decision]: ...
    def ask(self, count: int | None = None) -> Decision | list[Decision]:
        """The next decision, or a list of `count` of them."""
        if count is None:
            return self._ask()
        if not isinstance(count, int) or count < 0:
            raise ValueError(f"Expected count={count!r} to be a whole number of decisions, at least 0.")
        return [self._ask() for _ in range(count)]

    def tell(self, decision: Decision | int, reward: object) -> None:
        """The reward of a decision (or of its id): a number in [0, 1], or in the local model the user's `Report`.

        Raises:
            DecisionError: unknown id, or the decision was told or expired before.
            RewardError: not a number in [0, 1]. In both cases nothing was recorded, and the decision can still be told.

        Should the noise source fail, its error passes through: the reward is recorded, and the release that was due is made by
        the next call.
        """
        id = decision.id if type(decision) is Decision else decision
        try:
            action = self._pending[id]  # type: ignore[index]
        except (KeyError, TypeError):
            raise self._unknown(id) from None
        self._vault.add(action, reward)
        self._resolve(id, action)  # type: ignore[arg-type]

    def tell_many(self, tells: Iterable[tuple[Decision | int, object]]) -> None:
        """Several (decision, reward) pairs; all are checked before the first is recorded, so a wrong one among them changes nothing."""
        pairs = [(d.id if isinstance(d, Decision) else d, reward) for d, reward in tells]
        seen: set[object] = set()
        for id, reward in pairs:
            if not isinstance(id, int) or id not in self._pending or id in seen:
                raise self._unknown(id, twice=id in seen)
            seen.add(id)
            self._vault.check(reward)
        for id, reward in pairs:
            self.tell(id, reward)

    def expire(self, decision: Decision | int) -> None:
        """No reward came: the declared default enters instead (in the local model: a report of the default).

        Raises:
            DecisionError: unknown id, or resolved before.
        """
        id = decision.id if isinstance(decision, Decision) else decision
        reward = self.default if self._randomizer is None else self._randomizer.report(self.default, self._noise)
        self.tell(id, reward)

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this session promises together; None for a policy without privacy."""
        guarantee = self.policy.guarantee
        return None if guarantee is None else replace(guarantee, noise=self._noise.kind)

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What was read, at what price; `dpbandits.spent(session.ledger)` is its exact total."""
        return self._vault.ledger

    @property
    def spent(self) -> object:
        """The ledger's exact total for the worst-off record (a Fraction); None if anything was read without noise."""
        return spent_of(self._vault.ledger)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions asked and neither told nor expired, oldest first."""
        return tuple(Decision(id, action, id) for id, action in self._pending.items())

    @property
    def plan(self) -> Plan:
        """What is being played now (public)."""
        return self._plan

    @property
    def releases(self) -> int:
        """Coordinates released so far."""
        return self._vault.releases

    def to_json(self) -> str:
        """The whole session as a JSON document in two parts.

        "public" may be shown to anyone. "private" holds open sums, mechanism memory and unused noise: keep it as you
        keep the rewards themselves, and continue once only, from the newest copy. (An older copy, told the same rewards, repeats
        the noise of the releases made since as far as the saved pool reaches; beyond it those sums would be noised twice.)
        """
        public = {
            "seed": self.seed,
            "default": self.default,
            "state": self.state,
            "step": self._step,
            "asked": self._asked,
            "asked_in_plan": self._i,
            "resolved": self._resolved,
            "pending": list(self._pending.items()),
            "told_in_plan": list(self._progress.told.items()),
            "plan_finished": self._finished,
            "rng": self._rng.state(),
            "vault": self._vault.public_state(),
        }
        return write_document(self.policy, public, self._vault.private_state())

    @classmethod
    def from_json(cls, text: str, *, noise: Noise | None = None) -> Session:
        """Continue a saved session: the same decisions, and the same noise for the same releases.

        Args:
            text: what `to_json` returned.
            noise: another source of the same kind to go on with; by default the saved one at its own position.

        Raises:
            ValueError: the text is no such document, or of another version; or `noise` is of another kind than the saved one.
        """
        policy, public, private = read_document(text)
        saved = noise_from_state(private["noise"])
        if noise is not None and noise.kind != saved.kind:
            raise ValueError(f"This session was played with {saved.kind} noise; going on with {noise.kind} noise would void its guarantee.")
        session = cls(policy, noise=noise or saved, seed=public["seed"], default=public["default"])
        session._noise = session._vault.noise = saved if noise is None else session._noise
        session._vault.restore(public["vault"], private)
        session.state = public["state"]
        session._asked, session._resolved, session._step = public["asked"], public["resolved"], public["step"]
        session._pending = dict(public["pending"])
        session._open_plan()
        session._progress = Progress(session._plan, public["told_in_plan"])
        session._i, session._finished = public["asked_in_plan"], public["plan_finished"]
        session._rng = PublicRng(session.seed, session._step, public["rng"])
        return session

    def _ask(self) -> Decision:
        if self._finished is not None:
            self._advance()
        self._asked = round = self._asked + 1
        action = self._plan.action_at(self._i, round, self._rng)
        self._i += 1
        self._pending[round] = action
        return Decision(round, action, round)

    def _resolve(self, id: int, action: int) -> None:
        del self._pending[id]
        self._resolved += 1
        release = self._progress.count(action)
        if release is not None:
            self._finished = release
            self._advance()

    def _advance(self) -> None:
        """Release, update, plan. Called again by the next ask if the noise source failed: nothing was half-applied."""
        assert self._finished is not None
        told = tuple(sorted(self._progress.told.items()))
        release = self._vault.release(self._finished, self._resolved, told)
        self.state = self.policy.update(self.state, self._plan, release)
        self._step += 1
        self._finished = None
        self._open_plan()

    def _open_plan(self) -> None:
        self._rng = PublicRng(self.seed, self._step)
        self._plan = self.policy.plan(self.state, self._rng)
        self._progress = Progress(self._plan)
        self._i = 0

    def _unknown(self, id: object, twice: bool = False) -> DecisionError:
        if twice or (isinstance(id, int) and 0 < id <= self._asked):
            return DecisionError(f"Decision {id} is resolved already: each is told or expired once. Nothing was recorded.")
        return DecisionError(f"Expected a decision this session made (ids 1 to {self._asked}), got {id!r}. Nothing was recorded.")
