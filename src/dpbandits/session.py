"""Host 1: ask and tell in process. `ask` reads public state only; `tell` hands the reward to the vault and forgets it."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, final, overload

from dpbandits.decisions import Decision, DecisionError, NotRecordedError, find, find_each
from dpbandits.documents import noise_to_continue, read_document, rng_from_data, write_document
from dpbandits.noise import Noise
from dpbandits.plan import Hold, Plan, Progress, PublicRng
from dpbandits.policy import Policy, Release
from dpbandits.positions import position, progress_at
from dpbandits.privacy import Entry, Guarantee
from dpbandits.privacy import spent as spent_of
from dpbandits.strict import checked_default, checked_seed, damaged
from dpbandits.vault import open_vault

__all__ = ["Decision", "DecisionError", "NotRecordedError", "Session"]


@final
class Session:
    """A policy at work. Every decision is resolved exactly once: told, or expired.

    Tells may come late and in any order: a reward enters the block of its arm that is open when it arrives. More may be
    asked than the plan holds; the plan goes on until its own count of tells is reached. One thread at a time.

    Args:
        policy: any policy.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is no default.
        seed: seed of the public randomness (posterior samples); drawn if not given. It is not a secret.
        default: the reward that enters for an expired decision (for every action, with full information).
    """

    def __init__(self, policy: Policy, *, noise: Noise, seed: int | None = None, default: float = 0.0) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"Expected a policy such as dpbandits.DPKLUCB(arms=5, epsilon=1), got {type(policy).__name__}.")
        if not hasattr(noise, "laplace"):
            raise TypeError("Expected noise=SecureNoise() (people's data) or noise=SimulatedNoise(seed) (experiments).")
        self.policy, self._noise = policy, noise
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self._randomizer = policy.randomizer()
        self._vault = open_vault(policy.about.feedback, policy.mechanism(), policy.arms, noise, self._randomizer)
        self.default = checked_default(default)
        self._semi = policy.about.feedback == "semi"
        self._pending: dict[int, Decision] = {}
        self._asked = self._resolved = 0
        self._finished: tuple[int, ...] | None = None  # coordinates to release, once the plan is complete
        self._released: Release | None = None  # what they released, until the policy has planned from it
        self._open_plan(policy.init(), 0)

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

        A policy with full information takes the rewards of all actions, shape (actions,); after a super arm those of
        `decision.observe`, in that order.

        Raises:
            DecisionError: unknown id, or the decision was told or expired before.
            RewardError: not a number in [0, 1].
            NotRecordedError: what an earlier call left due failed again. In all three cases nothing was recorded, and the decision can
                still be told.

        Should what this tell completes fail, a release for want of noise or a plan for an oracle of the caller's own, that error
        passes through as it is: the reward is recorded (the decision is no longer pending), and what is due is made by the next call.
        """
        self.settle()
        known = find(decision, self._pending, self._asked)
        self._vault.add(known.observe or known.action, reward)
        self._resolve(known)

    def tell_many(self, tells: Iterable[tuple[Decision | int, object]]) -> None:
        """Several (decision, reward) pairs, told in this order; all are checked first, so a wrong one among them changes nothing.

        Should a release or a plan fail midway, its error passes through with a note that says how many of the pairs are recorded: the
        first so many. The decisions of the others are still pending; tell those again.
        """
        pairs = list(tells)
        self.settle()
        meant = find_each((decision for decision, _ in pairs), self._pending, self._asked)
        for known, (_, reward) in zip(meant, pairs, strict=True):
            self._vault.check(known.observe or known.action, reward)
        before = self._resolved
        try:
            for decision, reward in pairs:
                self.tell(decision, reward)
        except Exception as error:
            done = self._resolved - before
            error.add_note(f"tell_many: the first {done} of {len(pairs)} pairs are recorded; the others are pending and can be told again.")
            raise

    def settle(self) -> None:
        """Make what an earlier call's error left due, a release or a plan; most often there is nothing to do.

        Raises:
            NotRecordedError: it failed again.
        """
        try:
            if self._finished is not None:
                self._advance()
        except Exception as error:
            raise NotRecordedError(
                "A release or plan that an earlier call left due failed again (see the cause above); this call recorded nothing. "
                "Call again once the noise source or oracle works."
            ) from error

    def expire(self, decision: Decision | int) -> None:
        """No reward came: the declared default enters instead (in the local model: a report of the default).

        Raises:
            DecisionError: unknown id, or resolved before.
        """
        known = find(decision, self._pending, self._asked)
        feedback = self.policy.about.feedback
        rewards = self.default if feedback == "bandit" else [self.default] * len(known.observe or range(self.policy.arms))
        self.tell(decision, rewards if self._randomizer is None else self._randomizer.report(rewards, self._noise))

    def finish(self) -> None:
        """No more rewards come, and their number is public: a stopping rule that has not halted gives its answer now.

        A rule that has halted has nothing to add. Rewards told afterwards are never read.

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: no reward was ever told. Nothing was released.
        """
        if self.policy.about.goal != "estimate":
            raise TypeError(f"Expected a stopping rule, which may finish; {self.policy.name} plays on for as long as it is asked.")
        if self._finished is not None:
            self._advance()
        if isinstance(self._plan, Hold) and self._plan.release:
            release = self._vault.finish(self._resolved, tuple(sorted(self._progress.told.items())))
            self._open_plan(self.policy.update(self.state, self._plan, release), self._step + 1)

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
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record; None if anything was read without noise."""
        return spent_of(self._vault.ledger)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions asked and neither told nor expired, oldest first."""
        return tuple(self._pending.values())

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

        "public" may be shown to anyone. "private" holds open sums and mechanism memory: keep it as you keep the rewards
        themselves. Continue once only, from the newest copy: then every release is noised once. Each further continuation of
        one copy costs the people in its open blocks (with a tree: all its people) another epsilon.
        """
        if self._released is not None:
            raise RuntimeError("The policy could not plan from its newest release. Call ask() until it can, then save the session.")
        public = {
            "seed": self.seed,
            "default": self.default,
            "state": self.state,
            "step": self._step,
            "asked": self._asked,
            "asked_in_plan": self._i,
            "resolved": self._resolved,
            "pending": [(decision.id, decision.action, decision.observe) for decision in self._pending.values()],
            "told_in_plan": list(self._progress.told.items()),
            "plan_finished": self._finished,
            "rng": self._rng.state(),
            "vault": self._vault.public_state(),
        }
        return write_document(self.policy, public, self._vault.private_state())

    @classmethod
    def from_json(cls, text: str, *, noise: Noise | None = None) -> Session:
        """Continue a saved session: given the same noise, it decides as the uninterrupted one would.

        Args:
            text: what `to_json` returned.
            noise: another source of the same kind to go on with; by default fresh secure noise, or the simulated one where it was.

        Raises:
            ValueError: the text is no such document, or of another version; or `noise` is of another kind than the saved one.
        """
        policy, public, private = read_document(text)
        at = position(policy, public)
        noise, seed = noise_to_continue(private["noise"], noise), checked_seed(public["seed"])
        session = cls(policy, noise=noise, seed=seed, default=public["default"])
        session._vault.restore(public["vault"], private, at.resolved)
        session._asked, session._resolved, session._pending = at.asked, at.resolved, at.pending
        try:
            session._open_plan(public["state"], at.step)
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            raise damaged(f"{policy.name} cannot plan from public.state") from error
        session._progress = progress_at(session._plan, at)
        session._i, session._finished = at.asked_in_plan, at.finished
        session._rng = rng_from_data(session.seed, session._step, public["rng"])
        return session

    def _ask(self) -> Decision:
        if self._finished is not None:
            self._advance()
        self._asked = round = self._asked + 1
        action = self._plan.action_at(self._i, round, self._rng)
        self._i += 1
        observe = (self._plan.observe or action) if self._semi else None
        decision = self._pending[round] = Decision(round, action, round, observe)  # type: ignore[arg-type]
        return decision

    def _resolve(self, decision: Decision) -> None:
        del self._pending[decision.id]
        self._resolved += 1
        release = self._progress.count(decision.observe or decision.action)
        if release is not None:
            self._finished = release
            self._advance()

    def _advance(self) -> None:
        """Release, update, plan. If the noise source or the policy's oracle fails, the next call tries again from where it failed."""
        assert self._finished is not None
        told = tuple(sorted(self._progress.told.items()))
        if self._released is None:
            self._released = self._vault.release(self._finished, self._resolved, told, self._plan.drop)
        self._open_plan(self.policy.update(self.state, self._plan, self._released), self._step + 1)

    def _open_plan(self, state: Any, step: int) -> None:
        """Plan from this state; nothing is assigned before the policy has answered."""
        rng = PublicRng(self.seed, step)
        plan = self.policy.plan(state, rng)
        self.state, self._step, self._rng, self._plan = state, step, rng, plan
        self._progress, self._i, self._finished, self._released = Progress(plan), 0, None, None
