"""A campaign: a policy at work for weeks, the same object from many processes at once."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, final, overload

from dpbandits.core.calls.forgetting import discreet
from dpbandits.core.errors import StoreError
from dpbandits.core.inputs import as_int, is_line, shown, whole_number
from dpbandits.service.looks.campaign import MOST_AT_ONCE, ShownCampaign
from dpbandits.service.turns.asks import AskOp, CampaignDecision
from dpbandits.service.turns.others import (
    ArmOp,
    ChangeOp,
    CloseOp,
    DropOp,
    EraseOp,
    FinishOp,
    SettleOp,
    call_key,
    keyed,
)
from dpbandits.service.turns.tells import (
    ExpireOp,
    TellOp,
    TellStatus,
    VoidOp,
    id_of,
    pairs_in,
    required_id,
)
from dpbandits.service.turns.turning import Turning
from dpbandits.session.decisions import Eligible, User


@final
class Campaign(ShownCampaign):
    """A durable session, with the same verbs. A call returns once what it did is on disk.

    Every call can be made again: an answer that is told twice counts once, and what is asked or
    done under a `key=`, a word of the caller's, is done once and answered alike. Make a campaign
    with `store.create(name, policy)`, open it with `store[name]`.
    """

    def __init__(self, turning: Turning) -> None:
        super().__init__(turning)
        self._turning = turning

    @property
    def addresses(self) -> frozenset[str]:
        """The names of campaigns that its decisions carry."""
        return frozenset({self.name})

    @overload
    def ask(
        self,
        count: None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
    ) -> CampaignDecision: ...
    @overload
    def ask(
        self,
        count: int,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
    ) -> list[CampaignDecision]: ...
    def ask(
        self,
        count: int | None = None,
        eligible: Eligible = None,
        user: User = None,
        segment: str | None = None,
        key: str | None = None,
    ) -> CampaignDecision | list[CampaignDecision]:
        """The next decision, or a list of `count` of them (see `Session.ask`).

        key: a word of the caller's; the call made again with it gives the same decisions.
        segment: which, of a campaign with `segments=`.

        Raises:
            RuntimeError: the campaign is over, or too many decisions wait. None was made.
            ValueError: as `Session.ask`. None was made.
            StoreError: the database is away. Make the call again, with its key.
        """
        many = 1 if count is None else count
        made = self.ask_for(many, eligible=eligible, user=user, key=key, segment=segment)
        return made[0] if count is None else made

    def ask_for(
        self,
        count: int,
        *,
        eligible: Eligible = None,
        user: User = None,
        key: str | None = None,
        principal: str = "",
        segment: str | None = None,
    ) -> list[CampaignDecision]:
        """As `ask`, for a caller. principal: whose word `key` is. segment: of `segments=`."""
        if segment is not None:
            raise ValueError(
                "Expected no segment=: this campaign has none. Create it with segments=['DE', "
                "'FR'], or leave segment= out. None was made."
            )
        self._require_asked_here()
        made: list[CampaignDecision] = self._turning.do(
            ask_op(count, eligible=eligible, user=user, key=key, principal=principal)
        )
        return made

    def _require_asked_here(self) -> None:
        if self.side_of is not None:
            raise ValueError(
                f"Expected to be asked as the campaign {shown(self.side_of)}: which side a person "
                "is on is not chosen. None was made."
            )

    @discreet
    def tell(self, decision: CampaignDecision | str, reward: object) -> TellStatus:
        """The reward of a decision (or of its id); what became of it (see `TellStatus`).

        Raises:
            RewardError: no number in the declared range. Nothing was recorded.
            TypeError, ValueError: neither a decision nor its id. Nothing was recorded.
        """
        return self.tell_many([(required_id(decision), reward)])[0]

    @discreet
    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, object]]) -> list[TellStatus]:
        """Several (decision, reward) pairs, in this order; of each, what became of it.

        Should a release that they complete fail, for want of noise, say, its error passes through:
        what was recorded until then stands, and the next call makes the release. Tell all of them
        again.

        Raises:
            RewardError: one of them is no reward. None was recorded.
            TypeError: one of them is no pair, or not of a decision or its id. None was recorded.
        """
        pairs = [(id_of(decision), reward) for decision, reward in pairs_in(tells)]
        found: list[TellStatus] = self._turning.do(TellOp(pairs))
        return found

    @discreet
    def expire(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Nobody answered: the declared default counts (see `Session.expire`)."""
        found: list[TellStatus] = self._turning.do(ExpireOp([id_of(each) for each in decisions]))
        return found

    @discreet
    def void(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Decisions that were never carried out (see `Session.void`)."""
        found: list[TellStatus] = self._turning.do(VoidOp([id_of(each) for each in decisions]))
        return found

    def add_arm(
        self, label: str | None = None, *, by: str | None = None, key: str | None = None
    ) -> int:
        """A new arm, from the next decision on; its number (see `Session.add_arm`)."""
        return int(self._changed(ArmOp("add", label, by), key))

    def retire_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Never play an arm again (see `Session.retire_arm`)."""
        self._changed(ArmOp("retire", arm, by), key)

    def pause_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play an arm no more until `resume_arm`."""
        self._changed(ArmOp("pause", arm, by), key)

    def resume_arm(self, arm: str | int, *, by: str | None = None, key: str | None = None) -> None:
        """Play a paused arm again."""
        self._changed(ArmOp("resume", arm, by), key)

    def drop_open(self, *, by: str | None = None, key: str | None = None) -> None:
        """Throw away, unread, what came since the last releases (see `Session.drop_open`)."""
        self._changed(DropOp(by), key)

    def finish(self, *, by: str | None = None, key: str | None = None) -> None:
        """A stopping rule that has not halted gives its answer now (see `Session.finish`)."""
        self._changed(FinishOp(by), key)

    def _changed(self, op: ChangeOp, key: str | None) -> Any:
        return self._turning.do(keyed(op, key))

    def close(self, why: str, *, by: str | None = None, key: str | None = None) -> None:
        """The campaign is over: nothing more is asked; what waits can still be told.

        why: public, such as "winner declared: blue".
        """
        if not is_line(why, 500) or not why.strip():
            raise ValueError(
                f"Expected why={shown(why)} to be a text of at most 500 characters that can be "
                "printed. Nothing was changed."
            )
        self._changed(CloseOp(why, by), key)

    def settle(self) -> None:
        """Record the answers whose time has passed."""
        self._turning.do(SettleOp())

    def fence(self) -> None:
        """Give up all that is open, and go on: for a witness that was lost. A database that was put
        back is noticed and fenced by itself.
        """
        self._turning.fence()

    def erase(self, user: str | int, *, by: str | None = None, key: str | None = None) -> int:
        """Forget a person: decisions that wait for them are void, and nobody learns from them any
        more in the window that is open. What was released stays: nobody is to be seen in it. How
        many decisions were void.
        """
        done = int(self._changed(EraseOp(user, by), key))
        with suppress(StoreError):  # it is erased, whatever becomes of older pages
            self._turning.backend.forget()
        return done


def ask_op(
    count: int,
    *,
    eligible: Eligible = None,
    user: User = None,
    key: str | None = None,
    principal: str = "",
) -> AskOp:
    """An ask, checked.

    Raises:
        ValueError, TypeError: of the count, the arms or the key. None was made.
    """
    number = whole_number(count, "count", 0, MOST_AT_ONCE)
    chosen = None if eligible is None else checked_eligible(eligible)
    return AskOp(number, chosen, user, principal, None if key is None else call_key(key))


def checked_eligible(eligible: object) -> tuple[str | int, ...]:
    """Names or numbers of arms; which of them there are is seen later.

    Raises:
        TypeError: no list of them.
    """
    if isinstance(eligible, (str, bytes)) or not isinstance(eligible, Iterable):
        raise TypeError(
            "Expected eligible= to be a list of arms, such as ['blue', 'green'] or [0, 2], got "
            f"{shown(eligible)}."
        )
    # numbers of NumPy's are kept as whole numbers, and its texts as texts: JSON knows no other
    numbers = [(arm, as_int(arm)) for arm in eligible]
    return tuple(arm if number is None else number for arm, number in numbers)
