"""What a campaign shows of itself. All of it is public and witnessed; looking costs nothing."""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from dpbandits.core.inputs import whole_number
from dpbandits.core.privacy import Guarantee
from dpbandits.forecasting.forecast import ExpectedLoss, expected_loss
from dpbandits.policies.contract import ArmLabel, Policy
from dpbandits.service.looks.reports import (
    DecisionPage,
    LedgerLine,
    StoredRelease,
    Summary,
    alarms_in,
    decision_page,
    in_play,
    ledger_lines,
    statement_of,
    stored_releases,
    summary_of,
)
from dpbandits.service.looks.trail import Moment, Recent, Trail, recent
from dpbandits.service.rows.backend import CampaignRows
from dpbandits.service.rows.records import CampaignRow, EventRow
from dpbandits.service.turns.working import Working
from dpbandits.session.arms import ArmStanding
from dpbandits.session.beliefs import Beliefs
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.holdout import Side
from dpbandits.session.state import SessionEvent
from dpbandits.session.traffic import SampleRatio

MOST_AT_ONCE = 100_000
"""Decisions or answers of one call."""

LAST = 2**62
"""No campaign has so many decisions, and a database can still be asked for it."""

Seen = TypeVar("Seen")


def checked_page(after: object, limit: object) -> tuple[int, int]:
    """From where, and how many.

    Raises:
        ValueError: no whole numbers.
    """
    since = whole_number(after, "after", 0, LAST)
    return since, whole_number(limit, "limit", 1, MOST_AT_ONCE)


class Looker(Protocol):
    """Shows a campaign as it stands; nothing that is not witnessed is shown."""

    row: CampaignRow

    def look(self, look: Callable[[Working, CampaignRows], Seen]) -> Seen:
        """What `look` says of it."""


class ShownCampaign:
    """A campaign that is looked at.

    side_of: the campaign with `holdout=` or `ramp=` that this is a side of; None: of none. side:
        which.
    """

    side_of: str | None = None
    side: Side | None = None

    def __init__(self, looker: Looker) -> None:
        self._looker, self._trail = looker, Trail()
        self.name = looker.row.name

    def __repr__(self) -> str:
        return f"Campaign({self.name!r})"

    @property
    def uid(self) -> str:
        """Tells this campaign from others that had or will have its name."""
        return self._looker.row.uid

    @property
    def guarantee(self) -> Guarantee | None:
        """What every decision of this campaign promises together (see `Session.guarantee`)."""
        return self._looker.look(lambda work, _: work.session.guarantee)

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record (see `Session.spent`)."""
        return self._looker.look(lambda work, _: work.session.spent)

    @property
    def generation(self) -> int:
        """Fences so far, plus one."""
        return self._looker.look(lambda work, _: work.head.generation)

    @property
    def policy(self) -> Policy:
        """The policy at work."""
        return self._looker.look(lambda work, _: work.session.policy)

    @property
    def attribution_window(self) -> float | None:
        """For how many seconds an answer is waited for; None: it counts as it comes."""
        return self._looker.look(lambda work, _: work.session.attribution_window)

    @property
    def guardrail(self) -> Guardrail | None:
        """The second number of each record that is watched; None: there is none."""
        return self._looker.look(lambda work, _: work.session.guardrail)

    @property
    def arms(self) -> tuple[tuple[ArmLabel | int, ArmStanding], ...]:
        """Every arm there ever was, and where it stands."""
        return self._looker.look(lambda work, _: work.session.arms)

    @property
    def ledger(self) -> list[LedgerLine]:
        """Every reading, in order; and what lost timelines may have read."""
        return self._looker.look(ledger_lines)

    def releases(self, after: int = 0, limit: int = 1_000) -> list[StoredRelease]:
        """What was released, as it was noised, in order."""
        since, many = checked_page(after, limit)
        return self._looker.look(lambda work, rows: stored_releases(work, rows, since, many))

    def decisions(self, after: int = 0, limit: int = 1_000) -> DecisionPage:
        """Decisions with their propensities, in order, from after one round on. Rewards are not in
        it: they are not kept.
        """
        since, many = checked_page(after, limit)
        return self._looker.look(lambda work, rows: decision_page(work, rows, since, many))

    def events(self, limit: int = 100) -> list[EventRow]:
        """What was done to the campaign besides asking and telling, newest first."""
        many = whole_number(limit, "limit", 1, MOST_AT_ONCE)
        return self._looker.look(lambda _, rows: rows.events(many))

    def beliefs(self, confidence: float = 0.95) -> Beliefs:
        """What is believed of every arm (see `Session.beliefs`)."""
        return self._looker.look(lambda work, _: work.session.beliefs(confidence))

    def expected_loss(self) -> ExpectedLoss | None:
        """What the people asked for so far are expected to have lost to privacy, were the arms'
        means what was released (see `ExpectedLoss`). It is simulated, which takes up to some
        seconds, and costs no privacy. None where it cannot be said, as before every arm in play has
        a released mean, or on a side for which no policy decides.
        """
        if self.side not in (None, "policy"):
            return None
        return expected_loss(*self._looker.look(in_play))

    def harm(self) -> Beliefs:
        """What is believed of every arm's harm (see `Session.harm`).

        Raises:
            ValueError: this campaign has no guardrail.
        """
        return self._looker.look(lambda work, _: work.session.harm())

    @property
    def alarms(self) -> tuple[SessionEvent, ...]:
        """What somebody should look at: arms that passed the guardrail, in order; and arms whose
        first block waits for requests that are overdue, since when (see `Session.alarms`).
        """
        return self._looker.look(alarms_in)

    def history(self) -> tuple[Moment, ...]:
        """What was believed after releases, at most 60 of them, the newest at the end."""
        return self._looker.look(self._trail.follow)

    def recent(self, newest: int = 1_000) -> Recent:
        """How often every arm was shown among the newest decisions."""
        many = whole_number(newest, "newest", 1, MOST_AT_ONCE)
        return self._looker.look(lambda work, rows: recent(work, rows, many))

    def sample_ratio(self) -> SampleRatio:
        """Whether traffic is as planned (see `Session.sample_ratio`)."""
        return self._looker.look(lambda work, _: work.session.sample_ratio())

    def statement(self) -> str:
        """The privacy statement of this campaign, to print."""
        return self._looker.look(statement_of)

    def randomizer(self) -> str:
        """In the local model: what users' devices need to know (see `Session.description`)."""
        return self._looker.look(lambda work, _: work.session.description())

    def summary(self) -> Summary:
        """Where the campaign stands, in a few public numbers."""
        return self._looker.look(summary_of)

    @property
    def options(self) -> dict[str, Any]:
        """How the campaign was made. Public."""
        found: dict[str, Any] = json.loads(self._looker.row.options)["shown"]
        return found
