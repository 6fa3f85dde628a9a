"""A campaign: a policy at work for weeks, the same object from many processes at once."""

import json
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, NamedTuple, final, overload

from dpbandits.campaign.believing.beliefs import Beliefs
from dpbandits.campaign.roster import ArmStanding
from dpbandits.campaign.traffic import SampleRatio
from dpbandits.core.inputs import shown, whole_number
from dpbandits.core.privacy import Guarantee
from dpbandits.policies.contract import Policy
from dpbandits.policies.labels import ArmLabel
from dpbandits.service.reports import (
    DecisionPage,
    LedgerLine,
    StoredRelease,
    Summary,
    decision_page,
    ledger_lines,
    stored_releases,
    summary_of,
)
from dpbandits.service.rows.records import EventRow
from dpbandits.service.trail import Moment, Recent, Trail, recent
from dpbandits.service.turns.asks import LONGEST_KEY, AskOp, CampaignDecision
from dpbandits.service.turns.others import ArmOp, CloseOp, DropOp, EraseOp, FinishOp, SettleOp
from dpbandits.service.turns.tells import ExpireOp, TellOp, TellStatus, VoidOp
from dpbandits.service.turns.turning import Turning
from dpbandits.session.session import Eligible, User

MOST_AT_ONCE = 100_000
"""Decisions or answers of one call."""


class Cursor(NamedTuple):
    """Where a page of decisions begins, and how long it is."""

    after: int = 0
    limit: int = 1_000


@final
class Campaign:
    """A durable session, with the same verbs. A call returns once what it did is on disk.

    Every call can be made again: an answer that is told twice counts once, and an ask with `key=`
    gives the same decisions. Make one with `store.create(name, policy)`, open it with
    `store[name]`.
    """

    def __init__(self, turning: Turning) -> None:
        self._turning, self._trail = turning, Trail()
        self.name = turning.row.name

    def __repr__(self) -> str:
        return f"Campaign({self.name!r})"

    @overload
    def ask(
        self, *, eligible: Eligible = None, user: User = None, key: str | None = None
    ) -> CampaignDecision: ...
    @overload
    def ask(
        self, count: int, *, eligible: Eligible = None, user: User = None, key: str | None = None
    ) -> list[CampaignDecision]: ...
    def ask(
        self,
        count: int | None = None,
        *,
        eligible: Eligible = None,
        user: User = None,
        key: str | None = None,
    ) -> CampaignDecision | list[CampaignDecision]:
        """The next decision, or a list of `count` of them (see `Session.ask`).

        key: a word of the caller's; the call made again with it gives the same decisions.

        Raises:
            RuntimeError: the campaign is over, or too many decisions wait. None was made.
            ValueError: as `Session.ask`. None was made.
            StoreError: the database is away. Make the call again, with its key.
        """
        many = 1 if count is None else count
        made = self.ask_for(many, eligible=eligible, user=user, key=key)
        return made[0] if count is None else made

    def ask_for(
        self,
        count: int,
        *,
        eligible: Eligible = None,
        user: User = None,
        key: str | None = None,
        principal: str = "",
    ) -> list[CampaignDecision]:
        """As `ask`, for a caller. principal: whose word `key` is."""
        number = whole_number(count, "count", 0, MOST_AT_ONCE)
        chosen = None if eligible is None else checked_eligible(eligible)
        if key is not None and not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
            raise ValueError(
                f"Expected key={shown(key)} to be a text of at most {LONGEST_KEY} characters."
            )
        op = AskOp(number, chosen, user, principal, key)
        return self._turning.do(op)  # type: ignore[no-any-return]

    def tell(self, decision: CampaignDecision | str, reward: object) -> TellStatus:
        """The reward of a decision (or of its id); what became of it (see `TellStatus`).

        Raises:
            RewardError: no number in the declared range. Nothing was recorded.
        """
        return self.tell_many([(decision, reward)])[0]

    def tell_many(self, tells: Iterable[tuple[CampaignDecision | str, object]]) -> list[TellStatus]:
        """Several (decision, reward) pairs, in this order; of each, what became of it.

        Raises:
            RewardError: one of them is no reward. None was recorded.
        """
        pairs = [(id_of(decision), reward) for decision, reward in tells]
        return self._turning.do(TellOp(pairs))  # type: ignore[no-any-return]

    def expire(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Nobody answered: the declared default counts (see `Session.expire`)."""
        return self._turning.do(  # type: ignore[no-any-return]
            ExpireOp([id_of(each) for each in decisions])
        )

    def void(self, *decisions: CampaignDecision | str) -> list[TellStatus]:
        """Decisions that were never carried out (see `Session.void`)."""
        return self._turning.do(  # type: ignore[no-any-return]
            VoidOp([id_of(each) for each in decisions])
        )

    def add_arm(self, label: str | None = None, *, by: str | None = None) -> int:
        """A new arm, from the next decision on; its number (see `Session.add_arm`)."""
        return self._turning.do(ArmOp("add", label, by))  # type: ignore[no-any-return]

    def retire_arm(self, arm: str | int, *, by: str | None = None) -> None:
        """Never play an arm again (see `Session.retire_arm`)."""
        self._turning.do(ArmOp("retire", arm, by))

    def pause_arm(self, arm: str | int, *, by: str | None = None) -> None:
        """Play an arm no more until `resume_arm`."""
        self._turning.do(ArmOp("pause", arm, by))

    def resume_arm(self, arm: str | int, *, by: str | None = None) -> None:
        """Play a paused arm again."""
        self._turning.do(ArmOp("resume", arm, by))

    def drop_open(self, *, by: str | None = None) -> None:
        """Throw away, unread, what came since the last releases (see `Session.drop_open`)."""
        self._turning.do(DropOp(by))

    def finish(self) -> None:
        """A stopping rule that has not halted gives its answer now (see `Session.finish`)."""
        self._turning.do(FinishOp())

    def close(self, why: str, *, by: str | None = None) -> None:
        """The campaign is over: nothing more is asked; what waits can still be told.

        why: public, such as "winner declared: blue".
        """
        if not isinstance(why, str) or not 0 < len(why.strip()) <= 500:
            raise ValueError(f"Expected why={shown(why)} to be a text of at most 500 characters.")
        self._turning.do(CloseOp(why, by))

    def settle(self) -> None:
        """Record the answers whose time has passed."""
        self._turning.do(SettleOp())

    def fence(self) -> None:
        """Give up all that is open, and go on: for a witness that was lost. A database that was put
        back is noticed and fenced by itself.
        """
        self._turning.fence()

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this campaign promises together (see `Session.guarantee`)."""
        return self._turning.look(lambda work, _: work.session.guarantee)

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record (see `Session.spent`)."""
        return self._turning.look(lambda work, _: work.session.spent)

    @property
    def generation(self) -> int:
        """Fences so far, plus one."""
        return self._turning.look(lambda work, _: work.head.generation)

    @property
    def policy(self) -> Policy:
        """The policy at work."""
        return self._turning.look(lambda work, _: work.session.policy)

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        return self._turning.look(lambda work, _: work.session.attribution_window)

    @property
    def arms(self) -> tuple[tuple[ArmLabel | int, ArmStanding], ...]:
        """Every arm there ever was, and where it stands."""
        return self._turning.look(lambda work, _: work.session.arms)

    @property
    def ledger(self) -> list[LedgerLine]:
        """Every reading, in order; and what lost timelines may have read."""
        return self._turning.look(ledger_lines)

    def releases(self, after: int = 0, limit: int = 1_000) -> list[StoredRelease]:
        """What was released, as it was noised, in order."""
        return self._turning.look(lambda work, rows: stored_releases(work, rows, after, limit))

    def decisions(self, after: int = 0, limit: int = 1_000) -> DecisionPage:
        """Decisions with their propensities, in order, from after one round on. Rewards are not in
        it: they are not kept.
        """
        cursor = Cursor(after, whole_number(limit, "limit", 1, MOST_AT_ONCE))
        return self._turning.look(lambda work, rows: decision_page(work, rows, *cursor))

    def events(self, limit: int = 100) -> list[EventRow]:
        """What was done to the campaign besides asking and telling, newest first."""
        return self._turning.look(lambda _, rows: rows.events(limit))

    def beliefs(self, confidence: float = 0.95) -> Beliefs:
        """What is believed of every arm (see `Session.beliefs`)."""
        return self._turning.look(lambda work, _: work.session.beliefs(confidence))

    def history(self) -> tuple[Moment, ...]:
        """What was believed after releases, at most 60 of them, the newest at the end."""
        return self._turning.look(self._trail.follow)

    def recent(self, newest: int = 1_000) -> Recent:
        """How often every arm was shown among the newest decisions."""
        many = whole_number(newest, "newest", 1, MOST_AT_ONCE)
        return self._turning.look(lambda work, rows: recent(work, rows, many))

    def sample_ratio(self) -> SampleRatio:
        """Whether traffic is as planned (see `Session.sample_ratio`)."""
        return self._turning.look(lambda work, _: work.session.sample_ratio())

    def statement(self) -> str:
        """The privacy statement of this campaign, to print."""
        return self._turning.look(lambda work, _: work.session.statement())

    def randomizer(self) -> str:
        """In the local model: what users' devices need to know (see `Session.description`)."""
        return self._turning.look(lambda work, _: work.session.description())

    def summary(self) -> Summary:
        """Where the campaign stands, in a few public numbers."""
        return self._turning.look(summary_of)

    @property
    def options(self) -> dict[str, Any]:
        """How the campaign was made. Public."""
        found: dict[str, Any] = json.loads(self._turning.row.options)["shown"]
        return found

    def erase(self, user: str | int, *, by: str | None = None) -> int:
        """Forget a person: decisions that wait for them are void, and nobody learns from them any
        more in the window that is open. What was released stays: nobody is to be seen in it. How
        many decisions were void.
        """
        return self._turning.do(EraseOp(user, by))  # type: ignore[no-any-return]


def id_of(decision: object) -> object:
    """The name of a decision."""
    return decision.id if isinstance(decision, CampaignDecision) else decision


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
    return tuple(eligible)
