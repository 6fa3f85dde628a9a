"""Host 1: ask and tell in process. `ask` reads public state only; `tell` hands the reward to the
vault and forgets it.

Every call may be interrupted at any line (Ctrl-C, an alarm, a failing noise source) and made again:
see `turn.py`.
"""

from collections.abc import Callable, Iterable
from sys import _getframe
from typing import Any, ClassVar, Self, final, overload

from dpbandits.core.calls.forgetting import discreet, forget
from dpbandits.core.calls.gate import MARKS
from dpbandits.core.errors import MessageError
from dpbandits.core.inputs import whole_number
from dpbandits.local.messages import report_from_json
from dpbandits.session.decisions import (
    MAY_BE_SWAPPED,
    Decision,
    Eligible,
    User,
    decision_first,
    find_pending,
)
from dpbandits.session.options import CheckedCall, too_many_pending
from dpbandits.session.pairs import checked_pairs, read_pairs, tell_pairs
from dpbandits.session.saving.saved import Saved
from dpbandits.session.wheel.turn import settle


@final
class Session(Saved, metaclass=CheckedCall):
    """A policy at work. Every decision is resolved exactly once: told, or expired.

    Tells may come late and in any order: a reward enters the block of its arm that is open when it
    arrives. More may be asked than the plan holds; the plan goes on until its own count of tells is
    reached.

    One thread at a time: a call that finds another one under way raises `SharedError` and does
    nothing; so does every call in a forked child. A call that was interrupted (by Ctrl-C, an alarm,
    an error of the noise source) can be made again: whether its reward was recorded, lost or is
    still to be told, it is never counted twice; `pending` says which decisions still take one.

    Args:
        policy: any policy.
        noise: `SecureNoise()` for people's data, `SimulatedNoise(seed)` for experiments. There is
            no default.
        seed: seed of the public randomness (posterior samples), no secret; drawn if not given.
        default: the reward that enters for an expired decision (for every action, with full
            information); by default 0, or the worse end of `rewards` where 0 is not in them.
        campaign: a public name that decisions carry, so that another session refuses them; by
            default the seed.
        max_pending: how many decisions may wait for their rewards at a time.
        rewards: the declared range of rewards, or of costs (`dpbandits.Range`); by default [0, 1].
        privacy_unit: "round", where each reward is another person's; "user", where people come
            back: then the promise is about all rewards of one user.
        max_contributions: the most rounds in which one user is learned from. The policy runs at
            that share of its budget.
        max_contributions_per_release: 1: no two of them are read in one release, which under zCDP
            costs k times a round in place of k² times. Whoever comes back before their reward was
            read is not learned from that time.
        window: with "user": the cap, and the promise, are for each window of this length; by
            default for ever.
        clock: a function that says the time, for `window` and `attribution_window`; by default
            this machine's.
        user_key: a secret of at least 16 bytes under which users are known; needed to save.
        attribution_window: how long an answer is waited for; whoever did not answer by then counts
            with `default`. Who answered is then as private as the reward.
        segments: names of groups that are known beforehand, public and fixed: each learns for
            itself (see `dpbandits.SegmentedSession`, which this then makes).
        assignment: "shuffled": the first blocks of all arms come in one random order, in place of
            one after the other, so that no arm is bound to a time. Its coins come from `seed`,
            which has to stay secret until the end.
        min_share: each arm's least share of rounds, by a coin a round; its price is regret.
        guardrail: a second number of each record, told as (reward, harm), of which no arm may do
            more than declared (`dpbandits.Guardrail`); one that does is suspended.

    Raises:
        ValueError: policy, mechanism and guarantee do not agree.
    """

    _segmented: ClassVar[Callable[..., Any]]
    """Makes a session with segments. It is made of sessions, so its module imports this one, and
    names itself here.
    """

    def __new__(cls, *given: Any, segments: object = None, **options: Any) -> Self:
        """A session; with segments, one that has them."""
        if segments is None:
            return super().__new__(cls)
        made: Any = cls._segmented(*given, segments=segments, **options)
        return made  # type: ignore[no-any-return]  # it has the same verbs

    @overload
    def ask(
        self,
        count: None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
    ) -> Decision: ...
    @overload
    def ask(
        self,
        count: int,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
    ) -> list[Decision]: ...
    def ask(
        self,
        count: int | None = None,  # no `*` here: it costs a plain ask a tenth of its time
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
    ) -> Decision | list[Decision]:
        """The next decision, or a list of `count` of them.

        eligible: the arms that may be played this time, by their names or numbers; who is eligible
            for what is public. The arm with the largest index, or posterior draw, among those
            that are in play is chosen.
        user: who is asked for, where people come back (`privacy_unit="user"`): their own text or
            whole number. 3 and "3" are one person, and so are two spellings of one text (Unicode's
            NFC); "03", other capitals and other spaces are another. Beyond the cap of learned
            rounds a person still gets a decision, the arm with the largest released mean;
            its `learn` is False, and its reward is taken and never read (in the local model, where
            a report costs the person all the same, none is asked for: it has no message).
        segment: see `segments=`.

        Raises:
            RuntimeError: more decisions than `max_pending` would wait for their rewards. None was
            made.
            ValueError: `eligible` names no arm that is in play, or the policy cannot choose among
            some of its arms; or `user` is missing where people come back, or given where they do
            not. None was made.
        """
        if segment is not None:
            raise ValueError(
                "Expected no segment=: this session has none. Make it with segments=['DE', 'FR'], "
                "say. None was made."
            )
        if count is not None or eligible is not None or user is not None or self._special:
            number = 1 if count is None else whole_number(count, "count")
            many = self._ask_many(number, eligible, user)
            return many[0] if count is None else many
        caller, inside = _getframe(), self._inside
        if MARKS[0] is not self._home or inside.setdefault(0, caller) is not caller:
            self._gate.take_over(caller)
        try:
            wheel = self._wheel
            if wheel.busy:
                wheel.go_on()
            if len(wheel.pending) >= self.max_pending:
                raise too_many_pending(len(wheel.pending), 1, self.max_pending)
            return wheel.ask(self.campaign)
        except BaseException as error:
            forget(error, caller)
            raise
        finally:
            if len(inside) == 1 and inside.get(0) is caller:
                del inside[0]
            else:
                self._gate.leave()
            del caller  # a frame that knows itself would live on

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
        the caller's own, that error passes through as it is: the reward is recorded (the decision
        is no longer pending), and what is due is made by the next call.
        """
        caller, inside = _getframe(), self._inside
        try:
            if MARKS[0] is not self._home or inside.setdefault(0, caller) is not caller:
                self._gate.take_over(caller)
            if self._attribution is not None:
                self._hold(decision, reward)
                return
            wheel = self._wheel
            if wheel.busy:
                settle(wheel)
            id, play = find_pending(
                decision, wheel.pending, wheel.asked, self.campaign, wheel.newest
            )
            wheel.tell(id, play, reward)
            return
        except BaseException as error:
            forget(error, caller)
            if type(reward) is not Decision or not isinstance(error, MAY_BE_SWAPPED):
                raise
        finally:
            if len(inside) == 1 and inside.get(0) is caller:
                del inside[0]
            else:
                self._gate.leave()
            # a frame that knows itself would live on; and an error would show what came
            del caller, decision, reward
        raise decision_first()

    @discreet
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

    @discreet
    def tell_many(self, tells: Iterable[tuple[Decision | int, object]]) -> None:
        """Several (decision, reward) pairs, told in this order; all are checked first, so a wrong
        one among them changes nothing.

        Should a release or a plan fail midway, its error passes through with a note that says how
        many of the pairs are resolved: the first so many. The decisions of the others are still
        pending; tell those again.
        """
        pairs = checked_pairs(tells)  # not behind the gate: what makes them may ask for decisions
        self._gate.enter()
        try:
            if self._attribution is None:
                settle(self._wheel)
                tell_pairs(read_pairs(pairs, self._wheel, self.campaign), self._wheel)
            else:
                self._hold_pairs(pairs)
        finally:
            self._gate.leave()
