"""A campaign behind HTTP: what is looked at. Values are those that `Campaign` gives, made again
from what the server says.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from dpbandits.forecasting.forecast import ExpectedLoss
from dpbandits.service.looks.reports import (
    DecisionPage,
    LedgerLine,
    StoredDecision,
    StoredRelease,
    Summary,
)
from dpbandits.service.looks.trail import Moment, Recent, Shown
from dpbandits.service.rows.records import EventRow
from dpbandits.session.beliefs import Belief, Beliefs, SideMean, Uplift
from dpbandits.session.segments import SegmentedBeliefs, segmented_beliefs
from dpbandits.session.state import SessionEvent
from dpbandits.session.traffic import Answers, SampleRatio, Traffic

ArmStandings = tuple[tuple[Any, str], ...]
"""Names or numbers of arms, and where each stands."""


class SaidGuarantee(NamedTuple):
    """What a campaign promises, in words and as a number (None: another kind of promise)."""

    words: str
    epsilon: Fraction | None

    def __str__(self) -> str:
        return self.words


class Calls(Protocol):
    """Makes requests of a server."""

    def call(self, method: str, path: str, body: Any = None, **query: Any) -> Any: ...


class RemoteLooks:
    """A campaign that is looked at from afar."""

    def __init__(self, calls: Calls, name: str, segment: str | None = None) -> None:
        self._calls, self.name, self.segment = calls, name, segment

    def __repr__(self) -> str:
        whole = f"RemoteCampaign({self.name!r})"
        return whole if self.segment is None else f"{whole}[{self.segment!r}]"

    def _call(self, method: str, verb: str, body: Any = None, **query: Any) -> Any:
        path = f"/v1/campaigns/{quote(self.name)}" + (f"/{verb}" if verb else "")
        query |= {"segment": self.segment} if method == "GET" and self.segment else {}
        return self._calls.call(method, path, body, **query)

    def _whole(self, look: str, made: Callable[[Any], Any], **query: Any) -> Any:
        """A look as a campaign gives it: a value; of a campaign with segments one for each, unless
        this is one of them.
        """
        said = self._call("GET", look, whole=True, **query)
        if "segments" in said:
            return {name: made(each) for name, each in said["segments"].items()}
        return made(said["whole"])

    def summary(self) -> Summary:
        """Where the campaign stands, in a few public numbers."""
        said = self._call("GET", "")
        arms = tuple((arm["arm"], arm["standing"]) for arm in said["arms"])
        fields = {name: said[name] for name in Summary._fields}
        return Summary(**{**fields, "arms": arms, "segments": tuple(said["segments"])})

    @property
    def options(self) -> dict[str, Any]:
        """How the campaign was made."""
        return dict(self._call("GET", "")["options"])

    @property
    def arms(self) -> ArmStandings | dict[str, ArmStandings]:
        """Every arm there ever was, and where it stands; by segment, where there are some."""
        found = self.summary()
        if not found.segments:
            return found.arms
        parts = {each: RemoteLooks(self._calls, self.name, each) for each in found.segments}
        return {name: part.summary().arms for name, part in parts.items()}

    @property
    def generation(self) -> int:
        """Fences so far, plus one."""
        return self.summary().generation

    @property
    def guarantee(self) -> SaidGuarantee | None:
        """What every decision of this campaign promises together."""
        said = self._call("GET", "guarantee")
        epsilon = None if said["epsilon"] is None else Fraction(said["epsilon"])
        return None if said["words"] is None else SaidGuarantee(said["words"], epsilon)

    @property
    def spent(self) -> Fraction | None:
        """The ledger's exact total for the worst-off record."""
        said = self._call("GET", "guarantee")["spent"]
        return None if said is None else Fraction(said)

    @property
    def ledger(self) -> list[LedgerLine] | dict[str, list[LedgerLine]]:
        """Every reading, in order; by segment, where there are some."""
        found: list[LedgerLine] | dict[str, list[LedgerLine]]
        found = self._whole("ledger", lambda said: [LedgerLine(**line) for line in said])
        return found

    def releases(self, after: int = 0, limit: int = 1_000) -> list[StoredRelease]:
        """What was released, as it was noised, in order."""
        rows = self._call("GET", "releases", after=after, limit=limit)
        return [StoredRelease(**frozen_fields(row)) for row in rows]

    def decisions(self, after: int = 0, limit: int = 1_000) -> DecisionPage:
        """Decisions with their propensities, in order, from after one round on."""
        said = self._call("GET", "decisions", after=after, limit=limit)
        rows = tuple(StoredDecision(**frozen_fields(row)) for row in said["decisions"])
        return DecisionPage(rows, said["after"])

    def events(self, limit: int = 100) -> list[EventRow]:
        """What was done to the campaign besides asking and telling, newest first."""
        return [EventRow(**row) for row in self._call("GET", "events", limit=limit)]

    def beliefs(self, confidence: float = 0.95) -> Beliefs | SegmentedBeliefs:
        """What is believed of every arm; by segment, where there are some."""
        return one_table(self._whole("beliefs", beliefs_of, confidence=confidence))

    def uplift(self, confidence: float = 0.95) -> Uplift:
        """The policy's people against holdout people (see `HoldoutCampaign.uplift`)."""
        said = self._call("GET", "uplift", confidence=confidence)
        policy, holdout = (SideMean(**said[side]) for side in ("policy", "holdout"))
        return Uplift(**{**said, "policy": policy, "holdout": holdout})

    def expected_loss(self) -> ExpectedLoss | None:
        """What people are expected to have lost to privacy (see `Campaign.expected_loss`)."""
        said = self._call("GET", "expected_loss")
        return None if said is None else ExpectedLoss(**said)

    def harm(self) -> Beliefs | SegmentedBeliefs:
        """What is believed of every arm's harm, where there is a guardrail."""
        return one_table(self._whole("harm", beliefs_of))

    @property
    def alarms(self) -> tuple[SessionEvent, ...] | dict[str, tuple[SessionEvent, ...]]:
        """What somebody should look at (see `Campaign.alarms`); by segment, where there are
        some.
        """
        found: tuple[SessionEvent, ...] | dict[str, tuple[SessionEvent, ...]]
        found = self._whole("alarms", lambda said: tuple(SessionEvent(**row) for row in said))
        return found

    def history(self) -> tuple[Moment, ...]:
        """What was believed after releases, the newest at the end."""
        return tuple(
            Moment(**{**row, "arms": tuple(Belief(**arm) for arm in row["arms"])})
            for row in self._call("GET", "history")
        )

    def recent(self, newest: int = 1_000) -> Recent:
        """How often every arm was shown among the newest decisions."""
        said = self._call("GET", "recent", newest=newest)
        return Recent(**{**said, "arms": tuple(Shown(**arm) for arm in said["arms"])})

    def sample_ratio(self) -> SampleRatio | dict[str, SampleRatio]:
        """Whether traffic is as planned; by segment, where there are some."""
        found: SampleRatio | dict[str, SampleRatio] = self._whole("sample_ratio", sample_ratio_of)
        return found

    def statement(self) -> str:
        """The privacy statement of this campaign, to print."""
        return str(self._call("GET", "statement"))

    def randomizer(self) -> str:
        """In the local model: what users' devices need to know."""
        return str(self._call("GET", "randomizer"))


def beliefs_of(said: dict[str, Any]) -> Beliefs:
    """A table of beliefs."""
    rows = tuple(Belief(**row) for row in said["rows"])
    return Beliefs(**{**said, "rows": rows, "changed": tuple(said["changed"])})


def one_table(found: Beliefs | Mapping[str, Beliefs]) -> Beliefs | SegmentedBeliefs:
    """Beliefs by segment as the one table that a campaign gives."""
    return segmented_beliefs(found) if isinstance(found, Mapping) else found


def sample_ratio_of(said: dict[str, Any]) -> SampleRatio:
    """What the tests of traffic and answers say."""
    labels, answers = tuple(said["labels"]), said["answers"]
    if answers is not None:
        answers = Answers(*(tuple(answers[name]) for name in ("told", "missing")))
    return SampleRatio(labels, Traffic.restored(said["traffic"], len(labels)), answers)


def frozen_fields(row: dict[str, Any]) -> dict[str, Any]:
    """With tuples for lists, as the campaign has them."""
    return {name: tuple(it) if isinstance(it, list) else it for name, it in row.items()}
