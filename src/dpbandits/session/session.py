"""Host 1: ask and tell in process. `ask` reads public state only; `tell` hands the reward to the
vault and forgets it.

Every call may be interrupted at any line (Ctrl-C, an alarm, a failing noise source) and made again:
see `turn.py`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from threading import get_ident
from typing import Any, final, overload

from dpbandits.core.errors import (
    DecisionError,
    LedgerError,
    MessageError,
    NotRecordedError,
    SharedError,
)
from dpbandits.core.gate import MARKS, Gate, gated
from dpbandits.core.inputs import refuse_class, whole_number
from dpbandits.core.plan import Hold, Plan
from dpbandits.core.privacy import Entry, Guarantee
from dpbandits.core.privacy import spent as spent_of
from dpbandits.core.values import checked_default, checked_name, checked_noise, checked_seed
from dpbandits.local.messages import randomizer_to_json, report_from_json
from dpbandits.noise.sources import Noise
from dpbandits.policies.contract import Policy
from dpbandits.session.agreement import require_agreement
from dpbandits.session.decisions import Decision, find_each, find_pending
from dpbandits.session.documents import (
    noise_to_continue,
    noise_to_data,
    read_document,
    write_document,
)
from dpbandits.session.saved_position import MOST_PENDING, position, position_to_data, wheel_at
from dpbandits.session.turn import Wheel
from dpbandits.vault import open_vault

__all__ = ["Decision", "DecisionError", "LedgerError", "NotRecordedError", "Session", "SharedError"]

PENDING = 100_000
"""Decisions that may wait for their rewards, unless a session is made with another
`max_pending`.
"""


@final
class Session:
    """A policy at work. Every decision is resolved exactly once: told, or expired.

    Tells may come late and in any order: a reward enters the block of its arm that is open when it
    arrives. More may be
    asked than the plan holds; the plan goes on until its own count of tells is reached.

    One thread at a time: a call that finds another one under way raises `SharedError` and does
    nothing; so does every call in a forked child. A call that was interrupted (by Ctrl-C, an alarm,
    an error of the noise source) can be made again: whether its reward was recorded, lost or is
    still to be told, it is never counted twice; `pending` says which decisions still take one.

    Args:
        policy: any policy.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is
            no default.
        seed: seed of the public randomness (posterior samples); drawn if not given. It is not a
            secret.
        default: the reward that enters for an expired decision (for every action, with full
            information).
        campaign: a public name that decisions carry, so that another session refuses them; by
            default the seed.
        max_pending: how many decisions may wait for their rewards at a time.

    Raises:
        ValueError: policy, mechanism and guarantee do not agree.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        noise: Noise,
        seed: int | None = None,
        default: float = 0.0,
        campaign: str | None = None,
        max_pending: int = PENDING,
    ) -> None:
        refuse_class(policy, "a policy", "dpbandits.DPKLUCB(arms=5, epsilon=1)")
        if not isinstance(policy, Policy):
            raise TypeError(
                "Expected a policy such as dpbandits.DPKLUCB(arms=5, epsilon=1), got "
                f"{type(policy).__name__}."
            )
        self._gate = Gate()
        self._inside, self._home = self._gate.inside, self._gate.home.mark
        self._policy, self._noise = policy, checked_noise(noise)
        self.seed = secrets.randbits(63) if seed is None else checked_seed(seed)
        self.campaign = f"{self.seed:x}" if campaign is None else checked_name(campaign)
        self.default, self.max_pending = (
            checked_default(default),
            whole_number(max_pending, "max_pending", 1, MOST_PENDING),
        )
        self._randomizer = policy.randomizer()
        self._vault = open_vault(
            policy.about.feedback, policy.mechanism(), policy.arms, noise, self._randomizer
        )
        require_agreement(policy, self._vault.guarantee)
        self._wheel = Wheel(policy, self._vault, self.seed)
        self.generation = 0

    def __getstate__(self) -> dict[str, Any]:
        """What copies take along: all but the entry, of which each has its own."""
        return {
            name: value for name, value in self.__dict__.items() if name not in ("_inside", "_home")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._inside, self._home = self._gate.inside, self._gate.home.mark

    def __repr__(self) -> str:
        return (
            f"Session({self.policy!r}, asked={self._wheel.asked}, told={self._vault.records}, "
            f"releases={self._vault.releases})"
        )

    @overload
    def ask(self) -> Decision: ...
    @overload
    def ask(self, count: int) -> list[Decision]: ...
    @gated
    def ask(self, count: int | None = None) -> Decision | list[Decision]:
        """The next decision, or a list of `count` of them.

        Raises:
            RuntimeError: more decisions than `max_pending` would wait for their rewards. None was
            made.
        """
        if count is not None:
            return self._ask_many(whole_number(count, "count"))
        caller, inside = (get_ident(),), self._inside
        if MARKS[0] is not self._home or inside.setdefault(0, caller) is not caller:
            self._gate.take_over(caller)
        try:
            wheel = self._wheel
            if wheel.busy:
                wheel.go_on()
            if len(wheel.pending) >= self.max_pending:
                raise too_many_pending(len(wheel.pending), 1, self.max_pending)
            return wheel.ask(self.campaign)
        finally:
            if len(inside) == 1 and inside[0] is caller:
                inside.clear()
            else:
                self._gate.leave(caller)

    @gated
    def tell(self, decision: Decision | int, reward: object) -> None:
        """The reward of a decision (or of its id): a number in [0, 1], or in the local model the
        user's `Report`.

        A policy with full information takes the rewards of all actions, shape (actions,); after a
        super arm those of `decision.observe`, in that order.

        Raises:
            DecisionError: unknown id, or the decision was told or expired before.
            RewardError: not a number in [0, 1].
            NotRecordedError: what an earlier call left due failed again. In all three cases nothing
            was recorded, and the decision can still be told.

        Should what this tell completes fail, a release for want of noise or a plan for an oracle of
        the caller's own, that error
        passes through as it is: the reward is recorded (the decision is no longer pending), and
            what is due is made by the next call.
        """
        caller, inside = (get_ident(),), self._inside
        if MARKS[0] is not self._home or inside.setdefault(0, caller) is not caller:
            self._gate.take_over(caller)
        try:
            wheel = self._wheel
            if wheel.busy:
                self._settle()
            id, play = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
            wheel.tell(id, play, reward)
        finally:
            if len(inside) == 1 and inside[0] is caller:
                inside.clear()
            else:
                self._gate.leave(caller)

    def tell_message(self, text: str) -> None:
        """In the local model: a user's answer as their device sent it
        (`dpbandits.local.client.Client.answer`).

        Raises:
            MessageError: no such message, or one for another campaign. Nothing was recorded.
        """
        told = report_from_json(text)
        if told.campaign != self.campaign:
            raise MessageError(
                "Expected a report for this session's campaign, got one for another. Nothing was "
                "recorded."
            )
        self.tell(told.id, told.report)

    @gated
    def tell_many(self, tells: Iterable[tuple[Decision | int, object]]) -> None:
        """Several (decision, reward) pairs, told in this order; all are checked first, so a wrong
        one among them changes nothing.

        Should a release or a plan fail midway, its error passes through with a note that says how
        many of the pairs are resolved: the first so many. The decisions of the others are still
        pending; tell those again.
        """
        pairs = checked_pairs(tells)
        caller = self._gate.enter()
        try:
            self._settle()
            self._check(pairs)
            self._tell_each(pairs)
        finally:
            self._gate.leave(caller)

    @gated
    def settle(self) -> None:
        """Make what an earlier call's error left due, a release or a plan; most often there is
        nothing to do.

        Raises:
            NotRecordedError: it failed again.
        """
        caller = self._gate.enter()
        try:
            self._settle()
        finally:
            self._gate.leave(caller)

    @gated
    def expire(self, decision: Decision | int) -> None:
        """No reward came: the declared default enters instead (in the local model: a report of the
        default).

        Raises:
            DecisionError: unknown id, or resolved before.
        """
        caller = self._gate.enter()
        try:
            self._settle()
            wheel = self._wheel
            id, play = find_pending(decision, wheel.pending, wheel.asked, self.campaign)
            single = self.policy.about.feedback == "bandit"
            rewards = (
                self.default
                if single
                else [self.default] * len(play.observe or range(self.policy.arms))
            )
            wheel.tell(
                id,
                play,
                rewards
                if self._randomizer is None
                else self._randomizer.report(rewards, self._noise),
            )
        finally:
            self._gate.leave(caller)

    @gated
    def finish(self) -> None:
        """No more rewards come, and their number is public: a stopping rule that has not halted
        gives its answer now.

        A rule that has halted has nothing to add. Rewards told afterwards are never read.

        Raises:
            TypeError: the policy plays on for ever.
            ValueError: no reward was ever told. Nothing was released.
        """
        if self.policy.about.goal != "estimate":
            raise TypeError(
                f"Expected a stopping rule, which may finish; {self.policy.name} plays on for as "
                "long as it is asked."
            )
        caller = self._gate.enter()
        try:
            self._wheel.go_on()
            if isinstance(self.plan, Hold) and self.plan.release:
                self._wheel.finish()
        finally:
            self._gate.leave(caller)

    def description(self) -> str:
        """In the local model: what users' devices need to know before they answer, as JSON
        (`dpbandits.local.client.Client`).

        Raises:
            TypeError: this policy's users send their rewards as they are.
        """
        if self._randomizer is None:
            raise TypeError(
                f"Expected a policy that is private in the local model; {self.policy.name} has "
                "no randomizer."
            )
        return randomizer_to_json(self._randomizer, self.campaign)

    @property
    def policy(self) -> Policy:
        """The policy it was made with."""
        return self._policy

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this session promises together, as it was opened; None for a
        policy without privacy.
        """
        guarantee = self._vault.guarantee
        return None if guarantee is None else replace(guarantee, noise=self._noise.kind)

    @property
    def ledger(self) -> tuple[Entry, ...]:
        """What was read, at what price; `dpbandits.spent(session.ledger)` is its exact total."""
        return self._vault.ledger

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record; None if anything was read without
        noise.
        """
        return spent_of(self._vault.ledger)

    @property
    def pending(self) -> tuple[Decision, ...]:
        """Decisions asked and neither told nor expired, oldest first."""
        waiting, asked = self._wheel.pending.copy(), self._wheel.asked
        return tuple(
            play.decision(id, self.campaign) for id, play in waiting.items() if id <= asked
        )

    @property
    def resolved(self) -> int:
        """Decisions that were told or expired, those among them whose reward was lost."""
        return self._wheel.asked - len(self.pending)

    @property
    def lost(self) -> int:
        """Decisions whose tell was interrupted after it was claimed: their rewards never
        entered.
        """
        return self._wheel.lost

    @property
    def state(self) -> Any:
        """What the policy knows (public)."""
        return self._wheel.turn.state

    @property
    def plan(self) -> Plan:
        """What is being played now (public)."""
        return self._wheel.turn.plan

    @property
    def releases(self) -> int:
        """Coordinates released so far."""
        return self._vault.releases

    @gated
    def to_json(self, *, key: bytes | None = None) -> str:
        """The whole session as a JSON document in two parts.

        "public" may be shown to anyone. "private" holds open sums and mechanism memory: keep it as
        you keep the rewards
        themselves. Continue once only, from the newest copy (the one with the largest
        "generation"): then every release is noised once. Each further continuation of one copy
        costs the people in its open blocks (with a tree: all its people) another epsilon.

        key: a secret of at least 16 bytes. The document then carries a MAC, and is loaded with the
            same key only: nobody without it can change what is read again. Without a key a checksum
            finds accidents, not intent.

        Raises:
            NotRecordedError: a release or plan that was begun, and failed, fails again; or `finish`
            failed. Nothing was saved.
        """
        caller = self._gate.enter()
        try:
            self._wheel.recover()
            if self._vault.drawn or self._vault.turns > self._wheel.turn.step:
                self._settle()  # a copy would draw the noise of a release that was begun once more
            if self._vault.drawn:
                raise NotRecordedError(
                    "An answer was begun by finish() and failed. Nothing was saved. Call "
                    "finish() again, then save."
                )
            private = self._vault.private_state()
            text = write_document(self.policy, self._public(self.generation + 1), private, key)
            self.generation += 1
            return text
        finally:
            self._gate.leave(caller)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        policy: Policy | type[Policy] | None = None,
        noise: Noise | None = None,
        key: bytes | None = None,
    ) -> Session:
        """Continue a saved session: given the same noise, it decides as the uninterrupted one
        would.

        Args:
            text: what `to_json` returned.
            policy: the policy, or its class, where it is one of your own: a document names no code.
            noise: another source of the same kind to go on with; by default fresh secure noise, or
                the simulated one where it was.
            key: the key it was saved with.

        Raises:
            ValueError: the text is no such document, was changed, contradicts itself, is of another
            version, was saved with another key, or of another policy than the given one; or `noise`
            is of another kind than the saved one, or weaker.
        """
        policy, public, private = read_document(text, policy, key)
        at = position(policy, public)
        noise = noise_to_continue(public["noise"], private["noise"], noise)
        session = cls(
            policy,
            noise=noise,
            seed=at.seed,
            default=public["default"],
            campaign=at.campaign,
            max_pending=at.max_pending,
        )
        session._vault.restore(public["vault"], private)
        session._wheel = wheel_at(session._wheel, at, public)
        session.generation = at.generation
        return session

    def _public(self, generation: int) -> dict[str, Any]:
        """The public part of a saved session."""
        own = {
            "campaign": self.campaign,
            "seed": self.seed,
            "default": self.default,
            "max_pending": self.max_pending,
        }
        head = {"generation": generation, "noise": noise_to_data(self._noise)}
        return head | own | position_to_data(self._wheel) | {"vault": self._vault.public_state()}

    @gated
    def _ask_many(self, count: int) -> list[Decision]:
        """So many decisions, or none."""
        wheel = self._wheel
        caller = self._gate.enter(1)
        try:
            wheel.go_on()
            if len(wheel.pending) + count > self.max_pending:
                raise too_many_pending(len(wheel.pending), count, self.max_pending)
            return [play.decision(id, self.campaign) for id, play in wheel.ask_many(count)]
        finally:
            self._gate.leave(caller)

    def _check(self, pairs: list[tuple[Any, object]]) -> None:
        """Refuse all pairs for one wrong one, and say which."""
        wheel, place = self._wheel, 0
        try:
            for _, play in find_each(
                (decision for decision, _ in pairs), wheel.pending, wheel.asked, self.campaign
            ):
                self._vault.check(play.observe or play.action, pairs[place][1])
                place += 1
        except Exception as error:
            raise type(error)(f"Pair {place} (counted from 0) of {len(pairs)}: {error}") from None

    def _tell_each(self, pairs: list[tuple[Any, object]]) -> None:
        """Tell checked pairs; an error passes with a note that says how many are resolved."""
        wheel = self._wheel
        before = len(wheel.pending)
        try:
            for decision, reward in pairs:
                self._settle()
                wheel.tell(
                    *find_pending(decision, wheel.pending, wheel.asked, self.campaign), reward
                )
        except BaseException as error:
            done = before - len(wheel.pending)
            error.add_note(
                f"tell_many: the first {done} of {len(pairs)} pairs are resolved; the others are "
                "pending and can be told again."
            )
            raise

    def _settle(self) -> None:
        """Make what is due before anything is recorded; an error says that nothing was."""
        try:
            self._wheel.go_on()
        except LedgerError:
            raise
        except Exception as error:
            raise NotRecordedError(
                "A release or plan that an earlier call left due failed again (see the cause "
                "above); this call recorded nothing. "
                "Call again once the noise source or oracle works."
            ) from error


def too_many_pending(waiting: int, number: int, limit: int) -> RuntimeError:
    return RuntimeError(
        f"Expected at most max_pending={limit} decisions to wait for their rewards; {waiting} "
        f"do, and {number} more were asked for. "
        "Tell or expire some of `session.pending`, or make the session with a larger "
        "max_pending. None was made."
    )


def checked_pairs(tells: object) -> list[tuple[Any, object]]:
    """(decision, reward) pairs; the error shows none of them."""
    if not isinstance(tells, Iterable):
        raise TypeError(
            f"Expected (decision, reward) pairs, got an object of type {type(tells).__name__}. "
            "Nothing was recorded."
        )
    pairs = list(tells)
    if pairs and all(isinstance(pair, Decision) for pair in pairs):
        raise TypeError(
            "Expected (decision, reward) pairs, got decisions alone: tell_many(zip(decisions, "
            "rewards)). Nothing was recorded."
        )
    for place, pair in enumerate(pairs):
        if isinstance(pair, Decision) or not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"Expected (decision, reward) pairs; entry {place} (counted from 0) of "
                f"{len(pairs)} is an object of type "
                f"{type(pair).__name__} that is none. Nothing was recorded."
            )
    return pairs
